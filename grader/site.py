"""The course as a folder for any web server: pages to read, kits to download, and the course in the browser."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from grader import in_browser
from grader.course import modules
from grader.errors import CourseError
from grader.kit import make_kit
from grader.pages.site import write_pages
from grader.printable import printable


def make_site(folder: Path, names: Sequence[str] = (), bundle: bool = False) -> list[str]:
    """Make the folder anew; lines about it. The one that was there stays until the new one is whole. Raises CourseError.

    names: of modules whose kits, browser copies and pages are in it (04 is 04_attention); all if there are none.
    """
    modules_in_it = chosen(names)
    if folder.exists() and not (folder / "index.html").is_file() and any(folder.iterdir()):
        raise CourseError(
            f"{printable(str(folder))} holds something else; name a folder that can be replaced (--output)"
        )
    new = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    try:
        for module in modules_in_it:
            make_kit(module, new / "kits")
        write_pages(new, modules_in_it)
        in_browser.build(new / "browser", modules_in_it, bundle)
        (new / ".nojekyll").touch()  # else GitHub leaves out what begins with an underscore: __init__.py
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [f"{printable(str(folder))}: {len(modules_in_it)} modules, {size / 1e6:.0f} MB"]


def chosen(names: Sequence[str]) -> list[str]:
    """In the order of the course. Raises CourseError for a name that no module has."""
    known = modules()
    for name in names:
        if not any(_is_called(module, name) for module in known):
            raise CourseError(f"{printable(name)}: no such module; the modules are: {', '.join(known)}")
    return [module for module in known if not names or any(_is_called(module, name) for name in names)]


def _is_called(module: str, name: str) -> bool:
    return name in (module, module.partition("_")[0])
