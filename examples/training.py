"""What the examples share: a loss, an optimiser, and what makes symbols and positions into vectors."""

from collections.abc import Iterable

import numpy as np

from tinytorch.core.tensor import Tensor


def cross_entropy(logits: Tensor, targets: np.ndarray) -> Tensor:
    """Mean of -log(share of the right class).

    logits   (..., classes)
    targets  (...), whole numbers
    """
    shifted: Tensor = logits - logits.data.max(-1, keepdims=True)
    right = shifted[(*np.indices(targets.shape), targets)]
    return (shifted.exp().sum(-1).log() - right).mean()


class Adam:
    """Kingma and Ba 2015, arXiv:1412.6980."""

    def __init__(self, parameters: Iterable[Tensor], rate: float = 0.01) -> None:
        self.parameters, self.rate, self.steps = list(parameters), rate, 0
        self.moments = [(np.zeros_like(p.data), np.zeros_like(p.data)) for p in self.parameters]

    def step(self, loss: Tensor) -> None:
        """Go backward from a loss, and one step against the gradient."""
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()
        self.steps += 1
        for parameter, (mean, square) in zip(self.parameters, self.moments, strict=True):
            mean += 0.1 * (parameter.grad - mean)
            square += 0.01 * (parameter.grad**2 - square)
            size = np.sqrt(square / (1 - 0.99**self.steps)) + 1e-8
            parameter.data -= self.rate * mean / (1 - 0.9**self.steps) / size


def positions(length: int, width: int) -> np.ndarray:
    """(length, width): sines and cosines of the position (Vaswani et al. 2017, section 3.5)."""
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, -1)[:, :width]


def embedding(entries: int, width: int) -> Tensor:
    """A trainable vector for each entry of a vocabulary."""
    return Tensor(np.random.normal(size=(entries, width)), requires_grad=True)
