"""Archives in which people chose all names: the archive as a whole, the roster or a pattern says which part is the person."""

import unicodedata
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from archives import (
    PEOPLE,
    Person,
    Work,
    blackboard,
    brightspace,
    canvas,
    github,
    gradescope,
    ilias,
    inbound,
    moodle,
    submitted,
)
from collected import OTHER_MODULE, Class, notebook

pytestmark = pytest.mark.long

NAMES = ("ada", "ben", "cleo", "dan", "emil", "fay")
# by layout: the path of each one's file
PLAIN = {
    "the person's name alone": "{}.ipynb",
    "in a folder of them": "attention/{}.ipynb",
    "between what all have": "hw04-{}-final.ipynb",
    "between blanks": "Homework 4 {} attention.ipynb",
    "in brackets": "attention ({}).ipynb",
    "folders inside folders": "{}/hand-in/final/attention.ipynb",
    "the name twice": "{0}/{0}_attention.ipynb",
}
NUMBERS = ("1023401", "1023402", "1023407", "1024411", "2013500", "2013501")


@pytest.mark.parametrize("names", [NAMES, NUMBERS], ids=["names", "numbers"])
@pytest.mark.parametrize("layout", PLAIN)
def test_the_whole_archive_makes_plain_which_part_is_the_person(
    tmp_path: Path, layout: str, names: tuple[str, ...]
) -> None:
    klass = Class(tmp_path / "class")
    files = {PLAIN[layout].format(name): notebook(name) for name in names}
    assert klass.collect(files).status == 0
    assert klass.notebooks() == {name: notebook(name) for name in names}


def test_sections_are_not_people(tmp_path: Path) -> None:
    """A folder that is called so, and that several share, is none of a person."""
    klass = Class(tmp_path / "class")
    files = {f"section {n % 2}/{name}/attention.ipynb": notebook(name) for n, name in enumerate(NAMES)}
    assert klass.collect(files).status == 0
    assert klass.notebooks() == {name: notebook(name) for name in NAMES}


