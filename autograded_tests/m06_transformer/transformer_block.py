"""Attention and a feed-forward layer, each behind a normalisation and with a way round it."""

from functools import partial
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention._multi_head import PROJECTION_NAMES
from autograded_tests.m06_transformer._earlier import CACHED_ATTENTION, CAUSAL_MASK, KV_CACHE, MULTI_HEAD_ATTENTION
from autograded_tests.variants import Function, multi
from exercises.data import Data
from exercises.misconceptions import CUT, NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import other_shape
from exercises.signs.exceptions import Raised, cannot_be_called
from exercises.signs.facts import number_off
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import raised_as

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
    """Several sizes, one position and two; and whether earlier results change with the last position."""
    single, two = layer(d, 830, 1, d.S, 1, 1), layer(d, 850, 1, d.S, 1, 2)
    looks = Question("block_looks_ahead", usual(d), ("changed",))
    return ask(usual(d)), ask(another(d)), ask(usual(d), by_call=False), ask(single), ask(two), looks


def with_a_cache(d: Data) -> tuple[Question, ...]:
    return (
        ask(usual(d), ("output", "positions"), pieces=[1] * d.L),
        ask(another(d), ("output", "positions"), pieces=[2, d.S - 2]),
        ask(another(d), ("output", "positions"), pieces=[d.S]),
    )


def gradient(d: Data) -> tuple[Question, ...]:
    inputs = usual(d)
    return (ask(inputs, GRADIENTS, grad=d.normal(840, *inputs["x"].shape)),)


def scaled(question: Question, part: str, x: Array) -> Array:
    return np.asarray(x * question[part].astype(float) + question[f"{part}_bias"].astype(float))


def reference(question: Question) -> Arrays:
    if question.probe == "block_looks_ahead":
        return {"changed": np.array(1)}
    x, heads = question["x"].astype(float), question["num_heads"]
    weights, biases = question["weights"], question["biases"]
    mask = references.causal_for_last(x.shape[1], x.shape[1])
    y = scaled(question, "norm1", x)
    middle = x + references.multi_head(heads, y, weights, biases, mask)[0]
    normal = scaled(question, "norm2", middle)
    output = middle + scaled(question, "feed_forward", normal)
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
    order: tuple[str, str, str] = PARTS,
    first: Function = lambda x, y, attended, norm: x + attended,
    second: Function = lambda x, middle, normal, changed, norm: middle + changed,
    norm1: Function = lambda x, n: n(x),
    norm2: Function = lambda x, y, middle, n: n(middle),
    only: str = "",
) -> Arrays | None:
    """A block in which each step can be replaced by a wrong one.

    order  which scales are used as norm1, norm2 and feed_forward
    first(x, norm1(x), attention of it, norm1) is the sum of the first half
    second(x, that, norm2 of it, what the layer makes of it, norm2) is the result
    only  "all" if the mistake is made without a cache only, "cache" if with one only
    """
    if question.probe != "transformer_block" or (only and (only == "cache") != bool(question.get("pieces"))):
        return None
    x = question["x"].astype(float)
    one, two, three = (partial(scaled, question, part) for part in order)
    y = norm1(x, one)
    attended, _ = multi(question["num_heads"], y, question["weights"], question["biases"], mask(x.shape[1]))
    middle = first(x, y, attended, one)
    normal = norm2(x, y, middle, two)
    return {"output": second(x, middle, normal, three(normal), two)}


def backwards(question: Question) -> Arrays | None:
    """The feed-forward layer first, then attention, each with its own normalisation or with the other's."""
    x = question["x"].astype(float)
    middle = x + scaled(question, "feed_forward", scaled(question, "norm1", x))
    y = scaled(question, "norm2", middle)
    allowed = references.causal_for_last(x.shape[1], x.shape[1])
    attended, _ = multi(question["num_heads"], y, question["weights"], question["biases"], allowed)
    return {"output": middle + attended}


def changes(question: Question, **wrong: Any) -> Arrays:
    """How many positions have another result when the last one is another."""
    other = question["x"] + 1.0 * (np.arange(question["x"].shape[1]) == question["x"].shape[1] - 1)[:, None]
    asked = (Question("transformer_block", {**question.inputs, "x": x}, ()) for x in (question["x"], other))
    before, after = ((block(one, **wrong) or {})["output"] for one in asked)
    return {"changed": np.array(int((np.abs(after - before) > 1e-6).any(axis=(0, 2)).sum()))}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    def of(question: Question) -> Arrays | None:
        return changes(question, **wrong) if question.probe == "block_looks_ahead" else block(question, **wrong)

    return Misconception(sentence, wrong=of, cases=cases)


