"""Softmax and weighted sum of one block of keys after another."""

from functools import partial
from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m05_efficient_attention._facts import seen
from autograded_tests.variants import Array, Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, StandIn
from exercises.signs.arrays import other_shape_than
from exercises.signs.facts import exchanged, not_finite_from, right_but_for
from exercises.signs.shapes import raised_as

STATE = ("largest", "total", "output")
ARGUMENTS = (*STATE, "scores", "V")


def ask(
    d: Data, number: int, first: bool = False, shift: float = 0.0, level: float = 0.0, as_large: bool = False
) -> Question:
    """shift: how far the new scores lie above the largest so far; as_large: their largest equals it."""
    largest = d.normal(number, d.H, 1) + np.float32(level)
    scores = d.normal(number + 1, d.H, d.S) + np.float32(level + shift)
    if as_large:
        scores += largest - scores.max(axis=1, keepdims=True)
        scores = np.minimum(scores, largest)
    if first:
        state = [np.full_like(largest, -np.inf), np.zeros_like(largest), np.zeros((d.H, d.Dv), np.float32)]
    else:
        total = 1 + np.abs(d.normal(number + 2, d.H, 1))
        state = [largest, total, total * d.normal(number + 3, d.H, d.Dv)]
    inputs = dict(zip(STATE, state, strict=True)) | {"scores": scores, "V": d.normal(number + 4, d.S, d.Dv)}
    about = {"name": "_online_softmax", "results": list(STATE), "overwritten": ["scores"]}
    return Question("array_function", about | inputs, STATE)


def first_block(d: Data) -> tuple[Question, ...]:
    return ask(d, 240, first=True, shift=-4.0), ask(d, 245, first=True)


def near_1000(d: Data) -> tuple[Question, ...]:
    return ask(d, 260, first=True, level=1000.0), ask(d, 265, level=1000.0, as_large=True)


def reference(question: Question) -> Arrays:
    return dict(zip(STATE, references.online_softmax(*(question[k] for k in ARGUMENTS)), strict=True))


def online(
    largest: Array,
    total: Array,
    output: Array,
    scores: Array,
    V: Array,
    *,
    new: Function = lambda m, s: np.maximum(m, s.max(-1, keepdims=True)),
    of_total: Function = lambda m, m2: np.exp(m - m2),
    of_output: Function = lambda m, m2: np.exp(m - m2),
    share: Function = lambda s, m, m2: np.exp(s - m2),
    add: Function = lambda e: e.sum(-1, keepdims=True),
    read: Function = lambda e, V: e @ V,
    finish: Function = lambda m, m2, total, output: (m2, total, output),
) -> tuple[Array, Array, Array]:
    """A step of the online softmax in which each part can be replaced by a wrong one."""
    m, m2 = largest.astype(float), new(largest.astype(float), scores.astype(float))
    e = share(scores.astype(float), m, m2)
    results = finish(m, m2, of_total(m, m2) * total + add(e), of_output(m, m2) * output + read(e, V))
    return results[0], results[1], results[2]


def online_with(sentence: str, **parts: Any) -> Misconception:
    """A step of the online softmax with some wrong parts."""

    def wrong(question: Question) -> Arrays:
        return dict(zip(STATE, online(*(question[k] for k in ARGUMENTS), **parts), strict=True))

    return Misconception(sentence, wrong=wrong)


def no_shrink(m: Array, m2: Array) -> Array:
    return np.ones_like(m2)


def nothing(m: Array, m2: Array) -> Array:
    return 0 * m2


def flipped(m: Array, m2: Array) -> Array:
    return np.asarray(np.exp(m2 - m))


def difference(m: Array, m2: Array) -> Array:
    """The factor without an exponential."""
    return np.asarray(m - m2)


def shares(e: Array, V: Array) -> Array:
    """Values weighted by what is divided within the block."""
    return np.asarray(e / e.sum(-1, keepdims=True) @ V)


def divided_already(question: Question) -> Arrays:
    right = reference(question)
    return {"output": right["output"] / right["total"]}


def averages(question: Question, old_as_sum: bool) -> Arrays:
    """New values divided by the new total, and old ones multiplied by the old total first, or left as they are."""
    right = reference(question)
    largest, total, output = (question[k].astype(float) for k in STATE)
    new = right["output"] - np.exp(largest - right["largest"]) * output
    old = output if old_as_sum else output * total / right["total"]
    return {"output": np.exp(largest - right["largest"]) * old + new / right["total"]}


