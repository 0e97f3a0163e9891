"""Numbers, times and names as the pages say them."""

from datetime import datetime

UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def number(value: float) -> str:
    """Points without zeros that say nothing: 2, 1.5, 0.67."""
    return f"{round(value, 2):g}"


def points(value: float) -> str:
    return f"{number(value)} point{'' if round(value, 2) == 1 else 's'}"


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time in its two largest units: "3 days 4 hours"."""
    left, words = max(round(seconds), 1), list[str]()
    for unit, size in UNITS:
        count, left = divmod(left, size)
        if count:
            words.append(counted(count, unit))
        if len(words) == 2 or (words and not count):
            break
    return " ".join(words[:2])


def moment(time: datetime) -> str:
    """A time as the gradebook has it, in UTC."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


def encoded(text: str) -> bytes:
    """What is written of a page or table: a lone surrogate, which no file can hold, as its escape."""
    return text.encode("utf-8", "backslashreplace")
