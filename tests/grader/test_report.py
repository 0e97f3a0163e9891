"""The report: a page for each module and one for the course, for everyone who is in the class."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from gradebooks import opened
from small import KNOWN, MODULE, SMALL, graded, unreadable, verdict, with_verdicts

from grader import records
from grader.classroom import Classroom, Submission
from grader.cli import main
from grader.course import Assignment
from grader.errors import CourseError
from grader.pages import report
from grader.pages.report import write_reports
from grader.result import Result
from grader.roster import Student, write_roster

pytestmark = pytest.mark.long

SECOND = "08_more"
MORE = replace(SMALL, module=SECOND)
HOSTILE = "<script>alert(1)<"


@pytest.fixture
def klass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    """A class of a course with two small modules; nobody has handed anything in."""
    modules = {MODULE: SMALL, SECOND: MORE}
    monkeypatch.setattr(report, "load_assignment", modules.__getitem__)
    monkeypatch.setattr(report, "gradable", lambda: list(modules))
    (tmp_path / "submitted").mkdir()
    return Classroom(tmp_path)


def record(klass: Classroom, *results: Result, assignment: Assignment = SMALL, time: str = "") -> None:
    """Hand in and record: submissions are files that are no notebooks, which nobody reads again."""
    with records.Writer(assignment, klass.nbgrader_config()) as writer:
        for result in results:
            folder = klass.submitted(result.student, assignment.module)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{assignment.notebook}.ipynb").write_text("{")
            submission = Submission(result.student, b"", time)
            writer.write(submission, result, klass.autograded(result.student, assignment.module))


def wrong(student: str, sentence: str = KNOWN, repairs: Sequence[str] = ()) -> Result:
    """Both cases of the second exercise say the same sentence, and the first exercise another that has no name."""
    one, two = SMALL.exercises
    first = verdict(one, 0, message="`x[0]` is not right.")
    first = replace(first, cases=tuple(replace(c, named=False) for c in first.cases))
    verdicts = {"first": first, "second": verdict(two, 0, 0, message=sentence)}
    return replace(graded(student), verdicts=verdicts, repairs=tuple(repairs), notebook=with_verdicts(verdicts))


def by_hand(klass: Classroom, student: str, points: float, penalty: float = 0) -> None:
    with opened(klass.folder / "gradebook.db") as book:
        grade = book.find_grade("question", "small", MODULE, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_submission_notebook("small", MODULE, student).late_submission_penalty = penalty
        book.db.commit()


def sections(page: Path) -> dict[str, str]:
    """What stands under each heading of a page, and under "" above them, without markup."""
    body = page.read_text(encoding="utf-8").partition("<body>")[2]
    parts = re.split(r"<h2>(.*?)</h2>", body)
    texts = [
        re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", re.sub("</?bdi>", "", part)))).strip() for part in parts
    ]
    return {"": texts[0], **dict(zip(texts[1::2], texts[2::2], strict=True))}


def module_page(klass: Classroom) -> dict[str, str]:
    write_reports(klass, MODULE)
    return sections(klass.folder / "report" / MODULE / "index.html")


def course_page(klass: Classroom) -> dict[str, str]:
    write_reports(klass)
    return sections(klass.folder / "report" / "index.html")


def table(klass: Classroom, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((klass.folder / "report" / name).read_text("utf-8"))))


def test_only_mistakes_with_a_name_are_misunderstandings_and_a_student_counts_once(klass: Classroom) -> None:
    record(klass, wrong("ada"), wrong("ben"), graded("chloe"))
    page = module_page(klass)
    assert page["What was misunderstood"] == f"students what they were told 2 second {KNOWN} ada, ben"
    assert [(row["students"], row["who"]) for row in table(klass, f"{MODULE}/misconceptions.csv")] == [("2", "ada ben")]


def test_points_by_hand_and_penalties_stand_beside_the_automatic_ones(klass: Classroom) -> None:
    record(klass, graded("ada"), graded("ben", second=1))
    by_hand(klass, "ada", 4, penalty=2)
    page = module_page(klass)
    assert "given automatically 5 4 4 3 5" in page["Scores"]
    assert "with those given by hand, after penalties 9 5 5 3 7" in page["Scores"]
    assert "Written answers that nobody has read count 0" in page["Scores"]
    assert "ada graded 5 7 ben graded 3 3 to be read" in page["Everyone"]
    assert page["Who is still to be read"] == "student written answers ben question"
    rows = {row["student"]: row for row in table(klass, f"{MODULE}/submissions.csv")}
    assert (rows["ada"]["points"], rows["ada"]["total"], rows["ada"]["penalty"]) == ("5", "7", "2")
    assert rows["ada"]["to be read"] == "" and rows["ben"]["to be read"] != ""


def test_who_has_not_handed_in_is_named_also_if_only_the_roster_has_them(klass: Classroom) -> None:
    record(klass, graded("ada"), unreadable("ben"))
    (klass.folder / "submitted" / "dan").mkdir()
    write_roster(klass, [Student("chloe", first_name="Chloe", last_name="Lee")])
    page = module_page(klass)
    assert page[""].endswith(
        "4 students: 1 graded, 1 unreadable, 2 missing. 0 late, 1 with written answers to be read."
    )
    assert page["Who has not handed in"] == (
        "student why Chloe Lee (chloe) nothing was handed in dan nothing was handed in"
    )
    assert page["Who needs attention"] == "student why ben unreadable: the file is empty"


def test_who_was_late_and_what_it_cost(klass: Classroom) -> None:
    record(klass, graded("ada"))
    with opened(klass.folder / "gradebook.db") as book:
        book.update_or_create_assignment(MODULE, duedate="2026-03-01 12:00:00 UTC")
    record(klass, graded("ada"), graded("ben"), time="2026-03-01 14:05:00 UTC")
    record(klass, graded("chloe"), time="2026-03-01 11:00:00 UTC")
    by_hand(klass, "ben", 4, penalty=1)
    page = module_page(klass)
    assert page["Who was late"] == (
        "student how late ada 2 hours 5 minutes, no penalty ben 2 hours 5 minutes, penalty 1 point"
    )
    assert "2 late" in page[""]


def test_what_a_platform_says_of_lateness_without_a_time_is_shown(klass: Classroom) -> None:
    said = 'the platform says "LATE" and gives no time: no penalty follows'
    record(klass, replace(graded("ada"), late=said), graded("ben"))
    assert module_page(klass)["Who was late"] == f"student how late ada {said}"


def test_what_was_repaired_is_counted_with_those_whose_it_was(klass: Classroom) -> None:
    record(klass, wrong("ada", repairs=("one", "two", "one")), wrong("ben", repairs=("one",)), graded("chloe"))
    page = module_page(klass)
    assert page["What was repaired"] == "2 notebooks had to be repaired. students repair 2 one ada, ben 1 two ada"
    assert table(klass, f"{MODULE}/repairs.csv")[0] == {"repair": "one", "students": "2", "who": "ada ben"}


def test_who_is_gone_is_in_no_table_and_named_once(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    record(klass, graded("ada"), wrong("ben"))
    write_roster(klass, [Student("ben", dropped=True)])
    assert main(["report", MODULE, "--class", str(klass.folder)]) == 0
    said = capsys.readouterr()
    folder = klass.folder / "report"
    assert said.err == "report: left out, since they are no longer in the class: ben\n"
    assert said.out == f"report: {folder / MODULE / 'index.html'}\nreport: {folder / 'index.html'}\n"
    for page in (folder / MODULE / "index.html", folder / "index.html"):
        found = sections(page)
        assert "Left out, since they are no longer in the class: ben." in found[""]
        assert [heading for heading, text in found.items() if heading and re.search(r"\bben\b", text)] == []
    assert [row["student"] for row in table(klass, f"{MODULE}/submissions.csv")] == ["ada"]
    assert [row["student"] for row in table(klass, "course.csv")] == ["ada"]


def test_the_course_has_everyone_in_each_module(klass: Classroom) -> None:
    record(klass, graded("ada"), graded("ben", second=1), unreadable("dan"))
    record(klass, graded("ada", second=2), assignment=MORE)
    by_hand(klass, "ada", 4)
    (klass.folder / "submitted" / "chloe").mkdir()
    page = course_page(klass)
    assert page[""] == "The course 4 students, 2 modules graded so far."
    assert "07_small 3 of 4 0 1 6 6 9 08_more 1 of 4 0 1 4 4 9" in page["Modules"]
    assert page["Totals"].startswith(
        "student 07_small 08_more total of 18 ada 9 4 to be read 13 so far ben 3 to be read \u2013 3 so far chloe \u2013 \u2013 0 "
        "dan unreadable \u2013 0 \u2013: not handed in"
    )
    assert page["Who has not handed in what"] == "07_small chloe 08_more ben, chloe, dan"
    rows = table(klass, "course.csv")
    assert [(row["student"], row["07_small"], row["08_more"], row["total"]) for row in rows] == [
        ("ada", "9", "4", "13"), ("ben", "3", "", "3"), ("chloe", "", "", "0"), ("dan", "0", "", "0"),
    ]  # fmt: skip


def test_one_module_refreshes_the_course_and_leaves_the_other_pages(klass: Classroom) -> None:
    record(klass, graded("ada"))
    record(klass, graded("ada"), assignment=MORE)
    assert [p.parent.name for p in write_reports(klass).pages] == [MODULE, SECOND, "report"]
    old = (klass.folder / "report" / SECOND / "index.html").read_bytes()
    record(klass, graded("ben"))
    record(klass, graded("ben"), assignment=MORE)
    assert [p.parent.name for p in write_reports(klass, MODULE).pages] == [MODULE, "report"]
    assert (klass.folder / "report" / SECOND / "index.html").read_bytes() == old
    assert "2 students" in sections(klass.folder / "report" / "index.html")[""]


def test_the_same_class_gives_the_same_bytes(klass: Classroom) -> None:
    record(klass, wrong("ada"), wrong("ben"))
    pages = write_reports(klass).pages
    before = [page.read_bytes() for page in pages]
    assert [page.read_bytes() for page in write_reports(klass).pages] == before


def test_names_and_sentences_are_text_and_nothing_more(klass: Classroom) -> None:
    record(klass, wrong(HOSTILE, sentence=HOSTILE, repairs=(HOSTILE,)), wrong("new\nline"))
    person = {"id": "new\nline", "name": f"{HOSTILE}\udc80"}
    (klass.folder / "roster.json").write_text(json.dumps({"students": [person]}))
    for page in write_reports(klass).pages:
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text and "&lt;script&gt;alert(1)&lt;" in text and "\\udc80" in text


def test_a_class_without_a_gradebook_is_told_so_and_gets_none(
    klass: Classroom, capsys: pytest.CaptureFixture[str]
) -> None:
    record(klass, graded("ada"))
    (klass.folder / "gradebook.db").unlink()
    assert main(["report", "--class", str(klass.folder)]) == 1
    assert capsys.readouterr().err.startswith("report: there is no gradebook yet, so nothing is known of lateness")
    assert "There is no gradebook yet" in sections(klass.folder / "report" / MODULE / "index.html")[""]
    assert "ada graded 5" in sections(klass.folder / "report" / MODULE / "index.html")["Everyone"]
    assert not (klass.folder / "gradebook.db").exists()


def test_a_gradebook_that_cannot_be_opened_is_a_sentence(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    record(klass, graded("ada"))
    (klass.folder / "gradebook.db").write_text("this is no gradebook " * 100)
    assert main(["report", MODULE, "--class", str(klass.folder)]) == 1
    said = capsys.readouterr().err
    assert "gradebook.db" in said and "Traceback" not in said
    assert "ada graded 5" in sections(klass.folder / "report" / MODULE / "index.html")["Everyone"]


def test_a_damaged_kept_notebook_is_a_row(klass: Classroom) -> None:
    record(klass, graded("ada"), graded("ben"))
    (klass.autograded("ben", MODULE) / "small.ipynb").write_text(json.dumps({"cells": []}))
    assert "ben not graded: it was handed in but not graded" in module_page(klass)["Who needs attention"]


def test_a_class_of_which_everyone_is_gone_has_pages(klass: Classroom) -> None:
    record(klass, graded("ada"))
    write_roster(klass, [Student("ada", dropped=True)])
    assert "Nobody in the class has been graded." in module_page(klass)["Scores"]


@pytest.mark.parametrize("module", [MODULE, ""])
def test_a_class_of_which_nobody_was_graded_has_none(klass: Classroom, module: str) -> None:
    with pytest.raises(CourseError, match="nobody has been graded"):
        write_reports(klass, module)
    assert not (klass.folder / "report").exists()


@pytest.mark.parametrize("width", [1366, 390])
def test_the_pages_fit_the_screen_and_ask_for_nothing(width: int, klass: Classroom, browser) -> None:
    """However long names and sentences are; what is wider than the screen has a box of its own; links lead to files."""
    record(klass, *(wrong(f"{'N' * 150}{n}", "s" * 300, ["r" * 300]) for n in range(3)), graded("ada"))
    record(klass, graded("ada"), assignment=MORE)
    write_reports(klass)
    view = browser.new_page(viewport={"width": width, "height": 800})
    try:
        for path in (klass.folder / "report" / "index.html", klass.folder / "report" / MODULE / "index.html"):
            asked: list[str] = []
            said: list[str] = []
            view.on("request", lambda request, asked=asked: asked.append(request.url))
            view.on("console", lambda message, said=said: said.append(message.text))
            view.goto(path.as_uri())
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            assert asked == [path.as_uri()] and said == [] and view.locator("script").count() == 0
            links = [link.get_attribute("href") or "" for link in view.locator("a").all()]
            assert links and [link for link in links if not (path.parent / link).is_file()] == []
    finally:
        view.close()
