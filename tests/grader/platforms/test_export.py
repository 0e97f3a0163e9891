"""What goes to a learning platform, letter by letter, for a small class."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from classes import set_manual_score
from gradebooks import new_gradebook, opened
from small import MODULE, SMALL, graded, unreadable

from grader import cli
from grader.classroom import Classroom
from grader.errors import CourseError
from grader.gradebook import grades, record, save_assignment
from grader.platforms import export as exporting
from grader.platforms.export import FORMATS, export, export_totals
from grader.roster import Student, write_roster

OTHER = replace(SMALL, module="08_other")
NOBODY_READ = (
    "Grade them in the formgrader (`make lab`), or give them 0 points with `--unread zero`"  # how a refusal ends
)


class Late:
    def late_submission_penalty(self, _student: str, score: float, _seconds: float) -> float:
        return score / 4


@pytest.fixture(autouse=True)
def _of_the_small_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {MODULE: SMALL, OTHER.module: OTHER}
    monkeypatch.setattr(exporting, "load_assignment", known.__getitem__)
    monkeypatch.setattr(exporting, "gradable", lambda: list(known))


@pytest.fixture
def klass(tmp_path: Path) -> Classroom:
    new_gradebook(tmp_path)
    return Classroom(tmp_path)


@pytest.fixture
def book(klass: Classroom) -> Iterator[Any]:
    with opened(klass.folder / "gradebook.db") as book:
        yield book


def hand_in(klass: Classroom, *students: str, module: str = MODULE) -> None:
    for student in students:
        klass.submitted(student, module).mkdir(parents=True, exist_ok=True)


@pytest.fixture
def five(klass: Classroom, book: Any) -> Classroom:
    """Five people: late, to be read, graded by hand, unreadable, and one whose name is a formula."""
    hand_in(klass, "dan_7", "ada_1234567", "cleo", "ben", "-eve")
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
    done = export(MODULE, five, "csv", unread_is_zero=True)
    assert done.text == (
        "student,name,email,module,status,question,first,second,late penalty,total,max,to be read\r\n"
        "'-eve,'-eve,,07_small,graded,0,0,0,0,0,9,\r\n"
        "ada_1234567,'=Ada Lovelace,,07_small,graded,0,0,0,0,0,9,\r\n"
        "ben,ben,,07_small,graded,3.5,2,2.5,0,8,9,\r\n"
        "cleo,cleo,,07_small,graded,0,1,0.3333,0,1.3333,9,question\r\n"
        'dan_7,"Dan Brown, jr.",dan@example.org,07_small,graded,0,2,3,1.25,3.75,9,\r\n'
    )
    assert done.notes == ("07_small: written answers that nobody has read count 0 (1): cleo",)


def test_for_canvas(five: Classroom) -> None:
    assert export(MODULE, five, "canvas", unread_is_zero=True).text == (
        "Student,ID,SIS User ID,SIS Login ID,Section,07_small\r\n"
        "    Points Possible,,,,,9\r\n"
        "'-eve,,,'-eve,,0\r\n"
        "'=Ada Lovelace,1234567,,ada_1234567,,0\r\n"
        "ben,,,ben,,8\r\n"
        "cleo,,,cleo,,1.3333\r\n"
        '"Dan Brown, jr.",42,,dan_7,,3.75\r\n'
    )


def test_for_moodle(five: Classroom) -> None:
    assert export(MODULE, five, "moodle", unread_is_zero=True).text == (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade)\r\n"
        "'-eve,'-eve,,,0,9,Yes,\r\n"
        "Participant 1234567,'=Ada Lovelace,,,0,9,Yes,\r\n"
        "ben,ben,,,8,9,Yes,\r\n"
        "cleo,cleo,,,1.3333,9,Yes,\r\n"
        'Participant 42,"Dan Brown, jr.",dan@example.org,,3.75,9,Yes,\r\n'
    )


def test_a_class_of_one(klass: Classroom, book: Any) -> None:
    hand_in(klass, "ada")
    record(book, SMALL, graded("ada"), "", None)
    plain, canvas, moodle = (export(MODULE, klass, layout, True).text.splitlines() for layout in FORMATS)
    assert plain[1:] == ["ada,ada,,07_small,graded,0,2,3,0,5,9,question"]
    assert canvas[2:] == ["ada,,,ada,,5"]
    assert moodle[1:] == ["ada,ada,,,5,9,Yes,"]


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


@pytest.mark.parametrize("layout", FORMATS)
def test_unread_answers_are_refused_by_name(klass: Classroom, book: Any, layout: str) -> None:
    for number in range(12):
        record(book, SMALL, graded(f"s{number:02}"), "", None)
        hand_in(klass, f"s{number:02}")
    book.update_or_create_student("s00", first_name="Ada", last_name="Lovelace")
    with pytest.raises(CourseError) as caught:
        export(MODULE, klass, layout)
    names = ", ".join(f"s{number:02}" for number in range(1, 10))
    assert str(caught.value) == (
        f"07_small: 12 students have written answers that nobody has read: Ada Lovelace (s00), {names} and 2 more. {NOBODY_READ}"
    )


def test_an_unread_answer_of_who_is_gone_is_no_reason_to_refuse(klass: Classroom, book: Any) -> None:
    record(book, SMALL, graded("ada", blank=("question",)), "", None)
    record(book, SMALL, graded("ben"), "", None)
    hand_in(klass, "ada")
    assert export(MODULE, klass, "csv").notes == ("left out, since they are no longer in the class: ben",)


def test_who_is_in_the_class_without_a_grade_is_a_row_and_who_is_gone_is_none(klass: Classroom, book: Any) -> None:
    people = (
        Student("ada", first_name="Ada", last_name="Lovelace", email="ada@example.org"),
        Student("ben", name="Ben"),
        Student("cleo", dropped=True),
    )
    write_roster(klass, people)
    for student in ("ada", "cleo", "old"):
        record(book, SMALL, graded(student, blank=("question",)), "", None)
    hand_in(klass, "ada", "cleo", "new")
    done = export(MODULE, klass, "csv")
    assert done.text.splitlines()[1:] == [
        "ada,Ada Lovelace,ada@example.org,07_small,graded,0,2,3,0,5,9,",
        "ben,Ben,,07_small,missing,,,,,,9,",
        "new,new,,07_small,not graded,,,,,,9,",
    ]
    assert done.notes == (
        "left out, since they are no longer in the class: cleo, old",
        "07_small: handed in and not graded: new; run `python -m grader grade 07_small`",
    )
    # a blank cell would take away the score that is in Canvas
    assert export(MODULE, klass, "canvas").text.splitlines()[2:] == ["Ada Lovelace,,,ada,,5"]
    assert "07_small: handed nothing in, and not in the file: Ben (ben)" in export(MODULE, klass, "canvas").notes


def test_who_has_only_an_extension_has_handed_nothing_in(
    klass: Classroom, book: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ada", "ben"):
        record(book, SMALL, graded(student, blank=("question",)), "", None)
    write_roster(klass, [Student("ada"), Student("ben")])
    found = [replace(g, handed_in=g.student == "ada") for g in grades(book, SMALL)]
    monkeypatch.setattr(exporting, "grades", lambda *_: found)
    assert export(MODULE, klass, "csv").text.splitlines()[2] == "ben,ben,,07_small,missing,,,,,,9,"


def test_a_gradebook_of_people_who_are_all_gone(klass: Classroom, book: Any) -> None:
    record(book, SMALL, graded("ada"), "", None)
    with pytest.raises(CourseError, match="nobody who has been graded is in the class") as caught:
        export(MODULE, klass, "csv")
    assert "put the folder submitted/ back" in str(caught.value)


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
    hand_in(klass, student)
    assert export(MODULE, klass, "canvas", True).text.splitlines()[2] == f"{student},{number},,{student},,5"
    identifier = f"Participant {number}" if number else student
    assert export(MODULE, klass, "moodle", True).text.splitlines()[1] == f"{identifier},{student},,,5,9,Yes,"


@pytest.fixture
def two_modules(klass: Classroom, book: Any) -> Classroom:
    """Ada did both, Ben the first, Cleo the second, Dan none; the second one has a written answer to be read."""
    write_roster(klass, [Student("dan", name="Dan")])
    save_assignment(book, OTHER)
    record(book, SMALL, graded("ada", 2, 3, blank=("question",)), "", None)
    record(book, SMALL, graded("ben", 1, 1.5, blank=("question",)), "", None)
    record(book, OTHER, replace(graded("ada", 2, 2.5), module=OTHER.module), "", None)
    record(book, OTHER, replace(graded("cleo", 0, 3, blank=("question",)), module=OTHER.module), "", None)
    hand_in(klass, "ada", "ben")
    hand_in(klass, "ada", "cleo", module=OTHER.module)
    return klass


def test_a_total_of_points(two_modules: Classroom) -> None:
    done = export_totals(two_modules, "", unread_is_zero=True)
    assert done.text == (
        "student,name,email,07_small,08_other,total,max,handed nothing in,to be read\r\n"
        "ada,ada,,5,4.5,9.5,18,,08_other/question\r\n"
        "ben,ben,,2.5,,2.5,18,08_other,\r\n"
        "cleo,cleo,,,3,3,18,07_small,\r\n"
        "dan,Dan,,,,0,18,07_small 08_other,\r\n"
    )
    assert done.notes == (
        "08_other: written answers that nobody has read count 0 (1): ada",
        "totals are points of 18, with the weights 07_small 9, 08_other 9",
    )


def test_a_total_with_weights_is_in_per_cent(two_modules: Classroom) -> None:
    done = export_totals(two_modules, "07=1, 08_other=3", unread_is_zero=True)
    totals = [line.split(",")[5:7] for line in done.text.splitlines()[1:]]
    small, other = (5 / 9, 2.5 / 9, 0, 0), (4.5 / 9, 0, 3 / 9, 0)
    assert totals == [[f"{round(100 * (a / 4 + 3 * b / 4), 4):g}", "100"] for a, b in zip(small, other, strict=True)]
    assert done.notes[-1] == "totals are per cent, with the weights 07_small 1, 08_other 3"


def test_a_module_without_a_weight_does_not_count_and_is_said(two_modules: Classroom) -> None:
    done = export_totals(two_modules, "small=2")  # and its unread answers are no reason to refuse
    assert [line.split(",")[3:5] for line in done.text.splitlines()[:2]] == [["07_small", "total"], ["5", "55.5556"]]
    assert done.notes[-1] == "graded, and without a weight: 08_other"


def test_a_total_refuses_unread_answers_too(two_modules: Classroom) -> None:
    with pytest.raises(CourseError, match="08_other: 1 student has written answers that nobody has read: ada"):
        export_totals(two_modules, "")


@pytest.mark.parametrize("weights", ["09=1", "07", "07=x", "07=-1", "07=nan", "07=inf", "=1"])
def test_a_weight_that_is_none(two_modules: Classroom, weights: str) -> None:
    with pytest.raises(CourseError) as caught:
        export_totals(two_modules, weights, unread_is_zero=True)
    assert str(caught.value) == (
        f'--weights: "{weights}" is no weight; write for example 07=1. Graded are: 07_small, 08_other'
    )


def test_weights_that_are_all_zero(two_modules: Classroom) -> None:
    with pytest.raises(CourseError, match="one weight must be larger than 0"):
        export_totals(two_modules, "07=0", unread_is_zero=True)


def test_a_total_of_nothing(klass: Classroom) -> None:
    with pytest.raises(CourseError, match="nobody has been graded; run `python -m grader grade MODULE` first"):
        export_totals(klass, "")


def test_the_command_prints_the_table_and_says_the_rest_on_stderr(
    five: Classroom, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", MODULE, "--class", str(five.folder)]) == 1
    printed = capsys.readouterr()
    assert (
        printed.out == ""
        and printed.err
        == f"export: 07_small: 1 student has written answers that nobody has read: cleo. {NOBODY_READ}\n"
    )
    assert cli.main(["export", MODULE, "--class", str(five.folder), "--unread", "zero"]) == 0
    printed = capsys.readouterr()
    assert printed.out == export(MODULE, five, "csv", True).text
    assert printed.err == "export: 07_small: written answers that nobody has read count 0 (1): cleo\n"
    assert cli.main(["export", "--total", "--class", str(five.folder), "--unread", "zero"]) == 0
    assert capsys.readouterr().out == export_totals(five, "", True).text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "name a MODULE, or give --total"),
        ([MODULE, "--total"], "name a MODULE, or give --total"),
        ([MODULE, "--weights", "07=1"], "--weights goes with --total"),
        ([MODULE, "--into", "x.csv", "--format", "csv"], "--format is for what is printed of one module"),
        (["--total", "--format", "moodle"], "--format is for what is printed of one module"),
        ([MODULE, "--column", "x"], "--output, --column, --comments and --scale go with --into"),
        ([MODULE, "--output", "x.csv"], "--output, --column, --comments and --scale go with --into"),
        ([MODULE, "--scale"], "--output, --column, --comments and --scale go with --into"),
    ],
)
def test_options_that_do_not_fit_each_other(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["export", *options])
    assert caught.value.code == 2 and said in capsys.readouterr().err
