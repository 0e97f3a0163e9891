"""A mask that lets a query look at a window of positions that ends at its own."""

import numpy as np

from autograded_tests import references
from autograded_tests.variants import Array
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes, says
from exercises.model import Arrays, Case, Exercise, Question
from exercises.signs.exceptions import Raised


def ask(seq_len: int, window: int) -> Question:
    inputs = {"name": "sliding_window_mask", "results": ["mask"], "seq_len": seq_len, "window": window}
    return Question("array_function", inputs, ("mask",))


def values(d: Data) -> tuple[Question, ...]:
    return ask(d.L, d.L // 2), ask(d.D, d.H), ask(d.S, 1)


def long_windows(d: Data) -> tuple[Question, ...]:
    return ask(d.L, d.L), ask(d.H, d.H), ask(d.H, d.H + d.D)


def reference(question: Question) -> Arrays:
    return {"mask": references.sliding_window(question["seq_len"], question["window"])}


def distances(seq_len: int) -> Array:
    """How far each key lies before each query."""
    return np.arange(seq_len)[:, None] - np.arange(seq_len)


EXERCISE = Exercise(
    name="sliding_window_mask",
    module="05_efficient_attention",
    defines="sliding_window_mask",
    cases=(
        Case("values", 1.5, values),
        Case("a window as long as the sequence, or longer", 0.5, long_windows, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *(
            computes(sentence, "mask", function)
            for sentence, function in (
                (
                    "Off by one: the window has `window` positions, the query's own included.",
                    lambda seq_len, window: (distances(seq_len) >= 0) & (distances(seq_len) <= window),
                ),
                (
                    "Off by one: the window has `window` positions, the query's own included; here one is missing.",
                    lambda seq_len, window: (distances(seq_len) >= 0) & (distances(seq_len) < max(window - 1, 0)),
                ),
                (
                    "A query may not look at itself here; it may.",
                    lambda seq_len, window: (distances(seq_len) > 0) & (distances(seq_len) <= window),
                ),
                (
                    "The window reaches to both sides: queries look into the future.",
                    lambda seq_len, window: abs(distances(seq_len)) < window,
                ),
                (
                    "The window reaches into the future, not back.",
                    lambda seq_len, window: (distances(seq_len) <= 0) & (distances(seq_len) > -window),
                ),
                ("The window is ignored: this is the causal mask.", lambda seq_len, window: distances(seq_len) >= 0),
                (
                    "The mask is inverted: 1 is where a query may look.",
                    lambda seq_len, window: 1 - references.sliding_window(seq_len, window),
                ),
                (
                    "What is *outside* the window is allowed, what is inside is not.",
                    lambda seq_len, window: distances(seq_len) >= window,
                ),
                (
                    "The sequence is cut into blocks of `window` positions. The window slides: each query has its own.",
                    lambda seq_len, window: (
                        (distances(seq_len) >= 0)
                        & (np.arange(seq_len)[:, None] // window == np.arange(seq_len) // window)
                    ),
                ),
                (
                    "Everybody looks at the first `window` positions. The window ends at the query.",
                    lambda seq_len, window: (distances(seq_len) >= 0) & (np.arange(seq_len) < window),
                ),
                (
                    "The mask holds negative numbers for scores. It should hold 1 and 0.",
                    lambda seq_len, window: np.where(references.sliding_window(seq_len, window) > 0, 0, -1e9),
                ),
                (
                    "The mask holds negative numbers for scores. It should hold 1 and 0.",
                    lambda seq_len, window: np.where(references.sliding_window(seq_len, window) > 0, 0, -np.inf),
                ),
                (
                    "The first rows are empty: a window that would begin before position 0 begins at 0.",
                    lambda seq_len, window: (
                        references.sliding_window(seq_len, window) * (np.arange(seq_len)[:, None] >= window - 1)
                    ),
                ),
            )
        ),
        says(
            "It fails when the window is as long as the sequence or longer; then it is the causal mask.",
            Raised.ANYTHING,
            cases=("a window as long as the sequence, or longer",),
        ),
        NAMES_KEPT,
    ),
)
