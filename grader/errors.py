"""What can be wrong with the course, the class or the machine: each message names what it is about and the next step."""

from enum import StrEnum

from exercises.errors import UserError


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
