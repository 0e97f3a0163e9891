"""What a student writes beside right answers costs nothing, and brings nothing where they are wrong or blank."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from answers import Everything, submission
from kinds.base import FULL, WRONG_SCALE, added, cell, changed, code_cell
from limits import PATIENCE

from grader.course import Assignment
from grader.grade import grade_notebook
from grader.result import Result
from grader.sandbox import session as session_module
from grader.sandbox.check_jail import open_jail
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits

pytestmark = [pytest.mark.jail, pytest.mark.slow]

LIMITS = Limits(cell_time=2 * PATIENCE, probe_time=1.5 * PATIENCE, own_time=1 * PATIENCE, memory=800 << 20)
WRONG = FULL - 2  # with WRONG_SCALE


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    jail = open_jail("04_attention", LIMITS)
    yield jail
    jail.close()


Graded = Callable[[bytes], Result]


@pytest.fixture
def graded(jail: Jail, assignment: Assignment) -> Graded:
    return lambda data: grade_notebook(data, assignment, jail)


# Cells in which a student plays with names, deletes them, or breaks what answers need.
SCRATCH = {
    "np": "np = 3",
    "math": "math = None",
    "Softmax": "Softmax = Softmax()",
    "an answer's result": "causal_mask = causal_mask(4)",
    "an answer called": "_scale_scores = _scale_scores(Tensor([[1.0]]), 4)",
    "one deleted": "del causal_mask",
    "several deleted": "del causal_mask, np, math, Softmax, Tensor, _scale_scores, MultiHeadAttention, as_mask",
    "all deleted": "for name in [n for n in globals() if not n.startswith('__')]:\n    del globals()[name]",
    "a loop over names": "for _apply_mask in range(3): pass\nfor math in [1]: pass",
    "a loop over globals": "for name in list(globals()):\n    if name[:1] in '_cm' and name[:2] != '__': globals()[name] = 7",
    "short names": "x = K = Q = V = mask = scores = output = weights = d_k = 3",
    "%reset": "%reset -f",
    "%reset in": "%reset -f in out dhist array",
    "%xdel": "%xdel _split_heads\n%xdel Tensor",
    "shell reset": "get_ipython().reset()",
    "shell drop": "get_ipython().del_var('causal_mask')",
    "clear": "globals().clear()",
    "import *": "from numpy import *",
    "import * of random": "from numpy.random import *\nfrom math import *",
    "import as": "import random as math, os as np",
    "exec": "exec('def causal_mask(n): return n')\nexec('np = 1', globals())",
    "builtins hidden": "sum = 0\nlen = 3\nrange = list = 1\nmax = min = print = None",
    "builtins hidden by functions": "def len(x): return 0\nsum = range = lambda *a: 0",
    "a blank": "def _scale_scores(scores, d_k):\n    raise NotImplementedError()",
    "a wrong def": "def _scale_scores(*a):\n    return 1",
    "a wrong lambda": "_merge_heads = lambda x: x",
    "a wrong class": "class MultiHeadAttention:\n    pass",
    "a class of the same name": "class Tensor: pass\nclass causal_mask: pass\nclass _split_heads(Softmax): pass",
    "a partial": "from functools import partial\ncausal_mask = partial(causal_mask, 3)",
    "helpers": "def _check_rows(**named): raise ValueError\ndef as_mask(mask): return 1\nMASK_VALUE = 'low'\n_check_heads = None",
    "numbers": "MASK_VALUE = 0\nmath.sqrt = lambda x: x",
    "Tensor patched": "Tensor.__add__ = None\nTensor.__matmul__ = None",
    "Softmax patched": "Softmax.__call__ = Softmax.forward = lambda self, x: x",
    "numpy patched": "import numpy\nnumpy.exp = numpy.matmul = numpy.array = None",
    "numpy's state": "np.seterr(all='raise')\nnp.set_printoptions(precision=1)\nnp.random.seed(0)",
    "builtins patched": "import builtins\nbuiltins.range = builtins.len = None",
    "sys.modules": "import sys\nfor k in list(sys.modules):\n    if k.startswith(('tinytorch', 'numpy')): del sys.modules[k]",
    "sys.modules None": "import sys\nsys.modules['numpy'] = sys.modules['tinytorch.core.tensor'] = None",
    "warnings": "import warnings\nwarnings.simplefilter('error')",
    "recursion": "import sys\nsys.setrecursionlimit(60)",
    "an answer's attributes": "causal_mask.__code__ = (lambda n: n).__code__\n_apply_mask.__defaults__ = (1, 2)",
    "an error": "causal_mask = None\n1 / 0",
    "a mistake": "causal_mask = (",
    "SystemExit": "import sys\nsys.exit(0)",
    "exit": "import os\nos._exit(1)",
    "memory": "x = bytearray(1 << 40)",
    "threads": "import threading\nfor _ in range(100): threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "a loop for ever": "while True: pass",
}  # fmt: skip


def in_the_middle(source: str, **changed: str) -> bytes:
    def edit(notebook: dict[str, Any]) -> None:
        notebook["cells"].insert(len(notebook["cells"]) // 2, code_cell(source) | {"id": "own"})

    return submission(changed, edit=edit)


@pytest.mark.parametrize("kind", SCRATCH)
def test_a_cell_at_the_end_costs_nothing(graded: Graded, kind: str) -> None:
    assert graded(added(SCRATCH[kind], where=-1)).scores == graded_right(graded)


@pytest.mark.parametrize("kind", SCRATCH)
def test_a_cell_in_the_middle_costs_nothing(graded: Graded, kind: str) -> None:
    assert graded(in_the_middle(SCRATCH[kind])).scores == graded_right(graded)


@pytest.mark.parametrize("kind", SCRATCH)
def test_a_cell_brings_wrong_and_blank_work_nothing(graded: Graded, kind: str) -> None:
    assert graded(added(SCRATCH[kind], where=-1, scale_scores=WRONG_SCALE)).score == WRONG
    assert graded(added(SCRATCH[kind], where=-1, blank=Everything())).score == 0


_RIGHT: dict[str, float] = {}


def graded_right(graded: Graded) -> dict[str, float]:
    if not _RIGHT:
        _RIGHT.update(graded(submission()).scores)
    assert sum(_RIGHT.values()) == FULL
    return _RIGHT


# --- answers in several cells -----------------------------------------------------------------------------------------


RIGHT_SCALE = "def _scale_scores(scores, d_k):\n    return scores / math.sqrt(d_k)\n"
RIGHT_LAMBDA = "_scale_scores = lambda scores, d_k: scores / math.sqrt(d_k)"
RIGHT_MERGE = "def _merge_heads(x):\n    x = x.transpose(1, 2)\n    return x.reshape(x.shape[0], x.shape[1], -1)\n"
WITH_HELPER = "def _scale_scores(scores, d_k):\n    return scores / _width(d_k)\n"
HELPER = "def _width(d_k):\n    return math.sqrt(d_k)\n"
WITH_IMPORT, IMPORT = "def _scale_scores(scores, d_k):\n    return scores / m.sqrt(d_k)\n", "import math as m"
H_SCALE = "def _h(d_k):\n    return math.sqrt(d_k)\n\ndef _scale_scores(scores, d_k):\n    return scores / _h(d_k)\n"
H_MERGE = f"def _h(x):\n    return x.transpose(1, 2)\n\n{RIGHT_MERGE.replace('x.transpose(1, 2)', '_h(x)')}"


def moved(name: str) -> bytes:
    """Right work with an answer at the end."""
    return submission(edit=lambda notebook: notebook["cells"].append(notebook["cells"].pop(place_of(notebook, name))))


def place_of(notebook: dict[str, Any], name: str) -> int:
    return int(notebook["cells"].index(cell(notebook, name)))


def right_mha() -> str:
    found: list[str] = []
    submission(edit=lambda notebook: found.append(cell(notebook, "multi_head_attention")["source"]))
    return found[0]


H_MASK = "def _h(n):\n    return np.tril(np.ones((n, n)))\n\ndef causal_mask(seq_len):\n    return _h(seq_len)\n"
MHA = "multi_head_attention"
WRONG_MHA = "class MultiHeadAttention:\n    def __init__(self, embed_dim, num_heads):\n        pass\n"


@pytest.mark.parametrize(
    "data",
    [
        moved("scale_scores"),
        moved("compute_attention_scores"),
        moved(MHA),
        changed({"scale_scores": WRONG_SCALE}, ("scale_scores", RIGHT_SCALE)),
        changed({"scale_scores": WRONG_SCALE}, (-1, RIGHT_SCALE)),
        changed({"scale_scores": WRONG_SCALE}, ("scale_scores", RIGHT_LAMBDA)),
        changed({"scale_scores": WRONG_SCALE}, (-1, RIGHT_LAMBDA)),
        changed({MHA: WRONG_MHA}, (MHA, right_mha())),
        changed({MHA: WRONG_MHA}, (-1, right_mha())),
        changed({"scale_scores": WRONG_SCALE}, (-1, RIGHT_SCALE), (-1, "%reset -f")),
        changed({"scale_scores": WRONG_SCALE}, (-1, RIGHT_SCALE), (-1, "_scale_scores = 3")),
        changed({"scale_scores": RIGHT_SCALE}, (-1, WRONG_SCALE)),
        changed({"scale_scores": RIGHT_SCALE}, ("scale_scores", WRONG_SCALE)),
        changed({"scale_scores": RIGHT_SCALE}, (-1, "_scale_scores = lambda scores, d_k: scores / d_k")),
        changed({}, (-1, WRONG_MHA)),
        changed({"scale_scores": WITH_HELPER}, (-1, HELPER)),
        changed({"scale_scores": WITH_HELPER}, ("scale_scores", HELPER)),
        changed({"scale_scores": WITH_HELPER}, ("imports", HELPER)),
        changed({"scale_scores": WITH_HELPER}, ("imports", HELPER), (-1, "_width = 3")),
        changed({"scale_scores": WITH_HELPER}, ("imports", HELPER), (-1, "%reset -f")),
        changed({"scale_scores": WITH_HELPER}, (-1, HELPER), (-1, "%reset -f")),
        changed({"scale_scores": WITH_HELPER}, (-1, HELPER), (-1, "globals().clear()")),
        changed({"scale_scores": WITH_HELPER}, (-1, HELPER), (-1, "del _width")),
        changed({"scale_scores": WITH_IMPORT}, (-1, IMPORT)),
        changed({"scale_scores": WITH_IMPORT}, (-1, IMPORT), (-1, "%reset -f")),
        changed({"scale_scores": H_SCALE, "merge_heads": H_MERGE}),
        changed({"scale_scores": H_SCALE, "causal_mask": H_MASK}),
        changed({"scale_scores": H_SCALE}, (-1, "def _h(*a):\n    return 1")),
        changed({"scale_scores": H_SCALE}, ("multi_head_attention", "%reset -f"), (-1, "_h = None")),
    ],
)  # fmt: skip
def test_right_work_in_several_cells_is_right(graded: Graded, data: bytes) -> None:
    assert graded(data).score == FULL


@pytest.mark.parametrize(
    ("data", "score"),
    [
        (changed({"scale_scores": WRONG_SCALE}, (-1, WRONG_SCALE)), WRONG),
        (changed({"scale_scores": WRONG_SCALE}, ("imports", RIGHT_SCALE)), WRONG),  # what stands above is replaced
        (changed({"scale_scores": WITH_HELPER}), WRONG),
        (changed({"scale_scores": WITH_HELPER}, (-1, "def _width(d_k):\n    return d_k")), WRONG),
        (changed({"scale_scores": WITH_HELPER}, (-1, "_width = lambda d_k: d_k"), (-1, "%reset -f")), WRONG),
        (changed({"scale_scores": H_SCALE.replace("math.sqrt(d_k)", "d_k"), "merge_heads": H_MERGE}), WRONG),
    ],
)
def test_wrong_work_in_several_cells_is_wrong(graded: Graded, data: bytes, score: float) -> None:
    assert graded(data).score == score


SCALE, SDPA = "scale_scores", "scaled_dot_product_attention"
WITH_HALF = "def _scale_scores(scores, d_k):\n    return scores * d_k ** -HALF"
FOUR = ("compute_attention_scores", SCALE, "causal_mask", "split_heads")
DEFINES = {"compute_attention_scores": "_compute_attention_scores", SCALE: "_scale_scores"} | {
    "causal_mask": "causal_mask", "split_heads": "_split_heads"
}  # fmt: skip
ABOVE_AND_BELOW = (("imports", "x = 1"), (-1, "y = 2"))
BAD_TEXT = "class E(Exception):\n    def __str__(self): raise ValueError\n"


def four(body: str, before: str = "") -> dict[str, str]:
    """Four answers with this body."""
    return {name: f"{before}def {DEFINES[name]}(*arguments):\n    {body}" for name in FOUR}


def into(name: str, source: str, **answers: str) -> bytes:
    """Right work with something written into a cell of ours."""

    def edit(notebook: dict[str, Any]) -> None:
        cell(notebook, name)["source"] = source + "\n" + "".join(cell(notebook, name)["source"])

    return submission(answers, edit=edit)


def with_optional() -> str:
    """Right, but it needs an import that stands further down."""
    return right_mha().replace("mask=None", "mask: Optional[Tensor] = None")


HONEST: dict[str, tuple[bytes, float]] = {
    "13 cells that need too much memory": (changed({}, *[(-1, "big = np.ones((20000, 20000))")] * 13), FULL),
    "40 cells that end the process": (changed({}, *[(-1, "import os; os._exit(1)")] * 40), FULL),
    "four answers that hang, among own cells": (changed(four("import time; time.sleep(60)"), *ABOVE_AND_BELOW), 20),
    "four answers of objects": (changed(four("return np.array([[arguments, None]], dtype=object)"), *ABOVE_AND_BELOW), 20),
    "four errors that have no text": (changed(four("raise E", BAD_TEXT), *ABOVE_AND_BELOW), 20),
    "a slow cell with a right answer": (
        changed({SCALE: f"import time\n{RIGHT_SCALE}time.sleep(1.5)"} | {"merge_heads": "def _merge_heads(x): return x",
        "split_heads": "def _split_heads(x, n): return x", "causal_mask": "def causal_mask(n): return n"}), FULL - 6),
    "a blank answer, and a lambda": (changed({}, (-1, RIGHT_LAMBDA), blank=[SCALE]), FULL),
    "a blank answer, and one in an if": (changed({}, (SCALE, "if True:\n    " + RIGHT_LAMBDA), blank=[SCALE]), FULL),
    "an answer below what it needs": (
        changed({}, (-1, "from typing import Optional"), (-1, with_optional()), blank=[MHA]), FULL),
    "hints that are never looked at": (
        changed({MHA: with_optional(), SCALE: WRONG_SCALE}, ("imports", "from __future__ import annotations")), WRONG),
    "plots by *": (changed({SCALE: WITH_HALF}, ("imports", "from matplotlib.pyplot import *\nfigure()\nHALF = 0.5")), FULL),
    "a magic of Jupyter's": (changed({SCALE: f"%autosave 60\n{RIGHT_SCALE}"}), FULL),
    "a list of files": (changed({SCALE: f"files = !ls\nlen(files)\n{RIGHT_SCALE}"}), FULL),
    "a helper in a cell that sleeps": (changed({SCALE: WITH_HELPER}, ("imports", f"{HELPER}import time\ntime.sleep(60)")), FULL),
    "a helper in a cell that needs too much memory": (
        changed({SCALE: WITH_HELPER}, ("imports", f"{HELPER}np.ones((20000, 20000))")), FULL),
    "a number in a cell that is stopped": (changed({SCALE: WITH_HALF}, ("imports", "HALF = 0.5\nwhile True: pass")), FULL),
    "a helper before an error without a text": (changed({SCALE: WITH_HELPER}, ("imports", f"{HELPER}{BAD_TEXT}raise E")), FULL),
    "a name that is a number": (changed({SCALE: WITH_HALF}, ("imports", "HALF = 0.5\nglobals()[1] = 2")), FULL),
    "a helper in a test": (into("test_compute_attention_scores", HELPER, scale_scores=WITH_HELPER), FULL),
}  # fmt: skip


@pytest.mark.parametrize("kind", HONEST)
def test_honest_work_keeps_its_points(graded: Graded, kind: str) -> None:
    data, score = HONEST[kind]
    found = graded(data)
    assert found.score == score, found.verdicts


# --- slow cells -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [-1, "imports"])
def test_eight_slow_cells_cost_nothing(graded: Graded, where: str | int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here they may take 1 s together; the one that goes beyond it is stopped, and what is not quick is left out."""
    monkeypatch.setattr(session_module, "QUICK_CELL", 0.1 * PATIENCE)
    monkeypatch.setattr(session_module, "RESERVE", 0.3 * PATIENCE)
    slow = f"import time\nprint('begun')\ntime.sleep({0.4 * PATIENCE})"
    result = graded(changed({}, *[(where, slow)] * 8))
    assert result.score == FULL and result.notebook is not None
    said = [c["outputs"][0]["text"] for c in result.notebook["cells"] if c["source"] == slow]
    stopped = [text for text in said if text.endswith("It was left out.\n")]
    skipped = [text for text in said if text.startswith("This cell was not run")]
    assert len(said) == 8 and said[:2] == ["begun\n"] * 2 and stopped and skipped


