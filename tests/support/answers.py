"""Notebooks with other answers in them: what students write, right and wrong."""

import json
import linecache
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

from secret import cells, source

from exercises.problem import GIVEN
from grader.course import ROOT, module_notebook


@dataclass(frozen=True)
class Answer:
    exercise: str
    title: str
    source: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.title}"


def answers(folder: str) -> list[Answer]:
    """All answers in tests/wrong_answers or tests/right_answers: one file per exercise, each answer behind a title."""
    found = []
    for path in sorted((ROOT / "tests" / folder).glob("*.py")):
        parts = re.split(r"^# --- (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        found += [Answer(path.stem, title, source) for title, source in zip(parts[::2], parts[1::2], strict=True)]
    return found


@cache
def code_cells(module: str) -> tuple[tuple[str, Any], ...]:
    """(name, compiled source) of the instructor's given and answer cells, in order."""
    return tuple(
        (cell["metadata"]["nbgrader"]["grade_id"], compile(source(cell), GIVEN, "exec"))
        for cell in cells(module_notebook(module))
        if cell["cell_type"] == "code"
        and not cell["metadata"]["nbgrader"]["grade"]
        and "demo" not in cell["metadata"].get("tags", ())
    )


def namespace(module: str, **replaced: str) -> dict[str, Any]:
    """What a notebook defines, with the sources of some answer cells replaced; a replacement that raises is left out."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for name, code in code_cells(module):
        exec(_compiled(replaced[name], f"<{name}>") if name in replaced else code, names)
    return names


def _compiled(code: str, file: str) -> CodeType:
    """A student's cell; its lines are kept, as IPython keeps them."""
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    return compile(code, file, "exec")


def submission(
    changed: Mapping[str, str] | None = None,
    blank: Container[str] = (),
    edit: Callable[[dict[str, Any]], None] = lambda notebook: None,
    module: str = "04_attention",
) -> bytes:
    """A student copy with right answers in it, but for those that are changed or left blank.

    edit  does what else there is to do to the notebook
    """
    right = {
        cell["metadata"]["nbgrader"]["grade_id"]: re.sub(
            r"^ *### (BEGIN|END) SOLUTION\n?", "", source(cell), flags=re.MULTILINE
        )
        for cell in cells(module_notebook(module))
        if cell["cell_type"] == "code" and cell["metadata"]["nbgrader"]["solution"]
    }
    copy = ROOT / "modules" / module / module_notebook(module).name
    notebook = json.loads(copy.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in right and name not in blank:
            cell["source"] = (changed or {}).get(name, right[name])
    edit(notebook)
    return json.dumps(notebook).encode()


class Everything:
    """Contains every exercise: submission(blank=Everything()) is a notebook as it was handed out."""

    def __contains__(self, name: object) -> bool:
        return True
