"""What can be seen in the numbers that came back, whatever made them: which are wrong, and in what way."""

import numpy as np

from exercises.compare import same
from exercises.model import Arrays, Question, Reply
from exercises.signs import sign
from exercises.signs.numbers import factor_of


@sign
def right_but_for(
    question: Question, reply: Reply, expected: Arrays, right: tuple[str, ...], wrong: tuple[str, ...]
) -> bool:
    """Some results are right, and others are not."""
    arrays = reply.arrays
    return (
        all(name in arrays for name in (*right, *wrong))
        and all(same(arrays[name], expected[name]) for name in right)
        and not any(same(arrays[name], expected[name]) for name in wrong)
    )


@sign
def exchanged(question: Question, reply: Reply, expected: Arrays, first: str, second: str) -> bool:
    """Two results came in each other's place."""
    return same(reply.arrays[first], expected[second]) and same(reply.arrays[second], expected[first])


@sign
def rows_off_by_a_factor(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """Each row of a table is the right one times a number of its own, and some of these numbers are not 1."""
    answer, right = reply.arrays[result], expected[result]
    if answer.shape != right.shape or same(answer, right):
        return False
    return all(same(a, r) or factor_of(a, r) is not None for a, r in zip(answer, right, strict=True))


@sign
def not_finite_from(
    question: Question, reply: Reply, expected: Arrays, given: str, finite: bool, results: tuple[str, ...]
) -> bool:
    """Some result holds inf or nan, and this input does not; or, with finite=False, it does."""
    found = any(not np.isfinite(reply.arrays[name]).all() for name in results)
    return found and bool(np.isfinite(question[given]).all()) == finite


@sign
def not_finite_beside(question: Question, reply: Reply, expected: Arrays, result: str, right: str) -> bool:
    """A result holds inf or nan, and another is right."""
    return not np.isfinite(reply.arrays[result]).all() and same(reply.arrays[right], expected[right])


@sign
def not_finite_of_small_scores(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """A result holds inf or nan, and no exponential of a score would."""
    return not np.isfinite(reply.arrays[result]).all() and bool(np.abs(question["Q"] @ question["K"].T).max() < 80)


@sign
def right_rows_elsewhere(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """Each row is a right one, and some are not in their places."""
    answer, right = reply.arrays[result], expected[result]
    if answer.shape != right.shape or same(answer, right):
        return False
    one, other = (a.reshape(-1, right.shape[-1]) for a in (answer, right))
    left = list(range(len(other)))
    for row in one:
        place = next((n for n in left if same(row, other[n])), None)
        if place is None:
            return False
        left.remove(place)
    return True


@sign
def first_rows_only(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """The rows of the first block are right, and no other row of at least two more blocks is."""
    answer, right, block = reply.arrays[result], expected[result], question["block"]
    if answer.shape != right.shape or len(right) <= 2 * block:
        return False
    return same(answer[:block], right[:block]) and not any(
        same(a, r) for a, r in zip(answer[block:], right[block:], strict=True)
    )


# --- a mask --------------------------------------------------------------------------------------------------------------


@sign
def allows(question: Question, reply: Reply, expected: Arrays, where: str) -> bool:
    """A mask lets a query look where it may not: at its "future", or at the "past"."""
    mask = reply.arrays["mask"]
    return mask.shape == expected["mask"].shape and bool(
        (_part(mask.shape, where) & (mask != 0) & (expected["mask"] == 0)).any()
    )


@sign
def blocks(question: Question, reply: Reply, expected: Arrays, where: str) -> bool:
    """A mask keeps a query from looking where it may: at "itself", at the "past", or "anywhere"."""
    mask = reply.arrays["mask"]
    return mask.shape == expected["mask"].shape and bool(
        (_part(mask.shape, where) & (mask == 0) & (expected["mask"] != 0)).any()
    )


def _part(shape: tuple[int, ...], where: str) -> np.ndarray:
    distance = np.subtract.outer(np.arange(shape[0]), np.arange(shape[1]))
    parts = {"future": distance < 0, "itself": distance == 0, "past": distance > 0, "anywhere": np.ones(shape, bool)}
    return np.asarray(parts[where])


# --- pairs that are rotated ----------------------------------------------------------------------------------------------


@sign
def pairs_keep_their_lengths(question: Question, reply: Reply, expected: Arrays, keep: bool = True) -> bool:
    """Components 2i and 2i + 1 of each row are as long together as in x; or, with keep=False, not all of them are."""
    before, after = question["x"], reply.arrays["result"]
    return before.shape == after.shape and same(_lengths(after), _lengths(before)) == keep


@sign
def first_pair_only(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Components 0 and 1 are right in all rows, and no other two are."""
    result, right = reply.arrays["result"], expected["result"]
    if result.shape != right.shape or result.shape[-1] < 4:
        return False
    pairs = [same(result[..., i : i + 2], right[..., i : i + 2]) for i in range(0, result.shape[-1], 2)]
    return pairs[0] and not any(pairs[1:])


def _lengths(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(x[..., 0::2].astype(float), x[..., 1::2].astype(float)))


# --- a cache -------------------------------------------------------------------------------------------------------------


@sign
def positions_off(question: Question, reply: Reply, expected: Arrays, result: str, more: bool) -> bool:
    """The second-to-last axis is too long (or too short), and the others are right."""
    came, right = reply.arrays[result].shape, expected[result].shape
    others = len(came) == len(right) and (*came[:-2], came[-1]) == (*right[:-2], right[-1])
    return others and (came[-2] > right[-2] if more else came[-2] < right[-2])


@sign
def another_axis_grew(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """An axis that is not the second-to-last is longer than it should be."""
    came, right = reply.arrays[result].shape, expected[result].shape
    return len(came) == len(right) and any(
        c > r for n, (c, r) in enumerate(zip(came, right, strict=True)) if n != len(came) - 2
    )


@sign
def holds_what_another_got(question: Question, reply: Reply, expected: Arrays) -> bool:
    """A second cache, which got the first piece only, gave back at least that and all that went into the first cache."""
    came, given, pieces = reply.arrays["other_K"].shape, question["K"].shape, question["pieces"]
    others = len(pieces) > 1 and len(came) == len(given) and (*came[:-2], came[-1]) == (*given[:-2], given[-1])
    return others and came[-2] >= given[-2] + pieces[0]


@sign
def first_result_grew(question: Question, reply: Reply, expected: Arrays) -> bool:
    """What the first call gave back became what the last gave back."""
    first, last = reply.arrays["first_K"], reply.arrays["K"]
    return same(first, last) and not same(first, expected["first_K"])


@sign
def entry_is(question: Question, reply: Reply, expected: Arrays, result: str, index: int, right: bool) -> bool:
    """One entry of a list of numbers is right, or is not."""
    return bool(reply.arrays[result][index] == expected[result][index]) == right


@sign
def number_off(question: Question, reply: Reply, expected: Arrays, result: str, more: bool) -> bool:
    """A number, or one of several, is larger (or smaller) than the right one."""
    answer, right = reply.arrays[result], expected[result]
    return bool(np.any(answer > right if more else answer < right))
