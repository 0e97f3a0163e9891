"""When two arrays are the same answer, and what the reference and each misconception answer."""

from collections.abc import Callable
from functools import cache

import numpy as np

from exercises.model import Arrays, Exercise, Misconception, Question, Reply

BLOCKED = 1e8  # a score beyond this is a mask's doing
NO_SHARE = 104  # exp(-104) is 0 in float32


def same(answer: np.ndarray, reference: np.ndarray) -> bool:
    """Equal in shape, and in value as far as float32 computations in another order can be.

    Where the reference is -inf (or -1e9, a blocked score) the answer may be anything so low that softmax gives it no share.
    """
    if answer.shape != reference.shape or answer.dtype.kind not in "fiub":
        return False
    answer, reference = np.asarray(answer, dtype=float), np.asarray(reference, dtype=float)
    low, high = reference <= -BLOCKED, reference >= BLOCKED
    blocked = low | high
    if blocked.any():
        plain = reference[~blocked]
        blocks = (answer[low] <= plain.min(initial=0) - NO_SHARE).all() and (answer[high] >= BLOCKED).all()
        return bool(blocks) and _close(answer[~blocked], plain)
    return _close(answer, reference)


def _close(answer: np.ndarray, reference: np.ndarray) -> bool:
    """np.allclose, with a tolerance that goes by the largest number and nan equal to nan; several times as quick."""
    sizes, off = np.abs(reference), np.abs(answer - reference)
    largest = sizes.max(initial=1e-2)
    if not np.isnan(largest):
        return bool((off <= 1e-3 * sizes + 1e-4 * largest).all())
    close = off <= 1e-3 * sizes + 1e-4 * np.nanmax(sizes, initial=1e-2)
    return bool((close | (np.isnan(answer) & np.isnan(reference))).all())


def expected(exercise: Exercise, question: Question) -> Arrays:
    """The reference's answer to a question, computed once per process."""
    return _answered(exercise.reference, question)


@cache
def _answered(reference: Callable[[Question], Arrays], question: Question) -> Arrays:
    return reference(question)


@cache
def predicted(misconception: Misconception, question: Question) -> Arrays | None:
    """What a wrong computation would answer, computed once per process; None where it does not apply."""
    if misconception.wrong is None:
        return None
    try:
        with np.errstate(all="ignore"):
            return misconception.wrong(question)
    except (ValueError, KeyError, IndexError, TypeError):  # no such computation with these inputs
        return None


def wrong_result(question: Question, reply: Reply, reference: Arrays) -> str | None:
    """The name of the first result of a reply that is not as it should be; None if all are."""
    for name in question.compare:
        if name not in reply.arrays or not same(reply.arrays[name], reference[name]):
            return name
    return None
