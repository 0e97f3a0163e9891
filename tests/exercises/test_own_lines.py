"""What a student's own line did that raised: real exceptions of this Python and this NumPy, and their words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from answers import answers, namespace

from exercises.differences import difference
from exercises.own_lines import in_plain_words
from exercises.problem import HANDED_OUT, own_line
from tinytorch.core import attention
from tinytorch.core.activations import Softmax
from tinytorch.core.attention import scaled_dot_product_attention
from tinytorch.core.tensor import Tensor

# wrong calls are what is tried here, so nothing has a type
X: Any = Tensor(np.ones((2, 3)), requires_grad=True)
MASK: Any = np.array([[True, False, True]] * 2)
LIBRARY: Any = vars(attention)
SOFTMAX: Any = Softmax
MHA = attention.MultiHeadAttention(6, 3)


def undefined() -> object:
    return d_k  # type: ignore[name-defined]  # noqa: F821  (that is the mistake)


def one_branch(chosen: bool = False) -> object:
    if chosen:
        weights = 1
    return weights


RAISES: list[tuple[Callable[[], object], str, str]] = [
    (lambda: LIBRARY["_scale_scores"](X), "s = _scale_scores(X)", "calls `_scale_scores` without the argument `d_k`"),
    (lambda: SOFTMAX()(X, axis=-1), "Softmax()(X, axis=-1)", "uses NumPy's word `axis`. Here it is called `dim`"),
    (lambda: SOFTMAX(dim=-1)(X), "Softmax(dim=-1)(X)", "gives arguments to the class `Softmax`"),
    (lambda: LIBRARY["_apply_mask"](X, masks=1), "_apply_mask(X, masks=1)", "gives `_apply_mask` an argument `masks`"),
    (lambda: MHA.forward(np.ones((1, 4, 6)), None, np.tri(4)), "return self.forward(x, c, m)", "gives as the context"),
    (
        lambda: np.ones((2, 0)).max(axis=-1),
        "e = (s - s.data.max()).exp()",
        "takes the largest or smallest of no numbers",
    ),
    (lambda: np.broadcast_to(MASK, (3,)), "np.broadcast_to(m, (3,))", "broadcasts an array to a shape with fewer axes"),
    (lambda: 0 + [1], "sum(lists)", "uses `+` between an int and a list"),  # type: ignore[operator]
    (lambda: bool(X), "if mask:", "asks a whole Tensor or array whether it is true. To ask whether there is one"),
    (lambda: bool(X), "context = context or x", "asks a whole Tensor or array whether it is true. To ask"),
    (lambda: bool(MASK != 1), "if mask != None:", "compares every value with None"),
    (lambda: bool(MASK), "if m[i, j] == 0:", "asks a whole Tensor or array of comparisons"),
    (lambda: -MASK, "(-mask + 1)", "puts a minus before an array of True and False"),
    (lambda: Tensor(np.ones((2, 3, 4))).T, "Q @ K.T", "uses `.T`, which is for two axes only"),
    (lambda: X @ X, "Q @ K", "multiplies shapes (2, 3) and (2, 3)"),
    (lambda: X.reshape(5, 5), "x.reshape(5, 5)", "reshapes (2, 3) to (5, 5)"),
    (
        lambda: scaled_dot_product_attention(X, X, X, np.ones((3, 3))),
        "sdpa()",
        "uses a mask of shape (3, 3) for scores",
    ),
    (lambda: np.where(MASK, X, 0), "np.where(mask, x, 0)", "gives a Tensor to `np.where`"),
    (lambda: X.permute(0, 1), "x.permute(0, 1)", "uses `.permute`, which a Tensor does not have. Write x.transpose"),
    (lambda: X.reshape(2, 3 / 1), "x.reshape(2, E / H)", "uses a float where a whole number is needed"),
    (lambda: X + None, "y + self.bias", "uses something that is None there"),
    (undefined, "return d_k", "uses the name `d_k`, which is not defined"),
    (one_branch, "return weights", "uses `weights` before it has a value"),
]


@pytest.mark.parametrize(("action", "line", "words"), RAISES, ids=[f"{n}: {r[1]}" for n, r in enumerate(RAISES)])
def test_an_exception_has_its_words(action: Callable[[], object], line: str, words: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011  (each is of another kind)
        action()
    told = in_plain_words(f"{type(raised.value).__name__}: {raised.value}", line)
    assert told is not None and told.startswith(words), told


def test_what_is_not_known_for_certain_has_no_words() -> None:
    assert in_plain_words("ValueError: something else", "y = f(x)") is None


def test_words_hold_no_more_than_short_names_from_the_text() -> None:
    """An exception's text could carry a hidden question out."""
    for text in ("NameError: name '{}' is not defined", "TypeError: {}() missing 1 required positional argument: '{}'"):
        assert len(in_plain_words(text.format(*("x" * 30,) * 2), "y") or "") < 160
        assert in_plain_words(text.format(*("x" * 300,) * 2), "y") in (
            None,
            "calls `" + "x" * 38 + "` with too few arguments",
        )


RIGHT = np.random.default_rng(0).normal(size=(2, 3, 4))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (-RIGHT, "sign of all values"),
        (3 * RIGHT, "one and the same factor"),
        (RIGHT + 2, "one and the same number"),
        (np.abs(RIGHT), "right but for their signs"),
        (RIGHT[:, ::-1], "not in the right places"),
        (np.concatenate([RIGHT[:1], RIGHT[1:] ** 2]), "first batch element only"),
    ],
)
def test_what_differs_is_said_without_a_number(answer: np.ndarray, said: str) -> None:
    sentence = difference("y", [(answer, RIGHT)])
    assert sentence is not None and said in sentence and not any(c.isdigit() for c in sentence)
    assert difference("y", [(RIGHT**3, RIGHT)]) is None


def test_a_line_that_was_handed_out_is_not_called_the_students_where_another_called_it() -> None:
    title = "__call__ passes context and mask in the wrong order"
    source = next(a.source for a in answers("wrong_answers") if a.title == title)
    names = namespace("04_attention", multi_head_attention=source)
    layer = names["MultiHeadAttention"](6, 3)
    for call, line in (
        (layer, "return self.forward(x, context, mask)"),
        (layer.forward, "x, context = _check_inputs(x, context, self.embed_dim)"),  # there is none that called it
    ):
        with pytest.raises(ValueError, match="context has shape") as raised:
            call(np.ones((1, 4, 6)), **{"mask" if call is layer else "context": np.tri(4)})
        assert own_line(raised.value, names) == line
    assert not HANDED_OUT.search("_check_heads(num_heads, embed_dim)")
