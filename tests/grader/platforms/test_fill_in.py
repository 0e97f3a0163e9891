"""A copy of the platform's own file with our grades: what each platform writes, and what it takes when the copy is uploaded.

The layouts and the rules of the way in are those of the platforms' sources, or of files that others have described:
see docs/platforms.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from filled import MARK, MOODLE, OTHER, Class, only_small_modules, table
from gradebooks import new_gradebook, opened
from small import MODULE, SMALL, graded

from grader import cli
from grader.classroom import Classroom
from grader.errors import CourseError
from grader.gradebook import record, save_assignment
from grader.origin import Origin
from grader.platforms.fill_in import Target, fill_in_totals
from grader.roster import Student, write_roster


@pytest.fixture
def klass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    only_small_modules(monkeypatch)
    new_gradebook(tmp_path)
    with opened(tmp_path / "gradebook.db") as book:
        yield Class(Classroom(tmp_path), book)


# Canvas ---------------------------------------------------------------------------------------------------------------

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Small (55),Second small (56),Current Score,Final Score\n"
    ",,,,,,Manual Posting,,,\n"
    "    Points Possible,,,,,,9.00,20.00,(read only),(read only)\n"
    '"O\'Brien, Sean",4711,S1,sean,"A and B",x,4.50,,50,40\n'
    '"Lovelace, Ada",4712,S2,ada@x.org,A,,EX,1.00,,\n'
    '"=""=Bobby""",4713,S3,bob,A,,,,,\n'
    '"Hopper, Grace",4714,S4,grace,A,,7.25,N/A,,\n'
    '"Student, Test",4999,,abc,A,,,,,\n'
)


def canvas_changes(before: str, after: str, delimiter: str = ",") -> dict[str, dict[str, tuple[str, str]]]:
    """What Canvas would change, by student and column: lib/gradebook_importer.rb.

    A number has its last point or comma as the decimal one; a blank cell over a score takes the score away.
    """

    def scores(text: str) -> dict[str, dict[str, str]]:
        lines = table(text.encode(), delimiter)
        header = lines[0]
        assert "Student" in header[0] and "ID" in header[1] and "Section" in header
        students = [
            r for r in lines[1:] if "Points Possible" not in r[0] and not "".join(r).startswith("Manual Posting")
        ]
        columns = [c for c, title in enumerate(header) if title.endswith(")") and title[-3].isdigit()]
        return {row[1]: {header[c]: row[c] for c in columns} for row in students}

    def value(text: str) -> str:
        return "" if text == "-" else f"{float(text.replace(',', '.')):.2f}" if text[:1].isdigit() else text.upper()

    old, new = scores(before), scores(after)
    changed = {s: {c: (old[s][c], v) for c, v in new[s].items() if value(v) != value(old[s][c])} for s in new}
    return {student: columns for student, columns in changed.items() if columns}


def test_canvass_gradebook_gets_grades_and_takes_them(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 3.5)
    klass.canvas("bob", "bobby", 4713, 5)
    klass.canvas("grace", "hoppergrace", 4714, None)
    filled, notes = klass.fill(MARK + CANVAS.replace("\n", "\r\n").encode())
    wanted = CANVAS.replace('B",x,4.50', 'B",x,3.5').replace("S3,bob,A,,,", "S3,bob,A,,5,")
    assert filled == MARK + wanted.replace("\n", "\r\n").encode()
    assert canvas_changes(CANVAS, wanted) == {
        "4711": {"Small (55)": ("4.50", "3.5")},
        "4713": {"Small (55)": ("", "5")},
    }
    assert notes == [
        "in the file, and not in the class: Lovelace, Ada",
        "no grade, and left as it is in the file: hoppergrace (grace)",
        "07_small: handed in and not graded: hoppergrace (grace); run `python -m grader grade 07_small`",
    ]


def test_an_excused_student_stays_excused(klass: Class) -> None:
    klass.canvas("ada", "lovelaceada", 4712, 5)
    klass.canvas("grace", "hoppergrace", 4714, 5)
    filled, notes = klass.fill(CANVAS.encode())
    assert table(filled)[4][6] == "EX" and "not filled in: lovelaceada (ada): excused in Canvas" in notes
    filled, notes = klass.fill(CANVAS.encode(), column="56", scale=True)
    assert table(filled)[6][7] == "N/A" and "not filled in: hoppergrace (grace): not assigned in Canvas" in notes


