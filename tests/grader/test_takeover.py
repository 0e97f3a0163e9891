"""A class that version 0.1.0 has half graded: this version goes on with it, and nothing that was there is lost.

The class is data/classroom-0.1.0.zip, made by data/make_classroom.py; all numbers here are absolute.
"""

import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.course import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.slow]

MODULE, LATER_MODULE = "04_attention", "05_efficient_attention"
EXERCISES = (
    "compute_attention_scores",
    "scale_scores",
    "causal_mask",
    "apply_mask",
    "scaled_dot_product_attention",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
)
QUESTIONS = "question_scaling", "question_masking"
UNREAD = None  # the automatic score of a written answer that somebody has to read

BY_0_1_0: Mapping[
    str, Sequence[float | None]
] = {  # automatic scores: the exercises in order, and the two written questions
    "ada": (2, 2, 1, 3, 6, 3, 2, 9, UNREAD, UNREAD),
    "ben": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "chloe": (2, 0, 1, 3, 6, 3, 2, 9, 0, 0),
    "dan": (2, 2, 1, 0.5, 6, 0, 0, 9, UNREAD, 0),
    "goran-example_1006": (2, 2, 1, 3, 0, 3, 2, 0, 0, 0),
    "julia": (2, 2, 1, 3, 6, 3, 2, 9, 0, 0),
    "uma": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),  # unreadable
}
BY_THIS_VERSION: Mapping[str, Sequence[float | None]] = {
    **BY_0_1_0,
    "dan": (2, 2, 1, 0, 6, 0, 0, 9, UNREAD, 0),  # a case that an answer without a mask passes counts only with others
    "emil": (2, 2, 1, 3, 2.25, 3, 2, 9, 0, 0),
    "hana": (2, 2, 1, 3, 6, 3, 2, 4.5, UNREAD, 0),
    "ivan": (2, 2, 0, 3, 6, 3, 2, 0, 0, 0),
}
BY_HAND = {  # manual score, extra credit
    ("ada", "question_scaling"): (3.5, None),
    ("ada", "question_masking"): (4, 1),
    ("ben", "test_scale_scores"): (1, None),
    ("dan", "test_apply_mask"): (None, 0.25),
    ("uma", "question_masking"): (2, None),
}
COMMENTS = {
    ("ada", "question_scaling", "Right; say also what happens without the root."),
    ("ben", "scale_scores", "You showed me this in class: 1 point. Grüße, 李"),
    ("chloe", "scale_scores", "Look at the variance once more."),
}
NO_RESPONSE = {  # the automatic comment
    *(("ben", name) for name in (*EXERCISES, *QUESTIONS)),
    ("goran-example_1006", "scaled_dot_product_attention"),
    ("goran-example_1006", "multi_head_attention"),
    *((student, name) for student in ("chloe", "emil", "goran-example_1006", "ivan", "julia") for name in QUESTIONS),
    *((student, "question_masking") for student in ("dan", "hana")),
}
STUDENTS = {
    ("ada", "Ada", "Lovelace", "ada@example.org", None),
    ("goran-example_1006", "Goran", "Example", None, None),
    ("nina", "Nina", "Never", "nina@example.org", "1099"),  # is in the gradebook and never handed anything in
}
POINTS = {name: sum(score or 0 for score in scores[: len(EXERCISES)]) for name, scores in BY_THIS_VERSION.items()}
TOTALS = {
    "ada": 36.5,
    "ben": 1,
    "chloe": 26,
    "dan": 20.25,
    "emil": 24.25,
    "goran-example_1006": 13,
    "hana": 23.5,
    "ivan": 18,
    "julia": 28,
    "uma": 2,
}
FEW = {"ada", "ben", "chloe", "uma"}
STATUSES = dict.fromkeys(BY_THIS_VERSION, "graded") | {"uma": "unreadable", "eve": "missing"}


def start(folder: Path, command: str, *options: str, module: str = MODULE) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "grader", command, module, "--class", str(folder), *options]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )


def end(process: subprocess.Popen[str]) -> str:
    """What a command printed; it must have gone well."""
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    return printed


def side_by_side(folder: Path, *commands: str) -> list[str]:
    """What commands printed that do not write the same files."""
    options = {"export": ("--unread", "zero")}
    return [end(process) for process in [start(folder, command, *options.get(command, ())) for command in commands]]


def rows_of(printed: str) -> dict[str, dict[str, Any]]:
    """The rows of `grade --json`, by student."""
    rows = [json.loads(line) for line in printed.splitlines()]
    assert len({row["student"] for row in rows}) == len(rows)
    return {row["student"]: row for row in rows}


