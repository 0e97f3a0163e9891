"""The rebuilder is fed whatever can be in a file: always a notebook or a reason, never an exception of another kind."""

import json
from dataclasses import replace
from typing import Any

import pytest
from answers import submission
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small import CELLS, FIRST, SECOND, SMALL, WRITTEN, filled, named, own, saved

from grader.course import load_assignment
from grader.errors import Unreadable
from grader.notebook import CellKind, kind_of
from grader.rebuild import is_run, rebuild

ASSIGNMENT = load_assignment("04_attention")
RIGHT = submission()
FUZZ = settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check(data: bytes) -> None:
    """A status for every input; and in what is rebuilt, every cell of ours is there, in our order, with our metadata."""
    try:
        rebuilt = rebuild(data, ASSIGNMENT)
    except Unreadable as error:
        reason = str(error)
        assert reason
        return
    ours = [part for part in rebuilt.parts if part.kind != CellKind.OWN]
    assert [p.cell["id"] for p in ours] == [c["id"] for c in ASSIGNMENT.cells]
    for part, cell in zip(ours, ASSIGNMENT.cells, strict=True):
        assert part.cell["metadata"] == cell["metadata"] and part.kind == kind_of(cell)
        if part.kind not in (CellKind.ANSWER, CellKind.WRITTEN):
            assert part.cell["source"] == "".join(cell["source"])
    assert all(isinstance(p.cell["source"], str) for p in rebuilt.parts)
    json.dumps([p.cell for p in rebuilt.parts])


@FUZZ
@given(st.binary(max_size=400))
def test_any_bytes(data):
    check(data)


@pytest.mark.long
@FUZZ
@given(st.data())
def test_a_notebook_with_damaged_bytes(data):
    damaged = bytearray(RIGHT)
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.integers(0, 50))
        damaged[start : start + length] = data.draw(st.binary(max_size=20))
    check(bytes(damaged))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.long
@FUZZ
@given(anything)
def test_any_json(value):
    check(json.dumps(value).encode())


def put(data, where: dict, names: list[str]) -> None:
    """Anything under one of the names."""
    where[data.draw(st.sampled_from(names))] = data.draw(anything)


def change_cell(data, cell: dict, what: str) -> None:
    if what == "field":
        put(data, cell, ["source", "cell_type", "id", "outputs", "input"])
    elif what == "metadata":
        cell["metadata"] = data.draw(anything)
    elif isinstance(cell.get("metadata"), dict):
        mark = cell["metadata"].setdefault("nbgrader", {})
        if isinstance(mark, dict):
            put(data, mark, ["grade_id", "points", "grade", "solution"])


@FUZZ
@given(st.data())
@pytest.mark.long
def test_a_notebook_with_anything_in_it(data):
    """Values at random places of a right notebook are replaced, removed, doubled or moved."""
    notebook = json.loads(RIGHT)
    for _ in range(data.draw(st.integers(1, 6))):
        cells = notebook.get("cells") if isinstance(notebook, dict) else None
        if not isinstance(cells, list) or not cells:
            break
        at = data.draw(st.integers(0, len(cells) - 1))
        what = data.draw(
            st.sampled_from(["replace cell", "remove", "double", "move", "field", "metadata", "mark", "top"])
        )
        if what == "replace cell":
            cells[at] = data.draw(anything)
        elif what == "remove":
            del cells[at]
        elif what == "double":
            cells.insert(data.draw(st.integers(0, len(cells))), cells[at])
        elif what == "move":
            cells.insert(data.draw(st.integers(0, len(cells) - 1)), cells.pop(at))
        elif what == "top":
            put(data, notebook, ["cells", "metadata", "nbformat", "worksheets"])
        elif isinstance(cells[at], dict):
            change_cell(data, cells[at], what)
    check(json.dumps(notebook).encode())


