"""Each position brought to mean 0 and variance 1, then scaled and shifted."""

from typing import Any

import numpy as np

from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import holds_nan
from exercises.signs.facts import right_but_for
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import raised_as

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
    return (ask(d, 680, d.L, d.D, compare=GRADIENTS, grad=d.normal(684, d.L, d.D)),)


def unchanged(d: Data) -> tuple[Question, ...]:
    return (ask(d, 690, d.L, d.D, compare=("x_after", "weight_after", "bias_after")),)


def reference(question: Question) -> Arrays:
    x, weight, bias = (question[name] for name in ("x", "weight", "bias"))
    answer = {"result": right.layer_norm(x, weight, bias), "x_after": x, "weight_after": weight, "bias_after": bias}
    if question["grad"] is not None:
        gradients = right.layer_norm_gradient(x, weight, question["grad"])
        answer |= dict(zip(GRADIENTS, gradients, strict=True))
    return answer


def normed(
    x: Array,
    weight: Array,
    bias: Array,
    *,
    axis: Function = lambda x: -1,
    spread: Function = lambda variance, square, E: np.sqrt(variance + right.EPSILON),
    top: Function = lambda x, centred: centred,
    finish: Function = lambda y, weight, bias: y * weight + bias,
    **_told: Any,
) -> Array:
    """Layer normalisation in which each step can be replaced by a wrong one."""
    x, weight, bias = (np.asarray(a, float) for a in (x, weight, bias))
    along = axis(x)
    centred = x - x.mean(along, keepdims=True)
    variance, square = ((a * a).mean(along, keepdims=True) for a in (centred, x))
    return np.asarray(finish(top(x, centred) / spread(variance, square, x.shape[-1]), weight, bias))


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    return computes(sentence, "result", lambda **given: normed(**(given | wrong)), cases)


EACH = "Each position should be normalised by itself: mean and variance are taken along the last axis, -1, with keepdim=True."
NO_ROOT = "It is divided by the variance. Divide by the root of the variance plus EPSILON."
WRONG_STEPS = (
    steps(
        f"Mean and variance are taken over the positions, not over the numbers of one position. {EACH}",
        axis=lambda x: max(-2, -x.ndim),
    ),
    steps(f"Mean and variance are taken along the first axis. {EACH}", axis=lambda x: 0),
    steps(f"Mean and variance are taken over all numbers. {EACH}", axis=lambda x: None),
    steps(f"Mean and variance are taken over two axes. {EACH}", axis=lambda x: tuple(range(max(-2, -x.ndim), 0))),
    steps(
        "The sum of squares is divided by E - 1. The variance is their mean: divide by E.",
        spread=lambda v, s, E: np.sqrt(v * E / (E - 1) + right.EPSILON) if E > 1 else np.full(v.shape, np.nan),
    ),
    steps(NO_ROOT, spread=lambda v, s, E: v + right.EPSILON),
    steps(
        "The sum of squares is taken for the variance. The variance is their mean: divide by E.",
        spread=lambda v, s, E: np.sqrt(v * E + right.EPSILON),
    ),
    steps(
        "EPSILON is added to the root. Add it to the variance, under the root.",
        spread=lambda v, s, E: np.sqrt(v) + right.EPSILON,
    ),
    steps(
        "EPSILON counts twice. Add it once, to the variance.",
        spread=lambda v, s, E: np.sqrt(v + 2 * right.EPSILON),
    ),
    steps(
        "EPSILON is missing: where all numbers of a position are equal, this divides by 0.",
        spread=lambda v, s, E: np.sqrt(v),
    ),
    steps("The weight is missing. Multiply by it after the division.", finish=lambda y, w, b: y + b),
    steps("The bias is missing. Add it at the end.", finish=lambda y, w, b: y * w),
    steps(
        "Weight and bias are missing. Multiply by the weight after the division, then add the bias.",
        finish=lambda y, w, b: y,
    ),
    steps(
        "The bias is added before the weight multiplies. Multiply by the weight first.",
        finish=lambda y, w, b: (y + b) * w,
    ),
    steps(
        "Weight and bias are in each other's place. Multiply by the weight, add the bias.",
        finish=lambda y, w, b: y * b + w,
    ),
    computes(
        "Weight and bias are used before the normalisation, which takes them out again. Use them at the end.",
        "result",
        lambda x, weight, bias, **_: normed(x * weight + bias, weight, bias, finish=lambda y, w, b: y),
    ),
    steps("The mean is not subtracted from what is divided. Divide x - mean.", top=lambda x, centred: x),
    steps(
        "The mean is not subtracted, neither from x nor for the variance. Begin with x - mean.",
        top=lambda x, centred: x,
        spread=lambda v, s, E: np.sqrt(s + right.EPSILON),
    ),
    steps(
        "The variance is that of numbers whose mean was not subtracted. Take the mean of the squares of x - mean.",
        spread=lambda v, s, E: np.sqrt(s + right.EPSILON),
    ),
    steps(
        "Nothing is divided by the spread. Divide x - mean by the root of the variance plus EPSILON.",
        spread=lambda v, s, E: 1.0,
    ),
    steps(
        "It is multiplied by the spread. Divide by it.",
        top=lambda x, centred: centred,
        spread=lambda v, s, E: 1 / np.sqrt(v + right.EPSILON),
    ),
    computes("x is returned as it came.", "result", lambda x, **_: x),
)

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
        *WRONG_STEPS,
        shows(
            "Where all numbers of a position are equal, the result is nan or inf. Add EPSILON to the variance, under the root.",
            holds_nan("result"),
            ("edges",),
            rough=True,
        ),
        shows(
            "The gradient of x is not right: a part of the way is cut, maybe the mean or the variance. Compute both with Tensors.",
            right_but_for(("grad_weight", "grad_bias"), ("grad_x",)),
            ("gradient",),
        ),
        shows(
            "No gradient reaches weight and bias: they are cut from the graph, for example by `.data`.",
            no_gradient("weight", "bias"),
            ("gradient",),
        ),
        shows(
            "Shapes do not fit: x.mean(-1) has lost its last axis. Keep it with keepdim=True.",
            raised_as("do not broadcast", r"mean|variance|var|centred|sqrt"),
        ),
        NAMES_KEPT,
    ),
)
