"""Every operation's values, dtypes and gradients; gradients over random shapes with broadcasting."""

import operator

import numpy as np
import pytest
from differences import check, values
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, broadcastable_shapes, mutually_broadcastable_shapes

from tinytorch.core.tensor import Tensor, as_tensors, cat, stack

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("steady")

shapes = array_shapes(min_dims=0, max_dims=3, max_side=3)
seeds = st.integers(0, 2**32 - 1)


BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@pytest.mark.parametrize("operation", BINARY.values(), ids=BINARY)
@given(pair=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), seed=seeds)
def test_binary_operations(operation, pair, seed):
    check(operation, values(seed, *pair.input_shapes[0]), values(seed + 1, *pair.input_shapes[1]))


def augmented(a: Tensor) -> Tensor:
    b = a.exp()
    b /= b.sum()
    b *= 2
    b += a
    b -= a * a
    return b


UNARY = {
    "neg": lambda a: -a,
    "square": lambda a: a**2,
    "power": lambda a: a**-1.5,
    "exp": lambda a: a.exp(),
    "log": lambda a: a.log(),
    "sqrt": lambda a: a.sqrt(),
    "minus from a number": lambda a: 2 - a,
    "a number by": lambda a: 3 / a,
    "used twice": lambda a: a * a + a,
    "a chain": lambda a: ((a.exp() / a).sqrt() * a).log().exp() / 3,
    "shares": lambda a: (a - 1).exp() / (a - 1).exp().sum(),
    "augmented": lambda a: augmented(a),
}


@pytest.mark.parametrize("operation", UNARY.values(), ids=UNARY)
@given(shape=shapes, seed=seeds)
def test_unary_operations(operation, shape, seed):
    check(operation, values(seed, *shape))


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
@given(shape=array_shapes(min_dims=1, max_dims=3, max_side=3), data=st.data(), seed=seeds, keepdim=st.booleans())
def test_reductions(name, shape, data, seed, keepdim):
    dims = st.none() | st.integers(-len(shape), len(shape) - 1)
    if name != "max":
        dims |= st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple)
    dim = data.draw(dims)
    check(lambda a: getattr(a, name)(dim, keepdim), values(seed, *shape))
    array = values(seed, *shape)
    expected = getattr(array, name)(axis=dim, keepdims=keepdim)
    np.testing.assert_allclose(getattr(Tensor(array, dtype=np.float64), name)(dim, keepdim).data, expected)


@given(
    lead=mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3),
    sizes=st.tuples(*[st.integers(1, 3)] * 3),
    seed=seeds,
)
def test_matmul(lead, sizes, seed):
    n, m, k = sizes
    a, b = (*lead.input_shapes[0], n, m), (*lead.input_shapes[1], m, k)
    check(lambda x, y: x @ y, values(seed, *a), values(seed + 1, *b))


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,))])
def test_matmul_with_vectors(shapes):
    a, b = values(1, *shapes[0]), values(2, *shapes[1])
    np.testing.assert_allclose((Tensor(a, dtype=np.float64) @ Tensor(b, dtype=np.float64)).data, a @ b)
    check(lambda x, y: x @ y, a, b)


@given(shape=array_shapes(min_dims=2, max_dims=4, max_side=3), data=st.data(), seed=seeds)
def test_moving_values(shape, data, seed):
    axes = st.integers(-len(shape), len(shape) - 1)
    dim0, dim1 = data.draw(axes), data.draw(axes)
    check(lambda a: a.transpose(dim0, dim1), values(seed, *shape))
    check(lambda a: a.reshape(-1), values(seed, *shape))
    check(lambda a: a.reshape((1, *shape)), values(seed, *shape))
    index = data.draw(st.integers(0, shape[0] - 1))
    check(lambda a: a[index], values(seed, *shape))
    check(lambda a: a[..., None, ::-1], values(seed, *shape))
    check(lambda a: a[[index, 0, index]], values(seed, *shape))
    check(lambda a, b: cat([a, b, a], dim=dim0), values(seed, *shape), values(seed + 1, *shape))
    check(lambda a, b: stack([a, b], dim=dim0), values(seed, *shape), values(seed + 1, *shape))


