"""Shares of scores along an axis."""

import numpy as np

from autograded_tests import references
from exercises.data import Data
from exercises.misconceptions import computes
from exercises.model import Arrays, Case, Exercise, Misconception, Question

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
            "The gradient takes the sum of exponentials for a constant: `.data` cuts it from the graph.",
            wrong=_gradient_without_the_sum,
        ),
        computes(
            "All axes but the first are taken together. The shares sum to 1 along one axis, `dim`.",
            "shares",
            lambda x, dim: _shares(x.reshape(len(x), -1), -1).reshape(x.shape),
        ),
        Misconception(
            "Without `dim` the last axis is meant: the default is -1.",
            wrong=lambda q: {"shares": _shares(q["x"], 0 if q.get("by_default") else q["dim"])},
        ),
        computes(
            "You took the shares over all scores at once. They sum to 1 along one axis, `dim`.",
            "shares",
            lambda x, dim: _shares(x, None),
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
            "The exponentials overflow or vanish. Subtract the largest score along `dim` first.",
            "shares",
            lambda x, dim: _shares(x, dim, subtract=False),
        ),
        computes(
            "You subtract the largest score of the whole array. Rows far below it lose everything: use the largest along `dim`.",
            "shares",
            _with_global_maximum,
        ),
        computes(
            "These are exponentials; they still have to be divided by their sum.",
            "shares",
            lambda x, dim: np.exp(x - x.max(dim, keepdims=True)),
        ),
        computes(
            "These are exponentials; they still have to be divided by their sum.", "shares", lambda x, dim: np.exp(x)
        ),
        computes(
            "The scores were divided by their sum without taking exponentials.",
            "shares",
            lambda x, dim: x / x.sum(dim, keepdims=True),
        ),
        computes("This is the logarithm of the softmax.", "shares", lambda x, dim: np.log(_shares(x, dim))),
        computes(
            "The sign of the scores is turned: the largest score must get the largest share.",
            "shares",
            lambda x, dim: _shares(-x, dim),
        ),
        computes(
            "You took powers of 2. Softmax uses exponentials, powers of e.",
            "shares",
            lambda x, dim: _shares(x * np.float32(np.log(2)), dim),
        ),
        computes(
            "The result is rounded or the largest score takes all: this is a hard maximum.",
            "shares",
            lambda x, dim: (x == x.max(dim, keepdims=True)).astype(float),
        ),
        computes("The scores come back unchanged.", "shares", lambda x, dim: x),
    ),
)
