"""Archives as platforms make them, and archives that nobody should make."""

import io
import stat
import zipfile
from pathlib import Path

import pytest
from answers import submission

from grader.classroom import Classroom
from grader.errors import CourseError
from grader.platforms.collect import collect

MODULE = "04_attention"
RIGHT, OTHER = submission(), submission(blank=("scale_scores",))


def archive(folder: Path, files: dict[str, bytes], dates: dict[str, tuple] | None = None) -> Path:
    path = folder / "archive.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (dates or {}).get(name, (2026, 3, 1, 12, 0, 0)))
            file.writestr(info, data)
    return path


def take(tmp_path: Path, files: dict[str, bytes], dates=None, **options) -> tuple[dict[str, bytes], list[str]]:
    """What is in submitted/ afterwards, by student; and the lines that are printed."""
    classroom = Classroom(tmp_path / "class")
    lines = [str(line) for line in collect(MODULE, archive(tmp_path, files, dates), classroom, **options)]
    found = {p.parents[1].name: p.read_bytes() for p in (tmp_path / "class" / "submitted").glob("*/*/attention.ipynb")}
    everything = [p for p in (tmp_path / "class").rglob("*") if p.is_file() and p.name != "timestamp.txt"]
    assert len(everything) == len(found)
    return found, lines


def test_moodle(tmp_path):
    found, lines = take(
        tmp_path,
        {
            "Ada Lovelace_1234567_assignsubmission_file_/attention.ipynb": RIGHT,
            "Blaise Pascal_1234568_assignsubmission_file_/attention (2).ipynb": OTHER,
            "Blaise Pascal_1234568_assignsubmission_file_/notes.txt": b"",
            "Carl Gauss_1234569_assignsubmission_file_attention.ipynb": RIGHT,
            "Ada Lovelace_7654321_assignsubmission_file_/attention.ipynb": OTHER,
            "Emmy Noether_1234570_assignsubmission_onlinetext_/onlinetext.html": b"<p>",
        },
    )
    assert found == {
        "ada-lovelace_1234567": RIGHT,
        "blaise-pascal_1234568": OTHER,
        "carl-gauss_1234569": RIGHT,
        "ada-lovelace_7654321": OTHER,
    }
    assert "skipped  Blaise Pascal_1234568_assignsubmission_file_/notes.txt: it is no notebook" in lines
    assert sum(line.startswith("taken") for line in lines) == 4 and len(lines) == 6


def test_canvas_latest_attempt_wins(tmp_path):
    found, lines = take(
        tmp_path,
        {
            "lovelaceada_31_4001_attention.ipynb": OTHER,
            "lovelaceada_31_4003_attention-10.ipynb": RIGHT,
            "lovelaceada_31_4002_attention-2.ipynb": OTHER,
            "pascalblaise_LATE_32_4004_attention.ipynb": RIGHT,
            "gausscarl_33_4005_homework.ipynb": RIGHT,
        },
    )
    assert found == {"lovelaceada_31": RIGHT, "pascalblaise_32": RIGHT, "gausscarl_33": RIGHT}
    assert (
        "skipped  lovelaceada_31_4002_attention-2.ipynb: lovelaceada_31 handed in a later or better fitting one, "
        "lovelaceada_31_4003_attention-10.ipynb"
    ) in lines


def test_folders_files_and_timestamps(tmp_path):
    found, _ = take(
        tmp_path,
        {
            "ada/attention.ipynb": RIGHT,
            "blaise/04_attention/attention.ipynb": OTHER,
            "carl_attention.ipynb": RIGHT,
            "emmy_attempt_2026-03-02-10-30-00_attention.ipynb": OTHER,
            "emmy_attempt_2026-03-01-10-30-00_attention.ipynb": RIGHT,
            "submitted/felix/04_attention/attention.ipynb": RIGHT,
        },
    )
    assert found == {"ada": RIGHT, "blaise": OTHER, "carl": RIGHT, "emmy": OTHER, "felix": RIGHT}
    stamp = tmp_path / "class" / "submitted" / "emmy" / MODULE / "timestamp.txt"
    assert stamp.read_text() == "2026-03-02 10:30:00 UTC\n"


