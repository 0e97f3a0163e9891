"""What repeats points, names and numbers: the notebooks' first cells and headings, and README.md."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograded_tests import exercises_of

HEADING = re.compile(r"^(### Exercise: `(\w+)`) \([\d.]+ points?, (\d+) minutes, (\w+)\)", re.MULTILINE)
TABLE = re.compile(r"^\| exercise \| points \| time \| \|\n\|---\|---\|---\|---\|\n(?:\|.*\n?)+", re.MULTILINE)
IN_README = re.compile(r"(?<=<!-- modules -->\n\n).*?(?=\n<!-- end of modules -->)", re.DOTALL)
ANSWERS = re.compile(r"^- \d+ (?=(wrong|right) answers\b)", re.MULTILINE)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def with_points(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the points of its cells in its headings and in its table of exercises."""
    cells = [dict(cell) for cell in notebook["cells"]]
    marks = [c["metadata"]["nbgrader"] | {"type": c["cell_type"]} for c in cells if "nbgrader" in c["metadata"]]
    points = {m["grade_id"].removeprefix("test_"): m["points"] for m in marks if m["grade"] and m["type"] == "code"}
    written = [m["points"] for m in marks if m["grade"] and m["type"] != "code"]

    def heading(found: re.Match[str]) -> str:
        start, name, minutes, level = found.groups()
        if name not in points:
            return found.group()
        return f"{start} ({points[name]:g} point{'s' * (points[name] != 1)}, {minutes} minutes, {level})"

    texts = [HEADING.sub(heading, "".join(c["source"])) if c["cell_type"] == "markdown" else "" for c in cells]
    rows = [found.groups()[1:] for text in texts for found in HEADING.finditer(text)]
    for cell, text in zip(cells, texts, strict=True):
        if text:
            new = TABLE.sub(lambda found: _table(found.group(), rows, points, written), text)
            if new != "".join(cell["source"]):
                cell["source"] = new.splitlines(keepends=True)
    return notebook | {"cells": cells}


def _table(old: str, rows: Sequence[tuple[str, ...]], points: dict[str, float], written: Sequence[float]) -> str:
    """The table of a notebook's exercises; what it says of written questions keeps its time."""
    lines = old.splitlines(keepends=True)[:2]
    lines += [f"| `{n}` | {points[n]:g} | {minutes} min | {level} |\n" for n, minutes, level in rows if n in points]
    if written:
        time = re.search(r"written question.*\| (\d+ min)? *\| \|", old)
        number = NUMBERS[len(written)] if len(written) < len(NUMBERS) else len(written)
        sums = " + ".join(f"{p:g}" for p in written)
        lines.append(
            f"| {number} written question{'s' * (len(written) > 1)} | {sums} | {time[1] if time else ''} | |\n"
        )
    table = "".join(lines)
    return table if old.endswith("\n") else table.rstrip("\n")


def readme_table(root: Path, modules: Sequence[str]) -> str:
    """README's table: each module, and what each of its exercises is about, as its file in autograded_tests/ says."""
    lines = ["| module | what you build |\n|---|---|\n"]
    for module in modules:
        name = module.partition("_")[2]
        notebook = json.loads((root / "solutions" / module / f"{name}.ipynb").read_text(encoding="utf-8"))
        about = re.search(r"^> (.*?)\.?$", "".join(notebook["cells"][0]["source"]), re.MULTILINE)
        built = [f"`{e.name}`: {_about(root, module, e.name)}" for e in exercises_of(module)]
        link = f"[`{module}`](modules/{module}/{name}.ipynb)"
        for first, what in enumerate(built or [f"nothing yet: {_small(about[1]) if about else ''}"]):
            lines.append(f"| | {what} |\n" if first else f"| {link} | {what} |\n")
    return "".join(lines)


def _about(root: Path, module: str, exercise: str) -> str:
    """The first line of an exercise's file."""
    text = (root / "autograded_tests" / f"m{module}" / f"{exercise}.py").read_text(encoding="utf-8")
    found = re.match(r'"""(.*?)\.?("""|\n)', text)
    return _small(found[1]) if found else ""


def _number_of_answers(root: Path, kind: str) -> int:
    """How many wrong (or right) answers the tests try: each stands behind a title."""
    texts = [path.read_text(encoding="utf-8") for path in (root / "tests" / f"{kind}_answers").glob("*.py")]
    return sum(len(re.findall(r"^# --- ", text, re.MULTILINE)) for text in texts)


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def write_tables(root: Path, modules: Sequence[str], check: bool = False) -> list[str]:
    """Write the tables of all notebooks, and the table and the counts of README.md; with check, change nothing.

    The lines name what differs.
    """
    lines = []
    for module in modules:
        path = root / "solutions" / module / f"{module.partition('_')[2]}.ipynb"
        old = path.read_text(encoding="utf-8")
        notebook = json.loads(old)
        new = with_points(notebook)
        if new != notebook:
            lines.append(f"{path.relative_to(root)}: its points differ between cells, headings and table")
            if not check:
                path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    readme = root / "README.md"
    if readme.is_file():
        text = readme.read_text(encoding="utf-8")
        table = IN_README.sub(lambda _: readme_table(root, modules), text)
        if table != text:
            lines.append("README.md: its table of modules differs from the exercises")
        counted = ANSWERS.sub(lambda found: f"- {_number_of_answers(root, found[1])} ", table)
        if counted != table:
            lines.append("README.md: its number of wrong or right answers differs from those in tests/")
        if counted != text and not check:
            readme.write_text(counted, encoding="utf-8")
    return lines