def test_canvas_with_semicolons_and_decimal_commas(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 3.5)
    german = CANVAS.replace(",", ";").replace("O'Brien; Sean", "O'Brien, Sean").replace(".", ",")
    filled, _ = klass.fill(german.encode())
    assert filled == german.replace("x;4,50;", "x;3,5;").encode()
    assert canvas_changes(german, filled.decode(), ";") == {"4711": {"Small (55)": ("4,50", "3,5")}}


def test_canvas_students_by_login_and_by_name(klass: Class) -> None:
    klass.add("ada@x.org", 5, Origin("files"))
    klass.add("grace-hopper", 6, Origin("files", name="Grace Hopper"))
    klass.add("x", 7, Origin("canvas", name="obriensean"))  # run together, as in Canvas's archives
    filled, _ = klass.fill(CANVAS.replace("EX", "").encode())
    assert [row[6] for row in table(filled)[3:]] == ["7", "5", "", "6", ""]


@pytest.mark.parametrize(("column", "place"), [("55", 6), ("Small (55)", 6), ("second SMALL", 7), ("56", 7)])
def test_a_column_by_title_or_number(klass: Class, column: str, place: int) -> None:
    klass.canvas("sean", "obriensean", 4711, 4.5)
    filled, _ = klass.fill(CANVAS.replace("20.00", "9.00").replace("x,4.50", "x,").encode(), column=column)
    assert [
        c for c, (new, old) in enumerate(zip(table(filled)[3], table(CANVAS.encode())[3], strict=True)) if new == "4.5"
    ] == [place]


def test_a_column_is_not_guessed(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 4.5)
    two = CANVAS.replace("Small (55)", "My small (55)").encode()
    there = '"My small (55)", "Second small (56)"'
    assert klass.refuses(two) == (
        f'more than one column for grades has "{MODULE}" or "small" in its title; name one with --column: {there}'
    )
    assert (
        klass.refuses(two, column="mine") == f'no column for grades is called "mine"; name one with --column: {there}'
    )
    for column in ("Final Score", "Notes", "ID"):
        assert klass.refuses(two, column=column).startswith(f'no column for grades is called "{column}"')


def test_a_column_that_canvas_only_shows_is_not_filled_in(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 4.5)
    shown = CANVAS.replace(",9.00,", ",(read only),").encode()
    assert klass.refuses(shown, column="55") == (
        'no column for grades is called "55"; name one with --column: "Second small (56)"'
    )


def test_a_title_that_canvas_drops_is_refused(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 4.5)
    final = CANVAS.replace("Small (55)", "Final Grade small (55)").encode()
    assert klass.refuses(final, column="55").startswith(
        'Canvas drops the column "Final Grade small (55)" on the way in'
    )


def test_canvas_with_first_and_last_names_in_columns_of_their_own(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 3.5)
    two = (
        "LastName,FirstName,ID,SIS Login ID,Section,Small (55)\n    Points Possible,,,,,9\nO'Brien,Sean,4711,sean,A,\n"
    )
    assert klass.fill(two.encode())[0] == two.replace("sean,A,", "sean,A,3.5").encode()


# others ---------------------------------------------------------------------------------------------------------------

BRIGHTSPACE = (
    "OrgDefinedId,Username,Last Name,First Name,Email,Small Points Grade <Numeric MaxPoints:9 Weight:10 Category:Labs CategoryWeight:15>,"
    "Other Points Grade <Numeric MaxPoints:5>,End-of-Line Indicator\r\n"
    "#400123456,#doej,Doe,John,doej@x.ca,,2,#\r\n"
    "#400123457,#leek,Lee,Kim,leek@x.ca,3,2,#\r\n"
    "#400123458,#roen,Roe,Nan,roen@x.ca,,2,#\r\n"
)


def test_only_moodle_takes_comments(klass: Class) -> None:
    klass.canvas("sean", "obriensean", 4711, 3)
    assert klass.refuses(CANVAS.encode(), comments=True) == "it takes no comments; leave --comments out"


