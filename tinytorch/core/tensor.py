# Made from solutions/01_tensor/tensor.ipynb by `make course`. Edit the notebook, not this file.
"""Arrays with reverse-mode gradients, on NumPy alone."""

__all__ = ["no_grad", "cat", "stack", "custom_gradient", "Tensor"]

import contextlib
import sys

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
    """All that result was made from, each one before everything made from it; result itself is last."""
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        node, sources_done = stack.pop()
        if sources_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((source, False) for source, _ in node._sources)
    return order


class _Step:
    """A recorded operation. It keeps no values but those that its rules need.

    _sources  (source, rule) for each input that wants a gradient: the step that computed it, or the tensor that was created
    """

    def __init__(self, sources):
        self._sources = sources


def _record(data, *inputs):
    """The result of an operation, from its value and (tensor, rule) for each input.

    A rule takes the gradient g of the result and gives that of the input: g itself, a view of it, or a new array. `out` is g if
    nobody needs g afterwards, so that it may be overwritten, else None: NumPy's functions take both.
    """
    out = Tensor.__new__(Tensor)
    out.data = np.asarray(data)  # NumPy makes plain numbers of arrays without axes
    out.grad, out.requires_grad, out._step = None, False, None
    if _grad_enabled:
        sources = tuple((t._step or t, rule) for t, rule in inputs if t.requires_grad)
        if sources:
            out.requires_grad, out._step = True, _Step(sources)
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


def _unbroadcast_product(grad, factor, shape, out=None):
    """_unbroadcast(grad * factor, shape); the product takes no memory where only the last axis was stretched."""
    if shape == (*grad.shape[:-1], 1) != grad.shape:
        return np.vecdot(grad, factor)[..., None]
    return _unbroadcast(np.multiply(grad, factor, out=out), shape)


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
    a_shape, b_shape = a.shape, b.shape
    return _record(
        a.data + b.data,
        (a, lambda g, out: _unbroadcast(g, a_shape)),
        (b, lambda g, out: _unbroadcast(g, b_shape)),
    )


