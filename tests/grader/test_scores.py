"""What a gradebook has of each submission, number by number."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from classes import rows_of, set_manual_score
from gradebooks import comments_in, grades_in, new_gradebook, opened
from small import MODULE, SMALL, graded, unreadable
from traitlets.config import Config

from grader.errors import GradebookError
from grader.gradebook import Grades, grades, late_plugin, open_gradebook, record
from grader.result import Result

NO_COMMENTS = {"first": (None, None), "question": (None, None), "second": (None, None)}
DUE = "2026-03-01 12:00:00 UTC"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return new_gradebook(tmp_path)


@pytest.fixture
def book(database: Path) -> Iterator[Any]:
    with opened(database) as book:
        yield book


class Late:
    """nbgrader's plug-in for late submissions, with a penalty that is written down; it remembers what it was asked."""

    def __init__(self, penalty: float | None = None) -> None:
        self.penalty = penalty
        self.asked: list[tuple[str, float, float]] = []

    def late_submission_penalty(self, student: str, score: float, seconds: float) -> float | None:
        self.asked.append((student, score, seconds))
        return self.penalty


def write(book: Any, result: Result, timestamp: str = "", late: Any = None) -> None:
    record(book, SMALL, result, timestamp, late)


def by_hand(book: Any, cell: str, **given: Any) -> None:
    """A teacher's grade or comment for ada."""
    comment = "manual_comment" in given
    found = (book.find_comment if comment else book.find_grade)(cell, SMALL.notebook, MODULE, "ada")
    for name, value in given.items():
        setattr(found, name, value)
    book.db.commit()


def test_points_of_verdicts_and_a_written_answer_that_is_to_be_read(book: Any, database: Path) -> None:
    write(book, graded("ada", 2, 1.5))
    assert grades_in(database, "ada") == {
        "question": (None, None, None, 1, 4),
        "test_first": (2, None, None, 0, 2),
        "test_second": (1.5, None, None, 0, 3),
    }
    assert comments_in(database, "ada") == NO_COMMENTS
    assert rows_of(database)[2] == [("ada", "07_small", None, None)]


def test_a_blank_written_answer_has_nothing_and_need_not_be_read(book: Any, database: Path) -> None:
    write(book, graded("ada", 0, 3, blank=("first", "question")))
    assert grades_in(database, "ada") == {
        "question": (0, None, None, 0, 4),
        "test_first": (0, None, None, 0, 2),
        "test_second": (3, None, None, 0, 3),
    }
    assert comments_in(database, "ada") == NO_COMMENTS | {
        "first": ("No response.", None),
        "question": ("No response.", None),
    }


def test_no_response_is_taken_back(book: Any, database: Path) -> None:
    write(book, graded("ada", blank=("first",)))
    write(book, graded("ada", blank=("second",)))
    assert comments_in(database, "ada") == NO_COMMENTS | {"second": ("No response.", None)}
    write(book, unreadable("ada"))
    assert comments_in(database, "ada") == NO_COMMENTS


@pytest.mark.parametrize("before", [False, True])
def test_an_unreadable_submission_has_nothing_and_asks_nobody_to_read(book: Any, database: Path, before: bool) -> None:
    if before:
        write(book, graded("ada"))
    write(book, unreadable("ada"))
    assert grades_in(database, "ada") == {
        "question": (0, None, None, 0, 4),
        "test_first": (0, None, None, 0, 2),
        "test_second": (0, None, None, 0, 3),
    }


