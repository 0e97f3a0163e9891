"""Every door to the grader: none follows a link or waits at a pipe, and all say what does not protect the machine."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answers import submission
from classes import ENVIRONMENT, MODULE, grade, hand_in

from grader import gradebook
from grader.classroom import Classroom
from grader.cli import main
from grader.course import ROOT, load_assignment
from grader.sandbox import pool

# nbgrader's own, from its gradebook
pytestmark = [pytest.mark.jail, pytest.mark.slow, pytest.mark.filterwarnings("ignore:Object of type")]
WARNING = "GRADER_JAIL=none: nothing protects this machine from what students wrote"
SECRET = "1999-12-31 23:59:59 UTC"


def socket_at(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


KINDS: dict[str, Callable[[Path], None]] = {
    "link": lambda path: path.symlink_to(path.parents[3] / "secret"),
    "folder": lambda path: path.symlink_to(path.parents[3] / "elsewhere"),
    "dangling": lambda path: path.symlink_to("/nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
    "pipe": os.mkfifo,
    "socket": socket_at,
}


@pytest.fixture
def klass(tmp_path: Path) -> Path:
    """Of each kind, a student with it as time and beside the notebook, and one with it as notebook; and folders that are links."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    blank = (ROOT / "modules" / MODULE / "attention.ipynb").read_bytes()
    for kind, make in KINDS.items():
        for name in ("data.txt", "timestamp.txt"):
            make(hand_in(tmp_path, f"beside-{kind}", blank).with_name(name))
        hand_in(tmp_path, f"is-{kind}", blank).unlink()
        make(tmp_path / "submitted" / f"is-{kind}" / MODULE / "attention.ipynb")
    hand_in(tmp_path, "ada", blank).with_name("timestamp.txt").write_text("2026-03-01 12:00:00 UTC")
    hand_in(tmp_path, "ada", b"data", "data.csv")
    (tmp_path / "submitted" / "person").symlink_to("ada")
    (tmp_path / "submitted" / "module").mkdir()
    (tmp_path / "submitted" / "module" / MODULE).symlink_to(f"../ada/{MODULE}")
    return tmp_path


GOOD = sorted(["ada", *(f"beside-{kind}" for kind in KINDS)])


def nbgrader(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Exit status and log of nbgrader's own command."""
    database = f"sqlite:///{folder / 'gradebook.db'}"
    with gradebook.open_gradebook(database, "tinytorch") as book:
        gradebook.save_assignment(book, load_assignment(MODULE))
    folders = [f"--CourseDirectory.{s}_directory={folder / s}" for s in ("submitted", "autograded", "feedback")]
    command = [sys.executable, "-P", "-W", "ignore", "-m", "nbgrader", arguments[0], MODULE, *arguments[1:], *folders]
    command.append(f"--CourseDirectory.db_url={database}")
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False, timeout=100
    )
    return done.returncode, done.stderr


def files(folder: Path) -> list[str]:
    """All that is in a folder and is no folder."""
    found = (p for p in folder.rglob("*") if not p.is_dir() or p.is_symlink())
    return sorted(p.relative_to(folder).as_posix() for p in found)


def kept(name: str) -> list[str]:
    """What there is afterwards in autograded/ or feedback/: a file for everyone whose notebook is one, and Ada's time."""
    return sorted([f"ada/{MODULE}/timestamp.txt", *(f"{student}/{MODULE}/{name}" for student in GOOD)])


