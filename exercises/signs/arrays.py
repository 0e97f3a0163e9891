"""Signs in what kind of arrays came back: shapes, nan, what is there at all."""

from collections.abc import Mapping

import numpy as np

from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def returned(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """The result came back; for cases in which only one thing can be wrong with it."""
    return result in reply.arrays


@sign
def lacks(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """Arrays came back, and this one is not among them."""
    return not reply.problem and result not in reply.arrays


@sign
def answered(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Arrays came back."""
    return not reply.problem


@sign
def holds_nan(question: Question, reply: Reply, expected: Arrays, *results: str) -> bool:
    """One of the results that are asked for holds nan."""

    return any(np.isnan(a).any() for a in _asked_for(results, question, reply))


@sign
def not_finite(question: Question, reply: Reply, expected: Arrays, *results: str) -> bool:
    """One of the results that are asked for holds inf or nan."""

    return any(not np.isfinite(a).all() for a in _asked_for(results, question, reply))


def _asked_for(results: tuple[str, ...], question: Question, reply: Reply) -> list[np.ndarray]:
    """Those of the results that the question asks for, as far as they came back."""
    return [reply.arrays[r] for r in results if r in question.compare and r in reply.arrays]


@sign
def number_of_axes(
    question: Question, reply: Reply, expected: Arrays, results: str | tuple[str, ...], axes: int
) -> bool:
    """One of the results has this number of axes."""
    names = (results,) if isinstance(results, str) else results
    return any(r in reply.arrays and reply.arrays[r].ndim == axes for r in names)


@sign
def other_number_of_axes(question: Question, reply: Reply, expected: Arrays, result: str, like: str) -> bool:
    """The result has more or fewer axes than this input."""
    return result in reply.arrays and reply.arrays[result].ndim != np.ndim(question[like])


@sign
def other_rank(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """The result has more or fewer axes than the right one."""
    return result in reply.arrays and reply.arrays[result].ndim != expected[result].ndim


@sign
def other_shape(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """The result has not the shape of the right one."""
    return result in reply.arrays and reply.arrays[result].shape != expected[result].shape


@sign
def other_shape_than(question: Question, reply: Reply, expected: Arrays, inputs: Mapping[str, str]) -> bool:
    """One of the results has not the shape of the input that belongs to it."""
    return any(r in reply.arrays and reply.arrays[r].shape != question[name].shape for r, name in inputs.items())


@sign
def other_first_axes(
    question: Question, reply: Reply, expected: Arrays, results: tuple[str, ...], like: str, axes: int
) -> bool:
    """One of the results differs from this input in its first axes."""
    return any(r in reply.arrays and reply.arrays[r].shape[:axes] != question[like].shape[:axes] for r in results)


@sign
def other_numbers(question: Question, reply: Reply, expected: Arrays, result: str, allowed: tuple[float, ...]) -> bool:
    """The result has the right shape and holds other numbers than these."""
    return reply.arrays[result].shape == expected[result].shape and not np.isin(reply.arrays[result], allowed).all()


@sign
def nan_instead_of_numbers(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """The result holds nan where the right one holds a number."""
    return result in reply.arrays and bool((np.isnan(reply.arrays[result]) & ~np.isnan(expected[result])).any())


@sign
def changed(question: Question, reply: Reply, expected: Arrays, name: str) -> bool:
    """An input is not as it was given."""
    after = f"{name}_after"
    return after in question.compare and not np.array_equal(reply.arrays[after], question[name])


@sign
def changed_list(question: Question, reply: Reply, expected: Arrays, name: str) -> bool:
    """A list that was given has other entries, or another length, afterwards."""
    after = f"{name}_after"
    return (
        after in question.compare and after in reply.arrays and not np.array_equal(reply.arrays[after], question[name])
    )
