"""Change one thing in a file of ours and look whether a test notices: python tests/support/mutants.py [--count 20] [FILE ...]

A seeded sample of single changes to each file (an operator, a constant, a condition, a statement left out) is tested in a copy of
the project with the tests that belong to the file. Printed are the changes that no test noticed, and the share that was noticed.
Changes that make no difference are listed in docs/mutants.md, each with its reason, and are left out of the count.
"""

import argparse
import ast
import copy
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from copies import ROOT, copy_of_the_project

KNOWN = ROOT / "docs" / "mutants.md"
# each file with the tests that must notice a change in it, the quickest first
JUDGED = ["tests/exercises/test_judge.py", "tests/exercises/test_answers.py", "-m", "not long"]
LIBRARY = ["tests/library", "tests/course/test_article.py", "autograded_tests", "-m", "not slow and not long"]
TARGETS: dict[str, list[str]] = {
    "exercises/judge.py": JUDGED,
    "exercises/explain.py": JUDGED,
    "exercises/compare.py": JUDGED,
    "grader/notebook.py": ["tests/grader/test_notebook.py", "tests/grader/test_rebuild.py"],
    "grader/rebuild.py": [
        "tests/grader/test_rebuild.py",
        "tests/grader/test_notebook.py",
        "tests/grader/test_written.py",
    ],
    "grader/pictures.py": ["tests/grader/test_written.py"],
    "grader/prose.py": ["tests/grader/test_written.py"],
    "grader/records.py": ["tests/grader/test_records.py", "tests/grader/test_kept_notebooks.py"],
    "grader/result.py": ["tests/grader/test_result.py", "tests/grader/test_records.py"],
    "grader/gradebook.py": [
        "tests/grader/test_scores.py",
        "tests/grader/test_gradebook.py",
        "tests/grader/test_stores.py",
    ],
    "grader/gradebook_rows.py": ["tests/grader/test_scores.py", "tests/grader/test_stores.py"],
    "grader/gradebook_file.py": ["tests/grader/test_gradebook_file.py"],
    "grader/dates.py": ["tests/grader/test_deadlines.py"],
    "grader/deadlines.py": ["tests/grader/test_deadlines.py"],
    "grader/drop.py": ["tests/grader/test_drop.py"],
    "grader/gradebook_cells.py": ["tests/grader/test_gradebook_cells.py", "tests/grader/test_gradebook.py"],
    "grader/platforms/collect.py": ["tests/grader/platforms/test_names.py", "tests/grader/platforms/test_collect.py"],
    "grader/platforms/cells.py": ["tests/grader/platforms/test_cells.py"],
    "grader/platforms/export.py": ["tests/grader/platforms/test_export.py"],
    "grader/platforms/fill_in.py": ["tests/grader/platforms/test_fill_in.py"],
    "grader/platforms/matching.py": ["tests/grader/platforms/test_fill_in.py"],
    "grader/platforms/worksheets.py": ["tests/grader/platforms/test_fill_in.py"],
    "grader/platforms/give_back.py": ["tests/grader/platforms/test_give_back.py"],
    "grader/sandbox/wire.py": ["tests/grader/sandbox/test_wire.py"],
    "grader/sandbox/session.py": ["tests/grader/sandbox/test_session.py"],
    **{f"tinytorch/core/{path.name}": LIBRARY for path in sorted((ROOT / "tinytorch" / "core").glob("[a-z]*.py"))},
}

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True)
class Mutant:
    """One changed file: which line, what was there, what is there now."""

    file: str
    line: int
    before: str
    after: str
    source: str

    @property
    def key(self) -> str:
        return f"{self.file}: `{self.before}` -> `{self.after}`"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.before}` -> `{self.after}`"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Each way to change one node."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            new.ops = [COMPARISONS[type(op)]()]
            yield new
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            new.op = OPERATORS[type(op)]()
            yield new
        case ast.Constant(value=bool()):
            new.value = not new.value
            yield new
        case ast.Constant(value=int() | float() as number):
            new.value = number + 1
            yield new
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            new.value = ast.Constant(None)
            yield new
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break() | ast.Raise():
            yield ast.Pass()
        case ast.If() | ast.IfExp():
            for truth in (True, False):
                other = copy.deepcopy(node)
                assert isinstance(other, ast.If | ast.IfExp)
                other.test = ast.Constant(truth)
                yield other


def sites(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that may be changed: no annotation, no decorator, no docstring, no text for people."""
    queue: list[ast.AST] = list(tree.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Raise) and node.exc is not None):
            if isinstance(node, ast.Raise):
                yield node
            continue
        yield node
        skipped: set[int] = set()
        for name in ("annotation", "returns", "decorator_list"):
            part = getattr(node, name, None)
            skipped |= {id(p) for p in (part if isinstance(part, list) else [part])}
        queue += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def mutants(file: str) -> list[Mutant]:
    """Every single change to a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    found = []
    for number, node in enumerate(sites(ast.parse(text))):
        for new in changed(node):
            tree = ast.parse(text)
            target = list(sites(tree))[number]
            source = ast.unparse(ast.fix_missing_locations(_Replace(target, new).visit(tree)))
            before, after = (_short(n) for n in (node, new))
            found.append(Mutant(file, getattr(node, "lineno", 0), before, after, source + "\n"))
    return found


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else super().generic_visit(node)


def _short(node: ast.AST) -> str:
    """A node as one short line."""
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"[:100]
    return re.sub(r"\s+", " ", ast.unparse(node))[:100]


def noticed(mutant: Mutant, root: Path, seconds: float) -> bool:
    """Whether one of the file's tests fails, or hangs, with this change."""
    path = root / mutant.file
    right = path.read_text(encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TARGETS[mutant.file]]
    try:
        path.write_text(mutant.source, encoding="utf-8")
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=seconds, check=False)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(right, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", metavar="FILE", nargs="*", help="all that are known, if none is named")
    parser.add_argument("--count", type=int, default=20, help="changes of each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=300, help="after which a test run counts as hanging")
    options = parser.parse_args()
    known = KNOWN.read_text(encoding="utf-8") if KNOWN.is_file() else ""
    chosen: list[Mutant] = []
    for file in options.files or TARGETS:
        every = [m for m in mutants(file) if m.key not in known]
        chosen += random.Random(f"{options.seed} {file}").sample(every, min(options.count, len(every)))
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copy_of_the_project(Path(folder) / str(number)))

        def run(mutant: Mutant) -> bool:
            root = copies.get()
            try:
                result = noticed(mutant, root, options.seconds)
            finally:
                copies.put(root)
            if not result:
                print(f"not noticed  {mutant}", flush=True)
            return result

        with ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(run, chosen))
    for file in dict.fromkeys(m.file for m in chosen):
        of_file = [r for m, r in zip(chosen, results, strict=True) if m.file == file]
        print(f"{sum(of_file):4} of {len(of_file):4}  {file}")
    print(f"{sum(results):4} of {len(results):4} changes were noticed")
    return 0 if sum(results) >= 0.95 * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
