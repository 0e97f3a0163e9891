"""Grade one submission: rebuild it, run it in a jail, judge its answers outside, write outputs that can be trusted."""

import re
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from exercises.judge import judge
from exercises.model import Verdict
from grader.classroom import Submission
from grader.course import Assignment, load_assignment
from grader.errors import Unreadable
from grader.notebook import Cell, CellKind
from grader.rebuild import Part, Rebuilt, is_run, rebuild
from grader.result import VERDICT_TYPE, Result, Status, verdict_to_data
from grader.sandbox import pool
from grader.sandbox.jail import Jail
from grader.sandbox.session import CellRun, JailSession, Trouble

SOURCES, OUTPUTS = 20_000, 20_000  # characters of all cells of a student's that are kept; the rest is in submitted/

TROUBLE = {
    Trouble.TIME: "This cell ran for too long and was stopped. It was left out.",
    Trouble.MEMORY: "This cell needed more memory than there is. It was left out.",
    Trouble.DIED: "This cell ended the Python process. It was left out.",
    Trouble.SKIPPED: "This cell was not run: the time for the whole notebook was used up.",
}


def grade_submission(submission: Submission, module: str) -> Result:
    """Grade what a student handed in, in this process's jail. Raises JailError or CourseError, as pool and course do."""
    result = grade_notebook(submission.data, load_assignment(module), pool.jail_of(module), submission.student)
    return replace(result, repairs=(submission.note, *result.repairs)) if submission.note else result


def grade_notebook(submission: bytes, assignment: Assignment, jail: Jail, student: str = "") -> Result:
    """Run one submission in the jail and judge its answers.

    Never raises for what a student wrote: that is a status and a reason in the result.
    """
    start = time.perf_counter()
    result = Result(student, assignment.module, Status.UNREADABLE, assignment.max_score)
    try:
        rebuilt = rebuild(submission, assignment)
    except Unreadable as error:
        return replace(result, reason=str(error), seconds=time.perf_counter() - start)
    running = [part for part in rebuilt.parts if is_run(part)]
    given = [n for n, p in enumerate(running) if p.kind == CellKind.GIVEN]
    session = JailSession(jail, [p.cell["source"] for p in running], given)
    try:
        runs = dict(zip((id(p) for p in running), session.run(), strict=True))
        verdicts = {e.name: judge(e, session) for e in assignment.exercises}
    finally:
        session.close()
    return replace(
        result,
        status=Status.GRADED,
        verdicts=verdicts,
        repairs=rebuilt.repairs,
        blank=tuple(p.name for p in rebuilt.parts if p.blank),
        notebook=_notebook(rebuilt, assignment, runs, verdicts),
        seconds=time.perf_counter() - start,
    )


def _notebook(
    rebuilt: Rebuilt, assignment: Assignment, runs: Mapping[int, CellRun], verdicts: Mapping[str, Verdict]
) -> dict[str, Any]:
    """The rebuilt notebook with outputs of ours. `runs` are by id() of the part."""
    sources, outputs = _Budget(SOURCES), _Budget(OUTPUTS)
    cells = [_with_outputs(part, runs.get(id(part)), verdicts, sources, outputs) for part in rebuilt.parts]
    if rebuilt.repairs:
        cells.insert(0, _repairs_cell(rebuilt.repairs))
    return {"cells": cells, "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}


class _Budget:
    """So many characters for all cells together."""

    def __init__(self, left: int) -> None:
        self.left = left

    def cut(self, text: str) -> str:
        kept = text[: self.left]
        self.left -= len(kept)
        left_out = len(text) - len(kept)
        return f"{kept}\n... {left_out} more characters are left out ..." if left_out else kept


def _with_outputs(
    part: Part, run: CellRun | None, verdicts: Mapping[str, Verdict], sources: _Budget, outputs: _Budget
) -> Cell:
    cell = dict(part.cell)
    if part.kind in (CellKind.ANSWER, CellKind.WRITTEN, CellKind.OWN):
        cell["source"] = sources.cut(cell["source"])
        if cell["cell_type"] != "code":
            cell["source"] = _no_live_html(cell["source"])
    if part.kind == CellKind.TEST:
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
    return [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/plain": str(verdict), VERDICT_TYPE: verdict_to_data(verdict)},
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
