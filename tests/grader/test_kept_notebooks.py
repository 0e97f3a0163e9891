"""Every notebook that is kept is a valid one, whatever was handed in, and has outputs of ours only. No jail: nothing runs."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from small import (
    CELLS,
    FIRST,
    KNOWN,
    METADATA,
    MODULE,
    SECOND,
    SMALL,
    WRITTEN,
    filled,
    graded,
    named,
    own,
    saved,
    unreadable,
    verdict,
)

from exercises.model import Exercise, Verdict
from grader import grade
from grader.batch import grade_submission
from grader.classroom import Submission
from grader.grade import grade_notebook, run_cell
from grader.notebook import Cell
from grader.rebuild import is_run, rebuild
from grader.records import kept_notebook
from grader.result import VERDICT_TYPE, Result, Status, verdict_to_data
from grader.sandbox import pool
from grader.sandbox.session import CellRole, CellRun, RunCell, Trouble

RUNS = {
    "print(1)": CellRun("1\n"),
    "1 / 0": CellRun("before\n", "ZeroDivisionError: division by zero", Trouble.ERROR),
    "while True: pass": CellRun(trouble=Trouble.TIME),
}
PICTURE = {"attachments": {"a": {"image/gif": "R0lGODlhAQABAAAAACw="}}}
ONE, TWO = SMALL.exercises
VERDICTS = {"first": verdict(ONE, 0.5, message=KNOWN), "second": verdict(TWO, 1, 2)}


def validate(notebook: Any) -> None:
    """Raises what nbformat says of a notebook that is none."""
    import nbformat  # takes seconds, which nobody waits for who runs other tests

    nbformat.validate(notebook)


class Session:
    """In place of a JailSession: what comes of a cell is written down, and nothing is asked."""

    starved = False

    def __init__(self, _jail: Any, cells: Sequence[RunCell], defined: Collection[str]) -> None:
        assert defined == {"_first", "Second"}
        self.cells = cells
        self.verdicts: dict[str, Verdict] = {}

    def run(self) -> list[CellRun]:
        return [RUNS.get(cell.source, CellRun()) for cell in self.cells]

    def other_ways(self, _exercise: str) -> tuple[Any, ...]:
        return ()

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(exercise: Exercise, _session: Session) -> Verdict:
        return VERDICTS[exercise.name]

    monkeypatch.setattr(grade, "JailSession", Session)
    monkeypatch.setattr(grade, "judge", judge)


def result_of(data: bytes) -> Result:
    jail: Any = None
    return grade_notebook(data, SMALL, jail, "ada")


def kept(data: bytes) -> dict[str, Any]:
    """As it is in the file."""
    whole = kept_notebook(Submission("ada", data), result_of(data), SMALL)
    notebook: dict[str, Any] = json.loads(json.dumps(whole))
    return notebook


def moved(*cells: Cell) -> list[Cell]:
    return [c for c in filled() if c["id"] not in [m["id"] for m in cells]] + list(cells)


@pytest.mark.parametrize(
    "data",
    [
        saved(filled()),
        saved(CELLS),
        saved([]),
        b"",
        b"{",
        saved([own("print(1)"), own("1 / 0"), own("a *note*", "markdown"), own("raw", "raw"), *filled(), own("while True: pass")]),
        saved([c | {"id": "same"} for c in filled()]),
        saved([own(f"x{n}") | {"id": f"own-{n + 1}"} for n in range(3)] + filled()),
        saved([own("x") | {"id": "repairs"}, own("y") | {"id": "reason"}]),
        saved([c | {"outputs": [{"output_type": "stream"}], "attachments": {}, "execution_count": 7} for c in filled()]),
        saved([c | {"cell_type": "markdown"} for c in filled()]),
        saved([c | {"cell_type": "code"} for c in filled()]),
        saved([own("x" * 30_000), *filled("x" * 130_000, "y" * 130_000, "z" * 130_000)]),
        saved(filled(question="<script>alert(1)</script> ![x](y) \ud800")),
        saved([*filled(question="![](attachment:a)")[:-1], filled(question="![](attachment:a)")[-1] | PICTURE]),
        saved(moved(named(filled(), "first"))),
        json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": "print(1)", "prompt_number": 1}]}]}).encode(),
    ],
    ids=[
        "right", "blank", "no cells", "empty", "damaged", "own cells", "one id", "ids like ours", "ids of what we add",
        "with outputs", "all text", "all code", "too long", "live", "picture", "moved", "format 3",
    ],
)  # fmt: skip
def test_what_is_kept_is_a_valid_notebook(data: bytes) -> None:
    notebook = kept(data)
    validate(notebook)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        assert ("outputs" in cell) == ("execution_count" in cell) == (cell["cell_type"] == "code")


def test_our_cells_are_ours_and_a_test_cell_has_the_verdict() -> None:
    notebook = kept(
        saved([c | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2.0"}]} for c in filled()])
    )
    assert notebook["metadata"] == METADATA | {"grader": notebook["metadata"]["grader"]}
    with_outputs = {c["metadata"]["nbgrader"]["grade_id"]: c["outputs"] for c in notebook["cells"] if c.get("outputs")}
    assert list(with_outputs) == ["test_first", "test_second"]
    table = "first  0.5/2\n  lost  case 0  A mistake with a name."
    assert with_outputs["test_first"] == [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/plain": table, VERDICT_TYPE: json.loads(json.dumps(verdict_to_data(VERDICTS["first"])))},
        },
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "0.5"}},
    ]
    assert [c["source"] for c in notebook["cells"]] == [c["source"] for c in filled()]
    assert [c["metadata"] for c in notebook["cells"]] == [c["metadata"] for c in CELLS]


def test_repairs_stand_at_the_top() -> None:
    notebook = kept(saved([c for c in filled() if c["id"] not in ("imports", "second")]))
    assert notebook["cells"][0] == {
        "cell_type": "markdown",
        "id": "repairs",
        "metadata": {},
        "source": (
            "**Repairs.** The notebook that was handed in is not quite ours; graded after these repairs:\n\n"
            '- the answer cell "second" is missing; graded without it\n- the cell "imports" is missing; put back\n'
        ),
    }
    assert [c["id"] for c in notebook["cells"][1:]] == [c["id"] for c in CELLS]


def test_what_a_cell_printed_and_raised_is_its_output() -> None:
    notebook = kept(saved([own("print(1)"), own("1 / 0"), own("while True: pass"), own("x = 1"), *filled()]))
    said = [[o["text"] for o in c["outputs"]] for c in notebook["cells"][:4]]
    assert said == [
        ["1\n"],
        ["before\nZeroDivisionError: division by zero\n"],
        ["This cell ran for too long and was stopped. It was left out.\n"],
        [],
    ]


def test_the_result_of_a_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    class Judges:
        def grade(self, data: bytes, module: str, jail: Any, student: str) -> Result:
            assert (module, jail) == (MODULE, None)
            return grade_notebook(data, SMALL, jail, student)

    monkeypatch.setattr(pool, "jail_of", lambda _module: None)
    monkeypatch.setattr(pool, "judges", lambda _module: Judges())
    data = saved([c for c in filled(second=named(CELLS, "second")["source"]) if c["id"] != "imports"])
    result = grade_submission(Submission("ada", data, note="a note"), MODULE)
    assert (result.student, result.module, result.status, result.score, result.max_score) == (
        "ada",
        MODULE,
        "graded",
        3.5,
        5,
    )
    assert result.repairs == ("a note", 'the cell "imports" is missing; put back') and result.blank == ("second",)
    assert result.verdicts == VERDICTS and result.reason == "" and not result.unchanged and result.seconds > 0
    assert grade_submission(Submission("ada", data), MODULE).repairs == ('the cell "imports" is missing; put back',)
    refused = grade_submission(Submission("ben", b"", note="a note"), MODULE)
    assert (refused.status, refused.reason, refused.repairs) == (Status.UNREADABLE, "the file is empty", ("a note",))
    assert refused.notebook is None and refused.verdicts == {}


def test_an_unreadable_one_says_why() -> None:
    notebook = kept_notebook(Submission("ada"), unreadable("ada"), SMALL)
    validate(notebook)
    (cell,) = notebook["cells"]
    assert cell["source"] == "**This submission could not be graded:** the file is empty."
    validate(json.loads(json.dumps(kept_notebook(Submission("ada"), graded("ada"), SMALL))))


def test_an_empty_written_answer_with_text_beside_it_is_not_blank() -> None:
    """So it is to be read, and nobody says "No response."."""
    empty = filled(question=named(CELLS, "question")["source"])
    assert result_of(saved(empty)).blank == ("question",)
    result = result_of(saved([*empty, own("Since it is.", "markdown")]))
    assert result.blank == () and result.notebook is not None
    assert named(result.notebook["cells"], "question")["source"] == "Since it is."


def test_whose_a_cell_is_and_which_exercise_it_answers() -> None:
    parts = rebuild(saved([own("x = 1"), *filled(), own("y = 2")]), SMALL).parts
    assert [run_cell(part) for part in parts if is_run(part)] == [
        RunCell("x = 1", CellRole.OWN),
        RunCell("import math", CellRole.GIVEN),
        RunCell(FIRST, CellRole.ANSWER, "first"),
        RunCell(SECOND, CellRole.ANSWER, "second"),
        RunCell("y = 2", CellRole.OWN),
    ]


@pytest.mark.parametrize(
    ("points", "asked", "best"),
    [
        ((2, 1, 1), 1, 2),  # nothing lost: nothing else is asked
        ((1, 2, 0), 2, 2),
        ((1, 0, 2), 3, 2),
        ((0, 1, 1), 3, 1),
        ((1, 0, 0.5), 3, 1),
        ((0,), 1, 0),
    ],
)
def test_the_best_of_all_ways_counts(
    monkeypatch: pytest.MonkeyPatch, points: tuple[float, ...], asked: int, best: float
) -> None:
    """And where two are alike, the first: it says what the whole notebook does."""
    seen: list[int] = []

    def judge(exercise: Exercise, session: Any) -> Verdict:
        seen.append(session.number)
        return verdict(exercise, points[session.number], message=f"way {session.number}")

    monkeypatch.setattr(grade, "judge", judge)
    ways = [SimpleNamespace(number=n) for n in range(1, len(points))]
    session: Any = SimpleNamespace(number=0, verdicts={}, other_ways=lambda _exercise: iter(ways))
    found = grade.best_verdict(ONE, session)
    assert found.points == best and session.verdicts == {"first": found} and seen == list(range(asked))
    assert best == 2 or found.messages == (f"way {points.index(best)}",)


def test_that_something_was_starved_is_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "starved", True)
    assert result_of(saved(filled())).starved


def test_what_is_known_before_the_end_is_told() -> None:
    told: list[Any] = []
    jail: Any = None
    result = grade_notebook(saved(filled()), SMALL, jail, "ada", told.append, told.append)
    assert told == [rebuild(saved(filled()), SMALL), *VERDICTS.values()] and result.verdicts == VERDICTS
    assert not result.starved
    told.clear()
    grade_notebook(b"{", SMALL, jail, "ada", told.append, told.append)
    assert told == []


def test_when_judging_is_cut_short_what_was_judged_counts() -> None:
    cells = [c for c in filled(second=named(CELLS, "second")["source"]) if c["id"] != "imports"]
    rebuilt = rebuild(saved(cells), SMALL)
    result = grade.cut_short(rebuilt, SMALL, {"first": VERDICTS["first"]}, "it took too long", "ada")
    assert (result.student, result.module, result.status, result.score, result.max_score, result.reason) == (
        "ada", MODULE, Status.GRADED, 0.5, 5, "it took too long",
    )  # fmt: skip
    lost = result.verdicts["second"]
    assert [(c.name, c.points, c.max) for c in lost.cases] == [("case 0", 0, 1), ("case 1", 0, 2)]
    assert lost.messages == ("Not judged: it took too long.",) and not result.named.get("second")
    assert result.repairs == ('the cell "imports" is missing; put back',) and result.blank == ("second",)
    assert result.notebook is not None
    kept = {c["id"]: c for c in result.notebook["cells"]}
    assert kept["first"]["source"] == FIRST and kept["question"]["source"] == WRITTEN
    shown = kept["test-second"]["outputs"]
    assert shown[0]["data"][VERDICT_TYPE] == verdict_to_data(lost) and shown[1]["data"]["text/plain"] == "0.0"
    validate(json.loads(json.dumps(kept_notebook(Submission("ada", saved(cells)), result, SMALL))))


def test_when_nothing_could_be_read_somebody_still_reads_the_written_answers() -> None:
    """They may be in the file."""
    rebuilt = replace(rebuild(saved([]), SMALL), repairs=())
    result = grade.cut_short(rebuilt, SMALL, {}, "it took too long", "ada")
    assert (result.score, result.blank) == (0, ("first", "second"))
