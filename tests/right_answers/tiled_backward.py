# --- keys outside, rows inside
def _tiled_backward(Q, K, V, output, logsumexp, grad, mask=None, causal=False, block=512):
    root = math.sqrt(Q.shape[1])
    grad_Q, grad_K, grad_V = (np.zeros(a.shape) for a in (Q, K, V))
    for keys in _blocks(len(K), block):
        for rows in _blocks(len(Q), block):
            if causal and keys.start - len(K) + len(Q) >= rows.stop:
                continue
            P = np.exp(_tile_scores(Q, K, rows, keys, mask, causal) - logsumexp[rows])
            delta = np.einsum("ij,ij->i", grad[rows], output[rows])[:, None]
            dS = P * (np.dot(grad[rows], V[keys].T) - delta)
            grad_V[keys] += np.dot(P.T, grad[rows])
            grad_Q[rows] += np.dot(dS, K[keys]) / root
            grad_K[keys] += np.dot(dS.T, Q[rows]) / root
    return grad_Q, grad_K, grad_V
# --- as shown
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
    return grad_Q, grad_K, grad_V