@given(shape=shapes, data=st.data(), seed=seeds)
def test_masked_fill(shape, data, seed):
    smaller = data.draw(broadcastable_shapes(shape, max_dims=len(shape)))
    mask = np.broadcast_to(np.random.default_rng(seed).random(smaller) < 0.5, np.broadcast_shapes(smaller))
    if np.broadcast_shapes(smaller, shape) != shape:
        return
    check(lambda a: a.masked_fill(mask, -3.0), values(seed, *shape))
    filled = Tensor(values(seed, *shape)).masked_fill(Tensor(mask), -3.0).data
    np.testing.assert_array_equal(filled == -3.0, np.broadcast_to(mask, shape))


def test_max_shares_the_gradient_among_equals():
    t = Tensor([2.0, 5.0, 5.0], requires_grad=True)
    t.max().backward()
    np.testing.assert_array_equal(t.grad, [0, 0.5, 0.5])


def test_dtypes():
    assert Tensor([1, 2]).dtype == np.float32
    assert Tensor(np.ones(2)).dtype == np.float32
    wide = Tensor(np.ones(2), dtype=np.float64)
    assert wide.dtype == np.float64 and Tensor(wide).dtype == np.float64
    x = Tensor(np.ones((2, 2)), requires_grad=True)
    for mixed in (
        x / np.sqrt(3),
        np.float64(2) * x,
        np.ones((2, 2)) @ x,
        x + np.ones(2),
        1 - x,
        x**2,
        x ** np.float64(0.5),
    ):
        assert isinstance(mixed, Tensor) and mixed.dtype == np.float32
    (x * 2).sum().backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_allclose((np.array([[1.0, 2.0]]) @ x).data, [[3, 3]])
    np.testing.assert_allclose((np.float64(3) - x).data, 2)


def test_values_of_operators_are_those_of_numpy():
    """Every operator, from both sides, with numbers, arrays and tensors; the dtype is NumPy's, or the tensor's beside an array."""
    x, y = values(1, 2, 3).astype(np.float32), values(2, 3).astype(np.float32)
    a, b = Tensor(x), Tensor(y)
    for sign in (operator.add, operator.sub, operator.mul, operator.truediv):
        for left, right in (
            (a, b),
            (a, y),
            (x, b),
            (a, 2),
            (2, b),
            (a, y.tolist()),
            (np.float64(3), b),
            (a, np.int64(2)),
        ):
            found = sign(left, right)
            bare = [t.data if isinstance(t, Tensor) else np.asarray(t, np.float32) for t in (left, right)]
            assert found.dtype == np.float32
            np.testing.assert_allclose(found.data, sign(*bare), rtol=1e-6)
    for mine, numpys in (
        (-a, -x),
        (a**3, x**3),
        (a**0, x**0),
        (a.exp(), np.exp(x)),
        (a.log(), np.log(x)),
        (a.sqrt(), np.sqrt(x)),
    ):
        np.testing.assert_allclose(mine.data, numpys, rtol=1e-6)
        assert mine.dtype == np.float32
    np.testing.assert_allclose((a @ [[1.0], [2.0], [3.0]]).data, x @ np.array([[1], [2], [3]]), rtol=1e-6)
    np.testing.assert_allclose(([1.0, 2.0] @ a).data, np.array([1, 2]) @ x, rtol=1e-6)


@pytest.mark.parametrize("dtype", [int, np.int32, np.uint8, bool, np.float16, np.float32, float])
def test_dtypes_promote_as_in_numpy(dtype):
    array = np.array([[1, 0], [1, 1]], dtype)
    x = Tensor(array, dtype=dtype)
    assert x.dtype == dtype
    for f in (
        lambda x: x * 0.5,
        lambda x: 0.5 / (x + 1),
        lambda x: x / 2,
        lambda x: x + 1,
        lambda x: x * 2,
        lambda x: x.sum(0),
        lambda x: x.mean(),
        lambda x: x.max(),
        lambda x: x @ x,
    ):
        expected = f(array)
        assert f(x).dtype == expected.dtype
        np.testing.assert_array_equal(f(x).data, expected)
    assert x.exp().dtype == np.exp(array).dtype
    if dtype in (int, np.int32):
        assert (x + np.ones(2, np.float32)).dtype == (array + np.ones(2, np.float32)).dtype
        assert (x * x).dtype == dtype and (x**2).dtype == dtype
        assert (Tensor([1.0]) + x).dtype == (np.ones(1, np.float32) + array).dtype


