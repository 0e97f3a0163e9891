"""What an exception's text says: the one table from texts, ours and NumPy's, to kinds of mistakes.

A kind chooses the sentence that a student reads, nothing else. tests/exercises/test_exceptions.py raises each of them.
"""

import re
from enum import StrEnum

from exercises.model import Arrays, Question, Reply
from exercises.problem import Problem
from exercises.signs import sign


class Raised(StrEnum):
    """A kind of exception; its value is a pattern for "TypeName: text"."""

    ANYTHING = r"."
    ARGUMENTS = r"^TypeError: .*(unexpected keyword argument|positional argument|multiple values|takes no arguments)"
    ARRAY_ATTRIBUTE = r"'numpy.ndarray' object has no attribute"
    AXIS = r"AxisError|out of bounds|axes don't match|bad axis|axis1"
    BOOLEAN = r"\bbool"
    BROADCAST = r"broadcast"
    DIVISION = r"//"
    DIVIDED_HEADS = r"_split_heads|_merge_heads"
    INDEX = r"^IndexError|boolean index|out of range"
    JOIN = r"must match exactly|dimension|cannot be joined"
    KEYS_AND_VALUES = r"V has shape \(([\d, ]+)\).* (\d+) keys"
    LENGTH = r"has no len|object cannot be interpreted|__len__"
    MASK_SHAPE = r"mask has shape|masked_fill: mask"
    NO_FORWARD = r"has no attribute 'forward'|not callable"
    NO_MASK = r"NoneType"
    NO_PARAMETERS = r"has no attribute 'parameters'"
    NO_PROJECTION = r"has no attribute '(q_proj|k_proj|v_proj|out_proj)'"
    NO_TENSOR = r"memoryview|has no attribute '(data|masked_fill|astype|dtype|numpy|exp|detach)'"
    NO_WEIGHT = r"has no attribute '(weight|bias)'"
    NUMPY_SHAPES = r"matmul|mismatch|align|operands|Input operand"
    PRODUCT = r"^ValueError: @: "
    PRODUCT_SHAPES = r"@: the left side has shape \(([\d, ]+)\), the right side \(([\d, ]+)\)"
    RESHAPE = r"reshape"
    TRUTH = r"ambiguous|truth value"
    UNPACK = r"unpack|not enough values|too many values|expected \d"
    V_SHAPE = r"V has shape"
    X_SHAPE = r"x has shape"


@sign
def raised(question: Question, reply: Reply, expected: Arrays, *kinds: Raised, line: str = "") -> bool:
    """The student's code raised an exception of one of these kinds, in a line in which this pattern is found."""
    return any(_found(kind, reply) is not None for kind in kinds) and re.search(line, reply.line) is not None


@sign
def cannot_be_called(question: Question, reply: Reply, expected: Arrays, *kinds: Raised) -> bool:
    """An exception of one of these kinds (ARGUMENTS if none is given) came of our own call: no line of the student's ran."""
    return not reply.line and any(_found(kind, reply) is not None for kind in kinds or (Raised.ARGUMENTS,))


def _found(kind: str, reply: Reply) -> re.Match[str] | None:
    return re.search(kind, reply.text) if reply.problem is Problem.RAISED else None


@sign
def transposed_weights(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Weights (..., S, L) met V (..., S, Dv)."""
    found = _found(Raised.PRODUCT_SHAPES, reply)
    if found is None:
        return False
    left, right = (tuple(int(n) for n in shape.split(",") if n.strip()) for shape in found.groups())
    weights = expected["weights"].shape
    return left[-2:] == (weights[-1], weights[-2]) and right[-2:] == question["V"].shape[-2:]


@sign
def values_of_another_length(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The values are as many as x has positions, the keys as many as the context has."""
    return _keys_and_values(reply) == (question["context"].shape[1], question["x"].shape[1])


@sign
def keys_of_another_length(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The keys are as many as x has positions, the values as many as the context has."""
    return _keys_and_values(reply) == (question["x"].shape[1], question["context"].shape[1])


def _keys_and_values(reply: Reply) -> tuple[int, int] | None:
    """How many keys and values there were, if that is what was raised."""
    found = _found(Raised.KEYS_AND_VALUES, reply)
    return (int(found[2]), int(found[1].split(",")[-2])) if found is not None else None
