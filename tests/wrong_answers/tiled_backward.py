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
