"""Attention in which several query heads share a head of keys and values."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, Function, attend
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import number_of_axes, other_first_axes
from exercises.signs.exceptions import Raised
from exercises.signs.gradients import no_gradient

RESULTS = ("output", "weights")


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
    return dict(zip(RESULTS, attend(Q, K, V, mask, **steps), strict=True))


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


def masks_in_another_order(question: Question) -> Arrays:
    """Masks of single heads, in groups of the wrong order."""
    Q, K, V, mask = question["Q"], question["K"], question["V"], question["mask"]
    H, G = Q.shape[1], K.shape[1]
    if mask is not None and mask.ndim == 4 and mask.shape[1] > 1:
        mask = mask.reshape(len(mask), H // G, G, *mask.shape[2:]).swapaxes(1, 2).reshape(mask.shape)
    heads = own_head(H, G)
    return attended(Q, K[:, heads], V[:, heads], mask)


def averaged_queries(question: Question) -> Arrays:
    Q, K, V = question["Q"], question["K"], question["V"]
    H, G = Q.shape[1], K.shape[1]
    mean = Q.reshape(Q.shape[0], G, H // G, *Q.shape[2:]).mean(2)
    return {name: np.repeat(x, H // G, axis=1) for name, x in attended(mean, K, V, None).items()}


def averaged_keys_and_values(question: Question) -> Arrays:
    K, V = (question[name].mean(1, keepdims=True) for name in ("K", "V"))
    return attended(question["Q"], K, V, question["mask"])


def scattered_queries(question: Question) -> Arrays:
    Q, G = question["Q"], question["K"].shape[1]
    H = Q.shape[1]
    order, heads = np.arange(H).reshape(H // G, G).T.ravel(), own_head(H, G)
    return attended(Q[:, order], question["K"][:, heads], question["V"][:, heads], question["mask"])


WRONG_HEADS = (
    groups(
        "Query head h looks at key-value head h % G. Neighbouring query heads share: h // (H // G).", every_Gth_head
    ),
    groups("All query heads look at the first key-value head.", lambda H, G: np.zeros(H, int)),
    groups("The groups are in reverse order.", lambda H, G: own_head(H, G)[::-1]),
    groups(
        "Keys are shared rightly, but query head h takes its values from head h % G.",
        own_head,
        every_Gth_head,
    ),
    groups(
        "Values are shared rightly, but query head h takes its keys from head h % G.",
        every_Gth_head,
        own_head,
    ),
    Misconception(
        "The query heads of a group are not neighbours: heads 0 to H / G - 1 form the first group. Cut axis 1 into (G, H // G).",
        wrong=scattered_queries,
    ),
)
WRONG_MASKS = (
    groups("The mask is ignored.", edit_mask=lambda m, s: None, cases=("mask",)),
    groups(
        "The mask is inverted: 1 is where a query may look.",
        edit_mask=lambda m, s: None if m is None else 1 - m,
        cases=("mask",),
    ),
    groups(
        "Masks of single heads are ignored, or one is used for all: the mask may have one for each of the H query heads.",
        edit_mask=lambda m, s: m[:, :1] if m is not None and m.ndim == 4 else m,
        cases=("mask",),
    ),
    Misconception(
        "The masks of the query heads are in another order than the heads: regroup both in the same way.",
        wrong=masks_in_another_order,
        cases=("mask",),
    ),
    groups(
        "Attention is causal in any case. Only the mask decides.",
        edit_mask=lambda m, s: np.tril(np.ones(s.shape[-2:])),
    ),
)

EXERCISE = Exercise(
    name="grouped_query_attention",
    module="05_efficient_attention",
    defines="grouped_query_attention",
    cases=(
        Case("groups of heads", 2, lambda d: (ask(for_H_groups(d)), ask(for_B_groups(d)))),
        Case("one key-value head, and one for each query head", 1, one_group_and_H, needs_another=True),
        Case("mask", 1, masks),
        Case("gradient", 0.75, gradient),
        Case("inputs unchanged", 0.25, unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_HEADS,
        *WRONG_MASKS,
        groups(
            "The scores are scaled by another width than that of a head.",
            scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
        ),
        groups("The scores are not scaled.", scale=lambda Q, K, V: 1.0),
        Misconception(
            "The query heads of a group were averaged. Each keeps its own queries and its own output.",
            wrong=averaged_queries,
        ),
        Misconception(
            "Key-value heads were averaged. Each group has its own.",
            wrong=averaged_keys_and_values,
        ),
        shows(
            "The result has an axis too many, for the groups: outputs are (B, H, L, Dv), weights (B, H, L, S).",
            number_of_axes(RESULTS, 5),
        ),
        shows(
            "The heads are not axis 1 again: outputs are (B, H, L, Dv), weights (B, H, L, S).",
            other_first_axes(RESULTS, like="Q", axes=3),
        ),
        says(
            "The mask does not fit the groups: spread it to (B, H, L, S) first, then regroup it as the queries.",
            Raised.MASK_SHAPE,
            Raised.BROADCAST,
            Raised.RESHAPE,
            cases=("mask",),
        ),
        says(
            "The shapes fit for some numbers of heads only: any G that divides H is allowed, 1 and H, too.",
            Raised.RESHAPE,
            Raised.PRODUCT,
            Raised.BROADCAST,
            Raised.AXIS,
            Raised.INDEX,
        ),
        NAMES_KEPT,
        shows("The gradient does not reach K and V: `.data` cuts the graph.", no_gradient("K", "V")),
        shows("The gradient reaches K or V only: `.data` cuts the graph of the other.", no_gradient("K")),
        shows("The gradient reaches K or V only: `.data` cuts the graph of the other.", no_gradient("V")),
    ),
)
