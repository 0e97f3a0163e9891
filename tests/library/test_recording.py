"""What is recorded for `backward` and what is not: threads, copies, arrays that change afterwards, gradients of one's own."""

import copy
import functools
import operator
import pickle
import threading

import numpy as np
import pytest
from differences import check, values

from tinytorch.core.tensor import Tensor, cat, custom_gradient, no_grad, stack


def test_no_grad_records_nothing():
    x = Tensor([1.0], requires_grad=True)
    with no_grad():
        assert not (x * 2).requires_grad
        with pytest.raises(RuntimeError), no_grad():
            raise RuntimeError
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad and not x.detach().requires_grad


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


def test_a_deep_graph_needs_no_recursion():
    x = y = Tensor([1.0], requires_grad=True)
    for _ in range(5000):
        y = y + 0.0
    y.backward()
    np.testing.assert_array_equal(x.grad, [1])


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


@pytest.mark.long
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
