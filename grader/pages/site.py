"""The pages of the site: a start page, each notebook to be read, documentation and the library's reference."""

import ast
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from grader.classroom import write_whole
from grader.course import ROOT, modules
from grader.kit import EXAMPLES, SHARED
from grader.pages.documents import Document, grouped, names, read_documents, write_documents
from grader.pages.frame import Links, course, readme, write_site_page
from grader.pages.notebooks import Module, Notebook, Shown, described, module_of, notebook_page
from grader.pages.outputs import outputs_of
from grader.pages.reference import read_reference, write_reference
from grader.pages.texts import Text, plain_text

PICTURES = 2  # of each module on the start page: the last that its notebook draws


def write_pages(folder: Path, chosen: Sequence[str]) -> None:
    """Write index.html and all that it leads to, but for the kits (folder/kits must hold them) and the browser's part.

    chosen: the modules that are open, in the order of the course. Raises CourseError if a cell of a notebook raises, or a
    formula cannot be shown.
    """
    pages = {f"docs/{name}.md": f"docs/{name}.html" for name in names()}
    for name in chosen:
        notebook = name.partition("_")[2]
        for part in ("modules", "solutions"):
            pages[f"{part}/{name}/{notebook}.ipynb"] = f"modules/{name}/index.html"
    links = Links(pages)
    documents = read_documents(links)
    write_documents(folder, documents)
    write_reference(folder, read_reference())
    course_modules = [module_of(name) for name in modules()]
    read = {m.name: _read(m, links) for m in course_modules if m.name in chosen}
    _write_notebooks(folder, [m for m in course_modules if m.name in chosen], read)
    _write_start(folder, course_modules, read, documents, links)


def _read(module: Module, links: Links) -> Notebook:
    file, page = f"modules/{module.name}/{module.notebook}.ipynb", f"modules/{module.name}/index.html"
    return notebook_page(module, outputs_of(module.name), lambda address: links.target(address, file, page))


def _write_notebooks(folder: Path, chosen: Sequence[Module], read: Mapping[str, Notebook]) -> None:
    for number, module in enumerate(chosen):
        notebook = read[module.name]
        path = f"modules/{module.name}/index.html"
        write_site_page(
            folder,
            path,
            "site_notebook",
            f"{module.number} {module.title}",
            described(module),
            module=module,
            notebook=notebook,
            contents=notebook.contents,
            size=_size(folder, module),
            before=chosen[number - 1] if number else None,
            after=chosen[number + 1] if number + 1 < len(chosen) else None,
        )
        for name, data in notebook.figures.items():
            write_whole(folder / "modules" / module.name / name, data)


def _size(folder: Path, module: Module) -> str:
    return f"{(folder / 'kits' / f'tinytorch-{module.name}.zip').stat().st_size / 1000:.0f} kB"


@dataclass(frozen=True)
class Entry:
    """A module on the start page."""

    module: Module
    open: bool
    size: str
    title: Markup
    about: Markup
    beginning: Markup
    time: Markup
    rows: list[list[Markup]]
    pictures: list[Shown]


def _write_start(
    folder: Path,
    course_modules: Sequence[Module],
    read: Mapping[str, Notebook],
    documents: Sequence[Document],
    links: Links,
) -> None:
    idea = re.sub(r"^# .*\n", "", readme().partition("\n```")[0])
    picture = re.search(r"!\[(.*?)\]\((.*?)\)", idea)
    text = Text("README.md", lambda address: links.target(address, "README.md", "index.html"))
    html = text.html(idea.replace(picture.group(), "") if picture else idea)
    write_site_page(
        folder,
        "index.html",
        "site_start",
        course(),
        plain_text(html),
        idea=html,
        picture=_picture(folder, ROOT / picture[2], picture[1]) if picture else None,
        modules=[_entry(folder, module, read.get(module.name), links) for module in course_modules],
        examples=_examples(folder),
        groups=grouped(documents),
    )


def _entry(folder: Path, module: Module, notebook: Notebook | None, links: Links) -> Entry:
    text = Text(module.name, lambda address: links.target(address, f"modules/{module.name}/", "index.html"))

    def line(source: str) -> Markup:
        return Markup(re.sub(r"^<p>|</p>\s*$", "", text.html(source)))  # noqa: S704  (it is ours)

    return Entry(
        module,
        notebook is not None,
        _size(folder, module) if notebook else "",
        line(module.title_text),
        line(module.about),
        text.html(module.beginning),
        line(module.time),
        [[line(field) for field in row] for row in module.exercises],
        notebook.pictures[-PICTURES:] if notebook else [],
    )


def _examples(folder: Path) -> list[dict[str, Any]]:
    """The pictures in docs/ that examples draw, and what is said of them."""
    found = []
    for script in sorted(EXAMPLES.glob("*.py")):
        picture = ROOT / "docs" / f"{script.stem}.png"
        if script != SHARED and picture.is_file():
            said = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
            shows = re.search(r"^The picture shows .*?(?=\n\n|\Z)", said, re.MULTILINE | re.DOTALL)
            alt = " ".join(shows.group().split()) if shows else said.splitlines()[0]
            shown = _picture(folder, picture, alt)
            found.append({**vars(shown), "script": script.relative_to(ROOT).as_posix(), "about": said.splitlines()[0]})
    return found


def _picture(folder: Path, file: Path, text: str) -> Shown:
    """A picture of the project, copied to the site."""
    path = file.relative_to(ROOT).as_posix()
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / path)
    return Shown.of(path, text, file.read_bytes())
