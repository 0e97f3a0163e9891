"""Gradients of attention tile by tile, from what the forward pass kept."""

import math
from functools import partial
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._backward import (
    GRADS,
    backward,
    delta_of_tiles,
    divided_in_tiles,
    first_rows_decide,
    first_rows_of_logsumexp,
    last_keys_left_out,
    last_rows_of_Q,
    left_out_if_causal,
    root_of_values,
    rows_left_out,
    scores_scaled,
    softmax_of_tiles,
    values_from_output,
    values_from_scores,
    weights_of,
    without_future,
)
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.m05_efficient_attention._tiles import (
    CUT_TWICE,
    TILES_TOO_LARGE,
    WHOLE,
    as_many_queries,
    ask_memory,
    fewer_queries,
    mask_inverted,
    mask_of_fewer,
    neither,
    not_causal,
    not_masked,
    options,
)
from autograded_tests.variants import Array
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import changed, not_finite, other_shape_than
from exercises.signs.facts import exchanged, right_but_for
from exercises.signs.numbers import one_factor
from exercises.signs.shapes import raised_as

INPUTS = ("Q", "K", "V", "output", "logsumexp", "grad")
NOT_SUMMED = "In the {} each tile replaces what was there. It should be added: start with zeros once, and use +=."


def ask(
    inputs: dict[str, Array],
    grad: Array,
    block: int,
    mask: Array | None = None,
    causal: bool = False,
    compare: tuple[str, ...] = GRADS,
) -> Question:
    forward = references.tiled_forward(inputs["Q"], inputs["K"], inputs["V"], mask, causal)
    output, logsumexp = (x.astype(np.float32) for x in forward)
    about = {"name": "_tiled_backward", "results": list(GRADS)}
    given = inputs | {"output": output, "logsumexp": logsumexp, "grad": grad}
    return Question("array_function", about | given | options(block, mask, causal), compare)


def grad_of_fewer(d: Data) -> Array:
    return d.normal(280, d.S, d.Dv)


def grad_of_as_many(d: Data) -> Array:
    return d.normal(281, 2 * d.L, d.Dv)


def one_tile_each(d: Data) -> Question:
    """Two blocks of queries, each of which may look at one block of keys, so that nothing of Q is summed over tiles."""
    n = 2 * d.L
    mask = np.ones((n, n), np.float32)
    mask[d.L :, : d.L] = 0
    return ask(as_many_queries(d), grad_of_as_many(d), d.L, mask, causal=True, compare=("gradient_Q",))


def far_below_zero(d: Data) -> Question:
    """All scores are so low, about -115, that their exponentials are 0 in float32."""
    inputs = fewer_queries(d)
    inputs["Q"][:, 0], inputs["K"][:, 0] = 10, -11.5 * math.sqrt(d.D)
    return ask(inputs, grad_of_fewer(d), d.H, compare=("gradient_V",))


def gradient_of(d: Data, name: str) -> tuple[Question, ...]:
    return tuple(ask(fewer_queries(d), grad_of_fewer(d), block, compare=(name,)) for block in (d.B, d.H))


def mask_and_causal(d: Data) -> tuple[Question, ...]:
    """In one tile; in tiles that sum nothing of Q; and in two, the second with the last key alone, so that nothing of V is summed over tiles."""
    all_but_one = d.S + d.H - 1
    return (
        ask(fewer_queries(d), grad_of_fewer(d), WHOLE, mask_of_fewer(d)),
        ask(as_many_queries(d), grad_of_as_many(d), WHOLE, causal=True),
        ask(fewer_queries(d), grad_of_fewer(d), WHOLE, causal=True),
        ask(fewer_queries(d), grad_of_fewer(d), all_but_one, mask_of_fewer(d), compare=("gradient_V",)),
        ask(fewer_queries(d), grad_of_fewer(d), all_but_one, causal=True, compare=("gradient_V",)),
        one_tile_each(d),
    )


def table_and_inputs(d: Data) -> tuple[Question, ...]:
    """How much memory is taken, and whether that of the inputs is."""
    unchanged = tuple(f"{name}_after" for name in INPUTS)
    return *ask_memory("_tiled_backward", True), ask(fewer_queries(d), grad_of_fewer(d), WHOLE, compare=unchanged)


