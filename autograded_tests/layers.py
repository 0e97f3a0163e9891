"""The exercise of 03_layers."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from autograded_tests.exercise import Arrays, Ask, Case, Exercise, Inputs, Misconception, Reply
from autograded_tests.shapes import normal

VISIBLE = {
    "x": np.array([[1, 2]], np.float32),
    "weight": np.array([[1, 0, 2], [0, 1, 3]], np.float32),
    "bias": np.array([10, 20, 30], np.float32),
}
FLAT = {"x": normal(21, 4, 3), "weight": normal(22, 3, 5), "bias": normal(23, 5)}
DEEP = {"x": normal(24, 2, 4, 3), "weight": normal(25, 3, 5), "bias": normal(26, 5)}
SQUARE = {"x": normal(27, 6, 4), "weight": normal(28, 4, 4), "bias": normal(29, 4)}


def ask(inputs: Inputs, compare: tuple[str, ...] = ("y",), grad: np.ndarray | None = None) -> Ask:
    return Ask("linear", {**inputs, "grad": grad}, compare)


def without_bias(inputs: Inputs) -> Inputs:
    return {"x": inputs["x"], "weight": inputs["weight"]}


def reference(probe: str, inputs: Inputs) -> Arrays:
    if probe == "linear_parameters":
        known = 2 if inputs["bias"] else 1
        return {
            "order": np.arange(known),
            "kept": np.array(1),
            "trainable": np.ones(known),
            "varied": np.array(1),
        }
    x, weight, bias = inputs["x"], inputs["weight"], inputs.get("bias")
    answer = {"y": references.linear(x, weight, bias), "x_after": x}
    answer |= {"weight_shape": np.array(weight.shape), "bias_shape": np.array(weight.shape[1:])}
    if inputs["grad"] is not None:
        gradients = references.linear_gradient(x, weight, inputs["grad"])
        answer |= dict(zip(("grad_x", "grad_weight", "grad_bias"), gradients, strict=True))
    return answer


def wrong(sentence: str, function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Misconception:
    def predict(probe: str, i: Inputs) -> Arrays | None:
        if probe != "linear":
            return None
        return {"y": function(i["x"], i["weight"], i.get("bias", np.zeros(i["weight"].shape[1])))}

    return Misconception(sentence, wrong=predict)


def sign(sentence: str, shows: Callable[[Reply], bool]) -> Misconception:
    return Misconception(sentence, sign=lambda _ask, reply: shows(reply))


def _entry(reply: Reply, key: str, value: int) -> bool:
    return key in reply.arrays and bool((reply.arrays[key] == value).any())


LINEAR = Exercise(
    name="linear",
    module="03_layers",
    defines="Linear",
    cases=(
        Case("values", 1.5, (ask(VISIBLE), ask(FLAT), ask(SQUARE), ask(FLAT, ("weight_shape", "bias_shape")))),
        Case("more leading axes", 0.5, (ask(DEEP),)),
        Case("without a bias", 0.5, (ask(without_bias(FLAT)), ask(without_bias(SQUARE)))),
        Case(
            "parameters",
            0.75,
            tuple(
                Ask("linear_parameters", {"in_features": 4, "out_features": 4, "bias": bias}, compare)
                for bias in (True, False)
                for compare in (("kept",), ("order", "trainable", "varied"))
            ),
            alone=False,
        ),
        Case("gradient", 0.75, (ask(FLAT, ("grad_x", "grad_weight", "grad_bias", "x_after"), normal(30, 4, 5)),)),
    ),
    reference=reference,
    misconceptions=(
        wrong("The bias is not added.", lambda x, w, b: x @ w),
        wrong("The bias is subtracted.", lambda x, w, b: x @ w - b),
        wrong("The bias is added twice.", lambda x, w, b: x @ w + 2 * b),
        wrong("The bias is multiplied.", lambda x, w, b: x @ w * b),
        wrong(
            "The weight is transposed. It is (in_features, out_features), so that y = x @ weight + bias.",
            lambda x, w, b: x @ w.T + b,
        ),
        wrong("The bias is added to x before the product.", lambda x, w, b: (x + b) @ w),
        wrong("The input is added to the result.", lambda x, w, b: x @ w + b + x),
        wrong(
            "Negative results were cut off. A linear layer has no activation.", lambda x, w, b: np.maximum(x @ w + b, 0)
        ),
        wrong("The product is divided by the number of inputs.", lambda x, w, b: x @ w / w.shape[0] + b),
        sign(
            "The weight has the shape (out_features, in_features). Here it is (in_features, out_features).",
            lambda r: "weight_shape" in r.arrays and tuple(r.arrays["weight_shape"]) == (5, 3),
        ),
        sign(
            "With bias=False there is no bias: `.bias` is None, and nothing is added.", lambda r: "NoneType" in r.text
        ),
        sign(
            "The shapes do not fit: x is (..., in_features), the weight (in_features, out_features).",
            lambda r: "ValueError: @: " in r.text,
        ),
        sign(
            "The number of axes of x is fixed. There may be any number of leading axes.",
            lambda r: "unpack" in r.text or "AxisError" in r.text or "IndexError" in r.text,
        ),
        sign(
            "parameters() gives other tensors at each call. Create them once, in `__init__`.",
            lambda r: _entry(r, "kept", 0),
        ),
        sign(
            "parameters() must list the very tensors `.weight` and `.bias`, not copies.",
            lambda r: _entry(r, "order", -1),
        ),
        sign(
            "parameters() lacks the bias, or the weight.",
            lambda r: "order" in r.arrays and list(r.arrays["order"]) in ([], [0], [1]),
        ),
        sign(
            "parameters() lists the weight first, then the bias, each once.",
            lambda r: "order" in r.arrays and list(r.arrays["order"]) not in ([0], [0, 1]),
        ),
        sign(
            "The parameters must be created with requires_grad=True, or training cannot change them.",
            lambda r: _entry(r, "trainable", 0),
        ),
        sign(
            "All weights start equal. Draw them with `_start_values`, or all outputs learn the same.",
            lambda r: _entry(r, "varied", 0),
        ),
    ),
)

EXERCISES = (LINEAR,)
