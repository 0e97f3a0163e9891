"""The exercises of 05_efficient_attention."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.attention import MULTI_HEAD_INPUTS, PROJECTION_NAMES, attend, multi
from autograded_tests.exercise import Arrays, Ask, Case, Exercise, Helper, Inputs, Misconception, Reply, same
from autograded_tests.misconceptions import Array, Function, computes, no_gradient, says, shows, softmax, swap
from autograded_tests.shapes import DV, B, D, L, S, normal, random_mask

MODULE = "05_efficient_attention"
NAMES_KEPT = says(
    r"TypeError: .*(unexpected keyword argument|positional argument)",
    "The function does not take the arguments that it was handed out with; keep their names and their order.",
)

# --- key-value cache --------------------------------------------------------------------------------------------------

CACHE_K, CACHE_V = normal(200, B, 3, 6, D), normal(201, B, 3, 6, DV)


def ask_cache(K: Array, V: Array, steps: tuple[int, ...], compare: tuple[str, ...]) -> Ask:
    return Ask("kv_cache", {"K": K, "V": V, "steps": list(steps)}, compare)


def cache_reference(_probe: str, i: Inputs) -> Arrays:
    K, V, first = i["K"], i["V"], i["steps"][0]
    return {
        "K": K,
        "V": V,
        "first_K": K[..., :first, :],
        "first_V": V[..., :first, :],
        "lengths": np.cumsum(i["steps"]),
        "other_K": K[..., :first, :],
    }


def pieces(x: Array, steps: list[int]) -> list[Array]:
    return np.split(x, np.cumsum(steps)[:-1], axis=-2)


def caches(sentence: str, join: Function, cases: tuple[str, ...] = ()) -> Misconception:
    """A wrong way to join pieces."""

    def predict(_probe: str, i: Inputs) -> Arrays:
        return {key: join(pieces(i[key], i["steps"])) for key in ("K", "V")}

    return Misconception(sentence, wrong=predict, cases=cases)


def append_gradient(index: int, grad: Array, K_before: Array | None, V_before: Array | None, K: Array, V: Array) -> Any:
    """Gradients of those of K_before, V_before, K, V that are there, for the gradient of all keys (0) or all values (1)."""
    before, new = ((K_before, K), (V_before, V))[index]
    others = [np.zeros_like(x) for x in ((V_before, V), (K_before, K))[index] if x is not None]
    n = grad.shape[-2] - new.shape[-2]
    mine = [grad[..., n:, :]] if before is None else [grad[..., :n, :], grad[..., n:, :]]
    pairs = (mine, others) if index == 0 else (others, mine)
    return [x for pair in zip(*pairs, strict=True) for x in pair]


KV_CACHE = Exercise(
    name="kv_cache",
    module=MODULE,
    defines="KVCache",
    cases=(
        Case("one piece after another", 1.5, (ask_cache(CACHE_K, CACHE_V, (3, 1, 2), ("K", "V", "other_K")),)),
        Case(
            "any leading axes",
            0.5,
            (
                ask_cache(CACHE_K[0, 0], CACHE_V[0, 0], (2, 4), ("K", "V")),
                ask_cache(CACHE_K[0], CACHE_V[0], (5, 1), ("K", "V")),
            ),
        ),
        Case("length", 0.5, (ask_cache(CACHE_K, CACHE_V, (3, 1, 2), ("lengths",)),), alone=False),
        Case("earlier results stay", 0.5, (ask_cache(CACHE_K, CACHE_V, (3, 1, 2), ("first_K", "first_V")),)),
    ),
    reference=cache_reference,
    misconceptions=(
        caches("The new positions are put before the old ones. They come last.", lambda p: np.concatenate(p[::-1], -2)),
        caches("Only the newest positions are there: nothing is kept.", lambda p: p[-1]),
        caches(
            "Only the positions of the last two calls are there: put new ones after *all* that there are.",
            lambda p: np.concatenate(p[-2:], -2),
        ),
        caches("The first positions came back; nothing is added.", lambda p: p[0]),
        caches(
            "Keys of different positions were added up. They go one after the other.",
            lambda p: sum(x.sum(-2) for x in p),
        ),
        shows(
            "The positions are not the last but one axis here: count axes from the right, -2.",
            lambda ask, r: "K" in r.arrays and r.arrays["K"].shape != ask.inputs["K"].shape,
            ("any leading axes",),
        ),
        says(
            r"AxisError|out of bounds|out of range|must match exactly|dimension|cannot be joined",
            "The positions are the last but one axis, however many there are before it: join along -2.",
        ),
        says(
            r"has no len|object cannot be interpreted|__len__", "`len(cache)` is wanted: `__len__` must give a number."
        ),
        shows(
            "`len(cache)` is the number of calls. The number of positions is asked for.",
            lambda ask, r: list(r.arrays.get("lengths", ())) == list(range(1, len(ask.inputs["steps"]) + 1)),
            ("length",),
        ),
        shows(
            "`len(cache)` is not the number of positions, the size of axis -2.",
            lambda ask, r: "lengths" in r.arrays,
            ("length",),
        ),
        shows(
            "Two caches share what they hold. Create it in `__init__`, on `self`.",
            lambda ask, r: (
                "other_K" in r.arrays and not same(r.arrays["other_K"], cache_reference("", ask.inputs)["other_K"])
            ),
            ("one piece after another",),
        ),
        shows(
            "What an earlier call of append returned has changed since. Make a new Tensor each time, and leave the old one alone.",
            lambda ask, r: "first_K" in r.arrays,
            ("earlier results stay",),
        ),
    ),
    helper=Helper(
        "KVCache",
        ("K_before", "V_before", "K", "V"),
        2,
        lambda K_before, V_before, K, V: [
            K if K_before is None else np.concatenate([K_before, K], axis=-2),
            V if V_before is None else np.concatenate([V_before, V], axis=-2),
        ],
        append_gradient,
    ),
)

# --- attention with a cache -------------------------------------------------------------------------------------------

E, HEADS_OF = 6, 3  # heads of width 2
WEIGHTS, BIASES = normal(210, 4, E, E, scale=0.8), normal(211, 4, E)
TEXT = normal(212, B, 5, E)
# those that do not go through the cache, which need not keep a graph
PROMPT_GRADIENTS = tuple(f"grad_{p}_{part}" for p in ("q_proj", "out_proj") for part in ("weight", "bias"))


def ask_cached(
    steps: tuple[int, ...], compare: tuple[str, ...] = ("output",), grad: Array | None = None, **inputs: Any
) -> Ask:
    given = {"num_heads": HEADS_OF, "x": TEXT, "weights": WEIGHTS, "biases": BIASES} | inputs
    return Ask("cached_attention", given | {"steps": list(steps), "grad": grad}, compare)


def cached_reference(_probe: str, i: Inputs) -> Arrays:
    x = i["x"]
    given: dict[str, Any] = {k: i[k] for k in ("num_heads", "x", "weights", "biases")}
    mask = references.causal_for_last(x.shape[1], x.shape[1])
    output, weights = references.multi_head(**given, mask=mask)
    answer = {"output": output, "attention_weights": weights[:, :, -i["steps"][-1] :]}
    if i["grad"] is not None:  # of one piece only
        *_, to_weights, to_biases = references.multi_head_gradient(**given, mask=mask, grad=i["grad"])
        for n, name in enumerate(PROJECTION_NAMES):
            answer[f"grad_{name}_weight"], answer[f"grad_{name}_bias"] = to_weights[n], to_biases[n]
    return answer


def caching(sentence: str, table: Function, cases: tuple[str, ...] = (), **steps: Any) -> Misconception:
    """A wrong mask, or a wrong step: table(start, stop) -> (stop - start, stop) is the mask of one piece of positions."""

    def predict(_probe: str, i: Inputs) -> Arrays:
        x = i["x"]
        given: dict[str, Any] = {k: i.get(k) for k in MULTI_HEAD_INPUTS if k not in ("mask", "context")}
        ends = np.cumsum([0, *i["steps"]])
        mask = np.zeros((x.shape[1], x.shape[1]))
        for a, b in zip(ends, ends[1:], strict=False):
            mask[a:b, :b] = table(a, b)
        output, weights = multi(**given, mask=mask, **steps)
        return {"output": output, "attention_weights": weights[:, :, -i["steps"][-1] :]}

    return Misconception(sentence, wrong=predict, cases=cases)


def last_rows(a: int, b: int) -> Array:
    return references.causal_for_last(b - a, b)


CACHED = Exercise(
    name="cached_attention",
    module=MODULE,
    defines="cached_attention",
    uses=("kv_cache",),
    cases=(
        Case("one position at a time", 1.5, (ask_cached((1, 1, 1, 1, 1)),)),
        Case(
            "several positions at once",
            1.5,
            (
                ask_cached((5,)),
                ask_cached((3, 2)),
                ask_cached(
                    (2, 2), x=normal(213, 3, 4, 8), num_heads=2, weights=normal(214, 4, 8, 8), biases=normal(215, 4, 8)
                ),
            ),
        ),
        Case("attention_weights", 0.5, (ask_cached((5,), ("attention_weights",)),)),
        Case("gradient of a prompt", 0.5, (ask_cached((5,), PROMPT_GRADIENTS, normal(216, B, 5, E)),)),
    ),
    reference=cached_reference,
    misconceptions=(
        caching(
            "There is no mask: positions of one piece look at what comes after them.", lambda a, b: np.ones((b - a, b))
        ),
        caching(
            "The mask has the *first* rows of the causal mask. The new queries are the last ones: row i may look at keys up to S - L + i.",
            lambda a, b: np.tril(np.ones((b - a, b))),
        ),
        caching(
            "The mask has the *first* rows of the causal mask when several positions arrive. The new queries are the last ones.",
            lambda a, b: np.ones((1, b)) if b - a == 1 else np.tril(np.ones((b - a, b))),
        ),
        caching("Off by one: a query sees one key of the future.", lambda a, b: np.tril(np.ones((b - a, b)), a + 1)),
        caching(
            "Off by one: a query does not see itself.",
            lambda a, b: np.maximum(np.tril(np.ones((b - a, b)), a - 1), np.eye(b)[a:] if a == 0 else 0),
        ),
        caching(
            "The new positions see each other, but nothing from the cache: attend to what `append` returns.",
            lambda a, b: np.concatenate([np.zeros((b - a, a)), np.tril(np.ones((b - a, b - a)))], axis=1),
        ),
        caching("The mask is inverted: 1 is where a query may look.", lambda a, b: 1 - last_rows(a, b)),
        caching("The output projection is missing.", last_rows, project=lambda a, w, b, n: a if n == 3 else a @ w + b),
        caching("Keys and values are exchanged.", last_rows, order=(0, 2, 1, 3)),
        caching("Queries and keys are exchanged.", last_rows, order=(1, 0, 2, 3)),
        caching("The keys are used as values.", last_rows, order=(0, 1, 1, 3)),
        caching(
            "The heads are not merged in their order: `_merge_heads` puts them side by side.",
            last_rows,
            merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
        ),
        caching(
            "The heads are not split: use `_split_heads` with layer.num_heads.",
            last_rows,
            split=lambda x, h: x[:, None],
            merge=lambda x: x[:, 0],
        ),
        shows(
            "layer.attention_weights are not those of this call: keep them, (B, H, L, S).",
            lambda ask, r: not r.problem,
            ("attention_weights",),
        ),
        says(
            r"mask has shape",
            "The mask does not fit: there are L queries, the new positions, and S keys, all positions so far.",
        ),
        says(
            r"V has shape|@: |reshape",
            "Keys and values must both be those that `append` returns, (B, H, S, D).",
        ),
        says(r"must match exactly|dimension", "What goes into the cache is split into heads: (B, H, L, D)."),
        NAMES_KEPT,
        shows(
            "The gradient does not reach q_proj: the output of attention is cut from the graph by `.data`.",
            no_gradient("q_proj_weight", "q_proj_bias"),
        ),
    ),
)

# --- grouped queries --------------------------------------------------------------------------------------------------

GQ, GK, GV = normal(220, B, 6, L, D), normal(221, B, 2, S, D), normal(222, B, 2, S, DV)
HK, HV = normal(223, B, 3, S, D), normal(224, B, 3, S, DV)
MASK_OF_HEADS = random_mask(225, B, 6, L, S)


def ask_grouped(
    Q: Array = GQ,
    K: Array = HK,
    V: Array = HV,
    mask: Array | None = None,
    compare: tuple[str, ...] = ("output", "weights"),
    grad: Array | None = None,
    as_tensor: bool = True,
) -> Ask:
    inputs = {"Q": Q, "K": K, "V": V, "mask": mask, "grad": grad, "as_tensor": as_tensor}
    return Ask("scaled_dot_product_attention", inputs | {"name": "grouped_query_attention"}, compare)


def grouped_reference(_probe: str, i: Inputs) -> Arrays:
    Q, K, V, mask = i["Q"], i["K"], i["V"], i["mask"]
    wide_K, wide_V = (references.one_for_each_query_head(x, Q.shape[1]) for x in (K, V))
    output, weights = references.attention(Q, wide_K, wide_V, mask)
    answer = {"output": output, "weights": weights, "Q_after": Q, "K_after": K, "V_after": V}
    if i["grad"] is not None:
        gradients = references.grouped_gradient(Q, K, V, weights, i["grad"])
        answer |= dict(zip(("grad_Q", "grad_K", "grad_V"), gradients, strict=True))
    return answer


def own_head(H: int, G: int) -> Array:
    """The key-value head of each query head."""
    return np.arange(H) // (H // G)


def grouped(Q: Array, K: Array, V: Array, mask: Array | None, **steps: Any) -> Arrays:
    return dict(zip(("output", "weights"), attend(Q, K, V, mask, **steps), strict=True))


def groups(
    sentence: str,
    keys: Function = own_head,
    values: Function | None = None,
    cases: tuple[str, ...] = (),
    **steps: Any,
) -> Misconception:
    """A wrong choice of key and value heads (indices for H query heads and G key-value heads), or another wrong step."""

    def predict(_probe: str, i: Inputs) -> Arrays:
        Q, K, V = i["Q"], i["K"], i["V"]
        of_keys, of_values = (f(Q.shape[1], K.shape[1]) for f in (keys, values or keys))
        return grouped(Q, K[:, of_keys], V[:, of_values], i["mask"], **steps)

    return Misconception(sentence, wrong=predict, cases=cases)


def in_another_order(m: Array | None, G: int) -> Any:
    """A mask of all heads, in groups of the wrong order."""
    if m is None or m.ndim < 4 or m.shape[1] == 1:
        return m
    B, H = m.shape[:2]
    return m.reshape(B, H // G, G, *m.shape[2:]).swapaxes(1, 2).reshape(m.shape)


def averaged_queries(i: Inputs) -> Arrays:
    Q, K, V = i["Q"], i["K"], i["V"]
    H, G = Q.shape[1], K.shape[1]
    mean = Q.reshape(Q.shape[0], G, H // G, *Q.shape[2:]).mean(2)
    return {key: np.repeat(x, H // G, axis=1) for key, x in grouped(mean, K, V, None).items()}


def scattered_queries(i: Inputs) -> Arrays:
    Q, G = i["Q"], i["K"].shape[1]
    H = Q.shape[1]
    order, heads = np.arange(H).reshape(H // G, G).T.ravel(), own_head(H, G)
    return grouped(Q[:, order], i["K"][:, heads], i["V"][:, heads], i["mask"])


GROUPED = Exercise(
    name="grouped_query_attention",
    module=MODULE,
    defines="grouped_query_attention",
    cases=(
        Case("groups of heads", 2, (ask_grouped(), ask_grouped(GQ, GK, GV))),
        Case(
            "one key-value head, and one for each query head",
            1,
            (ask_grouped(GQ, HK[:, :1], HV[:, :1]), ask_grouped(GQ[:, 1:4], HK, HV)),
        ),
        Case(
            "mask",
            1,
            (
                ask_grouped(mask=random_mask(226, L, S)),
                ask_grouped(mask=random_mask(227, B, 1, L, S), as_tensor=False),
                ask_grouped(mask=MASK_OF_HEADS),
                ask_grouped(mask=random_mask(228, B, 1, 1, S)),
            ),
        ),
        Case("gradient", 0.75, (ask_grouped(grad=normal(229, B, 6, L, DV), compare=("grad_Q", "grad_K", "grad_V")),)),
        Case("inputs unchanged", 0.25, (ask_grouped(compare=("Q_after", "K_after", "V_after")),), alone=False),
    ),
    reference=grouped_reference,
    misconceptions=(
        groups(
            "Query head h looks at key-value head h % G. Neighbouring query heads share: h // (H // G).",
            lambda H, G: np.arange(H) % G,
        ),
        groups("All query heads look at the first key-value head.", lambda H, G: np.zeros(H, int)),
        groups("The groups are in reverse order.", lambda H, G: own_head(H, G)[::-1]),
        groups(
            "Keys are shared rightly, but query head h takes its values from head h % G.",
            own_head,
            lambda H, G: np.arange(H) % G,
        ),
        groups(
            "Values are shared rightly, but query head h takes its keys from head h % G.",
            lambda H, G: np.arange(H) % G,
            own_head,
        ),
        Misconception(
            "The query heads of a group are not neighbours: heads 0 to H / G - 1 form the first group. Cut axis 1 into (G, H // G).",
            wrong=lambda p, i: scattered_queries(i),
        ),
        groups("The mask is ignored.", edit_mask=lambda m, s: None, cases=("mask",)),
        groups(
            "The mask is inverted: 1 is where a query may look.",
            edit_mask=lambda m, s: None if m is None else 1 - m,
            cases=("mask",),
        ),
        groups(
            "Masks of single heads are ignored, or one is used for all: the mask may have one for each of the H query heads.",
            edit_mask=lambda m, s: m[:, :1] if m is not None and m.ndim == 4 else m,
            cases=("mask",),
        ),
        groups(
            "The masks of the query heads are in another order than the heads: regroup both in the same way.",
            edit_mask=lambda m, s: in_another_order(m, 3),
            cases=("mask",),
        ),
        groups(
            "Attention is causal in any case. Only the mask decides.",
            edit_mask=lambda m, s: np.tril(np.ones(s.shape[-2:])),
        ),
        groups(
            "The scores are scaled by another width than that of a head.",
            scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
        ),
        groups("The scores are not scaled.", scale=lambda Q, K, V: 1.0),
        Misconception(
            "The query heads of a group were averaged. Each keeps its own queries and its own output.",
            wrong=lambda p, i: averaged_queries(i),
        ),
        Misconception(
            "Key-value heads were averaged. Each group has its own.",
            wrong=lambda p, i: dict(
                zip(
                    ("output", "weights"),
                    attend(i["Q"], i["K"].mean(1, keepdims=True), i["V"].mean(1, keepdims=True), i["mask"]),
                    strict=True,
                )
            ),
        ),
        shows(
            "The result has an axis too many, for the groups: outputs are (B, H, L, Dv), weights (B, H, L, S).",
            lambda ask, r: any(k in r.arrays and r.arrays[k].ndim == 5 for k in ("output", "weights")),
        ),
        shows(
            "The heads are not axis 1 again: outputs are (B, H, L, Dv), weights (B, H, L, S).",
            lambda ask, r: any(
                k in r.arrays and r.arrays[k].shape[:3] != ask.inputs["Q"].shape[:3] for k in ("output", "weights")
            ),
        ),
        says(
            r"mask has shape|masked_fill: mask|broadcast|reshape",
            "The mask does not fit the groups: spread it to (B, H, L, S) first, then regroup it as the queries.",
            ("mask",),
        ),
        says(
            r"reshape|@: |broadcast|out of bounds|IndexError",
            "The shapes fit for some numbers of heads only: any G that divides H is allowed, 1 and H, too.",
        ),
        NAMES_KEPT,
        shows("The gradient does not reach K and V: `.data` cuts the graph.", no_gradient("K", "V")),
        shows("The gradient reaches K or V only: `.data` cuts the graph of the other.", no_gradient("K")),
        shows("The gradient reaches K or V only: `.data` cuts the graph of the other.", no_gradient("V")),
    ),
)


# --- rotary embedding -------------------------------------------------------------------------------------------------

R2, R3, R4 = normal(230, L, 6), normal(231, B, S, 6), normal(232, B, 3, L, 10)


def ask_rotary(x: Array, compare: tuple[str, ...] = ("result",), **inputs: Any) -> Ask:
    return Ask("function", {"name": "rotary_embedding", "x": x} | inputs, compare)


def rotary_reference(_probe: str, i: Inputs) -> Arrays:
    options = {k: i[k] for k in ("offset", "base") if k in i}
    answer = {"result": references.rotary(i["x"], **options), "x_after": i["x"]}
    if i.get("grad") is not None:
        answer["grad_x"] = references.rotary(i["grad"], direction=-1, **options)
    return answer


def turn(
    x: Array,
    offset: float = 0,
    base: float = 10000.0,
    *,
    angle: Function = lambda p, i, D, base: p * base ** (-2 * i / D),
    positions: Function = lambda x: np.arange(x.shape[-2])[:, None],
    pair: str = "neighbours",
    sign: int = 1,
    first_sign: int = -1,
    join: str = "pairs",
) -> Array:
    """Rotary embedding in which each step can be replaced by a wrong one."""
    D = x.shape[-1]
    angles = sign * angle(offset + positions(x), np.arange(D // 2), D, base)
    halves = pair == "halves"
    a, b = (x[..., : D // 2], x[..., D // 2 :]) if halves else (x[..., 0::2], x[..., 1::2])
    turned = a * np.cos(angles) + first_sign * b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    if halves or join == "halves":
        return np.concatenate(turned, axis=-1)
    return np.stack(turned, axis=-1).reshape(x.shape)


def turns(sentence: str, cases: tuple[str, ...] = (), **steps: Any) -> Misconception:
    def predict(_probe: str, i: Inputs) -> Arrays:
        return {"result": turn(i["x"], i.get("offset", 0), i.get("base", 10000.0), **steps)}

    return Misconception(sentence, wrong=predict, cases=cases)


def half_a_gradient(ask: Ask, reply: Reply) -> bool:
    """Some parts of x got no share of the gradient: what arrived is that of one component of each pair."""
    right, x = rotary_reference("", ask.inputs)["grad_x"], np.zeros(ask.inputs["x"].shape)
    for part in (0, 1):
        x[..., part::2] = right[..., part::2]
        if same(reply.arrays["grad_x"], x):
            return True
        x[...] = 0
    return False


def angles_of(x: Array, offset: int, base: float) -> Array:
    D = x.shape[-1]
    return np.asarray((offset + np.arange(x.shape[-2]))[:, None] * base ** (-np.arange(0, D, 2) / D))


def added(x: Array, offset: int, base: float) -> Array:
    a = angles_of(x, offset, base)
    return np.asarray(x + np.stack([np.sin(a), np.cos(a)], axis=-1).reshape(x.shape[-2:]))


def scaled_only(x: Array, offset: int, base: float) -> Array:
    a = angles_of(x, offset, base)
    return np.asarray(x * np.stack([np.cos(a), np.sin(a)], axis=-1).reshape(x.shape[-2:]))


ROTARY = Exercise(
    name="rotary_embedding",
    module=MODULE,
    defines="rotary_embedding",
    cases=(
        Case("values", 2, (ask_rotary(R4), ask_rotary(R2), ask_rotary(R3), ask_rotary(normal(233, 3, 2)))),
        Case("offset", 0.75, (ask_rotary(R3, offset=7), ask_rotary(R2[:1], offset=3))),
        Case("base", 0.5, (ask_rotary(R3, base=100.0),)),
        Case("gradient", 0.75, (ask_rotary(R3, ("grad_x", "x_after"), grad=normal(234, B, S, 6)),)),
    ),
    reference=rotary_reference,
    misconceptions=(
        turns("The first and the second half form pairs. Here neighbours do: components 2i and 2i + 1.", pair="halves"),
        turns(
            "The two components of each pair are not side by side in the result: stack them on a new last axis, then reshape.",
            join="halves",
        ),
        turns("The rotation goes the other way round: check the signs of the two sines.", sign=-1),
        turns(
            "Both sines are added. In a rotation one of the two has a minus: the one for component 2i.", first_sign=1
        ),
        turns(
            "Positions are counted from 1. They start at 0.", positions=lambda x: 1 + np.arange(x.shape[-2])[:, None]
        ),
        turns(
            "The exponent is -i / D; it should be -2i / D, so that the angles of D / 2 pairs span the whole range.",
            angle=lambda p, i, D, base: p * base ** (-i / D),
        ),
        turns("The exponent is -4i / D; it should be -2i / D.", angle=lambda p, i, D, base: p * base ** (-4 * i / D)),
        turns(
            "The exponent has the wrong sign: later pairs turn more slowly, base**(-2i / D).",
            angle=lambda p, i, D, base: p * base ** (2 * i / D),
        ),
        turns("All pairs turn by the same angle.", angle=lambda p, i, D, base: p * np.ones(len(i))),
        turns(
            "All positions turn by the same angle.", angle=lambda p, i, D, base: np.ones_like(p) * base ** (-2 * i / D)
        ),
        turns(
            "The angles are in degrees. NumPy's sine and cosine take radians.",
            angle=lambda p, i, D, base: np.radians(p * base ** (-2 * i / D)),
        ),
        turns(
            "The angle has a factor of 2 pi too many.", angle=lambda p, i, D, base: 2 * np.pi * p * base ** (-2 * i / D)
        ),
        turns(
            "The positions are those of another axis; the last but one counts.",
            positions=lambda x: np.arange(x.shape[1] if x.ndim == 4 else x.shape[-2]).reshape(
                -1, *[1] * (2 if x.ndim == 4 else 1)
            ),
        ),
        turns(
            "The positions are those of the first axis; the last but one counts.",
            positions=lambda x: np.arange(x.shape[0]).reshape(-1, *[1] * (x.ndim - 1)),
        ),
        turns("x came back as it was.", angle=lambda p, i, D, base: 0 * p * i),
        Misconception(
            "The offset is ignored: the first row is at position `offset`.",
            wrong=lambda p, i: {"result": turn(i["x"], 0, i.get("base", 10000.0))},
        ),
        Misconception(
            "The offset is subtracted from the position. It is added.",
            wrong=lambda p, i: {"result": turn(i["x"], -i.get("offset", 0), i.get("base", 10000.0))},
        ),
        Misconception(
            "The offset multiplies the position. It is added to it.",
            wrong=lambda p, i: (
                {
                    "result": turn(
                        i["x"],
                        0,
                        i.get("base", 10000.0),
                        positions=lambda x: i.get("offset", 0) * np.arange(x.shape[-2])[:, None],
                    )
                }
                if "offset" in i
                else None
            ),
        ),
        Misconception(
            "The base is ignored: 10000 is only what it is unless said otherwise.",
            wrong=lambda p, i: {"result": turn(i["x"], i.get("offset", 0), 10000.0)},
        ),
        Misconception(
            "Sines and cosines are added to x. That is the encoding of the last notebook; here pairs are turned.",
            wrong=lambda p, i: {"result": added(i["x"], i.get("offset", 0), i.get("base", 10000.0))},
        ),
        Misconception(
            "Each component is multiplied by a cosine or a sine of its own; a rotation mixes the two of a pair.",
            wrong=lambda p, i: {"result": scaled_only(i["x"], i.get("offset", 0), i.get("base", 10000.0))},
        ),
        says(
            r"unpack|AxisError|out of bounds|IndexError|do not broadcast|broadcast|reshape",
            "It works for some numbers of axes only: rows are axis -2, components axis -1, with any axes before them.",
        ),
        shows(
            "The gradient does not reach every other component of x: `.data` cuts the graph of one of the two parts.",
            half_a_gradient,
            ("gradient",),
        ),
        NAMES_KEPT,
    ),
)


# --- sliding window ---------------------------------------------------------------------------------------------------


def ask_window(seq_len: int, window: int) -> Ask:
    inputs = {"name": "sliding_window_mask", "results": ["mask"], "seq_len": seq_len, "window": window}
    return Ask("array_function", inputs, ("mask",))


def distances(seq_len: int) -> Array:
    return np.arange(seq_len)[:, None] - np.arange(seq_len)


WINDOW = Exercise(
    name="sliding_window_mask",
    module=MODULE,
    defines="sliding_window_mask",
    cases=(
        Case("values", 1.5, (ask_window(4, 2), ask_window(7, 3), ask_window(5, 1))),
        Case(
            "a window as long as the sequence, or longer", 0.5, (ask_window(4, 4), ask_window(3, 3), ask_window(3, 10))
        ),
    ),
    reference=lambda _probe, i: {"mask": references.sliding_window(i["seq_len"], i["window"])},
    misconceptions=(
        *(
            computes("mask", sentence, function)
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
            r".",
            "It fails when the window is as long as the sequence or longer; then it is the causal mask.",
            ("a window as long as the sequence, or longer",),
        ),
        NAMES_KEPT,
    ),
)

# --- online softmax ---------------------------------------------------------------------------------------------------

N_QUERIES, N_KEYS = 3, 5
STATE = ("largest", "total", "output")


def ask_online(seed: int, first: bool = False, shift: float = 0.0, level: float = 0.0, as_large: bool = False) -> Ask:
    """shift: how far the new scores lie above the largest so far; as_large: their largest equals it."""
    largest = normal(seed, N_QUERIES, 1) + np.float32(level)
    scores = normal(seed + 1, N_QUERIES, N_KEYS) + np.float32(level + shift)
    if as_large:
        scores += largest - scores.max(axis=1, keepdims=True)
        scores = np.minimum(scores, largest)
    if first:
        state = [np.full_like(largest, -np.inf), np.zeros_like(largest), np.zeros((N_QUERIES, DV), np.float32)]
    else:
        total = 1 + np.abs(normal(seed + 2, N_QUERIES, 1))
        state = [largest, total, total * normal(seed + 3, N_QUERIES, DV)]
    inputs = dict(zip(STATE, state, strict=True)) | {"scores": scores, "V": normal(seed + 4, N_KEYS, DV)}
    about = {"name": "_online_softmax", "results": list(STATE), "overwritten": ["scores"]}
    return Ask("array_function", about | inputs, STATE)


def online_reference(_probe: str, i: Inputs) -> Arrays:
    return dict(zip(STATE, references.online_softmax(*(i[k] for k in (*STATE, "scores", "V"))), strict=True))


def online(
    largest: Array,
    total: Array,
    output: Array,
    scores: Array,
    V: Array,
    *,
    new: Function = lambda m, s: np.maximum(m, s.max(-1, keepdims=True)),
    of_total: Function = lambda m, m2: np.exp(m - m2),
    of_output: Function = lambda m, m2: np.exp(m - m2),
    share: Function = lambda s, m, m2: np.exp(s - m2),
    add: Function = lambda e: e.sum(-1, keepdims=True),
    read: Function = lambda e, V: e @ V,
) -> tuple[Array, Array, Array]:
    """A step of the online softmax in which each part can be replaced by a wrong one."""
    m, m2 = largest.astype(float), new(largest.astype(float), scores.astype(float))
    e = share(scores.astype(float), m, m2)
    return m2, of_total(m, m2) * total + add(e), of_output(m, m2) * output + read(e, V)


def steps(sentence: str, keys: tuple[str, ...] = STATE, cases: tuple[str, ...] = (), **parts: Any) -> Misconception:
    def predict(_probe: str, i: Inputs) -> Arrays:
        given = (i[k] for k in (*STATE, "scores", "V"))
        answer = dict(zip(STATE, online(*given, **parts), strict=True))
        return {key: answer[key] for key in keys}

    return Misconception(sentence, wrong=predict, cases=cases)


def no_shrink(m: Array, m2: Array) -> Array:
    return np.ones_like(m2)


ONLINE = Exercise(
    name="online_softmax",
    module=MODULE,
    defines="_online_softmax",
    cases=(
        Case("the first block", 1, (ask_online(240, first=True, shift=-4.0), ask_online(245, first=True))),
        Case("a larger score arrives", 1.25, (ask_online(250, shift=5.0),)),
        Case("only smaller scores arrive", 1, (ask_online(255, shift=-5.0),)),
        Case(
            "scores near 1000",
            0.75,
            (ask_online(260, first=True, level=1000.0), ask_online(265, level=1000.0, as_large=True)),
        ),
    ),
    reference=online_reference,
    misconceptions=(
        steps(
            "Nothing old is shrunk: both total and output were relative to the old largest score.",
            of_total=no_shrink,
            of_output=no_shrink,
        ),
        steps("The total is not shrunk: it was relative to the old largest score.", of_total=no_shrink),
        steps("The output is not shrunk: it was relative to the old largest score.", of_output=no_shrink),
        steps(
            "The factor is turned round: old things are multiplied by exp(old largest - new largest), which is at most 1.",
            of_total=lambda m, m2: np.exp(m2 - m),
            of_output=lambda m, m2: np.exp(m2 - m),
        ),
        steps(
            "Only the new scores are looked at for the largest; it may be an old one.",
            new=lambda m, s: s.max(-1, keepdims=True),
        ),
        steps(
            "The largest score is not brought up to date.",
            new=lambda m, s: np.where(np.isfinite(m), m, s.max(-1, keepdims=True)),
        ),
        steps(
            "The new exponentials are relative to the old largest score. Use the new one.",
            share=lambda s, m, m2: np.exp(s - np.where(np.isfinite(m), m, m2)),
        ),
        steps(
            "The new exponentials are relative to the largest *new* score, not the largest of all.",
            share=lambda s, m, m2: np.exp(s - s.max(-1, keepdims=True)),
        ),
        steps("Nothing is subtracted before the exponential.", share=lambda s, m, m2: np.exp(s)),
        steps(
            "One largest score is used for all queries. Each has its own: axis -1, with keepdims.",
            new=lambda m, s: np.maximum(m, s.max()),
        ),
        steps("The new exponentials are averaged, not summed.", add=lambda e: e.mean(-1, keepdims=True)),
        steps("The exponentials are summed over queries, not over keys.", add=lambda e: e.sum()),
        steps(
            "The new values are averaged, without their weights.",
            read=lambda e, V: np.broadcast_to(V.mean(0), (len(e), V.shape[1])),
        ),
        steps(
            "The values are summed without their weights.",
            read=lambda e, V: np.broadcast_to(V.sum(0), (len(e), V.shape[1])),
        ),
        steps("The old sums are lost.", of_total=lambda m, m2: 0 * m2, of_output=lambda m, m2: 0 * m2),
        steps("The old output is lost.", of_output=lambda m, m2: 0 * m2),
        Misconception(
            "The output is divided by the total already. That comes at the very end; until then it is a sum.",
            wrong=lambda p, i: {"output": (lambda a: a["output"] / a["total"])(online_reference(p, i))},
        ),
        Misconception(
            "Before the first block the largest score is -inf; it was taken for 0.",
            wrong=lambda p, i: dict(
                zip(
                    STATE,
                    online(np.nan_to_num(i["largest"], neginf=0.0), *(i[k] for k in (*STATE[1:], "scores", "V"))),
                    strict=True,
                )
            ),
        ),
        shows(
            "nan: something like -inf - (-inf) or 0 * inf happens. Before the first block the largest score is -inf.",
            lambda ask, r: any(k in r.arrays and np.isnan(r.arrays[k]).any() for k in STATE),
            ("the first block",),
        ),
        shows(
            "inf or nan with scores near 1000: take no exponential of a score itself, only of differences.",
            lambda ask, r: any(k in r.arrays and not np.isfinite(r.arrays[k]).all() for k in STATE),
            ("scores near 1000",),
        ),
        shows(
            "The results are not in the order largest (n, 1), total (n, 1), output (n, Dv), or lack an axis: keepdims=True keeps it.",
            lambda ask, r: any(k in r.arrays and r.arrays[k].shape != ask.inputs[k].shape for k in STATE),
        ),
        says(
            r"broadcast|matmul|mismatch|align",
            "The shapes do not fit: reduce over keys with keepdims=True, and multiply (n, k) @ (k, Dv).",
        ),
        NAMES_KEPT,
    ),
    helper=Helper(
        "_online_softmax",
        (*STATE, "scores", "V"),
        3,
        lambda largest, total, output, scores, V: list(online(largest, total, output, scores, V)),
        lambda *_: [],
    ),
)

# --- tiles ------------------------------------------------------------------------------------------------------------

TQ, TK, TV = normal(270, 5, D), normal(271, 8, D), normal(272, 8, DV)
SQUARE_Q, SQUARE_K, SQUARE_V = normal(273, 8, D), normal(274, 8, D), normal(275, 8, DV)
POISONED_K, POISONED_V = SQUARE_K.copy(), SQUARE_V.copy()
POISONED_K[4:], POISONED_V[4:] = np.nan, np.nan  # whoever touches the future gets nan
TILE_MASK = random_mask(276, 5, 8)
SQUARE_MASK = np.maximum(random_mask(277, 8, 8), np.eye(8, dtype=np.float32))
LATE_MASK = np.array([[0, 0, 0, 0, 1, 0, 1, 1], *[[1, 0, 0, 0, 0, 1, 0, 0]] * 4], np.float32)  # first tiles all blocked
WHOLE = 100  # a block that holds everything


def tile_inputs(
    Q: Array, K: Array, V: Array, block: int, mask: Array | None = None, causal: bool = False
) -> dict[str, Any]:
    return {"Q": Q, "K": K, "V": V, "mask": mask, "causal": causal, "block": block}


def ask_forward(Q: Array, K: Array, V: Array, compare: tuple[str, ...] = ("output",), **options: Any) -> Ask:
    inputs = tile_inputs(Q, K, V, **options)
    return Ask("array_function", {"name": "_tiled_forward", "results": ["output", "logsumexp"]} | inputs, compare)


def ask_memory(name: str, backward: bool) -> Ask:
    inputs = {"name": name, "length": 768, "width": 4, "block": 64, "backward": backward}
    return Ask("whole_table", inputs, ("whole_table",))


def forward_reference(probe: str, i: Inputs) -> Arrays:
    if probe == "whole_table":
        return {"whole_table": np.array(0)}
    output, logsumexp = references.tiled_forward(i["Q"], i["K"], i["V"], i["mask"], i["causal"])
    return {"output": output, "logsumexp": logsumexp}


def right_pairs(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, mask, causal)


def not_masked(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, None, causal)


def not_causal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return references.tiled_mask(L, S, mask, False)


def tile_scores(i: Inputs, allowed: Function = right_pairs, scale: Function = math.sqrt) -> Array:
    """All scores, -1e9 where a query may not look, in tiles of which some may be left out."""
    Q, K = i["Q"].astype(float), i["K"].astype(float)
    table = allowed(len(Q), len(K), i["mask"], i["causal"], i["block"])
    return np.where(table > 0, Q @ K.T / scale(Q.shape[1]), -1e9)


def largest_and_total(i: Inputs, **parts: Any) -> tuple[Array, Array]:
    s = tile_scores(i, **parts)
    m = s.max(-1, keepdims=True)
    return m, np.exp(s - m).sum(-1, keepdims=True)


def tiles(sentence: str, cases: tuple[str, ...] = (), **parts: Any) -> Misconception:
    def predict(_probe: str, i: Inputs) -> Arrays:
        largest, total = largest_and_total(i, **parts)
        return {"output": softmax(tile_scores(i, **parts)) @ i["V"], "logsumexp": largest + np.log(total)}

    return Misconception(sentence, wrong=predict, cases=cases)


def skipped_from_top(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Tiles left out as if the first query were at position 0."""
    return tiles_left(L, S, mask, causal, causal, block, lambda first, last, start, stop: start <= last - S + L)


