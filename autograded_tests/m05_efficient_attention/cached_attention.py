"""Attention of new positions to all positions so far."""

from itertools import pairwise
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention._multi_head import PROJECTION_NAMES
from autograded_tests.m05_efficient_attention.kv_cache import EXERCISE as KV_CACHE
from autograded_tests.variants import Array, Function, multi
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import answered
from exercises.signs.exceptions import Raised
from exercises.signs.gradients import no_gradient
from exercises.signs.parameters import other_values

LAYER_INPUTS = ("num_heads", "x", "weights", "biases")
# those that do not go through the cache, which need not keep a graph
PROMPT_GRADIENTS = tuple(f"grad_{p}_{part}" for p in ("q_proj", "out_proj") for part in ("weight", "bias"))


def layer_and_text(d: Data) -> dict[str, Any]:
    """d.H heads of width d.B, and d.S positions."""
    E = d.H * d.B
    return {
        "num_heads": d.H,
        "x": d.normal(212, d.B, d.S, E),
        "weights": d.normal(210, 4, E, E, scale=0.8),
        "biases": d.normal(211, 4, E),
    }


def another_layer_and_text(d: Data) -> dict[str, Any]:
    """d.B heads of width d.L, and d.L positions."""
    E = d.B * d.L
    return {
        "num_heads": d.B,
        "x": d.normal(213, d.H, d.L, E),
        "weights": d.normal(214, 4, E, E),
        "biases": d.normal(215, 4, E),
    }


def ask(
    inputs: dict[str, Any],
    pieces: tuple[int, ...],
    compare: tuple[str, ...] = ("output",),
    grad: Array | None = None,
) -> Question:
    """The pieces' lengths add up to the positions of x."""
    return Question("cached_attention", inputs | {"pieces": list(pieces), "grad": grad}, compare)


def several_positions_at_once(d: Data) -> tuple[Question, ...]:
    return (
        ask(layer_and_text(d), (d.S,)),
        ask(layer_and_text(d), (d.S - 2, 2)),
        ask(another_layer_and_text(d), (2, d.L - 2)),
    )


def last_weights(d: Data) -> tuple[Question, ...]:
    return (ask(layer_and_text(d), (d.S,), ("attention_weights",)),)


def held_before(d: Data) -> tuple[Question, ...]:
    """The cache has keys and values that came from elsewhere."""
    inputs = layer_and_text(d)
    held = {f"held_{name}": d.normal(n, d.B, d.H, d.L, d.B) for name, n in (("K", 217), ("V", 218))}
    return (ask(inputs | held, (1,) * d.S, ("output", "positions")),)


def gradient(d: Data) -> tuple[Question, ...]:
    inputs = layer_and_text(d)
    return (ask(inputs, (d.S,), PROMPT_GRADIENTS, d.normal(216, *inputs["x"].shape)),)


def after_held(question: Question) -> Arrays:
    """The output where the cache has something before."""
    x, weights, biases, H = (question[name] for name in ("x", "weights", "biases", "num_heads"))
    Q, K, V = (references.split_heads(references.linear(x, weights[n], biases[n]), H) for n in range(3))
    K, V = (np.concatenate([question[name], new], axis=-2) for name, new in (("held_K", K), ("held_V", V)))
    mask = references.causal_for_last(Q.shape[-2], K.shape[-2])
    merged = references.merge_heads(references.attention(Q, K, V, mask)[0])
    return {"output": references.linear(merged, weights[3], biases[3]), "positions": np.array(K.shape[-2])}


def reference(question: Question) -> Arrays:
    if "held_K" in question.inputs:
        return after_held(question)
    given = {name: question[name] for name in LAYER_INPUTS}
    length = question["x"].shape[1]
    mask = references.causal_for_last(length, length)
    output, weights = references.multi_head(**given, mask=mask)
    answer = {"output": output, "attention_weights": weights[:, :, -question["pieces"][-1] :]}
    if question["grad"] is not None:  # of one piece only
        *_, to_weights, to_biases = references.multi_head_gradient(**given, mask=mask, grad=question["grad"])
        for n, name in enumerate(PROJECTION_NAMES):
            answer[f"grad_{name}_weight"], answer[f"grad_{name}_bias"] = to_weights[n], to_biases[n]
    return answer


