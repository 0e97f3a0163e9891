"""The folders of one class, and what a student handed in."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from grader.course import ROOT, Assignment, nbgrader_config
from grader.errors import CourseError
from grader.gradebook_file import sqlite_url
from grader.notebook import LARGEST
from grader.sandbox import pool

STEPS = ("submitted", "autograded", "feedback")  # each holds <student>/<module>/
NO_FILE = "it is not a file"
REMOVE_IT = "Remove it and give the same command again"


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
            config.CourseDirectory.db_url = sqlite_url(self.folder.resolve() / "gradebook.db")
            for step in STEPS:
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
    unreadable: str = ""  # files are there, and none is a notebook
    late: str = ""  # why nobody knows how late it is


def find_submission(
    folder: Path, student: str, assignment: Assignment, fit: Callable[[bytes, Assignment], int] = pool.fit
) -> Submission:
    """Read the notebook in a student's folder; of several, the one with the right name or else the one that fits best."""
    try:
        return _find(folder, student, assignment, fit)
    except OSError as error:
        return Submission(student, missing=f"{Path(str(error.filename)).name} cannot be read ({error.strerror})")


def _find(folder: Path, student: str, assignment: Assignment, fit: Callable[[bytes, Assignment], int]) -> Submission:
    if folder.is_symlink() or folder.parent.is_symlink():
        return Submission(student, missing="the folder is a link, and links are not followed")
    if not folder.is_dir():
        return Submission(student, missing="nothing was handed in")
    timestamp = timestamp_of(folder)
    right = folder / f"{assignment.notebook}.ipynb"
    if is_file(right):
        return Submission(student, read_file(right), timestamp)
    others = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".ipynb" and is_file(p))
    fitting = others[0] if len(others) == 1 else max(others, key=lambda p: fit(read_file(p), assignment), default=None)
    if fitting is not None:
        return Submission(student, read_file(fitting), timestamp, note=f'the file is called "{fitting.name}"')
    if right.is_symlink():
        return Submission(student, missing=f"{right.name} is a link, and links are not followed")
    if right.exists():
        return Submission(student, missing=f"{right.name} is not a file")
    there = ", ".join(sorted(p.name for p in folder.iterdir())[:5])
    return Submission(student, missing=f"there is no notebook in the folder{f', only {there}' if there else ''}")


def timestamp_of(folder: Path) -> str:
    """What timestamp.txt says of when a submission was handed in; nothing if there is no such file."""
    stamp = folder / "timestamp.txt"
    return read_file(stamp)[:100].decode(errors="replace").strip() if is_file(stamp) else ""


def is_file(path: Path) -> bool:
    """Whether a path is a file itself: no link, and nothing that is read without an end."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_file(path: Path) -> bytes:
    """A file's content, up to a little more than is accepted. Raises OSError if it is no file, or behind a link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, and links are not followed", str(path))
    if path.exists() and not is_file(path):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    with _opened(path.parent) as folder:
        # O_NONBLOCK: a pipe that was just put in its place would be waited for
        number = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, NO_FILE, str(path))
        with os.fdopen(number, "rb", closefd=False) as file:
            return file.read(LARGEST + 1)
    finally:
        os.close(number)


@contextmanager
def _opened(folder: Path, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder. Of <step>/<student>/<module>/, the last two may not be links, and are made if asked for."""
    names = folder.parts[-2:] if folder.parent.parent.name in STEPS else ()
    place = folder.parent.parent if names else folder
    if make:
        place.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        number = os.open(place, os.O_PATH | os.O_DIRECTORY)
        stack.callback(os.close, number)
        for name in names:
            place /= name
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=number)
            try:
                number = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=number)
            except NotADirectoryError as error:
                raise NotADirectoryError(error.errno, "it is a link or a file, not a folder", str(place)) from None
            stack.callback(os.close, number)
        yield number


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
    """Write a file whole or not at all, and through no link. Raises CourseError if its folder is one."""
    new = f".{path.name}.{token_hex(8)}.new"
    try:
        with _opened(path.parent, make=True) as folder:
            try:
                number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
                with os.fdopen(number, "wb") as file:
                    file.write(data)
                os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(new, dir_fd=folder)
                raise
    except NotADirectoryError as error:
        raise CourseError(f"{error.filename}: {error.strerror}; nothing is written there. {REMOVE_IT}") from None
    except IsADirectoryError:
        raise CourseError(f"{path}: it is a folder, not a file; nothing is written there. {REMOVE_IT}") from None
