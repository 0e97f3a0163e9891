"""A copy of the platform's own file with a module's grades, or totals, filled in; every other cell stays byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from grader.classroom import Classroom, write_whole
from grader.errors import CourseError
from grader.gradebook import Grades
from grader.notebook import grade_id
from grader.origin import Origin, read_origin
from grader.platforms.cells import Sheet, bytes_of, read_sheet, with_cells
from grader.platforms.export import Standing, called, notes_on, standing, totals
from grader.platforms.matching import MANY, Matches, known_by, match
from grader.platforms.worksheets import Layout, Wanted, number_of, recognise
from grader.records import read_kept
from grader.roster import Student

MOODLE = "moodle"


@dataclass(frozen=True)
class Mark:
    """What one student gets: points, None for nothing, and a comment in HTML."""

    student: Student
    points: float | None
    comment: str = ""


@dataclass(frozen=True)
class Target:
    """A platform's file, and how it is to be filled in.

    output    "" for a name beside the file
    column    a title or a number; "" for the one that has the module's name
    comments  also the column for comments
    scale     convert points where the platform's maximum is another
    """

    file: Path
    output: Path | None = None
    column: str = ""
    comments: bool = False
    scale: bool = False

    @property
    def copy(self) -> Path:
        return self.output or self.file.with_name(f"{self.file.stem}-filled{self.file.suffix}")


def fill_in_module(module: str, classroom: Classroom, target: Target, unread_is_zero: bool = False) -> list[str]:
    """Write a copy of a file with the grades of a module; what is to be said of it, line by line. Raises CourseError."""
    found = standing(classroom, module, unread_is_zero)
    marks = [
        Mark(r.student, r.grades.total, _comment(classroom, found, r.grades) if target.comments else "")
        if r.grades
        else Mark(r.student, None)
        for r in found.rows
    ]
    origins = {m.student.id: read_origin(classroom.submitted(m.student.id, module)) for m in marks}
    words = (module, found.assignment.notebook)
    return _fill(target, words, marks, origins, found.maximum) + notes_on([found])


def fill_in_totals(classroom: Classroom, weights: str, target: Target, unread_is_zero: bool = False) -> list[str]:
    """Write a copy of a file with totals; who has handed in nothing at all gets none. Raises CourseError."""
    if target.comments:
        raise CourseError("--comments: a total has no comments; leave the option out")
    rows, maximum, modules, notes = totals(classroom, weights, unread_is_zero)
    marks = [Mark(r.student, r.value if any(p is not None for p in r.points.values()) else None) for r in rows]
    origins: dict[str, Origin] = {}
    for student in (m.student for m in marks):
        there = [read_origin(classroom.submitted(student.id, module)) for module in modules]
        origins[student.id] = next((o for o in there if o.platform), Origin())
    return _fill(target, ("total", "course total"), marks, origins, maximum) + notes


def _fill(
    target: Target, words: tuple[str, ...], marks: list[Mark], origins: Mapping[str, Origin], maximum: float
) -> list[str]:
    sheet = read_sheet(_bytes(target.file), str(target.file))
    layout = recognise(sheet, Wanted(target.column, words))
    title = sheet.header[layout.column].strip()
    factor = _factor(target, title, layout.maximum, maximum)
    if target.comments and layout.comments is None:
        what = "has no column `Feedback comments`; switch these on in the assignment, and download it in English"
        raise CourseError(
            f"{target.file}: it {what if layout.platform == MOODLE else 'takes no comments; leave --comments out'}"
        )
    if target.copy.resolve() == target.file.resolve():
        raise CourseError(f"{target.copy}: it is the platform's file itself, which stays as it is; name another output")
    by_id = {m.student.id: m for m in marks}
    known = {m.student.id: known_by(m.student, origins[m.student.id], layout.platform) for m in marks}
    matches = match({n: row.keys for n, row in layout.rows.items()}, known)
    filled = {n: by_id[id_] for n, id_ in matches.rows.items() if by_id[id_].points is not None}
    filled = {n: mark for n, mark in filled.items() if not layout.rows[n].locked}
    if not matches.rows:
        raise CourseError(
            f"{target.file}: none of its {len(layout.rows)} rows is a student of the class; nothing is written. Is it of this course? "
            "`python -m grader roster` reads the platform's list of students"
        )
    write_whole(target.copy, bytes_of(with_cells(sheet, _cells(sheet, layout, filled, factor))))
    return [
        f'{target.copy}: {len(filled)} grades in the column "{title}"{_scaled(factor, maximum, layout.maximum)}',
        *_listed(sheet, layout, matches, by_id),
        *(_for_moodle(sheet, layout, filled, factor) if layout.platform == MOODLE else ()),
    ]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CourseError(
            f"{path}: it cannot be read ({error.strerror}); give the file that the platform made"
        ) from None


def _factor(target: Target, title: str, theirs: float | None, ours: float) -> float:
    """By what points are multiplied. Raises CourseError if the maxima differ and nobody said that this is meant."""
    if theirs is None or abs(theirs - ours) < 0.005:
        return 1.0
    if not target.scale or theirs <= 0:
        raise CourseError(
            f'{target.file}: the column "{title}" is of {theirs:g} points, these are grades of {ours:g}; set {ours:g} points on the '
            "platform and download the file again" + (", or convert them with --scale" if theirs > 0 else "")
        )
    return theirs / ours


def _scaled(factor: float, ours: float, theirs: float | None) -> str:
    return "" if factor == 1 else f", converted from {ours:g} to {theirs:g} points"


def _cells(sheet: Sheet, layout: Layout, filled: Mapping[int, Mark], factor: float) -> dict[tuple[int, int], str]:
    """What is written into the file; a cell that says the same number already stays as it is."""
    column = layout.column
    numbers = [r.values[c].strip() for r in sheet.records for c in (column, column + 1) if c < len(r.values)]
    comma = any("," in text and number_of(text) is not None for text in numbers)
    cells: dict[tuple[int, int], str] = {}
    for n, mark in filled.items():
        points = round((mark.points or 0.0) * factor, 4)
        if number_of(sheet.records[n].values[column]) != points:
            text = f"{points:.4f}".rstrip("0").rstrip(".")
            cells[n, column] = text.replace(".", ",") if comma else text
        if mark.comment and layout.comments is not None:
            cells[n, layout.comments] = mark.comment
    return cells


def _listed(sheet: Sheet, layout: Layout, matches: Matches, by_id: Mapping[str, Mark]) -> list[str]:
    """Who is in one and not in the other, and who is not filled in though there is a row."""
    there = set(matches.rows.values()) | matches.doubtful_students
    left = [m for m in by_id.values() if m.points is not None and m.student.id not in there]
    strangers = [r.label for n, r in layout.rows.items() if n not in matches.rows and n not in matches.doubtful_rows]
    doubtful = [f"line {sheet.records[n].line} ({layout.rows[n].label})" for n in sorted(matches.doubtful_rows)]
    graded = {n: id_ for n, id_ in matches.rows.items() if by_id[id_].points is not None}
    locked = [
        f"{called(by_id[id_].student)}: {layout.rows[n].locked}" for n, id_ in graded.items() if layout.rows[n].locked
    ]
    blank = [called(by_id[id_].student) for n, id_ in matches.rows.items() if n not in graded]
    odd = ", ".join(f"line {record.line}" for record in sheet.odd)
    lines = {
        "graded, and not in the file": ", ".join(called(m.student) for m in left),
        "in the file, and not in the class": ", ".join(strangers),
        f"not filled in, since {MANY}": ", ".join(doubtful),
        "not filled in": ", ".join(locked),
        "no grade, and left as it is in the file": ", ".join(blank),
        "not filled in, since the line has more or fewer cells than the header": odd,
    }
    return [f"{what}: {who}" for what, who in lines.items() if who]


def _for_moodle(sheet: Sheet, layout: Layout, filled: Mapping[int, Mark], factor: float) -> list[str]:
    """What Moodle does not take without a word (mod/assign/feedback/offline)."""
    nothing = [
        called(m.student) for n, m in filled.items() if not m.points and not sheet.records[n].values[layout.column]
    ]
    notes = []
    if nothing:
        notes.append(f"Moodle takes no 0 where it has no grade yet; enter it there: {', '.join(nothing)}")
    if layout.maximum is not None:
        above = [called(m.student) for m in filled.values() if (m.points or 0) * factor > layout.maximum + 0.005]
        if above:
            notes.append(
                f"Moodle takes no grade above {layout.maximum:g}; enter it there as you like: {', '.join(above)}"
            )
    if sheet.header[0].strip() != "Identifier":
        notes.append(
            "the worksheet is not in English, and Moodle reads its dates in English only: when you upload it, use the same language "
            "and tick that records which were modified more recently in Moodle may be updated"
        )
    return notes


def _comment(classroom: Classroom, found: Standing, grades: Grades) -> str:
    """Points by exercise and our sentences, as HTML."""
    assignment = found.assignment
    result = read_kept(grades.student, assignment, classroom)
    lines = [f"{grades.total:g} of {grades.max_score:g} points"]
    if grades.penalty:
        lines.append(f"penalty for handing in late: {grades.penalty:g}")
    if result is not None and result.reason:
        lines.append(f"This submission could not be graded: {result.reason}")
    marks = ((grade_id(cell), cell["metadata"].get("nbgrader", {})) for cell in assignment.cells)
    for cell, mark in marks:
        name = cell.removeprefix("test_")
        if not mark.get("grade") or name not in grades.points:
            continue
        if cell in grades.to_be_read:
            lines.append(f"{name}: not yet read")
            continue
        said = result.messages.get(name, ()) if result is not None else ()
        lines.append(": ".join([f"{name}: {grades.points[name]:.4g} of {float(mark['points']):g}", *said]))
    return "<br>".join(escape(line).replace("\n", "<br>") for line in lines)
