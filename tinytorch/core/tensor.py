# Made from solutions/01_tensor/tensor.ipynb by `make course`. Edit the notebook, not this file.
"""Arrays with reverse-mode gradients, on NumPy alone."""

__all__ = ["no_grad", "cat", "stack", "Tensor"]

import contextlib

import numpy as np

_grad_enabled = True


@contextlib.contextmanager
def no_grad():
    """Within this context nothing is recorded: results hold values only, as for evaluation and for updates."""
    global _grad_enabled
    before, _grad_enabled = _grad_enabled, False
    try:
        yield
    finally:
        _grad_enabled = before


def _topological_order(result):
    """All tensors that result was made from, each one before everything made from it; result itself is last."""
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        tensor, inputs_done = stack.pop()
        if inputs_done:
            order.append(tensor)
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            stack.append((tensor, True))
            stack.extend((t, False) for t, _ in tensor._inputs)
    return order


def _record(data, *inputs):
    """The result of an operation: its value, and (tensor, rule) for each input that wants a gradient."""
    out = Tensor.__new__(Tensor)
    out.data, out.grad, out.requires_grad, out._inputs = data, None, False, ()
    if _grad_enabled:
        out._inputs = tuple((t, rule) for t, rule in inputs if t.requires_grad)
        out.requires_grad = bool(out._inputs)
    return out


def _operands(a, b):
    """Both sides of a binary operation as tensors; a number or an array takes the dtype of the other side."""
    if not isinstance(a, Tensor):
        a = Tensor(a, dtype=b.dtype)
    if not isinstance(b, Tensor):
        b = Tensor(b, dtype=a.dtype)
    return a, b


def _unbroadcast(grad, shape):
    """Sum a gradient over the axes along which an array of this shape was broadcast."""
    if grad.shape == shape:
        return grad
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    return grad.sum(axis=stretched, keepdims=True) if stretched else grad


def _broadcast_shape(name, a, b):
    """The common shape of two operands, or a ValueError that names both."""
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ValueError(
            f"{name}: shapes {a.shape} and {b.shape} do not broadcast; counted from the right, axes must be equal or 1"
        ) from None


