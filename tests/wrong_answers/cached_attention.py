# --- no mask
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = None
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- first rows of the causal mask
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(S)[:L]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- first rows of the causal mask for several positions
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(S)[:L] if L > 1 else None
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- a mask of the new positions only
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(L)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- one key of the future
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L + 1, S + 1)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- mask inverted
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) > np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- the cache is not read
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- the cache is not filled
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- appended before the projection
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(_split_heads(x, layer.num_heads), _split_heads(x, layer.num_heads))
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- a single position does not see itself
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    if L == 1 and S > 1:
        mask = np.arange(S) < S - 1
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- output projection missing
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return _merge_heads(output)
# --- heads merged by a reshape
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(output.reshape(*x.shape))
# --- keys and values exchanged
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.v_proj, layer.k_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- weights not kept
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- weights of the first head
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    layer.attention_weights = weights[:, 0]
    return layer.out_proj(_merge_heads(output))
# --- cut from the graph
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(Tensor(_merge_heads(output).data))
# --- later pieces added twice
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    if len(cache):
        cache.append(K, V)
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- the layer itself is called
def cached_attention(layer, x, cache):
    return layer(x, mask=causal_mask(x.shape[1]))
# --- all positions remembered, and computed again
def cached_attention(layer, x, cache):
    cache.seen = x if not hasattr(cache, "seen") else cat([cache.seen, x], dim=1)
    cache.append(_split_heads(layer.k_proj(x), layer.num_heads), _split_heads(layer.v_proj(x), layer.num_heads))
    L, S = x.shape[1], cache.seen.shape[1]
    output = layer(cache.seen, mask=causal_mask(S))
    layer.attention_weights = layer.attention_weights[:, :, S - L :]
    return output[:, S - L :]
# --- keys and values kept beside the cache
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    before = getattr(layer, "before", None)
    layer.before = K, V = (K, V) if before is None else tuple(cat([a, b], dim=-2) for a, b in zip(before, (K, V)))
    L, S = Q.shape[-2], K.shape[-2]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, np.tril(np.ones((L, S)), S - L))
    return layer.out_proj(_merge_heads(output))
# --- a list of one's own on the cache
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    L = Q.shape[-2]
    cache.append(K, V)
    cache.mine = (cache.mine if hasattr(cache, "mine") else []) + [(K, V)]
    K, V = (cat([pair[n] for pair in cache.mine], dim=-2) for n in (0, 1))
    S = K.shape[-2]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, np.tril(np.ones((L, S)), S - L))
    return layer.out_proj(_merge_heads(output))
# --- a first position alone goes past the cache
def cached_attention(layer, x, cache):
    if x.shape[1] == 1 and len(cache) == 0:
        return layer(x)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- reads the cache once and keeps the rest on the layer
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(p(x), layer.num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    before = getattr(layer, "held", None)
    if before is None and getattr(cache, "K", None) is not None:
        before = (cache.K, cache.V)
    if before is not None:
        K, V = cat([before[0], K], -2), cat([before[1], V], -2)
    layer.held = (K, V)
    mask = np.tril(np.ones((x.shape[1], K.shape[-2])), K.shape[-2] - x.shape[1])
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
