"""The two users who see no terminal: a student in JupyterLab, an instructor in the formgrader. In Debian's Chromium."""

import csv
import io
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from classes import ENVIRONMENT, rows_of
from in_lab import GO_TO, active, fill, keep, run
from kits import unpacked_kit
from playwright.sync_api import Page, expect
from sentences import DIVIDED_BY_D_K, UPPER_TRIANGLE

from grader.classroom import Classroom
from grader.course import ROOT, load_assignment
from grader.gradebook import open_gradebook, save_assignment
from grader.platforms.export import export

MODULE = "04_attention"


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """A page that can reach this machine only."""
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.route(lambda url: "127.0.0.1" not in url, lambda route: route.abort())
    page.set_default_timeout(30_000)
    yield page
    page.close()


@contextmanager
def jupyter(folder: Path, *options: str, **environment: str) -> Iterator[str]:
    """A Jupyter server in a folder; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
    ]
    command += [
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
        *options,
    ]
    names = {"JUPYTER_CONFIG_DIR": str(folder / ".config"), "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    with (folder / "jupyter.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=ENVIRONMENT | names | environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            else:
                raise AssertionError((folder / "jupyter.log").read_text())
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


def test_a_student_in_a_kit_reads_what_is_wrong_and_sees_it(page, tmp_path):
    kit = unpacked_kit(MODULE, tmp_path)
    with jupyter(kit, PYTHONPATH="") as address:
        page.goto(f"{address}/lab/tree/attention.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel")
        name = "causal_mask"
        page.evaluate(GO_TO, name)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-above')")
        fill(page, name, "def causal_mask(seq_len):\n    return np.triu(np.ones((seq_len, seq_len)))")
        run(page, f"test_{name}")
        output = active(page).locator(".jp-OutputArea-output")
        expect(output.last).to_contain_text(UPPER_TRIANGLE)
        expect(output.last).to_contain_text(
            "got [[1, 1, 1], [0, 1, 1], [0, 0, 1]], expected [[1, 0, 0], [1, 1, 0], [1, 1, 1]]"
        )
        expect(output.last).to_contain_text("0 of 8 exercises done: 0 of 28 points")
        expect(output.last).not_to_contain_text("Traceback")
        picture = active(page).locator(".jp-OutputArea-output img")
        assert picture.evaluate("image => image.naturalWidth") > 300
        keep(page, "student-fails")
        fill(page, name, "def causal_mask(seq_len):\n    return np.tril(np.ones((seq_len, seq_len)))")
        run(page, f"test_{name}")
        expect(output).to_have_text("1 of 8 exercises done: 1 of 28 points")
        keep(page, "student-passes")


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with two submissions, as an instructor has it after `make course`."""
    for name in ("solutions", "modules"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "modules", tmp_path / "workspace")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    for student in ("ada", "chloe"):
        shutil.copytree(ROOT / "examples" / "class" / student, tmp_path / "classroom" / "submitted" / student)
    with open_gradebook(f"sqlite:///{tmp_path / 'classroom' / 'gradebook.db'}", "tinytorch") as book:
        save_assignment(book, load_assignment(MODULE))
        for student in ("ada", "chloe"):
            book.update_or_create_student(student)
    return tmp_path


def test_an_instructor_grades_from_the_formgrader(page, course):
    database = course / "classroom" / "gradebook.db"
    lab = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "jupyter lab" in line)
    with jupyter(course, *lab.split()[2:]) as address:
        page.goto(address)  # what `make lab` opens: the folder for work; the formgrader is at hand all the same
        expect(page.locator(".jp-DirListing-item", has_text=MODULE)).to_be_visible(timeout=30_000)
        page.goto(f"{address}/formgrader/manage_submissions/{MODULE}")
        row = page.locator("tr", has_text="chloe")
        row.locator(".autograde a").click()
        expect(page.locator(".modal-title")).to_contain_text("Success", timeout=60_000)
        keep(page, "formgrader-autograded")
        page.locator(".modal-footer button").first.click()
        grades = {(g[0], g[1]): g[2] for g in rows_of(database)[0]}
        assert grades[("chloe", "test_scale_scores")] == 0 and grades[("chloe", "test_merge_heads")] == 2

        row.locator(".autograde a").click()  # a second time: graded again, with the same result
        expect(page.locator(".modal-title")).to_contain_text("Success", timeout=60_000)
        assert {(g[0], g[1]): g[2] for g in rows_of(database)[0]} == grades

        page.goto(f"{address}/formgrader/manage_submissions/{MODULE}")
        page.locator("tr", has_text="ada").locator(".autograde a").click()
        expect(page.locator(".modal-title")).to_contain_text("Success", timeout=60_000)
        with open_gradebook(f"sqlite:///{database}", "tinytorch") as book:
            ada = book.find_submission_notebook("attention", MODULE, "ada").id
            chloe = book.find_submission_notebook("attention", MODULE, "chloe").id

        page.goto(f"{address}/formgrader/submissions/{chloe}/")
        expect(page.locator("body")).to_contain_text(DIVIDED_BY_D_K)
        assert not page.locator("text=HIDDEN TESTS").count()
        keep(page, "formgrader-verdict")

        page.goto(f"{address}/formgrader/submissions/{ada}/")
        box = page.locator("input.score#question_scaling")
        box.fill("3.5")
        box.press("Tab")
        page.wait_for_timeout(1500)
        keep(page, "formgrader-manual")
    rows = list(csv.DictReader(io.StringIO(export(MODULE, Classroom(course / "classroom"), "csv", True).text)))
    by_student = {row["student"]: row for row in rows}
    assert by_student["ada"]["question_scaling"] == "3.5" and by_student["ada"]["total"] == "31.5"
    assert by_student["chloe"]["total"] == "26"
