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
# --- a part of the mask a line before
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, Dv = Q.shape[0], K.shape[0], V.shape[1]
    out = np.empty((L, Dv), dtype=Q.dtype)
    lse = np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        m, l, o = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, Dv))
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            tile_mask = None if mask is None else mask[rows, keys]
            s = _tile_scores(Q, K, rows, keys, tile_mask, causal)
            m, l, o = _online_softmax(m, l, o, s, V[keys])
        out[rows], lse[rows] = o / l, m + np.log(l)
    return out, lse
# --- output as wide as Q
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = Q.shape[0], K.shape[0]
    output = np.zeros_like(Q)
    logsumexp = np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = len(Q[rows])
        largest = np.full((n, 1), -np.inf)
        total = np.zeros((n, 1))
        weighted = np.zeros((n, V.shape[1]))
        last = rows.stop - 1 + S - L
        for keys in _blocks(S, of_keys):
            if causal and keys.start > last:
                break
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, weighted = _online_softmax(largest, total, weighted, scores, V[keys])
        output[rows] = weighted / total
        logsumexp[rows] = largest + np.log(total)
    return output, logsumexp
# --- log of exp(largest) * total
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    output, logsumexp = np.zeros((L, V.shape[-1]), Q.dtype), np.zeros((L, 1))
    def one_block(rows):
        n = rows.stop - rows.start
        state = [np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[-1]))]
        for keys in _blocks(S, of_keys):
            if not causal or keys.start < rows.stop + S - L:
                state = _online_softmax(*state, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        return state
    for rows in _blocks(L, of_queries):
        m, l, o = one_block(rows)
        output[rows] = o / l
        logsumexp[rows] = np.log(np.exp(m) * l)  # undo the shift, then the logarithm
    return output, logsumexp
# --- a whole causal table
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    if causal:
        both = np.tril(np.ones((L, S), dtype=bool), k=S - L)
        mask = both if mask is None else both & (mask != 0)
    output, logsumexp = np.zeros((L, V.shape[1]), V.dtype), np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest, total, acc = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            largest, total, acc = _online_softmax(
                largest, total, acc, _tile_scores(Q, K, rows, keys, mask), V[keys]
            )
        output[rows] = acc / total
        logsumexp[rows] = largest + np.log(total)
    return output, logsumexp
# --- zip of blocks
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    output, logsumexp = np.zeros((L, V.shape[1])), np.zeros((L, 1))
    for rows, keys in zip(_blocks(L, of_queries), _blocks(S, of_keys)):
        if causal and keys.start > rows.stop - 1 + S - L:
            break
        n = rows.stop - rows.start
        start = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))
        m, l, o = _online_softmax(*start, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        output[rows] = o / l
        logsumexp[rows] = m + np.log(l)
    return output, logsumexp
# --- whole blocks of queries only
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, Dv = len(Q), len(K), V.shape[1]
    output, logsumexp = np.zeros((L, Dv)), np.zeros((L, 1))
    for number in range(L // of_queries):
        rows = slice(number * of_queries, (number + 1) * of_queries)
        m, l, o = np.full((of_queries, 1), -np.inf), np.zeros((of_queries, 1)), np.zeros((of_queries, Dv))
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            m, l, o = _online_softmax(m, l, o, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        output[rows] = o / l
        logsumexp[rows] = m + np.log(l)
    return output, logsumexp
# --- break at a tile that the mask blocks
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = Q.shape[0], K.shape[0]
    output = np.zeros((L, V.shape[1]), dtype=Q.dtype)
    logsumexp = np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest = np.full((n, 1), -np.inf)
        total = np.zeros((n, 1))
        result = np.zeros((n, V.shape[1]))
        for keys in _blocks(S, of_keys):
            too_far = causal and keys.start > rows.stop - 1 + S - L
            nothing = mask is not None and not np.any(mask[rows, keys])
            if too_far or nothing:
                break
            tile = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, result = _online_softmax(largest, total, result, tile, V[keys])
        output[rows] = result / total
        logsumexp[rows] = largest + np.log(total)
    return output, logsumexp
# --- causal only without a mask
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    if mask is not None:
        causal = False  # the mask says where to look
    output, logsumexp = np.empty((L, V.shape[1]), Q.dtype), np.empty((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        state = [np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))]
        state = [a.astype(Q.dtype) for a in state]
        for keys in _blocks(S, of_keys):
            if causal and keys.start >= rows.stop + S - L:
                break
            tile = _tile_scores(Q, K, rows, keys, mask, causal)
            state = _online_softmax(*state, tile, V[keys])
        m, l, o = state
        output[rows], logsumexp[rows] = o / l, m.astype(np.float64) + np.log(l)
    return output, logsumexp
# --- keys up to the last position without it
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, Dv = len(Q), len(K), V.shape[-1]
    output, logsumexp = np.zeros((L, Dv), Q.dtype), np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        m, l, u = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype), np.zeros((n, Dv), Q.dtype)
        last = rows.stop - 1 + S - L  # position of the last query in the block
        for keys in _blocks(last if causal else S, of_keys):
            s = _tile_scores(Q, K, rows, keys, mask, causal)
            m, l, u = _online_softmax(m, l, u, s, V[keys])
        output[rows] = u / l
        logsumexp[rows] = m.astype(np.float64) + np.log(l)
    return output, logsumexp
# --- loops exchanged, each tile anew
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S, Dv = len(Q), len(K), V.shape[1]
    output, logsumexp = np.zeros((L, Dv), Q.dtype), np.zeros((L, 1))
    for keys in _blocks(S, of_keys):
        for rows in _blocks(L, of_queries):
            if causal and keys.start > rows.stop - 1 + S - L:
                continue
            n = rows.stop - rows.start
            largest = np.full((n, 1), -np.inf, Q.dtype)
            total, out = np.zeros((n, 1), Q.dtype), np.zeros((n, Dv), Q.dtype)
            scores = _tile_scores(Q, K, rows, keys, mask, causal)
            largest, total, out = _online_softmax(largest, total, out, scores, V[keys])
            output[rows] = out / total
            logsumexp[rows] = largest.astype(np.float64) + np.log(total)
    return output, logsumexp
# --- ones where there is no mask
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = Q.shape[0], K.shape[0]
    if mask is None:
        mask = np.ones((L, S))  # then there is always one
    output, logsumexp = np.zeros((L, V.shape[1]), Q.dtype), np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        state = np.full((n, 1), -np.inf, Q.dtype), np.zeros((n, 1), Q.dtype), np.zeros((n, V.shape[1]), Q.dtype)
        for keys in _blocks(S, of_keys):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            state = _online_softmax(*state, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        output[rows] = state[2] / state[1]
        logsumexp[rows] = state[0].astype(np.float64) + np.log(state[1])
    return output, logsumexp
# --- blocks of keys counted by //
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    of_queries, of_keys = _tile_sizes(block)
    L, S = len(Q), len(K)
    of_keys = min(of_keys, S)
    output, logsumexp = np.zeros((L, V.shape[1]), Q.dtype), np.zeros((L, 1))
    for rows in _blocks(L, of_queries):
        n = rows.stop - rows.start
        largest = np.full((n, 1), -np.inf, Q.dtype)
        total = np.zeros((n, 1), Q.dtype)
        weighted = np.zeros((n, V.shape[1]), Q.dtype)
        for t in range(S // of_keys):
            keys = slice(t * of_keys, (t + 1) * of_keys)
            if causal and keys.start > rows.stop - 1 + S - L:
                continue
            largest, total, weighted = _online_softmax(
                largest, total, weighted, _tile_scores(Q, K, rows, keys, mask, causal), V[keys]
            )
        output[rows] = weighted / total
        logsumexp[rows] = largest.astype(np.float64) + np.log(total)
    return output, logsumexp
# --- logsumexp with one axis, a column for each block
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    bq, bk = _tile_sizes(block)
    L, S = len(Q), len(K)
    out, lse = np.zeros((L, V.shape[1])), np.zeros(L)
    for rows in _blocks(L, bq):
        n = rows.stop - rows.start
        m, l, o = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))
        for keys in _blocks(S, bk):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            m, l, o = _online_softmax(m, l, o, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        out[rows], lse[rows] = o / l, m + np.log(l)
    return out, lse
# --- tiles left out unless all is allowed
def _tiled_forward(Q, K, V, mask=None, causal=False, block=512):
    bq, bk = _tile_sizes(block)
    L, S = len(Q), len(K)
    out, lse = np.zeros((L, V.shape[1])), np.zeros((L, 1))
    for rows in _blocks(L, bq):
        n = rows.stop - rows.start
        m, l, o = np.full((n, 1), -np.inf), np.zeros((n, 1)), np.zeros((n, V.shape[1]))
        for keys in _blocks(S, bk):
            if causal and keys.start > rows.stop - 1 + S - L:
                break
            if mask is not None and not mask[rows, keys].all():
                continue
            m, l, o = _online_softmax(m, l, o, _tile_scores(Q, K, rows, keys, mask, causal), V[keys])
        out[rows], lse[rows] = o / l, m + np.log(l)
    return out, lse
