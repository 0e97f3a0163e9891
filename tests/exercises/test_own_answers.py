"""A student's earlier answers in place of the library's parts: those that are right, and nothing is left of the others."""

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from answers import Everything, namespace, submission
from classes import ENVIRONMENT
from kits import unpacked_kit
from secret import cells, source

import tinytorch.core
from autograded_tests import EXERCISES, exercises_of
from exercises.own_answers import use_own_answers
from grader.course import ROOT, module_notebook, modules

ACTIVATIONS, LAYERS, ATTENTION = "02_activations", "03_layers", "04_attention"
IMPORTS = """
from tinytorch.core.activations import Softmax as Shares
from tinytorch.core.attention import MultiHeadAttention, causal_mask, MASK_VALUE
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor
"""
ALL_YOURS = dict.fromkeys(("activations", "layers", "attention"), "yours")
COUNTED = """
CALLS = []


def _counted(self, *arguments, _forward=MultiHeadAttention.forward, **named):
    CALLS.append(self)
    return _forward(self, *arguments, **named)


MultiHeadAttention.forward = _counted
"""


@pytest.fixture
def names() -> dict[str, Any]:
    """What a later notebook imported."""
    imported: dict[str, Any] = {}
    exec(IMPORTS, imported)
    return imported


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The later notebook's folder, beside which others are unpacked."""
    folder = tmp_path / "tinytorch-later"
    folder.mkdir()
    return folder


def right(exercise: str) -> str:
    """The right answer to an exercise."""
    notebook = json.loads(submission(module=EXERCISES[exercise].module))
    (found,) = (c["source"] for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == exercise)
    return str(found)


def put(
    here: Path,
    module: str,
    *,
    folder: str = "",
    blank: Container[str] = (),
    edit: Callable[[dict[str, Any]], None] = lambda notebook: None,
    **changed: str,
) -> Path:
    """A student's notebook of a module, beside the later one's folder."""
    path = here.parent / (folder or f"tinytorch-{module}") / module_notebook(module).name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(submission(changed, blank, edit, module))
    return path


