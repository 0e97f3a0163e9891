"""Signs in numbers and shapes of 05: each on an answer that shows it, and on one that does not."""

from collections.abc import Callable

import numpy as np
import pytest

from exercises.model import Arrays, Question, Reply, Sign
from exercises.problem import Problem
from exercises.signs.facts import (
    allows,
    another_axis_grew,
    blocks,
    entry_is,
    exchanged,
    first_pair_only,
    first_result_grew,
    first_rows_only,
    holds_what_another_got,
    not_finite_from,
    number_off,
    pairs_keep_their_lengths,
    positions_off,
    right_but_for,
    rows_off_by_a_factor,
)
from exercises.signs.shapes import (
    joined_along_another_axis,
    joined_keys_with_values,
    joined_with_other_axes,
    more_keys_than_values,
    product_of_heads,
    raised_as,
)
from tinytorch.core.attention import scaled_dot_product_attention
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor, cat

X = np.arange(1.0, 13).reshape(3, 4)
TURNED = X[:, [1, 0, 3, 2]] * [-1, 1, -1, 1]
FUTURE, SELF = np.triu(np.ones((3, 3))), np.eye(3)
CAUSAL = FUTURE.T


def shown(sign: Sign, answer: Arrays, expected: Arrays, **inputs: object) -> bool:
    return sign(Question("", inputs, ()), Reply(answer), expected)


def test_some_results_are_right_and_others_are_not() -> None:
    sign, right = right_but_for(("a",), ("b",)), {"a": X, "b": X}
    assert shown(sign, {"a": X, "b": X + 1}, right)
    assert not shown(sign, right, right) and not shown(sign, {"a": X + 1, "b": X + 1}, right)
    assert not shown(sign, {"a": X}, right)


def test_results_in_each_others_place() -> None:
    right = {"a": X, "b": X + 1}
    assert shown(exchanged("a", "b"), {"a": X + 1, "b": X}, right) and not shown(exchanged("a", "b"), right, right)


def test_rows_off_by_a_factor_of_their_own() -> None:
    sign, right = rows_off_by_a_factor("a"), {"a": X}
    assert shown(sign, {"a": X * [[1], [2], [3]]}, right)
    for other in (X, X + 1, X[:2], X * [1, 2, 3, 4]):
        assert not shown(sign, {"a": other}, right)


def test_only_the_first_rows_are_right() -> None:
    sign, right = first_rows_only("a"), {"a": X}
    assert shown(sign, {"a": X + np.array([[0], [1], [1]])}, right, block=1)
    assert not shown(sign, {"a": X + np.array([[0], [0], [1]])}, right, block=1) and not shown(
        sign, {"a": X}, right, block=3
    )


def test_not_finite_from_finite_numbers() -> None:
    sign = not_finite_from("x", True, ("a",))
    assert shown(sign, {"a": X * np.nan}, {}, x=X) and not shown(sign, {"a": X}, {}, x=X)
    assert not shown(sign, {"a": X * np.nan}, {}, x=X * np.inf)
    assert shown(not_finite_from("x", False, ("a",)), {"a": X * np.nan}, {}, x=X * np.inf)


@pytest.mark.parametrize(
    ("sign", "mask"),
    [
        (allows("future"), FUTURE + SELF),
        (allows("past"), CAUSAL),
        (blocks("itself"), CAUSAL - SELF),
        (blocks("past"), 0 * SELF),
    ],
)
def test_what_a_mask_allows_and_blocks(sign: Sign, mask: np.ndarray) -> None:
    window = np.tril(np.triu(np.ones((3, 3)), -1))
    assert shown(sign, {"mask": mask}, {"mask": window})
    assert not shown(sign, {"mask": window}, {"mask": window})
    assert not shown(sign, {"mask": mask[:2]}, {"mask": window})


def test_pairs_keep_their_lengths_or_do_not() -> None:
    assert shown(pairs_keep_their_lengths(), {"result": TURNED}, {}, x=X)
    assert not shown(pairs_keep_their_lengths(), {"result": X + 1}, {}, x=X)
    assert shown(pairs_keep_their_lengths(keep=False), {"result": X + 1}, {}, x=X)
    assert shown(first_pair_only(), {"result": X + np.array([0, 0, 1, 1])}, {"result": X})
    assert not shown(first_pair_only(), {"result": X}, {"result": X})


def test_how_a_cache_grew() -> None:
    right = {"K": X, "first_K": X[:1], "lengths": np.array([0, 1, 3]), "positions": np.array(3)}
    assert shown(positions_off("K", True), {"K": np.tile(X, (2, 1))}, right)
    assert shown(positions_off("K", False), {"K": X[:2]}, right) and not shown(
        positions_off("K", False), {"K": X}, right
    )
    assert shown(another_axis_grew("K"), {"K": np.tile(X, (1, 2))}, right)
    assert not shown(another_axis_grew("K"), {"K": np.tile(X, (2, 1))}, right)
    assert shown(first_result_grew(), {"K": X, "first_K": X}, right) and not shown(first_result_grew(), right, right)
    pieces = {"K": X, "pieces": [1, 2]}
    assert shown(holds_what_another_got(), {"other_K": np.tile(X, (2, 1))}, right, **pieces)
    assert not shown(holds_what_another_got(), {"other_K": X}, right, **pieces)
    assert shown(entry_is("lengths", 0, False), {"lengths": np.array([1, 1, 3])}, right)
    assert shown(number_off("positions", True), {"positions": np.array(4)}, right)
    assert shown(number_off("positions", False), {"positions": np.array(2)}, right)


K, V = np.ones((2, 3, 4, 7)), np.ones((2, 3, 4, 6))
INPUTS = {"K": K, "V": V, "x": np.ones((2, 4, 6)), "num_heads": 3}


def said(sign: Sign, action: Callable[[], object], line: str = "") -> bool:
    """Whether the sign shows in what an answer that does this would be told as."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  (each its own)
        action()
    text = f"{type(caught.value).__name__}: {caught.value}"
    return sign(Question("", INPUTS, ()), Reply(problem=Problem.RAISED, text=text, line=line), {})


def test_what_was_joined() -> None:
    def along_0() -> Tensor:
        return cat([Tensor(K), Tensor(K[:, :, :1])], dim=0)

    def keys_and_values() -> Tensor:
        return cat([Tensor(K), Tensor(V)], dim=-2)

    def of_other_axes() -> Tensor:
        return cat([Tensor(K), Tensor(K[0])], dim=-2)

    signs = joined_along_another_axis(), joined_keys_with_values(), joined_with_other_axes()
    for n, action in enumerate((along_0, keys_and_values, of_other_axes)):
        assert [said(sign, action) for sign in signs] == [i == n for i in range(3)]


def test_what_attention_and_the_projection_got() -> None:
    def more_keys() -> object:
        return scaled_dot_product_attention(Tensor(K), Tensor(K), Tensor(V[:, :, :1]))

    assert said(more_keys_than_values(True), more_keys) and not said(more_keys_than_values(False), more_keys)
    assert said(product_of_heads(), lambda: Linear(6, 6)(Tensor(np.ones((2, 3, 4, 2)))))
    assert not said(product_of_heads(), lambda: Linear(6, 6)(Tensor(np.ones((2, 4, 2)))))


def test_a_text_and_a_line() -> None:
    def divide() -> float:
        return 1 / 0

    assert said(raised_as("^ZeroDivision", r"x / \w"), divide, line="y = x / n")
    assert not said(raised_as("^ZeroDivision", "^$"), divide, line="y = x / n")
    assert not said(raised_as("^ValueError"), divide)
    assert not shown(raised_as(), {"a": X}, {})
