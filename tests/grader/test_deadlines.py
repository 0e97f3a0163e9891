"""Due dates, extensions and penalties: set by commands, kept as nbgrader keeps them, applied without running anything."""

import sqlite3
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of, set_manual_score
from gradebooks import new_gradebook, opened
from small import MODULE, SMALL, graded
from stand_in import Grading, hand_in, stand_in

from grader import classroom as classrooms
from grader import gradebook_file
from grader.batch import grade_class
from grader.classroom import Classroom
from grader.cli import main
from grader.course import nbgrader_config
from grader.dates import in_words, span_in_words, time_of
from grader.gradebook_rows import grades, seconds_late
from grader.roster import Student, write_roster

NOON = datetime(2026, 3, 1, 12)  # noqa: DTZ001  (as nbgrader keeps it: UTC, without a zone)


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> Grading:
    return stand_in(monkeypatch)


@pytest.fixture
def klass(tmp_path: Path, grading: Grading) -> Classroom:
    """Ada was in time, Ben an hour late, and nobody knows when Cleo was."""
    new_gradebook(tmp_path)
    found = Classroom(tmp_path)
    hand_in(found, "ada", "ben", "cleo")
    for student, time in (("ada", "11:59:59"), ("ben", "13:00:00")):
        (found.submitted(student, MODULE) / "timestamp.txt").write_text(f"2026-03-01 {time} UTC\n")
    grade_class(MODULE, found, jobs=1)
    grading.asked.clear()
    return found


