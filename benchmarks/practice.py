"""How long `check` takes in a kit, beside the asserts that stand below it: python benchmarks/practice.py [--markdown FILE]

For each module, all its exercises one after the other: `check` on the right answers, the asserts of the same test cells, and
the slowest `check` of all wrong answers in tests/wrong_answers, with its picture.
"""

import argparse
import contextlib
import io
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from page import blas_kernel, processor, replace_tables

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from answers import answers, namespace
from secret import HIDDEN, cells, source

from autograded_tests import EXERCISES, exercises_of
from exercises import practice, show
from exercises.tables import pack
from grader.course import module_notebook, modules
from grader.kit import PRACTICE

TURNS = 20


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    with contextlib.suppress(practice.NotYet), contextlib.redirect_stdout(io.StringIO()):
        call()
    return 1000 * (time.perf_counter() - start)


def checked(name: str, names: dict[str, object]) -> Callable[[], object]:
    """A check as a notebook calls it."""
    names["check"] = practice.check
    return partial(exec, f"check({name!r})", names)


def measured(module: str) -> str:
    exercises = exercises_of(module)
    names = namespace(module)
    visible = {
        cell["metadata"]["nbgrader"]["grade_id"].removeprefix("test_"): re.sub(
            r"^check\(.*\n", "", HIDDEN.sub("", source(cell))
        )
        for cell in cells(module_notebook(module))
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code"
    }
    checks = [median(milliseconds(checked(e.name, names)) for _ in range(TURNS)) for e in exercises]
    asserts = [median(milliseconds(partial(exec, visible[e.name], names)) for _ in range(TURNS)) for e in exercises]
    wrong = [a for a in answers("wrong_answers") if EXERCISES[a.exercise].module == module]
    slowest = max(
        min(milliseconds(checked(a.exercise, names)) for _ in range(2))
        for a in wrong
        for names in [namespace(module, **{a.exercise: a.source})]
    )
    ratio = sum(checks) / sum(asserts)
    return f"| `{module}` | {max(checks):.1f} ms | {sum(checks):.0f} ms | {sum(asserts):.0f} ms | {ratio:.1f} | {slowest:.0f} ms |"


def picture() -> float:
    """One picture of the size that a notebook shows."""
    array = np.arange(30.0).reshape(5, 6)
    return median(milliseconds(lambda: show.drawn("output", array, array + 1)) for _ in range(TURNS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path, help="a page with marks to write the table into")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        practice.HERE = Path(folder)
        for module in modules():
            data = pack([e.on(PRACTICE) for e in exercises_of(module)], ())
            (practice.HERE / f"{module}.tables").write_bytes(data)
        rows = [measured(module) for module in modules() if exercises_of(module)]
    lines = [
        f"{processor()}; Python {platform.python_version()}, NumPy {np.__version__} with {blas_kernel()}; medians of {TURNS} turns.",
        "",
        "| module | slowest right check | all checks | all asserts | checks / asserts | slowest check of a wrong answer |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        f"A picture takes {picture():.0f} ms more.",
    ]
    print("\n".join(lines))
    if options.markdown:
        replace_tables(options.markdown, "checks", lines)


if __name__ == "__main__":
    main()
