"""Attention in which several query heads share a head of keys and values."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.variants import Array, Function, attend, softmax
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import number_of_axes, other_first_axes
from exercises.signs.exceptions import Raised
from exercises.signs.facts import exchanged, right_but_for, right_rows_elsewhere
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import raised_as

RESULTS = ("output", "weights")
GROUPS, ONE_OR_ALL = "groups of heads", "one key-value head, and one for each query head"
WITHOUT_MASK = (GROUPS, ONE_OR_ALL)  # what is rare is looked for there: a table holds what it gives in each question


def queries(d: Data) -> Array:
    """d.B * d.H heads, so that d.B groups and d.H groups are possible."""
    return d.normal(220, d.B, d.B * d.H, d.L, d.D)


def for_H_groups(d: Data) -> dict[str, Array]:
    return {"Q": queries(d), "K": d.normal(223, d.B, d.H, d.S, d.D), "V": d.normal(224, d.B, d.H, d.S, d.Dv)}


def for_B_groups(d: Data) -> dict[str, Array]:
    return {"Q": queries(d), "K": d.normal(221, d.B, d.B, d.S, d.D), "V": d.normal(222, d.B, d.B, d.S, d.Dv)}


def ask(
    inputs: dict[str, Array],
    mask: Array | None = None,
    compare: tuple[str, ...] = RESULTS,
    grad: Array | None = None,
    as_tensor: bool = True,
) -> Question:
    more = {"mask": mask, "grad": grad, "as_tensor": as_tensor, "name": "grouped_query_attention"}
    return Question("scaled_dot_product_attention", {**inputs, **more}, compare)


def one_group_and_H(d: Data) -> tuple[Question, ...]:
    """One key-value head for all query heads; one for each of d.H query heads."""
    given = for_H_groups(d)
    one = {"K": given["K"][:, :1], "V": given["V"][:, :1]}
    return ask(given | one), ask(given | {"Q": given["Q"][:, 1 : 1 + d.H]})


def masks(d: Data) -> tuple[Question, ...]:
    given = for_H_groups(d)
    return (
        ask(given, d.random_mask(226, d.L, d.S)),
        ask(given, d.random_mask(227, d.B, 1, d.L, d.S), as_tensor=False),
        ask(given, d.random_mask(225, d.B, d.B * d.H, d.L, d.S)),
        ask(given, d.random_mask(228, d.B, 1, 1, d.S)),
        ask(given, d.random_mask(219, d.B * d.H, d.L, d.S)),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    grad = d.normal(229, d.B, d.B * d.H, d.L, d.Dv)
    return (ask(for_H_groups(d), grad=grad, compare=("grad_Q", "grad_K", "grad_V")),)


def unchanged(d: Data) -> tuple[Question, ...]:
    return (ask(for_H_groups(d), compare=("Q_after", "K_after", "V_after")),)


def reference(question: Question) -> Arrays:
    Q, K, V = question["Q"], question["K"], question["V"]
    wide_K, wide_V = (references.one_for_each_query_head(x, Q.shape[1]) for x in (K, V))
    output, weights = references.attention(Q, wide_K, wide_V, question["mask"])
    answer = {"output": output, "weights": weights, "Q_after": Q, "K_after": K, "V_after": V}
    if question["grad"] is not None:
        gradients = references.grouped_gradient(Q, K, V, weights, question["grad"])
        answer |= dict(zip(("grad_Q", "grad_K", "grad_V"), gradients, strict=True))
    return answer


def own_head(H: int, G: int) -> Array:
    """The key-value head of each of H query heads, if there are G."""
    return np.arange(H) // (H // G)


def every_Gth_head(H: int, G: int) -> Array:
    return np.arange(H) % G


def attended(Q: Array, K: Array, V: Array, mask: Array | None, **steps: Any) -> Arrays:
    """The output; the weights would tell no more, and a table would hold them."""
    return {"output": attend(Q, K, V, mask, **steps)[0]}


def groups(
    sentence: str,
    keys: Function = own_head,
    values: Function | None = None,
    cases: tuple[str, ...] = (),
    **steps: Any,
) -> Misconception:
    """A wrong choice of key and value heads (indices for H query heads and G key-value heads), or another wrong step."""

    def wrong(question: Question) -> Arrays:
        Q, K, V = question["Q"], question["K"], question["V"]
        of_keys, of_values = (f(Q.shape[1], K.shape[1]) for f in (keys, values or keys))
        return attended(Q, K[:, of_keys], V[:, of_values], question["mask"], **steps)

    return Misconception(sentence, wrong=wrong, cases=cases)


def for_each_head(question: Question) -> Array | None:
    """The mask, with an axis of all heads if it tells them apart."""
    mask: Array | None = question["mask"]
    if mask is None or mask.ndim < 3 or mask.shape[-3] == 1:
        return mask
    return np.broadcast_to(mask, (*question["Q"].shape[:3], mask.shape[-1]))


def masks_in_another_order(question: Question) -> Arrays:
    """Masks of single heads, in groups of the wrong order."""
    Q, K, V, mask = question["Q"], question["K"], question["V"], for_each_head(question)
    H, G = Q.shape[1], K.shape[1]
    if mask is not None and mask.ndim == 4 and mask.shape[1] > 1:
        mask = mask.reshape(len(mask), H // G, G, *mask.shape[2:]).swapaxes(1, 2).reshape(mask.shape)
    heads = own_head(H, G)
    return attended(Q, K[:, heads], V[:, heads], mask)


def averaged_queries(question: Question) -> Arrays:
    Q, K, V = question["Q"], question["K"], question["V"]
    H, G = Q.shape[1], K.shape[1]
    mean, heads = Q.reshape(Q.shape[0], G, H // G, *Q.shape[2:]).mean(2), own_head(H, G)
    return attended(mean[:, heads], K[:, heads], V[:, heads], question["mask"])


def averaged_keys_and_values(question: Question) -> Arrays:
    K, V = (question[name].mean(1, keepdims=True) for name in ("K", "V"))
    return attended(question["Q"], K, V, question["mask"])


def overlapping_groups(question: Question) -> Arrays:
    """Group g has the query heads from g on."""
    Q, K, V, mask = question["Q"], question["K"], question["V"], question["mask"]
    H, G = Q.shape[1], K.shape[1]
    heads, size = own_head(H, G), H // G
    picked = heads + np.arange(H) % size
    if mask is not None:
        mask = np.broadcast_to(mask, (*Q.shape[:3], K.shape[2]))[:, picked]
    return attended(Q[:, picked], K[:, heads], V[:, heads], mask)


def scattered_queries(question: Question) -> Arrays:
    Q, G = question["Q"], question["K"].shape[1]
    H = Q.shape[1]
    order, heads = np.arange(H).reshape(H // G, G).T.ravel(), own_head(H, G)
    return attended(Q[:, order], question["K"][:, heads], question["V"][:, heads], question["mask"])


def masks_of(heads: Function) -> Function:
    """Masks of other query heads: which, for H query heads and G key-value heads."""

    def wrong(question: Question) -> Arrays:
        Q, K, V, mask = question["Q"], question["K"], question["V"], for_each_head(question)
        H, G = Q.shape[1], K.shape[1]
        own = own_head(H, G)
        if mask is not None and mask.ndim == 4 and mask.shape[1] > 1:
            mask = mask[:, heads(H, G)]
        return attended(Q, K[:, own], V[:, own], mask)

    return wrong


def averaged_values(question: Question) -> Arrays:
    Q, K, V = question["Q"], question["K"], question["V"].mean(1, keepdims=True)
    return attended(Q, K[:, own_head(Q.shape[1], K.shape[1])], V, question["mask"])


def positions_mixed_with_heads(question: Question) -> Arrays:
    """Queries whose axes of heads and positions were exchanged before they were grouped."""
    Q, K, V, mask = question["Q"], question["K"], question["V"], question["mask"]
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    mixed = attended(Q.swapaxes(1, 2).reshape(B, G, -1, D), K, V, mask)
    return {name: x.reshape(B, H, L, -1) for name, x in mixed.items()}


def results_mixed(question: Question) -> Arrays:
    """Right results, regrouped as (B, L, H, ...) and exchanged."""
    right = reference(question)
    B, H, L = question["Q"].shape[:3]
    return {"output": right["output"].reshape(B, L, H, -1).swapaxes(1, 2)}


WRONG_HEADS = (
    groups(
        "Query head h looks at key-value head h % G. It should look at h // (H // G): neighbouring query heads share.",
        every_Gth_head,
    ),
    groups(
        "Query head h looks at key-value head h // G. It should look at h // (H // G): H // G query heads share one.",
        lambda H, G: np.minimum(np.arange(H) // G, G - 1),
    ),
    groups(
        "Two query heads share a key-value head, whatever H and G are. It should be H // G.",
        lambda H, G: np.minimum(np.arange(H) // 2, G - 1),
        cases=(GROUPS,),
    ),
    groups(
        "All query heads look at the first key-value head. Head h should look at h // (H // G).",
        lambda H, G: np.zeros(H, int),
    ),
    groups(
        "All query heads look at the last key-value head. Head h should look at h // (H // G).",
        lambda H, G: np.full(H, G - 1),
        cases=WITHOUT_MASK,
    ),
    groups(
        "The groups are in reverse order. Query head h should look at key-value head h // (H // G).",
        lambda H, G: own_head(H, G)[::-1],
        cases=WITHOUT_MASK,
    ),
    groups(
        "Query heads look at the key-value head after their own. Head h should look at h // (H // G).",
        lambda H, G: (own_head(H, G) + 1) % G,
        cases=WITHOUT_MASK,
    ),
    groups(
        "The keys are right, but query head h takes its values from head h % G. It should be h // (H // G).",
        own_head,
        every_Gth_head,
        cases=WITHOUT_MASK,
    ),
    groups(
        "The values are right, but query head h takes its keys from head h % G. It should be h // (H // G).",
        every_Gth_head,
        own_head,
        cases=WITHOUT_MASK,
    ),
    groups(
        "The keys are right, but the values of the groups are in reverse order.",
        own_head,
        lambda H, G: own_head(H, G)[::-1],
        cases=WITHOUT_MASK,
    ),
    groups(
        "The keys are right, but all query heads take the values of the first head. Head h should take those of h // (H // G).",
        own_head,
        lambda H, G: np.zeros(H, int),
        cases=WITHOUT_MASK,
    ),
    groups(
        "The values are right, but all query heads take the keys of the first head. Head h should take those of h // (H // G).",
        lambda H, G: np.zeros(H, int),
        own_head,
        cases=WITHOUT_MASK,
    ),
    Misconception(
        "The query heads of a group are not neighbours. Heads 0 to H // G - 1 form the first group: cut axis 1 into (G, H // G).",
        wrong=scattered_queries,
    ),
    Misconception(
        "The groups of query heads overlap: group g begins at head g. It should begin at head g * (H // G).",
        wrong=overlapping_groups,
    ),
    Misconception(
        "Heads and positions of Q are mixed before grouping. Reshape Q without exchanging axes: (B, G, H // G * L, D).",
        wrong=positions_mixed_with_heads,
        cases=WITHOUT_MASK,
    ),
    Misconception(
        "The results are reshaped to (B, L, H, ...) and exchanged, which mixes heads and positions. Reshape them to (B, H, L, ...).",
        wrong=results_mixed,
        cases=WITHOUT_MASK,
    ),
    Misconception(
        "The query heads of a group are averaged. Each should keep its own queries and its own output.",
        wrong=averaged_queries,
    ),
    Misconception(
        "The key-value heads are averaged. Each group should have its own.",
        wrong=averaged_keys_and_values,
        cases=WITHOUT_MASK,
    ),
    Misconception(
        "The value heads are averaged. Each group should have its own.", wrong=averaged_values, cases=WITHOUT_MASK
    ),
)


def with_masks(sentence: str, **steps: Any) -> Misconception:
    return groups(sentence, cases=("mask",), **steps)


def without_masked(weights: Array, scores: Array, mask: Array) -> Array:
    return np.asarray(weights * np.broadcast_to(mask, scores.shape))


def of_first_head(mask: Array | None, scores: Array) -> Array | None:
    return mask if mask is None else np.broadcast_to(mask, scores.shape)[:, :1]


def of_first_head_if_four_axes(mask: Array | None, scores: Array) -> Array | None:
    return mask[:, :1] if mask is not None and mask.ndim == 4 else mask


def of_first_batch_element(mask: Array | None, scores: Array) -> Array | None:
    return mask if mask is None else np.broadcast_to(mask, scores.shape)[:1]


WRONG_MASKS = (
    with_masks(
        "The mask is not used. Give it to attention, regrouped as the queries are.", edit_mask=lambda m, s: None
    ),
    with_masks(
        "The mask is inverted. It is 1 where a query may look.", edit_mask=lambda m, s: None if m is None else 1 - m
    ),
    with_masks(
        "Masks with more than two axes are not used. A mask may have any shape that broadcasts to (B, H, L, S).",
        edit_mask=lambda m, s: m if m is not None and m.ndim == 2 else None,
    ),
    *(
        with_masks(
            "A mask for single heads is not used, or that of the first head is used for all. It may have one for each of the H query heads.",
            edit_mask=edit,
        )
        for edit in (of_first_head, of_first_head_if_four_axes)
    ),
    Misconception(
        "The masks of the query heads are in another order than the heads. Regroup both in the same way.",
        wrong=masks_in_another_order,
        cases=("mask",),
    ),
    Misconception(
        "Query head h gets the mask with the number of its key-value head. It should get its own, mask[:, h].",
        wrong=masks_of(own_head),
        cases=("mask",),
    ),
    Misconception(
        "The masks of the first group are used for all groups. Each query head should have its own.",
        wrong=masks_of(lambda H, G: np.arange(H) % (H // G)),
        cases=("mask",),
    ),
    Misconception(
        "All query heads of a group get the mask of its first head. Each query head should have its own.",
        wrong=masks_of(lambda H, G: np.arange(H) // (H // G) * (H // G)),
        cases=("mask",),
    ),
    with_masks(
        "The mask of the first batch element is used for all. Each should have its own.",
        edit_mask=of_first_batch_element,
    ),
    with_masks(
        "The mask multiplies the weights after the softmax, so that they do not sum to 1. Give it to attention.",
        after=without_masked,
    ),
    with_masks("Blocked scores become 0, and so get weight. Give the mask to attention.", value=0.0),
    groups(
        "Attention is causal without a mask. Only the mask should decide.",
        edit_mask=lambda m, s: np.tril(np.ones(s.shape[-2:])),
        cases=WITHOUT_MASK,
    ),
)
WRONG_STEPS = (
    groups(
        "The scores are divided by the root of D * H. They should be divided by the root of D, the width of one head.",
        scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
        cases=WITHOUT_MASK,
    ),
    groups("The scores are not divided by the root of D.", scale=lambda Q, K, V: 1.0, cases=WITHOUT_MASK),
    groups(
        "The scores are divided by the root of D twice: attention does it already.",
        scale=lambda Q, K, V: Q.shape[-1],
        cases=WITHOUT_MASK,
    ),
    groups(
        "The softmax is taken over the queries. It should be over the keys, the last axis.",
        share=lambda s: softmax(s, -2),
        cases=WITHOUT_MASK,
    ),
    groups(
        "There is no softmax: scores are used as weights.", share=lambda s: np.where(s < -1e8, 0, s), cases=WITHOUT_MASK
    ),
    groups(
        "The weights are multiplied with K. They should be multiplied with V.",
        read=lambda w, Q, K, V: w @ K,
        cases=WITHOUT_MASK,
    ),
)
VALUES = (*WITHOUT_MASK, "mask")

EXERCISE = Exercise(
    name="grouped_query_attention",
    module="05_efficient_attention",
    defines="grouped_query_attention",
    cases=(
        Case(GROUPS, 2, lambda d: (ask(for_H_groups(d)), ask(for_B_groups(d)))),
        Case(ONE_OR_ALL, 1, one_group_and_H, needs_another=True),
        Case("mask", 1, masks),
        Case("gradient", 0.75, gradient),
        Case("inputs unchanged", 0.25, unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_HEADS,
        *WRONG_MASKS,
        *WRONG_STEPS,
        *seen(
            "The weights are returned first. Return the output, then the weights.",
            exchanged("output", "weights"),
            *VALUES,
        ),
        *seen(
            "The result has an extra axis. Outputs should be (B, H, L, Dv), weights (B, H, L, S).",
            number_of_axes(RESULTS, 5),
            *VALUES,
        ),
        *seen(
            "The first axes of the output are not (B, H, L). It should have a row for each query of each query head, (B, H, L, Dv).",
            other_first_axes(("output",), like="Q", axes=3),
            *VALUES,
        ),
        *seen(
            "The first axes of the weights are not (B, H, L). There should be a row of weights for each query of each query head, (B, H, L, S).",
            other_first_axes(("weights",), like="Q", axes=3),
            *VALUES,
        ),
        *seen(
            "The rows of the output are right, but not in the right places: batch elements, heads or positions are mixed when it is put "
            "together. Row [b, h, l] should belong to query [b, h, l].",
            right_rows_elsewhere("output"),
            *VALUES,
        ),
        *seen(
            "The weights are right, the output is not. It should be the weights times V, for query head h the values of head h // (H // G).",
            right_but_for(("weights",), ("output",)),
            *VALUES,
        ),
        *seen(
            "The output is right, the weights are not. They should be those of attention, reshaped to (B, H, L, S).",
            right_but_for(("output",), ("weights",)),
            *VALUES,
        ),
        *seen(
            "The weights are not right, so neither is the output. Query head h should look at the keys of head h // (H // G); "
            "scores are divided by the root of D, and the softmax is over the keys.",
            right_but_for((), ("weights",)),
            *WITHOUT_MASK,
        ),
        *seen(
            "With a mask the weights are not right. If they are without one, look at the mask: each query head should get its own, "
            "regrouped as the queries are.",
            right_but_for((), ("weights",)),
            "mask",
        ),
        says(
            "The mask does not fit. Spread it to (B, H, L, S) first, then regroup it or take from it as you do with Q.",
            Raised.MASK_SHAPE,
            cases=("mask",),
        ),
        shows(
            "The mask does not fit. It may have any shape that broadcasts: spread it to (B, H, L, S) first, then regroup it.",
            raised_as("reshape|broadcast|out of bounds|too many indices", r"^(?!.*attention\().*mask"),
            ("mask",),
        ),
        shows(
            "The axes before the last two do not match: Q and K have different heads there, or the weights and V. Repeat "
            "each head of K and V for its H // G query heads, or put the queries of a group into one head.",
            raised_as("the axes before the last two must be equal"),
        ),
        shows(
            "Q and K differ in their last axis. Keep the width D when you regroup: the queries of a group are more rows, (B, G, H // G * L, D).",
            raised_as("its last axis must be as wide as the queries"),
        ),
        shows(
            "A reshape does not hold as many numbers as there are. Outputs are as wide as V (Dv), which need not be as wide as Q (D).",
            raised_as("^ValueError: reshape: .* does not hold as many"),
        ),
        shows(
            "A head is picked by a number that is not whole, or not there. Query head h should look at key-value head h // (H // G).",
            raised_as("^IndexError: (arrays used as indices|index .* out of bounds)", r"\["),
        ),
        NAMES_KEPT,
        shows("The gradient does not reach K and V: `.data` cuts the graph.", no_gradient("K", "V")),
        shows("The gradient reaches V, but not K: the graph of K is cut, as by `.data`.", no_gradient("K")),
        shows("The gradient reaches K, but not V: the graph of V is cut, as by `.data`.", no_gradient("V")),
    ),
)
