"""Who is in a class: the students of its roster, those who handed something in, and those who are gone.

The roster is `roster.json` in the class folder, written by `grader roster` and `grader drop`. It has what nbgrader's table of
students has no column for: logins, numbers of assignments, who was dropped.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from grader.classroom import Classroom, is_file, read_file, write_whole
from grader.errors import CourseError
from grader.origin import read_origin

FILE = "roster.json"


@dataclass(frozen=True)
class Student:
    """One student of a class. `id` is the name of the folder, and nbgrader's id.

    number       the platform's number of the person, nbgrader's lms_user_id
    identifiers  Moodle's numbers, one for each assignment whose worksheet was read
    dropped      left out of tables, exports and pages
    """

    id: str
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    number: str = ""
    login: str = ""
    identifiers: tuple[str, ...] = field(default=())
    dropped: bool = False

    @property
    def full_name(self) -> str:
        """How a person is called: first and last name, else the name as a platform writes it, else the id."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.name or self.id


def read_roster(classroom: Classroom) -> dict[str, Student]:
    """The students of the roster, by id; none if there is no roster. Raises CourseError if it cannot be read."""
    path = classroom.folder / FILE
    if not is_file(path):
        return {}
    try:
        rows = json.loads(read_file(path))["students"]
        return {row["id"]: _student(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CourseError(
            f"{path}: the roster cannot be read ({error}); remove it and read the platform's list again with `grader roster`"
        ) from None


def write_roster(classroom: Classroom, students: Iterable[Student]) -> None:
    """Write the roster, whole or not at all."""
    rows = [{k: v for k, v in asdict(s).items() if v} for s in sorted(students, key=lambda s: s.id)]
    text = json.dumps({"students": rows}, indent=1, ensure_ascii=False)
    write_whole(classroom.folder / FILE, f"{text}\n".encode(errors="backslashreplace"))  # JSON's way, too


def _student(row: dict[str, Any]) -> Student:
    texts: dict[str, Any] = {f.name: str(row[f.name]) for f in fields(Student) if f.name in row and f.type is str}
    return replace(
        Student(**texts), identifiers=tuple(map(str, row.get("identifiers", ()))), dropped=row.get("dropped") is True
    )


def students(classroom: Classroom) -> dict[str, Student]:
    """Everyone who is in the class: in the roster, or with a folder under submitted/; who was dropped is left out."""
    everyone = read_roster(classroom)
    found = {id_: everyone.get(id_) or Student(id_, name=_name(classroom.folder, id_)) for id_ in _folders(classroom)}
    return {id_: s for id_, s in sorted({**everyone, **found}.items()) if not s.dropped}


def near(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about somebody unknown: who is called nearly so."""
    by_name = {k.casefold(): k for k in known}
    found = get_close_matches(name.casefold(), by_name, 3, 0.5)
    return f"; did you mean {' or '.join(by_name[f] for f in found)}?" if found else ""


def _folders(classroom: Classroom) -> list[str]:
    try:
        return classroom.students()
    except CourseError:
        return []


def _name(folder: Path, id_: str) -> str:
    """The name that the origin of one of a student's submissions has."""
    for place in sorted((folder / "submitted" / id_).glob("*/origin.json")):
        if name := read_origin(place.parent).name:
            return name
    return ""