def test_brightspace(klass: Class) -> None:
    write_roster(klass.classroom, [Student("john", number="400123456")])
    klass.add("john", 5)
    klass.add("leek", 6)  # the folder has the user's name
    klass.add("nan", 7, Origin("brightspace", name="Nan Roe", person="271836"))  # a number that is not in this file
    filled, notes = klass.fill(BRIGHTSPACE.encode())
    assert (
        filled
        == BRIGHTSPACE.replace("doej@x.ca,,", "doej@x.ca,5,")
        .replace("ca,3,", "ca,6,")
        .replace("roen@x.ca,,", "roen@x.ca,7,")
        .encode()
    )
    assert notes == []
    assert "is of 5 points, these are grades of 9" in klass.refuses(BRIGHTSPACE.encode(), column="Other")


BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t"Small [Total Pts: up to 9 Score] |789219"\t'
    '"Overall Grade [Total Pts: up to 100 USAFA Letter] |530834"\n'
    '"Müller"\t"Anna"\t"amueller"\t"M10933995"\t""\t"Yes"\t"Needs Grading"\t"B"\n'
    '"Lee"\t"Kim"\t"kim.lee@x.nl"\t"M10933996"\t""\t"Yes"\t"2.00"\t"C"\n'
)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_blackboards_tab_separated_xls_in_utf_16(klass: Class, encoding: str) -> None:
    klass.add("anna", 3.5, Origin("blackboard", login="amueller"))
    klass.add("kim.lee@x.nl", 5)
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    filled, _ = klass.fill(mark + BLACKBOARD.encode(encoding), name="gc_x_fullgc.xls")
    assert filled == mark + BLACKBOARD.replace("Needs Grading", "3.5").replace("2.00", "5").encode(encoding)


def test_blackboards_csv_keeps_its_quotes(klass: Class) -> None:
    klass.add("anna", 3.5, Origin("blackboard", login="amueller"))
    data = MARK + BLACKBOARD.replace("\t", ",").encode()
    assert klass.fill(data, column="789219")[0] == data.replace(b"Needs Grading", b"3.5")


@pytest.mark.parametrize(
    ("header", "whose"),
    [
        (
            "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,Lateness (H:M:S)",
            "Gradescope",
        ),
        (
            (
                '"assignment_name","assignment_url","starter_code_url","github_username","roster_identifier","student_repository_name",'
                '"student_repository_url","submission_timestamp","points_awarded","points_available"'
            ),
            "GitHub Classroom",
        ),
    ],
)
def test_a_platform_that_takes_no_grades(klass: Class, header: str, whose: str) -> None:
    klass.add("ada", 5)
    assert klass.refuses(f"{header}\n".encode()) == (
        f"it is {whose}'s, which takes no file of grades; print them with `grader export MODULE` and enter them there"
    )


def test_any_table_with_ids_or_addresses(klass: Class) -> None:
    klass.add("s1234567", 5)
    klass.add("ben", 6, Origin("files", email="ben@x.org"))
    ids = b"id;what;Points\r\ns1234567;a;\r\ns7654321;b;1\r\n"
    assert klass.fill(ids)[0] == ids.replace(b"a;", b"a;5")
    addresses = "who,Small\nBen@X.org,\nada@x.org,".encode("cp1252")
    assert klass.fill(addresses)[0] == addresses.replace(b"org,\n", b"org,6\n")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04...", "it is a workbook, not a CSV file; download it as CSV, and give that"),
        (b"\xd0\xcf\x11\xe0...", "it is a workbook, not a CSV file; download it as CSV, and give that"),
        (b"", "there is nothing in it; download"),
        (b"a\0b", "it is not text; download"),
        (b'id,small\n"ada,\n', "a quotation mark is opened and not closed; download the file again"),
        (b"\xff\xfeabc", "it is not the text that it begins as"),
        (b"name,small\nAda,\n", "no column says who the students are; it needs one called id, student_id"),
        (b"id,small\nzoe,1\n", "none of its 1 rows is a student of the class; nothing is written."),
        (b"id,other\nada,1\n", f'no column for grades has "{MODULE}" or "small" or "grade"'),
    ],
)
def test_a_file_that_cannot_be_filled_in(klass: Class, data: bytes, said: str) -> None:
    klass.add("ada", 5)
    assert klass.refuses(data).startswith(said)


