"""Feedback pages: what a student reads first, that nothing in them is live, and that one that fails costs no other."""

import errno
import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from gradebooks import new_gradebook, opened
from small import KNOWN, MODULE, SMALL, cell, graded, named, unreadable, verdict, with_verdicts

from grader import records
from grader.classroom import Classroom, Submission
from grader.cli import main
from grader.errors import CourseError
from grader.pages import feedback
from grader.pages.feedback import write_feedback
from grader.pages.markup import text
from grader.pages.words import duration
from grader.result import Result
from grader.roster import Student, write_roster

TIME = "2026-03-01 14:05:00 UTC"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def klass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    """A class of the small module, in which nobody has been graded."""
    new_gradebook(tmp_path)
    monkeypatch.setattr(feedback, "load_assignment", lambda _module: SMALL)
    return Classroom(tmp_path)


def wrong(student: str) -> Result:
    """All of the first exercise is lost, and two of three points of the second; one notebook is repaired."""
    one, two = SMALL.exercises
    verdicts = {"first": verdict(one, 0, message=KNOWN), "second": verdict(two, 1, 0, message="It raised.")}
    return replace(graded(student), verdicts=verdicts, repairs=("a repair",), notebook=with_verdicts(verdicts))


def record(klass: Classroom, *results: Result, time: str = "") -> None:
    with records.Writer(SMALL, klass.nbgrader_config()) as writer:
        for result in results:
            (klass.folder / "submitted" / result.student).mkdir(parents=True, exist_ok=True)
            submission = Submission(result.student, b"", time)
            writer.write(submission, result, klass.autograded(result.student, MODULE))


def by_hand(klass: Classroom, student: str, name: str, points: float, comment: str = "", unread: bool = False) -> None:
    with opened(klass.folder / "gradebook.db") as book:
        grade = book.find_grade(name, "small", MODULE, student)
        grade.manual_score, grade.needs_manual_grade = points, unread
        if comment:
            book.find_comment(name, "small", MODULE, student).manual_comment = comment
        book.db.commit()


def file_of(klass: Classroom, student: str) -> Path:
    return klass.folder / "feedback" / student / MODULE / "small.html"


def html_of(klass: Classroom, student: str = "ada") -> str:
    write_feedback(MODULE, klass)
    return file_of(klass, student).read_text(encoding="utf-8")


def words_of(klass: Classroom, student: str = "ada") -> str:
    """What the page says, without markup."""
    body = html_of(klass, student).partition("<body>")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


def test_a_page_begins_with_what_was_lost_and_why(klass: Classroom) -> None:
    record(klass, wrong("ada"))
    by_hand(klass, "ada", "question", 3, "Because of <what>?")
    write_roster(klass, [Student("ada", first_name="Ada", last_name="Lovelace")])
    words = words_of(klass)
    head = words.partition("The notebook Your ")[0]
    expected = [
        "07_small: feedback Ada Lovelace ( ada ) 4 of 9 points",
        "Repairs The notebook that was handed in differs",
        "a repair",
        f"What lost points first : 0 of 2 {KNOWN} 2 points lost: case 0",
        "second : 1 of 3 It raised. 2 points lost: case 1 Right: case 0",
        "Written answers question : 3 of 4 Because of <what>?",
    ]
    assert [part for part in expected if part not in head] == []
    assert head.index("What lost points") < head.index("Written answers")
    assert "What is right" not in head
    assert "Test of first : 0 of 2" in words.partition("The notebook Your ")[2]


def test_all_right_is_said_plainly(klass: Classroom) -> None:
    record(klass, replace(graded("ada"), blank=("question",)))
    words = words_of(klass)
    assert "All 2 exercises are right." in words and "What lost points" not in words
    assert "What is right first 2 of 2 second 3 of 3" in words
    assert "question : 0 of 4: nothing was written" in words and "5 of 9 points" in words


