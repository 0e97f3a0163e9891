"""Attempts are all kept, the latest good one is graded; and students whose files are no notebooks."""

import io
import os
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from archives import NOON, PEOPLE, Made, Work, blackboard, brightspace, canvas, folders, moodle
from collected import OTHER_MODULE, Class, notebook

pytestmark = pytest.mark.long

ADA, OBRIEN = PEOPLE[0], PEOPLE[1]
LATER = NOON + timedelta(days=1)
OTHER = Work(OBRIEN, notebook("obrien"))  # somebody else, who is not to be touched
GOOD, BETTER = Work(ADA, notebook("good")), Work(ADA, notebook("better"), at=LATER)
WORSE = {
    "blank": notebook("blank", blank=True),
    "damaged": notebook("damaged")[:-2000],
    "empty": b"",
    "no notebook": b"%PDF-1.7",
    "of another module": notebook("other", module=OTHER_MODULE),
}
MAKE = {"blackboard": blackboard, "brightspace": brightspace}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
@pytest.mark.parametrize("turned", [False, True])
def test_the_latest_attempt_is_graded_and_each_is_kept(tmp_path: Path, make, turned: bool) -> None:
    klass = Class(tmp_path / "class")
    works = [GOOD, BETTER, OTHER]
    assert klass.collect(make(works[::-1] if turned else works)).status == 0
    student = klass.whose(BETTER.data)
    assert klass.whose(OTHER.data) != student and len(klass.students()) == 2
    assert sorted(found for (found, *_) in klass.kept(student)) == sorted([GOOD.data, BETTER.data])
    assert klass.time(student) == LATER


@pytest.mark.parametrize("worse", WORSE.values(), ids=WORSE)
@pytest.mark.parametrize("together", [True, False], ids=["in one archive", "in a later archive"])
def test_a_later_attempt_that_is_worse_does_not_replace_a_good_one(
    tmp_path: Path, worse: bytes, together: bool
) -> None:
    klass = Class(tmp_path / "class")
    later = Work(ADA, worse, at=LATER)
    archives = [[GOOD, later, OTHER]] if together else [[GOOD, OTHER], [later, OTHER]]
    for works in archives:
        made = brightspace(works)
        done = klass.collect(made)
        assert done.status == 0, done
    student = klass.whose(GOOD.data)
    assert klass.time(student) == NOON
    assert klass.kept(student) == [[GOOD.data], [worse]]
    path = next(path for path, data in made.files.items() if data == worse)
    (line,) = done.about(path)
    assert not line.startswith("taken") and "later or better" not in line


@pytest.mark.parametrize("worse", [notebook("old", blank=True), notebook("damaged")[:-2000]], ids=["blank", "damaged"])
def test_a_good_attempt_replaces_a_worse_one(tmp_path: Path, worse: bytes) -> None:
    klass = Class(tmp_path / "class")
    klass.collect(brightspace([Work(ADA, worse), OTHER]))
    assert klass.notebooks().keys() == klass.students() and len(klass.students()) == 2
    assert klass.collect(brightspace([BETTER, OTHER])).status == 0
    assert klass.time(klass.whose(BETTER.data)) == LATER


