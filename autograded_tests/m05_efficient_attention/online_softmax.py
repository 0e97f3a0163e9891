"""Softmax and weighted sum of one block of keys after another."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import holds_nan, not_finite, other_shape_than
from exercises.signs.exceptions import Raised

STATE = ("largest", "total", "output")
ARGUMENTS = (*STATE, "scores", "V")


def ask(
    d: Data, number: int, first: bool = False, shift: float = 0.0, level: float = 0.0, as_large: bool = False
) -> Question:
    """shift: how far the new scores lie above the largest so far; as_large: their largest equals it."""
    largest = d.normal(number, d.H, 1) + np.float32(level)
    scores = d.normal(number + 1, d.H, d.S) + np.float32(level + shift)
    if as_large:
        scores += largest - scores.max(axis=1, keepdims=True)
        scores = np.minimum(scores, largest)
    if first:
        state = [np.full_like(largest, -np.inf), np.zeros_like(largest), np.zeros((d.H, d.Dv), np.float32)]
    else:
        total = 1 + np.abs(d.normal(number + 2, d.H, 1))
        state = [largest, total, total * d.normal(number + 3, d.H, d.Dv)]
    inputs = dict(zip(STATE, state, strict=True)) | {"scores": scores, "V": d.normal(number + 4, d.S, d.Dv)}
    about = {"name": "_online_softmax", "results": list(STATE), "overwritten": ["scores"]}
    return Question("array_function", about | inputs, STATE)


def first_block(d: Data) -> tuple[Question, ...]:
    return ask(d, 240, first=True, shift=-4.0), ask(d, 245, first=True)


def near_1000(d: Data) -> tuple[Question, ...]:
    return ask(d, 260, first=True, level=1000.0), ask(d, 265, level=1000.0, as_large=True)


def reference(question: Question) -> Arrays:
    return dict(zip(STATE, references.online_softmax(*(question[k] for k in ARGUMENTS)), strict=True))


def online(
    largest: Array,
    total: Array,
    output: Array,
    scores: Array,
    V: Array,
    *,
    new: Function = lambda m, s: np.maximum(m, s.max(-1, keepdims=True)),
    of_total: Function = lambda m, m2: np.exp(m - m2),
    of_output: Function = lambda m, m2: np.exp(m - m2),
    share: Function = lambda s, m, m2: np.exp(s - m2),
    add: Function = lambda e: e.sum(-1, keepdims=True),
    read: Function = lambda e, V: e @ V,
) -> tuple[Array, Array, Array]:
    """A step of the online softmax in which each part can be replaced by a wrong one."""
    m, m2 = largest.astype(float), new(largest.astype(float), scores.astype(float))
    e = share(scores.astype(float), m, m2)
    return m2, of_total(m, m2) * total + add(e), of_output(m, m2) * output + read(e, V)


def online_with(sentence: str, **parts: Any) -> Misconception:
    """A step of the online softmax with some wrong parts."""

    def wrong(question: Question) -> Arrays:
        return dict(zip(STATE, online(*(question[k] for k in ARGUMENTS), **parts), strict=True))

    return Misconception(sentence, wrong=wrong)


def no_shrink(m: Array, m2: Array) -> Array:
    return np.ones_like(m2)


def divided_already(question: Question) -> Arrays:
    right = reference(question)
    return {"output": right["output"] / right["total"]}


def zero_before_the_first_block(question: Question) -> Arrays:
    largest = np.nan_to_num(question["largest"], neginf=0.0)
    return dict(zip(STATE, online(largest, *(question[k] for k in ARGUMENTS[1:])), strict=True))


EXERCISE = Exercise(
    name="online_softmax",
    module="05_efficient_attention",
    defines="_online_softmax",
    cases=(
        Case("the first block", 1, first_block),
        Case("a larger score arrives", 1.25, lambda d: (ask(d, 250, shift=5.0),)),
        Case("only smaller scores arrive", 1, lambda d: (ask(d, 255, shift=-5.0),)),
        Case("scores near 1000", 0.75, near_1000),
    ),
    reference=reference,
    misconceptions=(
        online_with(
            "Nothing old is shrunk: both total and output were relative to the old largest score.",
            of_total=no_shrink,
            of_output=no_shrink,
        ),
        online_with("The total is not shrunk: it was relative to the old largest score.", of_total=no_shrink),
        online_with("The output is not shrunk: it was relative to the old largest score.", of_output=no_shrink),
        online_with(
            "The factor is turned round: old things are multiplied by exp(old largest - new largest), which is at most 1.",
            of_total=lambda m, m2: np.exp(m2 - m),
            of_output=lambda m, m2: np.exp(m2 - m),
        ),
        online_with(
            "Only the new scores are looked at for the largest; it may be an old one.",
            new=lambda m, s: s.max(-1, keepdims=True),
        ),
        online_with(
            "The largest score is not brought up to date.",
            new=lambda m, s: np.where(np.isfinite(m), m, s.max(-1, keepdims=True)),
        ),
        online_with(
            "The new exponentials are relative to the old largest score. Use the new one.",
            share=lambda s, m, m2: np.exp(s - np.where(np.isfinite(m), m, m2)),
        ),
        online_with(
            "The new exponentials are relative to the largest *new* score, not the largest of all.",
            share=lambda s, m, m2: np.exp(s - s.max(-1, keepdims=True)),
        ),
        online_with("Nothing is subtracted before the exponential.", share=lambda s, m, m2: np.exp(s)),
        online_with(
            "One largest score is used for all queries. Each has its own: axis -1, with keepdims.",
            new=lambda m, s: np.maximum(m, s.max()),
        ),
        online_with("The new exponentials are averaged, not summed.", add=lambda e: e.mean(-1, keepdims=True)),
        online_with("The exponentials are summed over queries, not over keys.", add=lambda e: e.sum()),
        online_with(
            "The new values are averaged, without their weights.",
            read=lambda e, V: np.broadcast_to(V.mean(0), (len(e), V.shape[1])),
        ),
        online_with(
            "The values are summed without their weights.",
            read=lambda e, V: np.broadcast_to(V.sum(0), (len(e), V.shape[1])),
        ),
        online_with("The old sums are lost.", of_total=lambda m, m2: 0 * m2, of_output=lambda m, m2: 0 * m2),
        online_with("The old output is lost.", of_output=lambda m, m2: 0 * m2),
        Misconception(
            "The output is divided by the total already. That comes at the very end; until then it is a sum.",
            wrong=divided_already,
        ),
        Misconception(
            "Before the first block the largest score is -inf; it was taken for 0.", wrong=zero_before_the_first_block
        ),
        shows(
            "nan: something like -inf - (-inf) or 0 * inf happens. Before the first block the largest score is -inf.",
            holds_nan(*STATE),
            ("the first block",),
        ),
        shows(
            "inf or nan with scores near 1000: take no exponential of a score itself, only of differences.",
            not_finite(*STATE),
            ("scores near 1000",),
        ),
        shows(
            "The results are not in the order largest (n, 1), total (n, 1), output (n, Dv), or lack an axis: keepdims=True keeps it.",
            other_shape_than({name: name for name in STATE}),
        ),
        says(
            "The shapes do not fit: reduce over keys with keepdims=True, and multiply (n, k) @ (k, Dv).",
            Raised.BROADCAST,
            Raised.NUMPY_SHAPES,
        ),
        NAMES_KEPT,
    ),
    stand_in=StandIn(
        "_online_softmax",
        ARGUMENTS,
        3,
        lambda largest, total, output, scores, V: list(online(largest, total, output, scores, V)),
        lambda *_: [],
    ),
)
