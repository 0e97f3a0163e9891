"""docs/ as pages."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from grader.course import ROOT
from grader.errors import CourseError
from grader.pages.frame import Links, write_site_page
from grader.pages.texts import Text, plain_text

GROUPS = {
    "For students": ("students",),
    "For instructors": ("instructor", "platforms", "site", "jail", "messages"),
    "For importers of the library": ("importers", "performance"),
}
REST = "How the project is made"


@dataclass(frozen=True)
class Document:
    """A page of documentation. pictures: files of docs/ that it shows."""

    name: str
    title: str
    about: str  # its first sentence, which is a line
    html: Markup
    contents: tuple[tuple[int, str, Markup], ...]
    pictures: tuple[str, ...]


def names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


def document(name: str, source: str, links: Links) -> Document:
    """docs/<name>.md as a page. Raises CourseError for a formula or a picture that cannot be shown."""
    file, page = f"docs/{name}.md", f"docs/{name}.html"
    pictures: list[str] = []

    def picture(address: str) -> str:
        docs = (ROOT / "docs").resolve()
        if not (docs / address).resolve().is_relative_to(docs) or not (docs / address).is_file():
            raise CourseError(f"the picture {address} is not in docs/; put it there")
        pictures.append(address)
        return address

    text = Text(file, lambda address: links.target(address, file, page), picture)
    html = text.html(source)
    title = next((plain_text(heading) for level, _, heading in text.headings if level == 1), name)
    paragraph = re.search(r"<p>(.*?)</p>", html, re.DOTALL)
    contents = tuple(heading for heading in text.headings if heading[0] == 2)
    about = plain_text(paragraph[1].splitlines()[0]) if paragraph else title
    return Document(name, title, about, html, contents, tuple(pictures))


def read_documents(links: Links) -> list[Document]:
    return [document(n, (ROOT / "docs" / f"{n}.md").read_text(encoding="utf-8"), links) for n in names()]


def grouped(documents: Sequence[Document]) -> dict[str, list[Document]]:
    """For whom each is; one that no group names is about how the project is made."""
    by_name = {d.name: d for d in documents}
    groups = {group: [by_name[name] for name in names if name in by_name] for group, names in GROUPS.items()}
    named = {name for names in GROUPS.values() for name in names}
    return groups | {REST: [d for d in documents if d.name not in named]}


def write_documents(folder: Path, documents: Sequence[Document]) -> None:
    for each in documents:
        contents = each.contents if len(each.contents) > 2 else ()
        path = f"docs/{each.name}.html"
        write_site_page(folder, path, "site_text", each.title, each.about, html=each.html, contents=contents)
        for name in each.pictures:
            (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "docs" / name, folder / "docs" / name)
    about = "What the course's students, its instructors and the users of its library should know."
    groups = grouped(documents)
    write_site_page(folder, "docs/index.html", "site_documents", "Documentation", about, groups=groups)
