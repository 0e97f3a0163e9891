"""What somebody who knows NumPy or PyTorch writes: it works as it would there, or the error says what to write."""

import math

import numpy as np
import pytest

from tinytorch.core.tensor import Tensor, cat, stack

X = np.array([[0.5, 1.5, 2.0], [1.0, 3.0, 0.25]], np.float32)


def x(requires_grad=True):
    return Tensor(X, requires_grad=requires_grad)


def close(found, expected):
    assert isinstance(found, Tensor) and found.shape == np.shape(expected) and found.dtype == np.float32
    np.testing.assert_allclose(found.data, expected, rtol=1e-6)


WORKS = {
    "np.exp": (lambda x: np.exp(x), np.exp(X)),
    "np.log": (lambda x: np.log(x), np.log(X)),
    "np.sqrt": (lambda x: np.sqrt(x), np.sqrt(X)),
    "np.square": (lambda x: np.square(x), X**2),
    "np.negative": (lambda x: np.negative(x), -X),
    "np.add": (lambda x: np.add(X, x), X + X),
    "np.subtract": (lambda x: np.subtract(1, x), 1 - X),
    "np.multiply": (lambda x: np.multiply(x, 2), 2 * X),
    "np.divide": (lambda x: np.divide(X, x), X / X),
    "np.power": (lambda x: np.power(x, 3), X**3),
    "np.matmul": (lambda x: np.matmul(x, X.T), X @ X.T),
    "array + x": (lambda x: X + x, X + X),
    "array @ x": (lambda x: X.T @ x, X.T @ X),
    "np.float64 - x": (lambda x: np.float64(1) - x, 1 - X),
    "np.sum": (lambda x: np.sum(x, axis=1, keepdims=True), X.sum(axis=1, keepdims=True)),
    "np.mean": (lambda x: np.mean(x, 0), X.mean(0)),
    "np.max": (lambda x: np.max(x, axis=-1), X.max(axis=-1)),
    "np.concatenate": (lambda x: np.concatenate([x, X], axis=1), np.concatenate([X, X], axis=1)),
    "np.stack": (lambda x: np.stack([X, x]), np.stack([X, X])),
    "np.reshape": (lambda x: np.reshape(x, (3, 2)), X.reshape(3, 2)),
    "np.swapaxes": (lambda x: np.swapaxes(x, 0, 1), X.T),
    "axis": (lambda x: x.sum(axis=0), X.sum(axis=0)),
    "keepdims": (lambda x: x.mean(-1, keepdims=True), X.mean(-1, keepdims=True)),
    "axis of max": (lambda x: x.max(axis=1, keepdims=True), X.max(axis=1, keepdims=True)),
    "axis of cat": (lambda x: cat([x, x], axis=-1), np.concatenate([X, X], axis=-1)),
    "axis of stack": (lambda x: stack([x, x], axis=1), np.stack([X, X], axis=1)),
    "T": (lambda x: x.T, X.T),
    "T of a row": (lambda x: x[0].T, X[0]),
    "mT": (lambda x: x.reshape(1, 2, 3).mT, X.reshape(1, 2, 3).swapaxes(1, 2)),
    "iteration": (lambda x: stack([row * 2 for row in x]), X * 2),
    "unpacking": (lambda x: (lambda a, b: a - b)(*x), X[0] - X[1]),
    "reversed": (lambda x: stack(list(reversed(x))), X[::-1]),
    "zip": (lambda x: stack([a * b for a, b in zip(x, X, strict=True)]), X * X),
    "sum of rows": (lambda x: sum(x), X[0] + X[1]),
    "lists": (lambda x: x + [1, 2, 3], X + [1, 2, 3]),
    "index by a mask": (lambda x: x[x > 1], X[X > 1]),
    "index by a tensor": (lambda x: x[Tensor([1, 0, 1], dtype=int)], X[[1, 0, 1]]),
}