def test_an_exponent_of_zero_has_no_gradient_even_at_zero():
    x = Tensor([0.0, 2.0], requires_grad=True)
    (x**0).sum().backward()
    np.testing.assert_array_equal(x.grad, [0, 0])
    x.grad = None
    (x**1 + x**2).sum().backward()
    np.testing.assert_array_equal(x.grad, [1, 5])


def test_a_gradient_has_the_dtype_of_its_tensor():
    x, w = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True, dtype=np.float64)
    for _ in range(2):
        (x * w).sum().backward()
    assert x.grad.dtype == np.float32 and w.grad.dtype == np.float64
    np.testing.assert_array_equal(x.grad, [6, 8])


def test_the_gradient_of_a_parameter_set_to_whole_numbers_is_no_whole_number():
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.data = np.array([1, 2])
    (x * 0.5).sum().backward()
    np.testing.assert_array_equal(x.grad, [0.5, 0.5])


def test_the_gradient_of_a_single_value_is_an_array():
    x = Tensor(3.0, requires_grad=True)
    for _ in range(2):
        (x * x).backward()
        assert isinstance(x.grad, np.ndarray) and x.grad.shape == ()


def test_masked_fill_stays_finite_in_float16():
    x = Tensor([100.0, -100.0], dtype=np.float16)
    filled = x.masked_fill([True, True], -1e9)
    assert np.isfinite(filled.data).all() and np.isfinite((filled - x.max()).data).all() and filled.dtype == np.float16
    assert x.masked_fill([True, False], -np.inf).data[0] == -np.inf
    assert Tensor([1.0]).masked_fill([True], -1e9).data[0] == np.float32(-1e9)


def test_masked_fill_writes_the_value_that_it_is_given_if_the_dtype_holds_it():
    for dtype, value in ((np.float32, np.finfo(np.float32).min), (np.float16, -60000), (np.float32, np.nan)):
        np.testing.assert_array_equal(
            Tensor([1.0], dtype=dtype).masked_fill([True], value).data, np.array([value], dtype)
        )


def test_gradients_of_float16_are_summed_in_float32():
    """A bias of 4096 rows; a softmax of 512 keys; a largest value that 5000 share; a mean of 70000."""
    bias = Tensor(np.zeros(2), requires_grad=True, dtype=np.float16)
    (bias + np.ones((4096, 2))).backward(np.ones((4096, 2)))
    np.testing.assert_array_equal(bias.grad, [4096, 4096])
    x = Tensor(np.zeros(512), requires_grad=True, dtype=np.float16)
    e = x.exp()
    (e / e.sum()).sum().backward()
    np.testing.assert_allclose(x.grad, 0, atol=1e-3)
    x = Tensor(np.ones(5000), requires_grad=True, dtype=np.float16)
    x.max().backward()
    np.testing.assert_allclose(x.grad, np.full(5000, 1 / 5000), rtol=1e-3)
    mean = Tensor(np.full(70000, 0.5), requires_grad=True, dtype=np.float16).mean()
    assert mean.data == 0.5 and mean.dtype == np.float16
    x = Tensor([1.0, 2.0], requires_grad=True, dtype=np.float16)
    (x * x).sum().backward()
    assert x.grad.dtype == np.float16


@pytest.mark.parametrize(("x", "y"), [(1e20, 1e20), (1e-25, 1e-25), (1e-30, 1e-24), (300.0, 300.0)])
def test_the_gradient_of_a_quotient_neither_overflows_nor_vanishes(x, y):
    a, b = (Tensor([v], requires_grad=True, dtype=np.float16 if v == 300 else np.float32) for v in (x, y))
    (a / b).sum().backward()
    np.testing.assert_allclose(b.grad, [-x / y / y], rtol=1e-3)
    np.testing.assert_allclose(a.grad, [1 / y], rtol=1e-3)


