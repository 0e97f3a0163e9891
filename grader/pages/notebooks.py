"""A module's notebook as a page: what students get, with what its given cells and demonstrations show."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from grader.course import student_copy
from grader.errors import CourseError
from grader.notebook import Cell, CellKind, kind_of, text_of
from grader.pages.markup import code
from grader.pages.outputs import Output
from grader.pages.texts import Target, Text, plain, reachable
from grader.tables import TABLE

LABELS = {CellKind.ANSWER: "To be written", CellKind.TEST: "Its test"}


@dataclass(frozen=True)
class Module:
    """A module of the course, as the title cell of its student copy describes it."""

    name: str
    cells: tuple[Cell, ...]

    @property
    def number(self) -> str:
        return self.name.partition("_")[0]

    @property
    def notebook(self) -> str:
        return self.name.partition("_")[2]

    @cached_property
    def _said(self) -> str:
        return text_of(self.cells[0]["source"])

    @property
    def title(self) -> str:
        """Without marks, be they Markdown's or HTML's."""
        return plain(self.name, self.title_text)

    @property
    def title_text(self) -> str:
        """In Markdown."""
        return self._said.splitlines()[0].removeprefix("# ")

    @property
    def about(self) -> str:
        """What it holds, in a line."""
        found = re.search(r"^> (.*)$", self._said, re.MULTILINE)
        return found[1] if found else self.title_text

    @property
    def beginning(self) -> str:
        """The first paragraph, in Markdown."""
        paragraphs = re.split(r"\n\s*\n", self._said)
        return next((p for p in paragraphs if not p.startswith(("# ", ">", "|"))), "")

    @property
    def exercises(self) -> list[list[str]]:
        """The rows of its table: exercise, points, time, how hard."""
        table = TABLE.search(self._said)
        rows = table.group().splitlines()[2:] if table else []
        return [[field.strip() for field in row.strip("|").split("|")] for row in rows]

    @property
    def points(self) -> float:
        return sum(float(number) for row in self.exercises for number in row[1].split("+"))

    @property
    def time(self) -> str:
        """The lines that say how long it takes, in Markdown."""
        lines = [line for line in self._said.splitlines() if re.search(r"\b(hours?|minutes)\b", line)]
        return " ".join(line.strip("*") for line in lines if not line.startswith("|"))


def module_of(name: str) -> Module:
    """Raises CourseError if there is no such module, or no student copy."""
    return Module(name, tuple(json.loads(student_copy(name).read_text(encoding="utf-8"))["cells"]))


@dataclass(frozen=True)
class Shown:
    """A figure in a file beside the page, and what can be seen in it; or a "text"; or "measured"."""

    kind: str
    text: str | Markup = ""
    file: str = ""
    width: int = 0
    height: int = 0

    @classmethod
    def of(cls, file: str, text: str, png: bytes) -> "Shown":
        width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))  # of its first block
        return cls("figure", text, file, width, height)


@dataclass(frozen=True)
class Part:
    """A cell on the page."""

    kind: str
    html: Markup
    label: str = ""
    outputs: tuple[Shown, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A page: its cells, its headings, and the figures that it shows, by the names of their files."""

    parts: tuple[Part, ...]
    contents: tuple[tuple[int, str, Markup], ...]
    figures: Mapping[str, bytes]

    @property
    def pictures(self) -> list[Shown]:
        return [shown for part in self.parts for shown in part.outputs if shown.kind == "figure"]


def notebook_page(module: Module, outputs: Mapping[str, Sequence[Output]], link: Target) -> Notebook:
    """The cells of a student copy, with outputs (by the cells' ids) of those that are no answers and no tests.

    Raises CourseError for a formula or a picture that cannot be shown.
    """
    parts: list[Part] = []
    figures: dict[str, bytes] = {}
    cell: Cell = {}
    text = Text(str(student_copy(module.name)), link, lambda address: _attached(address, cell, figures))
    for cell in module.cells:
        kind = kind_of(cell)
        if kind == CellKind.WRITTEN:
            parts.append(Part("answer", Markup("<p>Your answer goes here.</p>"), "To be written"))
        elif cell["cell_type"] != "code":
            parts.append(Part("text", text.html(text_of(cell["source"]))))
        else:
            shown = () if kind in LABELS else _shown(cell["id"], outputs.get(cell["id"], ()), figures)
            parts.append(Part(kind.value, reachable(code(cell)), LABELS.get(kind, ""), shown))
    contents = tuple((level, anchor, _short(said)) for level, anchor, said in text.headings if level in (2, 3))
    return Notebook(tuple(parts), contents, figures)


def _attached(address: str, cell: Cell, figures: dict[str, bytes]) -> str:
    """The file of a picture that is attached to a text cell; it is added to the others."""
    data = cell.get("attachments", {}).get(address.removeprefix("attachment:"), {}).get("image/png")
    if not data or not address.startswith("attachment:"):
        raise CourseError(
            f'the cell "{cell["id"]}": the picture {address} is not attached to it as PNG; draw it in a cell of code, or attach it'
        )
    file = f"{cell['id']}-{len(figures)}.png"
    figures[file] = base64.b64decode(text_of(data))
    return file


def _short(heading: Markup) -> Markup:
    """A heading without the points and the time of its exercise."""
    return Markup(re.sub(r" \([^()]*minutes[^()]*\)$", "", heading))  # noqa: S704  (it is ours)


def _shown(name: str, outputs: Sequence[Output], figures: dict[str, bytes]) -> tuple[Shown, ...]:
    """The outputs of a cell; their figures are added to the others."""
    shown = []
    for output in outputs:
        if output.measured:
            shown.append(Shown("measured"))
        elif output.figure:
            file = f"{name}.png" if f"{name}.png" not in figures else f"{name}-{len(figures)}.png"
            figures[file] = output.figure
            shown.append(Shown.of(file, output.text, output.figure))
        elif output.text:
            shown.append(Shown("text", reachable(Markup("<pre>{}</pre>").format(output.text))))
    return tuple(shown)


def described(module: Module) -> str:
    """What stands in search results of its page."""
    return f"{module.title}: {plain(module.name, module.about)}"
