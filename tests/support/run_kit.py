"""Run a kit's notebook from top to bottom in IPython, on any Python that runs the kit: python run_kit.py KIT NOTEBOOK

Prints JSON. cells: of each code cell its name, seconds, what it printed, how many pictures it drew and what it raised.
points: what each exercise got of its check, and what it can get.
"""

import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    name: str
    seconds: float
    printed: str
    pictures: int
    raised: str


def run(kit: Path, notebook: str) -> dict[str, Any]:
    os.chdir(kit)
    sys.path.insert(0, str(kit))
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "NoColor"
    shell = InteractiveShell.instance(config=settings)
    shell.kernel = None  # there is one in a notebook; `check` draws no pictures where there is none
    cells = [cell for cell in json.loads((kit / notebook).read_bytes())["cells"] if cell["cell_type"] == "code"]
    ran = []
    for number, cell in enumerate(cells):
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", f"cell {number}")
        start = time.perf_counter()
        with capture_output() as captured:
            result = shell.run_cell("".join(cell["source"]), store_history=False)
        error = result.error_before_exec or result.error_in_exec
        ran.append(
            Ran(
                name,
                time.perf_counter() - start,
                captured.stdout + captured.stderr,
                sum("image/png" in output.data for output in captured.outputs),
                "" if error is None else f"{type(error).__name__}: {error}",
            )
        )
    return {"cells": list(map(asdict, ran)), "points": points()}


def points() -> dict[str, list[float]]:
    if "exercises.practice" not in sys.modules:  # a module without exercises
        return {}
    from exercises import practice

    there = practice.practice()
    assert there is not None
    got = {name: verdict.points for name, verdict in practice.VERDICTS.items()}
    return {name: [got.get(name, 0), exercise.points] for name, exercise in there.exercises.items()}


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), sys.argv[2])))
