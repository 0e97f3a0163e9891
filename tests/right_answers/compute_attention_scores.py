# --- positive axes
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(K.ndim - 2, K.ndim - 1)
# --- matmul, axes the other way round
def _compute_attention_scores(Q, K):
    return Q.matmul(K.transpose(-1, -2))
# --- products summed, as einsum would
def _compute_attention_scores(Q, K):
    q = Q.reshape(*Q.shape[:-1], 1, Q.shape[-1])
    k = K.reshape(*K.shape[:-2], 1, *K.shape[-2:])
    return (q * k).sum(-1)
