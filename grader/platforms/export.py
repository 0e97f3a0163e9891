"""Grades that leave the class: a CSV of our own, a copy of the platform's file with our column filled in, totals of modules.

Layouts of our own: Canvas takes a CSV with the columns Student, ID, SIS User ID, SIS Login ID, Section and one for each assignment,
and a row of points possible (Canvas instructor guide, "How do I import grades in the Gradebook"). Moodle takes its offline grading
worksheet, whose rows are known by Identifier, "Participant 1234567" (Moodle docs, "Using Assignment", offline grading worksheet).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grader.classroom import Classroom
from grader.course import Assignment, gradable, load_assignment
from grader.errors import CourseError
from grader.gradebook import Grades, grades, open_gradebook
from grader.result import Status
from grader.roster import Student, students
from grader.spreadsheet import csv_text

Table = list[list[str | float]]
FORMATS = ("csv", "canvas", "moodle")
SHOWN = 10  # names in a refusal


@dataclass(frozen=True)
class Row:
    """One student of the class in one module; `grades` is None for who handed nothing in, or was not graded."""

    student: Student
    status: Status
    grades: Grades | None


@dataclass(frozen=True)
class Standing:
    """How a class stands in one module.

    maximum  points that can be had
    gone     who has grades and is not in the class
    """

    assignment: Assignment
    rows: tuple[Row, ...]
    maximum: float
    gone: tuple[str, ...]


@dataclass(frozen=True)
class Total:
    """One student's total over modules.

    points   by module; None where nothing was handed in or graded, which counts as 0
    unread   written answers that nobody has read, as module/cell
    """

    student: Student
    points: dict[str, float | None]
    value: float
    unread: tuple[str, ...]


@dataclass(frozen=True)
class Exported:
    """A text for stdout, and what is to be said beside it, line by line."""

    text: str
    notes: tuple[str, ...]


def standing(classroom: Classroom, module: str, unread_is_zero: bool) -> Standing:
    """What the gradebook has for a module, for everyone in the class.

    Raises CourseError if nobody was graded, and if written answers are unread, unless they are to count as 0.
    """
    found = _standings(classroom, [module])
    if not found:
        raise CourseError(
            f"{_address(classroom)}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    if not unread_is_zero:
        _refuse_unread(found)
    return found[0]


def _address(classroom: Classroom) -> str:
    return str(classroom.nbgrader_config().CourseDirectory.db_url)


def _standings(classroom: Classroom, modules: Iterable[str]) -> list[Standing]:
    """The modules in which somebody was graded."""
    directory = classroom.nbgrader_config().CourseDirectory
    assignments = [load_assignment(module) for module in modules]
    with open_gradebook(directory.db_url, directory.course_id) as book:
        graded = [(assignment, grades(book, assignment)) for assignment in assignments]
    there = students(classroom)
    found = [_standing(classroom, assignment, rows, there) for assignment, rows in graded if rows]
    if found and not any(row.grades for one in found for row in one.rows):
        raise CourseError(
            f"{classroom.folder}: nobody who has been graded is in the class: neither in its roster nor under submitted/; "
            "put the folder submitted/ back, or read the platform's list with `python -m grader roster`"
        )
    return found


def _standing(
    classroom: Classroom, assignment: Assignment, graded: Sequence[Grades], there: dict[str, Student]
) -> Standing:
    by_student = {g.student: g for g in graded}
    rows = tuple(_row(classroom, assignment.module, s, by_student.get(id_)) for id_, s in there.items())
    return Standing(assignment, rows, graded[0].max_score, tuple(sorted(by_student.keys() - there)))


def _row(classroom: Classroom, module: str, student: Student, found: Grades | None) -> Row:
    if found is None or not found.handed_in:
        waits = classroom.submitted(student.id, module).is_dir()
        return Row(student, Status.NOT_GRADED if waits else Status.MISSING, None)
    name = "" if found.name == student.id else found.name
    student = replace(
        student,
        name=student.name or name,
        email=student.email or found.email,
        number=student.number or found.number,
    )
    return Row(student, Status.GRADED, found)


def called(student: Student) -> str:
    """A student's name and id."""
    return student.id if student.full_name == student.id else f"{student.full_name} ({student.id})"


