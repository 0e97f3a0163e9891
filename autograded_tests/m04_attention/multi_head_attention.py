"""Several heads side by side, with projections before and after them."""

import math
from itertools import count
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention.apply_mask import EXERCISE as APPLY_MASK
from autograded_tests.m04_attention.compute_attention_scores import EXERCISE as COMPUTE_ATTENTION_SCORES
from autograded_tests.m04_attention.merge_heads import EXERCISE as MERGE_HEADS
from autograded_tests.m04_attention.scale_scores import EXERCISE as SCALE_SCORES
from autograded_tests.m04_attention.scaled_dot_product_attention import EXERCISE as SCALED_DOT_PRODUCT_ATTENTION
from autograded_tests.m04_attention.split_heads import EXERCISE as SPLIT_HEADS
from autograded_tests.variants import (
    MULTI_HEAD_INPUTS,
    Array,
    Function,
    cut,
    multi,
    right_merge,
    right_split,
    softmax,
    softmax_along,
    swap,
    triangle,
)
from exercises.data import Data
from exercises.misconceptions import says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import lacks, other_shape, returned
from exercises.signs.exceptions import Raised, keys_of_another_length, raised, values_of_another_length
from exercises.signs.gradients import no_gradient
from exercises.signs.parameters import any_is, other_values, others_after_a_call, some_doubled, some_missing

PROJECTION_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")
# all but that of k_proj.bias, which is zero: it moves all scores of a query alike, and only differences count
ALL_GRADIENTS = (
    "x_after",
    "grad_x",
    *(f"grad_{p}_{part}" for p in PROJECTION_NAMES for part in ("weight", "bias") if (p, part) != ("k_proj", "bias")),
)


def embed_dim(d: Data, num_heads: int, least: int) -> int:
    """The width of this many heads: none is as wide as there are heads, and together they are neither L nor S wide."""
    widths = (width for width in count(least) if width != num_heads)
    return next(num_heads * width for width in widths if num_heads * width not in (d.L, d.S))


def own_width(d: Data) -> int:
    """E of most questions, with H heads."""
    return embed_dim(d, d.H, 2)


def ask(d: Data, x: Array | None = None, compare: tuple[str, ...] = ("output",), **inputs: Any) -> Question:
    """x (B, L, E), H heads, and projections of that width, as far as nothing else is given."""
    E = own_width(d)
    given = {
        "num_heads": d.H,
        "x": own_x(d) if x is None else x,
        "weights": d.normal(100, 4, E, E, scale=0.7),
        "biases": d.normal(101, 4, E),
    }
    return Question("multi_head_attention", given | inputs, compare)


def own_x(d: Data) -> Array:
    return d.normal(102, d.B, d.L, own_width(d))


def own_mask(d: Data) -> Array:
    """(B, L, L)"""
    return d.random_mask(105, d.B, d.L, d.L)


def one_position(d: Data) -> tuple[Question, ...]:
    one = d.normal(111, d.B, 1, own_width(d))
    return ask(d, one), ask(d, one, by_call=False)


def other_projections(d: Data) -> dict[str, Any]:
    """Projections for as many heads as there are batch elements."""
    E = embed_dim(d, d.B, 4)
    return {"weights": d.normal(107, 4, E, E, scale=0.7), "biases": d.normal(108, 4, E)}


def several_positions(d: Data) -> tuple[Question, ...]:
    one_head = d.normal(112, d.B + 1, d.L, embed_dim(d, d.B, 4))
    return ask(d), ask(d, one_head, num_heads=1, **other_projections(d))


def mask_of_two_axes(d: Data) -> tuple[Question, ...]:
    causal = triangle(d.L).astype(np.float32)
    return ask(d, mask=causal, as_tensor=False), ask(d, mask=d.random_mask(104, d.L, d.L))


def masks_of_three_and_four_axes(d: Data) -> tuple[Question, ...]:
    # as many heads as batch elements: a mask (B, L, S) must not be taken for (H, L, S)
    twins, twins_mask = d.normal(109, d.B, d.L, embed_dim(d, d.B, 4)), d.random_mask(110, d.B, d.L, d.L)
    three, four = own_mask(d), d.random_mask(106, d.B, d.H, d.L, d.L)
    return (
        ask(d, twins, num_heads=d.B, mask=twins_mask, **other_projections(d)),
        ask(d, mask=three, as_tensor=False),
        ask(d, mask=four),
        ask(d, mask=four[:, :1]),
        ask(d, own_x(d)[:1], mask=three[:1] > 0, as_tensor=False),
        ask(d, mask=for_all_queries(d)),
    )


