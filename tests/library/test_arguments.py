"""One rule for arguments, in every public function: Tensors, arrays and lists mean the same, and a mask holds 1 and 0.

What is called, and with what, is in calls/, a file per module; functions that need nothing special are found by their types.
"""

import ast
import copy
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import MASK, X, calls_of_all_modules

import tinytorch.core
from tinytorch.core.tensor import Tensor

CALLS = calls_of_all_modules()
TAKE_MASKS = {f"{module}.{name}": call for module, calls in CALLS.items() for name, call in calls.masks.items()}


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


def take_arrays() -> dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]]:
    """What takes values, by name, with arrays to call it with."""
    found = {f"{module}.{name}": call for module, calls in CALLS.items() for name, call in calls.arrays.items()}
    for name, number in functions_that_take_values().items():
        module, function = name.split(".")
        called = getattr(importlib.import_module(f"tinytorch.core.{module}"), function)
        found.setdefault(name, (called, (X,) * number))
    return found


TAKE_ARRAYS = take_arrays()
# each value that may be a Tensor with a gradient: no mask, no lengths
TAKE_TENSORS = [
    pytest.param(function, arrays, place, id=f"{name}-{place}")
    for name, (function, arrays) in TAKE_ARRAYS.items()
    for place, array in enumerate(arrays)
    if array.dtype == np.float32 and array is not MASK
]


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


@pytest.mark.parametrize(("function", "arrays", "place"), TAKE_TENSORS)
def test_gradients_reach_a_tensor_beside_arrays(function, arrays, place):
    x = Tensor(arrays[place], requires_grad=True)
    given = [x if n == place else a.tolist() for n, a in enumerate(arrays)]
    sum(r.sum() for r in results(function(*given))).backward()
    assert x.grad.shape == x.shape


@pytest.mark.parametrize(("function", "arrays", "place"), TAKE_TENSORS)
def test_a_list_of_tensors_never_loses_its_gradients_without_a_word(function, arrays, place):
    rows = [Tensor(row, requires_grad=True) for row in arrays[place]]
    with pytest.raises(TypeError, match=r"in a list, Tensors lose their gradients; write stack"):
        function(*(rows if n == place else a for n, a in enumerate(arrays)))


@pytest.mark.parametrize("function", TAKE_MASKS.values(), ids=TAKE_MASKS)
@pytest.mark.parametrize(
    ("strange", "held"),
    [
        (np.where(MASK > 0, 0, -np.inf), "-inf"),
        (np.where(MASK > 0, 1, np.nan), "nan"),
        (MASK * 255, "255"),
        ((1 - MASK) * -1e9, "-1000000000"),
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


@pytest.mark.parametrize(("call", "words"), [refused for calls in CALLS.values() for refused in calls.refused])
def test_sizes_and_options_of_a_wrong_kind_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