def test_nbgrader_autograde_and_feedback_reach_nothing_by_a_link(klass: Path) -> None:
    status, log = nbgrader(klass, "autograde")
    assert status == 0 and "Traceback" not in log, log
    assert files(klass / "autograded") == kept("attention.ipynb")
    assert (klass / "autograded" / "ada" / MODULE / "timestamp.txt").read_text() == "2026-03-01 12:00:00 UTC\n"
    for kind in KINDS:
        for place, names in (("beside", "'data.txt', 'timestamp.txt'"), ("is", "'attention.ipynb'")):
            folder = klass / "submitted" / f"{place}-{kind}" / MODULE
            line = f"{folder}: left out, since only files are read, and links are not followed: {names}\n"
            assert log.count(line) == 1
    for link in (klass / "submitted" / "person", klass / "submitted" / "module" / MODULE):
        assert log.count(f"{link} is a link, and links are not followed: ") == 1

    KINDS["link"](klass / "autograded" / "ada" / MODULE / "data.txt")
    KINDS["pipe"](klass / "autograded" / "ada" / MODULE / "more.ipynb")
    (klass / "autograded" / "person").symlink_to("ada")
    (klass / "feedback").mkdir()
    (klass / "feedback" / "beside-link").symlink_to(klass / "elsewhere")
    in_the_way = klass / "feedback" / "ada" / MODULE
    in_the_way.parent.mkdir()
    KINDS["pipe"](in_the_way)
    status, log = nbgrader(klass, "generate_feedback")
    assert log.count(f"{in_the_way} is no file and no folder of ours: ") == 1
    in_the_way.unlink()
    status, log = nbgrader(klass, "generate_feedback")
    assert status == 0 and "Traceback" not in log, log
    assert "'data.txt', 'more.ipynb'\n" in log
    for way in ("autograded/person", "feedback/beside-link"):
        assert log.count(f"{klass / way} is a link, and links are not followed: ") == 1
    pages = [p for p in kept("attention.html") if not p.startswith("beside-link/")]
    assert files(klass / "feedback") == sorted(["beside-link", *pages])
    assert files(klass / "elsewhere") == []


