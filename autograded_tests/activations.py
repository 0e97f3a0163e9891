"""The exercise of 02_activations."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from autograded_tests.exercise import Arrays, Ask, Case, Exercise, Inputs, Misconception
from autograded_tests.shapes import normal

VISIBLE = np.log(np.array([[1, 2, 5], [3, 3, 4]], np.float32))


def ask(x: np.ndarray, dim: int = -1, grad: np.ndarray | None = None, compare: tuple[str, ...] = ("shares",)) -> Ask:
    return Ask("softmax", {"x": x, "dim": dim, "grad": grad}, compare)


def reference(_probe: str, inputs: Inputs) -> Arrays:
    shares = references.softmax(inputs["x"], inputs["dim"])
    answer = {"shares": shares, "x_after": inputs["x"]}
    if inputs["grad"] is not None:
        answer["grad_x"] = references.softmax_gradient(shares, inputs["grad"], inputs["dim"])
    return answer


def _shares(x: np.ndarray, axis: int | tuple[int, ...] | None, subtract: bool = True) -> np.ndarray:
    x = x.astype(np.float32)
    e = np.exp(x - x.max(axis=axis, keepdims=True)) if subtract else np.exp(x)
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def _with_global_maximum(x: np.ndarray, dim: int) -> np.ndarray:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum(axis=dim, keepdims=True))


def _gradient_without_the_sum(_probe: str, i: Inputs) -> Arrays | None:
    if i["grad"] is None:
        return None
    direct = i["grad"] * _shares(i["x"], i["dim"])
    largest = i["x"] == i["x"].max(i["dim"], keepdims=True)
    return {"grad_x": direct - largest * direct.sum(i["dim"], keepdims=True)}


def wrong(sentence: str, function: Callable[[np.ndarray, int], np.ndarray]) -> Misconception:
    return Misconception(sentence, wrong=lambda _probe, i: {"shares": function(i["x"], i["dim"])})


LARGE = np.array([[1e4, 1e4 - 1, 9e3], [-1e4, -1e4, -2e4], [3, 1, 2]], np.float32)

BY_DEFAULT = Ask("softmax", {"x": normal(18, 3, 4, 5), "dim": -1, "by_default": True, "grad": None}, ("shares",))

SOFTMAX = Exercise(
    name="softmax",
    module="02_activations",
    defines="Softmax",
    cases=(
        Case("values", 1.5, (ask(VISIBLE), ask(normal(11, 2, 4, 5)), ask(normal(12, 3)), BY_DEFAULT)),
        Case("along another axis", 0.5, (ask(normal(13, 3, 4, 5), dim=1), ask(VISIBLE.T.copy(), dim=0))),
        Case("scores of ten thousand", 1, (ask(LARGE), ask(-LARGE))),
        Case("gradient", 0.75, (ask(normal(14, 3, 5), grad=normal(15, 3, 5), compare=("grad_x",)),)),
        Case("input unchanged", 0.25, (ask(normal(16, 3, 5), compare=("x_after",)),), alone=False),
    ),
    reference=reference,
    misconceptions=(
        Misconception(
            "The gradient takes the sum of exponentials for a constant: `.data` cuts it from the graph.",
            wrong=_gradient_without_the_sum,
        ),
        wrong(
            "All axes but the first are taken together. The shares sum to 1 along one axis, `dim`.",
            lambda x, dim: _shares(x.reshape(len(x), -1), -1).reshape(x.shape),
        ),
        Misconception(
            "Without `dim` the last axis is meant: the default is -1.",
            wrong=lambda _p, i: {"shares": _shares(i["x"], 0 if i.get("by_default") else i["dim"])},
        ),
        wrong(
            "You took the shares over all scores at once. They sum to 1 along one axis, `dim`.",
            lambda x, dim: _shares(x, None),
        ),
        wrong("`dim` is ignored: the shares are always made along the last axis.", lambda x, dim: _shares(x, -1)),
        wrong("`dim` is ignored: the shares are always made along the first axis.", lambda x, dim: _shares(x, 0)),
        wrong(
            "`dim` is ignored: the shares are always made along axis 1.",
            lambda x, dim: _shares(x, 1 if x.ndim > 1 else 0),
        ),
        wrong(
            "The exponentials overflow or vanish. Subtract the largest score along `dim` first.",
            lambda x, dim: _shares(x, dim, subtract=False),
        ),
        wrong(
            "You subtract the largest score of the whole array. Rows far below it lose everything: use the largest along `dim`.",
            _with_global_maximum,
        ),
        wrong(
            "These are exponentials; they still have to be divided by their sum.",
            lambda x, dim: np.exp(x - x.max(dim, keepdims=True)),
        ),
        wrong("These are exponentials; they still have to be divided by their sum.", lambda x, dim: np.exp(x)),
        wrong(
            "The scores were divided by their sum without taking exponentials.",
            lambda x, dim: x / x.sum(dim, keepdims=True),
        ),
        wrong("This is the logarithm of the softmax.", lambda x, dim: np.log(_shares(x, dim))),
        wrong(
            "The sign of the scores is turned: the largest score must get the largest share.",
            lambda x, dim: _shares(-x, dim),
        ),
        wrong(
            "You took powers of 2. Softmax uses exponentials, powers of e.",
            lambda x, dim: _shares(x * np.float32(np.log(2)), dim),
        ),
        wrong(
            "The result is rounded or the largest score takes all: this is a hard maximum.",
            lambda x, dim: (x == x.max(dim, keepdims=True)).astype(float),
        ),
        wrong("The scores come back unchanged.", lambda x, dim: x),
    ),
)

EXERCISES = (SOFTMAX,)