def test_what_is_right_once_an_earlier_answer_is_fixed_says_so(klass: Classroom) -> None:
    result = wrong("ada")
    told = "Correct once `_first` is fixed; no points lost."
    right = verdict(SMALL.exercises[1], 1, 2)
    right = replace(right, cases=tuple(replace(c, message=told) for c in right.cases))
    verdicts = {"first": result.verdicts["first"], "second": right}
    record(klass, replace(result, verdicts=verdicts, notebook=with_verdicts(verdicts)))
    assert f"What is right second 3 of 3 {told} Written answers" in words_of(klass)


def test_what_nobody_has_read_is_not_zero(klass: Classroom) -> None:
    record(klass, graded("ada"))
    words = words_of(klass)
    assert "5 of 9 so far; 4 points are not yet read" in words
    assert "question : not yet read" in words and "0 of 4" not in words and "0.0" not in words


def test_an_answer_that_changed_after_it_was_read_says_so(klass: Classroom) -> None:
    record(klass, graded("ada"))
    by_hand(klass, "ada", "question", 3, unread=True)
    words = words_of(klass)
    assert "question : 3 of 4 for what it was before; not yet read again" in words
    assert "8 of 9 so far; 4 points are not yet read" in words


def test_points_given_by_hand_for_an_exercise_are_told_apart(klass: Classroom) -> None:
    record(klass, wrong("ada"))
    by_hand(klass, "ada", "test_first", 2)
    assert "first 2 of 2 given by hand; 0 automatically" in words_of(klass)


def test_time_lateness_and_penalty_are_said(klass: Classroom) -> None:
    with opened(klass.folder / "gradebook.db") as book:
        book.update_or_create_assignment(MODULE, duedate="2026-03-01 12:00:00 UTC")
    record(klass, graded("ada"), time=TIME)
    assert "Handed in 2026-03-01 14:05 UTC, 2 hours 5 minutes late. No points are taken off for that." in words_of(
        klass
    )
    with opened(klass.folder / "gradebook.db") as book:
        book.find_submission_notebook("small", MODULE, "ada").late_submission_penalty = 1.5
        book.db.commit()
    words = words_of(klass)
    assert "2 hours 5 minutes late. Penalty for lateness: 1.5 points." in words and "3.5 of 9" in words
    assert (file_of(klass, "ada").parent / "timestamp.txt").read_text() == f"{TIME}\n"


def test_what_a_platform_says_of_lateness_without_a_time_is_shown(klass: Classroom) -> None:
    record(klass, replace(graded("ada"), late='the platform says "LATE" and gives no time: no penalty follows'))
    assert 'The platform says "LATE" and gives no time: no penalty follows.' in words_of(klass)


def test_without_a_time_nothing_is_said_of_it(klass: Classroom) -> None:
    record(klass, graded("ada"))
    words = words_of(klass)
    assert "Handed in" not in words and "late" not in words.partition("The notebook Your ")[0]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "1 second"), (61, "1 minute 1 second"), (7500, "2 hours 5 minutes"), (90_000, "1 day 1 hour"), (86_400, "1 day"), (86_700, "1 day")],
)  # fmt: skip
def test_a_time_is_told_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_page_of_an_unreadable_submission_says_why_and_what_to_do(klass: Classroom) -> None:
    record(klass, unreadable("ben"))
    words = words_of(klass, "ben")
    assert "This submission could not be graded: the file is empty." in words
    assert "0 of 9 points" in words and "What to do" in words and ".ipynb" in words
    assert "Written answers" not in words and "The notebook Your" not in words
    by_hand(klass, "ben", "question", 2, "By mail.")
    assert "2 of 9 points" in words_of(klass, "ben") and "question: 2 of 4 By mail." in words_of(klass, "ben")


def with_cells(klass: Classroom, *cells: dict[str, Any]) -> None:
    """Put cells into the notebook that was kept of Ada."""
    path = klass.autograded("ada", MODULE) / "small.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"] += cells
    path.write_text(json.dumps(notebook))


