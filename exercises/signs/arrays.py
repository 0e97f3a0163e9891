"""Signs in what kind of arrays came back: shapes, nan, what is there at all."""

from collections.abc import Mapping

import numpy as np

from exercises.model import Arrays, Question, Reply, Sign


def returned(result: str) -> Sign:
    """The result came back; for cases in which only one thing can be wrong with it."""
    return lambda question, reply, expected: result in reply.arrays


def lacks(result: str) -> Sign:
    """Arrays came back, and this one is not among them."""
    return lambda question, reply, expected: not reply.problem and result not in reply.arrays


def answered(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Arrays came back."""
    return not reply.problem


def holds_nan(*results: str) -> Sign:
    """One of the results that are asked for holds nan."""

    return lambda question, reply, expected: any(np.isnan(a).any() for a in _asked_for(results, question, reply))


def not_finite(*results: str) -> Sign:
    """One of the results that are asked for holds inf or nan."""

    return lambda question, reply, expected: any(not np.isfinite(a).all() for a in _asked_for(results, question, reply))


def _asked_for(results: tuple[str, ...], question: Question, reply: Reply) -> list[np.ndarray]:
    """Those of the results that the question asks for, as far as they came back."""
    return [reply.arrays[r] for r in results if r in question.compare and r in reply.arrays]


def number_of_axes(results: str | tuple[str, ...], axes: int) -> Sign:
    """One of the results has this number of axes."""
    names = (results,) if isinstance(results, str) else results
    return lambda question, reply, expected: any(r in reply.arrays and reply.arrays[r].ndim == axes for r in names)


def other_number_of_axes(result: str, like: str) -> Sign:
    """The result has more or fewer axes than this input."""
    return lambda question, reply, expected: (
        result in reply.arrays and reply.arrays[result].ndim != np.ndim(question[like])
    )


def other_shape(result: str) -> Sign:
    """The result has not the shape of the right one."""
    return lambda question, reply, expected: (
        result in reply.arrays and reply.arrays[result].shape != expected[result].shape
    )


def other_shape_than(inputs: Mapping[str, str]) -> Sign:
    """One of the results has not the shape of the input that belongs to it."""
    return lambda question, reply, expected: any(
        r in reply.arrays and reply.arrays[r].shape != question[name].shape for r, name in inputs.items()
    )


def other_first_axes(results: tuple[str, ...], like: str, axes: int) -> Sign:
    """One of the results differs from this input in its first axes."""
    return lambda question, reply, expected: any(
        r in reply.arrays and reply.arrays[r].shape[:axes] != question[like].shape[:axes] for r in results
    )


def other_numbers(result: str, allowed: tuple[float, ...]) -> Sign:
    """The result has the right shape and holds other numbers than these."""
    return lambda question, reply, expected: (
        reply.arrays[result].shape == expected[result].shape and not np.isin(reply.arrays[result], allowed).all()
    )


def nan_instead_of_numbers(result: str) -> Sign:
    """The result holds nan where the right one holds a number."""
    return lambda question, reply, expected: (
        result in reply.arrays and bool((np.isnan(reply.arrays[result]) & ~np.isnan(expected[result])).any())
    )
