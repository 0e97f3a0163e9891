# --- heads repeated by an index
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.arange(H) // (H // G)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- np.repeat of indices
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    heads = np.repeat(np.arange(G), H // G)
    return scaled_dot_product_attention(Q, K[:, heads], V[:, heads], mask)
# --- five axes
def grouped_query_attention(Q, K, V, mask=None):
    B, H, L, D = Q.shape
    G, S = K.shape[1], K.shape[2]
    q = Q.reshape(B, G, H // G, L, D)
    k, v = K.reshape(B, G, 1, S, D), V.reshape(B, G, 1, S, V.shape[-1])
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask), (B, H, L, S)).reshape(B, G, H // G, L, S)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    return output.reshape(B, H, L, V.shape[-1]), weights.reshape(B, H, L, S)
# --- a loop over heads
def grouped_query_attention(Q, K, V, mask=None):
    H, G = Q.shape[1], K.shape[1]
    if mask is not None:
        mask = np.broadcast_to(mask, (Q.shape[0], H, Q.shape[2], K.shape[2]))
    pairs = [
        scaled_dot_product_attention(
            Q[:, h], K[:, h // (H // G)], V[:, h // (H // G)], None if mask is None else mask[:, h]
        )
        for h in range(H)
    ]
    return stack([o for o, _ in pairs], dim=1), stack([w for _, w in pairs], dim=1)
