"""A class: which submissions there are, grading them side by side, recording them one by one."""

import fcntl
import hashlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from autograded_tests import exercises_of
from grader import gradebook
from grader.course import ROOT, CourseError, modules, nbgrader_config
from grader.grade import FAILED, GRADED, MISSING, UNREADABLE, Assignment, Graded, grade_notebook, load_assignment
from grader.jail import Jail, JailError, open_jail
from grader.rebuild import LARGEST, Unreadable, read


@dataclass(frozen=True)
class Row:
    """What one submission is told as. Points are those given automatically."""

    student: str
    module: str
    status: str
    score: float
    max_score: float
    scores: dict[str, float]
    repairs: tuple[str, ...]
    messages: dict[str, tuple[str, ...]]
    seconds: float
    reason: str = ""
    unchanged: bool = False

    def to_json(self) -> str:
        fields = vars(self) | {"seconds": round(self.seconds, 3)}
        return json.dumps({k: v for k, v in fields.items() if k not in ("reason", "unchanged") or v})


@dataclass(frozen=True)
class Classroom:
    """The folders of one class, and its gradebook."""

    folder: Path

    def submitted(self, student: str, module: str) -> Path:
        return self.folder / "submitted" / student / module

    def autograded(self, student: str, module: str) -> Path:
        return self.folder / "autograded" / student / module

    def students(self) -> list[str]:
        """Everyone who has a folder under submitted/."""
        folder = self.folder / "submitted"
        if not folder.is_dir():
            raise CourseError(f"{folder}: no such folder; submissions are expected in {folder}/<student>/<module>/")
        return sorted(p.name for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name[0] != ".")

    def nbgrader_config(self) -> Any:
        """nbgrader's configuration for this class: that of the course, with this folder's data."""
        config = nbgrader_config()
        if self.folder.resolve() != ROOT / "classroom":
            config.CourseDirectory.db_url = f"sqlite:///{self.folder.resolve() / 'gradebook.db'}"
            for step in ("submitted", "autograded", "feedback"):
                config.CourseDirectory[f"{step}_directory"] = str(self.folder.resolve() / step)
        return config


@dataclass(frozen=True)
class Submission:
    """What a student handed in, or why there is nothing to grade."""

    student: str
    data: bytes = b""
    timestamp: str = ""
    note: str = ""  # a repair: the file was found under another name
    missing: str = ""


def find_submission(folder: Path, student: str, assignment: Assignment) -> Submission:
    """Read the notebook in a student's folder; of several, the one with the right name or else the one that fits best."""
    if folder.is_symlink() or folder.parent.is_symlink():
        return Submission(student, missing="the folder is a link, and links are not followed")
    if not folder.is_dir():
        return Submission(student, missing="nothing was handed in")
    stamp = folder / "timestamp.txt"
    timestamp = _read(stamp)[:100].decode(errors="replace").strip() if _is_file(stamp) else ""
    right = folder / f"{assignment.notebook}.ipynb"
    if _is_file(right):
        return Submission(student, _read(right), timestamp)
    others = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".ipynb" and _is_file(p))
    fitting = max(others, key=lambda p: fit(_read(p), assignment), default=None)
    if fitting is not None:
        return Submission(student, _read(fitting), timestamp, note=f'the file is called "{fitting.name}"')
    if right.is_symlink():
        return Submission(student, missing=f"{right.name} is a link, and links are not followed")
    there = ", ".join(sorted(p.name for p in folder.iterdir())[:5])
    return Submission(student, missing=f"there is no notebook in the folder{f', only {there}' if there else ''}")


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read(path: Path) -> bytes:
    """A file's content, up to a little more than is accepted."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return file.read(LARGEST + 1)


def gradable() -> list[str]:
    """The modules that have exercises."""
    return [module for module in modules() if exercises_of(module)]


def fit(data: bytes, assignment: Assignment) -> int:
    """How many answers of a module a notebook seems to have."""
    try:
        cells = read(data)
    except Unreadable:
        return -1
    found = {cell.grade_id for cell in cells}.union(*(cell.defines for cell in cells))
    return sum(e.name in found or e.defines in found for e in assignment.exercises)


# --- grading: in a thread of ours, or wherever an executor runs it ----------------------------------------------------

_jails: dict[str, Jail] = {}
_opening = threading.Lock()


def grade_submission(submission: Submission, module: str) -> Graded:
    """Grade one submission in this process's jail, which is opened when it is first needed."""
    with _opening:
        if module not in _jails or _jails[module].closed:
            _jails[module] = open_jail(module)
    graded = grade_notebook(submission.data, load_assignment(module), _jails[module])
    return replace(graded, repairs=(submission.note, *graded.repairs)) if submission.note else graded


def close_jails() -> None:
    while _jails:
        _jails.popitem()[1].close()


# --- a class ----------------------------------------------------------------------------------------------------------


