"""A class with grades, and platforms' files that are filled in for it."""

import csv
import io
from dataclasses import dataclass, replace
from typing import Any

import pytest
from small import MODULE, SMALL, graded

from grader.classroom import Classroom
from grader.errors import CourseError
from grader.gradebook import record
from grader.origin import Origin, write_origin
from grader.platforms import export as exporting
from grader.platforms.fill_in import Target, fill_in_module

OTHER = replace(SMALL, module="08_other")
KNOWN = {MODULE: SMALL, OTHER.module: OTHER}
MARK = b"\xef\xbb\xbf"
# Moodle's worksheet
# as OpenSpout writes it: a mark, quotes only around what has a blank or a delimiter, lines that end in \n
MOODLE = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Online text submissions","Last modified (grade)","Feedback comments"\n'
    '"Participant 10233","Anna Maria Müller",anna@x.org,"Submitted for grading - 2 days 3 hours late",,9.00,Yes,'
    '"Thursday, 5 September 2024, 11:59 PM","<p>two\nlines, and ""quotes""</p>",-,\n'
    '"Participant 10234","Sean O\'Brien",sean@x.org,"Submitted for grading - Graded",4.50,9.00,Yes,'
    '"Thursday, 5 September 2024, 1:05 PM",,"Friday, 6 September 2024, 9:00 AM","<p>kept, by hand</p>"\n'
    '"Participant 10235","张 伟",,"No submission",,9.00,Yes,-,,-,\n'
    '"Participant 10236","Kim Lee",kim2@x.org,"No submission",3.00,9.00,Yes,-,,"Friday, 6 September 2024, 9:00 AM",\n'
)


def only_small_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The course has two modules: the small one, and another of the same exercises."""
    monkeypatch.setattr(exporting, "load_assignment", KNOWN.__getitem__)
    monkeypatch.setattr(exporting, "gradable", lambda: list(KNOWN))


@dataclass
class Class:
    """A class to which people are added, and files that are filled in for it."""

    classroom: Classroom
    book: Any

    def add(self, student: str, points: float | None, origin: Origin | None = None, module: str = MODULE) -> None:
        """Somebody with points of 9; None for who is not graded."""
        folder = self.classroom.submitted(student, module)
        folder.mkdir(parents=True)
        if origin is not None:
            write_origin(folder, origin)
        if points is not None:
            result = replace(graded(student, 2, points - 2, blank=("question",)), module=module)
            if points < 2:
                result = replace(graded(student, points, 0, blank=("question",)), module=module)
            record(self.book, KNOWN[module], result, "", None)

    def moodle(self, student: str, name: str, number: int, points: float | None, email: str = "") -> None:
        place = f"{name}_{number}_assignsubmission_file"
        self.add(student, points, Origin("moodle", name=name, number=str(number), place=place, email=email))

    def canvas(self, student: str, name: str, person: int, points: float | None) -> None:
        self.add(student, points, Origin("canvas", name=name, person=str(person), place=f"{name}_{person}"))

    def fill(
        self, data: bytes, *, name: str = "grades.csv", unread: bool = False, **options: Any
    ) -> tuple[bytes, list[str]]:
        """The copy's bytes, and what was said, without the first line."""
        file = self.classroom.folder / name
        file.write_bytes(data)
        target = Target(file, **options)
        notes = fill_in_module(MODULE, self.classroom, target, unread)
        assert file.read_bytes() == data and notes[0].startswith(f"{target.copy}: ")
        return target.copy.read_bytes(), notes[1:]

    def refuses(self, data: bytes, **options: Any) -> str:
        """With which sentence a file is refused; nothing is written."""
        file = self.classroom.folder / "refused.csv"
        file.write_bytes(data)
        with pytest.raises(CourseError) as caught:
            fill_in_module(MODULE, self.classroom, Target(file, **options))
        assert not Target(file).copy.exists()
        return str(caught.value).removeprefix(f"{file}: ")


def table(data: bytes, delimiter: str = ",", encoding: str = "utf-8-sig") -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(encoding), newline=""), delimiter=delimiter))
