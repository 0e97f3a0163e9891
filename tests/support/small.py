"""A module of two exercises and a written question: small enough to write down everything that comes of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from exercises.model import Case, CaseResult, Exercise, Misconception, Verdict
from grader.course import Assignment
from grader.notebook import Cell
from grader.result import VERDICT_TYPE, Result, Status, verdict_to_data

MODULE = "07_small"
METADATA = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
KNOWN = "A mistake with a name."
FIRST, SECOND, WRITTEN = "def _first(x):\n    return x", "class Second:\n    pass", "Because."
BLANK = "    # YOUR CODE HERE\n    raise NotImplementedError()"


def cell(name: str, source: str, kind: str = "code", **mark: Any) -> Cell:
    """A cell of ours, or one of a student's that claims to be it."""
    nbgrader = {"grade_id": name, "grade": False, "solution": False, "locked": False, "schema_version": 3} | mark
    made: Cell = {"cell_type": kind, "id": name.replace("_", "-"), "metadata": {"nbgrader": nbgrader}, "source": source}
    return made | {"execution_count": None, "outputs": []} if kind == "code" else made


def text(name: str, source: str) -> Cell:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}


def own(source: str, kind: str = "code") -> Cell:
    """A cell that a student adds."""
    return {"cell_type": kind, "metadata": {}, "source": source}


def exercise(name: str, defines: str, *points: float, formerly: tuple[str, ...] = ()) -> Exercise:
    """An exercise that asks nothing: what its cases bring is written down."""
    cases = tuple(Case(f"case {n}", p, lambda _data: ()) for n, p in enumerate(points))
    return Exercise(name, MODULE, defines, cases, lambda _question: {}, (Misconception(KNOWN),), formerly=formerly)


CELLS = (
    text("start", "# Small\n"),
    cell("imports", "import math", locked=True, checksum="sum of imports"),
    cell("first", f"def _first(x):\n{BLANK}", solution=True, checksum="sum of first"),
    cell("test_first", "assert _first(1) == 1", grade=True, locked=True, points=2, checksum="sum of test_first"),
    cell("look", "_first(2)", locked=True, checksum="sum of look") | {"metadata": {"tags": ["demo"], "nbgrader": {
        "grade_id": "look", "grade": False, "solution": False, "locked": True, "schema_version": 3, "checksum": "sum of look",
    }}},
    cell("second", f"class Second:\n{BLANK}", solution=True, checksum="sum of second"),
    cell("test_second", "Second()", grade=True, locked=True, points=3, checksum="sum of test_second"),
    text("prompt", "Why?"),
    cell("question", "YOUR ANSWER HERE", "markdown", grade=True, solution=True, points=4, checksum="sum of question"),
)  # fmt: skip
SMALL = Assignment(MODULE, METADATA, CELLS, (exercise("first", "_first", 2), exercise("second", "Second", 1, 2)))


def copy(cells: Sequence[Cell] = CELLS) -> list[Cell]:
    """Cells that a test may change."""
    found: list[Cell] = json.loads(json.dumps(cells))
    return found


def named(cells: Sequence[Cell], name: str) -> Cell:
    """The cell with a grade_id, or with an id."""
    return next(c for c in cells if name in (c["metadata"].get("nbgrader", {}).get("grade_id"), c["id"]))


def filled(first: str = FIRST, second: str = SECOND, question: str = WRITTEN) -> list[Cell]:
    """The cells of a student who has answered."""
    cells = copy()
    for name, source in (("first", first), ("second", second), ("question", question)):
        named(cells, name)["source"] = source
    return cells


def notebook(cells: Sequence[Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def saved(cells: Sequence[Any]) -> bytes:
    """A submission of these cells."""
    return json.dumps(notebook(cells)).encode()


def verdict(exercise: Exercise, *points: float, message: str = "") -> Verdict:
    """Points case by case; the message is that of each case that lost some."""
    cases = tuple(
        CaseResult(c.name, p, c.points, message if p < c.points else "", bool(message) and p < c.points)
        for c, p in zip(exercise.cases, points, strict=True)
    )
    return Verdict(exercise.name, sum(points), sum(c.points for c in exercise.cases), cases)


def with_verdicts(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """The notebook that is kept of a result."""
    cells = copy()
    for name, found in verdicts.items():
        data = {"text/plain": str(found), VERDICT_TYPE: verdict_to_data(found)}
        named(cells, f"test_{name}")["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    return notebook(cells)


def graded(student: str, first: float = 2, second: float = 3, blank: tuple[str, ...] = ()) -> Result:
    """A result, with the points of each exercise."""
    one, two = SMALL.exercises
    verdicts = {"first": verdict(one, first), "second": verdict(two, min(second, 1), max(second - 1, 0))}
    kept = with_verdicts(verdicts)
    return Result(student, MODULE, Status.GRADED, 5, verdicts=verdicts, blank=blank, seconds=0.125, notebook=kept)


def unreadable(student: str) -> Result:
    return Result(student, MODULE, Status.UNREADABLE, 5, reason="the file is empty")
