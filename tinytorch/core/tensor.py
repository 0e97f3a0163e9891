# Made from solutions/01_tensor/tensor.ipynb by `make course`. Edit the notebook, not this file.
"""Arrays with reverse-mode gradients, on NumPy alone."""

__all__ = ["cat", "stack", "no_grad", "as_tensors", "custom_gradient", "Tensor"]

import contextlib
import copy
import functools
import threading

import numpy as np


def _topological_order(result):
    """All that result was made from, each after its own inputs; result is last."""
    order, seen, stack = [], set(), [(result, False)]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((source, False) for source, _ in node._inputs)
    return order


class _Recording(threading.local):
    """Whether operations are recorded; each thread has its own answer."""

    on = True


_recording = _Recording()
_adding_up = threading.Lock()  # for Tensor.backward: threads may share a parameter


@contextlib.contextmanager
def no_grad():
    """Within this context nothing is recorded: results hold values only, as for evaluation.

    It holds for the thread that entered it. Other threads go on recording.
    """
    before, _recording.on = _recording.on, False
    try:
        yield
    finally:
        _recording.on = before


def _record(data, *inputs):
    """The result of an operation, from its value and (tensor, rule) for each input.

    A rule takes the gradient of the result and gives that of the input. It changes no array.
    """
    data = np.asarray(data)  # NumPy turns results without axes into plain numbers
    result = Tensor(data, dtype=data.dtype)
    if _recording.on:
        result._inputs = tuple((tensor, rule) for tensor, rule in inputs if tensor.requires_grad)
        result.requires_grad = bool(result._inputs)
    return result


def as_tensors(*values):
    """Each of the values as a Tensor: tensors as they are; numbers, lists and arrays as constants.

    A constant takes the dtype of the first floating-point tensor among the values, float32 if
    there is no tensor at all. If all tensors hold whole numbers, NumPy decides: in
    Tensor([1, 2], dtype=int) * 0.5 the constant becomes a float64.
    """
    if all(isinstance(value, Tensor) for value in values):
        return values
    dtypes = [value.dtype for value in values if isinstance(value, Tensor)] or [np.dtype(np.float32)]
    dtype = next((dtype for dtype in dtypes if dtype.kind == "f"), dtypes[0])

    def constant(value):
        if dtype.kind == "f":
            return Tensor(value, dtype=dtype)
        promoted = np.result_type(dtype, value if np.isscalar(value) else np.asarray(value))
        return Tensor(value, dtype=promoted)

    return tuple(value if isinstance(value, Tensor) else constant(value) for value in values)


def _unbroadcast(grad, shape):
    """Sum a gradient over the axes along which an array of this shape was broadcast."""
    if grad.shape == shape:
        return grad
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))  # axes in front; () sums nothing
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    return grad.sum(axis=stretched, keepdims=True)


def _add(a, b):
    a, b = as_tensors(a, b)
    x, y = a.data, b.data
    return _record(
        x + y,
        (a, lambda g: _unbroadcast(g, x.shape)),
        (b, lambda g: _unbroadcast(g, y.shape)),
    )


def _subtract(a, b):
    a, b = as_tensors(a, b)
    x, y = a.data, b.data
    return _record(
        x - y,
        (a, lambda g: _unbroadcast(g, x.shape)),
        (b, lambda g: -_unbroadcast(g, y.shape)),
    )


def _multiply(a, b):
    a, b = as_tensors(a, b)
    x, y = a.data, b.data
    return _record(
        x * y,
        (a, lambda g: _unbroadcast(g * y, x.shape)),
        (b, lambda g: _unbroadcast(g * x, y.shape)),
    )


def _divide(a, b):
    a, b = as_tensors(a, b)
    x, y = a.data, b.data
    quotient = x / y
    return _record(
        quotient,
        (a, lambda g: _unbroadcast(g / y, x.shape)),
        (b, lambda g: _unbroadcast(-g * quotient / y, y.shape)),
    )


def _negative(a):
    return _record(-a.data, (a, lambda g: -g))


