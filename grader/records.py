"""What is kept of a result: a record in the gradebook and a notebook under autograded/, and reading it back."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from grader import dates, gradebook, gradebook_file, gradebook_rows
from grader.classroom import Classroom, Submission, is_file, read_file, timestamp_of, write_whole
from grader.course import ROOT, Assignment
from grader.grade import nothing
from grader.gradebook_rows import answers_of
from grader.notebook import text_of
from grader.result import VERDICT_TYPE, Result, Status, verdict_from_data
from grader.roster import Student

RECORDED = (Status.GRADED, Status.UNREADABLE)
# what a score depends on
DECIDING = ("autograded_tests/**/*.py", "exercises/**/*.py", "grader/*.py", "grader/sandbox/*.py", "tinytorch/**/*.py")


class Writer:
    """Records results of one module: first in the gradebook, then in the notebook whose digest says that both are done.

    config     nbgrader's, with the gradebook's address and the plug-in for late submissions
    classroom  whose gradebook is copied before anything is changed in it; None if nothing is copied
    on_line    is told what a person should know
    """

    def __init__(
        self,
        assignment: Assignment,
        config: Any,
        classroom: Classroom | None = None,
        on_line: Callable[[str], None] = nothing,
    ) -> None:
        self.assignment, self.config, self.classroom, self.on_line = assignment, config, classroom, on_line
        self._file = gradebook_file.file_of(config.CourseDirectory.db_url)
        self._stack = ExitStack()
        self._book: Any = None
        self._late: Any = None
        self._begun = False
        self._changed = 0.0  # when the gradebook was, before we did

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def book(self) -> Any:
        """nbgrader's gradebook, opened with the first question, so that nobody waits a second for it. Raises GradebookError."""
        if self._book is None:
            directory = self.config.CourseDirectory
            self._changed = gradebook_file.changed(self._file)
            book = gradebook.open_gradebook(directory.db_url, directory.get("course_id", ""))
            self._book = self._stack.enter_context(book)
            self._late = gradebook.late_plugin(self.config)
            if not self._changed:
                self._say_what_is_gone()
        return self._book

    def _say_what_is_gone(self) -> None:
        """A new gradebook has nothing that was given by hand in the one that was there."""
        if self.classroom is None or self._file is None:
            return
        modules = {path.parent.name for path in (self.classroom.folder / "autograded").glob("*/*/*.ipynb")}
        if modules:
            copies = gradebook_file.backups(self._file)
            others = sorted(modules - {self.assignment.module})
            self.on_line(
                f"{self._file}: there was no gradebook, and a new one was made. Grades and comments given by hand are not in it; "
                + (f"the last backup is {copies[-1]}" if copies else "there is no backup")
                + (f". Also grade {', '.join(others)}" if others else "")
            )

    def begin(self) -> Any:
        """The gradebook, copied, with the module's cells in it, for the first change. Raises GradebookError."""
        if not self._begun:
            if self.classroom is not None and self._file is not None and (self._book is None or self._changed):
                gradebook.check(self._file)
                gradebook_file.back_up(self._file)
            gradebook.save_assignment(self.book, self.assignment)
            self._begun = True
        return self.book

    def record(self, submission: Submission, result: Result, before: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Record a result in the gradebook; the notebook that is to be kept. Raises GradebookError or NotRecorded.

        before  digests of the answers that were graded before, where the gradebook does not know them
        """
        book = self.begin()
        gradebook.record(book, self.assignment, result, submission.timestamp, self._late, before)
        return kept_notebook(submission, result, self.assignment)

    def write(self, submission: Submission, result: Result, folder: Path) -> None:
        """Record a result and write what is kept of it into a folder; nothing if there was nothing to read.

        Raises GradebookError, NotRecorded, OSError, or CourseError if something is in the way in the folder.
        """
        if result.status not in RECORDED:
            return
        path = folder / f"{self.assignment.notebook}.ipynb"
        notebook = self.record(submission, result, _answers_in(path, self.assignment))
        _keep_time(folder, submission.timestamp)
        write_whole(path, f"{json.dumps(notebook, indent=1)}\n".encode())

    def agree(self, submission: Submission, kept: Result, folder: Path) -> Result:
        """The row of a submission that is kept as it was graded: recorded again if the gradebook has it otherwise.

        Raises as `write` does.
        """
        row, time = self._rows.get(submission.student), dates.known_time(submission.timestamp)
        same = self._cells_fit and gradebook_rows.agrees(row, kept, self.assignment, time)
        if not same:
            gradebook.record(self.begin(), self.assignment, kept, submission.timestamp, self._late)
        same_time = timestamp_of(folder) == submission.timestamp
        if not same_time:
            _keep_time(folder, submission.timestamp)
        return replace(kept, unchanged=same and same_time, recorded_again=not (same and same_time))

    @cached_property
    def _rows(self) -> dict[str, gradebook_rows.Row]:
        """What the gradebook has of everyone, as it was when this was asked first."""
        return gradebook_rows.rows(self.book, self.assignment)

    @cached_property
    def _cells_fit(self) -> bool:
        return gradebook_rows.cells_fit(self.book, self.assignment)

    def finish(self, people: Mapping[str, Student], listed: float = 0.0) -> list[str]:
        """Apply due dates, extensions and the plug-in to everyone's row, and fill in names; those who are gone from the class.

        Nothing is run and nothing written that is there already. Raises GradebookError.

        listed  when the roster was written
        """
        if self._book is None and self._file is not None and not gradebook_file.changed(self._file):
            return []
        rows = gradebook_rows.rows(self.book, self.assignment)
        due = gradebook_rows.due_date(self.book, self.assignment.module)
        here = [row for row in rows.values() if row.student in people]
        if penalties := gradebook.new_penalties(here, due, self._late):
            gradebook.save_penalties(self.begin(), self.assignment, penalties)
        if names := gradebook.new_names(self.book, people.values(), newer=listed > self._changed > 0):
            gradebook.save_names(self.begin(), names)
        return sorted(set(rows) - set(people))


def _keep_time(folder: Path, timestamp: str) -> None:
    """Write timestamp.txt, by which nbgrader knows whether there is a newer submission; none if nobody knows the time."""
    if timestamp:
        write_whole(folder / "timestamp.txt", f"{timestamp}\n".encode(errors="surrogateescape"))
    elif is_file(folder / "timestamp.txt"):
        (folder / "timestamp.txt").unlink()


def kept_notebook(submission: Submission, result: Result, assignment: Assignment) -> dict[str, Any]:
    """What autograded/ keeps: the notebook with trusted outputs and, in its metadata, the row and what it was made from."""
    notebook = result.notebook
    if notebook is None:
        text = f"**This submission could not be graded:** {result.reason}."
        cell = {"cell_type": "markdown", "id": "reason", "metadata": {}, "source": text}
        notebook = {"cells": [cell], "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}
    row = json.loads(result.to_json()) | {
        "digest": digest(submission, assignment),
        "blank": list(result.blank),
        "answers": answers_of(result.notebook),
    }
    kept = notebook | {"metadata": {**notebook["metadata"], "grader": row}}
    row["whole"] = _content(kept)
    return kept


def _content(notebook: dict[str, Any]) -> str:
    """A digest of a kept notebook, by which a change of it is seen; the same if nbgrader wrote it."""
    row = {key: value for key, value in notebook["metadata"]["grader"].items() if key != "whole"}
    cells = [
        [
            cell["cell_type"],
            text_of(cell["source"]),
            cell["metadata"],
            cell.get("attachments"),
            _joined(cell.get("outputs")),
        ]
        for cell in notebook["cells"]
    ]
    return hashlib.sha256(json.dumps([row, cells], sort_keys=True).encode()).hexdigest()


def _joined(outputs: Any) -> Any:
    """Outputs, with each text in one piece: nbgrader writes them as lists of lines."""
    if isinstance(outputs, dict):
        return {key: _joined(value) for key, value in outputs.items()}
    if isinstance(outputs, list):
        lines = bool(outputs) and all(isinstance(line, str) for line in outputs)
        return "".join(outputs) if lines else [_joined(value) for value in outputs]
    return outputs


def read_kept(student: str, assignment: Assignment, classroom: Classroom) -> Result | None:
    """The result that was kept of a student's work; None if there is none.

    `notebook` is not read.
    """
    kept = _read(student, assignment, classroom)
    return kept[0] if kept else None


def read_unchanged(submission: Submission, assignment: Assignment, classroom: Classroom) -> Result | None:
    """The result of an earlier run, if it was for the same submission and the same tests, and nobody has changed it."""
    kept = _read(submission.student, assignment, classroom)
    return kept[0] if kept and kept[1] == digest(submission, assignment) and kept[2] else None


def graded_students(assignment: Assignment, classroom: Classroom) -> list[str]:
    """Everyone of whom something was kept for this module."""
    found = (classroom.folder / "autograded").glob(f"*/{assignment.module}/{assignment.notebook}.ipynb")
    return sorted(path.parents[1].name for path in found)


def _read(student: str, assignment: Assignment, classroom: Classroom) -> tuple[Result, str, bool] | None:
    """A kept result, the digest of what it was made from, and whether it is as we wrote it."""
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
            blank=tuple(map(str, row.get("blank", ()))),
            seconds=row["seconds"],
            late=str(row.get("late", "")),
            answers={str(name): str(answer) for name, answer in row.get("answers", {}).items()},
        )
        return result, str(row["digest"]), "whole" in row and row["whole"] == _content(notebook)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _answers_in(path: Path, assignment: Assignment) -> dict[str, str]:
    """Digests of the answers in a kept notebook, under the names that they have now."""
    try:
        answers = answers_of(json.loads(read_file(path)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {assignment.renamed.get(name, name): answer for name, answer in answers.items()}


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
    said = (submission.timestamp, submission.note, submission.late, submission.unreadable)
    stamp = "".join(f"{text}\0" for text in said).encode(errors="surrogateescape")
    return hashlib.sha256(version_of(assignment.module) + stamp + submission.data).hexdigest()
