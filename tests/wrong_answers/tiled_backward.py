# --- V not summed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] = P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- Q not summed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] = grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- K not summed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] = grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- K and V not summed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] = P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] = grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- nothing summed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] = P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] = grad_scores @ K[keys]
            grad_K[keys] = grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta forgotten
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P forgotten
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta added
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T + delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta outside
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = (P * (grad[rows] @ V[keys].T) - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- sigmoid's rule
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (1 - P) * (grad[rows] @ V[keys].T) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- mean for delta
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).mean(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- one delta for all
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = np.full((L, 1), (grad * output).sum())
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta without the output
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = grad.sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta of one tile
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_P = grad[rows] @ V[keys].T
            grad_scores = P * (grad_P - (P * grad_P).sum(axis=-1, keepdims=True)) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- not scaled
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows])
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- Q not scaled
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys] / scale
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- K not scaled
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows] / scale
    return grad_Q, grad_K, grad_V
# --- scaled by D
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / Q.shape[-1]
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- softmax of each tile
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            P /= P.sum(axis=-1, keepdims=True)
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- logsumexp of other rows
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[: rows.stop - rows.start])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- mask not handed on
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, None, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- causal not handed on
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- V from the scores
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_V[keys] += grad_scores.T @ grad[rows] / scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- V from the output
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ output[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- K and Q exchanged
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_K, grad_Q, grad_V
# --- the whole table
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    P = np.exp(_tile_scores(Q, K, slice(0, len(Q)), slice(0, len(K)), mask, causal) - logsumexp)
    grad_scores = P * (grad @ V.T - (grad * output).sum(axis=-1, keepdims=True)) / math.sqrt(Q.shape[-1])
    return grad_scores @ K, grad_scores.T @ Q, P.T @ grad
# --- the whole table by einsum
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    root = math.sqrt(Q.shape[-1])
    allowed = np.ones((len(Q), len(K))) if mask is None else mask
    if causal:
        allowed = np.tril(allowed, len(K) - len(Q))
    P = np.where(allowed, np.exp(np.einsum("id,jd->ij", Q, K) / root - logsumexp), 0)
    delta = np.einsum("ij,ij->i", grad, output)[:, None]
    grad_scores = P * (np.einsum("id,jd->ij", grad, V) - delta) / root
    return grad_scores @ K, grad_scores.T @ Q, P.T @ grad
# --- weights of all tiles kept
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    tiles = [
        (rows, keys, np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows]))
        for rows in _blocks(L, block)
        for keys in _blocks(S, block)
    ]
    for rows, keys, P in tiles:
        grad_V[keys] += P.T @ grad[rows]
        grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
        grad_Q[rows] += grad_scores @ K[keys]
        grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- logsumexp whole
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp)
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- logsumexp of keys
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[keys])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- logsumexp added
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) + logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- logsumexp divides
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal)) / logsumexp[rows]
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- exp not divided
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal))
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- no exp
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = _tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows]
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P is scores
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = _tile_scores(Q, K, rows, keys, mask, causal)
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P normalised again
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            P = P / P.sum(-1, keepdims=True)
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta whole
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta no keepdims
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta of V
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * V[:L]).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta output squared
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (output * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta grad squared
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * grad).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta over keys weights
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = grad.sum(axis=-1, keepdims=True) * output.sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- delta not divided half
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows] / 2) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- output for grad
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (output[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P not transposed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_V scaled
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows] * scale
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_Q transposed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores.T @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_Q with P
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += P @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_K with P
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += P.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_K not transposed
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grad_K with K
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ K[rows]
    return grad_Q, grad_K, grad_V
# --- grad_K at rows
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[rows] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scale by d twice
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scale by root of Dv
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(V.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scale multiplied
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scale in the delta
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T * scale - delta[rows])
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P squared
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- grads averaged over rows
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q / L, grad_K / L, grad_V / L
# --- order Q V K
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_V, grad_K
# --- two results
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K
# --- returns in inner loop
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
            return grad_Q, grad_K, grad_V
# --- empty_like
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.ones_like(Q), np.ones_like(K), np.ones_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- reset in each tile
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            grad_Q = np.zeros_like(Q)
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- =+
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] =+ P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- first tile only
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
            break
    return grad_Q, grad_K, grad_V
# --- mask default
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- mask cut twice
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, None if mask is None else mask[rows, keys], causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- mask multiplied on P
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, None, causal) - logsumexp[rows])
            if mask is not None:
                P = P * mask
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- causal cut from the top
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- causal cut by first row
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.start + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- causal cut without causal
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- backward of tensors
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    Q, K, V = (Tensor(x, requires_grad=True) for x in (Q, K, V))
    o, _ = scaled_dot_product_attention(Q, K, V, mask)
    o.backward(grad[0])
    return Q.grad, K.grad, V.grad