def _power(a, n):
    x = a.data
    if isinstance(n, np.generic | np.ndarray):
        n = n.item()  # a number of NumPy's could turn float32 into float64
    return _record(x**n, (a, lambda g: g * (n * x ** (n - 1) if n else np.zeros_like(x))))


def _matmul(a, b):
    a, b = as_tensors(a, b)
    if a.ndim == 1:  # a row, for the time of the product
        product = _matmul(_reshape(a, 1, -1), b)
        return _index(product, (..., 0, slice(None))) if b.ndim > 1 else _index(product, 0)
    if b.ndim == 1:  # a column
        return _index(_matmul(a, _reshape(b, -1, 1)), (..., 0))
    x, y = a.data, b.data
    return _record(
        x @ y,
        (a, lambda g: _unbroadcast(g @ y.swapaxes(-1, -2), x.shape)),
        (b, lambda g: _unbroadcast(x.swapaxes(-1, -2) @ g, y.shape)),
    )


def _transpose(a, dim0, dim1):
    """Exchange two axes."""
    return _record(a.data.swapaxes(dim0, dim1), (a, lambda g: g.swapaxes(dim0, dim1)))


def _reshape(a, *shape):
    """The same values in another shape, given as numbers or as one tuple; one axis may be -1."""
    x = a.data
    return _record(x.reshape(*shape), (a, lambda g: g.reshape(x.shape)))


_PLAIN_INDEX = (int, np.integer, slice, type(None), type(...))


def _index(a, key):
    """a[key] as in NumPy: numbers, slices, lists, arrays, or tensors with an integer dtype."""
    x = a.data
    keys = key if isinstance(key, tuple) else (key,)
    plain = all(isinstance(k, _PLAIN_INDEX) for k in keys)
    keys = tuple(k if isinstance(k, _PLAIN_INDEX) else copy.deepcopy(_array(k)) for k in keys)

    def put_back(g):
        grad = np.zeros(x.shape, g.dtype)
        if plain:
            grad[keys] = g
        else:
            np.add.at(grad, keys, g)  # add, not assign: a list may name one place twice
        return grad

    return _record(x[keys], (a, put_back))


def _array(x):
    return x.data if isinstance(x, Tensor) else x


def cat(tensors, dim=0):
    """Join tensors along an axis they already have; all other axes must be equal.

    Lists and arrays may be among them. Raises ValueError when shapes do not fit.
    """
    tensors = as_tensors(*tensors)
    joined = np.concatenate([tensor.data for tensor in tensors], axis=dim)
    ends = np.cumsum([tensor.shape[dim] for tensor in tensors])

    def part(start, end):
        return lambda g: g.swapaxes(0, dim)[start:end].swapaxes(0, dim)

    starts = [0, *ends[:-1]]
    parts = (part(start, end) for start, end in zip(starts, ends, strict=True))
    return _record(joined, *zip(tensors, parts, strict=True))


def stack(tensors, dim=0):
    """Join tensors of one shape along a new axis. Raises ValueError when shapes differ."""
    tensors = as_tensors(*tensors)
    return cat([_reshape(t, np.expand_dims(t.data, dim).shape) for t in tensors], dim)


def custom_gradient(data, inputs, gradient):
    """The result of a computation on arrays, with its gradient given by a function.

    data      the result
    inputs    the tensors it was computed from
    gradient  g -> one new array for each input, given the gradient g of the result; axes along
              which an input was broadcast are summed here

    backward() raises ValueError if there are not as many arrays as inputs, or one does not fit.
    """
    inputs = as_tensors(*inputs)
    shapes = [tensor.shape for tensor in inputs]

    def all_gradients(g):
        copied = np.array(g)  # gradient may write into it
        grads = [np.asarray(grad) for grad in gradient(copied)]
        _check_gradients(grads, shapes)
        return grads

    def its_own(i):
        return lambda grads: _unbroadcast(grads[i], shapes[i])

    # what arrives here as "gradient" is the list of all gradients
    stop = _record([], *((tensor, its_own(i)) for i, tensor in enumerate(inputs)))
    return _record(data, (stop, all_gradients))


