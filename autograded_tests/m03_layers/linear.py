"""Weight, bias, parameters."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from exercises.data import Data
from exercises.misconceptions import says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import other_shape
from exercises.signs.exceptions import Raised, cannot_be_called
from exercises.signs.parameters import (
    any_is,
    bias_in_spite_of_that,
    not_weight_then_bias,
    other_values,
    own_and_others,
    transposed_weight,
    weight_or_bias_missing,
)

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
    wide = {"in_features": 100 * d.L, "out_features": d.L * d.S, "bias": True}
    return (
        *(
            Question("linear_parameters", {"in_features": d.L, "out_features": d.L, "bias": bias}, compare)
            for bias in (True, False)
            for compare in (
                ("kept",),
                ("order", "trainable", "varied") if bias else ("without_bias", "order", "trainable"),
            )
        ),
        Question("linear_parameters", wide, ("within",)),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(flat(d), ("grad_x", "grad_weight", "grad_bias", "x_after"), d.normal(30, d.L, d.S)),)


def reference(question: Question) -> Arrays:
    if question.probe == "linear_parameters":
        known = 2 if question["bias"] else 1
        one = np.array(1)
        order, trainable = np.arange(known), np.ones(known)
        return {"without_bias": one, "order": order, "kept": one, "trainable": trainable, "varied": one, "within": one}
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
        computes("The bias is not added. It is y = x @ weight + bias.", lambda x, w, b: x @ w),
        computes("The bias is subtracted. Add it.", lambda x, w, b: x @ w - b),
        computes("The bias is added twice. Add it once.", lambda x, w, b: x @ w + 2 * b),
        computes("The result is multiplied by the bias. Add the bias.", lambda x, w, b: x @ w * b),
        computes(
            "The weight is transposed. It is (in_features, out_features), so that y = x @ weight + bias.",
            lambda x, w, b: x @ w.T + b,
        ),
        computes("The bias is added to x before the product. Add it to the product.", lambda x, w, b: (x + b) @ w),
        computes(
            "The input is added to the result. It is y = x @ weight + bias, no more.", lambda x, w, b: x @ w + b + x
        ),
        computes(
            "Negative results are set to 0. A linear layer has no activation.", lambda x, w, b: np.maximum(x @ w + b, 0)
        ),
        computes(
            "The product is divided by the number of inputs. It is y = x @ weight + bias.",
            lambda x, w, b: x @ w / w.shape[0] + b,
        ),
        computes(
            "A sigmoid is applied. A linear layer has no activation.", lambda x, w, b: 1 / (1 + np.exp(-(x @ w + b)))
        ),
        computes("A tanh is applied. A linear layer has no activation.", lambda x, w, b: np.tanh(x @ w + b)),
        computes("The product is added twice. It is y = x @ weight + bias.", lambda x, w, b: 2 * (x @ w) + b),
        computes("The sign of the result is flipped. It is y = x @ weight + bias.", lambda x, w, b: -(x @ w + b)),
        computes(
            "A softmax is applied. A linear layer has no activation.",
            lambda x, w, b: np.exp(x @ w + b) / np.exp(x @ w + b).sum(-1, keepdims=True),
        ),
        computes("The bias is added to the weight. Add it to the product.", lambda x, w, b: x @ (w + b)),
        shows(
            "The result has the wrong shape. It should be that of x, with out_features in place of in_features.",
            other_shape("y"),
            rough=True,
        ),
        shows(
            "With bias=False there is a bias all the same. Then `.bias` is None, and nothing is added.",
            any_is("without_bias", 0),
            ("without a bias",),
        ),
        shows(
            "With bias=False `.bias` is not None. It should be None, and nothing is added.",
            bias_in_spite_of_that(),
            ("parameters",),
        ),
        shows(
            "The weight has the shape (out_features, in_features). It should be (in_features, out_features).",
            transposed_weight(),
        ),
        shows(
            "The weight has the wrong shape. It should be (in_features, out_features).",
            other_values("weight_shape"),
            rough=True,
        ),
        shows(
            "The bias has the wrong shape. It should be (out_features,): one number for each output.",
            other_values("bias_shape"),
            rough=True,
        ),
        says(
            "With bias=False `.bias` is None, and you compute with it all the same. Add nothing then.",
            Raised.NO_MASK,
            cases=("without a bias", "parameters"),
            line="bias",
        ),
        says(
            "The weight is transposed before the product. It is (in_features, out_features), so that y = x @ weight + bias.",
            Raised.PRODUCT,
            line=r"\.m?T\b|transpose|swapaxes",
        ),
        says(
            "The weight is on the left of the product. It is y = x @ weight + bias.",
            Raised.PRODUCT,
            line=r"weight\s*(@|\.matmul)|matmul\(\s*self\.weight",
        ),
        says(
            "x and the weight are multiplied number by number, `*`. A linear layer takes the matrix product, `@`.",
            Raised.ELEMENTWISE,
            line="weight",
        ),
        says(
            "With more leading axes it fails. x may have any number of axes, and only the last one is in_features wide.",
            Raised.UNPACK,
            Raised.AXIS,
            Raised.INDEX,
            Raised.PRODUCT,
            Raised.BROADCAST,
            Raised.RESHAPE,
            cases=("more leading axes",),
        ),
        shows(
            "The weight or the bias is computed from another Tensor, and the gradient goes on to that one. Keep what `_start_values` gives as it is.",
            any_is("computed", 1),
            ("gradient",),
        ),
        shows(
            "parameters() lists more or fewer Tensors after a call than before. Create all in `__init__`, and list the same at any time.",
            any_is("grown", 1),
        ),
        shows(
            "parameters() lists this layer's own Tensors, and others, such as those of another layer. Make the list anew for each layer.",
            own_and_others(),
        ),
        shows(
            "parameters() gives other Tensors at each call. Create them once, in `__init__`, and give these.",
            any_is("kept", 0),
        ),
        shows(
            "parameters() lists Tensors that are not this layer's `.weight` and `.bias`, such as copies. It should list these two.",
            any_is("order", -1),
        ),
        shows("parameters() lacks the weight, or a bias that there is. It should list both.", weight_or_bias_missing()),
        shows(
            "parameters() should list the weight first, then the bias, each once. Yours has another order, or one twice.",
            not_weight_then_bias(),
        ),
        shows(
            "The parameters do not ask for gradients: requires_grad is False. Keep what `_start_values` gives, without `Tensor(...)` around it.",
            any_is("trainable", 0),
        ),
        shows(
            "All weights start equal. Draw them with `_start_values`, or all outputs learn the same.",
            any_is("varied", 0),
        ),
        shows(
            "The bias starts with larger numbers than 1 / sqrt(in_features). Give `_start_values` the layer's in_features, for weight and bias.",
            any_is("within", 0),
        ),
        shows(
            "A layer cannot be called: `layer(x)`. Give the class a method `__call__`.",
            cannot_be_called(Raised.NOT_CALLABLE),
        ),
        shows(
            "The layer has no `.weight` or no `.bias`. Keep them under these names; without a bias, `.bias` is None.",
            cannot_be_called(Raised.NO_WEIGHT),
        ),
        shows("`parameters` is a list. It should be a method that gives one.", cannot_be_called(Raised.LIST_CALLED)),
        shows("`parameters` is missing. It lists the weight and the bias.", cannot_be_called(Raised.NO_PARAMETERS)),
        shows(
            "`Linear` takes other arguments than described. It is Linear(in_features, out_features, bias=True), and a layer is called with x.",
            cannot_be_called(),
        ),
    ),
)
