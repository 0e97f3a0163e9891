"""What students write between and below their answers: it costs them nothing, and gives nothing to those who answer nothing."""

from answers import Everything, submission

from kinds.base import FULL, SCALE, WRONG_SCALE, Kinds, Notebook, cell, code_cell

KINDS = Kinds()
kind = KINDS.kind

# what a cell of one's own does to names that answers need
SCRATCH = {
    "an import reused": "np = 3",
    "a function called and lost": "causal_mask = causal_mask(4)",
    "a layer reused": "Softmax = Softmax()",
    "names deleted": "del causal_mask, np, math, Tensor, Softmax",
    "%reset": "%reset -f",
    "%xdel": "%xdel np",
    "everything deleted": "globals().clear()",
    "built-in names reused": "sum = 0\nlen = 1\nlist = range = [2]",
    "a function defined anew": "def _scale_scores(scores):\n    return 'a try'",
    "a class defined anew": "class MultiHeadAttention:\n    pass",
    "a class of ours defined anew": "class Tensor:\n    pass",
    "a lambda": "_merge_heads = lambda x: x",
    "a loop over names": "for _apply_mask in range(3): pass",
    "an operation taken away": "Tensor.__matmul__ = Tensor.__add__ = None",
    "NumPy changed": "np.exp = np.sqrt = None",
    "built-ins changed": "import builtins\nbuiltins.range = builtins.len = None",
    "modules taken away": "import sys\nfor name in list(sys.modules):\n    if name.startswith('tinytorch'): del sys.modules[name]",
}


def with_cells(*sources: str, end: bool, **changed: str) -> bytes:
    """A right submission with cells at the end, or in the middle."""

    def edit(notebook: Notebook) -> None:
        place = len(notebook["cells"]) if end else len(notebook["cells"]) // 2
        notebook["cells"][place:place] = [code_cell(s) | {"id": f"scratch-{n}"} for n, s in enumerate(sources)]

    return submission(changed, edit=edit)


for what, source in SCRATCH.items():
    kind(f"scratch at the end: {what}", with_cells(source, end=True), FULL)
    kind(f"scratch in the middle: {what}", with_cells(source, end=False), FULL)


HELPED = "def _scale_scores(scores, d_k):\n    return scores / root(d_k)"
HELPER = "from math import sqrt as root"
kind("a helper at the end", with_cells(HELPER, end=True, scale_scores=HELPED), FULL)
kind("a helper in the middle", with_cells(HELPER, end=False, scale_scores=HELPED), FULL)
kind("a helper, then everything deleted", with_cells(HELPER, "%reset -f", end=True, scale_scores=HELPED), FULL)
kind("wrong first, right at the end", with_cells(SCALE, end=True, scale_scores=WRONG_SCALE), FULL)
kind("right first, wrong at the end", with_cells(WRONG_SCALE, end=True), FULL)
kind(
    "an answer moved to the end",
    submission(edit=lambda n: n["cells"].append(n["cells"].pop(n["cells"].index(cell(n, "scale_scores"))))),
    FULL,
)
kind(
    "two answers with a helper of one name",
    submission(
        {
            "scale_scores": "def help(x): return x ** 0.5\ndef _scale_scores(scores, d_k):\n    return scores / help(d_k)",
            "causal_mask": "def help(n): return Tensor(np.tril(np.ones((n, n))))\ndef causal_mask(seq_len):\n    return help(seq_len)",
        }
    ),
    FULL,
)
ROOT_TO_MEND = "def root(d):\n    return d\n\ndef _scale_scores(scores, d_k):\n    return scores / root(d_k)"
kind(
    "a helper mended below", with_cells("def root(d):\n    return d ** 0.5", end=True, scale_scores=ROOT_TO_MEND), FULL
)
kind(
    "a constant set below",
    with_cells(
        "POWER = 0.5",
        end=True,
        scale_scores="POWER = 1\ndef _scale_scores(scores, d_k):\n    return scores / d_k**POWER",
    ),
    FULL,
)
CACHED = "from functools import lru_cache\n@lru_cache\ndef causal_mask(seq_len):\n    return Tensor(np.tril(np.ones((seq_len, seq_len))))"
kind(
    "right at the end, decorated",
    with_cells(CACHED, end=True, causal_mask="def causal_mask(seq_len):\n    return seq_len"),
    FULL,
)
kind("a helper behind what fails", with_cells(f"print(not_there)\n{HELPER}", end=True, scale_scores=HELPED), FULL)
kind(
    "a helper behind a program",
    with_cells(f"import subprocess\nsubprocess.run(['ls'])\n{HELPER}", end=False, scale_scores=HELPED),
    FULL,
)
kind(
    "a package installed on top of an answer",
    submission({"scale_scores": f"!pip install numpy\n%pip install numpy\n{SCALE}"}),
    FULL,
)
kind(
    "a module written and imported",
    with_cells(f"%%writefile helpers.py\n{HELPER}\n", "from helpers import root", end=True, scale_scores=HELPED),
    FULL,
)
kind(
    "standard output as a stream",
    with_cells(
        "import sys\nassert not sys.stdout.closed\nsys.stdout.writelines(['a'])\n" + HELPER,
        end=True,
        scale_scores=HELPED,
    ),
    FULL,
)


def into_imports(notebook: Notebook) -> None:
    imports = cell(notebook, "imports")
    imports["source"] = "".join(imports["source"]) + f"\n{HELPER}"


kind("an import added to ours", submission({"scale_scores": HELPED}, edit=into_imports), FULL)
kind("slow cells at the end", with_cells(*["import time; time.sleep(1.5)"] * 8, end=True), FULL)
kind("slow cells in the middle", with_cells(*["import time; time.sleep(1.5)"] * 8, end=False), FULL)
kind("many endless loops", with_cells(*["while True: pass"] * 3, end=True), FULL)

BLANK_TRIES = {
    "names bound to right-looking things": "causal_mask = np.tril\n_scale_scores = np.divide\n_compute_attention_scores = np.matmul",
    "the question returned": "_scale_scores = _apply_mask = _split_heads = _merge_heads = lambda x, *a, **k: x",
    "built-ins replaced": "import builtins\nbuiltins.isinstance = lambda *a: True",
}
for what, source in BLANK_TRIES.items():

    def edit(notebook: Notebook, source: str = source) -> None:
        notebook["cells"].append(code_cell(source) | {"id": "scratch"})

    kind(f"blank, with scratch: {what}", submission(blank=Everything(), edit=edit), 0)