def test_rebuilding_twice_changes_nothing():
    rebuilt = rebuild(RIGHT, ASSIGNMENT)
    assert not rebuilt.repairs
    again = json.dumps({"cells": [p.cell for p in rebuilt.parts], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert rebuild(again.encode(), ASSIGNMENT) == rebuilt


@pytest.mark.long
def test_a_cell_of_an_earlier_version_was_not_changed_by_the_student():
    """What it was handed out as is in nbgrader's checksum; with another text, it was changed."""
    import nbformat
    from nbgrader.utils import compute_checksum

    def earlier(notebook, *, edited=False):
        for cell in notebook["cells"]:
            mark = cell["metadata"].get("nbgrader", {})
            if mark.get("grade_id") in ("imports", "test_scale_scores", "scale_scores", "question_scaling"):
                cell["source"] = "".join(cell["source"]) + "\nas it was a year ago"
                mark["checksum"] = compute_checksum(nbformat.from_dict(cell))
                cell["source"] += " and now" * edited
        notebook["cells"] = [c for c in notebook["cells"] if c["id"] != "mask-value"]

    def rebuilt(edit):
        found = rebuild(submission(blank=["scale_scores"], edit=edit), ASSIGNMENT)
        return found.repairs, {part.name for part in found.parts if part.blank}

    questions = {"question_scaling", "question_masking"}
    assert rebuilt(earlier) == ((), {"scale_scores", *questions})
    assert rebuilt(lambda notebook: earlier(notebook, edited=True)) == (
        (
            'the cell "imports" was changed; ours was used',
            'the cell "test_scale_scores" was changed; ours was used',
            'the cell "mask_value" is missing; put back',
        ),
        {"question_masking"},
    )


# What comes of a submission, cell by cell, in a module of two exercises and a written question


def parts(*cells: Any) -> list[tuple[str, str]]:
    """Kind and source of what is rebuilt but for our own text, given cells, demonstrations and tests."""
    return [(p.kind, p.cell["source"]) for p in rebuild(saved(cells), SMALL).parts if p.kind in THEIRS]


def answered(*cells: Any) -> dict[str, str]:
    """The source that each answer has after all."""
    return {p.name: p.cell["source"] for p in rebuild(saved(cells), SMALL).parts if p.kind == CellKind.ANSWER}


def repairs(*cells: Any) -> tuple[str, ...]:
    return rebuild(saved(cells), SMALL).repairs


def blank(*cells: Any) -> list[str]:
    return [p.name for p in rebuild(saved(cells), SMALL).parts if p.blank]


def without(*names: str) -> list[Any]:
    return [c for c in filled() if c not in [named(filled(), name) for name in names]]


def changed(name: str, **change: Any) -> list[Any]:
    cells = filled()
    named(cells, name).update(change)
    return cells


THEIRS = (CellKind.ANSWER, CellKind.WRITTEN, CellKind.OWN)
ANSWERS = [("answer", FIRST), ("answer", SECOND), ("written", WRITTEN)]


def test_a_right_submission_is_our_notebook_with_the_answers() -> None:
    rebuilt = rebuild(saved(filled()), SMALL)
    assert [p.cell for p in rebuilt.parts] == filled()
    assert rebuilt.repairs == () and blank(*filled()) == [] and parts(*filled()) == ANSWERS


def test_as_it_was_handed_out_all_is_blank() -> None:
    assert blank(*CELLS) == ["first", "second", "question"] and repairs(*CELLS) == ()


@pytest.mark.parametrize("space", [" {} ", "\n{}\n\n", "{}\r", "{}\r\n"])
def test_white_space_around_it_makes_no_answer(space: str) -> None:
    """Nor does it change a cell of ours."""
    cells = [c | {"source": space.format(c["source"])} for c in CELLS]
    assert blank(*cells) == ["first", "second", "question"] and repairs(*cells) == ()
    assert [kind for kind, _ in parts(*cells)] == ["answer", "answer", "written"]


def test_a_lone_cr_is_a_line_end() -> None:
    cells = [c | {"source": c["source"].replace("\n", "\r")} for c in filled()]
    assert answered(*cells) == {"first": FIRST, "second": SECOND} and repairs(*cells) == ()


def test_sources_may_be_lists() -> None:
    cells = [c | {"source": c["source"].splitlines(keepends=True)} for c in filled()]
    assert rebuild(saved(cells), SMALL) == rebuild(saved(filled()), SMALL)


def test_cells_of_ones_own_stay_where_they_stood() -> None:
    """Above our first cell, between ours, around an answer, at the end; empty ones are dropped."""
    start, imports, first, *rest = filled()
    cells = [
        own("a"),
        own("b", "markdown"),
        start,
        own(" \n"),
        imports,
        own("c"),
        first,
        own("d"),
        *rest,
        own("e", "raw"),
    ]
    rebuilt = rebuild(saved(cells), SMALL)
    order = [p.name or p.cell["source"] for p in rebuilt.parts]
    assert order == [
        "a", "b", "# Small\n", "imports", "c", "first", "d", "test_first", "look", "second", "test_second", "Why?", "question", "e",
    ]  # fmt: skip
    added = [p.cell for p in rebuilt.parts if p.kind == CellKind.OWN]
    assert [(c["cell_type"], c["id"], c["metadata"]) for c in added] == [
        ("code", "own-0", {}),
        ("markdown", "own-1", {}),
        ("code", "own-5", {}),
        ("code", "own-7", {}),
        ("markdown", "own-14", {}),
    ]


def test_only_code_has_outputs() -> None:
    parts = rebuild(saved([own("a", "markdown"), own("b"), *filled()]), SMALL).parts
    assert all(("outputs" in p.cell) == ("execution_count" in p.cell) == (p.cell["cell_type"] == "code") for p in parts)
    assert [p.cell["outputs"] for p in parts if "outputs" in p.cell] == [[]] * 7


def test_what_is_run() -> None:
    parts = rebuild(saved([own("a", "markdown"), own("b"), *filled()]), SMALL).parts
    assert [p.name or p.cell["source"] for p in parts if is_run(p)] == ["b", "imports", "first", "second"]


def test_a_piece_that_stood_before_the_answer_is_run_before_it() -> None:
    """The answer was moved below a cell of the student's own; both belong to the place of the answer."""
    start, imports, first, *rest = filled()
    moved = [start, imports, first | {"source": "half = 0.5"}, own(FIRST), *rest]
    assert [source for _, source in parts(*moved)] == ["half = 0.5", FIRST, SECOND, WRITTEN]
    assert [source for _, source in parts(start, imports, first, own("after"), *rest)][:2] == [FIRST, "after"]


OTHER = "def _first(x):\n    return -x"


def test_the_last_filled_cell_that_claims_and_defines_is_the_answer() -> None:
    first = named(filled(), "first")
    again = first | {"source": OTHER}
    assert repairs(*filled(), again) == (
        'there are 2 cells with the answer "first"; the last one that is filled in was graded',
    )
    assert parts(*filled(), again) == [("own", FIRST), ("answer", OTHER), *ANSWERS[1:]]


def test_an_empty_copy_is_no_answer() -> None:
    """Neither a copy as it was handed out nor one without text: nothing is said, and nothing is left over."""
    for source in ("", named(CELLS, "first")["source"]):
        cells = [*filled(), named(filled(), "first") | {"source": source}]
        assert parts(*cells) == ANSWERS and repairs(*cells) == () and blank(*cells) == []


def test_a_claim_that_is_filled_stands_against_a_later_definition() -> None:
    assert answered(*filled(), own(OTHER))["first"] == FIRST
    assert parts(*filled(), own(OTHER)) == [*ANSWERS, ("own", OTHER)] and repairs(*filled(), own(OTHER)) == ()


def test_a_definition_elsewhere_stands_against_a_claim_that_is_blank() -> None:
    cells = [*filled(first=named(CELLS, "first")["source"]), own(OTHER)]
    assert parts(*cells) == [("answer", OTHER), *ANSWERS[1:]]
    assert (
        repairs(*cells) == ('the answer "first" was found by the name that it defines, `_first`',)
        and blank(*cells) == []
    )


def test_a_claim_that_defines_nothing_is_still_the_answer() -> None:
    cells = filled(first="I do not know")
    assert answered(*cells)["first"] == "I do not know" and repairs(*cells) == () and blank(*cells) == []


def test_the_students_grade_id_is_read() -> None:
    """Whatever the cell's id is and whatever it defines; and it stands against an id."""
    cells = changed("first", id="another", source="first = 1")
    assert answered(*cells)["first"] == "first = 1" and repairs(*cells) == ()
    cells = changed("first", id="second", source="first = 1")
    assert answered(*cells) == {"first": "first = 1", "second": SECOND} and repairs(*cells) == ()


def test_without_grade_ids_the_ids_are_read() -> None:
    cells = [c | {"metadata": {}} for c in filled(first="first = 1")]
    assert answered(*cells) == {"first": "first = 1", "second": SECOND} and repairs(*cells) == ()
    cells = [c | {"metadata": {}, "id": f"{n}"} for n, c in enumerate(filled(first="first = 1"))]
    assert repairs(*cells) == (
        'the answer cell "first" is missing; graded without it',
        'the answer "second" was found by the name that it defines, `Second`',
        'the written answer "question" is missing; the text beside its question was taken',
    )


def test_two_answers_in_one_cell() -> None:
    cells = [c for c in filled(first=f"{FIRST}\n\n\n{SECOND}") if c != named(filled(), "second")]
    assert answered(*cells) == {"first": f"{FIRST}\n\n\n{SECOND}", "second": ""}
    assert repairs(*cells) == ("`Second` was found in the cell of another answer",) and blank(*cells) == ["second"]


def test_an_exercise_that_was_renamed() -> None:
    now = replace(SMALL, exercises=(replace(SMALL.exercises[0], formerly=("one",)), SMALL.exercises[1]))
    cells = filled(first="first = 1")
    for name, old in (("first", "one"), ("test_first", "test_one")):
        named(cells, name)["metadata"]["nbgrader"]["grade_id"] = old
    found = rebuild(saved([c | {"id": f"{n}"} for n, c in enumerate(cells)]), now)
    assert found.repairs == () and next(p for p in found.parts if p.name == "first").cell["source"] == "first = 1"
    assert len(found.parts) == len(CELLS) and named([p.cell for p in found.parts], "test_first") == named(
        CELLS, "test_first"
    )


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (without("first"), ('the answer cell "first" is missing; graded without it',)),
        (without("question"), ('the written answer "question" is missing',)),
        (without("imports"), ('the cell "imports" is missing; put back',)),
        (without("test_first", "look"), (
            'the cell "test_first" is missing; put back',
            'the cell "look" is missing; put back',
        )),
        (without("start", "prompt"), ()),
        (changed("first", cell_type="markdown"), ('the answer cell "first" was turned into text; read as code',)),
        (changed("question", cell_type="code"), ()),
        (changed("imports", cell_type="raw"), ('the cell "imports" was turned into text; ours was used',)),
        ([*filled(), named(CELLS, "test_first")], ('the cell "test_first" is there more than once; ours was used',)),
        ([*filled(), named(CELLS, "start")], ()),
    ],
)  # fmt: skip
def test_each_repair_is_a_line(cells: list[Any], lines: tuple[str, ...]) -> None:
    """And whatever is repaired, our cells are ours: nothing of the student's own is left over."""
    rebuilt = rebuild(saved(cells), SMALL)
    assert rebuilt.repairs == lines
    assert [p.cell["id"] for p in rebuilt.parts] == [c["id"] for c in CELLS]
    ours = [(p.cell, c) for p, c in zip(rebuilt.parts, CELLS, strict=True) if p.kind not in THEIRS]
    assert all(cell == as_it_was for cell, as_it_was in ours)


