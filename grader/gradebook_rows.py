"""What the gradebook has of one module, read at once for everyone."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from grader.course import Assignment
from grader.notebook import text_of
from grader.result import Result, Status

INVISIBLE = "\u2060"  # put between a student's signs, so that no tag is one


@dataclass(frozen=True)
class Cell:
    """One graded cell of one student. `answer` is the digest of what was graded, "" if it is not known."""

    auto: float | None
    by_hand: float | None
    extra: float | None
    to_be_read: bool
    answer: str = ""

    @property
    def points(self) -> float:
        given = self.auto if self.by_hand is None else self.by_hand
        return 0.0 if given is None else given + (self.extra or 0.0)


@dataclass
class Row:
    """One student's submission. Without `handed_in` there is only an extension.

    number    the platform's, nbgrader's lms_user_id
    comments  those of ours, by cell
    """

    student: str
    first_name: str
    last_name: str
    email: str
    number: str
    time: datetime | None
    extension: timedelta | None
    penalty: float | None
    handed_in: bool
    cells: dict[str, Cell] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Before the penalty."""
        return sum(cell.points for cell in self.cells.values())

    def seconds_late(self, due: datetime | None) -> float:
        return seconds_late(self.time, due, self.extension)


def seconds_late(time: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """How late a submission was; 0 if there is no due date, or if nobody knows when it was handed in."""
    if time is None or due is None:
        return 0.0
    try:
        return max(0.0, (time - due - (extension or timedelta())).total_seconds())
    except OverflowError:
        return 0.0


def answers_table() -> Any:
    """Our table in the gradebook: the answer that each grade was given for.

    It goes with the grades into each copy of the gradebook, so that one given by hand asks to be looked at again only if the
    answer has changed.
    """
    from sqlalchemy import Column, MetaData, String, Table

    return Table(
        "grader_answer",
        MetaData(),
        Column("grade_id", String(32), primary_key=True),
        Column("answer", String(64), nullable=False),
    )


def known_answers(book: Any, ids: list[str] | None = None) -> dict[str, str]:
    """The digest of each grade's answer, by the grade's id; of some grades, or of all."""
    from sqlalchemy import inspect, select

    table = answers_table()
    if not inspect(book.db.connection()).has_table(table.name):
        return {}
    query = select(table.c.grade_id, table.c.answer)
    found = book.db.execute(query if ids is None else query.where(table.c.grade_id.in_(ids)))
    return {identity: answer for identity, answer in found}  # noqa: C416  (they are no pairs, but rows)


def answers_of(notebook: Mapping[str, Any] | None) -> dict[str, str]:
    """A digest of each answer in a notebook that is kept, by cell; what is invisible in it does not count."""
    found = {}
    for cell in (notebook or {}).get("cells", ()):
        mark = cell["metadata"].get("nbgrader") or {}
        if mark.get("solution"):
            text = text_of(cell["source"]).replace(INVISIBLE, "").strip()
            if cell.get("attachments"):
                text += json.dumps(cell["attachments"], sort_keys=True)
            found[str(mark["grade_id"])] = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return found


def answer_to(cell: str) -> str:
    """The name of the cell whose answer a graded cell is about."""
    return cell.removeprefix("test_")


def outcome(result: Result, assignment: Assignment) -> dict[str, float | None]:
    """The automatic score of each graded cell: a verdict's points, 0 for a blank written answer, None for one to be read."""
    marks = [c["metadata"]["nbgrader"] for c in assignment.cells if "nbgrader" in c["metadata"]]
    scores: dict[str, float | None] = {m["grade_id"]: 0.0 for m in marks if m["grade"]}
    if result.status == Status.GRADED:
        scores |= {f"test_{n}": float(v.points) for n, v in result.verdicts.items() if f"test_{n}" in scores}
        scores |= {
            m["grade_id"]: None for m in marks if m["grade"] and m["solution"] and m["grade_id"] not in result.blank
        }
    return scores


def agrees(row: Row | None, result: Result, assignment: Assignment, time: datetime | None) -> bool:
    """Whether the gradebook has a result as it is kept; grades that were given by hand are its own."""
    if row is None or not row.handed_in or row.time != time:
        return False
    wanted = outcome(result, assignment)
    if {name: cell.auto for name, cell in row.cells.items()} != wanted:
        return False
    for name, cell in row.cells.items():
        to_be_read = result.status == Status.GRADED and wanted[name] is None
        if cell.answer != result.answers.get(answer_to(name), ""):
            return False
        if cell.to_be_read != to_be_read and (cell.by_hand is None or result.status != Status.GRADED):
            return False
    blank = result.blank if result.status == Status.GRADED else ()
    return all(text == ("No response." if name in blank else None) for name, text in row.comments.items())


def cells_fit(book: Any, assignment: Assignment) -> bool:
    """Whether the gradebook has the module's cells with the points that they have now."""
    from nbgrader.api import MissingEntry

    try:
        notebook = book.find_notebook(assignment.notebook, assignment.module)
    except MissingEntry:
        return False
    marks = [c["metadata"]["nbgrader"] for c in assignment.cells if "nbgrader" in c["metadata"]]
    points = {m["grade_id"]: float(m["points"]) for m in marks if m["grade"]}
    solutions = {m["grade_id"] for m in marks if m["solution"]}
    return {c.name: c.max_score for c in notebook.grade_cells} == points and {
        c.name for c in notebook.solution_cells
    } == solutions


def due_date(book: Any, module: str) -> datetime | None:
    """When a module is due, in UTC; None also if the gradebook does not know the module."""
    from nbgrader.api import Assignment as Module

    row = book.db.query(Module.duedate).filter(Module.name == module).first()
    return row[0] if row else None


def rows(book: Any, assignment: Assignment) -> dict[str, Row]:
    """Everyone's row for a module, by student: three questions, however many they are."""
    from nbgrader.api import Assignment as Module
    from nbgrader.api import Notebook, Student, SubmittedAssignment, SubmittedNotebook

    query = (
        book.db.query(Student, SubmittedAssignment, SubmittedNotebook)
        .join(SubmittedAssignment, SubmittedAssignment.student_id == Student.id)
        .join(Module, Module.id == SubmittedAssignment.assignment_id)
        .outerjoin(Notebook, (Notebook.assignment_id == Module.id) & (Notebook.name == assignment.notebook))
        .outerjoin(
            SubmittedNotebook,
            (SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            & (SubmittedNotebook.notebook_id == Notebook.id),
        )
        .filter(Module.name == assignment.module)
        .order_by(Student.id)
    )
    found: dict[str, Row] = {}
    by_notebook: dict[str, Row] = {}
    for student, submission, notebook in query.populate_existing():
        row = Row(
            student.id,
            student.first_name or "",
            student.last_name or "",
            student.email or "",
            student.lms_user_id or "",
            time=submission.timestamp,
            extension=submission.extension,
            penalty=notebook.late_submission_penalty if notebook else None,
            handed_in=notebook is not None,
        )
        found[row.student] = row
        if notebook is not None:
            by_notebook[notebook.id] = row
    _fill(book, assignment, by_notebook)
    return found


def _fill(book: Any, assignment: Assignment, by_notebook: Mapping[str, Row]) -> None:
    """Write each student's cells into their row."""
    from nbgrader.api import Assignment as Module
    from nbgrader.api import BaseCell, Comment, Grade, Notebook

    answers = known_answers(book)

    def of_cells(table: Any, *columns: Any) -> Any:
        query = book.db.query(table.notebook_id, BaseCell.name, *columns).join(BaseCell, BaseCell.id == table.cell_id)
        query = query.join(Notebook, Notebook.id == BaseCell.notebook_id).join(
            Module, Module.id == Notebook.assignment_id
        )
        where = (Module.name == assignment.module) & (Notebook.name == assignment.notebook)
        return query.filter(where).order_by(BaseCell.name)

    grade = (Grade.id, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    for notebook, name, identity, auto, by_hand, extra, to_be_read in of_cells(Grade, *grade):
        if notebook in by_notebook:
            answer = answers.get(identity, "")
            by_notebook[notebook].cells[name] = Cell(auto, by_hand, extra, to_be_read, answer)
    for notebook, name, text in of_cells(Comment, Comment.auto_comment):
        if notebook in by_notebook:
            by_notebook[notebook].comments[name] = text


@dataclass(frozen=True)
class Grades:
    """One student's points in one module, as the gradebook has them.

    number          the platform's own, if it is known
    points          per graded cell
    total           after the penalty
    to_be_read      the cells that somebody has to read: what they bring is not known yet
    time            when it was handed in, in UTC; "" if nobody knows
    handed_in       else there is only an extension
    graded_by_hand  the cells that somebody gave a grade or extra credit for
    """

    student: str
    name: str
    email: str
    number: str
    points: dict[str, float]
    penalty: float
    total: float
    max_score: float
    to_be_read: tuple[str, ...]
    time: str = ""
    seconds_late: float = 0.0
    handed_in: bool = True
    graded_by_hand: tuple[str, ...] = ()


def grades(book: Any, assignment: Assignment) -> list[Grades]:
    """What the gradebook has for a module, by student; nothing if nobody was graded."""
    from nbgrader.api import MissingEntry

    try:
        notebook = book.find_notebook(assignment.notebook, assignment.module)
    except MissingEntry:
        return []
    highest = {cell.name: float(cell.max_score) for cell in sorted(notebook.grade_cells, key=lambda c: str(c.name))}
    due = due_date(book, assignment.module)
    return [_grades(row, highest, due) for row in rows(book, assignment).values()]


def _grades(row: Row, highest: Mapping[str, float], due: datetime | None) -> Grades:
    penalty = row.penalty or 0.0
    points = {n: row.cells[n].points if n in row.cells else 0.0 for n in highest}
    return Grades(
        row.student,
        " ".join(filter(None, [row.first_name, row.last_name])) or row.student,
        row.email,
        row.number or (re.search(r"_(\d+)$", row.student) or [""] * 2)[1],
        {answer_to(name): number for name, number in points.items()},
        penalty,
        sum(points.values()) - penalty,
        sum(highest.values()),
        tuple(answer_to(name) for name, cell in row.cells.items() if cell.to_be_read),
        "" if row.time is None else f"{row.time:%Y-%m-%d %H:%M:%S} UTC",
        row.seconds_late(due),
        row.handed_in,
        tuple(answer_to(n) for n, c in row.cells.items() if c.by_hand is not None or c.extra is not None),
    )
