"""nbgrader's gradebook, the system of record: opened, written and read here. One writer at a time."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from grader.course import Assignment
from grader.errors import GradebookError
from grader.gradebook_cells import save_cells
from grader.result import Result, Status
from grader.roster import Student


@contextmanager
def open_gradebook(db_url: str, course_id: str) -> Iterator[Any]:
    """nbgrader's Gradebook; a new one is made if there is none. Raises GradebookError."""
    from nbgrader.api import Gradebook

    if db_url.startswith("sqlite:///"):
        Path(db_url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    try:
        with alembic_in_this_process():
            book = Gradebook(db_url, course_id)
    except Exception as error:
        raise GradebookError(
            f"{db_url}: the gradebook cannot be opened ({type(error).__name__}: {error}). If nbgrader was upgraded, back the file up "
            "and run `nbgrader db upgrade`"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Object of type .* not in session")  # nbgrader's own way of adding
            yield book
    finally:
        book.close()


@contextmanager
def alembic_in_this_process() -> Iterator[None]:
    """Meanwhile nbgrader asks alembic for the version of its tables in this process, when it makes a gradebook.

    Else it starts a process (3 s), which it finds by PATH: without an activated environment, not at all.
    """
    api: Any = import_module("nbgrader.api")
    in_a_process = api.get_alembic_version
    api.get_alembic_version = _alembic_head
    try:
        yield
    finally:
        api.get_alembic_version = in_a_process


def _alembic_head() -> str:
    """The version of nbgrader's tables."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def save_assignment(book: Any, assignment: Assignment) -> None:
    """Make the gradebook's record of a module equal to ours, also when there are submissions already.

    nbgrader refuses to change a notebook that has submissions; here cells are updated, added, and renamed where an exercise
    says what it was called formerly. Those that are gone lose their grades. Raises GradebookError, and changes nothing, if
    somebody gave one of these by hand.
    """
    with _one_transaction(book):
        save_cells(book, assignment)


@contextmanager
def _one_transaction(book: Any) -> Iterator[None]:
    """All or nothing: nbgrader commits after every change, here once at the end."""
    book.db.commit = book.db.flush
    try:
        yield
    except BaseException:
        book.db.rollback()
        raise
    finally:
        del book.db.commit
    book.db.commit()


def late_plugin(config: Any) -> Any:
    """nbgrader's plug-in for late submissions, as its configuration says."""
    from nbgrader.plugins import LateSubmissionPlugin
    from traitlets.utils.importstring import import_item

    plugin = config.AssignLatePenalties.get("plugin_class", LateSubmissionPlugin)
    return (import_item(plugin) if isinstance(plugin, str) else plugin)(config=config)


def record(book: Any, assignment: Assignment, result: Result, timestamp: str, late: Any) -> None:
    """Write what came of one submission, in one transaction; grades and comments given by hand are not touched.

    late  nbgrader's plug-in for late submissions
    """
    with _one_transaction(book):
        _record(book, assignment, result, timestamp, late)


def time_of(timestamp: str) -> datetime | None:
    """When a submission was handed in, in UTC; None if nobody says so. ValueError if nbgrader does not understand it."""
    from nbgrader.utils import parse_utc

    try:
        return cast("datetime | None", parse_utc(timestamp)) if timestamp else None
    except (OverflowError, TypeError) as error:
        raise ValueError(str(error)) from None


def _record(book: Any, assignment: Assignment, result: Result, timestamp: str, late: Any) -> None:
    student = result.student
    book.update_or_create_student(student)
    time = None
    with suppress(ValueError):
        time = time_of(timestamp)
    stamp = {} if time is None else {"timestamp": time}
    submission = book.update_or_create_submission(assignment.module, student, **stamp)
    notebook = book.find_submission_notebook(assignment.notebook, assignment.module, student)
    outcome = _outcome(result)
    for grade in notebook.grades:
        grade.auto_score = outcome.get(grade.name, 0.0)
        hand_given = grade.manual_score is not None
        grade.needs_manual_grade = result.status == Status.GRADED and (hand_given or grade.auto_score is None)
    for comment in notebook.comments:
        unanswered = result.notebook is not None and comment.name in result.blank
        comment.auto_comment = "No response." if unanswered else None
    book.db.flush()
    notebook.late_submission_penalty = None
    if submission.total_seconds_late > 0:
        book.db.refresh(notebook)
        penalty = late.late_submission_penalty(student, notebook.score, submission.total_seconds_late)
        if penalty is not None:
            notebook.late_submission_penalty = min(max(penalty, 0), notebook.score)


def _outcome(result: Result) -> Mapping[str, float | None]:
    """The automatic score of each graded cell: points of a verdict, 0 for a blank written answer, None for one to be read."""
    scores: dict[str, float | None] = {f"test_{name}": float(v.points) for name, v in result.verdicts.items()}
    if result.notebook is not None:
        for cell in result.notebook["cells"]:
            mark = cell["metadata"].get("nbgrader", {})
            if mark.get("grade") and mark.get("solution"):
                scores[mark["grade_id"]] = 0.0 if mark["grade_id"] in result.blank else None
    return scores


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
    to_be_read: tuple[str, ...]  # written answers that have no grade yet
    handed_in: bool = True


def grades(book: Any, assignment: Assignment) -> list[Grades]:
    """What the gradebook has for a module, by student; nothing if nobody was graded."""
    if assignment.module not in {a.name for a in book.assignments}:
        return []
    found = [_grades(s, assignment.notebook) for s in book.assignment_submissions(assignment.module)]
    return sorted(found, key=lambda g: g.student)


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
        tuple(sorted(str(g.name) for g in notebook.grades if g.needs_manual_grade)),
    )


def save_students(book: Any, students: Iterable[Student]) -> None:
    """Make nbgrader's record of students say what a roster says; what it does not say stays."""
    with _one_transaction(book):
        for student in students:
            known = {"first_name": student.first_name, "last_name": student.last_name, "email": student.email}
            known["lms_user_id"] = student.number
            book.update_or_create_student(student.id, **{k: v for k, v in known.items() if v})
