"""A class from the command to the gradebook: the same by every door, whatever happens on the way."""

import json
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from answers import submission
from classes import ENVIRONMENT, EXAMPLES, MODULE, grade, hand_in, rows_of, set_manual_score
from played import PlayedJail
from sentences import DIVIDED_BY_D_K

from exercises.judge import judge
from exercises.local import LocalSession
from grader import batch
from grader.classroom import Classroom, only_writer
from grader.cli import main
from grader.course import ROOT, load_assignment
from grader.grade import grade_notebook
from grader.rebuild import is_run, rebuild
from grader.sandbox import pool
from grader.sandbox.limits import Limits

pytestmark = pytest.mark.jail


@pytest.mark.parametrize("student", EXAMPLES)
def test_jailed_and_local_verdicts_are_the_same(student, jail, assignment):
    data = (ROOT / "examples" / "class" / student / MODULE / "attention.ipynb").read_bytes()
    names: dict = {}
    for part in rebuild(data, assignment).parts:
        if is_run(part):
            exec("".join(part.cell["source"]), names)
    local = LocalSession(names)
    graded = grade_notebook(data, assignment, jail)
    assert graded.verdicts == {e.name: judge(e, local) for e in assignment.exercises}


@pytest.mark.slow
def test_nbgraders_door_writes_the_same_rows(sample, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for folder in (sample, other):
        shutil.copytree(ROOT / "examples" / "class", folder / "submitted", dirs_exist_ok=True)
        hand_in(folder, "late", submission())
        (folder / "submitted" / "late" / MODULE / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC\n")
        hand_in(folder, "unreadable", b"{broken")
    assert grade(sample)[0] == 0
    set_up = (
        "import sys; from grader import gradebook; from grader.course import load_assignment\n"
        "with gradebook.open_gradebook(sys.argv[1], 'tinytorch') as book:\n"
        f"    gradebook.save_assignment(book, load_assignment('{MODULE}'))"
    )
    database = f"sqlite:///{other / 'gradebook.db'}"
    subprocess.run([sys.executable, "-c", set_up, database], check=True, cwd=ROOT)
    folders = [f"--CourseDirectory.{s}_directory={other / s}" for s in ("submitted", "autograded")]
    command = [sys.executable, "-m", "nbgrader", "autograde", MODULE, f"--CourseDirectory.db_url={database}", *folders]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rows_of(other / "gradebook.db") == rows_of(sample / "gradebook.db")
    for student in [*EXAMPLES, "late", "unreadable"]:
        kept = [
            json.loads((f / "autograded" / student / MODULE / "attention.ipynb").read_text()) for f in (sample, other)
        ]
        for notebook in kept:
            notebook["metadata"]["grader"].pop("seconds")
            notebook["metadata"]["grader"].pop("whole")  # the digest of all that, seconds included
            for cell in notebook["cells"]:
                cell["source"] = "".join(cell["source"])
                for output in cell.get("outputs", ()):
                    if "text" in output:
                        output["text"] = "".join(output["text"])
                    output.get("data", {})["text/plain"] = "".join(output.get("data", {}).get("text/plain", ""))
        assert kept[0]["cells"] == kept[1]["cells"] and kept[0]["metadata"]["grader"] == kept[1]["metadata"]["grader"]
    assert all(row["unchanged"] for row in grade(other)[1])


def test_rows_tell_everything(sample):
    status, rows, errors = grade(sample)
    assert status == 0 and not errors
    by_student = {row["student"]: row for row in rows}
    assert list(by_student["chloe"]) == [
        "student", "module", "status", "score", "max_score", "scores", "repairs", "messages", "seconds",
    ]  # fmt: skip
    assert by_student["ada"]["score"] == by_student["julia"]["score"] == 28
    assert by_student["fatima"]["score"] == 27.75  # blocks with -inf
    assert by_student["ben"]["score"] == 0
    assert by_student["chloe"]["messages"]["scale_scores"][0] == DIVIDED_BY_D_K
    assert by_student["chloe"]["scores"]["scaled_dot_product_attention"] == 6
    grades, comments, _, _ = rows_of(sample / "gradebook.db")
    manual = {
        (student, cell): (auto, needs) for student, cell, auto, _, _, needs, _ in grades if cell.startswith("question")
    }
    assert manual[("ada", "question_scaling")] == (None, 1) and manual[("ben", "question_scaling")] == (0, 0)
    assert ("ben", "scale_scores", "No response.", None) in comments
    assert ("ada", "scale_scores", None, None) in comments


def test_unchanged_submissions_are_not_graded_again(sample):
    grade(sample)
    hand_in(sample, "ben", submission())
    _, rows, _ = grade(sample)
    assert sorted(row["student"] for row in rows if not row.get("unchanged")) == ["ben"]
    _, rows, _ = grade(sample, "--force", "--student", "ada", "--student", "ben")
    assert [row["student"] for row in sorted(rows, key=lambda r: r["student"])] == ["ada", "ben"]
    assert not any(row.get("unchanged") for row in rows)


def test_grades_given_by_hand_are_kept(sample):
    grade(sample)
    database = sample / "gradebook.db"
    set_manual_score(database, "ada", "question_scaling", 3)
    set_manual_score(database, "ben", "test_scale_scores", 1)
    grade(sample, "--force")
    kept = {(g[0], g[1]): g for g in rows_of(database)[0]}
    assert kept[("ada", "question_scaling")][3] == 3 and kept[("ben", "test_scale_scores")][3] == 1
    assert kept[("ben", "test_scale_scores")][5] == 0  # the answer is the same


def test_one_bad_submission_stops_nobody(sample):
    hand_in(sample, "empty", b"")
    hand_in(sample, "broken", b'{"cells": [')
    hand_in(sample, "renamed", submission(), "attention (1).ipynb")
    (sample / "submitted" / "nothing" / MODULE).mkdir(parents=True)
    (sample / "submitted" / "link" / MODULE).mkdir(parents=True)
    (sample / "submitted" / "link" / MODULE / "attention.ipynb").symlink_to("/etc/passwd")
    status, rows, _ = grade(sample)
    by_student = {row["student"]: row for row in rows}
    assert status == 0 and len(rows) == len(EXAMPLES) + 5
    assert by_student["empty"]["status"] == "unreadable" and by_student["empty"]["reason"] == "the file is empty"
    assert by_student["broken"]["reason"] == "the file is damaged: it begins like a notebook but is no valid JSON"
    assert by_student["renamed"]["score"] == 28 and by_student["renamed"]["repairs"] == [
        'the file is called "attention (1).ipynb"'
    ]
    assert by_student["nothing"]["status"] == "missing"
    assert by_student["link"]["reason"] == "attention.ipynb is a link, and links are not followed"
    assert by_student["ada"]["score"] == 28


def test_a_bug_of_ours_is_a_row_and_a_traceback(sample, monkeypatch, capsys):
    broken: Any = None
    monkeypatch.setattr(pool, "jail_of", lambda _module: PlayedJail(limits=Limits(output=broken)))
    assert main(["grade", MODULE, "--class", str(sample), "--json", "--student", "ada"]) == 1
    captured = capsys.readouterr()
    row = json.loads(captured.out)
    assert row["status"] == "failed" and row["reason"].startswith(
        "the grader failed on this submission: Broken: TypeError:"
    )
    assert "Traceback" in captured.err and "grader/sandbox/running.py" in captured.err
    assert not (sample / "autograded" / "ada").exists()


@pytest.mark.slow
def test_killed_and_started_again(tmp_path):
    """SIGKILL in the middle of a class of 50; the second run goes on, and the gradebook is that of an undisturbed run."""
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    for folder in (killed, calm):
        for n in range(50):
            student = EXAMPLES[n % len(EXAMPLES)]
            data = (ROOT / "examples" / "class" / student / MODULE / "attention.ipynb").read_bytes()
            hand_in(folder, f"s{n:02}", data)
    command = [sys.executable, "-m", "grader", "grade", MODULE, "--class", str(killed), "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    status, rows, _ = grade(killed)
    assert status == 0 and len(rows) == 50
    assert 0 < sum(row.get("unchanged", False) for row in rows) < 50
    grade(calm)
    assert rows_of(killed / "gradebook.db") == rows_of(calm / "gradebook.db")


def test_a_second_grader_waits_outside(sample):
    with only_writer(sample):
        status, rows, errors = grade(sample)
    assert status == 1 and not rows
    assert errors == f"grade: {sample}: another grader is at work here; wait until it is done\n"


def test_another_executor_gives_the_same(sample, monkeypatch):
    monkeypatch.chdir(ROOT)
    with ProcessPoolExecutor(1) as executor:
        rows = batch.grade_class(MODULE, Classroom(sample), students=["chloe", "dan"], executor=executor)
        executor.submit(pool.close).result()
    assert [row.score for row in rows] == [26, 20]


def test_without_a_jail_it_warns_and_grades_the_same(sample, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "GRADER_JAIL", "none")
    status, rows, errors = grade(sample, "--student", "chloe")
    assert status == 0 and rows[0]["score"] == 26
    assert errors == "grade: GRADER_JAIL=none: nothing protects this machine from what students wrote\n"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["grade", "09_none"], 1, "solutions/09_none/none.ipynb: no such notebook; the modules are: 01_tensor, 02"),
        (["grade", "01_tensor"], 1, "01_tensor: there is nothing to grade in it"),
        (
            ["grade", MODULE, "--class", "/nowhere"],
            1,
            "/nowhere/submitted: no such folder; submissions are expected in",
        ),
        (["grade"], 2, "the following arguments are required: MODULE"),
        (["shout"], 2, "invalid choice: 'shout'"),
    ],
)
def test_bad_commands_say_what_to_do(arguments, status, words, capsys):
    result: object
    try:
        result = main(arguments)
    except SystemExit as error:
        result = error.code
    assert result == status
    captured = capsys.readouterr()
    assert words in captured.err and not captured.out


