"""How the exercises of efficient_attention are asked."""

import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np

from exercises.probes import Answers, Arrays, WrongKind, array_of, kind, leaf, observe, parts_of
from exercises.probes.attention import set_projections


def slices(pieces: Sequence[int]) -> list[slice]:
    """One slice after another, of these lengths."""
    return [slice(int(end) - length, int(end)) for length, end in zip(pieces, np.cumsum(pieces), strict=True)]


def kv_cache(
    answers: Answers, K: np.ndarray, V: np.ndarray, pieces: Sequence[int], with_lengths: bool = False, wider: str = ""
) -> Arrays:
    """Positions go into a cache in pieces of these lengths; then the first goes into another cache.

    with_lengths: len(cache) before the first piece and after each; wider: what is then added again, too wide ("K", "V" or both).
    """
    *arriving, again = [(leaf(K[..., p, :]), leaf(V[..., p, :])) for p in (*slices(pieces), slice(pieces[0]))]
    cache, other, results = answers["KVCache"](), answers["KVCache"](), []
    lengths = [len(cache)] if with_lengths else []
    for new in arriving:
        result = cache.append(*new)
        parts = parts_of(result)
        if parts is None or len(parts) != 2:
            raise WrongKind(f"append should give two results, all keys and all values; it gave {kind(result)}")
        results.append(parts)
        lengths += [len(cache)] if with_lengths else []
    first, last = (
        {"K": array_of(k, "The first result of append"), "V": array_of(v, "The second result of append")}
        for k, v in (results[0], results[-1])
    )
    other_K = array_of((parts_of(other.append(*again)) or (None,))[0], "The first result of append")
    refused = 0
    for wide in wider:
        try:
            cache.append(*(leaf(np.repeat(x, 1 + (name == wide), axis=-1)) for name, x in (("K", K), ("V", V))))
        except ValueError:
            refused += 1
    told = {"lengths": np.array(lengths), "refused": np.array(refused)}
    return {**last, "first_K": first["K"], "first_V": first["V"], **told, "other_K": other_K}


def cached_attention(
    answers: Answers,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    pieces: Sequence[int],
    grad: np.ndarray | None = None,
    held_K: np.ndarray | None = None,
    held_V: np.ndarray | None = None,
) -> Arrays:
    """Positions arrive in pieces of these lengths; `output` is all that came back, side by side.

    held_K, held_V: keys and values that the cache has before; grad: of one piece, and then with a cache of ours, which keeps the graph
    """
    from tinytorch.core.attention import MultiHeadAttention

    layer = MultiHeadAttention(x.shape[-1], num_heads)
    parameters = set_projections(layer, weights, biases)
    cache = answers["KVCache"]() if grad is None else _OnePiece()
    if held_K is not None and held_V is not None:
        cache.append(leaf(held_K), leaf(held_V))
    layer.attention_weights = earlier = leaf(np.zeros(1, np.float32))  # what is kept must be of these calls
    results = [answers["cached_attention"](layer, leaf(x[:, piece]), cache) for piece in slices(pieces)]
    outputs = [array_of(result, "The result") for result in results]
    together = np.concatenate(outputs, axis=1) if all(o.ndim == 3 for o in outputs) else outputs[-1]
    kept = None if layer.attention_weights is earlier else layer.attention_weights
    arrays = {"output": together, "positions": np.array(len(cache)), **observe(results[-1], grad, **parameters)}
    return arrays if kept is None else arrays | {"attention_weights": array_of(kept, "attention_weights")}


class _OnePiece(list[int]):
    """A cache for one piece, which keeps the graph."""

    def append(self, K: Any, V: Any) -> Any:  # type: ignore[override]
        self[:], self.K, self.V = range(K.shape[-2]), K, V
        return K, V


def whole_table(answers: Answers, name: str, length: int, block: int, backward: bool, causal: bool) -> Arrays:
    """1 if a function in tiles had as much memory at once as one byte for each pair of query and key takes, else 0."""
    rng, widths = np.random.default_rng(0), (4, 4, 4, *(4, 1, 4) * backward)
    inputs = [rng.normal(size=(length, n)).astype(np.float32) + 20 * (n == 1) for n in widths]
    on_already = tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        answers[name](*inputs, causal=causal, block=block)
        return {"whole_table": np.array(int(tracemalloc.get_traced_memory()[1] - before >= length * length))}
    finally:
        if not on_already:
            tracemalloc.stop()
