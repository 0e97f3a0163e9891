"""Dot products of queries with keys."""

import math

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, softmax, swap
from exercises.data import Data
from exercises.misconceptions import CUT, computes, says, shows
from exercises.model import Arrays, Case, Exercise, Question, StandIn
from exercises.signs.arrays import other_number_of_axes, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called
from exercises.signs.gradients import no_gradient

Q_BY_HAND, K_BY_HAND = np.array([[1, 2], [0, 1]], np.float32), np.array([[3, 4], [5, 6], [7, 8]], np.float32)


def two_axes(d: Data) -> tuple[Array, Array]:
    """Q (L, D) and K (S, D)."""
    return d.normal(40, d.L, d.D), d.normal(41, d.S, d.D)


def three_axes(d: Data) -> tuple[Array, Array]:
    """Q (B, L, D) and K (B, S, D)."""
    return d.normal(42, d.B, d.L, d.D), d.normal(43, d.B, d.S, d.D)


def four_axes(d: Data) -> tuple[Array, Array]:
    """Q (B, H, L, D) and K (B, H, S, D)."""
    return d.normal(45, d.B, d.H, d.L, d.D), d.normal(46, d.B, d.H, d.S, d.D)


def ask(Q: Array, K: Array, compare: tuple[str, ...] = ("scores",), grad: Array | None = None) -> Question:
    return Question("compute_attention_scores", {"Q": Q, "K": K, "grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    square = d.normal(48, d.B, d.D, d.D), d.normal(49, d.B, d.D, d.D)
    return ask(*three_axes(d)), ask(*square)


def any_leading_axes(d: Data) -> tuple[Question, ...]:
    return ask(Q_BY_HAND, K_BY_HAND), ask(*two_axes(d)), ask(*four_axes(d))


def gradient(d: Data) -> tuple[Question, ...]:
    grad = d.normal(50, d.B, d.H, d.L, d.S)
    return (ask(*four_axes(d), ("grad_Q", "grad_K", "Q_after", "K_after"), grad),)


def reference(question: Question) -> Arrays:
    Q, K, grad = question["Q"], question["K"], question["grad"]
    answer = {"scores": references.scores(Q, K), "Q_after": Q, "K_after": K}
    if grad is not None:
        answer |= dict(zip(("grad_Q", "grad_K"), references.scores_gradient(Q, K, grad), strict=True))
    return answer


EXERCISE = Exercise(
    name="compute_attention_scores",
    module="04_attention",
    defines="_compute_attention_scores",
    cases=(
        Case("values", 1, values),
        Case("any leading axes", 0.5, any_leading_axes),
        Case("gradient", 0.5, gradient),
    ),
    reference=reference,
    misconceptions=(
        *(
            computes(sentence, "scores", function)
            for sentence, function in (
                (
                    "K was reshaped, not transposed: a reshape keeps the order of the numbers. Exchange its last two axes.",
                    lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
                ),
                (
                    "K is not transposed where it is square (S = D). Transpose it in any case: `K.transpose(-2, -1)`.",
                    lambda Q, K: Q @ (K if K.shape[-2] == K.shape[-1] else swap(K)),
                ),
                (
                    "Every query meets the keys of all batch elements. Each batch element has keys of its own.",
                    lambda Q, K: (Q.reshape(-1, Q.shape[-1]) @ K.reshape(-1, K.shape[-1]).T).reshape(*Q.shape[:-1], -1),
                ),
                (
                    "The products are summed over the keys. Sum over the components, the last axis: one number for each query and key.",
                    lambda Q, K: (Q[..., :, None, :] * K[..., None, :, :]).sum(-2),
                ),
                ("These are products of the queries with themselves. K is not used.", lambda Q, K: Q @ swap(Q)),
                ("These are products of the keys with themselves. Q is not used.", lambda Q, K: K @ swap(K)),
                (
                    "Queries and keys are exchanged: a row belongs to a query, a column to a key.",
                    lambda Q, K: K @ swap(Q),
                ),
                ("K was not transposed. Exchange its last two axes.", lambda Q, K: Q @ K),
                ("Q was transposed in place of K. Transpose K: Q @ K.transpose(-2, -1).", lambda Q, K: swap(Q) @ K),
                (
                    "The scores are scaled here already. That is the task of `_scale_scores`: give plain dot products.",
                    lambda Q, K: Q @ swap(K) / math.sqrt(Q.shape[-1]),
                ),
                (
                    "The scores are divided by the width. Plain dot products are asked for.",
                    lambda Q, K: Q @ swap(K) / Q.shape[-1],
                ),
                ("A softmax was applied. Plain dot products are asked for.", lambda Q, K: softmax(Q @ swap(K))),
                (
                    "These are cosines: queries and keys were brought to length 1. Plain dot products are asked for.",
                    lambda Q, K: (
                        (Q / np.linalg.norm(Q, axis=-1, keepdims=True))
                        @ swap(K / np.linalg.norm(K, axis=-1, keepdims=True))
                    ),
                ),
                (
                    "These are (negative) distances, not dot products.",
                    lambda Q, K: -((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1),
                ),
                (
                    "These are distances, not dot products.",
                    lambda Q, K: np.sqrt(((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)),
                ),
                ("The sign is flipped. Plain dot products are asked for.", lambda Q, K: -(Q @ swap(K))),
                (
                    "The keys were brought to length 1. Plain dot products are asked for.",
                    lambda Q, K: Q @ swap(K / np.linalg.norm(K, axis=-1, keepdims=True)),
                ),
                (
                    "These are distances, not dot products. Plain dot products are asked for.",
                    lambda Q, K: ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1),
                ),
                (
                    "The mean of the keys was subtracted. Plain dot products are asked for.",
                    lambda Q, K: Q @ swap(K - K.mean(-2, keepdims=True)),
                ),
                (
                    "A causal mask is applied. Plain dot products are asked for.",
                    lambda Q, K: np.where(np.tri(Q.shape[-2], K.shape[-2]) > 0, Q @ swap(K), -1e9),
                ),
                ("The scores are squared. Plain dot products are asked for.", lambda Q, K: (Q @ swap(K)) ** 2),
                ("The scores are absolute values. Their signs count.", lambda Q, K: np.abs(Q @ swap(K))),
                (
                    "These are exponentials of the scores. Plain dot products are asked for.",
                    lambda Q, K: np.exp(Q @ swap(K)),
                ),
                (
                    "The scores are multiplied by the root of the width. Plain dot products are asked for.",
                    lambda Q, K: Q @ swap(K) * math.sqrt(Q.shape[-1]),
                ),
                ("The keys are in reverse order: column j belongs to key j.", lambda Q, K: Q @ swap(K[..., ::-1, :])),
                (
                    "Negative scores are set to 0. They are scores like any other: leave them.",
                    lambda Q, K: np.maximum(Q @ swap(K), 0),
                ),
                (
                    "Only the first batch element's keys are used. Each batch element has keys of its own.",
                    lambda Q, K: Q @ swap(K[:1] if K.ndim > 2 else K),
                ),
                (
                    "Scores of different batch elements are mixed: each one has queries and keys of its own.",
                    lambda Q, K: Q @ swap(K[::-1] if K.ndim > 2 else K),
                ),
            )
        ),
        says(
            "You count the axes to exchange from the left. Count from the right: `K.transpose(-2, -1)` does for any leading axes.",
            Raised.AXIS,
            Raised.PRODUCT,
            Raised.BROADCAST,
            line=r"(transpose|swapaxes)\([^-()]*\b\d[^-()]*\)",
        ),
        says(
            "The number of axes is fixed. There may be any number of leading axes: count from the right, -2 and -1.",
            Raised.AXIS,
            Raised.UNPACK,
            cases=("any leading axes",),
        ),
        says(
            "K is not transposed. Exchange its last two axes, (S, D) to (D, S), and then multiply.",
            Raised.PRODUCT,
            line=r"@\s*K\s*($|[)/*#,;])|(matmul|dot)\((Q,\s*)?K\)",
        ),
        says(
            "New axes are counted from the left. Count from the right, `Q[..., :, None, :] * K[..., None, :, :]`, or use `@`.",
            Raised.ELEMENTWISE,
            line=r"^(?!.*(\.\.\.|Ellipsis)).*\[[^\]]*(None|newaxis).*\*.*\[[^\]]*(None|newaxis)",
        ),
        says(
            "Q and K are multiplied number by number, `*`. A score is a dot product: use the matrix product, `@`.",
            Raised.ELEMENTWISE,
            line=r"^(?!.*(None|newaxis|expand_dims|unsqueeze|reshape)).*\bQ\s*\*\s*K\b",
        ),
        shows(
            "The scores have more or fewer axes than Q. They should be (..., L, S), with the leading axes of Q.",
            other_number_of_axes("scores", "Q"),
            rough=True,
        ),
        shows(
            "The scores have the wrong shape. They should be (..., L, S): a row for each query, a column for each key.",
            other_shape("scores"),
            rough=True,
        ),
        shows(f"The gradient does not reach Q: it is cut from the graph, {CUT}.", no_gradient("Q")),
        shows(f"The gradient does not reach K: it is cut from the graph, {CUT}.", no_gradient("K")),
        shows(
            "The function takes other arguments than described. It is called with Q and K, in this order.",
            cannot_be_called(),
        ),
    ),
    stand_in=StandIn(
        "_compute_attention_scores",
        ("Q", "K"),
        1,
        lambda Q, K: [references.scores(Q, K)],
        lambda _index, grad, Q, K: list(references.scores_gradient(Q, K, grad)),
    ),
)
