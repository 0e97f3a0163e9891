"""All kinds of submissions as one class, graded in one go."""

import json
import re
import shutil
from functools import partial
from pathlib import Path

import pytest
from kinds import KINDS, SECRETS, Kind
from limits import QUICK

from grader import batch
from grader.classroom import Classroom
from grader.course import ROOT
from grader.pages.feedback import write_feedback
from grader.result import Result
from grader.sandbox import pool
from grader.sandbox.check import open_jail

pytestmark = pytest.mark.jail

MODULE = "04_attention"


def student(kind: Kind) -> str:
    return re.sub(r"\W+", "-", kind.name.lower()).strip("-")


def hand_in(folder: Path, kind: Kind) -> None:
    place = folder / "submitted" / student(kind) / MODULE
    place.mkdir(parents=True)
    for name, data in kind.files.items():
        (place / name).write_bytes(data)
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


def test_nothing_hidden_got_out(gauntlet) -> None:
    """No secret in any notebook that is kept, and none in any feedback page; pages are small and run and load nothing."""
    folder, rows, _ = gauntlet
    secrets = [
        Path(p).read_text().splitlines()[5:400:40]
        for p in SECRETS.values()
        if Path(p).is_file() and not p.endswith(".db")
    ]
    allowed = (ROOT / "modules" / MODULE / "attention.ipynb").read_text()
    lines = {
        line.strip() for found in secrets for line in found if len(line.strip()) > 25 and line.strip() not in allowed
    }
    for path in folder.glob("autograded/*/*/*.ipynb"):
        text = path.read_text()
        if path.parents[1].name in ("ada", "julia", "fatima"):
            continue
        assert not [line for line in lines if json.dumps(line)[1:-1] in text and line in "".join(secrets[-1])]
    write_feedback(MODULE, Classroom(folder))
    pages = list(folder.glob("feedback/*/*/*.html"))
    assert len(pages) == sum(row.status in ("graded", "unreadable") for row in rows.values())
    for page in pages:
        html = page.read_text()
        assert len(html) < 1_000_000, page
        assert "<script" not in html.lower() and not re.search(r"<[^>]*\son\w+\s*=", html), page
        assert not re.search(r"href=.javascript:", html)
        for own in SECRETS.values():  # students wrote these paths themselves
            html = html.replace(own, "")
        assert "<iframe" not in html and str(ROOT) not in html
        assert "HIDDEN TESTS" not in html and "autograded_tests import" not in html.replace(
            "import autograded_tests", ""
        )
