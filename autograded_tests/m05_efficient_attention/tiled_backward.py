"""Gradients of attention tile by tile, from what the forward pass kept."""

import math

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._tiles import (
    TILES_TOO_LARGE,
    WHOLE,
    as_many_queries,
    ask_memory,
    fewer_queries,
    mask_of_fewer,
    not_causal,
    not_masked,
    options,
    right_pairs,
    tile_scores,
)
from autograded_tests.variants import Array, Function, softmax, swap
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import other_shape_than
from exercises.signs.exceptions import Raised

GRADS = ("grad_Q", "grad_K", "grad_V")
NOT_SUMMED = "Each tile adds to the gradient of {}; here the last one replaces what was there. Use +=."


def ask(
    inputs: dict[str, Array],
    grad: Array,
    block: int,
    mask: Array | None = None,
    causal: bool = False,
    compare: tuple[str, ...] = GRADS,
) -> Question:
    forward = references.tiled_forward(inputs["Q"], inputs["K"], inputs["V"], mask, causal)
    output, logsumexp = (x.astype(np.float32) for x in forward)
    about = {"name": "_tiled_backward", "results": list(GRADS)}
    given = inputs | {"output": output, "logsumexp": logsumexp, "grad": grad}
    return Question("array_function", about | given | options(block, mask, causal), compare)


def grad_of_fewer(d: Data) -> Array:
    return d.normal(280, d.S, d.Dv)


def grad_of_as_many(d: Data) -> Array:
    return d.normal(281, 2 * d.L, d.Dv)


def gradient_of(d: Data, name: str) -> tuple[Question, ...]:
    return tuple(ask(fewer_queries(d), grad_of_fewer(d), block, compare=(name,)) for block in (d.B, d.H))


def mask_and_causal(d: Data) -> tuple[Question, ...]:
    return (
        ask(fewer_queries(d), grad_of_fewer(d), WHOLE, mask_of_fewer(d)),
        ask(as_many_queries(d), grad_of_as_many(d), WHOLE, causal=True),
        ask(fewer_queries(d), grad_of_fewer(d), WHOLE, causal=True),
    )


def weights_of(question: Question) -> Array:
    mask = references.tiled_mask(len(question["Q"]), len(question["K"]), question["mask"], question["causal"])
    return references.attention(question["Q"], question["K"], question["V"], mask)[1]


def reference(question: Question) -> Arrays:
    if question.probe == "whole_table":
        return {"whole_table": np.array(0)}
    Q, K, V, grad = (question[name] for name in ("Q", "K", "V", "grad"))
    return dict(zip(GRADS, references.attention_gradient(Q, K, V, weights_of(question), grad), strict=True))


def backward(
    question: Question,
    *,
    delta: Function = lambda g, o, P, dP: (g * o).sum(-1, keepdims=True),
    to_scores: Function = lambda P, dP, delta: P * (dP - delta),
    scale_Q: Function = lambda D: 1 / math.sqrt(D),
    scale_K: Function = lambda D: 1 / math.sqrt(D),
    allowed: Function = right_pairs,
    weights: Function = lambda P: P,
    replaces: tuple[str, ...] = (),
) -> Arrays:
    """The way back tile by tile, in which each step can be replaced by a wrong one.

    replaces  gradients that are not added up
    """
    Q, K, V, g = (question[name].astype(float) for name in ("Q", "K", "V", "grad"))
    block = question["block"]
    P = weights(np.exp(tile_scores(question, allowed) - question["logsumexp"].astype(float)))
    dP = g @ V.T
    dS = to_scores(P, dP, delta(g, question["output"].astype(float), P, dP))
    answer = {"grad_Q": np.zeros(Q.shape), "grad_K": np.zeros(K.shape), "grad_V": np.zeros(V.shape)}
    for a in range(0, len(Q), block):
        rows = slice(a, a + block)
        for b in range(0, len(K), block):
            keys = slice(b, b + block)
            if question["causal"] and b > min(a + block, len(Q)) - 1 + len(K) - len(Q):
                continue
            parts = {
                "grad_Q": (rows, scale_Q(Q.shape[1]) * dS[rows, keys] @ K[keys]),
                "grad_K": (keys, scale_K(Q.shape[1]) * dS[rows, keys].T @ Q[rows]),
                "grad_V": (keys, P[rows, keys].T @ g[rows]),
            }
            for name, (where, part) in parts.items():
                answer[name][where] = part if name in replaces else answer[name][where] + part
    return answer


def backward_with(
    sentence: str,
    results: tuple[str, ...] = GRADS,
    cases: tuple[str, ...] = (),
    replaces: tuple[str, ...] = (),
    **parts: Function,
) -> Misconception:
    """The way back with some wrong parts, which show in these results."""

    def wrong(question: Question) -> Arrays:
        answer = backward(question, replaces=replaces, **parts)
        return {name: answer[name] for name in results}

    return Misconception(sentence, wrong=wrong, cases=cases)


def softmax_of_tiles(question: Question) -> Arrays:
    s, block = tile_scores(question), question["block"]
    P = np.concatenate([softmax(s[:, j : j + block]) for j in range(0, s.shape[1], block)], axis=1)
    return backward(question, weights=lambda _: P)


def delta_of_tiles(question: Question) -> Arrays:
    block = question["block"]

    def delta(g: Array, o: Array, P: Array, dP: Array) -> Array:
        tiles = [(P * dP)[:, j : j + block] for j in range(0, P.shape[1], block)]
        return np.concatenate([np.broadcast_to(t.sum(-1, keepdims=True), t.shape) for t in tiles], axis=1)

    return backward(question, delta=delta)


