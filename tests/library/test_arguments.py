"""One rule for arguments, in every public function: Tensors, arrays and lists mean the same, and a mask holds 1 and 0."""

import ast
import copy
import importlib
import pickle
from pathlib import Path

import numpy as np
import pytest

import tinytorch.core
from tinytorch.core.activations import ReLU, Softmax
from tinytorch.core.attention import (
    MASK_VALUE,
    MultiHeadAttention,
    as_mask,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from tinytorch.core.efficient_attention import (
    KVCache,
    cached_attention,
    grouped_query_attention,
    rotary_embedding,
    sliding_window_mask,
    tiled_attention,
)
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor, as_tensors, cat, custom_gradient, no_grad, stack

rng = np.random.default_rng(0)
X, Y, Q = (rng.uniform(0.1, 2, size=shape).astype(np.float32) for shape in ((2, 4, 6), (2, 4, 6), (2, 4, 4, 6)))
MASK = causal_mask(4)
np.random.seed(1)
LINEAR, LAYER = Linear(6, 3), MultiHeadAttention(6, 2)


def through_a_cache(K, V):
    cache = KVCache()
    cache.append(K, V)
    return cache.append(K, V)


TAKE_ARRAYS = {
    "as_tensors": (lambda x: as_tensors(x), (X,)),
    "cat": (lambda x, y: cat([x, y], 1), (X, Y)),
    "stack": (lambda x, y: stack([x, y]), (X, Y)),
    "custom_gradient": (lambda x: custom_gradient(X, (x,), lambda g: (g,)), (X,)),
    "ReLU": (lambda x: ReLU()(x), (X,)),
    "Softmax": (lambda x: Softmax()(x, dim=1), (X,)),
    "Linear": (lambda x: LINEAR(x), (X,)),
    "scaled_dot_product_attention": (scaled_dot_product_attention, (X, Y, X, MASK)),
    "MultiHeadAttention": (lambda x, y, m: LAYER(x, mask=m, context=y), (X, Y, MASK)),
    "as_mask": (lambda m: Tensor(as_mask(m)), (MASK,)),
    "padding_mask": (lambda n: Tensor(padding_mask(n, 5)), (np.array([2, 5]),)),
    "KVCache": (through_a_cache, (X, Y)),
    "cached_attention": (lambda x: cached_attention(LAYER, x, KVCache()), (X,)),
    "grouped_query_attention": (grouped_query_attention, (Q, Q[:, :2], Q[:, :2], MASK)),
    "tiled_attention": (tiled_attention, (X, Y, X, MASK)),
}


def functions_that_take_values() -> dict[str, int]:
    """Public functions of the library by name, module included, and how many of their parameters take values, by their types."""
    found = {}
    for path in sorted(Path(tinytorch.core.__path__[0]).glob("*.pyi")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.args, *([node.args.vararg] if node.args.vararg else [])]
                number = sum("Values" in ast.unparse(a.annotation) for a in arguments if a.annotation)
                if number:
                    found[f"{path.stem}.{node.name}"] = number
    return found


for name, number in functions_that_take_values().items():  # those that need nothing special are found here
    module, function = name.split(".")
    if function not in TAKE_ARRAYS:
        called = getattr(importlib.import_module(f"tinytorch.core.{module}"), function)
        TAKE_ARRAYS[function] = (called, (X,) * number)


def test_every_function_that_takes_values_is_tried():
    tried = set(TAKE_ARRAYS)
    assert {name.split(".")[1] for name in functions_that_take_values()} <= tried and len(tried) > 14


def results(value):
    return [t for part in value for t in results(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(("function", "arrays"), TAKE_ARRAYS.values(), ids=TAKE_ARRAYS)
@pytest.mark.parametrize("kind", ["array", "list", "float64", "a mixture"])
def test_arrays_and_lists_mean_the_same_as_tensors(function, arrays, kind):
    expected = results(function(*map(Tensor, arrays)))
    changed = {
        "array": lambda n, a: a,
        "list": lambda n, a: a.tolist(),
        "float64": lambda n, a: a.astype(np.float64),
        "a mixture": lambda n, a: (a, a.tolist(), Tensor(a))[n % 3],
    }[kind]
    given = [changed(n, a) for n, a in enumerate(arrays)]
    before = copy.deepcopy(given)
    found = results(function(*given))
    for a, b in zip(found, expected, strict=True):
        assert isinstance(a, Tensor) and a.dtype == b.dtype == np.float32 and a.shape == b.shape
        np.testing.assert_allclose(a.data, b.data, rtol=1e-5, atol=1e-6)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(("function", "arrays"), TAKE_ARRAYS.values(), ids=TAKE_ARRAYS)
def test_gradients_reach_tensors_beside_arrays(function, arrays):
    if arrays[0].dtype == np.float32 and arrays[0] is not MASK:
        x = Tensor(arrays[0], requires_grad=True)
        results(function(x, *(a.tolist() for a in arrays[1:])))[0].sum().backward()
        assert x.grad.shape == x.shape


@pytest.mark.parametrize(
    "function",
    [
        lambda x: LAYER(x),
        lambda x: LAYER(X, context=x),
        lambda x: cached_attention(LAYER, x, KVCache()),
        lambda x: Softmax()(x),
        lambda x: LINEAR(x),
        lambda x: scaled_dot_product_attention(x, X, X),
        lambda x: tiled_attention(x, X, X),
        lambda x: rotary_embedding(x),
        lambda x: KVCache().append(x, X),
        lambda x: cat([x, X]),
    ],
)
def test_a_list_of_tensors_never_loses_its_gradients_without_a_word(function):
    with pytest.raises(TypeError, match=r"in a list, Tensors lose their gradients; write stack"):
        function([Tensor(X[0], requires_grad=True), Tensor(X[1], requires_grad=True)])


# --- masks ------------------------------------------------------------------------------------------------------------

TAKE_MASKS = {
    "scaled_dot_product_attention": lambda m: scaled_dot_product_attention(X, X, X, m)[0],
    "MultiHeadAttention": lambda m: LAYER(X, mask=m),
    "grouped_query_attention": lambda m: grouped_query_attention(Q, Q[:, :2], Q[:, :2], m)[0],
    "tiled_attention": lambda m: tiled_attention(X, X, X, m),
}


@pytest.mark.parametrize("function", TAKE_MASKS.values(), ids=TAKE_MASKS)
@pytest.mark.parametrize(
    ("strange", "held"),
    [
        (np.where(MASK > 0, 0, -np.inf), "-inf"),
        (np.where(MASK > 0, 1, np.nan), "nan"),
        (MASK * 255, "255"),
        ((1 - MASK) * MASK_VALUE, "-1000000000"),
        (MASK / 2, "0.5"),
        (-MASK, "-1"),
        (X[0, :, :4], r"[-\d.]+"),
    ],
    ids=["-inf", "nan", "255", "-1e9", "half", "negative", "keys"],
)
@pytest.mark.parametrize("wrap", [Tensor, np.array, np.ndarray.tolist], ids=["Tensor", "array", "list"])
def test_what_is_no_mask_is_refused_by_name(function, strange, held, wrap):
    with pytest.raises(ValueError, match=f"mask holds {held}.*; a mask is 1 .* where a query may look and 0"):
        function(wrap(strange))


@pytest.mark.parametrize("function", TAKE_MASKS.values(), ids=TAKE_MASKS)
def test_true_and_false_mean_one_and_zero(function):
    expected = function(MASK).data
    for kind in (bool, np.int64, np.uint8, np.float16, float):
        np.testing.assert_array_equal(function(MASK.astype(kind)).data, expected)
    np.testing.assert_array_equal(function(Tensor(MASK, dtype=bool)).data, expected)


@pytest.mark.parametrize("function", TAKE_MASKS.values(), ids=TAKE_MASKS)
@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (True, "mask is True, it must be a table"),
        (0.0, "mask is 0.0"),
        ([[1], [1, 0]], "mask is a list with rows of diff"),
    ],
)
def test_what_is_no_table_is_refused_by_name(function, mask, words):
    with pytest.raises(ValueError, match=words):
        function(mask)


def test_the_advice_for_masks_that_are_added_is_given_for_those_only():
    with pytest.raises(ValueError, match="make one with mask == 0"):
        as_mask([0, -np.inf])
    with pytest.raises(ValueError, match=r"where it may not$"):
        as_mask([0.3, 1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tiled_attention(X, X, X, None, 0.0, True), "causal is 0.0, it must be True or False|block is True"),
        (lambda: tiled_attention(X, X, X, causal=MASK), "it must be True or False; a table of 1 and 0 goes to mask"),
        (lambda: tiled_attention(X, X, X, block=128.0), "block is 128.0, it must be at least 1: a whole number"),
        (lambda: tiled_attention(X, X, X, block=(1, 2, 3)), r"block is \(1, 2, 3\), it must be"),
        (lambda: rotary_embedding(X, [0, 1, 2, 3]), r"offset is \[0, 1, 2, 3\], it must be one number"),
        (lambda: rotary_embedding(X, base=0), "base is 0, it must be one number above 0"),
        (lambda: sliding_window_mask(4, 2.5), "window is 2.5, it must be a whole number"),
        (lambda: MultiHeadAttention(4, 2.0), "num_heads is 2.0, it must be a whole number"),
        (lambda: MultiHeadAttention("8", 2), "embed_dim is '8', it must be a whole number"),
        (lambda: MultiHeadAttention(-8, 2), "embed_dim is -8, it must be a whole number, at least 1"),
        (lambda: Linear(0, 2), r"sizes must be whole numbers, at least 1; they are 0 and \(0, 2\)"),
    ],
)
def test_sizes_and_options_of_a_wrong_kind_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_pytorchs_order_of_arguments_is_noticed():
    """layer(q, k, v), as in PyTorch, takes k for a mask, also where the shapes would fit."""
    square = rng.normal(size=(2, 6, 6))
    with pytest.raises(ValueError, match="a mask is 1"):
        LAYER(square, square, square)


