"""Scores brought back to unit variance."""

import math

import numpy as np

from autograded_tests.variants import Array, softmax
from exercises.data import Data
from exercises.misconceptions import computes, says, shows
from exercises.model import Arrays, Case, Exercise, Question, StandIn
from exercises.signs.arrays import other_shape
from exercises.signs.exceptions import Raised, cannot_be_called
from exercises.signs.numbers import one_factor


def ask(scores: Array, d_k: int, compare: tuple[str, ...] = ("scaled",), grad: Array | None = None) -> Question:
    return Question("scale_scores", {"scores": scores, "d_k": d_k, "grad": grad}, compare)


def three_axes(d: Data) -> Array:
    return d.normal(51, d.B, d.L, d.S, scale=5)


def values(d: Data) -> tuple[Question, ...]:
    return (
        ask(np.array([[4, 8]], np.float32), 4),
        ask(np.array([[10]], np.float32), 100),
        ask(three_axes(d), 12),
        ask(d.normal(52, d.B, d.H, d.L, d.S), d.D),
        ask(d.normal(53, d.L, d.S), 1),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(three_axes(d), 16, ("grad_scores",), d.normal(54, d.B, d.L, d.S)),)


def reference(question: Question) -> Arrays:
    root = math.sqrt(question["d_k"])
    answer = {"scaled": question["scores"].astype(float) / root, "scores_after": question["scores"]}
    return answer if question["grad"] is None else answer | {"grad_scores": question["grad"] / root}


