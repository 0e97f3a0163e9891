"""Grade files of platforms: recognised by their headers, with the column for a module's grades and what each row knows of a student.

Layouts, with the sources that were read, are in docs/platforms.md. Moodle writes all headers in the teacher's language: there the
columns are known by what is in them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.errors import CourseError
from grader.platforms.cells import Record, Sheet
from grader.platforms.matching import Keys, keys_of

NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
CANVAS_TOTALS = re.compile(
    r"Current Score|Current Points|Current Grade|Final Score|Final Points|Final Grade|Override Score|Override Grade|Override Status"
)
BRIGHTSPACE_ITEM = re.compile(r"(.*) Points Grade(?: <.*?MaxPoints:([\d.,]+).*>)?\s*")
BLACKBOARD_ITEM = re.compile(r"(.*?) \[[^\[\]]*?:? ?(?:up to )?([\d.,]+)(?: [^\]]+)?\] \|(\d+)")
IDS = ("id", "student_id", "student id", "student", "username", "user name", "login")
GRADES = ("grade", "grades", "points", "score", "total")
NO_UPLOAD = "takes no file of grades; print them with `grader export MODULE` and enter them there"


@dataclass(frozen=True)
class Wanted:
    """Whose column is looked for.

    column  a title or a number, as the command says; "" if it says none
    words   what the title may be, the best first
    """

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One student's row."""

    keys: Keys
    label: str  # the name in it
    locked: str = ""  # why it is not filled in


@dataclass(frozen=True)
class Layout:
    """How a file is filled in. Columns are counted from 0.

    platform  as origin.json has it, "" for a plain CSV
    maximum   of the column; None if the file does not say
    rows      by record
    comments  the column for comments; None if there is none
    """

    platform: str
    column: int
    maximum: float | None
    rows: Mapping[int, Row]
    comments: int | None = None


def recognise(sheet: Sheet, wanted: Wanted) -> Layout:
    """The layout of a file. Raises CourseError if there is no column for the grades, or if the platform takes no such file."""
    header = [title.strip() for title in sheet.header]
    lower = {title.lower() for title in header}
    if "submission id" in lower and "max points" in lower:
        raise CourseError(f"{sheet.name}: it is Gradescope's, which {NO_UPLOAD}")
    if {"roster_identifier", "points_awarded"} <= lower:
        raise CourseError(f"{sheet.name}: it is GitHub Classroom's, which {NO_UPLOAD}")
    if ("Student" in header[0] or {"LastName", "FirstName"} <= set(header)) and "ID" in header:
        return _canvas(sheet, wanted)
    if lower & {"orgdefinedid", "end-of-line indicator"}:
        return _brightspace(sheet, wanted)
    if any(BLACKBOARD_ITEM.fullmatch(title) for title in header):
        return _blackboard(sheet, wanted)
    if _is_moodle(sheet):
        return _moodle(sheet, wanted)
    return _plain(sheet, wanted)


def number_of(text: str) -> float | None:
    """The number in a cell, with a decimal point or comma; None if there is none."""
    text = text.strip()
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def _column(sheet: Sheet, titles: Mapping[int, str], wanted: Wanted, numbers: Mapping[int, str] | None = None) -> int:
    """The column that is wanted, of those that hold grades. Raises CourseError if that is none, or several."""
    numbers = numbers or {}
    if wanted.column:
        said = wanted.column.strip()
        found = [c for c in titles if said in (titles[c], numbers.get(c), sheet.header[c].strip())]
        found = found or [c for c in titles if _plainly(said) in (_plainly(titles[c]), _plainly(sheet.header[c]))]
        reason = f'is called "{said}"'
    else:
        found = _titled(titles, wanted.words)
        reason = "has " + " or ".join(f'"{word}"' for word in wanted.words) + " in its title"
    if len(found) == 1:
        return found[0]
    there = ", ".join(f'"{sheet.header[c].strip()}"' for c in found or titles) or "none"
    raise CourseError(
        f"{sheet.name}: {'more than one' if found else 'no'} column for grades {reason}; name one with --column: {there}"
    )


def _titled(titles: Mapping[int, str], words: Sequence[str]) -> list[int]:
    """The columns whose title is one of the words, or else has one of them in it; the first word that fits any decides."""
    said = {c: _plainly(title) for c, title in titles.items()}
    plain = [_plainly(word) for word in words]
    equal = [[c for c in said if said[c] == word] for word in plain]
    inside = [[c for c in said if f" {word} " in f" {said[c]} "] for word in plain]
    return next(filter(None, equal + inside), [])


