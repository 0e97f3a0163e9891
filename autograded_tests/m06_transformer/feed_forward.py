"""Two linear layers with GELU between them."""

import numpy as np

from autograded_tests import references
from autograded_tests.m06_transformer import _transformer as right
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, computes
from exercises.model import Arrays, Case, Exercise, Question

Array = np.ndarray
GRADIENTS = ("grad_x", "grad_expand", "grad_expand_bias", "grad_contract", "grad_contract_bias")


def ask(
    d: Data,
    number: int,
    *shape: int,
    compare: tuple[str, ...] = ("result",),
    grad: Array | None = None,
    scale: float = 1,
) -> Question:
    """From the width of x to d.S + d.H and back."""
    width, hidden = shape[-1], d.S + d.H
    inputs = {
        "x": d.normal(number, *shape, scale=scale),
        "expand": d.normal(number + 1, width, hidden, scale=0.6),
        "expand_bias": d.normal(number + 2, hidden),
        "contract": d.normal(number + 3, hidden, width),
        "contract_bias": d.normal(number + 4, width),
    }
    return Question("feed_forward", inputs | {"grad": grad}, compare)


def values(d: Data) -> tuple[Question, ...]:
    return ask(d, 710, d.L, d.D), ask(d, 720, d.S, d.L)


def leading_axes(d: Data) -> tuple[Question, ...]:
    return ask(d, 730, d.B, d.L, d.D), ask(d, 740, d.D), ask(d, 745, d.B, d.H, d.L, d.S)


def far_from_zero(d: Data) -> tuple[Question, ...]:
    return (ask(d, 750, d.L, d.D, scale=60),)


def gradient(d: Data) -> tuple[Question, ...]:
    small, large = (
        ask(d, n, d.B, d.L, d.D, compare=GRADIENTS, grad=d.normal(n + 5, d.B, d.L, d.D), scale=scale)
        for n, scale in ((760, 1), (770, 40))
    )
    return small, large


def unchanged(d: Data) -> tuple[Question, ...]:
    return (ask(d, 780, d.L, d.D, compare=("x_after", "expand_after", "contract_after")),)


def reference(question: Question) -> Arrays:
    x, expand, first, contract, second = (
        question[n] for n in ("x", "expand", "expand_bias", "contract", "contract_bias")
    )
    h = references.linear(x, expand, first)
    bent = right.gelu(h)
    answer = {
        "result": references.linear(bent, contract, second),
        "x_after": x,
        "expand_after": expand,
        "contract_after": contract,
    }
    if question["grad"] is not None:
        to_bent, to_contract, to_second = references.linear_gradient(bent, contract, question["grad"])
        to_x, to_expand, to_first = references.linear_gradient(x, expand, to_bent * right.gelu_slope(h))
        answer |= dict(zip(GRADIENTS, (to_x, to_expand, to_first, to_contract, to_second), strict=True))
    return answer


EXERCISE = Exercise(
    name="feed_forward",
    module="06_transformer",
    defines="feed_forward",
    cases=(
        Case("values", 0.75, values),
        Case("leading axes", 0.25, leading_axes),
        Case("far from zero", 0.25, far_from_zero),
        Case("gradient", 0.5, gradient),
        Case("inputs unchanged", 0.25, unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        computes(
            "There is no curve between the two layers. Bend the result of `expand` with GELU.",
            "result",
            lambda x, expand, expand_bias, contract, contract_bias: (
                (x @ expand + expand_bias) @ contract + contract_bias
            ),
        ),
        NAMES_KEPT,
    ),
)
