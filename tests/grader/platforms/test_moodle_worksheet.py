"""A copy of Moodle's grading worksheet with our grades, and what Moodle takes of it.

The layouts and the rules of the way in are those of the platforms' sources, or of files that others have described:
see docs/platforms.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from filled import MARK, MOODLE, Class, only_small_modules, table
from gradebooks import new_gradebook, opened
from small import FIRST, MODULE, SMALL, graded, verdict, with_verdicts

from grader.classroom import Classroom, Submission
from grader.gradebook import record
from grader.origin import Origin
from grader.records import Writer
from grader.result import Result, Status
from grader.roster import Student, write_roster


@pytest.fixture
def klass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    only_small_modules(monkeypatch)
    new_gradebook(tmp_path)
    with opened(tmp_path / "gradebook.db") as book:
        yield Class(Classroom(tmp_path), book)


def moodle_takes(
    worksheet: bytes, stored: dict[int, tuple[float | None, datetime | None]], hidden_user: str = "Participant "
) -> dict[int, float]:
    """The grades that Moodle takes from a worksheet: mod/assign/feedback/offline, importgradeslib.php and process_import_grades.

    stored  by participant: the grade, and when it was last modified
    """
    lines = table(worksheet)
    header, rows = lines[0], [line for line in lines[1:] if line]
    assert all(len(row) == len(header) for row in rows), "Moodle could not read the uploaded worksheet"
    column = {name: header.index(name) for name in ("Identifier", "Grade", "Last modified (grade)")}
    taken = {}
    for row in rows:
        number = int(row[column["Identifier"]].encode()[len(hidden_user.encode()) :])
        text = row[column["Grade"]].replace(" ", "").replace(",", ".")
        seen = row[column["Last modified (grade)"]]
        last = datetime(1970, 1, 1) if seen == "-" else datetime.strptime(seen, "%A, %d %B %Y, %I:%M %p")  # noqa: DTZ001, DTZ007
        grade, modified = stored.get(number, (None, None))
        stale = modified is not None and modified > last + timedelta(seconds=60)
        if text and 0 <= float(text) <= 9 and float(text) != (grade or 0) and not stale:
            taken[number] = float(text)
    return taken


def test_moodles_worksheet_gets_grades_and_nothing_else_changes(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    klass.moodle("sean", "Sean OBrien", 10234, 3.5)
    filled, notes = klass.fill(MARK + MOODLE.encode())
    wanted = MOODLE.replace('2 days 3 hours late",,9.00', '2 days 3 hours late",5,9.00').replace(
        "4.50,9.00", "3.5,9.00"
    )
    assert filled == MARK + wanted.encode()
    assert notes == ["in the file, and not in the class: 张 伟, Participant 10235, Kim Lee, Participant 10236"]


def test_moodle_takes_each_grade_the_first_and_the_second_time(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    klass.moodle("sean", "Sean OBrien", 10234, 3.5)
    first, _ = klass.fill(MARK + MOODLE.encode())
    friday = datetime(2024, 9, 6, 9)  # noqa: DTZ001
    assert moodle_takes(first, {10234: (4.5, friday), 10236: (3.0, friday)}) == {10233: 5, 10234: 3.5}
    # the next worksheet has what was taken, and when; then somebody is graded again
    saturday = "Saturday, 7 September 2024, 8:30 AM"
    later = (
        first.decode()
        .replace('</p>",-,', f'</p>","{saturday}",')
        .replace('"Friday, 6 September 2024, 9:00 AM","<p>k', f'"{saturday}","<p>k')
    )
    record(klass.book, SMALL, graded("anna", 1, 0.5, blank=("question",)), "", None)
    second, _ = klass.fill(later.encode())
    at = datetime(2024, 9, 7, 8, 30, 20)  # noqa: DTZ001
    assert moodle_takes(second, {10233: (5.0, at), 10234: (3.5, at), 10236: (3.0, friday)}) == {10233: 1.5}


def test_a_grade_that_is_there_already_stays_as_it_is_written(klass: Class) -> None:
    klass.moodle("sean", "Sean OBrien", 10234, 4.5)
    assert klass.fill(MOODLE.encode())[0] == MOODLE.encode()


def test_moodles_zero_is_said(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 0)
    klass.moodle("sean", "Sean OBrien", 10234, 0)
    _, notes = klass.fill(MOODLE.encode())
    assert "Moodle takes no 0 where it has no grade yet; enter it there: Anna Maria Müller (anna)" in notes


def test_a_grade_above_moodles_maximum_is_said(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    klass.moodle("sean", "Sean OBrien", 10234, 9.5)
    _, notes = klass.fill(MOODLE.encode())
    assert [n for n in notes if "above" in n] == [
        "Moodle takes no grade above 9; enter it there as you like: Sean OBrien (sean)"
    ]


# headers in the teacher's language, decimal commas, no blank before the number
GERMAN = (
    'ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,"Bewertung kann geändert werden",'
    '"Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)","Feedback als Kommentar"\r\n'
    'Teilnehmer/in10233,"Anna Maria Müller",anna@x.org,"Zur Bewertung abgegeben",,"9,00",Ja,-,-,\r\n'
    'Teilnehmer/in10234,"Sean O\'Brien",sean@x.org,"Zur Bewertung abgegeben - Bewertet","4,50","9,00",Ja,-,-,gut\r\n'
)


def test_moodles_worksheet_in_another_language(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    klass.moodle("sean", "Sean OBrien", 10234, 3.5)
    filled, notes = klass.fill(GERMAN.replace("ID,", "Identifikator,", 1).encode())
    wanted = GERMAN.replace("ID,", "Identifikator,", 1).replace('abgegeben",,', 'abgegeben",5,').replace("4,50", "3,5")
    assert filled == wanted.encode()
    assert (
        len(notes) == 1 and notes[0].startswith("the worksheet is not in English") and "tick that records" in notes[0]
    )


def test_a_blind_worksheet(klass: Class) -> None:
    klass.moodle("participant", "Participant", 10238, 5)
    blind = (
        'Identifier,Status,Grade,"Maximum Grade","Grade can be changed","Last modified (submission)","Last modified (grade)"\n'
        '"Participant 10238","Submitted for grading",,9.00,Yes,-,-\n'
        '"Participant 10239","No submission",,9.00,Yes,-,-\n'
    )
    assert klass.fill(blind.encode())[0] == blind.replace('grading",,', 'grading",5,').encode()


TEAMS = (
    'Identifier,"Full name",Status,Group,Grade,"Maximum Grade","Grade can be changed","Last modified (grade)"\n'
    '"Participant 517",Eve,"No submission","Group 1",,9.00,Yes,-\n'
    '"Participant 601",Ada,"Submitted for grading","Group 3_B",,9.00,Yes,-\n'
    '"Participant 602",Ben,"Submitted for grading","Group 3_B",,9.00,Yes,-\n'
)


def test_each_member_of_a_team_gets_its_grade_and_the_groups_number_is_nobodys(klass: Class) -> None:
    """Since 4.1 the number in the archive is the group's; another table's participant may have the same."""
    klass.moodle("group-3-b", "Group 3 B", 517, 5)
    filled, notes = klass.fill(TEAMS.encode())
    assert [row[4] for row in table(filled)[1:]] == ["", "5", "5"]
    assert notes == ["in the file, and not in the class: Eve, Participant 517"]


def test_a_team_that_is_not_in_the_file_is_not_found_by_its_number(klass: Class) -> None:
    klass.moodle("group-3-b", "Group 3 B", 601, 5)
    klass.moodle("group-9", "Group 9", 517, 4)
    filled, notes = klass.fill(TEAMS.encode())
    assert [row[4] for row in table(filled)[1:]] == ["", "5", "5"]
    assert "graded, and not in the file: Group 9 (group-9)" in notes


def test_a_namesake_is_somebody_else(klass: Class) -> None:
    klass.moodle("kim-lee", "Kim Lee", 10240, 5)
    klass.moodle("anna", "Anna Maria Müller", 10233, 4)
    filled, notes = klass.fill(MOODLE.encode())
    assert table(filled)[4][4] == "3.00"
    assert "graded, and not in the file: Kim Lee (kim-lee)" in notes


def test_two_of_one_name_are_not_filled_in_without_a_number(klass: Class) -> None:
    klass.add("kim-1", 5, Origin("files", name="Kim Lee"))
    klass.add("kim-2", 4, Origin("files", name="Kim Lee"))
    klass.moodle("anna", "Anna Maria Müller", 10233, 4)
    filled, notes = klass.fill(MOODLE.encode())
    assert table(filled)[4][4] == "3.00"
    assert any(note.startswith("not filled in, since several rows") and "line 6 (Kim Lee" in note for note in notes)


def test_two_rows_of_one_student_are_not_filled_in(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 4)
    klass.add("sean", 5, Origin("files", name="Sean O\u2019Brien"))
    klass.add("zhang", 3, Origin("files", email="ZHANG@x.org"))
    twice = MOODLE.replace('"张 伟",,', '"张 伟",zhang@x.org,').replace("kim2@x.org", "Zhang@X.org")
    filled, notes = klass.fill(twice.encode())
    assert [row[4] for row in table(filled)[1:]] == ["4", "5", "", "3.00"]  # with the other apostrophe
    assert any(note.startswith("not filled in, since several rows") and "line 5 (张 伟" in note for note in notes)


def test_a_worksheet_of_another_assignment_is_told_by_address_and_name(klass: Class) -> None:
    klass.moodle("anna", "Somebody Else", 20001, 5, email="Anna@x.org")
    klass.moodle("sean", "Sean OBrien", 20002, 3)
    filled, _ = klass.fill(MOODLE.encode())
    assert [row[4] for row in table(filled)[1:]] == ["5", "3", "", "3.00"]


def test_numbers_of_the_roster_and_of_folders_that_version_0_1_0_made(klass: Class) -> None:
    write_roster(klass.classroom, [Student("zhang", identifiers=("77", "10235"))])
    klass.add("zhang", 6)
    klass.add("ada-lovelace_10236", 7)
    filled, _ = klass.fill(MOODLE.encode())
    assert [row[4] for row in table(filled)[1:]] == ["", "4.50", "6", "7"]


def test_who_has_no_grade_keeps_the_one_in_the_file(klass: Class) -> None:
    klass.moodle("sean", "Sean OBrien", 10234, None)
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    filled, notes = klass.fill(MOODLE.encode())
    assert table(filled)[2][4] == "4.50"
    assert "no grade, and left as it is in the file: Sean OBrien (sean)" in notes


def test_another_maximum_is_refused_or_converted(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 4.5)
    hundred = MOODLE.replace("9.00", "100.00").encode()
    assert klass.refuses(hundred) == (
        'the column "Grade" is of 100 points, these are grades of 9; set 9 points on the platform and download the file again, '
        "or convert them with --scale"
    )
    assert table(klass.fill(hundred, scale=True)[0])[1][4] == "50"


def test_a_scale_is_refused(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 4.5)
    scale = (
        GERMAN.replace("ID,", "Nummer,", 1)
        .replace('"9,00"', '"nicht bestanden\nbestanden"')
        .replace("Bestwertung", "Skala")
    )
    assert klass.refuses(scale.encode(), column="Bewertung").startswith("the assignment is graded by a scale")


def keep(klass: Class, student: str, message: str) -> None:
    """Grade somebody whose first exercise gets half the points, with a message."""
    verdicts = {"first": verdict(SMALL.exercises[0], 1, message=message), "second": verdict(SMALL.exercises[1], 1, 2)}
    result = Result(student, MODULE, Status.GRADED, 5, verdicts=verdicts, notebook=graded(student).notebook)
    result = replace(result, notebook=with_verdicts(verdicts))
    with Writer(SMALL, klass.classroom.nbgrader_config()) as writer:
        writer.write(Submission(student, FIRST.encode()), result, klass.classroom.autograded(student, MODULE))


def test_comments_are_filled_in_where_they_are_wanted(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, None)
    klass.moodle("sean", "Sean OBrien", 10234, 3)
    keep(klass, "anna", 'It is <not> "right", & more.\nThe second line.')
    klass.book.db.expire_all()
    filled, _ = klass.fill(MOODLE.encode(), unread=True)
    assert [row[10] for row in table(filled)[1:]] == ["", "<p>kept, by hand</p>", "", ""]
    filled, _ = klass.fill(MOODLE.encode(), unread=True, comments=True)
    comments = [row[10] for row in table(filled)[1:]]
    assert comments[0] == (
        "4 of 9 points<br>first: 1 of 2: It is &lt;not&gt; &quot;right&quot;, &amp; more.<br>The second line.<br>"
        "second: 3 of 3<br>question: not yet read"
    )
    assert comments[1].startswith("3 of 9 points<br>") and comments[2:] == ["", ""]


def test_comments_need_a_column(klass: Class) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 4.5)
    assert klass.refuses(GERMAN.replace("ID", "Nr", 1).encode(), comments=True).startswith(
        "it has no column `Feedback comments`"
    )
