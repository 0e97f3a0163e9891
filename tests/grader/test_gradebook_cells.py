"""The gradebook's record of a module is what the module's notebook says, also after it has changed."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of
from gradebooks import comments_in, grades_in, new_gradebook, opened
from small import CELLS, MODULE, SMALL, cell, copy, exercise, graded, named, unreadable

from grader.classroom import Classroom
from grader.course import Assignment
from grader.gradebook import grades, record, save_assignment
from grader.notebook import Cell
from grader.platforms import export as exporting

KINDS = "select b.name, b.type from base_cell b order by 1, 2"
EMPTY = (None, None, None, 1)  # nobody has graded it yet


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return new_gradebook(tmp_path)


@pytest.fixture
def book(database: Path) -> Iterator[Any]:
    """With a submission of ada's that was graded, and one of ben's that could not be read."""
    with opened(database) as book:
        record(book, SMALL, graded("ada", 2, 1.5), "", None)
        record(book, SMALL, unreadable("ben"), "", None)
        yield book


def cells_in(database: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(database) as connection:
        found: list[tuple[str, str]] = connection.execute(KINDS).fetchall()
    connection.close()
    return found


def with_cells(cells: Sequence[Cell]) -> Assignment:
    return replace(SMALL, cells=tuple(cells))


def without(*names: str) -> Assignment:
    return with_cells([c for c in CELLS if c["metadata"].get("nbgrader", {}).get("grade_id") not in names])


def test_each_cell_is_there_as_what_it_is(database: Path) -> None:
    assert cells_in(database) == [
        ("first", "SolutionCell"),
        ("question", "GradeCell"),
        ("question", "SolutionCell"),
        ("second", "SolutionCell"),
        ("test_first", "GradeCell"),
        ("test_second", "GradeCell"),
    ]


def test_what_is_written_of_each_cell(database: Path) -> None:
    blank = "    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert rows_of(database)[3] == [
        ("first", "code", 0, f"def _first(x):\n{blank}", "sum of first"),
        ("imports", "code", 1, "import math", "sum of imports"),
        ("look", "code", 1, "_first(2)", "sum of look"),
        ("question", "markdown", 0, "YOUR ANSWER HERE", "sum of question"),
        ("second", "code", 0, f"class Second:\n{blank}", "sum of second"),
        ("test_first", "code", 1, "assert _first(1) == 1", "sum of test_first"),
        ("test_second", "code", 1, "Second()", "sum of test_second"),
    ]


def test_what_nbgrader_is_told_of_the_module(book: Any) -> None:
    notebook = book.find_notebook("small", MODULE)
    assert notebook.kernelspec == '{"display_name": "python3", "language": "python", "name": "python3"}'
    assert notebook.max_score == 9 and notebook.max_code_score == 5 and notebook.max_written_score == 4


def test_twice_is_once(book: Any, database: Path) -> None:
    before = rows_of(database), cells_in(database)
    for _ in range(2):
        save_assignment(book, SMALL)
        assert (rows_of(database), cells_in(database)) == before


def test_a_changed_cell_is_written_anew(book: Any, database: Path) -> None:
    cells = copy()
    changed = named(cells, "imports")
    changed["source"] = ["import math\n", "import cmath"]
    changed["metadata"]["nbgrader"] |= {"locked": False, "checksum": "another"}
    save_assignment(book, with_cells(cells))
    assert rows_of(database)[3][1] == ("imports", "code", 0, "import math\nimport cmath", "another")


def test_changed_points_are_those_of_earlier_submissions_too(book: Any, database: Path) -> None:
    cells = copy()
    named(cells, "test_first")["metadata"]["nbgrader"]["points"] = 10
    named(cells, "question")["metadata"]["nbgrader"]["points"] = 0.5
    save_assignment(book, with_cells(cells))
    assert grades_in(database, "ada") == {
        "question": (None, None, None, 1, 0.5),
        "test_first": (2, None, None, 0, 10),
        "test_second": (1.5, None, None, 0, 3),
    }
    assert [(g.student, g.max_score) for g in grades(book, SMALL)] == [("ada", 13.5), ("ben", 13.5)]


def test_grades_of_a_test_that_is_gone_are_gone(
    book: Any, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every table; what is left is exported, for those who were graded before and after."""
    now = without("first", "test_first")
    save_assignment(book, now)
    assert {name for name, _ in cells_in(database)} == {"question", "second", "test_second"}
    assert {name for name, *_ in rows_of(database)[3]} == {"imports", "look", "question", "second", "test_second"}
    for student in ("ada", "ben"):
        assert list(grades_in(database, student)) == ["question", "test_second"]
        assert list(comments_in(database, student)) == ["question", "second"]
    with sqlite3.connect(database) as connection:
        left = connection.execute("select (select count(*) from grade), (select count(*) from comment)").fetchone()
    connection.close()
    assert left == (4, 4)
    record(book, now, graded("cleo", 2, 3), "", None)
    monkeypatch.setattr(exporting, "load_assignment", lambda _module: now)
    for student in ("ada", "ben", "cleo"):
        (tmp_path / "submitted" / student).mkdir(parents=True)
    assert exporting.export(MODULE, Classroom(tmp_path), "csv", True).text.splitlines() == [
        "student,name,email,module,status,question,second,late penalty,total,max,to be read",
        "ada,ada,,07_small,graded,0,1.5,0,1.5,7,question",
        "ben,ben,,07_small,graded,0,0,0,0,7,",
        "cleo,cleo,,07_small,graded,0,3,0,3,7,question",
    ]