@pytest.fixture
def penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is late has nothing."""
    config = nbgrader_config()
    config.LateSubmissionPlugin.penalty_method = "zero"
    monkeypatch.setattr(classrooms, "nbgrader_config", config.copy)


def command(klass: Classroom, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    capsys.readouterr()
    name, *rest = words
    status = main([name, MODULE, *rest, "--class", str(klass.folder)])
    said = capsys.readouterr()
    return status, said.out.splitlines(), said.err.splitlines()


def penalties(klass: Classroom) -> dict[str, float | None]:
    return {row[0]: row[3] for row in rows_of(klass.folder / "gradebook.db")[2]}


def regrade(klass: Classroom, grading: Grading) -> None:
    assert all(row.unchanged for row in grade_class(MODULE, klass, jobs=1))
    assert grading.asked == []


def set_due(klass: Classroom, text: str | None) -> None:
    with opened(klass.folder / "gradebook.db") as book:
        book.update_or_create_assignment(MODULE, duedate=text)


def stored(klass: Classroom) -> tuple[Any, dict[str, Any]]:
    with sqlite3.connect(klass.folder / "gradebook.db") as book:
        due = book.execute("select duedate from assignment").fetchone()[0]
        extensions = dict(book.execute("select student_id, extension from submitted_assignment"))
    book.close()
    return due, extensions


@pytest.mark.usefixtures("penalty")
def test_a_due_date_that_nbgrader_set_later_is_applied_without_running_anything(
    klass: Classroom, grading: Grading
) -> None:
    nobody: dict[str, float | None] = dict.fromkeys(("ada", "ben", "cleo"))
    assert penalties(klass) == nobody
    set_due(klass, "2026-03-01 12:00:00 UTC")
    regrade(klass, grading)
    assert penalties(klass) == nobody | {"ben": 5}
    set_due(klass, "2026-03-01 11:00:00 UTC")
    regrade(klass, grading)
    assert penalties(klass) == nobody | {"ada": 5, "ben": 5}
    with opened(klass.folder / "gradebook.db") as book:
        book.grant_extension(MODULE, "ben", hours=2)
    regrade(klass, grading)
    assert penalties(klass) == nobody | {"ada": 5}
    set_due(klass, None)
    with opened(klass.folder / "gradebook.db") as book:
        assert [g.seconds_late for g in grades(book, SMALL)] == [0, 0, 0]
    regrade(klass, grading)
    assert penalties(klass) == nobody


def test_a_plug_in_that_is_named_later_is_applied_and_one_that_is_gone_is_taken_back(
    klass: Classroom, grading: Grading, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_due(klass, "2026-03-01 12:00:00 UTC")
    regrade(klass, grading)
    assert penalties(klass)["ben"] is None
    request.getfixturevalue("penalty")
    set_manual_score(klass.folder / "gradebook.db", "ben", "question", 3)
    regrade(klass, grading)
    assert penalties(klass) == {"ada": None, "ben": 8, "cleo": None}
    monkeypatch.setattr(classrooms, "nbgrader_config", nbgrader_config)
    regrade(klass, grading)
    assert penalties(klass)["ben"] is None


@pytest.mark.usefixtures("penalty")
def test_a_row_that_changed_alone_changes_its_penalty(klass: Classroom, grading: Grading) -> None:
    set_due(klass, "2026-03-01 12:00:00 UTC")
    regrade(klass, grading)
    set_manual_score(klass.folder / "gradebook.db", "ben", "question", 1)
    assert grade_class(MODULE, klass, ["ada"], jobs=1)[0].unchanged
    assert penalties(klass)["ben"] == 6


@pytest.mark.usefixtures("penalty")
def test_who_is_gone_keeps_the_penalty_that_they_have(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    write_roster(klass, [Student("ben", dropped=True)])
    assert command(klass, capsys, "due", "2026-03-01 11:00 UTC")[1][1:] == ["due: late: ada"]
    regrade(klass, grading)
    assert penalties(klass) == {"ada": 5, "ben": None, "cleo": None}
    set_due(klass, "2026-03-01 10:00:00 UTC")
    regrade(klass, grading)
    assert penalties(klass) == {"ada": 5, "ben": None, "cleo": None}


@pytest.mark.usefixtures("penalty")
def test_due_sets_a_date_says_it_in_two_zones_and_who_is_late(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(klass, capsys, "due") == (0, [f"due: {MODULE} has no due date"], [])
    line = f"due: {MODULE} is due 2026-03-01 12:00 UTC"
    status, out, err = command(klass, capsys, "due", "2026-03-01 13:00 Europe/Berlin")
    assert (status, err) == (0, [])
    assert out == [f"{line} (Sunday 1 March 2026, 13:00 Europe/Berlin)", "due: late: ben"]
    assert stored(klass)[0] == "2026-03-01 12:00:00.000000" and penalties(klass)["ben"] == 5
    status, out, _ = command(klass, capsys, "due")
    assert status == 0 and out[0].startswith(f"{line} (Sunday 1 March 2026, ") and len(out) == 1
    assert command(klass, capsys, "due", "2026-03-01T12:00:01+01:00")[1][1:] == ["due: late: ada, ben"]
    assert command(klass, capsys, "due", "--none") == (0, [f"due: {MODULE} has no due date"], [])
    assert stored(klass)[0] is None and set(penalties(klass).values()) == {None}
    regrade(klass, grading)


def test_due_of_a_class_without_a_gradebook(
    tmp_path: Path, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    klass = Classroom(tmp_path)
    assert command(klass, capsys, "due") == (0, [f"due: {MODULE} has no due date"], [])
    assert list(tmp_path.iterdir()) == []
    assert command(klass, capsys, "due", "2026-03-01 12:00 UTC")[0] == 0
    hand_in(klass, "ada")
    (klass.submitted("ada", MODULE) / "timestamp.txt").write_text("2026-03-02 12:00 UTC\n")
    grade_class(MODULE, klass, jobs=1)
    with opened(tmp_path / "gradebook.db") as book:
        assert [g.seconds_late for g in grades(book, SMALL)] == [86400]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2026-03-01 12:00", "it has no time zone"),
        ("2026-03-01 UTC", "it has no time of day"),
        ("1.3.2026 12:00 UTC", "it does not begin with a year, a month and a day"),
        ("2026-03-01 12:00 PST", 'nobody knows the time zone "PST"'),
        ("2026-03-29 02:30 Europe/Berlin", "clocks skip this time there"),
        ("2026-10-25 02:30 Europe/Berlin", "clocks show this time twice there; say it in UTC"),
        ("2026-03-01 25:00 UTC", "that is no time"),
        ("tomorrow", "it does not begin with a year, a month and a day"),
    ],
)
def test_a_due_date_that_may_mean_another_time_is_refused(
    klass: Classroom, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    before = (klass.folder / "gradebook.db").read_bytes()
    how = 'write it like "2026-03-01 12:00 UTC" or "2026-03-01 12:00 Europe/Berlin"'
    for words in (("due", text), ("extend", "ada", "--until", text)):
        assert command(klass, capsys, *words) == (1, [], [f'{words[0]}: "{text}": {reason}; {how}'])
    assert (klass.folder / "gradebook.db").read_bytes() == before


@pytest.mark.usefixtures("penalty")
def test_extend_gives_longer_and_regrading_keeps_it(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    command(klass, capsys, "due", "2026-03-01 12:00 UTC")
    status, out, _ = command(klass, capsys, "extend", "ben", "--until", "2026-03-01 14:30 Europe/Berlin")
    until = "2026-03-01 13:30 UTC (Sunday 1 March 2026, 14:30 Europe/Berlin)"
    assert (status, out) == (0, [f"extend: ben has until {until} for {MODULE}, 1 hour 30 minutes longer"])
    assert penalties(klass)["ben"] is None
    grading.outcomes["ben"] = graded("ben", 1, 1)
    grade_class(MODULE, klass, jobs=1, force=True)
    grading.asked.clear()
    assert penalties(klass)["ben"] is None
    with opened(klass.folder / "gradebook.db") as book:
        assert book.find_submission(MODULE, "ben").extension == timedelta(minutes=90)
    assert command(klass, capsys, "due", "2026-03-01 11:00 UTC")[1][1:] == [
        "due: ben has 1 hour 30 minutes longer", "due: late: ada, ben",
    ]  # fmt: skip
    assert command(klass, capsys, "extend", "ben", "--days", "2")[1][1:] == ["extend: late: ada"]
    assert command(klass, capsys, "extend", "ben", "--hours", "1")[1][1:] == ["extend: late: ada, ben"]
    assert command(klass, capsys, "extend", "ben", "--none")[1][0] == f"extend: ben has no extension for {MODULE}"
    assert stored(klass)[1]["ben"] is None
    command(klass, capsys, "extend", "ben", "--days", "2")
    assert command(klass, capsys, "due", "--none")[1][1:] == ["due: the extensions of ben ended with it"]
    assert stored(klass)[1]["ben"] is None
    regrade(klass, grading)


def test_extend_for_one_who_has_handed_nothing_in_is_kept_until_they_do(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_roster(klass, [Student("dan", first_name="Dan")])
    command(klass, capsys, "due", "2026-03-01 12:00 UTC")
    assert command(klass, capsys, "extend", "dan", "--days", "1")[0] == 0
    with opened(klass.folder / "gradebook.db") as book:
        dan = {g.student: g for g in grades(book, SMALL)}["dan"]
        assert not dan.handed_in and not dan.to_be_read and dan.total == 0
        assert list(dan.points) == ["question", "first", "second"]
        assert {s["student"] for s in book.submission_dicts(MODULE)} == {"ada", "ben", "cleo"}
    assert [row.status for row in grade_class(MODULE, klass, jobs=1)][3] == "missing"
    hand_in(klass, "dan")
    (klass.submitted("dan", MODULE) / "timestamp.txt").write_text("2026-03-02 12:00:05 UTC\n")
    assert grade_class(MODULE, klass, ["dan"], jobs=1)[0].score == 5
    with opened(klass.folder / "gradebook.db") as book:
        found = {g.student: g for g in grades(book, SMALL)}["dan"]
    assert (found.handed_in, found.seconds_late, found.total) == (True, 5, 5)
    assert found.to_be_read == ("question",)
    grading.asked.clear()
    regrade(klass, grading)


def test_extend_says_what_is_in_the_way(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(klass, capsys, "extend", "bne", "--days", "1")[2] == [
        "extend: bne: no such student; did you mean ben?"
    ]
    assert command(klass, capsys, "extend", "ben", "--days", "1")[2] == [
        f"extend: {MODULE} has no due date; set it first: `python -m grader due {MODULE} TIME`"
    ]
    command(klass, capsys, "due", "2026-03-01 12:00 UTC")
    status, _, err = command(klass, capsys, "extend", "ben", "--until", "2026-03-01 12:00 UTC")
    assert status == 1 and err[0].endswith("; an extension ends after that, and within ten years")
    for words in (["--days", "0"], ["--hours", "-1"], ["--days", "1.5"], ["--days", "1", "--none"], []):
        with pytest.raises(SystemExit) as caught:
            command(klass, capsys, "extend", "ben", *words)
        assert caught.value.code == 2


def test_dates_are_copied_before_they_are_changed(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows_of(klass.folder / "gradebook.db")
    command(klass, capsys, "due", "2026-03-01 12:00 UTC")
    assert rows_of(gradebook_file.backups(klass.folder / "gradebook.db")[-1]) == before


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-01 12:00:00 UTC", NOON),
        ("2026-03-01 12:00", NOON),
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01T13:00:00+01:00", NOON),
        ("2026-03-01 13:00:00 Europe/Berlin", NOON),
        ("Sun Mar  1 12:00:00 2026", NOON),
        ("3/1/2026 12:00 PM", NOON),
        ("2026-03-01", NOON.replace(hour=0)),
        ("", None),
    ],
)
def test_times_as_people_and_programs_write_them(text: str, time: datetime | None) -> None:
    assert time_of(text) == time


@pytest.mark.parametrize("text", [
    "soon", "2026", "March 2026", "12:00", "2026-02-30 12:00", "99999-01-01", "2026-03-01 12:00 CEST", "9" * 4000,
    "2026-03-01 12:00:00+01:00 UTC", "0001-01-01 00:00 +0500", "\x00", "(" * 5000,
])  # fmt: skip
def test_what_is_no_time_is_an_error_of_one_kind(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (each has its own words)
        time_of(text)


def test_times_in_words() -> None:
    assert in_words(NOON, "x 1 Asia/Tokyo") == "2026-03-01 12:00 UTC (Sunday 1 March 2026, 21:00 Asia/Tokyo)"
    assert [span_in_words(timedelta(minutes=m)) for m in (0, 1, 60, 1441, 3000)] == [
        "less than a minute", "1 minute", "1 hour", "1 day 1 minute", "2 days 2 hours",
    ]  # fmt: skip
    assert seconds_late(NOON, NOON, -timedelta(hours=1)) == 3600
    assert (
        seconds_late(NOON, NOON, timedelta.max) == 0 == seconds_late(NOON, None, None) == seconds_late(None, NOON, None)
    )