def reference(question: Question) -> Arrays:
    if question.probe == "whole_table":
        return {"whole_table": np.array(0)}
    Q, K, V, grad = (question[name] for name in ("Q", "K", "V", "grad"))
    gradients = references.attention_gradient(Q, K, V, weights_of(question), grad)
    return dict(zip(GRADS, gradients, strict=True)) | {f"{name}_after": question[name] for name in INPUTS}


def backward_with(
    sentence: str,
    results: tuple[str, ...] = GRADS,
    cases: tuple[str, ...] = (),
    replaces: tuple[str, ...] = (),
    **parts: Any,
) -> Misconception:
    """The way back with some wrong parts, which show in these results."""

    def wrong(question: Question) -> Arrays:
        answer = backward(question, replaces=replaces, **parts)
        return {name: answer[name] for name in results}

    return Misconception(sentence, wrong=wrong, cases=cases)


WRONG_SUMS = (
    *(backward_with(NOT_SUMMED.format(f"gradient of {name[-1]}"), (name,), replaces=(name,)) for name in GRADS),
    *(
        backward_with(NOT_SUMMED.format(f"gradients of {which}"), names, replaces=names)
        for which, names in (("K and V", ("gradient_K", "gradient_V")), ("Q, K and V", GRADS))
    ),
    backward_with(
        "Only the first tile of each row of tiles is computed. All should be computed.", left_out=lambda a, b: b > 0
    ),
    backward_with(
        "Block n of the queries meets only block n of the keys, as by `zip`. Each should go through all blocks of keys, in a loop of its own.",
        left_out=lambda a, b: a != b,
    ),
    backward_with(
        "Only the tiles of the first queries are computed. Return after both loops.", left_out=lambda a, b: a > 0
    ),
    backward_with("Only the first tile is computed. Return after both loops.", left_out=lambda a, b: a + b > 0),
    backward_with("The gradients start at 1. They should start at 0, since every tile adds to them.", start=1.0),
    backward_with(
        "Only as many keys as there are queries count, the first ones. Go through all len(K) keys.",
        weights=lambda P, s, lse: P * (np.arange(P.shape[1]) < len(P)),
    ),
    Misconception("The last tile of keys is left out. `_blocks(S, of_keys)` covers all.", wrong=last_keys_left_out),
    Misconception(
        "Only the last rows of the gradient of Q are there, the others are 0. Start with zeros once, before the loops, and write each block's "
        "rows inside the loop over `rows`.",
        wrong=last_rows_of_Q,
    ),
    Misconception("The last tile of queries is left out. `_blocks(L, of_queries)` covers all.", wrong=rows_left_out),
    Misconception(
        "Tiles of the future are left out although `causal` is False. Leave them out only if it is True.",
        wrong=without_future,
    ),
)
RULE = "The gradient of a score should be P * (dP - delta)"
WRONG_SCORES = (
    backward_with(f"delta is missing. {RULE}.", to_scores=lambda P, dP, d: P * dP),
    backward_with(f"The factor P is missing. {RULE}.", to_scores=lambda P, dP, d: dP - d),
    backward_with(f"The factor P is there twice. {RULE}.", to_scores=lambda P, dP, d: P * P * (dP - d)),
    backward_with(f"The sign of delta is flipped. {RULE}.", to_scores=lambda P, dP, d: P * (dP + d)),
    backward_with(f"delta is not multiplied with P. {RULE}.", to_scores=lambda P, dP, d: P * dP - d),
    backward_with(f"delta is halved. {RULE}.", to_scores=lambda P, dP, d: P * (dP - d / 2)),
    backward_with(
        f"This is the rule of a sigmoid, P * (1 - P) * dP. In a softmax every score moves every weight. {RULE}.",
        to_scores=lambda P, dP, d: P * (1 - P) * dP,
    ),
)
DELTA = "delta should be the sum of gradient times output over the components, one number for each query, (L, 1)"
WRONG_DELTA = (
    backward_with(f"delta is a mean. {DELTA}.", delta=lambda g, o, P, dP: (g * o).mean(-1, keepdims=True)),
    backward_with(f"delta is one number for all queries. {DELTA}.", delta=lambda g, o, P, dP: (g * o).sum()),
    backward_with(f"delta is made of the gradient alone. {DELTA}.", delta=lambda g, o, P, dP: g.sum(-1, keepdims=True)),
    backward_with(
        f"delta is made of the gradient alone. {DELTA}.", delta=lambda g, o, P, dP: (g * g).sum(-1, keepdims=True)
    ),
    backward_with(f"delta is made of the output alone. {DELTA}.", delta=lambda g, o, P, dP: o.sum(-1, keepdims=True)),
    backward_with(
        f"delta is made of the output alone. {DELTA}.", delta=lambda g, o, P, dP: (o * o).sum(-1, keepdims=True)
    ),
    backward_with(
        f"delta is the sum of the gradient times the sum of the output. {DELTA}.",
        delta=lambda g, o, P, dP: g.sum(-1, keepdims=True) * o.sum(-1, keepdims=True),
    ),
    backward_with(
        f"delta is the sum over all pairs of queries, as by `@`. {DELTA}.",
        delta=lambda g, o, P, dP: (g @ o.T).sum(-1, keepdims=True),
    ),
    Misconception(
        f"delta is summed over the keys of one tile only. {DELTA}.",
        wrong=delta_of_tiles,
    ),
)
ROOT = "divided by the root of D"
SCALED = ("gradient_Q", "gradient_K")
WRONG_SCALES = (
    backward_with("The sign of the gradient of Q is flipped.", ("gradient_Q",), scale_Q=lambda D: -1 / math.sqrt(D)),
    backward_with("The sign of the gradient of K is flipped.", ("gradient_K",), scale_K=lambda D: -1 / math.sqrt(D)),
    backward_with("The sign of the gradient of V is flipped.", ("gradient_V",), part_V=lambda P, dS, g: -(P.T @ g)),
    backward_with(
        f"The gradients of Q and K are not {ROOT}. They should be.",
        SCALED,
        scale_Q=lambda D: 1.0,
        scale_K=lambda D: 1.0,
    ),
    backward_with(f"The gradient of Q is not {ROOT}. It should be.", ("gradient_Q",), scale_Q=lambda D: 1.0),
    backward_with(f"The gradient of K is not {ROOT}. It should be.", ("gradient_K",), scale_K=lambda D: 1.0),
    backward_with(
        f"The gradients of Q and K are divided by D. They should be {ROOT}.",
        SCALED,
        scale_Q=lambda D: 1 / D,
        scale_K=lambda D: 1 / D,
    ),
    backward_with(
        f"The gradients of Q and K are multiplied by the root of D. They should be {ROOT}.",
        SCALED,
        scale_Q=math.sqrt,
        scale_K=math.sqrt,
    ),
    Misconception(
        "The gradients of Q and K are divided by the root of Dv, the width of V. It should be the root of D, the width of Q.",
        wrong=root_of_values,
    ),
    backward_with(
        "The sign of the gradients of Q and K is flipped. dP - delta should be multiplied with P, not delta - dP.",
        SCALED,
        scale_Q=lambda D: -1 / math.sqrt(D),
        scale_K=lambda D: -1 / math.sqrt(D),
    ),
)
FORWARD = "The weights P should be those of the forward pass, exp(scores - logsumexp)"
WRONG_WEIGHTS = (
    backward_with(f"The sign of logsumexp is flipped. {FORWARD}.", weights=lambda P, s, lse: np.exp(s + lse)),
    backward_with(f"exp(scores) is divided by logsumexp. {FORWARD}.", weights=lambda P, s, lse: np.exp(s) / lse),
    backward_with(f"logsumexp is not used. {FORWARD}.", weights=lambda P, s, lse: np.exp(s)),
    backward_with(f"The exponential is missing. {FORWARD}.", weights=lambda P, s, lse: s - lse),
    backward_with(f"The scores are used as weights. {FORWARD}.", weights=lambda P, s, lse: s),
    backward_with(
        f"All gradients are divided by the number of queries. {FORWARD}, and nothing is averaged.",
        weights=lambda P, s, lse: P / len(P),
    ),
    Misconception(
        f"The scores are divided by the root of D twice: `_tile_scores` does it already. {FORWARD}.",
        wrong=partial(scores_scaled, power=-0.5),
    ),
    Misconception(
        f"The scores are not divided by the root of D. `_tile_scores` does it. {FORWARD}.",
        wrong=partial(scores_scaled, power=0.5),
    ),
    Misconception(f"The weights are made of each tile alone, as by a softmax. {FORWARD}.", wrong=softmax_of_tiles),
    Misconception(f"The weights are divided by their sum in each tile. {FORWARD}.", wrong=divided_in_tiles),
    Misconception(
        f"The weights are divided by their sum in each tile. {FORWARD}.", wrong=partial(divided_in_tiles, empty=0.0)
    ),
    Misconception(
        f"All tiles use the logsumexp of the first queries. {FORWARD}, with logsumexp[rows].",
        wrong=first_rows_of_logsumexp,
    ),
    backward_with(
        "dP is made with the output. It should be the gradient of the output times V^T.",
        SCALED,
        to_weights=lambda g, V, o: o @ V.T,
    ),
)
OF_V = "The gradient of V should be P^T times the gradient of the output"
WRONG_PARTS = (
    Misconception(
        f"The gradient of V is made with the gradients of the scores. {OF_V}.",
        wrong=values_from_scores,
        cases=("gradient of V", "mask and causal"),
    ),
    Misconception(
        f"The gradient of V is made with the output. {OF_V}.",
        wrong=values_from_output,
        cases=("gradient of V", "mask and causal"),
    ),
    backward_with(
        "The gradient of Q is made with the weights P. It should be made with the gradients of the scores.",
        ("gradient_Q",),
        part_Q=lambda P, dS, K: P @ K,
        scale_Q=lambda D: 1.0,
    ),
    backward_with(
        "The gradient of K is made with the weights P. It should be made with the gradients of the scores.",
        ("gradient_K",),
        part_K=lambda P, dS, Q: P.T @ Q,
        scale_K=lambda D: 1.0,
    ),
)
OF_Q = "The gradient of Q should be dS @ K / sqrt(D), with dS = P * (dP - delta), summed over all tiles of keys, for every block of queries"
OF_K = "The gradient of K should be dS^T @ Q / sqrt(D), with dS = P * (dP - delta), summed over all tiles of queries, for every block of keys"
CASES = tuple(f"gradient of {name}" for name in "VQK")
SHAPES = "gradients of Q (L, D), K (S, D) and V (S, Dv)"