def test_a_written_question_that_is_gone(book: Any, database: Path) -> None:
    save_assignment(book, without("question"))
    assert list(grades_in(database, "ada")) == ["test_first", "test_second"]
    assert list(comments_in(database, "ada")) == ["first", "second"]


def test_a_new_exercise_has_its_grade_and_comment_in_earlier_submissions(book: Any, database: Path) -> None:
    third = (cell("third", "", solution=True), cell("test_third", "", grade=True, locked=True, points=7))
    now = replace(SMALL, cells=(*CELLS, *third), exercises=(*SMALL.exercises, exercise("third", "third", 7)))
    for _ in range(2):
        save_assignment(book, now)
        for student, first in (("ada", 2), ("ben", 0)):
            found = grades_in(database, student)
            assert list(found) == ["question", "test_first", "test_second", "test_third"]
            assert found["test_third"] == (*EMPTY, 7) and found["test_first"] == (first, None, None, 0, 2)
            assert comments_in(database, student) == dict.fromkeys(
                ("first", "question", "second", "third"), (None, None)
            )
    record(book, now, replace(graded("ada"), blank=("third",)), "", None)
    assert grades_in(database, "ada")["test_third"] == (0, None, None, 0, 7)
    assert comments_in(database, "ada")["third"] == ("No response.", None)


def test_a_renamed_exercise_keeps_its_grades(book: Any, database: Path) -> None:
    cells = copy()
    for old, new in (("first", "one"), ("test_first", "test_one")):
        named(cells, old)["metadata"]["nbgrader"]["grade_id"] = new
    one = exercise("one", "_first", 2, formerly=("first",))
    now = replace(SMALL, cells=tuple(cells), exercises=(one, SMALL.exercises[1]))
    assert now.renamed == {"first": "one", "test_first": "test_one"}
    book.find_comment("first", "small", MODULE, "ada").manual_comment = "Good."
    book.db.commit()
    for _ in range(2):
        save_assignment(book, now)
        assert grades_in(database, "ada") == {
            "question": (None, None, None, 1, 4),
            "test_one": (2, None, None, 0, 2),
            "test_second": (1.5, None, None, 0, 3),
        }
        assert comments_in(database, "ada")["one"] == (None, "Good.")
        assert [name for name, _ in cells_in(database)] == [
            "one",
            "question",
            "question",
            "second",
            "test_one",
            "test_second",
        ]
        assert [name for name, *_ in rows_of(database)[3]] == [
            "imports", "look", "one", "question", "second", "test_one", "test_second",
        ]  # fmt: skip


def test_an_error_in_the_middle_changes_nothing(book: Any, database: Path) -> None:
    before = rows_of(database), cells_in(database)
    cells = copy()
    named(cells, "imports")["source"] = "import cmath"
    del named(cells, "question")["metadata"]["nbgrader"]["locked"]
    with pytest.raises(KeyError):
        save_assignment(book, with_cells(cells))
    assert (rows_of(database), cells_in(database)) == before
    save_assignment(book, SMALL)
    assert (rows_of(database), cells_in(database)) == before
