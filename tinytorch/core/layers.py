# Made from solutions/03_layers/layers.ipynb by `make course`. Edit the notebook, not this file.
"""Linear, a layer with a weight and a bias."""

__all__ = ["Linear"]

import numpy as np

from .tensor import Tensor


def _start_values(in_features, shape):
    """A trainable tensor, drawn uniformly from -1 / sqrt(in_features) to 1 / sqrt(in_features).

    shape  a tuple, such as (out_features,) for the bias
    """
    if not all(isinstance(n, int | np.integer) and n > 0 for n in (in_features, *shape)):
        sizes = f"{in_features} and {shape}"
        raise ValueError(f"a layer's sizes must be whole numbers, at least 1; they are {sizes}")
    limit = 1 / np.sqrt(in_features)
    return Tensor(np.random.uniform(-limit, limit, shape), requires_grad=True)


class Linear:
    """x @ weight + bias.

    in_features, out_features  widths of the last axis before and after
    bias                       False for a layer without one; then .bias is None

    >>> layer = Linear(2, 1)
    >>> layer.weight.data, layer.bias.data = np.float32([[2], [3]]), np.float32([10])
    >>> layer(Tensor([[1.0, 1.0]])).data
    array([[15.]], dtype=float32)
    """

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