def test_exponents_of_numpy_keep_the_dtype():
    for n in (np.array(2.0), np.float64(2), np.int64(2), 2):
        assert (Tensor([3.0]) ** n).dtype == np.float32 and (Tensor([3.0]) ** n).data == 9


def test_whole_numbers_without_a_sign_can_be_negated_as_in_numpy():
    np.testing.assert_array_equal((-Tensor([1], dtype=np.uint8)).data, -np.array([1], np.uint8))


def test_empty_arrays():
    x = Tensor(np.zeros((2, 0)), requires_grad=True)
    assert x.sum().data == 0 and x.sum(1).data.tolist() == [0, 0] and x.max(1).data.tolist() == [-np.inf] * 2
    assert (x @ np.zeros((0, 3))).data.tolist() == [[0] * 3] * 2
    ((x @ np.zeros((0, 3))).sum() + (x * 2).exp().sum() + x.max(1).masked_fill(True, 0.0).sum()).backward()
    assert x.grad.shape == (2, 0)
    assert cat([x, np.ones((2, 1))], 1).shape == (2, 1) and len(Tensor([])) == 0 and list(Tensor([])) == []
    assert Tensor(np.zeros((0, 3))).mean(1).shape == (0,)


def test_as_tensors():
    x = Tensor([1.0], dtype=np.float64)
    a, b, c, d = as_tensors(x, [1, 2], np.ones(2, np.float32), 3)
    assert a is x and {t.dtype for t in (b, c, d)} == {np.dtype(float)}
    assert as_tensors([1, 2])[0].dtype == np.float32 and as_tensors(True, 2.0)[0].dtype == np.float32
    assert as_tensors(Tensor([1], dtype=int), x, [1])[2].dtype == np.float64


def test_augmented_assignment_broadcasts_and_promotes_like_the_operation():
    t = Tensor([1.0, 2.0]) + 0
    t *= np.ones((3, 2))
    assert t.shape == (3, 2)
    t += Tensor(np.ones(2), dtype=np.float64)
    assert t.dtype == np.float64
    for u in (Tensor(np.ones((2, 2))), Tensor(np.ones((2, 2)), requires_grad=True)):
        with pytest.raises(ValueError, match=r"^\+: shapes \(2, 2\) and \(5,\) do not broadcast"):
            u += Tensor(np.ones(5))
    with pytest.raises(ValueError, match="do not broadcast"):
        t += Tensor(np.ones(5))


def test_comparisons_are_plain_arrays():
    x = Tensor([1.0, 2.0])
    assert (x == 1).tolist() == [True, False] and (x >= Tensor([2.0, 2.0])).tolist() == [False, True]
    assert isinstance(x < 2, np.ndarray) and len({x, x}) == 1
    assert np.asarray(x).tolist() == [1, 2] and len(x) == 2 and len(x) == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda x: x @ Tensor(np.ones((4, 2))),
            r"@: the left side has shape \(2, 3\), the right side \(4, 2\).*\(3\).*\(4\)",
        ),
        (lambda x: x + Tensor(np.ones(4)), r"\+: shapes \(2, 3\) and \(4,\) do not broadcast"),
        (lambda x: x.reshape(4, 2), r"reshape: \(2, 3\) has 6 values, \(4, 2\) does not hold as many"),
        (lambda x: x.masked_fill(np.ones(2), 0), r"masked_fill: mask has shape \(2,\), it must broadcast to \(2, 3\)"),
        (lambda x: x @ 2, r"both sides need at least one axis"),
        (lambda x: x.backward(), r"backward: this tensor has shape \(2, 3\)"),
        (lambda x: x.backward(np.ones(3)), r"backward: grad has shape \(3,\), this tensor needs \(2, 3\)"),
        (lambda x: x.detach().backward(), r"backward: nothing was recorded"),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call(Tensor(np.ones((2, 3)), requires_grad=True))


def test_wrong_kinds():
    with pytest.raises(TypeError, match="data is None"):
        Tensor(np.ones(2)) + None
    with pytest.raises(TypeError, match="exponent must be a plain number"):
        Tensor(np.ones(2)) ** Tensor(np.ones(2))