def table(text: str) -> dict[str, dict[str, str]]:
    """A CSV text as rows by student."""
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}


def unpack(folder: Path) -> Path:
    with zipfile.ZipFile(Path(__file__).parents[1] / "data" / "classroom-0.1.0.zip") as archive:
        archive.extractall(folder)
    return folder


def files(folder: Path) -> dict[str, bytes | None]:
    """All files below a folder; None stands for a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


@dataclass(frozen=True)
class Tables:
    """What `report` and `export` say about a class."""

    submissions: dict[str, dict[str, str]]
    mistakes: set[tuple[str, str]]  # (exercise, who made it)
    exported: dict[str, dict[str, str]]


def tables(report: str, export: str) -> Tables:
    """Read what the two commands have written and printed."""
    page = Path(report.splitlines()[0].removeprefix("report: "))
    assert page.is_file()
    mistakes = csv.DictReader(io.StringIO((page.parent / "misconceptions.csv").read_text("utf-8")))
    submissions = table((page.parent / "submissions.csv").read_text("utf-8"))
    return Tables(submissions, {(m["exercise"], m["who"]) for m in mistakes}, table(export))


@dataclass(frozen=True)
class Taken:
    """What the commands gave, before this version has graded anything and after that."""

    folder: Path
    submitted: dict[str, bytes | None]
    before: Tables
    rows: dict[str, dict[str, Any]]
    after: Tables
    again: dict[str, dict[str, Any]]
    pages: dict[str, str]  # of feedback, for those in FEW


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Taken:
    """Report and export, grade, then feedback, report and export, and grade again."""
    folder = unpack(tmp_path_factory.mktemp("class"))
    submitted = files(folder / "submitted")
    before = tables(*side_by_side(folder, "report", "export"))
    rows = rows_of(end(start(folder, "grade", "--json")))
    few = few_of(folder, tmp_path_factory.mktemp("few"))
    feedback = start(few, "feedback")
    after = tables(*side_by_side(folder, "report", "export"))
    again = rows_of(end(start(folder, "grade", "--json")))
    end(feedback)
    pages = {p.parts[-3]: p.read_text("utf-8") for p in few.glob(f"feedback/*/{MODULE}/attention.html")}
    return Taken(folder, submitted, before, rows, after, again, pages)


def few_of(folder: Path, copy: Path) -> Path:
    """A copy of a class in which only some have been graded, since a page takes longer than all else."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    for path in (copy / "autograded").iterdir():
        if path.name not in FEW:
            shutil.rmtree(path)
    return copy


