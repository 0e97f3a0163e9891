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
