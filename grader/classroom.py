"""The folders of one class, and what a student handed in."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from grader.course import ROOT, Assignment, nbgrader_config
from grader.errors import CourseError, next_step, told
from grader.gradebook_file import sqlite_url
from grader.notebook import LARGEST
from grader.printable import printable
from grader.sandbox import pool

STEPS = ("submitted", "autograded", "feedback")  # each holds <student>/<module>/
OURS = ("origin.json", "timestamp.txt", ".ipynb_checkpoints", ".DS_Store")  # nobody handed these in
NAMED, LOOKED_INTO = 5, 50  # files of a student who has no notebook
BEGINS_LIKE_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*\{|\xff\xfe|\xfe\xff")
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
        """Everyone who has a folder under submitted/, or a link there. Raises CourseError if it cannot be read."""
        folder = self.folder / "submitted"
        try:
            with os.scandir(folder) as found:
                there = [e.name for e in found if e.is_symlink() or e.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            raise CourseError(
                f"{folder}: no such folder; submissions are expected in {folder}/<student>/<module>/"
            ) from None
        except OSError as error:
            raise CourseError(told(error, folder)) from None
        return sorted(name for name in there if name[0] != ".")

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
    """What a student handed in, or why there is nothing to grade.

    note        a repair: the file was found under another name
    missing     nothing was handed in, or only what is not read: links, a pipe
    unreadable  there are files, and no notebook among them
    failed      what is there could not be read here: it was not the student
    """

    student: str
    data: bytes = b""
    timestamp: str = ""
    note: str = ""
    missing: str = ""
    unreadable: str = ""
    failed: str = ""
    late: str = ""

    @property
    def nothing(self) -> str:
        """Why there is nothing to grade; "" if there is."""
        return self.missing or self.unreadable or self.failed


def find_submission(
    folder: Path, student: str, assignment: Assignment, fit: Callable[[bytes, Assignment], int] = pool.fit
) -> Submission:
    """Read the notebook in a student's folder; of several, the one with the right name or else the one that fits best.

    Never raises for what is there.
    """
    if student != student.encode(errors="replace").decode():
        return Submission(student, failed="the name of the folder is not UTF-8; give the folder another name")
    try:
        return _find(folder, student, assignment, fit)
    except OSError as error:
        name = printable(os.fsdecode(error.filename or folder)).rpartition("/")[2]
        return Submission(student, failed=f"{name} cannot be read ({error.strerror}); {next_step(error)}")


def _find(folder: Path, student: str, assignment: Assignment, fit: Callable[[bytes, Assignment], int]) -> Submission:
    if folder.is_symlink() or folder.parent.is_symlink():
        return Submission(student, missing="the folder is a link, and links are not followed")
    kind = _kind(folder)
    if not stat.S_ISDIR(kind):
        return Submission(student, missing=f"{folder.name} is not a folder" if kind else "nothing was handed in")
    timestamp, trouble = _time(folder)
    right = folder / f"{assignment.notebook}.ipynb"
    if is_file(right):
        return Submission(student, read_file(right), timestamp, trouble)
    there = sorted(p for p in folder.iterdir() if p.name not in OURS and not p.name.startswith("._"))
    files = [p for p in there if is_file(p)]
    fitting = _fitting(files, assignment, fit)
    if fitting is not None:
        note = f'the file is called "{printable(fitting.name)}"'
        return Submission(student, read_file(fitting), timestamp, "; ".join(filter(None, (note, trouble))))
    if right.is_symlink():
        return Submission(student, missing=f"{right.name} is a link, and links are not followed")
    if _kind(right):
        return Submission(student, missing=f"{right.name} is not a file")
    names = ", ".join(printable(p.name) for p in there[:NAMED])
    names += f" and {len(there) - NAMED} more" if len(there) > NAMED else ""
    if files:
        return Submission(student, unreadable=f"there is no notebook among the files: {names}")
    return Submission(student, missing=f"there is no notebook in the folder{f', only {names}' if names else ''}")


def _fitting(files: list[Path], assignment: Assignment, fit: Callable[[bytes, Assignment], int]) -> Path | None:
    """The notebook that fits best; without one, the file with another ending that is a notebook and fits best."""
    notebooks = [p for p in files if p.suffix.lower() == ".ipynb"]
    if len(notebooks) == 1:
        return notebooks[0]
    if notebooks:
        return max(notebooks, key=lambda p: fit(read_file(p), assignment))
    fits = [(fit(data, assignment), p) for p in files[:LOOKED_INTO] if BEGINS_LIKE_JSON.match(data := read_file(p))]
    best, path = max(fits, key=lambda found: found[0], default=(-1, None))
    return path if best >= 0 else None


def _time(folder: Path) -> tuple[str, str]:
    """What timestamp.txt says, and why it could not be read: that alone costs nobody a grade."""
    try:
        return timestamp_of(folder), ""
    except OSError as error:
        return "", f"timestamp.txt cannot be read ({error.strerror}) and is left out"


def timestamp_of(folder: Path) -> str:
    """What timestamp.txt says of when a submission was handed in; nothing if there is no such file. Raises OSError."""
    stamp = folder / "timestamp.txt"
    return read_file(stamp)[:100].decode(errors="replace").strip() if is_file(stamp) else ""


def _kind(path: Path) -> int:
    """What a path is, as stat has it; 0 if nothing is there. Raises OSError if nobody may know."""
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return 0


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
    with _about(path), _opened(path.parent) as folder:
        # O_NONBLOCK: a pipe that was just put in its place would be waited for
        number = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, NO_FILE, str(path))
        with _about(path), os.fdopen(number, "rb", closefd=False) as file:
            return file.read(LARGEST + 1)
    finally:
        os.close(number)


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """An error of the system names this file, if it names none, or one below a folder that is open."""
    try:
        yield
    except OSError as error:
        if error.filename is None or "/" not in os.fsdecode(error.filename):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


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
    path = folder / ".grader.lock"
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # O_NONBLOCK and O_RDWR: a pipe in its place is not waited for
            number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            stack.callback(os.close, number)
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(f"{folder}: another grader is at work here; wait until it is done") from None
        except OSError as error:
            raise CourseError(told(error, path)) from None
        yield


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and through no link. Raises CourseError if its folder is one."""
    new = f".{token_hex(8)}.new"  # not the file's name as well: together they may be too long
    try:
        with _about(path), _opened(path.parent, make=True) as folder:
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
        raise CourseError(
            f"{printable(error.filename)}: {error.strerror}; nothing is written there. {REMOVE_IT}"
        ) from None
    except IsADirectoryError:
        raise CourseError(
            f"{printable(str(path))}: it is a folder, not a file; nothing is written there. {REMOVE_IT}"
        ) from None
