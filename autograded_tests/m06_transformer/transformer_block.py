"""Attention and a feed-forward layer, each behind a normalisation and with a way round it."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention._multi_head import PROJECTION_NAMES
from autograded_tests.m06_transformer._earlier import CACHED_ATTENTION, CAUSAL_MASK, KV_CACHE, MULTI_HEAD_ATTENTION
from autograded_tests.variants import Function, multi
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT
from exercises.model import Arrays, Case, Exercise, Misconception, Question

Array = np.ndarray
PARTS = ("norm1", "norm2", "feed_forward")  # x * name + name_bias
# all but that of k_proj's bias, which is 0
GRADIENTS = (
    "grad_x",
    *(f"grad_{name}" for name in PARTS),
    *(f"grad_{p}_weight" for p in PROJECTION_NAMES),
    "grad_v_proj_bias",
    "grad_out_proj_bias",
)


def layer(d: Data, number: int, heads: int, width: int, batch: int, length: int) -> dict[str, Any]:
    """A block of some heads, and positions."""
    E = heads * width
    parts = {
        name: array
        for n, part in enumerate(PARTS)
        for name, array in (
            (part, d.normal(number + 2 * n, E) + np.float32(1.5)),
            (f"{part}_bias", d.normal(number + 2 * n + 1, E)),
        )
    }
    return {
        "num_heads": heads,
        "x": d.normal(number + 6, batch, length, E),
        "weights": d.normal(number + 7, 4, E, E, scale=0.6),
        "biases": d.normal(number + 8, 4, E),
        **parts,
    }


def usual(d: Data) -> dict[str, Any]:
    return layer(d, 810, d.H, d.B, d.B, d.L)


def another(d: Data) -> dict[str, Any]:
    return layer(d, 820, d.B, d.L, d.H, d.S)


def ask(inputs: dict[str, Any], compare: tuple[str, ...] = ("output",), **told: Any) -> Question:
    return Question("transformer_block", inputs | told, compare)


def values(d: Data) -> tuple[Question, ...]:
    return ask(usual(d)), ask(another(d)), ask(usual(d), by_call=False)


def one_position(d: Data) -> tuple[Question, ...]:
    inputs = layer(d, 830, 1, d.S, 1, 1)
    return ask(inputs), ask(inputs, ("output", "positions"), pieces=[1])


def no_look_ahead(d: Data) -> tuple[Question, ...]:
    inputs = {name: value for name, value in usual(d).items() if name != "grad"}
    return (Question("block_looks_ahead", inputs, ("changed",)),)


def with_a_cache(d: Data) -> tuple[Question, ...]:
    return (
        ask(usual(d), ("output", "positions"), pieces=[1] * d.L),
        ask(another(d), ("output", "positions"), pieces=[2, d.S - 2]),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    inputs = usual(d)
    return (ask(inputs, GRADIENTS, grad=d.normal(840, *inputs["x"].shape)),)


def scale(x: Array, question: Question, part: str) -> Array:
    return np.asarray(x * question[part].astype(float) + question[f"{part}_bias"].astype(float))


def reference(question: Question) -> Arrays:
    if question.probe == "block_looks_ahead":
        return {"changed": np.array(1)}
    x, heads = question["x"].astype(float), question["num_heads"]
    weights, biases = question["weights"], question["biases"]
    mask = references.causal_for_last(x.shape[1], x.shape[1])
    y = scale(x, question, "norm1")
    middle = x + references.multi_head(heads, y, weights, biases, mask)[0]
    normal = scale(middle, question, "norm2")
    output = middle + scale(normal, question, "feed_forward")
    answer = {"output": output, "positions": np.array(x.shape[1])}
    if question.get("grad") is not None:
        grad = question["grad"].astype(float)
        to_normal = grad * question["feed_forward"]
        to_middle = grad + to_normal * question["norm2"]
        to_y, _, to_weights, to_biases = references.multi_head_gradient(heads, y, weights, biases, to_middle, mask)
        answer |= {
            "grad_x": to_middle + to_y * question["norm1"],
            "grad_norm1": (to_y * x).sum((0, 1)),
            "grad_norm2": (to_normal * middle).sum((0, 1)),
            "grad_feed_forward": (grad * normal).sum((0, 1)),
        }
        for n, name in enumerate(PROJECTION_NAMES):
            answer[f"grad_{name}_weight"], answer[f"grad_{name}_bias"] = to_weights[n], to_biases[n]
    return answer


def block(
    question: Question,
    *,
    mask: Function = lambda L: references.causal_for_last(L, L),
    inside: Function = lambda n1, n2: (n1, n2),
    first: Function = lambda x, y, attended: x + attended,
    second: Function = lambda x, middle, normal, changed: middle + changed,
    norm1: Function = lambda x, n: n(x),
    norm2: Function = lambda middle, x, n: n(middle),
) -> Arrays:
    """A block in which each step can be replaced by a wrong one.

    first(x, norm1(x), attention of it) is the sum of the first half, second(x, that, norm2 of it, what the layer makes) of both
    """
    x = question["x"].astype(float)
    y = norm1(x, lambda a: scale(a, question, "norm1"))
    allowed = mask(x.shape[1])
    attended, _ = multi(question["num_heads"], y, question["weights"], question["biases"], allowed)
    middle = first(x, y, attended)
    normal = norm2(middle, x, lambda a: scale(a, question, "norm2"))
    return {"output": second(x, middle, normal, scale(normal, question, "feed_forward"))}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    return Misconception(sentence, wrong=lambda question: block(question, **wrong), cases=cases)


EXERCISE = Exercise(
    name="transformer_block",
    module="06_transformer",
    defines="TransformerBlock",
    cases=(
        Case("values", 1.5, values),
        Case("one position", 0.5, one_position),
        Case("no look ahead", 0.5, no_look_ahead, needs_another=True),
        Case("with a cache", 1, with_a_cache),
        Case("gradient", 0.5, gradient),
    ),
    reference=reference,
    misconceptions=(
        steps(
            "There is no way round the attention: its result is not added to x. Return x + attention(norm1(x)) from the first half.",
            first=lambda x, y, attended: attended,
        ),
        NAMES_KEPT,
    ),
    uses=(CAUSAL_MASK, MULTI_HEAD_ATTENTION, KV_CACHE, CACHED_ATTENTION),
)
