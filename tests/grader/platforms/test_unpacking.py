"""Archives that are damaged, too large, or made to harm: a line for each file that is left out, and the rest is taken."""

import os
import stat
import zipfile
from pathlib import Path

import pytest
from archives import PEOPLE, Person, Work, folders, moodle
from collected import Class, notebook
from packing import changed, pack, plain, unpack

from grader.notebook import LARGEST
from grader.platforms import archive

pytestmark = pytest.mark.long

GOOD = {f"{name}/attention.ipynb": notebook(name) for name in ("ada", "ben", "cleo")}


def left_out(klass: Class, source: Path | dict[str, bytes], path: str, *words: str) -> None:
    """One line says why this file is left out; ada and cleo, and nobody else, are taken; the status is that of a failure."""
    done = klass.collect(source)
    (line,) = [line for line in done.lines if path in line]
    assert line.startswith("skipped") and all(word in line for word in words), line
    assert klass.notebooks() == {name: notebook(name) for name in ("ada", "cleo")}
    assert done.status == 1


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
def test_a_file_that_cannot_be_unpacked_is_left_out(tmp_path: Path, method: int, place: int, byte: int) -> None:
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in GOOD.items():
            file.writestr(name, data)
    left_out(Class(tmp_path / "class"), changed(path, "ben/attention.ipynb", place, byte), "ben/attention.ipynb")


@pytest.mark.parametrize(
    ("place", "byte", "word"),
    [(8, 1, "encrypted"), (10, 97, "unpacked"), (6, 255, "unpacked")],
    ids=["encrypted", "packed in an unknown way", "of version 25.5"],
)
def test_an_entry_that_we_have_no_means_to_read(tmp_path: Path, place: int, byte: int, word: str) -> None:
    path = changed(pack(tmp_path / "archive.zip", GOOD), "ben/attention.ipynb", place, byte, central=True)
    left_out(Class(tmp_path / "class"), path, "ben/attention.ipynb", word)


def test_whose_files_are_all_damaged_is_told_and_not_lost(tmp_path: Path) -> None:
    """A damaged archive is no sign that somebody handed in nothing."""
    path = changed(pack(tmp_path / "damaged.zip", GOOD), "ben/attention.ipynb", 0, 0xFF)
    klass = Class(tmp_path / "class")
    klass.collect(GOOD)
    assert klass.collect(path).status == 1
    assert klass.notebooks() == {n: notebook(n) for n in ("ada", "ben", "cleo")}


