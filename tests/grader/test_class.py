"""A class that has been graded: its pages in a browser, what is exported, and late work."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classes import ENVIRONMENT, rows_of, set_manual_score
from playwright.sync_api import Page
from sentences import DIVIDED_BY_D_K

from grader.batch import grade_class
from grader.classroom import Classroom
from grader.cli import main
from grader.course import ROOT
from grader.pages.feedback import write_feedback
from grader.pages.report import write_reports
from grader.platforms.export import export

pytestmark = pytest.mark.jail

MODULE = "04_attention"


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> Path:
    """The sample class, graded, with its pages."""
    folder = tmp_path_factory.mktemp("class")
    shutil.copytree(ROOT / "examples" / "class", folder / "submitted")
    for command in ("grade", "report", "feedback"):
        assert main([command, MODULE, "--class", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def page(browser):
    return browser.new_page(viewport={"width": 1000, "height": 1200})


def visit(page: Page, path: Path) -> tuple[list[str], list[str]]:
    """Open a file; what the console said, and which requests were made."""
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    kept = os.environ.get("SCREENSHOTS")
    if kept:
        page.screenshot(path=f"{kept}/{path.parents[1].name}-{path.stem}.png", full_page=True)
    return said, asked


@pytest.mark.slow
def test_the_report_in_a_browser(walked, page):
    path = walked / "report" / MODULE / "index.html"
    said, asked = visit(page, path)
    assert not said and asked == [path.as_uri()]
    text = page.inner_text("body")
    assert DIVIDED_BY_D_K in text and "10 students: 10 graded" in text
    assert "ben" in page.inner_text("h2:has-text('Who needs attention') + table")
    assert page.locator("figure svg").count() == 2
    assert all(figure.get_attribute("aria-label") for figure in page.locator("figure").all())
    for link in page.locator("a").all():
        assert (path.parent / link.get_attribute("href")).is_file()
    page.get_by_role("link", name="The course").click()
    assert "10 of 10" in page.inner_text("h2:has-text('Modules') + div")


@pytest.mark.slow
def test_a_feedback_page_in_a_browser(walked, page):
    path = walked / "feedback" / "chloe" / MODULE / "attention.html"
    said, asked = visit(page, path)
    assert not said and asked == [path.as_uri()]
    text = page.inner_text("body")
    assert text.index(DIVIDED_BY_D_K) < text.index("return scores / d_k")
    assert page.locator("table.verdict").count() == 8 and page.locator("script").count() == 0
    page.get_by_role("link", name="scale_scores").first.click()
    assert page.locator(".cell:target").get_attribute("id") == "test_scale_scores"


@pytest.fixture
def graded(tmp_path) -> Path:
    shutil.copytree(ROOT / "examples" / "class", tmp_path / "submitted")
    grade_class(MODULE, Classroom(tmp_path))
    return tmp_path


def test_exports_have_the_platforms_columns(graded):
    set_manual_score(graded / "gradebook.db", "ada", "question_scaling", 3.5)
    plain = list(csv.DictReader(io.StringIO(export(MODULE, Classroom(graded), "csv", True).text)))
    ada = next(row for row in plain if row["student"] == "ada")
    assert (
        ada["scale_scores"] == "2"
        and ada["question_scaling"] == "3.5"
        and ada["total"] == "31.5"
        and ada["to be read"] == "question_masking"
    )
    assert ada["late penalty"] == "0" and ada["max"] == "36"
    canvas = list(csv.reader(io.StringIO(export(MODULE, Classroom(graded), "canvas", True).text)))
    assert canvas[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] and canvas[0][5] == MODULE
    assert canvas[1][0].strip() == "Points Possible" and canvas[1][5] == "36" and len(canvas) == 12
    moodle = list(csv.DictReader(io.StringIO(export(MODULE, Classroom(graded), "moodle", True).text)))
    assert {"Identifier", "Full name", "Grade", "Maximum Grade"} <= set(moodle[0])


def test_late_submissions_are_penalised_as_nbgrader_says(graded):
    from nbgrader.api import Gradebook

    (graded / "submitted" / "ada" / MODULE / "timestamp.txt").write_text("2026-03-01 14:00:00 UTC\n")
    (graded / "submitted" / "fatima" / MODULE / "timestamp.txt").write_text("2026-03-01 11:00:00 UTC\n")
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}", "tinytorch") as book:
        book.update_or_create_assignment(MODULE, duedate="2026-03-01 12:00:00 UTC")
    config = Classroom.nbgrader_config

    class Strict(Classroom):
        def nbgrader_config(self):
            strict = config(self)
            strict.LateSubmissionPlugin.penalty_method = "zero"
            return strict

    rows = grade_class(MODULE, Strict(graded))
    assert sorted(row.student for row in rows if not row.unchanged) == ["ada", "fatima"]
    penalties = {row[0]: row[3] for row in rows_of(graded / "gradebook.db")[2]}
    assert penalties["ada"] == 28 and penalties["fatima"] is None and penalties["chloe"] is None
    ada = next(
        r
        for r in csv.DictReader(io.StringIO(export(MODULE, Classroom(graded), "csv", True).text))
        if r["student"] == "ada"
    )
    assert ada["late penalty"] == "28" and ada["total"] == "0"


def test_the_report_finds_who_is_alike_and_who_is_missing(graded):
    from answers import submission

    own = "def _scale_scores(scores, d_k):\n    # my very own way of doing this\n    root = float(d_k) ** 0.5\n    return scores / root"
    for student in ("zoe", "zack"):
        folder = graded / "submitted" / student / MODULE
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_bytes(submission({"scale_scores": own}))
    (graded / "submitted" / "absent").mkdir()
    (graded / "submitted" / "broken" / MODULE).mkdir(parents=True)
    (graded / "submitted" / "broken" / MODULE / "attention.ipynb").write_text("{")
    grade_class(MODULE, Classroom(graded))
    path = write_reports(Classroom(graded), MODULE).pages[0]
    html = path.read_text()
    assert "<bdi>absent</bdi></td><td>nothing was handed in" in html and "unreadable: the file is damaged" in html
    pairs = list(csv.DictReader(io.StringIO((path.parent / "alike.csv").read_text())))
    assert {"first": "zack", "second": "zoe", "percent": "100", "characters": pairs[0]["characters"]} in pairs
    wrong = list(csv.DictReader(io.StringIO((path.parent / "misconceptions.csv").read_text())))
    assert {
        "exercise": "scale_scores",
        "sentence": DIVIDED_BY_D_K,
        "students": "1",
        "who": "chloe",
    } in wrong


@pytest.mark.slow
def test_feedback_by_nbgraders_own_command_is_the_same(graded):
    write_feedback(MODULE, Classroom(graded))
    ours = (graded / "feedback" / "chloe" / MODULE / "attention.html").read_text()
    folders = [f"--CourseDirectory.{s}_directory={graded / s}" for s in ("submitted", "autograded", "feedback")]
    command = [sys.executable, "-m", "nbgrader", "generate_feedback", MODULE, "--force", "--student=chloe"]
    command += [f"--CourseDirectory.db_url=sqlite:///{graded / 'gradebook.db'}", *folders]
    subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, capture_output=True)
    assert (graded / "feedback" / "chloe" / MODULE / "attention.html").read_text() == ours
    assert json.loads((graded / "autograded" / "chloe" / MODULE / "attention.ipynb").read_text())["metadata"]["grader"]
