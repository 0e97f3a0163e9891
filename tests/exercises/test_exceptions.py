"""The table from exception texts to kinds of mistakes, on this Python and this NumPy: each kind is raised by real code."""

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from exercises.model import Question, Reply
from exercises.problem import Problem
from exercises.signs.exceptions import (
    Raised,
    keys_of_another_length,
    mask_and_context_exchanged,
    mask_reshaped_by_the_sizes_of_x,
    raised,
    transposed_weights,
    values_of_another_length,
)
from tinytorch.core.attention import MultiHeadAttention, scaled_dot_product_attention
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor

ONE, TWO, THREE = Tensor(np.ones((2, 3))), Tensor(np.ones((2, 4))), Tensor(np.ones((2, 3, 4)))
ARRAY = np.ones((2, 3))
QUESTION = Question("", {}, ())

RAISES: dict[Raised, list[Callable[[], object]]] = {
    Raised.ANYTHING: [lambda: 1 / 0],
    Raised.ARGUMENTS: [
        lambda: scaled_dot_product_attention(ONE),
        lambda: scaled_dot_product_attention(ONE, ONE, ONE, masks=None),
        lambda: scaled_dot_product_attention(ONE, ONE, ONE, None, None),
    ],
    Raised.ARRAY_ATTRIBUTE: [lambda: ARRAY.backward(), lambda: ARRAY.masked_fill(ARRAY, 0), lambda: ARRAY.detach()],
    Raised.AXIS: [
        lambda: ONE.sum(5),
        lambda: ARRAY.sum(5),
        lambda: np.swapaxes(ARRAY, 1, 2),
        lambda: ARRAY.transpose(0, 2, 1),
        lambda: ONE.transpose(0, 5),
    ],
    Raised.BROADCAST: [lambda: ONE + TWO, lambda: ARRAY + np.ones((2, 4)), lambda: np.where(ARRAY > 0, np.ones(4), 0)],
    Raised.CALL: [lambda: _Empty()(1, axis=2)],
    Raised.CONTEXT_SHAPE: [lambda: MultiHeadAttention(6, 3)(np.ones((1, 2, 6)), context=np.ones((4, 4)))],
    Raised.DIVISION: [lambda: ONE // 2],
    Raised.ELEMENTWISE: [lambda: ONE * TWO],
    Raised.INDEX: [lambda: ARRAY[5], lambda: (1, 2)[5], lambda: ARRAY[np.ones((2, 4)) > 0], lambda: ONE[5]],
    Raised.INIT: [lambda: MultiHeadAttention(6), lambda: _Empty(1)],
    Raised.KEYS_AND_VALUES: [
        lambda: scaled_dot_product_attention(Tensor(np.ones((5, 3))), Tensor(np.ones((5, 3))), Tensor(np.ones((4, 3))))
    ],
    Raised.MASK_HOLDS: [lambda: scaled_dot_product_attention(ONE, ONE, ONE, 2 * np.ones((2, 2)))],
    Raised.MASK_SHAPE: [lambda: scaled_dot_product_attention(ONE, ONE, ONE, np.ones((3, 3)))],
    Raised.MASK_SHAPES: [lambda: scaled_dot_product_attention(ONE, ONE, ONE, np.ones((3, 3)))],
    Raised.NO_DIM: [lambda: _along()],
    Raised.NO_FORWARD: [lambda: SimpleNamespace().forward(ONE), lambda: type("MultiHeadAttention", (), {})()(ONE)],
    Raised.NO_MASK: [lambda: None * ARRAY, lambda: None.shape],
    Raised.NO_PARAMETERS: [lambda: SimpleNamespace().parameters()],
    Raised.NO_PROJECTION: [lambda: SimpleNamespace().q_proj, lambda: _Empty().out_proj],
    Raised.LIST_CALLED: [lambda: [ONE].copy()()],
    Raised.NOT_CALLABLE: [lambda: type("Linear", (), {})()(ONE)],
    Raised.NO_WEIGHT: [lambda: _Empty().weight, lambda: ARRAY.bias],
    Raised.PRODUCT: [lambda: ONE @ ONE, lambda: Linear(5, 2)(ONE)],
    Raised.PRODUCT_SHAPES: [lambda: ONE @ ONE],
    Raised.RESHAPE: [lambda: ONE.reshape(5, 5), lambda: ARRAY.reshape(5, 5)],
    Raised.RESHAPE_TO: [lambda: ONE.reshape(5, 5), lambda: ARRAY.reshape(5, 5)],
    Raised.TWO_SHAPES: [lambda: ONE + TWO, lambda: ONE - ONE.sum(1)],
    Raised.UNPACK: [lambda: _three(*[(1, 2)]), lambda: _three((1, 2, 3, 4))],
    Raised.V_SHAPE: [lambda: scaled_dot_product_attention(Tensor(np.ones((5, 3))), Tensor(np.ones((5, 3))), ONE)],
    Raised.X_SHAPE: [lambda: MultiHeadAttention(6, 3)(TWO)],
}


class _Empty:
    def __call__(self, x: object) -> object:
        return x


def _along(dim: int) -> int:
    return dim


def _three(values: tuple[int, ...]) -> int:
    a, b, c = values
    return a + b + c


def reply_of(action: Callable[[], object]) -> Reply:
    """What an answer that does this would be told as."""
    try:
        action()
    except Exception as error:
        return Reply(problem=Problem.RAISED, text=f"{type(error).__name__}: {error}")
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("kind", Raised, ids=lambda kind: kind.name)
def test_each_kind_is_known_by_its_text(kind: Raised) -> None:
    for action in RAISES[kind]:
        reply = reply_of(action)
        assert raised(kind)(QUESTION, reply, {}), reply.text


def test_only_what_was_raised_counts() -> None:
    for problem in set(Problem) - {Problem.RAISED}:
        assert not raised(*Raised)(QUESTION, Reply(problem=problem, text="IndexError: out of bounds"), {})


def test_a_kind_says_no_to_other_exceptions() -> None:
    """Each kind but the two general ones fits fewer than half of all exceptions here."""
    replies = [reply_of(action) for actions in RAISES.values() for action in actions]
    for kind in set(Raised) - {Raised.ANYTHING}:
        assert sum(raised(kind)(QUESTION, reply, {}) for reply in replies) < len(replies) / 2, kind.name


@pytest.mark.parametrize(("L", "S", "Dv"), [(4, 5, 6), (3, 7, 2)])
def test_transposed_weights_are_known_by_their_shapes(L: int, S: int, Dv: int) -> None:
    V = np.ones((2, S, Dv))
    question, expected = Question("", {"V": V}, ()), {"weights": np.ones((2, L, S))}
    wrong = reply_of(lambda: Tensor(np.ones((2, S, L))) @ Tensor(V))
    assert transposed_weights()(question, wrong, expected)
    for other in ((2, S, L + S), (2, L, L)):
        reply = reply_of(partial(operator.matmul, Tensor(np.ones(other)), Tensor(V)))
        assert not transposed_weights()(question, reply, expected)


@pytest.mark.parametrize(("L", "S"), [(4, 5), (6, 3)])
def test_keys_and_values_of_different_lengths_are_told_apart(L: int, S: int) -> None:
    question = Question("", {"x": np.ones((2, L, 6)), "context": np.ones((2, S, 6))}, ())
    of_x, of_context = (Tensor(np.ones((2, 3, n, 2))) for n in (L, S))
    values = reply_of(lambda: scaled_dot_product_attention(of_x, of_context, of_x))
    keys = reply_of(lambda: scaled_dot_product_attention(of_x, of_x, of_context))
    assert values_of_another_length()(question, values, {}) and not keys_of_another_length()(question, values, {})
    assert keys_of_another_length()(question, keys, {}) and not values_of_another_length()(question, keys, {})


def test_a_mask_in_place_of_the_context_is_known_and_the_other_way_round() -> None:
    x, mask, context = np.ones((2, 4, 6)), np.tri(4), np.full((2, 5, 6), 0.5)
    line = "return self.forward(x, context, mask)"
    layer = MultiHeadAttention(6, 3)
    with_mask = replace(reply_of(lambda: layer.forward(x, None, mask)), line=line)
    with_context = replace(reply_of(lambda: layer.forward(x, context, None)), line=line)
    shows = mask_and_context_exchanged()
    assert shows(Question("", {"x": x, "mask": mask}, ()), with_mask, {})
    assert shows(Question("", {"x": x, "mask": None, "context": context}, ()), with_context, {})
    assert not shows(Question("", {"x": x, "mask": np.tri(3)}, ()), with_mask, {})
    assert not shows(Question("", {"x": x, "mask": mask}, ()), replace(with_mask, line="x = self.q_proj(x)"), {})
    assert not shows(Question("", {"x": x, "mask": None, "context": None}, ()), with_context, {})


def test_a_mask_that_is_given_the_sizes_of_x_is_known() -> None:
    x, padding = np.ones((2, 4, 6)), np.ones((2, 1, 4))
    reply = reply_of(lambda: padding.reshape(2, 1, 4, 4))
    shows = mask_reshaped_by_the_sizes_of_x()
    assert shows(Question("", {"x": x, "mask": padding}, ()), reply, {})
    assert not shows(Question("", {"x": x, "mask": np.ones((2, 4, 4))}, ()), reply, {})
    assert not shows(Question("", {"x": x, "mask": padding}, ()), reply_of(lambda: padding.reshape(2, 3, 4, 4)), {})
