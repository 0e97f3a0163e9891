"""The way back of attention tile by tile, in which each step can be replaced by a wrong one."""

import math

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._tiles import right_pairs, tile_scores
from autograded_tests.variants import Array, Function, softmax, swap
from exercises.model import Arrays, Question

GRADS = ("gradient_Q", "gradient_K", "gradient_V")


def weights_of(question: Question) -> Array:
    mask = references.tiled_mask(len(question["Q"]), len(question["K"]), question["mask"], question["causal"])
    return references.attention(question["Q"], question["K"], question["V"], mask)[1]


def backward(
    question: Question,
    *,
    delta: Function = lambda g, o, P, dP: (g * o).sum(-1, keepdims=True),
    to_scores: Function = lambda P, dP, delta: P * (dP - delta),
    scale_Q: Function = lambda D: 1 / math.sqrt(D),
    scale_K: Function = lambda D: 1 / math.sqrt(D),
    allowed: Function = right_pairs,
    weights: Function = lambda P, s, lse: P,
    to_weights: Function = lambda g, V, o: g @ V.T,
    part_V: Function = lambda P, dS, g: P.T @ g,
    part_Q: Function = lambda P, dS, K: dS @ K,
    part_K: Function = lambda P, dS, Q: dS.T @ Q,
    start: float = 0.0,
    replaces: tuple[str, ...] = (),
    left_out: Function = lambda a, b: False,
) -> Arrays:
    """The way back tile by tile, in which each step can be replaced by a wrong one.

    replaces  gradients that are not added up; left_out(first query, first key) tiles that are not computed
    """
    Q, K, V, g = (question[name].astype(float) for name in ("Q", "K", "V", "grad"))
    block, s, lse = question["block"], tile_scores(question, allowed), question["logsumexp"].astype(float)
    with np.errstate(over="ignore"):
        P = weights(np.exp(s - lse), s, lse)
    dP = to_weights(g, V, question["output"].astype(float))
    dS = to_scores(P, dP, delta(g, question["output"].astype(float), P, dP))
    answer = {name: np.full(x.shape, start) for name, x in zip(GRADS, (Q, K, V), strict=True)}
    for a in range(0, len(Q), block):
        rows = slice(a, a + block)
        for b in range(0, len(K), block):
            keys = slice(b, b + block)
            if (question["causal"] and b > min(a + block, len(Q)) - 1 + len(K) - len(Q)) or left_out(a, b):
                continue
            parts = {
                "gradient_Q": (rows, scale_Q(Q.shape[1]) * part_Q(P[rows, keys], dS[rows, keys], K[keys])),
                "gradient_K": (keys, scale_K(Q.shape[1]) * part_K(P[rows, keys], dS[rows, keys], Q[rows])),
                "gradient_V": (keys, part_V(P[rows, keys], dS[rows, keys], g[rows])),
            }
            for name, (where, part) in parts.items():
                answer[name][where] = part if name in replaces else answer[name][where] + part
    return answer


def softmax_of_tiles(question: Question) -> Arrays:
    s, block = tile_scores(question), question["block"]
    P = np.concatenate([softmax(s[:, j : j + block]) for j in range(0, s.shape[1], block)], axis=1)
    return backward(question, weights=lambda *_: P)


def divided_in_tiles(question: Question, empty: float = np.nan) -> Arrays:
    """Right weights, divided by their sum in each tile; empty: what comes of rows in which nothing is allowed."""
    block = question["block"]

    def weights(P: Array, s: Array, lse: Array) -> Array:
        with np.errstate(invalid="ignore"):
            tiles = [P[:, j : j + block] for j in range(0, P.shape[1], block)]
            return np.concatenate([np.nan_to_num(t / t.sum(-1, keepdims=True), nan=empty) for t in tiles], axis=1)

    return backward(question, weights=weights)


def delta_of_tiles(question: Question) -> Arrays:
    block = question["block"]

    def delta(g: Array, o: Array, P: Array, dP: Array) -> Array:
        tiles = [(P * dP)[:, j : j + block] for j in range(0, P.shape[1], block)]
        return np.concatenate([np.broadcast_to(t.sum(-1, keepdims=True), t.shape) for t in tiles], axis=1)

    return backward(question, delta=delta)


def values_from_scores(question: Question) -> Arrays:
    P, dP = weights_of(question), question["grad"] @ swap(question["V"])
    return {"gradient_V": swap(P * (dP - (P * dP).sum(-1, keepdims=True))) @ question["grad"]}


def values_from_output(question: Question) -> Arrays:
    return {"gradient_V": swap(weights_of(question)) @ question["output"]}


def first_rows_of_logsumexp(question: Question) -> Arrays:
    """Each block of queries uses the logsumexp of the first ones."""
    block, n = question["block"], len(question["Q"])
    lse = question["logsumexp"].astype(float)[np.arange(n) % block]
    return backward(question, weights=lambda P, s, _: np.exp(s - lse))


def without_future(question: Question) -> Arrays:
    """Tiles of the future are left out whether causal or not."""
    L, S, block = len(question["Q"]), len(question["K"]), question["block"]
    return backward(question, left_out=lambda a, b: b > min(a + block, L) - 1 + S - L)


def left_out_if_causal(question: Question, from_top: bool) -> Arrays | None:
    """Too many tiles are left out: positions are counted from the first query, or the first row of a tile decides."""
    L, S, block = len(question["Q"]), len(question["K"]), question["block"]
    if not question["causal"]:
        return None
    return backward(question, left_out=lambda a, b: b > (min(a + block, L) - 1 if from_top else a + S - L))


def last_keys_left_out(question: Question) -> Arrays:
    """The last tile of keys is left out, unless it is the only one."""
    S, block = len(question["K"]), question["block"]
    return backward(question, left_out=lambda a, b: b > 0 and b + block >= S)


def rows_left_out(question: Question) -> Arrays:
    """The last tile of queries is left out, unless it is the only one."""
    L, block = len(question["Q"]), question["block"]
    return backward(question, left_out=lambda a, b: a > 0 and a + block >= L)


def scores_scaled(question: Question, power: float) -> Arrays:
    """Scores with another power of D."""
    D = question["Q"].shape[1]
    return backward(question, weights=lambda P, s, lse: np.exp(np.where(s < -1e8, s, s * D**power) - lse))


def root_of_values(question: Question) -> Arrays:
    """The root of the width of V in place of that of Q."""
    scale = 1 / math.sqrt(question["V"].shape[1])
    answer = backward(question, scale_Q=lambda D: scale, scale_K=lambda D: scale)
    return {name: answer[name] for name in ("gradient_Q", "gradient_K")}


def last_rows_of_Q(question: Question) -> Arrays:
    """The gradient of Q for the last block of queries, and 0 for the others."""
    block, gradient = question["block"], backward(question)["gradient_Q"]
    return {
        "gradient_Q": np.where(np.arange(len(gradient))[:, None] < (len(gradient) - 1) // block * block, 0, gradient)
    }


def first_rows_decide(question: Question) -> Arrays | None:
    """A block of keys that the first block of queries may not see is left out for all."""
    L, S, block = len(question["Q"]), len(question["K"]), question["block"]
    return backward(question, left_out=lambda a, b: b > min(block, L) - 1 + S - L) if question["causal"] else None
