# --- rows of the causal mask
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = causal_mask(S)[-L:]
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- tril with an offset, no mask for one position
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    L, S = Q.shape[-2], K.shape[-2]
    mask = None if L == 1 else np.tril(np.ones((L, S)), S - L)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
# --- positions counted by the cache
def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(project(x), layer.num_heads) for project in (layer.q_proj, layer.k_proj, layer.v_proj))
    positions = len(cache) + np.arange(x.shape[1])
    K, V = cache.append(K, V)
    mask = Tensor(positions[:, None] >= np.arange(len(cache)))
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
    return layer.out_proj(_merge_heads(output))
