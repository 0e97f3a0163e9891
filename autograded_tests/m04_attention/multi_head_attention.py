"""Several heads side by side, with projections before and after them."""

from itertools import count
from typing import Any

import numpy as np

from autograded_tests.m04_attention._multi_head import COMPUTATIONS, PROJECTION_NAMES, reference
from autograded_tests.m04_attention.apply_mask import EXERCISE as APPLY_MASK
from autograded_tests.m04_attention.compute_attention_scores import EXERCISE as COMPUTE_ATTENTION_SCORES
from autograded_tests.m04_attention.merge_heads import EXERCISE as MERGE_HEADS
from autograded_tests.m04_attention.scale_scores import EXERCISE as SCALE_SCORES
from autograded_tests.m04_attention.scaled_dot_product_attention import EXERCISE as SCALED_DOT_PRODUCT_ATTENTION
from autograded_tests.m04_attention.split_heads import EXERCISE as SPLIT_HEADS
from autograded_tests.variants import Array, triangle
from exercises.data import Data
from exercises.misconceptions import CUT, says, shows
from exercises.model import Case, Exercise, Question
from exercises.signs.arrays import other_shape, returned
from exercises.signs.exceptions import (
    Raised,
    cannot_be_called,
    keys_of_another_length,
    mask_and_context_exchanged,
    mask_reshaped_by_the_sizes_of_x,
    mask_that_does_not_fit,
    raised,
    raised_without,
    values_of_another_length,
)
from exercises.signs.gradients import no_gradient
from exercises.signs.masks import blocked_key_has_share
from exercises.signs.numbers import only_this_is_wrong, other_scale, sum_to_one_and_are_wrong
from exercises.signs.parameters import (
    any_is,
    other_values,
    others_after_a_call,
    shared_layers,
    some_doubled,
    some_missing,
)

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


SHOWN = (
    shows(
        "A key that the mask blocks gets a share. Is the mask the right one for each batch element and head, and applied before the softmax?",
        blocked_key_has_share("attention_weights"),
        rough=True,
    ),
    shows(
        "The scores reach the softmax too large or too small. They should be divided once by the square root of the width of a head, head_dim.",
        other_scale("attention_weights"),
        rough=True,
    ),
    shows("The output has the wrong shape. It should be (B, L, E), as x.", other_shape("output"), rough=True),
    shows(
        "attention_weights are right, the output is not. Look at the values, at merging the heads, and at out_proj.",
        only_this_is_wrong("output", "attention_weights"),
        rough=True,
    ),
    shows(
        "The output is right, attention_weights are not. Keep the weights that made the output.",
        only_this_is_wrong("attention_weights", "output"),
        ("attention_weights",),
        rough=True,
    ),
)

