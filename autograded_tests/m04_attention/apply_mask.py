"""Scores that a mask blocks get no share."""

from collections.abc import Callable

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention.scale_scores import three_axes
from autograded_tests.variants import Array, softmax, swap
from exercises.data import Data
from exercises.misconceptions import computes, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import holds_nan, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called
from exercises.signs.masks import blocked_too_high, nothing_finite_left

SCORES_BY_HAND = np.array([[0.5, -2, 3], [1, 2, -1]], np.float32)
MASK_BY_HAND = np.array([[1, 0, 1], [1, 1, 0]], np.float32)


def ask(
    scores: Array,
    mask: Array,
    compare: tuple[str, ...] = ("masked",),
    as_tensor: bool = True,
    grad: Array | None = None,
) -> Question:
    return Question("apply_mask", {"scores": scores, "mask": mask, "as_tensor": as_tensor, "grad": grad}, compare)


def mask_of_two_axes(d: Data) -> Array:
    return d.random_mask(60, d.L, d.S)


def mask_of_three_axes(d: Data) -> Array:
    return d.random_mask(61, d.B, d.L, d.S)


def padding(d: Data) -> Array:
    """(B, 1, S): each batch element ends one key later than the one before, and the last lacks one key."""
    lengths = np.maximum(d.S - d.B + np.arange(d.B), 1)
    return np.asarray(np.arange(d.S) < lengths[:, None, None], np.float32)


def for_all_queries(d: Data) -> Array:
    """(S,): every third key is blocked, from the second on."""
    return np.asarray(np.arange(d.S) % 3 != 1, np.float32)


def some_zeros(d: Data) -> Array:
    return np.where(d.random_mask(64, d.L, d.S) > 0, d.normal(65, d.L, d.S), 0).astype(np.float32)


def near_1000(d: Data) -> Array:
    return np.asarray(1000 * np.sign(d.normal(66, d.L, d.S)) + d.normal(67, d.L, d.S), np.float32)


def values(d: Data) -> tuple[Question, ...]:
    return (
        ask(d.normal(72, d.L, d.L), d.random_mask(73, d.L, d.L)),  # first: with others a wrong answer may raise
        ask(SCORES_BY_HAND, MASK_BY_HAND, as_tensor=False),
        ask(d.normal(69, d.L, d.S), mask_of_two_axes(d)),
        ask(some_zeros(d), mask_of_two_axes(d)),
    )


def masks_that_broadcast(d: Data) -> tuple[Question, ...]:
    return (
        ask(three_axes(d), padding(d)),
        ask(d.normal(63, d.B, d.H, d.L, d.S, scale=3), d.random_mask(62, d.B, d.H, d.L, d.S)),
        ask(three_axes(d), mask_of_three_axes(d)),
        ask(three_axes(d), for_all_queries(d)),
    )


def true_and_false(d: Data) -> tuple[Question, ...]:
    return (ask(d.normal(70, d.L, d.S), d.random_mask(68, d.L, d.S) > 0, as_tensor=False),)


def gradient(d: Data) -> tuple[Question, ...]:
    mask = mask_of_three_axes(d)
    grad = d.normal(71, d.B, d.L, d.S) * mask  # through blocked scores a right answer may or may not pass any on
    return (ask(three_axes(d), mask, ("grad_scores",), grad=grad),)


def inputs_unchanged(d: Data) -> tuple[Question, ...]:
    return (ask(three_axes(d), mask_of_three_axes(d), ("scores_after", "mask_after")),)


def nothing_allowed(d: Data) -> tuple[Question, ...]:
    """The first query may look nowhere."""
    mask = mask_of_two_axes(d)
    mask[0] = 0
    return (ask(d.normal(74, d.L, d.S), mask, ("masked", "finite")),)


def reference(question: Question) -> Arrays:
    scores, mask, grad = question["scores"], question["mask"], question["grad"]
    allowed = references.may_look(mask, scores.shape)
    answer = {"masked": np.where(allowed, scores, -np.inf), "scores_after": scores, "mask_after": mask}
    answer["finite"] = np.ones(scores.shape[:-1])
    return answer if grad is None else answer | {"grad_scores": np.where(allowed, grad, 0)}


def where_blocked(value: float | Array) -> Callable[[Array, Array], Array]:
    return lambda scores, mask: np.where(np.asarray(mask) != 0, scores, value)


blocked = where_blocked(-1e9)


def a_mask(mask: Array | None) -> Array:
    """The mask; TypeError if it is None, with which `_apply_mask` is not called."""
    if mask is None:
        raise TypeError("mask is None")
    return mask