def _check_gradients(grads, shapes):
    """One gradient for each input, of its shape or of one that it was broadcast to."""
    if len(grads) != len(shapes):
        raise ValueError(f"custom_gradient: {len(grads)} gradients came for {len(shapes)} inputs")
    for i, (grad, shape) in enumerate(zip(grads, shapes, strict=True)):
        if not _broadcasts_to(shape, grad.shape):
            came = f"input {i} has shape {shape}, its gradient came with {grad.shape}"
            raise ValueError(f"custom_gradient: {came}")


def _broadcasts_to(shape, target):
    """Whether an array of this shape can be stretched to the target shape."""
    pairs = zip(shape[::-1], target[::-1], strict=False)
    return len(shape) <= len(target) and all(n in (m, 1) for n, m in pairs)


def _keep_axes(g, dim, keepdim, ndim):
    """A gradient of a reduced result, with the reduced axes put back as axes of length one."""
    if dim is None:
        return g.reshape((1,) * ndim)
    return g if keepdim else np.expand_dims(g, dim)


def _sum(a, dim=None, keepdim=False):
    """The sum of all values, or along an axis or a tuple of axes."""
    x = a.data
    return _record(
        x.sum(axis=dim, keepdims=keepdim),
        (a, lambda g: np.broadcast_to(_keep_axes(g, dim, keepdim, x.ndim), x.shape)),
    )


def _mean(a, dim=None, keepdim=False):
    """The mean of all values, or along an axis or a tuple of axes."""
    x = a.data
    mean = x.mean(axis=dim, keepdims=keepdim)
    n = x.size / max(mean.size, 1)  # how many values each mean is of
    return _record(
        mean,
        (
            a,
            lambda g: np.broadcast_to(_keep_axes(g / g.dtype.type(n), dim, keepdim, x.ndim), x.shape),
        ),
    )


def _max(a, dim=None, keepdim=False):
    """The largest values (without their places); -inf along an axis of length 0."""
    x = a.data
    of_nothing = {"initial": -np.inf} if x.size == 0 and x.dtype.kind == "f" else {}
    largest = x.max(axis=dim, keepdims=keepdim, **of_nothing)

    def to_winners(g):
        winners = (x == _keep_axes(largest, dim, keepdim, x.ndim)).astype(g.dtype)
        equals = winners.sum(axis=dim, keepdims=True)
        return _keep_axes(g, dim, keepdim, x.ndim) * winners / equals

    return _record(largest, (a, to_winners))


def _exp(a):
    y = np.exp(a.data)
    return _record(y, (a, lambda g: g * y))


def _log(a):
    x = a.data
    return _record(np.log(x), (a, lambda g: g / x))


def _sqrt(a):
    y = np.sqrt(a.data)
    return _record(y, (a, lambda g: g / (2 * y)))


def _masked_fill(a, mask, value):
    """A copy with value where mask, which broadcasts, is true; no gradient flows there."""
    x = a.data
    mask = np.asarray(mask).astype(bool)  # a copy: you may change the mask afterwards
    if x.dtype.kind == "f":
        largest = np.finfo(x.dtype).max
        too_large = largest < np.abs(value) < np.inf
        value = np.asarray(np.sign(value) * largest / 2 if too_large else value, x.dtype)
    filled = np.where(np.broadcast_to(mask, x.shape), value, x)
    return _record(filled, (a, lambda g: np.where(mask, g.dtype.type(0), g)))