@pytest.mark.parametrize("lengths", [[np.nan], [1.5], [-1], [4], [[1]], 2, ["a"], [None], [np.inf]])
def test_lengths_are_whole_numbers(lengths):
    with pytest.raises(ValueError, match=r"lengths is .*; it must be a list of whole numbers from 0 to seq_len, 3"):
        padding_mask(lengths, 3)


# --- dtypes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.0, 100.0, -100.0])
def test_float16_with_masks_stays_finite(level):
    """A fully blocked row has finite, even weights; the others are those of float32."""
    K = Tensor(rng.normal(size=(4, 6)) + level, dtype=np.float16)
    mask = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]])
    output, weights = scaled_dot_product_attention(K, K, K, mask)
    assert output.dtype == weights.dtype == np.float16
    assert np.isfinite(weights.data).all() and np.isfinite(output.data).all()
    np.testing.assert_array_equal(weights.data[1], np.float16(0.25))
    assert (weights.data[mask == 0][:2] == 0).all()
    tiled = tiled_attention(K, K, K, mask, block=2)
    assert tiled.dtype == np.float16 and (tiled.data[1] == 0).all()
    wide = tiled_attention(*(Tensor(K, dtype=np.float64) for _ in range(3)), mask)
    np.testing.assert_allclose(tiled.data, wide.data, rtol=2e-3, atol=2e-3)


