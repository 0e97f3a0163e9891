"""What can be wrong with the course, the class or the machine: each message names what it is about and the next step."""

import errno
import os
from enum import StrEnum
from pathlib import Path

from exercises.errors import UserError
from grader.printable import printable

AGAIN = "give the same command again"
# what the machine, or who set it up, can refuse; another error of the system is a bug of ours
NEXT_STEPS = {
    errno.ENOSPC: f"make room on the disk and {AGAIN}",
    errno.EDQUOT: f"your share of the disk is used up: make room and {AGAIN}",
    errno.EFBIG: f"the disk takes no file as large as this: use another disk and {AGAIN}",
    errno.EACCES: f"give yourself the right to read and write it (chmod, chown) and {AGAIN}",
    errno.EPERM: f"give yourself the right to read and write it (chmod, chown) and {AGAIN}",
    errno.EROFS: "the disk can only be read: copy the folder to another and work there",
    errno.ENAMETOOLONG: f"shorten the name and {AGAIN}",
    errno.EIO: "the disk is damaged or gone: copy what can be read to another",
    errno.ESTALE: f"the network drive has lost it: connect it again and {AGAIN}",
    errno.EMFILE: f"allow more open files (ulimit -n) and {AGAIN}",
    errno.ENFILE: f"close other programs and {AGAIN}",
    errno.ENOMEM: f"close other programs and {AGAIN}",
    errno.ENOLCK: "the disk knows no locks: copy the folder to another and work there",
    errno.ENOENT: f"put it there, or name another, and {AGAIN}",
    errno.ENOTDIR: f"remove the file that is where a folder should be and {AGAIN}",
    errno.EISDIR: f"remove the folder that is where a file should be and {AGAIN}",
    errno.EEXIST: f"remove it and {AGAIN}",
    errno.ENOTEMPTY: f"remove it and {AGAIN}",
    errno.ELOOP: f"remove the link and {AGAIN}",
    errno.ENXIO: f"remove it and {AGAIN}",
    errno.EINVAL: f"remove it and {AGAIN}",
    errno.EBUSY: f"wait until nothing uses it any more and {AGAIN}",
    errno.ETXTBSY: f"wait until nothing uses it any more and {AGAIN}",
}
# these may come without the name of a file
OF_THE_MACHINE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EIO,
    errno.ESTALE,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
}


def is_bug(error: OSError) -> bool:
    """Whether an error of the system is nothing that a person could do anything about."""
    return error.errno not in (NEXT_STEPS if error.filename else OF_THE_MACHINE)


def next_step(error: OSError) -> str:
    """What can be done about an error of the system."""
    return NEXT_STEPS.get(error.errno or 0, AGAIN)


def told(error: OSError, path: Path | str = "the disk") -> str:
    """An error of the system as a sentence: the file, the reason, the next step."""
    where = printable(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else printable(str(path))
    return f"{where}: {error.strerror or error}; {next_step(error)}"


class CourseError(UserError):
    """Something in the course, or in what a command was given, is wrong."""


class GradebookError(UserError):
    """The gradebook cannot be used or changed."""


class NotRecorded(UserError):
    """The gradebook takes everyone's result but this one."""


class Unreadable(UserError):
    """A submission is no notebook; the message says in plain words what it is."""


class JailTrouble(StrEnum):
    """Why there is no jail that may be used."""

    NOT_INSTALLED = "not installed"
    NOT_STARTED = "not started"
    NO_NAMESPACES = "no namespaces"
    SILENT = "silent"
    HOLES = "holes"


class JailError(UserError):
    """No jail can be made here, or it does not hold."""

    def __init__(self, message: str, trouble: JailTrouble = JailTrouble.NOT_STARTED) -> None:
        super().__init__(message)
        self.trouble = trouble
