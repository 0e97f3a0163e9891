"""What wrong computations of multi-head attention give, and the right one."""

import math
from typing import Any

import numpy as np

from autograded_tests import references
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
from exercises.misconceptions import shows
from exercises.model import Arrays, Misconception, Question
from exercises.signs.arrays import lacks, other_shape
from exercises.signs.numbers import do_not_sum_to_one

PROJECTION_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


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


def transposed_projections(*which: int) -> Function:
    return lambda a, w, b, n: a @ (w.T if n in which else w) + b


def exchanged_after_projecting(question: Question) -> Arrays | None:
    """Queries take the place of keys, and keys that of queries."""
    if question.probe != "multi_head_attention":
        return None
    given = arguments(question)
    if given["context"] is not None and given["context"].shape != given["x"].shape:
        raise ValueError("there are other keys than queries")
    output, shares = multi(**given, order=(1, 0, 2, 3), sources=lambda x, c: (c, x, c))
    return {"output": output, "attention_weights": shares}


PROJECTIONS = (
    Misconception(
        "The queries and the keys are exchanged. Use q_proj for the queries and k_proj for the keys, and pass Q, K, V in this order.",
        wrong=exchanged_after_projecting,
    ),
    multis(
        "The output projection is missing. Return `self.out_proj(...)` of the merged heads.", project=unprojected(3)
    ),
    multis("The values are not projected. They are `self.v_proj(...)`, split into heads.", project=unprojected(2)),
    multis("The keys are not projected. They are `self.k_proj(...)`, split into heads.", project=unprojected(1)),
    multis("The queries are not projected. They are `self.q_proj(x)`, split into heads.", project=unprojected(0)),
    multis(
        "The values and the keys are exchanged. Use v_proj for the values and k_proj for the keys, and pass Q, K, V in this order.",
        order=(0, 2, 1, 3),
    ),
    multis(
        "The queries and the keys are exchanged. Use q_proj for the queries and k_proj for the keys, and pass Q, K, V in this order.",
        order=(1, 0, 2, 3),
    ),
    multis(
        "The queries and the values are exchanged. Use q_proj for the queries and v_proj for the values, and pass Q, K, V in this order.",
        order=(2, 1, 0, 3),
    ),
    multis("One projection is used for queries, keys and values. Each has its own.", order=(0, 0, 0, 3)),
    multis("One projection is used for queries and keys. Each has its own.", order=(0, 0, 2, 3)),
    multis("One projection is used for keys and values. Each has its own.", order=(0, 1, 1, 3)),
    multis("One projection is used for queries and values. Each has its own.", order=(0, 1, 0, 3)),
    multis("One projection is used for queries, keys and values. Each has its own.", order=(2, 2, 2, 3)),
    Misconception("The output projection is applied twice. Apply it once.", wrong=projected_twice),
    multis("The biases are not added. Call the layers: `self.q_proj(x)`.", project=no_bias(0, 1, 2, 3)),
    multis("The bias of q_proj is not added. Call the layer: `self.q_proj(x)`.", project=no_bias(0)),
    multis("The bias of v_proj is not added. Call the layer: `self.v_proj(...)`.", project=no_bias(2)),
    multis(
        "The weights of the projections are transposed. Call the layers, which are x @ weight + bias.",
        project=transposed_projections(0, 1, 2, 3),
    ),
    multis(
        "The weights of q_proj, k_proj and v_proj are transposed. Call the layers, which are x @ weight + bias.",
        project=transposed_projections(0, 1, 2),
    ),
    multis(
        "The biases of queries, keys and values are not added. Call the layers: `self.q_proj(x)`.",
        project=no_bias(0, 1, 2),
    ),
    multis("The bias of out_proj is not added. Call the layer: `self.out_proj(...)`.", project=no_bias(3)),
    *(
        multis("One projection is used for two of queries, keys and values. Each has its own.", order=order)
        for order in ((1, 1, 2, 3), (0, 2, 2, 3), (2, 1, 2, 3))
    ),
)

