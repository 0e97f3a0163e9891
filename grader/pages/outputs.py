"""What the cells of a module's notebook show when it runs: values and figures, and no measurements."""

import base64
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from grader.build import run_notebook
from grader.course import module_notebook
from grader.errors import CourseError
from grader.notebook import CellKind, kind_of, text_of

SHOWN = (CellKind.GIVEN, CellKind.DEMO)
NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
FIXED = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
CONTROLS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]", re.DOTALL)
MAGIC = re.compile(r"^(CPU times|Wall time): | per loop \(mean", re.MULTILINE)  # IPython's clocks are not ours
PREPARE = "import grader.pages.in_kernel as _prepared; _prepared.prepare({}); del _prepared"


@dataclass(frozen=True)
class Output:
    """One output of a cell. A figure's text says what it shows; what differs from run to run has neither."""

    text: str = ""
    figure: bytes = b""  # PNG
    measured: bool = False


def outputs_of(module: str) -> dict[str, list[Output]]:
    """What the given cells and demonstrations of a module show, by the cells' ids. Raises CourseError if a cell raises.

    The notebook runs twice, once with clocks that run too fast: an output that differs is a measurement.
    """
    path = module_notebook(module)
    with TemporaryDirectory() as own, ThreadPoolExecutor(2) as pool:
        environment = FIXED | {"IPYTHONDIR": own}  # nothing of what somebody has set for their own notebooks
        runs = [pool.submit(run_notebook, path, PREPARE.format(unlike), environment) for unlike in (False, True)]
        notebooks = [run.result() for run in runs]
    try:
        one, other = map(shown, notebooks)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None
    return {name: compared(outputs, other.get(name, [])) for name, outputs in one.items()}


def shown(notebook: Any) -> dict[str, list[Output]]:
    """The outputs of the given cells and demonstrations of a notebook that ran, by the cells' ids.

    Raises CourseError for an output that no page can show.
    """
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and kind_of(cell) in SHOWN]
    return {cell["id"]: [_output(o, cell["id"]) for o in cell["outputs"]] for cell in cells if cell["outputs"]}


def _output(output: Mapping[str, Any], cell: str) -> Output:
    if output["output_type"] == "error":  # of a cell that may raise
        return Output(f"{output['ename']}: {output['evalue']}")
    data = output.get("data", {})
    text = CONTROLS.sub("", text_of(output.get("text", data.get("text/plain", "")))).rstrip("\n")
    figure = base64.b64decode(text_of(data.get("image/png", "")))
    drawn = any(kind.startswith("image/") for kind in data)
    if (drawn or text.startswith("<IPython.core.display.")) and not figure:
        kinds = ", ".join(sorted(set(data) - {"text/plain"}))
        raise CourseError(f'the cell "{cell}" displays {kinds}, which its page cannot show; print it, or draw it')
    return Output(text, figure, measured=not figure and bool(MAGIC.search(text)))


def compared(one: list[Output], other: list[Output]) -> list[Output]:
    """The outputs of a cell in one run, and in place of those that another run has not, one that says so.

    Of a text that differs in one number, as a duration among results, the number alone is left out.
    """
    if len(one) != len(other):
        return [Output(measured=True)]
    pairs = list(zip(one, other, strict=True))
    kept = [mine if mine == theirs else _but_for_a_number(mine, theirs) for mine, theirs in pairs]
    found = [output for output in kept if output is not None and not output.measured]
    return found if one == other == found else [*found, Output(measured=True)]


def _but_for_a_number(mine: Output, theirs: Output) -> Output | None:
    parts, others = (NUMBER.split(output.text) for output in (mine, theirs))
    differing = [k for k, (a, b) in enumerate(zip(parts, others, strict=False)) if a != b]
    one_of_several = len(parts) == len(others) > 3 and len(differing) == 1 and differing[0] % 2
    if mine.figure or theirs.figure or mine.measured or not one_of_several:
        return None
    (place,) = differing
    return Output("".join([*parts[:place], "...", *parts[place + 1 :]]))