def _plainly(title: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", title.casefold()).split())


def _canvas(sheet: Sheet, wanted: Wanted) -> Layout:
    """Canvas's gradebook: Student, ID, SIS ..., Section, and `Title (id)` for each assignment; rows of points and of posting."""
    header = [title.strip() for title in sheet.header]
    first = 2 if "Student" in header[0] else 3
    points = next((r for r in sheet.rows.values() if "Points Possible" in r.values[0]), None)
    read_only = {c for c, value in enumerate(points.values if points else ()) if re.search(r"\(.*\)", value)}
    titled = {c: re.fullmatch(r"(.*)\s\((\d+)\)", title) for c, title in enumerate(header) if c >= first}
    titles = {c: m[1] for c, m in titled.items() if m and c not in read_only}
    column = _column(sheet, titles, wanted, {c: m[2] for c, m in titled.items() if m})
    if CANVAS_TOTALS.search(header[column]):
        raise CourseError(
            f'{sheet.name}: Canvas drops the column "{header[column]}" on the way in, since its title reads as that of a total; '
            "rename the assignment in Canvas, and export the gradebook again"
        )
    return Layout("canvas", column, number_of(points.values[column]) if points else None, {
        n: _canvas_row(dict(zip(header, r.values, strict=True)), r.values, first, column)
        for n, r in sheet.rows.items()
        if "Points Possible" not in r.values[0] and not _is_canvas_note(r, first)
    })  # fmt: skip


def _is_canvas_note(record: Record, first: int) -> bool:
    """The row `Manual Posting`, or the test student's."""
    name = " ".join(record.values[: first - 1]).strip()
    return not "".join(record.values[:first]).strip() or name in ("Student, Test", "Student Test", "Test Student")


def _canvas_row(cells: Mapping[str, str], values: Sequence[str], first: int, column: int) -> Row:
    name = ", ".join(values[: first - 1]).strip()
    name = re.sub(r'^="?(.*?)"?$', r"\1", name)
    login, sis = cells.get("SIS Login ID", ""), cells.get("SIS User ID", "")
    keys = keys_of(person=[cells["ID"]], login=[login], id=[login, sis], email=_addresses([login]), name=[name])
    said = values[column].strip().upper()
    return Row(keys, name, {"EX": "excused in Canvas", "N/A": "not assigned in Canvas"}.get(said, ""))


def _addresses(values: Sequence[str]) -> list[str]:
    return [value for value in values if re.fullmatch(r"[^\s@]+@[^\s@]+", value.strip())]


def _brightspace(sheet: Sheet, wanted: Wanted) -> Layout:
    """Brightspace's grades: OrgDefinedId, Username, ..., `Item Points Grade <Numeric MaxPoints:10 ...>`, End-of-Line Indicator."""
    items = {c: m for c, title in enumerate(sheet.header) if (m := BRIGHTSPACE_ITEM.fullmatch(title.strip()))}
    column = _column(sheet, {c: m[1] for c, m in items.items()}, wanted)
    names = [re.sub(r"\s", "", title).lower() for title in sheet.header]

    def row(record: Record) -> Row:
        cells = {name: value.strip() for name, value in zip(names, record.values, strict=True)}
        number, login = (cells.get(name, "").removeprefix("#") for name in ("orgdefinedid", "username"))
        name = f"{cells.get('lastname', '')}, {cells.get('firstname', '')}".strip(", ")
        email = cells.get("email", "")
        return Row(
            keys_of(person=[number], login=[login], id=[number, login], email=[email], name=[name]), name or login
        )

    maximum = number_of(items[column][2] or "")
    return Layout("brightspace", column, maximum, {n: row(r) for n, r in sheet.rows.items()})


def _blackboard(sheet: Sheet, wanted: Wanted) -> Layout:
    """Blackboard's Grade Center: last name, first name, user name, perhaps student id, and `Item [Total Pts: 10 Score] |id`."""
    header = [title.strip() for title in sheet.header]
    items = {c: m for c, title in enumerate(header) if (m := BLACKBOARD_ITEM.fullmatch(title))}
    column = _column(sheet, {c: m[1] for c, m in items.items()}, wanted, {c: m[3] for c, m in items.items()})
    login = header.index("Username") if "Username" in header else 2
    number = header.index("Student ID") if "Student ID" in header else login

    def row(record: Record) -> Row:
        last, first, name = record.values[0], record.values[1], record.values[login]
        keys = keys_of(
            person=[record.values[number]],
            login=[name],
            id=[name, record.values[number]],
            email=_addresses([name]),
            name=[f"{last}, {first}"],
        )
        return Row(keys, f"{last}, {first}")

    return Layout("blackboard", column, number_of(items[column][2]), {n: row(r) for n, r in sheet.rows.items()})


def _is_moodle(sheet: Sheet) -> bool:
    """Each row begins with a word in the teacher's language and the participant's number, another one in each row."""
    first = [r.values[0] for r in sheet.rows.values()]
    parts = [m for m in map(re.compile(r"(\D*[^\W\d]{2}\D*)(\d+)\s*").fullmatch, first) if m]
    alike = len({m[1] for m in parts}) == 1 and len({m[2] for m in parts}) == len(first)
    return alike and len(sheet.header) > 4 and sheet.header[0].strip().lower() not in IDS


def _moodle(sheet: Sheet, wanted: Wanted) -> Layout:
    """Moodle's grading worksheet, in any language: `Participant 123`, name, ..., grade, maximum, ..."""
    rows = sheet.rows
    values = [[r.values[c] for r in rows.values()] for c in range(len(sheet.header))]
    column = _moodle_grade(sheet, values, wanted)
    after = values[column + 1] if column + 1 < len(values) else [""]
    if "Scale" in sheet.header or (len(set(after)) == 1 and "\n" in after[0]):
        raise CourseError(
            f"{sheet.name}: the assignment is graded by a scale; set points as its type of grade in Moodle"
        )
    header = [title.strip() for title in sheet.header]
    columns = dict(zip(header, range(len(header)), strict=False))
    addresses = [c for c, v in enumerate(values) if any(v) and all(_addresses([x]) for x in v if x)]

    def row(record: Record) -> Row:
        said = record.values
        logins = [said[columns[name]] for name in ("Username", "ID number") if name in columns]
        number = re.sub(r"\D", "", said[0])
        group = [said[columns["Group"]]] if "Group" in columns else []
        email, name = [said[c] for c in addresses], said[columns.get("Full name", 1)]
        return Row(
            keys_of(group=group, number=[number], login=logins, id=logins, email=email, name=[name]),
            f"{name}, {said[0].strip()}",
        )

    maximum = after[0] if len(set(after)) == 1 else ""
    found = {n: row(r) for n, r in rows.items()}
    return Layout("moodle", column, number_of(maximum), found, columns.get("Feedback comments"))


def _moodle_grade(sheet: Sheet, values: Sequence[Sequence[str]], wanted: Wanted) -> int:
    """The column before that of the largest grade: a number that is the same in all rows."""
    titles = dict(enumerate(sheet.header[1:], 1))
    if wanted.column:
        return _column(sheet, titles, wanted)
    if "Grade" in sheet.header:
        return sheet.header.index("Grade")
    for column in range(1, len(values) - 1):
        largest = number_of(values[column + 1][0])
        numbers = [number_of(v) for v in values[column] if v.strip()]
        if len(set(values[column + 1])) == 1 and largest and all(n is not None and n <= largest for n in numbers):
            return column
    return _column(sheet, titles, wanted)


def _plain(sheet: Sheet, wanted: Wanted) -> Layout:
    """A table with a column of ids, logins or addresses."""
    titles = {c: title.strip() for c, title in enumerate(sheet.header)}
    words = {title.lower(): c for c, title in reversed(titles.items())}
    ids = [words[word] for word in IDS if word in words]
    values = {c: [r.values[c] for r in sheet.rows.values()] for c in titles}
    addresses = [c for c, v in values.items() if any(v) and all(_addresses([x]) for x in v if x)]
    if not ids and not addresses:
        raise CourseError(
            f"{sheet.name}: no column says who the students are; it needs one called "
            f"{', '.join(IDS[:-1])} or {IDS[-1]}, or one of e-mail addresses, or the file that the platform itself makes"
        )
    column = _column(
        sheet,
        {c: title for c, title in titles.items() if c not in (*ids, *addresses)},
        Wanted(wanted.column, (*wanted.words, *GRADES)),
    )

    def row(record: Record) -> Row:
        said = [record.values[c] for c in ids]
        email = [record.values[c] for c in addresses]
        return Row(keys_of(login=said, id=said, person=said, email=email, name=[]), (said + email)[0])

    return Layout("", column, None, {n: row(r) for n, r in sheet.rows.items()})
