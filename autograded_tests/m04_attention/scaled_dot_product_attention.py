"""Queries look at keys and read values."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention.apply_mask import EXERCISE as APPLY_MASK
from autograded_tests.m04_attention.apply_mask import mask_of_three_axes, mask_of_two_axes
from autograded_tests.m04_attention.compute_attention_scores import EXERCISE as COMPUTE_ATTENTION_SCORES
from autograded_tests.m04_attention.compute_attention_scores import four_axes, three_axes, two_axes
from autograded_tests.m04_attention.scale_scores import EXERCISE as SCALE_SCORES
from autograded_tests.variants import Array, Function, attend, softmax, softmax_along, swap
from exercises.compare import BLOCKED
from exercises.data import Data
from exercises.misconceptions import CUT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import not_finite, other_number_of_axes, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called, transposed_weights
from exercises.signs.gradients import no_gradient
from exercises.signs.masks import blocked_key_has_share
from exercises.signs.numbers import do_not_sum_to_one, only_this_is_wrong, other_scale

RESULTS = ("output", "weights")
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
    four_V, four_mask = d.normal(47, d.B, d.H, d.S, d.Dv), d.random_mask(62, d.B, d.H, d.L, d.S)
    return (
        ask(*EVEN),
        ask(*EVEN, np.array([[0, 1]], np.float32), compare=("output",)),
        ask(*SCALED),
        ask(*two_axes(d), values(d)[0], mask_of_two_axes(d), compare=("output",)),
        ask(*four_axes(d), four_V, four_mask, compare=("output",)),
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


def attends(
    sentence: str, results: tuple[str, ...] = RESULTS, cases: tuple[str, ...] = (), **steps: Any
) -> Misconception:
    """Attention with some steps replaced by wrong ones."""

    def wrong(question: Question) -> Arrays:
        both = attend(question["Q"], question["K"], question["V"], question["mask"], **steps)
        return {name: array for name, array in zip(RESULTS, both, strict=True) if name in results}

    return Misconception(sentence, wrong=wrong, cases=cases)


SCALES: tuple[tuple[str, Function], ...] = (
    (
        "The scores are not scaled. Call `_scale_scores` with the width of the keys, and use its result.",
        lambda Q, K, V: 1.0,
    ),
    (
        "In all, the scores are divided by the width of the keys. Divide them once, by its square root.",
        lambda Q, K, V: Q.shape[-1],
    ),
    (
        "The scores are scaled by the number of keys. Scale them by the width of the queries and keys.",
        lambda Q, K, V: math.sqrt(K.shape[-2]),
    ),
    (
        "The scores are scaled by the number of queries. Scale them by the width of the queries and keys.",
        lambda Q, K, V: math.sqrt(Q.shape[-2]),
    ),
    (
        "The scores are scaled by the width of the values. Scale them by the width of the queries and keys.",
        lambda Q, K, V: math.sqrt(V.shape[-1]),
    ),
    (
        "The scores are multiplied by the square root of the width. Divide by it.",
        lambda Q, K, V: 1 / math.sqrt(Q.shape[-1]),
    ),
    ("The scores are scaled by a constant. Scale them by the width of the queries and keys.", lambda Q, K, V: 8.0),
    ("The scores are scaled by a constant. Scale them by the width of the queries and keys.", lambda Q, K, V: 2.0),
    (
        "The scores are scaled by the length of the first axis. The width of the queries is that of the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[0]),
    ),
    (
        "The scores are scaled by the width of all heads together. Scale them by that of one head, the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[-1] * (Q.shape[1] if Q.ndim > 3 else 1)),
    ),
)

SHARES: tuple[tuple[str, Function], ...] = (
    (
        "The softmax is taken over the queries. Take it over the keys, the last axis, so that the weights of a query sum to 1.",
        softmax_along(-2),
    ),
    (
        "The softmax is taken along axis 1, which is not always that of the keys. Take it along the last axis, -1.",
        softmax_along(1),
    ),
    (
        "The softmax is taken along axis 0, which is not always that of the keys. Take it along the last axis, -1.",
        softmax_along(0),
    ),
    (
        "The softmax is taken along axis 2, which is not always that of the keys. Take it along the last axis, -1.",
        softmax_along(2),
    ),
    ("There is no softmax: the weights are plain scores. Apply `Softmax()` along the last axis.", lambda s: s),
    ("The weights are exponentials, which do not sum to 1. Divide them by their sum, or use `Softmax()`.", np.exp),
    ("The softmax was applied twice. Apply it once.", lambda s: softmax(softmax(s))),
    ("The weights are the logarithm of the softmax. Use the softmax itself.", lambda s: np.log(softmax(s))),
    (
        "The scores are divided by their sum, without exponentials. Use `Softmax()`.",
        lambda s: s / s.sum(-1, keepdims=True),
    ),
    (
        "A sigmoid was used in place of the softmax, and the weights of a query do not sum to 1.",
        lambda s: 1 / (1 + np.exp(-s)),
    ),
    (
        "The best key gets all the weight, which is a hard maximum. With a softmax each key gets some.",
        lambda s: (s == s.max(-1, keepdims=True)).astype(float),
    ),
    (
        "All keys get equal weights: the scores are not used, or all are blocked.",
        lambda s: np.full(s.shape, 1 / s.shape[-1]),
    ),
    (
        "The sign of the scores is flipped: the worst key gets the largest weight.",
        lambda s: softmax(-np.where(s < -BLOCKED, -s, s)),
    ),
    (
        "The softmax is taken over all queries and keys together. The weights of each query must sum to 1.",
        lambda s: softmax(s.reshape(*s.shape[:-2], -1)).reshape(s.shape),
    ),
)


def for_each_query(values: Array, Q: Array) -> Array:
    """One row (..., 1, Dv) as often as there are queries."""
    return np.broadcast_to(values, (*Q.shape[:-1], values.shape[-1]))


READS: tuple[tuple[str, Function], ...] = (
    ("The weights are multiplied with K. They weigh the values, V.", lambda w, Q, K, V: w @ K),
    ("The weights are multiplied with Q. They weigh the values, V.", lambda w, Q, K, V: swap(w) @ Q),
    ("The weights were returned in place of the output. The output is weights @ V.", lambda w, Q, K, V: w),
    ("V was returned unchanged. The output is weights @ V.", lambda w, Q, K, V: V),
    (
        "The output is zero everywhere. It should be weights @ V.",
        lambda w, Q, K, V: np.zeros((*Q.shape[:-1], V.shape[-1])),
    ),
    (
        "The output is the plain average of the values. It should be weights @ V.",
        lambda w, Q, K, V: for_each_query(V.mean(-2, keepdims=True), Q),
    ),
    (
        "The output is the plain sum of the values. It should be weights @ V.",
        lambda w, Q, K, V: for_each_query(V.sum(-2, keepdims=True), Q),
    ),
    (
        "The output is divided by the square root of the width. Only the scores are scaled.",
        lambda w, Q, K, V: w @ V / math.sqrt(Q.shape[-1]),
    ),
    ("The output was passed through a softmax. Only the scores are.", lambda w, Q, K, V: softmax(w @ V)),
    ("The queries were added to the output. It is weights @ V, no more.", lambda w, Q, K, V: w @ V + Q),
    ("The output is transposed. It should be (..., L, Dv).", lambda w, Q, K, V: swap(w @ V)),
    (
        "The average of the values was added to the output. It is weights @ V, no more.",
        lambda w, Q, K, V: w @ V + V.mean(-2, keepdims=True),
    ),
    (
        "The values are in reverse order. Keep their order: row j belongs to key j.",
        lambda w, Q, K, V: w @ V[..., ::-1, :],
    ),
    (
        "The output is averaged over the queries. Each query has an output of its own.",
        lambda w, Q, K, V: (w @ V).mean(-2, keepdims=True),
    ),
)


def renormalised(weights: Array, scores: Array, mask: Array) -> Array:
    """In float32, in which small weights are 0."""
    kept = (weights * mask).astype(np.float32)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def causal(scores: Array) -> Array:
    return np.tril(np.ones(scores.shape[-2:]))


def square(scores: Array) -> bool:
    return bool(scores.shape[-1] == scores.shape[-2])


MASKED = ("mask", "weights with a mask", "two axes and four", "scores near 1000")

MASKS = (
    *(
        attends("The blocked value is not low enough. Use `_apply_mask`, with MASK_VALUE.", value=value, cases=MASKED)
        for value in (-1000.0, -100.0, -10.0)
    ),
    attends(
        "Blocked scores are huge and positive. Use `_apply_mask`: MASK_VALUE is negative.", value=1e9, cases=MASKED
    ),
    attends(
        "The mask is applied after the softmax, and the weights are divided by their sum, 0 / 0 for large scores. Mask before the softmax.",
        after=renormalised,
        cases=("scores near 1000",),
    ),
    attends(
        "The mask is applied after the softmax, and then there is a second softmax. Mask the scores before the only softmax.",
        after=lambda w, s, m: softmax(w * m),
        cases=MASKED,
    ),
    attends(
        "The mask is applied after the softmax, and then there is a second softmax. Mask the scores before the only softmax.",
        after=lambda w, s, m: softmax(np.where(m != 0, w, -1e9)),
        cases=MASKED,
    ),
    attends(
        "The mask is applied after the softmax, so the weights no longer sum to 1. Mask the scores before it.",
        after=lambda w, s, m: w * m,
        cases=MASKED,
    ),
    attends(
        "MASK_VALUE is put into the weights, after the softmax. Mask the scores before it.",
        after=lambda w, s, m: np.where(m != 0, w, -1e9),
        cases=MASKED,
    ),
    attends(
        "The mask is ignored. Use the result of `_apply_mask` in the softmax.",
        edit_mask=lambda m, s: None,
        cases=MASKED,
    ),
    attends(
        "The mask is inverted. It is 1 where a query may look.",
        edit_mask=lambda m, s: None if m is None else 1 - m,
        cases=MASKED,
    ),
    attends(
        "Blocked scores are set to 0 or near it, which is an ordinary score. Use `_apply_mask`, with MASK_VALUE.",
        value=0.0,
        cases=MASKED,
    ),
    attends(
        "Attention is always causal. Only the mask decides where a query may look.", edit_mask=lambda m, s: causal(s)
    ),
    attends(
        "Attention is causal when no mask is given. Without a mask a query may look everywhere.",
        edit_mask=lambda m, s: causal(s) if m is None else m,
    ),
    attends(
        "Attention is causal when there are as many keys as queries and no mask. Without a mask a query may look everywhere.",
        edit_mask=lambda m, s: causal(s) if m is None and square(s) else m,
    ),
    attends(
        "Without a mask a query may not look at itself here. Only the mask decides where it may look.",
        edit_mask=lambda m, s: 1 - np.eye(s.shape[-1]) if m is None and square(s) else m,
    ),
    attends(
        "Attention is causal in any case, and the mask comes on top. Only the mask decides.",
        edit_mask=lambda m, s: causal(s) * (1 if m is None else m),
    ),
    attends(
        "Only the first batch element's mask is used. Each batch element has a mask of its own.",
        edit_mask=lambda m, s: m[:1] if m is not None and m.ndim > 2 else m,
        cases=MASKED,
    ),
    attends(
        "Only the first head's mask is used. Each head has a mask of its own.",
        edit_mask=lambda m, s: m[:, :1] if m is not None and m.ndim > 3 else m,
        cases=("two axes and four",),
    ),
    attends(
        "Masks of three axes or more are ignored. A mask may have any number of axes.",
        edit_mask=lambda m, s: m if m is None or m.ndim < 3 else None,
        cases=MASKED,
    ),
    attends(
        "A mask of four axes is ignored. A mask may have any number of axes.",
        edit_mask=lambda m, s: m if m is None or m.ndim < 4 else None,
        cases=("two axes and four",),
    ),
    attends(
        "The mask's numbers are added to the scores. Call `_apply_mask`.",
        cases=MASKED,
        after=lambda w, s, m: softmax(s + m),
    ),
    attends(
        "The scores are multiplied by the mask. Call `_apply_mask`.", cases=MASKED, after=lambda w, s, m: softmax(s * m)
    ),
)


def right(question: Question, mask: Array | None) -> tuple[Array, Array]:
    return attend(question["Q"], question["K"], question["V"], mask)


RETURNED = (
    attends(
        "The output is right, but the second result holds the scores. Return the weights.",
        ("weights",),
        share=lambda s: s,
    ),
    Misconception(
        "The weights that were returned are those without the mask. Return those that made the output.",
        wrong=lambda q: {"weights": right(q, None)[1]},
        cases=("weights with a mask",),
    ),
    Misconception(
        "The weights that were returned are transposed. They have a row for each query, a column for each key.",
        wrong=lambda q: {"weights": swap(right(q, q["mask"])[1])},
    ),
    Misconception(
        "The two results are in the wrong order. Return the output first, then the weights.",
        wrong=lambda q: dict(zip(("weights", "output"), right(q, q["mask"]), strict=True)),
    ),
)

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
        "With large scores the result holds inf or nan. Mask the scores, then use `Softmax`, which subtracts the largest first.",
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
        "A key that the mask blocks gets a share. Mask the scores with `_apply_mask`, before the softmax.",
        blocked_key_has_share("weights"),
        rough=True,
    ),
    shows(
        "The scores are scaled by a wrong number. Divide them once, by the square root of the width of the keys.",
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
        *(attends(sentence, scale=scale) for sentence, scale in SCALES),
        *MASKS,
        *(attends(sentence, share=share) for sentence, share in SHARES),
        *(attends(sentence, ("output",), read=read) for sentence, read in READS),
        *RETURNED,
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
