"""Who is in a class, from a platform's own list: a gradebook export, a worksheet, a list of participants, a plain CSV.

docs/platforms.md has the columns of each, with sources. Columns are found by their titles; Moodle's worksheet, whose titles are in
the teacher's language, by what is in them.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom import Classroom, only_writer, read_file
from grader.errors import CourseError
from grader.platforms.people import People, Unknown
from grader.platforms.reading import Owner
from grader.roster import Student, read_roster, write_roster

ENCODINGS = ("utf-8-sig", "cp1252")
# titles, in small letters without blanks and signs
TITLES = {
    "id": ("id", "studentid", "student"),
    "name": ("name", "fullname", "displayname"),
    "first_name": ("firstname", "givenname", "vorname", "prénom", "nombre", "first"),
    "last_name": ("lastname", "surname", "familyname", "nachname", "nom", "apellidos", "last"),
    "email": ("email", "emailaddress", "mail", "emailadresse", "adressedecourriel"),
    "login": ("username", "login", "sisloginid", "githubusername", "anmeldename", "benutzername"),
    "role": ("role", "roles"),
    "identifier": ("identifier",),
    "number": ("number", "lmsuserid", "sid", "orgdefinedid", "githubid"),
}


@dataclass(frozen=True)
class Rows:
    """A list as it was read: which platform's, and its students; `id` is "" where the list has none of its own."""

    platform: str
    students: tuple[Student, ...]


def read_list(path: Path) -> Rows:
    """The students in a platform's list. Raises CourseError if there are none, or it is no such list."""
    try:
        text = _decoded(read_file(path))
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None
    rows = _table(text)
    if not rows:
        raise CourseError(f"{path}: the file is empty; download the list again")
    for reader in (_canvas, _plain_list, _worksheet, _titled):
        found = reader(rows)
        if found is not None:
            if not found.students:
                raise CourseError(f"{path}: there are no students in it, only titles; download the list again")
            return found
    raise CourseError(
        f"{path}: this is no list of students: its first line is {','.join(rows[0])[:80]!r}. A Canvas gradebook export, a Moodle "
        "worksheet or list of participants, or a CSV with the columns id,first_name,last_name,email is"
    )


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    for encoding in ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _table(text: str) -> list[list[str]]:
    """Rows of a CSV text, with the separator of which there are most in the first line."""
    text = text.replace("\0", "")
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = max(",;\t", key=first.count)
    csv.field_size_limit(1 << 24)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error:
        return []
    return [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]


def _plain(title: str) -> str:
    return "".join(c for c in title.lower() if c.isalpha())