SHAPES_OF_LINES = (
    (
        (
            "The shapes do not fit in the gradient of V. In a tile P is (n, k) and grad[rows] (n, Dv); P.T @ grad[rows] is (k, Dv), "
            "as the rows `keys` of the gradient, which is as wide as V."
        ),
        r"^(grad_?V|d_?V|gradient_V)\b",
    ),
    (
        (
            "The shapes do not fit in the gradient of Q. In a tile the gradients of the scores are (n, k) and K[keys] (k, D); "
            "their product is (n, D), as the rows `rows` of the gradient."
        ),
        r"^(grad_?Q|d_?Q|gradient_Q)\b",
    ),
    (
        (
            "The shapes do not fit in the gradient of K. In a tile the gradients of the scores are (n, k), transposed (k, n), and Q[rows] "
            "(n, D); their product is (k, D), as the rows `keys` of the gradient."
        ),
        r"^(grad_?K|d_?K|gradient_K)\b",
    ),
    (
        "The shapes do not fit where logsumexp is used. The scores of a tile are (n, k), and logsumexp[rows] is (n, 1).",
        r"logsumexp|lse",
    ),
    (
        "The shapes do not fit where delta is used. grad[rows] @ V[keys].T is (n, k), and delta[rows] (n, 1): keepdims=True keeps the axis.",
        r"[dD]elta",
    ),
    (
        (
            "The shapes do not fit. In a tile P and dP are (n, k), the rows of the gradient (n, Dv), delta and logsumexp (n, 1), "
            "V[keys] (k, Dv), K[keys] (k, D), Q[rows] (n, D)."
        ),
        "",
    ),
)

