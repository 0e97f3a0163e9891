# Made from solutions/05_efficient_attention/efficient_attention.ipynb by `make course`. Edit the notebook, not this file.
"""Key-value cache, grouped queries, rotary embedding, sliding windows, and attention in tiles that never holds the whole table of scores."""

__all__ = [
    "KVCache",
    "cached_attention",
    "grouped_query_attention",
    "rotary_embedding",
    "sliding_window_mask",
    "tiled_attention",
]

import math

import numpy as np

from tinytorch.core.attention import (
    MASK_VALUE,
    MultiHeadAttention,
    _check_inputs,
    _check_mask,
    _check_values,
    _check_widths,
    _merge_heads,
    _split_heads,
    as_mask,
    causal_mask,
    scaled_dot_product_attention,
)

from .tensor import Tensor, as_tensors, cat, custom_gradient, no_grad, stack


def _check_pieces(K, V):
    """Keys and values of the same positions, as Tensors."""
    K, V = as_tensors(K, V)
    _check_values(K, V)
    if K.shape[:-1] != V.shape[:-1]:
        raise ValueError(f"K has shape {K.shape} and V {V.shape}; all axes but the last must be equal")
    return K, V


class KVCache:
    """Keys and values of all positions so far.

    K  (..., S, D)    keys, None at first
    V  (..., S, Dv)   values, None at first

    >>> cache = KVCache()
    >>> keys, values = cache.append(Tensor([[1.0, 2.0]]), Tensor([[10.0]]))
    >>> keys, values = cache.append(Tensor([[3.0, 4.0]]), Tensor([[20.0]]))
    >>> keys.data, len(cache)
    (array([[1., 2.],
           [3., 4.]], dtype=float32), 2)
    """

    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        """Add keys (..., L, D) and values (..., L, Dv).

        ->  all so far, (..., S, D) and (..., S, Dv)

        Raises ValueError if they do not fit each other or what is there; then nothing has changed.
        """
        K, V = _check_pieces(K, V)
        keys = cat([K] if self.K is None else [self.K, K], dim=-2)
        values = cat([V] if self.V is None else [self.V, V], dim=-2)
        self.K, self.V = keys, values  # both or, if one does not fit, neither
        return keys, values

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]


def cached_attention(layer, x, cache):
    """Causal self-attention for new positions; earlier keys and values are in the cache.

    layer  MultiHeadAttention
    x      (B, L, E)   new positions
    cache  KVCache of keys and values (B, H, S, D); the new positions are added
    ->     (B, L, E)   as the last L rows of layer(everything, mask=causal_mask(S))

    Keeps the weights, (B, H, L, S), in layer.attention_weights.
    x may be a Tensor, an array or a list.
    """
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]  # the last L rows of the causal mask
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))


def _check_groups(Q, K, V, mask=None):
    """Query heads are shared out evenly among key-value heads; the mask as an array, or None."""
    for name, array in (("Q", Q), ("K", K), ("V", V)):
        if array.ndim != 4:
            raise ValueError(f"{name} has shape {array.shape}, it must be (batch, heads, positions, width)")
    if K.shape[1] < 1 or Q.shape[1] % K.shape[1] or K.shape[:2] != V.shape[:2] or K.shape[0] != Q.shape[0]:
        raise ValueError(
            f"K has shape {K.shape} and V {V.shape}; both need the batch size of Q, {Q.shape[0]}, "
            f"and one number of heads that divides that of Q, {Q.shape[1]}"
        )
    _check_widths(Q, K)
    # as large as the scores, but without their memory
    table = np.broadcast_to(0, (*Q.shape[:3], K.shape[2]))
    return mask if mask is None else _check_mask(table, mask)


def grouped_query_attention(Q, K, V, mask=None):
    """Attention in which groups of query heads share keys and values (Ainslie et al. 2023).

    Q     (B, H, L, D)
    K     (B, G, S, D)    G divides H; query head h looks at key-value head h // (H // G)
    V     (B, G, S, Dv)
    mask  broadcasts to (B, H, L, S); 1 where a query may look; None for everywhere
    ->    output (B, H, L, Dv), weights (B, H, L, S)

    Q, K, V may be Tensors, arrays or lists. Raises ValueError if the shapes do not fit.
    """
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    rows = H // G * L  # the queries of a group are more queries of one head
    grouped = Q.reshape(B, G, rows, D)
    mask = None if mask is None else np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, rows, S)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, V.shape[-1]), weights.reshape(B, H, L, S)


def _check_pairs(x, offset=0, base=1.0):
    """Components are turned in pairs, by one offset and one base; x as a Tensor."""
    (x,) = as_tensors(x)
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"x has shape {x.shape}, it must be (..., positions, width) with an even width")
    if np.ndim(offset) != 0:
        raise ValueError(f"offset is {offset}, it must be one number, the position of the first row")
    if np.ndim(base) != 0 or not base > 0:
        raise ValueError(f"base is {base}, it must be one number above 0")
    return x


