"""The course as a folder for any web server: pages to read, kits to download, and the course in the browser."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader import in_browser
from grader.classroom import write_whole
from grader.course import modules
from grader.errors import CourseError
from grader.kit import make_kit
from grader.pages.site import write_pages
from grader.printable import printable

NO_JEKYLL = ".nojekyll"  # else GitHub Pages, from a branch, leaves every __init__.py out
PARTS = {NO_JEKYLL, "index.html", "browser", "docs", "kits", "modules", "reference"}  # what a site holds


def make_site(folder: Path, names: Sequence[str] = (), bundle: bool = False) -> list[str]:
    """Make the folder anew; lines about it. The one that was there stays until the new one is whole. Raises CourseError.

    names: of modules whose kits, browser copies and pages are in it (04 is 04_attention); all if there are none.
    """
    modules_in_it = chosen(names)
    folder = folder.resolve()  # through links, and "." has a name
    _check_replaceable(folder)
    new = folder.with_name(f".{folder.name}.new")
    with _only_build(folder.parent):
        shutil.rmtree(new, ignore_errors=True)
        try:
            in_browser.build(new / "browser", modules_in_it, bundle)  # first: what it needs may be missing
            for module in modules_in_it:
                make_kit(module, new / "kits")
            write_pages(new, modules_in_it)
            write_whole(new / NO_JEKYLL, b"")
            _replace(folder, new)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [f"{printable(str(folder))}: {len(modules_in_it)} modules, {size / 1e6:.0f} MB"]


def _check_replaceable(folder: Path) -> None:
    """Raises CourseError for a folder that holds anything but a site."""
    inside = {path.name for path in folder.iterdir()} if folder.exists() else set()
    other = sorted(inside - PARTS) or sorted(inside if "index.html" not in inside else ())
    if other:
        raise CourseError(
            f"{printable(str(folder))} holds something else ({printable(other[0])}); name a folder that can be replaced (--output)"
        )


@contextmanager
def _only_build(folder: Path) -> Iterator[None]:
    """A second build into the same folder stops here: each would remove what the other has made."""
    folder.mkdir(parents=True, exist_ok=True)
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CourseError(f"{printable(str(folder))}: another site is being made here; wait until it is done") from None
    finally:
        os.close(number)


def _replace(folder: Path, new: Path) -> None:
    """Put the new folder in the place of the one that is there, which comes back where that fails."""
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def chosen(names: Sequence[str]) -> list[str]:
    """In the order of the course. Raises CourseError for a name that no module has."""
    known = modules()
    for name in names:
        if not any(_is_called(module, name) for module in known):
            raise CourseError(f"{printable(name)}: no such module; the modules are: {', '.join(known)}")
    return [module for module in known if not names or any(_is_called(module, name) for name in names)]


def _is_called(module: str, name: str) -> bool:
    return name in (module, module.partition("_")[0])
