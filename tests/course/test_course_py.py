"""A kit's course.py: which notebook it reads, and what of it it runs."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import Everything, submission
from course_py import WRONG, load, named, own_cell, run
from kits import unpacked_kit
from secret import cells as cells_of
from sentences import DIVIDED_BY_D_K

from autograded_tests import exercises_of
from grader.course import ROOT, module_notebook, modules

pytestmark = pytest.mark.long

MODULE = "04_attention"
NAMES = [e.name for e in exercises_of(MODULE)]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kits")
    return {module: unpacked_kit(module, folder) for module in modules()}


@pytest.fixture
def kit(unpacked, tmp_path) -> Path:
    """A kit that a test may change."""
    return Path(shutil.copytree(unpacked[MODULE], tmp_path / "my kit"))


# --- what counts as the notebook


def format_3(data: bytes) -> bytes:
    cells = json.loads(data)["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
    return json.dumps({"worksheets": [{"cells": cells}], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}).encode()


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "format 3": format_3,
    "Windows letters": lambda data: data.decode().replace("\\u00e9", "\xe9").encode("cp1252"),
    "lines that end with CR LF": lambda data: data.replace(b"\\n", b"\\r\\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_the_grader_reads_is_read(form, kit):
    path = kit / "attention.ipynb"
    letters = own_cell("assert 'caf\xe9' == 'caf' + chr(233)")
    path.write_bytes(FORMS[form](submission(edit=lambda notebook: notebook["cells"].append(letters))))
    said = run(kit, "check")
    assert "8 of 8 exercises pass their visible tests: 28 of 28 points; 2 of 2" in said and said.endswith("status 0")
    assert "handed out" not in said and "ok   causal_mask   1 point\n" in said


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "attention.ipynb is empty. Save it again in JupyterLab;"),
        (b'{"cells": [', "attention.ipynb is damaged: it begins like a notebook, but is cut off or changed. Save it"),
        (b"<!DOCTYPE html>", "attention.ipynb is not a notebook. Save it"),
        (b"[1]", "attention.ipynb is JSON, but not a notebook. Save it"),
        (b'{"cells": 3}', "attention.ipynb is JSON, but not a notebook. Save it"),
        (b"\xff\xfe{\x00\x00", "attention.ipynb is damaged"),
        (b"[" * 100_000, "attention.ipynb is not a notebook."),
    ],
)
def test_what_is_no_notebook_is_a_sentence(data, sentence, kit):
    (kit / "attention.ipynb").write_bytes(data)
    for verb in ("check", "export"):
        said = run(kit, verb)
        assert said.startswith(sentence) and said.endswith("status 1")


@pytest.mark.parametrize(
    "broken",
    [
        {"metadata": None},
        {"metadata": {"nbgrader": 3}},
        {"metadata": {"nbgrader": {"grade_id": 5}}},
        {"source": None},
        {"id": 7},
    ],
)
def test_odd_cells_are_cells_of_ones_own(broken, kit):
    def add(notebook):
        notebook["cells"] += [{"cell_type": "code", "source": "x = 1"} | broken, "no cell", None]

    (kit / "attention.ipynb").write_bytes(submission(edit=add))
    assert run(kit, "check").endswith("status 0")


def save(path: Path, data: bytes, minutes_ago: float) -> None:
    path.write_bytes(data)
    os.utime(path, (time.time() - 60 * minutes_ago,) * 2)


def test_a_download_is_found_under_its_name(kit):
    (kit / "attention.ipynb").unlink()
    save(kit / "efficient_attention.ipynb", submission(module="05_efficient_attention"), 0)
    said = run(kit, "check")
    assert said.startswith(
        f"There is no attention.ipynb beside course.py in {kit} (notebooks there: efficient_attention.ipynb). "
    )
    save(kit / "attention-2.ipynb", b"{", 5)
    save(kit / "attention (1).ipynb", submission(), 1)
    save(kit / "Kopie von Attention.ipynb.txt", b"{", 9)
    said = run(kit, "check")
    assert said.startswith(
        "There is no attention.ipynb. attention (1).ipynb is read, the newest (not read: attention-2.ipynb, Kopie von "
        "Attention.ipynb.txt). Rename it to attention.ipynb before you hand it in.\nattention (1).ipynb, saved at "
    )
    assert said.endswith("status 0")


def test_a_newer_copy_is_named(kit):
    save(kit / "attention.ipynb", submission(), 5)
    save(kit / "attention-Copy1.ipynb", submission(), 9)
    assert "Copy1" not in run(kit, "check")
    save(kit / "attention-Copy1.ipynb", submission(), 1)
    said = run(kit, "check")
    assert said.startswith("attention-Copy1.ipynb is newer than attention.ipynb, but only attention.ipynb is read.\n")
    assert "8 of 8" in said


def test_a_file_that_cannot_be_opened_is_a_sentence(kit, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert run(kit, "check").startswith(
        "attention.ipynb cannot be read (Permission denied). If another program has it open, close it there."
    )


@pytest.mark.parametrize("content", [None, b"{", b"[]", b'{"exercises": []}', b"\xff\xfe\x00"])
def test_course_json_that_is_missing_or_damaged_is_a_sentence(content, kit):
    (kit / "course.json").unlink()
    if content is not None:
        (kit / "course.json").write_bytes(content)
    for arguments in (("check",), ("skip", "scale_scores"), ("export",)):
        said = run(kit, *arguments)
        assert said.startswith(
            f"course.json is missing or damaged in {kit}. Unpack the kit's archive into a new folder,"
        )


# --- what is run


def test_every_kit_with_right_answers_passes(unpacked, tmp_path):
    for module, original in unpacked.items():
        kit = Path(shutil.copytree(original, tmp_path / module))
        (kit / module_notebook(module).name).write_bytes(submission(module=module))
        said = run(kit, "check")
        assert said.endswith("status 0"), said
        assert "no   " not in said and "handed out" not in said
        course = load(kit)
        handed_out = course.load_course()
        steps = course.arrange(handed_out, course.read_cells(kit / module_notebook(module).name)).steps
        assert [step[0] for step in steps] == [
            c.kind for c in handed_out.cells if c.kind in ("given", "answer", "test")
        ]


def empty_tests(notebook):
    named("test_scale_scores", notebook)["source"] = ""


def comment_tests_out(notebook):
    cell = named("test_scale_scores", notebook)
    cell["source"] = "".join(f"# {line}" for line in "".join(cell["source"]).splitlines(keepends=True))


def delete_tests(notebook):
    notebook["cells"] = [c for c in notebook["cells"] if not c["metadata"].get("nbgrader", {}).get("grade")]


def make_tests_text(notebook):
    named("test_scale_scores", notebook)["cell_type"] = "markdown"


@pytest.mark.parametrize("edit", [empty_tests, comment_tests_out, delete_tests, make_tests_text])
def test_a_test_that_was_changed_is_run_as_it_was_handed_out(edit, kit):
    (kit / "attention.ipynb").write_bytes(submission(WRONG, edit=edit))
    said = run(kit, "check")
    assert "Test cells changed or missing in your notebook, run as handed out: " in said and "test_scale_scores" in said
    assert (
        "\nno   scale_scores   values: " in said and DIVIDED_BY_D_K in said and "\nok   apply_mask   3 points\n" in said
    )
    assert said.endswith("status 1")


def lose_metadata(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def lose_ids_too(notebook):
    lose_metadata(notebook)
    for cell in notebook["cells"]:
        del cell["id"]


@pytest.mark.parametrize(("edit", "where"), [(lose_metadata, ""), (lose_ids_too, ": its cell is not found")])
def test_a_notebook_without_metadata_is_checked_all_the_same(edit, where, kit):
    (kit / "attention.ipynb").write_bytes(submission(WRONG, edit=edit))
    said = run(kit, "check")
    assert "handed out" not in said
    assert "The notebook has lost its metadata; its cells are recognised by their text. Copy your answers into" in said
    assert "no   scale_scores   values: " in said and DIVIDED_BY_D_K in said
    assert f"empty (question_scaling{where}, question_masking{where})." in said


def test_nothing_that_ran_is_not_all_that_passes(kit):
    (kit / "attention.ipynb").write_bytes(submission(edit=lambda notebook: notebook["cells"].clear()))
    said = run(kit, "check")
    for name in NAMES:
        assert f"no   {name}   its answer cell is missing\n" in said
    assert "0 of 8 exercises pass their visible tests: 0 of 28 points; 8 to go;" in said and said.endswith("status 1")


def test_what_is_blank_is_not_answered_yet(kit):
    half = "#| export\ndef _merge_heads(x):\n    B, H, L, D = x.shape\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"
    own = "#| export\ndef causal_mask(n):\n    raise NotImplementedError\n"
    rest = "def _scale_scores(scores, d_k):\n    return scores * d_k**-0.5\n    # YOUR CODE HERE\n    raise NotImplementedError()\n"
    (kit / "attention.ipynb").write_bytes(
        submission({"merge_heads": half, "causal_mask": own, "scale_scores": rest}, blank=["split_heads"])
    )
    said = run(kit, "check")
    for name in ("merge_heads", "scale_scores", "split_heads"):
        assert f"no   {name}   not answered yet\n" in said
    assert "no   causal_mask   Not answered yet.\n" in said
    assert "3 of 8 exercises" in said and "5 to go;" in said  # multi-head attention needs them


def test_given_cells_are_run_as_handed_out_and_then_as_they_are(kit):
    def edit(notebook):
        named("imports", notebook)["source"] = "def helper(x):\n    return 2 * x\n"
        notebook["cells"].remove(named("check_widths", notebook))

    (kit / "attention.ipynb").write_bytes(submission(edit=edit))
    said = run(kit, "check")
    assert "Given cells changed or missing in your notebook, run as handed out: imports, check_widths." in said
    assert "8 of 8" in said
    course = load(kit)
    steps = course.arrange(course.load_course(), course.read_cells(kit / "attention.ipynb")).steps
    assert [name for _, name, _ in steps[:3]] == ["imports", "", "practice"] and "helper" in steps[1][2]


def test_an_answer_is_found_by_what_it_defines_the_last_that_is_filled_in(kit):
    def edit(notebook):
        place = notebook["cells"].index(named("scale_scores", notebook))
        notebook["cells"][place : place + 1] = [
            own_cell("half = 0.5"),
            own_cell("def _scale_scores(scores, d_k):\n    return scores * d_k**-half"),
        ]
        merge = named("merge_heads", notebook)
        again = merge | {"source": "def _merge_heads(x):\n    return x\n"}
        notebook["cells"].insert(notebook["cells"].index(merge), again)

    (kit / "attention.ipynb").write_bytes(submission(edit=edit))
    said = run(kit, "check")
    assert "There are 2 cells with the answer merge_heads; the last one counts." in said
    assert "8 of 8" in said


def test_a_cell_of_ones_own_that_fails_is_named_by_its_first_line(kit):
    def edit(notebook):
        notebook["cells"].insert(3, own_cell("\n# a try\nx = 1 / 0\n"))
        notebook["cells"].append(own_cell("causal_mask(3)\n"))

    (kit / "attention.ipynb").write_bytes(submission(edit=edit))
    said = run(kit, "check")
    assert "     your cell that begins with `# a try`   ZeroDivisionError: division by zero\n" in said
    assert "28 of 28 points; 1 cell with an error, named above;" in said and said.endswith("status 0")


def test_an_answer_whose_cell_fails_is_not_tested(kit):
    failing = {"split_heads": "def _split_heads(x, n):\n    return x\nundefined\n"}
    (kit / "attention.ipynb").write_bytes(submission(failing))
    said = run(kit, "check")
    assert "     the cell split_heads   NameError: name 'undefined' is not defined\n" in said
    assert "no   split_heads   its cell did not run to its end, see above, so its test was not run\n" in said


def test_written_questions_are_counted(kit):
    def write(notebook):
        named("question_scaling", notebook)["source"] = ["Because of\n", "the variance."]
        named("question_masking", notebook)["source"] = "  "

    (kit / "attention.ipynb").write_bytes(submission(edit=write))
    assert "28 of 28 points; 1 of 2 written questions is empty (question_masking).\nstatus 0" in run(kit, "check")
    (kit / "attention.ipynb").write_bytes(submission())
    assert "2 of 2 written questions are empty (question_scaling, question_masking).\n" in run(kit, "check")


def test_a_kit_without_exercises_says_so(unpacked, tmp_path):
    kit = Path(shutil.copytree(unpacked["01_tensor"], tmp_path / "kit"))
    number = sum(c["cell_type"] == "code" for c in cells_of(module_notebook("01_tensor")))
    said = run(kit, "check")
    assert "There are no exercises in this notebook; none of " in said and said.endswith(
        "cells had an error.\nstatus 0"
    )
    assert int(said.split("none of ")[1].split()[0]) < number  # demonstrations are not run
    notebook = json.loads((kit / "tensor.ipynb").read_text())
    notebook["cells"].append(own_cell("1 / 0"))
    (kit / "tensor.ipynb").write_text(json.dumps(notebook))
    said = run(kit, "check")
    assert "; 1 of " in said and said.endswith("status 1")


def test_a_blank_kit_is_what_the_course_hands_out(kit):
    assert (kit / "attention.ipynb").read_bytes() == (ROOT / "modules" / MODULE / "attention.ipynb").read_bytes()
    assert (
        json.loads(submission(blank=Everything()))["cells"]
        == json.loads((kit / "attention.ipynb").read_text())["cells"]
    )
    said = run(kit, "check")
    assert "handed out" not in said and "0 of 8" in said