def test_of_attempts_that_are_all_blank_there_is_one(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    first, second = (Work(ADA, notebook(n, blank=True), at=at) for n, at in ((1, NOON), (2, LATER)))
    assert klass.collect(brightspace([first, second, OTHER])).status == 0
    assert klass.time(klass.whose(second.data)) == LATER


@pytest.mark.parametrize("made", [brightspace, canvas, moodle, folders])
def test_the_same_archive_again_changes_nothing(tmp_path: Path, made) -> None:
    klass = Class(tmp_path / "class")
    archive = made([GOOD, OTHER])
    klass.collect(archive)
    before = {p: p.read_bytes() for p in klass.folder.rglob("*") if p.is_file()}
    done = klass.collect(archive)
    assert done.status == 0
    assert {p: p.read_bytes() for p in klass.folder.rglob("*") if p.is_file()} == before
    for path in archive.files:
        assert len(done.about(path)) <= 1
    assert len({klass.whose(w.data) for w in (GOOD, OTHER)}) == len(klass.students())


def test_an_older_archive_does_not_replace_a_newer_one(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    assert klass.collect(brightspace([BETTER, OTHER])).status == 0
    older = brightspace([GOOD, OTHER])
    done = klass.collect(older)
    assert done.status == 0
    student = klass.whose(BETTER.data)
    assert klass.time(student) == LATER
    assert sorted(found for (found,) in klass.kept(student)) == sorted([GOOD.data, BETTER.data])
    path = next(path for path, data in older.files.items() if data == GOOD.data)
    assert "older" in done.about(path)[0] or "later" in done.about(path)[0] or "newer" in done.about(path)[0]


def test_a_later_archive_without_times_replaces(tmp_path: Path) -> None:
    """The time is that of the attempt, and not kept from another one."""
    klass = Class(tmp_path / "class")
    assert klass.collect(brightspace([GOOD, OTHER])).status == 0
    student = klass.whose(GOOD.data)
    assert klass.time(student) == NOON
    assert klass.collect(moodle([BETTER, OTHER])).status == 0
    assert klass.whose(BETTER.data) == student
    assert klass.time(student) is None and klass.origin(student).time == ""


def test_canvas_late_and_then_in_time_are_two_attempts(tmp_path: Path) -> None:
    """What was said about lateness is that of the attempt, too."""
    klass = Class(tmp_path / "class")
    first, second = replace(GOOD, late=True), BETTER
    klass.collect(canvas([first, OTHER]))
    student = klass.whose(first.data)
    assert klass.origin(student).late == "LATE"
    again = canvas([second, OTHER])
    newer = {path.replace("98765", "99999"): data for path, data in again.files.items()}
    assert klass.collect(newer).status == 0
    assert klass.whose(second.data) == student and klass.origin(student).late == ""
    assert klass.origin(student).number == "99999"


def test_of_several_files_of_one_attempt_the_finished_one_is_graded(tmp_path: Path) -> None:
    """Whatever it is called, and also if the other is newer."""
    klass = Class(tmp_path / "class")
    blank = {"attention.ipynb": notebook("blank", blank=True), "zz.ipynb": b"{}"}
    works = [Work(ADA, notebook("final"), "attention_final (2).ipynb", beside=blank), OTHER]
    made = moodle(works)
    done = klass.collect(made)
    assert done.status == 0
    student = klass.whose(works[0].data)
    assert len(klass.kept(student)[0]) == 3
    assert done.verb("Ada Lovelace_10233_assignsubmission_file/attention_final (2).ipynb") == "taken"
    (line,) = done.about("Ada Lovelace_10233_assignsubmission_file/attention.ipynb")
    assert not line.startswith("taken") and "later" not in line


def test_times_are_those_of_the_attempt_that_is_graded(tmp_path: Path) -> None:
    """Those of files in the archive are of packing, and no times of handing in."""
    klass = Class(tmp_path / "class")
    klass.collect(moodle([GOOD, OTHER]))
    assert klass.time(klass.whose(GOOD.data)) is None
    folder = tmp_path / "folder" / "ada"
    folder.mkdir(parents=True)
    (folder / "attention.ipynb").write_bytes(GOOD.data)
    os.utime(folder / "attention.ipynb", (1_000_000_000, 1_000_000_000))
    other = Class(tmp_path / "other")
    other.collect(tmp_path / "folder")
    assert other.time("ada") is None and other.notebooks() == {"ada": GOOD.data}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


OPENED = {
    "a zip": ("homework.zip", zipped({"attention.ipynb": GOOD.data})),
    "a zip with folders": ("homework.zip", zipped({"my work/a.ipynb": GOOD.data, "__MACOSX/my work/._a.ipynb": b"x"})),
    "a zip with a damaged notebook, too": ("h.ZIP", zipped({"a.ipynb": b"{}", "b/attention.ipynb": GOOD.data})),
    "text": ("attention.ipynb.txt", GOOD.data),
    "JSON": ("attention.json", GOOD.data),
    "capitals": ("ATTENTION.IPYNB", GOOD.data),
    "no ending": ("attention", GOOD.data),
}


@pytest.mark.parametrize(("name", "data"), OPENED.values(), ids=OPENED)
@pytest.mark.parametrize("make", [moodle, canvas, folders])
def test_a_notebook_is_found_in_a_zip_and_behind_other_endings(tmp_path: Path, make, name: str, data: bytes) -> None:
    klass = Class(tmp_path / "class")
    made = make([Work(ADA, data, name), OTHER])
    done = klass.collect(made)
    assert done.status == 0, done
    student = klass.whose(GOOD.data)
    assert klass.origin(student).name == made.origins[0].name
    assert len(klass.students()) == 2
    assert data in klass.kept(student)[0] or GOOD.data in klass.kept(student)[0]


@pytest.mark.parametrize(
    "files",
    [
        {"report.pdf": b"%PDF-1.7"},
        {"report.pdf": b"%PDF-1.7", "data.json": b"{}", "attention.py": b"x = 1"},
        {"homework.zip": zipped({"report.pdf": b"%PDF-1.7"})},
        {"homework.zip": b"PK\x03\x04 no zip"},
    ],
    ids=["pdf", "several", "a zip without one", "a damaged zip"],
)
@pytest.mark.parametrize("make", [moodle, canvas, brightspace, folders])
def test_who_has_no_notebook_is_a_student_all_the_same(tmp_path: Path, make, files: dict[str, bytes]) -> None:
    """So that `grade` has a row for them, which names what is there."""
    klass = Class(tmp_path / "class")
    name, data = next(iter(files.items()))
    made = make([Work(ADA, data, name, beside=files), OTHER])
    done = klass.collect(made)
    assert done.status == 0, done
    (student,) = klass.students() - klass.notebooks().keys()
    folder = klass.folder / "submitted" / student / "04_attention"
    assert all(any(p.name.endswith(name) for p in folder.iterdir()) for name in (*files, "origin.json"))
    found = klass.origin(student)
    assert found.name == made.origins[0].name
    assert {made.files[path] for path in found.paths} == set(files.values())


def test_a_zip_in_a_zip_is_not_opened_further(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    inner = zipped({"homework.zip": zipped({"attention.ipynb": GOOD.data})})
    assert klass.collect(moodle([Work(ADA, inner, "homework.zip"), OTHER])).status == 0
    assert len(klass.students()) == 2 and len(klass.notebooks()) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"readme.txt": b"hello", "picture.png": b"\x89PNG"},
        {"attention.ipynb": GOOD.data},
        {},
        {"__MACOSX/._attention.ipynb": b"x", ".DS_Store": b"x"},
    ],
    ids=["other files", "a notebook of nobody", "nothing", "junk"],
)
def test_an_archive_in_which_nothing_fits_fails(tmp_path: Path, files: dict[str, bytes]) -> None:
    klass = Class(tmp_path / "class")
    done = klass.collect(Made(files, []))
    assert done.status == 1
    assert not klass.students()
    assert [*done.lines, *done.errors.splitlines()]
