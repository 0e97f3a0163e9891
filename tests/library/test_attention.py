"""The library by value against loops in float64, and its gradients against central differences."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

from autograded_tests import references
from exercises.data import Data
from tinytorch.core.activations import ReLU, Softmax
from tinytorch.core.attention import (
    MASK_VALUE,
    MultiHeadAttention,
    _apply_mask,
    _compute_attention_scores,
    _merge_heads,
    _scale_scores,
    _split_heads,
    as_mask,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor, no_grad

normal, random_mask = Data().normal, Data().random_mask

B, H, L, S, D = 2, 3, 4, 5, 7  # all different
E = H * D
NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


def layer(weights: np.ndarray, biases: np.ndarray, dtype: type = np.float32) -> MultiHeadAttention:
    mha = MultiHeadAttention(weights.shape[-1], H)
    for name, weight, bias in zip(NAMES, weights, biases, strict=True):
        projection = getattr(mha, name)
        projection.weight.data, projection.bias.data = weight.astype(dtype), bias.astype(dtype)
    return mha


WEIGHTS, BIASES = normal(1, 4, E, E, scale=0.3), normal(2, 4, E)
X, CONTEXT = normal(3, B, L, E), normal(4, B, S, E)

MASKS = {
    "none": None,
    "(L, S)": random_mask(5, L, S),
    "(B, L, S)": random_mask(6, B, L, S),
    "(B, 1, S)": padding_mask([3, 4], S),
    "(B, H, L, S)": random_mask(7, B, H, L, S),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(
    "wrap", [Tensor, lambda mask: mask, lambda mask: mask > 0], ids=["Tensor", "array", "booleans"]
)
def test_cross_attention_equals_loops(mask, wrap):
    mha = layer(WEIGHTS, BIASES)
    output = mha(Tensor(X), mask=None if mask is None else wrap(mask), context=Tensor(CONTEXT))
    expected, weights = references.multi_head(H, X, WEIGHTS, BIASES, mask, CONTEXT)
    np.testing.assert_allclose(output.data, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mha.attention_weights.data, weights, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mask", [None, causal_mask(L), random_mask(8, B, L, L), random_mask(9, B, H, L, L)])
def test_self_attention_equals_loops(mask):
    mha = layer(WEIGHTS, BIASES)
    expected, weights = references.multi_head(H, X, WEIGHTS, BIASES, mask)
    np.testing.assert_allclose(mha(Tensor(X), mask=mask).data, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mha.attention_weights.data, weights, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
def test_gradients_of_all_parameters_and_inputs(cross):
    """Against central differences of the library's own forward pass in float64; and the reference's gradients, too."""
    width = 6
    weights, biases = normal(10, 4, width, width, scale=0.5), normal(11, 4, width)
    arrays = {"x": normal(12, B, L, width), "weights": weights, "biases": biases}
    if cross:
        arrays["context"] = normal(13, B, S, width)
    arrays = {k: a.astype(np.float64) for k, a in arrays.items()}
    mask, grad = random_mask(14, B, L, S if cross else L), normal(15, B, L, width).astype(np.float64)

    def run(x, weights, biases, context=None, track=False):
        mha = layer(weights, biases, np.float64)
        x, context = (None if a is None else Tensor(a, requires_grad=True, dtype=np.float64) for a in (x, context))
        output = mha(x, mask=mask, context=context)
        if not track:
            return float((output.data * grad).sum())
        output.backward(grad)
        found = {
            "x": x.grad,
            "weights": np.stack([getattr(mha, n).weight.grad for n in NAMES]),
            "biases": np.stack([getattr(mha, n).bias.grad for n in NAMES]),
        }
        assert len(mha.parameters()) == 8 and all(p.grad is not None for p in mha.parameters())
        return found | ({} if context is None else {"context": context.grad})

    found = run(**arrays, track=True)
    of_reference = dict(
        zip(
            ("x", "context", "weights", "biases"),
            references.multi_head_gradient(H, arrays["x"], weights, biases, grad, mask, arrays.get("context")),
            strict=True,
        )
    )
    for name, array in arrays.items():
        differences = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            for sign in (1, -1):
                moved = array.copy()
                moved[index] += sign * 1e-6
                differences[index] += sign * run(**{**arrays, name: moved}) / 2e-6
        np.testing.assert_allclose(found[name], differences, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(of_reference[name], differences, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("lead", [(), (B,), (B, H), (2, B, H)], ids=str)
def test_attention_with_any_leading_axes(lead):
    Q, K, V = normal(20, *lead, L, D), normal(21, *lead, S, D), normal(22, *lead, S, 6)
    mask = random_mask(23, *lead, L, S)
    output, weights = scaled_dot_product_attention(Tensor(Q), Tensor(K), Tensor(V), mask)
    expected, expected_weights = references.attention(Q, K, V, mask)
    np.testing.assert_allclose(output.data, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.data, expected_weights, rtol=1e-4, atol=1e-6)
    assert (weights.data[mask == 0] == 0).all()


def test_split_and_merge_by_value():
    x = normal(24, B, L, E)
    heads = _split_heads(Tensor(x), H).data
    assert heads.shape == (B, H, L, D)
    for b, h, i, d in np.ndindex(heads.shape):
        assert heads[b, h, i, d] == x[b, i, h * D + d]
    np.testing.assert_array_equal(_merge_heads(Tensor(heads)).data, x)


def test_a_query_that_may_look_nowhere_gets_even_weights():
    scores = Tensor(1000 * normal(25, L, S), requires_grad=True)
    mask = np.ones((L, S))
    mask[1] = 0
    weights = Softmax()(_apply_mask(scores, mask))
    np.testing.assert_allclose(weights.data[1], 1 / S, rtol=1e-6)
    assert np.isfinite(weights.data).all()


def test_large_scores():
    x = np.array([[1e4, 1e4 + 1, -1e4], [-1e4, -1e4, -1e4]], np.float64)
    np.testing.assert_allclose(Softmax()(Tensor(x, dtype=np.float64)).data, references.softmax(x, -1))
    x = normal(26, 3, 4, 5)
    for dim in (0, 1, -1):
        np.testing.assert_allclose(Softmax()(Tensor(x), dim).data, references.softmax(x, dim), rtol=1e-5)


def test_pieces():
    np.testing.assert_array_equal(causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(padding_mask([1, 3], 3), [[[1, 0, 0]], [[1, 1, 1]]])
    np.testing.assert_allclose(_scale_scores(Tensor([3.0]), 9).data, [1])
    np.testing.assert_array_equal(_apply_mask(Tensor([0.0, -5.0]), np.array([0, 1])).data, [MASK_VALUE, -5])
    np.testing.assert_array_equal(ReLU()(Tensor([-1.0, 0.0, 2.0])).data, [0, 0, 2])
    plain = Linear(3, 2, bias=False)
    assert plain.bias is None and plain.parameters() == [plain.weight]
    Q, K = normal(27, L, D), normal(28, S, D)
    scores = _compute_attention_scores(Tensor(Q), Tensor(K)).data
    np.testing.assert_allclose(scores, references.scores(Q, K), rtol=1e-4, atol=1e-5)


def tensors(*shapes):
    return [Tensor(np.ones(shape)) for shape in shapes]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: scaled_dot_product_attention(*tensors((2, 4, 7), (2, 5, 6), (2, 5, 6))),
            "K has shape (2, 5, 6), its last axis must be as wide as the queries: 7",
        ),
        (
            lambda: scaled_dot_product_attention(*tensors((4, 7), (5, 7), (4, 6))),
            "V has shape (4, 6), it must have a row for each of the 5 keys",
        ),
        (
            lambda: scaled_dot_product_attention(*tensors((4, 7), (5, 7), (5, 6)), mask=np.ones((5, 4))),
            "mask has shape (5, 4), it must broadcast to the shape of the scores, (4, 5)",
        ),
        (
            lambda: scaled_dot_product_attention(*tensors((4, 7), (5, 7), (5, 6)), mask=np.ones((2, 4, 5))),
            "mask has shape (2, 4, 5), it must broadcast to the shape of the scores, (4, 5)",
        ),
        (lambda: MultiHeadAttention(10, 3), "num_heads is 3, it must divide the embedding width, 10"),
        (lambda: MultiHeadAttention(10, 0), "num_heads is 0, it must divide the embedding width, 10"),
        (lambda: _split_heads(*tensors((2, 4, 10)), 4), "num_heads is 4, it must divide the embedding width, 10"),
        (
            lambda: MultiHeadAttention(10, 2)(*tensors((2, 4, 9))),
            "x has shape (2, 4, 9), it must be (batch, positions, 10)",
        ),
        (
            lambda: MultiHeadAttention(10, 2)(*tensors((4, 10))),
            "x has shape (4, 10), it must be (batch, positions, 10)",
        ),
        (
            lambda: MultiHeadAttention(10, 2)(tensors((2, 4, 10))[0], context=tensors((2, 4, 8))[0]),
            "context has shape (2, 4, 8), it must be (batch, positions, 10)",
        ),
        (
            lambda: MultiHeadAttention(10, 2)(tensors((2, 4, 10))[0], context=tensors((3, 4, 10))[0]),
            "context has shape (3, 4, 10), it must have the batch size of x, 2",
        ),
        (
            lambda: MultiHeadAttention(10, 2)(tensors((2, 4, 10))[0], mask=np.ones((3, 4, 4))),
            "mask has shape (3, 1, 4, 4), it must broadcast to the shape of the scores, (2, 2, 4, 4)",
        ),
        (lambda: padding_mask([2, 9], 5), "lengths is [2, 9]; it must be a list of whole numbers from 0 to seq_len, 5"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def test_the_advice_for_masks_that_are_added_is_given_for_those_only():
    with pytest.raises(ValueError, match="make one with mask == 0"):
        as_mask([0, -np.inf])
    with pytest.raises(ValueError, match=r"where it may not$"):
        as_mask([0.3, 1])


def test_pytorchs_order_of_arguments_is_noticed():
    """layer(q, k, v), as in PyTorch, takes k for a mask, also where the shapes would fit."""
    square = normal(30, 2, 6, 6)
    with pytest.raises(ValueError, match="a mask is 1"):
        MultiHeadAttention(6, 2)(square, square, square)


@pytest.mark.parametrize("lengths", [[np.nan], [1.5], [-1], [4], [[1]], 2, ["a"], [None], [np.inf]])
def test_lengths_are_whole_numbers(lengths):
    with pytest.raises(ValueError, match=r"lengths is .*; it must be a list of whole numbers from 0 to seq_len, 3"):
        padding_mask(lengths, 3)


@pytest.mark.parametrize("level", [0.0, 100.0, -100.0])
def test_float16_with_masks_stays_finite(level):
    """A fully blocked row has finite, even weights."""
    K = Tensor(normal(31, 4, 6) + level, dtype=np.float16)
    mask = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]])
    output, weights = scaled_dot_product_attention(K, K, K, mask)
    assert output.dtype == weights.dtype == np.float16
    assert np.isfinite(weights.data).all() and np.isfinite(output.data).all()
    np.testing.assert_array_equal(weights.data[1], np.float16(0.25))
    assert (weights.data[mask == 0][:2] == 0).all()


def test_whole_numbers_promote_as_in_numpy():
    x = np.array([[1, 2], [3, 5]])
    shares = Softmax()(Tensor(x, dtype=int))
    assert shares.dtype == np.float64
    np.testing.assert_allclose(shares.data, np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    output, _ = scaled_dot_product_attention(*(Tensor(x, dtype=int) for _ in range(3)))
    assert output.dtype == np.float64
    np.testing.assert_allclose(output.data, references.attention(x, x, x)[0])


@pytest.mark.parametrize("shape", [(0, 2, 4), (2, 0, 4), (2, 3, 0)])
def test_empty_axes(shape):
    """No batch, no position, no width."""
    if shape[-1]:
        x = Tensor(np.ones(shape), requires_grad=True)
        output, _ = scaled_dot_product_attention(x, x, x)
        assert output.shape == MultiHeadAttention(shape[-1], 2)(x).shape == shape
        output.sum().backward()
    assert causal_mask(0).shape == (0, 0) and padding_mask([], 3).shape == (0, 1, 3)


def test_without_keys_the_output_is_zero():
    q, k, v = (Tensor(np.ones(shape), requires_grad=True) for shape in ((2, 3, 4), (2, 0, 4), (2, 0, 5)))
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.shape == (2, 3, 0) and (output.data == 0).all() and output.shape == (2, 3, 5)
    output.sum().backward()
    np.testing.assert_array_equal(q.grad, 0)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_single_row_is_named(place):
    arguments = [normal(32, 2, 4, 6)] * 3
    arguments[place] = arguments[place][0, 0]
    with pytest.raises(ValueError, match=r"[QKV] has shape \(6,\), it must be \(..., positions, width\)"):
        scaled_dot_product_attention(*arguments)


def test_a_layer_can_be_pickled_and_copied_after_a_call():
    mha, mask = layer(WEIGHTS, BIASES), causal_mask(L)
    expected = mha(Tensor(X), mask=mask).data
    for again in (pickle.loads(pickle.dumps(mha)), copy.deepcopy(mha)):
        assert not again.attention_weights.requires_grad
        np.testing.assert_array_equal(again.attention_weights.data, mha.attention_weights.data)
        np.testing.assert_array_equal(again(Tensor(X), mask=mask).data, expected)
        again(Tensor(X)).sum().backward()
        assert all(p.grad is not None for p in again.parameters())
        assert all(p.grad is None for p in mha.parameters())


def test_inside_no_grad_nothing_is_recorded():
    with no_grad():
        assert not layer(WEIGHTS, BIASES)(Tensor(X)).requires_grad


@pytest.mark.long
def test_import_needs_numpy_only_and_is_quick():
    """In a fresh interpreter: what importing the library loads beyond NumPy, and how long it takes beyond NumPy."""
    code = (
        "import sys, time; import numpy; before = set(sys.modules); start = time.perf_counter();"
        "import tinytorch.core.attention; print(time.perf_counter() - start);"
        "print(*sorted({m.partition('.')[0] for m in set(sys.modules) - before}))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    seconds = min(float(run.stdout.split("\n")[0]) for run in runs)
    loaded = set(runs[0].stdout.split("\n")[1].split())
    assert loaded <= {"tinytorch", "numpy"} | sys.stdlib_module_names
    assert seconds < 0.1
