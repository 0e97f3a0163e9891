"""Archives of each platform in docs/platforms.md: each person has what is theirs, with what the platform wrote about it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
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
    canvas,
    flat,
    folders,
    github,
    google,
    gradescope,
    ilias,
    inbound,
    moodle,
    submitted,
    zip_collector,
)
from collected import OTHER_MODULE, Class, Said, notebook
from packing import PACKINGS, pack, unpack

from grader.course import ROOT
from grader.origin import Origin

pytestmark = pytest.mark.long

DOCS = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
GROUPS = tuple(
    Person(name, "", f"group{number}", 50 + number)
    for number, name in enumerate(("Group A", "Group B", "Group 3_B", "7", "The Softmaxers", "Gruppe Ü"))
)
NAMED = tuple(p for p in PEOPLE if p.last)  # where a platform has nobody without a last name
SHORT = tuple(p for p in PEOPLE if len(p.name) < 150)  # where a name is not all that a path holds


@dataclass(frozen=True)
class Case:
    """A layout: how it is made, of whom, and whether the same people are known again in another module."""

    make: Callable[[Sequence[Work]], Made]
    people: Sequence[Person] = PEOPLE
    again: Callable[[Sequence[Work]], Made] | None = None

    @property
    def later(self) -> Callable[[Sequence[Work]], Made]:
        return self.again or self.make


def moodle_case(people: Sequence[Person] = PEOPLE, **options: object) -> Case:
    """In another assignment, everybody has another number."""
    made = partial(moodle, **options)  # type: ignore[arg-type]
    return Case(made, people, partial(made, first=88001))


CASES = {
    "moodle-folders": moodle_case(),
    "moodle-folders-old": moodle_case(old=True),
    "moodle-flat": moodle_case(SHORT, folders=False),
    "moodle-blind": moodle_case(blind=True),
    "moodle-groups": moodle_case(GROUPS),
    "moodle-groups-old": moodle_case(SHORT, old=True, team="Group A"),
    "canvas": Case(canvas),
    "canvas-2018": Case(partial(canvas, style="lower")),
    "canvas-2014": Case(partial(canvas, style="hyphens")),
    "canvas-anonymous": Case(partial(canvas, anonymous=True)),
    "canvas-groups": Case(canvas, GROUPS),
    "brightspace-folders": Case(brightspace, SHORT),
    "brightspace-flat": Case(partial(brightspace, folders=False), SHORT),
    "brightspace-groups": Case(partial(brightspace, group="Group 1"), SHORT),
    "blackboard": Case(blackboard),
    "blackboard-other-language": Case(partial(blackboard, word="poging")),
    "gradescope": Case(gradescope),
    "gradescope-documents": Case(partial(gradescope, documents=True)),
    "github": Case(github),
    "ilias": Case(ilias, NAMED),
    "ilias-teams": Case(partial(ilias, teams=True, word="Abgaben"), NAMED),
    "google": Case(google, tuple(p for p in SHORT if p.last)),
    "nbgrader-exchange": Case(inbound, again=partial(inbound, assignment=OTHER_MODULE)),
    "nbgrader-submitted": Case(submitted, again=partial(submitted, assignment=OTHER_MODULE)),
    "nbgrader-zip-collector": Case(zip_collector),
    "folders": Case(folders),
    "folders-module": Case(partial(folders, inside="04_attention/"), again=partial(folders, inside=f"{OTHER_MODULE}/")),
    "files-person-first": Case(flat),
    "files-person-last": Case(partial(flat, person_last=True)),
    "files-hyphen": Case(partial(flat, join="-")),
}
NOBODY_AGAIN = ("moodle-blind", "canvas-anonymous")  # numbers of one assignment, and no names


def works(people: Sequence[Person], module: str = "04_attention") -> list[Work]:
    """One notebook each, at different times; every third is late, every fourth has a file beside it."""
    name = f"{module.partition('_')[2]}.ipynb"
    return [
        Work(
            person,
            notebook((person.login, module), module=module),
            name,
            NOON + timedelta(minutes=31 * n),
            n % 3 == 1,
            {"my notes_1.txt": f"notes of {person.login}".encode()} if n % 4 == 1 else {},
        )
        for n, person in enumerate(people)
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_person_has_what_is_theirs(tmp_path: Path, case: Case) -> None:
    klass = Class(tmp_path / "class")
    handed_in = works(case.people)
    made = case.make(handed_in)
    done = klass.collect(made)
    assert done.status == 0, done
    assert len(klass.students()) == len(klass.notebooks()) == len(handed_in), done.lines
    for work, origin in zip(handed_in, made.origins, strict=True):
        student = klass.whose(work.data)
        check_origin(klass.origin(student), origin, made, work)
        check_time(klass.time(student), klass.origin(student).time, origin.time)
        (files,) = klass.kept(student)
        assert work.data in files and set(files) <= {*work.files.values(), *made.files.values()}
    check_lines(done, made)


def check_origin(found: Origin, expected: Origin, made: Made, work: Work) -> None:
    """What the platform wrote is kept as it was written; nothing is said that it did not write."""
    assert found.platform == expected.platform
    assert made.files[found.paths[0]] == work.data
    assert found.place in found.paths[0]
    assert found.archive.startswith("archive")
    for field in ("place", "name", "number", "person", "login", "email"):
        if value := getattr(expected, field):
            assert getattr(found, field) == value, field
    assert found.late == expected.late


def check_time(stamp: datetime | None, said: str, expected: str) -> None:
    assert (stamp is None) == (said == "") == (expected == "")
    if stamp is not None:
        assert stamp.replace(microsecond=0) == datetime.fromisoformat(expected)


def check_lines(done: Said, made: Made) -> None:
    """Each file has one line, but for what nobody handed in: the platform's own, and what git keeps."""
    for path in made.files:
        count = len(done.about(path))
        assert count <= 1, path
        if path not in made.own and "/.git/" not in path:
            assert count == 1, (path, done.lines)
    assert not [line for line in done.lines if "/.git/" in line]


