"""What a student gets holds nothing to copy from, and works as its README says."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from answers import submission
from classes import ENVIRONMENT
from kits import make, unpacked_kit
from secret import hidden_lines
from sentences import DIVIDED_BY_D_K

from autograded_tests import EXERCISES, exercises_of
from exercises.compare import expected
from exercises.model import Exercise
from grader import in_browser
from grader import kit as kit_module
from grader.cli import main
from grader.course import ROOT, modules
from grader.errors import CourseError
from grader.kit import PRACTICE, kit_files, make_kit

MODULE = "04_attention"
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def hidden_arrays(exercise: Exercise) -> set[bytes]:
    """The numbers of an exercise's questions and right results that come from the seed, as a table would hold them."""

    def arrays(of: Exercise) -> set[bytes]:
        questions = [question for case in of.cases for question in of.questions(case)]
        values = [v for q in questions for v in (*q.inputs.values(), *expected(of, q).values())]
        return {a.astype("<f4").tobytes() for a in values if isinstance(a, np.ndarray) and len(np.unique(a)) > 5}

    return arrays(exercise) - arrays(exercise.on(PRACTICE))  # what is written by hand is no secret


@pytest.mark.parametrize("module", modules())
def test_a_kit_holds_no_answer_no_reference_and_no_hidden_test(module, tmp_path):
    path = make_kit(module, tmp_path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    texts = {name: data.decode() for name, data in files.items() if not name.endswith(".tables")}
    lines = {line.strip().strip('",').replace("\\n", "") for text in texts.values() for line in text.splitlines()}
    later = modules()[modules().index(module) :]
    for other in later:
        assert not hidden_lines(other) & lines
    for name, text in texts.items():
        for word in ("BEGIN SOLUTION", "HIDDEN TESTS", "Rubric", "Model answer", "EXERCISE = "):
            assert word not in text, name
    written = {
        line.strip() for path in (ROOT / "autograded_tests").rglob("*.py") for line in path.read_text().splitlines()
    }
    judging = {line.strip() for path in (ROOT / "exercises").rglob("*.py") for line in path.read_text().splitlines()}
    assert not {line for line in written - judging if len(line) > 40} & lines, "a line of what is hidden"
    for exercise in exercises_of(module):
        for array in hidden_arrays(exercise):
            assert not [n for n, data in files.items() if array in data], f"numbers that {exercise.name} is graded with"
    names = {name.partition("/")[2] for name in texts}
    assert f"{module.partition('_')[2]}.ipynb" in names
    assert not {f"tinytorch/core/{m.partition('_')[2]}.py" for m in later} & names
    assert path.read_bytes() == make_kit(module, tmp_path / "again").read_bytes()


@pytest.mark.parametrize("module", [m for m in modules() if exercises_of(m)])
def test_a_kit_checks_with_what_is_in_it(module, tmp_path):
    """Of ours it sees nothing else: with -S the project is not on the path."""
    kit, (first, *_) = unpacked_kit(module, tmp_path), exercises_of(module)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    code = f"import sys; sys.path += {packages!r}; from exercises.practice import check; check({first.name!r})"
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(
        command, cwd=kit, env={"PATH": ENVIRONMENT["PATH"]}, capture_output=True, text=True, check=False
    )
    words = (
        f"NotYet: {first.name} `{first.defines}` is not defined: its cell is missing, was not run, or raised an error."
    )
    said = " ".join(done.stderr.split())
    assert words in said and f"0 of {len(exercises_of(module))} exercises done" in said, done.stderr


@pytest.mark.parametrize("module", modules())
def test_what_lies_beside_a_notebook_is_beside_it_in_the_kit_which_stays_small(module, tmp_path):
    kit, folder = unpacked_kit(module, tmp_path), ROOT / "modules" / module
    names = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert {name: (folder / name).read_bytes() for name in names} == {name: (kit / name).read_bytes() for name in names}
    assert (tmp_path / f"tinytorch-{module}.zip").stat().st_size < 500_000


def test_a_text_is_in_the_kit_in_its_readme_and_in_the_browser(monkeypatch):
    for place in (kit_module, in_browser):
        monkeypatch.setattr(place, "beside", lambda _: {"words.txt": b"to be", "tables/one.csv": b"1,2"})
    files, browser = kit_files("01_tensor"), in_browser.browser_files("01_tensor")
    for found in (files, browser):
        assert (found["words.txt"], found["tables/one.csv"]) == (b"to be", b"1,2")
    assert "\nThe notebook reads `words.txt`, `tables/one.csv`; leave them" in files["README.md"].decode()


def test_a_text_called_as_a_file_of_the_kit_is_refused(monkeypatch):
    monkeypatch.setattr(kit_module, "beside", lambda _: {"README.md": b"about the text"})
    with pytest.raises(
        CourseError, match=r"^solutions/01_tensor/README\.md: a kit has a file of its own with this name"
    ):
        kit_files("01_tensor")


def test_the_packages_are_those_that_we_test_with():
    wanted = kit_files(MODULE)["requirements.txt"].decode().split()
    installed = subprocess.run(
        [sys.executable, "-m", "pip", "freeze", "--all"], capture_output=True, text=True, check=True
    ).stdout
    have = {line.lower().replace("_", "-") for line in installed.splitlines()}
    assert {line.lower() for line in wanted} <= have


MADE = {"course-env", ".skipped", ".ipynb_checkpoints"}  # by commands, or by Jupyter


@pytest.mark.parametrize("module", modules())
def test_the_readme_names_what_is_in_the_kit(module):
    files = kit_files(module)
    folders = {f"{parent}/" for name in files for parent in map(str, Path(name).parents)}
    text = files["README.md"].decode()
    (notebook,) = (json.loads(data) for name, data in files.items() if name.endswith(".ipynb"))
    written = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for link in re.findall(r"\]\(([^)]+)\)", "\n".join([text, *written])):
        assert link.startswith(("https://", "#")) or link.partition("#")[0] in files.keys() | folders, link
    code = [
        words for quoted in re.findall(r"```(.*?)```|`([^`\n]+)`", text, re.DOTALL) for words in "".join(quoted).split()
    ]
    made = {*MADE, f"tinytorch/core/{module.partition('_')[2]}.py"}
    named = {word.replace("\\", "/").removeprefix(f"tinytorch-{module}/") for word in code}
    named = {
        word for word in named if re.fullmatch(r"(?!course-env/)[\w.-]+(/[\w.-]*)*\.(py|txt|ipynb|json)|\w+/", word)
    }
    assert {"course.py", "requirements.txt", f"{module.partition('_')[2]}.ipynb"} <= named
    assert named <= files.keys() | folders | made
    assert "\n\n\n" not in text and text.endswith(".\n") and not text.endswith("\n\n")


def test_the_readme_says_how_to_hand_in_what_there_is_to_hand_in():
    texts = {module: kit_files(module)["README.md"].decode() for module in modules()}
    assert "There is nothing to hand in" in texts["01_tensor"] and "course.py skip" not in texts["01_tensor"]
    assert "The exercises: `compute_attention_scores` (2), `scale_scores` (2)," in texts[MODULE]
    assert "course.py skip compute_attention_scores" in texts[MODULE] and "examples/" in texts[MODULE]
    for module, text in texts.items():
        notebook = kit_files(module)[f"{module.partition('_')[2]}.ipynb"].decode()
        assert ("written question" in text) == ("YOUR ANSWER HERE" in notebook)
        for version in re.findall(r'"((?:nbdev|execnb|fastcore)<[\d.]+)"', text):
            assert re.search(
                rf'"{re.split("<", version)[0]}[^"]*{re.escape(version[version.index("<") :])}"', PYPROJECT
            )


def test_course_json_is_what_was_handed_out():
    files = kit_files(MODULE)
    assert json.loads(files["course.json"])["exercises"][1] == {
        "name": "scale_scores", "points": 2.0, "defines": "_scale_scores",
    }  # fmt: skip
    kept = {c["name"]: c["source"] for c in json.loads(files["course.json"])["cells"]}
    cells = json.loads(files["attention.ipynb"])["cells"]
    assert kept == {
        c["metadata"].get("nbgrader", {}).get("grade_id", c["id"]): "".join(c["source"])
        for c in cells
        if c["cell_type"] == "code" or "nbgrader" in c["metadata"]
    }


@pytest.fixture(scope="module")
def kit(tmp_path_factory) -> Path:
    return unpacked_kit(MODULE, tmp_path_factory.mktemp("kit"))


@pytest.mark.long
def test_a_blank_notebook_says_what_is_open(kit):
    checked = make(kit, "check")
    assert "no   scale_scores   not answered yet\n" in checked.stdout and "; 8 to go;" in checked.stdout
    assert checked.returncode and not re.search("warning|encryption|Traceback", checked.stderr, re.IGNORECASE)
    exported = make(kit, "export")
    assert exported.returncode == 0, exported.stderr
    assert "Still open: compute_attention_scores, scale_scores, causal_mask" in exported.stdout
    assert (kit / "tinytorch" / "core" / "attention.py").is_file()
    assert "course.py skip merge_heads\nLeft for later" in make(kit, "skip", "NAME=merge_heads").stdout
    (kit / ".skipped").unlink()


@pytest.mark.slow
def test_right_answers_make_a_library_that_works(kit):
    """It passes autograded_tests, and the examples run on it."""
    (kit / "attention.ipynb").write_bytes(submission())
    assert "\n8 of 8 exercises pass their visible tests: 28 of 28 points; 2 of 2 written" in make(kit, "check").stdout
    exported = make(kit, "export")
    assert exported.returncode == 0, exported.stderr
    for words in ("out 6 2 9 5 1 4 1 3", "right words: "):
        assert words in exported.stdout
    for picture in ("reverse", "translate"):
        assert (kit / f"{picture}.png").stat().st_size > 5000
    for module in ("activations", "layers"):  # given in this kit
        assert (kit / "tinytorch" / "core" / f"{module}.py").is_file()
    shutil.rmtree(kit / "exercises")  # the hidden tests use the project's
    later = [name for name, e in EXERCISES.items() if e.module > MODULE]  # not in this kit's library
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "autograded_tests")]
    command += ["-k", " and ".join(f"not {name}" for name in later)]
    where = "import tinytorch.core.attention as a; print(a.__file__)"
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([str(kit), str(ROOT)])}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=environment, cwd=kit, capture_output=True, text=True, check=False)

    assert run(sys.executable, "-P", "-c", where).stdout.strip() == str(kit / "tinytorch" / "core" / "attention.py")
    graded = run(*command)
    assert re.search(r"\d+ passed", graded.stdout) and graded.returncode == 0, graded.stdout
    broken = (kit / "tinytorch" / "core" / "attention.py").read_text().replace("math.sqrt(d_k)", "d_k")
    (kit / "tinytorch" / "core" / "attention.py").write_text(broken)
    graded = run(*command, "-k", "scale_scores")
    assert graded.returncode == 1 and DIVIDED_BY_D_K in graded.stdout


