"""Keys and values that stay from one call to the next."""

from typing import Any

import numpy as np

from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import other_shape, returned
from exercises.signs.caches import length_counts_calls, shared_between_caches
from exercises.signs.exceptions import Raised


def keys_and_values(d: Data) -> tuple[Array, Array]:
    positions = d.H + 1 + d.B
    return d.normal(200, d.B, d.H, positions, d.D), d.normal(201, d.B, d.H, positions, d.Dv)


def ask(K: Array, V: Array, pieces: tuple[int, ...], compare: tuple[str, ...]) -> Question:
    """The pieces' lengths add up to the positions of K and V."""
    inputs = {"K": K, "V": V, "pieces": list(pieces), "with_lengths": "lengths" in compare}
    return Question("kv_cache", inputs, compare)


def three_pieces(d: Data, compare: tuple[str, ...]) -> tuple[Question, ...]:
    return (ask(*keys_and_values(d), (d.H, 1, d.B), compare),)


def any_leading_axes(d: Data) -> tuple[Question, ...]:
    K, V = keys_and_values(d)
    return ask(K[0, 0], V[0, 0], (2, d.H + d.B - 1), ("K", "V")), ask(K[0], V[0], (d.H + d.B, 1), ("K", "V"))


def reference(question: Question) -> Arrays:
    K, V, first = question["K"], question["V"], question["pieces"][0]
    return {
        "K": K,
        "V": V,
        "first_K": K[..., :first, :],
        "first_V": V[..., :first, :],
        "lengths": np.cumsum([0, *question["pieces"]]),
        "other_K": K[..., :first, :],
    }


def joins(sentence: str, join: Function) -> Misconception:
    """A wrong way to join pieces."""

    def wrong(question: Question) -> Arrays:
        ends = np.cumsum(question["pieces"])[:-1]
        return {name: join(np.split(question[name], ends, axis=-2)) for name in ("K", "V")}

    return Misconception(sentence, wrong=wrong)


def append(K_before: Array | None, V_before: Array | None, K: Array, V: Array) -> list[Array]:
    return [
        K if K_before is None else np.concatenate([K_before, K], axis=-2),
        V if V_before is None else np.concatenate([V_before, V], axis=-2),
    ]


def append_gradient(index: int, grad: Array, K_before: Array | None, V_before: Array | None, K: Array, V: Array) -> Any:
    """Gradients of those of K_before, V_before, K, V that are there, for the gradient of all keys (0) or all values (1)."""
    before, new = ((K_before, K), (V_before, V))[index]
    others = [np.zeros_like(x) for x in ((V_before, V), (K_before, K))[index] if x is not None]
    n = grad.shape[-2] - new.shape[-2]
    mine = [grad[..., n:, :]] if before is None else [grad[..., :n, :], grad[..., n:, :]]
    pairs = (mine, others) if index == 0 else (others, mine)
    return [x for pair in zip(*pairs, strict=True) for x in pair]


EXERCISE = Exercise(
    name="kv_cache",
    module="05_efficient_attention",
    defines="KVCache",
    cases=(
        Case("one piece after another", 1.5, lambda d: three_pieces(d, ("K", "V", "other_K"))),
        Case("any leading axes", 0.5, any_leading_axes, needs_another=True),
        Case("length", 0.5, lambda d: three_pieces(d, ("lengths",)), needs_another=True),
        Case("earlier results stay", 0.5, lambda d: three_pieces(d, ("first_K", "first_V")), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        joins("The new positions are put before the old ones. They come last.", lambda p: np.concatenate(p[::-1], -2)),
        joins("Only the newest positions are there: nothing is kept.", lambda p: p[-1]),
        joins(
            "Only the positions of the last two calls are there: put new ones after *all* that there are.",
            lambda p: np.concatenate(p[-2:], -2),
        ),
        joins("The first positions came back; nothing is added.", lambda p: p[0]),
        joins(
            "Keys of different positions were added up. They go one after the other.",
            lambda p: sum(x.sum(-2) for x in p),
        ),
        shows(
            "The positions are not the last but one axis here: count axes from the right, -2.",
            other_shape("K"),
            ("any leading axes",),
        ),
        says(
            "The positions are the last but one axis, however many there are before it: join along -2.",
            Raised.AXIS,
            Raised.INDEX,
            Raised.JOIN,
        ),
        says(
            "Something is still None: before the first `append` there are no keys, and `len(cache)` is 0.",
            Raised.NO_MASK,
            cases=("length",),
        ),
        says("`len(cache)` is wanted: `__len__` must give a number.", Raised.LENGTH),
        shows(
            "`len(cache)` is the number of calls. The number of positions is asked for.",
            length_counts_calls(),
            ("length",),
        ),
        shows("`len(cache)` is not the number of positions, the size of axis -2.", returned("lengths"), ("length",)),
        shows(
            "Two caches share what they hold. Create it in `__init__`, on `self`.",
            shared_between_caches(),
            ("one piece after another",),
        ),
        shows(
            "What an earlier call of append returned has changed since. Make a new Tensor each time, and leave the old one alone.",
            returned("first_K"),
            ("earlier results stay",),
        ),
    ),
    stand_in=StandIn("KVCache", ("K_before", "V_before", "K", "V"), 2, append, append_gradient),
)
