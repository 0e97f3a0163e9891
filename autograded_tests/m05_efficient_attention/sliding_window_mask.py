"""A mask that lets a query look at a window of positions that ends at its own."""

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes, shows
from exercises.model import Arrays, Case, Exercise, Question
from exercises.signs.arrays import other_numbers, other_shape
from exercises.signs.facts import allows, blocks
from exercises.signs.shapes import raised_as


def ask(seq_len: int, window: int) -> Question:
    inputs = {"name": "sliding_window_mask", "results": ["mask"], "seq_len": seq_len, "window": window}
    return Question("array_function", inputs, ("mask",))


def values(d: Data) -> tuple[Question, ...]:
    return ask(d.L, d.L // 2), ask(d.D, d.H), ask(d.S, 1)


def long_windows(d: Data) -> tuple[Question, ...]:
    return ask(d.L, d.L), ask(d.H, d.H), ask(d.H, d.H + d.D), ask(d.H, 300)


def reference(question: Question) -> Arrays:
    return {"mask": references.sliding_window(question["seq_len"], question["window"])}


def distances(seq_len: int) -> Array:
    """How far each key lies before each query."""
    return np.arange(seq_len)[:, None] - np.arange(seq_len)


def within(allowed: Function) -> Function:
    """A mask made of how far each key lies before each query, and the window."""
    return lambda seq_len, window: np.asarray(allowed(distances(seq_len), window)) * 1.0


def one_window_for_all(seq_len: int, window: int) -> Array:
    return np.asarray((distances(seq_len) >= 0) & (np.arange(seq_len) < window))


def cut_into_blocks(seq_len: int, window: int) -> Array:
    of_block = np.arange(seq_len) // window
    return np.asarray((distances(seq_len) >= 0) & (of_block[:, None] == of_block))


def first_rows_empty(seq_len: int, window: int) -> Array:
    return references.sliding_window(seq_len, window) * (np.arange(seq_len)[:, None] >= window - 1)


def first_row_only(seq_len: int, window: int) -> Array:
    return np.asarray(references.sliding_window(seq_len, window) * (np.arange(seq_len)[:, None] == 0))


def negative_start(seq_len: int, window: int) -> Array:
    """A start below 0 is counted from the end of the row, as NumPy does."""
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        mask[i, i - window + 1 : i + 1] = 1
    return mask


def from_the_end(seq_len: int, window: int) -> Array:
    """Columns before the first are counted from the last."""
    return np.asarray(distances(seq_len) % seq_len < window)


LONG = "a window as long as the sequence, or longer"
WRONG_WINDOWS: tuple[tuple[str, Function], ...] = (
    (
        "The mask is 0 everywhere: no query may look anywhere. It should be 1 inside the window.",
        within(lambda d, w: 0 * d),
    ),
    (
        "The mask is 1 everywhere: queries look into the future. Query i should look at keys i - window + 1 to i.",
        within(lambda d, w: 0 * d + 1),
    ),
    (
        "The window is one position too long. It should have `window` positions, the query's own included.",
        within(lambda d, w: (d >= 0) & (d <= w)),
    ),
    (
        "The window is one position too short. It should have `window` positions, the query's own included.",
        within(lambda d, w: (d >= 0) & (d < max(w - 1, 0))),
    ),
    (
        "A query does not look at itself. Its window should end with its own position.",
        within(lambda d, w: (d > 0) & (d <= w)),
    ),
    (
        "A query does not look at itself. Its window should end with its own position.",
        within(lambda d, w: (d > 0) & (d < w)),
    ),
    (
        "The window reaches to both sides: queries look into the future. It should reach back only.",
        within(lambda d, w: abs(d) < w),
    ),
    (
        "The window lies around the query: queries look into the future. It should end at the query.",
        within(lambda d, w: abs(d) <= w // 2),
    ),
    (
        "The window reaches into the future. It should reach back: keys i - window + 1 to i for query i.",
        within(lambda d, w: (d <= 0) & (d > -w)),
    ),
    (
        "`window` is not used: this is the causal mask. A query should look at itself and at window - 1 positions before.",
        within(lambda d, w: d >= 0),
    ),
    (
        "`window` is not used: each query looks at two positions, as in the example. It should look at `window` positions.",
        within(lambda d, w: (d >= 0) & (d < 2)),
    ),
    (
        "Each query looks at itself only. It should look at `window` positions, its own included.",
        within(lambda d, w: d == 0),
    ),
    (
        "Each query looks at one position only, the first of its window. It should look at the whole window.",
        within(lambda d, w: d == w - 1),
    ),
    (
        "The mask is inverted: it is 0 inside the window and 1 outside. It should be 1 where a query may look.",
        lambda seq_len, window: 1 - references.sliding_window(seq_len, window),
    ),
    (
        "The mask is 1 for the positions before the window and 0 inside. It should be 1 inside.",
        within(lambda d, w: d >= w),
    ),
    (
        "The sequence is cut into blocks of `window` positions. The window should slide: each query has its own.",
        cut_into_blocks,
    ),
    (
        "Every query looks at the first `window` positions. Its window should end at the query.",
        one_window_for_all,
    ),
    *(
        (
            "The mask holds 0 and large negative numbers, as if it were added to scores. It should hold 1 and 0.",
            within(lambda d, w, blocked=blocked: np.where((d >= 0) & (d < w), 0, blocked)),
        )
        for blocked in (-1e9, -np.inf)
    ),
    (
        "The first rows are empty. A window that would begin before position 0 should begin at 0.",
        first_rows_empty,
    ),
    (
        (
            "In the first rows the window goes on at the end of the row, as with negative columns or np.roll. "
            "A window that would begin before position 0 should begin at 0."
        ),
        from_the_end,
    ),
    (
        (
            "The first rows are empty or too short: NumPy counts a negative start of a slice from the end. "
            "A window that would begin before position 0 should begin at 0."
        ),
        negative_start,
    ),
    (
        "Only the first row is filled, the others are 0. Fill all rows before the `return`.",
        first_row_only,
    ),
    (
        "A long window is cut to seq_len - 1 positions. It may be as long as the sequence: the last query then looks at all.",
        within(lambda d, w: (d >= 0) & (d < min(w, len(d) - 1))),
    ),
    (
        "Distances to later keys wrap round, as in uint8, where 0 - 1 is 255. Take positions of a type with a sign, as np.arange gives them.",
        within(lambda d, w: d % 256 < w),
    ),
)

EXERCISE = Exercise(
    name="sliding_window_mask",
    module="05_efficient_attention",
    defines="sliding_window_mask",
    cases=(
        Case("values", 1.5, values),
        Case(LONG, 0.5, long_windows, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(computes(sentence, "mask", function) for sentence, function in WRONG_WINDOWS),
        *seen(
            "The mask should have shape (seq_len, seq_len): a row for each query, a column for each key.",
            other_shape("mask"),
            "values",
            LONG,
        ),
        *seen("The mask holds other numbers than 1 and 0.", other_numbers("mask", (0, 1)), "values", LONG),
        *seen(
            "Some queries look into the future. Query i should look at keys i - window + 1 to i.",
            allows("future"),
            "values",
            LONG,
        ),
        *seen(
            "Some queries do not look at themselves. Query i should look at all keys i - window + 1 to i, its own included.",
            blocks("itself"),
            "values",
            LONG,
        ),
        *seen(
            "Some queries look further back than their window. Query i should look at keys i - window + 1 to i.",
            allows("past"),
            "values",
            LONG,
        ),
        *seen(
            "Some queries do not look at all positions of their window. Query i should look at keys i - window + 1 to i.",
            blocks("past"),
            "values",
            LONG,
        ),
        shows(
            "A size becomes negative when the window is longer than the sequence. The mask is the causal mask then.",
            raised_as("negative dimensions"),
            (LONG,),
        ),
        shows(
            "A whole array is asked for one truth value. Join two comparisons by `&`, each in parentheses: (a >= 0) & (a < b).",
            raised_as("truth value", r"\b(and|or|not)\b|&|[<>].*[<>]"),
        ),
        shows(
            "A position is used that does not exist. Query i should look at keys i - window + 1 to i, from 0 on.",
            raised_as("^IndexError: index .* out of bounds"),
        ),
        shows(
            "np.ones and np.zeros take the sizes as one tuple: np.ones((seq_len, seq_len)).",
            raised_as("Cannot interpret .* as a data type", r"np\.(ones|zeros|empty|full)"),
        ),
        NAMES_KEPT,
    ),
)