@pytest.mark.parametrize("name", ["imports", "look"])
def test_what_was_written_into_a_given_cell_is_run_after_ours(name: str) -> None:
    rebuilt = rebuild(saved(changed(name, source="import cmath")), SMALL)
    assert rebuilt.repairs == (f'the cell "{name}" was changed; ours was used',)
    place = [p.name for p in rebuilt.parts].index(name)
    ours, theirs = rebuilt.parts[place : place + 2]
    assert ours.cell["source"] == named(CELLS, name)["source"]
    assert (theirs.kind, theirs.cell["source"]) == ("own", "import cmath")


def test_a_note_in_our_text_is_kept_as_a_cell_of_their_own() -> None:
    rebuilt = rebuild(saved(changed("start", source="# Small\nMy note.")), SMALL)
    assert [p.cell["source"] for p in rebuilt.parts[:2]] == ["# Small\n", "My note."] and not rebuilt.repairs


def test_of_several_written_answers_the_last_that_says_something() -> None:
    question = named(filled(), "question")
    cells = [*filled(question="Once."), question | {"source": "Twice."}, question | {"source": "YOUR ANSWER HERE"}]
    assert parts(*cells) == [*ANSWERS[:2], ("written", "Twice."), ("own", "Once.")] and blank(*cells) == []


def test_what_counts_for_the_2000th_cell_and_not_for_the_next() -> None:
    for added, found in ((1999, FIRST), (2000, "")):
        cells = [*(own(f"x{n}") for n in range(added)), named(filled(), "first")]
        rebuilt = rebuild(saved(cells), SMALL)
        assert [p.cell["source"] for p in rebuilt.parts if p.name == "first"] == [found]
        assert len([p for p in rebuilt.parts if p.kind == CellKind.OWN]) == added