class Tensor:
    """An array that remembers how it was computed, so that gradients can flow back.

    data           numbers: an array, a list, a number, another Tensor (whose dtype is kept).
                   An array of the right dtype is shared, not copied
    requires_grad  keep the gradient of this tensor in .grad (an array) when backward() reaches it
    dtype          float32 unless it is given

    Between forward and backward, `x.data = new` changes no gradient. Writing into the array
    (`x.data += 1`) makes gradients wrong: some rules see the new values, others the old.
    """

    def __init__(self, data, requires_grad=False, dtype=None):
        if isinstance(data, Tensor):
            data, dtype = data.data, dtype or data.dtype
        self.data = np.asarray(data, dtype=dtype or np.float32)
        self.grad, self.requires_grad = None, requires_grad
        self._inputs = ()  # (tensor, rule) for each input that wants a gradient

    def backward(self, grad=None):
        """Add the gradient of this tensor to .grad of every created tensor that asked for it.

        grad  array of this tensor's shape, the gradient that arrives; 1 for a single value
        """
        dtype = np.result_type(self.dtype, np.float32)  # float16 could not sum up many shares
        arrived = {id(self): np.ones(self.shape, dtype) if grad is None else np.array(grad, dtype)}
        for node in reversed(_topological_order(self)):
            g = arrived.pop(id(node))
            if not node._inputs:  # created, not computed: the way back ends here
                g = np.array(g, node.dtype if node.dtype.kind == "f" else g.dtype)  # of its own
                with _adding_up:
                    node.grad = g if node.grad is None else np.asarray(node.grad + g)
            for source, rule in node._inputs:
                share = rule(g)
                before = arrived.get(id(source))
                arrived[id(source)] = share if before is None else before + share

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    dtype = property(lambda self: self.data.dtype)

    def detach(self):
        """The same values, cut off from the graph."""
        return Tensor(self)

    # arithmetic; the other side may be a number, a list or an array (on the left: _call_ufunc)
    __add__, __radd__ = _add, lambda self, other: _add(other, self)
    __sub__, __rsub__ = _subtract, lambda self, other: _subtract(other, self)
    __mul__, __rmul__ = _multiply, lambda self, other: _multiply(other, self)
    __truediv__, __rtruediv__ = _divide, lambda self, other: _divide(other, self)
    __matmul__, __rmatmul__ = _matmul, lambda self, other: _matmul(other, self)
    __pow__, __neg__ = _power, _negative

    matmul, __getitem__, transpose, reshape = _matmul, _index, _transpose, _reshape
    sum, mean, max = _sum, _mean, _max
    exp, log, sqrt, masked_fill = _exp, _log, _sqrt, _masked_fill


def _single(x, wanted):
    """The one value of a tensor, as a plain number."""
    if x.data.size != 1:
        raise TypeError(
            f"{wanted} needs a single value, this Tensor has shape {x.shape}; "
            "reduce it first, say with .sum() or .max()"
        )
    return x.data.item()


def _truth(x):
    if x.data.size != 1:
        raise ValueError(
            f"`if` needs one truth value, this Tensor has shape {x.shape}; "
            "write `is not None` to ask whether there is one, or (x > 0).all() or (x > 0).any()"
        )
    return bool(x.data.item())


def _length(x):
    if x.ndim == 0:
        raise TypeError("len() and loops need an axis, this Tensor is a single number, without any")
    return x.shape[0]


def _text(x):
    values = np.array2string(x.data, precision=4, threshold=100, separator=", ", prefix="Tensor(")
    dtype = "" if x.dtype == np.float32 else f", dtype={x.dtype}"
    return f"Tensor({values}{dtype}{', requires_grad=True' if x.requires_grad else ''})"


def _state(x):
    """What copies and pickles keep."""
    return {**x.__dict__, "requires_grad": x.requires_grad and not x._inputs, "_inputs": ()}


Tensor.item = lambda x: _single(x, "item()")
Tensor.__float__ = lambda x: float(_single(x, "float()"))
Tensor.__int__ = lambda x: int(_single(x, "int()"))
Tensor.__format__ = lambda x, spec: format(_single(x, f"{{x:{spec}}}"), spec) if spec else str(x)
Tensor.__bool__, Tensor.__len__, Tensor.__repr__, Tensor.__getstate__ = (
    _truth,
    _length,
    _text,
    _state,
)
Tensor.__iter__ = lambda x: iter([x[i] for i in range(len(x))])
Tensor.numpy = lambda x: x.data
Tensor.__array__ = lambda x, dtype=None, copy=None: np.array(x.data, dtype=dtype, copy=copy)
Tensor.__eq__, Tensor.__ne__ = lambda a, b: a.data == _array(b), lambda a, b: a.data != _array(b)
Tensor.__lt__, Tensor.__le__ = lambda a, b: a.data < _array(b), lambda a, b: a.data <= _array(b)
Tensor.__gt__, Tensor.__ge__ = lambda a, b: a.data > _array(b), lambda a, b: a.data >= _array(b)