def _add(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("+", a, b)
    return _record(
        a.data + b.data,
        (a, lambda g: _unbroadcast(g, a.shape)),
        (b, lambda g: _unbroadcast(g, b.shape)),
    )


def _subtract(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("-", a, b)
    return _record(
        a.data - b.data,
        (a, lambda g: _unbroadcast(g, a.shape)),
        (b, lambda g: _unbroadcast(-g, b.shape)),
    )


def _multiply(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("*", a, b)
    return _record(
        a.data * b.data,
        (a, lambda g: _unbroadcast(g * b.data, a.shape)),
        (b, lambda g: _unbroadcast(g * a.data, b.shape)),
    )


def _divide(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("/", a, b)
    return _record(
        a.data / b.data,
        (a, lambda g: _unbroadcast(g / b.data, a.shape)),
        (b, lambda g: _unbroadcast(-g * a.data / b.data**2, b.shape)),
    )


def _power(a, n):
    if not np.isscalar(n):
        raise TypeError(f"**: the exponent must be a plain number, it is a {type(n).__name__}")
    n = float(n)  # a NumPy float64 would turn float32 data into float64
    return _record(a.data**n, (a, lambda g: g * n * a.data ** (n - 1)))


def _matmul(a, b):
    a, b = _operands(a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(f"@: shapes {a.shape} and {b.shape}; both sides need at least one axis")
    if a.ndim == 1:  # a row, for the time of the product
        product = _matmul(a.reshape(1, -1), b)
        return product.reshape(*(product.shape[:-2] + product.shape[-1:])) if b.ndim > 1 else product.reshape(())
    if b.ndim == 1:
        product = _matmul(a, b.reshape(-1, 1))
        return product.reshape(*product.shape[:-1])
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"@: the left side has shape {a.shape}, the right side {b.shape}; "
            f"the left's last axis ({a.shape[-1]}) must equal the right's last but one ({b.shape[-2]})"
        )
    return _record(
        a.data @ b.data,
        (a, lambda g: _unbroadcast(g @ b.data.swapaxes(-1, -2), a.shape)),
        (b, lambda g: _unbroadcast(a.data.swapaxes(-1, -2) @ g, b.shape)),
    )


def _transpose(a, dim0, dim1):
    return _record(a.data.swapaxes(dim0, dim1), (a, lambda g: g.swapaxes(dim0, dim1)))


def _reshape(a, shape):
    try:
        data = a.data.reshape(shape)
    except ValueError:
        raise ValueError(f"reshape: {a.shape} has {a.data.size} values, {shape} does not hold as many") from None
    return _record(data, (a, lambda g: g.reshape(a.shape)))


def _index(a, key):
    def put_back(g):
        grad = np.zeros(a.shape, g.dtype)
        np.add.at(grad, key, g)  # add, not assign: an index may name one place twice
        return grad

    return _record(a.data[key], (a, put_back))


def cat(tensors, dim=0):
    """Join tensors along an axis they already have; all other axes must be equal.

    Raises ValueError (NumPy's) when they are not.
    """
    ends = np.cumsum([t.shape[dim] for t in tensors])[:-1]

    def part(i):
        return lambda g: np.split(g, ends, axis=dim)[i]

    return _record(
        np.concatenate([t.data for t in tensors], axis=dim),
        *((t, part(i)) for i, t in enumerate(tensors)),
    )


def stack(tensors, dim=0):
    """Join tensors of one shape along a new axis."""

    def part(i):
        return lambda g: g.take(i, axis=dim)

    return _record(np.stack([t.data for t in tensors], axis=dim), *((t, part(i)) for i, t in enumerate(tensors)))


def _keep_axes(g, dim, keepdim, ndim):
    """A gradient of a reduced result, with the reduced axes put back as axes of length one."""
    if dim is None:
        return g.reshape((1,) * ndim)
    return g if keepdim else np.expand_dims(g, dim)


def _sum(a, dim, keepdim):
    def spread(g):
        return np.broadcast_to(_keep_axes(g, dim, keepdim, a.ndim), a.shape)

    return _record(a.data.sum(axis=dim, keepdims=keepdim), (a, spread))


def _max(a, dim, keepdim):
    data = a.data.max(axis=dim, keepdims=keepdim)

    def to_winners(g):
        winners = (a.data == _keep_axes(data, dim, keepdim, a.ndim)).astype(a.dtype)
        return _keep_axes(g, dim, keepdim, a.ndim) * winners / winners.sum(axis=dim, keepdims=True)

    return _record(data, (a, to_winners))


def _exp(a):
    data = np.exp(a.data)
    return _record(data, (a, lambda g: g * data))


def _log(a):
    return _record(np.log(a.data), (a, lambda g: g / a.data))


def _sqrt(a):
    data = np.sqrt(a.data)
    return _record(data, (a, lambda g: g / (2 * data)))


def _masked_fill(a, mask, value):
    mask = np.asarray(mask).astype(bool)
    try:
        mask = np.broadcast_to(mask, a.shape)
    except ValueError:
        raise ValueError(f"masked_fill: mask has shape {mask.shape}, it must broadcast to {a.shape}") from None
    value = np.asarray(value, dtype=a.dtype)
    return _record(np.where(mask, value, a.data), (a, lambda g: np.where(mask, g.dtype.type(0), g)))


class Tensor:
    """An array that remembers how it was computed, so that gradients can flow back.

    data           anything NumPy can make an array of; float32 unless dtype says otherwise.
                   An array that has this dtype already is shared, not copied
    requires_grad  keep the gradient of this tensor in .grad (an array) when backward() reaches it
    """

    __array_ufunc__ = None  # array + Tensor, float64 * Tensor: NumPy leaves the work to us

    def __init__(self, data, requires_grad=False, dtype=None):
        if isinstance(data, Tensor):
            data, dtype = data.data, dtype or data.dtype
        if data is None:  # NumPy would make a nan of it
            raise TypeError("Tensor: data is None (a NoneType), it must be numbers")
        self.data = np.asarray(data, dtype=dtype or np.float32)
        self.grad = None
        self.requires_grad = requires_grad
        self._inputs = ()  # (tensor, rule) pairs

    def backward(self, grad=None):
        """Add the gradient of this tensor to .grad of every tensor it was made from that asked for it.

        grad  array of this tensor's shape: what arrives from above. May be left out for a single value (1)
        """
        if not self.requires_grad:
            raise ValueError("backward: nothing was recorded; did an input have requires_grad=True?")
        if grad is None and self.data.size != 1:
            raise ValueError(
                f"backward: this tensor has shape {self.shape}; give a grad of that shape, or sum it first"
            )
        grad = np.ones_like(self.data) if grad is None else np.asarray(grad, dtype=self.dtype)
        if grad.shape != self.shape:
            raise ValueError(f"backward: grad has shape {grad.shape}, this tensor needs {self.shape}")
        arrived = {id(self): grad}
        for tensor in reversed(_topological_order(self)):
            g = arrived.pop(id(tensor))
            if not tensor._inputs:  # created, not computed
                tensor.grad = g.astype(tensor.dtype) if tensor.grad is None else tensor.grad + g
            for source, rule in tensor._inputs:
                share = rule(g)
                arrived[id(source)] = arrived[id(source)] + share if id(source) in arrived else share

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    dtype = property(lambda self: self.data.dtype)

    def numpy(self):
        return self.data

    def item(self):
        return self.data.item()

    def detach(self):
        """The same values, cut off from the graph."""
        return Tensor(self.data, dtype=self.dtype)

    # arithmetic; the other side may be a number or an array
    __add__ = __radd__ = _add
    __mul__ = __rmul__ = _multiply
    __sub__, __rsub__ = _subtract, lambda self, other: _subtract(other, self)
    __truediv__, __rtruediv__ = _divide, lambda self, other: _divide(other, self)
    __matmul__, __rmatmul__ = _matmul, lambda self, other: _matmul(other, self)
    __pow__, __neg__ = _power, lambda self: _multiply(self, -1.0)
    matmul = _matmul

    # moving values about
    __getitem__ = _index

    def transpose(self, dim0, dim1):
        """Exchange two axes."""
        return _transpose(self, dim0, dim1)

    def reshape(self, *shape):
        """The same values in another shape, given as numbers or as one tuple; one axis may be -1."""
        return _reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape)

    # reductions: over all values, over one axis or over a tuple of axes
    def sum(self, dim=None, keepdim=False):
        return _sum(self, dim, keepdim)

    def mean(self, dim=None, keepdim=False):
        total = _sum(self, dim, keepdim)
        return total / (self.data.size / max(total.data.size, 1))

    def max(self, dim=None, keepdim=False):
        """The largest values (without their places)."""
        return _max(self, dim, keepdim)

    # each value by itself
    exp, log, sqrt = _exp, _log, _sqrt

    def masked_fill(self, mask, value):
        """A copy with value where mask is true. The mask broadcasts; no gradient flows where it is true."""
        return _masked_fill(self, mask, value)

    # comparisons give plain boolean arrays
    __eq__, __ne__ = lambda a, b: a.data == _array(b), lambda a, b: a.data != _array(b)
    __lt__, __le__ = lambda a, b: a.data < _array(b), lambda a, b: a.data <= _array(b)
    __gt__, __ge__ = lambda a, b: a.data > _array(b), lambda a, b: a.data >= _array(b)
    __hash__ = object.__hash__

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype, copy=copy)

    def __len__(self):
        return len(self.data)

    def __bool__(self):
        return bool(self.data)  # NumPy refuses for more than one value

    def __repr__(self):
        values = np.array2string(self.data, separator=", ", prefix="Tensor(")
        return f"Tensor({values}{', requires_grad=True' if self.requires_grad else ''})"


def _array(x):
    return x.data if isinstance(x, Tensor) else x
