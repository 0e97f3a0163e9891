"""Attention once more, in float64 and with plain loops: what answers are compared with. Owes nothing to the library.

Forward functions loop over every query and key. Gradients follow the chain rule for one matrix at a time; the tests check
them against central differences of the forward functions.
"""

import math
from collections.abc import Iterator

import numpy as np

Array = np.ndarray


def _each_matrix(*arrays: Array) -> Iterator[tuple[tuple[int, ...], list[Array]]]:
    """Index and matrices for every combination of leading axes."""
    for index in np.ndindex(arrays[0].shape[:-2]):
        yield index, [a[index] for a in arrays]


def softmax(x: Array, dim: int) -> Array:
    out = np.zeros(x.shape)
    rows, shares = np.moveaxis(x.astype(float), dim, -1), np.moveaxis(out, dim, -1)
    for index in np.ndindex(rows.shape[:-1]):
        largest = max(rows[index])
        exponentials = [math.exp(v - largest) for v in rows[index]]
        shares[index] = [e / math.fsum(exponentials) for e in exponentials]
    return out


def softmax_gradient(shares: Array, grad: Array, dim: int) -> Array:
    return np.asarray(shares * (grad - (grad * shares).sum(axis=dim, keepdims=True)))


def linear(x: Array, weight: Array, bias: Array | None) -> Array:
    out = np.zeros((*x.shape[:-1], weight.shape[1]))
    for index in np.ndindex(out.shape):
        row = x[index[:-1]]
        out[index] = sum(float(row[i]) * float(weight[i, index[-1]]) for i in range(len(row)))
        out[index] += 0.0 if bias is None else float(bias[index[-1]])
    return out


def linear_gradient(x: Array, weight: Array, grad: Array) -> tuple[Array, Array, Array]:
    """Gradients of x, weight and bias."""
    rows, grads = x.reshape(-1, x.shape[-1]).astype(float), grad.reshape(-1, grad.shape[-1])
    return (grads @ weight.T.astype(float)).reshape(x.shape), rows.T @ grads, grads.sum(axis=0)


def scores(Q: Array, K: Array) -> Array:
    out = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for index, (q, k) in _each_matrix(Q, K):
        for i in range(len(q)):
            for j in range(len(k)):
                out[index][i, j] = sum(float(a) * float(b) for a, b in zip(q[i], k[j], strict=True))
    return out


def scores_gradient(Q: Array, K: Array, grad: Array) -> tuple[Array, Array]:
    return grad @ K.astype(float), np.swapaxes(grad, -1, -2) @ Q.astype(float)


