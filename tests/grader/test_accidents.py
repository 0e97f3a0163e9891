"""Nothing stops a command: a class with one of each accident, and each command on it."""

import errno
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accidents import MODULE, NO_UTF_8, NOTEBOOK, lay_out
from answers import submission
from classes import ENVIRONMENT

from grader import classroom, course, kit
from grader.cli import main
from grader.course import ROOT
from grader.gradebook import open_gradebook, save_assignment
from grader.printable import printable

pytestmark = pytest.mark.jail

# what a terminal, or a program that reads line by line, would take for more than text
NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m grader`, and fail if it says a traceback, or anything that is no text."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=ROOT, env=ENVIRONMENT | environment, capture_output=True, check=False,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert not NOT_TEXT.search(done.stdout + done.stderr), NOT_TEXT.search(done.stdout + done.stderr)
    return done


@pytest.fixture(scope="module")
def accidents(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("a class")
    return folder, lay_out(folder)


@pytest.fixture(scope="module")
def graded(accidents: tuple[Path, dict[str, str]]) -> Path:
    command("grade", MODULE, "--class", str(accidents[0]))
    return accidents[0]


@pytest.mark.timeout(200)
def test_everyone_has_a_row(accidents: tuple[Path, dict[str, str]]) -> None:
    folder, expected = accidents
    done = command("grade", MODULE, "--class", str(folder), "--json")
    rows = {row["student"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {name: row["status"] for name, row in rows.items()} == expected
    assert done.returncode == 1 and all(row["score"] == 4 for row in rows.values() if row["status"] == "graded")
    assert rows[NO_UTF_8]["reason"] == "the name of the folder is not UTF-8; give the folder another name"
    assert rows["linked"]["reason"] == "the folder is a link, and links are not followed"
    assert rows["no notebook"]["reason"] == r"there is no notebook among the files: re\x1bport\x0a.pdf"
    assert rows["another ending"]["repairs"] == [f'the file is called "{NOTEBOOK}.txt"']


@pytest.mark.timeout(200)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_table_has_a_line_for_each_name(graded: Path, encoding: str) -> None:
    done = command("grade", MODULE, "--class", str(graded), PYTHONIOENCODING=encoding)
    shown = [printable(path.name) for path in (graded / "submitted").iterdir()]
    if encoding == "ascii":
        shown = [name.encode("ascii", "backslashreplace").decode() for name in shown]
    assert "\u2026" not in done.stdout  # what is too long for its column goes on below
    lines = done.stdout.splitlines() + done.stderr.splitlines()
    for name in shown:
        if name not in ("stray.txt", "pipe"):
            assert any(line.startswith((name[:79], f"grade: {name}/")) for line in lines), name


@pytest.mark.timeout(200)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_grades_of_everyone_go_out(graded: Path, encoding: str) -> None:
    done = command("export", MODULE, "--class", str(graded), PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and "O'Brien" in done.stdout
    assert not re.search(r'(^|[;\n\t])[\s"]*[=+@]', done.stdout)


def test_a_name_that_nobody_has_is_said_with_the_nearest(graded: Path) -> None:
    names = ["--student", "adda", "--student", "ada", "--student", "new\nlime"]
    done = command("grade", MODULE, "--class", str(graded), "--json", *names)
    assert done.returncode == 1 and [json.loads(line)["student"] for line in done.stdout.splitlines()] == ["ada"]
    assert done.stderr == (
        'grade: nobody in the class is called "adda"; the nearest is "ada"\n'
        r'grade: nobody in the class is called "new\x0alime"; the nearest is "new\x0aline"' + "\n"
    )
    done = command("grade", MODULE, "--class", str(graded), "--student", "\x1b[31m")
    assert done.returncode == 1 and not done.stdout


@pytest.fixture
def small_class(tmp_path: Path) -> Path:
    for student in ("ada", "ben"):
        place = tmp_path / "class" / "submitted" / student / MODULE
        place.mkdir(parents=True)
        (place / NOTEBOOK).write_bytes(submission(module=MODULE))
    return tmp_path / "class"


def test_one_file_that_may_not_be_read_costs_one_row(
    small_class: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = classroom.read_file

    def refused(path: Path) -> bytes:
        if "ben" in path.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(classroom, "read_file", refused)
    assert main(["grade", MODULE, "--class", str(small_class), "--json"]) == 1
    rows = {row["student"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows["ada"]["score"] == 4 and rows["ben"]["status"] == "failed"
    assert rows["ben"]["reason"].startswith(f"{NOTEBOOK} cannot be read (Permission denied); give yourself the right")


@pytest.mark.parametrize("name", ["what is this?.ipynb", "new\nline.ipynb", "\x1b[31m.ipynb", "caf\udce9.ipynb"])
def test_try_says_what_is_wrong_with_any_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    done = command("try", str(path))
    reason = "No such file or directory; put it there, or name another, and give the same command again"
    assert done.returncode == 1 and done.stderr == f"try: {printable(str(path))}: {reason}\n"
    path.write_bytes(b"{")
    done = command("try", str(path))
    assert done.stderr.endswith(f"try: {printable(str(path))}: the file is damaged: it begins like a notebook but is no valid JSON\n")  # fmt: skip


@pytest.mark.parametrize(
    ("lay", "words"),
    [
        (lambda place: place.write_text("x"), "Not a directory; remove the file that is where a folder should be"),
        (lambda place: (place.mkdir(), (place / "submitted").write_text("x")), "submitted: Not a directory; remove"),
        (lambda place: (place.mkdir(), (place / "submitted").symlink_to("nowhere")), "submitted: no such folder"),
        (lambda place: (place.mkdir(), (place / "submitted").symlink_to("submitted")), "Too many levels of symbolic links"),
        (lambda place: place.mkdir(), "submitted: no such folder; submissions are expected in"),
        (lambda place: (place / "submitted" / "ada").mkdir(parents=True) or (place / ".grader.lock").mkdir(), ".grader.lock: Is a directory"),
    ],
)  # fmt: skip
def test_a_class_that_is_none(tmp_path: Path, lay, words: str) -> None:
    lay(tmp_path / "class [red]")
    done = command("grade", MODULE, "--class", str(tmp_path / "class [red]"))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and not done.stdout
    assert done.stderr.startswith("grade: ") and words in done.stderr


STRANGE = ["02", "nothing", "02_activations/", "../02_activations", "a\nb", "\x1b[31m", "x" * 5000, "caf\udce9", ""]


VERBS = ["grade", "feedback", "report", "export", "kit"]


# `export ""` names no module: that is for usage
@pytest.mark.parametrize(("verb", "module"), [(v, m) for v in VERBS for m in STRANGE if (v, m) != ("export", "")])
def test_a_module_that_nobody_has(verb: str, module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = [] if verb == "kit" else ["--class", str(tmp_path)]
    assert main([verb, module, *where]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{verb}: ") and len(said.splitlines()) == 1 and not NOT_TEXT.search(said)


@pytest.mark.parametrize("unbuffered", ["", pytest.param("1", marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", ["export", pytest.param("grade --json", marks=pytest.mark.slow), "grade"])
def test_nobody_reads_what_is_printed(small_class: Path, verb: str, unbuffered: str) -> None:
    def shell(line: str) -> tuple[int, str]:
        environment = ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(
            ["sh", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stderr

    line = f"{sys.executable} -m grader {verb} {MODULE} --class '{small_class}'"
    command("grade", MODULE, "--class", str(small_class))
    assert shell(f"{{ {line}; echo $? >&2; }} | true")[1] in ("0\n", "1\n")
    assert shell(f"{line} >&-") == (0, "")
    words = "the disk: No space left on device; make room on the disk and give the same command again"
    assert shell(f"{line} > /dev/full") == (1, f"{verb.partition(' ')[0]}: {words}\n")


def test_a_name_on_a_terminal_is_what_it_is(small_class: Path) -> None:
    """Markup is shown, and the line that says who is graded is no other's."""
    (small_class / "submitted" / "ada").rename(small_class / "submitted" / "[red]a\x1b[2J")
    shutil.rmtree(small_class / "submitted" / "ben")
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "grader", "grade", MODULE, "--class", str(small_class), "--force"]
    done = subprocess.run(line, cwd=ROOT, env=ENVIRONMENT | {"TERM": "xterm"}, stdout=subprocess.DEVNULL, stderr=theirs, check=False)  # fmt: skip
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0 and r"[red]a\x1b[2J" in shown and "\x1b[2J" not in shown


REFUSALS = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EROFS: "the disk can only be read",
    errno.EIO: "the disk is damaged",
    errno.EACCES: "give yourself the right to read and write it",
}


@pytest.mark.parametrize("code", REFUSALS, ids=errno.errorcode.get)
def test_a_disk_that_takes_nothing_is_one_sentence(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kit's archive is not there half; nor is anything else that was begun."""

    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(kit, "kit_files", lambda _module: {"README.md": b"x"})
    shutil.copy(ROOT / "settings.ini", tmp_path)
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(os, "replace", refuse)
    assert main(["kit", MODULE]) == 1
    path = tmp_path / "dist" / f"tinytorch-{MODULE}.zip"
    said = capsys.readouterr().err
    assert said.startswith(f"kit: {path}: {os.strerror(code)}; {REFUSALS[code]}") and len(said.splitlines()) == 1
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EBADF, "Bad file descriptor"),
        OSError("?"),
        FileNotFoundError(errno.ENOENT, "of no file"),
        BrokenPipeError(errno.EPIPE, "of ours"),
    ],
    ids=repr,
)
def test_a_bug_of_ours_keeps_its_traceback(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_module: str, _folder: Path) -> Path:
        raise error

    monkeypatch.setattr(kit, "make_kit", broken)
    with pytest.raises(OSError, match=re.escape(str(error))) as caught:
        main(["kit", MODULE])
    assert caught.value is error


def test_nbgraders_own_command_goes_on_too(tmp_path: Path) -> None:
    """Whatever a folder is called: nbgrader makes a regular expression of its path."""
    folder = tmp_path / "what? (1)+"
    for student in ("ada", "new\nline", NO_UTF_8, "zoe"):
        place = folder / "submitted" / student / MODULE
        place.mkdir(parents=True)
        (place / NOTEBOOK).write_bytes(submission(module=MODULE))
    database = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with open_gradebook(database, "tinytorch") as book:
        save_assignment(book, course.load_assignment(MODULE))
    folders = [f"--CourseDirectory.{step}_directory={folder / step}" for step in ("submitted", "autograded")]
    line = [sys.executable, "-m", "nbgrader", "autograde", MODULE, f"--CourseDirectory.db_url={database}", *folders]
    done = subprocess.run(line, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    kept = {path.parents[1].name for path in (folder / "autograded").glob(f"*/{MODULE}/{NOTEBOOK}")}
    assert kept == {"ada", "new\nline", "zoe"}, done.stderr
    assert done.returncode == 1 and r"student 'caf\udce9'" in done.stderr


@pytest.mark.timeout(200)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("verb", ["feedback", "report"])
def test_pages_are_written_for_everyone(graded: Path, verb: str, encoding: str) -> None:
    done = command(verb, MODULE, "--class", str(graded), PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and done.stdout.startswith(f"{verb}: "), done.stderr
    kept = {path.parents[1].name for path in (graded / "autograded").glob(f"*/{MODULE}/{NOTEBOOK}")}
    if verb == "feedback":
        assert {path.parents[1].name for path in (graded / "feedback").glob(f"*/{MODULE}/*.html")} == kept
    else:
        assert printable(NO_UTF_8) in (graded / "report" / MODULE / "submissions.csv").read_text(encoding="utf-8")
