"""Attention tile by tile: output and logsumexp, and never the whole table of weights."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._tiles import (
    TILES_TOO_LARGE,
    WHAT_IS_LEFT_OUT,
    WHOLE,
    as_many_queries,
    ask_memory,
    fewer_queries,
    mask_of_fewer,
    not_causal,
    not_masked,
    options,
    tile_scores,
    tiles_left,
)
from autograded_tests.m05_efficient_attention.online_softmax import EXERCISE as ONLINE_SOFTMAX
from autograded_tests.m05_efficient_attention.online_softmax import online
from autograded_tests.variants import Array, Function, softmax
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import holds_nan, nan_instead_of_numbers, not_finite, other_shape
from exercises.signs.exceptions import Raised


def ask(
    inputs: dict[str, Array],
    block: int,
    mask: Array | None = None,
    causal: bool = False,
    compare: tuple[str, ...] = ("output",),
) -> Question:
    about = {"name": "_tiled_forward", "results": ["output", "logsumexp"]}
    return Question("array_function", about | inputs | options(block, mask, causal), compare)


def values(d: Data) -> tuple[Question, ...]:
    return tuple(ask(fewer_queries(d), block) for block in (d.B, d.H, WHOLE))


def far_below_zero(d: Data) -> dict[str, Array]:
    """All scores are so low that their exponentials are 0."""
    inputs = fewer_queries(d)
    inputs["Q"][:, 0], inputs["K"][:, 0] = 60, -60
    return inputs


def logsumexp(d: Data) -> tuple[Question, ...]:
    return (
        ask(fewer_queries(d), d.H, compare=("logsumexp",)),
        ask(far_below_zero(d), d.H, compare=("logsumexp",)),
    )


def late_mask(d: Data) -> Array:
    """The first query may not look at anything in the first tiles."""
    keys = d.S + d.H
    mask = np.zeros((d.S, keys), np.float32)
    mask[0, keys // 2 :] = 1
    mask[1:, 0] = 1
    mask[:, keys // 2 + 1] = np.arange(d.S) > 0
    return mask


def mask_of_as_many(d: Data) -> Array:
    """Every query may look at itself, so that no row is empty where the future is blocked too."""
    n = 2 * d.L
    return np.asarray(np.maximum(d.random_mask(277, n, n), np.eye(n, dtype=np.float32)))


def masked(d: Data) -> tuple[Question, ...]:
    return (
        ask(fewer_queries(d), d.H, mask_of_fewer(d)),
        ask(fewer_queries(d), d.B, late_mask(d)),
        ask(as_many_queries(d), d.H, mask_of_as_many(d), causal=True),
    )


def causal(d: Data) -> tuple[Question, ...]:
    return (
        ask(as_many_queries(d), d.H, causal=True),
        ask(fewer_queries(d), d.B, causal=True),
        ask(fewer_queries(d), d.H, causal=True),
    )


def poisoned_future(d: Data) -> tuple[Question, ...]:
    """Keys and values after the first block are nan: whoever touches the future of the first queries gets nan."""
    inputs = as_many_queries(d)
    inputs["K"][d.L :], inputs["V"][d.L :] = np.nan, np.nan
    return (ask(inputs, d.L, causal=True),)


def reference(question: Question) -> Arrays:
    if question.probe == "whole_table":
        return {"whole_table": np.array(0)}
    return dict(zip(("output", "logsumexp"), right_results(question), strict=True))


def right_results(question: Question) -> tuple[Array, Array]:
    return references.tiled_forward(*(question[name] for name in ("Q", "K", "V", "mask", "causal")))


def largest_and_total(question: Question, **parts: Any) -> tuple[Array, Array]:
    s = tile_scores(question, **parts)
    m = s.max(-1, keepdims=True)
    return m, np.exp(s - m).sum(-1, keepdims=True)


def tiled_with(sentence: str, cases: tuple[str, ...] = (), **parts: Function) -> Misconception:
    """Other scores, or others that count."""

    def wrong(question: Question) -> Arrays:
        largest, total = largest_and_total(question, **parts)
        return {"output": softmax(tile_scores(question, **parts)) @ question["V"], "logsumexp": largest + np.log(total)}

    return Misconception(sentence, wrong=wrong, cases=cases)


def wrong_logsumexp(sentence: str, function: Function) -> Misconception:
    """Something else made of the largest score and the total."""
    return Misconception(
        sentence, wrong=lambda question: {"logsumexp": function(*largest_and_total(question))}, cases=("logsumexp",)
    )


def skipped_from_top(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Tiles left out as if the first query were at position 0."""
    return tiles_left(L, S, mask, causal, causal, block, lambda first, last, start, stop: start <= last - S + L)


