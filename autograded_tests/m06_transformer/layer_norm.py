"""Each position brought to mean 0 and variance 1, then scaled and shifted."""

import numpy as np

from autograded_tests.m06_transformer import _transformer as right
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes
from exercises.model import Arrays, Case, Exercise, Question

Array = np.ndarray


def ask(
    d: Data, number: int, *shape: int, compare: tuple[str, ...] = ("result",), grad: Array | None = None
) -> Question:
    """Numbers of one size, around one mean for each position, and a weight and a bias."""
    x = d.normal(number, *shape, scale=2) + d.normal(number + 1, *shape[:-1], 1, scale=3)
    inputs = {
        "name": "layer_norm",
        "x": x.astype(np.float32),
        "weight": d.normal(number + 2, shape[-1]) + np.float32(1),
        "bias": d.normal(number + 3, shape[-1]),
    }
    return Question("function", inputs | {"grad": grad}, compare)


def plain(d: Data, number: int, *shape: int) -> Question:
    """With weight 1 and bias 0."""
    question = ask(d, number, *shape)
    width = shape[-1]
    parts = {"weight": np.ones(width, np.float32), "bias": np.zeros(width, np.float32)}
    return Question("function", dict(question.inputs) | parts, ("result",))


def values(d: Data) -> tuple[Question, ...]:
    return plain(d, 610, d.L, d.D), ask(d, 620, d.L, d.D), ask(d, 625, d.S, d.S)


def leading_axes(d: Data) -> tuple[Question, ...]:
    return ask(d, 630, d.B, d.L, d.D), ask(d, 640, d.B, d.H, d.L, d.D), ask(d, 650, d.D)


def edges(d: Data) -> tuple[Question, ...]:
    """Equal numbers, numbers that hardly differ, and large ones far from 0."""
    equal = ask(d, 660, d.L, d.D)
    alike = np.full((d.L, d.D), 3, np.float32)
    nearly = (d.normal(670, d.L, d.D, scale=0.003)).astype(np.float32)
    far = (d.normal(671, d.L, d.D, scale=50) + 1000).astype(np.float32)
    return tuple(Question("function", dict(equal.inputs) | {"x": x}, ("result",)) for x in (alike, nearly, far))


GRADIENTS = ("grad_x", "grad_weight", "grad_bias")


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(d, 680, d.B, d.L, d.D, compare=GRADIENTS, grad=d.normal(684, d.B, d.L, d.D)),)


def unchanged(d: Data) -> tuple[Question, ...]:
    return (ask(d, 690, d.L, d.D, compare=("x_after", "weight_after", "bias_after")),)


def reference(question: Question) -> Arrays:
    x, weight, bias = (question[name] for name in ("x", "weight", "bias"))
    answer = {"result": right.layer_norm(x, weight, bias), "x_after": x, "weight_after": weight, "bias_after": bias}
    if question["grad"] is not None:
        gradients = right.layer_norm_gradient(x, weight, question["grad"])
        answer |= dict(zip(GRADIENTS, gradients, strict=True))
    return answer


EXERCISE = Exercise(
    name="layer_norm",
    module="06_transformer",
    defines="layer_norm",
    cases=(
        Case("values", 1.25, values),
        Case("leading axes", 0.5, leading_axes),
        Case("edges", 0.5, edges),
        Case("gradient", 0.5, gradient),
        Case("inputs unchanged", 0.25, unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        computes(
            "The weight is missing. Multiply by it after the division.",
            "result",
            lambda x, weight, bias: right.layer_norm(x, np.ones(len(weight)), bias),
        ),
        NAMES_KEPT,
    ),
)
