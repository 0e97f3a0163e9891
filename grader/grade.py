"""Grade one submission: rebuild it, run it in a jail, judge its answers outside, write outputs that can be trusted."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from autograded_tests import Exercise, Verdict, exercises_of, judge
from grader.course import ROOT, CourseError, module_notebook
from grader.jail import Jail
from grader.rebuild import Cell, Part, Unreadable, kind_of, rebuild
from grader.session import CellRun, JailSession

GRADED, MISSING, UNREADABLE, FAILED = "graded", "missing", "unreadable", "failed"
VERDICT_TYPE = "application/vnd.tinytorch.verdict+json"

SOURCES, OUTPUTS = 20_000, 20_000  # characters of all cells of a student's that are kept; the rest is in submitted/

TROUBLE = {
    "time": "This cell ran for too long and was stopped. It was left out.",
    "memory": "This cell needed more memory than there is. It was left out.",
    "died": "This cell ended the Python process. It was left out.",
    "skipped": "This cell was not run: the time for the whole notebook was used up.",
}


@dataclass(frozen=True)
class Assignment:
    """One module of the course as it is graded."""

    module: str
    metadata: Mapping[str, Any]  # of the notebook
    cells: tuple[Cell, ...]  # of the student copy: what was handed out, with nbgrader's checksums
    exercises: tuple[Exercise, ...]

    @property
    def notebook(self) -> str:
        return self.module.partition("_")[2]

    @property
    def max_score(self) -> float:
        """Points that are given automatically; written answers are not among them."""
        return sum(e.points for e in self.exercises)


@cache
def load_assignment(module: str) -> Assignment:
    """Raises CourseError if there is no such module, or nothing in it to grade."""
    path = ROOT / "modules" / module / module_notebook(module).name
    if not path.is_file():
        raise CourseError(f"{path.relative_to(ROOT)} is not there; run `make course`")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    exercises = exercises_of(module)
    if not exercises:
        raise CourseError(f"{module}: there is nothing to grade in it")
    tests = {c["metadata"]["nbgrader"]["grade_id"] for c in notebook["cells"] if kind_of(c) == "test"}
    if tests != {f"test_{e.name}" for e in exercises}:
        raise CourseError(f"{path.relative_to(ROOT)}: its test cells do not fit autograded_tests/; run `make course`")
    return Assignment(module, notebook["metadata"], tuple(notebook["cells"]), exercises)


@dataclass(frozen=True)
class Graded:
    """What came of a submission. `notebook` is what nbgrader keeps, with trusted outputs; None unless graded."""

    status: str
    reason: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    notebook: dict[str, Any] | None = None
    blank: tuple[str, ...] = ()  # answers and written answers that were left as they were
    seconds: float = 0.0

    @property
    def score(self) -> float:
        return sum(v.points for v in self.verdicts.values())


def grade_notebook(submission: bytes, assignment: Assignment, jail: Jail) -> Graded:
    """Run one submission in the jail and judge its answers.

    Never raises for what a student wrote: that is a status and a reason in the result.
    """
    start = time.perf_counter()
    try:
        rebuilt = rebuild(submission, assignment.cells, {e.name: e.defines for e in assignment.exercises})
    except Unreadable as error:
        return Graded(UNREADABLE, str(error), seconds=time.perf_counter() - start)
    running = [p for p in rebuilt.parts if p.kind in ("given", "answer", "added") and p.cell["cell_type"] == "code"]
    given = [n for n, p in enumerate(running) if p.kind == "given"]
    session = JailSession(jail, [p.cell["source"] for p in running], given)
    try:
        runs = dict(zip((id(p) for p in running), session.run(), strict=True))
        verdicts = {e.name: judge(e, session) for e in assignment.exercises}
    finally:
        session.close()
    sources, outputs = _Budget(SOURCES), _Budget(OUTPUTS)
    cells = [_with_outputs(part, runs.get(id(part)), verdicts, sources, outputs) for part in rebuilt.parts]
    if rebuilt.repairs:
        cells.insert(0, _repairs_cell(rebuilt.repairs))
    notebook = {"cells": cells, "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}
    blank = tuple(p.name for p in rebuilt.parts if p.blank)
    seconds = time.perf_counter() - start
    return Graded(GRADED, "", verdicts, rebuilt.repairs, notebook, blank, seconds)


class _Budget:
    """So many characters for all cells together."""

    def __init__(self, left: int) -> None:
        self.left = left

    def cut(self, text: str) -> str:
        kept = text[: self.left]
        self.left -= len(kept)
        return (
            kept if len(kept) == len(text) else f"{kept}\n... {len(text) - len(kept)} more characters are left out ..."
        )


def _with_outputs(
    part: Part, run: CellRun | None, verdicts: Mapping[str, Verdict], sources: _Budget, outputs: _Budget
) -> Cell:
    cell = dict(part.cell)
    if part.kind in ("answer", "written", "added"):
        cell["source"] = sources.cut(cell["source"])
        if cell["cell_type"] != "code":
            cell["source"] = _no_live_html(cell["source"])
    if part.kind == "test":
        cell |= {"execution_count": 1, "outputs": _verdict_outputs(verdicts[part.name.removeprefix("test_")])}
    elif run is not None:
        text = "\n".join(filter(None, [run.output.rstrip("\n"), run.error, TROUBLE.get(run.trouble, "")]))
        if text:
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": outputs.cut(text) + "\n"}]
    return cell


def _no_live_html(text: str) -> str:
    """Markdown in which no tag is a tag, no link a link and no picture is fetched, and which reads the same."""
    return re.sub(r"<|!(?=\[)|\](?=[(\[:])", "\\g<0>\u2060", text)


def _verdict_outputs(verdict: Verdict) -> list[dict[str, Any]]:
    """Exactly one plain number, which is what nbgrader reads as the points; and the verdict for people and programs."""
    cases = [{"name": c.name, "points": c.points, "max": c.max, "message": c.message} for c in verdict.cases]
    data = {"exercise": verdict.exercise, "points": verdict.points, "max": verdict.max, "cases": cases}
    return [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/plain": str(verdict), VERDICT_TYPE: data},
        },
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": str(float(verdict.points))},
        },
    ]


def _repairs_cell(repairs: tuple[str, ...]) -> Cell:
    lines = "\n".join(f"- {line}" for line in repairs)
    source = f"**Repairs.** The notebook that was handed in is not quite ours; graded after these repairs:\n\n{lines}\n"
    return {"cell_type": "markdown", "id": "repairs", "metadata": {}, "source": source}
