"""A kit's course.py in the process of the tests, with a kernel that starts at once."""

import importlib.util
from pathlib import Path
from typing import Any

WRONG = {"scale_scores": "#| export\ndef _scale_scores(scores, d_k):\n    return scores / d_k\n"}
RAISED = (AssertionError, AttributeError, NameError, NotImplementedError, TypeError, ValueError, ZeroDivisionError)


class PlainKernel:
    """Runs cells in this process, where no cell has to be stopped."""

    def __enter__(self):
        self.names = {"__name__": "__main__"}
        return self

    def __exit__(self, *_):
        return None

    def run(self, source):
        try:
            exec(compile(source, "<cell>", "exec"), self.names)
        except RAISED as error:
            return "error", {"ename": type(error).__name__, "evalue": str(error), "traceback": []}
        return "", None


def load(kit: Path, kernel: type | None = PlainKernel) -> Any:
    spec = importlib.util.spec_from_file_location("course", kit / "course.py")
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if kernel is not None:
        module.Kernel = kernel
    return module


def run(kit: Path, *arguments: str, kernel: type | None = PlainKernel) -> str:
    """What a command says, or why it cannot do its work; and its exit status."""
    course = load(kit, kernel)
    course.show = lambda first, *more: lines.extend([first, *(f"       {line}" for line in more)])
    lines: list[str] = []
    try:
        status = course.main(list(arguments))
    except course.Problem as problem:
        lines.append(str(problem))
        status = 1
    return "\n".join([*lines, f"status {status}"])


def named(name: str, notebook: dict[str, Any]) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def own_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": f"own-{len(source)}", "metadata": {}, "source": source}
