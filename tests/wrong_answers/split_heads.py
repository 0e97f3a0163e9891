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
# --- view
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.view(B, L, num_heads, E // num_heads).transpose(1, 2)
# --- permute
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).permute(0, 2, 1, 3)
# --- float width
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E / num_heads).transpose(1, 2)
# --- B and L exchanged
def _split_heads(x, num_heads):
    L, B, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)
# --- transposed before the reshape
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, L, E // num_heads)
# --- transposed before the reshape, cut, and back
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, E // num_heads, L)
# --- a list of heads
def _split_heads(x, num_heads):
    D = x.shape[-1] // num_heads
    return [x[:, :, h * D:(h + 1) * D] for h in range(num_heads)]
# --- stack at 0
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import stack
    D = x.shape[-1] // num_heads
    return stack([x[:, :, h * D:(h + 1) * D] for h in range(num_heads)], 0)
# --- stack off by one
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import stack
    D = x.shape[-1] // num_heads
    return stack([x[:, :, h * D:h * D + D - 1] for h in range(num_heads)], 1)
# --- overlapping heads
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import stack
    D = x.shape[-1] // num_heads
    return stack([x[:, :, h:h + D] for h in range(num_heads)], 1)
# --- np.split
def _split_heads(x, num_heads):
    return np.split(x, num_heads, axis=-1)
# --- np.array_split of values
def _split_heads(x, num_heads):
    return Tensor(np.stack(np.split(x.data, num_heads, axis=-1), 1))
# --- scaled
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2) / math.sqrt(num_heads)
# --- head axis first, then cut
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(num_heads, B, L, E // num_heads).transpose(0, 1)
# --- two unpacked
def _split_heads(x, num_heads):
    L, E = x.shape
    return x.reshape(1, L, num_heads, E // num_heads).transpose(1, 2)
# --- one head unsplit
def _split_heads(x, num_heads):
    B, L, E = x.shape
    if num_heads == 1:
        return x
    return x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)
# --- shape changed in place
def _split_heads(x, num_heads):
    B, L, E = x.shape
    x.data = x.data.reshape(B, L, num_heads, E // num_heads).transpose(0, 2, 1, 3)
    return x
# --- D times H wrong
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, E // num_heads, -1).transpose(1, 2)
# --- stack at 2
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import stack
    D = x.shape[-1] // num_heads
    return stack([x[:, :, h * D:(h + 1) * D] for h in range(num_heads)], 2)
# --- cat in place of stack
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import cat
    D = x.shape[-1] // num_heads
    return cat([x[:, :, h * D:(h + 1) * D] for h in range(num_heads)], 1)
# --- cat of tensor
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import cat
    return cat(x, 1)
# --- unpack two from shape slice
def _split_heads(x, num_heads):
    B, L = x.shape
    return x
# --- head_dim undefined
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x.reshape(B, L, num_heads, head_dim).transpose(1, 2)
# --- rolled heads
def _split_heads(x, num_heads):
    B, L, E = x.shape
    h = x.reshape(B, L, num_heads, E // num_heads).transpose(1, 2)
    return Tensor(np.roll(h.data, 1, axis=1))
# --- batch reversed
def _split_heads(x, num_heads):
    B, L, E = x.shape
    return x[::-1].reshape(B, L, num_heads, E // num_heads).transpose(1, 2)
# --- np reshape
def _split_heads(x, num_heads):
    return np.reshape(x, (x.shape[0], num_heads, x.shape[1], -1))
# --- batch size 1 written into the reshape, sentences run together
def _split_heads(x, num_heads):
    _check_heads(x.shape[-1], num_heads)
    head_dim = x.shape[2] // num_heads
    x = x.reshape(1, -1, num_heads, head_dim)
    return x.transpose(1, 2)