def _refuse_unread(found: Sequence[Standing]) -> None:
    unread = {row.student.id: row.student for one in found for row in one.rows if row.grades and row.grades.to_be_read}
    if not unread:
        return
    names = ", ".join(called(s) for s in list(unread.values())[:SHOWN])
    more = f" and {len(unread) - SHOWN} more" if len(unread) > SHOWN else ""
    modules = ", ".join(
        one.assignment.module for one in found if any(r.grades and r.grades.to_be_read for r in one.rows)
    )
    whose = "1 student has" if len(unread) == 1 else f"{len(unread)} students have"
    raise CourseError(
        f"{modules}: {whose} written answers that nobody has read: {names}{more}. Grade them in the formgrader (`make lab`), "
        "or give them 0 points with `--unread zero`"
    )


def notes_on(found: Sequence[Standing]) -> list[str]:
    """What is to be said of who is left out, not graded, or counted with unread answers."""
    gone = sorted({id_ for one in found for id_ in one.gone})
    notes = [f"left out, since they are no longer in the class: {', '.join(gone)}"] if gone else []
    for one in found:
        module = one.assignment.module
        unread = [called(r.student) for r in one.rows if r.grades and r.grades.to_be_read]
        waiting = [called(r.student) for r in one.rows if r.status == Status.NOT_GRADED]
        if unread:
            notes.append(f"{module}: written answers that nobody has read count 0 ({len(unread)}): {', '.join(unread)}")
        if waiting:
            notes.append(
                f"{module}: handed in and not graded: {', '.join(waiting)}; run `python -m grader grade {module}`"
            )
    return notes


def export(module: str, classroom: Classroom, layout: str, unread_is_zero: bool = False) -> Exported:
    """A CSV text in one of FORMATS. Raises CourseError if nobody has been graded, or if written answers are unread."""
    found = standing(classroom, module, unread_is_zero)
    notes = notes_on([found])
    if layout == "csv":
        return Exported(csv_text(_plain(found)), tuple(notes))
    there = [(row.student, row.grades) for row in found.rows if row.grades]
    missing = [called(row.student) for row in found.rows if row.status == Status.MISSING]
    if missing:
        notes.append(f"{module}: handed nothing in, and not in the file: {', '.join(missing)}")
    if layout == "canvas":
        return Exported(csv_text(_canvas(module, there, found.maximum)), tuple(notes))
    notes.append("Moodle takes this file for who has no grade there; `--into` its own worksheet for the others")
    return Exported(csv_text(_moodle(there, found.maximum)), tuple(notes))


def _plain(found: Standing) -> Table:
    cells = next(list(row.grades.points) for row in found.rows if row.grades)
    head = ["student", "name", "email", "module", "status", *cells, "late penalty", "total", "max", "to be read"]
    table: Table = [[*head]]
    for row in found.rows:
        student, g = row.student, row.grades
        start = [student.id, student.full_name, student.email, found.assignment.module, row.status]
        if g is None:
            table.append([*start, *[""] * len(cells), "", "", found.maximum, ""])
            continue
        points = [g.points.get(cell, "") for cell in cells]
        table.append([*start, *points, g.penalty, g.total, g.max_score, " ".join(g.to_be_read)])
    return table


def _canvas(module: str, rows: Sequence[tuple[Student, Grades]], maximum: float) -> Table:
    table: Table = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", module]]
    table.append(["    Points Possible", "", "", "", "", maximum])
    table += [[s.full_name, s.number, "", s.login or s.id, "", g.total] for s, g in rows]
    return table


