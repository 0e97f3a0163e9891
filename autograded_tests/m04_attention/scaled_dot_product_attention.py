"""Queries look at keys and read values."""

import math

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention._attention import COMPUTATIONS, RESULTS
from autograded_tests.m04_attention.apply_mask import EXERCISE as APPLY_MASK
from autograded_tests.m04_attention.apply_mask import mask_of_three_axes, mask_of_two_axes
from autograded_tests.m04_attention.compute_attention_scores import EXERCISE as COMPUTE_ATTENTION_SCORES
from autograded_tests.m04_attention.compute_attention_scores import four_axes, three_axes, two_axes
from autograded_tests.m04_attention.scale_scores import EXERCISE as SCALE_SCORES
from autograded_tests.variants import Array
from exercises.data import Data
from exercises.misconceptions import CUT, says, shows
from exercises.model import Arrays, Case, Exercise, Question, StandIn
from exercises.signs.arrays import not_finite, other_number_of_axes, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called, transposed_weights
from exercises.signs.gradients import no_gradient
from exercises.signs.masks import blocked_key_has_share
from exercises.signs.numbers import do_not_sum_to_one, only_this_is_wrong, other_scale

EVEN = (np.array([[1, 0]], np.float32), np.array([[0, 5], [0, 7]], np.float32), np.array([[10], [20]], np.float32))
SCALED = (EVEN[0], np.array([[2 * math.log(3), 0], [0, 0], [0, 0], [0, 0]], np.float32), np.eye(4, dtype=np.float32))


def ask(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None = None,
    compare: tuple[str, ...] = RESULTS,
    grad: Array | None = None,
    as_tensor: bool = True,
) -> Question:
    inputs = {"Q": Q, "K": K, "V": V, "mask": mask, "grad": grad, "as_tensor": as_tensor}
    return Question("scaled_dot_product_attention", inputs, compare)


def values(d: Data) -> Array:
    """V (B, S, Dv)"""
    return d.normal(44, d.B, d.S, d.Dv)


def masked(d: Data) -> tuple[Array, Array, Array, Array]:
    """Q, K, V, and a mask (B, L, S)."""
    return *three_axes(d), values(d), mask_of_three_axes(d)


def masked_in_four_axes(d: Data) -> tuple[Array, Array, Array, Array]:
    """Q, K, V, and a mask (B, H, L, S)."""
    return *four_axes(d), d.normal(47, d.B, d.H, d.S, d.Dv), d.random_mask(62, d.B, d.H, d.L, d.S)


def without_a_mask(d: Data) -> tuple[Question, ...]:
    (Q, K), V = three_axes(d), values(d)
    as_many = min(d.L, d.S)
    return (
        ask(Q, K, V),
        ask(Q, K[:, :1], V[:, :1]),  # one key
        ask(Q[:, :as_many], K[:, :as_many], V[:, :as_many]),  # as many keys as queries
    )


def with_a_mask(d: Data) -> tuple[Question, ...]:
    return (
        ask(*three_axes(d), values(d), mask_of_two_axes(d), compare=("output",), as_tensor=False),
        ask(*masked(d), compare=("output",)),
    )


def two_axes_and_four(d: Data) -> tuple[Question, ...]:
    return (
        ask(*EVEN),
        ask(*EVEN, np.array([[0, 1]], np.float32), compare=("output",)),
        ask(*SCALED),
        ask(*two_axes(d), values(d)[0], mask_of_two_axes(d), compare=("output",)),
        ask(*masked_in_four_axes(d), compare=("output",)),
        ask(*masked_in_four_axes(d)[:3], compare=("weights",)),
    )


def large(d: Data) -> tuple[Question, ...]:
    Q, K = d.normal(80, d.B, d.L, d.D, scale=60), d.normal(81, d.B, d.S, d.D, scale=60)
    V, mask = d.normal(82, d.B, d.S, d.Dv), d.random_mask(84, d.B, d.L, d.S)
    return (ask(Q, K, V, mask, compare=("output",)),)


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(*masked(d), compare=("grad_Q", "grad_K", "grad_V"), grad=d.normal(83, d.B, d.L, d.Dv)),)


def reference(question: Question) -> Arrays:
    Q, K, V, mask = (question[name] for name in ("Q", "K", "V", "mask"))
    output, weights = references.attention(Q, K, V, mask)
    answer = {"output": output, "weights": weights, "Q_after": Q, "K_after": K, "V_after": V}
    if mask is not None:
        answer["mask_after"] = mask
    if question["grad"] is not None:
        found = references.attention_gradient(Q, K, V, weights, question["grad"])
        answer |= dict(zip(("grad_Q", "grad_K", "grad_V"), found, strict=True))
    return answer


