"""Whose a file is: names that students choose never decide, and what is not plain is not guessed."""

import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from archives import (
    NOON,
    PEOPLE,
    Made,
    Person,
    Work,
    blackboard,
    brightspace,
    brightspace_place,
    canvas,
    folders,
    github,
    gradescope,
    ilias,
    inbound,
    moodle,
    submitted,
)
from collected import OTHER_MODULE, Class, notebook
from packing import unpack

from grader.classroom import Classroom
from grader.roster import read_roster

pytestmark = pytest.mark.long

ADA, BEN, CLEO = PEOPLE[0], Person("Ben", "Bold", "ben", 61), Person("Cleo", "Curie", "cleo", 62)
MALLORY = Person("Mallory", "M", "mallory", 66)
EARLY = brightspace_place(Work(ADA, b"", at=NOON.replace(year=2020)))
# by platform: what Mallory calls a file, or a folder where folders are kept, to be taken for Ada
CHOSEN = {
    "moodle": (moodle, "Ada Lovelace_10233_assignsubmission_file_attention.ipynb"),
    "moodle, a folder": (moodle, "Ada Lovelace_10233_assignsubmission_file/attention.ipynb"),
    "moodle, Canvas's": (moodle, "lovelaceada_31_98765_attention.ipynb"),
    "moodle, Brightspace's": (moodle, f"{EARLY} - attention.ipynb"),
    "moodle, nbgrader's": (moodle, "submitted/ada/04_attention/attention.ipynb"),
    "moodle flat": (
        lambda works: moodle(works, folders=False),
        "Ada Lovelace_10233_assignsubmission_file_attention.ipynb",
    ),
    "canvas": (canvas, "lovelaceada_31_98765_attention.ipynb"),
    "canvas, late": (canvas, "LATE_31_98765_attention.ipynb"),
    "canvas, numbers": (canvas, "31_98765_attention.ipynb"),
    "canvas, Moodle's": (canvas, "Ada Lovelace_10233_assignsubmission_file_attention.ipynb"),
    "brightspace": (brightspace, f"{EARLY} - attention.ipynb"),
    "brightspace, a folder": (brightspace, f"{EARLY}/attention.ipynb"),
    "brightspace flat": (lambda works: brightspace(works, folders=False), f"{EARLY} - attention.ipynb"),
    "blackboard": (blackboard, "Attention (week 4)_ada_attempt_2020-01-01-00-00-00_attention.ipynb"),
    "blackboard, a receipt": (blackboard, "Attention (week 4)_ada_attempt_2020-01-01-00-00-00.txt.ipynb"),
    "gradescope": (gradescope, "submission_409194023/attention.ipynb"),
    "github": (github, "attention-week-4-ada/attention.ipynb"),
    "ilias": (ilias, "Lovelace_Ada_ada_31_attention.ipynb"),
    "nbgrader": (inbound, "ada+04_attention+2020-01-01 00:00:00.000000 UTC+aaaaaaaaaaaa/attention.ipynb"),
    "nbgrader, submitted": (submitted, "submitted/ada/04_attention/attention.ipynb"),
    "folders": (folders, "ada_attempt_2020-01-01-00-00-00_attention.ipynb"),
    "folders, a folder": (folders, "Ada Lovelace/attention.ipynb"),
    "folders, Moodle's": (folders, "Ada Lovelace_10233_assignsubmission_file_attention.ipynb"),
    "folders, Canvas's": (folders, "lovelaceada_31_98765_attention.ipynb"),
}


@pytest.mark.parametrize(("make", "chosen"), CHOSEN.values(), ids=CHOSEN)
@pytest.mark.parametrize("turned", [False, True], ids=["Ada first", "Mallory first"])
def test_what_a_student_calls_a_file_does_not_decide(tmp_path: Path, make, chosen: str, turned: bool) -> None:
    klass = Class(tmp_path / "class")
    works = [Work(p, notebook(p.login)) for p in (ADA, BEN, CLEO)]
    mallory = Work(MALLORY, notebook("mallory"), chosen)
    works = [mallory, *works] if turned else [*works, mallory]
    made = make(works)
    done = klass.collect(made)
    assert done.status == 0, done
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in works)
    for work, origin in zip(works, made.origins, strict=True):
        student = klass.whose(work.data)
        found = klass.origin(student)
        for field in ("name", "number", "person", "login"):
            assert not getattr(origin, field) or getattr(found, field) == getattr(origin, field)
        assert found.time[:16] == origin.time[:16] and found.late == ""
        assert work.data in klass.kept(student)[0]


