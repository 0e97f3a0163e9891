"""`make course` refuses a course that does not fit together, and keeps what somebody worked in."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from answers import submission

from autograded_tests import EXERCISES, exercises_of
from grader import course, kit, student_copies
from grader.check_course import check_course
from grader.cli import main
from grader.course import ROOT, load_assignment, modules
from grader.errors import CourseError
from grader.student_copies import beside, fill_workspace, has_work, replace_copies, stamped

MODULE = "04_attention"
COPY = Path("modules") / MODULE / "attention.ipynb"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of solutions/."""
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    return tmp_path


def edit(root: Path, name: str, **mark: object) -> None:
    """Change nbgrader's mark of one cell of 04_attention; without one, delete the cell."""
    path = root / "solutions" / MODULE / "attention.ipynb"
    notebook = json.loads(path.read_text())
    (cell,) = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
    cell["metadata"]["nbgrader"] |= mark
    if not mark:
        notebook["cells"].remove(cell)
    path.write_text(json.dumps(notebook))


def refusal(root: Path) -> str:
    with pytest.raises(CourseError) as caught:
        check_course(root)
    return str(caught.value)


def test_the_course_as_it_is_fits_together(root):
    check_course(root)


def test_points_that_differ(root, monkeypatch):
    edit(root, "test_scale_scores", points=3)
    words = 'solutions/04_attention/attention.ipynb: the test cell "test_scale_scores" has 3 points, the cases of its exercise have 2'
    assert refusal(root).startswith(words)
    first, *others = exercises_of(MODULE)
    more = replace(first, cases=(*first.cases, replace(first.cases[0], name="more", points=0.5)))
    monkeypatch.setattr("autograded_tests.exercises_of", lambda module: (more, *others))
    load_assignment.cache_clear()
    try:
        with pytest.raises(CourseError, match=r'modules/04_attention/attention.ipynb: the test cell "test_\w+" has'):
            load_assignment(MODULE)
    finally:
        load_assignment.cache_clear()


def test_a_test_without_an_exercise_and_an_exercise_without_a_test(root):
    edit(root, "test_scale_scores", grade_id="test_scaling")
    assert 'the test cell "test_scaling" has no exercise in autograded_tests/' in refusal(root)
    edit(root, "test_scaling")
    assert 'the exercise "scale_scores" has no test cell "test_scale_scores"' in refusal(root)


def test_a_module_that_was_dropped(root):
    last = modules()[-1]
    shutil.rmtree(root / "solutions" / last)
    assert f"solutions/{last}/: there is no notebook" in refusal(root)
    assert "delete its folder in autograded_tests/, too" in refusal(root)


def test_a_module_that_others_need(root, monkeypatch):
    shutil.rmtree(root / "solutions" / "03_layers")
    rest = {name: e for name, e in EXERCISES.items() if e.module != "03_layers"}
    monkeypatch.setattr("grader.check_course.EXERCISES", rest)
    assert refusal(root) == (
        "solutions/04_attention/attention.ipynb imports tinytorch.core.layers, which no notebook before it makes; it needs the "
        "module that was dropped"
    )


def test_types_that_do_not_fit(root):
    stubs = root / "solutions" / MODULE / "attention.pyi"
    text = stubs.read_text()
    stubs.write_text(text.replace("def causal_mask(", "def causal(") + "\nNames: TypeAlias = list[str]\n")
    words = (
        'solutions/04_attention/attention.pyi: the type of causal_mask is missing, which the cell "causal_mask" defines'
    )
    assert refusal(root) == words
    stubs.write_text(text + "\ndef more() -> None: ...\n")
    words = "more has a type, but no cell of solutions/04_attention/attention.ipynb that is exported defines it"
    assert refusal(root) == f"solutions/04_attention/attention.pyi: {words}"
    stubs.write_text("def (")
    assert refusal(root) == "solutions/04_attention/attention.pyi is no Python: invalid syntax, line 1"
    stubs.unlink()
    assert refusal(root).startswith("solutions/04_attention/attention.pyi is not there; it says the types of what")


