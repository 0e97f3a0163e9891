"""How a wrong result differs from the right one, where one sentence can say it. It never tells a right number."""

from collections.abc import Callable, Sequence

import numpy as np

from exercises.compare import BLOCKED, same
from exercises.signs.numbers import factor_of

Pair = tuple[np.ndarray, np.ndarray]  # an answer and what is right, of one shape


def difference(key: str, pairs: Sequence[Pair]) -> str | None:
    """What all wrong answers to a case have in common; None if it is nothing that is easily said."""
    if not pairs or any(a.shape != r.shape or a.dtype.kind not in "fiub" for a, r in pairs):
        return None
    pairs = [(np.asarray(a, float), np.asarray(r, float)) for a, r in pairs]
    for holds, sentence in DIFFERENCES:
        if all(holds(a, r) for a, r in pairs):
            return sentence.format(key)
    return None


def _flipped(answer: np.ndarray, right: np.ndarray) -> bool:
    return same(-answer, right) and bool(right.any())


def _some_flipped(answer: np.ndarray, right: np.ndarray) -> bool:
    return right.size > 1 and same(np.abs(answer), np.abs(right))


def _off_by_one_number(answer: np.ndarray, right: np.ndarray) -> bool:
    plain = np.abs(right) < BLOCKED
    off = answer[plain] - right[plain]
    if off.size < 2 or not np.isfinite(off).all():
        return False
    size = np.abs(off).max()
    return bool(size > 1e-2 * np.abs(right[plain]).max() and np.ptp(off) <= 1e-3 * size)


def _other_places(answer: np.ndarray, right: np.ndarray) -> bool:
    several = right.size > 3 and np.unique(np.round(right, 4)).size > 2
    return several and same(np.sort(answer, axis=None), np.sort(right, axis=None))


def _first_only(answer: np.ndarray, right: np.ndarray) -> bool:
    return right.ndim > 2 and len(right) > 1 and same(answer[0], right[0])


def _last_only(answer: np.ndarray, right: np.ndarray) -> bool:
    return right.ndim > 2 and len(right) > 1 and same(answer[-1], right[-1])


DIFFERENCES: tuple[tuple[Callable[[np.ndarray, np.ndarray], bool], str], ...] = (
    (_flipped, "The sign of all values of `{}` is flipped."),
    (
        lambda answer, right: factor_of(answer, right) is not None,
        "All values of `{}` are too large, or too small, by one and the same factor.",
    ),
    (_off_by_one_number, "All values of `{}` are too large, or too small, by one and the same number."),
    (_some_flipped, "The values of `{}` are right but for their signs."),
    (_other_places, "`{}` holds the right numbers, but not in the right places."),
    (_first_only, "`{}` is right for the first batch element only."),
    (_last_only, "`{}` is right for the last batch element only."),
)