def attends(sentence: str, mask_of_piece: Function, **steps: Any) -> Misconception:
    """A wrong mask, or another wrong step: mask_of_piece(start, stop) -> (stop - start, stop)."""

    def wrong(question: Question) -> Arrays | None:
        if "held_K" in question.inputs:
            return None
        pieces, length = question["pieces"], question["x"].shape[1]
        ends = np.cumsum([0, *pieces])
        mask = np.zeros((length, length))
        for a, b in pairwise(ends):
            mask[a:b, :b] = mask_of_piece(a, b)
        output, weights = multi(**{name: question[name] for name in LAYER_INPUTS}, mask=mask, **steps)
        return {"output": output, "attention_weights": weights[:, :, -pieces[-1] :]}

    return Misconception(sentence, wrong=wrong)


def right_mask(a: int, b: int) -> Array:
    return references.causal_for_last(b - a, b)


WRONG_MASKS = (
    attends(
        "There is no mask: positions of one piece look at what comes after them.", lambda a, b: np.ones((b - a, b))
    ),
    attends(
        "The mask has the *first* rows of the causal mask. The new queries are the last ones: row i may look at keys up to S - L + i.",
        lambda a, b: np.tril(np.ones((b - a, b))),
    ),
    attends(
        "The mask has the *first* rows of the causal mask when several positions arrive. The new queries are the last ones.",
        lambda a, b: np.ones((1, b)) if b - a == 1 else np.tril(np.ones((b - a, b))),
    ),
    attends("Off by one: a query sees one key of the future.", lambda a, b: np.tril(np.ones((b - a, b)), a + 1)),
    attends(
        "Off by one: a query does not see itself.",
        lambda a, b: np.maximum(np.tril(np.ones((b - a, b)), a - 1), np.eye(b)[a:] if a == 0 else 0),
    ),
    attends(
        "The new positions see each other, but nothing from the cache: attend to what `append` returns.",
        lambda a, b: np.concatenate([np.zeros((b - a, a)), np.tril(np.ones((b - a, b - a)))], axis=1),
    ),
    attends("The mask is inverted: 1 is where a query may look.", lambda a, b: 1 - right_mask(a, b)),
)


def without_held(question: Question) -> Arrays | None:
    """Attention among the positions that came in calls, whatever the cache has."""
    if "held_K" not in question.inputs:
        return None
    length = question["x"].shape[1]
    given = {name: question[name] for name in LAYER_INPUTS}
    return {"output": references.multi_head(**given, mask=references.causal_for_last(length, length))[0]}


OTHER_WRONG_STEPS = (
    Misconception(
        "What is in the cache takes no part, if it did not come by this function. Attend to the keys and values that `append` returns.",
        wrong=without_held,
    ),
    attends("The output projection is missing.", right_mask, project=lambda a, w, b, n: a if n == 3 else a @ w + b),
    attends("Keys and values are exchanged.", right_mask, order=(0, 2, 1, 3)),
    attends("Queries and keys are exchanged.", right_mask, order=(1, 0, 2, 3)),
    attends("The keys are used as values.", right_mask, order=(0, 1, 1, 3)),
    attends(
        "The heads are not merged in their order: `_merge_heads` puts them side by side.",
        right_mask,
        merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    ),
    attends(
        "The heads are not split: use `_split_heads` with layer.num_heads.",
        right_mask,
        split=lambda x, h: x[:, None],
        merge=lambda x: x[:, 0],
    ),
)

EXERCISE = Exercise(
    name="cached_attention",
    module="05_efficient_attention",
    defines="cached_attention",
    uses=(KV_CACHE,),
    cases=(
        Case("one position at a time", 1.25, lambda d: (ask(layer_and_text(d), (1,) * d.S),)),
        Case("several positions at once", 1.25, several_positions_at_once),
        Case("the cache is read", 0.5, held_before),
        Case("attention_weights", 0.5, last_weights, needs_another=True),
        Case("gradient of a prompt", 0.5, gradient, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_MASKS,
        *OTHER_WRONG_STEPS,
        shows(
            "layer.attention_weights are not those of this call: keep them, (B, H, L, S).",
            answered(),
            ("attention_weights",),
        ),
        shows(
            "The cache does not hold all positions afterwards: give the new keys and values to `cache.append`.",
            other_values("positions"),
            ("the cache is read",),
        ),
        says(
            "The mask does not fit: there are L queries, the new positions, and S keys, all positions so far.",
            Raised.MASK_SHAPE,
        ),
        says(
            "Keys and values must both be those that `append` returns, (B, H, S, D).",
            Raised.V_SHAPE,
            Raised.PRODUCT,
            Raised.RESHAPE,
        ),
        says("What goes into the cache is split into heads: (B, H, L, D).", Raised.JOIN),
        NAMES_KEPT,
        shows(
            "The gradient does not reach q_proj: the output of attention is cut from the graph by `.data`.",
            no_gradient("q_proj_weight", "q_proj_bias"),
        ),
    ),
)
