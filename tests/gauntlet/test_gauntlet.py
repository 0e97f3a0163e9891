"""All kinds of submissions as one class, graded in one go."""

import html
import json
import re
import shutil
from functools import partial
from pathlib import Path

import pytest
from kinds import KINDS, SECRETS, Kind
from leaks import Secrets, handed_in, leaks, secrets, shown, works
from limits import QUICK

from grader import batch
from grader.classroom import Classroom
from grader.course import ROOT
from grader.pages.feedback import write_feedback
from grader.result import Result
from grader.sandbox import pool
from grader.sandbox.check_jail import open_jail

pytestmark = pytest.mark.jail

MODULE = "04_attention"


def student(kind: Kind) -> str:
    return re.sub(r"\W+", "-", kind.name.lower()).strip("-")


def hand_in(folder: Path, kind: Kind) -> None:
    place = folder / "submitted" / student(kind) / MODULE
    place.mkdir(parents=True)
    for name, data in kind.files.items():
        (place / name).write_bytes(data if isinstance(data, bytes) else data())
    if kind.place is not None:
        kind.place(place)


@pytest.fixture(scope="module")
def gauntlet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Result], dict[str, bytes]]:
    """The class, its rows, and what was in its folder before."""
    folder = tmp_path_factory.mktemp("gauntlet")
    shutil.copytree(ROOT / "examples" / "class", folder / "submitted")
    for kind in KINDS:
        hand_in(folder, kind)
    (folder / "precious.txt").write_text("of the class")
    before = {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and not p.is_symlink()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "open_jail", partial(open_jail, limits=QUICK))
        rows = batch.grade_class(MODULE, Classroom(folder))
    return folder, {row.student: row for row in rows}, before


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 100 and len({student(k) for k in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_every_row_is_as_expected(kind: Kind, gauntlet) -> None:
    row = gauntlet[1][student(kind)]
    assert (row.status, row.score) == (kind.status, kind.score), row
    told = "\n".join([row.reason, *row.repairs, *(m for found in row.messages.values() for m in found)])
    for words in kind.words:
        assert words in told, told


def test_the_others_are_graded_as_if_alone(gauntlet, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "class", tmp_path / "submitted")
    alone = batch.grade_class(MODULE, Classroom(tmp_path))
    for row in alone:
        assert gauntlet[1][row.student].scores == row.scores
        assert gauntlet[1][row.student].messages == row.messages


def test_nothing_was_touched(gauntlet) -> None:
    _, _, before = gauntlet
    for path, data in before.items():
        assert Path(path).read_bytes() == data
    for place in ("/", "/usr", "/etc", "/root", "/home", "/work", "/tmp", str(Path.home())):
        assert not (Path(place) / "gauntlet-was-here").exists()


@pytest.fixture(scope="module")
def pages(gauntlet) -> dict[str, Path]:
    """The feedback pages, by student."""
    folder, rows = gauntlet[:2]
    write_feedback(MODULE, Classroom(folder))
    pages = {page.parents[1].name: page for page in folder.glob("feedback/*/*/*.html")}
    assert pages.keys() == {row.student for row in rows.values() if row.status in ("graded", "unreadable")}
    return pages


@pytest.fixture(scope="module")
def hidden(gauntlet) -> tuple[Secrets, dict[str, set[str]]]:
    """What nobody may see, and for each student what the others may not."""
    return secrets(gauntlet[0], MODULE), works(gauntlet[0], MODULE)


def leaks_to(
    student: str, text: str, folder: Path, hidden: tuple[Secrets, dict[str, set[str]]]
) -> list[tuple[str, str]]:
    """What of the course, and of the work of others, stands in what a student sees, but for what they wrote themselves."""
    of_course, by_student = hidden
    of_others = set().union(*(lines for other, lines in by_student.items() if other != student))
    found = leaks(text, of_course | {"another's work": of_others})
    own = handed_in(folder / "submitted" / student) if found else ""
    return [(what, line) for what, line in found if line not in own]


@pytest.mark.slow  # a page takes longer than grading
def test_nothing_hidden_got_out(gauntlet, pages, hidden) -> None:
    """No solution, hidden test, reference, gradebook or other student's work in any notebook that is kept, or any page."""
    folder = gauntlet[0]
    kept = list(folder.glob("autograded/*/*/*.ipynb"))
    assert {path.parents[1].name for path in kept} >= set(pages)
    for path in [*kept, *pages.values()]:
        assert not leaks_to(path.parents[1].name, shown(path), folder, hidden), path


@pytest.mark.slow
@pytest.mark.parametrize("what", ["a solution", "a hidden test", "a reference", "the gradebook", "another's work"])
def test_one_hidden_line_would_be_found(what: str, gauntlet, pages, hidden, tmp_path: Path) -> None:
    """One line, put into a copy of a notebook as an output and into one of a page as a text and as an attribute."""
    folder, student = gauntlet[0], "blank"
    of_others = {line for other, lines in hidden[1].items() if other != student for line in lines}
    lines = of_others if what == "another's work" else hidden[0][what]
    assert len(lines) >= 5
    line = sorted(lines)[len(lines) // 2]
    notebook = json.loads((folder / "autograded" / student / MODULE / "attention.ipynb").read_text())
    notebook["cells"][0]["source"] += f"\n{line!r}"
    page = pages[student].read_text()
    escaped = html.escape(f" {line} ")
    for name, text in {
        "kept.ipynb": json.dumps(notebook),
        "page.html": page.replace("</body>", f"<p>{escaped}</p></body>"),
        "link.html": page.replace("</body>", f'<p title="{escaped}"></p></body>'),
    }.items():
        (tmp_path / name).write_text(text)
        assert (what, line) in leaks_to(student, shown(tmp_path / name), folder, hidden), name


@pytest.mark.slow  # a page takes longer than grading
def test_pages_are_small_and_run_and_load_nothing(pages) -> None:
    for page in pages.values():
        text = page.read_text()
        assert len(text) < 1_000_000, page
        assert "<script" not in text.lower() and not re.search(r"<[^>]*\son\w+\s*=", text), page
        assert not re.search(r"href=.javascript:", text)
        for own in SECRETS.values():  # students wrote these paths themselves
            text = text.replace(own, "")
        assert "<iframe" not in text and str(ROOT) not in text
        assert "HIDDEN TESTS" not in text and "autograded_tests import" not in text.replace(
            "import autograded_tests", ""
        )