def test_cells_that_a_student_added_are_shown_with_what_they_printed(klass: Classroom) -> None:
    record(klass, graded("ada"))
    output = {"output_type": "stream", "name": "stdout", "text": "\x1b[31m<b>bold\x1b[0m \udc80"}
    mine = {"cell_type": "code", "id": "own-3", "metadata": {}, "source": "x = '</pre><script>'", "outputs": [output]}
    given = {"cell_type": "code", "id": "given", "metadata": {}, "source": "not_shown = 1", "outputs": []}
    with_cells(klass, mine, given)
    words = words_of(klass)
    assert "A cell that you added x = '</pre><script>'" in words and "<b>bold ?" in words
    assert "not_shown" not in words and "\x1b" not in html_of(klass)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 6 }}"


def test_no_name_sentence_or_answer_is_more_than_text(klass: Classroom) -> None:
    result = wrong("ada")
    verdicts = {"first": verdict(SMALL.exercises[0], 0, message=HOSTILE), "second": result.verdicts["second"]}
    notebook = with_verdicts(verdicts)
    named(notebook["cells"], "question")["source"] = (
        f"{HOSTILE} [a](javascript:alert(1)) ![b](http://example.org/b.png)"
    )
    named(notebook["cells"], "first")["source"] = HOSTILE
    record(klass, replace(result, verdicts=verdicts, repairs=(HOSTILE,), notebook=notebook))
    by_hand(klass, "ada", "question", 3, HOSTILE)
    write_roster(klass, [Student("ada", name=HOSTILE)])
    page = html_of(klass)
    assert page.count("{{ 7 * 6 }}") >= 6
    assert re.findall(r"<script|<img[^>]+(?:onerror|http)|href=.javascript", page) == []
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page


def test_attached_pictures_are_shown_and_no_others() -> None:
    source = (
        "![mine](attachment:a.png) ![gone](attachment:b.png) ![svg](attachment:c.svg) ![far](https://example.org/x.png)"
    )
    attachments = {"a.png": {"image/png": PIXEL}, "c.svg": {"image/svg+xml": PIXEL}}
    html = text(cell("q", source, "markdown") | {"attachments": attachments})
    assert re.findall(r"<img[^>]+>", html) == [
        f'<img src="data:image/png;base64,{PIXEL}" alt="mine">', '<img alt="gone">', '<img alt="svg">', '<img alt="far">',
    ]  # fmt: skip


