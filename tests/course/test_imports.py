"""Importing a module of ours changes nothing but itself; none imports in a circle; each can be read in one sitting."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course import ROOT

PACKAGES = ("grader", "exercises", "autograded_tests", "tinytorch")
LINES, FUNCTION = 500, 60  # at most
DATA = ("tests/wrong_answers", "tests/right_answers", "examples/class")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules() -> dict[str, Path]:
    """What can be imported of ours: every file in a package, but for tests and what is a command."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            folders = [f for f in path.parents if f.is_relative_to(ROOT / package)]
            if all((f / "__init__.py").is_file() for f in folders) and not path.name.startswith(("test_", "__main__")):
                found[name_of(path)] = path
    return found


# run in a process of its own, which imports what is not ours and then copies itself for each module
SCRIPT = """
import importlib, json, os, signal, sys, warnings
before_ours, names = json.loads(sys.argv[1])
for name in before_ours:
    importlib.import_module(name)

def state():
    handlers = {int(s): repr(signal.getsignal(s)) for s in signal.valid_signals()}
    return {"environment": dict(os.environ), "folder": os.getcwd(), "signals": handlers, "filters": list(warnings.filters)}

def real(name):
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and bool(spec.origin or spec.submodule_search_locations)

def complaints(name):
    before, known = state(), set(sys.modules)
    importlib.import_module(name)
    after, new = state(), set(sys.modules) - known
    found = [what for what in before if before[what] != after[what]]
    if "nbgrader" in new:  # what it imports changes warnings
        found = [what for what in found if what != "filters"]
    found += [f"{n} is not a real module" for n in sorted(new) if not real(n) and n not in PARTS and "cython" not in n]
    if "nbgrader" in sys.modules and not hasattr(sys.modules["nbgrader"], "__version__"):
        found.append("nbgrader is not whole")
    return found

PARTS = {"pyexpat.errors", "pyexpat.model", "xml.parsers.expat.errors", "xml.parsers.expat.model", "__mp_main__"}
PARTS |= {n for n in sys.modules if not real(n)}
for name in names:
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            text = json.dumps(complaints(name))
        except BaseException as error:
            text = json.dumps([f"{type(error).__name__}: {error}"])
        os.write(writer, text.encode()[:60_000])
        os._exit(0)
    os.close(writer)
    with open(reader) as file:
        print(json.dumps([name, json.loads(file.read())]))
    os.wait()
"""
OTHERS = [
    "numpy",
    "numpy.random",
    "IPython.core.interactiveshell",
    "traitlets.config",
    "jinja2",
    "nbformat",
    "nbconvert.exporters",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "others",
    [
        pytest.param(OTHERS, id="fresh", marks=pytest.mark.long),
        pytest.param([*OTHERS, "nbgrader.api", "nbgrader.preprocessors"], id="nbgrader", marks=pytest.mark.long),
    ],
)
def test_importing_changes_nothing(others):
    """Environment, folder, signals, warnings; no empty package and no None in sys.modules."""
    names = [
        name for name in modules() if not name.startswith("autograded_tests.m")
    ]  # autograded_tests imports them all
    command = [sys.executable, "-P", "-c", SCRIPT, json.dumps([others, names])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = dict(json.loads(line) for line in done.stdout.splitlines())
    assert set(found) == set(names)
    assert not {name: complaints for name, complaints in found.items() if complaints}


@pytest.mark.long
def test_nbgrader_is_whole_after_a_quick_import():
    code = """
import sys
from grader import quick_nbgrader
quick_nbgrader.load()
assert "nbgrader.api" in sys.modules and "nbgrader" not in sys.modules and "nbgrader.apps" not in sys.modules
assert None not in sys.modules.values()
from nbgrader.api import Gradebook
assert "nbgrader" not in sys.modules
import nbgrader, nbgrader.apps, nbgrader.converters
assert nbgrader.__version__ and nbgrader.apps.NbGraderApp and nbgrader.converters.Autograde
from nbgrader.api import Gradebook as again
assert again is Gradebook
print("whole")
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "whole\n", done.stderr


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of ours that a file imports when it is imported itself."""
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else str(node.module))
    return found & set(known)


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those that are run on import: not those of functions, nor what only a type checker sees."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from statements(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from statements([n for n in getattr(node, field, ()) if isinstance(n, ast.stmt)])


def test_no_import_goes_in_a_circle():
    known = modules()
    left = {name: imported(path, known) - {name} for name, path in known.items()}
    while done := {name for name, wanted in left.items() if not wanted & set(left)}:
        left = {name: wanted for name, wanted in left.items() if name not in done}
    assert not left


def files() -> Iterator[tuple[str, str]]:
    """Name and content of every Python file that somebody has to read."""
    for folder in ("grader", "exercises", "autograded_tests", "tests", "benchmarks", "docs", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(DATA):
                yield name, path.read_text(encoding="utf-8")


def test_no_file_is_long():
    assert not [name for name, text in files() if len(text.splitlines()) > LINES]


def test_no_function_is_long():
    functions = [
        (name, node.name, (node.end_lineno or 0) - node.lineno + 1)
        for name, text in files()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert not [f for f in functions if f[2] > FUNCTION]
