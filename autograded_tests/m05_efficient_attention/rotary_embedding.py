"""Positions as rotations of pairs of components."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.exceptions import Raised
from exercises.signs.gradients import half_of_each_pair


def two_axes(d: Data) -> Array:
    return d.normal(230, d.L, 2 * d.H)  # a width is even


def three_axes(d: Data) -> Array:
    return d.normal(231, d.B, d.S, 2 * d.H)


def four_axes(d: Data) -> Array:
    return d.normal(232, d.B, d.H, d.L, 2 * d.S)


def one_pair(d: Data) -> Array:
    return d.normal(233, d.H, 2)


def ask(x: Array, compare: tuple[str, ...] = ("result",), **inputs: Any) -> Question:
    return Question("function", {"name": "rotary_embedding", "x": x} | inputs, compare)


def values(d: Data) -> tuple[Question, ...]:
    return tuple(ask(x(d)) for x in (four_axes, two_axes, three_axes, one_pair))


def offsets(d: Data) -> tuple[Question, ...]:
    return ask(three_axes(d), offset=7), ask(two_axes(d)[:1], offset=3)


def gradient(d: Data) -> tuple[Question, ...]:
    x = three_axes(d)
    return (ask(x, ("grad_x", "x_after"), grad=d.normal(234, *x.shape)),)


def reference(question: Question) -> Arrays:
    options = {name: question[name] for name in ("offset", "base") if name in question.inputs}
    answer = {"result": references.rotary(question["x"], **options), "x_after": question["x"]}
    if question.get("grad") is not None:
        answer["grad_x"] = references.rotary(question["grad"], direction=-1, **options)
    return answer


def rows(x: Array) -> Array:
    return np.arange(x.shape[-2])[:, None]


def turn(
    x: Array,
    offset: float = 0,
    base: float = 10000.0,
    *,
    angle: Function = lambda p, i, D, base: p * base ** (-2 * i / D),
    positions: Function = rows,
    pair: str = "neighbours",
    sign: int = 1,
    first_sign: int = -1,
    join: str = "pairs",
) -> Array:
    """Rotary embedding in which each step can be replaced by a wrong one."""
    D = x.shape[-1]
    angles = sign * angle(offset + positions(x), np.arange(D // 2), D, base)
    halves = pair == "halves"
    a, b = (x[..., : D // 2], x[..., D // 2 :]) if halves else (x[..., 0::2], x[..., 1::2])
    turned = a * np.cos(angles) + first_sign * b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    if halves or join == "halves":
        return np.concatenate(turned, axis=-1)
    return np.stack(turned, axis=-1).reshape(x.shape)


def turns(sentence: str, **steps: Any) -> Misconception:
    return computes(sentence, "result", lambda x, offset=0, base=10000.0: turn(x, offset, base, **steps))


def angles_of(x: Array, offset: int, base: float) -> Array:
    D = x.shape[-1]
    return np.asarray((offset + rows(x)) * base ** (-np.arange(0, D, 2) / D))


def with_positions_added(x: Array, offset: int = 0, base: float = 10000.0) -> Array:
    a = angles_of(x, offset, base)
    return np.asarray(x + np.stack([np.sin(a), np.cos(a)], axis=-1).reshape(x.shape[-2:]))


def scaled_only(x: Array, offset: int = 0, base: float = 10000.0) -> Array:
    a = angles_of(x, offset, base)
    return np.asarray(x * np.stack([np.cos(a), np.sin(a)], axis=-1).reshape(x.shape[-2:]))


def offset_as_factor(question: Question) -> Arrays | None:
    if "offset" not in question.inputs:
        return None
    base = question.get("base", 10000.0)
    return {"result": turn(question["x"], 0, base, positions=lambda x: question["offset"] * rows(x))}


WRONG_ROTATIONS = (
    turns("The first and the second half form pairs. Here neighbours do: components 2i and 2i + 1.", pair="halves"),
    turns(
        "The two components of each pair are not side by side in the result: stack them on a new last axis, then reshape.",
        join="halves",
    ),
    turns("The rotation goes the other way round: check the signs of the two sines.", sign=-1),
    turns(
        "Both sines are added. In a rotation one of the two has a minus: the one for component 2i.",
        first_sign=1,
    ),
    turns("Positions are counted from 1. They start at 0.", positions=lambda x: 1 + rows(x)),
    turns(
        "The exponent is -i / D; it should be -2i / D, so that the angles of D / 2 pairs span the whole range.",
        angle=lambda p, i, D, base: p * base ** (-i / D),
    ),
    turns("The exponent is -4i / D; it should be -2i / D.", angle=lambda p, i, D, base: p * base ** (-4 * i / D)),
    turns(
        "The exponent has the wrong sign: later pairs turn more slowly, base**(-2i / D).",
        angle=lambda p, i, D, base: p * base ** (2 * i / D),
    ),
    turns("All pairs turn by the same angle.", angle=lambda p, i, D, base: p * np.ones(len(i))),
    turns("All positions turn by the same angle.", angle=lambda p, i, D, base: np.ones_like(p) * base ** (-2 * i / D)),
    turns(
        "The angles are in degrees. NumPy's sine and cosine take radians.",
        angle=lambda p, i, D, base: np.radians(p * base ** (-2 * i / D)),
    ),
    turns("The angle has a factor of 2 pi too many.", angle=lambda p, i, D, base: 2 * np.pi * p * base ** (-2 * i / D)),
    turns(
        "The positions are those of another axis; the last but one counts.",
        positions=lambda x: np.arange(x.shape[1])[:, None, None] if x.ndim == 4 else rows(x),
    ),
    turns(
        "The positions are those of the first axis; the last but one counts.",
        positions=lambda x: np.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)),
    ),
    turns("x came back as it was.", angle=lambda p, i, D, base: 0 * p * i),
)

EXERCISE = Exercise(
    name="rotary_embedding",
    module="05_efficient_attention",
    defines="rotary_embedding",
    cases=(
        Case("values", 2, values),
        Case("offset", 0.75, offsets),
        Case("base", 0.5, lambda d: (ask(three_axes(d), base=100.0),)),
        Case("gradient", 0.75, gradient),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_ROTATIONS,
        computes(
            "The offset is ignored: the first row is at position `offset`.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, 0, base),
        ),
        computes(
            "The offset is subtracted from the position. It is added.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, -offset, base),
        ),
        Misconception("The offset multiplies the position. It is added to it.", wrong=offset_as_factor),
        computes(
            "The base is ignored: 10000 is only what it is unless said otherwise.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, offset),
        ),
        computes(
            "Sines and cosines are added to x. That is the encoding of the last notebook; here pairs are turned.",
            "result",
            with_positions_added,
        ),
        computes(
            "Each component is multiplied by a cosine or a sine of its own; a rotation mixes the two of a pair.",
            "result",
            scaled_only,
        ),
        says(
            "It works for some numbers of axes only: rows are axis -2, components axis -1, with any axes before them.",
            Raised.UNPACK,
            Raised.AXIS,
            Raised.INDEX,
            Raised.BROADCAST,
            Raised.RESHAPE,
        ),
        shows(
            "The gradient does not reach every other component of x: `.data` cuts the graph of one of the two parts.",
            half_of_each_pair(),
            ("gradient",),
        ),
        NAMES_KEPT,
    ),
)