def test_what_was_given_by_hand_is_kept_and_is_to_be_looked_at_again(book: Any, database: Path) -> None:
    write(book, graded("ada", 1, 2))
    by_hand(book, "test_first", manual_score=0.0, needs_manual_grade=False)
    by_hand(book, "test_second", extra_credit=0.5)
    by_hand(book, "question", manual_score=3.5, needs_manual_grade=False)
    by_hand(book, "first", manual_comment="Nearly.")
    write(book, graded("ada", 2, 3, blank=("first", "question")))
    assert grades_in(database, "ada") == {
        "question": (0, 3.5, None, 1, 4),
        "test_first": (2, 0, None, 1, 2),
        "test_second": (3, None, 0.5, 0, 3),
    }
    assert comments_in(database, "ada")["first"] == ("No response.", "Nearly.")
    write(book, unreadable("ada"))
    assert grades_in(database, "ada") == {
        "question": (0, 3.5, None, 0, 4),
        "test_first": (0, 0, None, 0, 2),
        "test_second": (0, None, 0.5, 0, 3),
    }


def test_nobody_elses_grades_are_touched(book: Any, database: Path) -> None:
    write(book, graded("ada", 1, 2), "2026-03-01 11:00:00 UTC")
    before = rows_of(database)
    write(book, graded("ben", 0, 0, blank=("first", "second", "question")), "2026-03-01 13:00:00 UTC")
    after = rows_of(database)
    assert [[row for row in rows if row[0] != "ben"] for rows in after] == before


def test_a_timestamp_is_that_of_the_submission_and_of_no_earlier_one(book: Any, database: Path) -> None:
    for given, kept in (
        ("", None),
        (DUE, "2026-03-01 12:00:00.000000"),
        ("", None),
        ("2026-03-02 13:00:00 UTC", "2026-03-02 13:00:00.000000"),
    ):
        write(book, graded("ada"), given)
        assert rows_of(database)[2] == [("ada", "07_small", kept, None)]


@pytest.mark.parametrize(
    ("given", "penalty"), [(-1, 0), (0, 0), (2, 2), (4.5, 4.5), (7, 4.5), (float("inf"), 4.5), (None, None)]
)
def test_a_penalty_takes_no_more_than_there_is(book: Any, database: Path, given: Any, penalty: Any) -> None:
    book.update_or_create_assignment(MODULE, duedate=DUE)
    late = Late(given)
    write(book, graded("ada", 2, 2.5), "2026-03-01 13:00:00 UTC", late)
    assert rows_of(database)[2] == [("ada", "07_small", "2026-03-01 13:00:00.000000", penalty)]
    assert late.asked == [("ada", 4.5, 3600)]


@pytest.mark.parametrize("timestamp", ["", DUE, "2026-03-01 11:59:59 UTC"])
def test_who_is_not_late_has_no_penalty(book: Any, database: Path, timestamp: str) -> None:
    book.update_or_create_assignment(MODULE, duedate=DUE)
    late = Late(1)
    write(book, graded("ada"), timestamp, late)
    assert rows_of(database)[2][0][3] is None and late.asked == []


def test_a_penalty_ends_when_the_due_date_is_later(book: Any, database: Path) -> None:
    book.update_or_create_assignment(MODULE, duedate=DUE)
    write(book, graded("ada"), "2026-03-01 13:00:00 UTC", Late(1))
    book.update_or_create_assignment(MODULE, duedate="2026-03-01 14:00:00 UTC")
    write(book, graded("ada"), "2026-03-01 13:00:00 UTC", Late(1))
    assert rows_of(database)[2] == [("ada", "07_small", "2026-03-01 13:00:00.000000", None)]


def test_a_penalty_is_of_the_new_points_and_of_those_given_by_hand(book: Any) -> None:
    book.update_or_create_assignment(MODULE, duedate=DUE)
    late = Late(None)
    write(book, graded("ada", 1, 1), "2026-03-01 13:00:00 UTC", late)
    by_hand(book, "question", manual_score=3.5)
    write(book, graded("ada", 2, 1), "2026-03-01 13:00:00 UTC", late)
    assert [score for _, score, _ in late.asked] == [2, 6.5]