def for_all_queries(d: Data) -> Array:
    """(B, 1, L): before the last key, one is blocked for the first batch element, and one more for each further one."""
    before_the_last = d.L - 1 - np.arange(d.L)
    blocked = (before_the_last >= 1) & (before_the_last <= 1 + np.arange(d.B)[:, None, None])
    return (~blocked).astype(np.float32)


def context(d: Data) -> tuple[Question, ...]:
    x, other, as_many = own_x(d), d.normal(103, d.B, d.S, own_width(d)), min(d.L, d.S)
    return (
        ask(d, context=other),
        ask(d, x[:, :as_many], context=other[:, :as_many]),
        ask(d, context=other, mask=d.random_mask(113, d.B, d.L, d.S)),
    )


def parameters(d: Data) -> tuple[Question, ...]:
    inputs = {"embed_dim": own_width(d), "num_heads": d.H}
    return (Question("multi_head_parameters", inputs, ("parameters", "parameters_after", "sizes")),)


def gradient(d: Data) -> tuple[Question, ...]:
    return (ask(d, mask=own_mask(d), grad=d.normal(114, d.B, d.L, own_width(d)), compare=ALL_GRADIENTS),)


def heads_that_do_not_divide(d: Data) -> tuple[Question, ...]:
    inputs = {"embed_dim": own_width(d) + d.H - 1, "num_heads": d.H}
    return (Question("multi_head_raises", inputs, ("refused",)),)


def arguments(question: Question) -> dict[str, Any]:
    return {name: question.get(name) for name in MULTI_HEAD_INPUTS}


