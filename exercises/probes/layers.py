"""How the exercises of layers are asked."""

import contextlib

import numpy as np

from exercises.probes import Answers, Arrays, array_of, check_is_tensor, leaf, observe, parameters, which


def linear(
    answers: Answers, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None, grad: np.ndarray | None = None
) -> Arrays:
    layer = answers["Linear"](*weight.shape, **({} if bias is not None else {"bias": False}))
    check_is_tensor(layer.weight, "`.weight`")
    drawn = [layer.weight] if bias is None else [layer.weight, layer.bias]
    made = {"weight_shape": np.array(layer.weight.shape)}
    made["computed"] = np.array([int(bool(getattr(tensor, "_inputs", ()))) for tensor in drawn])
    tensor, layer.weight.data = leaf(x), np.array(weight)
    tensors = {"x": tensor, "weight": layer.weight}
    if bias is not None:
        check_is_tensor(layer.bias, "With a bias, `.bias`")
        made["bias_shape"] = np.array(layer.bias.shape)
        layer.bias.data = np.array(bias)
        tensors["bias"] = layer.bias
    else:
        made["without_bias"] = np.array(int(getattr(layer, "bias", None) is None))
    y = layer(tensor)
    return {"y": array_of(y, "The result"), **made, **observe(y, grad, **tensors)}


def linear_parameters(answers: Answers, in_features: int, out_features: int, bias: bool) -> Arrays:
    """Which of [weight, bias] each entry of parameters() is (-1: neither)."""
    layer = answers["Linear"](in_features, out_features, bias=bias)
    what = "parameters()" if bias else "With bias=False, parameters()"
    before = parameters(layer, what)
    with contextlib.suppress(Exception):  # other cases ask for what a call gives
        layer(leaf(np.ones((1, in_features), np.float32)))
    after = parameters(layer, what)
    kept = len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))
    known = [layer.weight, layer.bias] if bias else [layer.weight]
    largest = np.abs(np.asarray(getattr(known[-1], "data", 0.0), float)).max(initial=0)
    return {
        "without_bias": np.array(int(getattr(layer, "bias", None) is None)),
        "order": which(before, known),
        "kept": np.array(int(kept)),
        "grown": np.array(int(len(before) != len(after))),
        "within": np.array(int(largest <= 1.001 / np.sqrt(in_features))),
        "trainable": np.array([int(bool(getattr(p, "requires_grad", False))) for p in before]),
        "varied": np.array(int(np.ptp(array_of(layer.weight, "weight")) > 0)),
    }
