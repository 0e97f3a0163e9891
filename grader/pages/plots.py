"""The figures of the report, as elements of a page."""

import io
from collections.abc import Sequence
from typing import Any


def plot_scores(scores: Sequence[float], max_score: float) -> str:
    """How many submissions have how many points."""
    import numpy as np

    figure, axes = _axes(5, 2.2)
    most = int(np.ceil(max_score))
    axes.hist(scores, bins=np.linspace(0, most, min(most, 28) + 1), color="0.35", edgecolor="white")
    axes.set(xlabel="points", ylabel="submissions", xlim=(0, most))
    axes.yaxis.get_major_locator().set_params(integer=True)
    return _svg(figure)


def plot_lost(lost: Sequence[tuple[str, float, float]]) -> str:
    """Points lost on average; `lost` are (exercise, points, mean points lost)."""
    figure, axes = _axes(5, 0.9 + 0.3 * len(lost))
    axes.barh(
        [name for name, _, _ in lost[::-1]], [100 * part / points for _, points, part in lost[::-1]], color="0.35"
    )
    axes.set(xlabel="lost on average, per cent", xlim=(0, 100))
    return _svg(figure)


def _axes(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    """A figure as an element of a page, the same bytes for the same data."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "report"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
