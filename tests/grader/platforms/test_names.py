"""Whose file it is, by each pattern; which of several is taken; and what in an archive is not looked at."""

import os
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from small import own, saved

from grader.classroom import Classroom
from grader.errors import CourseError
from grader.platforms import collect as collecting
from grader.platforms.collect import NOTEBOOKS, PATTERNS, Taken, collect

MODULE = "04_attention"
FITS, OTHER = saved([own("def causal_mask(seq_len): return 1")]), saved([own("x = 1")])
EARLY, LATE = (2026, 1, 1, 0, 0, 0), (2026, 2, 1, 0, 0, 0)
FULL = r"(?P<student>\w+)/(?P<attempt>\d+)/(?P<timestamp>[\d-]+)/(?P<file>.+)"


def archive(folder: Path, files: Mapping[str, bytes], dates: Mapping[str, tuple] | None = None) -> Path:
    path = folder / "archive.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in files.items():
            file.writestr(zipfile.ZipInfo(name, (dates or {}).get(name, EARLY)), data)
    return path


def lines(path: Path, folder: Path, *patterns: str) -> list[str]:
    return [str(taken) for taken in collect(MODULE, path, Classroom(folder / "class"), patterns)]


def handed_in(folder: Path) -> dict[str, bytes]:
    """What is in submitted/ afterwards, by student."""
    found = (folder / "class" / "submitted").glob("*/*/*.ipynb")
    return {p.parents[1].name: p.read_bytes() for p in found}


def stamps(folder: Path) -> dict[str, str]:
    found = (folder / "class" / "submitted").glob("*/*/timestamp.txt")
    return {p.parents[1].name: p.read_text() for p in found}


NAMES = {
    "Moodle": {
        "Ada Lovelace_1234567_assignsubmission_file_/attention.ipynb": "ada-lovelace_1234567",
        "Ada Lovelace_1234567_assignsubmission_file_attention.ipynb": "ada-lovelace_1234567",
        "Week 4/Zoë O'Neil_12_assignsubmission_file_/My work.ipynb": "zoë-o-neil_12",
    },
    "Canvas": {
        "lovelaceada_123_45678_attention.ipynb": "lovelaceada_123",
        "lovelaceada_LATE_123_45678_attention-2.ipynb": "lovelaceada_123",
        "week/pascalblaise_32_4004_my_work_final.ipynb": "pascalblaise_32",
    },
    "timestamped": {
        "ada_attempt_2026-03-01-12-00-00_attention.ipynb": "ada",
        "zip/Ada.L_attempt_2026-03-01-12-00-00_my_work.ipynb": "ada.l",
    },
    "folders": {
        "ada/attention.ipynb": "ada",
        "ada/04_attention/attention.ipynb": "ada",
        "submitted/ada_12/04_attention/my work.ipynb": "ada_12",
        "...Ada Lovelace/attention.ipynb": "ada-lovelace",
        "-/attention.ipynb": "unnamed",
    },
    "files": {
        "ada_attention.ipynb": "ada",
        "ada-attention.ipynb": "ada",
        "ada_lovelace_attention.ipynb": "ada_lovelace",
        "ada_activations.ipynb": "ada",
        "ada_homework.ipynb": "ada",
    },
}


def test_each_pattern_has_an_example() -> None:
    assert NAMES.keys() == PATTERNS.keys()


@pytest.mark.parametrize(
    ("pattern", "path", "student"), [(p, path, s) for p, found in NAMES.items() for path, s in found.items()]
)
def test_whose_file_it_is(tmp_path: Path, pattern: str, path: str, student: str) -> None:
    assert lines(archive(tmp_path, {path: FITS}), tmp_path) == [f"taken    {path} -> {student}"]
    assert handed_in(tmp_path) == {student: FITS}
    alone = PATTERNS[pattern].replace(NOTEBOOKS, "attention|activations")
    assert lines(archive(tmp_path, {path: FITS}), tmp_path, alone) == [f"taken    {path} -> {student}"]


