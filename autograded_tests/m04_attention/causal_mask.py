"""No look into the future."""

import numpy as np

from autograded_tests.variants import triangle
from exercises.data import Data
from exercises.misconceptions import computes, shows
from exercises.model import Case, Exercise, Question
from exercises.signs.arrays import other_numbers, other_shape
from exercises.signs.exceptions import cannot_be_called
from exercises.signs.facts import allows, blocks


def values(d: Data) -> tuple[Question, ...]:
    return tuple(Question("causal_mask", {"seq_len": n}, ("mask",)) for n in (d.H, d.Dv, 1))


WRONG_MASKS = (
    (
        "The upper triangle is allowed: queries look into the future. A query may look at itself and at what came before.",
        lambda seq_len: triangle(seq_len).T,
    ),
    ("The diagonal is blocked. A query may look at itself.", lambda seq_len: triangle(seq_len, -1)),
    (
        "Off by one: each query may look at one key of the future. The last that it may look at is its own.",
        lambda seq_len: triangle(seq_len, 1),
    ),
    (
        "The mask is inverted. It should be 1 where a query may look, and 0 elsewhere.",
        lambda seq_len: 1 - triangle(seq_len),
    ),
    (
        "The mask holds negative numbers for scores. It should hold 1 and 0.",
        lambda seq_len: (triangle(seq_len) - 1) * 1e9,
    ),
    (
        "The mask holds negative numbers for scores. It should hold 1 and 0.",
        lambda seq_len: np.where(triangle(seq_len) > 0, 0, -np.inf),
    ),
    (
        "Every query may look everywhere. It may look at itself and at what came before. (In `[[0] * n] * n` all rows are one and the same list.)",
        lambda seq_len: np.ones((seq_len, seq_len)),
    ),
    (
        "Each query may look at itself only. It may look at what came before, too.",
        lambda seq_len: np.eye(seq_len),
    ),
    (
        "Each row is divided by its sum. A mask holds 1 and 0.",
        lambda seq_len: triangle(seq_len) / triangle(seq_len).sum(1, keepdims=True),
    ),
    (
        "No query may look anywhere. It may look at itself and at what came before.",
        lambda seq_len: np.zeros((seq_len, seq_len)),
    ),
    (
        "There are two extra axes. The shape should be (seq_len, seq_len).",
        lambda seq_len: triangle(seq_len)[None, None],
    ),
    (
        "The mask is for a sequence that is longer by one. It should be (seq_len, seq_len).",
        lambda seq_len: triangle(seq_len + 1),
    ),
    (
        "The mask is for a sequence that is shorter by one. It should be (seq_len, seq_len).",
        lambda seq_len: triangle(seq_len - 1),
    ),
    (
        "There is an extra axis. The shape should be (seq_len, seq_len).",
        lambda seq_len: triangle(seq_len)[None],
    ),
    (
        "Each query may look only at itself and at the key before. It may look at all keys that came before.",
        lambda seq_len: triangle(seq_len) - triangle(seq_len, -2),
    ),
    (
        "The mask is mirrored from left to right. Row i should have 1 in columns 0 to i.",
        lambda seq_len: triangle(seq_len)[:, ::-1],
    ),
)
EXERCISE = Exercise(
    name="causal_mask",
    module="04_attention",
    defines="causal_mask",
    cases=(Case("values", 1, values),),
    reference=lambda question: {"mask": triangle(question["seq_len"])},
    misconceptions=(
        *(computes(sentence, "mask", function) for sentence, function in WRONG_MASKS),
        shows(
            "The mask holds other numbers than 1 and 0. It should be 1 where a query may look, and 0 elsewhere.",
            other_numbers("mask", (0, 1)),
            rough=True,
        ),
        shows(
            "The mask has the wrong shape. It should be (seq_len, seq_len), for any seq_len.",
            other_shape("mask"),
            rough=True,
        ),
        shows(
            "The mask lets a query look at a later key. Query i, a row, may look at the keys 0 to i.",
            allows("future"),
            rough=True,
        ),
        shows(
            "The mask blocks keys that a query may look at. Query i, a row, may look at all keys 0 to i.",
            blocks("anywhere"),
            rough=True,
        ),
        shows(
            "The function takes other arguments than described. It is called with seq_len alone.", cannot_be_called()
        ),
    ),
)
