"""The archives in these tests are named as the sources in docs/platforms.md show it: their examples, letter by letter."""

from dataclasses import replace
from datetime import datetime

import archives
import pytest
from archives import Person, Work

ANA, MUELLER = Person("Ana", "de_la_Cruz", "ana", 4711), Person("Anna Maria", "Müller", "amueller", 4711)
OBRIEN, IVANOV = Person("Mary-Ann", "O'Brien", "sobrien", 4711), Person("Пётр", "Иванов", "zhukov", 4714)


@pytest.mark.parametrize(
    ("person", "late", "style", "expected"),
    [
        (OBRIEN, False, "", "obrienmaryann_4711"),
        (OBRIEN, True, "", "obrienmaryann_LATE_4711"),
        (Person("José", "Müller", "", 4711), False, "", "müllerjosé_4711"),
        (IVANOV, True, "", "ивановпётр_LATE_4714"),
        (ANA, False, "", "de_la_cruzana_4711"),
        (Person("_1234_guy", "some_999_", "", 4711), False, "", "some9991234guy_4711"),
        (Person("Group 7", "", "", 4711), False, "", "group7_4711"),
        (Person("7", "", "", 4711), False, "", "7_4711"),
        (OBRIEN, True, "lower", "obrienmaryann_late_4711"),
        (OBRIEN, False, "hyphens", "o-brien--mary-ann_4711"),
        (OBRIEN, True, "hyphens", "o-brien--mary-ann-late_4711"),
        (Person("_1234_guy", "some_999_", "", 8), False, "hyphens", "some-999----1234-guy_8"),
    ],
)
def test_canvas(person: Person, late: bool, style: str, expected: str) -> None:
    assert archives.canvas_filename(person, late, style) == expected


def test_canvas_names_of_files() -> None:
    (path,) = archives.canvas([Work(OBRIEN, b"", 'Essay: "final"?? (1).pdf')]).files
    assert path == "obrienmaryann_4711_98765_Essay_ _final_ (1).pdf"


@pytest.mark.parametrize(
    ("person", "options", "expected"),
    [
        (MUELLER, {}, "Anna Maria Müller_10233_assignsubmission_file/report.pdf"),
        (MUELLER, {"old": True}, "Anna Maria Müller_10233_assignsubmission_file_/report.pdf"),
        (Person("Sean", "O'Brien", "", 1), {}, "Sean OBrien_10233_assignsubmission_file/report.pdf"),
        (Person("x_y", "2nd", "", 1), {"folders": False}, "x y 2nd_10233_assignsubmission_file_report.pdf"),
        (MUELLER, {"blind": True}, "Participant_10233_assignsubmission_file/report.pdf"),
        (
            Person("Anna", "Müller", "", 1),
            {"old": True, "team": "Group A"},
            "Group A-Anna Müller_10233_assignsubmission_file_/report.pdf",
        ),
        (Person("Group 3_B", "", "", 1), {}, "Group 3 B_10233_assignsubmission_file/report.pdf"),
    ],
)
def test_moodle(person: Person, options: dict[str, bool], expected: str) -> None:
    (path,) = archives.moodle([Work(person, b"", "report.pdf")], **options).files  # type: ignore[arg-type]
    assert path == expected


@pytest.mark.parametrize(
    ("name", "when", "expected"),
    [
        ("Mary-Ann Smith", "2024-09-24 21:26", "Mary-Ann Smith - Sep 24, 2024 926 PM"),
        ("Pal Patel", "2025-11-26 21:33", "Pal Patel - Nov 26, 2025 933 PM"),
        ("Erik Dengler", "2020-05-06 14:31", "Erik Dengler - May 6, 2020 231 PM"),
        ("Wesley Ng", "2020-05-13 10:56", "Wesley Ng - May 13, 2020 1056 AM"),
        (". Karanvir Singh", "2025-11-20 22:59", ". Karanvir Singh - Nov 20, 2025 1059 PM"),
        ("Night Owl", "2025-11-20 00:05", "Night Owl - Nov 20, 2025 1205 AM"),
    ],
)
def test_brightspace(name: str, when: str, expected: str) -> None:
    work = Work(Person(name, "", "", 40), b"", at=datetime.fromisoformat(when))
    assert archives.brightspace_place(work) == f"100040-2557369 - {expected}"


def test_blackboard_and_nbgraders_zip_collector() -> None:
    work = Work(Person("Ben", "Bitdiddle", "bitdiddle", 1), b"", "problem1.ipynb")
    work = replace(work, at=datetime.fromisoformat("2016-01-30 15:30:10"))
    assert list(archives.zip_collector([work]).files) == ["ps1_bitdiddle_attempt_2016-01-30-15-30-10_problem1.ipynb"]
    made = archives.blackboard([work], "poging", "Plan (1e kans)")
    assert "Plan (1e kans)_bitdiddle_poging_2016-01-30-15-30-10.txt" in made.own
    assert b"\tOriginal filename: problem1.ipynb\n\tFilename: Plan" in made.files[made.own[0]]


@pytest.mark.parametrize(
    ("person", "expected"),
    [
        (MUELLER, "Mueller_Anna Maria_amueller_4711"),
        (Person("Sean", "O'Brien", "sobrien", 4712), "O'Brien_Sean_sobrien_4712"),
        (Person("José", "García-López", "st_123456", 4713), "Garcia-Lopez_Jose_st_123456_4713"),
        (IVANOV, "______________________zhukov_4714"),  # two bytes each: 12, _, 8, _
        (Person("A&B", 'x/y"<z>', "a", 5), "x_y_lzg_AaB_a_5"),
    ],
)
def test_ilias(person: Person, expected: str) -> None:
    made = archives.ilias([Work(person, b"", late=True)])
    assert list(made.files) == [f"Attention/Submissions/{expected}/Late Submission - attention.ipynb"]


def test_gradescope() -> None:
    """Symbols with a colon, numbers of persons in quotes, nanoseconds and Z."""
    made = archives.gradescope([Work(OBRIEN, b"")])
    (path,) = made.own
    lines = made.files[path].decode().splitlines()
    assert lines[:7] == [
        "---",
        "submission_409194023:",
        "  :submitters:",
        "  - :name: Mary-Ann O'Brien",
        "    :sid: '00004711'",
        "    :email: sobrien@uni.example",
        "  :created_at: 2026-03-01 12:00:00.000000000 Z",
    ]


def test_nbgraders_exchange() -> None:
    made = archives.inbound([Work(Person("Ben", "", "bitdiddle", 1), b"")], "ps1")
    path = next(iter(made.files))
    assert path.startswith("bitdiddle+ps1+2026-03-01 12:00:00.948203 UTC+") and len(path.split("+")[3]) == 12 + len(
        "/attention.ipynb"
    )