def query(folder: Path, sql: str, *values: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(folder / "gradebook.db")
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


OF_CELLS = """
    join submitted_notebook n on n.id = x.notebook_id join submitted_assignment s on s.id = n.assignment_id
    join assignment a on a.id = s.assignment_id join base_cell c on c.id = x.cell_id
    where a.name = ?
"""


def grades_of(folder: Path, module: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    """(automatic score, manual score, extra credit) by student and cell."""
    sql = f"select s.student_id, c.name, x.auto_score, x.manual_score, x.extra_credit from grade x {OF_CELLS}"
    return {(student, cell): tuple(scores) for student, cell, *scores in query(folder, sql, module)}


def expected_grades(automatic: Mapping[str, Sequence[float | None]]) -> dict[tuple[str, str], tuple[Any, ...]]:
    cells = [*(f"test_{name}" for name in EXERCISES), *QUESTIONS]
    return {
        (student, cell): (score, *BY_HAND.get((student, cell), (None, None)))
        for student, scores in automatic.items()
        for cell, score in zip(cells, scores, strict=True)
    }


def test_the_class_is_what_0_1_0_left(tmp_path):
    folder = unpack(tmp_path)
    assert grades_of(folder, MODULE) == expected_grades(BY_0_1_0)
    assert not any((folder / "autograded" / student).exists() for student in ("emil", "hana", "ivan", "eve"))


def test_report_and_export_before_anything_is_graded_again(taken):
    submissions = taken.before.submissions
    assert submissions.keys() >= STATUSES.keys()
    for student, status in STATUSES.items():
        row = submissions[student]
        if student in ("emil", "hana", "ivan"):
            assert row["status"] == "not graded" and row["reason"]
        else:
            assert row["status"] == status
        if status == "graded" and student in BY_0_1_0:
            assert float(row["points"]) == sum(score or 0 for score in BY_0_1_0[student][: len(EXERCISES)])
            assert [float(row[name]) for name in EXERCISES] == list(BY_0_1_0[student][: len(EXERCISES)])
    assert taken.before.mistakes >= {("scale_scores", "chloe"), ("split_heads", "dan")}
    exported = taken.before.exported
    totals = {student: TOTALS[student] for student in BY_0_1_0} | {"dan": 20.75}
    assert {student: float(exported[student]["total"]) for student in BY_0_1_0} == totals
    assert exported["dan"]["to be read"] and not exported["ada"]["to be read"]


def test_everybody_is_a_row_with_the_right_points(taken):
    assert {student: row["status"] for student, row in taken.rows.items() if student != "nina"} == STATUSES
    for student, points in POINTS.items():
        row = taken.rows[student]
        assert row["score"] == points and row["max_score"] == 28 and not row.get("unchanged")
        if student != "uma":
            assert row["scores"] == dict(zip(EXERCISES, BY_THIS_VERSION[student], strict=False))
    assert taken.rows["uma"]["reason"] == "the file is damaged: it begins like a notebook but is no valid JSON"
    assert taken.rows["eve"]["reason"] == "there is no notebook in the folder"


def test_nobody_is_told_of_changes_that_the_new_version_made(taken):
    """Locked cells that are as 0.1.0 handed them out were not changed by a student."""
    for row in taken.rows.values():
        assert not row["repairs"]


def test_the_gradebook_keeps_what_was_given_by_hand(taken):
    assert grades_of(taken.folder, MODULE) == expected_grades(BY_THIS_VERSION)
    unread = (
        "select s.student_id, c.name from grade x" + OF_CELLS + "and x.needs_manual_grade and x.manual_score is null"
    )
    assert set(query(taken.folder, unread, MODULE)) == {("dan", "question_scaling"), ("hana", "question_scaling")}
    given = "select s.student_id, c.name, x.manual_comment from comment x" + OF_CELLS + "and x.manual_comment <> ''"
    assert set(query(taken.folder, given, MODULE)) == COMMENTS
    automatic = "select s.student_id, c.name from comment x" + OF_CELLS + "and x.auto_comment = 'No response.'"
    assert set(query(taken.folder, automatic, MODULE)) == NO_RESPONSE


def test_the_gradebook_keeps_students_dates_and_the_other_module(taken):
    people = query(taken.folder, "select id, first_name, last_name, email, lms_user_id from student")
    assert len({student for student, *_ in people}) == len(people)
    assert set(people) >= STUDENTS and {student for student, *_ in people} >= {*BY_THIS_VERSION, "nina"}
    dates = query(taken.folder, "select duedate from assignment where name = ?", MODULE)
    assert dates == [("2026-03-01 12:00:00.000000",)]
    stamps = query(
        taken.folder,
        "select s.student_id, s.timestamp, n.late_submission_penalty from submitted_assignment s"
        " join assignment a on a.id = s.assignment_id join submitted_notebook n on n.assignment_id = s.id"
        " where a.name = ? and s.timestamp is not null",
        MODULE,
    )
    assert set(stamps) == {
        ("ada", "2026-03-01 11:30:00.000000", None),
        ("dan", "2026-03-01 14:00:00.000000", None),  # late, and nbgrader's own setting is no penalty
        ("emil", "2026-03-02 09:00:00.000000", None),
    }
    later = grades_of(taken.folder, LATER_MODULE)
    assert len(later) == 20 and later["ada", "question_cache"] == (None, 3, None)


def test_feedback_report_and_export_have_everything(taken):
    assert taken.pages.keys() == FEW
    for student, _, comment in COMMENTS:
        assert comment in taken.pages[student]
    assert "36.5 of 36 " in taken.pages["ada"] and "2 of 36 points" in taken.pages["uma"]
    submissions = taken.after.submissions
    assert {student: submissions[student]["status"] for student in STATUSES} == STATUSES
    assert {student: float(submissions[student]["points"]) for student in POINTS} == POINTS
    assert taken.after.mistakes >= {("scale_scores", "chloe"), ("split_heads", "dan"), ("causal_mask", "ivan")}
    exported = taken.after.exported
    assert {student: float(exported[student]["total"]) for student in TOTALS} == TOTALS
    assert all(float(exported[student]["max"]) == 36 for student in TOTALS)
    assert (exported["ada"]["name"], exported["ada"]["email"]) == ("Ada Lovelace", "ada@example.org")
    assert exported["goran-example_1006"]["name"] == "Goran Example"


def test_what_was_handed_in_stays_as_it_was(taken):
    assert files(taken.folder / "submitted") == taken.submitted


def test_a_second_run_grades_nothing_again(taken):
    assert all(row.get("unchanged") for row in taken.again.values() if row["status"] != "missing")
    for student, row in taken.rows.items():
        assert taken.again[student] == row | ({"unchanged": True} if row["status"] != "missing" else {})