RAISED = (
    shows(
        "`__call__` gives `forward` the mask as the context, or the context as the mask. Pass them by name: `mask=mask, context=context`.",
        mask_and_context_exchanged(),
    ),
    shows(
        "Two or more of q_proj, k_proj, v_proj and out_proj are one and the same layer, as in `[Linear(...)] * 4`. Create four.",
        shared_layers(),
    ),
    shows(
        "`__call__` must take what `forward` takes, x, mask=None and context=None, and pass it on.",
        cannot_be_called(Raised.CALL),
    ),
    shows("A MultiHeadAttention should be created with embed_dim and num_heads.", cannot_be_called(Raised.INIT)),
    shows("`forward` should take x, mask=None and context=None.", cannot_be_called()),
    shows(
        "The layers must be called q_proj, k_proj, v_proj and out_proj, and be created in `__init__`.",
        cannot_be_called(Raised.NO_PROJECTION),
    ),
    shows(
        "q_proj, k_proj, v_proj and out_proj must be layers: `Linear(embed_dim, embed_dim)`, with a bias.",
        cannot_be_called(Raised.NO_WEIGHT),
    ),
    shows("`forward` and `__call__` are both needed.", cannot_be_called(Raised.NO_FORWARD)),
    shows("`parameters` is a list. It should be a method that gives one.", cannot_be_called(Raised.LIST_CALLED)),
    shows(
        "`parameters` is missing. It lists the 8 Tensors of the four layers.", cannot_be_called(Raised.NO_PARAMETERS)
    ),
    shows(
        "A mask (B, L, S) is used without an axis for the heads. Give it one of length 1: (B, 1, L, S).",
        mask_that_does_not_fit(3, True),
    ),
    shows(
        "A mask (B, L, S) is given a shape that does not fit. It needs an axis of length 1 for the heads: (B, 1, L, S).",
        mask_that_does_not_fit(3, False),
    ),
    shows(
        "A mask (L, S) is given another shape, which does not fit. It fits as it is.", mask_that_does_not_fit(2, False)
    ),
    shows(
        "A mask with four axes is given another shape, which does not fit. It fits as it is.",
        mask_that_does_not_fit(4, False),
    ),
    shows(
        "Your code takes the mask's sizes from x. An axis of it may be 1, as in (B, 1, S): take them from the mask, or write `mask[:, None]`.",
        mask_reshaped_by_the_sizes_of_x(),
        ("masks of three and four axes",),
    ),
    says(
        "Your code needs a mask of a certain number of axes, or of a certain shape. A mask may have two, three or four axes, and an axis may be 1.",
        Raised.UNPACK,
        Raised.AXIS,
        Raised.INDEX,
        Raised.RESHAPE,
        line=r"^(?!.*transpose).*mask",
    ),
    shows(
        "The values come from x. With a context they come from the context.", values_of_another_length(), ("context",)
    ),
    shows(
        "The keys are as many as x has positions. With a context keys and values come from the context.",
        keys_of_another_length(),
        ("context",),
    ),
    shows(
        "With a context of another length it fails. Queries come from x, keys and values from the context, each by its own length.",
        raised_without("mask", Raised.RESHAPE, Raised.X_SHAPE, Raised.V_SHAPE, Raised.PRODUCT, Raised.BROADCAST),
        ("context",),
    ),
)

WEIGHTS_WRONG = (
    shows(
        "attention_weights sum to 1 and are wrong. Look at what they are made of: Q, K, their heads, the scale, and the mask if there is one.",
        sum_to_one_and_are_wrong("attention_weights"),
        rough=True,
    ),
)

PARAMETERS = (
    shows(
        "parameters() lists Tensors that are not those of the four layers, such as copies.",
        any_is("parameters", -1),
        ("parameters",),
    ),
    shows(
        "parameters() lacks some of the 8 Tensors: weight and bias of q_proj, k_proj, v_proj and out_proj.",
        some_missing(),
        ("parameters",),
    ),
    shows("parameters() lists a Tensor more than once. It should list each once.", some_doubled(), ("parameters",)),
    shows(
        "The layers are created anew in each call. Create them once, in `__init__`.",
        others_after_a_call(),
        ("parameters",),
    ),
    shows(
        "embed_dim, num_heads or head_dim is not set in `__init__`, or to another number. head_dim is embed_dim // num_heads.",
        other_values("sizes"),
        ("parameters",),
    ),
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
        f"The gradient reaches out_proj but not x, q_proj, k_proj and v_proj: the heads are cut from the graph, {CUT}.",
        no_gradient("x", *tensors("q_proj", "k_proj", "v_proj")),
    ),
    shows(
        f"The gradient does not reach q_proj and k_proj: the weights are cut from the graph, {CUT}.",
        no_gradient(*tensors("q_proj", "k_proj")),
    ),
    shows(f"The gradient does not reach x: it is cut from the graph, {CUT}.", no_gradient("x")),
    *(
        shows(f"The gradient does not reach {p}: it is cut from the graph, {CUT}.", no_gradient(*tensors(p)))
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
    misconceptions=(*COMPUTATIONS, *RAISED, *SHOWN, *WEIGHTS_WRONG, *PARAMETERS, *GRADIENTS),
    uses=(COMPUTE_ATTENTION_SCORES, SCALE_SCORES, APPLY_MASK, SCALED_DOT_PRODUCT_ATTENTION, SPLIT_HEADS, MERGE_HEADS),
)
