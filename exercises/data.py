"""The numbers in a case's questions: a function of a seed and of sizes."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Data:
    """A seed, and sizes that all differ, so that a transposed answer cannot fit.

    B batch, H heads, L queries, S keys, D width of a query and of a key, Dv width of a value
    """

    seed: int = 0
    B: int = 2
    H: int = 3
    L: int = 4
    S: int = 5
    D: int = 7
    Dv: int = 6

    def normal(self, number: int, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Float32 numbers with mean 0 and standard deviation `scale`; `number` tells the arrays of one seed apart."""
        return (scale * self._generator(number).normal(size=shape)).astype(np.float32)

    def random_mask(self, number: int, *shape: int) -> np.ndarray:
        """1 where a query may look, 0 where not; every row has both, and no two rows need be alike."""
        rng = self._generator(number)
        mask = (rng.random(shape) < 0.5).astype(np.float32)
        allowed = rng.integers(shape[-1], size=shape[:-1])
        blocked = (allowed + rng.integers(1, shape[-1], size=shape[:-1])) % shape[-1]
        np.put_along_axis(mask, allowed[..., None], 1, axis=-1)
        np.put_along_axis(mask, blocked[..., None], 0, axis=-1)
        return mask

    def _generator(self, number: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, number) if self.seed else number)