WRONG = (
    ("You divided by d_k. Divide by its square root.", lambda scores, d_k: scores / d_k),
    (
        "The scores came back as they were. Divide them by the square root of d_k, `math.sqrt(d_k)`.",
        lambda scores, d_k: scores,
    ),
    ("You multiplied by the square root of d_k. Divide by it.", lambda scores, d_k: scores * math.sqrt(d_k)),
    ("You multiplied by d_k. Divide by its square root.", lambda scores, d_k: scores * d_k),
    ("You divided by a constant, 2, which is right for d_k = 4 only.", lambda scores, d_k: scores / 2),
    ("You divided by a constant, 8, which is right for d_k = 64 only.", lambda scores, d_k: scores / 8),
    ("You divided by a constant, 10, which is right for d_k = 100 only.", lambda scores, d_k: scores / 10),
    (
        "You divided by half of d_k. Divide by its square root: `d_k**0.5`. (Python reads `d_k**1/2` as half of d_k.)",
        lambda scores, d_k: scores / (d_k / 2),
    ),
    (
        "You divided by two times d_k. Divide by its square root: `d_k**0.5`. (Python reads `d_k**1/2` as `d_k / 2`.)",
        lambda scores, d_k: scores / d_k / 2,
    ),
    ("You multiplied by half of d_k. Divide by its square root.", lambda scores, d_k: scores * d_k / 2),
    (
        "You divided by the number of keys. Divide by the square root of d_k, the width of a key.",
        lambda scores, d_k: scores / scores.shape[-1],
    ),
    (
        "You divided by the square root of the number of keys. Divide by that of d_k, the width of a key.",
        lambda scores, d_k: scores / math.sqrt(scores.shape[-1]),
    ),
    (
        "You divided by the square root of the number of queries. Divide by that of d_k, the width of a key.",
        lambda scores, d_k: scores / math.sqrt(scores.shape[-2]),
    ),
    (
        "The square root is rounded to a whole number. Divide by the root itself.",
        lambda scores, d_k: scores / int(math.sqrt(d_k)),
    ),
    (
        "The square root is rounded to a whole number. Divide by the root itself.",
        lambda scores, d_k: scores / round(math.sqrt(d_k)),
    ),
    ("You divided by the square of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k**2),
    (
        "You divided by d_k to the power 1.5. Divide by its square root, the power 0.5.",
        lambda scores, d_k: scores / d_k**1.5,
    ),
    ("You took the cube root of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k ** (1 / 3)),
    ("You took the fourth root of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k**0.25),
    ("You took a logarithm of d_k. Divide by its square root.", lambda scores, d_k: scores / math.log(d_k)),
    ("You subtracted the square root of d_k. Divide by it.", lambda scores, d_k: scores - math.sqrt(d_k)),
    (
        "You took the square root of the scores, too. Only d_k is under the root.",
        lambda scores, d_k: np.sqrt(scores / d_k),
    ),
    (
        "The square root is rounded to a whole number. Divide by the root itself.",
        lambda scores, d_k: scores / math.ceil(math.sqrt(d_k)),
    ),
    ("You took a logarithm of d_k. Divide by its square root.", lambda scores, d_k: scores / math.log2(d_k)),
    ("The sign is flipped. Divide by the square root of d_k, no more.", lambda scores, d_k: -scores / math.sqrt(d_k)),
    (
        "You divided by `d_k ^ 2`. `^` is not the power operator in Python, it works on bits: write `d_k ** 0.5`.",
        lambda scores, d_k: scores / (d_k ^ 2),
    ),
    (
        "You added 1 to d_k under the root. Divide by the root of d_k itself.",
        lambda scores, d_k: scores / math.sqrt(d_k + 1),
    ),
    (
        "A softmax is applied as well. Only divide.",
        lambda scores, d_k: softmax(scores / math.sqrt(d_k)),
    ),
    (
        "The scores were divided by their own standard deviation. Divide by the square root of d_k.",
        lambda scores, d_k: scores / scores.std(),
    ),
    (
        "The scores were divided by their sum. Divide by the square root of d_k.",
        lambda scores, d_k: scores / scores.sum(-1, keepdims=True),
    ),
    (
        "The scores were divided by the largest one. Divide by the square root of d_k.",
        lambda scores, d_k: scores / scores.max(-1, keepdims=True),
    ),
    (
        "The mean was subtracted. Divide by the square root of d_k, no more.",
        lambda scores, d_k: (scores - scores.mean()) / math.sqrt(d_k),
    ),
    (
        "The mean of each row was subtracted. Divide by the square root of d_k, no more.",
        lambda scores, d_k: (scores - scores.mean(-1, keepdims=True)) / math.sqrt(d_k),
    ),
    (
        "The scores were brought to mean 0 and variance 1. Divide them by the square root of d_k, no more.",
        lambda scores, d_k: (scores - scores.mean()) / scores.std(),
    ),
    ("You subtracted d_k. Divide by its square root.", lambda scores, d_k: scores - d_k),
    ("You added the square root of d_k. Divide by it.", lambda scores, d_k: scores + math.sqrt(d_k)),
    (
        "You divided the square root of d_k by the scores. Divide the scores by it.",
        lambda scores, d_k: math.sqrt(d_k) / scores,
    ),
    ("You divided by the exponential of d_k. Divide by its square root.", lambda scores, d_k: scores / math.exp(d_k)),
)
EXERCISE = Exercise(
    name="scale_scores",
    module="04_attention",
    defines="_scale_scores",
    cases=(
        Case("values", 1.25, values),
        Case("gradient", 0.5, gradient),
        Case("input unchanged", 0.25, lambda d: (ask(three_axes(d), 12, ("scores_after",)),), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(computes(sentence, "scaled", function) for sentence, function in WRONG),
        says("`//` gives whole numbers, and a Tensor does not have it. Divide with `/`.", Raised.DIVISION),
        computes(
            "An exponential was taken as well. Only divide.",
            "scaled",
            lambda scores, d_k: np.exp(scores / math.sqrt(d_k)),
        ),
        computes(
            "Negative scores are set to 0. Only divide.",
            "scaled",
            lambda scores, d_k: np.maximum(scores / math.sqrt(d_k), 0),
        ),
        shows(
            "The scores have another shape than before. Scaling keeps their shape.", other_shape("scaled"), rough=True
        ),
        shows(
            "The scores are divided, or multiplied, by a wrong number. Divide by the square root of d_k, `math.sqrt(d_k)`.",
            one_factor("scaled"),
            rough=True,
        ),
        shows(
            "The function takes other arguments than described. It is called with scores and d_k, in this order.",
            cannot_be_called(),
        ),
    ),
    stand_in=StandIn(
        "_scale_scores",
        ("scores", "d_k"),
        1,
        lambda scores, d_k: [scores.astype(float) / math.sqrt(d_k)],
        lambda _index, grad, scores, d_k: [grad / math.sqrt(d_k)],
    ),
)
