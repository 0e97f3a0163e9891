# --- not divided
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output, largest + np.log(total)
    return result, logsumexp
# --- divided in each step
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
            output = output / total
        result[rows], logsumexp[rows] = output, largest + np.log(total)
    return result, logsumexp
# --- tiles averaged
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    result, parts = 0, _blocks(len(K), block)
    for keys in parts:
        scores = _tile_scores(Q, K, slice(0, len(Q)), keys, mask, causal)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        result = result + exponentials @ V[keys] / exponentials.sum(axis=-1, keepdims=True)
    return result / len(parts), np.zeros((len(Q), 1))
# --- only the last tile
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
            output = np.zeros((n, V.shape[-1]), Q.dtype)
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- only the first tile
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
            break
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- not started anew for each row of tiles
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    n = min(block, L)
    largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
    output = np.zeros((n, V.shape[-1]), Q.dtype)
    for rows in _blocks(L, block):
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- whole blocks only
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S // block * block or S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- fails with a block longer than the keys
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in [slice(k[0], k[-1] + 1) for k in np.array_split(np.arange(S), S // block)]:
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask not handed on
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- causal not handed on
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- positions from the top
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- tiles left out by the first row
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.start + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- tiles of the diagonal left out
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.stop > rows.stop + S - L and keys.start > 0:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- nothing left out
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- scaled again
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            scores /= math.sqrt(Q.shape[-1])
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- keys of the first tile's values
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[: keys.stop - keys.start])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- total as logsumexp
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, total
    return result, logsumexp
# --- largest as logsumexp
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest
    return result, logsumexp
# --- log of the total
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, np.log(total)
    return result, logsumexp
# --- log subtracted
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest - np.log(total)
    return result, logsumexp
# --- log forgotten
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + total
    return result, logsumexp
# --- logsumexp without an axis
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp[:, 0]
# --- output alone
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result
# --- all tiles kept
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    kept = []
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            kept.append(scores.copy())
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- the whole table
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    scores = _tile_scores(Q, K, slice(0, len(Q)), slice(0, len(K)), mask, causal)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials @ V / total, largest + np.log(total)
# --- largest begins at 0
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1), Q.dtype)
    for rows in _blocks(L, block):
        n = rows.stop - rows.start
        largest, total = np.zeros((n, 1), Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- all rows in a list
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    rows = [_tile_scores(Q, K, slice(i, i + 1), slice(0, len(K)), mask, causal) for i in range(len(Q))]
    largest = np.array([row.max() for row in rows])[:, None]
    total = np.array([np.exp(row - row.max()).sum() for row in rows])[:, None]
    output = np.concatenate([np.exp(row - m) @ V for row, m in zip(rows, largest)])
    return output / total, largest + np.log(total)
# --- mask cut twice, none allowed
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None if mask is None else mask[rows, keys], causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- Q cut twice
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q[rows], K[keys], rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- rows and keys exchanged
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, keys, rows, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask and causal exchanged
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, causal, mask)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- online argument missing
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- list stacked
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = []
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result.append(output / total)
        logsumexp[rows] = largest + np.log(total)
    return np.stack(result), logsumexp
# --- added in the inner loop
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.zeros((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
            result[rows] += output / total
            logsumexp[rows] = largest + np.log(total)
    return result, logsumexp
# --- n is len(rows)
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = len(rows)
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- logsumexp log of sum
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, np.log(total + np.exp(largest))
    return result, logsumexp
# --- logsumexp log10
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log10(total)
    return result, logsumexp
# --- math.log
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + math.log(total)
    return result, logsumexp
# --- logsumexp times
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest * np.log(total)
    return result, logsumexp
# --- range for blocks
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in range(0, S, of_keys):
            if causal and keys > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- keys over L
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(L, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- block unpacked
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, block[1]):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- causal cut also without causal
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask given, causal default
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask multiplied
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None, causal)
            if mask is not None:
                scores = scores * mask[rows, keys]
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask inverted
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None if mask is None else 1 - mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask -inf
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None, causal)
            if mask is not None:
                scores[mask[rows, keys] == 0] = -np.inf
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- scores unscaled
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = Q[rows] @ K[keys].T
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- divided by the count
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / S, largest + np.log(total)
    return result, logsumexp
# --- divided by the sum of outputs
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / output.sum(-1, keepdims=True), largest + np.log(total)
    return result, logsumexp
# --- state kept in the wrong names
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            new_largest, new_total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- break in the wrong loop
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
            if causal:
                break
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- result assigned once
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result, logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- scores of the second tile lost
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            if keys.start != of_keys:
                largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- causal always
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, True)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- mask only without causal
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, None if causal else mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- causal by mask, from the top
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask)
            if causal:
                scores[np.arange(keys.start, keys.stop) > np.arange(rows.start, rows.stop)[:, None]] = -1e9
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
# --- skips tiles before
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    result = np.empty((L, V.shape[-1]), Q.dtype)
    logsumexp = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype)
        output = np.zeros((n, V.shape[-1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.stop <= rows.start:
                continue
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, output = _online_softmax(largest, total, output, scores, V[keys])
        result[rows], logsumexp[rows] = output / total, largest + np.log(total)
    return result, logsumexp