def skipped_block(question: Question) -> Arrays:
    """Nothing is done where no query gets a larger score."""
    if (question["scores"].max(-1, keepdims=True) <= question["largest"]).all():
        return {name: question[name] for name in STATE}
    return reference(question)


def zero_before_the_first_block(question: Question) -> Arrays:
    largest = np.nan_to_num(question["largest"], neginf=0.0)
    return dict(zip(STATE, online(largest, *(question[k] for k in ARGUMENTS[1:])), strict=True))


def new_parts_shrunk(question: Question, names: tuple[str, ...]) -> Arrays:
    """The factor of what is old multiplies the new part as well."""
    largest, total, output, scores, V = (question[k].astype(float) for k in ARGUMENTS)
    m2, right_total, right_output = online(largest, total, output, scores, V)
    factor, e = np.exp(largest - m2), np.exp(scores - m2)
    wrong = {"total": factor * (total + e.sum(-1, keepdims=True)), "output": factor * (output + e @ V)}
    return {"largest": m2, "total": right_total, "output": right_output} | {name: wrong[name] for name in names}


SHRINK = "exp(old largest - new largest)"
OLD_PARTS = (
    online_with(
        f"The old sums are not shrunk. total and output should be multiplied by {SHRINK}.",
        of_total=no_shrink,
        of_output=no_shrink,
    ),
    online_with(f"The old total is not shrunk. It should be multiplied by {SHRINK}.", of_total=no_shrink),
    online_with(f"The old output is not shrunk. It should be multiplied by {SHRINK}.", of_output=no_shrink),
    online_with(
        f"The sign is flipped in the factor of the old sums. They should be multiplied by {SHRINK}, which is at most 1.",
        of_total=flipped,
        of_output=flipped,
    ),
    online_with(
        f"The sign is flipped in the factor of the old total. It should be multiplied by {SHRINK}.", of_total=flipped
    ),
    online_with(
        f"The sign is flipped in the factor of the old output. It should be multiplied by {SHRINK}.", of_output=flipped
    ),
    online_with(
        f"The exponential is missing in the factor of the old sums. It should be {SHRINK}.",
        of_total=difference,
        of_output=difference,
    ),
    online_with(
        f"The factor of the old sums is old largest / new largest. It should be {SHRINK}.",
        of_total=lambda m, m2: m / m2,
        of_output=lambda m, m2: m / m2,
    ),
    *(
        Misconception(
            f"The new part of the {names[-1]} is shrunk, too. Only the old part should be multiplied by {SHRINK}.",
            wrong=partial(new_parts_shrunk, names=names),
        )
        for names in (("total",), ("output",))
    ),
    Misconception(
        f"The new parts of the sums are shrunk, too. Only the old parts should be multiplied by {SHRINK}.",
        wrong=partial(new_parts_shrunk, names=("total", "output")),
    ),
    online_with(
        "The old total and the old output are lost. Both should be added, shrunk.", of_total=nothing, of_output=nothing
    ),
    online_with("The old output is lost. It should be added, shrunk.", of_output=nothing),
    online_with("The old total is lost. It should be added, shrunk.", of_total=nothing),
)
WRONG_LARGEST = (
    online_with(
        "Only the new scores are looked at for the largest. The old largest may be larger: take the maximum of both.",
        new=lambda m, s: s.max(-1, keepdims=True),
    ),
    online_with(
        "The old largest score is returned. Return the new one, which total and output refer to.",
        finish=lambda m, m2, total, output: (m, total, output),
    ),
    online_with(
        "The largest score is not updated. It should be the maximum of the old one and the new scores.",
        new=lambda m, s: np.where(np.isfinite(m), m, s.max(-1, keepdims=True)),
    ),
    online_with(
        "One largest score is used for all queries. Each should have its own: axis -1, with keepdims.",
        new=lambda m, s: np.maximum(m, s.max()),
    ),
    online_with(
        "One largest score is used for all queries. Each should have its own: axis -1, with keepdims, and np.maximum of old and new.",
        new=lambda m, s: np.full_like(m, max(m.max(), s.max())),
    ),
    online_with(
        "The smallest of the new scores is used. It should be the largest.",
        new=lambda m, s: np.maximum(m, s.min(-1, keepdims=True)),
    ),
    online_with(
        "The smaller of the old and the new largest score is kept. It should be the larger.",
        new=lambda m, s: np.minimum(m, s.max(-1, keepdims=True)),
    ),
    online_with(
        "The mean of the new scores is used. It should be the largest.",
        new=lambda m, s: np.maximum(m, s.mean(-1, keepdims=True)),
    ),
    online_with(
        "argmax gives the place of the largest score. The score itself should be used, by max.",
        new=lambda m, s: np.maximum(m, s.argmax(-1, keepdims=True)),
    ),
    Misconception(
        "Before the first block the largest score is taken to be 0. It is -inf then.", wrong=zero_before_the_first_block
    ),
)
NEW_PARTS = (
    online_with(
        "The new exponentials are relative to the old largest score. They should be exp(score - new largest).",
        share=lambda s, m, m2: np.exp(s - np.where(np.isfinite(m), m, m2)),
    ),
    online_with(
        "The new exponentials are relative to the largest of the new scores. They should be relative to the largest of all.",
        share=lambda s, m, m2: np.exp(s - s.max(-1, keepdims=True)),
    ),
    online_with(
        "Nothing is subtracted before the exponential. It should be exp(score - new largest).",
        share=lambda s, m, m2: np.exp(s),
    ),
    online_with(
        "The sign is flipped in the exponential. It should be exp(score - new largest).",
        share=lambda s, m, m2: np.exp(m2 - s),
    ),
    online_with(
        "The exponential is missing. The new parts should be made of exp(score - new largest).",
        share=lambda s, m, m2: s - m2,
    ),
    online_with(
        "The exponential is to base 2. It should be np.exp.",
        of_total=lambda m, m2: np.exp2(m - m2),
        of_output=lambda m, m2: np.exp2(m - m2),
        share=lambda s, m, m2: np.exp2(s - m2),
    ),
    online_with(
        "The exponential of the new scores is to base 2. It should be np.exp.",
        share=lambda s, m, m2: np.exp2(s - m2),
    ),
    online_with("The new exponentials are averaged. They should be summed.", add=lambda e: e.mean(-1, keepdims=True)),
    online_with(
        "The exponentials are summed over queries and keys. Sum over the keys only: axis -1.", add=lambda e: e.sum()
    ),
    online_with("The new exponentials are not added to the total.", add=lambda e: 0.0),
    online_with("The new values are not added to the output. Add exponentials @ V.", read=lambda e, V: 0.0),
    online_with(
        "The new values are averaged without weights. Add exponentials @ V.",
        read=lambda e, V: np.broadcast_to(V.mean(0), (len(e), V.shape[1])),
    ),
    online_with(
        "The new values are summed without weights. Add exponentials @ V.",
        read=lambda e, V: np.broadcast_to(V.sum(0), (len(e), V.shape[1])),
    ),
    online_with(
        "The new values are weighted by shares, divided already. Add exponentials @ V; division comes at the end.",
        read=shares,
    ),
    Misconception(
        "The output is divided by the total already. It should stay a sum; the division comes at the very end.",
        wrong=divided_already,
    ),
    Misconception(
        "The new values are divided by the total already. Add exponentials @ V; the division comes at the very end.",
        wrong=partial(averages, old_as_sum=True),
    ),
    Misconception(
        f"The output is kept as an average, divided by the total. It should stay a sum: {SHRINK} * output, without the total, "
        "plus exponentials @ V; the division comes at the very end.",
        wrong=partial(averages, old_as_sum=False),
    ),
    Misconception(
        "A block in which no query gets a larger score is left out. Its exponentials and values should be added, too.",
        wrong=skipped_block,
    ),
    online_with(
        "Each new exponential is relative to the largest score up to its own key. All should be relative to the new largest score.",
        share=lambda s, m, m2: np.exp(s - np.maximum(m, np.maximum.accumulate(s, axis=-1))),
    ),
    online_with(
        "The logarithm of the total is returned. Return the total itself.",
        finish=lambda m, m2, t, o: (m2, np.log(t), o),
    ),
)
FIRST, LARGER, SMALLER, HIGH = (
    "the first block",
    "a larger score arrives",
    "only smaller scores arrive",
    "scores near 1000",
)
ALL = (FIRST, LARGER, SMALLER, HIGH)
TOTAL = f"`total` is not right, though `largest` and `output` are. It should be {SHRINK} * total, plus the sum of the new exponentials."
OUTPUT = (
    f"`output` is not right, though `largest` and `total` are. It should be {SHRINK} * output, plus exponentials @ V."
)
BOTH = (
    f"`largest` is right, `total` and `output` are not. Both should be multiplied by {SHRINK}; "
    "then the sum of exp(score - new largest) is added to total, and these times V to output."
)
LARGEST = (
    "`largest` is not right. For each query it should be the maximum of the old largest and all new scores, (n, 1)."
)

