"""Do the notebooks fit the exercises, and each other?"""

import json
import re
from pathlib import Path

from autograded_tests import EXERCISES
from grader.course import check_tests, module_notebook, modules
from grader.errors import CourseError
from grader.notebook import Cell, text_of


def check_course(root: Path) -> None:
    """Each exercise has its notebook and test cell, and each notebook the modules that it imports. Raises CourseError."""
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
        _check_imports(path.relative_to(root), cells, made)
        made |= _found(r"^#\| *default_exp +core\.(\w+)", cells)


def _check_imports(notebook: Path, cells: list[Cell], made: set[str]) -> None:
    """A notebook imports only what the notebooks before it make."""
    wanted = _found(r"^\s*(?:from|import)\s+tinytorch\.core\.(\w+)", cells)
    for name in sorted(wanted - made):
        raise CourseError(
            f"{notebook} imports tinytorch.core.{name}, which no notebook before it makes; it needs the module that was dropped"
        )


def _found(pattern: str, cells: list[Cell]) -> set[str]:
    """What a pattern's group matches in code cells."""
    sources = (text_of(c["source"]) for c in cells if c["cell_type"] == "code")
    return {name for source in sources for name in re.findall(pattern, source, re.MULTILINE)}