def test_one_page_that_cannot_be_made_costs_no_other(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    record(klass, *(graded(name) for name in ("ada", "ben", "chloe", "dan", "emil")))
    (klass.autograded("ben", MODULE) / "small.ipynb").write_text("{")
    with opened(klass.folder / "gradebook.db") as book:
        book.remove_submission(MODULE, "chloe")
    (klass.folder / "feedback" / "dan").mkdir(parents=True)
    (klass.folder / "feedback" / "dan" / MODULE).symlink_to(klass.folder)
    assert main(["feedback", MODULE, "--class", str(klass.folder)]) == 1
    said = capsys.readouterr()
    assert "feedback: 2 pages in " in said.out
    lines = said.err.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["ben", "chloe", "dan"]
    assert "the notebook that was kept is damaged; run `python -m grader grade 07_small --force`" in lines[0]
    assert "chloe is not in the gradebook for 07_small; run `python -m grader grade 07_small` again" in lines[1]
    assert "it is a link or a file, not a folder" in lines[2]
    assert file_of(klass, "ada").is_file() and file_of(klass, "emil").is_file()


def test_without_a_gradebook_there_is_a_sentence_and_none_is_made(
    klass: Classroom, capsys: pytest.CaptureFixture[str]
) -> None:
    record(klass, graded("ada"))
    (klass.folder / "gradebook.db").unlink()
    assert main(["feedback", MODULE, "--class", str(klass.folder)]) == 1
    assert "there is no gradebook; run `python -m grader grade 07_small` again" in capsys.readouterr().err
    assert not (klass.folder / "gradebook.db").exists() and not file_of(klass, "ada").exists()


def test_a_name_with_a_line_break_has_a_page(klass: Classroom) -> None:
    record(klass, graded("new\nline"), graded("ada"))
    assert write_feedback(MODULE, klass).written == ("ada", "new\nline")


def test_a_name_that_is_no_text_is_a_line(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    """Such a folder cannot be in the gradebook."""
    record(klass, graded("ada"))
    for step in ("submitted", "autograded"):
        shutil.copytree(klass.folder / step / "ada", klass.folder / step / "ad\udce9")
    pages = write_feedback(MODULE, klass)
    assert pages.written == ("ada",) and list(pages.left_out) == ["ad\udce9"] and capsys.readouterr().err == ""


def test_a_bug_costs_one_page_and_keeps_its_traceback(
    klass: Classroom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(klass, graded("ada"), graded("ben"))
    whole = feedback.feedback_page

    def page(student: str, *arguments: Any) -> str:
        return whole(student, *arguments) if student != "ada" else str(1 // 0)

    monkeypatch.setattr(feedback, "feedback_page", page)
    pages = write_feedback(MODULE, klass)
    assert pages.written == ("ben",)
    assert pages.left_out == {
        "ada": "the page could not be made: ZeroDivisionError: integer division or modulo by zero"
    }
    assert "Traceback" in capsys.readouterr().err


def test_a_full_disk_is_said_once(klass: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    record(klass, graded("ada"), graded("ben"))
    monkeypatch.setattr(feedback, "write_whole", full)
    with pytest.raises(CourseError, match="No space left on device; no page can be written there"):
        write_feedback(MODULE, klass)


def test_who_is_gone_gets_no_new_page_and_is_named(klass: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    record(klass, graded("ada"), graded("ben"), graded("chloe"))
    write_feedback(MODULE, klass)
    old = file_of(klass, "ben").read_bytes()
    (klass.folder / "submitted" / "ben").rmdir()
    write_roster(klass, [Student("chloe", dropped=True)])
    by_hand(klass, "ben", "question", 4)
    assert main(["feedback", MODULE, "--class", str(klass.folder)]) == 0
    said = capsys.readouterr()
    assert said.err == "feedback: left out, since they are no longer in the class: ben, chloe\n"
    assert "feedback: 1 page in " in said.out and file_of(klass, "ben").read_bytes() == old


@pytest.mark.parametrize("width", [1366, 390])
def test_a_page_fits_the_screen_and_asks_for_nothing(width: int, klass: Classroom, browser) -> None:
    """However long the lines and words are; links lead to the cells that they name."""
    result = wrong("ada")
    notebook = with_verdicts(result.verdicts)
    named(notebook["cells"], "first")["source"] = "x = " + " + ".join(["one"] * 200)
    named(notebook["cells"], "question")["source"] = "W" * 500 + "\n\n|" + "a|" * 40 + "\n|" + "---|" * 40
    record(klass, replace(result, repairs=("r" * 300,), notebook=notebook))
    by_hand(klass, "ada", "question", 3, "c" * 300)
    write_roster(klass, [Student("ada", name="N" * 250)])
    write_feedback(MODULE, klass)
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file_of(klass, "ada").as_uri())
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert asked == [file_of(klass, "ada").as_uri()] and said == [] and page.locator("script").count() == 0
        links = [link.get_attribute("href") for link in page.locator("a").all()]
        assert {"#test_first", "#test_second", "#question", "#top"} <= set(links)
        assert [link for link in links if page.locator(f"[id='{(link or '')[1:]}']").count() != 1] == []
        long = page.locator("#first pre").first
        assert long.evaluate("box => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX == 'auto'")
    finally:
        page.close()
