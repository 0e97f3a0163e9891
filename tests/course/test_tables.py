"""Points and names that notebooks and README repeat are written by `make course`."""

import json
import re
import shutil
from pathlib import Path

import pytest
from secret import cells, source

from grader.course import ROOT, module_notebook, modules
from grader.tables import readme_table, with_points, write_tables


def notebook(*cells: tuple[str, str, dict]) -> dict:
    return {
        "cells": [{"cell_type": kind, "source": [source], "metadata": metadata} for kind, source, metadata in cells]
    }


def graded(name: str, points: float) -> dict:
    return {"nbgrader": {"grade_id": name, "grade": True, "points": points}}


TABLE = "| exercise | points | time | |\n|---|---|---|---|\n"
BEFORE: tuple[tuple[str, str, dict], ...] = (
    ("markdown", f"Text before.\n\n{TABLE}| `gone` | 9 | 5 min | easy |\n| two written questions | 1 | 30 min | |\n\nText after.", {}),
    ("markdown", "### Exercise: `first` (9 points, 10 minutes, easy)\nSay what.", {}),
    ("code", "", graded("test_first", 1)),
    ("markdown", "More.\n\n### Exercise: `second` (1 point, 25 minutes, hard)\n", {}),
    ("code", "", graded("test_second", 2.5)),
    ("markdown", "an answer", graded("question", 4)),
)  # fmt: skip


def test_headings_and_table_follow_the_cells() -> None:
    cells = with_points(notebook(*BEFORE))["cells"]
    assert source(cells[0]) == (
        f"Text before.\n\n{TABLE}| `first` | 1 | 10 min | easy |\n| `second` | 2.5 | 25 min | hard |\n"
        "| one written question | 4 | 30 min | |\n\nText after."
    )
    assert source(cells[1]) == "### Exercise: `first` (1 point, 10 minutes, easy)\nSay what."
    assert source(cells[3]) == "More.\n\n### Exercise: `second` (2.5 points, 25 minutes, hard)\n"
    assert source(cells[5]) == "an answer"


def test_written_twice_it_is_the_same() -> None:
    once = with_points(notebook(*BEFORE))
    assert with_points(once) == once and once != notebook(*BEFORE)


def test_an_exercise_without_a_test_cell_is_not_in_the_table() -> None:
    new = with_points(notebook(BEFORE[0], BEFORE[1]))
    assert (
        source(new["cells"][0]) == f"Text before.\n\n{TABLE}\nText after." and source(new["cells"][1]) == BEFORE[1][1]
    )


@pytest.mark.parametrize("module", modules())
def test_the_total_that_a_notebook_begins_with_is_the_sum(module: str) -> None:
    ours = cells(module_notebook(module))
    total = sum(cell["metadata"].get("nbgrader", {}).get("points", 0) for cell in ours)
    assert set(re.findall(r"(\d+) points", source(ours[0]))) <= {str(total)}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("solutions", "autograded_tests", "tests/wrong_answers", "tests/right_answers"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def test_what_is_committed_is_what_is_written(copy: Path) -> None:
    assert write_tables(copy, modules()) == []


def test_a_changed_point_is_written_everywhere_and_named_by_check(copy: Path) -> None:
    path = copy / "solutions" / "04_attention" / "attention.ipynb"
    changed = json.loads(path.read_text())
    cell = next(c for c in changed["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "test_causal_mask")
    cell["metadata"]["nbgrader"]["points"] = 7
    path.write_text(json.dumps(changed))
    line = "solutions/04_attention/attention.ipynb: its points differ between cells, headings and table"
    before = path.read_bytes()
    assert write_tables(copy, modules(), check=True) == [line] and path.read_bytes() == before
    assert write_tables(copy, modules()) == [line]
    written = path.read_text()
    assert "| `causal_mask` | 7 | 5 min | easy |" in written and "`causal_mask` (7 points, 5 minutes, easy)" in written
    assert write_tables(copy, modules(), check=True) == []


def test_readme_lists_every_exercise(copy: Path) -> None:
    table = readme_table(copy, modules())
    assert "| | `scale_scores`: scores brought back to unit variance |\n" in table
    assert "| [`01_tensor`](modules/01_tensor/tensor.ipynb) | nothing yet: arrays with reverse-mode gradients" in table
    readme = copy / "README.md"
    readme.write_text(readme.read_text().replace("`scale_scores`: scores", "`scale_score`: scores"))
    line = "README.md: its table of modules differs from the exercises"
    assert write_tables(copy, modules(), check=True) == [line]
    assert write_tables(copy, modules()) == [line] and table in readme.read_text()


def test_readme_counts_the_answers(copy: Path) -> None:
    (right,) = re.findall(r"^- (\d+) right answers", (copy / "README.md").read_text(), re.MULTILINE)
    with (copy / "tests" / "right_answers" / "softmax.py").open("a") as file:
        file.write("\n# --- another\n")
    line = "README.md: its number of wrong or right answers differs from those in tests/"
    assert write_tables(copy, modules(), check=True) == [line]
    assert write_tables(copy, modules()) == [line] and write_tables(copy, modules()) == []
    assert f"\n- {int(right) + 1} right answers, " in (copy / "README.md").read_text()
