"""Pages go back to the person they are about: each platform's own rule for names, applied to the archive that is made for it.

The rules are those of the platforms' sources: see docs/platforms.md.
"""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from answers import submission
from small import MODULE, SMALL

from grader import cli
from grader.classroom import Classroom
from grader.errors import CourseError
from grader.origin import Origin, write_origin
from grader.platforms import give_back as giving
from grader.platforms.collect import collect
from grader.platforms.give_back import give_back
from grader.roster import Student, write_roster
from grader.sandbox import pool

NO_PAGE = f"there is no page; if something was handed in, run `python -m grader grade {MODULE}` first"


@pytest.fixture(autouse=True)
def _of_the_small_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving, "load_assignment", lambda _module: SMALL)


@dataclass(frozen=True)
class Class:
    """A class to which people with pages are added."""

    classroom: Classroom

    def add(self, student: str, origin: Origin | None = None, page: bool = True) -> None:
        folder = self.classroom.submitted(student, MODULE)
        folder.mkdir(parents=True)
        if origin is not None:
            write_origin(folder, origin)
        if page:
            self.page(student).parent.mkdir(parents=True)
            self.page(student).write_bytes(f"page of {student}".encode(errors="replace"))

    def page(self, student: str) -> Path:
        return self.classroom.folder / "feedback" / student / MODULE / "small.html"

    def pages(self, platform: str) -> dict[str, str]:
        """Whose page is where in the archive."""
        given = give_back(MODULE, self.classroom, platform)
        with zipfile.ZipFile(given.path) as archive:
            found = {name: archive.read(name).decode().removeprefix("page of ") for name in archive.namelist()}
        assert len(found) == given.pages
        return found

    def left_out(self, platform: str) -> tuple[str, ...]:
        return give_back(MODULE, self.classroom, platform).left_out


@pytest.fixture
def klass(tmp_path: Path) -> Class:
    return Class(Classroom(tmp_path))


def moodle(name: str, number: int, place: str = "") -> Origin:
    return Origin("moodle", place=place or f"{name}_{number}_assignsubmission_file", name=name, number=str(number))


def moodle_takes(names: Mapping[str, str], participants: Mapping[int, str]) -> dict[str, tuple[str, str]]:
    """Who gets which page, and as which file: importziplib.php, is_valid_filename_for_import and import_zip_files.

    participants  by number
    """
    taken = {}
    for path, page in names.items():
        parts = path.split("/")
        for place, component in enumerate(parts):
            if component.startswith((".", "~")):
                continue
            cut = component.split("_", 4)
            if len(cut) < 4 or not re.fullmatch(r"\d+", cut[1]) or int(cut[1]) not in participants:
                continue
            if (cut[2], cut[3]) in {
                ("assignsubmission", "file"),
                ("assignsubmission", "onlinetext"),
                ("assignfeedback", "file"),
            }:
                rest = "/".join([*cut[4:], *parts[place + 1 :]])
                taken[participants[int(cut[1])]] = (page, rest.lstrip("/"))
                break
    return taken


def test_moodle_gives_each_page_to_its_person(klass: Class) -> None:
    there = {
        "anna": moodle("Anna Maria Müller", 10233),
        "before-4-1": moodle("Sean OBrien", 10234, "Sean OBrien_10234_assignsubmission_file_"),
        "flat": moodle("x y 2nd", 10237, "x y 2nd_10237_assignsubmission_file_my_file_v2.ipynb"),
        "text": moodle("Jean-Luc", 10235, "Jean-Luc_10235_assignsubmission_onlinetext"),
        "blind": moodle("Participant", 10238),
        "unpacked-with-underscores": moodle("Jonathan Hoyte", 657737, "Jonathan_Hoyte_657737_assignsubmission_file_"),
        "no-place": moodle("a_b/c", 7, "elsewhere"),
        "chinese": moodle("张 伟", 10236),
        "7": moodle("4 5 6", 12, "4 5 6_12_assignsubmission_file"),
    }
    for student, origin in there.items():
        klass.add(student, origin)
    pages = klass.pages("moodle")
    taken = moodle_takes(pages, {int(origin.number): student for student, origin in there.items()})
    assert {student: page for student, (page, _) in taken.items()} == {student: student for student in there}
    assert {file for _, file in taken.values()} == {"small.html"}
    assert "Anna Maria Müller_10233_assignsubmission_file/small.html" in pages
    assert "Sean OBrien_10234_assignsubmission_file_/small.html" in pages


