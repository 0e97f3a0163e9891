"""The folders of one class, and what a student handed in."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import ROOT, Assignment, nbgrader_config
from grader.errors import CourseError
from grader.notebook import LARGEST
from grader.sandbox import pool


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


def find_submission(
    folder: Path, student: str, assignment: Assignment, fit: Callable[[bytes, Assignment], int] = pool.fit
) -> Submission:
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
    fitting = others[0] if len(others) == 1 else max(others, key=lambda p: fit(_read(p), assignment), default=None)
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
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return file.read(LARGEST + 1)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """The gradebook has one writer; a second grader at the same class stops here."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".grader.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"{folder}: another grader is at work here; wait until it is done") from None
        yield


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(data)
    new.replace(path)