def rotary_embedding(x, offset=0, base=10000.0):
    """Turn neighbouring components by angles that grow with the position (Su et al. 2021, 3.2.2).

    x       (..., L, D)   D even; a Tensor, an array or a list
    offset  position of the first row, counted from 0
    base    component pair i turns by base**(-2 i / D) radians for each position
    ->      (..., L, D)

    Raises ValueError if D is odd.

    >>> rotary_embedding(Tensor([[1.0, 0.0], [1.0, 0.0]])).data.round(3)
    array([[1.   , 0.   ],
           [0.54 , 0.841]], dtype=float32)
    """
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)  # (L, D / 2)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)


def _check_window(window):
    """A query sees itself at least."""
    if not isinstance(window, int | np.integer):
        raise ValueError(f"window is {window!r}, it must be a whole number")
    if window < 1:
        raise ValueError(f"window is {window}, it must be at least 1: a query may look at itself")


def sliding_window_mask(seq_len, window):
    """Each query may look at itself and at the window - 1 positions before it.

    ->  (seq_len, seq_len)   1 where query i (row) may look at key j (column), else 0

    Raises ValueError if window is less than 1.

    >>> sliding_window_mask(4, 2)
    array([[1., 0., 0., 0.],
           [1., 1., 0., 0.],
           [0., 1., 1., 0.],
           [0., 0., 1., 1.]], dtype=float32)
    """
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) & (distance < window)).astype(np.float32)


def _online_softmax(largest, total, output, scores, V):
    """Take a block of keys into account (Milakov and Gimelshein 2018, algorithm 3).

    largest  (n, 1)    largest score so far, -inf before the first block
    total    (n, 1)    sum of exp(score - largest) so far
    output   (n, Dv)   sum of exp(score - largest) * value so far
    scores   (n, k)    of the new keys; overwritten
    V        (k, Dv)   values of the new keys
    ->       the new largest, total and output; output / total is attention over all keys so far
    """
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    scores -= new_largest
    exponentials = np.exp(scores, out=scores)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V


def _blocks(length, block):
    """Slices that cover 0 ... length, each `block` long but for the last."""
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


def _tile_sizes(block):
    """How many queries and how many keys make a tile; block is a pair, or one number for both."""
    return tuple(block) if isinstance(block, tuple | list) else (block, block)


def _tile_scores(Q, K, rows, keys, mask=None, causal=False):
    """Scaled scores of one tile, MASK_VALUE where a query may not look.

    Q           (L, D)
    K           (S, D)
    rows, keys  slices: which queries, which keys
    mask        (L, S) or None
    causal      row i is position i + S - L and may look at keys up to that
    ->          (n, k)   a new array
    """
    scores = (Q[rows] / math.sqrt(Q.shape[-1])) @ K[keys].T
    if causal:
        position = np.arange(rows.start, rows.stop)[:, None] + len(K) - len(Q)
        first = max(keys.start, position[0, 0] + 1)  # every query here may see the keys before it
        future = np.arange(first, keys.stop) > position  # of the keys from `first` on
        scores[:, first - keys.start :][future] = MASK_VALUE
    blocked = False if mask is None else mask[rows, keys] == 0
    np.copyto(scores, MASK_VALUE, where=blocked)  # nothing, where blocked is False
    return scores


def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    """Attention for one head, one tile of scores at a time (Dao 2023, algorithm 1).

    Q       (L, D)
    K       (S, D)
    V       (S, Dv)
    mask    (L, S), 1 where a query may look; None for everywhere
    causal  row i may look at keys up to i + S - L
    block   how many queries and keys make a tile: a number for both, or a pair
    ->      output (L, Dv), logsumexp (L, 1) of the scores of each query
    """
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))  # float64: float32 is exact to 0.06 only near a million
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        visible = rows.stop + S - L if causal else S  # nothing that is in everybody's future
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(visible, of_keys):
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest.astype(float) + np.log(total)
    return result, logsumexp


def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    """Gradients of attention for one head; weights are computed again (Dao 2023, algorithm 2).

    Q, K, V, mask, causal, block   as for _tiled_forward
    output, logsumexp              (L, Dv), (L, 1)   its results
    grad                           (L, Dv)   gradient of the output
    ->                             gradients of Q (L, D), K (S, D) and V (S, Dv)
    """
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        visible = rows.stop + S - L if causal else S
        for keys in _blocks(visible, of_keys):
            weights = _tile_scores(Q, K, rows, keys, mask, causal)
            weights -= logsumexp[rows]
            np.exp(weights, out=weights)
            grad_V[keys] += weights.T @ grad[rows]
            grad_scores = grad[rows] @ V[keys].T
            grad_scores -= delta[rows]
            grad_scores *= weights
            grad_Q[rows] += grad_scores @ K[keys] * scale
            grad_K[keys] += grad_scores.T @ (Q[rows] * scale)
    return grad_Q, grad_K, grad_V


def _spread_heads(Q, K, V, mask):
    """Arrays of Q, K, V with the same leading axes, and the mask (or None) as large as the scores.

    float16 becomes float32, whole numbers float64. Raises ValueError if shapes do not fit.
    """
    _check_widths(Q, K)
    _check_values(K, V)
    try:
        lead = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2], V.shape[:-2])
        table = (*lead, Q.shape[-2], K.shape[-2])
        # `!=` makes a copy: a change of the mask before backward() does no harm
        mask = None if mask is None else np.broadcast_to(mask != 0, table)
    except ValueError:
        shapes = f"Q has shape {Q.shape}, K {K.shape}, V {V.shape}"
        shapes += "" if mask is None else f", mask {mask.shape}"
        raise ValueError(
            f"{shapes}; leading axes must be equal or 1, and a mask must broadcast to the scores"
        ) from None
    dtype = np.result_type(Q.dtype, K.dtype, V.dtype, np.float32)
    arrays = (t.data.astype(dtype, copy=False) for t in (Q, K, V))
    return *(np.broadcast_to(a, (*lead, *a.shape[-2:])) for a in arrays), mask


def _sees_nothing(mask, causal, shape):
    """(..., L): the queries that may look nowhere, for scores of this shape, (..., L, S)."""
    *lead, L, S = shape
    if mask is None or S == 0:
        return np.full((*lead, L), S == 0)
    mask = np.atleast_2d(mask != 0)
    last = np.arange(L) + S - L if causal else S  # the last key that causal allows
    first = mask.argmax(axis=-1)  # the first that the mask allows, if it allows any
    return np.broadcast_to(~mask.any(axis=-1) | (first > last), (*lead, L))


def tiled_attention(Q, K, V, mask=None, causal=False, block=(128, 1024)):
    """Scaled dot-product attention without its table of scores, with a gradient (Dao et al. 2022).

    Q       (..., L, D)    leading axes broadcast; Tensors, arrays or lists
    K       (..., S, D)
    V       (..., S, Dv)
    mask    broadcasts to (..., L, S); 1 where a query may look; None for everywhere
    causal  the queries are the last L of S positions; each may look at itself and what came before
    block   queries and keys in a tile, a pair or one number for both; no more than three tiles
            exist at the same time, and a copy of the mask
    ->      (..., L, Dv)   exact; a query that may look nowhere gets zeros

    Raises ValueError if shapes do not fit, or the mask holds anything but 1 and 0.
    """
    Q, K, V = as_tensors(Q, K, V)
    mask = as_mask(mask)
    q, k, v, table = _spread_heads(Q, K, V, mask)
    lead, L, S = q.shape[:-2], q.shape[-2], k.shape[-2]
    sizes = _tile_sizes(block)
    whole = len(sizes) == 2 and all(isinstance(n, int | np.integer) for n in sizes)
    if not whole or min(sizes) < 1 or isinstance(block, bool):
        must = "it must be at least 1: a whole number, or a pair of them"
        raise ValueError(f"block is {block}, {must}")
    if not isinstance(causal, bool | np.bool_):
        must = "it must be True or False; a table of 1 and 0 goes to mask"
        raise ValueError(f"causal is {causal}, {must}")
    if causal and L > S:
        raise ValueError(f"with causal=True, {L} queries need as many keys, not {S}")
    heads = list(np.ndindex(lead)) if S else []
    output, logsumexp = np.zeros((*lead, L, v.shape[-1]), q.dtype), np.zeros((*lead, L, 1))

    def options(head):
        return {"mask": None if mask is None else table[head], "causal": causal, "block": block}

    for head in heads:
        output[head], logsumexp[head] = _tiled_forward(q[head], k[head], v[head], **options(head))
    nowhere = _sees_nothing(mask, causal, (*lead, L, S))
    output[nowhere] = 0
    logsumexp[nowhere] = np.inf  # on the way back, their weights are exp(score - inf) = 0

    def gradient(g):
        grads = [np.zeros(x.shape, x.dtype) for x in (q, k, v)]
        g = g.astype(q.dtype, copy=False)
        # float32 is quicker; up to 32 it rounds a logsumexp by 2e-6 at most, and so each weight
        large = np.abs(logsumexp[np.isfinite(logsumexp)]).max(initial=0) > 32
        sums = logsumexp if large else logsumexp.astype(q.dtype)
        for head in heads:
            arrays = (x[head] for x in (q, k, v, output, sums, g))
            for whole, part in zip(grads, _tiled_backward(*arrays, **options(head)), strict=True):
                whole[head] = part
        return grads

    dtype = np.result_type(Q.dtype, K.dtype, V.dtype)
    result = output if dtype.kind != "f" else output.astype(dtype, copy=False)
    return custom_gradient(result, (Q, K, V), gradient)
