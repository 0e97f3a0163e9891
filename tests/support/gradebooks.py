"""Gradebooks of the small module; one is made per process, since that takes a second, and copied for each test."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from classes import rows_of
from small import SMALL

from grader import gradebook


@cache
def _template() -> tempfile.TemporaryDirectory[str]:
    """A folder with a gradebook of the small module in which nobody has been graded; gone when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="gradebook-")
    with gradebook.open_gradebook(f"sqlite:///{folder.name}/gradebook.db", "tinytorch") as book:
        gradebook.save_assignment(book, SMALL)
    return folder


def new_gradebook(folder: Path) -> Path:
    """A gradebook of the small module in a class's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(Path(_template().name) / "gradebook.db", folder))


@contextmanager
def opened(database: Path) -> Iterator[Any]:
    with gradebook.open_gradebook(f"sqlite:///{database}", "tinytorch") as book:
        yield book


def grades_in(database: Path, student: str) -> dict[str, tuple]:
    """By cell: automatic score, score by hand, extra credit, whether somebody must read it, maximum."""
    return {cell: tuple(grade) for who, cell, *grade in rows_of(database)[0] if who == student}


def comments_in(database: Path, student: str) -> dict[str, tuple]:
    """By cell: automatic comment, comment by hand."""
    return {cell: tuple(comment) for who, cell, *comment in rows_of(database)[1] if who == student}