@pytest.mark.parametrize(("call", "expected"), WORKS.values(), ids=WORKS)
def test_it_works_and_the_gradient_flows(call, expected):
    tensor = x()
    result = call(tensor)
    close(result, expected)
    assert result.requires_grad
    result.sum().backward()
    assert tensor.grad.shape == X.shape and np.isfinite(tensor.grad).all()


def test_single_values_are_read_as_numbers():
    loss = x().mean()
    value = float(X.mean())
    assert float(loss) == pytest.approx(value) and math.sqrt(loss) == pytest.approx(value**0.5)
    assert f"{loss:.3f}" == f"{value:.3f}" and f"{Tensor([[2.5]]):5.1f}" == "  2.5"
    assert int(Tensor(3.7)) == 3 and loss.item() == float(loss) and bool(Tensor([1.0])) and not Tensor(0.0)
    assert f"{loss}" == str(loss) and (1 if Tensor(2.0) > 1 else 0) == 1


def test_sizes():
    t = x()
    assert len(t) == 2 and t.size() == (2, 3) and t.size(-1) == 3 and t.ndim == 2 and t.shape == (2, 3)
    assert [row.shape for row in t] == [(3,), (3,)] and np.shape(t) == (2, 3) and np.ndim(t) == 2


def test_comparisons_and_looks_are_plain():
    t = x()
    assert (t > 1).tolist() == (X > 1).tolist() and np.greater(X, t).tolist() == [[False] * 3] * 2
    assert (t == X).all() and not (t != X).any() and np.less_equal(1, t).tolist() == (X >= 1).tolist()
    assert np.allclose(t, X) and np.array_equal(t, X) and not np.isnan(t).any() and np.argmax(t) == 4
    assert isinstance(np.asarray(t), np.ndarray) and np.array(t, dtype=float).dtype == float
    assert np.array(t, copy=True) is not t.data and t in [t] and len({t, t}) == 1


def test_numpy_on_constants_gives_arrays():
    t = x(requires_grad=False)
    assert isinstance(np.tanh(t), np.ndarray) and np.clip(t, 1, 2).tolist() == np.clip(X, 1, 2).tolist()
    assert np.vstack([t, X]).shape == (4, 3) and np.broadcast_to(t, (5, 2, 3)).shape == (5, 2, 3)
    assert np.add.reduce(t, axis=0).tolist() == X.sum(0).tolist()


def test_repr_is_short():
    assert repr(Tensor([1.0, 2.0])) == "Tensor([1., 2.])"
    assert repr(Tensor([1 / 3], requires_grad=True)) == "Tensor([0.3333], requires_grad=True)"
    assert repr(Tensor([1, 2], dtype=int)) == f"Tensor([1, 2], dtype={np.dtype(int)})"
    assert repr(Tensor(2.0)) == "Tensor(2.)" and repr(Tensor([])) == "Tensor([])"
    assert repr(Tensor([[1.0], [2.0]])) == "Tensor([[1.],\n        [2.]])"
    assert len(repr(Tensor(np.zeros((100, 100))))) < 300


