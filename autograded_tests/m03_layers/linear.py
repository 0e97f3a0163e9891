"""Weight, bias, parameters."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from exercises.data import Data
from exercises.misconceptions import says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.exceptions import Raised
from exercises.signs.parameters import any_is, not_weight_then_bias, transposed_weight, weight_or_bias_missing

Inputs = dict[str, np.ndarray]
BY_HAND = {
    "x": np.array([[1, 2]], np.float32),
    "weight": np.array([[1, 0, 2], [0, 1, 3]], np.float32),
    "bias": np.array([10, 20, 30], np.float32),
}


def flat(d: Data) -> Inputs:
    return {"x": d.normal(21, d.L, d.H), "weight": d.normal(22, d.H, d.S), "bias": d.normal(23, d.S)}


def square(d: Data) -> Inputs:
    return {"x": d.normal(27, d.Dv, d.L), "weight": d.normal(28, d.L, d.L), "bias": d.normal(29, d.L)}


def deep(d: Data) -> Inputs:
    return {"x": d.normal(24, d.B, d.L, d.H), "weight": d.normal(25, d.H, d.S), "bias": d.normal(26, d.S)}


def without_bias(inputs: Inputs) -> Inputs:
    return {"x": inputs["x"], "weight": inputs["weight"]}


def ask(inputs: Inputs, compare: tuple[str, ...] = ("y",), grad: np.ndarray | None = None) -> Question:
    return Question("linear", {**inputs, "grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    return ask(BY_HAND), ask(flat(d)), ask(square(d)), ask(flat(d), ("weight_shape", "bias_shape"))


def parameters(d: Data) -> tuple[Question, ...]:
    return tuple(
        Question("linear_parameters", {"in_features": d.L, "out_features": d.L, "bias": bias}, compare)
        for bias in (True, False)
        for compare in (("kept",), ("order", "trainable", "varied"))
    )


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(flat(d), ("grad_x", "grad_weight", "grad_bias", "x_after"), d.normal(30, d.L, d.S)),)


def reference(question: Question) -> Arrays:
    if question.probe == "linear_parameters":
        known = 2 if question["bias"] else 1
        return {"order": np.arange(known), "kept": np.array(1), "trainable": np.ones(known), "varied": np.array(1)}
    x, weight, bias = question["x"], question["weight"], question.get("bias")
    answer = {"y": references.linear(x, weight, bias), "x_after": x}
    answer |= {"weight_shape": np.array(weight.shape), "bias_shape": np.array(weight.shape[1:])}
    if question["grad"] is not None:
        gradients = references.linear_gradient(x, weight, question["grad"])
        answer |= dict(zip(("grad_x", "grad_weight", "grad_bias"), gradients, strict=True))
    return answer


def computes(sentence: str, function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Misconception:
    """A wrong y from x, weight and bias, where a missing bias is zeros."""

    def wrong(question: Question) -> Arrays | None:
        if question.probe != "linear":
            return None
        weight = question["weight"]
        return {"y": function(question["x"], weight, question.get("bias", np.zeros(weight.shape[1])))}

    return Misconception(sentence, wrong=wrong)


EXERCISE = Exercise(
    name="linear",
    module="03_layers",
    defines="Linear",
    cases=(
        Case("values", 1.5, values),
        Case("more leading axes", 0.5, lambda d: (ask(deep(d)),)),
        Case("without a bias", 0.5, lambda d: (ask(without_bias(flat(d))), ask(without_bias(square(d))))),
        Case("parameters", 0.75, parameters, needs_another=True),
        Case("gradient", 0.75, gradient),
    ),
    reference=reference,
    misconceptions=(
        computes("The bias is not added.", lambda x, w, b: x @ w),
        computes("The bias is subtracted.", lambda x, w, b: x @ w - b),
        computes("The bias is added twice.", lambda x, w, b: x @ w + 2 * b),
        computes("The bias is multiplied.", lambda x, w, b: x @ w * b),
        computes(
            "The weight is transposed. It is (in_features, out_features), so that y = x @ weight + bias.",
            lambda x, w, b: x @ w.T + b,
        ),
        computes("The bias is added to x before the product.", lambda x, w, b: (x + b) @ w),
        computes("The input is added to the result.", lambda x, w, b: x @ w + b + x),
        computes(
            "Negative results were cut off. A linear layer has no activation.", lambda x, w, b: np.maximum(x @ w + b, 0)
        ),
        computes("The product is divided by the number of inputs.", lambda x, w, b: x @ w / w.shape[0] + b),
        shows(
            "The weight has the shape (out_features, in_features). Here it is (in_features, out_features).",
            transposed_weight(),
        ),
        says("With bias=False there is no bias: `.bias` is None, and nothing is added.", Raised.NO_MASK),
        says("The shapes do not fit: x is (..., in_features), the weight (in_features, out_features).", Raised.PRODUCT),
        says(
            "The number of axes of x is fixed. There may be any number of leading axes.",
            Raised.UNPACK,
            Raised.AXIS,
            Raised.INDEX,
        ),
        shows("parameters() gives other tensors at each call. Create them once, in `__init__`.", any_is("kept", 0)),
        shows("parameters() must list the very tensors `.weight` and `.bias`, not copies.", any_is("order", -1)),
        shows("parameters() lacks the bias, or the weight.", weight_or_bias_missing()),
        shows("parameters() lists the weight first, then the bias, each once.", not_weight_then_bias()),
        shows(
            "The parameters must be created with requires_grad=True, or training cannot change them.",
            any_is("trainable", 0),
        ),
        shows(
            "All weights start equal. Draw them with `_start_values`, or all outputs learn the same.",
            any_is("varied", 0),
        ),
    ),
)