def _with_numpy_words(function):
    """The function, with axis= for dim= and keepdims= for keepdim=."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        ours = {"axis": "dim", "keepdims": "keepdim"}
        return function(*args, **{ours.get(word, word): value for word, value in kwargs.items()})

    return called


Tensor.sum, Tensor.mean, Tensor.max = map(_with_numpy_words, (_sum, _mean, _max))
cat, stack = _with_numpy_words(cat), _with_numpy_words(stack)


def _table_turned(x):
    if x.ndim > 2:
        raise ValueError(f"x.T is for tables, this has shape {x.shape}; write x.mT or x.transpose(dim0, dim1)")
    return x.transpose(0, 1) if x.ndim == 2 else x


def _last_two_exchanged(x):
    if x.ndim < 2:
        raise ValueError(f"x.mT exchanges the last two axes, this has shape {x.shape}")
    return x.transpose(-2, -1)


def _size(x, dim=None):
    """The shape, or the length of one axis, as in PyTorch."""
    return x.shape if dim is None else x.shape[dim]


Tensor.T, Tensor.mT, Tensor.size = property(_table_turned), property(_last_two_exchanged), _size

_INSTEAD = {
    "write x.transpose(dim0, dim1), which exchanges two axes": "permute swapaxes moveaxis t",
    "write x.reshape(...)": "view flatten ravel resize",
    "write x[:, None] or x.reshape(...)": "unsqueeze expand_dims",
    "write x.reshape(...) or x[:, 0]": "squeeze",
    "write x @ y": "dot mm bmm",
    "write x + y, x - y, x * y, x / y or x ** n": "add sub subtract mul multiply div divide pow",
    "write Softmax()(x, dim=-1), from tinytorch.core.activations": "softmax",
    "write ReLU()(x), from tinytorch.core.activations": "relu",
    "write x.ndim": "dim ndimension",
    "write Tensor(x.data, dtype=...), cut off from the graph": "astype to float double half",
    "write Tensor(x.data.copy()), cut off from the graph": "copy clone",
    "write x.grad = None": "zero_grad zero_",
    "max gives the largest values themselves, without their places": "values indices",
}
_SENTENCES = {name: sentence for sentence, names in _INSTEAD.items() for name in names.split()}
_WHAT_THERE_IS = (
    "+ - * / ** @, sum, mean, max, exp, log, sqrt, masked_fill, reshape, transpose, indexing, cat and stack"
)


def _unknown_name(x, name):
    if name in ("shape", "ndim", "dtype"):
        kind = type(x.__dict__.get("data")).__name__
        raise AttributeError(f"x.data is a {kind}, it must be an array: write x.data = np.array(...)")
    known = f"what there is: {_WHAT_THERE_IS}"
    if hasattr(np.ndarray, name):
        known += f"; or x.data.{name} for the values only"
    sentence = "" if name.startswith("_") else f"; {_SENTENCES.get(name, known)}"
    raise AttributeError(f"a Tensor has no {name!r}{sentence}", name=name, obj=x)


def _refuse_writing(x, key, value):
    raise TypeError(
        "x[...] = v: nothing is written into a Tensor, since its gradient could not follow; "
        "build a new one with masked_fill, cat or stack, or write into x.data before x is used"
    )


Tensor.__getattr__, Tensor.__setitem__ = _unknown_name, _refuse_writing


def _explained(function, explain):
    """The function; its ValueError says what explain(its arguments) says, if that is not None."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError:
            sentence = explain(*args, **kwargs)
            if sentence is None:
                raise
            raise ValueError(sentence) from None

    return called


def _fit(a, b):
    """Whether two shapes broadcast."""
    return all(n == m or 1 in (n, m) for n, m in zip(a[::-1], b[::-1], strict=False))