FINISHES: tuple[tuple[str, Function], ...] = (
    ("The input is added to the output. A residual connection is not part of attention.", lambda y, x: y + x),
    (
        "The result is normalised. That is not part of attention.",
        lambda y, x: (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5),
    ),
    ("Negative results are set to 0. An activation is not part of attention.", lambda y, x: np.maximum(y, 0)),
    ("A softmax is applied to the result. Only the scores go through one.", lambda y, x: softmax(y)),
    (
        "The result is averaged over the positions. Each position has a result of its own.",
        lambda y, x: np.broadcast_to(y.mean(1, keepdims=True), y.shape),
    ),
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
        "The heads are not split: there is one head with the full width. Use `_split_heads` with num_heads.",
        split=lambda x, h: x[:, None],
        merge=lambda x: x[:, 0],
    ),
    multis("The heads are split by a reshape alone, which mixes positions. Use `_split_heads`.", split=reshaped_split),
    multis(
        "The heads are split and merged by reshapes alone, which mix positions. Use `_split_heads` and `_merge_heads`.",
        split=reshaped_split,
        merge=reshaped_merge,
    ),
    multis("The heads are merged by a reshape alone, which mixes positions. Use `_merge_heads`.", merge=reshaped_merge),
    multis("The heads are interleaved when they are split. Use `_split_heads`.", split=interleaved_split),
    multis(
        "The heads are interleaved when they are split and merged. Use `_split_heads` and `_merge_heads`.",
        split=interleaved_split,
        merge=interleaved_merge,
    ),
    multis("The heads are interleaved when they are merged. Use `_merge_heads`.", merge=interleaved_merge),
    multis("The heads are merged in reverse order. Use `_merge_heads`.", merge=lambda x: right_merge(x[:, ::-1])),
    multis(
        "The heads were not transposed, so that heads look at heads. Use `_split_heads`, which gives (B, H, L, D).",
        split=cut,
        merge=lambda x: x.reshape(*x.shape[:2], -1),
    ),
    multis(
        "The number of heads and the width of a head are exchanged. `_split_heads` takes the number.",
        split=lambda x, h: right_split(x, x.shape[-1] // h),
    ),
)

SCALES_AND_SHARES = (
    multis(
        "The mask is applied after the softmax, so the weights no longer sum to 1. Mask the scores before it.",
        after=lambda w, s, m: w * m,
    ),
    multis("Blocked scores are set to 0, which is an ordinary score. Use `_apply_mask`, with MASK_VALUE.", value=0.0),
    multis(
        "There is no softmax: the weights are plain scores. Apply `Softmax()` along the last axis.", share=lambda s: s
    ),
    multis(
        "The scores are scaled by the embedding width. Scale them by the width of a head, head_dim.",
        scale=lambda Q, K, V: math.sqrt(Q.shape[-1] * Q.shape[1]),
    ),
    multis("The scores are not scaled. Scale them by the width of a head, head_dim.", scale=lambda Q, K, V: 1.0),
    multis(
        "In all, the scores are divided by the width of a head. Divide them once, by its square root.",
        scale=lambda Q, K, V: Q.shape[-1],
    ),
    multis(
        "The scores are scaled by the number of heads. Scale them by the width of a head, head_dim.",
        scale=lambda Q, K, V: math.sqrt(Q.shape[1]),
    ),
    multis("The softmax is taken over the queries. Take it over the keys, the last axis.", share=softmax_along(-2)),
    multis("The softmax is taken over the heads. Take it over the keys, the last axis.", share=softmax_along(1)),
)


def for_heads(mask: Any) -> Any:
    return references.mask_for_heads(mask)


def transposed(mask: Array) -> Array:
    """The mask the other way round, where that makes no difference to its shape."""
    fitting = for_heads(mask)
    return swap(fitting) if mask.shape[-1] == mask.shape[-2] else fitting


def unmasked_if(*axes: int) -> Function:
    return lambda m, x: None if m is None or m.ndim in axes else for_heads(m)


def tiled(question: Question) -> Arrays | None:
    """A mask (B, L, S) is repeated for the heads, and then the batch elements are counted on."""
    mask = question.get("mask")
    if question.probe != "multi_head_attention" or mask is None or mask.ndim != 3:
        return None
    H = question["num_heads"]
    for_all = np.tile(mask, (H, 1, 1)).reshape(len(mask), H, *mask.shape[1:])
    return dict(zip(("output", "attention_weights"), multi(**arguments(question) | {"mask": for_all}), strict=True))


