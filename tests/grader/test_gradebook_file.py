"""A gradebook that is half made, old, locked, full, damaged or in a strange place: one sentence, and nothing half written."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of
from gradebooks import new_gradebook, opened
from small import MODULE, SMALL, filled, saved
from stand_in import Grading, hand_in, stand_in

from grader import gradebook_file
from grader.batch import grade_class
from grader.classroom import Classroom
from grader.course import ROOT
from grader.errors import GradebookError
from grader.gradebook import open_gradebook
from grader.gradebook_file import back_up, backups, file_of, forget, in_plain_words, sqlite_url
from grader.gradebook_rows import due_date, grades

pytestmark = pytest.mark.long

HEAD = "e43177bfe90b"
STRANGE = ["a b", "what?", "100%", "50%20", "#1", "it's", 'a "b"', "a&b=c", "ü;x"]


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> Grading:
    return stand_in(monkeypatch)


@pytest.fixture
def klass(tmp_path: Path, grading: Grading) -> Classroom:
    new_gradebook(tmp_path)
    found = Classroom(tmp_path)
    hand_in(found, "ada")
    grade_class(MODULE, found, jobs=1)
    return found


def database(klass: Classroom) -> Path:
    return klass.folder / "gradebook.db"


def execute(path: Path, *commands: str) -> list[tuple]:
    found: list[tuple] = []
    with closing(sqlite3.connect(path)) as book, book:
        for command in commands:
            found += book.execute(command).fetchall()
    return found


def refused(klass: Classroom) -> str:
    """The sentence of a run in which nothing can be recorded; nothing is written."""
    hand_in(klass, "ada", data=saved(filled(first="x")))
    before = {p: p.read_bytes() for p in klass.folder.rglob("*") if p.is_file() and p.name != ".grader.lock"}
    with pytest.raises(GradebookError) as caught:
        grade_class(MODULE, klass, jobs=1)
    after = {p: p.read_bytes() for p in klass.folder.rglob("*") if p.is_file() and p.name != ".grader.lock"}
    assert after == before
    return str(caught.value).removeprefix(f"{database(klass)}: ")


def older(path: Path) -> None:
    """The tables as nbgrader 0.5 had them."""
    execute(
        path,
        "pragma foreign_keys = off",
        "create table old (id varchar(32) primary key, name varchar(128) not null unique, duedate datetime)",
        "insert into old select id, name, duedate from assignment",
        "drop table assignment",
        "alter table old rename to assignment",
        "drop table course",
        "alter table student drop column lms_user_id",
        "update alembic_version set version_num = '167914646830'",
    )


def test_an_older_gradebook_is_refused_until_nbgrader_has_upgraded_it(klass: Classroom) -> None:
    older(database(klass))
    said = refused(klass)
    assert said.startswith(
        "the gradebook is of an older nbgrader than this; run `.venv/bin/python -m nbgrader db upgrade`"
    )
    done = nbgrader(klass, "db", "upgrade")
    assert done.returncode == 0, done.stderr
    assert [row.score for row in grade_class(MODULE, klass, jobs=1)] == [5]
    assert execute(database(klass), "select version_num from alembic_version") == [(HEAD,)]


def test_a_newer_gradebook_is_refused(klass: Classroom) -> None:
    execute(database(klass), "update alembic_version set version_num = 'ffff'")
    assert refused(klass).startswith("the gradebook is of a newer nbgrader than this (version ffff); ")


@pytest.mark.parametrize("command", [
    ["drop table alembic_version"],
    ["delete from alembic_version"],
    ["drop table alembic_version", "drop table comment", "drop table task_cells"],
])  # fmt: skip
def test_a_gradebook_that_is_half_made_is_completed(klass: Classroom, command: list[str]) -> None:
    execute(database(klass), *command)
    grade_class(MODULE, klass, jobs=1, force=True)
    assert execute(database(klass), "select version_num from alembic_version") == [(HEAD,)]


def test_old_tables_without_a_version_are_refused(klass: Classroom) -> None:
    older(database(klass))
    execute(database(klass), "drop table alembic_version")
    assert refused(klass).startswith("the gradebook is of an older nbgrader than this; ")


def in_the_way(path: Path) -> None:
    path.unlink()
    path.mkdir()


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100:3000] = b"\xff" * 2900
    path.write_bytes(data)


def another_database(path: Path) -> None:
    path.unlink()
    execute(path, "create table cookies (name text)")


def link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere/gradebook.db")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (in_the_way, "it is a folder, and the gradebook is to be there. Move it away"),
        (lambda p: p.write_text("no database " * 99), "it is no gradebook, or a damaged one. Move it away; there is no backup"),
        (damaged, "it is no gradebook, or a damaged one. Move it away; there is no backup"),
        (another_database, "it is a database, but no gradebook. Move it away"),
        (link_to_nothing, "it is a link to nothing. Remove it"),
    ],
)  # fmt: skip
def test_what_is_no_gradebook_is_left_alone(klass: Classroom, harm: Callable[[Path], Any], sentence: str) -> None:
    shutil.rmtree(klass.folder / "backups", ignore_errors=True)
    harm(database(klass))
    assert refused(klass).endswith(sentence)


def test_the_last_backup_is_named_where_it_is_needed(klass: Classroom) -> None:
    copy = back_up(database(klass))
    damaged(database(klass))
    assert f"Move it away and copy the last backup to its place: {copy}" in refused(klass)


@pytest.mark.parametrize("lock", ["begin exclusive", "begin immediate"])
def test_a_locked_gradebook_is_a_sentence(klass: Classroom, lock: str) -> None:
    with closing(sqlite3.connect(database(klass))) as other:
        other.execute(lock)
        assert "another program is writing into the gradebook; close it or wait until it is done" in refused_locked(
            klass
        )
    assert [row.score for row in grade_class(MODULE, klass, jobs=1)] == [5]


def refused_locked(klass: Classroom) -> str:
    hand_in(klass, "ada", data=saved(filled(first="x")))
    before = database(klass).read_bytes()
    with pytest.raises(GradebookError) as caught:
        grade_class(MODULE, klass, jobs=1)
    assert database(klass).read_bytes() == before
    return str(caught.value)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)], capture_output=True, check=False
    )
    if mount.returncode:
        pytest.skip("this user may not mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_a_sentence_and_the_same_command_goes_on(small_disk: Path, grading: Grading) -> None:
    klass = Classroom(small_disk)
    new_gradebook(small_disk)
    hand_in(klass, "ada", "ben")
    grade_class(MODULE, klass, jobs=1)
    before = rows_of(database(klass))
    for name in ("ada", "ben"):
        hand_in(klass, name, data=saved(filled(first="x")))
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    with pytest.raises(GradebookError) as caught:
        grade_class(MODULE, klass, jobs=1)
    assert "no space is left on the disk; make room and give the same command again" in str(caught.value)
    assert "Traceback" not in str(caught.value)
    assert rows_of(database(klass)) == before
    filler.unlink()
    assert [row.unchanged for row in grade_class(MODULE, klass, jobs=1)] == [False, False]


def test_a_disk_that_may_not_be_written_is_a_sentence(small_disk: Path, grading: Grading) -> None:
    klass = Classroom(small_disk)
    new_gradebook(small_disk)
    hand_in(klass, "ada")
    grade_class(MODULE, klass, jobs=1)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with open_gradebook(sqlite_url(database(klass)), "tinytorch") as book:
        assert [g.total for g in grades(book, SMALL)] == [5]
    with pytest.raises(GradebookError) as caught:
        back_up(database(klass))
    assert "Read-only file system" in str(caught.value) and "without one nothing is changed" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (sqlite3.OperationalError("database or disk is full"), "/x/gradebook.db: no space is left on the disk; make room"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "the gradebook may not be written; allow it"),
        (sqlite3.OperationalError("unable to open database file"), "the gradebook cannot be opened; see that its folder"),
        (sqlite3.OperationalError("disk I/O error"), "the disk cannot be read or written"),
        (sqlite3.OperationalError("no such column: student.lms_user_id"), "the gradebook is of another nbgrader than this"),
        (OSError(errno.ENOSPC, "No space left on device", "/y"), "/y: no space is left on the disk"),
        (OSError(errno.EACCES, "Permission denied", "/y"), "/y: Permission denied"),
    ],
)  # fmt: skip
def test_what_a_database_or_a_disk_says_in_plain_words(error: Exception, words: str) -> None:
    from sqlalchemy.exc import OperationalError

    for raised in (error, OperationalError("insert", {}, error)):
        with pytest.raises(GradebookError) as caught, in_plain_words("sqlite:////x/gradebook.db"):
            raise raised
        assert words in str(caught.value)


def test_an_error_of_another_kind_stays_what_it_is() -> None:
    for error in (KeyError("a bug"), sqlite3.IntegrityError("UNIQUE constraint failed")):
        with pytest.raises(type(error)), in_plain_words("/x"):
            raise error


def test_a_backup_is_made_before_each_change_and_not_without_one(klass: Classroom) -> None:
    first = backups(database(klass))
    before = rows_of(database(klass))
    grade_class(MODULE, klass, jobs=1)
    assert backups(database(klass)) == first
    hand_in(klass, "ben")
    grade_class(MODULE, klass, jobs=1)
    assert rows_of(backups(database(klass))[-1]) == before != rows_of(database(klass))
    number = len(backups(database(klass)))
    assert back_up(database(klass)) is not None and back_up(database(klass)) is None
    assert len(backups(database(klass))) == number + 1
    assert not list((klass.folder / "backups").glob(".*"))


def test_the_newest_backups_are_kept(klass: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradebook_file, "KEPT", 3)
    other = klass.folder / "backups" / "mine.db"
    made = []
    for n in range(5):
        execute(database(klass), f"update student set email = '{n}'")
        made.append(back_up(database(klass)))
        other.touch()
    assert backups(database(klass)) == made[2:] and other.exists()
    assert execute(made[4] or Path(), "select email from student") == [("4",)]


def test_a_backup_is_whole_while_somebody_writes(klass: Classroom) -> None:
    with closing(sqlite3.connect(database(klass))) as other:
        other.execute("update student set email = 'half'")
        copy = back_up(database(klass))
        assert copy is not None and execute(copy, "select email from student", "pragma integrity_check") == [
            (None,),
            ("ok",),
        ]


@pytest.mark.timeout(60)
def test_a_backup_of_a_locked_gradebook_is_not_waited_for(klass: Classroom) -> None:
    with closing(sqlite3.connect(database(klass))) as other:
        other.execute("begin exclusive")
        with pytest.raises(GradebookError, match="another program is writing into the gradebook"):
            back_up(database(klass))


def test_without_a_backup_nothing_is_written(klass: Classroom) -> None:
    shutil.rmtree(klass.folder / "backups", ignore_errors=True)
    (klass.folder / "backups").touch()
    assert "There is no backup in" in refused(klass)


@pytest.mark.parametrize("name", STRANGE)
def test_a_gradebook_is_in_its_class_whatever_the_folder_is_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "gradebook.db"
    path.parent.mkdir()
    url = Classroom(path.parent).nbgrader_config().CourseDirectory.db_url
    assert file_of(url) == path
    new_gradebook(path.parent)
    with open_gradebook(url, "tinytorch") as book:
        book.update_or_create_student("ada")
    assert execute(path, "select id from student") == [("ada",)]
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["gradebook.db"]
    assert back_up(path) is not None


def test_other_databases_have_no_file() -> None:
    assert [file_of(url) for url in ("postgresql://x/y", "sqlite://", "sqlite:///:memory:")] == [None, None, None]


def nbgrader(klass: Classroom, *words: str, **options: Any) -> subprocess.CompletedProcess:
    """nbgrader's command as it is documented, in an environment in which nothing is activated."""
    environment = {k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"} | {"PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-P", "-W", "ignore", "-m", "nbgrader", *words]
    command.append(f"--CourseDirectory.db_url={sqlite_url(database(klass))}")
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
def test_nbgraders_commands_work_where_nothing_is_activated(tmp_path: Path) -> None:
    klass = Classroom(tmp_path)
    done = nbgrader(klass, "db", "assignment", "add", MODULE, "--duedate", "2026-03-01 12:00:00 UTC")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert execute(database(klass), "select version_num from alembic_version") == [(HEAD,)]
    (tmp_path / "students.csv").write_text("id,first_name,last_name,email\nada,Ada,Lovelace,ada@x.org\n")
    for words in (
        ["student", "add", "ben"],
        ["student", "import", str(tmp_path / "students.csv")],
        ["student", "list"],
    ):
        done = nbgrader(klass, "db", *words)
        assert done.returncode == 0, done.stderr
    assert "ada (Lovelace, Ada) -- ada@x.org" in done.stdout and "ben" in done.stdout
    with opened(database(klass)) as book:
        assert str(due_date(book, MODULE)) == "2026-03-01 12:00:00"


def test_what_was_deleted_is_not_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.db"
    execute(path, "create table student (id text)", "insert into student values ('a secret name')")
    execute(path, "pragma secure_delete = off", "delete from student")
    assert b"a secret name" in path.read_bytes()
    forget(path)
    assert b"a secret name" not in path.read_bytes()
