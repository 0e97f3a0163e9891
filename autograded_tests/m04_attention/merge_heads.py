"""The heads put side by side again."""

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention.split_heads import RECOGNISABLE
from autograded_tests.variants import Array, right_merge, swap
from exercises.data import Data
from exercises.misconceptions import computes, says, shows
from exercises.model import Arrays, Case, Exercise, Question, StandIn
from exercises.signs.arrays import other_rank, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called


def heads(d: Data) -> Array:
    """(B, H, L, S): heads of width S."""
    return d.normal(93, d.B, d.H, d.L, d.S)


def ask(x: Array, compare: tuple[str, ...] = ("merged",), grad: Array | None = None) -> Question:
    return Question("merge_heads", {"x": x, "grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    one_head, as_many_heads_as_positions = d.normal(94, d.B, 1, d.L, d.S), d.normal(95, d.B, d.L, d.L, d.S)
    return (
        ask(references.split_heads(RECOGNISABLE, 2).astype(np.float32)),
        ask(heads(d)),
        ask(one_head),
        ask(as_many_heads_as_positions),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(heads(d), ("grad_x", "x_after"), d.normal(96, d.B, d.L, d.H * d.S)),)


def reference(question: Question) -> Arrays:
    x, grad = question["x"], question["grad"]
    answer = {"merged": references.merge_heads(x), "x_after": x}
    return answer if grad is None else answer | {"grad_x": references.split_heads(grad, x.shape[1])}


WRONG = (
    (
        "A single reshape mixes positions. Exchange heads and positions first, then put the heads side by side.",
        lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    ),
    (
        "The heads are interleaved: the components of a head must stay side by side.",
        lambda x: x.transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
    ),
    ("The heads are in reverse order. Head 0 comes first.", lambda x: right_merge(x[:, ::-1])),
    (
        "The wrong axes are exchanged before the reshape. Exchange heads and positions, axes 1 and 2.",
        lambda x: swap(x).reshape(x.shape[0], x.shape[2], -1),
    ),
    (
        "The wrong axes are exchanged before the reshape. Exchange heads and positions, axes 1 and 2.",
        lambda x: x.transpose(1, 2, 0, 3).reshape(x.shape[0], x.shape[2], -1),
    ),
    ("The heads were summed. They go side by side.", lambda x: x.sum(1)),
    ("The heads were averaged. They go side by side.", lambda x: x.mean(1)),
    ("Only the first head is left. All heads go side by side.", lambda x: x[:, 0]),
    ("Only the last head is left. All heads go side by side.", lambda x: x[:, -1]),
    ("The positions are in reverse order. Keep their order.", lambda x: right_merge(x[:, :, ::-1])),
    (
        "Heads and positions were exchanged, but the heads are not put side by side. Reshape to (B, L, H * D).",
        lambda x: x.swapaxes(1, 2),
    ),
    ("x was returned unchanged. Put its heads side by side, (B, L, H * D).", lambda x: x),
    (
        "The heads are put one after the other along the positions. They go side by side along the last axis: (B, L, H * D).",
        lambda x: x.reshape(x.shape[0], -1, x.shape[3]),
    ),
    (
        "The heads are put one after the other along the positions. They go side by side along the last axis: (B, L, H * D).",
        lambda x: x.swapaxes(1, 2).reshape(x.shape[0], -1, x.shape[3]),
    ),
    (
        "The result is (L, B, E), it should be (B, L, E).",
        lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1),
    ),
    (
        "Batch and positions are one axis. The result should be (B, L, E).",
        lambda x: x.swapaxes(1, 2).reshape(-1, x.shape[1] * x.shape[3]),
    ),
)
EXERCISE = Exercise(
    name="merge_heads",
    module="04_attention",
    defines="_merge_heads",
    cases=(Case("values", 1.5, values), Case("gradient", 0.5, gradient)),
    reference=reference,
    misconceptions=(
        *(computes(sentence, "merged", function) for sentence, function in WRONG),
        computes("Only the largest value of all heads is left. They go side by side.", "merged", lambda x: x.max(1)),
        computes(
            "The first head is repeated. Each head goes to its own place.",
            "merged",
            lambda x: np.concatenate([x[:, 0]] * x.shape[1], axis=-1),
        ),
        computes(
            "The components of each head are in reverse order. Keep their order.",
            "merged",
            lambda x: right_merge(x[..., ::-1]),
        ),
        computes(
            "L and H are mixed up: the shape is (B, H, L, D), and the result (B, L, H * D).",
            "merged",
            lambda x: x.swapaxes(1, 2).reshape(x.shape[0], x.shape[1], -1),
        ),
        computes(
            "L and H are mixed up: the shape is (B, H, L, D), and the result (B, L, H * D).",
            "merged",
            lambda x: x.reshape(x.shape[0], x.shape[1], -1),
        ),
        computes(
            "Batch and positions are exchanged before the reshape. Exchange heads and positions, axes 1 and 2.",
            "merged",
            lambda x: x.swapaxes(0, 2).reshape(x.shape[0], x.shape[2], -1),
        ),
        computes(
            "The heads are put one after the other along the batch. They go side by side along the last axis.",
            "merged",
            lambda x: np.concatenate(list(x.swapaxes(0, 1)), axis=0),
        ),
        computes(
            "A reshape to (B, H * D, L) mixes positions. Exchange heads and positions first, then reshape to (B, L, H * D).",
            "merged",
            lambda x: x.reshape(x.shape[0], -1, x.shape[2]).swapaxes(1, 2),
        ),
        says(
            "The sizes of the reshape do not fit x. The result is (B, L, H * D), for any number of heads.",
            Raised.RESHAPE,
        ),
        shows(
            "The result has the wrong number of axes. It should have three: (B, L, H * D).",
            other_rank("merged"),
            rough=True,
        ),
        shows("The result has the wrong shape. It should be (B, L, H * D).", other_shape("merged"), rough=True),
        shows("The function takes other arguments than described. It is called with x alone.", cannot_be_called()),
    ),
    stand_in=StandIn(
        "_merge_heads",
        ("x",),
        1,
        lambda x: [references.merge_heads(x)],
        lambda _index, grad, x: [references.split_heads(grad, x.shape[1])],
    ),
)
