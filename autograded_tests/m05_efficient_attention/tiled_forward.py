"""Attention tile by tile: output and logsumexp, and never the whole table of weights."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.m05_efficient_attention._tiles import (
    CUT_TWICE,
    TILES_TOO_LARGE,
    WHAT_IS_LEFT_OUT,
    WHOLE,
    as_many_queries,
    ask_memory,
    causal_alone,
    causal_always,
    causal_from_top,
    fewer_queries,
    first_tile_if_causal,
    last_position_left_out,
    mask_alone,
    mask_inverted,
    mask_of_fewer,
    mask_of_first_rows,
    neither,
    not_causal,
    not_masked,
    options,
    tile_scores,
    tiles_left,
    up_to_a_blocked_tile,
    visited,
)
from autograded_tests.m05_efficient_attention.online_softmax import EXERCISE as ONLINE_SOFTMAX
from autograded_tests.m05_efficient_attention.online_softmax import online
from autograded_tests.variants import Array, Function, softmax
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import nan_instead_of_numbers, not_finite, other_shape
from exercises.signs.facts import (
    exchanged,
    first_rows_only,
    not_finite_beside,
    not_finite_of_small_scores,
    right_but_for,
    rows_off_by_a_factor,
)
from exercises.signs.shapes import raised_as, written_into_the_width_of

FUTURE = "tiles of the future are left out"
MASKED_OR_NOT = ("values", "mask", "causal")
ANY = (*MASKED_OR_NOT, "logsumexp")


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


def tiled_with(sentence: str, cases: tuple[str, ...] = ANY, **parts: Function) -> Misconception:
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


def neither_in_tiles(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return not_causal_in_tiles(L, S, None, causal, block)


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


def tiles(question: Question) -> list[tuple[slice, range]]:
    """Rows, and where the tiles begin that a right answer computes for them."""
    L, S, block = len(question["Q"]), len(question["K"]), question["block"]
    rows = [slice(a, min(a + block, L)) for a in range(0, L, block)]
    return [(r, range(0, min(S, r.stop + S - L) if question["causal"] else S, block)) for r in rows]


def divided_in_each_tile(question: Question) -> Arrays:
    s, V, block = tile_scores(question), question["V"], question["block"]
    result = np.zeros((len(s), V.shape[1]))
    for rows, keys_of_rows in tiles(question):
        n = rows.stop - rows.start
        m, total, output = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))
        for j in keys_of_rows:
            m, total, output = online(m, total, output, s[rows, j : j + block], V[j : j + block])
            output = output / total
        result[rows] = output
    return {"output": result}


def values_of_the_first_tile(question: Question) -> Arrays:
    s, V = tile_scores(question), question["V"]
    return {"output": softmax(s) @ V[np.arange(len(V)) % question["block"]]}


def added_in_each_tile(question: Question) -> Arrays:
    """What is right after each tile, added up."""
    s, V, block = tile_scores(question), question["V"], question["block"]
    output = np.zeros((len(s), V.shape[1]))
    for rows, keys_of_rows in tiles(question):
        for j in keys_of_rows:
            output[rows] += softmax(s[rows, : j + block]) @ V[: j + block]
    return {"output": output}


def multiplied_mask(question: Question) -> Arrays | None:
    """Blocked scores become 0."""
    if question["mask"] is None:
        return None
    s = np.where(visited(question) > 0, tile_scores(question, allowed=not_masked) * question["mask"], -2e9)
    return {"output": softmax(s) @ question["V"]}


def whole_rows_only(question: Question) -> Arrays:
    """Zeros for the queries that fill no whole block."""
    output, sums = right_results(question)
    left = np.arange(len(output))[:, None] < len(output) // question["block"] * question["block"]
    return {"output": output * left, "logsumexp": sums * left}


def diagonal_tiles(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return tiles_left(L, S, mask, causal, causal, block, lambda first, last, start, stop: start == first - S + L)


LOGSUMEXP: tuple[tuple[str, Function], ...] = (
    ("The total is returned as logsumexp. It should be largest + log(total).", lambda m, t: t),
    ("The largest score is returned as logsumexp. It should be largest + log(total).", lambda m, t: m),
    ("The largest score is missing: logsumexp should be largest + log(total).", lambda m, t: np.log(t)),
    ("log(total) is subtracted. logsumexp should be largest + log(total).", lambda m, t: m - np.log(t)),
    ("The sign is flipped: logsumexp should be largest + log(total).", lambda m, t: -m - np.log(t)),
    ("The logarithm is missing: logsumexp should be largest + log(total).", lambda m, t: m + t),
    (
        "log(total) is multiplied by the largest score. logsumexp should be largest + log(total).",
        lambda m, t: m * np.log(t),
    ),
    (
        "logsumexp is the logarithm of total + exp(largest). It should be largest + log(total).",
        lambda m, t: np.log(t + np.exp(m)),
    ),
    (
        "The sum of exponentials is returned as logsumexp. It should be its logarithm, largest + log(total).",
        lambda m, t: t * np.exp(m),
    ),
    ("The logarithm is to base 2. It should be the natural one, np.log.", lambda m, t: m + np.log2(t)),
    ("The logarithm is to base 10. It should be the natural one, np.log.", lambda m, t: m + np.log10(t)),
)
TOO_MANY_LEFT_OUT = (
    "Too many tiles are left out. Leave out only those whose first key comes after the last of their queries; "
    "row i is at position i + S - L."
)
CAUSAL_NOT_USED = "`causal` is not used within a tile. Pass it to `_tile_scores`, which blocks what is in the future."

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
        Case(FUTURE, 0.25, poisoned_future),
        Case("never the whole table", 0.5, lambda d: ask_memory("_tiled_forward", False), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(tiled_with(sentence, allowed=allowed) for sentence, allowed in WHAT_IS_LEFT_OUT),
        tiled_with("The mask is not used. Pass it to `_tile_scores`.", cases=("mask",), allowed=not_masked),
        tiled_with("The mask is inverted. It is 1 where a query may look.", cases=("mask",), allowed=mask_inverted),
        tiled_with(
            "All tiles of queries use the mask of the first queries. Pass the whole mask to `_tile_scores`.",
            ("mask",),
            allowed=mask_of_first_rows,
        ),
        tiled_with(
            "mask and causal are not used. Pass both to `_tile_scores`.", cases=("mask", "causal"), allowed=neither
        ),
        Misconception(
            "The mask multiplies the scores: a blocked score becomes 0, and still gets weight. Pass the mask to `_tile_scores`.",
            wrong=multiplied_mask,
            cases=("mask",),
        ),
        tiled_with(CAUSAL_NOT_USED, ("mask", "causal"), allowed=not_causal),
        tiled_with(CAUSAL_NOT_USED, ("mask", "causal", FUTURE), allowed=not_causal_in_tiles),
        tiled_with(
            "The future is blocked although `causal` is False. Pass `causal` to `_tile_scores` as it is.",
            ("values", "mask", "logsumexp"),
            allowed=causal_always,
        ),
        tiled_with(
            "The future is counted from the first query as position 0. Row i is at position i + S - L; `_tile_scores` knows it.",
            ("causal",),
            allowed=causal_from_top,
        ),
        tiled_with(
            "With causal=True only the first tile of each row of tiles counts. All with an allowed key should.",
            ("mask", "causal"),
            allowed=first_tile_if_causal,
        ),
        *(
            tiled_with(TOO_MANY_LEFT_OUT, allowed=allowed)
            for allowed in (skipped_from_top, skipped_by_first_row, skipped_diagonal, diagonal_tiles)
        ),
        tiled_with("The scores are not divided by the root of D. `_tile_scores` does it.", scale=lambda D: 1.0),
        tiled_with("The scores are divided by the root of D twice: `_tile_scores` does it already.", scale=lambda D: D),
        Misconception(
            "The outputs are not divided by the total. Divide once, after the last tile.",
            wrong=undivided,
            cases=MASKED_OR_NOT,
        ),
        Misconception(
            "The outputs of the tiles are averaged. Tiles weigh differently: `_online_softmax` keeps account of that.",
            wrong=averaged_tiles,
            cases=MASKED_OR_NOT,
        ),
        Misconception(
            "The output is divided by the total after each tile, and then used further. Divide once, after the last tile.",
            wrong=divided_in_each_tile,
            cases=MASKED_OR_NOT,
        ),
        Misconception(
            "The outputs after each tile are added up. Only what is there after the last tile counts, divided by the total.",
            wrong=added_in_each_tile,
            cases=MASKED_OR_NOT,
        ),
        Misconception(
            "All tiles use the values of the first one. A tile should use its own, V[keys].",
            wrong=values_of_the_first_tile,
            cases=MASKED_OR_NOT,
        ),
        Misconception(
            "The last queries are left out where `block` does not divide their number: their rows are 0. Use `_blocks`, which covers all.",
            wrong=whole_rows_only,
            cases=ANY,
        ),
        tiled_with(
            "After a tile that the mask blocks, the rest of the row of tiles is left out. Later tiles may be allowed: skip such a tile "
            "by `continue`, not `break`, or compute it.",
            ("mask",),
            allowed=up_to_a_blocked_tile,
        ),
        tiled_with(
            "With a mask `causal` is not used. Both should count: pass both to `_tile_scores`.",
            ("mask", "causal"),
            allowed=mask_alone,
        ),
        tiled_with(
            "With causal=True the mask is not used. Both should count: pass both to `_tile_scores`.",
            ("mask",),
            allowed=causal_alone,
        ),
        tiled_with(
            "The scores are neither scaled nor masked. Take them from `_tile_scores`, which does both.",
            allowed=neither_in_tiles,
            scale=lambda D: 1.0,
        ),
        tiled_with(
            "With causal=True the key at the position of a block's last query is left out. Keys up to rows.stop - 1 + S - L count, "
            "that one included.",
            ("mask", "causal"),
            allowed=last_position_left_out,
        ),
        *(wrong_logsumexp(sentence, function) for sentence, function in LOGSUMEXP),
        *seen(
            "logsumexp is returned first. Return the output, then logsumexp.",
            exchanged("output", "logsumexp"),
            "values",
        ),
        *seen(
            "The output should have shape (L, Dv): a row for each query, as wide as V.",
            other_shape("output"),
            *MASKED_OR_NOT,
            FUTURE,
        ),
        *seen(
            "logsumexp is inf or nan. It should be largest + log(total), both as `_online_softmax` returned them for the last tile.",
            not_finite_of_small_scores("logsumexp"),
            "logsumexp",
        ),
        *seen(
            "logsumexp is inf or nan where all scores are far below 0, though the output is right: exponentials of such scores, or of "
            "the largest, are 0. It should be largest + log(total).",
            not_finite_beside("logsumexp", "output"),
            "logsumexp",
        ),
        *seen(
            "logsumexp is inf or nan where all scores are far below 0, as their exponentials are 0. Start with largest = -inf and "
            "total = 0, and take exponentials of differences only.",
            not_finite("logsumexp"),
            "logsumexp",
        ),
        *seen("logsumexp should have shape (L, 1): one number for each query.", other_shape("logsumexp"), "logsumexp"),
        *seen(
            "The output is right, logsumexp is not. It should be largest + log(total) after the last tile.",
            right_but_for(("output",), ("logsumexp",)),
            "logsumexp",
        ),
        shows(
            "Tiles in which nothing is allowed are computed, too: keys and values there were nan, and so is the output. Leave them out.",
            nan_instead_of_numbers("output"),
            (FUTURE,),
        ),
        shows(
            "The output holds nan: 0 / 0 where nothing is summed up for a query, or -inf - (-inf) where scores are -inf. "
            "Each tile with an allowed key should count, with all that the tiles before gave, and blocked scores be MASK_VALUE.",
            nan_instead_of_numbers("output"),
            (*MASKED_OR_NOT, FUTURE),
        ),
        shows(
            "Only the rows of the first tile are right. Later queries need their own rows of Q, mask and result, and a new start.",
            first_rows_only("output"),
            ("values",),
        ),
        *seen(
            "Each row of the output is right up to a factor. Divide it by its total, once, after the last tile.",
            rows_off_by_a_factor("output"),
            *MASKED_OR_NOT,
            FUTURE,
        ),
        *seen(
            "logsumexp is right, the output is not. Each tile should use its own values, V[keys], and the output be divided by the total "
            "once, at the end.",
            right_but_for(("logsumexp",), ("output",)),
            *MASKED_OR_NOT,
        ),
        *seen(
            "Neither output nor logsumexp is right. Check which tiles are computed (for each block of queries all with an allowed key) and "
            "what `_online_softmax` gets (their scores, unchanged, and what it returned for the tile before).",
            right_but_for((), ("output", "logsumexp")),
            *ANY,
        ),
        TILES_TOO_LARGE,
        *CUT_TWICE,
        shows(
            "The functions of `math` take one number. Use those of NumPy for arrays, as np.log.",
            raised_as("converted to Python scalars", r"math\."),
        ),
        shows(
            "The outputs of the tiles have different numbers of rows. Join them by np.concatenate, or write them to result[rows].",
            raised_as("must have the same shape|inhomogeneous", r"np\.(stack|array|asarray)"),
        ),
        shows(
            "`block` is indexed, and it may be a number. Use of_queries and of_keys, which are there for both cases.",
            raised_as("'int' object is not subscriptable", "block"),
        ),
        shows(
            "`_blocks` gets a pair. Give it one number: of_queries for the rows, of_keys for the keys.",
            raised_as("'tuple' object cannot be interpreted as an integer", "_blocks|range"),
        ),
        shows(
            "`_tile_scores` gets its arguments in a wrong order. It takes Q, K, rows, keys, mask, causal.",
            raised_as("'bool' object is not subscriptable|truth value", "_tile_scores"),
        ),
        shows(
            "Rows as wide as V are written into an array as wide as Q. The array for the output should be (L, Dv), as wide as V.",
            written_into_the_width_of("V", "Q"),
        ),
        shows(
            "A column (n, 1) is written into an array with one axis. The array for logsumexp should be (L, 1).",
            raised_as(r"could not broadcast input array from shape \(\d+,1\) into shape \(\d+,\)"),
        ),
        shows(
            "The shapes do not fit in `_online_softmax`. For n queries and k keys of one tile it takes largest and total (n, 1), output (n, Dv), "
            "scores (n, k) and V[keys] (k, Dv), and each block of queries starts anew.",
            raised_as("broadcast|matmul|mismatch|align|operands", r"_online_softmax\("),
        ),
        shows(
            "The shapes do not fit. With n queries and k keys in a tile, scores are (n, k), largest and total (n, 1), V[keys] (k, Dv), "
            "output (n, Dv); the last tile may be smaller than `block`.",
            raised_as("matmul|mismatch|align"),
        ),
        NAMES_KEPT,
    ),
)