def test_a_group_of_moodle_without_a_number_cannot_be_given_back(klass: Class) -> None:
    klass.add("default", Origin("moodle", place="Default group_assignsubmission_file", name="Default group"))
    klass.add("anna", moodle("Anna", 1))
    assert klass.left_out("moodle") == ("Moodle gave no number of a participant: Default group (default)",)


def canvas(place: str, person: str = "4711", number: str = "98765") -> Origin:
    return Origin("canvas", place=place, person=person, number=number)


def canvas_takes(name: str) -> tuple[str, str] | None:
    """The person and the file that Canvas reads from a name: abstract_assignment.rb, infer_comment_context_from_filename.

    A name that is ignored gives None; an anonymous one has "anon" and its letters as the person.
    """
    base = name.rpartition("/")[2]
    parts = [part for part in base.split("_") if part != "LATE"]
    if parts[0] == "anon":
        person, file = f"anon {parts[1]}", parts[2] if re.fullmatch("[0-9]+", parts[2]) else ""
    else:
        numbers = [part for part in parts if re.fullmatch("[0-9]+", part)][:2]
        if len(numbers) < 2:
            return None
        person, file = numbers
    ignored = parts[-1].startswith("link") or base.startswith("._") or not file
    return None if ignored else (person, file)


@pytest.mark.parametrize(
    ("place", "person", "name"),
    [
        ("obrienmaryann_4711", "4711", "obrienmaryann_4711_98765_small.html"),
        ("obrienmaryann_LATE_4711", "4711", "obrienmaryann_LATE_4711_98765_small.html"),
        ("ивановпётр_LATE_4711", "4711", "ивановпётр_LATE_4711_98765_small.html"),
        ("de_la_cruzana_4711", "4711", "de_la_cruzana_4711_98765_small.html"),
        ("o-brien--mary-ann-late_4711", "4711", "o-brien--mary-ann-late_4711_98765_small.html"),
        ("7_4711", "4711", "student_4711_98765_small.html"),  # a group called "7": the first number is the person's
        ("a_12_4711", "4711", "student_4711_98765_small.html"),
        ("anon_4711", "4711", "student_4711_98765_small.html"),  # a student whose name is "anon"
        ("anon_LATE_4711", "4711", "student_4711_98765_small.html"),
        ("_4711", "4711", "student_4711_98765_small.html"),
        ("", "4711", "student_4711_98765_small.html"),
    ],
)
def test_canvas_gives_each_page_to_its_person(klass: Class, place: str, person: str, name: str) -> None:
    klass.add("ada", canvas(place, person))
    assert klass.pages("canvas") == {name: "ada"} and canvas_takes(name) == ("4711", "98765")


@pytest.mark.parametrize("person", ["", "aB3xY"])
@pytest.mark.parametrize("place", ["anon_aB3xY", "LATE_anon_aB3xY"])
def test_an_anonymous_page_of_canvas(klass: Class, place: str, person: str) -> None:
    klass.add("ada", canvas(place, person))
    (name,) = klass.pages("canvas")
    assert name == f"{place}_98765_small.html" and canvas_takes(name) == ("anon aB3xY", "98765")


