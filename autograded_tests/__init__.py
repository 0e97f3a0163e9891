"""What is graded, and the right answers: a folder per module, a file per exercise. Hidden from students."""

import importlib
import json
from pathlib import Path
from typing import Any

from exercises.errors import ExerciseError
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Exercise

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parent / "solutions"


def _load(folder: Path) -> list[Exercise]:
    """The exercises of a module, each from the file of its name, in the order of the module's notebook."""
    found = []
    for path in sorted(folder.glob("[a-z]*.py")):
        exercise = getattr(importlib.import_module(f"autograded_tests.{folder.name}.{path.stem}"), "EXERCISE", None)
        file = path.relative_to(HERE.parent)
        if not isinstance(exercise, Exercise):
            raise ExerciseError(
                f"{file} defines no EXERCISE; what is no exercise belongs in a file whose name begins with _"
            )
        if exercise.name != path.stem:
            raise ExerciseError(
                f'{file}: its exercise is called "{exercise.name}"; give the file that name, or the exercise'
            )
        if exercise.module != folder.name[1:]:
            raise ExerciseError(
                f'{file}: its exercise is one of "{exercise.module}"; move the file, or correct `module`'
            )
        found.append(exercise)
    order = _cell_names(folder.name[1:])
    return sorted(found, key=lambda e: order.index(e.name) if e.name in order else len(order))


def _cell_names(module: str) -> list[str]:
    """The grade ids of a module's notebook, from top to bottom; none if there is no notebook."""
    path = NOTEBOOKS / module / f"{module.partition('_')[2]}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    return [cell["metadata"]["nbgrader"]["grade_id"] for cell in cells if "nbgrader" in cell["metadata"]]


def _load_all() -> dict[str, Exercise]:
    """All exercises by name, in the order of the course."""
    found: dict[str, Exercise] = {}
    for exercise in (e for folder in sorted(HERE.glob("m[0-9][0-9]_*")) for e in _load(folder)):
        other = found.setdefault(exercise.name, exercise)
        if other is not exercise:
            raise ExerciseError(
                f'"{exercise.name}" is an exercise of {other.module} and of {exercise.module}; rename one'
            )
    return found


EXERCISES = _load_all()


def exercises_of(module: str) -> tuple[Exercise, ...]:
    """The exercises of a module, in the order of its notebook; none if there are none."""
    return tuple(e for e in EXERCISES.values() if e.module == module)


def grade(name: str, namespace: dict[str, Any]) -> float:
    """Judge one answer in the kernel that it lives in: prints the verdict, gives the points."""
    verdict = judge(EXERCISES[name], LocalSession(namespace))
    print(verdict)
    return float(verdict.points)
