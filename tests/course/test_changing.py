"""docs/changing.md, followed in copies of the project: what is added, renamed and dropped there is added, renamed and dropped."""

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of, set_manual_score
from copies import copy_of_the_project, files, python, run_tests

from grader.course import ROOT, modules
from grader.kit import make_kit

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs" / "changing.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```\w+ (\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
(TESTS,) = re.findall(r"`\.venv/bin/pytest (.*?)`", PAGE)
MODULE = "02_activations"
EXERCISE = Path("autograded_tests") / f"m{MODULE}" / "entropy.py"
NOTEBOOK = Path("solutions") / MODULE / "activations.ipynb"


def code_cell(name: str, source: str, **mark: object) -> dict[str, Any]:
    """A code cell as nbgrader marks it: a given one, if nothing else is said."""
    plain = {"grade": False, "locked": True, "schema_version": 3, "solution": False, "task": False}
    return {
        "cell_type": "code",
        "id": name.replace("_", "-"),
        "metadata": {"nbgrader": plain | {"cell_type": "code", "grade_id": name} | mark},
        "execution_count": None,
        "outputs": [],
        "source": source.rstrip("\n").splitlines(keepends=True),
    }


def edit(path: Path, change: Callable[[Any], None]) -> None:
    """Change a notebook as JupyterLab would write it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    change(notebook)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def cells_of(notebook: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Cells by grade_id."""
    return {c["metadata"]["nbgrader"]["grade_id"]: c for c in notebook["cells"] if "nbgrader" in c["metadata"]}


def course(root: Path) -> None:
    """`make course`, which must go well; done again, it finds nothing to do."""
    made = python(root, "-m", "grader", "course")
    assert made.returncode == 0, made.stdout + made.stderr


def refused(root: Path, *command: str) -> str:
    """What a command says that refuses: one line, and no file is changed; there may be one more backup of the gradebook."""
    before = files(root)
    done = python(root, "-m", "grader", *command)
    after = {name: data for name, data in files(root).items() if name in before or "/backups/" not in name}
    assert done.returncode == 1 and after == before, done.stdout + done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "the jail is made of Landlock" not in line)
    return line


def run(root: Path, commands: str) -> None:
    """A block of commands from the page, with `make course` by the Python that runs this test."""
    commands = commands.replace("make course", ".venv/bin/python -P -m grader course")
    script = commands.replace(".venv/bin/python", sys.executable)
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def hand_in(root: Path, module: str, student: str, **answers: str) -> None:
    """A submission in the class of a copy: the student copy with some answers in it."""
    name = f"{module.partition('_')[2]}.ipynb"
    path = root / "classroom" / "submitted" / student / module / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(root / "modules" / module / name, path)

    def fill_in(notebook: dict[str, Any]) -> None:
        for cell, text in answers.items():
            cells_of(notebook)[cell]["source"] = text

    edit(path, fill_in)


def grade(root: Path, module: str) -> dict[str, dict[str, Any]]:
    """The rows of `grade --json` in a copy, by student."""
    done = python(root, "-m", "grader", "grade", module, "--json")
    assert done.returncode == 0, done.stderr
    return {row["student"]: row for row in map(json.loads, done.stdout.splitlines())}


def add_entropy(root: Path) -> None:
    """The section on adding an exercise, up to `make course`."""
    new = [
        code_cell("entropy", BLOCKS["answer"], locked=False, solution=True),
        code_cell("test_entropy", BLOCKS["test"], grade=True, points=2),
    ]
    edit(root / NOTEBOOK, lambda notebook: notebook["cells"].extend(new))
    with (root / NOTEBOOK.with_suffix(".pyi")).open("a", encoding="utf-8") as types:
        types.write(f"\n{BLOCKS['type']}")
    (root / EXERCISE).write_text(BLOCKS["exercise"], encoding="utf-8")
    (root / "tests" / "wrong_answers" / "entropy.py").write_text(BLOCKS["wrong"], encoding="utf-8")


POOLING = '''#| export
def mean_pool(x):
    """Average over the positions.

    >>> mean_pool(Tensor([[1.0, 2.0], [3.0, 6.0]])).data
    array([2., 4.], dtype=float32)
    """
    (x,) = as_tensors(x)
    ### BEGIN SOLUTION
    return x.mean(-2)
    ### END SOLUTION
'''
POOLED = '''"""Positions averaged."""

from exercises.misconceptions import computes
from exercises.model import Arrays, Case, Exercise, Question


def reference(question: Question) -> Arrays:
    return {"result": question["x"].astype(float).mean(-2)}


EXERCISE = Exercise(
    name="mean_pool",
    module="07_pooling",
    defines="mean_pool",
    cases=(Case("values", 3, lambda d: (Question("function", {"name": "mean_pool", "x": d.normal(1, d.B, d.L, d.E)}, ("result",)),)),),
    reference=reference,
    misconceptions=(computes("Added up, not averaged.", "result", lambda x: x.sum(-2)),),
)
'''.replace("d.E", "d.D")


def notebook(title: str, *cells: dict[str, Any]) -> dict[str, Any]:
    """A notebook of the course: a title, a line about it, cells."""
    text = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": [f"# {title}\n", "\n", f"> {title}."]}
    kernel = {"display_name": "python3", "language": "python", "name": "python3"}
    return {"cells": [text, *cells], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def the_practice_cell(module: str) -> str:
    """As it stands in 02, for another module."""
    cells = cells_of(json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8")))
    return "".join(cells["practice"]["source"]).replace(MODULE, module)


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def add_modules(root: Path) -> None:
    """The section on adding a module: 07 has an exercise and a text beside it, 08 has neither."""
    imports = "#| default_exp core.{}\n#| export\nfrom tinytorch.core.tensor import Tensor, as_tensors\n"
    pooling = notebook(
        "Many positions, one vector",
        code_cell("imports", imports.format("pooling") + "\nimport numpy as np\n"),
        code_cell("practice", the_practice_cell("07_pooling")),
        code_cell("mean_pool", POOLING, locked=False, solution=True),
        code_cell(
            "test_mean_pool",
            'check("mean_pool")\n'
            "assert np.allclose(mean_pool(np.ones((3, 4))).data, np.ones(4))\n### BEGIN HIDDEN TESTS\n"
            'from autograded_tests import grade\n\ngrade("mean_pool", globals())\n### END HIDDEN TESTS\n',
            grade=True,
            points=3,
        ),
    )
    last = notebook(
        "Where to go from here",
        code_cell("imports", imports.format("outlook").replace(" as_tensors", " stack")),
        code_cell("pooled", "#| export\ndef pooled(x, y):\n    return stack([x, y]).mean(0)\n"),
    )
    for module, content, types in (
        ("07_pooling", pooling, "def mean_pool(x: Values) -> Tensor: ..."),
        ("08_outlook", last, "def pooled(x: Values, y: Values) -> Tensor: ..."),
    ):
        path = root / "solutions" / module / f"{module[3:]}.ipynb"
        put(path, json.dumps(content))
        put(path.with_suffix(".pyi"), f"from tinytorch.core.tensor import Tensor, Values\n\n{types}\n")
    put(root / "solutions" / "07_pooling" / "poem.txt", "Twas brillig\n")
    put(
        root / "autograded_tests" / "m07_pooling" / "__init__.py", '"""What is asked in 07, and the right answers."""\n'
    )
    put(root / "autograded_tests" / "m07_pooling" / "mean_pool.py", POOLED)
    wrong = "# --- added up\ndef mean_pool(x):\n    return x.sum(-2)\n"
    put(root / "tests" / "wrong_answers" / "mean_pool.py", wrong)


# --- add and rename ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which an exercise and two modules were added."""
    root = copy_of_the_project(tmp_path_factory.mktemp("added"))
    add_entropy(root)
    add_modules(root)
    course(root)
    return root


def test_an_exercise_is_added_to_the_library_the_student_copy_and_the_tables(added: Path) -> None:
    code = "from tinytorch.core.activations import Tensor, entropy; print(entropy(Tensor([0.5, 0.5])).item())"
    assert abs(float(python(added, "-c", code).stdout) - 0.6931) < 1e-4
    copy = (added / "modules" / MODULE / "activations.ipynb").read_text(encoding="utf-8")
    assert "How evenly shares" in copy and "shares.log()" not in copy and "HIDDEN" not in copy
    readme = (added / "README.md").read_text(encoding="utf-8")
    assert "\n| | `entropy`: how evenly shares are spread |\n" in readme
    wrong = "".join(path.read_text(encoding="utf-8") for path in (added / "tests" / "wrong_answers").glob("*.py"))
    assert f"\n- {wrong.count('# --- ')} wrong answers " in readme and "# --- base 2\n" in wrong


def test_what_the_page_writes_is_clean(added: Path) -> None:
    for command in (("format", "--check"), ("check",)):
        done = python(added, "-m", "ruff", *command, str(EXERCISE))
        assert done.returncode == 0, done.stdout


def test_modules_are_added_to_the_library_the_tables_and_the_kits(added: Path) -> None:
    code = "from tinytorch.core.pooling import mean_pool as m; from tinytorch.core.outlook import pooled as p; print(p(m([[2]]), [4]).item())"
    assert python(added, "-c", code).stdout == "3.0\n"
    readme = (added / "README.md").read_text(encoding="utf-8")
    assert "| [`07_pooling`](modules/07_pooling/pooling.ipynb) | `mean_pool`: positions averaged |\n" in readme
    assert "| [`08_outlook`](modules/08_outlook/outlook.ipynb) | nothing yet: where to go from here |\n" in readme
    done = python(added, "-m", "grader", "kit", "07_pooling", "08_outlook")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(added / "dist" / "tinytorch-08_outlook.zip") as kit:
        assert "tinytorch-08_outlook/tinytorch/core/pooling.py" in kit.namelist()
        assert not any(name.endswith("poem.txt") for name in kit.namelist())
    with zipfile.ZipFile(added / "dist" / "tinytorch-07_pooling.zip") as kit:
        assert kit.read("tinytorch-07_pooling/poem.txt") == b"Twas brillig\n"
    assert refused(added, "grade", "08_outlook") == "grade: 08_outlook: there is nothing to grade in it"


@pytest.mark.slow
def test_the_tests_of_what_was_touched_know_what_was_added(added: Path) -> None:
    """Cases, wrong answers, types and arguments are tested without a line in a test."""
    *folders, option, words = shlex.split(TESTS)
    printed = run_tests(added, *folders, option, f"{words} or pool or outlook", "-vv")
    for name in ("entropy", "mean_pool"):
        for test in ("test_exercises.py", "test_answers.py", "test_arguments.py", "test_course.py"):
            assert re.search(rf"{test}::.*({name}|pooling|activations).* PASSED", printed), (name, test)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_tests_of_exercises_pass_with_one_that_was_added(added: Path) -> None:
    """Each case is needed, and nineteen in twenty are named."""
    run(added, BLOCKS["recount"])
    run_tests(added, "tests/exercises", "autograded_tests")


@pytest.mark.jail
def test_a_module_that_was_added_is_graded(added: Path) -> None:
    for student, answer in (("right", "return x.mean(-2)"), ("wrong", "return x.sum(-2)")):
        hand_in(added, "07_pooling", student, mean_pool=f"#| export\ndef mean_pool(x):\n    {answer}\n")
    rows = grade(added, "07_pooling")
    assert {student: row["score"] for student, row in rows.items()} == {"right": 3, "wrong": 0}
    assert rows["wrong"]["messages"]["mean_pool"] == ["Added up, not averaged."]


RIGHT = "def entropy(shares):\n    return (shares.log() * shares * -1.0).sum(-1)"
WRONG = "def entropy(shares):\n    return (shares * shares.log()).sum(-1)"


@pytest.mark.slow
@pytest.mark.jail
def test_an_exercise_is_graded_and_renamed(added: Path, tmp_path: Path) -> None:
    """Grades and comments by hand stay with it where `formerly` says so, and nothing is touched where it does not."""
    root = tmp_path / "course"
    shutil.copytree(added, root)
    for student, answers in (("right", {"entropy": RIGHT}), ("wrong", {"entropy": WRONG}), ("blank", {})):
        hand_in(root, MODULE, student, **answers)
    rows = grade(root, MODULE)
    assert {student: row["scores"]["entropy"] for student, row in rows.items()} == {"right": 2, "wrong": 0, "blank": 0}
    said = {student: row["messages"].get("entropy", [""])[0] for student, row in rows.items()}
    assert said == {"right": "", "wrong": "The sign is missing.", "blank": "Not answered yet."}
    database = root / "classroom" / "gradebook.db"
    set_manual_score(database, "wrong", "test_entropy", 1.5)
    comment(database, "wrong", "entropy", "You told me.")

    rename_entropy(root)
    course(root)
    before = rows_of(database)
    words = r'the cell "(test_)?entropy" is no longer in 02_activations, and 1 student has grades'
    assert re.search(words, refused(root, "grade", MODULE))
    assert rows_of(database) == before

    path = root / EXERCISE.with_stem("spread")
    path.write_text(path.read_text().replace('    name="spread",\n', BLOCKS["formerly"]))
    assert '    formerly=("entropy",),\n' in path.read_text()
    rows = grade(root, MODULE)
    assert {student: row["scores"]["spread"] for student, row in rows.items()} == {"right": 2, "wrong": 0, "blank": 0}
    assert not any(row["repairs"] for row in rows.values())
    grades, comments, *_ = rows_of(database)
    assert [g[3] for g in grades if g[:2] == ("wrong", "test_spread")] == [1.5]
    assert [c[3] for c in comments if c[:2] == ("wrong", "spread")] == ["You told me."]
    assert not [row for row in (*grades, *comments) if "entropy" in row[1]]


def rename_entropy(root: Path) -> None:
    """The section on renaming, but for `formerly`."""

    def rename(notebook: dict[str, Any]) -> None:
        cells = cells_of(notebook)
        for old, new in (("entropy", "spread"), ("test_entropy", "test_spread")):
            cells[old]["metadata"]["nbgrader"]["grade_id"] = new
        test = cells["test_entropy"]
        test["source"] = [re.sub(r'(check|grade)\("entropy"', r'\1("spread"', line) for line in test["source"]]

    edit(root / NOTEBOOK, rename)
    run(root, BLOCKS["rename"])
    path = root / EXERCISE.with_stem("spread")
    path.write_text(path.read_text().replace('    name="entropy",', '    name="spread",'))


def comment(database: Path, student: str, cell: str, text: str) -> None:
    """Write a comment as an instructor does in the formgrader."""
    connection = sqlite3.connect(database)
    with connection:
        changed = connection.execute(
            "update comment set manual_comment = ? where id in (select m.id from comment m"
            " join submitted_notebook n on m.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id"
            " join base_cell c on m.cell_id = c.id where s.student_id = ? and c.name = ?)",
            (text, student, cell),
        ).rowcount
    connection.close()
    assert changed == 1


# --- what does not fit ------------------------------------------------------------------------------------------------


def misname(root: Path) -> None:
    (root / EXERCISE).rename(root / EXERCISE.with_stem("entropie"))


def leave_out_the_type(root: Path) -> None:
    path = root / NOTEBOOK.with_suffix(".pyi")
    path.write_text(path.read_text().replace(BLOCKS["type"], ""))


def add_a_point(root: Path) -> None:
    edit(root / NOTEBOOK, lambda notebook: cells_of(notebook)["test_entropy"]["metadata"]["nbgrader"].update(points=3))


def leave_out_the_check(root: Path) -> None:
    source = BLOCKS["test"].replace('check("entropy")\n', "")
    edit(root / NOTEBOOK, lambda notebook: cells_of(notebook)["test_entropy"].update(source=source))


def drop_03(root: Path) -> None:
    for folder in ("solutions/03_layers", "autograded_tests/m03_layers"):
        shutil.rmtree(root / folder)
    for path in root.glob("tests/*_answers/linear.py"):
        path.unlink()


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (
            misname,
            (
                'course: autograded_tests/m02_activations/entropie.py: its exercise is called "entropy"; give the file that name, or '
                "the exercise"
            ),
        ),
        (
            leave_out_the_type,
            'course: solutions/02_activations/activations.pyi: the type of entropy is missing, which the cell "entropy" defines',
        ),
        (
            add_a_point,
            (
                'course: solutions/02_activations/activations.ipynb: the test cell "test_entropy" has 3 points, the cases of its '
                "exercise have 2 together; make them equal, then run `make course`"
            ),
        ),
        (
            leave_out_the_check,
            (
                'course: solutions/02_activations/activations.ipynb: the cell "test_entropy" must begin with the line '
                'check("entropy")'
            ),
        ),
        (
            drop_03,
            (
                "course: solutions/04_attention/attention.ipynb imports tinytorch.core.layers, which no notebook before it makes; it "
                "needs the module that was dropped"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name_and_changes_nothing(
    mistake: Callable[[Path], None], words: str, tmp_path: Path
) -> None:
    root = copy_of_the_project(tmp_path)
    add_entropy(root)
    mistake(root)
    assert refused(root, "course") == words


# --- drop a module ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def without_the_last(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copy_of_the_project(tmp_path_factory.mktemp("dropped"))
    run(root, BLOCKS["drop"])
    return root


def test_a_module_is_dropped(without_the_last: Path, tmp_path: Path) -> None:
    left = files(without_the_last)
    *earlier, last = modules()
    assert not [p for p in left if last.partition("_")[2] in p and not p.startswith("tests/said/")]
    assert f"[`{last}`]" not in left["README.md"].decode()
    assert modules(without_the_last) == earlier
    done = python(without_the_last, "-m", "grader", "kit")
    assert done.returncode == 0, done.stderr
    for module in earlier:
        kit = make_kit(module, tmp_path)
        assert (without_the_last / "dist" / kit.name).read_bytes() == kit.read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_tests_pass_without_a_module_that_was_dropped(without_the_last: Path) -> None:
    run(without_the_last, BLOCKS["recount"])
    quick = "not jail and not browser and not long and not slow"
    run_tests(without_the_last, "-m", quick, "--ignore=tests/course/test_changing.py")
