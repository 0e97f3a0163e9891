"""CSV texts that a spreadsheet reads as data only."""

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(rows: Iterable[Sequence[str | float]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([[harmless(value) for value in row] for row in rows])
    return text.getvalue()


def harmless(value: str | float) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, int | float):
        return f"{round(value, 4):g}"
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
