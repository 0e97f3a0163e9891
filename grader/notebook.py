"""Reading a submission's bytes as cells, whatever the notebook's format; and what each cell of ours is."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from grader.errors import Unreadable

Cell = dict[str, Any]

LARGEST = 100 << 20  # bytes of a submission
MOST_CELLS = 2000


class CellKind(StrEnum):
    """What a cell of a rebuilt notebook is; all but OWN are cells of ours."""

    TEXT = "text"
    GIVEN = "given"
    DEMO = "demo"
    ANSWER = "answer"
    TEST = "test"
    WRITTEN = "written"
    OWN = "own"  # a cell that the student added


@dataclass(frozen=True)
class SubmittedCell:
    """A cell of a submission.

    untouched  as it was handed out, be it in an earlier version of the course
    defines    the names of its functions and classes
    attached   pictures that are attached to it, in base64, by name
    """

    number: int
    type: str
    source: str
    grade_id: str
    id: str
    untouched: bool = False
    defines: frozenset[str] = frozenset()
    attached: Mapping[str, str] = field(default_factory=dict)


def text_of(value: Any) -> str:
    """A cell's source, which may be a string or a list of lines; a lone surrogate, which no file can hold, is a `?`."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    if not isinstance(value, str):
        return ""
    return value.replace("\r\n", "\n").replace("\r", "\n").encode(errors="replace").decode()


def kind_of(cell: Cell) -> CellKind:
    """What a cell of our notebook is; code without a mark is what fetches the kit (badges.py), which is not graded."""
    mark = cell["metadata"].get("nbgrader")
    if mark is None:
        return CellKind.DEMO if cell["cell_type"] == "code" else CellKind.TEXT
    if cell["cell_type"] != "code":
        return CellKind.WRITTEN
    if "demo" in cell["metadata"].get("tags", ()):
        return CellKind.DEMO
    if mark["grade"]:
        return CellKind.TEST
    return CellKind.ANSWER if mark["solution"] else CellKind.GIVEN


def grade_id(cell: Cell) -> str:
    """The name of a cell of our notebook; "" for text, and for code without a mark."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def read(data: bytes) -> list[SubmittedCell]:
    """The code and text cells of a submission, of whatever format and encoding. Raises Unreadable."""
    if not data.strip():
        raise Unreadable("the file is empty")
    if len(data) > LARGEST:
        raise Unreadable(f"the file has {len(data) >> 20} MB; more than {LARGEST >> 20} MB are not read")
    notebook = _parse(data)
    if not isinstance(notebook, dict):
        raise Unreadable("the file is JSON, but no notebook")
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):  # format 3
        cells = list(_cells_of_sheets(notebook["worksheets"]))
    if not isinstance(cells, list):
        raise Unreadable("the file is JSON, but no notebook: it has no cells")
    return [_cell(number, cell) for number, cell in enumerate(cells[:MOST_CELLS]) if isinstance(cell, dict)]


def _cells_of_sheets(sheets: list[Any]) -> Iterator[Any]:
    for sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        yield from cells if isinstance(cells, list) else ()


def _cell(number: int, cell: dict[str, Any]) -> SubmittedCell:
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    mark = mark if isinstance(mark, dict) else {}
    name = mark.get("grade_id")
    cell_type = "code" if cell.get("cell_type") == "code" else "markdown"
    source = text_of(cell.get("source", cell.get("input", "")))
    return SubmittedCell(
        number,
        cell_type,
        source,
        name if isinstance(name, str) else "",
        cell["id"] if isinstance(cell.get("id"), str) else "",
        isinstance(name, str) and mark.get("checksum") == _checksum(mark, cell_type, source),
        frozenset(re.findall(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.MULTILINE)),
        _attached(cell.get("attachments")),
    )


def _attached(attachments: Any) -> dict[str, str]:
    """Attachments by name; of several forms of one, not the drawing."""
    found: dict[str, str] = {}
    for name, forms in attachments.items() if isinstance(attachments, dict) else ():
        for kind in sorted(forms, key=lambda k: k != "image/svg+xml") if isinstance(forms, dict) else ():
            found[name] = text_of(forms[kind])
    return found


def _checksum(mark: dict[str, Any], cell_type: str, source: str) -> str:
    """nbgrader's checksum of a cell (nbgrader.utils.compute_checksum), which is in the metadata of what was handed out."""
    grade, solution = mark.get("grade") is True, mark.get("solution") is True
    locked = not solution and (grade or mark.get("locked") is True)
    parts = [source, cell_type, str(grade), str(solution), str(locked), mark["grade_id"]]
    points = mark.get("points")
    if grade and isinstance(points, int | float) and abs(points) < 1e6:
        parts.append(str(float(points)))
    return hashlib.md5("".join(parts).encode(errors="replace"), usedforsecurity=False).hexdigest()


def _parse(data: bytes) -> Any:
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        try:
            return json.loads(text)
        except RecursionError:
            raise Unreadable("the file is nested too deeply for a notebook") from None
        except ValueError:
            if text.lstrip()[:1] not in "{[":
                raise Unreadable("the file is not a notebook (not JSON)") from None
            raise Unreadable("the file is damaged: it begins like a notebook but is no valid JSON") from None
    raise Unreadable("the file is not text")
