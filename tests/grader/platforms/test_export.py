"""What goes to a learning platform, letter by letter, for a small class."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classes import set_manual_score
from gradebooks import new_gradebook, opened
from small import MODULE, SMALL, graded, unreadable

from grader.classroom import Classroom
from grader.errors import CourseError
from grader.gradebook import record
from grader.platforms import export as exporting
from grader.platforms.export import FORMATS, export


class Late:
    def late_submission_penalty(self, _student: str, score: float, _seconds: float) -> float:
        return score / 4


@pytest.fixture(autouse=True)
def _of_the_small_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "load_assignment", lambda _module: SMALL)


@pytest.fixture
def klass(tmp_path: Path) -> Classroom:
    new_gradebook(tmp_path)
    return Classroom(tmp_path)


@pytest.fixture
def book(klass: Classroom) -> Iterator[Any]:
    with opened(klass.folder / "gradebook.db") as book:
        yield book


@pytest.fixture
def five(klass: Classroom, book: Any) -> Classroom:
    """Five people: late, to be read, graded by hand, unreadable, and one whose name is a formula."""
    book.update_or_create_assignment(MODULE, duedate="2026-03-01 12:00:00 UTC")
    book.update_or_create_student(
        "dan_7", first_name="Dan", last_name="Brown, jr.", email="dan@example.org", lms_user_id="42"
    )
    book.update_or_create_student("ada_1234567", first_name="=Ada", last_name="Lovelace")
    record(book, SMALL, graded("dan_7", 2, 3, blank=("question",)), "2026-03-01 13:00:00 UTC", Late())
    record(book, SMALL, graded("cleo", 1, 1 / 3), "2026-03-01 11:00:00 UTC", Late())
    record(book, SMALL, graded("ben", 2, 2.5), "", Late())
    record(book, SMALL, unreadable("ada_1234567"), "", Late())
    record(book, SMALL, graded("-eve", 0, 0, blank=("first", "second", "question")), "", Late())
    set_manual_score(klass.folder / "gradebook.db", "ben", "question", 3.5)
    return klass


def test_all_there_is_to_know(five: Classroom) -> None:
    assert export(MODULE, five, "csv") == (
        "student,name,email,module,question,first,second,late penalty,total,max,to be read\r\n"
        "'-eve,'-eve,,07_small,0,0,0,0,0,9,no\r\n"
        "ada_1234567,'=Ada Lovelace,,07_small,0,0,0,0,0,9,no\r\n"
        "ben,ben,,07_small,3.5,2,2.5,0,8,9,no\r\n"
        "cleo,cleo,,07_small,0,1,0.3333,0,1.3333,9,yes\r\n"
        'dan_7,"Dan Brown, jr.",dan@example.org,07_small,0,2,3,1.25,3.75,9,no\r\n'
    )


def test_for_canvas(five: Classroom) -> None:
    assert export(MODULE, five, "canvas") == (
        "Student,ID,SIS User ID,SIS Login ID,Section,07_small\r\n"
        "    Points Possible,,,,,9\r\n"
        "'-eve,,,'-eve,,0\r\n"
        "'=Ada Lovelace,1234567,,ada_1234567,,0\r\n"
        "ben,,,ben,,8\r\n"
        "cleo,,,cleo,,1.3333\r\n"
        '"Dan Brown, jr.",42,,dan_7,,3.75\r\n'
    )


def test_for_moodle(five: Classroom) -> None:
    assert export(MODULE, five, "moodle") == (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (grade),Feedback comments\r\n"
        "'-eve,'-eve,,,0,9,Yes,,\r\n"
        "Participant 1234567,'=Ada Lovelace,,,0,9,Yes,,\r\n"
        "ben,ben,,,8,9,Yes,,\r\n"
        "cleo,cleo,,,1.3333,9,Yes,,\r\n"
        'Participant 42,"Dan Brown, jr.",dan@example.org,,3.75,9,Yes,,\r\n'
    )


def test_a_class_of_one(klass: Classroom, book: Any) -> None:
    record(book, SMALL, graded("ada"), "", None)
    assert export(MODULE, klass, "csv").splitlines()[1:] == ["ada,ada,,07_small,0,2,3,0,5,9,yes"]
    assert export(MODULE, klass, "canvas").splitlines()[2:] == ["ada,,,ada,,5"]
    assert export(MODULE, klass, "moodle").splitlines()[1:] == ["ada,ada,,,5,9,Yes,,"]


@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("there_is_a_gradebook", [False, True])
def test_before_anybody_is_graded(tmp_path: Path, layout: str, there_is_a_gradebook: bool) -> None:
    if there_is_a_gradebook:
        new_gradebook(tmp_path)
    with pytest.raises(CourseError) as caught:
        export(MODULE, Classroom(tmp_path), layout)
    assert str(caught.value) == (
        f"sqlite:///{tmp_path}/gradebook.db: nobody has been graded for 07_small; "
        "run `python -m grader grade 07_small` first"
    )


@pytest.mark.parametrize(
    ("student", "lms", "number"),
    [
        ("ada", None, ""),
        ("ada", "99", "99"),
        ("ada_12", None, "12"),
        ("ada_12", "99", "99"),
        ("ada_12_34", None, "34"),
        ("ada_12x", None, ""),
        ("ada12", None, ""),
        ("12", None, ""),
        ("_12", None, "12"),
    ],
)
def test_the_platforms_number(klass: Classroom, book: Any, student: str, lms: str | None, number: str) -> None:
    if lms is not None:
        book.update_or_create_student(student, lms_user_id=lms)
    record(book, SMALL, graded(student), "", None)
    assert export(MODULE, klass, "canvas").splitlines()[2] == f"{student},{number},,{student},,5"
    identifier = f"Participant {number}" if number else student
    assert export(MODULE, klass, "moodle").splitlines()[1] == f"{identifier},{student},,,5,9,Yes,,"
