"""Attention of new positions to all positions so far."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m04_attention._multi_head import PROJECTION_NAMES
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.m05_efficient_attention.kv_cache import EXERCISE as KV_CACHE
from autograded_tests.variants import Array, Function, attend, cut, right_merge, right_split, softmax
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import lacks, other_shape
from exercises.signs.caches import cache_has_no_weight
from exercises.signs.exceptions import Raised
from exercises.signs.facts import number_off, right_but_for
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import more_keys_than_values, product_of_heads, raised_as

LAYER_INPUTS = ("num_heads", "x", "weights", "biases")
# all but that of k_proj's bias, which moves all scores of a query alike: it is 0
PROMPT_GRADIENTS = tuple(
    f"grad_{p}_{part}" for p in PROJECTION_NAMES for part in ("weight", "bias") if (p, part) != ("k_proj", "bias")
)


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


def joined(held: Array | None, new: Array) -> Array:
    return new if held is None else np.concatenate([held, new], axis=-2)


def right_mask(L: int, S: int) -> Array:
    return references.causal_for_last(L, S)


def cached(
    question: Question,
    *,
    mask: Function = right_mask,
    store: Function = joined,
    read: Function = lambda held, new: held,
    order: tuple[int, int, int, int] = (0, 1, 2, 3),
    project: Function = lambda a, w, b, n: a @ w + b,
    split: Function = right_split,
    merge: Function = right_merge,
    finish: Function = lambda y, x: y,
    keep: Function = lambda shares: shares,
    **steps: Any,
) -> Arrays:
    """Attention piece by piece, in which each step can be replaced by a wrong one.

    store(held, new) is what the cache has afterwards, read(that, new) what is attended to; mask(L, S)
    """
    held = [question.get("held_K"), question.get("held_V")]
    weights, biases, H = question["weights"], question["biases"], question["num_heads"]
    outputs, shares, start = [], np.zeros(0), 0
    for length in question["pieces"]:
        x = question["x"][:, start : start + length].astype(float)
        start += length
        Q, *new = (split(project(x, weights[p], biases[p], n), H) for n, p in enumerate(order[:3]))
        held = [store(old, piece) for old, piece in zip(held, new, strict=True)]
        K, V = (read(all_so_far, piece) for all_so_far, piece in zip(held, new, strict=True))
        heads, shares = attend(Q, K, V, mask(Q.shape[-2], K.shape[-2]), **steps)
        outputs.append(finish(project(merge(heads), weights[order[3]], biases[order[3]], 3), x))
    answer = {"output": np.concatenate(outputs, axis=1), "attention_weights": keep(shares)}
    return answer | ({"positions": np.array(held[0].shape[-2])} if "held_K" in question.inputs else {})


def attends(sentence: str, mask: Function = right_mask, **steps: Any) -> Misconception:
    """A wrong mask, or another wrong step."""
    return Misconception(sentence, wrong=lambda question: cached(question, mask=mask, **steps))


def up_to(shift: Function) -> Function:
    """A mask of 1 for keys up to i + shift(L, S) in row i."""
    return lambda L, S: np.tril(np.ones((L, S)), shift(L, S))


FIRST_ROWS = "The mask has the first rows of the causal mask. The new queries are the last positions: row i may look at keys up to S - L + i."
WRONG_MASKS = (
    attends(
        "Nothing of the future is blocked: positions of one piece look at what comes after them. "
        "Row i may look at keys up to S - L + i.",
        lambda L, S: np.ones((L, S)),
    ),
    attends(FIRST_ROWS, up_to(lambda L, S: 0)),
    attends(
        FIRST_ROWS.replace("mask.", "mask when several positions arrive.", 1),
        lambda L, S: np.ones((1, S)) if L == 1 else np.tril(np.ones((L, S))),
    ),
    attends(
        "A query sees one key too many, of the future. Row i may look at keys up to S - L + i.",
        up_to(lambda L, S: S - L + 1),
    ),
    attends("A query does not see itself. Row i may look at keys up to S - L + i.", up_to(lambda L, S: S - L - 1)),
    attends(
        "A query does not see itself. Row i may look at keys up to S - L + i.",
        lambda L, S: np.tril(np.ones((L, S)), S - L - (1 if L == 1 < S else 0)),
    ),
    attends(
        "The mask is 0 where a query may look. It should be 1 there, and 0 elsewhere.",
        lambda L, S: 1 - right_mask(L, S),
    ),
    attends(
        "The mask is an upper triangle: a query looks at itself and at the future. It should look at itself and the past.",
        lambda L, S: np.triu(np.ones((L, S)), S - L),
    ),
    attends("The sign is flipped in the mask: row i may look at keys up to S - L + i.", up_to(lambda L, S: L - S)),
    attends(
        "The mask is used for the first piece only. Later pieces need it, too: row i may look at keys up to S - L + i.",
        lambda L, S: right_mask(L, S) if L == S else np.ones((L, S)),
    ),
    attends(
        "The first piece has no mask: its positions look at what comes after them. Row i may look at keys up to S - L + i.",
        lambda L, S: np.ones((L, S)) if L == S else right_mask(L, S),
    ),
    attends("The mask goes L keys too far. Row i may look at keys up to S - L + i.", up_to(lambda L, S: L)),
)
NOT_READ = (
    "The new positions see nothing of earlier ones, only each other. Give the new keys and values to `cache.append`, "
    "and attend to all that it returns."
)
OTHER_WRONG_STEPS = (
    attends(
        "All keys get the same weight, the future too, as with a mask of 0 only. It should be 1 where a query may look.",
        share=lambda s: np.full(s.shape, 1 / s.shape[-1]),
    ),
    attends(
        "All scores are the same, so that all allowed keys get the same weight. They should come of q_proj(x) and k_proj(x).",
        scale=lambda Q, K, V: np.inf,
    ),
    attends(NOT_READ, read=lambda held, new: new),
    attends(
        "What `append` returned is appended again. Call it once, and use what it returns.",
        store=lambda old, new: joined(joined(old, new), joined(old, new)),
    ),
    attends(
        "Each piece is appended twice. Call `cache.append` once, and use what it returns.",
        store=lambda old, new: joined(joined(old, new), new),
    ),
    attends(
        "Pieces after the first are appended twice. Call `cache.append` once, and use what it returns.",
        store=lambda old, new: new if old is None else joined(joined(old, new), new),
    ),
    attends(
        "The output projection is missing. Return out_proj of the merged heads.",
        project=lambda a, w, b, n: a if n == 3 else a @ w + b,
    ),
    attends("The biases are not added. Call the projections, as layer.q_proj(x).", project=lambda a, w, b, n: a @ w),
    attends(
        "The bias of out_proj is not added. Call layer.out_proj.",
        project=lambda a, w, b, n: a @ w if n == 3 else a @ w + b,
    ),
    attends(
        "x is split into heads without q_proj, k_proj and v_proj. Project it first.",
        project=lambda a, w, b, n: a @ w + b if n == 3 else a,
    ),
    attends(
        "x itself is appended, not its keys and values. Append k_proj(x) and v_proj(x), split into heads.",
        project=lambda a, w, b, n: a if n in (1, 2) else a @ w + b,
    ),
    attends(
        "Keys and values are in each other's place. Keys should come from k_proj, values from v_proj.",
        order=(0, 2, 1, 3),
    ),
    attends(
        "Queries and keys are in each other's place. Queries should come from q_proj, keys from k_proj.",
        order=(1, 0, 2, 3),
    ),
    attends("The keys are used as values. The values should come from v_proj.", order=(0, 1, 1, 3)),
    attends("The keys are used as queries. The queries should come from q_proj(x).", order=(1, 1, 2, 3)),
    attends("The queries are used as keys. The keys should come from k_proj(x).", order=(0, 0, 2, 3)),
    attends("One projection is used for queries, keys and values. Each has its own.", order=(0, 0, 0, 3)),
    attends("One projection is used for queries, keys and values. Each has its own.", order=(1, 1, 1, 3)),
    attends(
        "The heads are merged by a reshape alone. `_merge_heads` should put those of one position side by side.",
        merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    ),
    attends(
        "The heads are split by a reshape alone. `_split_heads` should cut the width of each position.",
        split=lambda x, h: x.reshape(x.shape[0], h, x.shape[1], -1),
    ),
    attends(
        "The heads are not split: use `_split_heads` with layer.num_heads.",
        split=lambda x, h: x[:, None],
        merge=lambda x: x[:, 0],
        keep=lambda shares: shares[:, 0],
    ),
    attends(
        "Queries, keys and values are split into layer.head_dim heads. `_split_heads` takes the number of heads, layer.num_heads.",
        split=lambda x, h: cut(x, x.shape[-1] // h).swapaxes(1, 2),
    ),
    attends(
        "The scores are divided by the root of the head width twice: attention does it already.",
        scale=lambda Q, K, V: Q.shape[-1],
    ),
    attends("The scores are not divided by the root of the head width.", scale=lambda Q, K, V: 1.0),
    attends("There is no softmax: scores are used as weights.", share=lambda s: np.where(s < -1e8, 0, s)),
    attends(
        "The softmax is taken over the queries. It should be over the keys, the last axis.",
        share=lambda s: softmax(s, -2),
    ),
    attends("x is added to the output. Return the output of out_proj alone.", finish=lambda y, x: x + y),
)


def without_held(question: Question) -> Arrays | None:
    """Attention among the positions that came in calls, whatever the cache has."""
    if "held_K" not in question.inputs:
        return None
    empty = {**question.inputs, "held_K": None, "held_V": None}
    return {"output": cached(Question(question.probe, empty, question.compare))["output"]}


VALUES = ("one position at a time", "several positions at once", "the cache is read")

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
        shows(
            "The weights of all keys that were in the cache are 0, as with a mask of 0 there. Row i may look at all keys up to S - L + i.",
            cache_has_no_weight(),
            VALUES,
        ),
        *WRONG_MASKS,
        *OTHER_WRONG_STEPS,
        Misconception(
            "What the cache held before the first call is not used. Attend to the keys and values that `append` returns.",
            wrong=without_held,
        ),
        shows(
            "`layer.attention_weights` is not set in this call. Keep its weights there, (B, H, L, S).",
            lacks("attention_weights"),
            ("attention_weights",),
        ),
        shows(
            "`layer.attention_weights` has a wrong shape. It should be (B, H, L, S): the weights of all heads for all new positions.",
            other_shape("attention_weights"),
            ("attention_weights",),
        ),
        shows(
            "The output is right, but `layer.attention_weights` holds something else than the weights of this call.",
            right_but_for(("output",), ("attention_weights",)),
            ("attention_weights",),
        ),
        *seen(
            "The cache holds fewer positions afterwards than it should. Give the new keys and values to `cache.append`.",
            number_off("positions", False),
            "the cache is read",
        ),
        *seen(
            "The cache holds more positions afterwards than it should. Append the new keys and values once.",
            number_off("positions", True),
            "the cache is read",
        ),
        *seen("The output should be (B, L, E): a row for each new position.", other_shape("output"), *VALUES),
        *seen(
            "The weights are right, the output is not. It should be out_proj, once, of the merged heads of the weights times V.",
            right_but_for(("attention_weights",), ("output",)),
            *VALUES,
        ),
        *seen(
            "The weights are not right, so neither is the output. They should come of q_proj(x), of all keys that `append` returns, "
            "and of a mask with keys up to S - L + i in row i.",
            right_but_for((), ("attention_weights",)),
            *VALUES,
            "attention_weights",
        ),
        shows(
            "`layer(...)` computes attention among the new positions only. Use its projections, and the keys and values that `append` returns.",
            raised_as(line=r"\blayer(\.forward)?\("),
        ),
        says(
            "The mask does not fit the scores. It should be (L, S): a row for each new position, a column for each position so far.",
            Raised.MASK_SHAPE,
        ),
        shows(
            "The mask holds numbers that are to be added to scores. It should hold 1 (or True) where a query may look, else 0.",
            raised_as("mask holds -"),
        ),
        shows(
            "There are more keys than values. Call `cache.append` once and use both of its results: each further call adds the positions again.",
            more_keys_than_values(True),
        ),
        shows(
            "There are more values than keys. Call `cache.append` once and use both of its results: each further call adds the positions again.",
            more_keys_than_values(False),
        ),
        shows(
            "out_proj gets heads that are not merged: (B, H, L, D). Call `_merge_heads` first, then out_proj.",
            product_of_heads(),
        ),
        shows(
            "What out_proj gets is not (B, L, E). It should be the merged heads of the output, the first result of attention.",
            raised_as("^ValueError: @: the left", "out_proj"),
        ),
        shows(
            "What is appended does not fit what is in the cache, (B, H, S, D). Split keys and values into layer.num_heads heads first.",
            raised_as("cannot be joined", "append"),
        ),
        NAMES_KEPT,
        shows(
            "The gradient does not reach q_proj: the graph is cut on the way from q_proj to the output, as by `.data` or `no_grad`.",
            no_gradient("q_proj_weight", "q_proj_bias"),
        ),
        shows(
            "The gradient reaches out_proj only: the graph is cut between the other projections and the output, as by `.data` or `no_grad`.",
            no_gradient("q_proj_weight", "q_proj_bias", "k_proj_weight", "v_proj_weight", "v_proj_bias"),
        ),
        shows(
            "The gradient does not reach k_proj and v_proj: keys and values are cut off the graph, as by `.detach()` or `.data`.",
            no_gradient("k_proj_weight", "v_proj_weight", "v_proj_bias"),
        ),
    ),
)
