# --- blocked tiles skipped by continue, float64
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]))
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf), np.zeros((n, 1))
        output = np.zeros((n, V.shape[-1]))
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                continue
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- without _online_softmax
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = Q.shape[0], K.shape[0]
    outputs, sums = [], []
    for a in range(0, L, block):
        rows = slice(a, min(a + block, L))
        m, t, o = -np.inf, 0.0, 0.0
        for b in range(0, min(S, rows.stop + S - L) if causal else S, block):
            keys = slice(b, min(b + block, S))
            s = _tile_scores(Q, K, rows, keys, mask, causal)
            new = np.maximum(m, s.max(1, keepdims=True))
            e, shrink = np.exp(s - new), np.exp(m - new)
            m, t, o = new, t * shrink + e.sum(1, keepdims=True), o * shrink + e @ V[keys]
        outputs.append(o / t)
        sums.append(m + np.log(t))
    return np.concatenate(outputs), np.concatenate(sums)
