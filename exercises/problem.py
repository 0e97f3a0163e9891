"""Why a question brought no arrays."""

from enum import StrEnum


class Problem(StrEnum):
    """Why a question brought no arrays."""

    NONE = ""
    BLANK = "blank"  # the answer raised NotImplementedError
    MISSING = "missing"  # the name that the answer cell should define is not there
    KIND = "kind"  # what came back is no Tensor and no array; the text says what it is
    RAISED = "raised"  # the text is what the student's code raised
    TIME = "time"
    MEMORY = "memory"
    DIED = "died"  # the process ended
    BAD = "bad"  # the message could not be read