EXERCISE = Exercise(
    name="online_softmax",
    module="05_efficient_attention",
    defines="_online_softmax",
    cases=(
        Case(FIRST, 1, first_block),
        Case(LARGER, 1.25, lambda d: (ask(d, 250, shift=5.0),)),
        Case(SMALLER, 1, lambda d: (ask(d, 255, shift=-5.0),)),
        Case(HIGH, 0.75, near_1000),
    ),
    reference=reference,
    misconceptions=(
        shows(
            "`total` or `output` is nan or inf in the first block. Before it the largest score is -inf: "
            "0 * inf and -inf - (-inf) are nan.",
            not_finite_from("largest", False, ("total", "output")),
            (FIRST, HIGH),
        ),
        shows(
            "`total` or `output` is nan or inf with scores near 1000. exp(1000) is inf: take exponentials of differences only.",
            not_finite_from("largest", True, ("total", "output")),
            (HIGH,),
        ),
        *OLD_PARTS,
        *WRONG_LARGEST,
        *NEW_PARTS,
        *seen("`largest` and `total` are returned in each other's place.", exchanged("largest", "total"), *ALL),
        *seen("`largest` and `output` are returned in each other's place.", exchanged("largest", "output"), *ALL),
        *seen("`total` and `output` are returned in each other's place.", exchanged("total", "output"), *ALL),
        *seen(
            "The results do not have the shapes largest (n, 1), total (n, 1), output (n, Dv). "
            "Reduce over keys with axis=-1 and keepdims=True, and return them in this order.",
            other_shape_than({name: name for name in STATE}),
            *ALL,
        ),
        *seen(TOTAL, right_but_for(("largest", "output"), ("total",)), *ALL),
        *seen(OUTPUT, right_but_for(("largest", "total"), ("output",)), *ALL),
        *seen(BOTH, right_but_for(("largest",), ("total", "output")), *ALL),
        *seen(LARGEST, right_but_for((), ("largest",)), *ALL),
        shows(
            "`max` compares two numbers. Use np.maximum for two arrays.",
            raised_as("truth value", r"(?<![.\w])(max|min)\("),
        ),
        shows(
            "np.max takes the largest of one array. Use np.maximum for the larger of two.",
            raised_as("scalar index|cannot be interpreted as an integer", r"np\.(max|amax|min)\("),
        ),
        shows(
            "`if` takes one truth value, and there is a number for each query. No `if` is needed: np.maximum and np.exp work with -inf.",
            raised_as("truth value", "^(if|elif|while)\\b"),
        ),
        shows(
            "The functions of `math` take one number. Use those of NumPy for arrays, as np.exp.",
            raised_as("converted to Python scalars", r"math\."),
        ),
        shows(
            "An array has no `.exp()`. Write np.exp(...).",
            raised_as("'numpy.ndarray' object has no attribute 'exp'"),
        ),
        shows(
            "PyTorch's words `dim` and `keepdim` are used with an array. NumPy's are `axis` and `keepdims`.",
            raised_as("unexpected keyword argument '(dim|keepdim)'"),
        ),
        shows(
            'The einsum sums over the queries. Exponentials times values should be (n, Dv), a sum over the keys: "nk,kd->nd".',
            raised_as("broadcast", r"""einsum\(["'](\w)(\w), ?\2(\w) ?-> ?\2\3["']"""),
        ),
        shows(
            "The shapes do not fit. Scores are (n, k), maxima and sums over keys (n, 1) with keepdims=True, V (k, Dv), "
            "and exponentials @ V (n, Dv).",
            raised_as("matmul|mismatch|align"),
        ),
        NAMES_KEPT,
    ),
    stand_in=StandIn(
        "_online_softmax",
        ARGUMENTS,
        3,
        lambda largest, total, output, scores, V: list(online(largest, total, output, scores, V)),
        lambda *_: [],
    ),
)
