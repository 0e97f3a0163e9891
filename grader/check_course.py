"""Do the notebooks fit the exercises, their types, and each other?"""

import ast
import json
import re
from pathlib import Path

from autograded_tests import EXERCISES
from grader.course import check_tests, module_notebook, modules
from grader.errors import CourseError
from grader.notebook import Cell, grade_id, text_of


def check_course(root: Path) -> None:
    """Each exercise has its notebook and test cell, each notebook its types and the modules that it imports.

    Raises CourseError.
    """
    known = modules(root)
    for module in dict.fromkeys(e.module for e in EXERCISES.values()):
        if module not in known:
            names = ", ".join(e.name for e in EXERCISES.values() if e.module == module)
            raise CourseError(
                f"solutions/{module}/: there is no notebook, but autograded_tests/ has exercises of it ({names}); if the "
                "module was dropped, delete its folder in autograded_tests/, too"
            )
    made: set[str] = set()
    for module in known:
        path = module_notebook(module, root)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        check_tests(path.relative_to(root), cells, [e for e in EXERCISES.values() if e.module == module])
        _check_checks(path.relative_to(root), cells)
        _check_imports(path.relative_to(root), cells, made)
        _check_types(path.relative_to(root), cells, path.with_suffix(".pyi"))
        made |= _found(r"^#\| *default_exp +core\.(\w+)", cells)


def _check_checks(notebook: Path, cells: list[Cell]) -> None:
    """Each test cell begins with the check of its exercise."""
    for cell in cells:
        exercise = grade_id(cell).removeprefix("test_")
        if exercise != grade_id(cell) and not text_of(cell["source"]).startswith(f'check("{exercise}")\n'):
            raise CourseError(f'{notebook}: the cell "test_{exercise}" must begin with the line check("{exercise}")')


def _check_imports(notebook: Path, cells: list[Cell], made: set[str]) -> None:
    """A notebook imports only what the notebooks before it make."""
    wanted = _found(r"^\s*(?:from|import)\s+tinytorch\.core\.(\w+)", cells)
    for name in sorted(wanted - made):
        raise CourseError(
            f"{notebook} imports tinytorch.core.{name}, which no notebook before it makes; it needs the module that was dropped"
        )


def _check_types(notebook: Path, cells: list[Cell], stubs: Path) -> None:
    """What a notebook exports has types in the file beside it, and nothing else has."""
    types = notebook.with_suffix(".pyi")
    if not stubs.is_file():
        raise CourseError(f"{types} is not there; it says the types of what {notebook} exports")
    exported: dict[str, str] = {}
    for cell in cells:
        source = text_of(cell["source"])
        if cell["cell_type"] == "code" and re.search(r"^#\| *exports?\b", source, re.MULTILINE):
            exported |= dict.fromkeys(_public(source, f'{notebook}: the cell "{grade_id(cell)}"'), grade_id(cell))
    typed = _public(stubs.read_text(encoding="utf-8"), str(types))
    for name in exported:
        if name not in typed:
            raise CourseError(f'{types}: the type of {name} is missing, which the cell "{exported[name]}" defines')
    for name in typed:
        if name not in exported:
            raise CourseError(f"{types}: {name} has a type, but no cell of {notebook} that is exported defines it")


def _public(source: str, where: str) -> list[str]:
    """Names that Python code defines at its top level for others, aliases of types left out."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise CourseError(f"{where} is no Python: {error.msg}, line {error.lineno}") from None
    names = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names += [node.target.id] if ast.unparse(node.annotation) != "TypeAlias" else []
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def _found(pattern: str, cells: list[Cell]) -> set[str]:
    """What a pattern's group matches in code cells."""
    sources = (text_of(c["source"]) for c in cells if c["cell_type"] == "code")
    return {name for source in sources for name in re.findall(pattern, source, re.MULTILINE)}
