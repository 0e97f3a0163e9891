"""Grades for a learning platform, from nbgrader's gradebook.

Layouts: Canvas takes a CSV with the columns Student, ID, SIS User ID, SIS Login ID, Section and one for each assignment, and a row of
points possible (Canvas instructor guide, "How do I import grades in the Gradebook"). Moodle takes its offline grading worksheet, whose
rows are known by Identifier, "Participant 1234567" (Moodle docs, "Using Assignment", offline grading worksheet).
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.batch import Classroom
from grader.course import CourseError
from grader.grade import load_assignment
from grader.gradebook import open_gradebook

Table = list[list[str | float]]
FORMATS = ("csv", "canvas", "moodle")


@dataclass(frozen=True)
class Grades:
    """One student's points in one module, as the gradebook has them."""

    student: str
    name: str
    email: str
    number: str  # the platform's own, if it is known
    points: dict[str, float]  # per graded cell
    penalty: float
    total: float  # after the penalty
    max_score: float
    to_be_read: bool  # a written answer has no grade yet


def grades(module: str, classroom: Classroom) -> list[Grades]:
    """What the gradebook has for a module. Raises CourseError if that is nothing."""
    assignment = load_assignment(module)
    directory = classroom.nbgrader_config().CourseDirectory
    with open_gradebook(directory.db_url, directory.course_id) as book:
        submissions = book.assignment_submissions(module) if _has(book, module) else []
        found = [_grades(s, assignment.notebook) for s in submissions]
    if not found:
        raise CourseError(
            f"{directory.db_url}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    return sorted(found, key=lambda g: g.student)


def _has(book: Any, module: str) -> bool:
    return module in {a.name for a in book.assignments}


def _grades(submission: Any, notebook_name: str) -> Grades:
    student = submission.student
    notebook = next(n for n in submission.notebooks if n.name == notebook_name)
    name = " ".join(filter(None, [student.first_name, student.last_name])) or student.id
    number = student.lms_user_id or (re.search(r"_(\d+)$", student.id) or [""] * 2)[1]
    penalty = notebook.late_submission_penalty or 0.0
    points = {g.name.removeprefix("test_"): float(g.score) for g in sorted(notebook.grades, key=lambda g: str(g.name))}
    return Grades(
        student.id,
        name,
        student.email or "",
        str(number),
        points,
        penalty,
        float(notebook.score) - penalty,
        float(notebook.max_score),
        any(g.needs_manual_grade for g in notebook.grades),
    )


def export(module: str, classroom: Classroom, layout: str) -> str:
    """A CSV text in one of FORMATS."""
    rows = grades(module, classroom)
    tables = {"csv": _plain, "canvas": _canvas, "moodle": _moodle}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows([[harmless(value) for value in row] for row in tables[layout](module, rows)])
    return text.getvalue()


def harmless(value: str | float) -> str:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, int | float):
        return f"{round(value, 4):g}"
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


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


def _moodle(module: str, rows: Sequence[Grades]) -> Table:
    head = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
    table: Table = [[*head, "Last modified (grade)", "Feedback comments"]]
    for r in rows:
        identifier = f"Participant {r.number}" if r.number else r.student
        table.append([identifier, r.name, r.email, "", r.total, r.max_score, "Yes", "", ""])
    return table