@pytest.mark.parametrize("name", [name for name in CASES if name not in NOBODY_AGAIN])
def test_the_same_people_in_another_module(tmp_path: Path, name: str) -> None:
    """Also where that archive was packed again on a Mac, which writes names in another normal form."""
    case, klass = CASES[name], Class(tmp_path / "class")
    first, second = works(case.people), works(case.people, OTHER_MODULE)
    assert klass.collect(case.make(first)).status == 0
    archive = pack(tmp_path / "again.zip", case.later(second).files, "mac")
    assert klass.collect(archive, module=OTHER_MODULE).status == 0
    assert len(klass.students(OTHER_MODULE)) == len(second)
    for one, two in zip(first, second, strict=True):
        assert klass.whose(one.data) == klass.whose(two.data, OTHER_MODULE)


@pytest.mark.parametrize("name", CASES)
def test_wrapped_in_a_folder_it_is_the_same(tmp_path: Path, name: str) -> None:
    """Unpacked, and in two folders more, with what computers leave in folders."""
    case, klass = CASES[name], Class(tmp_path / "class")
    handed_in = works(case.people[:6])
    made = case.make(handed_in)
    files = {f"Week 4/from the platform/{path}": data for path, data in made.files.items()}
    junk = {"Week 4/.DS_Store": b"x", "Week 4/from the platform/Thumbs.db": b"x", "Week 4/desktop.ini": b"x"}
    done = klass.collect(unpack(tmp_path / "downloads", files | junk))
    assert done.status == 0, done
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in handed_in)
    for work, origin in zip(handed_in, made.origins, strict=True):
        found = klass.origin(klass.whose(work.data))
        assert found.platform == origin.platform and found.late == origin.late
        assert (found.time == "") == (origin.time == "")
    assert not any(j in line for line in done.lines for j in ("DS_Store", "Thumbs.db", "desktop.ini"))


# what old code pages can write; cp850 and cp437 agree on these letters
OLD_LETTERS = [
    replace(p, first=n, login=n.lower()) for p, n in zip(PEOPLE, ("Jürgen", "Zoë", "José", "Ana"), strict=False)
]


@pytest.mark.parametrize("how", PACKINGS)
def test_names_are_read_as_they_were_packed(tmp_path: Path, how: str) -> None:
    klass = Class(tmp_path / "class")
    people = OLD_LETTERS if how in ("cp437", "cp850") else PEOPLE
    handed_in = works(people)
    made = moodle(handed_in)
    done = klass.collect(pack(tmp_path / "packed.zip", made.files, how))
    assert done.status == 0
    assert len(klass.students()) == len(people)
    for work, origin in zip(handed_in, made.origins, strict=True):
        found = klass.origin(klass.whose(work.data))
        assert (found.name, found.number) == (origin.name, origin.number)
    assert not any("__MACOSX" in line or "/._" in line for line in done.lines)


def test_where_a_file_itself_has_a_backslash_it_is_no_folder(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    files = {"ada/attention.ipynb": notebook(1), "ben/my\\attention.ipynb": notebook(2)}
    assert klass.collect(files).status == 0
    assert sorted(klass.notebooks().values()) == sorted(files.values())
    assert klass.origin(klass.whose(notebook(2))).name == "ben"


@pytest.mark.parametrize("make", [moodle, partial(moodle, folders=False), canvas], ids=["Moodle", "flat", "Canvas"])
def test_text_typed_into_a_platform_is_that_of_the_same_person(tmp_path: Path, make: Callable[..., Made]) -> None:
    """Moodle and Canvas write it into a file of its own; who has nothing else is a student, too."""
    klass = Class(tmp_path / "class")
    both = [Work(PEOPLE[0], notebook(0), text="see the notebook"), Work(PEOPLE[1], notebook(1))]
    made = make([*both, Work(PEOPLE[2], b"", name="", text="I have no file")])
    assert klass.collect(made).status == 0
    assert sorted(klass.notebooks().values()) == sorted(w.data for w in both)
    (alone,) = klass.students() - klass.notebooks().keys()
    assert klass.origin(alone).name == made.origins[2].name


def table(heading: str) -> set[str]:
    """The ids of a table in docs/platforms.md."""
    part = DOCS.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE))


def test_the_tables_in_the_docs_are_those_of_the_tests() -> None:
    from test_rosters import LISTS

    assert table("Layouts") == CASES.keys()
    assert table("Packing") == PACKINGS.keys()
    assert table("Lists and gradebooks") == LISTS.keys()
