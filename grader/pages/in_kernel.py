"""For the kernel that runs a notebook for its page: figures that say what they show, and clocks that run too fast."""

import random
import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable
from typing import Any

CLOCKS = ("perf_counter", "monotonic", "time", "process_time", "thread_time")
SPEEDS = (
    3,
    30,
)  # a ratio of two times changes, too, so each stretch between two looks at a clock has a speed of its own


def prepare(unlike: bool) -> None:
    """Make the figures of this kernel say what they show; with unlike, its measurements others than they are."""
    import matplotlib
    from IPython import get_ipython

    matplotlib.rcdefaults()  # nothing of what somebody has set for their own figures
    shell = get_ipython()
    shell.run_line_magic("matplotlib", "inline")  # it forgets how figures are shown, so it comes first
    formatter = shell.display_formatter.formatters["text/plain"]
    formatter.for_type_by_name("matplotlib.figure", "Figure", lambda figure, p, _: p.text(described(figure)))
    if unlike:
        for name in CLOCKS:
            for each in (name, f"{name}_ns"):
                setattr(time, each, _for_cells(_too_fast(getattr(time, each)), getattr(time, each)))
        timeit.default_timer = _too_fast(timeit.default_timer)
        traced = tracemalloc.get_traced_memory
        setattr(tracemalloc, traced.__name__, _for_cells(lambda: tuple(SPEEDS[0] * size for size in traced()), traced))


def _for_cells(unlike: Callable[[], Any], real: Callable[[], Any]) -> Callable[[], Any]:
    """What a notebook's own code gets, and everybody else: tests of answers measure, too, and decide by it."""

    def read() -> Any:
        asked_by = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001
        return unlike() if asked_by == "__main__" else real()

    return read


def _too_fast(clock: Callable[[], Any]) -> Callable[[], Any]:
    """A clock that runs too fast, now more and now less, in the same way each time."""
    speeds, last = random.Random(0), clock()  # noqa: S311
    said = last

    def look() -> Any:
        nonlocal last, said
        now = clock()
        said += type(now)(speeds.uniform(*SPEEDS) * (now - last))
        last = now
        return said

    return look


def described(figure: Any) -> str:
    """What can be seen in a matplotlib figure, in words: its panels with their titles, axes, legends and kinds."""
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible()]
    whole = _plain(figure.get_suptitle())
    words = [f"{whole}." if whole else "", f"{len(panels)} panels." if len(panels) > 1 else ""]
    for number, axes in enumerate(panels, 1):
        start = f"Panel {number}: " if len(panels) > 1 else ""
        words.append(f"{start}{_panel(axes)}.")
    text = " ".join(word for word in words if word)
    return text[:1].upper() + text[1:]


def _panel(axes: Any) -> str:
    title = _plain(axes.get_title()) or _plain(axes.get_title(loc="left"))
    parts = [f"{_kind(axes)}, “{title}”" if title else _kind(axes)]
    labels = (("across", axes.get_xlabel()), ("upwards" if not axes.yaxis_inverted() else "down", axes.get_ylabel()))
    parts += [f"{way}: {_plain(label)}" for way, label in labels if label]
    legend = axes.get_legend()
    if legend is not None:
        parts.append("legend: " + ", ".join(_plain(entry.get_text()) for entry in legend.get_texts()))
    return "; ".join(parts)


def _kind(axes: Any) -> str:
    """What is drawn in a panel."""
    marks = [line for line in axes.lines if line.get_linestyle() in ("None", "") or len(line.get_xdata()) == 1]
    lines = len(axes.lines) - len(marks)
    names = [type(collection).__name__ for collection in axes.collections]
    kinds = []
    if axes.images or "QuadMesh" in names:
        kinds.append("heat map")
    if axes.containers or axes.patches:
        kinds.append("bars" if axes.containers else "shapes")
    if lines:
        kinds.append("a line" if lines == 1 else f"{lines} lines")
    if marks or "PathCollection" in names:
        kinds.append("points")
    return " with ".join(kinds) or "a drawing"


def _plain(label: str) -> str:
    return " ".join(label.replace("$", "").replace("\\", "").split())