def gradients(index: int, grad: Array, Q: Array, K: Array, V: Array, mask: Array | None = None) -> list[Array]:
    """Gradients of Q, K and V (and none for a mask) for the gradient of the output (index 0) or of the weights (1)."""
    weights = references.attention(Q, K, V, mask)[1]
    nothing = np.zeros((*Q.shape[:-1], V.shape[-1]))
    output_grad, weights_grad = (grad, None) if index == 0 else (nothing, grad)
    found = list(references.attention_gradient(Q, K, V, weights, output_grad, weights_grad))
    return found if mask is None else [*found, np.zeros(mask.shape)]


RAISED_OR_SHOWN = (
    shows(
        "The weights have a row for each key where they meet V. They should have one for each query: scores of Q with K, then weights @ V.",
        transposed_weights(),
    ),
    shows(
        "The function takes other arguments than described. It is called with Q, K and V, and maybe `mask=...`.",
        cannot_be_called(),
    ),
    says(
        "The number of axes is fixed. There may be any number of leading axes: count from the right, -2 and -1.",
        Raised.AXIS,
        Raised.UNPACK,
        cases=("two axes and four",),
    ),
    says(
        "The mask may be None, and yours is used all the same. Mask only if it is not None.",
        Raised.NO_MASK,
        line="mask",
        cases=("without a mask", "two axes and four"),
    ),
    says("The mask may be an array as well as a Tensor.", Raised.ARRAY_ATTRIBUTE, line="mask", cases=("mask",)),
    shows(
        "The output has more or fewer axes than Q. It should be (..., L, Dv), with the leading axes of Q.",
        other_number_of_axes("output", like="Q"),
        rough=True,
    ),
    shows("The output has the wrong shape. It should be weights @ V, (..., L, Dv).", other_shape("output"), rough=True),
    shows(
        "With large scores the result holds inf or nan. Mask the scores, then use `Softmax`, which subtracts the largest of each row first.",
        not_finite("output"),
        ("scores near 1000",),
        rough=True,
    ),
    shows(
        "The result holds inf or nan. Mask the scores with `_apply_mask`, then use `Softmax`.",
        not_finite("output", "weights"),
        rough=True,
    ),
    shows(
        "A key that the mask blocks gets a share. Is it the mask that was given, and is it applied to the scores, before the softmax?",
        blocked_key_has_share("weights"),
        rough=True,
    ),
    shows(
        "The scores reach the softmax too large or too small. They should be divided once by the square root of the width of the keys.",
        other_scale("weights"),
        rough=True,
    ),
    shows(
        "The weights of a query do not sum to 1. Use what `Softmax()` gives along the last axis, and do not change it.",
        do_not_sum_to_one("weights"),
        rough=True,
    ),
    shows(
        "The weights are right, the output is not. It should be weights @ V, no more.",
        only_this_is_wrong("output", "weights"),
        rough=True,
    ),
    shows(
        "The output is right, the second result is not. Return the weights that made the output.",
        only_this_is_wrong("weights", "output"),
        rough=True,
    ),
    shows(
        f"The gradient reaches V but neither Q nor K: the weights are cut from the graph, {CUT}.", no_gradient("Q", "K")
    ),
    *(
        shows(f"The gradient does not reach {name}: it is cut from the graph, {CUT}.", no_gradient(name))
        for name in ("V", "Q", "K")
    ),
)

EXERCISE = Exercise(
    name="scaled_dot_product_attention",
    module="04_attention",
    defines="scaled_dot_product_attention",
    cases=(
        Case("without a mask", 2, without_a_mask),
        Case("mask", 1.5, with_a_mask),
        Case("weights with a mask", 0.5, lambda d: (ask(*masked(d), compare=("weights",)),)),
        Case("two axes and four", 0.5, two_axes_and_four),
        Case("scores near 1000", 0.5, large),
        Case("gradient", 0.75, gradient),
        Case(
            "inputs unchanged",
            0.25,
            lambda d: (ask(*masked(d), compare=("Q_after", "K_after", "V_after", "mask_after")),),
            needs_another=True,
        ),
    ),
    reference=reference,
    misconceptions=(
        *COMPUTATIONS,
        *RAISED_OR_SHOWN,
    ),
    uses=(COMPUTE_ATTENTION_SCORES, SCALE_SCORES, APPLY_MASK),
    stand_in=StandIn(
        "scaled_dot_product_attention",
        ("Q", "K", "V", "mask"),
        2,
        lambda Q, K, V, mask=None: list(references.attention(Q, K, V, mask)),
        gradients,
    ),
)