MASKS = (
    Misconception(
        "A mask (B, L, S) reaches the wrong batch elements. Each has its own mask, for all its heads: (B, 1, L, S).",
        wrong=tiled,
    ),
    multis(
        "With a context the mask is ignored. Pass it to attention then, too.",
        edit_mask=lambda m, x: None,
        cases=("context",),
    ),
    multis(
        "Masks with three axes are inverted. A mask is 1 where a query may look, whatever its number of axes.",
        edit_mask=lambda m, x: None if m is None else for_heads(1 - m if m.ndim == 3 else m),
    ),
    multis(
        "A mask (B, L, S) is merged over the batch: a query may look where it may in any batch element. Each has its own mask.",
        edit_mask=lambda m, x: m.max(0) if m is not None and m.ndim == 3 else for_heads(m),
    ),
    multis(
        "With a mask of three axes only the first batch element's mask is used. Each batch element has a mask of its own.",
        edit_mask=lambda m, x: m[0] if m is not None and m.ndim == 3 else for_heads(m),
    ),
    multis(
        "The mask is ignored. `__call__` should pass it to `forward`, and `forward` to attention.",
        edit_mask=lambda m, x: None,
    ),
    multis("Attention is always causal. Only the mask decides.", edit_mask=lambda m, x: triangle(x.shape[1])),
    multis(
        "Attention is causal when no mask is given. Without a mask every position may look everywhere.",
        edit_mask=lambda m, x: triangle(x.shape[1]) if m is None else for_heads(m),
    ),
    multis(
        "The mask is inverted. It is 1 where a query may look.",
        edit_mask=lambda m, x: None if m is None else for_heads(1 - m),
    ),
    multis(
        "The mask is transposed. Its rows are queries, its columns keys: use it as it is.",
        edit_mask=lambda m, x: None if m is None else transposed(m),
    ),
    multis(
        "A mask (B, L, S) is used as one mask for each head. Give it an axis of length 1 for the heads: (B, 1, L, S).",
        edit_mask=lambda m, x: m,
        cases=("masks of three and four axes",),
    ),
    multis(
        "Only the first batch element's mask is used. Each batch element has a mask of its own.",
        edit_mask=lambda m, x: for_heads(m)[:1] if m is not None and m.ndim > 2 else m,
    ),
    multis(
        "The first head's mask is used for all heads. A mask (B, H, L, S) has one for each head.",
        edit_mask=lambda m, x: for_heads(m)[:, :1] if m is not None and m.ndim > 2 else m,
    ),
    multis("Masks with three axes are ignored. A mask may have two, three or four.", edit_mask=unmasked_if(3)),
    multis("Masks with four axes are ignored. A mask may have two, three or four.", edit_mask=unmasked_if(4)),
    multis("Masks with two axes are ignored. A mask may have two, three or four.", edit_mask=unmasked_if(2)),
    multis(
        "Masks with three and four axes are ignored. A mask may have two, three or four.", edit_mask=unmasked_if(3, 4)
    ),
)


def made_from_the_queries(question: Question) -> Arrays | None:
    """Without a context keys and values are made from the projected x."""
    if question.probe != "multi_head_attention" or question.get("context") is not None:
        return None
    queries = question["x"].astype(float) @ question["weights"][0] + question["biases"][0]
    both = multi(**arguments(question) | {"context": queries})
    return dict(zip(("output", "attention_weights"), both, strict=True))


SOURCES = (
    Misconception(
        "Keys and values are made from the queries: x was overwritten by them. They are made from x, or from the context.",
        wrong=made_from_the_queries,
    ),
    multis(
        "The context of an earlier call is used. Without a context keys and values come from x, in each call.",
        sources=lambda x, c: (x, -x, -x) if c is x else (x, c, c),
    ),
    multis(
        "The context is ignored. `__call__` should pass it to `forward`, where keys and values come from it.",
        cases=("context",),
        sources=lambda x, c: (x, x, x),
    ),
    multis(
        "The queries come from the context. Queries come from x, keys and values from the context.",
        cases=("context",),
        sources=lambda x, c: (c, x, x),
    ),
    multis(
        "Queries, keys and values all come from the context. The queries come from x.",
        cases=("context",),
        sources=lambda x, c: (c, c, c),
    ),
    multis(
        "The keys come from x. With a context they come from the context, as the values do.",
        cases=("context",),
        sources=lambda x, c: (x, x, c),
    ),
    multis(
        "The values come from x. With a context they come from the context, as the keys do.",
        cases=("context",),
        sources=lambda x, c: (x, c, x),
    ),
    multis(
        "Batch elements are mixed. Each one looks at its own positions only.",
        sources=lambda x, c: (x, c[::-1], c[::-1]),
    ),
)


def weights_without_the_mask(question: Question) -> Arrays | None:
    if question.probe != "multi_head_attention":
        return None
    return {"attention_weights": multi(**{**arguments(question), "mask": None})[1]}


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
    Misconception(
        "attention_weights are those without the mask. Keep the weights that made the output.",
        wrong=weights_without_the_mask,
        cases=("attention_weights",),
    ),
    shows(
        "attention_weights are not set. Keep the weights of the last call, (B, H, L, S).",
        lacks("attention_weights"),
        ("attention_weights",),
    ),
    shows(
        "attention_weights have the wrong shape. Keep the weights of the last call, (B, H, L, S).",
        other_shape("attention_weights"),
        ("attention_weights",),
        rough=True,
    ),
    shows(
        "attention_weights do not sum to 1 over the keys. Keep the weights that `scaled_dot_product_attention` returns.",
        do_not_sum_to_one("attention_weights"),
        ("attention_weights",),
        rough=True,
    ),
)

COMPUTATIONS = (
    *PROJECTIONS,
    *(multis(sentence, finish=finish) for sentence, finish in FINISHES),
    *HEADS,
    *SCALES_AND_SHARES,
    *MASKS,
    *SOURCES,
    *WEIGHTS,
)
