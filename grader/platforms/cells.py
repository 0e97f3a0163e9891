"""A platform's CSV file, cell by cell, so that a few cells can be replaced and every other byte stays as it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from grader.errors import CourseError

DELIMITERS = (",", ";", "\t", ":")
# byte-order marks, and the encodings without them
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # .xlsx and .ods, .xls
LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Record:
    """One record: its cells as they are written, what they say, and the end of the line."""

    line: int  # of the file, from 1
    raw: tuple[str, ...]
    values: tuple[str, ...]
    end: str

    @property
    def empty(self) -> bool:
        return not any(value.strip() for value in self.values)


@dataclass(frozen=True)
class Sheet:
    """A CSV file. `bytes_of(sheet)` of a sheet that was read are the bytes that were read."""

    name: str  # of the file, for messages
    mark: bytes
    encoding: str
    delimiter: str
    records: tuple[Record, ...]

    @property
    def header(self) -> tuple[str, ...]:
        return self.records[0].values

    @property
    def rows(self) -> dict[int, Record]:
        """The records below the header that have as many cells as it has, by number."""
        width = len(self.header)
        return {n: r for n, r in enumerate(self.records) if n and len(r.values) == width and not r.empty}

    @property
    def odd(self) -> list[Record]:
        """The records that have more or fewer cells than the header."""
        return [r for r in self.records[1:] if len(r.values) != len(self.header) and not r.empty]


def read_sheet(data: bytes, name: str) -> Sheet:
    """The cells of a CSV file. Raises CourseError if it is none."""
    if data.startswith(WORKBOOKS):
        raise CourseError(f"{name}: it is a workbook, not a CSV file; download it as CSV, and give that")
    mark, encoding = next(((m, e) for m, e in MARKS if data.startswith(m)), (b"", ""))
    body = data.removeprefix(mark)
    encoding = encoding or next(e for e in ("utf-8", "cp1252", "latin-1") if _can_be(body, e))
    try:
        text = body.decode(encoding, "surrogatepass")
    except UnicodeDecodeError as error:
        raise CourseError(f"{name}: it is not the text that it begins as ({error}); download it again") from None
    if "\0" in text or not text.strip():
        what = "there is nothing in it" if not text.strip() else "it is not text"
        raise CourseError(f"{name}: {what}; download the platform's CSV file again, and give that")
    delimiter, records = _best_cut(text, name)
    return Sheet(name, mark, encoding, delimiter, records)


def _can_be(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _best_cut(text: str, name: str) -> tuple[str, tuple[Record, ...]]:
    """The delimiter that cuts all lines into the same number of cells, the largest one if there are several."""
    best: tuple[tuple[bool, int], str, tuple[Record, ...]] | None = None
    for delimiter in DELIMITERS:
        records = _cut(text, delimiter)
        if records is None:
            continue
        width = len(records[0].values)
        same = width > 1 and all(len(r.values) == width for r in records if not r.empty)
        if best is None or (same, width) > best[0]:
            best = ((same, width), delimiter, records)
    if best is None:
        raise CourseError(f"{name}: a quotation mark is opened and not closed; download the file again")
    return best[1], best[2]


@cache
def _cell(delimiter: str) -> re.Pattern[str]:
    rest = rf"[^{re.escape(delimiter)}\r\n]*"
    return re.compile(rf'"(?:[^"]++|"")*+"{rest}|(?!"){rest}')


def _cut(text: str, delimiter: str) -> tuple[Record, ...] | None:
    """The records of a text; None if a quotation mark is not closed."""
    cell, records = _cell(delimiter), []
    place, line = 0, 1
    while place < len(text):
        first, raw = line, []
        while True:
            match = cell.match(text, place)
            if match is None:
                return None
            raw.append(match.group())
            line += len(LINE_END.findall(match.group()))
            place = match.end()
            if not text.startswith(delimiter, place):
                break
            place += len(delimiter)
        end = LINE_END.match(text, place)
        records.append(Record(first, tuple(raw), tuple(map(_said, raw)), end.group() if end else ""))
        place += len(records[-1].end)
        line += 1
    return tuple(records)


def _said(raw: str) -> str:
    """What a cell says: without its quotation marks."""
    if not raw.startswith('"'):
        return raw
    inner, _, rest = raw[1:].rpartition('"')
    return inner.replace('""', '"') + rest


def with_cells(sheet: Sheet, cells: Mapping[tuple[int, int], str]) -> Sheet:
    """The sheet with other values in some cells, which are given by record and column."""
    records = list(sheet.records)
    for (number, column), value in cells.items():
        record = records[number]
        if record.values[column] == value:
            continue
        raw = _written(value, sheet, quoted=record.raw[column].startswith('"'))
        records[number] = replace(
            record,
            raw=(*record.raw[:column], raw, *record.raw[column + 1 :]),
            values=(*record.values[:column], value, *record.values[column + 1 :]),
        )
    return replace(sheet, records=tuple(records))


def _written(value: str, sheet: Sheet, quoted: bool) -> str:
    value = value.encode(sheet.encoding, "xmlcharrefreplace").decode(sheet.encoding)
    if not quoted and not re.search(r'[\s"]', value) and sheet.delimiter not in value:
        return value
    return '"' + value.replace('"', '""') + '"'


def bytes_of(sheet: Sheet) -> bytes:
    """The file."""
    text = "".join(sheet.delimiter.join(r.raw) + r.end for r in sheet.records)
    return sheet.mark + text.encode(sheet.encoding, "surrogatepass")
