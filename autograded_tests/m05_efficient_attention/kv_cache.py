"""Keys and values that stay from one call to the next."""

from typing import Any

import numpy as np

from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import number_of_axes, other_shape, returned
from exercises.signs.caches import length_counts_calls
from exercises.signs.facts import (
    another_axis_grew,
    entry_is,
    first_result_grew,
    holds_what_another_got,
    number_off,
    positions_off,
    right_but_for,
)
from exercises.signs.shapes import (
    joined_along_another_axis,
    joined_keys_with_values,
    joined_with_other_axes,
    raised_as,
)


def keys_and_values(d: Data) -> tuple[Array, Array]:
    positions = d.H + 1 + d.B
    return d.normal(200, d.B, d.H, positions, d.D), d.normal(201, d.B, d.H, positions, d.Dv)


def ask(K: Array, V: Array, pieces: tuple[int, ...], compare: tuple[str, ...]) -> Question:
    """The pieces' lengths add up to the positions of K and V."""
    inputs = {"K": K, "V": V, "pieces": list(pieces), "with_lengths": "lengths" in compare}
    return Question("kv_cache", inputs, compare)


def three_pieces(d: Data, compare: tuple[str, ...]) -> tuple[Question, ...]:
    return (ask(*keys_and_values(d), (d.H, 1, d.B), compare),)


def lengths(d: Data) -> tuple[Question, ...]:
    """Of four axes, and of three, where axis 2 is the width; the latter in one piece, so that nothing is joined."""
    K, V = keys_and_values(d)
    return *three_pieces(d, ("lengths",)), ask(K[0], V[0], (K.shape[-2],), ("lengths",))


def stays(d: Data) -> tuple[Question, ...]:
    """What was returned first, and that a cache takes nothing which does not fit."""
    inputs = dict(three_pieces(d, ())[0].inputs) | {"wider": "VK"}
    return *three_pieces(d, ("first_K", "first_V")), Question("kv_cache", inputs, ("refused",))


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
        "refused": np.array(len(question.get("wider", ""))),
    }


def pieces_of(question: Question) -> dict[str, list[Array]]:
    """Keys and values as they arrive."""
    ends = np.cumsum(question["pieces"])[:-1]
    return {name: np.split(question[name], ends, axis=-2) for name in ("K", "V")}


def joins(sentence: str, keys: Function, values: Function | None = None) -> Misconception:
    """A wrong way to join pieces."""

    def wrong(question: Question) -> Arrays:
        pieces = pieces_of(question)
        return {"K": keys(pieces["K"]), "V": (values or keys)(pieces["V"])}

    return Misconception(sentence, wrong=wrong)


def all_pieces(pieces: list[Array]) -> Array:
    return np.concatenate(pieces, axis=-2)


def gives(sentence: str, keys: str, values: str) -> Misconception:
    """Something else is returned as keys and as values."""
    return Misconception(sentence, wrong=lambda question: {"K": question[keys], "V": question[values]})


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


ONE_AFTER_ANOTHER, LEADING_AXES, STAY = "one piece after another", "any leading axes", "earlier results stay"
SHARED = (
    "What one cache got is in another one, too. Make new lists (or None) inside `__init__`: a list in the class, "
    "or as a default argument, is made once and shared by all caches."
)
WRONG_PIECES = (
    joins("New positions are put before the old ones. They should come last.", lambda p: np.concatenate(p[::-1], -2)),
    joins("Only the newest positions are returned. All positions so far should be.", lambda p: p[-1]),
    joins(
        "Only the positions of the last two calls are returned. All positions so far should be.",
        lambda p: np.concatenate(p[-2:], -2),
    ),
    joins("Only the positions of the first call are returned. All positions so far should be.", lambda p: p[0]),
    joins(
        "The positions of the first call are lost. All positions so far should be returned.",
        lambda p: all_pieces(p[1:]),
    ),
    joins(
        "The positions of the first call are there twice. Each should be there once.", lambda p: all_pieces([p[0], *p])
    ),
    joins(
        "Of each call only the last position is kept. All should be.", lambda p: all_pieces([x[..., -1:, :] for x in p])
    ),
    joins(
        "Of all calls but the first only the last position is kept. All should be.",
        lambda p: all_pieces([p[0], *(x[..., -1:, :] for x in p[1:])]),
    ),
    joins(
        "Keys of different positions are added up. They should come one after the other.",
        lambda p: sum(x.sum(-2) for x in p),
    ),
    gives("Values are returned first, then keys. Keys should come first.", "V", "K"),
    gives("The keys are returned as values, too. Keep keys and values apart.", "K", "K"),
    gives("The values are returned as keys, too. Keep keys and values apart.", "V", "V"),
    joins("Only the keys are kept: of the values only the newest are returned.", all_pieces, lambda p: p[-1]),
    joins("Only the values are kept: of the keys only the newest are returned.", lambda p: p[-1], all_pieces),
    joins("Only the keys are kept: of the values only the first are returned.", all_pieces, lambda p: p[0]),
    joins("Only the values are kept: of the keys only the first are returned.", lambda p: p[0], all_pieces),
)
WRONG_LENGTHS = (
    shows(
        "`len(cache)` takes the size of something that is None. Before the first `append` there are no keys, and it should be 0.",
        raised_as("NoneType", r"^return (len\(|self\.\w+\.shape)"),
        ("length",),
    ),
    shows(
        "`__len__` returns None (is there a return in every branch?). It should return a whole number.",
        raised_as("'NoneType' object cannot be interpreted as an integer", "^$"),
    ),
    shows(
        "`__len__` returns a negative number. It should return the number of positions.",
        raised_as("should return >= 0", "^$"),
    ),
    shows(
        "`__len__` does not return a whole number. It should return the number of positions, as an int.",
        raised_as("object cannot be interpreted as an integer|__len__", "^$"),
    ),
    shows("The class has no `__len__`. It should return the number of positions.", raised_as("has no len", "^$")),
    shows(
        "`len(cache)` is the number of calls. It should be the number of positions.",
        length_counts_calls(),
        ("length",),
    ),
    shows(
        "`len(cache)` is not 0 before the first `append`. It should be.",
        entry_is("lengths", 0, False),
        ("length",),
    ),
    shows(
        "`len(cache)` is not the number of positions. It should be the size of axis -2 of the keys.",
        returned("lengths"),
        ("length",),
    ),
)

