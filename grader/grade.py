"""Grade one submission: rebuild it, run it in a jail, judge its answers outside, write outputs that can be trusted."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from exercises.judge import judge
from exercises.model import CaseResult, Exercise, Verdict
from grader.course import Assignment
from grader.errors import Unreadable
from grader.notebook import Cell, CellKind
from grader.pictures import no_live_html
from grader.rebuild import Part, Rebuilt, is_run, rebuild
from grader.result import VERDICT_TYPE, Result, Status, verdict_to_data
from grader.sandbox.jail import Jail
from grader.sandbox.session import CellRole, CellRun, JailSession, RunCell, Trouble

# characters of a student's that are kept; the rest is in submitted/
EACH_ANSWER, EACH_OWN_CELL = 100_000, 20_000
OWN_CELLS, OUTPUTS = 200_000, 20_000  # of all of them together


def nothing(*_arguments: object) -> None:
    pass


TROUBLE = {
    Trouble.TIME: "This cell ran for too long and was stopped. It was left out.",
    Trouble.MEMORY: "This cell needed more memory than there is. It was left out.",
    Trouble.DIED: "This cell ended the Python process. It was left out.",
    Trouble.SKIPPED: "This cell was not run: the time for such cells was used up.",
}


def grade_notebook(
    submission: bytes,
    assignment: Assignment,
    jail: Jail,
    student: str = "",
    on_rebuilt: Callable[[Rebuilt], None] = nothing,
    on_verdict: Callable[[Verdict], None] = nothing,
) -> Result:
    """Run one submission in the jail and judge its answers.

    Never raises for what a student wrote: that is a status and a reason in the result. What is known before the end is told.
    """
    start = time.perf_counter()
    result = Result(student, assignment.module, Status.UNREADABLE, assignment.max_score)
    try:
        rebuilt = rebuild(submission, assignment)
    except Unreadable as error:
        return replace(result, reason=str(error), seconds=time.perf_counter() - start)
    on_rebuilt(rebuilt)
    running = [part for part in rebuilt.parts if is_run(part)]
    session = JailSession(jail, [run_cell(part) for part in running], {e.defines for e in assignment.exercises})
    try:
        runs = dict(zip((id(p) for p in running), session.run(), strict=True))
        verdicts: dict[str, Verdict] = {}  # of this module: others may have been judged to find a cause
        for exercise in assignment.exercises:
            verdicts[exercise.name] = best_verdict(exercise, session)
            on_verdict(verdicts[exercise.name])
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
        starved=session.starved,
    )


def run_cell(part: Part) -> RunCell:
    """What is run of a part of a notebook."""
    role = {CellKind.GIVEN: CellRole.GIVEN, CellKind.ANSWER: CellRole.ANSWER}.get(part.kind, CellRole.OWN)
    if role != CellRole.ANSWER:
        return RunCell(part.cell["source"], role)
    return RunCell(part.cell["source"], role, part.name, blank=part.blank and bool(part.cell["source"].strip()))


def best_verdict(exercise: Exercise, session: JailSession) -> Verdict:
    """The verdict on an answer after all cells; if it lost points, after fewer cells, where that is better.

    What a student wrote below an exercise costs it nothing.
    """
    best = judge(exercise, session)
    for other in session.other_ways(exercise.name) if best.points < best.max else ():
        best = max(best, judge(exercise, other), key=lambda verdict: verdict.points)
        if best.points == best.max:
            break
    session.verdicts[exercise.name] = best
    return best


def cut_short(
    rebuilt: Rebuilt, assignment: Assignment, verdicts: Mapping[str, Verdict], reason: str, student: str
) -> Result:
    """The result when judging was ended: what had been judged counts, the rest brings nothing."""
    whole = {e.name: verdicts.get(e.name) or _not_judged(e, reason) for e in assignment.exercises}
    return Result(
        student,
        assignment.module,
        Status.GRADED,
        assignment.max_score,
        reason=reason,
        verdicts=whole,
        repairs=rebuilt.repairs,
        blank=tuple(p.name for p in rebuilt.parts if p.blank and p.kind == CellKind.ANSWER),
        notebook=_notebook(rebuilt, assignment, {}, whole),
    )


def _not_judged(exercise: Exercise, reason: str) -> Verdict:
    cases = tuple(CaseResult(c.name, 0, c.points, f"Not judged: {reason}.") for c in exercise.cases)
    return Verdict(exercise.name, 0, exercise.points, cases)


def _notebook(
    rebuilt: Rebuilt, assignment: Assignment, runs: Mapping[int, CellRun], verdicts: Mapping[str, Verdict]
) -> dict[str, Any]:
    """The rebuilt notebook with outputs of ours. `runs` are by id() of the part."""
    own, outputs = _Budget(OWN_CELLS), _Budget(OUTPUTS)
    cells = [_with_outputs(part, runs.get(id(part)), verdicts, own, outputs) for part in rebuilt.parts]
    if rebuilt.repairs:
        cells.insert(0, _repairs_cell(rebuilt.repairs))
    return {"cells": cells, "metadata": assignment.metadata, "nbformat": 4, "nbformat_minor": 5}


class _Budget:
    """So many characters for all that is cut by it."""

    def __init__(self, left: int) -> None:
        self.left = left

    def cut(self, text: str, most: int | None = None) -> str:
        kept = text[: self.left if most is None else min(most, self.left)]
        self.left -= len(kept)
        left_out = len(text) - len(kept)
        return f"{kept}\n... {left_out} more characters are left out ..." if left_out else kept


def _with_outputs(
    part: Part, run: CellRun | None, verdicts: Mapping[str, Verdict], own: _Budget, outputs: _Budget
) -> Cell:
    cell = dict(part.cell)
    if part.kind in (CellKind.ANSWER, CellKind.WRITTEN, CellKind.OWN):
        kept, most = (own, EACH_OWN_CELL) if part.kind == CellKind.OWN else (_Budget(EACH_ANSWER), None)
        cell["source"] = kept.cut(cell["source"], most)
        if cell["cell_type"] != "code":
            cell["source"] = no_live_html(cell["source"], cell.get("attachments", {}))
    if part.kind == CellKind.TEST:
        cell |= {"execution_count": 1, "outputs": _verdict_outputs(verdicts[part.name.removeprefix("test_")])}
    elif run is not None:
        text = "\n".join(filter(None, [run.output.rstrip("\n"), run.error, TROUBLE.get(run.trouble, "")]))
        if text:
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": outputs.cut(text) + "\n"}]
    return cell


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
