# --- no curve
def feed_forward(x, expand, contract):
    return contract(expand(x))


# --- ReLU
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(h.masked_fill(h.data < 0, 0.0))


# --- only the tangent
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(_tanh(h))


# --- not multiplied by h
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- no half
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- no 1
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))


# --- a minus
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 - _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- no cube
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * h)))


# --- a square
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h))))


# --- 0.44715
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.44715 * h * h * h))))


# --- no root
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(2 / math.pi * (h + 0.044715 * h * h * h))))


# --- root of 2 pi
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 * math.pi) * (h + 0.044715 * h * h * h))))


# --- no factor
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(h + 0.044715 * h * h * h)))


# --- factor of both
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * 0.044715 * (h + h * h * h))))


# --- sigmoid
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(h / (1 + (-1.702 * h).exp()))


# --- at the end, too
def feed_forward(x, expand, contract):
    h = expand(x)
    h = contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))
    return 0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))


# --- only at the end
def feed_forward(x, expand, contract):
    h = contract(expand(x))
    return 0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))


# --- before the first layer
def feed_forward(x, expand, contract):
    h = x
    return contract(expand(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))))


# --- with a residual connection
def feed_forward(x, expand, contract):
    h = expand(x)
    return x + contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- no biases
def feed_forward(x, expand, contract):
    h = x @ expand.weight
    return (0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))) @ contract.weight


# --- no second layer
def feed_forward(x, expand, contract):
    h = expand(x)
    return 0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))


# --- layers exchanged
def feed_forward(x, expand, contract):
    h = contract(x)
    return expand(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- tangent of exponentials
def feed_forward(x, expand, contract):
    h = expand(x)
    z = math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)
    tangent = (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())
    return contract(0.5 * h * (1 + tangent))


# --- exponential that overflows
def feed_forward(x, expand, contract):
    h = expand(x)
    z = math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)
    return contract(h / (1 + (-2 * z).exp()))


# --- NumPy's tangent
def feed_forward(x, expand, contract):
    h = expand(x)
    bend = np.tanh(math.sqrt(2 / math.pi) * (h.data + 0.044715 * h.data**3))
    return contract(0.5 * h * (1 + bend))


# --- GELU cut
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract((0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))).detach())


# --- x is added, cut
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h)))) + x.data


# --- x set to zero
def feed_forward(x, expand, contract):
    h = expand(x * 1)
    result = contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))
    x.data[...] = 0
    return result


# --- nothing returned
def feed_forward(x, expand, contract):
    h = expand(x)
    contract(0.5 * h * (1 + _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))))


# --- SiLU
def feed_forward(x, expand, contract):
    h = expand(x)
    return contract(h * (1 + _tanh(h / 2)) / 2)


# --- the error function
def feed_forward(x, expand, contract):
    h = expand(x)
    a = h.data.astype(float)
    share = 0.5 * (1 + np.vectorize(math.erf)(a / math.sqrt(2)))
    slope = share + a * np.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    return contract(custom_gradient(a * share, [h], lambda grad: [grad * slope]))
