"""Inputs of the cases: sizes that all differ, so that a transposed answer cannot fit, and seeded numbers."""

import numpy as np

B, H, L, S, D, DV = 2, 3, 4, 5, 7, 6


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * np.random.default_rng(seed).normal(size=shape)).astype(np.float32)


def random_mask(seed: int, *shape: int) -> np.ndarray:
    """1 where a query may look, 0 where not; every row has both, and no two rows need be alike."""
    rng = np.random.default_rng(seed)
    mask = (rng.random(shape) < 0.5).astype(np.float32)
    allowed = rng.integers(shape[-1], size=shape[:-1])
    blocked = (allowed + rng.integers(1, shape[-1], size=shape[:-1])) % shape[-1]
    np.put_along_axis(mask, allowed[..., None], 1, axis=-1)
    np.put_along_axis(mask, blocked[..., None], 0, axis=-1)
    return mask