def _subtract(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("-", a, b)
    a_shape, b_shape = a.shape, b.shape
    return _record(
        a.data - b.data,
        (a, lambda g, out: _unbroadcast(g, a_shape)),
        (b, lambda g, out: -_unbroadcast(g, b_shape)),
    )


def _multiply(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("*", a, b)
    x, y = a.data, b.data
    x_shape, y_shape = x.shape, y.shape
    return _record(
        x * y,
        (b, lambda g, out: _unbroadcast_product(g, x, y_shape)),
        (a, lambda g, out: _unbroadcast_product(g, y, x_shape, out)),
    )


def _divide(a, b):
    a, b = _operands(a, b)
    _broadcast_shape("/", a, b)
    x_shape, y = a.shape, b.data
    quotient = a.data / y
    return _record(
        quotient,
        (b, lambda g, out: -_unbroadcast_product(g, quotient, y.shape) / y),
        (a, lambda g, out: _unbroadcast(np.divide(g, y, out=out), x_shape)),
    )


def _power(a, n):
    if not np.isscalar(n):
        raise TypeError(f"**: the exponent must be a plain number, it is a {type(n).__name__}")
    x, n = a.data, float(n)  # a NumPy float64 would turn float32 data into float64
    return _record(x**n, (a, lambda g, out: g * n * x ** (n - 1)))


def _references(tensor):
    """How many references there are to a tensor and to its array, and whether the array's memory is its own."""
    return sys.getrefcount(tensor), sys.getrefcount(tensor.data), tensor.data.base is None


def _references_when_alone():
    """What _references says in a method of a temporary tensor and in an augmented assignment, if nobody else has the tensor."""

    class Sample(Tensor):
        def exp(self):
            return _references(self)

        def __itruediv__(self, other):
            return _references(self)

    assigned = Sample(0.0)
    other_name = assigned
    seen_by_others = other_name.exp()
    del other_name
    assigned /= 1
    temporary = Sample(0.0).exp()
    return (temporary, assigned) if temporary != seen_by_others else (None, None)


def _assigning(name, ufunc, operation):
    """The method of `a /= b` and its like: as `a = a / b`, in the memory of a if nobody else can see it."""

    def assign(a, b):
        alone = _references(a) == _ASSIGNED
        a, b = _operands(a, b)
        fits = _broadcast_shape(name, a, b) == a.shape and a.dtype == b.dtype
        if not alone or not fits or a.requires_grad or b.requires_grad:
            return operation(a, b)
        ufunc(a.data, b.data, out=a.data)
        return a

    return assign


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
    x, y = a.data, b.data
    x_shape, y_shape = x.shape, y.shape
    return _record(
        x @ y,
        (a, lambda g, out: _unbroadcast(g @ y.swapaxes(-1, -2), x_shape)),
        (b, lambda g, out: _unbroadcast(x.swapaxes(-1, -2) @ g, y_shape)),
    )


def _transpose(a, dim0, dim1):
    return _record(a.data.swapaxes(dim0, dim1), (a, lambda g, out: g.swapaxes(dim0, dim1)))


def _reshape(a, shape):
    try:
        data = a.data.reshape(shape)
    except ValueError:
        raise ValueError(f"reshape: {a.shape} has {a.data.size} values, {shape} does not hold as many") from None
    old_shape = a.shape
    return _record(data, (a, lambda g, out: g.reshape(old_shape)))


_PLAIN_INDEX = (int, np.integer, slice, type(None), type(...))


def _index(a, key):
    shape = a.shape

    def put_back(g, out):
        grad = np.zeros(shape, g.dtype)
        if all(isinstance(k, _PLAIN_INDEX) for k in (key if isinstance(key, tuple) else (key,))):
            grad[key] = g
        else:
            np.add.at(grad, key, g)  # add, not assign: a list may name one place twice
        return grad

    return _record(a.data[key], (a, put_back))


def cat(tensors, dim=0):
    """Join tensors along an axis they already have; all other axes must be equal.

    Raises ValueError (NumPy's) when they are not.
    """
    ends = np.cumsum([t.shape[dim] for t in tensors])[:-1]

    def part(i):
        return lambda g, out: np.split(g, ends, axis=dim)[i]

    return _record(
        np.concatenate([t.data for t in tensors], axis=dim),
        *((t, part(i)) for i, t in enumerate(tensors)),
    )


def stack(tensors, dim=0):
    """Join tensors of one shape along a new axis."""

    def part(i):
        return lambda g, out: g.take(i, axis=dim)

    return _record(np.stack([t.data for t in tensors], axis=dim), *((t, part(i)) for i, t in enumerate(tensors)))


def custom_gradient(data, inputs, gradient):
    """The result of a computation on arrays, with its gradient given by a function.

    data      the result
    inputs    the tensors it was computed from
    gradient  g -> one array for each input, given the gradient g of the result; axes along which an input was
              broadcast are summed here
    """
    wanted = [(i, t.shape) for i, t in enumerate(inputs) if t.requires_grad]
    shares = []  # computed all at once, and handed out one after the other, as copies

    def next_share(g, out):
        if not shares:
            grads = gradient(g)
            shares.extend((grads[i], shape) for i, shape in wanted)
        share, shape = shares.pop(0)
        return _unbroadcast(np.array(share), shape)

    return _record(data, *((t, next_share) for t in inputs))


def _keep_axes(g, dim, keepdim, ndim):
    """A gradient of a reduced result, with the reduced axes put back as axes of length one."""
    if dim is None:
        return g.reshape((1,) * ndim)
    return g if keepdim else np.expand_dims(g, dim)


def _sum(a, dim, keepdim):
    shape = a.shape

    def spread(g, out):
        return np.broadcast_to(_keep_axes(g, dim, keepdim, len(shape)), shape)

    return _record(a.data.sum(axis=dim, keepdims=keepdim), (a, spread))


def _max(a, dim, keepdim):
    x = a.data
    largest = x.max(axis=dim, keepdims=keepdim)

    def to_winners(g, out):
        winners = (x == _keep_axes(largest, dim, keepdim, x.ndim)).astype(x.dtype)
        return _keep_axes(g, dim, keepdim, x.ndim) * winners / winners.sum(axis=dim, keepdims=True)

    return _record(largest, (a, to_winners))


def _exp(a):
    alone = _references(a) == _TEMPORARY
    y = np.exp(a.data, out=a.data if alone else None)
    return _record(y, (a, lambda g, out: np.multiply(g, y, out=out)))


def _log(a):
    x = a.data
    return _record(np.log(x), (a, lambda g, out: np.divide(g, x, out=out)))


def _sqrt(a):
    y = np.sqrt(a.data)
    return _record(y, (a, lambda g, out: np.divide(g, 2 * y, out=out)))


def _masked_fill(a, mask, value):
    mask = np.asarray(mask).astype(bool)
    try:
        mask = np.broadcast_to(mask, a.shape)
    except ValueError:
        raise ValueError(f"masked_fill: mask has shape {mask.shape}, it must broadcast to {a.shape}") from None
    value = np.asarray(value, dtype=a.dtype)

    def let_through(g, out):
        if out is None:
            return np.where(mask, g.dtype.type(0), g)
        np.copyto(out, 0, where=mask)
        return out

    return _record(np.where(mask, value, a.data), (a, let_through))


class Tensor:
    """An array that remembers how it was computed, so that gradients can flow back.

    data           anything NumPy can make an array of; float32 unless dtype says otherwise.
                   An array that has this dtype already is shared, not copied
    requires_grad  keep the gradient of this tensor in .grad (an array) when backward() reaches it
    """

    __array_ufunc__ = None  # array + Tensor, float64 * Tensor: NumPy leaves the work to us
    _sources = ()  # in a graph, a tensor is where the way back ends

    def __init__(self, data, requires_grad=False, dtype=None):
        if isinstance(data, Tensor):
            data, dtype = data.data, dtype or data.dtype
        if data is None:  # NumPy would make a nan of it
            raise TypeError("Tensor: data is None (a NoneType), it must be numbers")
        self.data = np.asarray(data, dtype=dtype or np.float32)
        self.grad = None
        self.requires_grad = requires_grad
        self._step = None

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
        start = self._step or self
        arrived = {id(start): (grad, False)}  # what has arrived at a node, and whether we may overwrite it
        for node in reversed(_topological_order(start)):
            g, ours = arrived.pop(id(node))
            if isinstance(node, Tensor):  # created, not computed
                node.grad = g.astype(node.dtype, copy=not ours) if node.grad is None else node.grad + g
            for n, (source, rule) in enumerate(node._sources, start=1):
                out = g if ours and n == len(node._sources) else None
                share = np.asarray(rule(g, out))
                new = share is out or (share is not g and share.base is None)
                if id(source) in arrived:
                    before, before_ours = arrived[id(source)]
                    share, new = np.asarray(np.add(before, share, out=before if before_ours else None)), True
                arrived[id(source)] = share, new

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
    __iadd__, __isub__ = _assigning("+", np.add, _add), _assigning("-", np.subtract, _subtract)
    __imul__, __itruediv__ = _assigning("*", np.multiply, _multiply), _assigning("/", np.divide, _divide)
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


_TEMPORARY, _ASSIGNED = _references_when_alone()