def not_causal_in_tiles(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Tiles of the future are left out, and within the others everything is allowed."""
    return tiles_left(L, S, mask, False, causal, block, lambda first, last, start, stop: start <= last)


def skipped_by_first_row(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return tiles_left(L, S, mask, causal, causal, block, lambda first, last, start, stop: start <= first)


def skipped_diagonal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return tiles_left(
        L, S, mask, causal, causal, block, lambda first, last, start, stop: stop <= last + 1 or start == 0
    )


def undivided(question: Question) -> Arrays:
    _, total = largest_and_total(question)
    return {"output": right_results(question)[0] * total}


def averaged_tiles(question: Question) -> Arrays:
    s, V, block = tile_scores(question), question["V"], question["block"]
    starts = range(0, len(V), block)
    return {"output": sum(softmax(s[:, j : j + block]) @ V[j : j + block] for j in starts) / len(starts)}


def divided_in_each_tile(question: Question) -> Arrays:
    s, V, block = tile_scores(question), question["V"], question["block"]
    m, total, output = np.full((len(s), 1), -np.inf), np.zeros((len(s), 1)), np.zeros((len(s), V.shape[1]))
    for j in range(0, len(V), block):
        m, total, output = online(m, total, output, s[:, j : j + block], V[j : j + block])
        output = output / total
    return {"output": output}


def values_of_the_first_tile(question: Question) -> Arrays:
    s, V = tile_scores(question), question["V"]
    return {"output": softmax(s) @ V[np.arange(len(V)) % question["block"]]}


EXERCISE = Exercise(
    name="tiled_forward",
    module="05_efficient_attention",
    defines="_tiled_forward",
    uses=(ONLINE_SOFTMAX,),
    cases=(
        Case("values", 2, values, needs_another=True),
        Case("logsumexp", 0.75, logsumexp),
        Case("mask", 0.75, masked),
        Case("causal", 0.75, causal),
        Case("tiles of the future are left out", 0.25, poisoned_future),
        Case("never the whole table", 0.5, lambda d: (ask_memory("_tiled_forward", False),), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(tiled_with(sentence, allowed=allowed) for sentence, allowed in WHAT_IS_LEFT_OUT),
        tiled_with("The mask is ignored: hand it on to `_tile_scores`.", cases=("mask",), allowed=not_masked),
        *(
            tiled_with(
                "`causal` is ignored: hand it on to `_tile_scores`, which blocks what is in the future within a tile.",
                allowed=allowed,
            )
            for allowed in (not_causal, not_causal_in_tiles)
        ),
        *(
            tiled_with(
                "Too many tiles are left out: only those whose *first* key comes after the *last* of their queries; row i is at i + S - L.",
                allowed=allowed,
            )
            for allowed in (skipped_from_top, skipped_by_first_row, skipped_diagonal)
        ),
        tiled_with("The scores are not scaled.", scale=lambda D: 1.0),
        tiled_with("The scores are scaled twice: `_tile_scores` has done it.", scale=lambda D: D),
        Misconception("The outputs are not divided by the total at the end.", wrong=undivided),
        Misconception(
            "The outputs of the tiles are averaged. Tiles weigh differently: that is what `_online_softmax` keeps account of.",
            wrong=averaged_tiles,
        ),
        Misconception(
            "The output is divided by the total after each tile. Until the end it is a sum; divide once, after the last tile.",
            wrong=divided_in_each_tile,
        ),
        Misconception(
            "All tiles use the values of the first one: a tile has values of its own, V[keys].",
            wrong=values_of_the_first_tile,
        ),
        *(
            wrong_logsumexp(sentence, function)
            for sentence, function in (
                ("The total came back as logsumexp. It is largest + log(total).", lambda m, t: t),
                ("The largest score came back as logsumexp. It is largest + log(total).", lambda m, t: m),
                ("The largest score is missing: logsumexp is largest + log(total).", lambda m, t: np.log(t)),
                ("log(total) is subtracted: logsumexp is largest + log(total).", lambda m, t: m - np.log(t)),
                ("The logarithm is missing: logsumexp is largest + log(total).", lambda m, t: m + t),
                (
                    "This is the sum of exponentials; its logarithm is asked for, largest + log(total).",
                    lambda m, t: t * np.exp(m),
                ),
                ("The logarithm is to base 2. The natural one is asked for.", lambda m, t: m + np.log2(t)),
            )
        ),
        shows(
            "Scores that are all far below 0 are lost: before the first tile the largest score is -inf, and the total 0.",
            not_finite("logsumexp"),
            ("logsumexp",),
        ),
        shows("logsumexp should be (L, 1).", other_shape("logsumexp"), ("logsumexp",)),
        shows(
            "Tiles in which nothing is allowed are computed all the same (the keys there were nan, and it shows). Leave them out.",
            nan_instead_of_numbers("output"),
            ("tiles of the future are left out",),
        ),
        shows(
            "nan: a row of a tile in which nothing is allowed must do no harm; later tiles make up for it.",
            holds_nan("output"),
            ("mask",),
        ),
        TILES_TOO_LARGE,
        says(
            "The shapes of tiles do not fit: the last tile of a row or column may be smaller than `block`.",
            Raised.BROADCAST,
            Raised.NUMPY_SHAPES,
        ),
        NAMES_KEPT,
    ),
)
