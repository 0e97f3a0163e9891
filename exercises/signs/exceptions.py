"""What an exception's text says: the table from texts, ours and NumPy's, to kinds of mistakes.

A kind chooses the sentence that a student reads, nothing else. tests/exercises/test_exceptions.py raises each of them.
"""

import re
from enum import StrEnum

import numpy as np

from exercises.model import Arrays, Question, Reply
from exercises.problem import Problem
from exercises.signs import sign

LONGEST = 600  # characters of a text or a line that are looked at: a pattern must not meet what a student made long


class Raised(StrEnum):
    """A kind of exception; its value is a pattern for "TypeName: text"."""

    ANYTHING = r"."
    ARGUMENTS = r"^TypeError: .*(unexpected keyword argument|positional argument|multiple values|takes no arguments)"
    ARRAY_ATTRIBUTE = (
        r"'numpy.ndarray' object has no attribute '(masked_fill|numpy|exp|log|sqrt|detach|backward|grad|mT)'"
    )
    AXIS = r"AxisError|out of bounds for array of dimension|axes don't match|bad axis|axis1"
    BROADCAST = r"^ValueError: .*broadcast"
    CALL = r"__call__\(\) (got|takes|missing)"
    CONTEXT_SHAPE = r"context has shape \(([\d, ]+)\)"
    DIVISION = r"//"
    ELEMENTWISE = r"^ValueError: \*: shapes"
    INDEX = r"^IndexError|boolean index|out of range"
    INIT = r"__init__\(\) (got|takes|missing)|\w+\(\) takes no arguments"
    KEYS_AND_VALUES = r"V has shape \(([\d, ]+)\).* (\d+) keys"
    MASK_HOLDS = r"mask holds"
    MASK_SHAPE = r"mask has shape|masked_fill: mask"
    MASK_SHAPES = r"mask has shape \(([\d, ]+)\), it must broadcast to the shape of the scores, \(([\d, ]+)\)"
    LIST_CALLED = r"'(list|tuple)' object is not callable"
    NOT_CALLABLE = r"'(Softmax|Linear|MultiHeadAttention)' object is not callable"
    NO_DIM = r"missing 1 required positional argument: 'dim'"
    NO_FORWARD = r"has no attribute 'forward'|'MultiHeadAttention' object is not callable"
    NO_MASK = r"NoneType"
    NO_PARAMETERS = r"has no attribute 'parameters'"
    NO_PROJECTION = r"has no attribute '(q_proj|k_proj|v_proj|out_proj)'"
    NO_WEIGHT = r"has no attribute '(weight|bias)'"
    PRODUCT = r"^ValueError: @: "
    PRODUCT_SHAPES = r"@: the left side has shape \(([\d, ]+)\), the right side \(([\d, ]+)\)"
    RESHAPE = r"^ValueError: (reshape: |cannot reshape)"
    RESHAPE_TO = r"(?:reshape: \([\d, ]+\) has \d+ values, |into shape )\(([\d, ]+)\)"
    TWO_SHAPES = r"shapes \(([\d, ]+)\) and \(([\d, ]*)\) do not broadcast"
    UNPACK = r"values to unpack"
    V_SHAPE = r"V has shape"
    X_SHAPE = r"x has shape"


@sign
def raised(question: Question, reply: Reply, expected: Arrays, *kinds: Raised, line: str = "") -> bool:
    """The student's code raised an exception of one of these kinds, in a line in which this pattern is found."""
    return any(_found(kind, reply) is not None for kind in kinds) and re.search(line, reply.line[:LONGEST]) is not None


@sign
def cannot_be_called(question: Question, reply: Reply, expected: Arrays, *kinds: Raised) -> bool:
    """An exception of one of these kinds (ARGUMENTS if none is given) came of our own call: no line of the student's ran."""
    return not reply.line and any(_found(kind, reply) is not None for kind in kinds or (Raised.ARGUMENTS,))


def _found(kind: str, reply: Reply) -> re.Match[str] | None:
    return re.search(kind, reply.text[:LONGEST]) if reply.problem is Problem.RAISED else None


@sign
def raised_without(question: Question, reply: Reply, expected: Arrays, absent: str, *kinds: Raised) -> bool:
    """An exception of one of these kinds came of a question without this input."""
    return question.get(absent) is None and any(_found(kind, reply) is not None for kind in kinds)


@sign
def lost_axis(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Two shapes did not broadcast, and the second is the first without one of its axes."""
    found = _found(Raised.TWO_SHAPES, reply)
    if found is None:
        return False
    first, second = _shape(found[1]), _shape(found[2])
    return any(second == first[:axis] + first[axis + 1 :] for axis in range(len(first)))


@sign
def mask_that_does_not_fit(question: Question, reply: Reply, expected: Arrays, axes: int, as_given: bool) -> bool:
    """A mask with this number of axes was asked about, and one that does not fit was used: that mask, or another."""
    found, mask = _found(Raised.MASK_SHAPES, reply), question.get("mask")
    if found is None or mask is None or np.ndim(mask) != axes:
        return False
    x, context = question["x"], question.get("context")
    keys = x.shape[1] if context is None else context.shape[1]
    scores = (len(x), question["num_heads"], x.shape[1], keys)
    return _shape(found[2]) == scores and (_shape(found[1]) == np.shape(mask)) == as_given


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


@sign
def transposed_weights(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Weights (..., S, L) met V (..., S, Dv)."""
    found = _found(Raised.PRODUCT_SHAPES, reply)
    if found is None:
        return False
    left, right = _shape(found[1]), _shape(found[2])
    weights = expected["weights"].shape
    return left[-2:] == (weights[-1], weights[-2]) and right[-2:] == question["V"].shape[-2:]


@sign
def values_of_another_length(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The values are as many as x has positions, the keys as many as the context has."""
    return keys_and_values(reply) == (question["context"].shape[1], question["x"].shape[1])


@sign
def keys_of_another_length(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The keys are as many as x has positions, the values as many as the context has."""
    return keys_and_values(reply) == (question["x"].shape[1], question["context"].shape[1])


def keys_and_values(reply: Reply) -> tuple[int, int] | None:
    """How many keys and values there were, if that is what was raised."""
    found = _found(Raised.KEYS_AND_VALUES, reply)
    return (int(found[2]), int(found[1].split(",")[-2])) if found is not None else None


@sign
def mask_and_context_exchanged(question: Question, reply: Reply, expected: Arrays) -> bool:
    """A call of forward had the mask as its context, or the context as its mask."""
    if "forward(" not in reply.line:
        return False
    found, mask = _found(Raised.CONTEXT_SHAPE, reply), question.get("mask")
    if found is not None:
        return mask is not None and _shape(found[1]) == np.shape(mask)
    return mask is None and question.get("context") is not None and _found(Raised.MASK_HOLDS, reply) is not None


@sign
def mask_reshaped_by_the_sizes_of_x(question: Question, reply: Reply, expected: Arrays) -> bool:
    """A mask (B, 1, S) was to be reshaped to (B, 1, L, S)."""
    found, mask = _found(Raised.RESHAPE_TO, reply), question.get("mask")
    if found is None or mask is None or mask.ndim != 3 or mask.shape[1] != 1:
        return False
    return _shape(found[1]) == (len(mask), 1, question["x"].shape[1], mask.shape[2])