def forgetful(question: Question) -> Arrays | None:
    """Each piece by itself: nothing of earlier ones is seen."""
    if not question.get("pieces"):
        return None
    outputs, start = [], 0
    for length in question["pieces"]:
        inputs = dict(question.inputs) | {"x": question["x"][:, start : start + length], "pieces": []}
        found = block(Question("transformer_block", inputs, ()))
        outputs.append((found or {})["output"])
        start += length
    return {"output": np.concatenate(outputs, axis=1)}


FORMULA = "x' = x + attention(norm1(x)), and the result is x' + feed_forward(norm2(x'))."
AROUND = "What is added is what came in before the normalisation: x, and in the second half x'."
LEAK = "the result of a position changes with later ones: the future leaks."
WRONG_STEPS = (
    steps(
        f"Without a cache there is no mask, so {LEAK} Give attention mask=causal_mask(L).",
        mask=lambda L: None,
        only="all",
    ),
    steps(
        "The mask is the wrong way round: positions look at later ones. Give attention mask=causal_mask(L) as it is.",
        mask=lambda L: references.causal_for_last(L, L).T,
    ),
    steps(
        "The mask is inverted: it blocks what may be seen. Give attention mask=causal_mask(L) as it is.",
        mask=lambda L: 1 - references.causal_for_last(L, L),
    ),
    steps(
        "A position does not see itself: the mask has 0 on its diagonal. Give attention mask=causal_mask(L) as it is.",
        mask=lambda L: np.tril(np.ones((L, L)), -1),
    ),
    steps(
        "Nothing is added to what attention gives. The first half is x + attention(norm1(x)).",
        first=lambda x, y, a, n: a,
    ),
    steps(
        "Nothing is added to what the feed-forward layer gives. The second half is x' + feed_forward(norm2(x')).",
        second=lambda x, m, normal, c, n: c,
    ),
    steps(
        "There is no residual connection, neither around attention nor around the feed-forward layer. " + FORMULA,
        first=lambda x, y, a, n: a,
        second=lambda x, m, normal, c, n: c,
    ),
    steps(f"The normalised x is added to what attention gives. {AROUND}", first=lambda x, y, a, n: y + a),
    steps(
        f"The normalised x' is added to what the feed-forward layer gives. {AROUND}",
        second=lambda x, m, normal, c, n: normal + c,
    ),
    steps(
        f"In both halves the normalised numbers are added. {AROUND}",
        first=lambda x, y, a, n: y + a,
        second=lambda x, m, normal, c, n: normal + c,
    ),
    steps(
        "The normalisation comes after the addition (post-norm). Here it stands at the entrance of each layer: "
        + FORMULA,
        norm1=lambda x, n: x,
        first=lambda x, y, a, n: n(x + a),
        norm2=lambda x, y, m, n: m,
        second=lambda x, m, normal, c, n: n(m + c),
    ),
    steps(
        "What attention gives is normalised, not what it gets. The first half is x + attention(norm1(x)).",
        norm1=lambda x, n: x,
        first=lambda x, y, a, n: x + n(a),
    ),
    steps("The first normalisation is missing: attention gets x. Give it norm1(x).", norm1=lambda x, n: x),
    steps(
        "The second normalisation is missing: the feed-forward layer gets x'. Give it norm2(x').",
        norm2=lambda x, y, m, n: m,
    ),
    steps(
        "Both normalisations are missing. " + FORMULA,
        norm1=lambda x, n: x,
        norm2=lambda x, y, m, n: m,
    ),
    steps("norm1 is used twice. The second half has norm2.", order=("norm1", "norm1", "feed_forward")),
    steps("norm2 is used twice. The first half has norm1.", order=("norm2", "norm2", "feed_forward")),
    steps("norm1 and norm2 are in each other's place.", order=("norm2", "norm1", "feed_forward")),
    steps(
        "The feed-forward layer gets norm2(x), without what attention gave. Give it norm2(x'), where x' = x + attention(norm1(x)).",
        norm2=lambda x, y, m, n: n(x),
    ),
    steps(
        "The feed-forward layer gets what norm1 gave, not norm2(x'), where x' = x + attention(norm1(x)).",
        norm2=lambda x, y, m, n: y,
    ),
    steps(
        "What attention gave is left out of the result: x is added in the second half. Add x' = x + attention(norm1(x)).",
        second=lambda x, m, normal, c, n: x + c,
    ),
    steps("What attention gives is subtracted from x. Add it.", first=lambda x, y, a, n: x - a),
    steps("x is added twice in the first half. Add it once.", first=lambda x, y, a, n: 2 * x + a),
    steps(
        "The result is normalised once more at the end. In pre-norm only what goes into a layer is.",
        second=lambda x, m, normal, c, n: n(m + c),
    ),
    steps(
        "x is added twice: in the second half, too. There only x' is added.",
        second=lambda x, m, normal, c, n: m + c + x,
    ),
    steps(
        "The feed-forward layer is missing. The second half is x' + feed_forward(norm2(x')).",
        second=lambda x, m, normal, c, n: m,
    ),
    steps("Attention is missing. The first half is x + attention(norm1(x)).", first=lambda x, y, a, n: x),
    Misconception("The feed-forward layer comes first. Attention comes first: " + FORMULA, wrong=backwards),
    Misconception(
        "With a cache nothing of earlier positions is seen. Call cached_attention(self.attention, norm1(x), cache), which uses and fills it.",
        wrong=forgetful,
        cases=("with a cache",),
    ),
    steps(
        "With a cache attention gets x, not norm1(x). Give cached_attention the normalised x.",
        norm1=lambda x, n: x,
        only="cache",
    ),
    steps(
        "With a cache the residual connection around attention is missing. Add x there, too.",
        first=lambda x, y, a, n: a,
        only="cache",
    ),
)

