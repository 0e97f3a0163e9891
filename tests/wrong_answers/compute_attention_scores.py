# --- K reshaped, not transposed
def _compute_attention_scores(Q, K):
    return Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])
# --- queries with themselves
def _compute_attention_scores(Q, K):
    return Q @ Q.transpose(-2, -1)
# --- K with Q
def _compute_attention_scores(Q, K):
    return K @ Q.transpose(-2, -1)
# --- not transposed
def _compute_attention_scores(Q, K):
    return Q @ K
# --- axes counted from the left, three axes only
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(1, 2)
# --- axes of a flat matrix
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(0, 1)
# --- axes for four axes only
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(2, 3)
# --- shape taken apart
def _compute_attention_scores(Q, K):
    B, S, D = K.shape
    return Q @ K.transpose(-2, -1)
# --- computed on .data
def _compute_attention_scores(Q, K):
    return Tensor(Q.data @ np.swapaxes(K.data, -2, -1))
# --- K cut from the graph
def _compute_attention_scores(Q, K):
    return Q @ Tensor(K.data).transpose(-2, -1)
# --- Q cut from the graph
def _compute_attention_scores(Q, K):
    return Tensor(Q.data) @ K.transpose(-2, -1)
# --- scaled here
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])
# --- cosines
def _compute_attention_scores(Q, K):
    Q = Q / (Q * Q).sum(-1, keepdim=True).sqrt()
    K = K / (K * K).sum(-1, keepdim=True).sqrt()
    return Q @ K.transpose(-2, -1)
# --- softmax here
def _compute_attention_scores(Q, K):
    return Softmax()(Q @ K.transpose(-2, -1))
# --- first batch element's keys for all
def _compute_attention_scores(Q, K):
    if K.ndim > 2:
        return Q @ K[:1].transpose(-2, -1)
    return Q @ K.transpose(-2, -1)
# --- nothing returned
def _compute_attention_scores(Q, K):
    scores = Q @ K.transpose(-2, -1)
# --- element-wise product
def _compute_attention_scores(Q, K):
    return (Q * K).sum(-1)
# --- a batch axis is taken for granted
def _compute_attention_scores(Q, K):
    B, L, D = Q.shape[-3:]
    return Q @ K.transpose(-2, -1)
# --- a loop over the batch with the first keys
def _compute_attention_scores(Q, K):
    from tinytorch.core.tensor import stack

    if Q.ndim == 3:
        return stack([q @ K[0].transpose(0, 1) for q in Q])
    return Q @ K.transpose(-2, -1)
# --- negative scores cut off
def _compute_attention_scores(Q, K):
    scores = Q @ K.transpose(-2, -1)
    return scores.masked_fill(scores < 0, 0.0)
# --- K.T
def _compute_attention_scores(Q, K):
    return Q @ K.T
# --- np.dot
def _compute_attention_scores(Q, K):
    return np.dot(Q, K.transpose(-2, -1))
# --- einsum
def _compute_attention_scores(Q, K):
    return np.einsum("bld,bsd->bls", Q, K)
# --- permute
def _compute_attention_scores(Q, K):
    return Q @ K.permute(0, 2, 1)
# --- swapaxes without arguments
def _compute_attention_scores(Q, K):
    return Q @ K.transpose()
# --- transpose with three axes
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(0, 2, 1)
# --- loops that overwrite
def _compute_attention_scores(Q, K):
    scores = Tensor(np.zeros((*Q.shape[:-1], K.shape[-2])))
    for i in range(Q.shape[-2]):
        for j in range(K.shape[-2]):
            scores[..., i, j] = (Q[..., i, :] * K[..., j, :]).sum(-1)
    return scores
# --- loops for two axes
def _compute_attention_scores(Q, K):
    from tinytorch.core.tensor import stack
    return stack([stack([(q * k).sum() for k in K]) for q in Q])
# --- the sum over the wrong axis
def _compute_attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).sum(-2)
# --- sum over everything
def _compute_attention_scores(Q, K):
    return (Q @ K.transpose(-2, -1)).sum()
# --- both transposed
def _compute_attention_scores(Q, K):
    return Q.transpose(-2, -1) @ K.transpose(-2, -1)
# --- result transposed
def _compute_attention_scores(Q, K):
    return (Q @ K.transpose(-2, -1)).transpose(-2, -1)
# --- last key lost
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1)[..., :-1]
# --- keys in reverse order
def _compute_attention_scores(Q, K):
    return Q @ K[..., ::-1, :].transpose(-2, -1)
# --- mean in place of sum
def _compute_attention_scores(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).mean(-1)
# --- absolute
def _compute_attention_scores(Q, K):
    s = Q @ K.transpose(-2, -1)
    return (s * s).sqrt()
# --- squared
def _compute_attention_scores(Q, K):
    s = Q @ K.transpose(-2, -1)
    return s ** 2
# --- exponentials
def _compute_attention_scores(Q, K):
    return (Q @ K.transpose(-2, -1)).exp()
