"""docs/design.md says how to add an exercise; followed literally in a copy of the course, it is graded like the others."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import ROOT

BLOCKS = dict(
    re.findall(r"```python (\w+)\n(.*?)```", (ROOT / "docs" / "design.md").read_text(encoding="utf-8"), re.DOTALL)
)

pytestmark = pytest.mark.jail


def mark(name: str, **fields: object) -> dict:
    plain = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": plain | {"cell_type": "code"} | fields}


def cell(source: str, metadata: dict, number: int) -> dict:
    lines = source.rstrip("\n").splitlines(keepends=True)
    return {
        "cell_type": "code",
        "id": f"new-{number}",
        "metadata": metadata,
        "execution_count": None,
        "outputs": [],
        "source": lines,
    }


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    for name in ("solutions", "modules", "tinytorch", "autograded_tests", "grader"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "library", folder / "tests" / "library")
    for name in ("nbgrader_config.py", "pyproject.toml", "settings.ini"):
        shutil.copy(ROOT / name, folder)
    path = folder / "solutions" / "02_activations" / "activations.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] += [
        cell(BLOCKS["answer"], mark("entropy", solution=True), 1),
        cell(BLOCKS["test"], mark("test_entropy", grade=True, locked=True, points=2), 2),
    ]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with (folder / "autograded_tests" / "activations.py").open("a", encoding="utf-8") as file:
        file.write(f"\n{BLOCKS['exercise']}")
    with path.with_suffix(".pyi").open("a", encoding="utf-8") as file:
        file.write(f"\n{BLOCKS['type']}")
    python(folder, "-m", "grader", "course")
    return folder


def python(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-P", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_exported_and_graded(course):
    value = python(
        course,
        "-c",
        "from tinytorch.core.activations import Tensor, entropy; print(entropy(Tensor([0.5, 0.5])).item())",
    )
    assert abs(float(value) - 0.6931) < 1e-4
    copy = json.loads((course / "modules" / "02_activations" / "activations.ipynb").read_text(encoding="utf-8"))
    assert "shares.log()" not in json.dumps(copy) and "HIDDEN" not in json.dumps(copy)
    answers = {
        "right": "def entropy(shares):\n    return (shares.log() * shares * -1.0).sum(-1)",
        "wrong": "def entropy(shares):\n    return (shares * shares.log()).sum(-1)",
        "blank": None,
    }
    for student, source in answers.items():
        for c in copy["cells"]:
            if c["metadata"].get("nbgrader", {}).get("grade_id") == "entropy" and source:
                c["source"] = source
        path = course / "classroom" / "submitted" / student / "02_activations" / "activations.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(
            json.dumps(
                copy if source else json.loads((course / "modules/02_activations/activations.ipynb").read_text())
            )
        )
    rows = [
        json.loads(line) for line in python(course, "-m", "grader", "grade", "02_activations", "--json").splitlines()
    ]
    scores = {row["student"]: row["scores"]["entropy"] for row in rows}
    messages = {row["student"]: row["messages"].get("entropy") for row in rows}
    assert scores == {"right": 2, "wrong": 0, "blank": 0}
    assert messages == {"right": None, "wrong": ["The sign is missing."], "blank": ["Not answered yet."]}


def test_the_librarys_own_tests_know_it(course):
    """Its type and its arguments are tested like those of the others, without a line in a test."""
    for name in ("test_package.py", "test_arguments.py"):
        printed = python(
            course,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"tests/library/{name}",
            "-k",
            "activations or entropy",
        )
        assert "passed" in printed and "failed" not in printed


def test_pytest_finds_it(course):
    printed = python(course, "-m", "pytest", "-q", "-p", "no:cacheprovider", "autograded_tests", "-k", "entropy")
    assert "1 passed" in printed
