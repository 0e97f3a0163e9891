"""Attention in tiles, there and back: its inputs, and which scores count when some tiles are left out."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import shows
from exercises.model import Question
from exercises.signs.arrays import returned
from exercises.signs.shapes import raised_as

WHOLE = 100  # a block that holds everything


def fewer_queries(d: Data) -> dict[str, Array]:
    """Q, K, V with fewer queries than keys: the queries are the last positions.

    Blocks of H divide neither, unless H divides S.
    """
    keys = d.S + d.H
    return {"Q": d.normal(270, d.S, d.D), "K": d.normal(271, keys, d.D), "V": d.normal(272, keys, d.Dv)}


def as_many_queries(d: Data) -> dict[str, Array]:
    """Q, K, V with as many queries as keys: two blocks of L."""
    n = 2 * d.L
    return {"Q": d.normal(273, n, d.D), "K": d.normal(274, n, d.D), "V": d.normal(275, n, d.Dv)}


def mask_of_fewer(d: Data) -> Array:
    return d.random_mask(276, d.S, d.S + d.H)


def options(block: int, mask: Array | None, causal: bool) -> dict[str, Any]:
    return {"mask": mask, "causal": causal, "block": block}


def ask_memory(name: str, backward: bool) -> tuple[Question, ...]:
    inputs = {"name": name, "length": 768, "block": 64, "backward": backward}
    return tuple(Question("whole_table", inputs | {"causal": c}, ("whole_table",)) for c in (False, True))


def right_pairs(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, mask, causal)


def not_masked(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, None, causal)


def not_causal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, mask, False)


def tiles_left(L: int, S: int, mask: Array | None, within: bool, causal: bool, block: int, keep: Function) -> Array:
    """The table without the tiles that are not kept.

    within  the future is blocked within a tile; keep(first query, last query, first key, end of the keys) in positions
    """
    table = references.tiled_mask(L, S, mask, within)
    for a in range(0, L, block) if causal else ():
        for b in range(0, S, block):
            if not keep(a + S - L, min(a + block, L) - 1 + S - L, b, min(b + block, S)):
                table[a : a + block, b : b + block] = 0
    return table


def computed(allowed: Array, where: Array) -> Array:
    """A table of what is allowed, with -1 where no tile is computed."""
    return np.where(where, allowed, -1)


def only_last_tile(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """The last of those that a right answer computes."""
    stops = np.minimum(np.arange(L) // block * block + block, L) + S - L if causal else np.full(L, S)
    last = (stops[:, None] - 1) // block == np.arange(S) // block
    return computed(right_pairs(L, S, mask, causal, block), last)


def only_first_tile(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return computed(right_pairs(L, S, mask, causal, block), np.arange(S) < block)


def whole_blocks_only(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """All that is covered by whole blocks; everything, if there is no whole one."""
    return computed(right_pairs(L, S, mask, causal, block), np.arange(S) < (S // block * block or S))


def diagonal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Block n of the queries meets block n of the keys."""
    where = (np.arange(L) // block)[:, None] == np.arange(S) // block
    return computed(right_pairs(L, S, mask, causal, block), where)


def up_to_a_blocked_tile(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Of a row of tiles those before the first in which the mask allows nothing."""
    where, allowed = np.ones((L, S), dtype=bool), np.ones((L, S)) if mask is None else mask
    for a in range(0, L, block):
        for b in range(0, S, block):
            if not allowed[a : a + block, b : b + block].any():
                where[a : a + block, b:] = False
    return computed(right_pairs(L, S, mask, causal, block), where)


def last_position_left_out(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """If causal, keys before the position of the last query of each block."""
    last = np.minimum(np.arange(L) // block * block + block, L)[:, None] - 1 + S - L
    return computed(right_pairs(L, S, mask, causal, block), (np.arange(S) < last) | np.array(not causal))


def mask_alone(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """The future is blocked only if there is no mask."""
    return references.tiled_mask(L, S, mask, causal and mask is None)


def causal_alone(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """The mask counts only where nothing is causal."""
    return references.tiled_mask(L, S, None if causal else mask, causal)


def first_tile_if_causal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return (only_first_tile if causal else right_pairs)(L, S, mask, causal, block)


def first_L_keys(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return computed(right_pairs(L, S, mask, causal, block), np.arange(S) < L)


def future_left_out_always(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Tiles of the future are left out whether causal or not."""
    kept = tiles_left(L, S, None, False, True, block, lambda first, last, start, stop: start <= last)
    return computed(right_pairs(L, S, mask, causal, block), kept > 0)


def mask_inverted(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, None if mask is None else 1 - mask, causal)


def mask_of_first_rows(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, None if mask is None else mask[np.arange(L) % block], causal)


def causal_always(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, mask, True)


def causal_from_top(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """As if row i were at position i."""
    return np.asarray(references.tiled_mask(L, S, mask, False) * (np.tri(L, S) if causal else 1))


def neither(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return np.ones((L, S))


WHAT_IS_LEFT_OUT: tuple[tuple[str, Function], ...] = (
    (
        "Only the last tile of each row of tiles counts: what came before is lost. All tiles should count.",
        only_last_tile,
    ),
    ("Only the first tile of each row of tiles counts. All tiles should.", only_first_tile),
    (
        "The last tile is left out where `block` does not divide the number of keys. Use `_blocks`, which covers all.",
        whole_blocks_only,
    ),
    (
        "Block n of the queries meets only block n of the keys, as by `zip`. Each should go through all blocks of keys, in a loop of its own.",
        diagonal,
    ),
    ("Only as many keys as there are queries count, the first ones. All len(K) keys should.", first_L_keys),
    (
        "Tiles of the future are left out although `causal` is False. Leave them out only if it is True.",
        future_left_out_always,
    ),
)
TILES_TOO_LARGE = shows(
    "At some moment your code holds a byte or more for each pair of query and key; tiles need far less. "
    "Make them of `block` queries and keys, and keep nothing of a tile but what is summed up.",
    returned("whole_table"),
    ("never the whole table",),
)
CUT_TWICE = (
    shows(
        "`_tile_scores` gets a part of the mask. Give it the whole mask (or None): it takes mask[rows, keys] itself.",
        raised_as(line=r"_tile_scores\(.*mask\["),
    ),
    shows(
        "`_tile_scores` gets a part of the mask. Give it the whole mask (or None): it takes mask[rows, keys] itself.",
        raised_as("could not broadcast where mask from shape"),
    ),
    shows(
        "`_tile_scores` gets a part of Q or K. Give it all of Q and K, and the slices rows and keys: it takes the parts itself.",
        raised_as(line=r"_tile_scores\(.*[QK]\["),
    ),
    shows(
        "`_tile_scores` gets a number where it needs a slice. Take rows and keys from `_blocks`, which gives slices.",
        raised_as("'int' object has no attribute '(start|stop)'", "_tile_scores"),
    ),
    shows(
        "A tile is empty here: it has no queries or no keys. Give `_tile_scores` all of Q and K, and the slices that `_blocks` gives.",
        raised_as("zero-size array"),
    ),
    shows(
        "A slice has no length. The number of queries in a tile is rows.stop - rows.start.",
        raised_as("'slice' has no len"),
    ),
)


def visited(question: Question) -> Array:
    """1 where a right answer computes a tile: those of the future are left out."""
    L, S, block = len(question["Q"]), len(question["K"]), question["block"]
    return tiles_left(L, S, None, False, question["causal"], block, lambda first, last, start, stop: start <= last)


def tile_scores(question: Question, allowed: Function = right_pairs, scale: Function = math.sqrt) -> Array:
    """All scores, -1e9 where a query may not look, and less where no tile is computed, or a right answer computes none."""
    Q, K = question["Q"].astype(float), question["K"].astype(float)
    table = allowed(len(Q), len(K), question["mask"], question["causal"], question["block"])
    blocked = np.where((visited(question) > 0) & (table >= 0), -1e9, -2e9)
    return np.where(table > 0, Q @ K.T / scale(Q.shape[1]), blocked)