# --- flattened
def _compute_attention_scores(Q, K):
    return Q.reshape(-1, Q.shape[-1]) @ K.reshape(-1, K.shape[-1]).T
# --- np.matmul of values
def _compute_attention_scores(Q, K):
    return np.matmul(Q.data, np.swapaxes(K.data, -1, -2))
# --- Q centred in place
def _compute_attention_scores(Q, K):
    Q.data -= Q.data.mean(-1, keepdims=True)
    return Q @ K.transpose(-2, -1)
# --- returns a tuple
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1), K
# --- last two axes by number from shape
def _compute_attention_scores(Q, K):
    n = K.ndim
    return Q @ K.transpose(n - 2, n)
# --- one branch without return
def _compute_attention_scores(Q, K):
    if Q.ndim == 3:
        return Q @ K.transpose(1, 2)
# --- matmul fn
def _compute_attention_scores(Q, K):
    return np.matmul(Q, K)
# --- K.swapaxes
def _compute_attention_scores(Q, K):
    return Q @ K.swapaxes(-2, -1)
# --- torch.bmm
def _compute_attention_scores(Q, K):
    return torch.bmm(Q, K.transpose(1, 2))
# --- loop on queries, no stack
def _compute_attention_scores(Q, K):
    scores = []
    for q in Q:
        scores.append(q @ K.transpose(-2, -1))
    return scores
# --- masked upper
def _compute_attention_scores(Q, K):
    s = Q @ K.transpose(-2, -1)
    return s.masked_fill(np.tril(np.ones(s.shape[-2:])) == 0, -1e9)
# --- plus one
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1) + 1
# --- float division by rows
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1) / Q.shape[-2]
# --- unit K
def _compute_attention_scores(Q, K):
    return Q @ (K / (K * K).sum(-1, keepdim=True).sqrt()).transpose(-2, -1)
# --- variable shadowed
def _compute_attention_scores(Q, K):
    Q = K
    return Q @ K.transpose(-2, -1)
# --- typo
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(-2, -1).datas
# --- positive axes from ndim right minus
def _compute_attention_scores(Q, K):
    return Q @ K.transpose(K.ndim - 1, K.ndim - 3)
# --- dot with zip of shapes
def _compute_attention_scores(Q, K):
    D = Q.shape[2]
    return Q @ K.transpose(-2, -1)
# --- absolute distances
def _compute_attention_scores(Q, K):
    return ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(-1)
# --- loops in numpy
def _compute_attention_scores(Q, K):
    out = np.zeros((Q.shape[0], Q.shape[1], K.shape[1]))
    for b in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            for j in range(K.shape[1]):
                out[b, i, j] = (Q.data[b, i] * K.data[b, j]).sum()
    return Tensor(out)
# --- K.reshape(-1...)
def _compute_attention_scores(Q, K):
    return Q @ K.reshape(K.shape[0], K.shape[2], K.shape[1])
# --- two-d only
def _compute_attention_scores(Q, K):
    L, D = Q.shape
    return Q @ K.transpose(0, 1)
# --- normal minus
def _compute_attention_scores(Q, K):
    return Q - K
# --- einsum on values
def _compute_attention_scores(Q, K):
    return Tensor(np.einsum("bld,bsd->bls", Q.data, K.data))
# --- first component lost
def _compute_attention_scores(Q, K):
    return Q[..., 1:] @ K[..., 1:].transpose(-2, -1)
# --- loops first width lost
def _compute_attention_scores(Q, K):
    out = 0
    for d in range(1, Q.shape[-1]):
        out = out + Q[..., d : d + 1] * K[..., d : d + 1].transpose(-2, -1)
    return out
# --- products by broadcasting, new axis counted from the left
def _compute_attention_scores(Q, K):
    _check_widths(Q, K)
    products = Q[:, None] * K[None, :]  # every query with every key
    return products.sum(dim=-1)
# --- np.inner of the two tensors
def _compute_attention_scores(Q, K):
    _check_widths(Q, K)
    return np.inner(Q, K)
# --- leading axes flattened into one and not put back
def _compute_attention_scores(Q, K):
    _check_widths(Q, K)
    L, D = Q.shape[-2:]
    S = K.shape[-2]
    q = Q.reshape(-1, L, D)
    k = K.reshape(-1, S, D)
    return q @ k.transpose(1, 2)
# --- transposes the keys only if the shapes do not fit without
def _compute_attention_scores(Q, K):
    _check_widths(Q, K)
    if Q.shape[-1] == K.shape[-2]:
        return Q @ K
    return Q @ K.transpose(-2, -1)
# --- every query meets the keys of the whole batch
def _compute_attention_scores(Q, K):
    _check_widths(Q, K)
    D = Q.shape[-1]
    queries, keys = Q.reshape(-1, D), K.reshape(-1, D)
    table = queries @ keys.T
    return table.reshape(*Q.shape[:-1], -1)