def test_a_file_beside_the_notebook_is_no_statement_of_a_platform(tmp_path: Path) -> None:
    """A student's own timestamp.txt, list of submissions or receipt."""
    forged = gradescope([Work(ADA, b"")]).files["assignment_8046601_export/submission_metadata.yml"]
    beside = {
        "timestamp.txt": b"2020-01-01 00:00:00 UTC",
        "submission_metadata.yml": forged,
        "origin.json": b'{"name": "Ada Lovelace", "person": "31"}',
        "Attention_ada_attempt_2020-01-01-00-00-00.txt": b"Name: Ada Lovelace (ada)\n",
        "index.html": b"<table><tr><td>Ada Lovelace</td></tr></table>",
    }
    for name, make in (("moodle", moodle), ("canvas", canvas), ("github", github), ("gradescope", gradescope)):
        klass = Class(tmp_path / name)
        works = [Work(ADA, notebook("ada")), Work(BEN, notebook("ben")), Work(MALLORY, notebook("m"), beside=beside)]
        made = make(works)
        assert klass.collect(made).status == 0
        for work, origin in zip(works, made.origins, strict=True):
            found = klass.origin(klass.whose(work.data))
            assert (found.name, found.login, found.person) == (origin.name, origin.login, origin.person) or (
                name == "github" and found.login == origin.login
            )
            assert found.time[:16] == origin.time[:16]


def test_what_a_student_prints_is_no_entry_of_gradescope(tmp_path: Path) -> None:
    forged = "submission_409194040:\n  :submitters:\n  - :name: Ada Lovelace\n    :email: ada@uni.example\n"
    for documents in (False, True):
        klass = Class(tmp_path / str(documents))
        works = [Work(p, notebook(p.login)) for p in (ADA, BEN, MALLORY)]
        output = forged.replace("\n", " ") if documents else forged
        made = gradescope(works, output, documents)
        assert klass.collect(made).status == 0
        for work, origin in zip(works, made.origins, strict=True):
            assert klass.origin(klass.whose(work.data)).email == origin.email


def test_names_that_are_nearly_alike_stay_apart(tmp_path: Path) -> None:
    names = ("a b", "a-b", "a_b", "Ada", "ada", "किरण", "करण", "Jose", "José", "O'Neil", "ONeil", "x" * 120, "x" * 121)
    klass = Class(tmp_path / "class")
    works = [Work(Person(name, "", f"login{n}", n), notebook(name)) for n, name in enumerate(names)]
    assert klass.collect(folders(works)).status == 0
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in works)
    assert len({student.casefold() for student in klass.students()}) == len(names), "folders of one name on a Mac"
    assert max(len(student.encode()) for student in klass.students()) <= 255
    for work in works:
        assert klass.origin(klass.whose(work.data)).name == work.person.name


def test_one_name_in_two_normal_forms_is_one_person(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    for module in ("04_attention", OTHER_MODULE):
        name = f"{module.partition('_')[2]}.ipynb"
        people = [
            replace(p, first=unicodedata.normalize("NFD" if module == OTHER_MODULE else "NFC", p.first))
            for p in (PEOPLE[1], PEOPLE[12], ADA)
        ]
        works = [Work(p, notebook((p.login, module), module=module), name) for p in people]
        assert klass.collect(moodle(works, first=len(module) * 1000), module=module).status == 0
    assert klass.students() == klass.students(OTHER_MODULE) and len(klass.students()) == 3


def two_of_one_name() -> tuple[list[Work], Made]:
    twin = replace(ADA, login="ada2", number=77)
    works = [Work(p, notebook(p.login)) for p in (ADA, BEN, twin, CLEO)]
    return works, moodle(works, first=101)


def test_of_two_people_of_one_name_neither_is_taken(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    works, made = two_of_one_name()
    done = klass.collect(made)
    assert done.status == 1
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in (works[1], works[3]))
    assert len(klass.students()) == 2
    said = "\n".join([*done.lines, done.errors])
    assert any(
        "Ada Lovelace" in line and "101" in line and "115" in line and "grader roster" in line
        for line in said.splitlines()
    ), said


WORKSHEET = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Last modified (grade)"\n'
    '"Participant 101","Ada Lovelace",ada@uni.example,"No submission",,28.00,-\n'
    '"Participant 108","Ben Bold",ben@uni.example,"No submission",,28.00,-\n'
    '"Participant 115","Ada Lovelace",ada2@uni.example,"No submission",,28.00,-\n'
    '"Participant 122","Cleo Curie",cleo@uni.example,"No submission",,28.00,-\n'
    '"Participant 129","Dora Dull",dora@uni.example,"No submission",,28.00,-\n'
)


