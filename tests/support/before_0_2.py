"""A class that version 0.1.0 has half graded, under the folders' names that it made of Moodle's: ada-lovelace_10233."""

import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from archives import Person
from moodle_site import Site
from sixty import MODULE, NAME, Case

ARCHIVE = Path(__file__).parents[1] / "data" / "classroom-0.1.0.zip"
# what they were called in the archive, who they are, and their points by this version, as in test_takeover.py
WHO: Sequence[tuple[str, str, str, float]] = [
    ("ada", "Ada Lovelace", "graded", 28),
    ("ben", "Ben Okri", "graded", 0),
    ("chloe", "Chloe Example", "graded", 26),
    ("dan", "Dan Example", "graded", 20),
    ("emil", "Emil Example", "graded", 24.25),
    ("eve", "Eve Example", "missing", 0),
    ("goran-example_1006", "Goran Example", "graded", 13),
    ("hana", "Hana Example", "graded", 23.5),
    ("ivan", "Ivan Example", "graded", 18),
    ("julia", "Blaise Pascal", "graded", 28),
    ("uma", "Uma Example", "unreadable", 0),
]
UNREAD = {"dan": ("question_scaling",), "hana": ("question_scaling",)}
# score and extra credit that were given by hand, and the comment
BY_HAND = {
    ("ada", "question_scaling"): (3.5, None),
    ("ada", "question_masking"): (4.0, 1.0),
    ("ben", "test_scale_scores"): (1.0, None),
    ("uma", "question_masking"): (2.0, None),
}
COMMENT = "Right; say also what happens without the root."  # ada, question_scaling


def old_class() -> list[Case]:
    """What they hand in once more is what lies in the class already."""
    cases = []
    with zipfile.ZipFile(ARCHIVE) as archive:
        for was, name, status, points in WHO:
            member = f"submitted/{was}/{MODULE}/{NAME}"
            files = {NAME: archive.read(member)} if member in archive.namelist() else {}
            first, _, last = name.partition(" ")
            person = Person(first, last, was.partition("-")[0], 0)
            cases.append(Case(person, files, f"was {was}", status, points, unread=UNREAD.get(was, ())))
    return cases


def lay_out(folder: Path, site: Site) -> dict[str, str]:
    """The class folder as 0.1.0 left it; the id of each student by login."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(folder)
    ids = {}
    with closing(sqlite3.connect(folder / "gradebook.db")) as book, book:
        for (was, name, _, _), case in zip(WHO, site.cases, strict=True):
            id_ = f"{name.lower().replace(' ', '-')}_{site.numbers[case.person.login]}"
            ids[case.person.login] = id_
            for step in ("submitted", "autograded"):
                if (folder / step / was).is_dir():
                    (folder / step / was).rename(folder / step / id_)
            book.execute("update student set id = ? where id = ?", (id_, was))
            book.execute("update submitted_assignment set student_id = ? where student_id = ?", (id_, was))
    return ids
