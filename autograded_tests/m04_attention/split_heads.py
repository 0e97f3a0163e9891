"""The embedding cut into heads."""

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, cut, right_split
from exercises.data import Data
from exercises.misconceptions import computes, says, shows
from exercises.model import Arrays, Case, Exercise, Question, StandIn
from exercises.signs.arrays import other_rank, other_shape
from exercises.signs.exceptions import Raised, cannot_be_called

RECOGNISABLE = np.array([[[111, 112, 121, 122], [211, 212, 221, 222], [311, 312, 321, 322]]], np.float32)


def embedded(d: Data) -> Array:
    """(B, L, H * S): it can be cut into H heads of width S, and into S heads of width H."""
    return d.normal(90, d.B, d.L, d.H * d.S)


def ask(x: Array, num_heads: int, compare: tuple[str, ...] = ("heads",), grad: Array | None = None) -> Question:
    return Question("split_heads", {"x": x, "num_heads": num_heads, "grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    as_many_positions_as_heads = d.normal(91, d.B, d.H, d.H * d.S)
    return (
        ask(RECOGNISABLE, 2),
        ask(embedded(d), d.H),
        ask(embedded(d), d.S),
        ask(embedded(d), 1),
        ask(as_many_positions_as_heads, d.H),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(embedded(d), d.H, ("grad_x", "x_after"), d.normal(92, d.B, d.H, d.L, d.S)),)


def reference(question: Question) -> Arrays:
    x, grad = question["x"], question["grad"]
    answer = {"heads": references.split_heads(x, question["num_heads"]), "x_after": x}
    return answer if grad is None else answer | {"grad_x": references.merge_heads(grad)}


WRONG = (
    (
        "A single reshape to (B, H, L, D) mixes positions: it keeps the order of the numbers. Cut the last axis, then exchange two.",
        lambda x, num_heads: x.reshape(x.shape[0], num_heads, x.shape[1], -1),
    ),
    (
        "The heads are interleaved: head h must hold components h*D to (h+1)*D, side by side.",
        lambda x, num_heads: np.moveaxis(x.reshape(*x.shape[:2], -1, num_heads), -1, 1),
    ),
    (
        "The heads are in reverse order. Head 0 holds the first components.",
        lambda x, num_heads: right_split(x, num_heads)[:, ::-1],
    ),
    (
        "The head axis was not moved: the result is (B, L, H, D), it should be (B, H, L, D).",
        cut,
    ),
    (
        "The last two axes are exchanged: the result should be (B, H, L, D).",
        lambda x, num_heads: cut(x, num_heads).transpose(0, 2, 3, 1),
    ),
    (
        "The batch axis is in the wrong place: the result should be (B, H, L, D).",
        lambda x, num_heads: cut(x, num_heads).transpose(2, 0, 1, 3),
    ),
    (
        "Batch and heads have changed places: the result should be (B, H, L, D).",
        lambda x, num_heads: cut(x, num_heads).transpose(2, 1, 0, 3),
    ),
    (
        "num_heads is used as the width of a head. It is the number of heads.",
        lambda x, num_heads: x.reshape(*x.shape[:2], -1, num_heads).swapaxes(1, 2),
    ),
    (
        "The positions are in reverse order. Keep their order.",
        lambda x, num_heads: right_split(x, num_heads)[:, :, ::-1],
    ),
    (
        "The components of each head are in reverse order. Keep their order.",
        lambda x, num_heads: right_split(x, num_heads)[..., ::-1],
    ),
    (
        "All heads hold the first head's components. Head h holds components h*D to (h+1)*D.",
        lambda x, num_heads: np.repeat(right_split(x, num_heads)[:, :1], num_heads, 1),
    ),
    (
        "Each head holds the whole embedding. Cut it into num_heads parts.",
        lambda x, num_heads: np.repeat(x[:, None], num_heads, 1),
    ),
    ("x was returned unchanged. Cut its last axis into heads, (B, H, L, D).", lambda x, num_heads: x),
    (
        "Heads and batch are one axis. The result should have four: (B, H, L, D).",
        lambda x, num_heads: right_split(x, num_heads).reshape(-1, x.shape[1], x.shape[2] // num_heads),
    ),
    (
        "Batch elements are mixed: the batch is not the first axis of the reshape. Keep it as an axis of its own.",
        lambda x, num_heads: (
            x.reshape(-1, num_heads, x.shape[2] // num_heads)
            .swapaxes(0, 1)
            .reshape(x.shape[0], num_heads, x.shape[1], -1)
        ),
    ),
)
EXERCISE = Exercise(
    name="split_heads",
    module="04_attention",
    defines="_split_heads",
    cases=(Case("values", 2.25, values), Case("gradient", 0.75, gradient)),
    reference=reference,
    misconceptions=(
        *(computes(sentence, "heads", function) for sentence, function in WRONG),
        computes(
            "x is transposed before the reshape, which mixes positions. Cut the last axis first, then exchange two.",
            "heads",
            lambda x, num_heads: x.swapaxes(1, 2).reshape(x.shape[0], num_heads, x.shape[1], -1),
        ),
        computes(
            "The heads come before the batch in the reshape, which mixes positions. Cut the last axis: (B, L, H, D).",
            "heads",
            lambda x, num_heads: x.reshape(num_heads, x.shape[0], x.shape[1], -1).swapaxes(0, 1),
        ),
        computes(
            "The heads overlap: head h starts at component h. It should hold components h*D to (h+1)*D.",
            "heads",
            lambda x, num_heads: np.stack([x[..., h : h + x.shape[-1] // num_heads] for h in range(num_heads)], axis=1),
        ),
        computes(
            "The batch elements are run together into one long sequence, (1, H, B * L, D). Keep the batch as an axis of its own.",
            "heads",
            lambda x, num_heads: right_split(x.reshape(1, -1, x.shape[-1]), num_heads),
        ),
        computes(
            "num_heads is used as the width of a head. It is the number of heads.",
            "heads",
            lambda x, num_heads: np.stack(
                [x[..., h * num_heads : (h + 1) * num_heads] for h in range(num_heads)], axis=1
            ),
        ),
        computes(
            "With one head the axis of the heads is missing. It is there all the same: (B, 1, L, E).",
            "heads",
            lambda x, num_heads: x if num_heads == 1 else right_split(x, num_heads),
        ),
        says(
            "The sizes of the reshape do not fit x. Cut the last axis into num_heads heads of width E // num_heads.",
            Raised.RESHAPE,
        ),
        shows(
            "The result has the wrong number of axes. It should have four: (B, H, L, D).",
            other_rank("heads"),
            rough=True,
        ),
        shows(
            "The result has the wrong shape. It should be (B, H, L, D), with D = E // H.",
            other_shape("heads"),
            rough=True,
        ),
        shows(
            "The function takes other arguments than described. It is called with x and num_heads, in this order.",
            cannot_be_called(),
        ),
    ),
    stand_in=StandIn(
        "_split_heads",
        ("x", "num_heads"),
        1,
        lambda x, num_heads: [references.split_heads(x, num_heads)],
        lambda _index, grad, x, num_heads: [references.merge_heads(grad)],
    ),
)