def test_an_error_in_the_middle_leaves_nothing(book: Any, database: Path) -> None:
    """Neither a student without grades, nor half of the new grades beside half of the old; and the book can be used again."""
    book.update_or_create_assignment(MODULE, duedate=DUE)
    write(book, graded("ada", 2, 3), "2026-03-01 13:00:00 UTC", Late(1))
    before = rows_of(database)
    broken = SimpleNamespace(late_submission_penalty=lambda *_: 1 / 0)
    for student in ("ada", "ben"):
        with pytest.raises(ZeroDivisionError):
            write(book, graded(student, 1, 1, blank=("first",)), "2026-03-01 14:00:00 UTC", broken)
        assert rows_of(database) == before
        assert [student.id for student in book.students] == ["ada"]
    write(book, graded("ben", 1, 1))
    assert grades_in(database, "ben")["test_first"] == (1, None, None, 0, 2)
    assert grades_in(database, "ada")["test_first"] == (2, None, None, 0, 2)


def test_nothing_is_seen_before_all_is_written(book: Any, database: Path) -> None:
    seen = []
    looking = SimpleNamespace(late_submission_penalty=lambda *_: seen.append(rows_of(database)))
    book.update_or_create_assignment(MODULE, duedate=DUE)
    before = rows_of(database)
    write(book, graded("ada"), "2026-03-01 13:00:00 UTC", looking)
    assert seen == [before] and rows_of(database) != before


def test_what_is_read_back(book: Any, database: Path) -> None:
    assert grades(book, SMALL) == []
    book.update_or_create_assignment(MODULE, duedate=DUE)
    book.update_or_create_student("cleo_17", first_name="Cleo", last_name="Patra", email="cleo@nile", lms_user_id="99")
    book.update_or_create_student("ben_4711", last_name="Ben")
    write(book, graded("cleo_17", 2, 1), "2026-03-01 13:00:00 UTC", Late(0.5))
    write(book, graded("ben_4711", 1, 0, blank=("question",)))
    write(book, unreadable("ada"))
    set_manual_score(database, "cleo_17", "question", 3.5)
    book.db.expire_all()
    nothing: dict[str, float] = {"question": 0, "first": 0, "second": 0}
    late: dict[str, Any] = {"time": "2026-03-01 13:00:00 UTC", "seconds_late": 3600, "graded_by_hand": ("question",)}
    given: dict[str, float] = {"question": 3.5, "first": 2, "second": 1}
    assert grades(book, SMALL) == [
        Grades("ada", "ada", "", "", nothing, 0, 0, 9, ()),
        Grades("ben_4711", "Ben", "", "4711", nothing | {"first": 1}, 0, 1, 9, ()),
        Grades("cleo_17", "Cleo Patra", "cleo@nile", "99", given, 0.5, 6, 9, (), **late),
    ]
    write(book, graded("ada", 2, 3))
    read: dict[str, float] = {"question": 0, "first": 2, "second": 3}
    assert grades(book, SMALL)[0] == Grades("ada", "ada", "", "", read, 0, 5, 9, ("question",))
    assert grades(book, replace(SMALL, module="08_none")) == []


def test_the_plug_in_for_late_submissions() -> None:
    from nbgrader.plugins import LateSubmissionPlugin

    assert type(late_plugin(Config())) is LateSubmissionPlugin
    named = Config({"AssignLatePenalties": {"plugin_class": "nbgrader.plugins.LateSubmissionPlugin"}})
    named.LateSubmissionPlugin.penalty_method = "zero"
    assert late_plugin(named).late_submission_penalty("ada", 4.5, 60) == 4.5

    found = late_plugin(Config({"AssignLatePenalties": {"plugin_class": dict}}))
    assert type(found) is dict and list(found) == ["config"]


def test_a_file_that_is_no_gradebook(tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text("not a database, but longer than a header of one would be " * 20)
    with pytest.raises(GradebookError) as caught, open_gradebook(f"sqlite:///{tmp_path}/gradebook.db", "tinytorch"):
        pass
    assert str(caught.value) == (
        f"{tmp_path}/gradebook.db: it is no gradebook, or a damaged one. Move it away; there is no backup"
    )
