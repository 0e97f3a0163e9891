"""What was got and what was expected: small arrays as numbers, larger ones side by side as pictures."""

import io
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from exercises.compare import BLOCKED, expected, same, wrong_result
from exercises.explain import plain
from exercises.model import Case, Exercise, Question, Reply, Verdict
from exercises.problem import Problem

SMALL = 16  # numbers that are shown one by one
LARGEST = 200  # rows or columns of a picture


@dataclass(frozen=True, eq=False)
class Difference:
    """A question that was answered wrongly: what was asked, what came, what should have come. As text: for people."""

    case: str
    question: Question
    reply: Reply
    named: bool  # the mistake has a name, and what was raised is not told with it
    result: str = ""
    right: np.ndarray | None = None

    @property
    def got(self) -> np.ndarray | None:
        return self.reply.arrays.get(self.result)

    def __str__(self) -> str:
        return f"{self.case}: {_asked(self.question)}\n{self._came()}".strip()

    def _came(self) -> str:
        got, right = self.got, self.right
        if self.reply.problem is Problem.RAISED and self.reply.line and self.named:
            return f"your line `{plain(self.reply.line)}` raised {plain(self.reply.text)}"
        if got is None or right is None:
            return ""
        name = self.result.replace("grad_", "gradient of ")
        if got.shape != right.shape:
            return f"{name}: got shape {got.shape}, expected {right.shape}"
        if right.size <= SMALL:
            return f"{name}: got {_numbers(got)}, expected {_numbers(right)}"
        off = self.differing()
        index = ", ".join(map(str, off[0]))
        return f"{name}[{index}]: got {_numbers(got[off[0]])}, expected {_numbers(right[off[0]])} ({len(off)} of {right.size} differ)"

    def differing(self) -> list[tuple[int, ...]]:
        """Where the two differ; the first place if only all together do."""
        got, right = self.got, self.right
        if got is None or right is None or got.shape != right.shape:
            return []
        off = [i for i in np.ndindex(right.shape) if not same(got[i][None], np.asarray(right[i])[None])]
        return off or [(0,) * right.ndim]

    def matrices(self) -> tuple[str, np.ndarray, np.ndarray] | None:
        """The first two matrices that differ and what they are, if the arrays are too large for numbers and have matrices."""
        got, right = self.got, self.right
        if got is None or right is None or right.size <= SMALL or min(got.ndim, right.ndim) < 2:
            return None
        if not got.size or not right.size or max(got.shape) > LARGEST:
            return None
        if got.shape != right.shape:
            return self.result, got[(0,) * (got.ndim - 2)], right[(0,) * (right.ndim - 2)]
        index = self.differing()[0][:-2]
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return self.result + place, got[index], right[index]


def differences(exercise: Exercise, verdict: Verdict, replies: Mapping[Question, Reply]) -> list[Difference]:
    """The questions that were answered wrongly in the cases of the first sentence, the smallest first."""
    first = next(iter(verdict.messages), "")
    named = {c.name: c.named for c in verdict.cases if c.points < c.max and c.message == first}
    found = [
        difference
        for case in exercise.cases
        if case.name in named
        for difference in _differences(exercise, case, replies, named[case.name])
    ]
    return sorted(found, key=lambda d: (d.right is None, 0 if d.right is None else d.right.size))


def _differences(
    exercise: Exercise, case: Case, replies: Mapping[Question, Reply], named: bool
) -> Iterator[Difference]:
    for question in exercise.questions(case):
        reply = replies.get(question)
        if reply is None or reply.problem in (Problem.BLANK, Problem.MISSING):
            continue
        right = expected(exercise, question)
        if reply.problem:
            yield Difference(case.name, question, reply, named)
        elif (name := wrong_result(question, reply, right)) is not None:
            yield Difference(case.name, question, reply, named, name, np.asarray(right[name]))


def _asked(question: Question) -> str:
    """The arguments of a question: small arrays as numbers, others by their shapes."""
    told = []
    for name, value in question.arguments.items():
        if value is None:
            continue
        if not isinstance(value, np.ndarray):
            told.append(f"{name}={value}")
        else:
            told.append(f"{name}={_numbers(value)}" if value.size <= SMALL // 2 else f"{name} {value.shape}")
    return ", ".join(told)


def _numbers(array: Any) -> str:
    """In one line; a blocked score is -1e9 whatever it is."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = np.where(array <= -BLOCKED, -1e9, array).astype(float)
    text = np.array2string(array, separator=", ", threshold=SMALL, formatter={"float_kind": lambda v: f"{v:.4g}"})
    return re.sub(r"\s+", " ", text)


def show_picture(found: Sequence[Difference]) -> None:
    """Draw the first matrices that are too large for numbers, where pictures can be shown: in a notebook."""
    shown = next((matrices for d in found if (matrices := d.matrices()) is not None), None)
    if shown is None:
        return
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return
    with suppress(Exception):  # without Matplotlib, or with settings that it cannot draw with, the sentence is enough
        from IPython.display import Image, display

        display(Image(data=drawn(*shown), alt=f"{shown[0]}: yours beside the expected one"))


def drawn(name: str, got: np.ndarray, right: np.ndarray) -> bytes:
    """A PNG: yours and the expected one, on one scale. Without Matplotlib's axes, which take longer than all else."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(matplotlib.rcParamsDefault), warnings.catch_warnings(action="ignore"):
        figure = Figure(figsize=(6, 2.7))
        _draw(figure, name, got.astype(float), right.astype(float))
        data = io.BytesIO()
        figure.savefig(data, format="png", dpi=100)
    return data.getvalue()


def _draw(figure: Any, name: str, got: np.ndarray, right: np.ndarray) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.patches import Rectangle

    both = [np.where(np.isfinite(a) & (np.abs(a) < BLOCKED), a, np.nan) for a in (got, right)]
    finite = np.concatenate([a[np.isfinite(a)] for a in both])
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.05, 0.12, 0.9, 0.76), xlim=(0, 2.2), ylim=(0, 1))
    axes.axis("off")
    for left, title, array in zip((0, 1.2), ("yours", "expected"), both, strict=True):
        rows, columns = array.shape
        axes.add_patch(Rectangle((left, 0), 1, 1, facecolor="white", edgecolor="0.6", hatch="xxx"))
        axes.imshow(array, cmap="Greys", vmin=low, vmax=high, aspect="auto", extent=(left, left + 1, 0, 1), zorder=2)
        axes.text(left + 0.5, 1.04, f"{name}, {title}", ha="center", fontsize=9)
        for place in sorted({0, rows - 1}):
            axes.text(left - 0.02, 1 - (place + 0.5) / rows, str(place), ha="right", va="center", fontsize=7)
        for place in sorted({0, columns - 1}):
            axes.text(left + (place + 0.5) / columns, -0.03, str(place), ha="center", va="top", fontsize=7)
    axes.set(xlim=(-0.05, 2.2), ylim=(0, 1))
    hatched = "" if all(np.isfinite(a).all() for a in both) else "; hatched: blocked, inf or nan"
    figure.text(0.5, 0.01, f"white: {low:.3g}, black: {high:.3g}{hatched}", ha="center", fontsize=7)