def values_from_scores(question: Question) -> Arrays:
    P, dP = weights_of(question), question["grad"] @ swap(question["V"])
    return {"grad_V": swap(P * (dP - (P * dP).sum(-1, keepdims=True))) @ question["grad"]}


def values_from_output(question: Question) -> Arrays:
    return {"grad_V": swap(weights_of(question)) @ question["output"]}


EXERCISE = Exercise(
    name="tiled_backward",
    module="05_efficient_attention",
    defines="_tiled_backward",
    cases=(
        Case("gradient of V", 1, lambda d: gradient_of(d, "grad_V")),
        Case("gradient of Q", 1.25, lambda d: gradient_of(d, "grad_Q")),
        Case("gradient of K", 1.25, lambda d: gradient_of(d, "grad_K")),
        Case("mask and causal", 1, mask_and_causal),
        Case("never the whole table", 0.5, lambda d: (ask_memory("_tiled_backward", True),), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(backward_with(NOT_SUMMED.format(name[-1]), (name,), replaces=(name,)) for name in GRADS),
        *(
            backward_with(NOT_SUMMED.format(" and ".join(n[-1] for n in names)), names, replaces=names)
            for names in (("grad_K", "grad_V"), GRADS)
        ),
        backward_with(
            "The softmax's rule lacks delta: the gradient of a score is P * (dP - delta).",
            to_scores=lambda P, dP, d: P * dP,
        ),
        backward_with(
            "The gradient of a score is P * (dP - delta); the factor P is missing.", to_scores=lambda P, dP, d: dP - d
        ),
        backward_with("The sign of delta is turned: P * (dP - delta).", to_scores=lambda P, dP, d: P * (dP + d)),
        backward_with(
            "The gradient of a score is P * (dP - delta); delta is not multiplied with P.",
            to_scores=lambda P, dP, d: P * dP - d,
        ),
        backward_with(
            "This is the rule of a sigmoid, P * (1 - P) * dP. In a softmax every score moves every weight: P * (dP - delta).",
            to_scores=lambda P, dP, d: P * (1 - P) * dP,
        ),
        backward_with(
            "delta is the mean over the components; it is their sum.",
            delta=lambda g, o, P, dP: (g * o).mean(-1, keepdims=True),
        ),
        backward_with(
            "delta is the sum over everything; each query has its own.", delta=lambda g, o, P, dP: (g * o).sum()
        ),
        backward_with(
            "delta is made of the gradient alone; it is the gradient times the output, summed.",
            delta=lambda g, o, P, dP: g.sum(-1, keepdims=True),
        ),
        backward_with(
            "delta is made of the output alone; it is the gradient times the output, summed.",
            delta=lambda g, o, P, dP: o.sum(-1, keepdims=True),
        ),
        backward_with(
            "The gradients of Q and K lack the division by the root of D.", scale_Q=lambda D: 1.0, scale_K=lambda D: 1.0
        ),
        backward_with("The gradient of Q lacks the division by the root of D.", ("grad_Q",), scale_Q=lambda D: 1.0),
        backward_with("The gradient of K lacks the division by the root of D.", ("grad_K",), scale_K=lambda D: 1.0),
        backward_with(
            "The gradients of Q and K are divided by D, not by its root.",
            scale_Q=lambda D: 1 / D,
            scale_K=lambda D: 1 / D,
        ),
        backward_with(
            "The sign of the gradients of Q and K is turned.",
            ("grad_Q", "grad_K"),
            scale_Q=lambda D: -1 / math.sqrt(D),
            scale_K=lambda D: -1 / math.sqrt(D),
        ),
        backward_with(
            "The weights are not those of the forward pass: exp(scores - logsumexp), without another division.",
            weights=lambda P: P / len(P),
        ),
        backward_with(
            "The mask is ignored: hand it on to `_tile_scores`.", cases=("mask and causal",), allowed=not_masked
        ),
        backward_with(
            "`causal` is ignored: hand it on to `_tile_scores`.", cases=("mask and causal",), allowed=not_causal
        ),
        Misconception(
            "The weights are made of each tile alone, by a softmax. They are exp(scores - logsumexp), as in the forward pass.",
            wrong=softmax_of_tiles,
        ),
        Misconception(
            "delta is summed over the keys of one tile only. It is the sum over all keys: the gradient times the output.",
            wrong=delta_of_tiles,
        ),
        Misconception(
            "The gradient of V is made with the gradients of the weights. It is P^T times the gradient of the output.",
            wrong=values_from_scores,
            cases=("gradient of V", "mask and causal"),
        ),
        Misconception(
            "The gradient of V is made with V. It is P^T times the gradient of the output.",
            wrong=values_from_output,
            cases=("gradient of V", "mask and causal"),
        ),
        shows(
            "The results are not in the order Q, K, V: their shapes are (L, D), (S, D) and (S, Dv).",
            other_shape_than({name: name.removeprefix("grad_") for name in GRADS}),
        ),
        TILES_TOO_LARGE,
        says(
            "The shapes do not fit: P is (n, k), the gradient's rows (n, Dv), V's (k, Dv), K's (k, D).",
            Raised.BROADCAST,
            Raised.NUMPY_SHAPES,
        ),
        NAMES_KEPT,
    ),
)
