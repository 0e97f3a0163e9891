"""The gradebook follows the course, and loses nothing that was given by hand; what is kept of a result is read back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from answers import submission

from exercises.model import CaseResult, Verdict
from grader import gradebook, gradebook_rows, records
from grader.classroom import Classroom, Submission
from grader.course import Assignment, load_assignment
from grader.errors import GradebookError
from grader.rebuild import fit, rebuild
from grader.result import VERDICT_TYPE, Result, Status, verdict_to_data

MODULE = "04_attention"
ASSIGNMENT = load_assignment(MODULE)


def renamed(assignment: Assignment, old: str, new: str, formerly: tuple[str, ...] = ()) -> Assignment:
    """The same module with one exercise under another name."""
    names = {old: new, f"test_{old}": f"test_{new}"}
    cells = json.loads(json.dumps(assignment.cells))
    for mark in (c["metadata"]["nbgrader"] for c in cells if "nbgrader" in c["metadata"]):
        mark["grade_id"] = names.get(mark["grade_id"], mark["grade_id"])
    exercises = [replace(e, name=names.get(e.name, e.name)) for e in assignment.exercises]
    for exercise in exercises:
        if exercise.name == new:
            object.__setattr__(exercise, "formerly", formerly)
    return replace(assignment, cells=tuple(cells), exercises=tuple(exercises))


def full_marks(student: str, assignment: Assignment) -> Result:
    verdicts = {
        e.name: Verdict(e.name, e.points, e.points, tuple(CaseResult(c.name, c.points, c.points) for c in e.cases))
        for e in assignment.exercises
    }
    notebook = {"cells": list(assignment.cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Result(student, MODULE, Status.GRADED, assignment.max_score, verdicts=verdicts, notebook=notebook)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Any]:
    with gradebook.open_gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "tinytorch") as book:
        yield book


def grade_ada_and_ben(book: Any, assignment: Assignment) -> None:
    gradebook.save_assignment(book, assignment)
    for student in ("ada", "ben"):
        gradebook.record(book, assignment, full_marks(student, assignment), "", None)


@pytest.mark.parametrize(
    "time", ["soon", "2026-13-45 10:00", "9" * 3000, "9999-12-31 23:59:59 -0900", "-", "1 2 3", "\ufeff2026"]
)
def test_a_time_that_is_none_stops_nobody(book: Any, time: str) -> None:
    gradebook.save_assignment(book, ASSIGNMENT)
    gradebook.record(book, ASSIGNMENT, full_marks("ada", ASSIGNMENT), time, None)
    assert book.find_submission(MODULE, "ada").score == ASSIGNMENT.max_score


def grade_of(book: Any, student: str, cell: str) -> Any:
    return book.find_grade(cell, ASSIGNMENT.notebook, MODULE, student)


def comment_of(book: Any, student: str, cell: str) -> Any:
    return book.find_comment(cell, ASSIGNMENT.notebook, MODULE, student)


def test_a_renamed_exercise_keeps_what_was_given_by_hand(book):
    before = renamed(ASSIGNMENT, "scale_scores", "scaling")
    grade_ada_and_ben(book, before)
    grade_of(book, "ada", "test_scaling").manual_score = 1.5
    grade_of(book, "ben", "test_scaling").extra_credit = 0.5
    comment_of(book, "ada", "scaling").manual_comment = "Well done."
    book.db.commit()
    after = renamed(ASSIGNMENT, "scale_scores", "scale_scores", formerly=("scaling",))
    for _ in range(2):
        gradebook.save_assignment(book, after)
        assert grade_of(book, "ada", "test_scale_scores").manual_score == 1.5
        assert grade_of(book, "ben", "test_scale_scores").extra_credit == 0.5
        assert grade_of(book, "ben", "test_scale_scores").auto_score == 2
        assert comment_of(book, "ada", "scale_scores").manual_comment == "Well done."
    notebook = book.find_notebook(ASSIGNMENT.notebook, MODULE)
    names = [c.name for c in (*notebook.grade_cells, *notebook.solution_cells, *notebook.source_cells)]
    assert names.count("test_scale_scores") == 2 and not {"scaling", "test_scaling"} & set(names)


@pytest.mark.parametrize(
    ("field", "value", "cell"),
    [
        ("manual_score", 0.0, "test_scaling"),
        ("extra_credit", 1.0, "test_scaling"),
        ("manual_comment", "Yes.", "scaling"),
    ],
)
def test_a_cell_with_grades_by_hand_is_not_dropped(book, field, value, cell):
    before = renamed(ASSIGNMENT, "scale_scores", "scaling")
    grade_ada_and_ben(book, before)
    given = comment_of(book, "ada", cell) if cell == "scaling" else grade_of(book, "ada", cell)
    setattr(given, field, value)
    book.db.commit()
    with pytest.raises(GradebookError) as caught:
        gradebook.save_assignment(book, ASSIGNMENT)
    assert str(caught.value).startswith(f'the cell "{cell}" is no longer in 04_attention, and 1 student has grades')
    assert "`formerly`" in str(caught.value) and "in the formgrader first" in str(caught.value)
    assert getattr(comment_of(book, "ada", cell) if cell == "scaling" else grade_of(book, "ada", cell), field) == value
    setattr(given, field, None)
    book.db.commit()
    gradebook.save_assignment(book, ASSIGNMENT)
    assert grade_of(book, "ada", "test_scale_scores").auto_score is None


def test_an_answer_under_its_former_name_is_found():
    after = renamed(ASSIGNMENT, "scale_scores", "scale_scores", formerly=("scaling",))

    def as_before(notebook):
        for cell in (c for c in notebook["cells"] if "nbgrader" in c["metadata"]):
            mark = cell["metadata"]["nbgrader"]
            mark["grade_id"] = mark["grade_id"].replace("scale_scores", "scaling")
            if mark["grade_id"] == "test_scaling":
                cell["source"] = "assert True"

    data = submission(edit=as_before)
    assert rebuild(data, after).repairs == ('the cell "test_scale_scores" was changed; ours was used',)
    assert fit(data, after) == len(after.exercises)
    found_by_name = 'the answer "scale_scores" was found by the name that it defines, `_scale_scores`'
    assert rebuild(data, ASSIGNMENT).repairs == (found_by_name, 'the cell "test_scale_scores" is missing; put back')


def test_what_is_kept_of_a_result_is_read_back(tmp_path):
    classroom = Classroom(tmp_path)
    verdicts = dict(full_marks("ada", ASSIGNMENT).verdicts)
    cases = (CaseResult("values", 0.0, 1, "You divided by d_k.", True), CaseResult("gradients", 1, 1, ""))
    verdicts["scale_scores"] = Verdict("scale_scores", 1.0, 2, cases)
    cells = [dict(c) for c in ASSIGNMENT.cells]
    for cell in cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "").removeprefix("test_")
        if name in verdicts and cell["metadata"]["nbgrader"]["grade"]:
            cell["outputs"] = [{"data": {VERDICT_TYPE: verdict_to_data(verdicts[name])}}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    result = replace(
        full_marks("ada", ASSIGNMENT), verdicts=verdicts, repairs=("a repair",), seconds=0.125, notebook=notebook
    )
    handed_in = Submission("ada", b"x", "2026-03-01 12:00:00 UTC")
    with records.Writer(ASSIGNMENT, classroom.nbgrader_config()) as writer:
        writer.write(handed_in, result, classroom.autograded("ada", MODULE))
        writer.write(Submission("ben"), Result("ben", MODULE, Status.MISSING, 28), classroom.autograded("ben", MODULE))
        broken = replace(
            full_marks("cleo", ASSIGNMENT), status=Status.UNREADABLE, reason="no", verdicts={}, notebook=None
        )
        writer.write(Submission("cleo"), broken, classroom.autograded("cleo", MODULE))
    read = records.read_kept("ada", ASSIGNMENT, classroom)
    assert (
        read == replace(result, notebook=None, answers=gradebook_rows.answers_of(notebook))
        and read.to_json() == result.to_json()
    )
    assert read.named == {"scale_scores": ("You divided by d_k.",)}
    assert records.read_unchanged(handed_in, ASSIGNMENT, classroom) == read
    assert records.read_unchanged(replace(handed_in, data=b"y"), ASSIGNMENT, classroom) is None
    assert records.read_kept("cleo", ASSIGNMENT, classroom) == broken
    assert records.graded_students(ASSIGNMENT, classroom) == ["ada", "cleo"]
