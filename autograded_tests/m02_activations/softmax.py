"""Shares of scores along an axis."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from exercises.data import Data
from exercises.misconceptions import computes, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import not_finite
from exercises.signs.exceptions import Raised, cannot_be_called, lost_axis
from exercises.signs.numbers import do_not_sum_to_one, equal_shares_of_different_scores, other_scale

BY_HAND = np.log(np.array([[1, 2, 5], [3, 3, 4]], np.float32))
LARGE = np.array([[1e4, 1e4 - 1, 9e3], [-1e4, -1e4, -2e4], [3, 1, 2]], np.float32)


def ask(
    x: np.ndarray, dim: int = -1, grad: np.ndarray | None = None, compare: tuple[str, ...] = ("shares",)
) -> Question:
    return Question("softmax", {"x": x, "dim": dim, "grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    by_default = {"x": d.normal(18, d.H, d.L, d.S), "dim": -1, "by_default": True, "grad": None}
    return (
        ask(BY_HAND),
        ask(d.normal(11, d.B, d.L, d.S)),
        ask(d.normal(12, d.H)),
        Question("softmax", by_default, ("shares",)),
    )


def along_another_axis(d: Data) -> tuple[Question, ...]:
    return ask(d.normal(13, d.H, d.L, d.S), dim=1), ask(BY_HAND.T.copy(), dim=0)


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(d.normal(14, d.H, d.S), grad=d.normal(15, d.H, d.S), compare=("grad_x",)),)


def reference(question: Question) -> Arrays:
    shares = references.softmax(question["x"], question["dim"])
    answer = {"shares": shares, "x_after": question["x"]}
    if question["grad"] is not None:
        answer["grad_x"] = references.softmax_gradient(shares, question["grad"], question["dim"])
    return answer


def _shares(x: np.ndarray, axis: int | tuple[int, ...] | None, subtract: bool = True) -> np.ndarray:
    x = x.astype(np.float32)
    e = np.exp(x - x.max(axis=axis, keepdims=True)) if subtract else np.exp(x)
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def _with_global_maximum(x: np.ndarray, dim: int) -> np.ndarray:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum(axis=dim, keepdims=True))


def _divided_by(total: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray, int], np.ndarray]:
    """Exponentials of scores whose largest along dim was subtracted, divided by something else than their sum along dim."""

    def shares(x: np.ndarray, dim: int) -> np.ndarray:
        e = np.exp(x - x.max(axis=dim, keepdims=True))
        return np.asarray(e / total(e))

    return shares


def _normalised(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray, int], np.ndarray]:
    """Something else than exponentials, divided by its sum along dim."""
    return lambda x, dim: function(x) / function(x).sum(axis=dim, keepdims=True)


def _largest_along_the_last_axis(x: np.ndarray, dim: int) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=dim, keepdims=True))


def _largest_only_changed(x: np.ndarray, dim: int) -> np.ndarray:
    e = np.exp(np.where(x == x.max(axis=dim, keepdims=True), 0, x))
    return np.asarray(e / e.sum(axis=dim, keepdims=True))


def _with_another_default(axis: int) -> Callable[[Question], Arrays]:
    return lambda q: {"shares": _shares(q["x"], axis if q.get("by_default") else q["dim"])}


def _gradient_without_the_sum(question: Question) -> Arrays | None:
    x, dim, grad = question["x"], question["dim"], question["grad"]
    if grad is None:
        return None
    direct = grad * _shares(x, dim)
    largest = x == x.max(dim, keepdims=True)
    return {"grad_x": direct - largest * direct.sum(dim, keepdims=True)}


EXERCISE = Exercise(
    name="softmax",
    module="02_activations",
    defines="Softmax",
    cases=(
        Case("values", 1.5, values),
        Case("along another axis", 0.5, along_another_axis),
        Case("scores of ten thousand", 1, lambda d: (ask(LARGE), ask(-LARGE))),
        Case("gradient", 0.75, gradient),
        Case(
            "input unchanged",
            0.25,
            lambda d: (ask(d.normal(16, d.H, d.S), compare=("x_after",)),),
            needs_another=True,
        ),
    ),
    reference=reference,
    misconceptions=(
        Misconception(
            "The gradient treats the sum of exponentials as a constant: it is cut from the graph. Divide by a Tensor.",
            wrong=_gradient_without_the_sum,
        ),
        computes(
            "All axes but the first are taken together. The shares sum to 1 along one axis, `dim`.",
            "shares",
            lambda x, dim: _shares(x.reshape(len(x), -1), -1).reshape(x.shape),
        ),
        computes(
            "All axes but the first are taken together. The shares sum to 1 along one axis, `dim`.",
            "shares",
            _divided_by(lambda e: e.reshape(len(e), -1).sum(axis=1).reshape(-1, *[1] * (e.ndim - 1))),
        ),
        computes(
            "You divide by the sum of all exponentials. Divide by their sum along `dim`: `e.sum(dim, keepdim=True)`.",
            "shares",
            _divided_by(np.sum),
        ),
        computes(
            "You divide by the sum along the first axis; Python's `sum` takes that one. Divide by the sum along `dim`.",
            "shares",
            _divided_by(lambda e: e.sum(axis=0)),
        ),
        computes(
            "You divide by the mean of the exponentials. Divide by their sum along `dim`.",
            "shares",
            lambda x, dim: _shares(x, dim) * x.shape[dim],
        ),
        computes(
            "You divide by the number of scores. Divide by the sum of the exponentials along `dim`.",
            "shares",
            lambda x, dim: np.exp(x - x.max(axis=dim, keepdims=True)) / x.shape[dim],
        ),
        computes(
            "The scores stand in place of their exponentials above the sum. Divide exponentials by their sum.",
            "shares",
            lambda x, dim: x / np.exp(x - x.max(axis=dim, keepdims=True)).sum(axis=dim, keepdims=True),
        ),
        computes("You took squares. Softmax uses exponentials, powers of e.", "shares", _normalised(np.square)),
        computes("You took absolute values. Softmax uses exponentials.", "shares", _normalised(np.abs)),
        computes(
            "The exponential was taken twice.",
            "shares",
            lambda x, dim: _shares(np.exp(x - x.max(axis=dim, keepdims=True)), dim),
        ),
        computes("The exponential was taken twice.", "shares", lambda x, dim: _shares(np.exp(x), dim)),
        computes("The softmax was applied twice.", "shares", lambda x, dim: _shares(_shares(x, dim), dim)),
        computes(
            "This is a sigmoid, which looks at each score alone. Softmax divides by a sum along `dim`.",
            "shares",
            lambda x, dim: 1 / (1 + np.exp(-x)),
        ),
        computes(
            "The largest score along the last axis is subtracted. Subtract the largest along `dim`.",
            "shares",
            _largest_along_the_last_axis,
        ),
        *(
            Misconception(
                "Without `dim` the last axis should be used: the default is -1.", wrong=_with_another_default(axis)
            )
            for axis in (0, 1)
        ),
        computes(
            "You took the shares over all scores at once. They sum to 1 along one axis, `dim`.",
            "shares",
            lambda x, dim: _shares(x, None),
        ),
        computes(
            "A reshape to rows of length x.shape[dim] does not put the scores along `dim` together. Give `dim` to the sum and to the maximum.",
            "shares",
            lambda x, dim: _shares(x.reshape(-1, x.shape[dim]), -1).reshape(x.shape),
        ),
        computes(
            "The scores are divided by the largest one before their exponentials. Subtract it.",
            "shares",
            lambda x, dim: _shares(x / x.max(axis=dim, keepdims=True), dim),
        ),
        computes(
            "Only the largest score is changed, to 0. Subtract the largest score along `dim` from all of them.",
            "shares",
            _largest_only_changed,
        ),
        computes(
            "`dim` is ignored: the shares are always made along the last axis.", "shares", lambda x, dim: _shares(x, -1)
        ),
        computes(
            "`dim` is ignored: the shares are always made along the first axis.", "shares", lambda x, dim: _shares(x, 0)
        ),
        computes(
            "`dim` is ignored: the shares are always made along axis 1.",
            "shares",
            lambda x, dim: _shares(x, 1 if x.ndim > 1 else 0),
        ),
        computes(
            "`dim=0` is taken for no `dim`, since 0 counts as false in Python: the shares are made along the last axis. Use `dim` as it is.",
            "shares",
            lambda x, dim: _shares(x, dim or -1),
            ("along another axis",),
        ),
        computes(
            "The exponentials overflow, or are all 0. Subtract the largest score along `dim` first.",
            "shares",
            lambda x, dim: _shares(x, dim, subtract=False),
        ),
        computes(
            "You subtract the largest score of the whole array. In rows far below it all exponentials are 0: subtract the largest along `dim`.",
            "shares",
            _with_global_maximum,
        ),
        shows(
            "Large scores that differ get equal shares, as if they were cut off at a limit. Cut nothing off: subtract the largest score along `dim`.",
            equal_shares_of_different_scores(),
            ("scores of ten thousand",),
            rough=True,
        ),
        shows(
            "With scores of ten thousand the result holds inf or nan. Subtract the largest score along `dim` before you take exponentials.",
            not_finite("shares"),
            ("scores of ten thousand",),
            rough=True,
        ),
        computes(
            "The exponentials are not divided by their sum. Divide them by their sum along `dim`.",
            "shares",
            lambda x, dim: np.exp(x - x.max(dim, keepdims=True)),
        ),
        computes(
            "The exponentials are not divided by their sum. Divide them by their sum along `dim`.",
            "shares",
            lambda x, dim: np.exp(x),
        ),
        computes(
            "The scores are divided by their sum. Take their exponentials first.",
            "shares",
            lambda x, dim: x / x.sum(dim, keepdims=True),
        ),
        computes(
            "This is the logarithm of the softmax. Give the shares themselves.",
            "shares",
            lambda x, dim: np.log(_shares(x, dim)),
        ),
        computes(
            "The sign of the scores is flipped: the largest score must get the largest share.",
            "shares",
            lambda x, dim: _shares(-x, dim),
        ),
        computes(
            "You took powers of 2. Softmax uses exponentials, powers of e.",
            "shares",
            lambda x, dim: _shares(x * np.float32(np.log(2)), dim),
        ),
        computes(
            "The largest score gets everything, which is a hard maximum. In a softmax each score gets a share.",
            "shares",
            lambda x, dim: (x == x.max(dim, keepdims=True)).astype(float),
        ),
        computes("The scores were returned unchanged. Turn them into shares.", "shares", lambda x, dim: x),
        shows(
            "A maximum or a sum along `dim` lacks that axis, and does not fit. Keep it with `keepdim=True`.",
            lost_axis(),
        ),
        shows(
            "The scores are multiplied or divided by a number before their exponentials. Take exponentials of the scores themselves.",
            other_scale("shares", "dim"),
            rough=True,
        ),
        shows(
            "The shares do not sum to 1 along `dim`. Divide the exponentials by their sum along `dim`, and by nothing else.",
            do_not_sum_to_one("shares", "dim"),
            rough=True,
        ),
        shows(
            "`Softmax()` cannot be called. Give the class a method `__call__`.", cannot_be_called(Raised.NOT_CALLABLE)
        ),
        shows(
            "`dim` has no default. Without it the last axis should be used: `dim=-1`.", cannot_be_called(Raised.NO_DIM)
        ),
        shows(
            "`Softmax` takes other arguments than described. It is created without any, `Softmax()`, and called with (x, dim=-1).",
            cannot_be_called(),
        ),
    ),
)