def test_what_a_slow_cell_makes_is_there_for_answers(graded: Graded) -> None:
    helper = f"import time\ntime.sleep({0.5 * PATIENCE})\n{HELPER}"
    assert graded(changed({"scale_scores": WITH_HELPER}, ("imports", helper))).score == FULL


# --- the copies in which references stand in for answers --------------------------------------------------------------


def test_what_stand_ins_told_is_of_no_use_in_another_exercise(graded: Graded) -> None:
    """One answer remembers that it was asked with a reference; others, asked later, fail if they can see that."""
    remember = (
        "import builtins, sys\nseen = lambda: hasattr(builtins, 'seen')\n"
        "def remember(function):\n    asked = sys._getframe(2).f_code.co_filename.count('probes')\n"
        "    if asked and function.__name__ == 'answered': builtins.seen = True"
    )
    answers: dict[str, str] = {
        "scale_scores": WRONG_SCALE,
        "split_heads": "def _split_heads(x, num_heads):\n    return x",
    }

    def edit(notebook: dict[str, Any]) -> None:
        for name, line in (
            ("scaled_dot_product_attention", "remember(_scale_scores)"),
            ("merge_heads", "assert not seen()"),
            (MHA, "assert not seen()"),
        ):
            found = cell(notebook, name)
            head, doc, body = found["source"].rpartition('"""\n')
            indent = body[: len(body) - len(body.lstrip())]
            found["source"] = f"{head}{doc}{indent}{line}\n{body}"
        notebook["cells"].insert(2, code_cell(remember) | {"id": "own"})

    before = graded(submission(answers))
    assert 0 < before.score < FULL and before.scores["scaled_dot_product_attention"] == 6
    assert graded(submission(answers, edit=edit)).scores == before.scores