EXERCISE = Exercise(
    name="tiled_backward",
    module="05_efficient_attention",
    defines="_tiled_backward",
    cases=(
        Case("gradient of V", 1, lambda d: (*gradient_of(d, "gradient_V"), far_below_zero(d))),
        Case("gradient of Q", 1.25, lambda d: gradient_of(d, "gradient_Q")),
        Case("gradient of K", 1.25, lambda d: gradient_of(d, "gradient_K")),
        Case("mask and causal", 1, mask_and_causal),
        Case("never the whole table", 0.5, table_and_inputs, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_SUMS,
        *WRONG_SCORES,
        *WRONG_DELTA,
        *WRONG_SCALES,
        *WRONG_WEIGHTS,
        *WRONG_PARTS,
        backward_with(
            "The mask is not used. Pass it to `_tile_scores`.", cases=("mask and causal",), allowed=not_masked
        ),
        backward_with(
            "The mask is inverted. It is 1 where a query may look.", cases=("mask and causal",), allowed=mask_inverted
        ),
        backward_with(
            "`causal` is not used within a tile. Pass it to `_tile_scores`.",
            cases=("mask and causal",),
            allowed=not_causal,
        ),
        backward_with(
            "mask and causal are not used. Pass both to `_tile_scores`.", cases=("mask and causal",), allowed=neither
        ),
        Misconception(
            "Blocks of queries are left out after the first that may not see a block of keys. Later queries may: with keys in the outer loop "
            "use `continue`, not `break`.",
            wrong=first_rows_decide,
            cases=("mask and causal",),
        ),
        *(
            Misconception(
                "Too many tiles are left out. Leave out only those whose first key comes after the last of their queries; "
                "row i is at position i + S - L.",
                wrong=partial(left_out_if_causal, from_top=from_top),
                cases=("mask and causal",),
            )
            for from_top in (True, False)
        ),
        *seen(
            "The gradient of V is inf or nan where all scores are far below 0, as their exponentials are 0. Take exp(scores - logsumexp).",
            not_finite("gradient_V"),
            "gradient of V",
        ),
        *(
            misconception
            for first, second in (("Q", "K"), ("Q", "V"), ("K", "V"))
            for misconception in seen(
                f"The gradients of {first} and {second} are returned in each other's place. Return those of Q, K, V in this order.",
                exchanged(f"gradient_{first}", f"gradient_{second}"),
                *CASES,
                "mask and causal",
            )
        ),
        *seen(
            f"The results do not have the shapes of {SHAPES}, in this order.",
            other_shape_than({name: name.removeprefix("gradient_") for name in GRADS}),
            *CASES,
            "mask and causal",
        ),
        *(
            misconception
            for name in "QK"
            for misconception in seen(
                f"The gradient of {name} is right up to a factor, the same for all numbers. It should be {ROOT} once.",
                one_factor(f"gradient_{name}"),
                f"gradient of {name}",
                "mask and causal",
            )
        ),
        *seen(
            f"The gradient of V is right up to a factor, the same for all numbers. {OF_V}, and nothing else.",
            one_factor("gradient_V"),
            "gradient of V",
            "mask and causal",
        ),
        *seen(
            f"The gradient of V is not right. {OF_V}, summed over all tiles of queries.",
            right_but_for((), ("gradient_V",)),
            "gradient of V",
        ),
        *seen(f"The gradient of Q is not right. {OF_Q}.", right_but_for((), ("gradient_Q",)), "gradient of Q"),
        *seen(f"The gradient of K is not right. {OF_K}.", right_but_for((), ("gradient_K",)), "gradient of K"),
        *seen(
            "With a mask or causal=True the gradient of V is wrong. P should be the weights of the forward pass, 0 where a query may not look, "
            "and only tiles in which nothing is allowed may be left out.",
            right_but_for((), ("gradient_V",)),
            "mask and causal",
        ),
        *(
            shows(
                f"The input `{name}` was changed in place. Compute a new array and leave the input alone.",
                changed(name),
                ("never the whole table",),
            )
            for name in INPUTS
        ),
        TILES_TOO_LARGE,
        *CUT_TWICE,
        *(
            shows(sentence, raised_as("broadcast|matmul|mismatch|align|operands", line))
            for sentence, line in SHAPES_OF_LINES
        ),
        NAMES_KEPT,
    ),
)
