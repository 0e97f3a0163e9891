"""What is kept of a result: a record in the gradebook and a notebook under autograded/, and reading it back."""

import hashlib
import json
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grader import gradebook
from grader.classroom import Classroom, Submission, read_file, write_whole
from grader.course import ROOT, Assignment
from grader.result import VERDICT_TYPE, Result, Status, verdict_from_data

RECORDED = (Status.GRADED, Status.UNREADABLE)
# what a score depends on
DECIDING = ("autograded_tests/**/*.py", "exercises/**/*.py", "grader/*.py", "grader/sandbox/*.py", "tinytorch/**/*.py")


class Writer:
    """Records results of one module: first in the gradebook, then in the notebook whose digest says that both are done.

    config  nbgrader's, with the gradebook's address and the plug-in for late submissions
    """

    def __init__(self, assignment: Assignment, config: Any) -> None:
        self.assignment, self.config = assignment, config
        self._stack = ExitStack()
        self._book: Any = None
        self._late: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def record(self, submission: Submission, result: Result) -> dict[str, Any]:
        """Record a result in the gradebook; the notebook that is to be kept. Raises GradebookError."""
        if self._book is None:  # with the first result, so that nobody waits a second for it
            directory = self.config.CourseDirectory
            book = gradebook.open_gradebook(directory.db_url, directory.get("course_id", ""))
            self._book = self._stack.enter_context(book)
            self._late = gradebook.late_plugin(self.config)
            gradebook.save_assignment(self._book, self.assignment)
        gradebook.record(self._book, self.assignment, result, submission.timestamp, self._late)
        return kept_notebook(submission, result, self.assignment)

    def write(self, submission: Submission, result: Result, folder: Path) -> None:
        """Record a result and write what is kept of it into a folder; nothing if there was nothing to read."""
        if result.status not in RECORDED:
            return
        notebook = self.record(submission, result)
        if submission.timestamp:
            write_whole(folder / "timestamp.txt", f"{submission.timestamp}\n".encode())
        write_whole(folder / f"{self.assignment.notebook}.ipynb", f"{json.dumps(notebook, indent=1)}\n".encode())


def kept_notebook(submission: Submission, result: Result, assignment: Assignment) -> dict[str, Any]:
    """What autograded/ keeps: the notebook with trusted outputs and, in its metadata, the row and what it was made from."""
    notebook = result.notebook
    if notebook is None:
        text = f"**This submission could not be graded:** {result.reason}."
        cell = {"cell_type": "markdown", "id": "reason", "metadata": {}, "source": text}
        notebook = {"cells": [cell], "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}
    row = json.loads(result.to_json()) | {"digest": digest(submission, assignment)}
    return notebook | {"metadata": {**notebook["metadata"], "grader": row}}


def read_kept(student: str, assignment: Assignment, classroom: Classroom) -> Result | None:
    """The result that was kept of a student's work; None if there is none.

    `blank` and `notebook` are not read.
    """
    kept = _read(student, assignment, classroom)
    return kept[0] if kept else None


def read_unchanged(submission: Submission, assignment: Assignment, classroom: Classroom) -> Result | None:
    """The result of an earlier run, if it was for the same submission and the same tests."""
    kept = _read(submission.student, assignment, classroom)
    return kept[0] if kept and kept[1] == digest(submission, assignment) else None


def graded_students(assignment: Assignment, classroom: Classroom) -> list[str]:
    """Everyone of whom something was kept for this module."""
    found = (classroom.folder / "autograded").glob(f"*/{assignment.module}/{assignment.notebook}.ipynb")
    return sorted(path.parents[1].name for path in found)


def _read(student: str, assignment: Assignment, classroom: Classroom) -> tuple[Result, str] | None:
    """A kept result, and the digest of what it was made from."""
    path = classroom.autograded(student, assignment.module) / f"{assignment.notebook}.ipynb"
    try:
        notebook = json.loads(read_file(path))
        row = notebook["metadata"]["grader"]
        outputs = (o for cell in notebook["cells"] for o in cell.get("outputs", ()))
        data = (o.get("data", {}).get(VERDICT_TYPE) for o in outputs)
        sentences = {m.sentence for e in assignment.exercises for m in e.misconceptions}
        verdicts = [verdict_from_data(d, sentences) for d in data if d is not None]
        result = Result(
            str(row["student"]),
            str(row["module"]),
            Status(row["status"]),
            row["max_score"],
            reason=str(row.get("reason", "")),
            verdicts={verdict.exercise: verdict for verdict in verdicts},
            repairs=tuple(row["repairs"]),
            seconds=row["seconds"],
        )
        return result, str(row["digest"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


@cache
def version_of(module: str) -> bytes:
    """A digest of everything of ours that a score depends on."""
    files = {path for pattern in DECIDING for path in ROOT.glob(pattern)}
    files |= set((ROOT / "modules" / module).glob("*.ipynb"))
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(path.read_bytes())
    return whole.digest()


def digest(submission: Submission, assignment: Assignment) -> str:
    """What a result was made from: the submission, the tests, the grader."""
    stamp = f"{submission.timestamp}\0{submission.note}\0".encode(errors="surrogateescape")
    return hashlib.sha256(version_of(assignment.module) + stamp + submission.data).hexdigest()
