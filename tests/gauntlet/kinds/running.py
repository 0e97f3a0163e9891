"""Code that goes wrong."""

from answers import Everything, submission

from kinds.base import FULL, SCALE, Kinds, added

KINDS = Kinds()
kind = KINDS.kind

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
    "is there a return in every branch?",
)
kind(
    "another signature",
    submission({"scale_scores": "def _scale_scores(scores):\n    return scores"}),
    FULL - 2,
    "takes other arguments than described",
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
    "leads back to itself without end",
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
