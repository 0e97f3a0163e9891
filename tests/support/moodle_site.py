"""One assignment on a Moodle: what a teacher downloads there, and what becomes of what they upload.

docs/platforms.md names the sources: mod/assign/feedback/offline (worksheets) and mod/assign/feedback/file (feedback in a zip).
"""

import csv
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from archives import Work, moodle
from packing import changed, pack
from sixty import Case

HEAD = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
HEAD += ["Last modified (submission)", "Last modified (grade)", "Feedback comments"]
DATE = "%A, %d %B %Y, %I:%M %p"
PARTICIPANT = "Participant "
NEVER = datetime(1970, 1, 1)  # noqa: DTZ001  (a date that PHP cannot read; the site's clock has no zone here)


@dataclass
class Stored:
    """What the site has of one participant: the grade, when it was changed, a comment, files of feedback by name."""

    grade: float | None = None
    changed: datetime | None = None
    comment: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


class Site:
    """The assignment; its participants have numbers of their own in it."""

    def __init__(self, cases: Sequence[Case], first: int, maximum: float = 36.0) -> None:
        self.cases, self.first, self.maximum = cases, first, maximum
        self.now = datetime(2026, 3, 2, 9)  # noqa: DTZ001
        self.numbers = {case.person.login: str(first + 7 * n) for n, case in enumerate(cases)}
        self.stored = {number: Stored() for number in self.numbers.values()}

    def of(self, case: Case) -> Stored:
        return self.stored[self.numbers[case.person.login]]

    def participants(self, path: Path) -> None:
        rows = [[c.person.first, c.person.last, c.person.email, ""] for c in self.cases]
        _write(path, [["First name", "Last name", "Email address", "Groups"], *rows])

    def worksheet(self, path: Path) -> None:
        _write(path, [HEAD, *map(self._row, self.cases)])

    def _row(self, case: Case) -> list[str]:
        stored = self.of(case)
        grade = "" if stored.grade is None else f"{stored.grade:.2f}"
        date = "-" if stored.changed is None else f"{stored.changed:{DATE}}"
        who = [f"{PARTICIPANT}{self.numbers[case.person.login]}", case.person.name, case.person.email]
        return [*who, "Submitted for grading", grade, f"{self.maximum:.2f}", "Yes", "-", date, stored.comment]

    def submissions(self, path: Path, cases: Sequence[Case] = ()) -> None:
        """Moodle's archive of all submissions; some files in it cannot be unpacked."""
        files: dict[str, bytes] = {}
        broken: dict[str, tuple[int, int, bool]] = {}
        for n, case in enumerate(cases or self.cases):
            if case.files:
                made = moodle([Work(case.person, b"", "", beside=case.files)], self.first + 7 * n).files
                files |= made
                broken |= dict.fromkeys(made, case.broken) if case.broken else {}
        pack(path, files)
        for name, (place, byte, central) in broken.items():
            changed(path, name, place, byte, central)

    def upload_worksheet(self, data: bytes) -> set[str]:
        """Take a filled worksheet; the logins of those whose grade was taken."""
        self.now += timedelta(hours=1)
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig").replace("\r\n", "\n"), newline="")))
        assert {len(row) for row in rows} == {len(rows[0])}, "Moodle could not read the uploaded worksheet"
        assert {"Identifier", "Grade", "Last modified (grade)"} <= set(rows[0])
        login = {number: login for login, number in self.numbers.items()}
        taken = set()
        for values in rows[1:]:
            row = dict(zip(rows[0], values, strict=True))
            number = row["Identifier"][len(PARTICIPANT) :]
            if number in self.stored and self._take(self.stored[number], row):
                taken.add(login[number])
        return taken

    def _take(self, stored: Stored, row: dict[str, str]) -> bool:
        try:
            date = datetime.strptime(row["Last modified (grade)"], DATE)  # noqa: DTZ007
        except ValueError:
            date = NEVER
        if stored.changed is not None and stored.changed > date + timedelta(seconds=60):
            return False
        grade = float(row["Grade"]) if row["Grade"] else None
        same = grade is None or grade == (stored.grade or 0.0)  # 0 and nothing are the same to PHP
        if grade is not None and not same and 0 <= grade <= self.maximum:
            stored.grade, stored.changed = grade, self.now
        if row.get("Feedback comments", stored.comment) != stored.comment:
            stored.comment, stored.changed = row["Feedback comments"], self.now
        return not same

    def upload_feedback(self, data: bytes) -> list[str]:
        """Take a zip of feedback files; the names of those that are nobody's."""
        self.now += timedelta(hours=1)
        strangers = []
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                parts = [component.split("_", 4) for component in name.split("/")]
                mine = [
                    p for p in parts if len(p) >= 4 and p[1] in self.stored and p[2:4] == ["assignsubmission", "file"]
                ]
                if not mine:
                    strangers.append(name)
                    continue
                stored = self.stored[mine[0][1]]
                stored.files[name.rpartition("/")[2]] = archive.read(name)
                stored.changed = self.now
        return strangers


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(f"\ufeff{text.getvalue()}", encoding="utf-8")
