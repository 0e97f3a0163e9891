"""What the course consists of: its modules, the notebooks that are handed out, and what of them is graded.

Exercises are imported by the functions that need them: a jail starts to warm up before (half a second).
"""

import json
import math
from collections.abc import Mapping, Sequence
from configparser import ConfigParser, SectionProxy
from configparser import Error as ParserError
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import CourseError
from grader.notebook import Cell, CellKind, grade_id, kind_of
from grader.printable import printable

if TYPE_CHECKING:
    from exercises.model import Exercise

ROOT = Path(__file__).resolve().parent.parent


def settings(root: Path = ROOT) -> SectionProxy:
    """What settings.ini says, in nbdev's words. Raises CourseError."""
    parser = ConfigParser()
    try:
        parser.read(root / "settings.ini", encoding="utf-8")
    except ParserError as error:
        raise CourseError(f"settings.ini: {error}".replace("\n", " ")) from None
    return parser["DEFAULT"]


def modules(root: Path = ROOT) -> list[str]:
    """Names of all modules, in the order of the course."""
    return sorted(p.parent.name for p in (root / "solutions").glob("[0-9]*_*/*.ipynb"))


def module_notebook(module: str, root: Path = ROOT) -> Path:
    """The instructor's notebook of a module: solutions/04_attention/attention.ipynb."""
    path = root / "solutions" / module / f"{module.partition('_')[2]}.ipynb"
    if not path.is_file():
        known = ", ".join(modules(root)) or "none"
        raise CourseError(f"{printable(str(path.relative_to(root)))}: no such notebook; the modules are: {known}")
    return path


def student_copy(module: str) -> Path:
    """The notebook of a module as it is handed out: modules/04_attention/attention.ipynb."""
    path = ROOT / "modules" / module / module_notebook(module).name
    if not path.is_file():
        raise CourseError(f"{path.relative_to(ROOT)} is not there; run `make course`")
    return path


def nbgrader_config(root: Path = ROOT) -> Any:
    """The course's nbgrader configuration."""
    from traitlets.config.loader import PyFileConfigLoader

    return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()


@dataclass(frozen=True)
class Assignment:
    """One module of the course as it is graded."""

    module: str
    metadata: Mapping[str, Any]  # of the notebook
    cells: tuple[Cell, ...]  # of the student copy: what was handed out, with nbgrader's checksums
    exercises: tuple["Exercise", ...]

    @property
    def notebook(self) -> str:
        return self.module.partition("_")[2]

    @property
    def max_score(self) -> float:
        """Points that are given automatically; written answers are not among them."""
        return sum(e.points for e in self.exercises)

    @property
    def renamed(self) -> dict[str, str]:
        """Former grade_ids of answer and test cells, and what these cells are called now."""
        answers = {old: e.name for e in self.exercises for old in e.formerly}
        return answers | {f"test_{old}": f"test_{name}" for old, name in answers.items()}


@cache
def load_assignment(module: str) -> Assignment:
    """Raises CourseError if there is no such module, nothing in it to grade, or test cells do not fit the exercises."""
    from autograded_tests import exercises_of

    path = student_copy(module)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    exercises = exercises_of(module)
    if not exercises:
        raise CourseError(f"{module}: there is nothing to grade in it")
    check_tests(path.relative_to(ROOT), notebook["cells"], exercises)
    return Assignment(module, notebook["metadata"], tuple(notebook["cells"]), exercises)


def gradable() -> list[str]:
    """The modules that have exercises."""
    from autograded_tests import exercises_of

    return [module for module in modules() if exercises_of(module)]


def check_tests(notebook: Path, cells: Sequence[Cell], exercises: Sequence["Exercise"]) -> None:
    """Each exercise has a test cell with its points, and each test cell an exercise. Raises CourseError."""
    points = {grade_id(c): float(c["metadata"]["nbgrader"]["points"]) for c in cells if kind_of(c) == CellKind.TEST}
    wanted = {f"test_{e.name}": e for e in exercises}
    for name in points:
        if name not in wanted:
            raise CourseError(
                f'{notebook}: the test cell "{name}" has no exercise in autograded_tests/; write one or delete the '
                "cell, then run `make course`"
            )
    for name, exercise in wanted.items():
        if name not in points:
            raise CourseError(
                f'{notebook}: the exercise "{exercise.name}" has no test cell "{name}"; make one or delete the '
                "exercise, then run `make course`"
            )
        if not math.isclose(points[name], exercise.points):
            raise CourseError(
                f'{notebook}: the test cell "{name}" has {points[name]:g} points, the cases of its exercise have '
                f"{exercise.points:g} together; make them equal, then run `make course`"
            )
