"""Positions as rotations of pairs of components."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import other_shape
from exercises.signs.exceptions import Raised
from exercises.signs.facts import first_pair_only, pairs_keep_their_lengths
from exercises.signs.gradients import half_of_each_pair
from exercises.signs.numbers import one_factor
from exercises.signs.shapes import raised_as


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
    join: str = "pairs",
    mix: Function = lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos),
) -> Array:
    """Rotary embedding in which each step can be replaced by a wrong one."""
    D = x.shape[-1]
    angles = sign * angle(offset + positions(x), np.arange(D // 2), D, base)
    halves = pair == "halves"
    a, b = (x[..., : D // 2], x[..., D // 2 :]) if halves else (x[..., 0::2], x[..., 1::2])
    turned = mix(a, b, np.cos(angles), np.sin(angles))
    if halves or join == "halves":
        return np.concatenate(turned, axis=-1)
    return np.stack(turned, axis=-1).reshape(x.shape)


def first_overwritten(a: Array, b: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    a = a * cos - b * sin
    return a, a * sin + b * cos


def second_overwritten(a: Array, b: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    b = a * sin + b * cos
    return a * cos - b * sin, b


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


def offset_without_frequency(x: Array, offset: int = 0, base: float = 10000.0) -> Array:
    """The offset is added to the angle, not to the position."""
    return turn(x, 0, base, angle=lambda p, i, D, base: offset + p * base ** (-2 * i / D))


def kept(name: str) -> Function:
    """What is not used where the same positions and width were asked about before."""

    def wrong(question: Question) -> Arrays | None:
        used = {key: question[key] for key in ("offset", "base") if key in question.inputs}
        if question["x"].ndim == 3 and question["x"].shape[-2] > 2:
            used.pop(name, None)
        return {"result": turn(question["x"], **used)}

    return wrong


def linspaced(p: Array, i: Array, D: int, base: float) -> Array:
    return np.asarray(p * base ** (-i / max(len(i) - 1, 1)))


def angles_of_halves(x: Array, offset: int = 0, base: float = 10000.0) -> Array:
    """Neighbours are turned, by angles that stand as for two halves."""
    angles = np.concatenate([angles_of(x, offset, base)] * 2, axis=-1)
    other = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return np.asarray(x * np.cos(angles) + other * np.sin(angles))


def another_base(wrong: float) -> Function:
    """A base that is used unless another is given."""
    return lambda x, offset=0, base=wrong: turn(x, offset, base)


WRONG_ANGLES = (
    turns("Positions are counted from 1. They should start at 0.", positions=lambda x: 1 + rows(x)),
    turns(
        "The exponents go from 0 to -1, the end included, as by linspace. They should be -2 * i / D.", angle=linspaced
    ),
    turns("The exponent is -i / D. It should be -2 * i / D.", angle=lambda p, i, D, base: p * base ** (-i / D)),
    turns("The exponent is -4 * i / D. It should be -2 * i / D.", angle=lambda p, i, D, base: p * base ** (-4 * i / D)),
    turns(
        "The exponent has the wrong sign: later pairs should turn more slowly, by base**(-2 * i / D).",
        angle=lambda p, i, D, base: p * base ** (2 * i / D),
    ),
    turns(
        "The exponent is not divided by D. It should be -2 * i / D.",
        angle=lambda p, i, D, base: p * base ** (-2.0 * i),
    ),
    turns(
        "The exponent is rounded to a whole number, as by `//`. It should be -2 * i / D.",
        angle=lambda p, i, D, base: p * base ** np.floor(-2 * i / D),
    ),
    turns(
        "The power is divided by D: base**(-2 * i) / D. The exponent should be divided: write base ** (-2 * i / D).",
        angle=lambda p, i, D, base: p * base ** (-2.0 * i) / D,
    ),
    turns(
        "The pairs are counted from 1. The first pair has i = 0.",
        angle=lambda p, i, D, base: p * base ** (-2 * (i + 1) / D),
    ),
    turns(
        "base is multiplied by 2 * i / D or divided by it. It should be raised to the power -2 * i / D.",
        angle=lambda p, i, D, base: p / base * (2 * i / D),
    ),
    turns(
        "All pairs turn by the same angle. Pair i should turn by base**(-2 * i / D) for each position.",
        angle=lambda p, i, D, base: p * np.ones(len(i)),
    ),
    turns(
        "All positions turn by the same angle. Row p should turn by (offset + p) times the angle of one position.",
        angle=lambda p, i, D, base: np.ones_like(p) * base ** (-2 * i / D),
    ),
    turns(
        "The angles are in degrees. NumPy's sine and cosine take radians.",
        angle=lambda p, i, D, base: np.radians(p * base ** (-2 * i / D)),
    ),
    turns(
        "The angles have a factor of 2 * pi. It should not be there.",
        angle=lambda p, i, D, base: 2 * np.pi * p * base ** (-2 * i / D),
    ),
    turns(
        "The positions are those of another axis. They should be those of the second-to-last axis.",
        positions=lambda x: np.arange(x.shape[1])[:, None, None] if x.ndim == 4 else rows(x),
    ),
    turns(
        "The positions are those of the first axis. They should be those of the second-to-last axis.",
        positions=lambda x: np.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)),
    ),
    turns("x was returned unchanged. Its pairs should be rotated.", angle=lambda p, i, D, base: 0 * p * i),
)
NOT_SIDE_BY_SIDE = "The two components of each pair are not side by side in the result. Stack the two parts on a new last axis, then reshape."
WRONG_PAIRS = (
    turns("The first and the second half form pairs. Neighbours should: components 2i and 2i + 1.", pair="halves"),
    turns(NOT_SIDE_BY_SIDE, join="halves"),
    computes(
        NOT_SIDE_BY_SIDE,
        "result",
        lambda x, offset=0, base=10000.0: np.moveaxis(
            turn(x, offset, base).reshape(*x.shape[:-1], -1, 2), -1, 0
        ).reshape(x.shape),
    ),
    turns(
        "The pairs are rotated the wrong way round. Component 2i should be a * cos - b * sin, and component 2i + 1 a * sin + b * cos "
        "(with a matrix: for a pair as a row, pair @ matrix, it must be transposed).",
        sign=-1,
    ),
    turns(
        "Both sines are added. In a rotation one has a minus: a * cos - b * sin for component 2i.",
        mix=lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos),
    ),
    turns(
        "Both sines are subtracted. In a rotation one is added: a * sin + b * cos for component 2i + 1.",
        mix=lambda a, b, cos, sin: (a * cos - b * sin, b * cos - a * sin),
    ),
    turns(
        "The first part was overwritten before the second was computed. Both need the old a and b.",
        mix=first_overwritten,
    ),
    turns(
        "The second part was overwritten before the first was computed. Both need the old a and b.",
        mix=second_overwritten,
    ),
    turns(
        "The two components of each pair are exchanged in the result: a * cos - b * sin should come first.",
        mix=lambda a, b, cos, sin: (a * sin + b * cos, a * cos - b * sin),
    ),
    turns(
        "Sine and cosine are exchanged. Component 2i should be a * cos - b * sin.",
        mix=lambda a, b, cos, sin: (a * sin - b * cos, a * cos + b * sin),
    ),
    turns(
        "The sine is used in all four places, or the cosine. Component 2i should be a * cos - b * sin.",
        mix=lambda a, b, cos, sin: (a * cos - b * cos, a * cos + b * cos),
    ),
    turns(
        "The sine is used in all four places, or the cosine. Component 2i should be a * cos - b * sin.",
        mix=lambda a, b, cos, sin: (a * sin - b * sin, a * sin + b * sin),
    ),
    turns(
        "Component 2i + 1 of each pair is unchanged. It should be a * sin + b * cos.",
        mix=lambda a, b, cos, sin: (a * cos - b * sin, b),
    ),
    turns(
        "Component 2i of each pair is unchanged. It should be a * cos - b * sin.",
        mix=lambda a, b, cos, sin: (a, a * sin + b * cos),
    ),
    turns(
        "Both components of a pair are the same. They should be a * cos - b * sin and a * sin + b * cos.",
        mix=lambda a, b, cos, sin: (a * cos - b * sin, a * cos - b * sin),
    ),
    turns(
        "Component 2i is made of itself alone. It should be a * cos - b * sin.",
        mix=lambda a, b, cos, sin: (a * cos - a * sin, a * sin + b * cos),
    ),
    turns(
        "Component 2i + 1 is made of itself alone. It should be a * sin + b * cos.",
        mix=lambda a, b, cos, sin: (a * cos - b * sin, b * sin + b * cos),
    ),
)
EVERYWHERE = ("values", "offset", "base")

EXERCISE = Exercise(
    name="rotary_embedding",
    module="05_efficient_attention",
    defines="rotary_embedding",
    cases=(
        Case("values", 2, values),
        Case("offset", 0.75, offsets),
        Case("base", 0.5, lambda d: (ask(three_axes(d), base=100.0), ask(three_axes(d)[:, :2], base=100.0))),
        Case("gradient", 0.75, gradient),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_PAIRS,
        *WRONG_ANGLES,
        computes(
            "`offset` is not used. The first row should be at position `offset`.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, 0, base),
        ),
        computes(
            "The offset is subtracted from the position. It should be added.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, -offset, base),
        ),
        Misconception("The offset multiplies the position. It should be added to it.", wrong=offset_as_factor),
        computes(
            "The offset is added to the angle. It should be added to the position, before the frequency is multiplied.",
            "result",
            offset_without_frequency,
        ),
        computes(
            "`base` is not used: it is 10000 even when another base is given.",
            "result",
            lambda x, offset=0, base=10000.0: turn(x, offset),
        ),
        *(
            computes(
                "The base is not 10000 when none is given. Keep the default of the parameter.",
                "result",
                another_base(b),
            )
            for b in (100.0, 1000.0, 100000.0)
        ),
        computes(
            "Sines and cosines are added to x. That is the encoding of the last notebook; here pairs should be rotated.",
            "result",
            with_positions_added,
        ),
        computes(
            "Each component is multiplied by a cosine or a sine of its own. A rotation should mix the two of a pair.",
            "result",
            scaled_only,
        ),
        computes(
            "The angles stand as for two halves, 0, 1, ..., 0, 1, ..., and the components as neighbours. "
            "Both of a pair need the same angle: 0, 0, 1, 1, ..., as by np.repeat.",
            "result",
            angles_of_halves,
        ),
        *(
            Misconception(
                f"`{name}` is used in one call and not in another: something is kept from an earlier call. "
                f"A table that is kept should belong to its {name}, too; or compute it anew in each call.",
                wrong=kept(name),
                cases=(name,),
            )
            for name in ("offset", "base")
        ),
        *seen("The result should have the shape of x.", other_shape("result"), *EVERYWHERE),
        *seen(
            "Only the first pair is right, at all positions. Pair i should turn by base**(-2 * i / D) for each position.",
            first_pair_only(),
            *EVERYWHERE,
        ),
        *seen(
            "Pairs keep their lengths, but not all turn by the right angle. Row p should turn pair i by (offset + p) * base**(-2 * i / D).",
            pairs_keep_their_lengths(),
            *EVERYWHERE,
        ),
        *seen(
            "All numbers are too large or too small by one factor. A rotation scales nothing.",
            one_factor("result"),
            *EVERYWHERE,
        ),
        *seen(
            "Pairs change their lengths, and in a rotation they do not. "
            "(a, b) should become (a * cos - b * sin, a * sin + b * cos), with one angle in all four places.",
            pairs_keep_their_lengths(keep=False),
            *EVERYWHERE,
        ),
        shows(
            "With an offset the shapes do not fit. The L positions should be offset, offset + 1, ..., offset + L - 1.",
            raised_as("broadcast"),
            ("offset",),
        ),
        says(
            "The shapes do not fit. The angles should be (L, D / 2), a row for each position and a column for each pair; "
            "the two parts of x are (..., L, D / 2).",
            Raised.BROADCAST,
        ),
        shows(
            "x is indexed with a fixed number of axes. There may be any number before the last two: write x[..., 0::2].",
            raised_as("too many indices", r"\["),
        ),
        shows(
            "`^` is not the power operator. Write `**`.",
            raised_as("bitwise_xor", r"\^"),
        ),
        shows(
            "A whole number is raised to a negative power, which NumPy refuses. Keep `base` a float, and divide by `/`, not `//`.",
            raised_as("Integers to negative integer powers"),
        ),
        shows(
            "`math.cos` and `math.sin` take one number. Use `np.cos` and `np.sin` for arrays.",
            raised_as("converted to Python scalars", r"math\.(cos|sin)"),
        ),
        shows(
            "The gradient does not reach every other component of x: `.data` cuts the graph of one of the two parts.",
            half_of_each_pair(),
            ("gradient",),
        ),
        NAMES_KEPT,
    ),
)