def grade_class(
    module: str,
    classroom: Classroom,
    students: Sequence[str] = (),
    jobs: int = 0,
    force: bool = False,
    executor: Executor | None = None,
    on_start: Callable[[Sequence[str]], None] = lambda students: None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Grade the submissions of all students, or of some, and record them in the gradebook.

    jobs      submissions graded at a time; 0 for one per core
    force     grade also what has not changed since it was graded
    executor  where grading runs; threads if None, each with a jail, which is a process of its own
    on_start  is told who will be graded, on_row each row when it is done

    Raises CourseError, JailError or GradebookError if there is nothing to work with. What goes wrong with one submission is a row.
    """
    assignment = load_assignment(module)
    names = list(students) or classroom.students()
    if not names:
        raise CourseError(f"{classroom.folder / 'submitted'}: there are no submissions")
    on_start(names)
    rows: list[Row] = []

    def done(row: Row) -> None:
        rows.append(row)
        on_row(row)

    with ExitStack() as stack:
        stack.enter_context(only_writer(classroom.folder))
        stack.callback(close_jails)
        at_a_time = min(jobs or os.cpu_count() or 1, len(names))
        pool = executor or stack.enter_context(ThreadPoolExecutor(at_a_time))
        writer = _Writer(classroom, assignment)
        stack.callback(writer.close)
        waiting: dict[Future[Graded], Submission] = {}
        coming = iter(names)

        def hand_out() -> None:
            """Keep the executor busy, without reading the whole class into memory."""
            while len(waiting) < 4 * at_a_time and (name := next(coming, None)) is not None:
                submission = find_submission(classroom.submitted(name, module), name, assignment)
                before = None if force else _graded_before(classroom, submission, assignment)
                if before is not None:
                    done(before)
                elif submission.missing:
                    done(_row(name, assignment, Graded(MISSING, submission.missing)))
                else:
                    waiting[pool.submit(grade_submission, submission, module)] = submission

        try:
            hand_out()
            if waiting:
                threading.Thread(target=gradebook.load_nbgrader, daemon=True).start()
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    submission = waiting.pop(future)
                    graded = _result(future)
                    done(_row(submission.student, assignment, graded))
                    writer.write(submission, graded)
                hand_out()
        finally:
            for future in waiting:
                future.cancel()
    return sorted(rows, key=lambda row: row.student)


def _result(future: Future[Graded]) -> Graded:
    try:
        return future.result()
    except JailError:
        raise
    except Exception as error:  # a bug of ours costs one row, and keeps its traceback
        traceback.print_exception(error, file=sys.stderr)
        return Graded(FAILED, f"the grader failed on this submission: {type(error).__name__}: {error}")


def _row(student: str, assignment: Assignment, graded: Graded) -> Row:
    return Row(
        student,
        assignment.module,
        graded.status,
        graded.score,
        assignment.max_score,
        {name: v.points for name, v in graded.verdicts.items()},
        graded.repairs,
        {name: v.messages for name, v in graded.verdicts.items() if v.messages},
        graded.seconds,
        graded.reason,
    )


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """The gradebook has one writer; a second grader at the same class stops here."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".grader.lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"{folder}: another grader is at work here; wait until it is done") from None
        yield


class _Writer:
    """Writes results to the gradebook and to autograded/."""

    def __init__(self, classroom: Classroom, assignment: Assignment) -> None:
        self.classroom, self.assignment = classroom, assignment
        self._stack = ExitStack()
        self._book: Any = None

    def _open(self) -> None:
        config = self.classroom.nbgrader_config()
        directory = config.CourseDirectory
        self._book = self._stack.enter_context(gradebook.open_gradebook(directory.db_url, directory.course_id))
        self._late = gradebook.late_plugin(config)
        gradebook.save_assignment(self._book, self.assignment)

    def write(self, submission: Submission, graded: Graded) -> None:
        """First the gradebook, then the notebook whose digest says that both are done."""
        if graded.status not in (GRADED, UNREADABLE):
            return
        if self._book is None:  # with the first result, so that nobody waits a second for it
            self._open()
        gradebook.record(self._book, self.assignment, submission.student, graded, submission.timestamp, self._late)
        notebook = kept_notebook(submission, graded, self.assignment)
        folder = self.classroom.autograded(submission.student, self.assignment.module)
        folder.mkdir(parents=True, exist_ok=True)
        if submission.timestamp:
            write_whole(folder / "timestamp.txt", f"{submission.timestamp}\n".encode())
        write_whole(folder / f"{self.assignment.notebook}.ipynb", f"{json.dumps(notebook, indent=1)}\n".encode())

    def close(self) -> None:
        self._stack.close()


def kept_notebook(submission: Submission, graded: Graded, assignment: Assignment) -> dict[str, Any]:
    """What autograded/ keeps: the notebook with trusted outputs and, in its metadata, the row and what it was made from."""
    notebook = graded.notebook
    if notebook is None:
        text = f"**This submission could not be graded:** {graded.reason}."
        cell = {"cell_type": "markdown", "id": "reason", "metadata": {}, "source": text}
        notebook = {"cells": [cell], "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}
    row = json.loads(_row(submission.student, assignment, graded).to_json())
    return notebook | {
        "metadata": {**notebook["metadata"], "grader": row | {"digest": _digest(submission, assignment)}}
    }


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(data)
    new.replace(path)


@cache
def _version(module: str) -> bytes:
    """A digest of everything of ours that a score depends on."""
    digest = hashlib.sha256()
    files = [*(ROOT / "autograded_tests").glob("*.py"), *(ROOT / "grader").glob("*.py")]
    files += [*(ROOT / "tinytorch").rglob("*.py"), *(ROOT / "modules" / module).glob("*.ipynb")]
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.digest()


def _digest(submission: Submission, assignment: Assignment) -> str:
    stamp = f"{submission.timestamp}\0{submission.note}\0".encode()
    return hashlib.sha256(_version(assignment.module) + stamp + submission.data).hexdigest()


def _graded_before(classroom: Classroom, submission: Submission, assignment: Assignment) -> Row | None:
    """The row of an earlier run, if it was for the same submission and the same tests."""
    path = classroom.autograded(submission.student, assignment.module) / f"{assignment.notebook}.ipynb"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["metadata"]["grader"]
        if kept.pop("digest") != _digest(submission, assignment):
            return None
        kept |= {"repairs": tuple(kept["repairs"]), "messages": {k: tuple(v) for k, v in kept["messages"].items()}}
        return Row(**kept | {"unchanged": True})
    except (OSError, ValueError, KeyError, TypeError):
        return None
