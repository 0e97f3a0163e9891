"""Following docs/instructor.md in a copy of the project, command by command."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classes import rows_of
from copies import ROOT, copy_of_the_project
from moodle_site import Site
from sixty import MODULE, Case

PAGE = ROOT / "docs" / "instructor.md"
GRADE = f"python -m grader grade {MODULE}"
ONE_LINE = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def sections() -> dict[str, list[str]]:
    """The commands of the page under each heading."""
    parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {}
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        commands = [line for block in ONE_LINE.findall(text) for line in block.splitlines()]
        if commands:
            found[heading] = commands
    return found


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


@dataclass
class Walk:
    """How far one is: the project, the platform, the ids of the students, and what was printed last."""

    root: Path
    site: Site
    other: Path
    ids: dict[str, str] = field(default_factory=dict)
    old: bool = False
    done: Done = Done(0, "", "")
    before: str = ""
    waits: tuple[Case, str] | None = None

    @property
    def cases(self) -> Sequence[Case]:
        return self.site.cases

    @property
    def classroom(self) -> Path:
        return self.root / "classroom"

    def type(self, command: str, status: int = 0) -> Done:
        """Run a command as typed in a terminal in which the environment is active."""
        if self.old:
            command = re.sub(r"(ada-lovelace|blaise-pascal)", lambda m: self.id_called(m[1]), command)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("GRADER_", "PYTEST_", "COVERAGE_"))}
        environment |= {"PYTHONPATH": str(self.root), "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            ["bash", "-c", f"source .venv/bin/activate && {command}"],
            cwd=self.root,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.done = Done(done.returncode, done.stdout, done.stderr)
        assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", done.stdout + done.stderr), command
        return self.done

    def id_called(self, name: str) -> str:
        return next(id_ for id_ in self.ids.values() if id_.startswith(f"{name}_"))

    def case(self, what: str) -> Case:
        return next(c for c in self.cases if c.what == what)

    def has(self, what: str) -> bool:
        return any(c.what == what for c in self.cases)

    def id(self, case: Case) -> str:
        return self.ids[case.person.login]

    def rows(self) -> dict[str, dict[str, Any]]:
        """Grade once more, which must run nothing: the rows by id."""
        printed = self.type(f"{GRADE} --json").out
        rows = {row["student"]: row for row in map(json.loads, printed.splitlines())}
        assert len(rows) == len(printed.splitlines())
        assert {row["status"] for row in rows.values() if not row.get("unchanged")} <= {"missing"}
        return rows

    def totals(self) -> dict[str, dict[str, str]]:
        """The rows of the exported grades by id."""
        text = self.type(f"python -m grader export {MODULE} --unread zero").out
        rows = table(text)
        assert not [value for row in rows for value in row.values() if re.match("[=+@-]", value)]
        return {row["student"]: row for row in rows}

    def grades(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """(automatic, by hand, extra, to be read) by student and cell, in the first module."""
        rows = rows_of(self.classroom / "gradebook.db")[0]
        return {(row[0], row[1]): tuple(row[2:6]) for row in rows if row[1] in points_of(MODULE)}

    def page_of(self, case: Case) -> str:
        return (self.classroom / "feedback" / self.id(case) / MODULE / "attention.html").read_text(encoding="utf-8")


def the_project(folder: Path) -> Path:
    """A copy of the project with an environment that `make setup` finds complete."""
    folder.mkdir()
    root = copy_of_the_project(folder)
    (root / ".venv").symlink_to(Path(sys.executable).parents[1])
    for name in ("requirements.lock", "pyproject.toml", "settings.ini"):
        os.utime(root / name, (1e9, 1e9))
    return root


def points_of(module: str) -> dict[str, float]:
    """What can be had in each graded cell."""
    (path,) = (ROOT / "modules" / module).glob("*.ipynb")
    marks = [c["metadata"].get("nbgrader", {}) for c in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    return {mark["grade_id"]: float(mark["points"]) for mark in marks if mark.get("grade")}


def maximum(module: str) -> float:
    return sum(points_of(module).values())


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))
