"""Rebuild a submission from our own student copy and the student's answers.

From the student come only the sources of answers, of written answers and of cells they added. Everything else, metadata,
outputs, tags, attachments and locked cells, is ours. Every repair is a line in the result.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = dict[str, Any]

LARGEST = 100 << 20  # bytes of a submission
MOST_CELLS = 2000


class Unreadable(Exception):
    """The submission is no notebook; the message says in plain words what it is."""


@dataclass(frozen=True)
class Part:
    """One cell of the rebuilt notebook.

    kind  text | given | demo | answer | test | written | added
    name  grade_id of a cell of ours, "" for text and added cells
    """

    kind: str
    name: str
    cell: Cell
    blank: bool = False  # an answer that the student left as it was, or that is not there


@dataclass(frozen=True)
class Rebuilt:
    parts: tuple[Part, ...]
    repairs: tuple[str, ...]


@dataclass
class _Theirs:
    """A cell of the submission, and what it is taken for."""

    number: int
    type: str
    source: str
    grade_id: str
    id: str
    untouched: bool  # as it was handed out, be it in an earlier version of the course
    used: bool = False
    defines: set[str] = field(default_factory=set)


def text_of(value: Any) -> str:
    """A cell's source, which may be a string or a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else ""


def kind_of(cell: Cell) -> str:
    """What a cell of our notebook is."""
    mark = cell["metadata"].get("nbgrader")
    if mark is None:
        return "text"
    if cell["cell_type"] != "code":
        return "written"
    if "demo" in cell["metadata"].get("tags", ()):
        return "demo"
    return "test" if mark["grade"] else "answer" if mark["solution"] else "given"


def read(data: bytes) -> list[_Theirs]:
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
        sheets = [s for s in notebook["worksheets"] if isinstance(s, dict)]
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise Unreadable("the file is JSON, but no notebook: it has no cells")
    found = []
    for number, cell in enumerate(cells[:MOST_CELLS]):
        if not isinstance(cell, dict):
            continue
        metadata = cell.get("metadata")
        mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        mark = mark if isinstance(mark, dict) else {}
        grade_id = mark.get("grade_id")
        source = text_of(cell.get("source", cell.get("input", "")))
        cell_type = "code" if cell.get("cell_type") == "code" else "markdown"
        found.append(
            _Theirs(
                number,
                cell_type,
                source,
                grade_id if isinstance(grade_id, str) else "",
                cell["id"] if isinstance(cell.get("id"), str) else "",
                isinstance(grade_id, str) and mark.get("checksum") == _checksum(mark, cell_type, source),
                defines=set(re.findall(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.MULTILINE)),
            )
        )
    return found


def _checksum(mark: Cell, cell_type: str, source: str) -> str:
    """nbgrader's checksum of a cell (nbgrader.utils.compute_checksum), which is in the metadata of what was handed out."""
    grade, solution = mark.get("grade") is True, mark.get("solution") is True
    locked = not solution and (grade or mark.get("locked") is True)
    parts = [source, cell_type, str(grade), str(solution), str(locked), mark["grade_id"]]
    points = mark.get("points")
    if grade and isinstance(points, int | float) and abs(points) < 1e6:
        parts.append(str(float(points)))
    return hashlib.md5("".join(parts).encode(errors="replace"), usedforsecurity=False).hexdigest()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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


def rebuild(data: bytes, ours: Sequence[Cell], defines: Mapping[str, str]) -> Rebuilt:
    """Put a student's answers into our notebook.

    ours     cells of the student copy as we handed it out
    defines  for each answer cell, by grade_id, the name that it defines

    An answer is the last cell that claims its grade_id and defines its name, else the last that defines the name, else the last
    that claims the grade_id or the cell id. Raises Unreadable.
    """
    theirs = read(data)
    repairs: list[str] = []
    names = {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in ours if "nbgrader" in cell["metadata"]}
    chosen: dict[str, _Theirs] = {}
    for name, cell in names.items():
        kind = kind_of(cell)
        if kind == "answer":
            answer = _find_answer(name, cell, defines[name], theirs, repairs)
        elif kind == "written":
            answer = _find_written(name, cell, theirs, repairs)
        else:
            continue
        if answer is not None:
            chosen[name] = answer
    anchors = _recognise_ours(ours, theirs, repairs)
    for name, answer in chosen.items():
        anchors.setdefault(answer.number, next(n for n, c in enumerate(ours) if c is names[name]))
    return Rebuilt(tuple(_assemble(ours, theirs, chosen, anchors)), tuple(repairs))