def test_whole_numbers_promote_as_in_numpy():
    x = np.array([[1, 2], [3, 5]])
    shares = Softmax()(Tensor(x, dtype=int))
    assert shares.dtype == np.float64
    np.testing.assert_allclose(shares.data, np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    plain, _ = scaled_dot_product_attention(*(Tensor(x, dtype=int) for _ in range(3)))
    tiled = tiled_attention(*(Tensor(x, dtype=int) for _ in range(3)))
    assert plain.dtype == tiled.dtype == np.float64
    np.testing.assert_allclose(tiled.data, plain.data)


# --- shapes that are empty, or do not fit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 2, 4), (2, 0, 4), (2, 3, 0)])
def test_empty_axes(shape):
    """No batch, no position, no width."""
    lead, length, width = shape
    x = Tensor(np.ones(shape), requires_grad=True)
    for output in (scaled_dot_product_attention(x, x, x)[0], tiled_attention(x, x, x)) if width else ():
        assert output.shape == shape
        output.sum().backward()
    four = Tensor(np.ones((lead, 2, length, width or 2)))
    assert grouped_query_attention(four, four[:, :1], four[:, :1])[0].shape == four.shape
    assert rotary_embedding(x).shape == shape
    assert causal_mask(0).shape == sliding_window_mask(0, 2).shape == (0, 0) and padding_mask([], 3).shape == (0, 1, 3)
    if width:
        layer = MultiHeadAttention(width, 2)
        assert layer(x).shape == cached_attention(layer, x, KVCache()).shape == shape


def test_without_keys_the_output_is_zero():
    q, k, v = (Tensor(np.ones(shape), requires_grad=True) for shape in ((2, 3, 4), (2, 0, 4), (2, 0, 5)))
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.shape == (2, 3, 0) and (output.data == 0).all() and output.shape == (2, 3, 5)
    tiled = tiled_attention(q, k, v, mask=np.ones((3, 0)))
    np.testing.assert_array_equal(tiled.data, output.data)
    (tiled.sum() + output.sum()).backward()
    np.testing.assert_array_equal(q.grad, 0)


@pytest.mark.parametrize("function", [scaled_dot_product_attention, tiled_attention])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_single_row_is_named(function, place):
    arguments = [X, X, X]
    arguments[place] = X[0, 0]
    with pytest.raises(ValueError, match=r"[QKV] has shape \(6,\), it must be \(..., positions, width\)"):
        function(*arguments)


# --- a cache changes whole or not at all ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "V"),
    [
        (np.ones((2, 3, 6)), np.ones((2, 2, 5))),
        (np.ones((2, 3, 6)), np.ones((1, 3, 5))),
        (np.ones((2, 3, 6)), np.ones((2, 3, 4))),
        (np.ones((2, 3, 7)), np.ones((2, 3, 5))),
        (np.ones((1, 3, 6)), np.ones((1, 3, 5))),
        (np.ones(6), np.ones(5)),
        ("keys", np.ones((2, 3, 5))),
        (np.ones((2, 3, 6)), None),
    ],
)
@pytest.mark.parametrize("filled", [True, False])
def test_pieces_that_do_not_fit_change_nothing(K, V, filled):
    cache = KVCache()
    if filled:
        cache.append(np.ones((2, 4, 6)), np.ones((2, 4, 5)))
    elif np.shape(K)[:-1] == np.shape(V)[:-1] and np.ndim(K) > 1:
        return  # they fit each other, and an empty cache takes anything
    before = (cache.K, cache.V, len(cache))
    with pytest.raises((ValueError, TypeError)):
        cache.append(K, V)
    assert (cache.K, cache.V, len(cache)) == before


