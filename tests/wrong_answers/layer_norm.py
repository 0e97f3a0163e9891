# --- normalised over the positions
def layer_norm(x, weight, bias):
    axis = 0 if x.ndim < 2 else -2
    centred = x - x.mean(axis, keepdim=True)
    variance = (centred * centred).mean(axis, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- normalised over the first axis
def layer_norm(x, weight, bias):
    centred = x - x.mean(0, keepdim=True)
    variance = (centred * centred).mean(0, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- normalised over everything
def layer_norm(x, weight, bias):
    centred = x - x.mean()
    variance = (centred * centred).mean()
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- normalised over positions and width
def layer_norm(x, weight, bias):
    axes = (-1,) if x.ndim == 1 else (-2, -1)
    centred = x - x.mean(axes, keepdim=True)
    variance = (centred * centred).mean(axes, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- sample variance
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- divided by the variance
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON) * weight + bias


# --- the sum of squares in place of the variance
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).sum(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- epsilon beside the root
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance.sqrt() + EPSILON) * weight + bias


# --- no epsilon
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / variance.sqrt() * weight + bias


# --- the weight is missing
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() + bias


# --- the bias is missing
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight


# --- weight and bias are missing
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt()


# --- bias before weight
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return (centred / (variance + EPSILON).sqrt() + bias) * weight


# --- weight and bias exchanged
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * bias + weight


# --- weight and bias first
def layer_norm(x, weight, bias):
    x = x * weight + bias
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt()


# --- the mean is not subtracted
def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) * (x - mean)).mean(-1, keepdim=True)
    return x / (variance + EPSILON).sqrt() * weight + bias


# --- root mean square
def layer_norm(x, weight, bias):
    square = (x * x).mean(-1, keepdim=True)
    return x / (square + EPSILON).sqrt() * weight + bias


# --- the variance of what is not centred
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    square = (x * x).mean(-1, keepdim=True)
    return centred / (square + EPSILON).sqrt() * weight + bias


# --- only centred
def layer_norm(x, weight, bias):
    return (x - x.mean(-1, keepdim=True)) * weight + bias


# --- times the spread
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred * (variance + EPSILON).sqrt() * weight + bias


# --- NumPy's variance
def layer_norm(x, weight, bias):
    mean, variance = x.data.mean(-1, keepdims=True), x.data.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * weight + bias


# --- the mean is cut
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True).detach()
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- weight and bias are cut
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight.data + bias.data


# --- without keepdim
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1)
    variance = (centred * centred).mean(-1)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- centred in place
def layer_norm(x, weight, bias):
    x.data -= x.data.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdim=True)
    return x / (variance + EPSILON).sqrt() * weight + bias


# --- the axis is found by its length
def layer_norm(x, weight, bias):
    axis = x.shape.index(len(weight))
    centred = x - x.mean(axis, keepdim=True)
    variance = (centred * centred).mean(axis, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- x is centred in place afterwards
def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdim=True)
    x.data -= mean.data
    return centred / (variance + EPSILON).sqrt() * weight + bias


# --- for matrices only
def layer_norm(x, weight, bias):
    from tinytorch.core.tensor import stack

    rows = []
    for row in x:
        centred = row - row.mean()
        rows.append(centred / ((centred * centred).mean() + EPSILON).sqrt() * weight + bias)
    return stack(rows)


# --- x is returned
def layer_norm(x, weight, bias):
    return x


# --- epsilon twice
def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred + EPSILON).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias
