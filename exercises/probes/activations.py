"""How the exercises of activations are asked."""

import contextlib

import numpy as np

from exercises.probes import Answers, Arrays, array_of, leaf, observe


def softmax(
    answers: Answers, x: np.ndarray, dim: int, by_default: bool = False, grad: np.ndarray | None = None
) -> Arrays:
    """by_default: the last axis, without saying so."""
    tensor, layer = leaf(x), answers["Softmax"]()
    with contextlib.suppress(Exception):
        layer(leaf(-x), dim=dim)  # what an earlier call left behind must not matter
    shares = layer(tensor) if by_default else layer(tensor, dim=dim)
    return {"shares": array_of(shares, "The result"), **observe(shares, grad, x=tensor)}
