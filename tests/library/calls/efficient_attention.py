"""How tinytorch.core.efficient_attention is called."""

import numpy as np

from calls import MASK, Calls, X, Y, rng
from calls.attention import LAYER
from tinytorch.core.efficient_attention import (
    KVCache,
    cached_attention,
    grouped_query_attention,
    rotary_embedding,
    sliding_window_mask,
    tiled_attention,
)

Q = rng.uniform(0.1, 2, size=(2, 4, 4, 6)).astype(np.float32)


def through_a_cache(K, V):
    cache = KVCache()
    cache.append(K, V)
    return cache.append(K, V)


PROGRAM = """
import numpy as np
from tinytorch.core.attention import MultiHeadAttention
from tinytorch.core.efficient_attention import (
    KVCache, cached_attention, grouped_query_attention, rotary_embedding, sliding_window_mask, tiled_attention,
)
from tinytorch.core.tensor import Tensor, as_tensors

q, k = as_tensors([[1.0, 2.0]], np.ones((3, 2)))
y: Tensor = tiled_attention(q, k, k, causal=False, block=(128, 1024))
cache = KVCache()
keys, values = cache.append(q, [[3.0]])
n: int = len(cache)
step: Tensor = cached_attention(MultiHeadAttention(2, 1), q.reshape(1, 1, 2), KVCache())
few = np.ones((1, 1, 3, 4))
grouped, _ = grouped_query_attention(np.ones((1, 2, 3, 4)), few, few, sliding_window_mask(3, 2))
turned: Tensor = rotary_embedding(q, offset=3)
"""

CALLS = Calls(
    arrays={
        "KVCache": (through_a_cache, (X, Y)),
        "cached_attention": (lambda x: cached_attention(LAYER, x, KVCache()), (X,)),
        "grouped_query_attention": (grouped_query_attention, (Q, Q[:, :2], Q[:, :2], MASK)),
        "tiled_attention": (tiled_attention, (X, Y, X, MASK)),
    },
    masks={
        "grouped_query_attention": lambda m: grouped_query_attention(Q, Q[:, :2], Q[:, :2], m)[0],
        "tiled_attention": lambda m: tiled_attention(X, X, X, m),
    },
    refused=(
        (lambda: tiled_attention(X, X, X, None, 0.0, True), "causal is 0.0, it must be True or False|block is True"),
        (lambda: tiled_attention(X, X, X, causal=MASK), "it must be True or False; a table of 1 and 0 goes to mask"),
        (lambda: tiled_attention(X, X, X, block=128.0), "block is 128.0, it must be at least 1: a whole number"),
        (lambda: tiled_attention(X, X, X, block=(1, 2, 3)), r"block is \(1, 2, 3\), it must be"),
        (lambda: rotary_embedding(X, [0, 1, 2, 3]), r"offset is \[0, 1, 2, 3\], it must be one number"),
        (lambda: rotary_embedding(X, base=0), "base is 0, it must be one number above 0"),
        (lambda: sliding_window_mask(4, 2.5), "window is 2.5, it must be a whole number"),
    ),
    program=PROGRAM,
    mistakes=("tiled_attention(q, k)", "len(rotary_embedding(q).grad)"),
)