def may_look(mask: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(np.asarray(mask) != 0, shape)


def masked_softmax(values: Array, mask: Array | None) -> Array:
    """Shares among the allowed keys of each row; even shares where none is allowed."""
    out = np.zeros(values.shape)
    allowed = np.ones(values.shape, bool) if mask is None else may_look(mask, values.shape)
    for index in np.ndindex(values.shape[:-1]):
        keys = [j for j in range(values.shape[-1]) if allowed[index][j]]
        if not keys:
            out[index] = 1 / values.shape[-1]
            continue
        largest = max(float(values[index][j]) for j in keys)
        exponentials = {j: math.exp(float(values[index][j]) - largest) for j in keys}
        for j in keys:
            out[index][j] = exponentials[j] / math.fsum(exponentials.values())
    return out


def attention(Q: Array, K: Array, V: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Output and weights."""
    weights = masked_softmax(scores(Q, K) / math.sqrt(Q.shape[-1]), mask)
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for index, (w, v) in _each_matrix(weights, V):
        for i in range(w.shape[0]):
            for j in range(w.shape[1]):
                output[index][i] += w[i, j] * v[j].astype(float)
    return output, weights


def attention_gradient(
    Q: Array, K: Array, V: Array, weights: Array, grad: Array, weights_grad: Array | None = None
) -> tuple[Array, Array, Array]:
    """Gradients of Q, K and V, for the gradients of the output and (if given) of the weights."""
    to_weights = grad @ np.swapaxes(V, -1, -2).astype(float)
    if weights_grad is not None:
        to_weights = to_weights + weights_grad
    to_scores = softmax_gradient(weights, to_weights, -1) / math.sqrt(Q.shape[-1])
    return *scores_gradient(Q, K, to_scores), np.swapaxes(weights, -1, -2) @ grad


def split_heads(x: Array, num_heads: int) -> Array:
    B, L, E = x.shape
    D = E // num_heads
    out = np.zeros((B, num_heads, L, D))
    for b, h, i, d in np.ndindex(out.shape):
        out[b, h, i, d] = x[b, i, h * D + d]
    return out


def merge_heads(x: Array) -> Array:
    B, H, L, D = x.shape
    out = np.zeros((B, L, H * D))
    for b, h, i, d in np.ndindex(x.shape):
        out[b, i, h * D + d] = x[b, h, i, d]
    return out


def mask_for_heads(mask: Array | None) -> Array | None:
    """A mask with three axes holds for all heads."""
    return mask[:, None] if mask is not None and mask.ndim == 3 else mask


def multi_head(
    num_heads: int,
    x: Array,
    weights: Array,
    biases: Array,
    mask: Array | None = None,
    context: Array | None = None,
) -> tuple[Array, Array]:
    """Output and attention weights; weights (4, E, E) and biases (4, E) of query, key, value and output projection."""
    source = x if context is None else context
    Q, K, V = (
        split_heads(linear(a, w, b), num_heads) for a, w, b in zip((x, source, source), weights, biases, strict=False)
    )
    heads, shares = attention(Q, K, V, mask_for_heads(mask))
    return linear(merge_heads(heads), weights[3], biases[3]), shares


def multi_head_gradient(
    num_heads: int,
    x: Array,
    weights: Array,
    biases: Array,
    grad: Array,
    mask: Array | None = None,
    context: Array | None = None,
) -> tuple[Array, Array | None, Array, Array]:
    """Gradients of x, context (None for self-attention), weights and biases."""
    source = x if context is None else context
    inputs = (x, source, source)
    Q, K, V = (split_heads(linear(a, w, b), num_heads) for a, w, b in zip(inputs, weights, biases, strict=False))
    heads, shares = attention(Q, K, V, mask_for_heads(mask))
    to_merged, out_weight, out_bias = linear_gradient(merge_heads(heads), weights[3], grad)
    to_projected = [merge_heads(g) for g in attention_gradient(Q, K, V, shares, split_heads(to_merged, num_heads))]
    parts = [linear_gradient(a, w, g) for a, w, g in zip(inputs, weights, to_projected, strict=False)]
    to_x, to_source = parts[0][0], parts[1][0] + parts[2][0]
    return (
        to_x if context is not None else to_x + to_source,
        None if context is None else to_source,
        np.stack([*(p[1] for p in parts), out_weight]),
        np.stack([*(p[2] for p in parts), out_bias]),
    )


def sliding_window(seq_len: int, window: int) -> Array:
    return np.array([[float(i - window < j <= i) for j in range(seq_len)] for i in range(seq_len)])


def rotary(x: Array, offset: int = 0, base: float = 10000.0, direction: int = 1) -> Array:
    """Each pair of neighbouring components turned by an angle; direction -1 turns back."""
    out = np.zeros(x.shape)
    for index in np.ndindex(x.shape[:-1]):
        for i in range(x.shape[-1] // 2):
            angle = direction * (offset + index[-1]) * base ** (-2 * i / x.shape[-1])
            a, b = float(x[index][2 * i]), float(x[index][2 * i + 1])
            out[index][2 * i] = a * math.cos(angle) - b * math.sin(angle)
            out[index][2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return out


def one_for_each_query_head(x: Array, num_heads: int) -> Array:
    """Key or value heads (B, G, S, D), each as often as it has query heads."""
    return np.stack([x[:, h // (num_heads // x.shape[1])] for h in range(num_heads)], axis=1)


def grouped_gradient(Q: Array, K: Array, V: Array, weights: Array, grad: Array) -> tuple[Array, Array, Array]:
    """Gradients of Q, K and V; those of the heads that share a key-value head are added up."""
    H, G = Q.shape[1], K.shape[1]
    wide_K, wide_V = one_for_each_query_head(K, H), one_for_each_query_head(V, H)
    wide = attention_gradient(Q, wide_K, wide_V, weights, grad)
    shared = [np.stack([g[:, n * (H // G) : (n + 1) * (H // G)].sum(axis=1) for n in range(G)], 1) for g in wide[1:]]
    return wide[0], shared[0], shared[1]


def online_softmax(largest: Array, total: Array, output: Array, scores: Array, V: Array) -> tuple[Array, Array, Array]:
    """Largest score, sum of exponentials and sum of weighted values, once the keys of `scores` are counted, too."""
    new = [np.zeros(a.shape) for a in (largest, total, output)]
    for i in range(len(scores)):
        top = max(float(largest[i, 0]), *(float(s) for s in scores[i]))
        before = math.exp(float(largest[i, 0]) - top)
        exponentials = [math.exp(float(s) - top) for s in scores[i]]
        new[0][i] = top
        new[1][i] = before * float(total[i, 0]) + math.fsum(exponentials)
        new[2][i] = before * output[i].astype(float) + sum(
            e * v.astype(float) for e, v in zip(exponentials, V, strict=True)
        )
    return new[0], new[1], new[2]


def causal_for_last(L: int, S: int) -> Array:
    """Where L queries may look that are the last of S positions."""
    return np.array([[float(j <= i + S - L) for j in range(S)] for i in range(L)])


def tiled_mask(L: int, S: int, mask: Array | None, causal: bool) -> Array:
    allowed = np.ones((L, S)) if mask is None else np.asarray(mask != 0, dtype=float)
    return allowed * causal_for_last(L, S) if causal else allowed


def tiled_forward(Q: Array, K: Array, V: Array, mask: Array | None, causal: bool) -> tuple[Array, Array]:
    """Output and logsumexp, from allowed keys alone."""
    allowed = tiled_mask(len(Q), len(K), mask, causal)
    output, logsumexp = np.zeros((len(Q), V.shape[1])), np.zeros((len(Q), 1))
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if allowed[i, j]]
        row = scores(Q[i : i + 1], K[keys])[0] / math.sqrt(Q.shape[1])
        top = max(row)
        exponentials = [math.exp(s - top) for s in row]
        logsumexp[i] = top + math.log(math.fsum(exponentials))
        output[i] = sum(e * V[j].astype(float) for e, j in zip(exponentials, keys, strict=True)) / math.fsum(
            exponentials
        )
    return output, logsumexp