def test_what_is_no_archive(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    missing = klass.collect(tmp_path / "none.zip")
    assert missing.status == 1 and "there is no such archive or folder" in missing.errors
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 broken")
    broken = klass.collect(tmp_path / "broken.zip")
    assert broken.status == 1 and "not a readable zip file" in broken.errors
    assert not klass.students()


def test_paths_that_lead_out_and_links(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    names = ("../x/attention.ipynb", "/etc/attention.ipynb", "y/../../z/attention.ipynb", "C:/q/attention.ipynb")
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(plain(name), notebook(name))
        link = zipfile.ZipInfo("emmy/attention.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        for name, data in GOOD.items():
            file.writestr(name, data)
    klass = Class(tmp_path / "class")
    done = klass.collect(path)
    for name in (*names, "emmy/attention.ipynb"):
        assert done.verb(name.lstrip("/")) == "skipped", done.lines
    assert klass.students() == {"ada", "ben", "cleo"}
    assert {p.name for p in tmp_path.iterdir()} == {"class", "evil.zip"}
    assert b"root:" not in b"".join(p.read_bytes() for p in klass.folder.rglob("*") if p.is_file())


def test_backslashes_lead_nowhere_either(tmp_path: Path) -> None:
    names = ("..\\..\\x\\attention.ipynb", "C:\\y\\attention.ipynb", "\\\\server\\z\\attention.ipynb")
    klass = Class(tmp_path / "deep" / "class")
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as file:
        for name in (*names, "ada\\attention.ipynb", "ben\\attention.ipynb"):
            entry = plain(name)
            entry.create_system = 0
            file.writestr(entry, notebook(name))
    klass.collect(tmp_path / "evil.zip")
    assert klass.whose(notebook("ada\\attention.ipynb")) == "ada"
    inside = {p for p in tmp_path.rglob("*.ipynb") if klass.folder not in p.parents}
    assert not inside


@pytest.mark.long
def test_a_file_that_unpacks_to_much_more(tmp_path: Path) -> None:
    files = {**GOOD, "ben/attention.ipynb": bytes(LARGEST + 1)}
    left_out(Class(tmp_path / "class"), files, "ben/attention.ipynb", f"{LARGEST >> 20} MB")


def test_a_header_that_lies_about_the_size(tmp_path: Path) -> None:
    """What it says is checked, and what comes out is counted."""
    path = pack(tmp_path / "archive.zip", {**GOOD, "ben/attention.ipynb": bytes(5 << 20)})
    for place in (24, 25, 26, 27):
        changed(path, "ben/attention.ipynb", place, 1 if place == 25 else 0, central=True)
    left_out(Class(tmp_path / "class"), path, "ben/attention.ipynb")


def test_a_folder_with_links_and_pipes(tmp_path: Path) -> None:
    source = unpack(tmp_path / "source", {n: d for n, d in GOOD.items() if "ben" not in n})
    (source / "ben").mkdir()
    (source / "ben" / "attention.ipynb").symlink_to("/etc/passwd")
    (source / "etc").symlink_to("/etc")
    (source / "dan").mkdir()
    os.mkfifo(source / "dan" / "attention.ipynb")
    done = Class(tmp_path / "class").collect(source)
    for path in ("ben/attention.ipynb", "etc", "dan/attention.ipynb"):
        assert done.verb(path) == "skipped", done.lines
    assert Class(tmp_path / "class").notebooks() == {n: notebook(n) for n in ("ada", "cleo")}
    assert done.status == 1


def test_nothing_is_written_through_a_link_and_the_others_are_taken(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    klass = Class(tmp_path / "class")
    place = klass.folder / "submitted"
    (place / "ben").mkdir(parents=True)
    (place / "ben" / "04_attention").symlink_to(tmp_path / "elsewhere")
    left_out(klass, GOOD, "ben/attention.ipynb", "link")
    (place / "cleo" / "04_attention" / "attention.ipynb").unlink()
    (place / "cleo" / "04_attention" / "attention.ipynb").symlink_to(tmp_path / "elsewhere" / "file")
    klass.collect(GOOD)
    assert list((tmp_path / "elsewhere").iterdir()) == []


HOSTILE = {
    "control characters": "Eve\x1b[31m\nskipped  ada\x07",
    "right to left": "Eve\u202egnp.exe",
    "digits": "9" * 5000,
    "long": "Zoë" * 400,
    "dots": "...",
    "a device": "CON",
    "an option": "--force",
    "markup": "[red]Eve[/red]",
    "formula": "=HYPERLINK(1)",
    "percent": "%s{0}",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_names_that_are_no_names(tmp_path: Path, name: str) -> None:
    """Files of such names are taken, or a line says why not; it prints nothing but text, and each file has one line."""
    klass = Class(tmp_path / "class")
    eve = Work(Person(name, "", "eve", 99), notebook("eve"))
    done = klass.collect(folders([Work(p, notebook(p.login)) for p in PEOPLE[:3]]).files | folders([eve]).files)
    assert {notebook(p.login) for p in PEOPLE[:3]} <= set(klass.notebooks().values())
    files = [line for line in done.lines if "attention.ipynb" in line]
    assert len(files) == 4
    assert all(c.isprintable() for line in done.lines for c in line)
    assert len(klass.students()) - 3 == sum("taken" in line for line in files) - 3
    assert all(len(s.encode()) <= 255 and s[0] not in ".-" for s in klass.students())


@pytest.mark.parametrize("stamp", ["9" * 5000, "2026-13-45-99-99-99", "99999-01-01-00-00-00", "0000-00-00-00-00-00"])
def test_times_that_are_none(tmp_path: Path, stamp: str) -> None:
    """They are nobody's time, and nothing ends with a traceback."""
    klass = Class(tmp_path / "class")
    files = {
        f"ps1_{n}_attempt_{s}_attention.ipynb": notebook(n) for n, s in (("ada", "2026-03-01-12-00-00"), ("ben", stamp))
    }
    klass.collect(
        files | {f"ps1_{n}_attempt_2026-03-01-12-00-00_attention.ipynb": notebook(n) for n in ("cleo", "dan")}
    )
    assert {"ada", "cleo", "dan"} <= klass.students()
    for student in klass.students() - {"ada", "cleo", "dan"}:
        assert klass.time(student) is None


def test_a_file_with_a_long_name_is_taken(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    works = [Work(PEOPLE[0], notebook("a"), "ü" * 300 + ".ipynb"), Work(PEOPLE[1], notebook("b"))]
    assert klass.collect(moodle(works)).status == 0
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in works)


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    """In a zip they are read as DOS wrote them; in a folder they are shown as bytes."""
    klass = Class(tmp_path / "class")
    source = unpack(tmp_path / "source", GOOD)
    unpack(source / os.fsdecode(b"J\xf6rg"), {"attention.ipynb": notebook("joerg")})
    done = klass.collect(source)
    assert klass.students() >= {"ada", "ben", "cleo"}
    assert sum("attention.ipynb" in line for line in done.lines) == 4
    assert all(c.isprintable() for line in done.lines for c in line)
    if notebook("joerg") not in klass.notebooks().values():
        assert done.status == 1


def test_the_limits_are_written_down() -> None:
    """Of one archive: nobody's is larger."""
    assert archive.MOST_ENTRIES == 100_000 and archive.MOST_BYTES == 8 << 30


def test_of_too_many_entries_the_first_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_ENTRIES", 2)
    done = Class(tmp_path / "class").collect(GOOD)
    assert done.verb("cleo/attention.ipynb") == "skipped" and "2 entries" in done.about("cleo/attention.ipynb")[0]
    assert Class(tmp_path / "class").students() == {"ada", "ben"} and done.status == 1


def test_of_too_many_bytes_no_file_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = {**GOOD, "ben/attention.ipynb": GOOD["ben/attention.ipynb"] + b" " * 5000}
    monkeypatch.setattr(archive, "MOST_BYTES", 2 * len(GOOD["ada/attention.ipynb"]) + 100)
    left_out(Class(tmp_path / "class"), large, "ben/attention.ipynb", "together")