EXERCISE = Exercise(
    name="transformer_block",
    module="06_transformer",
    defines="TransformerBlock",
    cases=(
        Case("values", 2.25, values),
        Case("with a cache", 1.25, with_a_cache),
        Case("gradient", 0.5, gradient),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_STEPS,
        shows(
            "Results of earlier positions change with a later one: the future leaks. Give attention mask=causal_mask(L).",
            number_off("changed", more=True),
            ("values",),
            rough=True,
        ),
        shows(
            "The cache gets more positions than there are. Call cached_attention once: it adds the new ones itself.",
            number_off("positions", more=True),
            ("with a cache",),
        ),
        shows(
            "The cache does not get the new positions. With a cache call cached_attention(self.attention, norm1(x), cache). "
            "(An empty cache is false in an `if`, since its length is 0: ask `cache is None`.)",
            number_off("positions", more=False),
            ("with a cache",),
        ),
        shows(
            "`cached_attention` is a function, not a method: cached_attention(self.attention, y, cache).",
            raised_as("has no attribute 'cached_attention'"),
        ),
        shows(
            "`self.attention` takes no cache. With a cache call cached_attention(self.attention, y, cache).",
            raised_as("unexpected keyword argument 'cache'", r"attention\("),
        ),
        shows(
            "Attention gets the cache as its mask. With a cache call cached_attention(self.attention, norm1(x), cache).",
            raised_as("mask is <"),
            ("with a cache",),
        ),
        shows(
            "A mask of another length is used. Make it for the positions that x has: causal_mask(x.shape[-2]).",
            raised_as("mask has shape"),
        ),
        shows(
            "An empty cache has no keys yet: its K is None. cached_attention knows; call it and leave the cache alone.",
            raised_as("'NoneType' object"),
            ("with a cache",),
        ),
        shows(
            f"No gradient reaches attention: what it gives or gets is cut from the graph, {CUT}.",
            no_gradient("norm1", *(f"{name}_weight" for name in PROJECTION_NAMES), "v_proj_bias", "out_proj_bias"),
            ("gradient",),
        ),
        shows(
            "The result has another shape than x. Both halves keep it: (B, L, E).",
            other_shape("output"),
            rough=True,
        ),
        shows(
            "With a cache `forward` takes it as its second argument: forward(x, cache).",
            cannot_be_called(Raised.ARGUMENTS),
            ("with a cache",),
        ),
        NAMES_KEPT,
    ),
    uses=(CAUSAL_MASK, MULTI_HEAD_ATTENTION, KV_CACHE, CACHED_ATTENTION),
)
