"""How the exercises of attention are asked."""

import contextlib
from typing import Any

import numpy as np

from exercises.probes import (
    Answers,
    Arrays,
    WrongKind,
    array_of,
    kind,
    leaf,
    mask_of,
    observe,
    parameters,
    parts_of,
    which,
)


def compute_attention_scores(answers: Answers, Q: np.ndarray, K: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    q, k = leaf(Q), leaf(K)
    scores = answers["_compute_attention_scores"](q, k)
    return {"scores": array_of(scores, "The result"), **observe(scores, grad, Q=q, K=k)}


def scale_scores(answers: Answers, scores: np.ndarray, d_k: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = leaf(scores)
    scaled = answers["_scale_scores"](tensor, d_k)
    return {"scaled": array_of(scaled, "The result"), **observe(scaled, grad, scores=tensor)}


def causal_mask(answers: Answers, seq_len: int) -> Arrays:
    return {"mask": array_of(answers["causal_mask"](seq_len), "The mask", "an array")}


def apply_mask(
    answers: Answers, scores: np.ndarray, mask: np.ndarray, as_tensor: bool = True, grad: np.ndarray | None = None
) -> Arrays:
    tensor, given = leaf(scores), mask_of(mask, as_tensor)
    masked = answers["_apply_mask"](tensor, given)
    arrays = {"masked": array_of(masked, "The result"), **observe(masked, grad, scores=tensor)}
    largest = np.atleast_1d(arrays["masked"]).max(axis=-1, initial=-np.inf)
    arrays["finite"] = np.isfinite(largest)  # where it is not, a softmax is nan
    return arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def scaled_dot_product_attention(
    answers: Answers,
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    mask: np.ndarray | None = None,
    as_tensor: bool = True,
    grad: np.ndarray | None = None,
    name: str = "scaled_dot_product_attention",
) -> Arrays:
    """name: another function that takes the same and gives the same."""
    q, k, v = leaf(Q), leaf(K), leaf(V)
    given = mask_of(mask, as_tensor)
    function = answers[name]
    result = function(q, k, v) if mask is None else function(q, k, v, mask=given)
    parts = parts_of(result)
    if parts is None or len(parts) != 2:
        came = kind(result, returned=True) if parts is None else f"{len(parts)} result{'s' * (len(parts) != 1)}"
        raise WrongKind(f"Two results are asked for, output and weights; {came} came back")
    arrays = {"output": array_of(parts[0], "The output"), "weights": array_of(parts[1], "The second result")}
    arrays |= observe(parts[0], grad, Q=q, K=k, V=v)
    return arrays if mask is None else arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def split_heads(answers: Answers, x: np.ndarray, num_heads: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = leaf(x)
    heads = answers["_split_heads"](tensor, num_heads)
    return {"heads": array_of(heads, "The result"), **observe(heads, grad, x=tensor)}


def merge_heads(answers: Answers, x: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    tensor = leaf(x)
    merged = answers["_merge_heads"](tensor)
    return {"merged": array_of(merged, "The result"), **observe(merged, grad, x=tensor)}


PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


def set_projections(layer: Any, weights: np.ndarray, biases: np.ndarray) -> dict[str, Any]:
    """Give a layer its weights and biases, which must have the shape of its own; its parameters by name."""
    tensors = {}
    for name, weight, bias in zip(PROJECTIONS, weights, biases, strict=True):
        projection = getattr(layer, name)
        for part, array in (("weight", weight), ("bias", bias)):
            own = getattr(getattr(projection, part), "shape", None)
            if own != array.shape:
                came = f"has shape {own}" if own else f"is {getattr(projection, part)}"
                raise WrongKind(f"{name}.{part} {came}; with embed_dim={len(bias)} its shape should be {array.shape}")
        projection.weight.data, projection.bias.data = np.array(weight), np.array(bias)
        tensors[f"{name}_weight"], tensors[f"{name}_bias"] = projection.weight, projection.bias
    return tensors


def _layers(layer: Any) -> np.ndarray:
    """For each projection the first that is the same layer."""
    projections = [getattr(layer, name) for name in PROJECTIONS]
    return which(projections, projections)


def multi_head_attention(
    answers: Answers,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    *,
    mask: np.ndarray | None = None,
    context: np.ndarray | None = None,
    as_tensor: bool = True,
    by_call: bool = True,
    grad: np.ndarray | None = None,
) -> Arrays:
    """weights (4, E, E) and biases (4, E) are those of q_proj, k_proj, v_proj, out_proj."""
    layer = answers["MultiHeadAttention"](x.shape[-1], num_heads)
    tensors = {"x": leaf(x), **set_projections(layer, weights, biases)}
    call = layer if by_call else layer.forward
    call(leaf(x[:1, :1]))  # what earlier calls left behind must not matter
    with contextlib.suppress(Exception):
        if mask is None:
            call(leaf(x[:1]), mask=np.tri(x.shape[1], dtype=x.dtype))
        if context is None:
            call(leaf(x), context=leaf(-x))
    arguments = {} if mask is None else {"mask": mask_of(mask, as_tensor)}
    if context is not None:
        tensors["context"] = arguments["context"] = leaf(context)
    output = call(tensors["x"], **arguments)
    arrays = {"output": array_of(output, "The result"), **observe(output, grad, **tensors), "layers": _layers(layer)}
    kept = getattr(layer, "attention_weights", None)
    return arrays if kept is None else arrays | {"attention_weights": array_of(kept, "attention_weights")}


def multi_head_parameters(answers: Answers, embed_dim: int, num_heads: int) -> Arrays:
    """Which of the 8 tensors each entry of parameters() is, before and after a call (-1: none of them)."""
    layer = answers["MultiHeadAttention"](embed_dim, num_heads)
    known = [t for name in PROJECTIONS for t in (getattr(layer, name).weight, getattr(layer, name).bias)]
    before = which(parameters(layer), known)
    with contextlib.suppress(Exception):  # other cases ask for what a call gives
        layer(leaf(np.ones((1, 2, embed_dim), np.float32)))
    sizes = [getattr(layer, name, -1) for name in ("embed_dim", "num_heads", "head_dim")]
    return {
        "parameters": np.sort(before),
        "parameters_after": np.sort(which(parameters(layer), known)),
        "sizes": np.array(sizes, dtype=np.int64),
        "layers": _layers(layer),
    }


def multi_head_raises(answers: Answers, embed_dim: int, num_heads: int) -> Arrays:
    """1 if a number of heads that does not divide is refused with a ValueError."""
    try:
        answers["MultiHeadAttention"](embed_dim, num_heads)
    except ValueError:
        return {"refused": np.array(1)}
    return {"refused": np.array(0)}
