"""Two stores, one truth: whichever of gradebook and autograded/ was lost, edited or is older, a run makes them agree."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of, set_manual_score
from gradebooks import grades_in, new_gradebook, opened
from small import MODULE, SMALL, filled, graded, saved, unreadable
from stand_in import Grading, hand_in, stand_in

from grader import gradebook_file, gradebook_rows, records, roster
from grader.batch import grade_class, grade_submission, read_submission
from grader.classroom import Classroom, Submission, write_whole
from grader.errors import CourseError, GradebookError
from grader.origin import Origin, write_origin
from grader.result import Result, Status
from grader.roster import Student, write_roster

pytestmark = pytest.mark.long

NAMES = ("ada", "ben", "cleo")


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> Grading:
    found = stand_in(monkeypatch)
    found.outcomes = {"ben": graded("ben", 1, 1, blank=("first", "question")), "cleo": unreadable("cleo")}
    return found


@pytest.fixture
def klass(tmp_path: Path, grading: Grading) -> Classroom:
    """A class that is graded; nobody has been asked since."""
    new_gradebook(tmp_path)
    found = Classroom(tmp_path)
    hand_in(found, *NAMES)
    (found.submitted("ada", MODULE) / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC\n")
    run(found)
    grading.asked.clear()
    return found


def run(klass: Classroom, *students: str, **options: Any) -> tuple[dict[str, str], list[str]]:
    """What each row says of how it came, and the lines."""
    lines: list[str] = []
    rows = grade_class(MODULE, klass, students, jobs=1, on_line=lines.append, **options)
    return {row.student: said(row) for row in rows}, lines


def said(row: Result) -> str:
    if row.status in (Status.FAILED, Status.MISSING):
        return str(row.status)
    return "unchanged" if row.unchanged else "recorded again" if row.recorded_again else "graded"


def database(klass: Classroom) -> Path:
    return klass.folder / "gradebook.db"


def all_of(klass: Classroom) -> tuple[Any, dict[str, bytes]]:
    files = {str(p): p.read_bytes() for p in sorted((klass.folder / "autograded").rglob("*")) if p.is_file()}
    return rows_of(database(klass))[:3], files


def execute(klass: Classroom, *commands: str) -> None:
    with sqlite3.connect(database(klass)) as book:
        for command in commands:
            book.execute(command)
    book.close()


def kept(klass: Classroom, student: str) -> Path:
    return klass.autograded(student, MODULE) / "small.ipynb"


def edit(klass: Classroom, student: str, change: Callable[[dict], Any]) -> None:
    notebook = json.loads(kept(klass, student).read_text())
    change(notebook)
    kept(klass, student).write_text(json.dumps(notebook))


def removed(klass: Classroom, remove: Callable[[Any], Any]) -> None:
    with opened(database(klass)) as book:
        remove(book)


def test_what_both_stores_have_is_unchanged_and_nothing_is_written(klass: Classroom, grading: Grading) -> None:
    before, stamp = all_of(klass), database(klass).stat().st_mtime_ns
    assert run(klass) == (dict.fromkeys(NAMES, "unchanged"), [])
    assert all_of(klass) == before and database(klass).stat().st_mtime_ns == stamp and grading.asked == []


LOST_IN_THE_GRADEBOOK = {
    "the file": (lambda k: database(k).unlink(), NAMES),
    "all of the file": (lambda k: database(k).write_bytes(b""), NAMES),
    "a student": (lambda k: removed(k, lambda book: book.remove_student("ada")), ["ada"]),
    "a submission": (lambda k: removed(k, lambda book: book.remove_submission(MODULE, "ben")), ["ben"]),
    "the module": (lambda k: removed(k, lambda book: book.remove_assignment(MODULE)), NAMES),
    "a score": (lambda k: execute(k, "update grade set auto_score = 99 where auto_score = 2"), ["ada"]),
    "a score that was there": (lambda k: execute(k, "update grade set auto_score = null where auto_score = 1"), ["ben"]),
    "what is to be read": (lambda k: execute(k, "update grade set needs_manual_grade = 0"), ["ada"]),
    "what is not to be read": (lambda k: execute(k, "update grade set needs_manual_grade = 1"), NAMES),
    "a comment": (lambda k: execute(k, "update comment set auto_comment = 'No response.'"), NAMES),
    "no comment": (lambda k: execute(k, "update comment set auto_comment = null"), ["ben"]),
    "a time": (lambda k: execute(k, "update submitted_assignment set timestamp = '2020-01-01 00:00:00.000000'"), NAMES),
    "the points of a cell": (lambda k: execute(k, "update grade_cells set max_score = 77 where max_score = 4"), NAMES),
    "which answer was graded": (lambda k: execute(k, "delete from grader_answer"), ["ada", "ben"]),
}  # fmt: skip


@pytest.mark.parametrize("what", LOST_IN_THE_GRADEBOOK)
def test_what_the_gradebook_lost_is_recorded_again_without_running_it(
    klass: Classroom, grading: Grading, what: str
) -> None:
    before = all_of(klass)
    lose, again = LOST_IN_THE_GRADEBOOK[what]
    lose(klass)
    rows, _ = run(klass)
    assert rows == {n: "recorded again" if n in again else "unchanged" for n in NAMES}
    assert all_of(klass) == before and grading.asked == []
    with sqlite3.connect(database(klass)) as book:
        assert book.execute("select max(max_score) from grade_cells").fetchone() == (4,)
    book.close()
    assert run(klass)[0] == dict.fromkeys(NAMES, "unchanged")


LOST_IN_AUTOGRADED: dict[str, Callable[[Classroom], Any]] = {
    "the notebook": lambda k: kept(k, "ada").unlink(),
    "a part of it": lambda k: kept(k, "ada").write_bytes(kept(k, "ada").read_bytes()[:500]),
    "a cell": lambda k: edit(k, "ada", lambda n: n["cells"].pop(0)),
    "an answer": lambda k: edit(k, "ada", lambda n: n["cells"][2].update(source="other")),
    "an output": lambda k: edit(k, "ada", lambda n: n["cells"][3].update(outputs=[])),
    "a row": lambda k: edit(k, "ada", lambda n: n["metadata"]["grader"].update(blank=["question"])),
    "its digest": lambda k: edit(k, "ada", lambda n: n["metadata"]["grader"].pop("whole")),
}


@pytest.mark.parametrize("what", LOST_IN_AUTOGRADED)
def test_what_autograded_lost_is_graded_again(klass: Classroom, grading: Grading, what: str) -> None:
    before = all_of(klass)
    LOST_IN_AUTOGRADED[what](klass)
    assert run(klass)[0] == {"ada": "graded", "ben": "unchanged", "cleo": "unchanged"}
    assert all_of(klass) == before and grading.asked == ["ada"]


def test_all_of_autograded_is_graded_again(klass: Classroom, grading: Grading) -> None:
    before = all_of(klass)
    shutil.rmtree(klass.folder / "autograded")
    assert run(klass)[0] == dict.fromkeys(NAMES, "graded")
    assert all_of(klass) == before and grading.asked == list(NAMES)


@pytest.mark.parametrize("text", ["", "2020-01-01 00:00:00 UTC\n", None])
def test_a_time_in_autograded_is_put_back(klass: Classroom, grading: Grading, text: str | None) -> None:
    before = all_of(klass)
    place = klass.autograded("ada", MODULE) / "timestamp.txt"
    place.unlink()
    if text is not None:
        place.write_text(text)
    (klass.autograded("ben", MODULE) / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC\n")
    assert run(klass)[0] == {"ada": "recorded again", "ben": "recorded again", "cleo": "unchanged"}
    assert all_of(klass) == before and grading.asked == []


def test_a_time_goes_with_the_attempt_that_it_was_of(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada", data=saved(filled(first="x")))
    (klass.submitted("ada", MODULE) / "timestamp.txt").unlink()
    assert run(klass)[0]["ada"] == "graded"
    assert not (klass.autograded("ada", MODULE) / "timestamp.txt").exists()
    assert rows_of(database(klass))[2][0] == ("ada", MODULE, None, None)


def test_a_run_for_one_student_repairs_this_one(klass: Classroom, grading: Grading) -> None:
    execute(klass, "update grade set auto_score = 99")
    assert run(klass, "ben") == ({"ben": "recorded again"}, [])
    assert grades_in(database(klass), "ada")["test_first"][0] == 99
    assert grades_in(database(klass), "ben")["test_first"][0] == 1


def test_an_older_gradebook_is_brought_up_to_date(klass: Classroom, grading: Grading, tmp_path: Path) -> None:
    """What was given by hand then stands, and asks to be looked at where the answer is another now."""
    set_manual_score(database(klass), "ada", "question", 3)
    set_manual_score(database(klass), "ben", "test_first", 0.5)
    older = Path(shutil.copy(database(klass), tmp_path / "older.db"))
    hand_in(klass, "ada", data=saved(filled(question="Another.")))
    hand_in(klass, "dan")
    grading.outcomes["ada"] = answered(graded("ada", 0, 1), "question", "Another.")
    assert run(klass)[0] == {"ada": "graded", "ben": "unchanged", "cleo": "unchanged", "dan": "graded"}
    before = all_of(klass)
    grading.asked.clear()
    shutil.copy(older, database(klass))
    assert run(klass)[0] == {"ada": "recorded again", "ben": "unchanged", "cleo": "unchanged", "dan": "recorded again"}
    assert all_of(klass) == before and grading.asked == []
    assert grades_in(database(klass), "ada")["question"] == (None, 3, None, 1, 4)
    assert grades_in(database(klass), "ben")["test_first"] == (1, 0.5, None, 0, 2)


def answered(result: Result, cell: str, text: str) -> Result:
    """The result with another answer in the notebook that is kept."""
    notebook = json.loads(json.dumps(result.notebook))
    for found in notebook["cells"]:
        if found["metadata"].get("nbgrader", {}).get("grade_id") == cell:
            found["source"] = text
    return replace(result, notebook=notebook)


def test_a_new_gradebook_is_named_and_what_went_with_the_old_one(klass: Classroom) -> None:
    set_manual_score(database(klass), "ada", "question", 3)
    (klass.autograded("ada", "08_other")).mkdir()
    (klass.autograded("ada", "08_other") / "other.ipynb").touch()
    run(klass, force=True)
    backup = gradebook_file.backups(database(klass))[-1]
    database(klass).unlink()
    lost = f"{database(klass)}: there was no gradebook, and a new one was made. Grades and comments given by hand are not in it; "
    assert run(klass)[1] == [f"{lost}the last backup is {backup}. Also grade 08_other"]
    shutil.rmtree(klass.folder / "backups")
    shutil.rmtree(klass.autograded("ada", "08_other"))
    database(klass).unlink()
    assert run(klass)[1] == [f"{lost}there is no backup"]
    assert run(klass)[1] == []


def test_the_first_gradebook_of_a_class_is_not_worth_a_word(tmp_path: Path, grading: Grading) -> None:
    hand_in(Classroom(tmp_path), "ada")
    assert run(Classroom(tmp_path)) == ({"ada": "graded"}, [])


def test_a_grade_by_hand_is_looked_at_again_only_if_its_answer_changed(klass: Classroom, grading: Grading) -> None:
    """Not if all is graded again, be it since the tests have changed; and it asks until somebody has looked."""

    def asks() -> list[str]:
        return [cell for cell, grade in grades_in(database(klass), "ada").items() if grade[3]]

    for cell in ("question", "test_first", "test_second"):
        set_manual_score(database(klass), "ada", cell, 1)
    run(klass, force=True)
    assert asks() == []
    grading.outcomes["ada"] = answered(graded("ada", 2, 3), "first", "def _first(x):\n    return 3")
    run(klass, force=True)
    assert asks() == ["test_first"]
    run(klass, force=True)
    assert asks() == ["test_first"]
    set_manual_score(database(klass), "ada", "test_first", 1)
    run(klass, force=True)
    assert asks() == []
    grading.outcomes["ada"] = answered(
        replace(grading.outcomes["ada"], verdicts=graded("ada", 2, 2).verdicts), "question", "No."
    )
    run(klass, force=True)
    assert asks() == ["question", "test_second"]
    grading.outcomes["ada"] = unreadable("ada")
    run(klass, force=True)
    assert asks() == []
    grading.outcomes["ada"] = graded("ada")
    run(klass, force=True)
    assert asks() == ["question", "test_first", "test_second"]
    assert {g[1] for g in grades_in(database(klass), "ada").values()} == {1}


def test_a_class_of_an_earlier_version_is_not_asked_to_be_read_again(klass: Classroom, grading: Grading) -> None:
    """Its gradebook does not know which answers were graded; its kept notebooks do."""
    for cell in ("question", "test_first"):
        set_manual_score(database(klass), "ada", cell, 1)
    execute(klass, "drop table grader_answer")
    grading.outcomes["ada"] = answered(graded("ada"), "first", "changed")
    edit(klass, "ada", lambda n: n["metadata"]["grader"].pop("answers"))
    assert run(klass)[0]["ada"] == "graded"
    assert {c: g[3] for c, g in grades_in(database(klass), "ada").items()} == {
        "question": 0, "test_first": 1, "test_second": 0,
    }  # fmt: skip


def test_signs_that_nobody_sees_do_not_change_an_answer() -> None:
    def cells(text: Any, **more: Any) -> dict:
        return {"cells": [{"metadata": {"nbgrader": {"grade_id": "q", "solution": True}}, "source": text, **more}]}

    digest = gradebook_rows.answers_of(cells("Since a <b."))
    for same in ("Since a <b.\n", ["Since a ", "<b."], "Since a <\u2060b."):
        assert gradebook_rows.answers_of(cells(same)) == digest
    for other in (cells("Since a <c."), cells("Since a <b.", attachments={"a.png": {"image/png": "AAAA"}})):
        assert gradebook_rows.answers_of(other) != digest
    assert (
        gradebook_rows.answers_of({"cells": [{"metadata": {}, "source": "x"}]}) == gradebook_rows.answers_of(None) == {}
    )


def test_the_gradebook_is_read_once_for_everyone(klass: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of any size asks as many questions."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    asked: list[str] = []

    def count(*arguments: Any) -> None:
        asked.append(arguments[2])

    def questions() -> int:
        asked.clear()
        event.listen(Engine, "before_cursor_execute", count)
        try:
            run(klass)
        finally:
            event.remove(Engine, "before_cursor_execute", count)
        return len(asked)

    few = questions()
    hand_in(klass, *(f"s{n}" for n in range(12)))
    run(klass)
    assert questions() == few


def test_who_is_gone_has_no_row_and_no_change(klass: Classroom, grading: Grading) -> None:
    write_roster(klass, [Student("ada", dropped=True)])
    shutil.rmtree(klass.folder / "submitted" / "ben")
    before = all_of(klass)
    with opened(database(klass)) as book:
        book.update_or_create_assignment(MODULE, duedate="2020-01-01 00:00:00 UTC")
    rows, lines = run(klass, force=True)
    assert rows == {"cleo": "graded"} and all_of(klass) == before
    assert lines == ["left out, since they are no longer in the class: ada, ben"]
    assert run(klass, "cleo")[1] == []
    with pytest.raises(CourseError) as caught:
        run(klass, "ada")
    assert str(caught.value) == (
        "ada was dropped from the class; `python -m grader drop ada --back` takes them in again"
    )


def test_who_never_hands_in_is_a_row(klass: Classroom, grading: Grading) -> None:
    write_roster(klass, [Student("dan", "Dan Ok", email="dan@x.org"), Student("ada")])
    rows = grade_class(MODULE, klass, jobs=1)
    assert [row.student for row in rows] == ["ada", "ben", "cleo", "dan"]
    assert rows[3] == Result("dan", MODULE, Status.MISSING, 5, "nothing was handed in")
    shutil.rmtree(klass.folder / "submitted")
    rows = grade_class(MODULE, klass, jobs=1)
    assert [(row.student, row.status) for row in rows] == [("ada", "missing"), ("dan", "missing")]


def people(klass: Classroom) -> dict[str, tuple]:
    with opened(database(klass)) as book:
        return {s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in book.students}


def test_names_of_the_roster_are_those_of_nbgraders_students(klass: Classroom, grading: Grading) -> None:
    assert people(klass) == dict.fromkeys(NAMES, (None, None, None, None))
    write_origin(klass.submitted("cleo", MODULE), Origin(name="Cleo of the Nile"))
    with opened(database(klass)) as book:
        book.update_or_create_student("ben", last_name="Benson", email="ben@here")
    roster_file = klass.folder / roster.FILE
    write_roster(klass, [
        Student("ada", "x", "Ada", "Lovelace", "ada@x.org", "17"),
        Student("ben", "Okafor, Ben", email="ben@there", number="18"),
        Student("dan", "Dan Ok", email="dan@x.org"),
        Student("eve\udcff", email="eve@x.org"),
    ])  # fmt: skip
    os.utime(roster_file, (1, 1))
    run(klass)
    assert people(klass) == {
        "ada": ("Ada", "Lovelace", "ada@x.org", "17"),
        "ben": (None, "Benson", "ben@here", "18"),
        "cleo": ("Cleo of the", "Nile", None, None),
        "dan": ("Dan", "Ok", "dan@x.org", None),
    }
    later = database(klass).stat().st_mtime + 10
    os.utime(roster_file, (later, later))
    run(klass)
    assert people(klass)["ben"] == ("Ben", "Okafor", "ben@there", "18")
    write_roster(klass, [Student("ada"), Student("ben", "Ben")])
    run(klass)
    assert people(klass)["ada"] == ("Ada", "Lovelace", "ada@x.org", "17")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"soon", "timestamp.txt says 'soon', and that is no time: the time is left out, and no penalty follows"),
        (b"2026-03-01 12:00 PST", "timestamp.txt says '2026-03-01 12:00 PST', and nobody knows the time zone \"PST\": the"),
        (b"99999-01-01 00:00:00 UTC", "timestamp.txt says '99999-01-01 00:00:00 UTC', and that is no time: the"),
        (b"2026-03", "timestamp.txt says '2026-03', and it names no day: the"),
        (b"\xff\xfe\x00\x1b[31m", "timestamp.txt says '\ufffd\ufffd\\x00\\x1b[31m', and that is no time: the"),
        (b"9" * 5000, f"timestamp.txt says '{'9' * 40}', and that is no time: the"),
        (b" \n", "timestamp.txt is empty: there is no time, and no penalty follows"),
    ],
)  # fmt: skip
def test_a_time_that_is_none_costs_nothing(klass: Classroom, grading: Grading, content: bytes, said: str) -> None:
    with opened(database(klass)) as book:
        book.update_or_create_assignment(MODULE, duedate="2020-01-01 00:00:00 UTC")
    (klass.submitted("ada", MODULE) / "timestamp.txt").write_bytes(content)
    grading.outcomes["ada"] = lambda: replace(graded("ada"), late=said)
    assert run(klass)[0]["ada"] == "graded"
    assert rows_of(database(klass))[2][0] == ("ada", MODULE, None, None)
    assert lateness_of(klass, "ada").startswith(said)
    assert run(klass)[0]["ada"] == "unchanged"


def lateness_of(klass: Classroom, student: str) -> str:
    return read_submission(klass.submitted(student, MODULE), student, SMALL).late


def test_what_a_platform_says_of_lateness_is_in_the_row(klass: Classroom) -> None:
    write_origin(klass.submitted("ben", MODULE), Origin(late="LATE"))
    write_origin(klass.submitted("ada", MODULE), Origin(late="LATE"))
    assert lateness_of(klass, "ben") == 'the platform says "LATE" and gives no time: no penalty follows'
    assert lateness_of(klass, "ada") == ""


@pytest.mark.parametrize("error", [
    OSError(13, "Permission denied", "/x"), CourseError("/x: a link"), OSError(36, "File name too long", "/x"),
])  # fmt: skip
def test_a_result_that_cannot_be_written_down_costs_nobody_else(
    klass: Classroom, grading: Grading, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    write = write_whole

    def refuse(path: Path, data: bytes) -> None:
        if "ben" in path.parts:
            raise error
        write(path, data)

    monkeypatch.setattr(records, "write_whole", refuse)
    hand_in(klass, "ben", "cleo", data=saved(filled(first="x")))
    lines: list[str] = []
    rows = grade_class(MODULE, klass, jobs=1, on_line=lines.append)
    assert [said(row) for row in rows] == ["unchanged", "failed", "graded"]
    assert rows[1].reason.startswith("it cannot be recorded: /x: ")
    monkeypatch.setattr(records, "write_whole", write)
    assert run(klass)[0] == {"ada": "unchanged", "ben": "graded", "cleo": "unchanged"}


def test_a_name_that_no_database_takes_costs_nobody_else(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = "eve\udcff"
    hand_in(klass, strange)
    rows = grade_class(MODULE, klass, jobs=1)
    assert [(row.student, said(row)) for row in rows][:3] == [(name, "unchanged") for name in NAMES]
    assert rows[3].student == strange and said(rows[3]) == "failed"
    assert rows[3].reason == "the name of the folder is not UTF-8; give the folder another name"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("number", "words"), [
    (28, "no space is left on the disk; make room and give the same command again"), (30, "Read-only file system"),
])  # fmt: skip
def test_a_disk_that_takes_nothing_ends_the_run_and_what_was_done_is_kept(
    klass: Classroom, grading: Grading, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    write = write_whole

    written: list[Path] = []

    def refuse(path: Path, data: bytes) -> None:
        if path.suffix == ".ipynb":
            written.append(path)
        if len(written) == 3:
            raise OSError(number, "Read-only file system", str(path))
        write(path, data)

    monkeypatch.setattr(records, "write_whole", refuse)
    hand_in(klass, *NAMES, data=saved(filled(first="x")))
    with pytest.raises(GradebookError) as caught:
        run(klass)
    assert str(caught.value) == (
        f"{written[2]}: {words}. 2 of 3 students are done, and that is kept; the same command goes on from there"
    )
    monkeypatch.setattr(records, "write_whole", write)
    last = written[2].parents[1].name
    assert run(klass)[0] == dict.fromkeys(NAMES, "unchanged") | {last: "graded"}


def test_files_without_a_notebook_are_unreadable() -> None:
    row = grade_submission(Submission("ada", unreadable="only report.pdf", late="nobody knows"), "04_attention")
    assert (row.status, row.reason, row.max_score) == (Status.UNREADABLE, "only report.pdf", 28)
