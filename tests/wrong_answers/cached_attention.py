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
# --- offset after append
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    offset = len(cache)
    mask = np.arange(S) <= offset + np.arange(L)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- offset before append, off by one
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    offset = len(cache)
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) < offset + np.arange(L)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- appended twice
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- append only K
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K = cache.append(K)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- result exchanged
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    V, K = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- append before split
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x)
    K, V = cache.append(K, V)
    Q, K, V = (_split_heads(t, layer.num_heads) for t in (Q, K, V))
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- split without number
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x)) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- split by head_dim
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.head_dim) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- no split
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x)
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(output)
# --- x not projected
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(x, layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- q for all
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.q_proj, layer.q_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- qk exchanged
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.k_proj, layer.q_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- merge with a number
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output, layer.num_heads))
# --- weights merged
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(layer.attention_weights))
# --- out_proj before merge
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return _merge_heads(layer.out_proj(output))
# --- sdpa returns one
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- weights on a name of one's own
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- returns a tuple
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output)), layer.attention_weights
# --- causal_mask(S)
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(S)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- mask with triu
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.triu(np.ones((L, S)), S - L)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- tril offset plus
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.tril(np.ones((L, S)), S - L + 1)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- tril offset L
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.tril(np.ones((L, S)), L)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- tril offset flipped
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.tril(np.ones((L, S)), L - S)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- additive mask
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.where(np.arange(S) <= np.arange(S - L, S)[:, None], 0, -1e9)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- mask given to the layer
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    return layer(x, mask=mask)
# --- SDPA with all args missing
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K)
    return layer.out_proj(_merge_heads(output))
# --- Q from cache
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    Q = K
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- scaled again
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    Q = Q / math.sqrt(layer.head_dim)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- residual
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return x + layer.out_proj(_merge_heads(output))
# --- no grad
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    with no_grad():
        Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
        Q, K, V = Q, K, V
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- cache K attribute
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    cache.append(K, V)
    K, V = cache.K, V
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- weights the last row
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    layer.attention_weights = layer.attention_weights[:, :, -1:]
    return layer.out_proj(_merge_heads(output))
# --- only the last position returned
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))[:, -1:]
# --- by hand, not scaled
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    scores = Q @ K.transpose(-1, -2)
    scores = scores.masked_fill(~mask, -1e9)
    e = (scores - scores.max(-1, keepdim=True)).exp()
    layer.attention_weights = e / e.sum(-1, keepdim=True)
    output = layer.attention_weights @ V
    return layer.out_proj(_merge_heads(output))
# --- by hand, no softmax
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    scores = Q @ K.transpose(-1, -2) / math.sqrt(layer.head_dim)
    layer.attention_weights = scores * mask
    output = layer.attention_weights @ V
    return layer.out_proj(_merge_heads(output))
# --- biases forgotten
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(x @ p.weight, layer.num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- out_proj twice
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(layer.out_proj(_merge_heads(output)))
# --- out_proj without bias
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return _merge_heads(output) @ layer.out_proj.weight
# --- out_proj is v_proj
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.v_proj(_merge_heads(output))
# --- loop over positions, only the last kept
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    for i in range(x.shape[1]):
        y = x[:, i : i + 1]
        Q, K, V = (_split_heads(p(y), layer.num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
        K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- mask of ones for first
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None] if S > L else None
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- causal only in prompts
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(S) if L == S else None
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- cache reset when long
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    cache.K = None
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = np.arange(S) <= np.arange(S - L, S)[:, None]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- appended once for keys, once for values
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    heads = layer.num_heads
    new_K, new_V = _split_heads(layer.k_proj(x), heads), _split_heads(layer.v_proj(x), heads)
    Q = _split_heads(layer.q_proj(x), heads)
    K = cache.append(new_K, new_V)[0]
    V = cache.append(new_K, new_V)[1]
    L, S = Q.shape[2], K.shape[2]
    mask = np.tril(np.ones((L, S)), k=S - L)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    layer.attention_weights = weights
    return layer.out_proj(_merge_heads(output))
# --- columns of the old keys padded with 0
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    H = layer.num_heads
    before = len(cache)
    Q = _split_heads(layer.q_proj(x), H)
    K, V = cache.append(_split_heads(layer.k_proj(x), H), _split_heads(layer.v_proj(x), H))
    mask = np.pad(causal_mask(x.shape[1]), ((0, 0), (before, 0)))
    out, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask=mask)
    return layer.out_proj(_merge_heads(out))
# --- keys and values detached
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    Q, K, V = [_split_heads(proj(x), layer.num_heads) for proj in [layer.q_proj, layer.k_proj, layer.v_proj]]
    K, V = cache.append(K.detach(), V.detach())  # the cache needs only the values
    L, S = x.shape[1], K.shape[-2]
    query, key = np.arange(S - L, S).reshape(-1, 1), np.arange(S).reshape(1, -1)
    output, weights = scaled_dot_product_attention(Q, K, V, (key <= query).astype(np.float32))
    layer.attention_weights = weights
    return layer.out_proj(_merge_heads(output))
# --- appended to a copy
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    longer = KVCache()
    longer.K, longer.V = cache.K, cache.V
    H, L = layer.num_heads, x.shape[-2]
    K, V = longer.append(_split_heads(layer.k_proj(x), H), _split_heads(layer.v_proj(x), H))
    j = np.arange(len(longer))
    mask = np.stack([j <= i for i in range(len(longer) - L, len(longer))])
    Q = _split_heads(layer.q_proj(x), H)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    cache = longer
    return layer.out_proj(_merge_heads(output))
# --- x in the cache, and the layer called
def cached_attention(layer, x, cache):
    x, _ = _check_inputs(x, None, layer.embed_dim)
    everything, _ = cache.append(x, x)
    L, S = x.shape[1], everything.shape[1]
    rows = causal_mask(S)[S - L :]
    return layer(x, mask=rows, context=everything)
# --- values detached
def cached_attention(layer, x, cache):
    H = layer.num_heads
    Q, K, V = (_split_heads(p(x), H) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V.detach())
    L, S = x.shape[1], K.shape[-2]
    o, layer.attention_weights = scaled_dot_product_attention(Q, K, V, np.tri(L, S, S - L))
    return layer.out_proj(_merge_heads(o))
