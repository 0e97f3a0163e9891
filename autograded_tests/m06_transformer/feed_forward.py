"""Two linear layers with GELU between them."""

import math

import numpy as np

from autograded_tests import references
from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import CUT, NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import holds_nan, nan_instead_of_numbers
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import raised_as

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
    """Matrices, other numbers of leading axes, and numbers far from zero."""
    return (
        ask(d, 710, d.L, d.D),
        ask(d, 720, d.S, d.L),
        ask(d, 730, d.B, d.L, d.D),
        ask(d, 740, d.D),
        ask(d, 745, d.B, d.H, d.L, d.S),
        ask(d, 750, d.L, d.D, scale=60),
    )


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


def right_gelu(h: Array, slope: float = right.SLOPE, cube: float = right.CUBE, power: int = 3) -> Array:
    return np.asarray(h / 2 * (1 + np.tanh(slope * (h + cube * h**power))))


def computed(question: Question, bend: Function = right_gelu, whole: Function | None = None) -> Arrays:
    """The layer with another curve, or put together in another way: whole(x, first linear layer, second, GELU)."""
    x, expand, first, contract, second = (
        question[n].astype(float) for n in ("x", "expand", "expand_bias", "contract", "contract_bias")
    )

    def wide(a: Array) -> Array:
        return np.asarray(a @ expand + first)

    def narrow(a: Array) -> Array:
        return np.asarray(a @ contract + second)

    if whole is not None:
        return {"result": whole(x, wide, narrow, question)}
    return {"result": narrow(bend(wide(x)))}


def steps(sentence: str, bend: Function = right_gelu, whole: Function | None = None) -> Misconception:
    return Misconception(sentence, wrong=lambda question: computed(question, bend, whole))


