"""Everything that a class hands in: accidents and dishonesty, each with the row that it must get."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import Everything, answers, submission
from test_jail import STEAL, TRICKS

from grader.course import ROOT

FULL = 28.0
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One submission. `files` are written into the student's folder; words must be in the row's reason, repairs or messages."""

    name: str
    files: dict[str, bytes]
    score: float
    words: tuple[str, ...] = ()
    status: str = "graded"
    place: Callable[[Path], None] | None = None  # what else there is to do to the folder


KINDS: list[Kind] = []


def kind(
    name: str,
    data: bytes | None,
    score: float,
    *words: str,
    status: str = "graded",
    file: str = "attention.ipynb",
    **more: Any,
) -> None:
    KINDS.append(Kind(name, {} if data is None else {file: data}, score, words, status, **more))


def edited(edit: Callable[[Notebook], Any], **options: Any) -> bytes:
    return submission(edit=lambda notebook: edit(notebook) and None, **options)


def cell(notebook: Notebook, name: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def added(source: str, where: int = 2, blank: Any = (), **changed: str) -> bytes:
    """A right submission (or a blank one) with a cell of the student's own."""
    new = {"cell_type": "code", "id": "own", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    return submission(changed, blank=blank, edit=lambda n: n["cells"].insert(where % (len(n["cells"]) + 1), new))


def unreadable(name: str, data: bytes, reason: str) -> None:
    kind(name, data, 0, reason, status="unreadable")


RIGHT = submission()
SCALE = next(a.source for a in answers("right_answers") if a.exercise == "scale_scores")
WRONG_SCALE = "def _scale_scores(scores, d_k):\n    return scores / d_k\n"

# --- files that are no notebook ---------------------------------------------------------------------------------------

kind("empty folder", None, 0, "there is no notebook in the folder", status="missing")
kind(
    "another file only",
    b"def f(): pass",
    0,
    "there is no notebook in the folder, only attention.py",
    status="missing",
    file="attention.py",
)
unreadable("empty file", b"", "the file is empty")
unreadable("white space", b" \n\n", "the file is empty")
unreadable("plain text", b"I did not finish", "not a notebook (not JSON)")
unreadable("web page", b"<!DOCTYPE html><html>", "not a notebook (not JSON)")
unreadable("picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "the file is not text")
unreadable("cut off", RIGHT[: len(RIGHT) // 2], "damaged")
unreadable("JSON list", b"[1, 2]", "no notebook")
unreadable("JSON number", b"[42]", "no notebook")
unreadable("no cells", b'{"metadata": {}}', "it has no cells")
unreadable("cells of a wrong kind", b'{"cells": 3}', "it has no cells")
unreadable("nested without end", b"[" * 200_000, "nested too deeply")
unreadable("conflict markers", RIGHT.replace(b"{", b"{\n<<<<<<< HEAD\n", 1), "damaged")

# --- files that were saved in another way ------------------------------------------------------------------------------


def as_version_3(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        if c["cell_type"] == "code":
            c["input"], c["language"] = c.pop("source"), "python"
    notebook["worksheets"] = [{"cells": notebook.pop("cells")}]
    notebook |= {"nbformat": 3, "nbformat_minor": 0}


def without_ids(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        c.pop("id")


def every_cell(change: Callable[[dict[str, Any]], Any]) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        for c in notebook["cells"]:
            change(c)

    return edit


kind("format 3", edited(as_version_3), FULL)
kind("format 3 without cells", b'{"worksheets": [], "nbformat": 3}', 0, 'the answer cell "scale_scores" is missing')
kind("format 4.0 without ids", edited(without_ids), FULL)
kind("duplicate ids", edited(every_cell(lambda c: c.update(id="same"))), FULL)
kind("CRLF", edited(every_cell(lambda c: c.update(source="".join(c["source"]).replace("\n", "\r\n")))), FULL)
kind("byte-order mark", b"\xef\xbb\xbf" + RIGHT, FULL)
kind("UTF-16", RIGHT.decode().encode("utf-16"), FULL)
kind(
    "Latin-1",
    json.dumps(json.loads(submission({"scale_scores": f"# café\n{SCALE}"})), ensure_ascii=False).encode("cp1252"),
    FULL,
)
kind(
    "another kernel",
    edited(lambda n: n["metadata"].update(kernelspec={"name": "julia-1.9", "language": "julia"})),
    FULL,
)
kind("another file name", RIGHT, FULL, 'the file is called "attention (1).ipynb"', file="attention (1).ipynb")
kind("a space in the name", RIGHT, FULL, 'the file is called "my attention.ipynb"', file="my attention.ipynb")
kind("an upper-case ending", RIGHT, FULL, 'the file is called "Attention.IPYNB"', file="Attention.IPYNB")
KINDS.append(
    Kind(
        "two notebooks of which one fits",
        {"a.ipynb": b'{"cells": []}', "homework.ipynb": RIGHT},
        FULL,
        ('"homework.ipynb"',),
    )
)
KINDS.append(
    Kind(
        "the right one and another",
        {"attention.ipynb": RIGHT, "attention-old.ipynb": submission(blank=Everything())},
        FULL,
    )
)
kind(
    "50 MB of outputs",
    edited(
        lambda n: cell(n, "scale_scores").update(
            outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * (50 << 20)}]
        )
    ),
    FULL,
)
kind(
    "more than 100 MB",
    edited(lambda n: n["metadata"].update(x="x" * (101 << 20))),
    0,
    "more than 100 MB",
    status="unreadable",
)
kind("sources as strings", edited(every_cell(lambda c: c.update(source="".join(c["source"])))), FULL)
kind(
    "metadata null",
    edited(every_cell(lambda c: c.update(metadata=None) if "nbgrader" not in c["metadata"] else None)),
    FULL,
)
kind("cells that are none", edited(lambda n: n["cells"].__setitem__(slice(0, 0), [None, 3, "x", {}])), FULL)
kind("raw cells", edited(lambda n: n["cells"].append({"cell_type": "raw", "metadata": {}, "source": "raw"})), FULL)
kind("attachments", edited(every_cell(lambda c: c.update(attachments={"x.png": {"image/png": "AAAA"}}))), FULL)
kind(
    "another module's notebook",
    (ROOT / "modules" / "03_layers" / "layers.ipynb").read_bytes(),
    0,
    "is missing; graded without it",
)

# --- cells that were moved, lost or changed ----------------------------------------------------------------------------


def remove(*names: str) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        gone = [id(cell(notebook, name)) for name in names]
        notebook["cells"] = [c for c in notebook["cells"] if id(c) not in gone]

    return edit


def duplicate(name: str, **change: Any) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        original = cell(notebook, name)
        notebook["cells"].insert(notebook["cells"].index(original) + 1, json.loads(json.dumps(original)) | change)

    return edit


def move_up(name: str) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        moved = cell(notebook, name)
        notebook["cells"].remove(moved)
        notebook["cells"].insert(3, moved)

    return edit


def split_test(notebook: Notebook) -> None:
    test = cell(notebook, "test_scale_scores")
    lines = "".join(test["source"]).splitlines(keepends=True)
    test["source"] = lines[0]
    rest = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": lines[1]}
    notebook["cells"].insert(notebook["cells"].index(test) + 1, rest)


def split_answer(notebook: Notebook) -> None:
    answer = cell(notebook, "scale_scores")
    own = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": "def root(d_k):\n    return d_k**0.5",
    }
    notebook["cells"].insert(notebook["cells"].index(answer), own)
    answer["source"] = "def _scale_scores(scores, d_k):\n    return scores / root(d_k)"


def merge_answers(notebook: Notebook) -> None:
    first, second = cell(notebook, "split_heads"), cell(notebook, "merge_heads")
    first["source"] = "".join(first["source"]) + "\n\n\n" + "".join(second["source"])
    notebook["cells"].remove(second)


def merge_with_test(notebook: Notebook) -> None:
    answer, test = cell(notebook, "scale_scores"), cell(notebook, "test_scale_scores")
    answer["source"] = "".join(answer["source"]) + "\n" + "".join(test["source"])
    notebook["cells"].remove(test)


def lose_metadata(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        c["metadata"] = {}


def lose_everything(notebook: Notebook) -> None:
    lose_metadata(notebook)
    for number, c in enumerate(notebook["cells"]):
        c["id"] = f"new-{number}"


def flip(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        mark = c["metadata"].get("nbgrader")
        if mark:
            mark |= {"grade": not mark["grade"], "solution": not mark["solution"], "locked": not mark["locked"]}


def old_schema(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        mark = c["metadata"].get("nbgrader")
        if mark:
            mark |= {"schema_version": 1}
            mark.pop("cell_type", None), mark.pop("task", None)


def surround(notebook: Notebook) -> None:
    cells = []
    for number, c in enumerate(notebook["cells"]):
        own = {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": f"mine_{number} = {number}",
        }
        cells += [own, c]
    notebook["cells"] = cells


TESTS = ["test_scale_scores", "test_apply_mask", "test_split_heads", "test_merge_heads", "test_causal_mask"]

kind(
    "test cell deleted", edited(remove("test_scale_scores")), FULL, 'the cell "test_scale_scores" is missing; put back'
)
kind("many test cells deleted", edited(remove(*TESTS)), FULL, 'the cell "test_apply_mask" is missing; put back')
kind(
    "test cell edited",
    edited(lambda n: cell(n, "test_scale_scores").update(source="assert True")),
    FULL,
    'the cell "test_scale_scores" was changed; ours was used',
)
kind(
    "test cell duplicated",
    edited(duplicate("test_scale_scores")),
    FULL,
    'the cell "test_scale_scores" is there more than once',
)
kind(
    "every cell duplicated",
    edited(lambda n: n.update(cells=[c for c in n["cells"] for _ in range(2)])),
    FULL,
    "is there more than once",
)
kind("test cell split", edited(split_test), FULL, 'the cell "test_scale_scores" was changed; ours was used')
kind(
    "test cell turned into text",
    edited(lambda n: cell(n, "test_scale_scores").update(cell_type="markdown")),
    FULL,
    "was turned into text; ours was used",
)
kind("test cell above its answer", edited(move_up("test_multi_head_attention")), FULL)
kind("answer above everything", edited(move_up("merge_heads")), FULL)
kind(
    "answer cell deleted",
    edited(remove("scale_scores")),
    FULL - 2,
    'the answer cell "scale_scores" is missing; graded without it',
    "its cell is missing",
)
kind(
    "answer cell duplicated",
    edited(duplicate("scale_scores")),
    FULL,
    'there are 2 cells with the answer "scale_scores"',
)
kind("answer, then an empty copy", edited(duplicate("scale_scores", source="")), FULL)
kind(
    "answer, then a wrong one",
    edited(duplicate("scale_scores", source=WRONG_SCALE)),
    FULL - 2,
    "the last one that is filled in was graded",
    "You divided by d_k",
)
kind("answer in two cells", edited(split_answer), FULL)
kind("two answers in one cell", edited(merge_answers), FULL, "`_merge_heads` was found in the cell of another answer")
kind("answer and test in one cell", edited(merge_with_test), FULL, 'the cell "test_scale_scores" is missing; put back')
kind(
    "answer turned into text",
    edited(lambda n: cell(n, "scale_scores").update(cell_type="markdown")),
    FULL,
    "was turned into text; read as code",
)
kind("nbgrader's metadata lost", edited(lose_metadata), FULL)
kind(
    "metadata and ids lost",
    edited(lose_everything),
    FULL,
    'the answer "scale_scores" was found by the name that it defines',
)
kind("metadata flipped", edited(flip), FULL)
kind("metadata of an old schema", edited(old_schema), FULL)
kind(
    "metadata of a wrong kind",
    edited(every_cell(lambda c: c["metadata"].update(nbgrader=[1]) if "nbgrader" in c["metadata"] else None)),
    FULL,
)
kind("tags added", edited(every_cell(lambda c: c["metadata"].update(tags=["hide-input", "demo"]))), FULL)
kind("cells added everywhere", edited(surround), FULL)
kind(
    "500 cells added",
    edited(lambda n: n["cells"].extend([{"cell_type": "code", "metadata": {}, "source": "1", "outputs": []}] * 500)),
    FULL,
)
kind(
    "text cells deleted", edited(lambda n: n.update(cells=[c for c in n["cells"] if "nbgrader" in c["metadata"]])), FULL
)
kind("given cell deleted", edited(remove("mask_value", "imports")), FULL, 'the cell "mask_value" is missing; put back')
kind(
    "given cell edited",
    edited(lambda n: cell(n, "mask_value").update(source="MASK_VALUE = 1")),
    FULL,
    'the cell "mask_value" was changed; ours was used',
)
kind(
    "written answer deleted",
    edited(remove("question_scaling")),
    FULL,
    'the written answer "question_scaling" is missing',
)

# --- code that goes wrong ----------------------------------------------------------------------------------------------

kind("blank", submission(blank=Everything()), 0, "Not answered yet.")
kind(
    "syntax error", submission({"scale_scores": "def _scale_scores(scores, d_k)\n    return"}), FULL - 2, "SyntaxError"
)
kind(
    "wrong indentation",
    submission({"scale_scores": "def _scale_scores(scores, d_k):\nreturn 1"}),
    FULL - 2,
    "IndentationError",
)
kind(
    "no return",
    submission({"scale_scores": "def _scale_scores(scores, d_k):\n    scores / d_k**0.5"}),
    FULL - 2,
    "is there a return?",
)
kind(
    "another signature",
    submission({"scale_scores": "def _scale_scores(scores):\n    return scores"}),
    FULL - 2,
    "TypeError",
)
kind("exception in an added cell", added("1 / 0"), FULL)
kind("exception behind an answer", submission({"scale_scores": f"{SCALE}\nraise ValueError('mine')"}), FULL)
kind(
    "exception before an answer",
    submission({"scale_scores": f"1 / 0\n{SCALE}"}),
    FULL - 2,
    "its cell raised ZeroDivisionError",
)
kind("endless loop in an added cell", added("while True: pass"), FULL)
kind(
    "endless loop that swallows interrupts",
    added("while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
    FULL,
)
kind(
    "endless loop in a function",
    submission({"scale_scores": "def _scale_scores(scores, d_k):\n    while True: pass"}),
    FULL - 2,
    "It ran for too long and was stopped.",
)
kind(
    "recursion without end",
    submission({"scale_scores": "def _scale_scores(scores, d_k):\n    return _scale_scores(scores, d_k)"}),
    FULL - 2,
    "RecursionError",
)
kind("memory without end", added("x = []\nwhile True: x.append(bytearray(1 << 24))"), FULL)
kind(
    "memory without end in a function",
    submission({"scale_scores": "def _scale_scores(scores, d_k):\n    return scores * np.ones(1 << 40)"}),
    FULL - 2,
    "It needed more memory than there is.",
)
kind("sys.exit", added("import sys\nsys.exit(1)"), FULL)
kind("exit", added("exit()"), FULL)
kind("os._exit", added("import os\nos._exit(0)"), FULL)
kind(
    "os._exit in a function",
    submission({"causal_mask": "def causal_mask(seq_len):\n    import os\n    os._exit(0)"}),
    FULL - 1,
    "It ended the Python process.",
)
kind("a signal", added("import os, signal\nos.kill(os.getpid(), signal.SIGABRT)"), FULL)
kind("a crash", added("import ctypes\nctypes.string_at(0)"), FULL)
kind("input", added("name = input('Your name? ')"), FULL)
kind(
    "a print per call",
    submission({"scale_scores": f"print('loaded')\n{SCALE.replace('return', 'print(scores); return')}"}),
    FULL,
)
kind("20 MB on one line", added("print('x' * (20 << 20))"), FULL)
kind("endless printing", added("while True: print('again')"), FULL)
kind("warnings", submission({"scale_scores": f"import warnings; warnings.warn('careful')\n{SCALE}"}), FULL)
kind("stderr", added("import sys\nprint('oh', file=sys.stderr)"), FULL)
kind("files written", added("open('notes.txt', 'w').write('mine')"), FULL)
kind(
    "a package that is not there",
    submission({"scale_scores": f"import torch_not_there\n{SCALE}"}),
    FULL - 2,
    "its cell raised ModuleNotFoundError",
)
kind(
    "slow but right",
    submission(
        {
            "scale_scores": "import time\ndef _scale_scores(scores, d_k):\n    time.sleep(0.2)\n    return scores / d_k**0.5"
        }
    ),
    FULL,
)
kind("a plot in every cell", submission({"scale_scores": f"{SCALE}\nplt.plot([1, 2]); plt.show()"}), FULL)
kind("a missing data file", added("open('data.csv')"), FULL)
kind("magics", submission({"scale_scores": f"%matplotlib inline\n{SCALE}"}, edit=lambda n: None), FULL)
kind("a cell magic", submission({"scale_scores": f"%%time\n{SCALE}"}), FULL)
kind("a shell command", added("!pip install torch"), FULL)
kind("await", added("import asyncio\nawait asyncio.sleep(0)"), FULL)
kind("sys.stdout closed", added("import sys\nsys.stdout.close()\nsys.stdout = None"), FULL)
kind("recursion limit raised", added("import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): f()\nf()"), FULL)

# --- dishonesty --------------------------------------------------------------------------------------------------------

for trick, source in TRICKS.items():
    kind(f"trick: {trick}", added(source, blank=Everything()), 0)

WRITE_EVERYWHERE = """
import os
for d in ("/", "/usr", "/etc", "/root", "/home", "/work", "/tmp", os.path.expanduser("~")):
    try: open(f"{d}/gauntlet-was-here", "w")
    except OSError: pass
"""
TEXT_WITH_SCRIPT = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    " ![x](http://192.0.2.1/x.png) [y](javascript:alert(1)) [z](java&#115;cript:alert(1)) [w][1]\n\n[1]: javascript:alert(1)"
)
SECRETS = {
    "the solution": str(ROOT / "solutions" / "04_attention" / "attention.ipynb"),
    "the hidden tests": str(ROOT / "autograded_tests" / "attention.py"),
    "the gradebook": str(ROOT / "classroom" / "gradebook.db"),
    "another student's work": str(ROOT / "examples" / "class" / "ada" / "04_attention" / "attention.ipynb"),
    "the password file": "/etc/passwd",
}
for what, path in SECRETS.items():
    kind(f"reads {what}", added(f"print(open({path!r}).read())", blank=Everything()), 0)
kind(
    "reads the environment",
    added("import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())", blank=Everything()),
    0,
)
kind(
    "searches the disk",
    added(
        "import os\nprint([f for d, _, fs in os.walk('/') for f in fs if 'solution' in f or 'gradebook' in f])",
        blank=Everything(),
    ),
    0,
)
kind(
    "writes everywhere",
    added(WRITE_EVERYWHERE),
    FULL,
)
kind("removes everything", added("import shutil\nshutil.rmtree('/', ignore_errors=True)"), FULL)
kind(
    "a thread that goes on",
    added("import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin).start()"),
    FULL,
)
kind("fork bomb", added("import os\nwhile True: os.fork()"), FULL)
kind(
    "thread bomb",
    added("import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()"),
    FULL,
)
kind("full disk", added("n = 0\nwhile True:\n    open(f'f{n}', 'wb').write(bytes(1 << 20)); n += 1"), FULL)
kind("many files", added("n = 0\nwhile True:\n    open(f'f{n}', 'w').close(); n += 1"), FULL)
kind("network", added("import urllib.request\nurllib.request.urlopen('http://192.0.2.1/', timeout=1)"), FULL)
kind(
    "script in rich output",
    added(
        "from IPython.display import HTML, display\ndisplay(HTML('<script>document.title = \"owned\"</script>'))\nHTML('<script>1</script>')"
    ),
    FULL,
)
kind(
    "script in a text cell",
    edited(
        lambda n: n["cells"].append(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": TEXT_WITH_SCRIPT,
            }
        )
    ),
    FULL,
)
kind(
    "script in a written answer",
    edited(
        lambda n: cell(n, "question_scaling").update(
            source="<svg onload=\"document.title='owned'\"></svg><iframe src='http://192.0.2.1/'></iframe>"
        )
    ),
    FULL,
)
kind(
    "script in an error",
    submission({"scale_scores": "raise ValueError('<script>document.title = 1</script>')"}),
    FULL - 2,
)
kind(
    "outputs forged in the file",
    edited(
        every_cell(
            lambda c: (
                c.update(
                    outputs=[
                        {
                            "output_type": "execute_result",
                            "data": {"text/plain": "99.0"},
                            "metadata": {},
                            "execution_count": 1,
                        }
                    ]
                )
                if c["cell_type"] == "code"
                else None
            )
        ),
        blank=Everything(),
    ),
    0,
)
kind(
    "points raised in metadata",
    edited(every_cell(lambda c: c["metadata"].get("nbgrader", {}).update(points=100)), blank=Everything()),
    0,
)
kind(
    "skip-execution", edited(every_cell(lambda c: c["metadata"].update(tags=["skip-execution"])), blank=Everything()), 0
)
kind(
    "an earlier row forged",
    edited(
        lambda n: n["metadata"].update(grader={"digest": "", "score": 28.0, "status": "graded"}), blank=Everything()
    ),
    0,
)
for what, act in {
    "no JSON": "say(b'no JSON')",
    "huge": "announce('<f4', [1 << 29])",
    "pickles": "announce('|O', [1], b'12345678')",
    "another dtype": "announce('<U9', [1], bytes(36))",
    "a wrong length": "wire.sendall(struct.pack('<I', 100) + b'short'); time.sleep(9)",
    "forged": "announce('<f4', [2, 2], bytes(16), id=99)",
}.items():
    source = f"{STEAL}\ndef _scale_scores(scores, d_k):\n    {act}\n    return scores / math.sqrt(d_k)"
    kind(f"answers on the wire: {what}", submission({"scale_scores": source}), FULL - 2)
kind(
    "an object array as answer",
    submission({"causal_mask": "def causal_mask(seq_len):\n    return np.array([[object()] * seq_len] * seq_len)"}),
    FULL - 1,
)
kind(
    "a huge array as answer",
    submission({"causal_mask": "def causal_mask(seq_len):\n    return np.zeros((20000, 10000), np.int8)"}),
    FULL - 1,
)
kind(
    "a link for a file",
    None,
    0,
    "attention.ipynb is a link, and links are not followed",
    status="missing",
    place=lambda folder: (folder / "attention.ipynb").symlink_to("/etc/passwd"),
)
kind(
    "a link to another's work",
    None,
    0,
    "links are not followed",
    status="missing",
    place=lambda folder: (folder / "attention.ipynb").symlink_to(
        ROOT / "examples" / "class" / "ada" / "04_attention" / "attention.ipynb"
    ),
)
