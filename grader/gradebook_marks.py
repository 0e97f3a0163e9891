"""What the gradebook has of one student's work, cell by cell: points, who gave them, comments."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grader.classroom import is_file
from grader.errors import GradebookError
from grader.gradebook_file import file_of


@dataclass(frozen=True)
class Mark:
    """A graded cell, or an answer that may have a comment.

    points     with extra credit; of an unread answer, what it had before, or 0
    automatic  None if nobody but a person can grade it
    by_hand    None if nobody did
    unread     somebody must read it, for the first time or again
    """

    cell: str
    points: float = 0.0
    max: float = 0.0
    automatic: float | None = None
    by_hand: float | None = None
    extra: float = 0.0
    unread: bool = False
    comment: str = ""

    @property
    def is_by_hand(self) -> bool:
        return self.by_hand is not None or self.extra != 0


@dataclass(frozen=True)
class Marks:
    """One student's marks in one module, by cell. `name` and `time` are empty where the gradebook has none."""

    name: str
    cells: dict[str, Mark]
    penalty: float
    total: float  # after the penalty
    max_score: float
    time: datetime | None  # in UTC
    seconds_late: float


def is_there(db_url: str) -> bool:
    """Whether there is a gradebook: who only reads makes none."""
    file = file_of(db_url)
    return file is None or is_file(file)


def marks(book: Any, module: str, notebook: str, student: str) -> Marks:
    """What the gradebook has for a student. Raises GradebookError if they are not in it."""
    from nbgrader.api import MissingEntry

    try:
        found = book.find_submission_notebook(notebook, module, student)
    except MissingEntry:
        raise GradebookError(
            f"{student} is not in the gradebook for {module}; run `python -m grader grade {module}` again"
        ) from None
    comments = {str(c.name): str(c.comment or "") for c in found.comments}
    graded = {str(g.name): _mark(g, comments.get(g.name, "")) for g in found.grades}
    only_comments = {name: Mark(name, comment=text) for name, text in comments.items() if name not in graded}
    submission = found.assignment
    person = submission.student
    penalty = float(found.late_submission_penalty or 0)
    return Marks(
        " ".join(filter(None, (person.first_name, person.last_name))),
        only_comments | graded,
        penalty,
        float(found.score) - penalty,
        float(found.max_score),
        submission.timestamp,
        float(submission.total_seconds_late),
    )


def _mark(grade: Any, comment: str) -> Mark:
    return Mark(
        str(grade.name),
        float(grade.score),
        float(grade.max_score),
        None if grade.auto_score is None else float(grade.auto_score),
        None if grade.manual_score is None else float(grade.manual_score),
        float(grade.extra_credit or 0),
        bool(grade.needs_manual_grade),
        comment,
    )