def test_a_cache_keeps_what_it_was_given_by_value():
    """A buffer that is filled again for each position."""
    cache, k, v = KVCache(), np.zeros((1, 2), np.float32), np.zeros((1, 3), np.float32)
    for position in range(3):
        k[:], v[:] = position, position
        keys, values = cache.append(k, v)
    assert keys.data[:, 0].tolist() == values.data[:, 0].tolist() == [0, 1, 2]


def test_a_layer_can_be_pickled_and_copied_after_a_call():
    layer = MultiHeadAttention(6, 2)
    expected = layer(Tensor(X), mask=MASK).data
    for again in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        assert not again.attention_weights.requires_grad
        np.testing.assert_array_equal(again.attention_weights.data, layer.attention_weights.data)
        np.testing.assert_array_equal(again(Tensor(X), mask=MASK).data, expected)
        again(Tensor(X)).sum().backward()
        assert all(p.grad is not None for p in again.parameters())
        assert all(p.grad is None for p in layer.parameters())
    cache = KVCache()
    cached_attention(layer, X, cache)
    assert len(copy.deepcopy(cache)) == 4


def test_generating_inside_no_grad_records_nothing():
    with no_grad():
        assert not tiled_attention(X, X, X).requires_grad and not LAYER(X).requires_grad