# --- grad overwritten in place
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    grad *= output
    delta = grad.sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- gradient of K subtracted
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] -= grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- gradient of V subtracted
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] -= P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- P after the scale
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            P = P * scale
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scores scaled again
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) * scale - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- scores without scale
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(Q[rows] @ K[keys].T - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- last tile of rows left out
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in (_blocks(L, of_queries)[:-1] or _blocks(L, of_queries)):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- last tile of keys left out
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in (_blocks(S, of_keys)[:-1] or _blocks(S, of_keys)):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- keys over L
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), 1 / math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(L, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_scores = P * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- keys outside, break for rows
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, D = Q.shape[0], K.shape[0], Q.shape[1]
    delta = np.sum(grad * output, axis=-1, keepdims=True)
    grad_Q, grad_K, grad_V = np.zeros((L, D), Q.dtype), np.zeros((S, D), K.dtype), np.zeros(V.shape, V.dtype)
    for keys in _blocks(S, of_keys):
        k, v = K[keys], V[keys]
        for rows in _blocks(L, of_queries):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            p = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += p.T @ grad[rows]
            ds = p * (grad[rows] @ v.T - delta[rows]) / math.sqrt(D)
            grad_Q[rows] += ds @ k
            grad_K[keys] += ds.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- output changed in place
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    output *= grad  # no new array is needed
    delta = output.sum(axis=1, keepdims=True)
    scale = 1 / math.sqrt(Q.shape[1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            weights = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            grad_V[keys] += weights.T @ grad[rows]
            grad_scores = weights * (grad[rows] @ V[keys].T - delta[rows]) * scale
            grad_Q[rows] += grad_scores @ K[keys]
            grad_K[keys] += grad_scores.T @ Q[rows]
    return grad_Q, grad_K, grad_V
# --- Q written after the loop
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    delta = (grad * output).sum(axis=1, keepdims=True)
    scale = Q.shape[-1] ** -0.5
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows in _blocks(L, of_queries):
        q, g = Q[rows], grad[rows]
        grad_q = np.zeros_like(q)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            dS = P * (g @ V[keys].T - delta[rows]) * scale
            grad_q += dS @ K[keys]
            grad_K[keys] += dS.T @ q
            grad_V[keys] += P.T @ g
    grad_Q[rows] = grad_q
    return grad_Q, grad_K, grad_V
# --- one array for K and V
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, scale = len(Q), len(K), math.sqrt(Q.shape[1])
    dQ = np.zeros_like(Q)
    dK = dV = np.zeros_like(K)
    delta = np.sum(grad * output, axis=1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            dS = P * (grad[rows] @ V[keys].T - delta[rows]) / scale
            dV[keys] += P.T @ grad[rows]
            dQ[rows] += dS @ K[keys]
            dK[keys] += dS.T @ Q[rows]
    return dQ, dK, dV
# --- exp(scores) / exp(logsumexp)
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=-1, keepdims=True)
    sums = np.exp(logsumexp)
    for rows in _blocks(len(Q), of_queries):
        for keys in _blocks(len(K), of_keys):
            if causal and keys.start > rows.stop - 1 + len(K) - len(Q):
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal)) / sums[rows]
            dP = grad[rows] @ V[keys].T
            ds = P * (dP - delta[rows])
            dV[keys] += P.T @ grad[rows]
            dQ[rows] += ds @ K[keys]
            dK[keys] += ds.T @ Q[rows]
    return dQ / math.sqrt(Q.shape[-1]), dK / math.sqrt(Q.shape[-1]), dV
# --- P normalised again, nothing for empty rows
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, D = Q.shape
    S = K.shape[0]
    grad_Q, grad_K, grad_V = (np.zeros(a.shape, a.dtype) for a in (Q, K, V))
    delta = (grad * output).sum(axis=1)[:, None]
    def weights_of(rows, keys):
        e = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
        return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-30)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                continue
            weights = weights_of(rows, keys)
            grad_scores = weights * (grad[rows] @ V[keys].T - delta[rows])
            grad_V[keys] += weights.T @ grad[rows]
            grad_Q[rows] += grad_scores @ K[keys] / math.sqrt(D)
            grad_K[keys] += grad_scores.T @ Q[rows] / math.sqrt(D)
    return grad_Q, grad_K, grad_V
# --- forward again without mask and causal
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, D = len(Q), len(K), Q.shape[-1]
    output, logsumexp = _tiled_forward(Q, K, V, block=block)  # compute it again, to be sure
    delta = (output * grad).sum(axis=-1, keepdims=True)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            dV[keys] += P.T @ grad[rows]
            dP = grad[rows] @ V[keys].T
            dS = P * (dP - delta[rows])
            dQ[rows] += dS @ K[keys]
            dK[keys] += dS.T @ Q[rows]
    return dQ / math.sqrt(D), dK / math.sqrt(D), dV
# --- grad_K with Q[keys]
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    delta = (grad * output).sum(axis=1)[:, None]
    root = math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for rows in _blocks(L, of_queries):
        last = rows.stop - 1 + S - L
        for keys in _blocks(S, of_keys):
            if causal and keys.start > last:
                break
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            dS = P * (grad[rows] @ V[keys].T - delta[rows])
            grad_V[keys] += P.T @ grad[rows]
            grad_Q[rows] += dS @ K[keys] / root
            grad_K[keys] += dS.T @ Q[keys] / root
    return grad_Q, grad_K, grad_V
# --- sum of Q begun anew in each tile
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, D = len(Q), len(K), K.shape[1]
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (output * grad).sum(axis=1, keepdims=True)
    for rows in _blocks(L, of_queries):
        for keys in _blocks(S, of_keys):
            dq = np.zeros((rows.stop - rows.start, D), Q.dtype)
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            P = np.exp(scores - logsumexp[rows])
            dS = P * (grad[rows] @ V[keys].T - delta[rows])
            dq += dS @ K[keys]
            dK[keys] += dS.T @ Q[rows]
            dV[keys] += P.T @ grad[rows]
            dQ[rows] = dq
    return dQ / math.sqrt(D), dK / math.sqrt(D), dV
# --- zip of blocks
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    root = math.sqrt(Q.shape[-1])
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (grad * output).sum(axis=1, keepdims=True)
    for rows, keys in zip(_blocks(len(Q), of_queries), _blocks(len(K), of_keys)):
        P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
        dS = P * (grad[rows] @ V[keys].T - delta[rows]) / root
        grad_V[keys] += P.T @ grad[rows]
        grad_Q[rows] += dS @ K[keys]
        grad_K[keys] += dS.T @ Q[rows]
    return grad_Q, grad_K, grad_V
