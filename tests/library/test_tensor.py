"""Every operation's gradient against central differences in float64, over random shapes with broadcasting."""

import copy
import functools
import operator
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, broadcastable_shapes, mutually_broadcastable_shapes

from tinytorch.core.tensor import Tensor, as_tensors, cat, custom_gradient, no_grad, stack

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


def test_no_grad_holds_for_its_thread_alone():
    x, seen = Tensor([1.0], requires_grad=True), {}
    inside, done = threading.Event(), threading.Event()

    def quiet():
        with no_grad():
            inside.set()
            done.wait(10)
            seen["quiet"] = (x * 2).requires_grad
        seen["after"] = (x * 2).requires_grad

    thread = threading.Thread(target=quiet)
    thread.start()
    assert inside.wait(10)
    seen["other"] = (x * 2).requires_grad
    with no_grad():
        fresh = threading.Thread(target=lambda: seen.update(fresh=(x * 2).requires_grad))
        fresh.start()
        fresh.join()
    done.set()
    thread.join()
    assert seen == {"quiet": False, "after": True, "other": True, "fresh": True}
    assert (x * 2).requires_grad


def test_threads_may_share_a_parameter():
    shared = Tensor(np.ones(20_000), requires_grad=True)

    def work():
        for _ in range(50):
            (shared * 1.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(shared.grad, 200)


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


def test_threads_that_train_side_by_side_get_their_own_gradients():
    grads = {}

    def train(n):
        x = Tensor(np.full(50, float(n)), requires_grad=True, dtype=np.float64)
        for _ in range(50):
            x.grad = None
            (x * x + x).sum().backward()
            with no_grad():
                x * 2
        grads[n] = x.grad

    threads = [threading.Thread(target=train, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(4):
        np.testing.assert_array_equal(grads[n], np.full(50, 2.0 * n + 1))


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {p}": functools.partial(lambda p, x: pickle.loads(pickle.dumps(x, p)), p) for p in range(2, 6)},
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_copy_keeps_values_and_not_the_record(duplicate):
    leaf = Tensor([1.0, 2.0], requires_grad=True, dtype=np.float64)
    result = (leaf * 3).exp()
    result.sum().backward()
    again = duplicate(leaf)
    assert again is not leaf and again.requires_grad and again.dtype == np.float64
    np.testing.assert_array_equal(again.data, leaf.data)
    np.testing.assert_array_equal(again.grad, leaf.grad)
    constant = duplicate(result)
    assert not constant.requires_grad
    np.testing.assert_array_equal(constant.data, result.data)
    with pytest.raises(ValueError, match="nothing was recorded"):
        constant.sum().backward()
    before = leaf.grad.copy()
    (again * 2).sum().backward()  # the copy is a leaf of its own
    np.testing.assert_array_equal(leaf.grad, before)
    result.sum().backward()  # and the original still has its record
    np.testing.assert_allclose(leaf.grad, 2 * before)


def test_a_deep_graph_can_be_copied_and_let_go():
    y = Tensor([1.0], requires_grad=True)
    for _ in range(100_000):
        y = y + 0.0
    assert copy.deepcopy(y).data == pickle.loads(pickle.dumps(y)).data == 1
    del y


def test_augmented_assignment_gives_a_new_tensor():
    """x /= 2 means x = x / 2: nobody else's tensor changes, on no Python."""

    def halve(t):
        t /= 2
        return t

    class Layer:
        scale = Tensor([1.0, 2.0])

    x, layer, other = Tensor([2.0, 4.0]), Layer(), Layer()
    assert halve(x).data.tolist() == [1, 2] and x.data.tolist() == [2, 4]
    layer.scale /= 2
    assert layer.scale.data.tolist() == [0.5, 1] and other.scale.data.tolist() == Layer.scale.data.tolist() == [1, 2]
    y = Tensor([0.0, 1.0]) + 0
    np.testing.assert_allclose((y.exp() / y.exp().sum()).data, [0.26894143, 0.7310586], rtol=1e-6)
    assert functools.reduce(operator.itruediv, [2.0, 2.0], x).data.tolist() == [0.5, 1] and x.data.tolist() == [2, 4]


def test_no_operation_writes_over_anything():
    """Every array that a tensor was made from, or has been, is as it was after any operation."""
    x = Tensor(values(5, 2, 3)) + 0
    held = [x.data, x.data[1:], memoryview(x.data)]
    before = [np.array(h) for h in held]
    x.exp(), x.sqrt(), x.log(), -x, x**2, x / x, x.masked_fill(np.eye(2, 3), 0.0), cat([x, x]), x.max(0)
    y = x
    y += 1
    y -= x
    y *= 2
    y /= x
    for h, b in zip(held, before, strict=True):
        np.testing.assert_array_equal(h, b)


def test_gradients_are_arrays_of_their_own():
    a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    g = np.ones(2, np.float32)
    (a + b).backward(g)
    a.grad *= 10
    np.testing.assert_array_equal(b.grad, [1, 1])
    np.testing.assert_array_equal(g, [1, 1])
    held = b.grad
    (a + b).backward(g)
    np.testing.assert_array_equal(held, [1, 1])
    np.testing.assert_array_equal(b.grad, [2, 2])
    x = Tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    x.grad -= 1  # a sum's gradient can be written to


def test_what_happens_when_data_changes_between_forward_and_backward():
    """As the class says: a new array changes nothing; after writing into the array some rules see new values, others old."""
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data = np.array([10.0, 20.0], np.float32)
    y.backward()
    np.testing.assert_array_equal(x.grad, [2, 4])
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data += 10
    y.backward()
    np.testing.assert_array_equal(x.grad, [22, 24])
    x = Tensor([0.0], requires_grad=True)
    y = x.exp()
    x.data += 1
    y.backward()
    np.testing.assert_array_equal(x.grad, [1])
    assert "Between forward and backward" in Tensor.__doc__ and "some rules see the new values" in Tensor.__doc__


@pytest.mark.parametrize(
    ("rows", "write"),
    [
        (np.array([0, 0]), lambda rows: rows.fill(2)),
        ([0, 0], lambda rows: rows.extend([2, 2])),
        ((np.array([0, 0]), slice(None)), lambda rows: rows[0].fill(2)),
        (Tensor([0, 0], dtype=int), lambda rows: rows.data.fill(2)),
    ],
)
def test_an_index_is_kept_by_value(rows, write):
    W = Tensor(np.arange(6.0).reshape(3, 2), requires_grad=True)
    y = W[rows]
    write(rows)
    y.backward(np.ones((2, 2)))
    np.testing.assert_array_equal(W.grad, [[2, 2], [0, 0], [0, 0]])


def test_a_mask_is_kept_by_value():
    x, mask = Tensor([1.0, 2.0], requires_grad=True), np.array([True, False])
    y = x.masked_fill(mask, 0.0)
    mask[:] = [False, True]
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [0, 1])


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


def test_a_new_array_of_another_shape_changes_nothing_on_the_way_back():
    """Every operation takes from its inputs what it needs when it computes, not on the way back."""
    uses = {
        "+": lambda x: x + np.ones((2, 3)),
        "-": lambda x: np.ones((2, 3)) - x,
        "*": lambda x: x * np.ones((2, 3)),
        "sum": lambda x: x.sum(0),
        "mean": lambda x: x.mean(),
        "max": lambda x: x.max(1),
        "reshape": lambda x: x.reshape(3),
        "transpose": lambda x: x.transpose(0, 1),
        "index": lambda x: x[:, [0, 0]],
        "cat": lambda x: cat([x, x]),
        "stack": lambda x: stack([x, x]),
        "masked_fill": lambda x: x.masked_fill(x > 1, 0.0),
        "@": lambda x: x @ np.ones((3, 2)),
        "custom": lambda x: custom_gradient(x.data * np.ones((2, 3)), (x,), lambda g: (g,)),
    }
    for name, f in uses.items():
        grads = []
        for new in (None, np.zeros((4, 5), np.float32)):
            x = Tensor([[0.5, 1.5, 2.5]], requires_grad=True)
            y = f(x).sum()
            x.data = x.data if new is None else new
            y.backward()
            grads.append(x.grad)
        np.testing.assert_array_equal(*grads, err_msg=name)


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


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (lambda g: (g, g, g), "3 gradients came for 2 inputs"),
        (lambda g: (g,), "1 gradients came for 2 inputs"),
        (lambda g: (g, g.sum()), r"input 1 has shape \(3,\), its gradient came with \(\)"),
        (lambda g: (g[:1], g), r"input 0 has shape \(2, 3\), its gradient came with \(1, 3\)"),
        (lambda g: (g.T, g), r"input 0 has shape \(2, 3\), its gradient came with \(3, 2\)"),
    ],
)
def test_custom_gradients_of_a_wrong_shape_are_named(gradient, words):
    a, b = Tensor(np.ones((2, 3)), requires_grad=True), Tensor(np.ones(3), requires_grad=True)
    with pytest.raises(ValueError, match=f"custom_gradient: {words}"):
        custom_gradient(a.data * b.data, (a, b), gradient).sum().backward()
    assert a.grad is None and b.grad is None


def test_a_custom_gradient_may_write_into_what_it_is_given():
    a, b = Tensor([1.0], requires_grad=True), Tensor([2.0], requires_grad=True)

    def gradient(g):
        g *= 5
        return g, g

    (custom_gradient(a.data + b.data, (a, b), gradient) + a).backward()
    assert a.grad.tolist() == [6] and b.grad.tolist() == [5]


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