EXERCISE = Exercise(
    name="kv_cache",
    module="05_efficient_attention",
    defines="KVCache",
    cases=(
        Case(ONE_AFTER_ANOTHER, 1.5, lambda d: three_pieces(d, ("K", "V", "other_K"))),
        Case(LEADING_AXES, 0.5, any_leading_axes, needs_another=True),
        Case("length", 0.5, lengths, needs_another=True),
        Case(STAY, 0.5, stays, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        shows(SHARED, holds_what_another_got()),
        shows(
            "Keys with different numbers of axes are joined: something is there before the first `append`, from another cache "
            "or of a fixed shape. A new cache should be empty.",
            joined_with_other_axes(),
        ),
        *WRONG_PIECES,
        *WRONG_LENGTHS,
        shows(
            "Something as wide as the keys is joined with something as wide as the values. "
            "Join keys (..., S, D) with keys only, and values (..., S, Dv) with values.",
            joined_keys_with_values(),
        ),
        shows(
            "The pieces are joined along a wrong axis. Positions are the second-to-last axis, however many come before: dim=-2.",
            joined_along_another_axis(),
        ),
        shows(
            "`stack` is used, which makes a new axis. Join along the axis of positions: `cat` with dim=-2.",
            raised_as("cannot be joined.*as it is a new axis"),
        ),
        shows(
            "`cat` and `stack` take one list of Tensors and then the axis: cat([a, b], dim=-2).",
            raised_as("take a list of tensors"),
        ),
        shows(
            "Keys are added up by `+`. Join them: `cat` with dim=-2.",
            raised_as(r"^ValueError: \+: shapes", r"\+"),
        ),
        shows(
            "The newest pieces do not fit what is there. Positions should be joined along axis -2; all other axes are equal.",
            raised_as("could not broadcast|must match exactly"),
        ),
        shows(
            "`append` does not take (K, V) as it was handed out. Keep its parameters: self, K, V.",
            raised_as(r"append\(\).*(positional argument|unexpected keyword)", "^$"),
        ),
        shows(
            "`KVCache()` cannot be called without arguments. `__init__` should take self alone.",
            raised_as(r"(__init__|KVCache)\(\).*(argument)", "^$"),
        ),
        shows(
            "`append` does not raise ValueError where new keys or values do not fit those that are there. Let the error of `cat` through.",
            number_off("refused", False),
            rough=True,
        ),
        *seen(
            "The result of `append` has more or fewer axes than K or V. Keep all leading axes: (..., S, D) and (..., S, Dv).",
            number_of_axes(("K", "V"), 2),
            ONE_AFTER_ANOTHER,
        ),
        *(
            misconception
            for name in ("K", "V")
            for misconception in (
                *seen(
                    "There are more positions than were appended. Each should be there once.",
                    positions_off(name, True),
                    ONE_AFTER_ANOTHER,
                    LEADING_AXES,
                ),
                *seen(
                    "There are fewer positions than were appended. All should be there.",
                    positions_off(name, False),
                    ONE_AFTER_ANOTHER,
                    LEADING_AXES,
                ),
                *seen(
                    "Another axis than that of the positions has become longer. Join along axis -2.",
                    another_axis_grew(name),
                    ONE_AFTER_ANOTHER,
                    LEADING_AXES,
                ),
                *seen(
                    "`append` should return keys (..., S, D) and values (..., S, Dv). One of them has another shape.",
                    other_shape(name),
                    ONE_AFTER_ANOTHER,
                    LEADING_AXES,
                ),
            )
        ),
        *seen(
            "The keys are right, the values are not. They should be all values so far, in order.",
            right_but_for(("K",), ("V",)),
            ONE_AFTER_ANOTHER,
            LEADING_AXES,
        ),
        *seen(
            "The values are right, the keys are not. They should be all keys so far, in order.",
            right_but_for(("V",), ("K",)),
            ONE_AFTER_ANOTHER,
            LEADING_AXES,
        ),
        shows(
            "What an earlier call of `append` returned has changed since. Make a new Tensor each time, and leave the old one alone.",
            first_result_grew(),
            (STAY,),
        ),
    ),
    stand_in=StandIn("KVCache", ("K_before", "V_before", "K", "V"), 2, append, append_gradient),
)