EXERCISE = Exercise(
    name="apply_mask",
    module="04_attention",
    defines="_apply_mask",
    cases=(
        Case("values", 1, values),
        Case("masks that broadcast", 0.5, masks_that_broadcast),
        Case("scores near 1000", 0.5, lambda d: (ask(near_1000(d), mask_of_two_axes(d)),)),
        Case("an array of True and False", 0.25, true_and_false),
        Case("a query that may look nowhere", 0.25, nothing_allowed),
        Case("gradient", 0.25, gradient, needs_another=True),
        Case("inputs unchanged", 0.25, inputs_unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        shows(
            "A query that may look nowhere gets no finite score, and so nan for weights. Use MASK_VALUE, which is finite.",
            nothing_finite_left(),
            ("a query that may look nowhere",),
        ),
        shows(
            "A score is nan, and so are all shares of its row. Put MASK_VALUE where the mask is 0.",
            holds_nan("masked"),
        ),
        says(
            "The mask does not fit the scores any more: was it transposed, reshaped, given an axis or combined with another one? Use it as it is.",
            Raised.MASK_SHAPE,
        ),
        Misconception(
            "A mask that is an array is ignored. The mask may be an array or a Tensor.",
            wrong=lambda q: {
                "masked": blocked(q["scores"], q["mask"]) if q["as_tensor"] else q["scores"],
                "finite": np.ones(q["scores"].shape[:-1]),
            },
            cases=("values", "masks that broadcast", "an array of True and False"),
        ),
        Misconception(
            "A mask that is a Tensor is ignored. The mask may be an array or a Tensor.",
            wrong=lambda q: {
                "masked": q["scores"] if q["as_tensor"] else blocked(q["scores"], q["mask"]),
                "finite": np.ones(q["scores"].shape[:-1]),
            },
            cases=("values", "masks that broadcast", "an array of True and False"),
        ),
        computes(
            "A mask that does not have two axes is ignored. It may have any number that broadcasts to the scores.",
            "masked",
            lambda scores, mask: blocked(scores, mask) if np.ndim(mask) == 2 else scores,
        ),
        computes(
            "A query that may look nowhere is not masked at all. Put MASK_VALUE wherever the mask is 0.",
            "masked",
            lambda scores, mask: np.where(np.any(mask, axis=-1, keepdims=True), blocked(scores, mask), scores),
            cases=("a query that may look nowhere",),
        ),
        computes(
            "Only the first matrix of the mask is used. Batch elements and heads have masks of their own.",
            "masked",
            lambda scores, mask: blocked(scores, mask[(0,) * (np.ndim(mask) - 2)]),
        ),
        computes(
            "A score that happens to be zero was blocked although the mask allows it. Look at the mask, not at the product.",
            "masked",
            lambda scores, mask: blocked(scores, scores * mask),
        ),
        computes(
            "The mask is inverted: 1 is where a query may look, so what is blocked is where the mask is 0.",
            "masked",
            lambda scores, mask: scores + np.asarray(mask) * -1e9,
        ),
        computes(
            "The mask is inverted: 1 is where a query may look, so what is blocked is where the mask is 0.",
            "masked",
            lambda scores, mask: blocked(scores, 1 - np.asarray(mask, float)),
        ),
        computes(
            "Blocked scores are set to 0. A score of 0 is not blocked, it is larger than any negative one: use MASK_VALUE.",
            "masked",
            where_blocked(0.0),
        ),
        computes(
            "MASK_VALUE has the wrong sign: a huge positive score takes all attention.", "masked", where_blocked(1e9)
        ),
        computes(
            "MASK_VALUE has the wrong sign: a huge positive score takes all attention.",
            "masked",
            lambda scores, mask: scores + (1 - np.asarray(mask, float)) * 1e9,
        ),
        computes(
            "Blocked scores are multiplied by MASK_VALUE, so that negative ones become huge and positive. Put MASK_VALUE itself there.",
            "masked",
            lambda scores, mask: np.where(np.asarray(mask) != 0, scores, scores * -1e9),
        ),
        computes(
            "Where the mask is 1 there is MASK_VALUE, too, and so nothing is blocked: only differences between scores count.",
            "masked",
            lambda scores, mask: scores - 1e9,
            ("values", "masks that broadcast", "scores near 1000", "an array of True and False"),
        ),
        computes(
            "The mask's numbers were added to the scores. Add 0 where looking is allowed and MASK_VALUE where not.",
            "masked",
            lambda scores, mask: scores + mask,
        ),
        computes(
            "Masking is always causal. Only the mask decides where a query may look.",
            "masked",
            lambda scores, mask: blocked(scores, np.tril(np.ones(scores.shape[-2:]))),
        ),
        computes(
            "The scores came back unchanged: nothing is blocked. Return a new Tensor with MASK_VALUE where `mask == 0`; `masked_fill` gives one.",
            "masked",
            lambda scores, mask: scores,
        ),
        computes(
            "Only the first batch element's mask is used. Each batch element has a mask of its own.",
            "masked",
            lambda scores, mask: blocked(scores, mask[:1] if np.ndim(mask) > 2 else mask),
        ),
        computes(
            "Only the last batch element's mask is used. Each batch element has a mask of its own.",
            "masked",
            lambda scores, mask: blocked(scores, mask[-1:] if np.ndim(mask) > 2 else mask),
        ),
        computes(
            "The first head's mask is used for all heads. Each head has a mask of its own.",
            "masked",
            lambda scores, mask: blocked(scores, mask[:, :1] if np.ndim(mask) > 3 else mask),
        ),
        computes(
            "A softmax was applied as well. Masking gives scores back.",
            "masked",
            lambda scores, mask: softmax(blocked(scores, mask)),
        ),
        computes(
            "A softmax was applied, and its shares were multiplied by the mask. Masking gives scores back.",
            "masked",
            lambda scores, mask: softmax(scores) * mask,
        ),
        computes(
            "The diagonal was blocked as well. Only the mask decides.",
            "masked",
            lambda scores, mask: blocked(scores, mask * (1 - np.eye(*scores.shape[-2:]))),
            cases=("values",),
        ),
        computes(
            "The diagonal was allowed as well. Only the mask decides.",
            "masked",
            lambda scores, mask: blocked(scores, np.maximum(mask, np.eye(*scores.shape[-2:]))),
            cases=("values",),
        ),
        *(
            computes(
                "A causal mask is put on top of the mask. Only the mask decides where a query may look.",
                "masked",
                function,
            )
            for function in (
                lambda scores, mask: blocked(scores, mask * np.tri(scores.shape[-1])),
                lambda scores, mask: blocked(scores, mask * np.tri(*scores.shape[-2:])),
            )
        ),
        computes(
            "The mask's numbers are repeated one after the other, as `np.resize` does, whatever its axes. Use it as it is: it broadcasts.",
            "masked",
            lambda scores, mask: blocked(scores, np.resize(mask, scores.shape)),
        ),
        *(
            computes(
                "The blocked value is not low enough: a blocked key can still get a share. Use MASK_VALUE.",
                "masked",
                function,
            )
            for function in (
                lambda scores, mask: where_blocked(scores.min(axis=-1, keepdims=True))(scores, mask),
                lambda scores, mask: where_blocked(scores.min())(scores, mask),
            )
        ),
        computes(
            "The mask was transposed. Use it as it is: a row for each query, a column for each key.",
            "masked",
            lambda scores, mask: blocked(scores, swap(mask)),
        ),
        computes(
            "Allowed scores are lost to rounding: near 1e9 a float32 is a multiple of 64. Leave them alone, and put MASK_VALUE where the mask is 0.",
            "masked",
            lambda scores, mask: (
                (scores.astype(np.float32) + np.float32(1e9)) * np.asarray(mask, np.float32) - np.float32(1e9)
            ),
        ),
        computes(
            "Where the mask is 1 the scores must stay as they are, but they come out as 0.",
            "masked",
            lambda scores, mask: (1 - np.asarray(mask, float)) * -1e9 * np.ones_like(scores),
        ),
        computes(
            "Where the mask is 1 the scores must stay as they are, but they were set to a constant.",
            "masked",
            lambda scores, mask: np.where(np.asarray(mask) != 0, 1.0, np.full(scores.shape, -np.inf)),
        ),
        computes(
            "Where the mask is 1 the scores must stay as they are, but they were set to a constant.",
            "masked",
            lambda scores, mask: np.where(np.asarray(mask) != 0, 0.0, np.full(scores.shape, -np.inf)),
        ),
        computes(
            "Whole keys are blocked when one query may not look at them. Each query has a row of its own in the mask.",
            "masked",
            lambda scores, mask: blocked(scores, np.min(mask, axis=-2, keepdims=True) if np.ndim(mask) > 1 else mask),
        ),
        shows(
            "The blocked value is not low enough: a blocked key can still get a share. Use MASK_VALUE.",
            blocked_too_high(),
            rough=True,
        ),
        says(
            "The mask is reshaped. It may have fewer axes than the scores, or an axis of length 1: use it as it is, it broadcasts.",
            Raised.RESHAPE,
            line="mask",
            cases=("masks that broadcast",),
        ),
        says(
            "The mask is used as an index, and an index does not broadcast. Use `masked_fill`.",
            Raised.INDEX,
            line=r"\[",
            cases=("masks that broadcast",),
        ),
        says(
            "The mask may be an array or a Tensor, and yours must be a Tensor. `mask == 0` works for both.",
            Raised.ARRAY_ATTRIBUTE,
            line="mask",
        ),
        computes(
            "A key is blocked only if no query may look at it. Each query has a row of its own in the mask.",
            "masked",
            lambda scores, mask: blocked(scores, np.max(mask, axis=-2, keepdims=True) if np.ndim(mask) > 1 else mask),
        ),
        shows(
            "The scores have another shape than before. Masking keeps their shape.", other_shape("masked"), rough=True
        ),
        shows(
            "The function takes other arguments than described. It is called with scores and mask, in this order.",
            cannot_be_called(),
        ),
    ),
    stand_in=StandIn(
        "_apply_mask",
        ("scores", "mask"),
        1,
        lambda scores, mask: [np.where(references.may_look(a_mask(mask), scores.shape), scores, -1e9)],
        lambda _index, grad, scores, mask: [np.where(references.may_look(mask, scores.shape), grad, 0)],
    ),
)
