"""What of the course must not be seen by students."""

import json
import re
from collections.abc import Container
from pathlib import Path

from grader.course import module_notebook


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def source(cell: dict) -> str:
    return "".join(cell["source"])


HIDDEN = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)


def hidden_lines(module: str, kinds: Container[str] = ("SOLUTION", "HIDDEN TESTS")) -> set[str]:
    """Lines of answers and rubrics, or of hidden tests, or of both, that stand nowhere in what students may see."""
    hidden, shown = set(), set()
    for cell in cells(module_notebook(module)):
        text = source(cell)
        hidden |= {line.strip() for kind, block in HIDDEN.findall(text) if kind in kinds for line in block.splitlines()}
        shown |= {line.strip() for line in HIDDEN.sub("", text).splitlines()}
    return {line for line in hidden - shown if len(line) > 8}
