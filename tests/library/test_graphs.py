"""Gradients of whole computations: thousands of random ones, and the blocks that models are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from programs import ON_ARRAYS, ON_TENSORS, Program, on_torch, random_program, run_on_tensors

from tinytorch.core.attention import MultiHeadAttention, causal_mask
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor

GRAPHS, AT_A_TIME = 3000, 100
FIRST = 800  # these are tried each time, the others with the slow tests


def differences(f: Callable[..., Any], arrays: list[np.ndarray], h: float = 1e-6) -> list[np.ndarray]:
    """Central differences of f(*arrays), a number, by every value of every array."""
    found = []
    for n, array in enumerate(arrays):
        grad = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            for sign in (1, -1):
                moved = list(arrays)
                moved[n] = array.copy()
                moved[n][index] += sign * h
                grad[index] += sign * float(f(*moved)) / (2 * h)
        found.append(grad)
    return found


def close(found: np.ndarray | None, expected: np.ndarray, context: Any = "") -> None:
    found = np.zeros_like(expected) if found is None else found
    assert found.shape == expected.shape, context
    scale = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-7 * scale, err_msg=str(context))


def weights_for(values: list[Any], seed: int) -> list[tuple[int, np.ndarray]]:
    """Two or three results to go back from, one of them twice, each with the gradient that arrives."""
    rng = np.random.default_rng(seed)
    places = [len(values) - 1, len(values) - 1, int(rng.integers(len(values)))]
    return [(place, rng.normal(size=np.shape(values[place]))) for place in places]


def mark(first: int) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if first >= FIRST else [pytest.mark.long] if first >= AT_A_TIME else []


@pytest.mark.parametrize("first", [pytest.param(n, marks=mark(n)) for n in range(0, GRAPHS, AT_A_TIME)])
def test_random_graphs(first):
    """Values against NumPy, gradients of several backward calls against central differences of the same steps in NumPy."""
    for seed in range(first, first + AT_A_TIME):
        program = random_program(seed)
        leaves, values = run_on_tensors(program)
        for value, expected in zip(values, program.run(program.leaves, ON_ARRAYS), strict=True):
            np.testing.assert_allclose(value.data, expected, rtol=1e-12, atol=1e-12, err_msg=str((seed, program)))
        arriving = [(place, g) for place, g in weights_for(values, seed) if values[place].requires_grad]
        before = [value.data.copy() for value in values]

        def total(*arrays, program=program, arriving=arriving):
            values = program.run(arrays, ON_ARRAYS)
            return sum((values[place] * g).sum() for place, g in arriving)

        for place, g in arriving:
            values[place].backward(g)
        for leaf, expected in zip(leaves, differences(total, list(program.leaves)), strict=True):
            close(leaf.grad, expected, (seed, program))
        for value, array in zip(values, before, strict=True):
            np.testing.assert_array_equal(value.data, array)


@pytest.mark.long
def test_the_random_graphs_cover_every_operation():
    """Each operation often, inputs shared, empty arrays and broadcasting among them; and no two leaves share a gradient."""
    programs = [random_program(seed) for seed in range(GRAPHS)]
    counts = {name: sum(step[0] == name for p in programs for step in p.steps) for name in ON_TENSORS}
    assert min(counts.values()) > GRAPHS / 50, counts
    shared = [p for p in programs if any(used(p).count(place) > 1 for place in range(len(p.leaves) + len(p.steps)))]
    assert len(shared) > GRAPHS / 2
    for program in programs[:200]:
        leaves, values = run_on_tensors(program)
        if values[-1].requires_grad:
            values[-1].backward(np.ones(values[-1].shape))
        grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
        assert not any(np.shares_memory(a, b) for i, a in enumerate(grads) for b in grads[:i])


def used(program: Program) -> list[int]:
    return [place for step in program.steps for place in step[1]]


@pytest.mark.torch
@pytest.mark.parametrize("first", range(0, 1000, AT_A_TIME))
def test_random_graphs_against_pytorch(first):
    torch = pytest.importorskip("torch", reason="package torch is not installed")
    for seed in range(first, first + AT_A_TIME):
        program = random_program(seed)
        leaves, values = run_on_tensors(program)
        theirs = [torch.tensor(leaf, dtype=torch.float64, requires_grad=True) for leaf in program.leaves]
        if not values[-1].requires_grad or any(np.any(np.less(k, 0)) for k in reversed_slices(program)):
            continue
        result = program.run(theirs, on_torch(torch))[-1]
        g = np.random.default_rng(seed).normal(size=values[-1].shape)
        result.backward(torch.from_numpy(np.asarray(g)))
        values[-1].backward(g)
        for leaf, other in zip(leaves, theirs, strict=True):
            if other.grad is not None:
                close(leaf.grad, other.grad.numpy(), (seed, program))


def reversed_slices(program: Program) -> list[int]:
    """Steps of slices, of which PyTorch takes positive ones only."""
    keys = (key for name, _, keys in program.steps if name == "index" for key in keys)
    return [key.step for key in keys if isinstance(key, slice) and key.step is not None]


# --- blocks -----------------------------------------------------------------------------------------------------------
# written with NumPy's words, so that the same lines run on arrays, for the differences, and on Tensors

B, L, E = 2, 3, 4
rng = np.random.default_rng(7)
KEPT = (rng.random((B, L, E)) < 0.7) / 0.7  # dropout
LOOK = np.tril(np.ones((L, L)))


def relu(x: Any) -> Any:
    return x * np.greater(x, 0)


def norm(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * scale + shift


def attention(x: Any, w: Any) -> Any:
    scores = (x @ w[0]) @ np.swapaxes(x @ w[1], -1, -2) / np.sqrt(E) - 1e3 * (1 - LOOK)
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ (x @ w[2])


BLOCKS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "x + f(x)": lambda x, w, s, t: x + relu(x @ w[0]),
    "f(x) + x": lambda x, w, s, t: relu(x @ w[0]) + x,
    "2 (x + f(x))": lambda x, w, s, t: 2 * (x + relu(x)),
    "x + x + x": lambda x, w, s, t: (x + x + x) * (x + x),
    "x - x / 2": lambda x, w, s, t: (x - x / 2) * 2,
    "h @ W + h": lambda x, w, s, t: (x @ w[0]) @ w[1] + x @ w[0],
    "shared weights": lambda x, w, s, t: np.exp(x @ w[0] / 4) @ w[0] + x @ w[0],
    "tied weights": lambda x, w, s, t: relu(x @ w[0]) @ np.swapaxes(w[0], 0, 1) + x,
    "x + attention(x)": lambda x, w, s, t: x + attention(x, w),
    "pre-norm": lambda x, w, s, t: x + KEPT * attention(norm(x, s, t), w),
    "post-norm": lambda x, w, s, t: norm(x + KEPT * attention(x, w), s, t),
    "LayerScale": lambda x, w, s, t: x + s * attention(norm(x, s, t), w),
    "two blocks, one set of weights": lambda x, w, s, t: twice(lambda y: y + KEPT * attention(norm(y, s, t), w), x),
    "norm of a norm": lambda x, w, s, t: norm(x + norm(x, s, t), s, t) + x,
}


def twice(f: Callable[[Any], Any], x: Any) -> Any:
    return f(f(x))


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_blocks(block):
    rng = np.random.default_rng(11)
    arrays = [rng.normal(size=(B, L, E)), rng.normal(size=(3, E, E)), rng.normal(size=E), rng.normal(size=E)]
    g = rng.normal(size=(B, L, E))
    tensors = [Tensor(a, requires_grad=True, dtype=np.float64) for a in arrays]
    result = block(*tensors)
    np.testing.assert_allclose(result.data, block(*arrays), rtol=1e-12)
    result.backward(g)
    for tensor, expected in zip(tensors, differences(lambda *a: (block(*a) * g).sum(), arrays), strict=True):
        close(tensor.grad, expected)


def layers_of(module: str) -> Any:
    np.random.seed(5)
    return Linear(E, E) if module == "Linear" else MultiHeadAttention(E, 2)


@pytest.mark.parametrize("module", ["Linear", "MultiHeadAttention"])
@pytest.mark.parametrize(
    "residual",
    [
        lambda f, x: f(x) + x,
        lambda f, x: x + f(x),
        lambda f, x: x + f(x + f(x)),
        lambda f, x: (x + f(x)) * (x + f(x)),
        lambda f, x: x + KEPT * f(norm(x, 1.0, 0.0)),
        lambda f, x: norm(x + 0.1 * f(x), 1.0, 0.0),
    ],
)
def test_residual_connections_around_the_librarys_layers(module, residual):
    """All parameters and the input, in float64."""
    layer = layers_of(module)
    if module == "MultiHeadAttention":

        def call(x):
            return layer(x, mask=causal_mask(L))
    else:
        call = layer
    arrays = [np.random.default_rng(3).normal(size=(B, L, E)), *(p.data.astype(float) for p in layer.parameters())]

    def run(x, *parameters, requires_grad=False):
        for parameter, array in zip(layer.parameters(), parameters, strict=True):
            parameter.data = array
        return residual(call, Tensor(x, requires_grad=requires_grad, dtype=np.float64))

    g = np.random.default_rng(4).normal(size=(B, L, E))
    expected = differences(lambda *a: (run(*a).data * g).sum(), arrays)
    for parameter in layer.parameters():
        parameter.grad = None
    x = Tensor(arrays[0], requires_grad=True, dtype=np.float64)
    for parameter, array in zip(layer.parameters(), arrays[1:], strict=True):
        parameter.data = array
    residual(call, x).backward(g)
    for tensor, difference in zip([x, *layer.parameters()], expected, strict=True):
        close(tensor.grad, difference)


def test_results_that_were_wrong_once():
    """Each lost a gradient when memory was used twice."""
    x = Tensor([1.0], requires_grad=True)
    ((x + x + x) * 2).sum().backward()
    np.testing.assert_array_equal(x.grad, [6])
    for f, expected in (
        (lambda x: 2 * (x + x.masked_fill(x <= 0, 0.0)), [2, 4]),
        (lambda x: (x + 0.5 * x) * 2, [3, 3]),
        (lambda x: (x + -x) * 2, [0, 0]),
    ):
        x = Tensor([-1.0, 1.0], requires_grad=True)
        f(x).sum().backward()
        np.testing.assert_array_equal(x.grad, expected)
    x = Tensor([4.0], requires_grad=True)
    (2 * (x + x.sqrt())).sum().backward()
    np.testing.assert_allclose(x.grad, [2.5])
