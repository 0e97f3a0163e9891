"""A kit's check in the Python that runs in a browser: Pyodide, under Node."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from answers import answers
from kits import unpacked_kit
from pyodide import fetch, run_in_pyodide
from secret import cells, source

from autograded_tests import EXERCISES
from grader.course import module_notebook

MODULE = "04_attention"
SCRIPT = Path(__file__).parents[1] / "support" / "practised.py"


@pytest.fixture
def pyodide() -> None:
    for program, package in (("node", "nodejs"), ("npm", "npm")):
        if shutil.which(program) is None:
            pytest.skip(f"package {package} is not installed")
    try:
        fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"package pyodide could not be fetched: {error}")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("pyodide")
def test_wrong_answers_get_the_same_sentences_in_a_browsers_python(tmp_path: Path) -> None:
    """And right ones get none."""
    kit = unpacked_kit(MODULE, tmp_path)
    given = [
        [cell["metadata"]["nbgrader"]["grade_id"], source(cell)]
        for cell in cells(module_notebook(MODULE))
        if cell["cell_type"] == "code"
        and not cell["metadata"]["nbgrader"]["grade"]
        and "demo" not in cell["metadata"].get("tags", ())
        and cell["metadata"]["nbgrader"]["grade_id"] != "plots"
    ]
    tried = [a for folder in ("wrong_answers", "right_answers") for a in answers(folder)]
    tried = [a for a in tried if EXERCISES[a.exercise].module == MODULE]
    task = tmp_path / "task.json"
    task.write_text(json.dumps({"cells": given, "answers": [[a.exercise, a.source] for a in tried]}))
    here = subprocess.run(
        [sys.executable, "-P", str(SCRIPT), str(kit), str(task)], cwd=kit, capture_output=True, text=True, check=True
    )
    there = json.loads(run_in_pyodide(SCRIPT, str(kit), str(task), folders=(tmp_path,)))
    said = json.loads(here.stdout)
    assert len(there) == len(said) == len(tried)
    other = [f"{a}\n  {one}\n  {two}" for a, one, two in zip(tried, said, there, strict=True) if one != two]
    assert not other, "\n".join(other)
    assert any(said) and all(not s for a, s in zip(tried, said, strict=True) if a in answers("right_answers"))
