"""use_own_answers(globals()): a student's answers to earlier modules in place of the library's parts, where they are right.

They are looked for in the notebooks of these modules, which are run anew, without a trace: what can be used is there, or nothing.
"""

import ast
import importlib
import json
import linecache
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from exercises.practice import unnoticed
from exercises.problem import in_words

LIBRARY = "tinytorch.core"
IMPORTS = re.compile(
    rf"^\s*(?:from|import)\s+(?:{re.escape(LIBRARY)})?\.(\w+)", re.MULTILINE
)  # nbdev makes some relative
EXPORTED = re.compile(r"^#\| *exports?\b", re.MULTILINE)
OPEN = re.compile(r"# YOUR CODE HERE\s+raise NotImplementedError")
TESTS = re.compile(r"""\s*check\(\s*["'](\w+)["']\s*\)""")
# [ ]: a kit, in which this file is, holds these two words nowhere
HIDDEN = re.compile(r"^### BEGIN[ ]HIDDEN\b.*?(?:^### END[ ]HIDDEN\b[^\n]*|\Z)", re.MULTILINE | re.DOTALL)
MAGIC = re.compile(r"^[ \t]*[%!].*", re.MULTILINE)  # of IPython
LONGEST = 100  # characters of what an exception says

YOURS, NOT_FOUND, DAMAGED = "yours", "not found", "damaged"


class NotTaken(Exception):
    """Why a module's answers are not used."""


@dataclass(frozen=True)
class Cell:
    """A code cell of a student's notebook; its name is "" if they added it."""

    name: str
    source: str
    solution: bool

    @property
    def exported(self) -> bool:
        """Whether it is a part of the library; an answer is one, also without its first line."""
        return self.solution or bool(EXPORTED.search(self.source))

    @property
    def tests(self) -> str:
        """The exercise that it tests, or ""."""
        found = TESTS.match(self.source)
        return found[1] if found else self.name.removeprefix("test_") if self.name.startswith("test_") else ""

    @property
    def open(self) -> bool:
        return bool(OPEN.search(self.source))

    @cached_property
    def defines(self) -> frozenset[str]:
        return frozenset(re.findall(r"^(?:def|class)[ \t]+(\w+)", self.source, re.MULTILINE))

    @property
    def title(self) -> str:
        """What it is called in a message."""
        return self.name or next(iter(sorted(self.defines)), "") or self.source.strip().partition("\n")[0]


@dataclass(frozen=True)
class Notebook:
    """A student's notebook of a module."""

    changed: float  # when it was saved
    cells: tuple[Cell, ...]

    @property
    def answers(self) -> list[Cell]:
        """What was to be answered; answers of a notebook that lost its marks are not told from what was given."""
        return [cell for cell in self.cells if cell.solution or cell.open]

    @property
    def left_open(self) -> list[Cell]:
        """Answers that are not written yet, in no other cell either."""
        written = {name for cell in self.cells if cell.exported and not cell.open for name in cell.defines}
        return [cell for cell in self.answers if cell.open and not cell.defines <= written]


def use_own_answers(namespace: dict[str, Any], folder: Path | None = None) -> dict[str, str]:
    """Put a student's own functions and classes in place of those that a notebook imported from the library.

    namespace  the names of the notebook
    folder     where the notebook lies, else the current folder; those of earlier modules are looked for in it and beside it
    ->         for each earlier module "yours", or why it stays the library's; modules without exercises are left out

    A module is taken whole, if its own tests pass, and builds on those that were taken before it. Prints and raises nothing.
    """
    found: dict[str, str] = {}
    library = _needed(namespace)
    current = dict(library)
    with _library_as_it_was(), unnoticed():
        for stem in library:
            try:
                notebook = _find(stem, folder or Path.cwd())
                if not notebook.answers and not any(cell.tests for cell in notebook.cells):
                    continue
                current[stem] = _taken(stem, notebook)
                found[stem] = YOURS
            except NotTaken as error:
                _put_in_place(stem, library[stem])
                found[stem] = str(error)
    for name, value in list(namespace.items()):
        if (stem := _stem(value)) in current:
            namespace[name] = vars(current[stem]).get(value.__name__, value)
    return found


# --- which modules ----------------------------------------------------------------------------------------------------


def _stem(value: object) -> str:
    """The library's module of a function or class, or ""."""
    if not callable(value) or not isinstance(getattr(value, "__name__", None), str):
        return ""  # an object, such as a layer
    package, _, stem = str(getattr(value, "__module__", "")).rpartition(".")
    return stem if package == LIBRARY else ""


