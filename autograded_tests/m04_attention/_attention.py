"""What wrong computations of attention give."""

import math
from typing import Any

import numpy as np

from autograded_tests.variants import Array, Function, attend, softmax, softmax_along, swap
from exercises.compare import BLOCKED
from exercises.model import Arrays, Misconception, Question

RESULTS = ("output", "weights")


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
        "The scores are divided by the fourth root of the width. `_scale_scores` takes the square root itself: give it the width.",
        lambda Q, K, V: Q.shape[-1] ** 0.25,
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


def scaled_only(with_a_mask: bool) -> Any:
    """Attention in which the scores are scaled only with a mask, or only without."""

    def wrong(question: Question) -> Arrays:
        scaled = (question["mask"] is not None) == with_a_mask
        scale: dict[str, Any] = {} if scaled else {"scale": lambda Q, K, V: 1.0}
        both = attend(question["Q"], question["K"], question["V"], question["mask"], **scale)
        return dict(zip(RESULTS, both, strict=True))

    return wrong


SCALED_SOMETIMES = (
    Misconception(
        "Without a mask the scores are not scaled. Use the result of `_scale_scores` with and without a mask.",
        wrong=scaled_only(with_a_mask=True),
    ),
    Misconception(
        "With a mask the scores are not scaled. Give the result of `_scale_scores` to `_apply_mask`.",
        wrong=scaled_only(with_a_mask=False),
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


def ignored_if(as_tensor: bool) -> Any:
    """Attention without the masks that are Tensors, or without those that are arrays."""

    def wrong(question: Question) -> Arrays:
        mask = None if question["as_tensor"] == as_tensor else question["mask"]
        return dict(zip(RESULTS, attend(question["Q"], question["K"], question["V"], mask), strict=True))

    return wrong


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
    *(
        Misconception(
            f"A mask that is {kind} is ignored. The mask may be an array or a Tensor: ask only whether it is None.",
            wrong=ignored_if(as_tensor),
            cases=MASKED,
        )
        for kind, as_tensor in (("a Tensor", True), ("an array", False))
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
        "The weights that were returned are averaged over the heads. Return those of each head, (..., L, S).",
        wrong=lambda q: {"weights": right(q, q["mask"])[1].mean(1)} if q["Q"].ndim == 4 else None,
        cases=("two axes and four",),
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

COMPUTATIONS = (
    *(attends(sentence, scale=scale) for sentence, scale in SCALES),
    *SCALED_SOMETIMES,
    *MASKS,
    *(attends(sentence, share=share) for sentence, share in SHARES),
    *(attends(sentence, ("output",), read=read) for sentence, read in READS),
    *RETURNED,
)