REFUSED = {
    "np.tanh": (lambda x: np.tanh(x), TypeError, r"np\.tanh knows nothing of gradients.*np\.tanh\(x\.data\)"),
    "np.maximum": (lambda x: np.maximum(x, 0), TypeError, r"np\.maximum knows nothing of gradients"),
    "np.where": (lambda x: np.where(X > 1, x, 0), TypeError, r"np\.where knows nothing.*masked_fill"),
    "np.vstack": (lambda x: np.vstack([x, x]), TypeError, r"np\.vstack knows nothing.*cat and stack"),
    "np.linalg.norm": (lambda x: np.linalg.norm(x), TypeError, r"np\.norm knows nothing"),
    "np.add.reduce": (lambda x: np.add.reduce(x), TypeError, r"np\.reduce knows nothing"),
    "array += x": (lambda x: X.copy().__iadd__(x), TypeError, r"write a = a \+ x in place of a \+= x"),
    "if x": (lambda x: 1 if x else 0, ValueError, r"`if` needs one truth value.*shape \(2, 3\).*is not None"),
    "not x": (lambda x: not x, ValueError, r"`if` needs one truth value"),
    "x or y": (lambda x: x or 1, ValueError, r"`if` needs one truth value"),
    "x[...] = v": (lambda x: x.__setitem__(..., 0), TypeError, r"masked_fill, cat or stack"),
    "x[0] += 1": (lambda x: x.__setitem__(0, x[0] + 1), TypeError, r"nothing is written into a Tensor"),
    "math.sqrt": (lambda x: math.sqrt(x), TypeError, r"single value.*shape \(2, 3\).*\.sum\(\)"),
    "float": (lambda x: float(x), TypeError, r"float\(\) needs a single value"),
    "int": (lambda x: int(x), TypeError, r"int\(\) needs a single value"),
    "item": (lambda x: x.item(), TypeError, r"item\(\) needs a single value"),
    "format": (lambda x: f"{x:.3f}", TypeError, r"\{x:\.3f\} needs a single value"),
    "len of a number": (lambda x: len(x.sum()), TypeError, r"a single number, without any"),
    "iteration of a number": (lambda x: list(x.sum()), TypeError, r"a single number, without any"),
    "T of three axes": (lambda x: x.reshape(1, 2, 3).T, ValueError, r"write x\.mT or x\.transpose"),
    "mT of a row": (lambda x: x[0].mT, ValueError, r"last two axes, this has shape \(3,\)"),
    "view": (lambda x: x.view(3, 2), AttributeError, r"no 'view'; write x\.reshape"),
    "permute": (lambda x: x.permute(1, 0), AttributeError, r"no 'permute'; write x\.transpose\(dim0, dim1\)"),
    "unsqueeze": (lambda x: x.unsqueeze(0), AttributeError, r"write x\[:, None\]"),
    "softmax": (lambda x: x.softmax(-1), AttributeError, r"write Softmax\(\)\(x, dim=-1\)"),
    "astype": (lambda x: x.astype(float), AttributeError, r"write Tensor\(x\.data, dtype="),
    "argmax": (lambda x: x.argmax(), AttributeError, r"x\.data\.argmax for the values only"),
    "std": (lambda x: x.std(), AttributeError, r"no 'std'; what there is: .*mean, max"),
    "max().values": (lambda x: x.max(-1).values, AttributeError, r"max gives the largest values themselves"),
    "dot": (lambda x: x.dot(x), AttributeError, r"write x @ y"),
    "x ** y": (lambda x: x**x, TypeError, r"exponent must be a plain number, it is a Tensor"),
    "x ** array": (lambda x: x**X, TypeError, r"exponent must be a plain number, it is a ndarray"),
    "None": (lambda x: x + None, TypeError, r"data is None \(a NoneType\), it must be numbers"),
    "text": (lambda x: x + "1", TypeError, r"data is a str, it must be numbers"),
    "complex": (lambda x: x * 1j, TypeError, r"data is a complex, it must be numbers"),
    "a list of Tensors": (lambda x: Tensor([x[0], x[1]]), TypeError, r"write stack"),
    "whole numbers with a gradient": (
        lambda x: Tensor([1], True, int),
        TypeError,
        r"only floating-point numbers have one",
    ),
    "a dtype in the place of requires_grad": (
        lambda x: Tensor([1], np.int64),
        TypeError,
        r"requires_grad is <class 'numpy\.int64'>, it must be True or False; write dtype=",
    ),
    "data that is no array": (lambda x: setattr(x, "data", [[1.0]]) or x + 1, AttributeError, r"x\.data is a list"),
    "cat of other shapes": (lambda x: cat([x, np.ones((2, 3, 1))]), ValueError, r"\(2, 3\) and \(2, 3, 1\) cannot be"),
    "cat along no axis": (lambda x: cat([x, x], dim=5), ValueError, r"cannot be joined"),
    "cat of numbers": (lambda x: cat([1.0, 2.0]), ValueError, r"shape \(\) cannot be joined along 0"),
    "cat of nothing": (lambda x: cat([]), ValueError, r"nothing to join: the list of tensors is empty"),
    "cat without a list": (lambda x: cat(x, x), TypeError, r"cat and stack take a list of tensors: cat\(\[a, b\]\)"),
    "stack along no axis": (
        lambda x: stack([x, x], 5),
        ValueError,
        r"shape \(2, 3\) cannot be joined along 5: there is",
    ),
    "rows of different lengths": (
        lambda x: Tensor([[1], [1, 2]]),
        ValueError,
        r"data is a list with rows of different",
    ),
    "retain_graph": (
        lambda x: x.sum().backward(retain_graph=True),
        TypeError,
        r"^Tensor\.backward\(\) got an unexpected",
    ),
    "transpose of all axes": (lambda x: x.transpose(1, 0, 2), TypeError, r"^Tensor\.transpose\(\) takes 3"),
    "a name that no array has": (lambda x: x.embed_dim, AttributeError, r"no 'embed_dim'; what there is: [^;]*$"),
    "stack of other shapes": (lambda x: stack([x, x[0]]), ValueError, r"\(2, 3\) and \(3,\) cannot be joined"),
    "a list of Tensors beside whole numbers": (
        lambda x: Tensor([1, 2], dtype=int) * [x.sum(), x.sum()],
        TypeError,
        r"write stack",
    ),
    "shapes of +": (lambda x: x + np.ones(4), ValueError, r"^\+: shapes \(2, 3\) and \(4,\) do not broadcast"),
    "shapes of -": (lambda x: np.ones(4) - x, ValueError, r"^-: shapes .* do not broadcast"),
    "shapes of *": (lambda x: x * [1, 2], ValueError, r"^\*: shapes \(2, 3\) and \(2,\) do not broadcast"),
    "shapes of /": (lambda x: x / np.ones((3, 3)), ValueError, r"^/: shapes \(2, 3\) and \(3, 3\) do not broadcast"),
    "shapes of np.add": (lambda x: np.add(x, np.ones(4)), ValueError, r"^\+: shapes .* do not broadcast"),
    "shapes of @": (
        lambda x: x @ np.ones((4, 2)),
        ValueError,
        (
            r"@: the left side has shape \(2, 3\), the right side \(4, 2\); the left's last axis \(3\) must equal "
            r"the right's second-to-last \(4\)"
        ),
    ),
    "shapes of @ with a vector": (lambda x: x @ [1, 2], ValueError, r"must equal the right's only one \(2\)"),
    "@ with a number": (lambda x: x @ 2, ValueError, r"both sides need at least one axis"),
    "@ of batches": (
        lambda x: np.ones((2, 4, 3)) @ Tensor(np.ones((5, 3, 2))),
        ValueError,
        r"axes before the last two must be equal or 1",
    ),
    "reshape": (lambda x: x.reshape(4, 2), ValueError, r"reshape: \(2, 3\) has 6 values, \(4, 2\) does not hold"),
    "reshape twice -1": (lambda x: x.reshape(-1, -1), ValueError, r"only one may be -1"),
    "masked_fill": (lambda x: x.masked_fill(np.ones(2), 0), ValueError, r"mask has shape \(2,\), it must broadcast"),
    "backward of a table": (lambda x: (x * 1).backward(), ValueError, r"shape \(2, 3\); give a grad of that shape"),
    "backward of a wrong grad": (lambda x: x.backward(np.ones(3)), ValueError, r"grad has shape \(3,\)"),
    "backward of a constant": (lambda x: x.detach().backward(), ValueError, r"nothing was recorded"),
}


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED.values(), ids=REFUSED)
def test_or_the_error_says_what_to_write(call, kind, words):
    with pytest.raises(kind, match=words):
        call(x())


def test_names_that_tools_look_for_are_simply_not_there():
    for name in ("_repr_html_", "__array_interface__", "__iadd__", "_ipython_display_"):
        assert not hasattr(Tensor([1.0]), name)
