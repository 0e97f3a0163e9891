# --- step by step, as in the formula
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- the pieces written out
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- Q scaled first
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = (Q / math.sqrt(Q.shape[-1])) @ K.transpose(-1, -2)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- masked before scaling
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    scores = _scale_scores(scores, K.shape[-1])
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- -inf
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -np.inf)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- softmax by hand
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    shifted = scores - scores.max(-1, keepdim=True)
    e = shifted.exp()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ V, weights
# --- softmax with the largest score cut from the graph
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    e = (scores - scores.data.max(axis=-1, keepdims=True)).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ V, weights
# --- axis given as a positive number
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=scores.ndim - 1)
    return weights @ V, weights
# --- a helper of one's own
def _weights(Q, K, mask):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    return Softmax()(scores if mask is None else _apply_mask(scores, mask))


def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = _weights(Q, K, mask)
    return weights.matmul(V), weights
# --- matmul, and a list returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return [weights.matmul(V), weights]
