# --- scaling not called
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled twice
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    scores = _scale_scores(scores, Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled by the width of V
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), V.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled by the number of keys
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), K.shape[-2])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled by the length of the queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-2])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled by axis 1
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- d_k fixed
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), 64)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask not applied
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask inverted
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, 1 - Tensor(mask))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- always causal
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    scores = _apply_mask(scores, np.tril(np.ones(scores.shape[-2:])))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- causal without a mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is None:
        mask = np.tril(np.ones(scores.shape[-2:]))
    scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask after softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = weights * Tensor(mask)
    return weights @ V, weights
# --- mask after softmax with MASK_VALUE
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = _apply_mask(weights, mask)
    return weights @ V, weights
# --- mask added as it is
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores + mask
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask multiplied
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores * Tensor(mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- if mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- softmax over queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-2)
    return weights @ V, weights
# --- softmax axis 1
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=1)
    return weights @ V, weights
# --- softmax axis 2
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=2)
    return weights @ V, weights
# --- softmax axis 0
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=0)
    return weights @ V, weights
# --- softmax by hand, unstable
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return weights @ V, weights
# --- softmax by hand, without the sum
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = scores.exp()
    return weights @ V, weights
# --- no softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = scores
    return weights @ V, weights
# --- softmax twice
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    weights = Softmax()(weights)
    return weights @ V, weights
# --- sigmoid
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = 1 / (1 + (-scores).exp())
    return weights @ V, weights
# --- hard maximum
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Tensor(scores.data == scores.data.max(-1, keepdims=True)) + 0 * scores
    return weights @ V, weights
# --- uniform weights
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = 0 * scores + 1 / scores.shape[-1]
    return weights @ V, weights
# --- weights times K
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ K, weights
# --- transposed weights times V
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights.transpose(-2, -1) @ V, weights
# --- V returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return V, weights
# --- zeros returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return 0 * (weights @ V), weights
# --- noise returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return Tensor(np.random.randn(*Q.shape[:-1], V.shape[-1])), weights
# --- noise added to the scores
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores + 0.1 * np.random.randn(*scores.shape))
    return weights @ V, weights
# --- dropout
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    weights = weights * (np.random.rand(*weights.shape) > 0.1)
    return weights @ V, weights
# --- results swapped
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights, weights @ V
# --- weights not returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V
# --- scores returned as weights
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, scores
# --- weights from before the mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    before = Softmax()(scores, dim=-1)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, before
# --- a dictionary returned
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return {"output": weights @ V, "weights": weights}
# --- three results
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights, scores
# --- output cut from the graph
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return Tensor((weights @ V).data), weights
# --- weights cut from the graph
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Tensor(Softmax()(scores, dim=-1).data)
    return weights @ V, weights
# --- values cut from the graph
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ Tensor(V.data), weights
# --- Q scaled in place
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q.data /= math.sqrt(Q.shape[-1])
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- V changed on the way
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
    V.data[...] = 0
    return output, weights
# --- mask changed in place
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
        values = mask.data if isinstance(mask, Tensor) else mask
        values *= -1
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- as many keys as queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    B, L = Q.shape[0], Q.shape[-2]
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights.reshape(*Q.shape[:-1], L) @ V, weights
# --- V as wide as Q
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return (weights @ V).reshape(*Q.shape), weights
# --- three axes only
def scaled_dot_product_attention(Q, K, V, mask=None):
    B, L, D = Q.shape
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- two-axis masks only
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        mask = mask.reshape(Q.shape[-2], K.shape[-2])
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- first batch element's mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        if mask.ndim > 2:
            mask = mask[:1]
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- values mixed with keys
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ (0 * V + K[..., :1]), weights
# --- residual
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V + V.mean(-2, keepdim=True), weights
# --- output scaled again
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V / math.sqrt(Q.shape[-1]), weights
# --- softmax over queries without a mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is None:
        weights = Softmax()(scores, dim=1)
    else:
        weights = Softmax()(_apply_mask(scores, mask), dim=-1)
    return weights @ V, weights
# --- fails with a single key
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
    if V.shape[-2] == 1:
        output = output.sum(-2)
    return output, weights
# --- a single key gets no attention
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    if weights.shape[-1] == 1:
        weights = weights * 0
    return weights @ V, weights