def test_in_folders_of_people_files_have_any_name(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    names = (
        "attention.ipynb",
        "my homework.ipynb",
        "a/b/attention (1).ipynb",
        "ada_attention.ipynb",
        "ben.ipynb",
        "x.ipynb",
    )
    files = {f"{name}/{file}": notebook(name) for name, file in zip(NAMES, names, strict=True)}
    done = klass.collect(files | {"attention.ipynb": notebook("stray"), "readme.txt": b"hello"})
    assert klass.notebooks() == {name: notebook(name) for name in NAMES}
    assert done.verb("attention.ipynb") == done.verb("readme.txt") == "skipped"


def test_numbers_that_browsers_add_are_none_of_a_name(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    ends = ("", " (1)", "-2", "", " (3)", "")
    files = {f"{name}_attention{end}.ipynb": notebook(name) for name, end in zip(NAMES, ends, strict=True)}
    assert klass.collect(files).status == 0
    assert klass.notebooks() == {name: notebook(name) for name in NAMES}


def test_one_file_of_another_name_is_nobody_elses(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    files = {f"{name}_attention.ipynb": notebook(name) for name in NAMES} | {"homework gus.ipynb": notebook("gus")}
    done = klass.collect(files)
    found = klass.notebooks()
    assert {name: found[name] for name in NAMES} == {name: notebook(name) for name in NAMES}
    assert done.verb("homework gus.ipynb") == "skipped" or klass.whose(notebook("gus")) not in NAMES


ROSTER = "id,first_name,last_name,email\n" + "".join(f"{n},{n.title()},Lovelace,{n}@uni.example\n" for n in NAMES)


def test_the_roster_decides_where_names_have_no_order(tmp_path: Path) -> None:
    """As in a folder of Google Drive. Who is in nobody's name is nobody's, and the lines say what decided."""
    klass = Class(tmp_path / "class")
    klass.roster(ROSTER)
    names = ("Final ada.ipynb", "ben-work.ipynb", "Copy of attention Cleo Lovelace.ipynb", "attention (dan).ipynb")
    files = {name: notebook(who) for name, who in zip(names, NAMES, strict=False)}
    done = klass.collect(files | {"Rapport.ipynb": notebook("whose?")})
    assert klass.notebooks() == {name: notebook(name) for name in NAMES[:4]}
    assert done.verb("Rapport.ipynb") == "skipped"
    assert all("roster" in done.about(name)[0] for name in names)


def test_a_name_in_which_two_of_the_roster_are_is_not_guessed(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.roster(ROSTER)
    files = {"ada and ben.ipynb": notebook(1), "cleo's.ipynb": notebook("cleo"), "Lovelace.ipynb": notebook(2)}
    done = klass.collect(files)
    assert klass.notebooks() == {"cleo": notebook("cleo")}
    assert done.verb("ada and ben.ipynb") == done.verb("Lovelace.ipynb") == "skipped" and done.status == 1


ONE: Mapping = {
    "moodle": moodle,
    "moodle flat": partial(moodle, folders=False),
    "canvas": canvas,
    "brightspace": brightspace,
    "brightspace flat": partial(brightspace, folders=False),
    "blackboard": blackboard,
    "gradescope": gradescope,
    "github": github,
    "ilias": ilias,
    "nbgrader": inbound,
    "submitted": submitted,
}


@pytest.mark.parametrize("platform", ONE)
def test_what_a_platform_wrote_is_known_also_of_one_student(tmp_path: Path, platform: str) -> None:
    """The first who handed in, or one whom a teacher selected."""
    klass = Class(tmp_path / "class")
    work = Work(Person("Ada Maria", "Lovelace", "ada", 31), notebook("ada"))
    made = ONE[platform]([work])
    assert klass.collect(made).status == 0
    found = klass.origin(klass.whose(work.data))
    (expected,) = made.origins
    assert (found.platform, found.number or expected.number) == (expected.platform, expected.number or found.number)
    assert not expected.name or found.name == expected.name


def test_the_name_in_a_folder_that_was_unpacked_with_underscores(tmp_path: Path) -> None:
    """Some programs write them for blanks; the number is still the number."""
    klass = Class(tmp_path / "class")
    files = {
        f"{name}_{657737 + n}_assignsubmission_file_/attention.ipynb": notebook(n)
        for n, name in enumerate(("Jonathan_Hoyte", "Ana_de_la_Cruz", "Mary-Ann_Smith_2"))
    }
    assert klass.collect(files).status == 0
    for n in range(3):
        assert klass.origin(klass.whose(notebook(n))).number == str(657737 + n)


def test_moodles_default_group_has_no_number(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    made = moodle(
        [Work(Person("Group A", "", "a", 1), notebook("a")), Work(Person("Group B", "", "b", 2), notebook("b"))]
    )
    path = "Default group_assignsubmission_file/attention.ipynb"
    done = klass.collect(made.files | {path: notebook("default")})
    assert {notebook("a"), notebook("b")} <= set(klass.notebooks().values())
    assert done.verb(path) == "skipped" or klass.origin(klass.whose(notebook("default"))).name == "Default group"


def test_an_archive_of_another_module_is_told_so(tmp_path: Path) -> None:
    """What was handed in for another module is nobody's work in this one, but they did hand something in."""
    klass = Class(tmp_path / "class")
    works = [Work(p, notebook(p.login, module=OTHER_MODULE), "activations.ipynb") for p in PEOPLE[:5]]
    done = klass.collect(moodle(works))
    assert len(klass.students()) == 5
    assert sum("another module" in line or "02_activations" in line for line in done.lines) == 5


def in_folders(*names: str) -> list[str]:
    return [f"{name}/attention.ipynb" for name in names]


ALIKE_BUT_PLAIN: Mapping = {
    "tutorials": (in_folders("Tutorial 1/ada", "Tutorial 1/ben", "Tutorial 2/cleo"), ["ada", "ben", "cleo"]),
    "sections of files": (
        ["Section A/ada_attention.ipynb", "Section A/ben_attention.ipynb", "Section B/cleo_attention.ipynb"],
        ["ada", "ben", "cleo"],
    ),
    "numbers like Canvas's": ([f"attention_2026_03_{n}.ipynb" for n in ("ada", "ben")], ["ada", "ben"]),
    "dates like Canvas's": ([f"2026_03_01_{n}_attention.ipynb" for n in ("ada", "ben")], ["ada", "ben"]),
    "names like ILIAS's": (
        in_folders("ada_lovelace_section_1", "ben_kim_section_1"),
        ["ada_lovelace_section_1", "ben_kim_section_1"],
    ),
    "files like Canvas's": (
        ["Student 1/lovelaceada_11_22_attention.ipynb", "Student 2/lovelaceada_11_23_attention.ipynb"],
        ["student-1", "student-2"],
    ),
    "words that are the same in all": (["CS101_ada_attention.ipynb", "CS101_ben_attention.ipynb"], ["ada", "ben"]),
}


@pytest.mark.parametrize(("files", "people"), ALIKE_BUT_PLAIN.values(), ids=ALIKE_BUT_PLAIN)
def test_what_only_looks_like_a_platforms_is_read_as_it_is(tmp_path: Path, files: list[str], people: list[str]) -> None:
    klass = Class(tmp_path / "class")
    assert klass.collect({path: notebook(path) for path in files}).status == 0
    assert klass.notebooks() == {who: notebook(path) for who, path in zip(people, files, strict=True)}


def test_one_name_in_two_sections_is_not_guessed(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    done = klass.collect(
        {p: notebook(p) for p in in_folders("Monday/ada", "Monday/ben", "Monday/cy", "Tuesday/ada", "Tuesday/di")}
    )
    assert done.status == 1 and not klass.students() and "--pattern" in done.errors


def test_newcomers_of_a_class_whose_files_are_called_as_they_are(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.collect({"Ada Lovelace.ipynb": notebook(1), "Ben Kim.ipynb": notebook(2)})
    assert klass.collect({"Ada Lovelace.ipynb": notebook(1), "Cy Doe.ipynb": notebook(3)}).status == 0
    assert klass.students() == {"ada-lovelace", "ben-kim", "cy-doe"}


BEFORE: Mapping = {
    "a plain folder, then Moodle": ("ada-lovelace", "Ada Lovelace_77_assignsubmission_file_/attention.ipynb"),
    "a plain folder, then Canvas": ("ada-lovelace", "lovelaceada_1_2_attention.ipynb"),
    "0.1.0's folder of Canvas": ("lovelaceada_1234567", "lovelaceada_1234567_9_attention.ipynb"),
    "a folder in decomposed letters": (unicodedata.normalize("NFD", "José"), "José/attention.ipynb"),
}


@pytest.mark.parametrize(("folder", "path"), BEFORE.values(), ids=BEFORE)
def test_folders_that_were_there_are_the_same_people(tmp_path: Path, folder: str, path: str) -> None:
    klass = Class(tmp_path / "class")
    place = klass.folder / "submitted" / folder / "04_attention"
    place.mkdir(parents=True)
    (place / "attention.ipynb").write_bytes(notebook("old"))
    assert klass.collect({path: notebook("new")}).status == 0
    assert klass.notebooks() == {folder: notebook("new")}


def test_the_written_name_beats_the_name_of_a_folder(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.collect({"a b/attention.ipynb": notebook("a b"), "c/attention.ipynb": notebook("c")})
    klass.collect({f"{n}/attention.ipynb": notebook(n) for n in ("a-b", "a b", "c")})
    assert klass.whose(notebook("a b"), "04_attention") == "a-b" and len(klass.students()) == 3


def test_a_roster_is_known_by_either_order_of_a_name(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.roster("id,first_name,last_name,email\nada,Ada,Lovelace,a@x\nben,Ben,Kim,b@x\n")
    klass.collect({"Lovelace Ada_1_assignsubmission_file_/attention.ipynb": notebook("ada")})
    klass.collect({"ben_kim/attention.ipynb": notebook("ben")})
    assert klass.notebooks() == {"ada": notebook("ada"), "ben": notebook("ben")}


def test_a_class_of_another_modules_notebooks_fails(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    done = klass.collect({f"{n}/attention.ipynb": notebook(n, module=OTHER_MODULE) for n in ("ada", "ben")})
    assert done.status == 1 and "no notebook of 04_attention is in it" in done.errors


def test_ids_of_the_roster_that_begin_alike_stay_whole(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.roster("id,first_name,last_name,email\nuni-ada,Ada,L,a@x\nuni-ben,Ben,K,b@x\n")
    klass.collect({f"{who}_attention.ipynb": notebook(who) for who in ("uni-ada", "uni-ben")})
    assert klass.notebooks() == {who: notebook(who) for who in ("uni-ada", "uni-ben")}
