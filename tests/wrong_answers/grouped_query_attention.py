# --- h % G
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) % G
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- h // G
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.minimum(np.arange(H) // G, G - 1)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- the first head for all
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.zeros(H, int)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- groups in reverse order
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = (np.arange(H) // (H // G))[::-1]
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- values by h % G
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (H // G)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, np.arange(H) % G], mask)
# --- keys by h % G
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (H // G)
    return scaled_dot_product_attention(Q, K[:, np.arange(H) % G], V[:, heads], mask)
# --- pairs of heads only
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (2 if 1 < G < H else H // G)
    heads = np.minimum(heads, G - 1)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- several key-value heads only
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    if G == 1:
        K, V = K[:, 0], V[:, 0]
        heads = np.zeros(H, int)
    heads = np.arange(H) // (H // G)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- queries regrouped the wrong way
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, H // G, G, L, D).transpose(1, 2).reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mean of the keys
def grouped_query_attention(Q, K, V, mask=None):
    return scaled_dot_product_attention(Q, K.mean(1, keepdim=True), V.mean(1, keepdim=True), mask)
# --- mean of the queries
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G = K.shape[1]
    mean = Q.reshape(B, G, H // G, L, D).mean(2)
    output, weights = scaled_dot_product_attention(mean, K, V)
    heads = np.arange(H) // (H // G)
    return output[:, heads], weights[:, heads]
# --- mask ignored
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask inverted
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask) == 0, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask of the first head for all
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask if mask.ndim < 4 else mask[:, :1], (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask not regrouped
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- masks of heads in another order
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, H // G, G, L, S).swapaxes(1, 2).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- scaled by the whole width
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (H // G)
    Q = Q / math.sqrt(H)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- groups left in the result
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, G, H // G, L, -1), weights.reshape(B, G, H // G, L, S)
# --- result not regrouped
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output, weights
# --- keys and values cut from the graph
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (H // G)
    return scaled_dot_product_attention(Q, Tensor(K.data[:, heads]), Tensor(V.data[:, heads]), mask)
# --- Q reshaped in place
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    Q.data = Q.data.reshape(B, G, -1, D)
    grouped = Q
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- Q set to zero afterwards
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    Q.data[...] = 0
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- np.repeat on Tensors
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = np.repeat(K, H // G, axis=1)
    V = np.repeat(V, H // G, axis=1)
    return scaled_dot_product_attention(Q, K, V, mask)
# --- np.tile on data
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = Tensor(np.tile(K.data, (1, H // G, 1, 1)))
    V = Tensor(np.tile(V.data, (1, H // G, 1, 1)))
    return scaled_dot_product_attention(Q, K, V, mask)
# --- repeat_interleave
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = K.repeat_interleave(H // G, dim=1)
    V = V.repeat_interleave(H // G, dim=1)
    return scaled_dot_product_attention(Q, K, V, mask)
# --- cat copies along batch
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = cat([K] * (H // G), dim=0)
    V = cat([V] * (H // G), dim=0)
    return scaled_dot_product_attention(Q, K, V, mask)
# --- float index
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = K[:, np.arange(H) / (H // G)]
    V = V[:, np.arange(H) / (H // G)]
    return scaled_dot_product_attention(Q, K, V, mask)
# --- mean of V
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = K[:, np.arange(H) // (H // G)]
    V = V.mean(1, keepdim=True)
    return scaled_dot_product_attention(Q, K, V, mask)
# --- last head for all
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = K[:, -1:]
    V = V[:, -1:]
    return scaled_dot_product_attention(Q, K, V, mask)
# --- off by one group
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    K = K[:, (np.arange(H) // (H // G) + 1) % G]
    V = V[:, (np.arange(H) // (H // G) + 1) % G]
    return scaled_dot_product_attention(Q, K, V, mask)
# --- loop over groups, first query head only
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    outs, ws = [], []
    for g in range(G):
        o, w = scaled_dot_product_attention(Q[:, g], K[:, g], V[:, g])
        outs.append(o)
        ws.append(w)
    return stack(outs, dim=1), stack(ws, dim=1)
# --- loop over heads, whole mask
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    pairs = [scaled_dot_product_attention(Q[:, h], K[:, h // (H // G)], V[:, h // (H // G)], mask) for h in range(H)]
    return stack([o for o, _ in pairs], dim=1), stack([w for _, w in pairs], dim=1)
# --- loop with mask of group
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S))
    pairs = [scaled_dot_product_attention(Q[:, h], K[:, h // (H // G)], V[:, h // (H // G)], None if mask is None else mask[:, h // (H // G)]) for h in range(H)]
    return stack([o for o, _ in pairs], dim=1), stack([w for _, w in pairs], dim=1)
# --- output only
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1)
# --- weights first
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return weights.reshape(B, H, L, S), output.reshape(B, H, L, -1)
# --- output reshaped with D
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, D), weights.reshape(B, H, L, S)
# --- output reshaped L H, transposed
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, L, H, -1).transpose(1, 2), weights.reshape(B, L, H, S).transpose(1, 2)
# --- queries grouped L first
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.transpose(1, 2).reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- queries grouped by reshape on D
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, L, -1)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- five axes no new axis for K
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    q = Q.reshape(B, G, H // G, L, D)
    output, weights = scaled_dot_product_attention(q, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- K reshaped with Dv
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    q = Q.reshape(B, G, H // G, L, D)
    output, weights = scaled_dot_product_attention(q, K.reshape(B, G, 1, S, D), V.reshape(B, G, 1, S, D), mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- / for //
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, H / G * L, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask reshaped without broadcast
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = mask.reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- if mask
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask to the wrong name
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, masks=mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- SDPA with masks multiplied after
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V)
    if mask is not None:
        weights = weights * mask
        output = weights @ V
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- scaled again
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D) / math.sqrt(D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- weights @ K
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    output = weights @ K
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- V cut
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V.detach(), mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- K cut
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K.detach(), V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- assigned into Q
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    for h in range(H):
        K[:, h] = K[:, h // (H // G)]
    return scaled_dot_product_attention(Q, K, V, mask)
# --- hand made, softmax over queries
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    s = (Q @ K[:, heads].transpose(-1, -2) / math.sqrt(D)).exp()
    if mask is not None:
        s = s * mask
    w = s / s.sum(-2, keepdim=True)
    return w @ V[:, heads], w
# --- hand made, no scale
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    s = (Q @ K[:, heads].transpose(-1, -2)).exp()
    if mask is not None:
        s = s * mask
    w = s / s.sum(-1, keepdim=True)
    return w @ V[:, heads], w
# --- mask of the first batch element
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        mask = np.broadcast_to(np.broadcast_to(mask, (B, H, L, S))[:1], (B, H, L, S)).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mask of one group for all
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    if mask is not None:
        m = np.broadcast_to(mask, (B, H, L, S))[:, : H // G]
        mask = np.concatenate([m] * G, axis=1).reshape(B, G, -1, S)
    grouped = Q.reshape(B, G, -1, D)
    output, weights = scaled_dot_product_attention(grouped, K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- weights averaged in groups
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    o, w = scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
    w = w.reshape(B, G, H // G, L, S).mean(2)[:, heads]
    return o, w
# --- mask to float additive
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    if mask is not None:
        mask = np.where(mask == 0, -1e9, 0.0)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- mask only of two axes
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    if mask is not None and mask.ndim > 2:
        mask = None
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- mask broadcast to groups
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    if mask is not None:
        mask = np.broadcast_to(mask, (B, G, L, S))[:, heads]
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- mask transposed
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    if mask is not None:
        mask = np.swapaxes(np.broadcast_to(mask, (B, H, L, S)), -1, -2).reshape(B, H, L, S)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- causal added
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    heads = np.arange(H) // (H // G)
    causal = np.tril(np.ones((L, S)))
    mask = causal if mask is None else mask * causal
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- only query heads of the first group
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    o, w = scaled_dot_product_attention(Q[:, :G], K, V)
    heads = np.arange(H) % G
    return o[:, heads], w[:, heads]
# --- groups begin at g
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, _ = Q.shape
    G, S = K.shape[1:3]
    size = H // G
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S))
    outputs, tables = [], []
    for g in range(G):
        group = slice(g, g + size)
        part = None if mask is None else mask[:, group]
        output, weights = scaled_dot_product_attention(Q[:, group], K[:, g : g + 1], V[:, g : g + 1], part)
        outputs.append(output)
        tables.append(weights)
    return cat(outputs, dim=1), cat(tables, dim=1)
# --- undone as if positions came first
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S, Dv = K.shape[1], K.shape[2], V.shape[3]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, H // G * L, S)
    output, weights = scaled_dot_product_attention(Q.reshape(B, G, H // G * L, D), K, V, mask)
    def back(t, last):
        return t.reshape(B, G, L, H // G, last).transpose(2, 3).reshape(B, H, L, last)
    return back(output, Dv), back(weights, S)
# --- queries grouped L first, results H first
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1:3]
    n = H // G
    q = Q.reshape(B, G, n, L, D).transpose(2, 3).reshape(B, G, L * n, D)
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S)).reshape(B, G, n, L, S)
        mask = mask.swapaxes(2, 3).reshape(B, G, L * n, S)
    output, weights = scaled_dot_product_attention(q, K, V, mask)
    return output.reshape(B, H, L, V.shape[-1]), weights.reshape(B, H, L, S)
# --- results stacked along the first axis
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, _ = Q.shape
    G, S, Dv = V.shape[1:]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S))
    outputs, weights = [], []
    for h in range(H):
        g = h // (H // G)
        o, w = scaled_dot_product_attention(
            Q[:, h], K[:, g], V[:, g], None if mask is None else mask[:, h]
        )
        outputs.append(o)
        weights.append(w)
    return stack(outputs).reshape(B, H, L, Dv), stack(weights).reshape(B, H, L, S)
# --- a mask of three axes taken for (B, L, S)
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]  # holds for all heads
    heads, groups = Q.shape[1], K.shape[1]
    which = np.arange(heads) // (heads // groups)
    return scaled_dot_product_attention(Q, K[:, which], V[:, which], mask)
# --- mask of the first head of each group
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G, S = K.shape[1], K.shape[2]
    size = H // G
    if mask is not None:
        mask = np.broadcast_to(mask, (B, H, L, S))[:, ::size]  # (B, G, L, S), as the groups
        mask = np.tile(mask, (1, 1, size, 1))
    output, weights = scaled_dot_product_attention(Q.reshape(B, G, size * L, D), K, V, mask)
    return output.reshape(B, H, L, -1), weights.reshape(B, H, L, S)
# --- mean of the queries, for all heads
def grouped_query_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)
    mask = _check_groups(Q, K, V, mask)
    B, H, L, D = Q.shape
    G = K.shape[1]
    index = np.arange(H) // (H // G)
    # one query for one key-value head
    shared = Q.reshape(B, G, H // G, L, D).mean(dim=2)
    return scaled_dot_product_attention(shared[:, index], K[:, index], V[:, index], mask)