def notebook(text: str) -> dict:
    """A small notebook as it is handed out."""
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": [text],
        "outputs": [],
        "execution_count": None,
    }
    return stamped({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def put(path: Path, content: dict | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_work_in_modules_is_kept(tmp_path):
    old, new = tmp_path / "old" / "modules", tmp_path / "new" / "modules"
    run, answered, more = notebook("YOUR CODE"), notebook("YOUR CODE"), notebook("YOUR CODE")
    run["cells"][0] |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "1"}], "execution_count": 3}
    answered["cells"][0]["source"] = ["my answer"]
    more["cells"].append({"cell_type": "markdown", "id": "b", "metadata": {}, "source": "a note"})
    contents = {"01_a": notebook("YOUR CODE"), "02_b": run, "03_c": answered, "04_d": more, "05_gone": notebook("x")}
    for module, content in contents.items():
        put(old / module / "n.ipynb", content)
    put(old / "01_a" / "mine.txt", "mine")
    put(old / "06_gone_too" / "n.ipynb", answered)
    for module in ("01_a", "02_b", "03_c", "04_d", "07_new"):
        put(new / module / "n.ipynb", notebook("YOUR NEW CODE"))
    kept = replace_copies(tmp_path / "old", tmp_path / "new")
    assert sorted(map(str, kept)) == [
        f"modules/{path}" for path in ("01_a/mine.txt", "03_c/n.ipynb", "04_d/n.ipynb", "06_gone_too/n.ipynb")
    ]
    for module in ("01_a", "02_b", "07_new"):
        assert (old / module / "n.ipynb").read_text() == (new / module / "n.ipynb").read_text()
    assert "my answer" in (old / "03_c" / "n.ipynb").read_text() and "a note" in (old / "04_d" / "n.ipynb").read_text()
    assert not (old / "05_gone").exists() and (old / "01_a" / "mine.txt").read_text() == "mine"


def test_the_copies_are_as_they_were_handed_out(tmp_path):
    assert not any(has_work(course.student_copy(module)) for module in modules())
    path = tmp_path / "attention.ipynb"
    path.write_bytes(submission())
    assert has_work(path) and has_work(tmp_path / "none.ipynb")


def test_a_kit_never_holds_somebodys_work(monkeypatch, tmp_path):
    monkeypatch.setattr(kit, "has_work", lambda path: path == ROOT / COPY)
    with pytest.raises(CourseError, match=f"{COPY}: somebody worked in it, so it is not handed out"):
        kit.make_kit(MODULE, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_workspace_has_copies_that_are_never_overwritten(tmp_path):
    copied = [name for module in modules() for name in (module, *beside(module))]
    assert len(fill_workspace(tmp_path)) == len(copied) and not fill_workspace(tmp_path)
    own = tmp_path / MODULE / "attention.ipynb"
    content = json.loads(own.read_text())
    content["cells"][0]["source"] = ["mine"]
    own.write_text(json.dumps(content))
    assert not fill_workspace(tmp_path)
    content["metadata"] |= {"handed_out": "an earlier version"}
    own.write_text(json.dumps(content))
    assert fill_workspace(tmp_path) == [f"{own}: yours, unchanged; {COPY} is another version now"]
    assert json.loads(own.read_text()) == content


@pytest.fixture
def reads_a_text(tmp_path, monkeypatch):
    """A project with one module, whose notebook reads a text and a table that lie beside it."""
    root = tmp_path / "project"
    for module in (course, student_copies):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(student_copies, "modules", lambda: ["01_a"])
    monkeypatch.setattr(student_copies, "student_copy", lambda _: root / "modules" / "01_a" / "a.ipynb")
    for part in ("solutions", "modules"):
        put(root / part / "01_a" / "a.ipynb", notebook("YOUR CODE"))
        put(root / part / "01_a" / "words.txt", "to be or not")
        put(root / part / "01_a" / "tables" / "one.csv", "1,2")
    put(root / "solutions" / "01_a" / "a.pyi", "")
    put(root / "solutions" / "01_a" / "ruff.toml", "")
    put(root / "modules" / "01_a" / "mine.txt", "my answers")
    return root


def test_what_lies_beside_a_notebook_goes_along_but_for_types_settings_and_somebodys_files(reads_a_text):
    assert beside("01_a") == {"tables/one.csv": b"1,2", "words.txt": b"to be or not"}
    (reads_a_text / "modules" / "01_a" / "words.txt").unlink()
    with pytest.raises(CourseError, match=r"^modules/01_a/words\.txt is not there; run `make course`$"):
        beside("01_a")


def test_what_lies_beside_a_notebook_is_in_a_workspace_and_never_overwritten(reads_a_text, tmp_path):
    folder = tmp_path / "workspace"
    assert fill_workspace(folder) == [
        f"{folder}/01_a/{name}: copied from modules/01_a/{name}" for name in ("a.ipynb", "tables/one.csv", "words.txt")
    ]
    assert (folder / "01_a" / "words.txt").read_text() == "to be or not" and not fill_workspace(folder)
    put(folder / "01_a" / "words.txt", "mine")
    assert fill_workspace(folder) == [
        f"{folder}/01_a/words.txt: yours, unchanged; modules/01_a/words.txt is another version now"
    ]
    assert (folder / "01_a" / "words.txt").read_text() == "mine"


def test_the_version(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0 and capsys.readouterr().out == "grader 0.2.0 (tinytorch-attention)\n"
