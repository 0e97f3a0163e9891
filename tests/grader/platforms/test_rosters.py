"""Lists of a class as platforms export them: who is in it, also those who never hand anything in."""

import csv
import io
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from archives import PEOPLE, Person, Work, blackboard, canvas, moodle
from collected import Class, notebook

from grader.classroom import Classroom
from grader.roster import Student, read_roster, students

pytestmark = pytest.mark.long

ADA, SEAN, DE_LA, MARY = PEOPLE[0], PEOPLE[1], PEOPLE[3], PEOPLE[4]
COMMA = Person("Ana María", "García; López", "agarcia", 71)
IVANOV, KIRAN, KARAN = PEOPLE[6], PEOPLE[8], PEOPLE[9]
CLASS = (ADA, SEAN, DE_LA, MARY, COMMA, IVANOV, KIRAN, KARAN)


def table(
    rows: Sequence[Sequence[object]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL, end: str = "\n"
) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(rows)  # type: ignore[arg-type]
    return text.getvalue()


def canvas_gradebook(delimiter: str = ",", names: int = 1) -> str:
    """GradebookExporter: a row of manual posting, one of points, the students, and the test student."""
    who = ["Student"] if names == 1 else ["LastName", "FirstName"]
    head = [
        *who,
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Attention (4711)",
        "Attention Final Score",
        "Final Score",
    ]
    blank = [""] * (names - 1)
    rows: list[list[object]] = [[*head], ["", *blank, "", "", "", "", "Manual Posting", "", ""]]
    rows += [["    Points Possible", *blank, "", "", "", "", "28.00", "(read only)", "(read only)"]]
    for p in CLASS:
        name = [p.sortable] if names == 1 else [p.last, p.first]
        rows.append([*name, p.number, f"S{p.number:06}", p.login, "Section 1 and Section 2", "", "", ""])
    test = ["Student, Test"] if names == 1 else ["Student", "Test"]
    rows.append([*test, 999, "", "0c7c5f9c7f5b4f0c8bb0f3a8a0b2d6f1a2c3d4e5", "Section 1", "", "", ""])
    return table(rows, delimiter)


def worksheet(head: Sequence[str], prefix: str, quoting: int = csv.QUOTE_MINIMAL) -> str:
    """Moodle's grading worksheet."""
    rows: list[list[object]] = [list(head)]
    for n, p in enumerate(CLASS):
        rows.append([f"{prefix}{10233 + 7 * n}", p.name, p.email, "No submission", "", "28.00", "Yes", "-", "-", ""])
    return "\ufeff" + table(rows, quoting=quoting)


ENGLISH = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
GERMAN = (
    "ID",
    "Vollständiger Name",
    "E-Mail-Adresse",
    "Status",
    "Bewertung",
    "Bestwertung",
    "Bewertung kann geändert werden",
    "Zuletzt geändert (Abgabe)",
    "Zuletzt geändert (Bewertung)",
    "Feedback als Kommentar",
)


def participants(first: str = "First name", last: str = "Last name", email: str = "Email address") -> str:
    rows = [[first, last, email, "Groups"], *([p.first, p.last, p.email, "Group A, Group B"] for p in CLASS)]
    return "\ufeff" + table(rows)


def brightspace_export() -> str:
    head = ["OrgDefinedId", "Username", "Last Name", "First Name", "Email", "End-of-Line Indicator"]
    rows = [[f"#4001{p.number}", f"#{p.login}", p.last, p.first, p.email, "#"] for p in CLASS]
    return "\ufeff" + table([head, *rows], end="\r\n")


def grade_center(quoting: int, delimiter: str) -> str:
    head = ["Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability"]
    head.append("Attention [Total Pts: 28 Score] |660463")
    rows = [[p.last, p.first, p.login, f"M{p.number:08}", "2026-03-01 10:00:00", "Yes", ""] for p in CLASS]
    return "\ufeff" + table([head, *rows], delimiter, quoting)


def gradescope_roster() -> str:
    rows = [[p.first, p.last, f"{p.number:08}", p.email, "Student", "Section 1"] for p in CLASS]
    staff = ["Grace", "Hopper", "", "grace@uni.example", "Instructor", ""]
    return table([["First Name", "Last Name", "SID", "Email", "Role", "Section"], staff, *rows])


def github_roster() -> str:
    rows = [[p.name, p.login if p != ADA else "", p.number if p != ADA else "", ""] for p in CLASS]
    return table([["identifier", "github_username", "github_id", "name"], *rows], quoting=csv.QUOTE_ALL)


def plain(extra: bool = False) -> str:
    head = ["id", "first_name", "last_name", "email", *(["lms_user_id"] if extra else [])]
    return table([head, *([p.login, p.first, p.last, p.email, *([p.number] if extra else [])] for p in CLASS)])


@dataclass(frozen=True)
class List:
    """A file, and which fields of the students it gives."""

    text: str
    fields: str
    encoding: str = "utf-8"


LISTS = {
    "canvas-gradebook": List(canvas_gradebook(), "name number login"),
    "canvas-gradebook-bom": List("\ufeff" + canvas_gradebook(), "name number login"),
    "canvas-gradebook-semicolon": List(canvas_gradebook(";"), "name number login"),
    "canvas-gradebook-names": List(canvas_gradebook(names=2), "name number login"),
    "moodle-worksheet": List(worksheet(ENGLISH, "Participant "), "name email identifiers"),
    "moodle-worksheet-german": List(worksheet(GERMAN, "Teilnehmer/in"), "name email identifiers"),
    "moodle-participants": List(participants(), "name email"),
    "moodle-participants-4.0": List(participants(last="Surname"), "name email"),
    "moodle-participants-german": List(participants("Vorname", "Nachname", "E-Mail-Adresse"), "name email"),
    "brightspace-grades": List(brightspace_export(), "name email login"),
    "blackboard-csv": List(grade_center(csv.QUOTE_ALL, ","), "name login"),
    "blackboard-xls": List(grade_center(csv.QUOTE_ALL, "\t"), "name login", "utf-16-le"),
    "gradescope-roster": List(gradescope_roster(), "name email number"),
    "github-roster": List(github_roster(), "name login"),
    "plain": List(plain(), "name email id"),
    "plain-lms": List(plain(extra=True), "name email id number"),
}


def of(person: Person, found: dict[str, Student]) -> Student:
    (student,) = [s for s in found.values() if s.full_name == person.name]
    return student


@pytest.mark.parametrize("name", LISTS)
def test_each_list_is_read(tmp_path: Path, name: str) -> None:
    klass, given = Class(tmp_path / "class"), LISTS[name]
    done = klass.roster(given.text, given.encoding)
    assert done.status == 0, done
    found = read_roster(Classroom(klass.folder))
    assert sorted(s.full_name for s in found.values()) == sorted(p.name for p in CLASS)
    sid = {"gradescope-roster": "{:08}"}.get(name, "{}")
    for n, person in enumerate(CLASS):
        student = of(person, found)
        has = given.fields.split()
        unlinked = name == "github-roster" and person == ADA
        assert student.id == person.login if "id" in has else student.id
        assert student.email == (person.email if "email" in has else "")
        assert student.number == (sid.format(person.number) if "number" in has else student.number)
        assert student.login == (person.login if "login" in has and not unlinked else student.login)
        assert student.identifiers == ((str(10233 + 7 * n),) if "identifiers" in has else ())
    assert_in_nbgrader(klass, found)


def assert_in_nbgrader(klass: Class, found: dict[str, Student]) -> None:
    """The formgrader has names and e-mails, also of those who never hand in."""
    connection = sqlite3.connect(klass.folder / "gradebook.db")
    try:
        rows = connection.execute("select id, first_name, last_name, email, lms_user_id from student").fetchall()
    finally:
        connection.close()
    there = {
        id_: (f"{first or ''} {last or ''}".strip(), email or "", number or "")
        for id_, first, last, email, number in rows
    }
    assert there == {s.id: (s.full_name, s.email, s.number) for s in found.values()}


def test_who_is_no_student_is_not_in_the_roster(tmp_path: Path) -> None:
    for name in ("canvas-gradebook", "gradescope-roster"):
        klass = Class(tmp_path / name)
        klass.roster(LISTS[name].text)
        names = {s.full_name for s in read_roster(Classroom(klass.folder)).values()}
        assert not any(word in n for n in names for word in ("Points", "Posting", "Test", "Hopper"))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("canvas-gradebook", canvas),
        ("moodle-worksheet", moodle),
        ("moodle-participants", moodle),
        ("blackboard-csv", blackboard),
        ("plain-lms", canvas),
        ("plain", blackboard),
    ],
)
def test_who_hands_in_is_who_is_in_the_list(tmp_path: Path, name: str, make) -> None:
    """And who does not is in the class, too."""
    klass = Class(tmp_path / "class")
    klass.roster(LISTS[name].text)
    works = [Work(p, notebook(p.login)) for p in CLASS]
    made = make(works)
    handed_in = {path: data for path, data in made.files.items() if data != works[4].data and "agarcia" not in path}
    assert klass.collect(handed_in).status == 0
    found = students(Classroom(klass.folder))
    assert len(found) == len(CLASS) and len(klass.students()) == len(CLASS) - 1
    for person, work in zip(CLASS, works, strict=True):
        if person != COMMA:
            assert found[klass.whose(work.data)].full_name == person.name
    assert of(COMMA, found).id not in klass.students()