def test_of_several_files_the_one_that_fits(tmp_path):
    files = {
        "ada/attention.ipynb": b"not a notebook",
        "ada/final.ipynb": RIGHT,
        "ben/old.ipynb": OTHER,
        "ben/new.ipynb": RIGHT,
    }
    found, _ = take(tmp_path, files, {"ben/old.ipynb": (2026, 1, 1, 0, 0, 0)})
    assert found == {"ada": RIGHT, "ben": RIGHT}


def test_two_names_of_one_folder_lose_nothing_silently(tmp_path):
    files = {"Ada/attention.ipynb": OTHER, "ada/attention.ipynb": RIGHT}
    found, lines = take(tmp_path, files, {"Ada/attention.ipynb": (2026, 1, 1, 0, 0, 0)})
    assert found == {"ada": RIGHT}
    assert "skipped  Ada/attention.ipynb: ada handed in a later or better fitting one, ada/attention.ipynb" in lines


def test_what_fits_nothing_is_shown_with_the_nearest_student(tmp_path):
    _, lines = take(tmp_path, {"ada_attention.ipynb": RIGHT, "attention ada final.ipynb": OTHER})
    assert "skipped  attention ada final.ipynb: its name fits no pattern; the nearest student is ada" in lines


def test_a_pattern_of_ones_own(tmp_path):
    files = {"week4--ada--attention.ipynb": RIGHT}
    found, _ = take(tmp_path, files, patterns=[r"week4--(?P<student>\w+)--(?P<file>.*)"])
    assert found == {"ada": RIGHT}
    for pattern, words in (("(", "--pattern: "), ("x", "needs the groups")):
        with pytest.raises(CourseError, match=words):
            take(tmp_path, files, patterns=[pattern])


@pytest.mark.long
def test_paths_that_lead_out_links_and_bombs(tmp_path):
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in (
            "../ada/attention.ipynb",
            "/etc/attention.ipynb",
            "ada/../../ben/attention.ipynb",
            "C:/ada/attention.ipynb",
        ):
            file.writestr(name, RIGHT)
        file.writestr("..\\..\\carl\\attention.ipynb", RIGHT)
        link = zipfile.ZipInfo("emmy/attention.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("bomb/attention.ipynb", bytes(200 << 20))
        file.writestr(".../attention.ipynb", RIGHT)
        file.writestr("good/attention.ipynb", RIGHT)
    lines = [str(line) for line in collect(MODULE, path, Classroom(tmp_path / "class"))]
    assert sum("its path leads out of the archive" in line for line in lines) == 5
    assert "skipped  emmy/attention.ipynb: it is a link, and links are not followed" in lines
    assert "skipped  bomb/attention.ipynb: it unpacks to 200 MB" in lines
    assert sorted(p.name for p in (tmp_path / "class" / "submitted").iterdir()) == ["good", "unnamed"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["class", "evil.zip"]


def test_a_folder_with_links(tmp_path):
    source = tmp_path / "source"
    for student in ("ada", "ben"):
        (source / student).mkdir(parents=True)
    (source / "ada" / "attention.ipynb").write_bytes(RIGHT)
    (source / "ben" / "attention.ipynb").symlink_to("/etc/passwd")
    (source / "etc").symlink_to("/etc")
    lines = [str(line) for line in collect(MODULE, source, Classroom(tmp_path / "class"))]
    assert "taken    ada/attention.ipynb -> ada" in lines
    assert sum("links are not followed" in line for line in lines) == 2 and len(lines) == 3


def test_no_archive(tmp_path):
    with pytest.raises(CourseError, match="there is no such archive or folder"):
        collect(MODULE, tmp_path / "none.zip", Classroom(tmp_path))
    (tmp_path / "broken.zip").write_bytes(io.BytesIO(b"PK\x03\x04 broken").getvalue())
    with pytest.raises(CourseError, match="not a readable zip file"):
        collect(MODULE, tmp_path / "broken.zip", Classroom(tmp_path))