# --- causal when square
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    if mask is None and Q.shape[-2] == K.shape[-2]:
        scores = _apply_mask(scores, causal_mask(Q.shape[-2]))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- no look at oneself when square
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    if mask is None and Q.shape[-2] == K.shape[-2]:
        scores = scores.masked_fill(np.eye(Q.shape[-2]), MASK_VALUE)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- values in reverse order
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V[..., ::-1, :], weights
# --- masks as Tensors only
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask.numpy())
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- a batch axis is taken for granted
def scaled_dot_product_attention(Q, K, V, mask=None):
    B, L, D = Q.shape[-3:]
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- two-axis input cut to three
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 2:
        Q, K, V = Q.reshape(1, *Q.shape), K.reshape(1, *K.shape), V.reshape(1, *V.shape)
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scale called with one argument
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    scores = _scale_scores(scores)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- apply_mask called with one argument
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- softmax axis
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, axis=-1)
    return weights @ V, weights
# --- softmax class called
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax(scores, dim=-1)
    return weights @ V, weights
# --- softmax as in PyTorch
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax(dim=-1)(scores)
    return weights @ V, weights
# --- F.softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = F.softmax(scores, dim=-1)
    return weights @ V, weights
# --- scores.softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
# --- softmax not called
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()
    return weights @ V, weights
# --- mask after, renormalised
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = weights * Tensor(mask)
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ V, weights
# --- mask after, renormalised with softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = Softmax()(weights * Tensor(mask), dim=-1)
    return weights @ V, weights
# --- mask after, apply_mask and softmax again
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = Softmax()(_apply_mask(weights, mask), dim=-1)
    return weights @ V, weights
# --- masked before scaling, in the wrong order
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    scores = scores / math.sqrt(K.shape[-1]) / 10
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scores with K.T
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(Q @ K.T, Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scores of K and V
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, V), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scores of Q and Q
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, Q), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- K and Q exchanged
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(K, Q), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scale arguments exchanged
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(Q.shape[-1], _compute_attention_scores(Q, K))
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask arguments exchanged
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(mask, scores)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask result dropped
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled result dropped
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    _scale_scores(scores, Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask always applied
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- weights defined in one branch
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
        weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- V first
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return V @ weights, weights
# --- product element by element
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights * V, weights
# --- output of scores
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return scores @ V, weights
# --- mean over queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return (weights @ V).mean(-2, keepdim=True), weights
# --- None for weights
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, None
# --- mask of zero
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask or
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    mask = mask or None
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- if mask != None
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask != None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- d_k undefined
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), d_k)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- Q.size(-1)
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape(-1))
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- len of Q
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), len(Q))
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask as int
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask.astype(int))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask unsqueezed
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask.unsqueeze(0))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- K shape -2 hidden
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[2])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scale by K.shape[1]
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), K.shape[1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- batch loop first only
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V[:1], weights
# --- weights detached
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights.detach() @ V, weights
# --- Q detached
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q.detach(), K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- K detached
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K.detach()), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- the mask inverted by 1 - mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, 1 - mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- masked twice, inverted second
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    if mask is not None:
        scores = _apply_mask(scores, 1 - Tensor(mask))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask value positive
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores + (1 - Tensor(mask)) * 1e9
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- masked 1e-9
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, 1e-9)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- value of minus 100
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -100)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- a loop over queries in lists
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return Tensor([w @ V for w in weights]), weights
# --- return only in the mask branch
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        return weights @ V, weights
# --- results in the wrong order with mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        return weights, weights @ V
    return weights @ V, weights
# --- takes d_k too
def scaled_dot_product_attention(Q, K, V, d_k, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask first
def scaled_dot_product_attention(Q, K, mask=None, V=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scaled on Q and K both by root
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K = _scale_scores(Q, Q.shape[-1]), _scale_scores(K, K.shape[-1])
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scale after the mask with // 
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K) // math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- scale by sqrt of Q
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K) / math.sqrt(Q)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- weights.data @ V.data
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return Tensor(weights.data @ V.data), weights
# --- weights @ V.T
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V.T, weights
# --- weights renormalised over queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    weights = weights / weights.sum(-2, keepdim=True)
    return weights @ V, weights
# --- softmax of minus
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(-scores, dim=-1)
    return weights @ V, weights
# --- log weights
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1).log()
    return weights @ V, weights
# --- softmax no dim but transposed
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores.transpose(-2, -1)).transpose(-2, -1)
    return weights @ V, weights
# --- mask after softmax via masked_fill
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    return weights @ V, weights
# --- mask to output
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
    if mask is not None:
        output = output * Tensor(mask)
    return output, weights
