"""Gradients by central differences, in float64: what a test compares the library's own gradients with."""

import numpy as np
import pytest

from tinytorch.core.tensor import Tensor


def values(seed: int, *shape: int, low: float = 0.5, high: float = 2.0) -> np.ndarray:
    """Away from zero and from each other's neighbourhood, where powers, roots, logarithms and maxima are smooth."""
    array = np.random.default_rng(seed).uniform(low, high, shape)
    return np.asarray(array + 1e-3 * np.arange(array.size).reshape(shape))


def check(f, *arrays: np.ndarray) -> None:
    """f maps float64 tensors to a tensor; its gradients must be those of central differences."""
    tensors = [Tensor(a, requires_grad=True, dtype=np.float64) for a in arrays]
    result = f(*tensors)
    weights = np.random.default_rng(0).normal(size=result.shape)
    result.backward(weights)
    for n, (tensor, array) in enumerate(zip(tensors, arrays, strict=True)):
        for index in np.ndindex(array.shape):
            moved = [[a.copy() for a in arrays] for _ in range(2)]
            moved[0][n][index] += 1e-6
            moved[1][n][index] -= 1e-6
            up, down = ((f(*(Tensor(a, dtype=np.float64) for a in m)).data * weights).sum() for m in moved)
            grad = 0.0 if tensor.grad is None else tensor.grad[index]
            assert grad == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)
