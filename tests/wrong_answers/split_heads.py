# --- a bare reshape
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, num_heads, L, E // num_heads)
# --- interleaved
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, E // num_heads, num_heads).transpose(2, 3).transpose(1, 2)
# --- reversed
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)[:, ::-1]
# --- not transposed
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads)
# --- wrong axes exchanged
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2).transpose(2, 3)
# --- width and number exchanged
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, E // num_heads, num_heads).transpose(1, 2)
# --- two heads always
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, 2, E // 2).transpose(1, 2)
# --- cut from the graph
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return Tensor(x.data.reshape(B, L, num_heads, E // num_heads).transpose(0, 2, 1, 3))
# --- batch axis last
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(0, 2)
# --- every head the same
def _split_heads(x, num_heads):
    D = x.shape[-1] // num_heads
    from tinytorch.core.tensor import stack

    return stack([x[:, :, :D] for _ in range(num_heads)], dim=1)
# --- heads folded into the batch
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2).reshape(B * num_heads, L, E // num_heads)
# --- width of a head fixed
def _split_heads(x, num_heads):
    return x.reshape(x.shape[0], x.shape[1], -1, 5).transpose(1, 2)
