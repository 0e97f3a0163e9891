"""Times: when submissions were handed in, when modules are due, and who has longer. In the gradebook all are UTC."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

from grader.classroom import is_file
from grader.errors import CourseError
from grader.origin import read_origin

ZONE = re.compile(r"(?P<time>.*\d.*?)\s+(?P<zone>[A-Za-z][\w+-]*(?:/[\w+-]+)*)", re.DOTALL)
NO_ZONES = ("AM", "PM")
SOME_DAYS = (datetime(2000, 1, 1), datetime(2004, 5, 28))  # noqa: DTZ001  (what a text leaves out is taken from these)
NO_PENALTY = "no penalty follows"


def time_of(text: str, exact: bool = False) -> datetime | None:
    """A time in UTC, without its zone, as nbgrader keeps it; None if the text is empty. A time without a zone is UTC.

    exact  refuse a time without a zone, or without a time of day

    Raises ValueError for what is no time, names no day, or has a zone that nobody knows.
    """
    if not text:
        return None
    found = ZONE.fullmatch(text)
    zone = _zone(found["zone"]) if found and found["zone"].upper() not in NO_ZONES else None
    time = _parsed(found["time"] if found and zone else text, exact)
    if zone is not None:
        if time.tzinfo is not None:
            raise ValueError("it has two time zones")
        time = _at(time, zone)
    if time.tzinfo is None and exact:
        raise ValueError("it has no time zone")
    try:
        return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def _zone(name: str) -> tzinfo:
    if name.upper() in ("Z", "UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(f'nobody knows the time zone "{name}"') from None


def _parsed(text: str, exact: bool) -> datetime:
    """Raises ValueError, also if a text leaves something out that would have to be made up."""
    from dateutil.parser import parse

    try:
        one, other = (
            parse(text, default=day.replace(hour=hour), tzinfos=_named)
            for day, hour in zip(SOME_DAYS, (0, 7 * exact), strict=True)
        )
    except (OverflowError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if one.date() != other.date():
        raise ValueError("it names no day")
    if one != other:
        raise ValueError("it has no time of day")
    return cast("datetime", one)


def _named(name: str | None, offset: int | None) -> Any:
    """The zone of a text in which a name or an offset stands at once after the time."""
    if offset is not None:
        return offset
    return _zone(name) if name else None


def _at(time: datetime, zone: tzinfo) -> datetime:
    """A local time with its zone. Raises ValueError for one that clocks skip or show twice there."""
    one, other = time.replace(tzinfo=zone), time.replace(tzinfo=zone, fold=1)
    if one.utcoffset() == other.utcoffset():
        return one
    skipped = one.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != time
    raise ValueError("clocks skip this time there" if skipped else "clocks show this time twice there; say it in UTC")


def known_time(timestamp: str) -> datetime | None:
    """When a submission was handed in; None if nobody says so, or says it in no way that is understood."""
    try:
        return time_of(timestamp)
    except ValueError:
        return None


def lateness(folder: Path, timestamp: str) -> str:
    """Why nobody knows how late the submission in a folder is, as a sentence; "" if that is known, or was never told."""
    try:
        time = time_of(timestamp)
    except ValueError as error:
        return f"timestamp.txt says {timestamp[:40]!r}, and {_plain(error)}: the time is left out, and {NO_PENALTY}"
    if time is not None:
        return ""
    if is_file(folder / "timestamp.txt"):
        return f"timestamp.txt is empty: there is no time, and {NO_PENALTY}"
    said = read_origin(folder).late
    return f'the platform says "{said}" and gives no time: {NO_PENALTY}' if said else ""


def _plain(error: ValueError) -> str:
    own = str(error)
    return own if own.startswith(("it ", "nobody ", "clocks ")) else "that is no time"


def to_set(text: str) -> datetime:
    """A time that somebody types. Raises CourseError with an example."""
    try:
        if not re.match(r"\s*\d{4}-\d\d-\d\d(?!\d)", text):
            raise ValueError("it does not begin with a year, a month and a day")
        time = time_of(text.strip(), exact=True)
    except ValueError as error:
        raise CourseError(
            f'"{text}": {_plain(error)}; write it like "2026-03-01 12:00 UTC" or "2026-03-01 12:00 Europe/Berlin"'
        ) from None
    return cast("datetime", time)


def in_words(time: datetime, text: str = "") -> str:
    """A time in UTC, and as clocks show it: in the zone that somebody typed, else on this machine."""
    aware = time.replace(tzinfo=UTC)
    found = ZONE.fullmatch(text.strip())
    local = aware.astimezone(_zone(found["zone"])) if found else aware.astimezone()
    words = f"{time:%Y-%m-%d %H:%M} UTC"
    day = f"{local:%A} {local.day} {local:%B %Y, %H:%M}"
    where = found["zone"] if found else f"{local:%Z}"
    return f"{words} ({day} {where})"


def span_in_words(span: timedelta) -> str:
    """How long: 2 days 3 hours."""
    minutes = int(span.total_seconds() // 60)
    parts = ((minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute"))
    return " ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in parts if n) or "less than a minute"