def _needed(namespace: Mapping[str, Any]) -> dict[str, ModuleType]:
    """The library's modules that a notebook builds on, those first that others build on.

    One that builds on no other is not among them: everything is made of its Tensor, of which there must be one only.
    """
    needed: dict[str, ModuleType] = {}

    def add(stem: str) -> None:
        module = importlib.import_module(f"{LIBRARY}.{stem}")
        imported = IMPORTS.findall(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for other in imported:
            add(other)
        if imported:
            needed.setdefault(stem, module)

    for stem in sorted({_stem(value) for value in namespace.values()} - {""}):
        add(stem)
    return needed


# --- which notebook ---------------------------------------------------------------------------------------------------


def _find(stem: str, folder: Path) -> Notebook:
    """The notebook of a module: of several the newest in which nothing is open, else the newest. Raises NotTaken."""
    beside = [path for path in folder.resolve().parent.glob(f"*/{stem}.ipynb") if not path.parent.name.startswith(".")]
    notebooks, damaged = list[Notebook](), False
    for path in {path.resolve() for path in (folder / f"{stem}.ipynb", *beside) if path.is_file()}:
        try:
            notebook = Notebook(path.stat().st_mtime, tuple(_cells(json.loads(path.read_bytes()))))
        except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
            damaged = True
            continue
        # others call their notebooks attention.ipynb, too
        if any(re.search(rf"^#\| *default_exp +core\.{stem}\b", cell.source, re.MULTILINE) for cell in notebook.cells):
            notebooks.append(notebook)
    if not notebooks:
        raise NotTaken(DAMAGED if damaged else NOT_FOUND)
    return max(notebooks, key=lambda notebook: (not notebook.left_open, notebook.changed))


def _cells(content: Any) -> Iterator[Cell]:
    """The code cells of a notebook; raises what comes of a file that is none."""
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            mark = cell["metadata"].get("nbgrader", {})
            source = HIDDEN.sub("", "".join(cell["source"]).replace("\r\n", "\n"))
            source = source if _is_python(source) else MAGIC.sub("", source)
            yield Cell(str(mark.get("grade_id", "")), source, mark.get("solution") is True)


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


# --- what is in it ----------------------------------------------------------------------------------------------------


def _taken(stem: str, notebook: Notebook) -> ModuleType:
    """The module that a notebook makes, in the library's place. Raises NotTaken if it is not right."""
    for cell in notebook.left_open:
        raise NotTaken(f"`{cell.title}` is not answered yet")
    tested = {cell.tests for cell in notebook.cells}
    for cell in notebook.answers:
        if cell.name and cell.name not in tested:
            raise NotTaken(f"`{cell.name}` has no test below it")
    module = ModuleType(f"{LIBRARY}.{stem}")
    _put_in_place(stem, module)
    exported = frozenset[str]().union(*(cell.defines for cell in notebook.cells if cell.exported))
    for cell in notebook.cells:
        if cell.exported and not cell.open:
            raised = _raised(stem, cell, vars(module))
            if raised:
                raise NotTaken(f"`{cell.title}` stops with {raised}")
        elif not (cell.exported or cell.tests):
            _run_definitions(stem, cell, vars(module), exported)
    names = vars(module) | {"check": lambda *_, **__: None}
    for cell in notebook.cells:
        raised = _raised(stem, cell, names) if cell.tests else ""
        if raised.startswith("NotImplementedError"):
            raise NotTaken(f"`{cell.tests}` is not answered yet")
        if raised:
            raise NotTaken(f"`{cell.tests}` does not pass its tests")
    return module


def _raised(stem: str, cell: Cell, names: dict[str, Any]) -> str:
    """Run a cell; what it raised, or ""."""
    try:
        exec(_compiled(stem, cell), names)  # noqa: S102  (the student's own, in their own kernel)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (sys.exit() in an old notebook ends no kernel)
        return " ".join(in_words(error).split())[:LONGEST]
    return ""


def _run_definitions(stem: str, cell: Cell, names: dict[str, Any], exported: frozenset[str]) -> None:
    """Of a cell that is no part of the library: the functions and classes that answers may call, and imports."""
    with suppress(Exception):
        body = ast.parse(cell.source).body
        defined = [s for s in body if isinstance(s, ast.FunctionDef | ast.ClassDef) and s.name not in exported]
        imported = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom)]
        exec(_compiled(stem, cell, ast.Module([*imported, *defined], type_ignores=[])), names)  # noqa: S102  (as above)


def _compiled(stem: str, cell: Cell, tree: ast.Module | None = None) -> Any:
    """The code of a cell, whose lines an error message can show."""
    file = f"<{stem}.ipynb, {cell.title}>"
    linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
    return compile(cell.source if tree is None else tree, file, "exec")


# --- the library's place ----------------------------------------------------------------------------------------------


def _put_in_place(stem: str, module: ModuleType) -> None:
    """What is imported from the library from now on."""
    sys.modules[f"{LIBRARY}.{stem}"] = module
    setattr(importlib.import_module(LIBRARY), stem, module)


@contextmanager
def _library_as_it_was() -> Iterator[None]:
    """Afterwards an import finds the library again, whatever was put in its place."""
    package = importlib.import_module(LIBRARY)
    before, names = _ours(), dict(vars(package))
    try:
        yield
    finally:
        for name in _ours().keys() - before.keys():  # it may have been imported by what was in place then
            del sys.modules[name]
        sys.modules.update(before)
        vars(package).clear()
        vars(package).update(names)


def _ours() -> dict[str, ModuleType]:
    top = LIBRARY.partition(".")[0]
    return {name: module for name, module in sys.modules.items() if name == top or name.startswith(f"{top}.")}
