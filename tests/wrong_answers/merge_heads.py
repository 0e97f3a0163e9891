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
