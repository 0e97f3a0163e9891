"""CSV texts that a spreadsheet reads as data only, whatever separates cells where it is opened."""

import re
from collections.abc import Iterable, Sequence

from grader.printable import printable

# Where German or French is spoken, a spreadsheet splits at semicolons, and takes quotes for quotes in the first cell only: what
# stands after a semicolon, a tab or a line break in a name is then a cell of its own.
NOTHING_SEEN = r'[\s"\u200b-\u200f\u2060\ufeff]*'
FORMULA = re.compile(
    rf"(?:(?:^|[;\t\n|]){NOTHING_SEEN}(?=[=+\-@\uff1d\uff0b\uff0d\uff20]\s*\S)|,{NOTHING_SEEN}(?=[=@\uff1d\uff20]\s*\S)|^(?=[\t\n]))"
)


def csv_text(rows: Iterable[Sequence[str | float]]) -> str:
    """A table as a text; what a spreadsheet may split at is in quotes."""
    return "".join(",".join(map(_quoted, row)) + "\r\n" for row in rows)


def _quoted(value: str | float) -> str:
    text = harmless(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,;|"\t\n]', text) else text


def harmless(value: str | float) -> str:
    """A cell in which no spreadsheet finds a formula; what cannot be shown or saved in a text is an escape."""
    if isinstance(value, int | float):
        return f"{round(value, 4) + 0.0:.12g}"
    text = "".join(c if c in "\t\n" else printable(c) for c in re.sub("\r\n?", "\n", value))
    return FORMULA.sub(r"\g<0>'", text)
