"""The parts of a transformer in float64: right ones with plain loops, and ones in which each step can be replaced."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograded_tests import references

Array = np.ndarray
Function = Callable[..., Any]
EPSILON = 1e-5


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        row = [float(v) for v in x[index]]
        mean = math.fsum(row) / len(row)
        variance = math.fsum((v - mean) ** 2 for v in row) / len(row)
        for i, v in enumerate(row):
            out[(*index, i)] = (v - mean) / math.sqrt(variance + EPSILON) * float(weight[i]) + float(bias[i])
    return out


def layer_norm_gradient(x: Array, weight: Array, grad: Array) -> tuple[Array, Array, Array]:
    """Gradients of x, weight and bias."""
    ones, zeros = np.ones(x.shape[-1]), np.zeros(x.shape[-1])
    normal = layer_norm(x, ones, zeros)
    to_normal = grad * weight.astype(float)
    spread = np.sqrt(x.astype(float).var(-1, keepdims=True) + EPSILON)
    along = (to_normal * normal).mean(-1, keepdims=True)
    to_x = (to_normal - to_normal.mean(-1, keepdims=True) - normal * along) / spread
    leading = tuple(range(x.ndim - 1))
    return to_x, (grad * normal).sum(leading), grad.astype(float).sum(leading)


SLOPE, CUBE = math.sqrt(2 / math.pi), 0.044715


def gelu(h: Array) -> Array:
    return np.array([v / 2 * (1 + math.tanh(SLOPE * (v + CUBE * v**3))) for v in h.ravel().astype(float)]).reshape(
        h.shape
    )


def gelu_slope(h: Array) -> Array:
    """The derivative of gelu."""
    h = h.astype(float)
    t = np.tanh(SLOPE * (h + CUBE * h**3))
    return np.asarray((1 + t) / 2 + h / 2 * (1 - t * t) * SLOPE * (1 + 3 * CUBE * h * h))


def causal_means(x: Array, start: int = 0) -> Array:
    """For each position from `start` on, the mean of all up to it."""
    return np.stack([x[..., : i + 1, :].astype(float).mean(-2) for i in range(start, x.shape[-2])], -2)


def nats(logits: Array, targets: Array) -> float:
    """The mean of -log(share of the right class)."""
    total = 0.0
    for index in np.ndindex(targets.shape):
        row = [float(v) for v in logits[index]]
        top = max(row)
        total += top + math.log(math.fsum(math.exp(v - top) for v in row)) - row[int(targets[index])]
    return total / targets.size


def softmax(x: Array) -> Array:
    return references.softmax(np.asarray(x, float), -1)
