"""A kit's course.py: leaving exercises for later, what it says of errors, and that it survives what cells do."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answers import submission
from course_py import WRONG, load, named, own_cell, run
from kits import python_course, unpacked_kit
from limits import PATIENCE

from autograded_tests import exercises_of

pytestmark = pytest.mark.long

MODULE = "04_attention"
NAMES = [e.name for e in exercises_of(MODULE)]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    return unpacked_kit(MODULE, tmp_path_factory.mktemp("kit"))


@pytest.fixture
def kit(unpacked, tmp_path) -> Path:
    """A kit that a test may change."""
    return Path(shutil.copytree(unpacked, tmp_path / "my kit"))


# --- leaving an exercise for later


def test_an_exercise_can_be_left_for_later_and_taken_back(kit):
    (kit / "attention.ipynb").write_bytes(submission(WRONG | {"merge_heads": "x ="}, blank=["causal_mask"]))
    assert run(kit, "skip", "causal_mask") == "Left for later, so that `check` passes over it: causal_mask.\nstatus 0"
    run(kit, "skip", "scale_scores")
    assert (kit / ".skipped").read_text() == "causal_mask\nscale_scores\n"
    (kit / "attention.ipynb").write_bytes(submission(WRONG, blank=["causal_mask"]))
    said = run(kit, "check")
    for name in ("causal_mask", "scale_scores"):
        assert f"--   {name}   left for later, 0 points; `python course.py skip {name}` takes it back\n" in said
    assert "points; 2 left for later, 2 to go;" in said  # what uses them
    assert run(kit, "skip", "scale_scores").startswith("Left for later, so that `check` passes over it: causal_mask.")
    assert run(kit, "skip", "causal_mask").startswith("Left for later, so that `check` passes over it: nothing.")
    assert (kit / ".skipped").read_text() == ""


def test_with_an_exercise_left_for_later_not_everything_passes(kit):
    (kit / "attention.ipynb").write_bytes(submission())
    run(kit, "skip", "multi_head_attention")
    said = run(kit, "check")
    assert "7 of 8 exercises pass their visible tests: 19 of 28 points; 1 left for later;" in said
    assert said.endswith("status 1")


def test_the_test_of_what_is_left_for_later_is_not_run(kit):
    (kit / "attention.ipynb").write_bytes(submission({"causal_mask": "def causal_mask(n):\n    raise SystemExit\n"}))
    run(kit, "skip", "causal_mask", "scaled_dot_product_attention", "multi_head_attention")
    assert "5 of 8" in run(kit, "check")


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfsplit_heads\r\n\r\n", "split_heads\r\n".encode("utf-16"), b" split_heads \nsplit_heads"]
)
def test_the_file_of_what_is_left_is_read_as_editors_write_it(data, kit):
    (kit / ".skipped").write_bytes(data)
    assert "1 left for later, 7 to go" in run(kit, "check")


def test_names_that_are_no_exercises_are_named(kit):
    said = run(kit, "skip", "softmax")
    assert said == f"There is no exercise softmax. The exercises are: {', '.join(NAMES)}.\nstatus 1"
    assert not (kit / ".skipped").exists()
    (kit / ".skipped").write_text("softmax\nsplit_heads\n")
    said = run(kit, "check")
    assert said.startswith("In the file .skipped, this is no exercise of the notebook: softmax.\n") and "1 left" in said


# --- sentences


def error(kind: str, text: str, *frames: str) -> tuple[str, dict[str, Any]]:
    return "error", {"ename": kind, "evalue": text, "traceback": list(frames)}


FRAME = "Cell \x1b[0;32mIn[4]\x1b[0m, line 2\n\x1b[1;32m      1\x1b[0m x = 1\n\x1b[0;32m----> 2\x1b[0m y = _scale_scores(x)\n"
INNER = "Cell In[3], line 5, in _scale_scores(scores, d_k)\n      4     pass\n----> 5     raise NotImplementedError()\n"
LIBRARY = "File /kit/tinytorch/core/tensor.py:7, in Tensor.__add__(self, other)\n----> 7 other.data\n"
SYNTAX = "  Cell \x1b[1;32mIn[3], line 2\x1b[1;36m\x1b[0m\n\x1b[1;33m    return (\x1b[0m\n           ^\n\x1b[1;31mSyntaxError\x1b[0m: x\n"


@pytest.mark.parametrize(
    ("ran", "lines"),
    [
        (("", None), [""]),
        (("stopped", None), ["stopped after 60 seconds", "Is there a loop that never ends?"]),
        (
            ("stopped", error("KeyboardInterrupt", "", FRAME)[1]),
            ["stopped after 60 seconds   in: y = _scale_scores(x)", "Is there a loop that never ends?"],
        ),
        (("died", None), ["Python ended in it: by exit() or os._exit(), or for lack of memory"]),
        (
            error("NotYet", "apply_mask\n    got \x1b[31m[[1]]\x1b[0m,\r\n    expected [[2]]\n    You divided.\n0 of 8 done", FRAME),
            ["got [[1]],", "expected [[2]]", "You divided."],
        ),
        (error("NotYet", "apply_masks", FRAME), ["NotYet: apply_masks   in: y = _scale_scores(x)"]),
        (error("AssertionError", "", FRAME), ["AssertionError   in: y = _scale_scores(x)"]),
        (error("TypeError", "no float", FRAME, LIBRARY), ["TypeError: no float   in: y = _scale_scores(x)"]),
        (
            error("AssertionError", "\nNot equal\n\n x: 1\n y: 2", FRAME),
            ["AssertionError   in: y = _scale_scores(x)", "Not equal", "", " x: 1", " y: 2"],
        ),
        (error("NotImplementedError", "", FRAME), ["not answered yet   in: y = _scale_scores(x)"]),
        (
            error("NotImplementedError", "", FRAME, INNER),
            ["needs scale_scores, which is not answered yet   in: raise NotImplementedError()"],
        ),
        (
            error("SyntaxError", "'(' was never closed (37.py, line 2)", SYNTAX),
            ["SyntaxError: '(' was never closed (line 2 of the cell)   in: return ("],
        ),
        (
            error("StdinNotImplementedError", "raw_input was called", FRAME),
            ["asks for input(), and nobody answers here   in: y = _scale_scores(x)", "Write the value into the code instead."],
        ),
        (
            error("ModuleNotFoundError", "No module named 'numpy.foo'"),
            [
                "ModuleNotFoundError", "No module named 'numpy.foo'",
                "Install the packages with `python -m pip install -r requirements.txt`, if numpy is one of them.",
            ],
        ),
        (
            error("ModuleNotFoundError", "No module named 'tinytorch.core'"),
            [
                "ModuleNotFoundError", "No module named 'tinytorch.core'",
                (
                    "The folder tinytorch of the kit is not complete. Unpack the kit's archive into a new folder, and copy what "
                    "is missing from there."
                ),
            ],
        ),
    ],
)  # fmt: skip
def test_what_stopped_a_cell_is_said(ran, lines, unpacked):
    course = load(unpacked)
    assert course.explain(*ran, course.load_course(), "apply_mask") == lines


def test_a_long_text_is_cut(unpacked):
    course = load(unpacked)
    lines = course.explain(*error("ValueError", "x" * 10_000 + "\n" * 10_000), course.load_course())
    assert len(lines) <= 41 and max(map(len, lines)) <= 520


@pytest.mark.parametrize("arguments", [[], ["chek"], ["check", "now"], ["skip"], ["export", "x"], ["--help"]])
def test_an_unknown_command_gets_the_list_of_commands(arguments, kit, capsys):
    assert load(kit).main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"Not a command: course.py {' '.join(arguments)}\n\nCheck your notebook,")
    assert all(f"python course.py {verb}" in said for verb in ("check", "skip NAME", "export"))


@pytest.mark.parametrize(("verb", "names"), [("check", "jupyter_client, ipykernel"), ("export", "nbdev")])
def test_missing_packages_are_named(verb, names, kit):
    course = load(kit)
    course.importlib = SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None))
    with pytest.raises(course.Problem) as caught:
        course.main([verb])
    install = "Install the packages with `python -m pip install -r requirements.txt`."
    assert str(caught.value) == f"Missing in this Python ({sys.executable}): {names}. {install}"


def test_what_cannot_be_written_is_a_sentence(kit, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    said = run(kit, "skip", "split_heads")
    assert said.startswith(
        f"{kit / '.skipped'} cannot be written (Permission denied). If another program has it open, close it"
    )
    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    monkeypatch.setattr(os, "chdir", lambda path: None)
    said = run(kit, "export")
    assert f"{kit / 'tinytorch' / 'core' / 'attention.py'} cannot be written (Permission denied). If another" in said
    assert "If the folder is read-only, copy the kit to one of your own." in said


def test_a_warning_about_windows_event_loops_is_not_for_students(kit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(kit, "check")
        warnings.warn(
            "Proactor event loop does not implement add_reader family of methods", RuntimeWarning, stacklevel=1
        )
        warnings.warn("Overflow", RuntimeWarning, stacklevel=1)
    assert [str(w.message) for w in caught] == ["Overflow"]


def test_an_export_says_which_cell_is_no_python(kit):
    (kit / "attention.ipynb").write_bytes(submission({"causal_mask": "#| export\ndef causal_mask(n:\n    return n\n"}))
    said = run(kit, "export")
    assert (
        "Nothing was made: the cell causal_mask is not Python yet ('(' was never closed, line 2: def causal_mask(n:)."
        in said
    )
    (kit / "attention.ipynb").write_bytes(submission(edit=lambda notebook: notebook["cells"].clear()))
    assert "Nothing was made: no cell of attention.ipynb begins with `#| export`." in run(kit, "export")
    assert not (kit / "tinytorch" / "core" / "attention.py").exists()


# --- with a kernel


def lines_of(kit: Path, *arguments: str, seconds: float = 60) -> list[str]:
    done = python_course(kit, *arguments, seconds=seconds)
    assert done.stderr == ""
    return done.stdout.splitlines()


PRACTICE = """
class Wrong(Exception):
    pass


