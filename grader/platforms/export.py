"""Grades for a learning platform, from nbgrader's gradebook.

Layouts: Canvas takes a CSV with the columns Student, ID, SIS User ID, SIS Login ID, Section and one for each assignment, and a row of
points possible (Canvas instructor guide, "How do I import grades in the Gradebook"). Moodle takes its offline grading worksheet, whose
rows are known by Identifier, "Participant 1234567" (Moodle docs, "Using Assignment", offline grading worksheet).
"""

from collections.abc import Sequence

from grader.classroom import Classroom
from grader.course import load_assignment
from grader.errors import CourseError
from grader.gradebook import Grades, grades, open_gradebook
from grader.spreadsheet import csv_text

Table = list[list[str | float]]
FORMATS = ("csv", "canvas", "moodle")


def _grades(module: str, classroom: Classroom) -> list[Grades]:
    """What the gradebook has for a module. Raises CourseError if that is nothing."""
    directory = classroom.nbgrader_config().CourseDirectory
    with open_gradebook(directory.db_url, directory.course_id) as book:
        found = grades(book, load_assignment(module))
    if not found:
        raise CourseError(
            f"{directory.db_url}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    return found


def export(module: str, classroom: Classroom, layout: str) -> str:
    """A CSV text in one of FORMATS. Raises CourseError if nobody has been graded."""
    rows = _grades(module, classroom)
    tables = {"csv": _plain, "canvas": _canvas, "moodle": _moodle}
    return csv_text(tables[layout](module, rows))


def _plain(module: str, rows: Sequence[Grades]) -> Table:
    cells = list(rows[0].points)
    table: Table = [["student", "name", "email", "module", *cells, "late penalty", "total", "max", "to be read"]]
    for r in rows:
        points = [r.points[cell] for cell in cells]
        to_be_read = "yes" if r.to_be_read else "no"
        table.append([r.student, r.name, r.email, module, *points, r.penalty, r.total, r.max_score, to_be_read])
    return table


def _canvas(module: str, rows: Sequence[Grades]) -> Table:
    table: Table = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", module]]
    table.append(["    Points Possible", "", "", "", "", rows[0].max_score])
    table += [[r.name, r.number, "", r.student, "", r.total] for r in rows]
    return table


def _moodle(_module: str, rows: Sequence[Grades]) -> Table:
    head = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
    table: Table = [[*head, "Last modified (grade)", "Feedback comments"]]
    for r in rows:
        identifier = f"Participant {r.number}" if r.number else r.student
        table.append([identifier, r.name, r.email, "", r.total, r.max_score, "Yes", "", ""])
    return table