def _columns(head: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, title in enumerate(head):
        for name, titles in TITLES.items():
            if _plain(title) in titles:
                found.setdefault(name, number)
    return found


def _cell(row: Sequence[str], number: int | None) -> str:
    return row[number] if number is not None and number < len(row) else ""


def _canvas(rows: Sequence[Sequence[str]]) -> Rows | None:
    """Canvas's gradebook export: Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, Section."""
    head = list(rows[0])
    if "ID" not in head or not ("Student" in head or {"LastName", "FirstName"} <= set(head)) or "Section" not in head:
        return None
    at = {
        title: head.index(title)
        for title in ("Student", "LastName", "FirstName", "ID", "SIS Login ID")
        if title in head
    }
    students = []
    for row in rows[1:]:
        number, name = _cell(row, at["ID"]), _cell(row, at.get("Student"))
        name = re.sub(r'^="(.*)"$', r"\1", name)
        last, comma, first = (part.strip() for part in name.rpartition(","))
        if not comma:
            first, last = _cell(row, at.get("FirstName")) or name, _cell(row, at.get("LastName"))
        if not re.fullmatch("[0-9]+", number) or {first, last} == {"Test", "Student"} or name == "Test Student":
            continue
        login = _cell(row, at.get("SIS Login ID"))
        email = login if "@" in login else ""
        students.append(Student("", name, first, last, email, number=number, login=login))
    return Rows("canvas", tuple(students))


def _plain_list(rows: Sequence[Sequence[str]]) -> Rows | None:
    """A CSV with the column `id` and others as nbgrader has them."""
    at = _columns(rows[0])
    return (
        _titled(rows) if rows[0][at.get("id", 0)] == "id" and {"first_name", "last_name", "email"} & at.keys() else None
    )


def _worksheet(rows: Sequence[Sequence[str]]) -> Rows | None:
    """Moodle's grading worksheet: Identifier ("Participant 10233", in the teacher's language), Full name, Email address ..."""
    cells = [re.fullmatch(r"([^\d,;]*[^\W\d][^\d,;]*)([0-9]+)", _cell(row, 0)) for row in rows[1:]]
    found = [c for c in cells if c]
    if not found or len(found) < len(cells) or len({c[1] for c in found}) > 1 or len(rows[0]) < 3:
        return None
    sample = rows[1:]
    email = next((n for n in range(1, len(rows[0])) if _are_addresses([_cell(row, n) for row in sample])), None)
    titles = _columns(rows[0])
    named = titles.get("name", 1 if email == 2 else None)
    if named is None:  # anonymous marking: nothing but numbers
        return Rows("moodle", ())
    students = []
    for row, cell in zip(sample, found, strict=True):
        name = re.sub(r"<[^>]*>", "", _cell(row, named)).strip()
        if name:
            first, last = _split(name)
            students.append(Student("", name, first, last, _cell(row, email), identifiers=(cell[2],)))
    return Rows("moodle", tuple(students))


def _are_addresses(cells: Sequence[str]) -> bool:
    return any(cells) and all(re.fullmatch(r"[^@\s]+@[^@\s]+", cell) for cell in cells if cell)


def _split(name: str) -> tuple[str, str]:
    """First and last name, of a name that is written as one."""
    first, _, last = name.rpartition(" ")
    return (first, last) if first else (name, "")


def _titled(rows: Sequence[Sequence[str]]) -> Rows | None:
    """A list with titles that are known: Moodle's participants, Brightspace's, Blackboard's, Gradescope's, GitHub's, a plain one."""
    at = _columns(rows[0])
    ours = "id" in at and rows[0][at["id"]].lower() == "id"
    if not ours and not ({"name", "first_name", "last_name", "login"} & at.keys()):
        return None
    if not ours and "id" in at:
        at["number"] = at.pop("id")
    students = []
    for row in rows[1:]:
        has = {title: _cell(row, at.get(title)).removeprefix("#") for title in TITLES}
        first, last, name = has["first_name"], has["last_name"], has["name"]
        name = name or has["identifier"]  # GitHub Classroom's: a name, mostly
        if name and not (first or last):
            first, last = _split(name)
        name = name or " ".join(filter(None, (first, last)))
        id_ = has["id"] if ours else ""
        if not (id_ or name or has["login"]) or has["role"].lower() not in ("", "student", "learner"):
            continue
        login = has["login"]
        students.append(Student(id_, name or login or id_, first, last, has["email"], has["number"], login))
    return Rows("plain", tuple(students))


@dataclass(frozen=True)
class Enrolled:
    """What came of a list: everyone in the roster now, who is new, who was there and is not in the list, what could not be told."""

    students: tuple[Student, ...]
    new: tuple[str, ...]
    not_listed: tuple[str, ...]
    troubles: tuple[str, ...]


def enrol(path: Path, classroom: Classroom) -> Enrolled:
    """Read a list into the class's roster; those who are in the class already are found by number, e-mail, login, name.

    Raises CourseError if the list or the roster cannot be read or written.
    """
    listed = read_list(path)
    with only_writer(classroom.folder):
        roster = read_roster(classroom)
        people = People(classroom, "")
        there = set(people.known)
        owners = [_owner(n, student) for n, student in enumerate(listed.students)]
        who = people.who(listed.platform, owners, listed=True)
        students, new, troubles = dict(roster), [], []
        of_list: set[str] = set()
        for owner, student in zip(owners, listed.students, strict=True):
            id_ = _id(student, who[owner.key[0]], there)
            if isinstance(id_, Unknown):
                troubles.append(f"{student.full_name}: {id_.reason}")
                continue
            given = student.id if student.id != id_ else ""
            now = replace(student, id=id_, login=student.login or given)
            students[id_] = _merged(students.get(id_), now)
            of_list.add(id_)
            new += [id_] if id_ not in roster and id_ not in new else []
        write_roster(classroom, students.values())
    gone = [
        s.full_name if s.full_name == s.id else f"{s.full_name} ({s.id})"
        for s in roster.values()
        if s.id not in of_list and not s.dropped
    ]
    return Enrolled(tuple(students.values()), tuple(new), tuple(gone), tuple(troubles))


def _id(student: Student, found: str | Unknown, there: set[str]) -> str | Unknown:
    """A student's id: that of the class if they are in it, else the list's own, else a new one."""
    if not student.id or student.id in there:
        return student.id or found
    if isinstance(found, str) and found in there:
        return found
    if student.id.startswith(".") or re.search(r"[/\\\x00-\x1f+*]", student.id) or len(student.id.encode()) > 200:
        return Unknown(f"the id {student.id!r} cannot be the name of a folder; give another in the list")
    return student.id


def _owner(number: int, student: Student) -> Owner:
    moodle = student.identifiers[0] if student.identifiers else ""
    return Owner(
        (f"{number}", ""), student.full_name, moodle, student.number, student.login or student.id, student.email
    )


def _merged(before: Student | None, now: Student) -> Student:
    """What the list says, and what was known and it does not say."""
    if before is None:
        return now
    identifiers = tuple(sorted({*before.identifiers, *now.identifiers}))
    return Student(
        now.id,
        now.name or before.name,
        now.first_name or before.first_name,
        now.last_name or before.last_name,
        now.email or before.email,
        now.number or before.number,
        now.login or before.login,
        identifiers,
        before.dropped,
    )
