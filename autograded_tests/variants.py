"""Attention in which each step can be replaced by a wrong one: what misconceptions are made of."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograded_tests import references

Array = np.ndarray
Function = Callable[..., Any]
MULTI_HEAD_INPUTS = ("num_heads", "x", "weights", "biases", "mask", "context")


def swap(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


def softmax_along(axis: int) -> Function:
    return lambda scores: softmax(scores, axis)


def triangle(seq_len: int, last: int = 0) -> Array:
    """1 for keys up to the query's own place, or to `last` places after it."""
    return np.array([[float(j <= i + last) for j in range(seq_len)] for i in range(seq_len)])


def attend(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None = None,
    *,
    scale: Function = lambda Q, K, V: math.sqrt(Q.shape[-1]),
    share: Function = softmax,
    edit_mask: Function = lambda mask, scores: mask,
    after: Function | None = None,
    value: float = -1e9,
    read: Function = lambda weights, Q, K, V: weights @ V,
) -> tuple[Array, Array]:
    """Output and weights of attention.

    after  what happens to the weights if the mask comes after the softmax; value  of a blocked score
    """
    scores = Q.astype(float) @ swap(K) / scale(Q, K, V)
    mask = edit_mask(mask, scores)
    if mask is not None and after is None:
        scores = np.where(np.asarray(mask) != 0, scores, value)
    weights = share(scores)
    if mask is not None and after is not None:
        weights = after(weights, scores, np.asarray(mask, float))
    return read(weights, Q, K, V), weights


def cut(x: Array, num_heads: int) -> Array:
    """(B, L, H, D)"""
    return x.reshape(*x.shape[:2], num_heads, -1)


def right_split(x: Array, num_heads: int) -> Array:
    return cut(x, num_heads).swapaxes(1, 2)


def right_merge(x: Array) -> Array:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def multi(
    num_heads: int,
    x: Array,
    weights: Array,
    biases: Array,
    mask: Array | None = None,
    context: Array | None = None,
    *,
    order: tuple[int, int, int, int] = (0, 1, 2, 3),
    sources: Function = lambda x, c: (x, c, c),
    project: Function = lambda a, w, b, n: a @ w + b,
    split: Function = right_split,
    merge: Function = right_merge,
    edit_mask: Function = lambda m, x: references.mask_for_heads(m),
    scale: Function = lambda Q, K, V: math.sqrt(Q.shape[-1]),
    share: Function = softmax,
    after: Function | None = None,
    value: float = -1e9,
    finish: Function = lambda y, x: y,
) -> tuple[Array, Array]:
    """Output and weights of multi-head attention.

    order  which projection is used for queries, keys, values and output; finish  what happens to the output at the end
    """
    source = x if context is None else context
    inputs = [a.astype(float) for a in sources(x, source)]
    Q, K, V = (
        split(project(a, weights[p], biases[p], n), num_heads)
        for n, (a, p) in enumerate(zip(inputs, order, strict=False))
    )
    heads, shares = attend(Q, K, V, edit_mask(mask, x), scale=scale, share=share, after=after, value=value)
    return finish(project(merge(heads), weights[order[3]], biases[order[3]], 3), x), shares
