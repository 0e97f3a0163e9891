"""What every page of the site has: its place, the course's name, and where its links lead."""

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any

from grader.badges import published
from grader.classroom import write_whole
from grader.course import ROOT, settings
from grader.pages.markup import page


@cache
def version() -> str:
    """The course's, from settings.ini."""
    return settings()["version"]


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@cache
def course() -> str:
    """The course's name: the first heading of README."""
    return re.sub(r"^# ", "", readme().splitlines()[0])


def write_site_page(folder: Path, path: str, template: str, title: str, description: str, **values: Any) -> None:
    """Write one page: path is that on the site, as in docs/index.html."""
    up = "../" * path.count("/")
    values = {"contents": (), "title": title, "description": description, "up": up, "here": path, **values}
    html = page(template, course=course(), version=version(), **values)
    write_whole(folder / path, html.encode())


class Links:
    """From addresses in the project's texts to addresses on the site."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages  # by the path of a file of the project: the path of its page

    def target(self, address: str, file: str, page: str) -> str:
        """Where a link in a file of the project leads on its page; "" if there is nothing to lead to."""
        if "://" in address or address.startswith(("#", "mailto:")):
            return address
        path, _, anchor = address.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if path in self.pages:
            there = posixpath.relpath(self.pages[path], posixpath.dirname(page) or ".")
            return f"{there}#{anchor}" if anchor else there
        return _in_repository(path)


def _in_repository(path: str) -> str:
    """The address of a file in the published repository; "" if there is none."""
    where = published()
    return where.file(path) if where and (ROOT / path).exists() else ""