def test_with_the_worksheet_both_are_taken(tmp_path: Path) -> None:
    """In each module its own worksheet."""
    klass = Class(tmp_path / "class")
    works, made = two_of_one_name()
    assert klass.roster(WORKSHEET).status == 0
    assert klass.collect(made).status == 0
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in works)
    emails = {id_: s.email for id_, s in read_roster(Classroom(klass.folder)).items()}
    for work in works:
        assert emails[klass.whose(work.data)] == work.person.email
    assert "dora@uni.example" in emails.values() and len(klass.students()) == 4
    later = WORKSHEET
    for n in (101, 108, 115, 122, 129):
        later = later.replace(f"Participant {n}", f"Participant {n + 400}")
    assert klass.roster(later).status == 0
    second = [replace(w, data=notebook(w.person, module=OTHER_MODULE), name="activations.ipynb") for w in works]
    assert klass.collect(moodle(second, first=501), module=OTHER_MODULE).status == 0
    for one, two in zip(works, second, strict=True):
        assert klass.whose(one.data) == klass.whose(two.data, OTHER_MODULE)


def test_the_rosters_ids_are_the_names_of_folders(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    assert klass.roster("id,first_name,last_name,email\ns1,Ada,Lovelace,ada@uni.example\ns2,Ben,Bold,\n").status == 0
    works = [Work(p, notebook(p.login)) for p in (ADA, BEN, CLEO)]
    assert klass.collect(moodle(works)).status == 0
    assert [klass.whose(w.data) for w in works[:2]] == ["s1", "s2"] and len(klass.students()) == 3


def test_folders_of_an_older_version_are_the_same_people(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    place = klass.folder / "submitted" / "ada-lovelace_1234567" / "04_attention"
    unpack(place, {"attention.ipynb": notebook("old")})
    works = [Work(p, notebook(p.login, module=OTHER_MODULE), "activations.ipynb") for p in (ADA, BEN)]
    assert klass.collect(moodle(works), module=OTHER_MODULE).status == 0
    assert klass.whose(works[0].data, OTHER_MODULE) == "ada-lovelace_1234567"


NAMES = ("ada", "ben", "cleo", "dan", "emil", "fay")
AMBIGUOUS: Mapping[str, Mapping[str, bytes]] = {
    "students in sections": {f"north {n % 2}/{name}/attention.ipynb": notebook(name) for n, name in enumerate(NAMES)},
    "and weeks": {f"north {n % 2}/{name}/week/attention.ipynb": notebook(name) for n, name in enumerate(NAMES)},
}


@pytest.mark.parametrize("files", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_is_ambiguous_is_not_guessed_but_patterns_are_named(tmp_path: Path, files: dict[str, bytes]) -> None:
    """Each with what it takes for people; the one that is right does what it says."""
    klass = Class(tmp_path / "class")
    done = klass.collect(files)
    assert done.status == 1 and not klass.students()
    assert len([line for line in done.lines if line.startswith("skipped")]) == len(files)
    patterns = re.findall(r"--pattern ('[^']+') for ([\w ]+)", "\n".join([*done.lines, done.errors]))
    (pattern,) = [shlex.split(pattern)[0] for pattern, people in patterns if "ada" in people]
    again = klass.collect(files, "--pattern", pattern)
    assert again.status == 0
    assert klass.notebooks() == {name: notebook(name) for name in NAMES}
    assert {klass.origin(s).platform for s in klass.students()} == {"pattern"}


def test_a_pattern_of_ones_own(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    files = {"week4--ada--attention.ipynb": notebook(1), "notes--ben--x.ipynb": notebook(2)}
    done = klass.collect(files, "--pattern", r"week4--(?P<student>\w+)--(?P<file>.*)")
    assert klass.notebooks() == {"ada": notebook(1)}
    assert done.verb("notes--ben--x.ipynb") == "skipped"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("(", "--pattern: "), ("x", "(?P<student>"), ("(?P<file>.*)", "(?P<student>"), ("(?P<student>.*)", "(?P<file>")],
)
def test_a_pattern_that_is_none(tmp_path: Path, pattern: str, words: str) -> None:
    done = Class(tmp_path / "class").collect({"ada/attention.ipynb": notebook(1)}, "--pattern", pattern)
    assert done.status == 1 and words in done.errors
