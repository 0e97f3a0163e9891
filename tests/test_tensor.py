"""Every operation's gradient against central differences in float64, over random shapes with broadcasting."""

import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, broadcastable_shapes, mutually_broadcastable_shapes

from tinytorch.core.tensor import Tensor, cat, custom_gradient, no_grad, stack

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("steady")

shapes = array_shapes(min_dims=0, max_dims=3, max_side=3)
seeds = st.integers(0, 2**32 - 1)


def values(seed: int, *shape: int, low: float = 0.5, high: float = 2.0) -> np.ndarray:
    """Away from zero and from each other's neighbourhood, where powers, roots, logarithms and maxima are smooth."""
    array = np.random.default_rng(seed).uniform(low, high, shape)
    return np.asarray(array + 1e-3 * np.arange(array.size).reshape(shape))


def check(f, *arrays: np.ndarray) -> None:
    """f maps float64 tensors to a tensor; its gradients must be those of central differences."""
    tensors = [Tensor(a, requires_grad=True, dtype=np.float64) for a in arrays]
    result = f(*tensors)
    weights = np.random.default_rng(0).normal(size=result.shape)
    result.backward(weights)
    for n, array in enumerate(arrays):
        for index in np.ndindex(array.shape):
            moved = [[a.copy() for a in arrays] for _ in range(2)]
            moved[0][n][index] += 1e-6
            moved[1][n][index] -= 1e-6
            up, down = ((f(*(Tensor(a, dtype=np.float64) for a in m)).data * weights).sum() for m in moved)
            grad = 0.0 if tensors[n].grad is None else tensors[n].grad[index]
            assert grad == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)


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


def test_gradients_add_up_and_stay_with_leaves():
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.sum().backward()
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [6, 6])
    assert y.grad is None
    seed = np.ones(2, np.float32)
    (x + x).backward(seed)
    np.testing.assert_array_equal(seed, 1)


def test_no_grad_records_nothing():
    x = Tensor([1.0], requires_grad=True)
    with no_grad():
        assert not (x * 2).requires_grad
        with pytest.raises(RuntimeError), no_grad():
            raise RuntimeError
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad and not x.detach().requires_grad


def test_a_deep_graph_needs_no_recursion():
    x = y = Tensor([1.0], requires_grad=True)
    for _ in range(5000):
        y = y + 0.0
    y.backward()
    np.testing.assert_array_equal(x.grad, [1])


def test_a_value_that_no_rule_needs_is_freed():
    x = Tensor(np.ones(3), requires_grad=True)
    y = x * 2
    held = weakref.ref(y.data)
    z = (y + 1).sum()
    del y
    assert held() is None
    z.backward()
    np.testing.assert_array_equal(x.grad, [2, 2, 2])


def keep_array(y):
    return y.data


def keep_view(y):
    return y.data[1:]


def keep_reshaped(y):
    return y.reshape(-1, 1)


def keep_in_list(y):
    return [y]


def keep_in_closure(y):
    return lambda: y


def keep_memoryview(y):
    return memoryview(y.data)


def seen(holder) -> list[float]:
    holder = holder() if callable(holder) else holder[0] if isinstance(holder, list) else holder
    return np.asarray(holder).ravel().tolist()


HOLDERS = (lambda y: y, keep_array, keep_view, keep_reshaped, keep_in_list, keep_in_closure, keep_memoryview)


def divide_in_function(y):
    y /= 2
    return y


def ways_to_overwrite():
    def exp(y):
        return y.exp()

    def divide(y):
        y /= 2

    def add(y):
        y += 1

    def subtract(y):
        y -= Tensor([1.0])

    def multiply(y):
        y *= np.float64(2)

    return (
        exp,
        divide,
        add,
        subtract,
        multiply,
        divide_in_function,
        lambda y: Tensor.exp(y),
        lambda y: list(map(Tensor.exp, [y])),
    )


@pytest.mark.parametrize("overwrite", ways_to_overwrite())
@pytest.mark.parametrize("hold", HOLDERS)
def test_what_can_be_seen_is_never_overwritten(hold, overwrite):
    y = Tensor([1.0, 2.0, 3.0]) + 1
    holder = hold(y)
    before = seen(holder)
    overwrite(y)
    assert seen(holder) == before
    del y
    if isinstance(holder, Tensor):  # under another name
        overwrite(holder)
        assert seen(holder) == before


def test_an_array_that_was_given_is_never_overwritten():
    array = np.ones(3, np.float32)
    t = Tensor(array)
    t /= 2
    t += 1
    Tensor(array).exp()
    np.testing.assert_array_equal(array, 1)
    np.testing.assert_array_equal(t.data, 1.5)
    x = Tensor(array, requires_grad=True)
    with no_grad():
        y = x
        y -= 1
    assert not y.requires_grad and x.requires_grad
    np.testing.assert_array_equal(x.data, 1)


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


def test_memory_of_values_that_nobody_sees_is_used_again():
    x = Tensor(np.ones(100_000))
    tracemalloc.start()
    y = (x - 1).exp()
    y /= 2
    y -= x
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * x.data.nbytes


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True)])
def test_custom_gradient(wanted):
    calls = []

    def product(a, b):
        def gradient(g):
            calls.append(1)
            return g * b.data, g * a.data

        return custom_gradient(a.data * b.data, (a, b), gradient)

    a, b = values(1, 2, 3), values(2, 3)
    check(product, a, b)
    a, b = (Tensor(x, requires_grad=w) for x, w in zip((a, b), wanted, strict=True))
    y = product(a, b)
    calls.clear()
    for factor in (1.0, 2.0):
        y.backward(np.full((2, 3), factor))
    assert len(calls) == 2
    expected = np.broadcast_to(3 * b.data, (2, 3)), 3 * a.data.sum(0)
    for tensor, gradient in zip((a, b), expected, strict=True):
        if tensor.requires_grad:
            np.testing.assert_allclose(tensor.grad, gradient, rtol=1e-6)
        else:
            assert tensor.grad is None


def test_backward_changes_nothing_but_gradients():
    seed = np.ones((2, 3), np.float32)
    x = Tensor(values(3, 2, 3), requires_grad=True)
    y = ((x.exp() / x) * x.exp()).masked_fill(np.eye(2, 3), 0) + x
    before = y.data.copy()
    y.backward(seed)
    first = x.grad
    x.grad = None
    y.backward(seed)
    np.testing.assert_array_equal(x.grad, first)
    np.testing.assert_array_equal(y.data, before)
    np.testing.assert_array_equal(seed, 1)


def test_comparisons_are_plain_arrays():
    x = Tensor([1.0, 2.0])
    assert (x == 1).tolist() == [True, False] and (x >= Tensor([2.0, 2.0])).tolist() == [False, True]
    assert isinstance(x < 2, np.ndarray) and len({x, x}) == 1
    assert np.asarray(x).tolist() == [1, 2] and len(x) == 2 and repr(x) == "Tensor([1., 2.])"
    with pytest.raises(ValueError):
        bool(x)


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