def _find_answer(name: str, cell: Cell, defined: str, theirs: list[_Theirs], repairs: list[str]) -> _Theirs | None:
    claims = [t for t in theirs if t.grade_id == name or (not t.grade_id and t.id and t.id == cell.get("id"))]
    defining = [t for t in theirs if defined in t.defines]
    both = [t for t in claims if t in defining]
    worked = [t for t in both if not _is_blank(t, cell)] or [t for t in defining if not _is_blank(t, cell)]
    candidates = worked or both or defining or [t for t in claims if t.source.strip()]
    if not candidates:
        repairs.append(f'the answer cell "{name}" is missing; graded without it')
        return None
    answer = candidates[-1]
    if answer not in claims:
        if answer.used:
            repairs.append(f"`{defined}` was found in the cell of another answer")
        else:
            repairs.append(f'the answer "{name}" was found by the name that it defines, `{defined}`')
    filled = [t for t in both if not _is_blank(t, cell)]
    if len(filled) > 1:
        repairs.append(
            f'there are {len(filled)} cells with the answer "{name}"; the last one that is filled in was graded'
        )
    if answer.type != "code":
        repairs.append(f'the answer cell "{name}" was turned into text; read as code')
    already, answer.used = answer.used, True
    for t in claims:
        if not t.used and _is_blank(t, cell):
            t.used = True  # an empty copy
    return None if already else answer


def _find_written(name: str, cell: Cell, theirs: list[_Theirs], repairs: list[str]) -> _Theirs | None:
    claims = [t for t in theirs if not t.used and (t.grade_id == name or (not t.grade_id and t.id == cell.get("id")))]
    if not claims:
        repairs.append(f'the written answer "{name}" is missing')
        return None
    for t in claims:
        t.used = True
    filled = [t for t in claims if not _is_blank(t, cell)]
    return (filled or claims)[-1]


def _is_blank(theirs: _Theirs, ours: Cell) -> bool:
    """There is nothing in it but what was handed out."""
    return theirs.untouched or theirs.source.strip() in ("", text_of(ours["source"]).strip())


def _recognise_ours(ours: Sequence[Cell], theirs: list[_Theirs], repairs: list[str]) -> dict[int, int]:
    """Mark what is ours already, locked or only text; for each such cell of theirs, the place of ours that it is."""
    by_name = {c["metadata"]["nbgrader"]["grade_id"]: n for n, c in enumerate(ours) if "nbgrader" in c["metadata"]}
    by_id = {c["id"]: n for n, c in enumerate(ours) if "id" in c}
    by_source = {text_of(c["source"]).strip(): n for n, c in enumerate(ours)}
    anchors: dict[int, int] = {}
    seen: set[int] = set()
    of_earlier_version = False
    for t in theirs:
        place = by_name.get(t.grade_id)
        if place is None and not t.grade_id and t.id:
            place = by_id.get(t.id)
        if place is None:
            place = by_source.get(t.source.strip()) if t.source.strip() else None
        if place is None:
            continue
        anchors[t.number] = place
        cell = ours[place]
        if t.used or kind_of(cell) in ("answer", "written"):
            continue
        same = t.source.strip() == text_of(cell["source"]).strip()
        if kind_of(cell) == "text" and not same:
            continue  # a note that the student wrote into our text: kept as an added cell
        t.used = True
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if name and t.type != cell["cell_type"]:
            repairs.append(f'the cell "{name}" was turned into text; ours was used')
        elif name and not same and t.untouched:
            of_earlier_version = True
        elif name and not same:
            repairs.append(f'the cell "{name}" was changed; ours was used')
        if name and place in seen:
            repairs.append(f'the cell "{name}" is there more than once; ours was used')
        seen.add(place)
    for place, cell in enumerate(ours):
        if kind_of(cell) in ("given", "test", "demo") and place not in seen and not of_earlier_version:
            repairs.append(f'the cell "{cell["metadata"]["nbgrader"]["grade_id"]}" is missing; put back')
    return anchors


def _assemble(
    ours: Sequence[Cell],
    theirs: list[_Theirs],
    chosen: Mapping[str, _Theirs],
    anchors: Mapping[int, int],
) -> list[Part]:
    """Our cells in our order, with theirs in the answers' places and what they added after the cell it stood behind."""
    added: dict[int, list[Part]] = {}
    place = -1
    for t in theirs:
        place = anchors.get(t.number, place)
        if not t.used and t.source.strip():
            cell = _cell(t.type, f"added-{t.number}", {}, t.source)
            added.setdefault(place, []).append(Part("added", "", cell))
    parts = list(added.get(-1, ()))
    for place, cell in enumerate(ours):
        kind = kind_of(cell)
        metadata = json.loads(json.dumps(cell["metadata"]))
        name = metadata.get("nbgrader", {}).get("grade_id", "")
        source, blank = text_of(cell["source"]), False
        before: list[Part] = []
        if kind in ("answer", "written"):
            answer = chosen.get(name)
            source = answer.source if answer is not None else ""
            blank = answer is None or _is_blank(answer, cell)
            if kind == "answer":  # pieces that stood before the answer are run before it
                pieces = added.get(place, ())
                before = [p for p in pieces if answer is not None and int(p.cell["id"][6:]) < answer.number]
        parts += before
        parts.append(Part(kind, name, _cell(cell["cell_type"], cell["id"], metadata, source), blank))
        parts += [p for p in added.get(place, ()) if p not in before]
    return parts


def _cell(cell_type: str, cell_id: str, metadata: dict[str, Any], source: str) -> Cell:
    cell: Cell = {"cell_type": cell_type, "id": cell_id, "metadata": metadata, "source": source}
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell
