# Made from solutions/04_attention/attention.ipynb by `make course`. Edit the notebook, not this file.
"""Scaled dot-product and multi-head attention, after Vaswani et al., "Attention Is All You Need" (2017)."""

__all__ = ["MASK_VALUE", "causal_mask", "padding_mask", "as_mask", "scaled_dot_product_attention", "MultiHeadAttention"]

import math

import numpy as np

from .activations import Softmax
from .layers import Linear
from .tensor import Tensor, _as_array, as_tensors


def _check_rows(**named):
    """Queries, keys and values are rows, with any leading axes."""
    for name, rows in named.items():
        if rows.ndim < 2:
            raise ValueError(f"{name} has shape {rows.shape}, it must be (..., positions, width)")


def _check_widths(Q, K):
    """A query and a key have a dot product only if they are equally wide."""
    _check_rows(Q=Q, K=K)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"K has shape {K.shape}, its last axis must be as wide as the queries: {Q.shape[-1]}; Q has shape {Q.shape}"
        )


def _compute_attention_scores(Q, K):
    """Dot product of every query with every key.

    Q   (..., L, D)
    K   (..., S, D)
    ->  (..., L, S)

    >>> _compute_attention_scores(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0], [5.0, 6.0]])).data
    array([[11., 17.]], dtype=float32)
    """
    _check_widths(Q, K)
    return Q @ K.transpose(-2, -1)


def _scale_scores(scores, d_k):
    """Bring the scores back to unit variance.

    scores  (..., L, S)   dot products of L queries with S keys
    d_k     int           width of a query and of a key
    ->      (..., L, S)

    >>> _scale_scores(Tensor([[4.0, 8.0]]), d_k=4).data
    array([[2., 4.]], dtype=float32)
    """
    return scores / math.sqrt(d_k)


def causal_mask(seq_len):
    """Each query may look at itself and at what came before.

    ->  (seq_len, seq_len)   1 where query i (row) may look at key j (column), else 0

    >>> causal_mask(3)
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    return np.tril(np.ones((seq_len, seq_len), dtype=np.float32))


def padding_mask(lengths, seq_len):
    """The first lengths[b] keys of batch element b are words, the rest is padding.

    lengths  (B,)            whole numbers from 0 to seq_len
    ->       (B, 1, seq_len) 1 where any query may look, 0 at padding

    Raises ValueError for a length that is not a whole number, or outside 0 ... seq_len.
    """
    lengths = _as_array(lengths, "lengths")
    numbers = lengths.ndim == 1 and lengths.dtype.kind in "biuf"
    if not numbers or not np.isin(lengths, np.arange(seq_len + 1)).all():
        raise ValueError(
            f"lengths is {lengths.tolist()}; it must be a list of whole numbers from 0 to seq_len, {seq_len}"
        )
    return (np.arange(seq_len) < lengths[:, None, None]).astype(np.float32)


MASK_VALUE = -1e9


def as_mask(mask):
    """A mask as an array, None as None.

    mask  Tensor, array or list: 1 (or True) where a query may look, 0 (or False) where not

    Raises ValueError if it holds anything else.
    """
    if mask is None:
        return None
    array = _as_array(mask, "mask")
    if array.ndim == 0:
        raise ValueError(f"mask is {mask}, it must be a table of 1 and 0")
    strange = array[(array != 0) & (array != 1)]
    if strange.size:
        first = strange.flat[0]
        hint = ""
        if array.dtype.kind == "f" and first < -100:  # a mask that is added to scores
            hint = ". From a mask of 0 and -inf, make one with mask == 0"
        raise ValueError(
            f"mask holds {first}; a mask is 1 (or True) where a query may look and 0 (or False) where it may not{hint}"
        )
    return array


def _check_mask(scores, mask):
    """The mask as an array; it must broadcast to the scores, and hold 1 and 0."""
    mask = as_mask(mask)
    try:
        fits = np.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"mask has shape {mask.shape}, it must broadcast to the shape of the scores, {scores.shape}")
    return mask


def _apply_mask(scores, mask):
    """Block the keys that a query may not look at.

    scores  (..., L, S)
    mask    Tensor or array that broadcasts to the scores; 1 where a query may look, 0 where not
    ->      (..., L, S)   the scores, with MASK_VALUE where the mask is 0

    A query that may look nowhere still gets finite weights.
    Scores are expected to be above MASK_VALUE.

    Raises ValueError if the mask holds anything but 1 and 0, or does not broadcast.

    >>> _apply_mask(Tensor([[0.5, -2.0]]), np.array([[1, 0]])).data
    array([[ 5.e-01, -1.e+09]], dtype=float32)
    """
    mask = _check_mask(scores, mask)  # an array
    return scores.masked_fill(mask == 0, MASK_VALUE)


def _check_values(K, V):
    """Each key needs a value."""
    _check_rows(K=K, V=V)
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"V has shape {V.shape}, it must have a row for each of the {K.shape[-2]} keys, as K has shape {K.shape}"
        )


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Look up V by how well the queries fit the keys (Vaswani et al. 2017, section 3.2.1).

    Q     (..., L, D)    queries
    K     (..., S, D)    keys
    V     (..., S, Dv)   values
    mask  broadcasts to (..., L, S); 1 where a query may look; None for everywhere
    ->    output (..., L, Dv), weights (..., L, S)

    Q, K, V may be Tensors, arrays or lists.
    Without keys (S = 0) the output is 0.
    Raises ValueError if V has not as many rows as K, or if widths or the mask do not fit.

    >>> Q, K, V = Tensor([[1.0, 0.0]]), Tensor([[0.0, 5.0], [0.0, 7.0]]), Tensor([[10.0], [20.0]])
    >>> output, weights = scaled_dot_product_attention(Q, K, V)
    >>> output.data, weights.data
    (array([[15.]], dtype=float32), array([[0.5, 0.5]], dtype=float32))
    """
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    Q = _scale_scores(Q, Q.shape[-1])  # D numbers a query, in place of S
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights


def _check_heads(embed_dim, num_heads):
    """Heads are equally wide."""
    for name, n in (("embed_dim", embed_dim), ("num_heads", num_heads)):
        if not isinstance(n, int | np.integer) or n < 1 and name == "embed_dim":
            raise ValueError(f"{name} is {n!r}, it must be a whole number, at least 1")
    if num_heads < 1 or embed_dim % num_heads:
        raise ValueError(f"num_heads is {num_heads}, it must divide the embedding width, {embed_dim}")


def _split_heads(x, num_heads):
    """Cut the embedding into heads, and let the heads act as a batch axis.

    x          (B, L, E)
    num_heads  H
    ->         (B, H, L, E // H)

    Raises ValueError if E does not divide by H.
    """
    _check_heads(x.shape[-1], num_heads)
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)


def _merge_heads(x):
    """Put the heads of each position side by side again.

    x   (B, H, L, D)
    ->  (B, L, H * D)
    """
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)


def _check_inputs(x, context, embed_dim):
    """Inputs of multi-head attention, (batch, positions, embedding), as Tensors."""
    x, context = (a if a is None else as_tensors(a)[0] for a in (x, context))
    for name, array in (("x", x), ("context", context)):
        if array is not None and (array.ndim != 3 or array.shape[-1] != embed_dim):
            raise ValueError(f"{name} has shape {array.shape}, it must be (batch, positions, {embed_dim})")
    if context is not None and context.shape[0] != x.shape[0]:
        raise ValueError(f"context has shape {context.shape}, it must have the batch size of x, {x.shape[0]}")
    return x, context


class MultiHeadAttention:
    """Attention with several heads (Vaswani et al. 2017, section 3.2.2).

    embed_dim  E, width of the input and of the output
    num_heads  H, must divide E; otherwise ValueError

    attention_weights  (B, H, L, S) of the last call
    """

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        """Let every position of x look at the context, or at x itself.

        x        (B, L, E)
        mask     (L, S), (B, L, S) or (B, H, L, S), an axis may be 1; 1 where a query may look
        context  (B, S, E)
        ->       (B, L, E)

        x and context may be Tensors, arrays or lists.
        Raises ValueError if x, context or the mask has a shape that does not fit, or the mask
        holds anything but 1 and 0.
        """
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        K = _split_heads(self.k_proj(context), self.num_heads)  # (B, H, S, D)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])  # (B, 1, L, S): for all heads
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