def test_a_line_with_other_cells_than_the_header_is_said(klass: Class) -> None:
    klass.add("ada", 5)
    klass.add("ben", 6)
    filled, notes = klass.fill(b"id,name,small\nada,Ada,\nben,Ben, jr.,\n\n")
    assert filled == b"id,name,small\nada,Ada,5\nben,Ben, jr.,\n\n"
    assert notes == [
        "graded, and not in the file: ben",
        "not filled in, since the line has more or fewer cells than the header: line 3",
    ]


# the command ----------------------------------------------------------------------------------------------------------


def run(klass: Class, *options: str | Path) -> int:
    return cli.main(["export", *map(str, options), "--class", str(klass.classroom.folder)])


def test_the_command_writes_a_copy_beside_the_file_and_never_over_it(
    klass: Class, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, 5)
    file = tmp_path / "Grades-course.csv"
    file.write_bytes(MOODLE.encode())
    assert run(klass, MODULE, "--into", file) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines() == [
        f'export: {tmp_path}/Grades-course-filled.csv: 1 grades in the column "Grade"',
        "export: in the file, and not in the class: Sean O'Brien, Participant 10234, 张 伟, Participant 10235, Kim Lee, Participant 10236",
    ]
    assert run(klass, MODULE, "--into", file, "--output", tmp_path / "x.csv") == 0
    assert (tmp_path / "x.csv").read_bytes() == (tmp_path / "Grades-course-filled.csv").read_bytes()
    assert run(klass, MODULE, "--into", file, "--output", file) == 1
    assert "it is the platform's file itself, which stays as it is; name another output" in capsys.readouterr().err
    assert run(klass, MODULE, "--into", tmp_path / "none.csv") == 1
    assert "it cannot be read (No such file or directory)" in capsys.readouterr().err
    assert file.read_bytes() == MOODLE.encode()


def test_unread_answers_are_refused_here_too(klass: Class, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    klass.moodle("anna", "Anna Maria Müller", 10233, None)
    record(klass.book, SMALL, graded("anna", 2, 3), "", None)
    (tmp_path / "g.csv").write_bytes(MOODLE.encode())
    assert run(klass, MODULE, "--into", tmp_path / "g.csv") == 1 and not (tmp_path / "g-filled.csv").exists()
    assert "written answers that nobody has read: Anna Maria Müller (anna)" in capsys.readouterr().err
    assert run(klass, MODULE, "--into", tmp_path / "g.csv", "--unread", "zero") == 0
    assert "count 0 (1): Anna Maria Müller (anna)" in capsys.readouterr().err


def test_totals_go_into_a_file(klass: Class, tmp_path: Path) -> None:
    save_assignment(klass.book, OTHER)
    klass.canvas("sean", "obriensean", 4711, 4.5)
    klass.add("sean", 3, Origin("canvas", person="4711"), OTHER.module)
    klass.add("grace", 5, Origin("canvas", person="4714"), OTHER.module)
    write_roster(klass.classroom, [Student("ada", number="4712")])
    (tmp_path / "g.csv").write_bytes(CANVAS.replace("Small (55)", "Course total (55)").replace("9.00", "100").encode())
    target = Target(tmp_path / "g.csv")
    notes = fill_in_totals(klass.classroom, "07=1,08=1", target)
    rows = {row[0]: row[6] for row in table(target.copy.read_bytes())}
    assert (rows["O'Brien, Sean"], rows["Hopper, Grace"], rows["Lovelace, Ada"]) == ("41.6667", "27.7778", "EX")
    assert "no grade, and left as it is in the file: ada" in notes
    with pytest.raises(CourseError, match="of 100 points, these are grades of 18"):
        fill_in_totals(klass.classroom, "", target)
    with pytest.raises(CourseError, match="a total has no comments"):
        fill_in_totals(klass.classroom, "", replace(target, comments=True))