def test_a_name_that_fits_no_pattern_while_nobody_is_known(tmp_path: Path) -> None:
    assert lines(archive(tmp_path, {"attention.ipynb": FITS}), tmp_path) == [
        "skipped  attention.ipynb: its name fits no pattern"
    ]
    assert handed_in(tmp_path) == {}


def test_a_name_that_fits_no_pattern_is_near_to_whoever_handed_in_before(tmp_path: Path) -> None:
    for student in ("ada", "blaise"):
        (tmp_path / "class" / "submitted" / student).mkdir(parents=True)
    assert lines(archive(tmp_path, {"blase final.ipynb": FITS}), tmp_path) == [
        "skipped  blase final.ipynb: its name fits no pattern; the nearest student is blaise"
    ]


@pytest.mark.parametrize("pattern", ["(?P<file>.*)", "(?P<student>.*)", ".*"])
def test_a_pattern_needs_both_groups(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(CourseError) as caught:
        lines(archive(tmp_path, {"ada/attention.ipynb": FITS}), tmp_path, FULL, pattern)
    assert str(caught.value) == "--pattern: a pattern needs the groups (?P<student>...) and (?P<file>...)"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (("ada/1/2026-01-01/a.ipynb", FITS, EARLY), ("ada/2/2026-02-01/attention.ipynb", OTHER, LATE)),
        (("ada/1/2026-01-01/attention.ipynb", FITS, EARLY), ("ada/2/2026-02-01/z.ipynb", FITS, LATE)),
        (("ada/10/2026-01-01/attention.ipynb", FITS, EARLY), ("ada/9/2026-02-01/attention.ipynb", FITS, LATE)),
        (("ada/1/2026-02-01/attention (1).ipynb", FITS, EARLY), ("ada/1/2026-01-01/attention-2.ipynb", FITS, LATE)),
        (("ada/1/2026-01-01/Attention-1.ipynb", FITS, LATE), ("ada/1/2026-01-01/attention.ipynb", FITS, EARLY)),
        (("ada/1/2026-01-01/attention.ipynb", FITS, EARLY), ("ada/1/2026-01-01/attention-2.ipynb", FITS, EARLY)),
    ],
    ids=["fit", "name", "attempt", "timestamp", "modified", "path"],
)
@pytest.mark.parametrize("turned", [False, True])
def test_of_several_files_one_is_taken(tmp_path: Path, better: tuple, worse: tuple, turned: bool) -> None:
    """What comes first decides, whatever speaks for the other later on."""
    files = [worse, better] if turned else [better, worse]
    path = archive(tmp_path, {n: d for n, d, _ in files}, {n: date for n, _, date in files})
    assert lines(path, tmp_path, FULL) == [
        f"skipped  {worse[0]}: ada handed in a later or better fitting one, {better[0]}",
        f"taken    {better[0]} -> ada",
    ]
    assert handed_in(tmp_path) == {"ada": better[1]}


def test_a_timestamp_in_a_name_is_written_beside_the_file(tmp_path: Path) -> None:
    files = {
        "ada_attempt_2026-03-01-12-30-59_attention.ipynb": FITS,
        "ben_attempt_2026-03-01_attention.ipynb": FITS,
        "cleo_attention.ipynb": FITS,
    }
    lines(archive(tmp_path, files), tmp_path)
    assert stamps(tmp_path) == {"ada": "2026-03-01 12:30:59 UTC\n", "ben": "2026-03-01\n"}


def test_what_is_no_notebook_and_what_stands_in_a_folder(tmp_path: Path) -> None:
    """Entries of folders are no files, and nothing is said of them."""
    path = archive(tmp_path, {"ada/": b"", "ada/notes.txt": b"x", "ada/work.ipynb/": b"", "ada/Attention.IPYNB": FITS})
    assert lines(path, tmp_path) == ["skipped  ada/notes.txt: it is no notebook", "taken    ada/Attention.IPYNB -> ada"]


