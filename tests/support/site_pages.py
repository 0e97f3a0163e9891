"""The site's pages without minutes of running notebooks: each given cell or demonstration shows what stands in for it."""

import io
import json
import re
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader.course import module_notebook, modules
from grader.kit import make_kit
from grader.notebook import CellKind, kind_of
from grader.pages import site
from grader.pages.outputs import SHOWN, Output


@cache
def picture() -> bytes:
    """A small PNG that matplotlib makes."""
    from matplotlib.figure import Figure

    data = io.BytesIO()
    Figure(figsize=(6, 2)).savefig(data, format="png")
    return data.getvalue()


def stand_ins(module: str) -> dict[str, list[Output]]:
    """A value, a figure and a measurement for each demonstration of a module."""
    cells = json.loads(module_notebook(module).read_text(encoding="utf-8"))["cells"]
    shown = [c["id"] for c in cells if c["cell_type"] == "code" and kind_of(c) in SHOWN and kind_of(c) == CellKind.DEMO]
    return {
        n: [Output(f"({n!r}, <b>)" * 9), Output(f"Heat map of {n}", picture()), Output(measured=True)] for n in shown
    }


def write_pages(folder: Path, chosen: Sequence[str] = ()) -> Path:
    """The pages, with kits, and an empty page where the browser's part begins."""
    chosen = chosen or modules()
    for module in chosen:
        make_kit(module, folder / "kits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "outputs_of", stand_ins)
        site.write_pages(folder, chosen)
    browser = folder / "browser" / "notebooks" / "index.html"
    browser.parent.mkdir(parents=True)
    browser.write_text("")
    return folder


def pages_of(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != "browser"]


class Page(HTMLParser):
    """What a page holds: tags, anchors, links, pictures with their texts, and its words."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.pictures: list[tuple[str, str]] = []
        self.described = self.title = self.language = ""
        self._parts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = "".join(self._parts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "img":
            self.pictures.append((values["src"], values.get("alt", "")))
        elif tag == "html":
            self.language = values.get("lang", "")
        elif values.get("name") == "description":
            self.described = values["content"]
        self.links += [values[name] for name in ("href", "src") if name in values]

    def handle_data(self, data: str) -> None:
        self._parts.append(data)
        if self.tags[-1:] == ["title"] and not self.title:
            self.title = data


def solution_lines(module: str) -> set[str]:
    """The lines of a module's answers that say something, and that stand nowhere else in its notebook."""
    cells = json.loads(module_notebook(module).read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    marked = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
    others = "\n".join(marked.sub("", source) for source in sources)
    lines = {line.strip() for source in sources for answer in marked.findall(source) for line in answer.splitlines()}
    return {line for line in lines if len(line) > 15 and line not in others}