def reference(question: Question) -> Arrays:
    if question.probe == "multi_head_parameters":
        E, H = question["embed_dim"], question["num_heads"]
        return {"parameters": np.arange(8), "parameters_after": np.arange(8), "sizes": np.array((E, H, E // H))}
    if question.probe == "multi_head_raises":
        return {"refused": np.array(1)}
    given, x, grad = arguments(question), question["x"], question.get("grad")
    output, weights = references.multi_head(**given)
    answer = {"output": output, "attention_weights": weights, "x_after": x}
    if grad is not None:
        answer["grad_x"], _, to_weights, to_biases = references.multi_head_gradient(grad=grad, **given)
        for n, name in enumerate(PROJECTION_NAMES):
            answer[f"grad_{name}_weight"], answer[f"grad_{name}_bias"] = to_weights[n], to_biases[n]
    return answer


def multis(sentence: str, cases: tuple[str, ...] = (), **steps: Any) -> Misconception:
    """Multi-head attention with some steps replaced by wrong ones."""

    def wrong(question: Question) -> Arrays | None:
        if question.probe != "multi_head_attention":
            return None
        return dict(zip(("output", "attention_weights"), multi(**arguments(question), **steps), strict=True))

    return Misconception(sentence, wrong=wrong, cases=cases)


def unprojected(which: int) -> Function:
    return lambda a, w, b, n: a if n == which else a @ w + b


def no_bias(*which: int) -> Function:
    return lambda a, w, b, n: a @ w if n in which else a @ w + b


def projected_twice(question: Question) -> Arrays | None:
    if question.probe != "multi_head_attention":
        return None
    output, weights = multi(**arguments(question))
    return {"output": output @ question["weights"][3] + question["biases"][3], "attention_weights": weights}


PROJECTIONS = (
    multis("The output projection is missing.", project=unprojected(3)),
    multis("The values are not projected.", project=unprojected(2)),
    multis("The keys are not projected.", project=unprojected(1)),
    multis("The queries are not projected.", project=unprojected(0)),
    multis("The values and the keys are exchanged.", order=(0, 2, 1, 3)),
    multis("The queries and the keys are exchanged.", order=(1, 0, 2, 3)),
    multis("The queries and the values are exchanged.", order=(2, 1, 0, 3)),
    multis("One projection is used for queries, keys and values. Each has its own.", order=(0, 0, 0, 3)),
    multis("One projection is used for queries and keys. Each has its own.", order=(0, 0, 2, 3)),
    multis("One projection is used for keys and values. Each has its own.", order=(0, 1, 1, 3)),
    multis("One projection is used for queries and values. Each has its own.", order=(0, 1, 0, 3)),
    multis("One projection is used for queries, keys and values. Each has its own.", order=(2, 2, 2, 3)),
    Misconception("The output projection is applied twice.", wrong=projected_twice),
    multis("The biases are ignored.", project=no_bias(0, 1, 2, 3)),
    multis("The biases of queries, keys and values are ignored.", project=no_bias(0, 1, 2)),
    multis("The bias of the output projection is ignored.", project=no_bias(3)),
)

FINISHES: tuple[tuple[str, Function], ...] = (
    ("The input is added to the output. That is a residual connection, and not part of attention.", lambda y, x: y + x),
    (
        "The result is normalised. That is no part of attention.",
        lambda y, x: (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5),
    ),
    ("The result went through an activation. That is no part of attention.", lambda y, x: np.maximum(y, 0)),
    ("The result is averaged over the positions.", lambda y, x: np.broadcast_to(y.mean(1, keepdims=True), y.shape)),
)


def reshaped_split(x: Array, num_heads: int) -> Array:
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


def reshaped_merge(x: Array) -> Array:
    return x.reshape(x.shape[0], x.shape[2], -1)


def interleaved_split(x: Array, num_heads: int) -> Array:
    return np.moveaxis(x.reshape(*x.shape[:2], -1, num_heads), -1, 1)


def interleaved_merge(x: Array) -> Array:
    return np.moveaxis(x, 1, -1).reshape(x.shape[0], x.shape[2], -1)


HEADS = (
    multis(
        "The heads are not split: there is one head with the full width.",
        split=lambda x, h: x[:, None],
        merge=lambda x: x[:, 0],
    ),
    multis("The heads are split by a reshape alone, which mixes positions.", split=reshaped_split),
    multis(
        "The heads are split and merged by reshapes alone, which mix positions.",
        split=reshaped_split,
        merge=reshaped_merge,
    ),
    multis("The heads are merged by a reshape alone, which mixes positions.", merge=reshaped_merge),
    multis("The heads are interleaved when they are split.", split=interleaved_split),
    multis(
        "The heads are interleaved when they are split and merged.", split=interleaved_split, merge=interleaved_merge
    ),
    multis("The heads are interleaved when they are merged.", merge=interleaved_merge),
    multis("The heads are merged in reverse order.", merge=lambda x: right_merge(x[:, ::-1])),
    multis(
        "The heads were not transposed: attention is over heads, not over positions.",
        split=cut,
        merge=lambda x: x.reshape(*x.shape[:2], -1),
    ),
    multis(
        "The number of heads and the width of a head are exchanged.",
        split=lambda x, h: right_split(x, x.shape[-1] // h),
    ),
)

SCALES_AND_SHARES = (
    multis(
        "The scores are scaled by the embedding width. Each head has its own width, head_dim.",
        scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
    ),
    multis("The scores are not scaled.", scale=lambda Q, K, V: 1.0),
    multis("The scores are divided by the head width, not by its root.", scale=lambda Q, K, V: Q.shape[-1]),
    multis("The scores are scaled by the number of heads.", scale=lambda Q, K, V: math.sqrt(Q.shape[1])),
    multis("The shares are made over the queries. The last axis, the keys, must sum to 1.", share=softmax_along(-2)),
    multis("The shares are made over the heads. The last axis, the keys, must sum to 1.", share=softmax_along(1)),
)


def for_heads(mask: Any) -> Any:
    return references.mask_for_heads(mask)


def transposed(mask: Array) -> Array:
    """The mask the other way round, where that makes no difference to its shape."""
    fitting = for_heads(mask)
    return swap(fitting) if mask.shape[-1] == mask.shape[-2] else fitting


def unmasked_if(*axes: int) -> Function:
    return lambda m, x: None if m is None or m.ndim in axes else for_heads(m)


MASKS = (
    multis(
        "The mask is ignored: does `__call__` hand it on to `forward`, and `forward` to attention?",
        edit_mask=lambda m, x: None,
    ),
    multis("Attention is always causal. Only the mask decides.", edit_mask=lambda m, x: triangle(x.shape[1])),
    multis(
        "Attention is causal when no mask is given.",
        edit_mask=lambda m, x: triangle(x.shape[1]) if m is None else for_heads(m),
    ),
    multis(
        "The mask is inverted: 1 is where a query may look.",
        edit_mask=lambda m, x: None if m is None else for_heads(1 - m),
    ),
    multis(
        "The mask is transposed: its rows are queries, its columns keys.",
        edit_mask=lambda m, x: None if m is None else transposed(m),
    ),
    multis(
        "A mask (B, L, S) is taken for one of each head. Give it an axis of length 1 for the heads.",
        edit_mask=lambda m, x: m,
        cases=("masks of three and four axes",),
    ),
    multis(
        "Only the first batch element's mask is used.",
        edit_mask=lambda m, x: for_heads(m)[:1] if m is not None and m.ndim > 2 else m,
    ),
    multis(
        "The first head's mask is used for all heads.",
        edit_mask=lambda m, x: for_heads(m)[:, :1] if m is not None and m.ndim > 2 else m,
    ),
    multis("Masks with three axes are ignored.", edit_mask=unmasked_if(3)),
    multis("Masks with four axes are ignored.", edit_mask=unmasked_if(4)),
    multis("Masks with two axes are ignored.", edit_mask=unmasked_if(2)),
    multis("Masks with three and four axes are ignored.", edit_mask=unmasked_if(3, 4)),
)

SOURCES = (
    multis(
        "The context is ignored: does `__call__` hand it on to `forward`, and are keys and values made of it?",
        cases=("context",),
        sources=lambda x, c: (x, x, x),
    ),
    multis(
        "The context gives the queries. It should give keys and values.",
        cases=("context",),
        sources=lambda x, c: (c, x, x),
    ),
    multis(
        "The context gives everything. The queries come from x.", cases=("context",), sources=lambda x, c: (c, c, c)
    ),
    multis("Batch elements are mixed: each one attends to itself only.", sources=lambda x, c: (x, c[::-1], c[::-1])),
)

WEIGHTS = (
    multis(
        "The mean over the heads is kept in attention_weights. Keep all heads, (B, H, L, S).",
        cases=("attention_weights",),
        share=lambda s: softmax(s).mean(1, keepdims=True),
    ),
    Misconception(
        "attention_weights are averaged over the heads. Keep all heads, (B, H, L, S).",
        wrong=lambda q: {"attention_weights": reference(q)["attention_weights"].mean(1)},
        cases=("attention_weights",),
    ),
    Misconception(
        "attention_weights are those of the first head only. Keep all heads, (B, H, L, S).",
        wrong=lambda q: {"attention_weights": reference(q)["attention_weights"][:, 0]},
        cases=("attention_weights",),
    ),
    shows(
        "attention_weights are not set: keep the weights of the last call, (B, H, L, S).",
        lacks("attention_weights"),
        ("attention_weights",),
    ),
    shows(
        "attention_weights hold something of another shape; keep the weights of the last call, (B, H, L, S).",
        other_shape("attention_weights"),
        ("attention_weights",),
    ),
)

RAISED = (
    says("`__call__` must take what `forward` takes, mask and context, and hand them on.", Raised.ARGUMENTS),
    says(
        "The layers must be called q_proj, k_proj, v_proj and out_proj, and be created in `__init__`.",
        Raised.NO_PROJECTION,
    ),
    says(
        "q_proj, k_proj, v_proj and out_proj must be layers: `Linear(embed_dim, embed_dim)`, with a bias.",
        Raised.NO_WEIGHT,
    ),
    says("`forward` and `__call__` are both needed.", Raised.NO_FORWARD),
    says("`parameters` is missing: the 8 tensors of the four layers.", Raised.NO_PARAMETERS),
    says(
        "A mask (B, L, S) needs an axis of length 1 for the heads, (B, 1, L, S); one with two or four axes fits as it is.",
        Raised.MASK_SHAPE,
        Raised.BROADCAST,
        cases=("masks of three and four axes",),
    ),
    says(
        "The mask is expected to have a certain number of axes. It may have two, three or four.",
        Raised.UNPACK,
        Raised.AXIS,
        Raised.INDEX,
        Raised.RESHAPE,
        cases=("causal mask", "masks of three and four axes"),
    ),
    shows(
        "The values come from x. With a context they come from the context.", values_of_another_length(), ("context",)
    ),
    shows("The keys come from x. With a context they come from the context.", keys_of_another_length(), ("context",)),
    says(
        "With a context of another length it fails: queries come from x, keys and values from the context, each by its own length.",
        Raised.RESHAPE,
        Raised.MASK_SHAPE,
        Raised.X_SHAPE,
        Raised.V_SHAPE,
        Raised.PRODUCT,
        cases=("context",),
    ),
    says("`_split_heads` or `_merge_heads` is called with the wrong arguments.", Raised.DIVIDED_HEADS),
    says("The shapes do not fit: split into (B, H, L, D), attend, merge to (B, L, E).", Raised.RESHAPE, Raised.PRODUCT),
)

PARAMETERS = (
    shows(
        "parameters() lacks some of the 8 tensors: weight and bias of q_proj, k_proj, v_proj and out_proj.",
        some_missing(),
        ("parameters",),
    ),
    shows("parameters() lists tensors more than once.", some_doubled(), ("parameters",)),
    shows(
        "parameters() lists tensors that are not parameters of the four layers.",
        any_is("parameters", -1),
        ("parameters",),
    ),
    shows(
        "The layers are created anew in each call. Create them once, in `__init__`.",
        others_after_a_call(),
        ("parameters",),
    ),
    shows("embed_dim, num_heads and head_dim must be set in `__init__`.", other_values("sizes"), ("parameters",)),
    *(
        shows(
            "A number of heads that does not divide embed_dim must be refused with a ValueError: call `_check_heads` in `__init__`.",
            sign,
            ("heads that do not divide",),
        )
        for sign in (returned("refused"), raised(Raised.ANYTHING))
    ),
)


def tensors(*projections: str) -> tuple[str, ...]:
    return tuple(f"{p}_{part}" for p in projections for part in ("weight", "bias"))


GRADIENTS = (
    shows(
        "The gradient ends before the projections: the result of the heads is cut from the graph by `.data`.",
        no_gradient("x", *tensors("q_proj", "k_proj", "v_proj")),
    ),
    shows(
        "The gradient does not reach q_proj and k_proj: the weights are cut from the graph by `.data`.",
        no_gradient(*tensors("q_proj", "k_proj")),
    ),
    shows("The gradient does not reach x.", no_gradient("x")),
    *(
        shows(f"The gradient does not reach {p}: it is cut from the graph by `.data`.", no_gradient(*tensors(p)))
        for p in PROJECTION_NAMES
    ),
)

EXERCISE = Exercise(
    name="multi_head_attention",
    module="04_attention",
    defines="MultiHeadAttention",
    cases=(
        Case("one position only", 1, one_position),
        Case("several positions and heads", 2.5, several_positions),
        Case("causal mask", 1, mask_of_two_axes),
        Case("masks of three and four axes", 1, masks_of_three_and_four_axes),
        Case("context", 1, context),
        Case("attention_weights", 0.5, lambda d: (ask(d, mask=own_mask(d), compare=("attention_weights",)),)),
        Case("parameters", 0.5, parameters, needs_another=True),
        Case("gradient", 1, gradient),
        Case("heads that do not divide", 0.5, heads_that_do_not_divide, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *PROJECTIONS,
        *(multis(sentence, finish=finish) for sentence, finish in FINISHES),
        *HEADS,
        *SCALES_AND_SHARES,
        *MASKS,
        *SOURCES,
        *WEIGHTS,
        *RAISED,
        *PARAMETERS,
        *GRADIENTS,
    ),
    uses=(COMPUTE_ATTENTION_SCORES, SCALE_SCORES, APPLY_MASK, SCALED_DOT_PRODUCT_ATTENTION, SPLIT_HEADS, MERGE_HEADS),
)
