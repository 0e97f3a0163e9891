"""No look into the future."""

import numpy as np

from autograded_tests.variants import triangle
from exercises.data import Data
from exercises.misconceptions import computes, shows
from exercises.model import Case, Exercise, Question
from exercises.signs.arrays import other_numbers, other_shape


def values(d: Data) -> tuple[Question, ...]:
    return tuple(Question("causal_mask", {"seq_len": n}, ("mask",)) for n in (d.H, d.Dv, 1))


WRONG_MASKS = (
    (
        "The upper triangle is allowed: queries look into the future. A query may look at itself and at what came before.",
        lambda seq_len: triangle(seq_len).T,
    ),
    ("The diagonal is lost: a query may look at itself.", lambda seq_len: triangle(seq_len, -1)),
    ("Off by one: each query sees one key of the future.", lambda seq_len: triangle(seq_len, 1)),
    ("The mask is inverted: 1 is where a query may look.", lambda seq_len: 1 - triangle(seq_len)),
    (
        "The mask holds negative numbers for scores. It should hold 1 and 0.",
        lambda seq_len: (triangle(seq_len) - 1) * 1e9,
    ),
    (
        "The mask holds negative numbers for scores. It should hold 1 and 0.",
        lambda seq_len: np.where(triangle(seq_len) > 0, 0, -np.inf),
    ),
    ("Every query may look everywhere.", lambda seq_len: np.ones((seq_len, seq_len))),
    (
        "Each query may look at itself only. It may look at what came before, too.",
        lambda seq_len: np.eye(seq_len),
    ),
    (
        "The rows are even shares already. A mask is 1 and 0.",
        lambda seq_len: triangle(seq_len) / triangle(seq_len).sum(1, keepdims=True),
    ),
    ("The mask is for one longer sequence.", lambda seq_len: triangle(seq_len + 1)),
    ("The mask is for one shorter sequence.", lambda seq_len: triangle(seq_len - 1)),
    (
        "There is a batch axis too much: the shape is (seq_len, seq_len).",
        lambda seq_len: triangle(seq_len)[None],
    ),
    (
        "Each query sees only itself and the key before.",
        lambda seq_len: triangle(seq_len) - triangle(seq_len, -2),
    ),
    (
        "The other diagonal: the mask is mirrored from left to right.",
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
        shows("The mask holds other numbers than 1 and 0.", other_numbers("mask", (0, 1))),
        shows("The size is fixed. The mask must be (seq_len, seq_len) for any seq_len.", other_shape("mask")),
    ),
)
