# --- -1, positive axes
def _split_heads(x, num_heads):
    return x.reshape(x.shape[0], x.shape[1], num_heads, -1).transpose(2, 1)
# --- a loop and a stack
def _split_heads(x, num_heads):
    from tinytorch.core.tensor import stack

    D = x.shape[-1] // num_heads
    return stack([x[:, :, h * D : (h + 1) * D] for h in range(num_heads)], dim=1)