def cell_of(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
    assert isinstance(found, dict)
    return found


def own_cell(source: str) -> dict[str, Any]:
    """A cell that a student adds."""
    return {
        "cell_type": "code",
        "id": "mine",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def signed(exercise: str) -> str:
    """A right answer that says who wrote it."""
    return f'{right(exercise)}\n\n{EXERCISES[exercise].defines}.by = "me"\n'


# --- what is used -----------------------------------------------------------------------------------------------------


def test_right_answers_are_used_and_build_on_each_other(names: dict[str, Any], here: Path) -> None:
    put(here, ACTIVATIONS, softmax=signed("softmax"))
    put(here, LAYERS, linear=signed("linear"))
    put(here, ATTENTION, multi_head_attention=signed("multi_head_attention"), causal_mask=signed("causal_mask"))
    tensor = names["Tensor"]
    assert use_own_answers(names, here) == ALL_YOURS
    assert [names[name].by for name in ("Shares", "Linear", "MultiHeadAttention", "causal_mask")] == ["me"] * 4
    assert type(names["MultiHeadAttention"](4, 2).q_proj) is names["Linear"]
    assert names["MultiHeadAttention"].forward.__globals__["Softmax"] is names["Shares"]
    assert names["Tensor"] is tensor


def test_a_module_is_found_and_used_though_only_the_next_one_is_imported(here: Path) -> None:
    put(here, LAYERS, linear=signed("linear"))
    put(here, ATTENTION)
    names: dict[str, Any] = {}
    exec("from tinytorch.core.attention import MultiHeadAttention", names)
    assert use_own_answers(names, here) == ALL_YOURS | {"activations": "not found"}
    assert type(names["MultiHeadAttention"](4, 2).q_proj).by == "me"


def test_own_attention_is_called_in_each_later_notebook_that_has_a_model(here: Path) -> None:
    put(here, ATTENTION, multi_head_attention=right("multi_head_attention") + COUNTED)
    for module in modules()[modules().index(ATTENTION) + 1 :]:
        names = namespace(module)
        if "MultiHeadAttention" not in names:
            continue
        assert use_own_answers(names, here)["attention"] == "yours"
        calls = names["MultiHeadAttention"].forward.__globals__["CALLS"]
        before = len(calls)
        if "LanguageModel" in names:
            model = names["LanguageModel"](vocabulary=5, length=6, embed_dim=8, num_heads=2, num_layers=3)
            model([[0, 1, 2]])
            assert len(calls) == before + 3


@pytest.mark.parametrize("module", modules())
def test_in_the_course_itself_all_is_right_in_solutions_and_nothing_is_answered_in_modules(module: str) -> None:
    names = namespace(module)
    imported = set(
        re.findall(
            r"^from tinytorch\.core\.(\w+)", "\n".join(map(source, cells(module_notebook(module)))), re.MULTILINE
        )
    )
    wanted = {m.partition("_")[2] for m in modules() if exercises_of(m)} & imported
    blank = use_own_answers(names, ROOT / "modules" / module)
    assert wanted <= blank.keys() and all(said.endswith("` is not answered yet") for said in blank.values())
    assert use_own_answers(names, ROOT / "solutions" / module) == dict.fromkeys(blank, "yours")


def test_kits_side_by_side_are_enough(tmp_path: Path) -> None:
    """Of ours a kit's Python sees nothing else: with -S the project is not on the path."""
    kit = unpacked_kit(ATTENTION, tmp_path)
    for module in (ACTIVATIONS, LAYERS):
        (unpacked_kit(module, tmp_path) / module_notebook(module).name).write_bytes(submission(module=module))
    packages = [path for path in sys.path if path.endswith("site-packages")]
    code = (
        f"import sys; sys.path += {packages!r}\nfrom tinytorch.core.activations import Softmax\n"
        "from tinytorch.core.layers import Linear\nfrom exercises.own_answers import use_own_answers\n"
        "print(use_own_answers(globals()), Linear.__init__.__code__.co_filename)"
    )
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(
        command, cwd=kit, env={"PATH": ENVIRONMENT["PATH"]}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "{'activations': 'yours', 'layers': 'yours'} <layers.ipynb, linear>\n", done.stderr


# --- what is not used -------------------------------------------------------------------------------------------------


def test_a_wrong_answer_is_named_and_the_library_stays(names: dict[str, Any], here: Path) -> None:
    wrong = "#| export\nclass Linear:\n    def __init__(self, in_features, out_features, bias=True):\n        pass\n"
    put(here, LAYERS, linear=wrong)
    put(here, ATTENTION, multi_head_attention=signed("multi_head_attention"))
    library = names["Linear"], names["Shares"]
    assert use_own_answers(names, here) == {
        "activations": "not found",
        "layers": "`linear` does not pass its tests",
        "attention": "yours",
    }
    assert (names["Linear"], names["Shares"]) == library
    assert names["MultiHeadAttention"].by == "me" and type(names["MultiHeadAttention"](4, 2).q_proj) is library[0]


def test_a_module_is_taken_whole_or_not(names: dict[str, Any], here: Path) -> None:
    put(here, ATTENTION, split_heads="#| export\ndef _split_heads(x, num_heads):\n    return x\n")
    library = dict(names)
    assert use_own_answers(names, here)["attention"] == "`split_heads` does not pass its tests"
    assert names == library


def test_what_is_open_is_named(names: dict[str, Any], here: Path) -> None:
    put(here, ACTIVATIONS, softmax="class Softmax:\n    def __init__(self):\n        raise NotImplementedError\n")
    put(here, ATTENTION, blank=("scale_scores", "merge_heads"))
    found = use_own_answers(names, here)
    assert found["activations"] == "`softmax` is not answered yet"
    assert found["attention"] == "`scale_scores` is not answered yet"


def test_done_again_after_a_change_the_library_is_back(names: dict[str, Any], here: Path) -> None:
    library = dict(names)
    path = put(here, LAYERS, linear=signed("linear"))
    use_own_answers(names, here)
    assert names["Linear"].by == "me"
    path.unlink()
    assert use_own_answers(names, here)["layers"] == "not found"
    assert names == library


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"3", b'{"cells": 3}', b'{"cells": [{}]}', b'{"cells": [[]]}', b"\xff\xfe{", b"[" * 100_000],
)
def test_a_damaged_notebook_is_named(data: bytes, names: dict[str, Any], here: Path) -> None:
    put(here, LAYERS).write_bytes(data)
    library = dict(names)
    assert use_own_answers(names, here)["layers"] == "damaged"
    assert names == library


def test_a_notebook_of_the_same_name_that_is_none_of_the_course_is_not_run(names: dict[str, Any], here: Path) -> None:
    notebook = {"cells": [own_cell(f"open({str(here / 'run')!r}, 'w')")], "metadata": {}, "nbformat": 4}
    put(here, LAYERS).write_text(json.dumps(notebook))
    assert use_own_answers(names, here)["layers"] == "not found" and not (here / "run").exists()


def test_what_was_thrown_away_is_not_used(names: dict[str, Any], here: Path) -> None:
    put(here, LAYERS, folder=".Trash")
    assert use_own_answers(names, here)["layers"] == "not found"


# --- which of several -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["tinytorch-later", "03_layers", "Downloads"])
def test_it_may_lie_in_the_same_folder_or_any_beside_it(folder: str, names: dict[str, Any], here: Path) -> None:
    put(here, LAYERS, folder=folder, linear=signed("linear"))
    assert use_own_answers(names, here)["layers"] == "yours" and names["Linear"].by == "me"


def test_without_a_folder_the_current_one_is_meant(
    names: dict[str, Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(here, LAYERS)
    monkeypatch.chdir(here)
    assert use_own_answers(names)["layers"] == "yours"


def test_of_several_the_newest_with_all_answers_is_used(names: dict[str, Any], here: Path) -> None:
    def by(name: str) -> str:
        return signed("linear").replace('"me"', repr(name))

    copies = [
        put(here, LAYERS, folder="a", linear=by("a")),
        put(here, LAYERS, folder="b", linear=by("b")),
        put(here, LAYERS, folder="c", blank=Everything()),
        put(here, LAYERS, folder="d"),
    ]
    copies[3].write_text("damaged")
    for order, used in (((2, 1, 3, 4), "a"), ((1, 2, 3, 4), "b")):
        for path, seconds in zip(copies, order, strict=True):
            os.utime(path, (seconds, seconds))
        assert use_own_answers(names, here)["layers"] == "yours" and names["Linear"].by == used
    for path in copies[:2]:
        path.unlink()
    assert use_own_answers(names, here)["layers"] == "`linear` is not answered yet"


# --- how notebooks look -----------------------------------------------------------------------------------------------


def test_a_second_cell_with_the_answer_fills_the_first(names: dict[str, Any], here: Path) -> None:
    def add(notebook: dict[str, Any]) -> None:
        place = [c["metadata"].get("nbgrader", {}).get("grade_id") for c in notebook["cells"]].index("linear")
        notebook["cells"].insert(place, own_cell(signed("linear")))

    put(here, LAYERS, blank=("linear",), edit=add)
    assert use_own_answers(names, here)["layers"] == "yours" and names["Linear"].by == "me"


def test_an_answer_needs_no_line_that_exports_it(names: dict[str, Any], here: Path) -> None:
    put(here, LAYERS, linear=signed("linear").replace("#| export\n", ""))
    assert use_own_answers(names, here)["layers"] == "yours" and names["Linear"].by == "me"


def test_an_answer_may_call_a_function_of_a_cell_of_ones_own_but_such_a_cell_replaces_none(
    names: dict[str, Any], here: Path
) -> None:
    ours = 'import math as m\n\n\ndef root(x):\n    return m.sqrt(x)\n\n\nraise ValueError("tried")\n'

    def add(notebook: dict[str, Any]) -> None:
        notebook["cells"][1:1] = [own_cell(ours)]
        notebook["cells"].append(own_cell("def _scale_scores(scores, d_k):\n    return scores / d_k\n"))
        notebook["cells"].append(own_cell("def not Python"))

    put(here, ATTENTION, edit=add, scale_scores="def _scale_scores(scores, d_k):\n    return scores / root(d_k)\n")
    assert use_own_answers(names, here)["attention"] == "yours"


def test_tests_are_needed_and_commands_of_ipython_are_passed_over(names: dict[str, Any], here: Path) -> None:
    def add(notebook: dict[str, Any]) -> None:
        notebook["cells"].remove(cell_of(notebook, "test_linear"))

    put(here, LAYERS, edit=add)
    rest = f"\nassert (\n    7\n    % 4\n) == 3\n{right('scale_scores')}"
    put(here, ATTENTION, causal_mask=f"%matplotlib inline\n!ls\n{right('causal_mask')}", scale_scores=rest)
    found = use_own_answers(names, here)
    assert (found["layers"], found["attention"]) == ("`linear` has no test below it", "yours")


def test_hidden_tests_of_the_instructors_notebook_are_not_run(names: dict[str, Any], here: Path) -> None:
    def add(notebook: dict[str, Any]) -> None:
        hidden = ["\n### BEGIN HIDDEN TESTS\n", "raise ValueError\n", "### END HIDDEN TESTS\n"]
        cell_of(notebook, "test_linear")["source"] += hidden

    put(here, LAYERS, edit=add)
    assert use_own_answers(names, here)["layers"] == "yours"


def test_a_notebook_without_exercises_is_left_out(names: dict[str, Any], here: Path) -> None:
    def cut(notebook: dict[str, Any]) -> None:
        marks = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
        kept = [not (mark.get("solution") or mark.get("grade")) for mark in marks]
        notebook["cells"] = [cell for cell, keep in zip(notebook["cells"], kept, strict=True) if keep]

    put(here, ACTIVATIONS, edit=cut)
    library = names["Shares"]
    assert use_own_answers(names, here).keys() == {"layers", "attention"} and names["Shares"] is library


def test_a_notebook_that_lost_its_marks_is_read_by_what_is_in_its_cells(names: dict[str, Any], here: Path) -> None:
    def unmark(notebook: dict[str, Any]) -> None:
        for cell in notebook["cells"]:
            cell["metadata"] = {}

    put(here, LAYERS, edit=unmark, linear=signed("linear"))
    put(here, ATTENTION, edit=unmark, blank=("scale_scores",))
    found = use_own_answers(names, here)
    assert (found["layers"], found["attention"]) == ("yours", "`_scale_scores` is not answered yet")


# --- what is left of it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise ValueError('no\\nway')", "ValueError: no way"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("exit()", "SystemExit: None"),
        ("input('?')", "RuntimeError: input() was called, and nobody answers here"),
        ("def f(", "SyntaxError: '(' was never closed (<layers.ipynb, linear>, line 2)"),
        ("nothing", "NameError: name 'nothing' is not defined"),
        ("class Worst(Exception):\n    def __str__(self): raise self\nraise Worst", "Worst:"),
        ("import sys; sys.modules['tinytorch.core.layers'] = 3; raise KeyError(1)", "KeyError: 1"),
    ],
)
def test_a_cell_that_stops_is_named_and_ends_nothing(
    line: str, said: str, names: dict[str, Any], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(here, LAYERS, linear=f"#| export\n{line}\n")
    put(here, ATTENTION)
    library, before = dict(names), dict(sys.modules)
    found = use_own_answers(names, here)
    assert (found["layers"], found["attention"]) == (f"`linear` stops with {said}", "yours")
    assert names["Linear"] is library["Linear"] and dict(sys.modules).items() >= before.items()
    assert capsys.readouterr() == ("", "")


def test_what_a_notebook_does_beside_its_answers_leaves_no_trace(
    names: dict[str, Any], here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tricks = """
import os, sys, random, warnings
import matplotlib.pyplot as plt
import tinytorch.core
print("hello"); sys.stderr.write("hello")
warnings.warn("careful"); plt.plot([1]); os.chdir("/"); np.random.seed(3); random.seed(3)
np.set_printoptions(precision=1)
tinytorch.core.layers, tinytorch.core.mine, sys.modules['tinytorch.core.mine'] = 3, 4, 5
"""
    put(here, LAYERS, linear=right("linear") + tricks)
    figures, folder, printed, core = plt.get_fignums(), Path.cwd(), np.get_printoptions(), dict(vars(tinytorch.core))
    modules_before = {name: m for name, m in sys.modules.items() if name.startswith("tinytorch")}
    state = np.random.get_state(legacy=False)  # noqa: NPY002  (the library's layers draw from it)
    with warnings.catch_warnings(record=True) as warned:
        assert use_own_answers(names, here)["layers"] == "yours"
    assert not warned and capfd.readouterr() == ("", "")
    assert (plt.get_fignums(), Path.cwd(), np.get_printoptions()) == (figures, folder, printed)
    assert str(np.random.get_state(legacy=False)) == str(state)  # noqa: NPY002
    assert vars(tinytorch.core) == core
    assert {name: m for name, m in sys.modules.items() if name.startswith("tinytorch")} == modules_before


def test_a_run_that_is_stopped_at_the_keyboard_is_stopped_and_the_library_is_back(
    names: dict[str, Any], here: Path
) -> None:
    put(here, LAYERS, linear="#| export\nraise KeyboardInterrupt\n")
    library, before = dict(names), sys.modules["tinytorch.core.layers"]
    with pytest.raises(KeyboardInterrupt):
        use_own_answers(names, here)
    assert names == library and sys.modules["tinytorch.core.layers"] is before


def test_an_error_in_an_own_answer_shows_the_line(names: dict[str, Any], here: Path) -> None:
    put(
        here,
        ATTENTION,
        causal_mask=right("causal_mask") + "\n\ndef later():\n    return 1 / 0\n\n\ncausal_mask.later = later\n",
    )
    use_own_answers(names, here)
    with pytest.raises(ZeroDivisionError) as caught:
        names["causal_mask"].later()
    assert str(caught.traceback[-1].statement).strip() == "return 1 / 0"