def damaged(folder: Path, method: int, place: int, byte: int) -> Path:
    """An archive of three notebooks; in the middle one, of ben, a byte of its packed content is another."""
    path = folder / "archive.zip"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in (("ada", FITS), ("ben", FITS * 3), ("cleo", OTHER)):
            file.writestr(f"{name}/attention.ipynb", data)
        info = file.getinfo("ben/attention.ipynb")
    whole = bytearray(path.read_bytes())
    name_size, extra_size = struct.unpack("<HH", whole[info.header_offset + 26 : info.header_offset + 30])
    whole[info.header_offset + 30 + name_size + extra_size + place] = byte
    path.write_bytes(bytes(whole))
    return path


@pytest.mark.parametrize(
    ("method", "place", "byte"),
    [
        (zipfile.ZIP_STORED, 5, 0),
        (zipfile.ZIP_DEFLATED, 0, 0xFF),
        (zipfile.ZIP_BZIP2, 0, 0),
        (zipfile.ZIP_LZMA, 4, 0xFF),
        (zipfile.ZIP_LZMA, 12, 0xFF),
    ],
    ids=["stored", "deflate", "bzip2", "lzma, its head", "lzma"],
)
def test_a_file_that_cannot_be_unpacked_is_skipped(tmp_path: Path, method: int, place: int, byte: int) -> None:
    """And gets nobody else's content; the others are taken."""
    found = lines(damaged(tmp_path, method, place, byte), tmp_path)
    assert found[0].startswith("skipped  ben/attention.ipynb: it cannot be unpacked (")
    assert found[1:] == ["taken    ada/attention.ipynb -> ada", "taken    cleo/attention.ipynb -> cleo"]
    assert handed_in(tmp_path) == {"ada": FITS, "cleo": OTHER}


def test_an_unknown_way_of_packing_and_an_encrypted_file(tmp_path: Path) -> None:
    path = archive(tmp_path, {"ada/attention.ipynb": FITS, "ben/attention.ipynb": FITS})
    whole = bytearray(path.read_bytes())
    first = whole.index(b"PK\x01\x02")
    second = whole.index(b"PK\x01\x02", first + 1)
    whole[first + 8] |= 1
    whole[second + 10] = 97
    path.write_bytes(bytes(whole))
    found = lines(path, tmp_path)
    assert found[0] == "skipped  ada/attention.ipynb: it is encrypted"
    assert found[1].startswith("skipped  ben/attention.ipynb: it cannot be unpacked (") and len(found) == 2


def test_the_limit_of_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert collecting.MOST_ENTRIES == 10_000
    monkeypatch.setattr(collecting, "MOST_ENTRIES", 2)
    path = archive(tmp_path, {f"{name}/attention.ipynb": FITS for name in ("ada", "ben", "cleo")})
    assert lines(path, tmp_path) == [
        "skipped  cleo/attention.ipynb: the archive has more than 2 entries",
        "taken    ada/attention.ipynb -> ada",
        "taken    ben/attention.ipynb -> ben",
    ]


def test_the_limit_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all files together. Nobody's file is cut where the limit falls into it."""
    assert collecting.MOST_BYTES == 2 << 30
    monkeypatch.setattr(collecting, "MOST_BYTES", (1 << 20) + 10)
    files = {"ada": FITS.ljust((1 << 20) - len(OTHER)), "ben": FITS, "cleo": OTHER}
    path = archive(tmp_path, {f"{name}/attention.ipynb": data for name, data in files.items()})
    assert lines(path, tmp_path) == [
        "skipped  ben/attention.ipynb: the files unpack to more than 1 MB together",
        "taken    ada/attention.ipynb -> ada",
        "taken    cleo/attention.ipynb -> cleo",
    ]
    assert handed_in(tmp_path) == {"ada": files["ada"], "cleo": OTHER}