def test_an_example_that_needs_what_no_notebook_makes_is_named(tmp_path, monkeypatch):
    for name, last in (("goes", "attention"), ("stays", "dropped")):
        code = f"from tinytorch.core.{last} import anything\nfrom tinytorch.core.layers import Linear\n"
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setattr(kit_module, "EXAMPLES", tmp_path)
    with pytest.raises(CourseError) as caught:
        make_kit(MODULE, tmp_path)
    assert str(caught.value) == (
        "examples/stays.py imports tinytorch.core.dropped, which no notebook makes; delete the example, or put the module back"
    )
    (tmp_path / "stays.py").unlink()
    assert "examples/goes.py" in kit_files(MODULE) and "examples/goes.py" not in kit_files("03_layers")


@pytest.mark.jail
def test_trying_a_notebook_gives_the_whole_verdict(tmp_path, capsys):
    path = tmp_path / "mine.ipynb"
    shutil.copy(ROOT / "examples" / "class" / "chloe" / MODULE / "attention.ipynb", path)
    assert main(["try", str(path)]) == 0
    printed = capsys.readouterr().out
    assert DIVIDED_BY_D_K in printed and printed.endswith("26 of 28 points\n")
    path.write_bytes(submission(module="03_layers"))
    assert main(["try", str(path)]) == 0 and capsys.readouterr().out.endswith("4 of 4 points\n")
    path.write_text("{")
    assert main(["try", str(path)]) == 1 and "damaged" in capsys.readouterr().err
    assert main(["try", str(tmp_path / "none.ipynb")]) == 1 and "No such file" in capsys.readouterr().err
