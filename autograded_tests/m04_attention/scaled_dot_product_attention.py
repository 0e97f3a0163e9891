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
from exercises.misconceptions import says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import not_finite, other_number_of_axes
from exercises.signs.exceptions import Raised, transposed_weights
from exercises.signs.gradients import no_gradient

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
    ("The scores are not scaled: `_scale_scores` has to be called with the width of the keys.", lambda Q, K, V: 1.0),
    ("The scores are divided by d_k, not by its root; perhaps they are scaled twice.", lambda Q, K, V: Q.shape[-1]),
    (
        "The scores are scaled by the number of keys. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(K.shape[-2]),
    ),
    (
        "The scores are scaled by the number of queries. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(Q.shape[-2]),
    ),
    (
        "The scores are scaled by the width of the values. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(V.shape[-1]),
    ),
    ("The scores are multiplied by the root of d_k. Divide by it.", lambda Q, K, V: 1 / math.sqrt(Q.shape[-1])),
    ("The scores are scaled by a constant. The width of the queries and keys counts.", lambda Q, K, V: 8.0),
    ("The scores are scaled by a constant. The width of the queries and keys counts.", lambda Q, K, V: 2.0),
    (
        "The scores are scaled by the first axis, the batch size. The width of the queries is the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[0]),
    ),
    (
        "The scores are scaled by the width of all heads together. Each head has its own width, the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[-1] * (Q.shape[1] if Q.ndim > 3 else 1)),
    ),
)

SHARES: tuple[tuple[str, Function], ...] = (
    (
        "The shares are made over the queries. Each query's shares over the keys must sum to 1: the last axis.",
        softmax_along(-2),
    ),
    ("The axis of the softmax is fixed at 1, which is not the keys here. Use -1.", softmax_along(1)),
    ("The axis of the softmax is fixed at 0, which is not the keys here. Use -1.", softmax_along(0)),
    ("The axis of the softmax is fixed at 2, which is not the keys here. Use -1.", softmax_along(2)),
    ("There is no softmax: the weights are plain scores.", lambda s: s),
    ("The weights are exponentials; they do not sum to 1.", np.exp),
    ("The softmax was applied twice.", lambda s: softmax(softmax(s))),
    ("This is the logarithm of the softmax.", lambda s: np.log(softmax(s))),
    ("The scores are divided by their sum, without exponentials.", lambda s: s / s.sum(-1, keepdims=True)),
    (
        "A sigmoid was used in place of the softmax: the weights of a query do not sum to 1.",
        lambda s: 1 / (1 + np.exp(-s)),
    ),
    (
        "The best key takes all: a hard maximum. A softmax shares.",
        lambda s: (s == s.max(-1, keepdims=True)).astype(float),
    ),
    ("All keys get equal weights; the scores take no part.", lambda s: np.full(s.shape, 1 / s.shape[-1])),
    (
        "The sign of the scores is turned: the worst key gets the largest weight.",
        lambda s: softmax(-np.where(s < -BLOCKED, -s, s)),
    ),
    (
        "The shares are made over all queries and keys together. Each query's must sum to 1.",
        lambda s: softmax(s.reshape(*s.shape[:-2], -1)).reshape(s.shape),
    ),
)


def for_each_query(values: Array, Q: Array) -> Array:
    """One row (..., 1, Dv) as often as there are queries."""
    return np.broadcast_to(values, (*Q.shape[:-1], values.shape[-1]))


READS: tuple[tuple[str, Function], ...] = (
    ("The weights are multiplied with K. They weigh the values, V.", lambda w, Q, K, V: w @ K),
    ("The weights are multiplied with Q. They weigh the values, V.", lambda w, Q, K, V: swap(w) @ Q),
    ("The weights themselves came back in place of the output.", lambda w, Q, K, V: w),
    ("V came back as it was.", lambda w, Q, K, V: V),
    ("The output is zero everywhere.", lambda w, Q, K, V: np.zeros((*Q.shape[:-1], V.shape[-1]))),
    ("The output is the plain average of the values.", lambda w, Q, K, V: for_each_query(V.mean(-2, keepdims=True), Q)),
    ("The output is the plain sum of the values.", lambda w, Q, K, V: for_each_query(V.sum(-2, keepdims=True), Q)),
    (
        "The output is multiplied or divided by the root of d_k again. Only the scores are scaled.",
        lambda w, Q, K, V: w @ V / math.sqrt(Q.shape[-1]),
    ),
    ("The output was passed through a softmax. Only the scores are.", lambda w, Q, K, V: softmax(w @ V)),
    ("The queries were added to the output.", lambda w, Q, K, V: w @ V + Q),
    ("The output is transposed.", lambda w, Q, K, V: swap(w @ V)),
)


def causal(scores: Array) -> Array:
    return np.tril(np.ones(scores.shape[-2:]))


def square(scores: Array) -> bool:
    return bool(scores.shape[-1] == scores.shape[-2])


MASKED = ("mask", "weights with a mask", "two axes and four", "scores near 1000")