def check(name):
    said = ["values: \\x1b[31mgot\\x1b[0m [[1.]], expected [[2.]]", "You divided by d_k."]
    raise Wrong("\\n    ".join([name, *said]) + "\\n0 of 8 exercises done: 0 of 28 points")
"""


def prepare(kit: Path) -> None:
    """Let the test of scale_scores begin as tests do that explain what is wrong; leave the half second of Matplotlib out."""
    (kit / "practice.py").write_text(PRACTICE)
    data = json.loads((kit / "course.json").read_text())
    for name, source in (
        ("test_scale_scores", "import practice\npractice.check('scale_scores')\n"),
        ("plots", "plots = 0"),
    ):
        next(c for c in data["cells"] if c["name"] == name)["source"] = source
    (kit / "course.json").write_text(json.dumps(data))


@pytest.mark.slow
def test_every_exercise_gets_a_line_whatever_a_cell_does(kit):
    prepare(kit)

    def edit(notebook):
        notebook["cells"].remove(named("plots", notebook))
        notebook["cells"].insert(2, own_cell("print('a')\nexit()"))
        notebook["cells"].insert(
            6,
            own_cell(
                "import sys\nwhile True:\n    try:\n        print('x' * 1000)\n    except BaseException:\n        pass"
            ),
        )
        notebook["cells"].append(
            own_cell("import warnings\nwarnings.warn('careful')\nimport logging\nlogging.warning('careful')\nnever = 1")
        )

    answers = {
        "compute_attention_scores": "def _compute_attention_scores(Q, K):\n    while True:\n        pass\n",
        "scale_scores": WRONG["scale_scores"],
        "causal_mask": "def causal_mask(n):\n    import os\n    os._exit(0)\n",
        "apply_mask": "def _apply_mask(scores, mask):\n    return input()\n",
        "split_heads": "def _split_heads(x, n):\n    raise SystemExit(3)\n",
    }
    (kit / "attention.ipynb").write_bytes(submission(answers, blank=["scaled_dot_product_attention"], edit=edit))
    begun = time.monotonic()
    said = lines_of(kit, "check", seconds=PATIENCE)
    assert time.monotonic() - begun < 60
    text = "\n".join(said)
    assert f"A cell is stopped after {PATIENCE} seconds." in said[0]
    own = [line for line in said if "your cell" in line]
    assert own == [
        "     your cell that begins with `print('a')`   Python ended in it: by exit() or os._exit(), or for lack of memory",
        f"     your cell that begins with `import sys`   stopped after {PATIENCE} seconds",
    ]
    results = [line for line in said if line[:2] in ("ok", "no")]
    assert [line.split()[1] for line in results] == NAMES
    assert f"no   compute_attention_scores   stopped after {PATIENCE} seconds   in: " in text
    assert (
        "no   scale_scores   values: got [[1.]], expected [[2.]]\n       You divided by d_k.\nno   causal_mask" in text
    )
    assert "no   causal_mask   Python ended in it" in text
    assert "no   apply_mask   values: " in text and "return input()` raised RuntimeError: input() was called" in text
    assert "no   split_heads   values: " in text and "raise SystemExit(3)` raised SystemExit: 3" in text
    assert "ok   merge_heads   2 points" in text
    assert (
        "1 of 8 exercises pass their visible tests: 2 of 28 points; 7 to go; 2 cells with an error, named above;"
        in text
    )


@pytest.mark.long
def test_a_kernel_that_does_not_start_is_a_sentence(kit, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    said = run(kit, "check", kernel=None)
    assert "Python's kernel does not start: " in said
    assert "Install the packages with `python -m pip install -r requirements.txt`, and try again." in said


@pytest.mark.long
def test_a_library_is_made_from_a_download_with_a_byte_order_mark(kit):
    (kit / "attention.ipynb").unlink()
    (kit / "attention (1).ipynb").write_bytes(b"\xef\xbb\xbf" + submission(blank=["merge_heads"]))
    said = lines_of(kit, "export")
    assert said == [
        "There is no attention.ipynb. attention (1).ipynb is read. Rename it to attention.ipynb before you hand it in.",
        "Made tinytorch/core/attention.py from the 15 cells that begin with `#| export`.",
        "Still open: merge_heads. The examples run when nothing is open.",
    ]
    made = (kit / "tinytorch" / "core" / "attention.py").read_text()
    assert "File to edit: ../../attention (1).ipynb." in made and "def causal_mask" in made
    assert {p.name for p in kit.iterdir() if p.is_dir()} == {"tinytorch", "exercises", "examples"}


def test_a_console_that_lacks_a_letter_shows_the_rest(kit):
    (kit / "attention.ipynb").rename(kit / "attention \u2013 Kopie.ipynb")
    command = [sys.executable, "course.py", "export"]
    plain = os.environ | {"PYTHONIOENCODING": "ascii"}
    (kit / "attention \u2013 Kopie.ipynb").write_bytes(submission(edit=lambda notebook: notebook["cells"].clear()))
    done = subprocess.run(command, cwd=kit, env=plain, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("There is no attention.ipynb. attention ? Kopie.ipynb is read.")
    assert done.stderr.startswith("Nothing was made: ") and done.returncode == 1


@pytest.mark.long
def test_ctrl_c_stops_it_with_a_word(kit):
    endless = own_cell("open('begun', 'w').close()\nwhile True:\n    pass")
    (kit / "attention.ipynb").write_bytes(submission(edit=lambda notebook: notebook["cells"].insert(0, endless)))
    # a shell in the background has its programs ignore Ctrl-C
    heard = "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv[:] = sys.argv[1:]"
    command = [sys.executable, "-c", f"{heard}; runpy.run_path('course.py', run_name='__main__')", "course.py", "check"]
    with subprocess.Popen(command, cwd=kit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (kit / "begun").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1] == "Stopped.\n" and process.returncode == 1
