# --- no bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        return x @ self.weight

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight stored as (out, in)
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (out_features, in_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight.transpose(0, 1)
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias=False not handled
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        return x @ self.weight + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- a bias in spite of bias=False
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,))
        self.use_bias = bias

    def forward(self, x):
        return x @ self.weight + self.bias

    def parameters(self):
        return [self.weight, self.bias] if self.use_bias else [self.weight]

    def __call__(self, x):
        return self.forward(x)
# --- only two axes
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        rows, columns = x.shape
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters lacks the bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight]

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives copies
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [Tensor(p.data, requires_grad=True) for p in (self.weight, self.bias) if p is not None]

    def __call__(self, x):
        return self.forward(x)
# --- weights all zero
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = Tensor(np.zeros((in_features, out_features)), requires_grad=True)
        self.bias = Tensor(np.zeros(out_features), requires_grad=True) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters not trainable
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = Tensor(np.random.randn(in_features, out_features))
        self.bias = Tensor(np.zeros(out_features)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weights made anew in each call
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.sizes, self.use_bias = (in_features, out_features), bias
        self.forward(Tensor(np.zeros((1, in_features))))

    def forward(self, x):
        self.weight = _start_values(self.sizes[0], self.sizes)
        self.bias = _start_values(self.sizes[0], self.sizes[1:]) if self.use_bias else None
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- computed on .data
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x.data @ self.weight.data
        return Tensor(y if self.bias is None else y + self.bias.data)

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- an activation too many
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias
        return y.masked_fill(y <= 0, 0.0)

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight created with its axes exchanged
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (out_features, in_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- no bias unless asked for
class Linear:
    def __init__(self, in_features, out_features, bias=False):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives None for no bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives a dict
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return {"weight": self.weight, "bias": self.bias}

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives nothing
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives an empty list
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return []

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives the bias first
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.bias, self.weight]

    def __call__(self, x):
        return self.forward(x)
# --- parameters gives arrays
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight.data]

    def __call__(self, x):
        return self.forward(x)
# --- if self.bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y + self.bias if self.bias else y

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- if bias, not self.bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y + self.bias if bias else y

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight not a Tensor
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = np.random.randn(in_features, out_features)
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias zeros, weights ones
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = Tensor(np.ones((in_features, out_features)), requires_grad=True)
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias of the input's width
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (in_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias as a column
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features, 1)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight times x
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = self.weight @ x
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- element-wise
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x * self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- transposed as in PyTorch
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- forward without a return
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- no return without a bias
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        if self.bias is not None:
            return y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias set to zero for none
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else Tensor(np.zeros(out_features))

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weights called W and b
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.W = _start_values(in_features, (in_features, out_features))
        self.b = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.W
        return y if self.b is None else y + self.b

    def parameters(self):
        return [self.W] if self.b is None else [self.W, self.b]

    def __call__(self, x):
        return self.forward(x)
# --- flattened input
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x.reshape(x.shape[0], -1) @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- self forgotten in weight
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- no __call__
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]
# --- bias not trainable
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = Tensor(np.zeros(out_features)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias with a cut
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias.data

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- mean in place
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        x.data -= 0.5
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- a sigmoid
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias
        return 1 / (1 + (-y).exp())

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- no bias argument
class Linear:
    def __init__(self, in_features, out_features):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,))

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- no parameters
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def __call__(self, x):
        return self.forward(x)
# --- arguments swapped in start values
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values((in_features, out_features), in_features)
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- forward takes two
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x, y):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- returns tuple
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y, self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters property
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    @property
    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias twice in list
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias name shadows
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = bias

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- np.dot
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = np.dot(x, self.weight)
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- np.matmul data
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = Tensor(np.matmul(x.data, self.weight.data))
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight detached
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight.detach()
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- loops with axes
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = Tensor([[sum(float(x.data[i, k]) * float(self.weight.data[k, j]) for k in range(x.shape[1])) for j in range(self.weight.shape[1])] for i in range(x.shape[0])])
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- reshape output
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias
        return y.reshape(-1, self.weight.shape[1])

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- abs
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias
        return (y * y).sqrt()

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- default bias none string
class Linear:
    def __init__(self, in_features, out_features, bias=None):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- missing forward
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- weight list
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = [_start_values(in_features, (out_features,)) for _ in range(in_features)]
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- softmax
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        y = y if self.bias is None else y + self.bias
        e = y.exp()
        return e / e.sum(-1, keepdim=True)

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- x.T
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = (self.weight.T @ x.T).T
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- self.bias in x
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = (x + self.bias) @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias only for two axes
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None or x.ndim > 2 else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- parameters one tensor
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return self.weight

    def __call__(self, x):
        return self.forward(x)
# --- dropout
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = (x * (np.random.rand(*x.shape) > 0.2)) @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- bias added to weight
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ (self.weight + (0 if self.bias is None else self.bias))
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- rows normalised
class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = (x / x.sum(-1, keepdim=True)) @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- truth value of the bias tensor asked in forward
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        if self.bias:
            y = y + self.bias
        return y

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- start values of the bias from out_features
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        def make(*shape):
            return _start_values(shape[0], shape)

        self.weight = make(in_features, out_features)
        self.bias = make(out_features) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- start values divided once more by the root, so the weight is a computed tensor
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features)) / np.sqrt(in_features)
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- list of parameters is a class attribute that all layers share
class Linear:

    _parameters = []

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = None
        self._parameters.append(self.weight)
        if bias:
            self.bias = _start_values(in_features, (out_features,))
            self._parameters.append(self.bias)

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return self._parameters

    def __call__(self, x):
        return self.forward(x)
# --- forward takes exactly three axes: batch, length, width
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        B, L, width = x.shape
        flat = x.reshape(B * L, width)
        y = flat @ self.weight
        if self.bias is not None:
            y = y + self.bias
        return y.reshape(B, L, self.weight.shape[1])

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- the bias is drawn at the first call of forward
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.in_features, self.out_features = in_features, out_features
        self.use_bias = bias
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = None

    def forward(self, x):
        if self.use_bias and self.bias is None:
            self.bias = _start_values(self.in_features, (self.out_features,))
        y = x @ self.weight
        return y if self.bias is None else y + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
# --- Tensor(x) in forward cuts the input off
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        x = Tensor(x)  # so that lists and arrays work, too
        y = x @ self.weight
        return y + self.bias if self.bias is not None else y

    def parameters(self):
        parameters = [self.weight]
        if self.bias is not None:
            parameters.append(self.bias)
        return parameters

    def __call__(self, x):
        return self.forward(x)
# --- the result always gets three axes
class Linear:

    def __init__(self, in_features, out_features, bias=True):
        self.n_in, self.n_out = in_features, out_features
        self.weight = _start_values(in_features, (in_features, out_features))
        self.bias = _start_values(in_features, (out_features,)) if bias else None

    def forward(self, x):
        flat = x.reshape(-1, self.n_in) @ self.weight
        if self.bias is not None:
            flat = flat + self.bias
        return flat.reshape(x.shape[0], -1, self.n_out)  # (batch, positions, features)

    def parameters(self):
        if self.bias is None:
            return [self.weight]
        return [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)