def _moodle(rows: Sequence[tuple[Student, Grades]], maximum: float) -> Table:
    """Without a column for comments, since Moodle takes an empty one as the erasure of what is there."""
    head = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
    table: Table = [[*head, "Last modified (grade)"]]
    for s, g in rows:
        identifier = f"Participant {s.number}" if s.number else s.id
        table.append([identifier, s.full_name, s.email, "", g.total, maximum, "Yes", ""])
    return table


def totals(
    classroom: Classroom, weights: str, unread_is_zero: bool = False
) -> tuple[list[Total], float, list[str], list[str]]:
    """Totals over the modules in which somebody was graded: rows, the maximum, the modules, and notes.

    weights  "02=1,04_attention=3": then a total is in per cent, and only these modules count; "" for the sum of points
    """
    found = _standings(classroom, gradable())
    if not found:
        raise CourseError(f"{_address(classroom)}: nobody has been graded; run `python -m grader grade MODULE` first")
    by_module = {one.assignment.module: one for one in found}
    weight = _weights(weights, list(by_module)) or {m: one.maximum for m, one in by_module.items()}
    counted = [by_module[m] for m in weight]
    if not unread_is_zero:
        _refuse_unread(counted)
    maximum = 100.0 if weights else sum(weight.values())
    share = {m: maximum * w / sum(weight.values()) for m, w in weight.items()}
    rows = [_total(n, counted, share) for n in range(len(found[0].rows))]
    notes = notes_on(counted)
    scale = ", ".join(f"{m} {w:g}" for m, w in weight.items())
    notes.append(f"totals are {'per cent' if weights else f'points of {maximum:g}'}, with the weights {scale}")
    if others := [m for m in by_module if m not in weight]:
        notes.append(f"graded, and without a weight: {', '.join(others)}")
    return rows, maximum, list(weight), notes


def _total(number: int, counted: Sequence[Standing], share: dict[str, float]) -> Total:
    """The total of one student, who has the same place in each module's rows."""
    rows = {one.assignment.module: one.rows[number] for one in counted}
    points = {m: row.grades.total if row.grades else None for m, row in rows.items()}
    value = sum(share[one.assignment.module] * (points[one.assignment.module] or 0) / one.maximum for one in counted)
    unread = tuple(f"{m}/{cell}" for m, row in rows.items() if row.grades for cell in row.grades.to_be_read)
    best = max((row.student for row in rows.values()), key=lambda s: (bool(s.email), bool(s.name), bool(s.number)))
    return Total(best, points, value, unread)


def _weights(text: str, graded: Sequence[str]) -> dict[str, float]:
    """The weights by module. Raises CourseError for one that is none, or of a module in which nobody was graded."""
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, weight = (piece.strip() for piece in part.partition("="))
        modules = [m for m in graded if name in (m, m.partition("_")[0], m.partition("_")[2])]
        try:
            value = float(weight)
        except ValueError:
            value = -1
        if len(modules) != 1 or not 0 <= value < float("inf"):
            raise CourseError(
                f'--weights: "{part}" is no weight; write for example {graded[0].partition("_")[0]}=1. Graded are: {", ".join(graded)}'
            )
        found[modules[0]] = value
    if text and not sum(found.values()):
        raise CourseError("--weights: one weight must be larger than 0")
    return found


def export_totals(classroom: Classroom, weights: str, unread_is_zero: bool = False) -> Exported:
    """A CSV text with the totals. Raises CourseError if nobody has been graded, or if written answers are unread."""
    rows, maximum, modules, notes = totals(classroom, weights, unread_is_zero)
    table: Table = [["student", "name", "email", *modules, "total", "max", "handed nothing in", "to be read"]]
    for row in rows:
        s = row.student
        points = ["" if row.points[m] is None else row.points[m] or 0.0 for m in modules]
        missing = " ".join(m for m in modules if row.points[m] is None)
        table.append([s.id, s.full_name, s.email, *points, row.value, maximum, missing, " ".join(row.unread)])
    return Exported(csv_text(table), tuple(notes))
