"""Why a question brought no arrays."""

import linecache
import re
import traceback
from collections.abc import Container, Mapping
from enum import StrEnum
from typing import Any

GIVEN = "<given>"  # the file of a cell that is not the student's
HANDED_OUT = re.compile(  # lines that stand at the top of answers from the beginning
    r"^[\w\s,()]*=?\s*(_check_(inputs|mask|values|widths)|as_mask|as_tensors)\(|^_check_heads\(x\.shape"
)


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


def in_words(error: BaseException) -> str:
    """The type and the text of an exception, also where making the text fails."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001  (its __str__ may do what it likes)
        return f"{type(error).__name__}: "


def own_line(error: BaseException, namespace: Mapping[str, Any], given: Container[str] = ()) -> str:
    """The last line that ran of those which a student wrote; "" if none did.

    Where a line raised that stands in an answer from the beginning, it is the line that called this answer.

    given  functions and classes of the namespace that the student did not write
    """
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        theirs = frame.f_globals is namespace and code.co_filename != GIVEN
        if theirs and code.co_qualname.partition(".")[0] not in given:
            found = linecache.getline(code.co_filename, number).strip() or f"line {number}"
            entered = found.startswith("def ")  # too deep a call may end before its first line
            line = line if line and (entered or HANDED_OUT.search(found)) else found
    return line