def test_a_list_read_after_collecting_is_that_of_the_same_people(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    works = [Work(p, notebook(p.login)) for p in CLASS[:5]]
    klass.collect(canvas(works))
    before = klass.students()
    assert klass.roster(canvas_gradebook()).status == 0
    found = read_roster(Classroom(klass.folder))
    assert len(found) == len(CLASS)
    for work in works:
        assert found[klass.whose(work.data)].full_name == work.person.name
    assert klass.students() == before and before <= found.keys()


def test_a_second_list_adds_and_keeps(tmp_path: Path) -> None:
    """The second worksheet has other numbers of the same people; a list of participants gives their names in two."""
    klass = Class(tmp_path / "class")
    first = worksheet(ENGLISH, "Participant ")
    klass.roster(first)
    assert klass.roster(first.replace("Participant 10", "Participant 99")).status == 0
    assert klass.roster(participants()).status == 0
    found = read_roster(Classroom(klass.folder))
    assert len(found) == len(CLASS)
    ada = of(ADA, found)
    assert set(ada.identifiers) == {"10233", "99233"}
    assert (ada.first_name, ada.last_name, ada.email) == ("Ada", "Lovelace", ADA.email)


def test_who_is_not_in_a_new_list_is_named_and_stays(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    klass.roster(plain())
    shorter = plain().replace("obrien,Seán,O'Brien,obrien@uni.example\n", "")
    assert shorter != plain()
    done = klass.roster(shorter)
    assert done.status == 0
    assert "obrien" in read_roster(Classroom(klass.folder))
    assert "obrien" in done.errors + "\n".join(done.lines)


@pytest.mark.parametrize("name", ["canvas-gradebook", "moodle-participants", "plain"])
def test_two_people_of_one_name_are_two(tmp_path: Path, name: str) -> None:
    """With one e-mail, login or number each."""
    klass = Class(tmp_path / "class")
    text = LISTS[name].text
    line = next(line for line in text.splitlines() if "Lovelace" in line)
    twin = line.replace("ada", "ada2").replace(f",{ADA.number},", ",99,").replace("S000031", "S000099")
    assert klass.roster(f"{text}{twin}\n").status == 0
    found = read_roster(Classroom(klass.folder))
    assert len(found) == len(CLASS) + 1
    assert len([s for s in found.values() if s.full_name == ADA.name]) == 2


WRONG = {
    "nothing": "",
    "no header": "31,Ada,Lovelace\n32,Ben,Bold\n",
    "no students": "id,first_name,last_name,email\n",
    "grades of nobody": "assignment,score\n04_attention,3\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_no_list_is_told(tmp_path: Path, text: str) -> None:
    klass = Class(tmp_path / "class")
    done = klass.roster(text)
    assert done.status == 1 and done.errors.startswith("roster: ") and "roster.csv" in done.errors
    assert not read_roster(Classroom(klass.folder))


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    klass = Class(tmp_path / "class")
    for file in (tmp_path / "none.csv", tmp_path):
        done = klass.roster(file)
        assert done.status == 1 and file.name in done.errors
    (tmp_path / "bytes.csv").write_bytes(b"PK\x03\x04\x00\x00\xff\xfe\x00")
    assert klass.roster(tmp_path / "bytes.csv").status == 1


def test_odd_rows_do_not_end_the_reading(tmp_path: Path) -> None:
    """Rows that are short, empty, or have names that are none are left out with a line, or taken as they are."""
    klass = Class(tmp_path / "class")
    odd = (
        '\n,,,\nx,"Eve\x1b[31m",,\n../up,Up,And,\n'
        + "9" * 5000
        + ",Many,Digits,\n"
        + '"two\nlines",Two,Lines,\nshort\n'
    )
    done = klass.roster(plain() + odd)
    found = read_roster(Classroom(klass.folder))
    assert {p.login for p in CLASS} <= found.keys()
    assert all(c.isprintable() for line in done.lines + done.errors.splitlines() for c in line)
    assert all("/" not in id_ and "\n" not in id_ and id_[0] not in ".-" for id_ in found)
    assert not (tmp_path / "up").exists()


def test_a_list_in_an_old_code_page_is_read(tmp_path: Path) -> None:
    """Excel saves CSV so."""
    klass = Class(tmp_path / "class")
    people = [p for p in CLASS if p.name.isascii() or p in (SEAN, COMMA)]
    rows = [["id", "first_name", "last_name", "email"], *([p.login, p.first, p.last, p.email] for p in people)]
    assert klass.roster(table(rows, ";", end="\r\n"), "cp1252").status == 0
    assert of(replace(SEAN), read_roster(Classroom(klass.folder))).login in ("", "obrien")