def not_causal_in_tiles(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    """Tiles of the future are left out, and within the others everything is allowed."""
    return tiles_left(L, S, mask, False, causal, block, lambda first, last, start, stop: start <= last)


def skipped_by_first_row(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return tiles_left(L, S, mask, causal, causal, block, lambda first, last, start, stop: start <= first)


def skipped_diagonal(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return tiles_left(
        L, S, mask, causal, causal, block, lambda first, last, start, stop: stop <= last + 1 or start == 0
    )


def tiles_left(L: int, S: int, mask: Array | None, within: bool, causal: bool, block: int, keep: Function) -> Array:
    """The table without the tiles that are not kept; keep(first query, last query, first key, end of the keys) in positions."""
    table = references.tiled_mask(L, S, mask, within)
    for a in range(0, L, block) if causal else ():
        for b in range(0, S, block):
            if not keep(a + S - L, min(a + block, L) - 1 + S - L, b, min(b + block, S)):
                table[a : a + block, b : b + block] = 0
    return table


def only_last_tile(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return np.asarray(right_pairs(L, S, mask, causal, block) * (np.arange(S) // block == (S - 1) // block))


def only_first_tile(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return right_pairs(L, S, mask, causal, block) * (np.arange(S) < block)


def whole_blocks_only(L: int, S: int, mask: Array | None, causal: bool, block: int) -> Array:
    return right_pairs(L, S, mask, causal, block) * (np.arange(S) < S // block * block)


def divided_in_each_tile(i: Inputs) -> Arrays:
    s = tile_scores(i)
    m, total, output = np.full((len(s), 1), -np.inf), np.zeros((len(s), 1)), np.zeros((len(s), i["V"].shape[1]))
    for j in range(0, s.shape[1], i["block"]):
        m, total, output = online(m, total, output, s[:, j : j + i["block"]], i["V"][j : j + i["block"]])
        output = output / total
    return {"output": output}


def first_values(i: Inputs) -> Arrays:
    s = tile_scores(i)
    V = i["V"][np.arange(s.shape[1]) % i["block"]]
    return {"output": softmax(s) @ V}


def undivided(i: Inputs) -> Arrays:
    _, total = largest_and_total(i)
    return {"output": references.tiled_forward(i["Q"], i["K"], i["V"], i["mask"], i["causal"])[0] * total}


def averaged_tiles(i: Inputs) -> Arrays:
    s = tile_scores(i)
    blocks = range(0, len(i["K"]), i["block"])
    return {"output": sum(softmax(s[:, j : j + i["block"]]) @ i["V"][j : j + i["block"]] for j in blocks) / len(blocks)}


TILES_TOO_LARGE = shows(
    "An array with a value for each pair of query and key is made, all at once or piece by piece. Keep nothing of a tile but what is summed up.",
    lambda ask, r: "whole_table" in r.arrays,
    ("never the whole table",),
)
WHAT_IS_LEFT_OUT: tuple[tuple[str, Function], ...] = (
    ("Only the last tile of each row of tiles counts: what came before is lost.", only_last_tile),
    ("Only the first tile of each row of tiles is looked at.", only_first_tile),
    ("The last tile is left out when the block does not divide the number of keys: use `_blocks`.", whole_blocks_only),
)
ROWS_OF_MASK = ("mask",)

FORWARD = Exercise(
    name="tiled_forward",
    module=MODULE,
    defines="_tiled_forward",
    uses=("online_softmax",),
    cases=(
        Case(
            "values",
            2,
            (
                ask_forward(TQ, TK, TV, block=2),
                ask_forward(TQ, TK, TV, block=3),
                ask_forward(TQ, TK, TV, block=WHOLE),
            ),
        ),
        Case("logsumexp", 0.75, (ask_forward(TQ, TK, TV, block=3, compare=("logsumexp",)),)),
        Case(
            "mask",
            0.75,
            (
                ask_forward(TQ, TK, TV, block=3, mask=TILE_MASK),
                ask_forward(TQ, TK, TV, block=2, mask=LATE_MASK),
                ask_forward(SQUARE_Q, SQUARE_K, SQUARE_V, block=3, mask=SQUARE_MASK, causal=True),
            ),
        ),
        Case(
            "causal",
            0.75,
            (
                ask_forward(SQUARE_Q, SQUARE_K, SQUARE_V, block=3, causal=True),
                ask_forward(TQ, TK, TV, block=2, causal=True),
                ask_forward(TQ, TK, TV, block=3, causal=True),
            ),
        ),
        Case(
            "tiles of the future are left out",
            0.25,
            (ask_forward(SQUARE_Q, POISONED_K, POISONED_V, block=4, causal=True),),
        ),
        Case("never the whole table", 0.5, (ask_memory("_tiled_forward", False),), alone=False),
    ),
    reference=forward_reference,
    misconceptions=(
        *(tiles(sentence, allowed=allowed) for sentence, allowed in WHAT_IS_LEFT_OUT),
        tiles(
            "The mask is ignored: hand it on to `_tile_scores`.",
            allowed=not_masked,
            cases=("mask",),
        ),
        *(
            tiles(
                "`causal` is ignored: hand it on to `_tile_scores`, which blocks what is in the future within a tile.",
                allowed=allowed,
            )
            for allowed in (not_causal, not_causal_in_tiles)
        ),
        *(
            tiles(
                "Too many tiles are left out: only those whose *first* key comes after the *last* of their queries; row i is at i + S - L.",
                allowed=allowed,
            )
            for allowed in (skipped_from_top, skipped_by_first_row, skipped_diagonal)
        ),
        tiles("The scores are not scaled.", scale=lambda D: 1.0),
        tiles("The scores are scaled twice: `_tile_scores` has done it.", scale=lambda D: D),
        Misconception(
            "The outputs are not divided by the total at the end.",
            wrong=lambda p, i: undivided(i),
        ),
        Misconception(
            "The outputs of the tiles are averaged. Tiles weigh differently: that is what `_online_softmax` keeps account of.",
            wrong=lambda p, i: averaged_tiles(i),
        ),
        Misconception(
            "The output is divided by the total after each tile. Until the end it is a sum; divide once, after the last tile.",
            wrong=lambda p, i: divided_in_each_tile(i),
        ),
        Misconception(
            "All tiles use the values of the first one: a tile has values of its own, V[keys].",
            wrong=lambda p, i: first_values(i),
        ),
        *(
            Misconception(
                sentence, wrong=lambda p, i, f=f: {"logsumexp": f(*largest_and_total(i))}, cases=("logsumexp",)
            )
            for sentence, f in (
                ("The total came back as logsumexp. It is largest + log(total).", lambda m, t: t),
                ("The largest score came back as logsumexp. It is largest + log(total).", lambda m, t: m),
                ("The largest score is missing: logsumexp is largest + log(total).", lambda m, t: np.log(t)),
                ("log(total) is subtracted: logsumexp is largest + log(total).", lambda m, t: m - np.log(t)),
                ("The logarithm is missing: logsumexp is largest + log(total).", lambda m, t: m + t),
                (
                    "This is the sum of exponentials; its logarithm is asked for, largest + log(total).",
                    lambda m, t: t * np.exp(m),
                ),
                ("The logarithm is to base 2. The natural one is asked for.", lambda m, t: m + np.log2(t)),
            )
        ),
        shows(
            "logsumexp should be (L, 1).",
            lambda ask, r: "logsumexp" in r.arrays and r.arrays["logsumexp"].shape != (len(ask.inputs["Q"]), 1),
            ("logsumexp",),
        ),
        shows(
            "Tiles in which nothing is allowed are computed all the same (the keys there were nan, and it shows). Leave them out.",
            lambda ask, r: "output" in r.arrays and bool(np.isnan(r.arrays["output"][:4]).any()),
            ("tiles of the future are left out",),
        ),
        shows(
            "nan: a row of a tile in which nothing is allowed must do no harm; later tiles make up for it.",
            lambda ask, r: "output" in r.arrays and bool(np.isnan(r.arrays["output"]).any()),
            ("mask",),
        ),
        TILES_TOO_LARGE,
        says(
            r"broadcast|shape mismatch|matmul|align",
            "The shapes of tiles do not fit: the last tile of a row or column may be smaller than `block`.",
        ),
        NAMES_KEPT,
    ),
)


# --- tiles, backwards -------------------------------------------------------------------------------------------------

GRADS = ("grad_Q", "grad_K", "grad_V")
TILE_GRAD, SQUARE_GRAD = normal(280, 5, DV), normal(281, 8, DV)


def ask_backward(Q: Array, K: Array, V: Array, grad: Array, compare: tuple[str, ...] = GRADS, **options: Any) -> Ask:
    inputs = tile_inputs(Q, K, V, **options)
    forward = references.tiled_forward(Q, K, V, inputs["mask"], inputs["causal"])
    output, logsumexp = (x.astype(np.float32) for x in forward)
    order = {"Q": Q, "K": K, "V": V, "output": output, "logsumexp": logsumexp, "grad": grad}
    return Ask("array_function", {"name": "_tiled_backward", "results": list(GRADS)} | order | inputs, compare)


def weights_of(i: Inputs) -> Array:
    mask = references.tiled_mask(len(i["Q"]), len(i["K"]), i["mask"], i["causal"])
    return references.attention(i["Q"], i["K"], i["V"], mask)[1]


def backward_reference(probe: str, i: Inputs) -> Arrays:
    if probe == "whole_table":
        return {"whole_table": np.array(0)}
    return dict(
        zip(GRADS, references.attention_gradient(i["Q"], i["K"], i["V"], weights_of(i), i["grad"]), strict=True)
    )


def back(
    i: Inputs,
    *,
    delta: Function = lambda g, o, P, dP: (g * o).sum(-1, keepdims=True),
    to_scores: Function = lambda P, dP, delta: P * (dP - delta),
    scale_Q: Function = lambda D: 1 / math.sqrt(D),
    scale_K: Function = lambda D: 1 / math.sqrt(D),
    allowed: Function = right_pairs,
    weights: Function = lambda P: P,
    replaces: tuple[str, ...] = (),
) -> Arrays:
    """The way back tile by tile, in which each step can be replaced by a wrong one; gradients in `replaces` are not added up."""
    Q, K, V, g = (i[k].astype(float) for k in ("Q", "K", "V", "grad"))
    P = weights(np.exp(tile_scores(i, allowed) - i["logsumexp"].astype(float)))
    dP = g @ V.T
    dS = to_scores(P, dP, delta(g, i["output"].astype(float), P, dP))
    answer = {"grad_Q": np.zeros(Q.shape), "grad_K": np.zeros(K.shape), "grad_V": np.zeros(V.shape)}
    for a in range(0, len(Q), i["block"]):
        rows = slice(a, a + i["block"])
        for b in range(0, len(K), i["block"]):
            keys = slice(b, b + i["block"])
            if i["causal"] and b > min(a + i["block"], len(Q)) - 1 + len(K) - len(Q):
                continue
            parts = {
                "grad_Q": (rows, scale_Q(Q.shape[1]) * dS[rows, keys] @ K[keys]),
                "grad_K": (keys, scale_K(Q.shape[1]) * dS[rows, keys].T @ Q[rows]),
                "grad_V": (keys, P[rows, keys].T @ g[rows]),
            }
            for name, (where, part) in parts.items():
                answer[name][where] = part if name in replaces else answer[name][where] + part
    return answer


def backs(sentence: str, keys: tuple[str, ...] = GRADS, cases: tuple[str, ...] = (), **parts: Any) -> Misconception:
    def predict(_probe: str, i: Inputs) -> Arrays:
        answer = back(i, **parts)
        return {key: answer[key] for key in keys}

    return Misconception(sentence, wrong=predict, cases=cases)


def softmax_of_tiles(i: Inputs) -> Arrays:
    s = tile_scores(i)
    P = np.concatenate([softmax(s[:, j : j + i["block"]]) for j in range(0, len(i["K"]), i["block"])], axis=1)
    return back(i, weights=lambda _: P)


def delta_of_tiles(i: Inputs) -> Arrays:
    def delta(g: Array, o: Array, P: Array, dP: Array) -> Array:
        parts = [
            np.broadcast_to((P * dP)[:, j : j + i["block"]].sum(-1, keepdims=True), P[:, j : j + i["block"]].shape)
            for j in range(0, P.shape[1], i["block"])
        ]
        return np.concatenate(parts, axis=1)

    return back(i, delta=delta)


def values_from_scores(i: Inputs) -> Array:
    P, dP = weights_of(i), i["grad"] @ swap(i["V"])
    return np.asarray(swap(P * (dP - (P * dP).sum(-1, keepdims=True))) @ i["grad"])


def values_from_output(i: Inputs) -> Array:
    return np.asarray(swap(weights_of(i)) @ i["output"])


def tiled_gradients(compare: str) -> tuple[Ask, ...]:
    return (
        ask_backward(TQ, TK, TV, TILE_GRAD, (compare,), block=2),
        ask_backward(TQ, TK, TV, TILE_GRAD, (compare,), block=3),
    )


NOT_SUMMED = "Each tile adds to the gradient of {}; here the last one replaces what was there. Use +=."

BACKWARD = Exercise(
    name="tiled_backward",
    module=MODULE,
    defines="_tiled_backward",
    cases=(
        Case("gradient of V", 1, tiled_gradients("grad_V")),
        Case("gradient of Q", 1.25, tiled_gradients("grad_Q")),
        Case("gradient of K", 1.25, tiled_gradients("grad_K")),
        Case(
            "mask and causal",
            1,
            (
                ask_backward(TQ, TK, TV, TILE_GRAD, block=WHOLE, mask=TILE_MASK),
                ask_backward(SQUARE_Q, SQUARE_K, SQUARE_V, SQUARE_GRAD, block=WHOLE, causal=True),
                ask_backward(TQ, TK, TV, TILE_GRAD, block=WHOLE, causal=True),
            ),
        ),
        Case("never the whole table", 0.5, (ask_memory("_tiled_backward", True),), alone=False),
    ),
    reference=backward_reference,
    misconceptions=(
        *(backs(NOT_SUMMED.format(name[-1]), (name,), replaces=(name,)) for name in GRADS),
        *(
            backs(NOT_SUMMED.format(" and ".join(n[-1] for n in names)), names, replaces=names)
            for names in (("grad_K", "grad_V"), GRADS)
        ),
        backs(
            "The softmax's rule lacks delta: the gradient of a score is P * (dP - delta).",
            to_scores=lambda P, dP, d: P * dP,
        ),
        backs(
            "The gradient of a score is P * (dP - delta); the factor P is missing.", to_scores=lambda P, dP, d: dP - d
        ),
        backs("The sign of delta is turned: P * (dP - delta).", to_scores=lambda P, dP, d: P * (dP + d)),
        backs(
            "The gradient of a score is P * (dP - delta); delta is not multiplied with P.",
            to_scores=lambda P, dP, d: P * dP - d,
        ),
        backs(
            "This is the rule of a sigmoid, P * (1 - P) * dP. In a softmax every score moves every weight: P * (dP - delta).",
            to_scores=lambda P, dP, d: P * (1 - P) * dP,
        ),
        backs(
            "delta is the mean over the components; it is their sum.",
            delta=lambda g, o, P, dP: (g * o).mean(-1, keepdims=True),
        ),
        backs("delta is the sum over everything; each query has its own.", delta=lambda g, o, P, dP: (g * o).sum()),
        backs(
            "delta is made of the gradient alone; it is the gradient times the output, summed.",
            delta=lambda g, o, P, dP: g.sum(-1, keepdims=True),
        ),
        backs(
            "delta is made of the output alone; it is the gradient times the output, summed.",
            delta=lambda g, o, P, dP: o.sum(-1, keepdims=True),
        ),
        backs(
            "The gradients of Q and K lack the division by the root of D.", scale_Q=lambda D: 1.0, scale_K=lambda D: 1.0
        ),
        backs("The gradient of Q lacks the division by the root of D.", ("grad_Q",), scale_Q=lambda D: 1.0),
        backs("The gradient of K lacks the division by the root of D.", ("grad_K",), scale_K=lambda D: 1.0),
        backs(
            "The gradients of Q and K are divided by D, not by its root.",
            scale_Q=lambda D: 1 / D,
            scale_K=lambda D: 1 / D,
        ),
        backs(
            "The sign of the gradients of Q and K is turned.",
            ("grad_Q", "grad_K"),
            scale_Q=lambda D: -1 / math.sqrt(D),
            scale_K=lambda D: -1 / math.sqrt(D),
        ),
        backs(
            "The weights are not those of the forward pass: exp(scores - logsumexp), without another division.",
            weights=lambda P: P / len(P),
        ),
        backs(
            "The mask is ignored: hand it on to `_tile_scores`.",
            allowed=not_masked,
            cases=("mask and causal",),
        ),
        backs(
            "`causal` is ignored: hand it on to `_tile_scores`.",
            allowed=not_causal,
            cases=("mask and causal",),
        ),
        Misconception(
            "The weights are made of each tile alone, by a softmax. They are exp(scores - logsumexp), as in the forward pass.",
            wrong=lambda p, i: softmax_of_tiles(i),
        ),
        Misconception(
            "delta is summed over the keys of one tile only. It is the sum over all keys: the gradient times the output.",
            wrong=lambda p, i: delta_of_tiles(i),
        ),
        Misconception(
            "The gradient of V is made with the gradients of the weights. It is P^T times the gradient of the output.",
            wrong=lambda p, i: {"grad_V": values_from_scores(i)},
            cases=("gradient of V", "mask and causal"),
        ),
        Misconception(
            "The gradient of V is made with V. It is P^T times the gradient of the output.",
            wrong=lambda p, i: {"grad_V": values_from_output(i)},
            cases=("gradient of V", "mask and causal"),
        ),
        shows(
            "The results are not in the order Q, K, V: their shapes are (L, D), (S, D) and (S, Dv).",
            lambda ask, r: any(
                k in r.arrays and r.arrays[k].shape != ask.inputs[k.removeprefix("grad_")].shape for k in GRADS
            ),
        ),
        TILES_TOO_LARGE,
        says(
            r"broadcast|shape mismatch|matmul|align|operand",
            "The shapes do not fit: P is (n, k), the gradient's rows (n, Dv), V's (k, Dv), K's (k, D).",
        ),
        NAMES_KEPT,
    ),
)


EXERCISES = (KV_CACHE, CACHED, GROUPED, ROTARY, WINDOW, ONLINE, FORWARD, BACKWARD)