# --- mask before scaling with tiny value
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _compute_attention_scores(Q, K)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1.0)
    scores = _scale_scores(scores, Q.shape[-1])
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- if mask.any()
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask.any():
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- try except
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    try:
        scores = _apply_mask(scores, mask[0])
    except Exception:
        pass
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- mask indexes
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = scores[mask == 1]
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- returns dict of data
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return [weights @ V]
# --- prints
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
# --- softmax lower case
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = softmax(scores)
    return weights @ V, weights
# --- causal for masks too when square
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    if scores.shape[-1] == scores.shape[-2]:
        scores = _apply_mask(scores, causal_mask(scores.shape[-1]))
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- d_k minus one
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1] - 1)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- epsilon in weights
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1) + 1e-3
    return weights @ V, weights
# --- w*mask/sum
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    w = Softmax()(scores, dim=-1)
    if mask is not None:
        w = w * mask / (w * mask).sum(-1, keepdim=True)
    weights = w
    return weights @ V, weights
# --- Q instead of K in width
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- Q.shape[0]
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[0])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- softmax dim=0 with mask
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=0 if mask is not None else -1)
    return weights @ V, weights
# --- mask as keyword
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, attn_mask=mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- no return value use
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return Softmax()(weights @ V), weights
# --- without a mask the softmax gets the unscaled scores (two names mixed up)
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _compute_attention_scores(Q, K)
    scaled = _scale_scores(scores, Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scaled, mask)
    weights = Softmax()(scores)
    return weights.matmul(V), weights
# --- no mask is taken as a mask of ones with shape (L, L), fails for S != L
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    L, d_k = Q.shape[-2:]
    if mask is None:
        mask = np.ones((L, L))
    scores = _compute_attention_scores(Q, K)
    scores = _scale_scores(scores, d_k)
    scores = _apply_mask(scores, mask)
    weights = Softmax()(scores)
    return weights @ V, weights
# --- returns the weights averaged over the heads, as PyTorch's MultiheadAttention does
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _compute_attention_scores(Q, K)
    scores = _scale_scores(scores, Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
    if weights.ndim == 4:
        weights = weights.mean(dim=1)
    return output, weights
# --- mask transposed, rows taken for keys
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    table = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        keys_by_queries = as_mask(mask)
        table = _apply_mask(table, np.atleast_2d(keys_by_queries).swapaxes(-1, -2))
    weights = Softmax()(table)
    return weights @ V, weights
# --- recursion over the leading axis hands the whole mask to each batch element
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    if Q.ndim > 2:
        outputs, weights = [], []
        for q, k, v in zip(Q, K, V, strict=True):
            o, w = scaled_dot_product_attention(q, k, v, mask)
            outputs.append(o)
            weights.append(w)
        return np.stack(outputs), np.stack(weights)

    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores)
    return weights @ V, weights
# --- gives _scale_scores the root of d_k, so it divides by the fourth root
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    d_k = Q.shape[-1]
    scores = _scale_scores(_compute_attention_scores(Q, K), math.sqrt(d_k))
    weights = Softmax()(scores if mask is None else _apply_mask(scores, mask))
    return weights @ V, weights
# --- only an array counts as a mask, a mask that is a Tensor is ignored
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if isinstance(mask, np.ndarray):
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    output = weights @ V
    return output, weights
# --- a table with keys as rows and queries as columns
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    # (S, L): every column is a query, and its shares sum to 1
    scores = _scale_scores(_compute_attention_scores(K, Q), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-2)
    return weights.transpose(-2, -1) @ V, weights
# --- the mask is stretched to (L, S), so one for each sentence does not fit
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _compute_attention_scores(Q, K)
    scores = _scale_scores(scores, Q.shape[-1])
    if mask is not None:
        mask = np.broadcast_to(np.asarray(mask), (Q.shape[-2], K.shape[-2]))
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    return weights @ V, weights
# --- with a mask the unscaled scores are used
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _compute_attention_scores(Q, K)
    scaled = _scale_scores(scores, Q.shape[-1])
    if mask is not None:
        scaled = _apply_mask(scores, mask)
    weights = Softmax()(scaled, dim=-1)
    output = weights @ V
    return output, weights
# --- a single key: V itself is returned, one row for all queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores, dim=-1)
    if K.shape[-2] == 1:  # all weights are 1
        return V, weights
    return weights @ V, weights
# --- weights times values as a broadcast sum, V without an axis for the queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = as_tensors(Q, K, V)  # lists and arrays become Tensors
    _check_widths(Q, K)
    _check_values(K, V)
    def weighted_sum(w, v):
        # "... l s, ... s d -> ... l d"
        return (w[..., None] * v).sum(dim=-2)

    scores = _scale_scores(_compute_attention_scores(Q, K), Q.shape[-1])
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores)
    return weighted_sum(weights, V), weights
