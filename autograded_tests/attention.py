"""The exercises of 04_attention."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.exercise import Arrays, Ask, Case, Exercise, Helper, Inputs, Misconception, Reply, same
from autograded_tests.misconceptions import Array, Function, computes, no_gradient, says, shows, softmax, swap
from autograded_tests.shapes import DV, B, D, H, L, S, normal, random_mask

# --- scores -----------------------------------------------------------------------------------------------------------

Q2, K2 = normal(40, L, D), normal(41, S, D)
Q3, K3, V3 = normal(42, B, L, D), normal(43, B, S, D), normal(44, B, S, DV)
Q4, K4, V4 = normal(45, B, H, L, D), normal(46, B, H, S, D), normal(47, B, H, S, DV)
VISIBLE_Q, VISIBLE_K = np.array([[1, 2], [0, 1]], np.float32), np.array([[3, 4], [5, 6], [7, 8]], np.float32)


def ask_scores(Q: Array, K: Array, compare: tuple[str, ...] = ("scores",), grad: Array | None = None) -> Ask:
    return Ask("compute_attention_scores", {"Q": Q, "K": K, "grad": grad}, compare)


def scores_reference(_probe: str, i: Inputs) -> Arrays:
    answer = {"scores": references.scores(i["Q"], i["K"]), "Q_after": i["Q"], "K_after": i["K"]}
    if i["grad"] is not None:
        answer |= dict(zip(("grad_Q", "grad_K"), references.scores_gradient(i["Q"], i["K"], i["grad"]), strict=True))
    return answer


SQUARE_Q, SQUARE_K = normal(48, B, D, D), normal(49, B, D, D)

SCORES = Exercise(
    name="compute_attention_scores",
    module="04_attention",
    defines="_compute_attention_scores",
    cases=(
        Case("values", 1, (ask_scores(Q3, K3), ask_scores(SQUARE_Q, SQUARE_K))),
        Case("any leading axes", 0.5, (ask_scores(VISIBLE_Q, VISIBLE_K), ask_scores(Q2, K2), ask_scores(Q4, K4))),
        Case(
            "gradient", 0.5, (ask_scores(Q4, K4, ("grad_Q", "grad_K", "Q_after", "K_after"), normal(50, B, H, L, S)),)
        ),
    ),
    reference=scores_reference,
    misconceptions=(
        *(
            computes("scores", sentence, function)
            for sentence, function in (
                (
                    "K was reshaped, not transposed: a reshape keeps the order of the numbers. Exchange its last two axes.",
                    lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
                ),
                ("These are products of the queries with themselves. K takes no part.", lambda Q, K: Q @ swap(Q)),
                ("These are products of the keys with themselves. Q takes no part.", lambda Q, K: K @ swap(K)),
                (
                    "Queries and keys are exchanged: a row belongs to a query, a column to a key.",
                    lambda Q, K: K @ swap(Q),
                ),
                ("K was not transposed.", lambda Q, K: Q @ K),
                ("Q was transposed in place of K.", lambda Q, K: swap(Q) @ K),
                (
                    "The scores are scaled here already. That is the task of `_scale_scores`, and it would happen twice.",
                    lambda Q, K: Q @ swap(K) / math.sqrt(Q.shape[-1]),
                ),
                (
                    "The scores are divided by the width. Plain dot products are asked for.",
                    lambda Q, K: Q @ swap(K) / Q.shape[-1],
                ),
                ("A softmax was applied. Plain dot products are asked for.", lambda Q, K: softmax(Q @ swap(K))),
                (
                    "These are cosines: queries and keys were brought to length 1. Plain dot products are asked for.",
                    lambda Q, K: (
                        (Q / np.linalg.norm(Q, axis=-1, keepdims=True))
                        @ swap(K / np.linalg.norm(K, axis=-1, keepdims=True))
                    ),
                ),
                (
                    "These are (negative) distances, not dot products.",
                    lambda Q, K: -((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1),
                ),
                (
                    "These are distances, not dot products.",
                    lambda Q, K: np.sqrt(((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)),
                ),
                ("The sign is turned.", lambda Q, K: -(Q @ swap(K))),
                (
                    "Negative scores were cut off. They are scores like any other.",
                    lambda Q, K: np.maximum(Q @ swap(K), 0),
                ),
                ("Only the first batch element's keys are used.", lambda Q, K: Q @ swap(K[:1] if K.ndim > 2 else K)),
                (
                    "Scores of different batch elements are mixed: each one has queries and keys of its own.",
                    lambda Q, K: Q @ swap(K[::-1] if K.ndim > 2 else K),
                ),
            )
        ),
        says(
            r"AxisError|axis \d is out of bounds|axes don't match|bad axis|axis1|not enough values to unpack|too many values to unpack",
            "The axes are counted from the left, so another number of leading axes fails. Count from the right: -2 and -1.",
            ("any leading axes",),
        ),
        says(
            r"last axis \(\d+\) must equal|do not broadcast|IndexError|must equal",
            "The wrong axes were exchanged: count from the right, -2 and -1.",
            ("any leading axes",),
        ),
        says(
            r"^ValueError: @:",
            "The inner sizes do not fit: the last two axes of K must be exchanged, (S, D) to (D, S).",
            ("values",),
        ),
        shows(
            "Every leading axis was exchanged along with the last two. Exchange only axes -2 and -1.",
            lambda ask, r: "scores" in r.arrays and r.arrays["scores"].ndim != np.ndim(ask.inputs["Q"]),
        ),
        shows("The gradient reaches only one of Q and K: `.data` cuts the graph of the other.", no_gradient("Q")),
        shows("The gradient reaches only one of Q and K: `.data` cuts the graph of the other.", no_gradient("K")),
    ),
    helper=Helper(
        "_compute_attention_scores",
        ("Q", "K"),
        1,
        lambda Q, K: [references.scores(Q, K)],
        lambda _index, grad, Q, K: list(references.scores_gradient(Q, K, grad)),
    ),
)

# --- scale ------------------------------------------------------------------------------------------------------------


def ask_scale(scores: Array, d_k: int, compare: tuple[str, ...] = ("scaled",), grad: Array | None = None) -> Ask:
    return Ask("scale_scores", {"scores": scores, "d_k": d_k, "grad": grad}, compare)


def scale_reference(_probe: str, i: Inputs) -> Arrays:
    root = math.sqrt(i["d_k"])
    answer = {"scaled": i["scores"].astype(float) / root, "scores_after": i["scores"]}
    return answer if i["grad"] is None else answer | {"grad_scores": i["grad"] / root}


SCORES_3 = normal(51, B, L, S, scale=5)

SCALE = Exercise(
    name="scale_scores",
    module="04_attention",
    defines="_scale_scores",
    cases=(
        Case(
            "values",
            1.25,
            (
                ask_scale(np.array([[4, 8]], np.float32), 4),
                ask_scale(np.array([[10]], np.float32), 100),
                ask_scale(SCORES_3, 12),
                ask_scale(normal(52, B, H, L, S), 7),
                ask_scale(normal(53, L, S), 1),
            ),
        ),
        Case("gradient", 0.5, (ask_scale(SCORES_3, 16, ("grad_scores",), normal(54, B, L, S)),)),
        Case("input unchanged", 0.25, (ask_scale(SCORES_3, 12, ("scores_after",)),), alone=False),
    ),
    reference=scale_reference,
    misconceptions=tuple(
        computes("scaled", sentence, function)
        for sentence, function in (
            ("You divided by d_k. Divide by its square root.", lambda scores, d_k: scores / d_k),
            ("The scores come back as they were: nothing is scaled.", lambda scores, d_k: scores),
            ("You multiplied by the square root of d_k. Divide by it.", lambda scores, d_k: scores * math.sqrt(d_k)),
            ("You multiplied by d_k. Divide by its square root.", lambda scores, d_k: scores * d_k),
            ("You divided by a constant, 2, which is right for d_k = 4 only.", lambda scores, d_k: scores / 2),
            ("You divided by a constant, 8, which is right for d_k = 64 only.", lambda scores, d_k: scores / 8),
            ("You divided by a constant, 10, which is right for d_k = 100 only.", lambda scores, d_k: scores / 10),
            ("You divided by half of d_k. Divide by its square root.", lambda scores, d_k: scores / (d_k / 2)),
            (
                "You divided by the number of keys. The width of a key counts: d_k.",
                lambda scores, d_k: scores / scores.shape[-1],
            ),
            (
                "You divided by the square root of the number of keys. The width of a key counts: d_k.",
                lambda scores, d_k: scores / math.sqrt(scores.shape[-1]),
            ),
            (
                "You divided by the square root of the number of queries.",
                lambda scores, d_k: scores / math.sqrt(scores.shape[-2]),
            ),
            ("The square root is rounded to a whole number.", lambda scores, d_k: scores / int(math.sqrt(d_k))),
            ("The square root is rounded to a whole number.", lambda scores, d_k: scores / round(math.sqrt(d_k))),
            ("You divided by the square of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k**2),
            (
                "You divided by d_k to the power 1.5: it was scaled twice, in different ways.",
                lambda scores, d_k: scores / d_k**1.5,
            ),
            ("You took the cube root of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k ** (1 / 3)),
            ("You took the fourth root of d_k. Divide by its square root.", lambda scores, d_k: scores / d_k**0.25),
            ("You took a logarithm of d_k. Divide by its square root.", lambda scores, d_k: scores / math.log(d_k)),
            ("You subtracted the square root of d_k. Divide by it.", lambda scores, d_k: scores - math.sqrt(d_k)),
            (
                "The square root was taken of the scores too. Only d_k is under the root.",
                lambda scores, d_k: np.sqrt(scores / d_k),
            ),
            ("The square root is rounded to a whole number.", lambda scores, d_k: scores / math.ceil(math.sqrt(d_k))),
            ("You took a logarithm of d_k. Divide by its square root.", lambda scores, d_k: scores / math.log2(d_k)),
            ("The sign is turned.", lambda scores, d_k: -scores / math.sqrt(d_k)),
            (
                "`^` is no power in Python: it works on bits. Use `**` or math.sqrt.",
                lambda scores, d_k: scores / (d_k ^ 2),
            ),
            (
                "A small number was added under the root. d_k is never zero.",
                lambda scores, d_k: scores / math.sqrt(d_k + 1),
            ),
            (
                "A softmax was applied as well. Scaling only divides.",
                lambda scores, d_k: softmax(scores / math.sqrt(d_k)),
            ),
            (
                "The scores were divided by their own standard deviation. Divide by the square root of d_k.",
                lambda scores, d_k: scores / scores.std(),
            ),
        )
    )
    + (says(r"//", "`//` cuts off to whole numbers. Divide with `/`."),),
    helper=Helper(
        "_scale_scores",
        ("scores", "d_k"),
        1,
        lambda scores, d_k: [scores.astype(float) / math.sqrt(d_k)],
        lambda _index, grad, scores, d_k: [grad / math.sqrt(d_k)],
    ),
)

# --- causal mask ------------------------------------------------------------------------------------------------------


def triangle(seq_len: int, last: int = 0) -> Array:
    return np.array([[float(j <= i + last) for j in range(seq_len)] for i in range(seq_len)])


CAUSAL = Exercise(
    name="causal_mask",
    module="04_attention",
    defines="causal_mask",
    cases=(Case("values", 1, tuple(Ask("causal_mask", {"seq_len": n}, ("mask",)) for n in (3, 6, 1))),),
    reference=lambda _probe, i: {"mask": triangle(i["seq_len"])},
    misconceptions=tuple(
        computes("mask", sentence, function)
        for sentence, function in (
            (
                "The upper triangle is allowed: queries look into the future. A query may look at itself and at what came before.",
                lambda seq_len: triangle(seq_len).T,
            ),
            ("The diagonal is lost: a query may look at itself.", lambda seq_len: triangle(seq_len, -1)),
            ("Off by one: each query sees one key of the future.", lambda seq_len: triangle(seq_len, 1)),
            ("The mask is inverted: 1 is where a query may look.", lambda seq_len: 1 - triangle(seq_len)),
            (
                "The mask holds negative numbers for scores. It should hold 1 and 0.",
                lambda seq_len: (triangle(seq_len) - 1) * 1e9,
            ),
            (
                "The mask holds negative numbers for scores. It should hold 1 and 0.",
                lambda seq_len: np.where(triangle(seq_len) > 0, 0, -np.inf),
            ),
            ("Every query may look everywhere.", lambda seq_len: np.ones((seq_len, seq_len))),
            (
                "Each query may look at itself only. It may look at what came before, too.",
                lambda seq_len: np.eye(seq_len),
            ),
            (
                "The rows are even shares already. A mask is 1 and 0.",
                lambda seq_len: triangle(seq_len) / triangle(seq_len).sum(1, keepdims=True),
            ),
            ("The mask is for one longer sequence.", lambda seq_len: triangle(seq_len + 1)),
            ("The mask is for one shorter sequence.", lambda seq_len: triangle(seq_len - 1)),
            (
                "There is a batch axis too much: the shape is (seq_len, seq_len).",
                lambda seq_len: triangle(seq_len)[None],
            ),
            (
                "Each query sees only itself and the key before.",
                lambda seq_len: triangle(seq_len) - triangle(seq_len, -2),
            ),
            (
                "The other diagonal: the mask is mirrored from left to right.",
                lambda seq_len: triangle(seq_len)[:, ::-1],
            ),
        )
    )
    + (
        shows(
            "The mask holds other numbers than 1 and 0.",
            lambda ask, r: (
                r.arrays["mask"].shape == (ask.inputs["seq_len"],) * 2 and not np.isin(r.arrays["mask"], (0, 1)).all()
            ),
        ),
        shows(
            "The size is fixed. The mask must be (seq_len, seq_len) for any seq_len.",
            lambda ask, r: "mask" in r.arrays and r.arrays["mask"].shape != (ask.inputs["seq_len"],) * 2,
        ),
    ),
)

# --- apply mask -------------------------------------------------------------------------------------------------------

MASKED_SCORES_2 = np.array([[0.5, -2, 3], [1, 2, -1]], np.float32)
VISIBLE_MASK = np.array([[1, 0, 1], [1, 1, 0]], np.float32)
MASK_2, MASK_3, MASK_4 = random_mask(60, L, S), random_mask(61, B, L, S), random_mask(62, B, H, L, S)
PADDING = np.array([[[1, 1, 1, 0, 0]], [[1, 1, 1, 1, 0]]], np.float32)
SCORES_4 = normal(63, B, H, L, S, scale=3)
ZERO_SCORES = np.where(random_mask(64, L, S) > 0, normal(65, L, S), 0).astype(np.float32)
NEAR_1000 = (1000 * np.sign(normal(66, L, S)) + normal(67, L, S)).astype(np.float32)
BOOLEAN = random_mask(68, L, S) > 0


def ask_mask(
    scores: Array,
    mask: Array,
    compare: tuple[str, ...] = ("masked",),
    as_tensor: bool = True,
    grad: Array | None = None,
) -> Ask:
    return Ask("apply_mask", {"scores": scores, "mask": mask, "as_tensor": as_tensor, "grad": grad}, compare)


def masked_reference(_probe: str, i: Inputs) -> Arrays:
    allowed = references.may_look(i["mask"], i["scores"].shape)
    masked = np.where(allowed, i["scores"], -np.inf)
    answer = {"masked": masked, "scores_after": i["scores"], "mask_after": i["mask"]}
    return answer if i["grad"] is None else answer | {"grad_scores": np.where(allowed, i["grad"], 0)}


def where_blocked(value: float) -> Function:
    return lambda scores, mask: np.where(np.asarray(mask) != 0, scores, value)


def only_allowed(grad: Array, mask: Array) -> Array:
    return np.asarray(grad * references.may_look(mask, grad.shape), dtype=np.float32)


def blocked_too_high(ask: Ask, reply: Reply) -> bool:
    """Allowed scores are right; blocked ones are negative, but not low enough to have no share."""
    if (
        "masked" not in ask.compare
        or "masked" not in reply.arrays
        or reply.arrays["masked"].shape != ask.inputs["scores"].shape
    ):
        return False
    allowed = references.may_look(ask.inputs["mask"], ask.inputs["scores"].shape)
    masked, scores = reply.arrays["masked"], ask.inputs["scores"]
    return same(masked[allowed], scores[allowed]) and bool((masked[~allowed] < scores[~allowed]).all())


def added(scores: Array, mask: Array) -> Array:
    return np.asarray(scores + np.asarray(mask) * -1e9)


MASK = Exercise(
    name="apply_mask",
    module="04_attention",
    defines="_apply_mask",
    cases=(
        Case(
            "values",
            1,
            (
                ask_mask(MASKED_SCORES_2, VISIBLE_MASK, as_tensor=False),
                ask_mask(normal(69, L, S), MASK_2),
                ask_mask(ZERO_SCORES, MASK_2),
                ask_mask(normal(72, L, L), random_mask(73, L, L)),
            ),
        ),
        Case(
            "masks that broadcast",
            0.5,
            (
                ask_mask(SCORES_3, PADDING),
                ask_mask(SCORES_4, MASK_4),
                ask_mask(SCORES_3, MASK_3),
                ask_mask(SCORES_3, np.array([1, 0, 1, 1, 0], np.float32)),
            ),
        ),
        Case("scores near 1000", 0.5, (ask_mask(NEAR_1000, MASK_2),)),
        Case("an array of True and False", 0.5, (ask_mask(normal(70, L, S), BOOLEAN, as_tensor=False),)),
        Case(
            "gradient",
            0.25,
            (ask_mask(SCORES_3, MASK_3, ("grad_scores",), grad=only_allowed(normal(71, B, L, S), MASK_3)),),
        ),
        Case("inputs unchanged", 0.25, (ask_mask(SCORES_3, MASK_3, ("scores_after", "mask_after")),), alone=False),
    ),
    reference=masked_reference,
    misconceptions=(
        shows(
            "A blocked score is nan, which spreads to every share of its row. Use MASK_VALUE.",
            lambda ask, r: "masked" in ask.compare and bool(np.isnan(r.arrays["masked"]).any()),
        ),
        says(
            r"must broadcast|do not broadcast",
            "The mask does not fit the scores: a row for each query, a column for each key. Was it transposed or reshaped?",
            ("values", "scores near 1000", "an array of True and False"),
        ),
        computes(
            "masked",
            "Only the first matrix of the mask is used. Batch elements and heads have masks of their own.",
            lambda scores, mask: where_blocked(-1e9)(scores, mask[(0,) * (np.ndim(mask) - 2)]),
        ),
        computes(
            "masked",
            "A score that happens to be zero was blocked although the mask allows it. Look at the mask, not at the product.",
            lambda scores, mask: where_blocked(-1e9)(scores, scores * mask),
        ),
        computes(
            "masked",
            "The mask is inverted: 1 is where a query may look, so what is blocked is where the mask is 0.",
            added,
        ),
        computes(
            "masked",
            "The mask is inverted: 1 is where a query may look, so what is blocked is where the mask is 0.",
            lambda scores, mask: where_blocked(-1e9)(scores, 1 - np.asarray(mask, float)),
        ),
        computes(
            "masked",
            "The scores were multiplied by the mask. A score of zero is not blocked: it is larger than any negative one.",
            lambda scores, mask: scores * mask,
        ),
        computes(
            "masked",
            "A score of zero is not blocked: it is larger than any negative one. Use MASK_VALUE.",
            where_blocked(0.0),
        ),
        computes(
            "masked", "MASK_VALUE has the wrong sign: a huge positive score takes all attention.", where_blocked(1e9)
        ),
        computes(
            "masked",
            "MASK_VALUE has the wrong sign: a huge positive score takes all attention.",
            lambda scores, mask: scores + (1 - np.asarray(mask, float)) * 1e9,
        ),
        computes(
            "masked",
            "The scores were multiplied by MASK_VALUE: negative scores become huge that way.",
            lambda scores, mask: np.where(np.asarray(mask) != 0, scores, scores * -1e9),
        ),
        computes(
            "masked",
            "MASK_VALUE was added everywhere, and so blocks nothing: only differences count.",
            lambda scores, mask: scores - 1e9,
        ),
        computes(
            "masked",
            "The mask's numbers were added to the scores. Add 0 where looking is allowed and MASK_VALUE where not.",
            lambda scores, mask: scores + mask,
        ),
        computes(
            "masked",
            "The smallest float above zero blocks nothing; you want the lowest one, `-np.inf` or MASK_VALUE.",
            where_blocked(float(np.finfo(np.float32).tiny)),
        ),
        computes(
            "masked",
            "The mask's content is ignored: the mask is always causal.",
            lambda scores, mask: where_blocked(-1e9)(scores, np.tril(np.ones(scores.shape[-2:]))),
        ),
        computes("masked", "The mask is ignored.", lambda scores, mask: scores),
        computes(
            "masked",
            "Only the first batch element's mask is used.",
            lambda scores, mask: where_blocked(-1e9)(scores, mask[:1] if np.ndim(mask) > 2 else mask),
        ),
        computes(
            "masked",
            "Only the last batch element's mask is used.",
            lambda scores, mask: where_blocked(-1e9)(scores, mask[-1:] if np.ndim(mask) > 2 else mask),
        ),
        computes(
            "masked",
            "The same mask is used for all heads: the first head's.",
            lambda scores, mask: where_blocked(-1e9)(scores, mask[:, :1] if np.ndim(mask) > 3 else mask),
        ),
        computes(
            "masked",
            "A softmax was applied. Masking gives scores back.",
            lambda scores, mask: softmax(where_blocked(-1e9)(scores, mask)),
        ),
        computes(
            "masked",
            "The diagonal was blocked as well.",
            lambda scores, mask: where_blocked(-1e9)(scores, mask * (1 - np.eye(*scores.shape[-2:]))),
            cases=("values",),
        ),
        computes(
            "masked",
            "The diagonal was allowed as well. Only the mask decides.",
            lambda scores, mask: where_blocked(-1e9)(scores, np.maximum(mask, np.eye(*scores.shape[-2:]))),
            cases=("values",),
        ),
        computes(
            "masked",
            "The mask is transposed: its rows are queries, its columns keys.",
            lambda scores, mask: where_blocked(-1e9)(scores, swap(mask)),
        ),
        computes(
            "masked",
            "The allowed scores are lost: only the blocked ones change.",
            lambda scores, mask: (1 - np.asarray(mask, float)) * -1e9 * np.ones_like(scores),
        ),
        computes(
            "masked",
            "Where the mask is 1 the scores must stay as they are, but they were set to a constant.",
            lambda scores, mask: np.where(np.asarray(mask) != 0, 1.0, np.full(scores.shape, -np.inf)),
        ),
        computes(
            "masked",
            "Where the mask is 1 the scores must stay as they are, but they were set to a constant.",
            lambda scores, mask: np.where(np.asarray(mask) != 0, 0.0, np.full(scores.shape, -np.inf)),
        ),
        computes(
            "masked",
            "Whole keys are blocked when one query may not look at them. Each query has a row of its own in the mask.",
            lambda scores, mask: where_blocked(-1e9)(
                scores, np.min(mask, axis=-2, keepdims=True) if np.ndim(mask) > 1 else mask
            ),
        ),
        shows(
            "The blocked value is not low enough: with scores near 1000 a blocked key still gets a share. Use MASK_VALUE.",
            blocked_too_high,
        ),
        says(
            r"boolean subtract|boolean negative|bool",
            "`1 - mask` or `-mask` does not work with an array of True and False. Make numbers of it first: `Tensor(mask)`, or compare `mask == 0`.",
            ("an array of True and False",),
        ),
        says(
            r"memoryview|has no attribute '(data|masked_fill|astype|dtype|numpy|exp|detach)'",
            "The mask may be a Tensor or an array. `mask == 0` and `Tensor(mask)` work for both.",
        ),
        says(
            r"IndexError|boolean index|broadcast|AxisError|out of bounds|must broadcast|unpack|reshape",
            "A mask with fewer axes, or with an axis of length 1, is for all: it broadcasts. Yours must have a certain number of axes.",
            ("masks that broadcast",),
        ),
    ),
    helper=Helper(
        "_apply_mask",
        ("scores", "mask"),
        1,
        lambda scores, mask: [np.where(references.may_look(mask, scores.shape), scores, -1e9)],
        lambda _index, grad, scores, mask: [np.where(references.may_look(mask, scores.shape), grad, 0)],
    ),
)

# --- scaled dot-product attention -------------------------------------------------------------------------------------


def ask_attention(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None = None,
    compare: tuple[str, ...] = ("output", "weights"),
    grad: Array | None = None,
    as_tensor: bool = True,
) -> Ask:
    inputs = {"Q": Q, "K": K, "V": V, "mask": mask, "grad": grad, "as_tensor": as_tensor}
    return Ask("scaled_dot_product_attention", inputs, compare)


def attention_reference(_probe: str, i: Inputs) -> Arrays:
    Q, K, V = i["Q"], i["K"], i["V"]
    output, weights = references.attention(Q, K, V, i["mask"])
    answer = {"output": output, "weights": weights, "Q_after": Q, "K_after": K, "V_after": V}
    if i["mask"] is not None:
        answer["mask_after"] = i["mask"]
    if i["grad"] is not None:
        gradients = references.attention_gradient(Q, K, V, weights, i["grad"])
        answer |= dict(zip(("grad_Q", "grad_K", "grad_V"), gradients, strict=True))
    return answer


def attend(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array | None = None,
    *,
    scale: Function = lambda Q, K, V: math.sqrt(Q.shape[-1]),
    share: Function = softmax,
    edit_mask: Function = lambda mask, scores: mask,
    after: Function | None = None,
    value: float = -1e9,
    read: Function = lambda weights, Q, K, V: weights @ V,
) -> tuple[Array, Array]:
    """Attention in which each step can be replaced by a wrong one."""
    scores = Q.astype(float) @ swap(K) / scale(Q, K, V)
    mask = edit_mask(mask, scores)
    if mask is not None and after is None:
        scores = np.where(np.asarray(mask) != 0, scores, value)
    weights = share(scores)
    if mask is not None and after is not None:
        weights = after(weights, scores, np.asarray(mask, float))
    return read(weights, Q, K, V), weights


def attends(
    sentence: str, keys: tuple[str, ...] = ("output", "weights"), cases: tuple[str, ...] = (), **steps: Any
) -> Misconception:
    def predict(_probe: str, i: Inputs) -> Arrays | None:
        both = dict(zip(("output", "weights"), attend(i["Q"], i["K"], i["V"], i["mask"], **steps), strict=True))
        return {key: both[key] for key in keys}

    return Misconception(sentence, wrong=predict, cases=cases)


def uniform(scores: Array) -> Array:
    return np.full(scores.shape, 1 / scores.shape[-1])


def hard(scores: Array) -> Array:
    return np.asarray(scores == scores.max(-1, keepdims=True), dtype=float)


def inner(axis: int) -> Function:
    return lambda scores: softmax(scores, axis)


def causal_always(mask: Array | None, scores: Array) -> Array:
    return np.tril(np.ones(scores.shape[-2:]))


SCALES: tuple[tuple[str, Function], ...] = (
    ("The scores are not scaled: `_scale_scores` has to be called with the width of the keys.", lambda Q, K, V: 1.0),
    ("The scores are divided by d_k, not by its root; perhaps they are scaled twice.", lambda Q, K, V: Q.shape[-1]),
    (
        "The scores are scaled by the number of keys. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(K.shape[-2]),
    ),
    (
        "The scores are scaled by the number of queries. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(Q.shape[-2]),
    ),
    (
        "The scores are scaled by the width of the values. The width of the queries and keys counts.",
        lambda Q, K, V: math.sqrt(V.shape[-1]),
    ),
    ("The scores are multiplied by the root of d_k. Divide by it.", lambda Q, K, V: 1 / math.sqrt(Q.shape[-1])),
    ("The scores are scaled by a constant. The width of the queries and keys counts.", lambda Q, K, V: 8.0),
    ("The scores are scaled by a constant. The width of the queries and keys counts.", lambda Q, K, V: 2.0),
    (
        "The scores are scaled by the first axis, the batch size. The width of the queries is the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[0]),
    ),
    (
        "The scores are scaled by the width of all heads together. Each head has its own width, the last axis.",
        lambda Q, K, V: math.sqrt(Q.shape[-1] * (Q.shape[1] if Q.ndim > 3 else 1)),
    ),
)

READS: tuple[tuple[str, Function], ...] = (
    ("The weights are multiplied with K. They weigh the values, V.", lambda w, Q, K, V: w @ K),
    ("The weights are multiplied with Q. They weigh the values, V.", lambda w, Q, K, V: swap(w) @ Q),
    ("The weights themselves came back in place of the output.", lambda w, Q, K, V: w),
    ("V came back as it was.", lambda w, Q, K, V: V),
    ("The output is zero everywhere.", lambda w, Q, K, V: np.zeros((*Q.shape[:-1], V.shape[-1]))),
    (
        "The output is the plain average of the values.",
        lambda w, Q, K, V: np.broadcast_to(V.mean(-2, keepdims=True), (*Q.shape[:-1], V.shape[-1])),
    ),
    (
        "The output is the plain sum of the values.",
        lambda w, Q, K, V: np.broadcast_to(V.sum(-2, keepdims=True), (*Q.shape[:-1], V.shape[-1])),
    ),
    (
        "The output is multiplied or divided by the root of d_k again. Only the scores are scaled.",
        lambda w, Q, K, V: w @ V / math.sqrt(Q.shape[-1]),
    ),
    ("The output was passed through a softmax. Only the scores are.", lambda w, Q, K, V: softmax(w @ V)),
    ("The queries were added to the output.", lambda w, Q, K, V: w @ V + Q),
    ("The output is transposed.", lambda w, Q, K, V: swap(w @ V)),
)

MASKED = ("mask", "weights with a mask", "two axes and four", "scores near 1000")


def renormalised(weights: Array, scores: Array, mask: Array) -> Array:
    kept = weights * mask
    return np.asarray(kept / kept.sum(-1, keepdims=True))


VISIBLE_EVEN = (
    np.array([[1, 0]], np.float32),
    np.array([[0, 5], [0, 7]], np.float32),
    np.array([[10], [20]], np.float32),
)
VISIBLE_SCALED = (
    VISIBLE_EVEN[0],
    np.array([[2 * math.log(3), 0], [0, 0], [0, 0], [0, 0]], np.float32),
    np.eye(4, dtype=np.float32),
)
A_LARGE = (normal(80, B, L, D, scale=60), normal(81, B, S, D, scale=60), normal(82, B, S, DV), random_mask(84, B, L, S))

ATTENTION = Exercise(
    name="scaled_dot_product_attention",
    module="04_attention",
    defines="scaled_dot_product_attention",
    cases=(
        Case(
            "without a mask",
            2,
            (
                ask_attention(Q3, K3, V3),
                ask_attention(Q3, K3[:, :1], V3[:, :1]),  # one key
                ask_attention(Q3, K3[:, :L], V3[:, :L]),  # as many keys as queries
            ),
        ),
        Case(
            "mask",
            1.5,
            (
                ask_attention(Q3, K3, V3, MASK_2, compare=("output",), as_tensor=False),
                ask_attention(Q3, K3, V3, MASK_3, compare=("output",)),
            ),
        ),
        Case("weights with a mask", 0.5, (ask_attention(Q3, K3, V3, MASK_3, compare=("weights",)),)),
        Case(
            "two axes and four",
            0.5,
            (
                ask_attention(*VISIBLE_EVEN),
                ask_attention(*VISIBLE_EVEN, np.array([[0, 1]], np.float32), compare=("output",)),
                ask_attention(*VISIBLE_SCALED),
                ask_attention(Q2, K2, V3[0], MASK_2, compare=("output",)),
                ask_attention(Q4, K4, V4, MASK_4, compare=("output",)),
            ),
        ),
        Case("scores near 1000", 0.5, (ask_attention(*A_LARGE, compare=("output",)),)),
        Case(
            "gradient",
            0.75,
            (ask_attention(Q3, K3, V3, MASK_3, ("grad_Q", "grad_K", "grad_V"), grad=normal(83, B, L, DV)),),
        ),
        Case(
            "inputs unchanged",
            0.25,
            (ask_attention(Q3, K3, V3, MASK_3, ("Q_after", "K_after", "V_after", "mask_after")),),
            alone=False,
        ),
    ),
    reference=attention_reference,
    misconceptions=(
        *(attends(sentence, scale=scale) for sentence, scale in SCALES),
        attends(
            "The shares are made over the queries. Each query's shares over the keys must sum to 1: the last axis.",
            share=inner(-2),
        ),
        attends("The axis of the softmax is fixed at 1, which is not the keys here. Use -1.", share=inner(1)),
        attends("The axis of the softmax is fixed at 0, which is not the keys here. Use -1.", share=inner(0)),
        attends("The axis of the softmax is fixed at 2, which is not the keys here. Use -1.", share=inner(2)),
        attends("There is no softmax: the weights are plain scores.", share=lambda s: s),
        attends("The weights are exponentials; they do not sum to 1.", share=lambda s: np.exp(s)),
        attends("The softmax was applied twice.", share=lambda s: softmax(softmax(s))),
        attends("This is the logarithm of the softmax.", share=lambda s: np.log(softmax(s))),
        attends(
            "The scores are divided by their sum, without exponentials.", share=lambda s: s / s.sum(-1, keepdims=True)
        ),
        attends(
            "A sigmoid was used in place of the softmax: the weights of a query do not sum to 1.",
            share=lambda s: 1 / (1 + np.exp(-s)),
        ),
        attends("The best key takes all: a hard maximum. A softmax shares.", share=hard),
        attends("All keys get equal weights; the scores take no part.", share=uniform),
        attends(
            "The sign of the scores is turned: the worst key gets the largest weight.",
            share=lambda s: softmax(-np.where(s < -1e8, -s, s)),
        ),
        attends(
            "The shares are made over all queries and keys together. Each query's must sum to 1.",
            share=lambda s: softmax(s.reshape(*s.shape[:-2], -1)).reshape(s.shape),
        ),
        *(attends(sentence, ("output",), read=read) for sentence, read in READS),
        attends(
            "The mask is applied after the softmax, so the weights no longer sum to 1. Mask the scores before it.",
            after=lambda w, s, m: w * m,
            cases=MASKED,
        ),
        attends(
            "The mask is applied after the softmax, with MASK_VALUE. Mask the scores before it.",
            after=lambda w, s, m: np.where(m != 0, w, -1e9),
            cases=MASKED,
        ),
        attends("The mask is ignored.", edit_mask=lambda m, s: None, cases=MASKED),
        attends(
            "The mask is inverted: 1 is where a query may look.",
            edit_mask=lambda m, s: None if m is None else 1 - m,
            cases=MASKED,
        ),
        attends(
            "Blocked scores are set to 0, which is not blocked: 0 is an ordinary score.",
            value=0.0,
            cases=MASKED,
        ),
        attends(
            "Blocked scores are only a little lower. Use `_apply_mask`, with MASK_VALUE.",
            value=-10.0,
            cases=MASKED,
        ),
        attends("The mask's content is ignored: attention is always causal.", edit_mask=causal_always),
        attends(
            "Attention is causal when no mask is given. Without a mask a query may look everywhere.",
            edit_mask=lambda m, s: causal_always(m, s) if m is None else m,
        ),
        attends(
            "Attention is causal when there are as many keys as queries and no mask. Without a mask a query may look everywhere.",
            edit_mask=lambda m, s: causal_always(m, s) if m is None and s.shape[-1] == s.shape[-2] else m,
        ),
        attends(
            "A query may not look at itself here. Only the mask decides where it may look.",
            edit_mask=lambda m, s: 1 - np.eye(s.shape[-1]) if m is None and s.shape[-1] == s.shape[-2] else m,
        ),
        attends(
            "Attention is causal in any case, and the mask comes on top. Only the mask decides.",
            edit_mask=lambda m, s: causal_always(m, s) * (1 if m is None else m),
        ),
        attends(
            "Only the first batch element's mask is used.",
            edit_mask=lambda m, s: m[:1] if m is not None and m.ndim > 2 else m,
            cases=MASKED,
        ),
        attends(
            "Only the first head's mask is used.",
            edit_mask=lambda m, s: m[:, :1] if m is not None and m.ndim > 3 else m,
            cases=("two axes and four",),
        ),
        attends(
            "Masks of three axes or more are ignored.",
            edit_mask=lambda m, s: m if m is None or m.ndim < 3 else None,
            cases=MASKED,
        ),
        attends(
            "A mask of four axes is ignored.",
            edit_mask=lambda m, s: m if m is None or m.ndim < 4 else None,
            cases=("two axes and four",),
        ),
        attends(
            "The mask's numbers are added to the scores. Call `_apply_mask`.",
            share=softmax,
            cases=MASKED,
            after=lambda w, s, m: softmax(s + m),
        ),
        attends(
            "The scores are multiplied by the mask. Call `_apply_mask`.",
            cases=MASKED,
            after=lambda w, s, m: softmax(s * m),
        ),
        attends(
            "The output is right, but the second result is not the weights: these are the scores.",
            ("weights",),
            share=lambda s: s,
        ),
        Misconception(
            "The output is right, but the weights are those before masking. Return the weights that made the output.",
            wrong=lambda _p, i: {"weights": attend(i["Q"], i["K"], i["V"])[1]},
            cases=("weights with a mask",),
        ),
        Misconception(
            "The weights are transposed: a row for each query, a column for each key.",
            wrong=lambda _p, i: {"weights": swap(attend(i["Q"], i["K"], i["V"], i["mask"])[1])},
        ),
        Misconception(
            "The two results are in the wrong order: first the output, then the weights.",
            wrong=lambda _p, i: dict(
                zip(("weights", "output"), attend(i["Q"], i["K"], i["V"], i["mask"]), strict=True)
            ),
        ),
        says(
            r"@: the left side has shape \((\d+, )*5, 4\), the right side \((\d+, )*5, 6\)",
            "The weights are transposed before they meet V. It is weights @ V.",
        ),
        says(r"unexpected keyword argument|positional argument", "The arguments do not fit: Q, K, V, and mask=None."),
        says(
            r"AxisError|out of bounds|not enough values|too many values|expected \d",
            "The number of axes is fixed somewhere. There may be any number of leading axes: count from the right, -2 and -1.",
            ("two axes and four",),
        ),
        says(
            r"@: |reshape|do not broadcast",
            "Somewhere the number of keys is taken to be that of queries, or the width of V that of K. They may differ.",
        ),
        says(r"NoneType", "The mask may be None: then nothing is masked."),
        says(r"'numpy.ndarray' object has no attribute", "The mask may be an array as well as a Tensor.", ("mask",)),
        shows(
            "The output has an axis too much, or too little: as many leading axes as Q has.",
            lambda ask, r: "output" in r.arrays and r.arrays["output"].ndim != ask.inputs["Q"].ndim,
        ),
        says(
            r"ambiguous|truth value", "`if mask:` asks a whole array for one truth value. Write `if mask is not None:`."
        ),
        shows(
            "With large scores the result holds inf or nan. Use `Softmax`, which subtracts the largest score first.",
            lambda _a, r: "output" in r.arrays and not np.isfinite(r.arrays["output"]).all(),
            ("scores near 1000",),
        ),
        shows(
            "The gradient reaches V but neither Q nor K: the weights are cut from the graph by `.data`.",
            no_gradient("Q", "K"),
        ),
        shows("The gradient does not reach V: the values are cut from the graph by `.data`.", no_gradient("V")),
        shows("The gradient does not reach Q: it is cut from the graph by `.data`.", no_gradient("Q")),
        shows("The gradient does not reach K: it is cut from the graph by `.data`.", no_gradient("K")),
    ),
    uses=("compute_attention_scores", "scale_scores", "apply_mask"),
    helper=Helper(
        "scaled_dot_product_attention",
        ("Q", "K", "V", "mask"),
        2,
        lambda Q, K, V, mask=None: list(references.attention(Q, K, V, mask)),
        lambda index, grad, Q, K, V, mask=None: attention_vjp(index, grad, Q, K, V, mask),
    ),
)


def attention_vjp(index: int, grad: Array, Q: Array, K: Array, V: Array, mask: Array | None) -> list[Array]:
    """Gradients of Q, K and V (and none for a mask) for the gradient of the output (index 0) or of the weights (1)."""
    weights = references.attention(Q, K, V, mask)[1]
    nothing = np.zeros((*Q.shape[:-1], V.shape[-1]))
    output_grad, weights_grad = (grad, None) if index == 0 else (nothing, grad)
    gradients = list(references.attention_gradient(Q, K, V, weights, output_grad, weights_grad))
    return gradients if mask is None else [*gradients, np.zeros(mask.shape)]


# --- heads ------------------------------------------------------------------------------------------------------------

RECOGNISABLE = np.array([[[111, 112, 121, 122], [211, 212, 221, 222], [311, 312, 321, 322]]], np.float32)
X = normal(90, B, L, 15)


def ask_split(x: Array, num_heads: int, compare: tuple[str, ...] = ("heads",), grad: Array | None = None) -> Ask:
    return Ask("split_heads", {"x": x, "num_heads": num_heads, "grad": grad}, compare)


def split_reference(_probe: str, i: Inputs) -> Arrays:
    answer = {"heads": references.split_heads(i["x"], i["num_heads"]), "x_after": i["x"]}
    return answer if i["grad"] is None else answer | {"grad_x": references.merge_heads(i["grad"])}


def cut(x: Array, num_heads: int) -> Array:
    """(B, L, H, D)"""
    return x.reshape(*x.shape[:2], num_heads, -1)


SPLIT = Exercise(
    name="split_heads",
    module="04_attention",
    defines="_split_heads",
    cases=(
        Case(
            "values",
            2.25,
            (
                ask_split(RECOGNISABLE, 2),
                ask_split(X, 3),
                ask_split(X, 5),
                ask_split(X, 1),
                ask_split(normal(91, B, 3, 15), 3),
            ),
        ),
        Case("gradient", 0.75, (ask_split(X, 3, ("grad_x", "x_after"), normal(92, B, 3, L, 5)),)),
    ),
    reference=split_reference,
    misconceptions=tuple(
        computes("heads", sentence, function)
        for sentence, function in (
            (
                "A single reshape to (B, H, L, D) mixes positions: it keeps the order of the numbers. Cut the last axis, then exchange two.",
                lambda x, num_heads: x.reshape(x.shape[0], num_heads, x.shape[1], -1),
            ),
            (
                "The heads are interleaved: head h must hold components h*D to (h+1)*D, side by side.",
                lambda x, num_heads: np.moveaxis(x.reshape(*x.shape[:2], -1, num_heads), -1, 1),
            ),
            ("The heads are in reverse order.", lambda x, num_heads: cut(x, num_heads).swapaxes(1, 2)[:, ::-1]),
            (
                "The head axis was not moved: the result is (B, L, H, D), it should be (B, H, L, D).",
                lambda x, num_heads: cut(x, num_heads),
            ),
            (
                "The last two axes are exchanged: the result should be (B, H, L, D).",
                lambda x, num_heads: cut(x, num_heads).transpose(0, 2, 3, 1),
            ),
            (
                "The batch axis is in the wrong place: the result should be (B, H, L, D).",
                lambda x, num_heads: cut(x, num_heads).transpose(2, 0, 1, 3),
            ),
            (
                "Batch and heads have changed places: the result should be (B, H, L, D).",
                lambda x, num_heads: cut(x, num_heads).transpose(2, 1, 0, 3),
            ),
            (
                "num_heads is taken for the width of a head.",
                lambda x, num_heads: x.reshape(*x.shape[:2], -1, num_heads).swapaxes(1, 2),
            ),
            ("The positions are in reverse order.", lambda x, num_heads: cut(x, num_heads).swapaxes(1, 2)[:, :, ::-1]),
            (
                "The components of each head are in reverse order.",
                lambda x, num_heads: cut(x, num_heads).swapaxes(1, 2)[..., ::-1],
            ),
            (
                "All heads hold the first head's components.",
                lambda x, num_heads: np.repeat(cut(x, num_heads).swapaxes(1, 2)[:, :1], num_heads, 1),
            ),
            (
                "Each head holds the whole embedding. Cut it into num_heads parts.",
                lambda x, num_heads: np.repeat(x[:, None], num_heads, 1),
            ),
            ("x came back as it was.", lambda x, num_heads: x),
            (
                "Heads and batch are one axis. The result should have four: (B, H, L, D).",
                lambda x, num_heads: cut(x, num_heads).swapaxes(1, 2).reshape(-1, x.shape[1], x.shape[2] // num_heads),
            ),
            (
                "The batch is folded into the rows, and batch elements are mixed.",
                lambda x, num_heads: (
                    x.reshape(-1, num_heads, x.shape[2] // num_heads)
                    .swapaxes(0, 1)
                    .reshape(x.shape[0], num_heads, x.shape[1], -1)
                ),
            ),
        )
    )
    + (
        says(
            r"reshape: ",
            "The sizes do not fit: the embedding is cut into num_heads heads of width E // num_heads, for any number of heads.",
        ),
    ),
    helper=Helper(
        "_split_heads",
        ("x", "num_heads"),
        1,
        lambda x, num_heads: [references.split_heads(x, num_heads)],
        lambda _index, grad, x, num_heads: [references.merge_heads(grad)],
    ),
)

HEADS = normal(93, B, H, L, 5)


def ask_merge(x: Array, compare: tuple[str, ...] = ("merged",), grad: Array | None = None) -> Ask:
    return Ask("merge_heads", {"x": x, "grad": grad}, compare)


def merge_reference(_probe: str, i: Inputs) -> Arrays:
    answer = {"merged": references.merge_heads(i["x"]), "x_after": i["x"]}
    return answer if i["grad"] is None else answer | {"grad_x": references.split_heads(i["grad"], i["x"].shape[1])}


MERGE = Exercise(
    name="merge_heads",
    module="04_attention",
    defines="_merge_heads",
    cases=(
        Case(
            "values",
            1.5,
            (
                ask_merge(references.split_heads(RECOGNISABLE, 2).astype(np.float32)),
                ask_merge(HEADS),
                ask_merge(normal(94, B, 1, L, 5)),
                ask_merge(normal(95, B, L, L, 5)),
            ),
        ),
        Case("gradient", 0.5, (ask_merge(HEADS, ("grad_x", "x_after"), normal(96, B, L, 15)),)),
    ),
    reference=merge_reference,
    misconceptions=tuple(
        computes("merged", sentence, function)
        for sentence, function in (
            (
                "A single reshape mixes positions. Exchange heads and positions first, then put the heads side by side.",
                lambda x: x.reshape(x.shape[0], x.shape[2], -1),
            ),
            (
                "The heads are interleaved: the components of a head must stay side by side.",
                lambda x: x.transpose(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
            ),
            (
                "The heads are in reverse order.",
                lambda x: x[:, ::-1].swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1),
            ),
            ("The wrong axes are exchanged before the reshape.", lambda x: swap(x).reshape(x.shape[0], x.shape[2], -1)),
            (
                "The wrong axes are exchanged before the reshape.",
                lambda x: x.transpose(1, 2, 0, 3).reshape(x.shape[0], x.shape[2], -1),
            ),
            ("The heads were summed. They go side by side.", lambda x: x.sum(1)),
            ("The heads were averaged. They go side by side.", lambda x: x.mean(1)),
            ("Only the first head is left.", lambda x: x[:, 0]),
            ("Only the last head is left.", lambda x: x[:, -1]),
            (
                "The positions are in reverse order.",
                lambda x: x.swapaxes(1, 2)[:, ::-1].reshape(x.shape[0], x.shape[2], -1),
            ),
            (
                "Heads and positions were exchanged, but the heads are not put side by side yet.",
                lambda x: x.swapaxes(1, 2),
            ),
            ("x came back as it was.", lambda x: x),
            (
                "The heads are put one after the other along the positions.",
                lambda x: x.reshape(x.shape[0], -1, x.shape[3]),
            ),
            (
                "The heads are put one after the other along the positions.",
                lambda x: x.swapaxes(1, 2).reshape(x.shape[0], -1, x.shape[3]),
            ),
            (
                "The result is (L, B, E), it should be (B, L, E).",
                lambda x: x.transpose(2, 0, 1, 3).reshape(x.shape[2], x.shape[0], -1),
            ),
            (
                "Batch and positions are one axis. The result should be (B, L, E).",
                lambda x: x.swapaxes(1, 2).reshape(-1, x.shape[1] * x.shape[3]),
            ),
        )
    )
    + (says(r"reshape: ", "The sizes do not fit: the result is (B, L, H * D), for any number of heads."),),
    helper=Helper(
        "_merge_heads",
        ("x",),
        1,
        lambda x: [references.merge_heads(x)],
        lambda _index, grad, x: [references.split_heads(grad, x.shape[1])],
    ),
)

# --- multi-head attention ---------------------------------------------------------------------------------------------

E, HEADS_OF = 6, 3  # heads of width 2
WEIGHTS, BIASES = normal(100, 4, E, E, scale=0.7), normal(101, 4, E)
SELF, CONTEXT = normal(102, B, L, E), normal(103, B, S, E)
SELF_MASK_2 = random_mask(104, L, L)
SELF_MASK_3 = random_mask(105, B, L, L)
SELF_MASK_4 = random_mask(106, B, HEADS_OF, L, L)
# as many heads as batch elements: a mask (B, L, S) must not be taken for (H, L, S)
TWINS_WEIGHTS, TWINS_BIASES = normal(107, 4, 8, 8, scale=0.7), normal(108, 4, 8)
TWINS, TWINS_MASK = normal(109, B, L, 8), random_mask(110, B, L, L)
PROJECTION_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")
# all but that of k_proj.bias, which is zero: it moves all scores of a query alike, and only differences count
ALL_GRADIENTS = (
    "x_after",
    "grad_x",
    *(f"grad_{p}_{part}" for p in PROJECTION_NAMES for part in ("weight", "bias") if (p, part) != ("k_proj", "bias")),
)
ONE = normal(111, B, 1, E)
CAUSAL_4 = triangle(L).astype(np.float32)


def ask_multi(x: Array = SELF, compare: tuple[str, ...] = ("output",), **inputs: Any) -> Ask:
    given = {"num_heads": HEADS_OF, "x": x, "weights": WEIGHTS, "biases": BIASES} | inputs
    return Ask("multi_head_attention", given, compare)


MULTI_HEAD_INPUTS = ("num_heads", "x", "weights", "biases", "mask", "context")


def multi_reference(probe: str, i: Inputs) -> Arrays:
    if probe == "multi_head_parameters":
        sizes = (i["embed_dim"], i["num_heads"], i["embed_dim"] // i["num_heads"])
        return {"parameters": np.arange(8), "parameters_after": np.arange(8), "sizes": np.array(sizes)}
    if probe == "multi_head_raises":
        return {"refused": np.array(1)}
    given: dict[str, Any] = {k: i.get(k) for k in MULTI_HEAD_INPUTS}
    output, weights = references.multi_head(**given)
    answer = {"output": output, "attention_weights": weights, "x_after": i["x"]}
    if i.get("context") is not None:
        answer["context_after"] = i["context"]
    if i.get("grad") is not None:
        to_x, to_context, to_weights, to_biases = references.multi_head_gradient(grad=i["grad"], **given)
        answer["grad_x"] = to_x
        if to_context is not None:
            answer["grad_context"] = to_context
        for n, name in enumerate(PROJECTION_NAMES):
            answer[f"grad_{name}_weight"], answer[f"grad_{name}_bias"] = to_weights[n], to_biases[n]
    return answer


def right_split(x: Array, num_heads: int) -> Array:
    return cut(x, num_heads).swapaxes(1, 2)


def right_merge(x: Array) -> Array:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def shape_mask(mask: Array | None) -> Any:
    return references.mask_for_heads(mask)


def multi(
    num_heads: int,
    x: Array,
    weights: Array,
    biases: Array,
    mask: Array | None = None,
    context: Array | None = None,
    *,
    order: tuple[int, int, int, int] = (0, 1, 2, 3),
    sources: Function = lambda x, c: (x, c, c),
    project: Function = lambda a, w, b, n: a @ w + b,
    split: Function = right_split,
    merge: Function = right_merge,
    edit_mask: Function = lambda m, x: shape_mask(m),
    scale: Function = lambda Q, K, V: math.sqrt(Q.shape[-1]),
    share: Function = softmax,
    finish: Function = lambda y, x: y,
) -> tuple[Array, Array]:
    """Multi-head attention in which each step can be replaced by a wrong one."""
    source = x if context is None else context
    inputs = [a.astype(float) for a in sources(x, source)]
    Q, K, V = (
        split(project(a, weights[p], biases[p], n), num_heads)
        for n, (a, p) in enumerate(zip(inputs, order, strict=False))
    )
    heads, shares = attend(Q, K, V, edit_mask(mask, x), scale=scale, share=share)
    return finish(project(merge(heads), weights[order[3]], biases[order[3]], 3), x), shares


def multis(
    sentence: str, keys: tuple[str, ...] = ("output", "attention_weights"), cases: tuple[str, ...] = (), **steps: Any
) -> Misconception:
    def predict(probe: str, i: Inputs) -> Arrays | None:
        if probe != "multi_head_attention":
            return None
        given: dict[str, Any] = {k: i.get(k) for k in MULTI_HEAD_INPUTS}
        both = dict(zip(("output", "attention_weights"), multi(**given, **steps), strict=True))
        return {key: both[key] for key in keys}

    return Misconception(sentence, wrong=predict, cases=cases)


def unprojected(which: int) -> Function:
    return lambda a, w, b, n: a if n == which else a @ w + b


def no_bias(which: tuple[int, ...]) -> Function:
    return lambda a, w, b, n: a @ w if n in which else a @ w + b


def as_one_head(x: Array, num_heads: int) -> Array:
    return x[:, None]


def unmasked_if(axes: tuple[int, ...]) -> Function:
    return lambda m, x: None if m is None or m.ndim in axes else shape_mask(m)


def missing_parameters(ask: Ask, reply: Reply) -> bool:
    return "parameters" in reply.arrays and len(set(reply.arrays["parameters"]) - {-1}) < 8


def doubled_parameters(ask: Ask, reply: Reply) -> bool:
    found = list(reply.arrays.get("parameters", ()))
    return len(found) != len(set(found))


MULTI_HEAD = Exercise(
    name="multi_head_attention",
    module="04_attention",
    defines="MultiHeadAttention",
    cases=(
        Case("one position only", 1, (ask_multi(ONE), ask_multi(ONE, by_call=False))),
        Case(
            "several positions and heads",
            2.5,
            (ask_multi(), ask_multi(normal(112, 3, L, 8), num_heads=1, weights=TWINS_WEIGHTS, biases=TWINS_BIASES)),
        ),
        Case("causal mask", 1, (ask_multi(mask=CAUSAL_4, as_tensor=False), ask_multi(mask=SELF_MASK_2))),
        Case(
            "masks of three and four axes",
            1,
            (
                ask_multi(TWINS, num_heads=2, weights=TWINS_WEIGHTS, biases=TWINS_BIASES, mask=TWINS_MASK),
                ask_multi(mask=SELF_MASK_3, as_tensor=False),
                ask_multi(mask=SELF_MASK_4),
                ask_multi(mask=SELF_MASK_4[:, :1]),
                ask_multi(mask=SELF_MASK_3[:1] > 0, x=SELF[:1], as_tensor=False),
                ask_multi(mask=np.array([[[1, 1, 0, 1]], [[1, 0, 0, 1]]], np.float32)),
            ),
        ),
        Case(
            "context",
            1,
            (
                ask_multi(context=CONTEXT),
                ask_multi(context=CONTEXT[:, :L]),
                ask_multi(context=CONTEXT, mask=random_mask(113, B, L, S)),
            ),
        ),
        Case("attention_weights", 0.5, (ask_multi(mask=SELF_MASK_3, compare=("attention_weights",)),)),
        Case(
            "parameters",
            0.5,
            (
                Ask(
                    "multi_head_parameters",
                    {"embed_dim": E, "num_heads": HEADS_OF},
                    ("parameters", "parameters_after", "sizes"),
                ),
            ),
            alone=False,
        ),
        Case("gradient", 1, (ask_multi(mask=SELF_MASK_3, grad=normal(114, B, L, E), compare=ALL_GRADIENTS),)),
        Case(
            "heads that do not divide",
            0.5,
            (Ask("multi_head_raises", {"embed_dim": 8, "num_heads": 3}, ("refused",)),),
            alone=False,
        ),
    ),
    reference=multi_reference,
    misconceptions=(
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
        multis(
            "The output projection is applied twice.",
            finish=lambda y, x: y @ WEIGHTS[3] + BIASES[3] if y.shape[-1] == E else y,
        ),
        multis("The biases are ignored.", project=no_bias((0, 1, 2, 3))),
        multis("The biases of queries, keys and values are ignored.", project=no_bias((0, 1, 2))),
        multis("The bias of the output projection is ignored.", project=no_bias((3,))),
        multis(
            "The input is added to the output. That is a residual connection, and not part of attention.",
            finish=lambda y, x: y + x,
        ),
        multis(
            "The result is normalised. That is no part of attention.",
            finish=lambda y, x: (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5),
        ),
        multis(
            "The result went through an activation. That is no part of attention.", finish=lambda y, x: np.maximum(y, 0)
        ),
        multis(
            "The result is averaged over the positions.",
            finish=lambda y, x: np.broadcast_to(y.mean(1, keepdims=True), y.shape),
        ),
        multis(
            "The heads are not split: there is one head with the full width.",
            split=as_one_head,
            merge=lambda x: x[:, 0],
        ),
        multis(
            "The heads are split by a reshape alone, which mixes positions.",
            split=lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1),
        ),
        multis(
            "The heads are split and merged by reshapes alone, which mix positions.",
            split=lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1),
            merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        ),
        multis(
            "The heads are merged by a reshape alone, which mixes positions.",
            merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        ),
        multis(
            "The heads are interleaved when they are split.",
            split=lambda x, h: np.moveaxis(x.reshape(*x.shape[:2], -1, h), -1, 1),
        ),
        multis(
            "The heads are interleaved when they are split and merged.",
            split=lambda x, h: np.moveaxis(x.reshape(*x.shape[:2], -1, h), -1, 1),
            merge=lambda x: np.moveaxis(x, 1, -1).reshape(x.shape[0], x.shape[2], -1),
        ),
        multis(
            "The heads are interleaved when they are merged.",
            merge=lambda x: np.moveaxis(x, 1, -1).reshape(x.shape[0], x.shape[2], -1),
        ),
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
        multis(
            "The scores are scaled by the embedding width. Each head has its own width, head_dim.",
            scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
        ),
        multis("The scores are not scaled.", scale=lambda Q, K, V: 1.0),
        multis("The scores are divided by the head width, not by its root.", scale=lambda Q, K, V: Q.shape[-1]),
        multis("The scores are scaled by the number of heads.", scale=lambda Q, K, V: math.sqrt(Q.shape[1])),
        multis("The shares are made over the queries. The last axis, the keys, must sum to 1.", share=inner(-2)),
        multis("The shares are made over the heads. The last axis, the keys, must sum to 1.", share=inner(1)),
        multis(
            "The mask is ignored: does `__call__` hand it on to `forward`, and `forward` to attention?",
            edit_mask=lambda m, x: None,
        ),
        multis(
            "Attention is always causal. Only the mask decides.",
            edit_mask=lambda m, x: np.tril(np.ones((x.shape[1], x.shape[1]))),
        ),
        multis(
            "Attention is causal when no mask is given.",
            edit_mask=lambda m, x: np.tril(np.ones((x.shape[1], x.shape[1]))) if m is None else shape_mask(m),
        ),
        multis(
            "The mask is inverted: 1 is where a query may look.",
            edit_mask=lambda m, x: None if m is None else shape_mask(1 - m),
        ),
        multis(
            "The mask is transposed: its rows are queries, its columns keys.",
            edit_mask=lambda m, x: (
                None if m is None else swap(shape_mask(m)) if m.shape[-1] == m.shape[-2] else shape_mask(m)
            ),
        ),
        multis(
            "A mask (B, L, S) is taken for one of each head. Give it an axis of length 1 for the heads.",
            edit_mask=lambda m, x: m,
            cases=("masks of three and four axes",),
        ),
        multis(
            "Only the first batch element's mask is used.",
            edit_mask=lambda m, x: shape_mask(m)[:1] if m is not None and m.ndim > 2 else m,
        ),
        multis(
            "The first head's mask is used for all heads.",
            edit_mask=lambda m, x: shape_mask(m)[:, :1] if m is not None and m.ndim > 2 else m,
        ),
        multis("Masks with three axes are ignored.", edit_mask=unmasked_if((3,))),
        multis("Masks with four axes are ignored.", edit_mask=unmasked_if((4,))),
        multis("Masks with two axes are ignored.", edit_mask=unmasked_if((2,))),
        multis("Masks with three and four axes are ignored.", edit_mask=unmasked_if((3, 4))),
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
        multis(
            "Batch elements are mixed: each one attends to itself only.", sources=lambda x, c: (x, c[::-1], c[::-1])
        ),
        multis(
            "The mean over the heads is kept in attention_weights. Keep all heads, (B, H, L, S).",
            ("attention_weights",),
            cases=("attention_weights",),
            split=right_split,
            share=lambda s: softmax(s).mean(1, keepdims=True),
        ),
        Misconception(
            "attention_weights are averaged over the heads. Keep all heads, (B, H, L, S).",
            wrong=lambda p, i: {"attention_weights": multi_reference(p, i)["attention_weights"].mean(1)},
            cases=("attention_weights",),
        ),
        Misconception(
            "attention_weights are those of the first head only. Keep all heads, (B, H, L, S).",
            wrong=lambda p, i: {"attention_weights": multi_reference(p, i)["attention_weights"][:, 0]},
            cases=("attention_weights",),
        ),
        shows(
            "attention_weights are not set: keep the weights of the last call, (B, H, L, S).",
            lambda ask, r: not r.problem and "attention_weights" not in r.arrays,
            ("attention_weights",),
        ),
        shows(
            "attention_weights hold something of another shape; keep the weights of the last call, (B, H, L, S).",
            lambda ask, r: (
                r.arrays.get("attention_weights", np.zeros(())).shape != (B, HEADS_OF, L, L)
                and "attention_weights" in r.arrays
            ),
            ("attention_weights",),
        ),
        says(
            r"TypeError: .*(unexpected keyword argument|positional argument)",
            "`__call__` must take what `forward` takes, mask and context, and hand them on.",
        ),
        says(
            r"has no attribute '(q_proj|k_proj|v_proj|out_proj)'",
            "The layers must be called q_proj, k_proj, v_proj and out_proj, and be created in `__init__`.",
        ),
        says(
            r"has no attribute '(weight|bias)'",
            "q_proj, k_proj, v_proj and out_proj must be layers: `Linear(embed_dim, embed_dim)`, with a bias.",
        ),
        says(r"has no attribute 'forward'|not callable", "`forward` and `__call__` are both needed."),
        says(r"has no attribute 'parameters'", "`parameters` is missing: the 8 tensors of the four layers."),
        says(
            r"mask has shape|masked_fill: mask|do not broadcast",
            "A mask (B, L, S) needs an axis of length 1 for the heads, (B, 1, L, S); one with two or four axes fits as it is.",
            ("masks of three and four axes",),
        ),
        says(
            r"unpack|AxisError|out of bounds|IndexError|reshape",
            "The mask is expected to have a certain number of axes. It may have two, three or four.",
            ("causal mask", "masks of three and four axes"),
        ),
        says(
            r"V has shape \(2, 3, 4, 2\).* 5 keys",
            "The values come from x. With a context they come from the context.",
            ("context",),
        ),
        says(
            r"V has shape \(2, 3, 5, 2\).* 4 keys",
            "The keys come from x. With a context they come from the context.",
            ("context",),
        ),
        says(
            r"reshape|mask has shape|x has shape|V has shape|@: ",
            "With a context of another length it fails: queries come from x, keys and values from the context, each by its own length.",
            ("context",),
        ),
        says(r"_split_heads|_merge_heads", "`_split_heads` or `_merge_heads` is called with the wrong arguments."),
        says(r"reshape|@: ", "The shapes do not fit: split into (B, H, L, D), attend, merge to (B, L, E)."),
        shows(
            "parameters() lacks some of the 8 tensors: weight and bias of q_proj, k_proj, v_proj and out_proj.",
            missing_parameters,
            ("parameters",),
        ),
        shows("parameters() lists tensors more than once.", doubled_parameters, ("parameters",)),
        shows(
            "parameters() lists tensors that are not parameters of the four layers.",
            lambda ask, r: -1 in r.arrays.get("parameters", ()),
            ("parameters",),
        ),
        shows(
            "The layers are created anew in each call. Create them once, in `__init__`.",
            lambda ask, r: (
                "parameters_after" in r.arrays and list(r.arrays["parameters_after"]) != list(r.arrays["parameters"])
            ),
            ("parameters",),
        ),
        shows(
            "embed_dim, num_heads and head_dim must be set in `__init__`.",
            lambda ask, r: "sizes" in r.arrays and list(r.arrays["sizes"]) != [E, HEADS_OF, E // HEADS_OF],
            ("parameters",),
        ),
        shows(
            "A number of heads that does not divide embed_dim must be refused with a ValueError: call `_check_heads` in `__init__`.",
            lambda ask, r: "refused" in r.arrays or r.problem == "raised",
            ("heads that do not divide",),
        ),
        shows(
            "The gradient ends before the projections: the result of the heads is cut from the graph by `.data`.",
            no_gradient("x", *(f"{p}_{k}" for p in ("q_proj", "k_proj", "v_proj") for k in ("weight", "bias"))),
        ),
        shows(
            "The gradient does not reach q_proj and k_proj: the weights are cut from the graph by `.data`.",
            no_gradient(*(f"{p}_{k}" for p in ("q_proj", "k_proj") for k in ("weight", "bias"))),
        ),
        shows("The gradient does not reach x.", no_gradient("x")),
        *(
            shows(
                f"The gradient does not reach {p}: it is cut from the graph by `.data`.",
                no_gradient(f"{p}_weight", f"{p}_bias"),
            )
            for p in PROJECTION_NAMES
        ),
    ),
    uses=(
        "compute_attention_scores",
        "scale_scores",
        "apply_mask",
        "scaled_dot_product_attention",
        "split_heads",
        "merge_heads",
    ),
)

EXERCISES = (SCORES, SCALE, CAUSAL, MASK, ATTENTION, SPLIT, MERGE, MULTI_HEAD)
