# --- mean of squares less the square of the mean, for numbers that are centred already
def layer_norm(x, weight, bias):
    x = x - x.mean(dim=-1, keepdim=True)
    return weight * (x / ((x**2).mean(dim=-1, keepdim=True) + EPSILON).sqrt()) + bias


# --- sums and a power
def layer_norm(x, weight, bias):
    E = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / E
    variance = (centred**2).sum(-1, keepdim=True) / E
    return centred * (variance + 1e-5) ** -0.5 * weight + bias


# --- a matrix that subtracts the mean
def layer_norm(x, weight, bias):
    E = x.shape[-1]
    flat = x.reshape(-1, E) @ Tensor(np.eye(E) - 1 / E)
    spread = ((flat * flat) @ Tensor(np.full((E, 1), 1 / E)) + EPSILON).sqrt()
    return (flat / spread).reshape(*x.shape) * weight + bias


# --- row by row
def layer_norm(x, weight, bias):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        centred = row - row.mean()
        rows.append(centred / ((centred * centred).mean() + EPSILON).sqrt() * weight + bias)
    from tinytorch.core.tensor import stack

    return stack(rows).reshape(x.shape)
