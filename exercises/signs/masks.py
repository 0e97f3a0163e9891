"""Signs of a mask that does not block."""

import numpy as np

from exercises.compare import same
from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def blocked_too_high(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Allowed scores are right; blocked ones are lower than they were, but not low enough to have no share."""
    scores = question["scores"]
    if "masked" not in question.compare or "masked" not in reply.arrays or reply.arrays["masked"].shape != scores.shape:
        return False
    allowed, masked = np.broadcast_to(np.asarray(question["mask"]) != 0, scores.shape), reply.arrays["masked"]
    return same(masked[allowed], scores[allowed]) and bool((masked[~allowed] < scores[~allowed]).all())


@sign
def nothing_finite_left(question: Question, reply: Reply, expected: Arrays) -> bool:
    """All scores are as they should be, but those of some query are all -inf."""
    return same(reply.arrays["masked"], expected["masked"]) and not reply.arrays["finite"].all()


@sign
def blocked_key_has_share(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """A key that a mask blocks has a share; the right weights are 0 there."""
    weights, right = reply.arrays[result], expected[result]
    if question.get("mask") is None or weights.shape != right.shape:
        return False
    if not np.allclose(weights.sum(axis=-1), 1, atol=1e-2):
        return False
    return bool((weights[blocked_in(question["mask"], right.shape)] > 1e-3).any())


def blocked_in(mask: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Where weights of this shape are blocked; a mask (B, L, S) is for all heads."""
    for_heads = mask[:, None] if mask.ndim == 3 and len(shape) == 4 else mask
    return np.broadcast_to(np.asarray(for_heads) == 0, shape)