def test_the_limit_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "LARGEST", 1 << 20)
    large, largest = FITS.ljust((1 << 20) + 1), FITS.ljust(1 << 20)
    path = archive(tmp_path, {"ada/attention.ipynb": large, "ben/attention.ipynb": largest})
    assert lines(path, tmp_path) == [
        "skipped  ada/attention.ipynb: it unpacks to 1 MB",
        "taken    ben/attention.ipynb -> ben",
    ]
    folder = tmp_path / "folder"
    for name, data in (("cleo", large), ("dan", largest)):
        (folder / name).mkdir(parents=True)
        (folder / name / "attention.ipynb").write_bytes(data)
    assert lines(folder, tmp_path) == [
        "skipped  cleo/attention.ipynb: it has more than 1 MB",
        "taken    dan/attention.ipynb -> dan",
    ]


def test_of_a_folder_the_file_that_was_changed_last(tmp_path: Path) -> None:
    for name, seconds in (("a", 2_000), ("b", 1_000)):
        path = tmp_path / "folder" / "ada" / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FITS)
        os.utime(path, (seconds, seconds))
    assert lines(tmp_path / "folder", tmp_path)[-1] == "taken    ada/a.ipynb -> ada"


def test_nothing_is_written_through_a_link_and_the_others_are_taken(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place = tmp_path / "class" / "submitted"
    (place / "ben").mkdir(parents=True)
    (place / "dan" / MODULE / "attention.ipynb").mkdir(parents=True)
    (place / "emil" / MODULE).mkdir(parents=True)
    (place / "emil" / MODULE / "attention.ipynb").symlink_to(tmp_path / "elsewhere" / "file")
    (place / "emil" / MODULE / ".attention.ipynb.new").symlink_to(tmp_path / "elsewhere" / "file")
    (place / "ada").symlink_to(tmp_path / "elsewhere")
    (place / "ben" / MODULE).symlink_to(tmp_path / "elsewhere")
    names = [f"{student}/attention.ipynb" for student in ("ada", "ben", "cleo", "dan", "emil")]
    end = "nothing is written there. Remove it and give the same command again"
    assert lines(archive(tmp_path, dict.fromkeys(names, FITS)), tmp_path) == [
        f"skipped  ada/attention.ipynb: {place / 'ada'}: it is a link or a file, not a folder; {end}",
        f"skipped  ben/attention.ipynb: {place / 'ben' / MODULE}: it is a link or a file, not a folder; {end}",
        "taken    cleo/attention.ipynb -> cleo",
        f"skipped  dan/attention.ipynb: {place / 'dan' / MODULE / 'attention.ipynb'}: it is a folder, not a file; {end}",
        "taken    emil/attention.ipynb -> emil",
    ]
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (place / "emil" / MODULE / "attention.ipynb").read_bytes() == FITS


@pytest.mark.timeout(20)
def test_what_is_not_a_file_in_a_folder_of_submissions(tmp_path: Path) -> None:
    for student in ("ada", "ben"):
        (tmp_path / "folder" / student).mkdir(parents=True)
    os.mkfifo(tmp_path / "folder" / "ada" / "attention.ipynb")
    (tmp_path / "folder" / "ben" / "attention.ipynb").write_bytes(FITS)
    assert lines(tmp_path / "folder", tmp_path) == [
        "skipped  ada/attention.ipynb: it cannot be read (it is not a file)",
        "taken    ben/attention.ipynb -> ben",
    ]


def test_a_link_is_not_the_nearest_student(tmp_path: Path) -> None:
    (tmp_path / "class" / "submitted").mkdir(parents=True)
    (tmp_path / "class" / "submitted" / "ada").symlink_to(tmp_path)
    assert lines(archive(tmp_path, {"attention ada.ipynb": FITS}), tmp_path) == [
        "skipped  attention ada.ipynb: its name fits no pattern"
    ]


def test_a_line_for_each_file() -> None:
    assert str(Taken("a/b.ipynb", "ada")) == "taken    a/b.ipynb -> ada"
    assert str(Taken("a/b.ipynb", reason="it is no notebook")) == "skipped  a/b.ipynb: it is no notebook"
