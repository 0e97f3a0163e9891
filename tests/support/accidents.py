"""A class in which everything has gone wrong once that a person, a platform or a disk can do to it."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from answers import submission

MODULE, NOTEBOOK = "02_activations", "activations.ipynb"

# names that are no more than names; a file system takes all of them
NAMES = (
    "new\nline",
    "tab\tx",
    "\x1b[31mred\x1b]0;title\x07",
    "[red]x",
    "[close",
    "[bold]b[ ]",
    "=cmd|' calc'!A0",
    "a;=1+1",
    'a";"=1+1',
    "bidi\u202egnp",
    "O'Brien",
    "%s {0} $HOME `id`",
    "a?b#c%20d&e",
    "<script>alert(1)<",
    "王小明",
    "cafe\u0301",
    "--force",
    "*",
    "x" * 255,
    "x" * 254 + "y",
    "é" * 127,
)
NO_UTF_8 = os.fsdecode(b"caf\xe9")


def lay_out(folder: Path) -> dict[str, str]:
    """Lay the class into a folder; its students and the status that each of them gets."""
    right = submission(module=MODULE)
    found = dict.fromkeys(["ada", *NAMES], "graded") | {NO_UTF_8: "failed"}
    for name in found:
        _put(folder, name, right)
    for kind, lay in TIMES.items():
        lay(_put(folder, f"time {kind}", right) / "timestamp.txt")
        found[f"time {kind}"] = "graded"
    for kind, source in SOURCES.items():
        notebook = json.loads(right)
        notebook["cells"].append(_cell(source))
        _put(folder, f"cell {kind}", json.dumps(notebook).encode())
        found[f"cell {kind}"] = "graded"
    for name, (status, lay) in WORK.items():
        place = folder / "submitted" / name
        place.mkdir(parents=True)
        lay(place)
        found[name] = status
    (folder / "submitted" / "linked").symlink_to("ada")
    (folder / "submitted" / "dangling").symlink_to("nowhere")
    (folder / "submitted" / "stray.txt").write_text("nobody")
    os.mkfifo(folder / "submitted" / "pipe")
    return found | {"linked": "missing", "dangling": "missing"}


def _put(folder: Path, student: str, data: bytes) -> Path:
    place = folder / "submitted" / student / MODULE
    place.mkdir(parents=True)
    (place / NOTEBOOK).write_bytes(data)
    return place


def _cell(source: str) -> dict[str, object]:
    return {"cell_type": "code", "id": "own", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


SOURCES = {
    "surrogate": "x = '\ud800'",
    "surrogate printed": "print(chr(0xD800))",
    "surrogate raised": "raise ValueError(chr(0xDC80))",
    "nul": "x = 'a\0b'",
    "control characters": "print('\\x1b[31m\\x00\\x07\\u2028\\u202e')",
}
TIMES: dict[str, Callable[[Path], object]] = {
    "no date": lambda path: path.write_text("yesterday, after lunch\n[red]\x1b[31m"),
    "empty": lambda path: path.write_text(""),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "far": lambda path: path.write_text("99999-01-01 12:00:00 UTC"),
    "digits": lambda path: path.write_text("1" * 5000),
    "nothing": lambda path: path.write_text(", , ,"),
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "link": lambda path: path.symlink_to("/dev/zero"),
}


def _in_module(lay: Callable[[Path], object]) -> Callable[[Path], None]:
    def laid(place: Path) -> None:
        (place / MODULE).mkdir()
        lay(place / MODULE)

    return laid


def _sparse(place: Path) -> None:
    with (place / NOTEBOOK).open("wb") as file:
        file.truncate(1 << 36)


def _socket(place: Path) -> None:
    with (
        socket.socket(socket.AF_UNIX) as listening,
        suppress(OSError),
        _inside(place),
    ):  # a path may be too long for one
        listening.bind(NOTEBOOK)


@contextmanager
def _inside(place: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


WORK: dict[str, tuple[str, Callable[[Path], object]]] = {
    "nothing": ("missing", lambda place: None),
    "empty folder": ("missing", _in_module(lambda place: None)),
    "file for a folder": ("missing", lambda place: (place / MODULE).write_text("x")),
    "link for a folder": ("missing", lambda place: (place / MODULE).symlink_to("/etc")),
    "loop": ("missing", lambda place: (place / MODULE).symlink_to(place / MODULE)),
    "link for a notebook": ("missing", _in_module(lambda place: (place / NOTEBOOK).symlink_to("/etc/passwd"))),
    "folder for a notebook": ("missing", _in_module(lambda place: (place / NOTEBOOK).mkdir())),
    "pipe for a notebook": ("missing", _in_module(lambda place: os.mkfifo(place / NOTEBOOK))),
    "socket for a notebook": ("missing", _in_module(_socket)),
    "huge": ("unreadable", _in_module(_sparse)),
    "empty file": ("unreadable", _in_module(lambda place: (place / NOTEBOOK).touch())),
    "deep": ("unreadable", _in_module(lambda place: (place / NOTEBOOK).write_bytes(b"[" * 100_000))),
    "long number": (
        "unreadable",
        _in_module(lambda place: (place / NOTEBOOK).write_bytes(b'{"cells": ' + b"1" * 5000)),
    ),
    "no notebook": ("unreadable", _in_module(lambda place: (place / "re\x1bport\n.pdf").write_text("%PDF"))),
    "another ending": (
        "graded",
        _in_module(lambda place: (place / f"{NOTEBOOK}.txt").write_bytes(submission(module=MODULE))),
    ),
}