def test_a_changed_or_added_test_needs_no_ceremony(sample):
    """nbgrader refuses to add cells when there are submissions; here the gradebook follows the course."""
    from dataclasses import replace

    from grader import gradebook

    grade(sample)
    assignment = load_assignment(MODULE)
    cells = json.loads(json.dumps(assignment.cells))
    gone = next(c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "test_causal_mask")
    new = json.loads(json.dumps(gone))
    new["metadata"]["nbgrader"] |= {"grade_id": "test_new", "points": 5}
    cells[cells.index(gone)] = new
    database = sample / "gradebook.db"
    with gradebook.open_gradebook(f"sqlite:///{database}", "tinytorch") as book:
        gradebook.save_assignment(book, replace(assignment, cells=tuple(cells)))
    grades = {(g[0], g[1]): g for g in rows_of(database)[0]}
    assert ("ada", "test_causal_mask") not in grades and grades[("ada", "test_new")][6] == 5
    assert grades[("ada", "test_scale_scores")][2] == 2
    grade(sample, "--force")
    grades = {(g[0], g[1]): g for g in rows_of(database)[0]}
    assert ("ada", "test_new") not in grades and grades[("ada", "test_causal_mask")][2] == 1


def test_modules_02_and_03_are_graded_too(tmp_path):
    for module, notebook, points in (("02_activations", "activations", 4), ("03_layers", "layers", 4)):
        folder = tmp_path / "submitted" / "ada" / module
        folder.mkdir(parents=True)
        (folder / f"{notebook}.ipynb").write_bytes(submission(module=module))
        command = [sys.executable, "-m", "grader", "grade", module, "--class", str(tmp_path), "--json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        assert json.loads(done.stdout)["score"] == points, done.stderr