MASKS = (
    attends(
        "The mask is applied after the softmax, so the weights no longer sum to 1. Mask the scores before it.",
        after=lambda w, s, m: w * m,
        cases=MASKED,
    ),
    attends(
        "The mask is applied after the softmax, with MASK_VALUE. Mask the scores before it.",
        after=lambda w, s, m: np.where(m != 0, w, -1e9),
        cases=MASKED,
    ),
    attends("The mask is ignored.", edit_mask=lambda m, s: None, cases=MASKED),
    attends(
        "The mask is inverted: 1 is where a query may look.",
        edit_mask=lambda m, s: None if m is None else 1 - m,
        cases=MASKED,
    ),
    attends("Blocked scores are set to 0, which is not blocked: 0 is an ordinary score.", value=0.0, cases=MASKED),
    attends("Blocked scores are only a little lower. Use `_apply_mask`, with MASK_VALUE.", value=-10.0, cases=MASKED),
    attends("The mask's content is ignored: attention is always causal.", edit_mask=lambda m, s: causal(s)),
    attends(
        "Attention is causal when no mask is given. Without a mask a query may look everywhere.",
        edit_mask=lambda m, s: causal(s) if m is None else m,
    ),
    attends(
        "Attention is causal when there are as many keys as queries and no mask. Without a mask a query may look everywhere.",
        edit_mask=lambda m, s: causal(s) if m is None and square(s) else m,
    ),
    attends(
        "A query may not look at itself here. Only the mask decides where it may look.",
        edit_mask=lambda m, s: 1 - np.eye(s.shape[-1]) if m is None and square(s) else m,
    ),
    attends(
        "Attention is causal in any case, and the mask comes on top. Only the mask decides.",
        edit_mask=lambda m, s: causal(s) * (1 if m is None else m),
    ),
    attends(
        "Only the first batch element's mask is used.",
        edit_mask=lambda m, s: m[:1] if m is not None and m.ndim > 2 else m,
        cases=MASKED,
    ),
    attends(
        "Only the first head's mask is used.",
        edit_mask=lambda m, s: m[:, :1] if m is not None and m.ndim > 3 else m,
        cases=("two axes and four",),
    ),
    attends(
        "Masks of three axes or more are ignored.",
        edit_mask=lambda m, s: m if m is None or m.ndim < 3 else None,
        cases=MASKED,
    ),
    attends(
        "A mask of four axes is ignored.",
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
        "The output is right, but the second result is not the weights: these are the scores.",
        ("weights",),
        share=lambda s: s,
    ),
    Misconception(
        "The output is right, but the weights are those before masking. Return the weights that made the output.",
        wrong=lambda q: {"weights": right(q, None)[1]},
        cases=("weights with a mask",),
    ),
    Misconception(
        "The weights are transposed: a row for each query, a column for each key.",
        wrong=lambda q: {"weights": swap(right(q, q["mask"])[1])},
    ),
    Misconception(
        "The two results are in the wrong order: first the output, then the weights.",
        wrong=lambda q: dict(zip(("weights", "output"), right(q, q["mask"]), strict=True)),
    ),
)

RAISED_OR_SHOWN = (
    shows("The weights are transposed before they meet V. It is weights @ V.", transposed_weights()),
    says("The arguments do not fit: Q, K, V, and mask=None.", Raised.ARGUMENTS),
    says(
        "The number of axes is fixed somewhere. There may be any number of leading axes: count from the right, -2 and -1.",
        Raised.AXIS,
        Raised.UNPACK,
        cases=("two axes and four",),
    ),
    says(
        "Somewhere the number of keys is taken to be that of queries, or the width of V that of K. They may differ.",
        Raised.PRODUCT,
        Raised.RESHAPE,
        Raised.BROADCAST,
    ),
    says("The mask may be None: then nothing is masked.", Raised.NO_MASK),
    says("The mask may be an array as well as a Tensor.", Raised.ARRAY_ATTRIBUTE, cases=("mask",)),
    shows(
        "The output has an axis too much, or too little: as many leading axes as Q has.",
        other_number_of_axes("output", like="Q"),
    ),
    says("`if mask:` asks a whole array for one truth value. Write `if mask is not None:`.", Raised.TRUTH),
    shows(
        "With large scores the result holds inf or nan. Use `Softmax`, which subtracts the largest score first.",
        not_finite("output"),
        ("scores near 1000",),
    ),
    shows(
        "The gradient reaches V but neither Q nor K: the weights are cut from the graph by `.data`.",
        no_gradient("Q", "K"),
    ),
    shows("The gradient does not reach V: the values are cut from the graph by `.data`.", no_gradient("V")),
    shows("The gradient does not reach Q: it is cut from the graph by `.data`.", no_gradient("Q")),
    shows("The gradient does not reach K: it is cut from the graph by `.data`.", no_gradient("K")),
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
        *(attends(sentence, share=share) for sentence, share in SHARES),
        *(attends(sentence, ("output",), read=read) for sentence, read in READS),
        *MASKS,
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
