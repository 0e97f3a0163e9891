# --- a power, and sums
def feed_forward(x, expand, contract):
    h = expand(x)
    inner = (h + h**3 * 0.044715) * (2 / math.pi) ** 0.5
    return contract(h * (_tanh(inner) + 1) / 2)


# --- by the sigmoid, in two ways of one sign
def feed_forward(x, expand, contract):
    z = expand(x)
    s = math.sqrt(8 / math.pi) * (z + 0.044715 * z * z * z)
    half = _tanh(s / 2) * 0.5 + 0.5
    return contract(z * half)


# --- NumPy and a gradient of its own
def feed_forward(x, expand, contract):
    (x,) = as_tensors(x)
    h = expand(x)
    a = h.data
    t = np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3))
    slope = 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * a * a)
    return contract(custom_gradient(0.5 * a * (1 + t), [h], lambda grad: [grad * slope]))


# --- weights by hand
def feed_forward(x, expand, contract):
    h = x @ expand.weight + expand.bias
    return (0.5 * h + 0.5 * h * _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))) @ contract.weight + contract.bias