def _broadcast_sentence(sign):
    def explain(a, b):
        a, b = as_tensors(a, b)
        if _fit(a.shape, b.shape):
            return None
        rule = "counted from the right, axes must be equal or 1"
        return f"{sign}: shapes {a.shape} and {b.shape} do not broadcast; {rule}"

    return explain


def _product_sentence(a, b):
    a, b = as_tensors(a, b)
    if 0 in (a.ndim, b.ndim):
        return f"@: shapes {a.shape} and {b.shape}; both sides need at least one axis"
    name, rows = ("second-to-last", b.shape[-2]) if b.ndim > 1 else ("only one", b.shape[0])
    if a.shape[-1] == rows:
        return f"@: shapes {a.shape} and {b.shape}; the axes before the last two must be equal or 1"
    return (
        f"@: the left side has shape {a.shape}, the right side {b.shape}; the left's last axis "
        f"({a.shape[-1]}) must equal the right's {name} ({rows})"
    )


def _reshape_sentence(a, *shape):
    shape = shape[0] if len(shape) == 1 else shape
    if np.sum(np.equal(shape, -1)) > 1:
        return f"reshape: {shape} leaves more than one axis open; only one may be -1"
    return f"reshape: {a.shape} has {a.data.size} values, {shape} does not hold as many"


def _mask_sentence(a, mask, value):
    shape = np.shape(mask)
    if _broadcasts_to(shape, a.shape):
        return None
    return f"masked_fill: mask has shape {shape}, it must broadcast to {a.shape}"


def _joining_sentence(rule):
    def explain(tensors, dim=0, **words):
        shapes = [tensor.shape for tensor in as_tensors(*tensors)]
        dim = words.get("axis", dim)
        if not shapes:
            return "there is nothing to join: the list of tensors is empty"
        if len(set(shapes)) == 1:
            return f"tensors of shape {shapes[0]} cannot be joined along {dim}: there is no such axis"
        return f"shapes {' and '.join(map(str, shapes))} cannot be joined along {dim}; {rule}"

    return explain


for _names, _explain in (
    ("__add__ __radd__", _broadcast_sentence("+")),
    ("__sub__ __rsub__", _broadcast_sentence("-")),
    ("__mul__ __rmul__", _broadcast_sentence("*")),
    ("__truediv__ __rtruediv__", _broadcast_sentence("/")),
    ("__matmul__ __rmatmul__ matmul", _product_sentence),
    ("reshape", _reshape_sentence),
    ("masked_fill", _mask_sentence),
):
    for _name in _names.split():
        setattr(Tensor, _name, _explained(getattr(Tensor, _name), _explain))
cat = _explained(cat, _joining_sentence("it must be an axis of all, and all others be equal"))
stack = _explained(stack, _joining_sentence("they must be equal, as it is a new axis"))


def _checked(function, check):
    """The function, with check(its arguments) before it."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        check(*args, **kwargs)
        return function(*args, **kwargs)

    return called


def _tensors_in(value):
    """The tensors in a tensor, or in lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    nested = (part for part in parts if isinstance(part, Tensor | list | tuple | dict))
    return [tensor for part in nested for tensor in _tensors_in(part)]


def _as_array(data, name):
    """data as NumPy sees it; rows of different lengths are named."""
    try:
        return np.asarray(data)
    except ValueError:
        raise ValueError(f"{name} is a list with rows of different lengths") from None


def _check_numbers(x, data, requires_grad=False, dtype=None, **others):
    if isinstance(data, Tensor):
        dtype = dtype or data.dtype
    elif not isinstance(data, np.ndarray) or data.dtype.kind not in "biuf":
        if _as_array(data, "data").dtype.kind not in "biuf":
            given = "None (a NoneType)" if data is None else f"a {type(data).__name__}"
            raise TypeError(f"Tensor: data is {given}, it must be numbers")
        if any(tensor.requires_grad for tensor in _tensors_in([data])):
            raise TypeError("Tensor: in a list, Tensors lose their gradients; write stack([...]) or cat([...])")
    if requires_grad is False:
        return
    if not isinstance(requires_grad, bool | np.bool_):
        raise TypeError(f"requires_grad is {requires_grad!r}, it must be True or False; write dtype=...")
    if np.dtype(dtype or np.float32).kind != "f":
        raise TypeError("requires_grad: only floating-point numbers have one; leave out dtype for float32")


Tensor.__init__ = _checked(Tensor.__init__, _check_numbers)


def _check_exponent(x, n):
    if isinstance(n, Tensor) or np.ndim(n) != 0 or not np.isreal(n):
        raise TypeError(f"**: the exponent must be a plain number, it is a {type(n).__name__}")


def _check_backward(x, grad=None, **others):
    if not x.requires_grad:
        raise ValueError("backward: nothing was recorded; did an input have requires_grad=True?")
    if grad is None and x.data.size != 1:
        raise ValueError(f"backward: this tensor has shape {x.shape}; give a grad of that shape or sum it first")
    if grad is not None and np.shape(grad) != x.shape:
        raise ValueError(f"backward: grad has shape {np.shape(grad)}, this tensor needs {x.shape}")


Tensor.__pow__ = _checked(Tensor.__pow__, _check_exponent)
Tensor.backward = _checked(Tensor.backward, _check_backward)


def _check_list(tensors, *others, **words):
    if isinstance(tensors, Tensor):
        raise TypeError("cat and stack take a list of tensors: cat([a, b]), stack([a, b])")


cat, stack = _checked(cat, _check_list), _checked(stack, _check_list)
for _name, _method in vars(Tensor).items():
    if callable(_method):
        _method.__qualname__ = f"Tensor.{_name}"  # as Python's own errors call it

_OPERATIONS = {
    np.add: Tensor.__add__,
    np.subtract: Tensor.__sub__,
    np.multiply: Tensor.__mul__,
    np.divide: Tensor.__truediv__,
    np.matmul: Tensor.__matmul__,
    np.power: Tensor.__pow__,
    np.negative: Tensor.__neg__,
    np.square: lambda x: x**2,
    np.exp: Tensor.exp,
    np.log: Tensor.log,
    np.sqrt: Tensor.sqrt,
    np.sum: Tensor.sum,
    np.mean: Tensor.mean,
    np.max: Tensor.max,
    np.reshape: Tensor.reshape,
    np.swapaxes: Tensor.transpose,
    np.concatenate: cat,
    np.stack: stack,
}
_WITHOUT_GRADIENT = {
    *(np.allclose, np.isclose, np.array_equal, np.equal, np.not_equal, np.less, np.less_equal),
    *(np.greater, np.greater_equal, np.isnan, np.isinf, np.isfinite, np.argmax, np.argmin),
    *(np.shape, np.ndim, np.size),
}


def _call_numpy(function, *args, **kwargs):
    """A NumPy function that was given a Tensor: our operation, or the function on bare values."""
    if "out" in kwargs:
        raise TypeError(
            f"np.{function.__name__}: an array cannot take in a Tensor in place; "
            "write a = a + x in place of a += x, or a += x.data for the values only"
        )
    if function in _OPERATIONS:
        return _OPERATIONS[function](*args, **kwargs)
    wanted = function not in _WITHOUT_GRADIENT
    if wanted and any(tensor.requires_grad for tensor in _tensors_in((args, kwargs))):
        raise TypeError(
            f"np.{function.__name__} knows nothing of gradients; use what there is: "
            f"{_WHAT_THERE_IS}; or np.{function.__name__}(x.data) for the values only"
        )
    return function(*_bare(args), **_bare(kwargs))


def _bare(value):
    """Arrays in place of tensors, in lists, tuples and dictionaries too."""
    if isinstance(value, dict):
        return {key: _bare(part) for key, part in value.items()}
    return type(value)(map(_bare, value)) if type(value) in (list, tuple) else _array(value)


def _call_ufunc(x, ufunc, method, *args, **kwargs):
    function = ufunc if method == "__call__" else getattr(ufunc, method)
    return _call_numpy(function, *args, **kwargs)


def _call_function(x, function, types, args, kwargs):
    return _call_numpy(function, *args, **kwargs)


Tensor.__array_ufunc__, Tensor.__array_function__ = _call_ufunc, _call_function