def test_grade_and_feedback_reach_nothing_by_a_link(klass: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, rows, errors = grade(klass)
    assert status == 0 and "Traceback" not in errors, errors
    assert sorted(row["student"] for row in rows if row["status"] == "graded") == GOOD
    reasons = {row["student"]: row["reason"] for row in rows if row["status"] == "missing"}
    assert reasons == {
        **dict.fromkeys(("module", "person"), "the folder is a link, and links are not followed"),
        **{f"is-{kind}": "attention.ipynb is a link, and links are not followed" for kind in KINDS},
        **{f"is-{kind}": "attention.ipynb is not a file" for kind in ("pipe", "socket")},
    }
    assert files(klass / "autograded") == kept("attention.ipynb")
    (klass / "feedback").mkdir()
    (klass / "feedback" / "beside-link").symlink_to(klass / "elsewhere")
    assert main(["feedback", MODULE, "--class", str(klass)]) == 1
    said = capsys.readouterr()
    assert f"feedback: {len(GOOD) - 1} pages in " in said.out
    assert said.err.startswith(
        f"feedback: beside-link: left out: {klass}/feedback/beside-link: it is a link or a file, "
    )
    assert said.err.count("\n") == 1
    assert files(klass / "elsewhere") == []


def test_feedback_leaves_alone_what_else_is_in_its_folder(tmp_path: Path) -> None:
    """nbgrader would set the permissions of what a link leads to."""
    hand_in(tmp_path, "ada", submission())
    assert grade(tmp_path)[0] == 0
    (tmp_path / "secret").touch(mode=0o600)
    link = tmp_path / "feedback" / "ada" / MODULE / "link"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "secret")
    assert main(["feedback", MODULE, "--class", str(tmp_path)]) == 0
    assert link.is_symlink() and (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_try_reads_a_file_and_nothing_else(klass: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        path = klass / "submitted" / f"is-{kind}" / MODULE / "attention.ipynb"
        assert main(["try", str(path)]) == 1
        reason = "it is not a file" if kind in ("pipe", "socket") else "it is a link, and links are not followed"
        said = capsys.readouterr().err
        assert said.startswith(f"try: {path}: {reason}; ") and said.count("\n") == 1
    for path in (klass / "submitted" / "person" / MODULE, klass / "submitted" / "module" / MODULE):
        assert main(["try", str(path / "attention.ipynb")]) == 1
        said = capsys.readouterr().err
        assert "it is a link or a file, not a folder" in said and said.count("\n") == 1


@pytest.fixture
def formgrader(tmp_path: Path) -> Iterator[Callable[[str], dict[str, str]]]:
    """What the formgrader's button does for a student, in this process."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = Classroom(tmp_path).nbgrader_config()
    with gradebook.open_gradebook(config.CourseDirectory.db_url, "tinytorch") as book:
        gradebook.save_assignment(book, load_assignment(MODULE))
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    pool.close()
    yield lambda student: api.autograde(MODULE, student)
    pool.close()


def test_without_a_jail_every_door_says_so(
    tmp_path: Path,
    formgrader: Callable[[str], dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`grade` too: tests/grader/test_batch.py."""
    path = hand_in(tmp_path, "ada", submission())
    hand_in(tmp_path, "ben", submission())
    monkeypatch.setenv("GRADER_JAIL", "none")
    for student in ("ada", "ben"):
        shown = formgrader(student)
        assert shown["success"] and shown["log"].count(f"[WARNING] {WARNING}\n") == 1
    assert main(["try", str(path)]) == 0
    assert capsys.readouterr().err == f"try: {WARNING}\n"
    status, log = nbgrader(tmp_path, "autograde", "--force", GRADER_JAIL="none")
    assert status == 0 and log.count(f" WARNING] {WARNING}\n") == 1


def test_with_a_jail_no_door_says_anything(
    tmp_path: Path, formgrader: Callable[[str], dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = hand_in(tmp_path, "ada", submission())
    assert "WARNING" not in formgrader("ada")["log"]
    assert main(["try", str(path)]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_wrong_with_the_machine_is_a_message_at_nbgraders_doors(
    tmp_path: Path, formgrader: Callable[[str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was graded before is kept."""
    for student in ("ada", "ben"):
        hand_in(tmp_path, student, submission())
        assert formgrader(student)["success"]
    pool.close()
    before = files(tmp_path / "autograded")
    no_jail = {"PATH": "/nowhere", "GRADER_JAIL": "bwrap"}
    status, log = nbgrader(tmp_path, "autograde", "--force", **no_jail)
    assert status == 1 and "Traceback" not in log
    assert log.count("ERROR] no jail can be made here, and without one submissions would run unprotected:") == 1
    for name, value in no_jail.items():
        monkeypatch.setenv(name, value)
    shown = formgrader("ada")
    assert not shown["success"] and "[ERROR] no jail can be made here, and without one" in shown["log"]
    assert "bubblewrap is not installed" in shown["log"]
    assert files(tmp_path / "autograded") == before


def test_what_goes_wrong_on_the_way_is_a_message_at_nbgraders_door(tmp_path: Path) -> None:
    """Said once: it would be the same for the next student."""
    from grader.classroom import only_writer

    for student in ("ada", "ben"):
        hand_in(tmp_path, student, submission())
    with only_writer(tmp_path):
        status, log = nbgrader(tmp_path, "autograde", GRADER_JAIL="none")
    assert status == 1 and "Traceback" not in log
    assert log.count(f"ERROR] {tmp_path}: another grader is at work here; wait until it is done\n") == 1


def test_a_folder_that_cannot_be_read_costs_nobody_else(
    tmp_path: Path, formgrader: Callable[[str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ada", "ben"):
        hand_in(tmp_path, student, submission())
    own = Path.iterdir

    def refused(self: Path) -> Iterator[Path]:
        if "ada" in self.parts:
            raise PermissionError(13, "Permission denied", str(self))
        return own(self)

    monkeypatch.setattr(Path, "iterdir", refused)
    log = formgrader("*")["log"]
    assert f"[ERROR] {tmp_path}/submitted/ada/{MODULE} is left out: it cannot be read (Permission denied)\n" in log
    assert files(tmp_path / "autograded") == [f"ben/{MODULE}/attention.ipynb"]


def test_a_time_that_is_none_is_named(tmp_path: Path, formgrader: Callable[[str], dict[str, str]]) -> None:
    hand_in(tmp_path, "ada", submission()).with_name("timestamp.txt").write_text("soon")
    shown = formgrader("ada")
    where = tmp_path / "submitted" / "ada" / MODULE / "timestamp.txt"
    assert f"[WARNING] {where} is left out: Unknown string format: soon\n" in shown["log"]
