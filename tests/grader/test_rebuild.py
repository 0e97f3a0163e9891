"""The rebuilder is fed whatever can be in a file: always a notebook or a reason, never an exception of another kind."""

import json

from answers import submission
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.course import load_assignment
from grader.errors import Unreadable
from grader.notebook import CellKind, kind_of
from grader.rebuild import rebuild

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
