"""Students who leave a class: left out, taken back, deleted with every trace."""

import shutil
from pathlib import Path

import pytest
from classes import rows_of
from gradebooks import new_gradebook, opened
from small import MODULE
from stand_in import Grading, hand_in, stand_in

from grader.batch import grade_class
from grader.classroom import Classroom
from grader.cli import main
from grader.gradebook_file import back_up, backups
from grader.roster import Student, read_roster, students, write_roster

SECRET = b"a-mail-of-ada"


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> Grading:
    return stand_in(monkeypatch)


@pytest.fixture
def klass(tmp_path: Path, grading: Grading) -> Classroom:
    new_gradebook(tmp_path)
    found = Classroom(tmp_path)
    hand_in(found, "ada", "ben")
    grade_class(MODULE, found, jobs=1)
    with opened(tmp_path / "gradebook.db") as book:
        book.update_or_create_student("ada", email=SECRET.decode())
    for step in ("collected", "feedback"):
        (tmp_path / step / "ada" / MODULE / "1").mkdir(parents=True)
        (tmp_path / step / "ben" / MODULE / "1").mkdir(parents=True)
    return found


def drop(klass: Classroom, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    capsys.readouterr()
    status = main(["drop", *words, "--class", str(klass.folder)])
    said = capsys.readouterr()
    return status, said.out.splitlines(), said.err.splitlines()


def everything(klass: Classroom) -> dict[str, bytes]:
    return {
        str(p): p.read_bytes()
        for p in klass.folder.rglob("*")
        if p.is_file() and p.name not in (".grader.lock", "roster.json")
    }


def test_who_is_dropped_is_left_out_and_can_be_taken_back(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(klass)
    said = "drop: ada is left out from now on, and nothing is deleted; `--back` takes them in again"
    assert drop(klass, capsys, "ada") == (0, [said], [])
    assert list(students(klass)) == ["ben"] and read_roster(klass) == {"ada": Student("ada", dropped=True)}
    assert [row.student for row in grade_class(MODULE, klass, jobs=1)] == ["ben"]
    assert everything(klass) == before
    assert drop(klass, capsys, "ada", "--back") == (0, ["drop: ada is in the class again"], [])
    assert drop(klass, capsys, "ada", "--back") == (0, ["drop: ada is in the class"], [])
    assert list(students(klass)) == ["ada", "ben"]


def test_what_the_roster_says_of_them_is_kept(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    ada = Student("ada", "Ada", email="x@y", identifiers=("1", "2"))
    write_roster(klass, [ada, Student("zoe")])
    for words in (["ada"], ["ada", "--back"]):
        assert drop(klass, capsys, *words)[0] == 0
    assert read_roster(klass) == {"ada": ada, "zoe": Student("zoe")}


@pytest.mark.parametrize("name", ["adda", "..", "ada/04_attention", "", ".", ".hidden"])
@pytest.mark.parametrize("way", [[], ["--back"], ["--delete", "--yes"]])
def test_who_is_nobody_is_named_with_the_nearest(
    klass: Classroom, capsys: pytest.CaptureFixture[str], name: str, way: list[str]
) -> None:
    before = everything(klass)
    status, out, err = drop(klass, capsys, name, *way)
    assert status == 1 and out == [] and err[0].startswith(f"drop: {name}: no such student")
    assert name != "adda" or err[0].endswith("; did you mean ada?")
    assert everything(klass) == before


def test_deleting_needs_a_yes(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(klass)
    assert drop(klass, capsys, "ada", "--delete") == (
        1, [], ["drop: all that there is of ada would be deleted; say so with --yes"],
    )  # fmt: skip
    assert everything(klass) == before
    with pytest.raises(SystemExit) as caught:
        drop(klass, capsys, "ada", "--delete", "--back", "--yes")
    assert caught.value.code == 2


def test_deleting_leaves_no_trace_but_the_backups_that_are_named(
    klass: Classroom, capsys: pytest.CaptureFixture[str]
) -> None:
    database = klass.folder / "gradebook.db"
    write_roster(klass, [Student("ada"), Student("ben")])
    shutil.rmtree(klass.folder / "backups", ignore_errors=True)
    back_up(database)
    by_nbgrader = Path(shutil.copy(database, klass.folder / "gradebook.db.2026-03-01-120000.000000"))
    (klass.folder / "report").mkdir()
    given = klass.folder / f"feedback-{MODULE}-moodle.zip"
    given.write_bytes(SECRET)
    ben = [[row for row in rows if row[0] != "ada"] for rows in rows_of(database)]
    status, out, err = drop(klass, capsys, "ada", "--delete", "--yes")
    assert (status, err) == (0, [])
    copies = [*backups(database), by_nbgrader]
    assert out == [
        "drop: 3 grades in the gradebook are deleted",
        *(f"drop: {klass.folder / step / 'ada'} is deleted" for step in ("submitted", "autograded", "feedback", "collected")),
        f"drop: {given} is deleted",
        "drop: the entry in the roster is deleted",
        *(f"drop: {copy} still has them; `--backups` deletes it, too" for copy in copies),
        f"drop: {klass.folder / 'report'} is as it was: write it anew with `python -m grader report`",
    ]  # fmt: skip
    assert rows_of(database) == ben and SECRET not in database.read_bytes()
    assert [p for p in klass.folder.rglob("*") if p.name == "ada"] == [] and list(read_roster(klass)) == ["ben"]
    write_roster(klass, [Student("ada")])
    out = drop(klass, capsys, "ada", "--delete", "--yes", "--backups")[1]
    assert [line for line in out if "report" not in line] == [
        "drop: the entry in the roster is deleted", *(f"drop: {copy} is deleted" for copy in copies),
    ]  # fmt: skip
    assert [path for path, data in everything(klass).items() if SECRET in data or "ada" in Path(path).parts] == []
    assert (klass.folder / "submitted" / "ben").is_dir()


def test_deleting_deletes_a_link_and_not_what_it_leads_to(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    (klass.folder / "submitted" / "eve").symlink_to("ben")
    assert drop(klass, capsys, "eve", "--delete", "--yes")[0] == 0
    assert not (klass.folder / "submitted" / "eve").is_symlink() and klass.submitted("ben", MODULE).is_dir()


def test_a_class_without_a_gradebook_gets_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(Classroom(tmp_path), "ada")
    assert drop(Classroom(tmp_path), capsys, "ada", "--delete", "--yes")[0] == 0
    assert not (tmp_path / "gradebook.db").exists() and not list((tmp_path / "submitted").iterdir())


@pytest.mark.parametrize("number", ["-1", "0", "x", "1.5", "99999999999999999999", "²"])
def test_jobs_are_a_number_from_one(capsys: pytest.CaptureFixture[str], number: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["grade", MODULE, f"--jobs={number}"])
    assert caught.value.code == 2 and f"{number!r} is no number from 1 to 1000" in capsys.readouterr().err
