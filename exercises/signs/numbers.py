"""Signs in how wrong numbers differ from the right ones, whatever computed them."""

import numpy as np

from exercises.compare import BLOCKED, same
from exercises.model import Arrays, Question, Reply
from exercises.signs import sign

SMALL = 1e-4  # shares below it say little of the scores that they come from


@sign
def only_this_is_wrong(question: Question, reply: Reply, expected: Arrays, result: str, right: str) -> bool:
    """A result has the right shape and is wrong, and another is right."""
    return (
        right in reply.arrays
        and same(reply.arrays[right], expected[right])
        and reply.arrays[result].shape == expected[result].shape
        and not same(reply.arrays[result], expected[result])
    )


@sign
def sum_to_one_and_are_wrong(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """Shares of the right shape sum to 1 along the last axis; those of the first and last batch element and of the first head are wrong."""
    shares, right = reply.arrays[result], expected[result]
    if shares.shape != right.shape or any(same(shares[i], right[i]) for i in (slice(None), 0, -1)):
        return False
    if right.ndim > 3 and right.shape[1] > 1 and same(shares[:, 0], right[:, 0]):
        return False
    return bool(np.allclose(shares.sum(axis=-1), 1, atol=1e-2))


@sign
def do_not_sum_to_one(question: Question, reply: Reply, expected: Arrays, result: str, axis: int | str = -1) -> bool:
    """Shares of the right shape do not sum to 1 along an axis: a number, or the input that tells it."""
    shares = reply.arrays[result]
    along = question[axis] if isinstance(axis, str) else axis
    if shares.shape != expected[result].shape or not np.isfinite(shares).all():
        return False
    return not np.allclose(shares.sum(axis=along), 1, atol=1e-2)


@sign
def other_scale(question: Question, reply: Reply, expected: Arrays, result: str, axis: int | str = -1) -> bool:
    """Shares are those of scores that are all too large, or too small, by one factor."""
    shares, right = reply.arrays[result], np.asarray(expected[result], float)
    if shares.shape != right.shape or same(shares, right):
        return False
    along = question[axis] if isinstance(axis, str) else axis
    shares, right = np.moveaxis(shares, along, -1), np.moveaxis(right, along, -1)
    if not np.allclose(shares.sum(axis=-1), 1, atol=2e-3):
        return False
    seen = (shares > SMALL) & (right > SMALL)
    if not ((seen | ((shares < 0.01) & (right < 0.01))).all()):  # the same keys are blocked
        return False
    logs = [np.where(seen, np.log(np.maximum(a, SMALL)), 0.0) for a in (shares, right)]
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    one, other = ((a - a.sum(axis=-1, keepdims=True) / count)[seen] for a in logs)
    if one.size < 4 or not np.abs(other).max() > 0.05:
        return False
    factor = float(one @ other / (other @ other))
    return factor > 0.01 and bool(np.abs(one - factor * other).max() < 0.02 * np.abs(one).max() + 1e-3)


@sign
def one_factor(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """All numbers of a result are too large, or too small, by one factor."""
    return factor_of(reply.arrays[result], expected[result]) is not None


def factor_of(answer: np.ndarray, right: np.ndarray) -> float | None:
    """By which all numbers are too large; None if there is no such factor but 1 and 0."""
    if answer.shape != right.shape or answer.dtype.kind not in "fiu":
        return None
    plain = np.abs(right) < BLOCKED
    one, other = np.asarray(answer[plain], float), np.asarray(right[plain], float)
    if other.size < 2 or not np.isfinite(one).all() or not np.abs(other).max() > 0:
        return None
    factor = float(one @ other / (other @ other))
    close = np.abs(one - factor * other).max() < 2e-3 * np.abs(one).max() + 1e-12
    return factor if close and abs(factor) > 1e-6 and abs(factor - 1) > 1e-3 else None


@sign
def equal_shares_of_different_scores(question: Question, reply: Reply, expected: Arrays) -> bool:
    """In some row whose scores differ all shares are equal."""
    rows = [
        np.moveaxis(a, question["dim"], -1).reshape(-1, a.shape[question["dim"]])
        for a in (question["x"], reply.arrays["shares"])
    ]
    return any(np.ptp(x) > 0.5 and np.allclose(shares, 1 / len(shares)) for x, shares in zip(*rows, strict=True))