def test_a_notebook_whose_name_canvas_would_take_for_a_link(klass: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    klass.add("ada", canvas("ada_4711"))
    page = klass.page("ada").rename(klass.page("ada").parent / "my_links.html")
    monkeypatch.setattr(giving, "load_assignment", lambda _module: type("A", (), {"notebook": page.stem}))
    (name,) = klass.pages("canvas")
    assert canvas_takes(name) == ("4711", "98765")


def test_what_canvas_gave_no_numbers_for_is_said(klass: Class) -> None:
    klass.add("text", canvas("ada_4711", number=""))
    klass.add("nobody", canvas("ben", person=""))
    klass.add("ada", canvas("ada_4711"))
    assert klass.left_out("canvas") == (
        "Canvas gave no number of a person: nobody",
        "Canvas gave no number of a file, as for text entries and links: text",
    )


def test_brightspace_gets_the_names_of_its_download(klass: Class) -> None:
    place = "397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM"
    flat = "57006-96739 - Erik Dengler - May 6, 2020 231 PM"
    klass.add("mary", Origin("brightspace", place=place, paths=(f"{place}/document.ipynb",)))
    klass.add("erik", Origin("brightspace", place=flat, paths=(f"{flat} - Lab-One.ipynb",)))
    assert klass.pages("brightspace") == {f"{place}/small.html": "mary", f"{flat} - small.html": "erik"}


def test_plain_names_are_those_of_students(klass: Class) -> None:
    klass.add("ada")
    klass.add("bén", moodle("Ben", 1))
    assert klass.pages("plain") == {f"ada/{MODULE}.html": "ada", f"bén/{MODULE}.html": "bén"}


def test_a_folder_whose_name_is_no_text(klass: Class) -> None:
    klass.add("ad\udce4")
    assert list(klass.pages("plain")) == [f"ad_udce4/{MODULE}.html"]


def test_who_has_no_page_and_who_came_from_elsewhere_is_said(klass: Class) -> None:
    write_roster(klass.classroom, [Student("zoe", name="Zoe Z."), Student("dan", dropped=True)])
    klass.add("ada", moodle("Ada", 1))
    klass.add("ben", moodle("Ben", 2), page=False)
    klass.add("cleo", canvas("cleo_4711"))
    klass.add("dan", moodle("Dan", 3))
    klass.page("old").parent.mkdir(parents=True)
    klass.page("old").write_text("page of old")
    assert list(klass.pages("moodle").values()) == ["ada"]
    assert klass.left_out("moodle") == (
        f"{NO_PAGE}: Ben (ben), Zoe Z. (zoe)",
        "what was handed in did not come from moodle, so it is not known under which name it takes the page: cleo",
        "left out, since they are no longer in the class: dan, old",
    )


def test_two_students_of_one_number_get_no_page(klass: Class) -> None:
    klass.add("ada", moodle("Ada", 1))
    klass.add("ben", moodle("Ben", 1))
    klass.add("cleo", moodle("Cleo", 2))
    assert list(klass.pages("moodle").values()) == ["cleo"]
    assert klass.left_out("moodle") == (
        "several students have the same number or place on the platform: Ada (ada), Ben (ben)",
    )


def test_the_same_pages_make_the_same_bytes(klass: Class, tmp_path: Path) -> None:
    for student in ("ada", "ben"):
        klass.add(student)
    first = give_back(MODULE, klass.classroom, "plain").path.read_bytes()
    klass.page("ada").touch()
    second = give_back(MODULE, klass.classroom, "plain", tmp_path / "x.zip")
    assert second.path == tmp_path / "x.zip" and second.path.read_bytes() == first


def test_there_is_nothing_to_give_back(klass: Class) -> None:
    klass.add("ada")
    with pytest.raises(
        CourseError, match=f"there is nothing to give back for {MODULE} to moodle; what was handed in did not"
    ):
        give_back(MODULE, klass.classroom, "moodle")
    assert not list(klass.classroom.folder.glob("*.zip"))


def test_a_page_that_cannot_be_read_is_a_failure_and_the_others_are_given(
    klass: Class, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from grader.pages import feedback

    monkeypatch.setattr(feedback, "write_feedback", lambda *_: feedback.FeedbackPages(("ada", "ben"), {}, ()))
    klass.add("ada")
    klass.add("ben")
    klass.page("ben").unlink()
    klass.page("ben").symlink_to("/etc/hostname")
    command = ["feedback", MODULE, "--class", str(klass.classroom.folder), "--zip", "plain"]
    assert cli.main(command) == 1
    printed = capsys.readouterr()
    assert f"{klass.page('ben')}: it cannot be read (it is a link, and links are not followed)" in printed.err
    assert f"feedback: {klass.classroom.folder}/feedback-{MODULE}-plain.zip: 1 pages for plain" in printed.out
    klass.page("ben").unlink()
    assert cli.main(command) == 0
    assert f"feedback: {NO_PAGE}: ben" in capsys.readouterr().err


def test_an_output_without_an_archive_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["feedback", MODULE, "--output", "x.zip"])
    assert caught.value.code == 2 and "--output goes with --zip" in capsys.readouterr().err


ROUND = {
    "moodle": {
        "Anna Maria Müller_10233_assignsubmission_file/src/attention.ipynb": "10233",
        "Sean OBrien_10234_assignsubmission_file/attention_final.ipynb": "10234",
        "x y 2nd_10237_assignsubmission_file/my_file.ipynb": "10237",
    },
    "canvas": {
        "obrienmaryann_LATE_4711_98765_attention (1).ipynb": "4711 98765",
        "de_la_cruzana_4712_98766_a_b.ipynb": "4712 98766",
        "7_4713_98767_attention.ipynb": "4713 98767",
        "LATE_anon_aB3xY_98768_attention.ipynb": "anon aB3xY 98768",
    },
    "brightspace": {
        "397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM/document.ipynb": "397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM",
        "397064-2557369 - Erik Dengler - Sep 23, 2024 231 PM/x.ipynb": "397064-2557369 - Erik Dengler - Sep 23, 2024 231 PM",
    },
    "brightspace without folders": {
        "57006-96739 - Erik Dengler - May 6, 2020 231 PM - Lab - One.ipynb": "57006-96739 - Erik Dengler - May 6, 2020 231 PM",
        "57007-96739 - Mary-Ann Smith - Sep 24, 2024 926 PM - lab1.ipynb": "57007-96739 - Mary-Ann Smith - Sep 24, 2024 926 PM",
    },
}


def taken_by(platform: str, name: str) -> str:
    """Whom a platform takes a name in an archive for."""
    if platform == "moodle":
        (number,) = moodle_takes({name: ""}, {n: str(n) for n in range(10230, 10240)})
        return number
    return " ".join(canvas_takes(name) or ()) if platform == "canvas" else re.split("/| - attention", name)[0]


@pytest.mark.parametrize("platform", ROUND)
def test_what_was_collected_from_a_platform_goes_back_to_it(
    tmp_path: Path, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is that of the notebook which the platform's name brought."""
    monkeypatch.setattr(giving, "load_assignment", lambda _module: type("A", (), {"notebook": "attention"}))
    sent = {path: submission({"scale_scores": f"# {n}"}) for n, path in enumerate(ROUND[platform])}
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as file:
        for path, data in sent.items():
            file.writestr(path, data)
    klass = Classroom(tmp_path / "class")
    try:
        collect("04_attention", tmp_path / "archive.zip", klass)
    finally:
        pool.close()
    for notebook in klass.folder.glob("submitted/*/04_attention/attention.ipynb"):
        page = klass.folder / "feedback" / notebook.parts[-3] / "04_attention" / "attention.html"
        page.parent.mkdir(parents=True)
        page.write_bytes(notebook.read_bytes())
    with zipfile.ZipFile(give_back("04_attention", klass, platform.partition(" ")[0]).path) as file:
        back = {taken_by(platform, name): file.read(name) for name in file.namelist()}
    assert back == {whose: sent[path] for path, whose in ROUND[platform].items()}
