# --- a bare reshape
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.reshape(B, L, H * D)
# --- interleaved
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).transpose(2, 3).reshape(B, L, H * D)
# --- reversed heads
def _merge_heads(x):
    B, H, L, D = x.shape
    return x[:, ::-1].transpose(1, 2).reshape(B, L, H * D)
# --- heads summed
def _merge_heads(x):
    return x.sum(1)
# --- only transposed
def _merge_heads(x):
    return x.transpose(1, 2)
# --- wrong axes
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(2, 3).reshape(B, L, H * D)
# --- cut from the graph
def _merge_heads(x):
    B, H, L, D = x.shape
    return Tensor(x.data.transpose(0, 2, 1, 3).reshape(B, L, H * D))
# --- length lost
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B * L, H * D)
# --- embedding width fixed
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, 15)
# --- L and H exchanged in unpacking
def _merge_heads(x):
    B, L, H, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
# --- L and H exchanged, no transpose
def _merge_heads(x):
    B, L, H, D = x.shape
    return x.reshape(B, L, H * D)
# --- cat over heads
def _merge_heads(x):
    from tinytorch.core.tensor import cat
    return cat([x[:, h] for h in range(x.shape[1])], 1)
# --- cat over heads dim 0
def _merge_heads(x):
    from tinytorch.core.tensor import cat
    return cat([x[:, h] for h in range(x.shape[1])])
# --- stack over heads
def _merge_heads(x):
    from tinytorch.core.tensor import stack
    return stack([x[:, h] for h in range(x.shape[1])], -1)
# --- np.concatenate of values
def _merge_heads(x):
    return Tensor(np.concatenate([x.data[:, h] for h in range(x.shape[1])], -1))
# --- the last head lost
def _merge_heads(x):
    from tinytorch.core.tensor import cat
    return cat([x[:, h] for h in range(x.shape[1] - 1)], -1)
# --- heads repeated
def _merge_heads(x):
    from tinytorch.core.tensor import cat
    return cat([x[:, 0] for h in range(x.shape[1])], -1)
# --- three axes
def _merge_heads(x):
    H, L, D = x.shape
    return x.transpose(0, 1).reshape(L, H * D)
# --- only first batch
def _merge_heads(x):
    B, H, L, D = x.shape
    return x[:1].transpose(1, 2).reshape(1, L, H * D)
# --- H times D missing
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, D)
# --- max over heads
def _merge_heads(x):
    return x.max(1)
# --- components reversed
def _merge_heads(x):
    B, H, L, D = x.shape
    return x[..., ::-1].transpose(1, 2).reshape(B, L, H * D)
# --- batch and positions exchanged 2
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(0, 2).reshape(B, L, H * D)
# --- flatten
def _merge_heads(x):
    return x.transpose(1, 2).flatten(2)
# --- needs num_heads
def _merge_heads(x, num_heads):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D)
# --- transposes after reshape
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.reshape(B, H * D, L).transpose(1, 2)
# --- reshape -1
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, -1)
# --- transpose(1,3)
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 3).reshape(B, L, H * D)
# --- transpose(1,2) dropped
def _merge_heads(x):
    B, H, L, D = x.shape
    x.transpose(1, 2)
    return x.reshape(B, L, H * D)
# --- cat no list
def _merge_heads(x):
    from tinytorch.core.tensor import cat
    return cat(x.transpose(1, 2), -1)
# --- float sizes
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D / 1)
# --- scaled
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, H * D) / H
# --- np.concatenate on axis 1
def _merge_heads(x):
    return np.concatenate([x[:, h] for h in range(x.shape[1])], axis=1)
# --- np.hstack
def _merge_heads(x):
    return np.hstack([x[:, h] for h in range(x.shape[1])])
# --- use of num_heads
def _merge_heads(x):
    B, H, L, D = x.shape
    return x.transpose(1, 2).reshape(B, L, num_heads * D)
# --- mean of stacked
def _merge_heads(x):
    return x.transpose(1, 2).mean(2)