FORMULA = "It is h / 2 * (1 + tanh(sqrt(2 / pi) * (h + 0.044715 * h**3)))."
WRONG_STEPS = (
    steps("There is no curve between the two layers. Bend the result of `expand` with GELU.", lambda h: h),
    steps(
        "The curve is ReLU: negative numbers become 0. It should be GELU, the formula above.",
        lambda h: np.maximum(h, 0),
    ),
    steps("The curve is the tangent alone. GELU multiplies 1 + tanh(...) by h / 2.", np.tanh),
    steps(
        "The tangent is not multiplied by h. GELU multiplies 1 + tanh(...) by h / 2.",
        lambda h: (1 + np.tanh(right.SLOPE * (h + right.CUBE * h**3))) / 2,
    ),
    steps(f"The half is missing in GELU. {FORMULA}", lambda h: 2 * right_gelu(h)),
    steps(f"The 1 before the tangent is missing in GELU. {FORMULA}", lambda h: right_gelu(h) - h / 2),
    steps(f"GELU has a minus where it should have a plus: 1 + tanh(...). {FORMULA}", lambda h: h - right_gelu(h)),
    steps(f"The cube is missing in GELU. {FORMULA}", lambda h: right_gelu(h, cube=0)),
    steps(f"GELU has a square where it should have a cube. {FORMULA}", lambda h: right_gelu(h, power=2)),
    steps(f"The factor of the cube is not 0.044715. {FORMULA}", lambda h: right_gelu(h, cube=0.44715)),
    steps(f"The factor of the cube is not 0.044715. {FORMULA}", lambda h: right_gelu(h, cube=0.0044715)),
    steps(f"The factor 0.044715 is missing in GELU. {FORMULA}", lambda h: right_gelu(h, cube=1)),
    steps(f"The factor sqrt(2 / pi) is missing in GELU. {FORMULA}", lambda h: right_gelu(h, slope=1)),
    steps(f"The root is missing in GELU: sqrt(2 / pi). {FORMULA}", lambda h: right_gelu(h, slope=2 / np.pi)),
    steps(
        f"The factor in GELU is sqrt(2 / pi), not sqrt(2 * pi) or sqrt(pi / 2). {FORMULA}",
        lambda h: right_gelu(h, slope=np.sqrt(2 * np.pi)),
    ),
    steps(
        f"The factor in GELU is sqrt(2 / pi), not sqrt(2 * pi) or sqrt(pi / 2). {FORMULA}",
        lambda h: right_gelu(h, slope=np.sqrt(np.pi / 2)),
    ),
    steps(
        f"0.044715 multiplies h + h**3. It belongs to the cube alone. {FORMULA}",
        lambda h: h / 2 * (1 + np.tanh(right.SLOPE * right.CUBE * (h + h**3))),
    ),
    steps(
        f"sqrt(2 / pi) multiplies h only. It belongs to both terms. {FORMULA}",
        lambda h: h / 2 * (1 + np.tanh(right.SLOPE * h + right.CUBE * h**3)),
    ),
    steps(
        "The curve is h * sigmoid(1.702 h), a coarser form of GELU. Use the formula with the tangent.",
        lambda h: h / (1 + np.exp(-1.702 * h)),
    ),
    steps(
        "The curve is h * sigmoid(h), known as SiLU. Use the formula with the tangent.",
        lambda h: h / (1 + np.exp(-h)),
    ),
    steps(
        "The curve is GELU with the error function, which differs from the form with the tangent in the third digit. "
        + FORMULA,
        lambda h: h / 2 * (1 + np.vectorize(math.erf)(h / math.sqrt(2))),
    ),
    steps("GELU is used twice. Use it once, between the two layers.", lambda h: right_gelu(right_gelu(h))),
    steps(
        "GELU is also used at the end. Use it once, between the two layers.",
        whole=lambda x, wide, narrow, q: right_gelu(narrow(right_gelu(wide(x)))),
    ),
    steps(
        "GELU stands after both layers. It belongs between them.",
        whole=lambda x, wide, narrow, q: right_gelu(narrow(wide(x))),
    ),
    steps(
        "GELU is used on x, before `expand`. It belongs between the two layers.",
        whole=lambda x, wide, narrow, q: narrow(wide(right_gelu(x))),
    ),
    steps(
        "x is added to the result. The residual connection comes with the block, not here.",
        whole=lambda x, wide, narrow, q: x + narrow(right_gelu(wide(x))),
    ),
    steps(
        "The biases are not added. Call the layers: expand(x).",
        whole=lambda x, wide, narrow, q: right_gelu(x @ q["expand"]) @ q["contract"],
    ),
    steps(
        "`contract` is missing. Return contract of what GELU gives.",
        whole=lambda x, wide, narrow, q: right_gelu(wide(x)),
    ),
)

EXERCISE = Exercise(
    name="feed_forward",
    module="06_transformer",
    defines="feed_forward",
    cases=(
        Case("values", 1.25, values),
        Case("gradient", 0.5, gradient),
        Case("inputs unchanged", 0.25, unchanged, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_STEPS,
        shows(
            "The tangent becomes nan for large numbers, as where it is made of exponentials. Use _tanh.",
            nan_instead_of_numbers("result"),
            ("values",),
        ),
        shows(
            "For large numbers the gradient is nan, as where an exponential becomes too large. Use _tanh.",
            holds_nan(*GRADIENTS),
            ("gradient",),
        ),
        shows(
            f"The gradient stops between the two layers: what GELU does is cut from the graph, {CUT}.",
            no_gradient("x", "expand", "expand_bias"),
            ("gradient",),
        ),
        shows(
            f"No gradient reaches `expand`: it is used as an array, {CUT}.",
            no_gradient("expand", "expand_bias"),
            ("gradient",),
        ),
        shows(
            "The two layers are in each other's place, or one is used twice. `expand` goes from E to F, `contract` back.",
            raised_as("^ValueError: @: ", r"(expand|contract)\(|@"),
        ),
        NAMES_KEPT,
    ),
)
