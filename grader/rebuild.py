"""Rebuild a submission from our own student copy and the student's answers.

From the student come only the sources of answers, of written answers and of cells they added. Everything else, metadata,
outputs, tags, attachments and locked cells, is ours. Every repair is a line in the result.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.course import Assignment
from grader.errors import Unreadable
from grader.notebook import Cell, CellKind, SubmittedCell, grade_id, kind_of, read, text_of


@dataclass(frozen=True)
class Part:
    """One cell of the rebuilt notebook; `name` is the grade_id of a cell of ours, "" for text and cells of the student's own."""

    kind: CellKind
    name: str
    cell: Cell
    blank: bool = False  # an answer that the student left as it was, or that is not there


@dataclass(frozen=True)
class Rebuilt:
    parts: tuple[Part, ...]
    repairs: tuple[str, ...]


def rebuild(data: bytes, assignment: Assignment) -> Rebuilt:
    """Put a student's answers into our notebook.

    An answer is the last cell that claims its grade_id (or one that the exercise had formerly) and defines its name, else
    the last that defines the name, else the last that claims the grade_id or the cell id. Raises Unreadable.
    """
    return _Rebuilding(read(data), assignment).rebuilt()


def fit(data: bytes, assignment: Assignment) -> int:
    """How many answers of a module a notebook seems to have; -1 if it is none."""
    try:
        cells = read(data)
    except Unreadable:
        return -1
    found = {assignment.renamed.get(c.grade_id, c.grade_id) for c in cells}.union(*(c.defines for c in cells))
    return sum(e.name in found or e.defines in found for e in assignment.exercises)


@dataclass(frozen=True)
class Look:
    """What a file is, before it is graded: how many answers of a module it seems to have, how many of them are filled in."""

    fit: int
    answered: int
    reason: str = ""  # why it is no notebook; then `fit` is -1


def look(data: bytes, assignment: Assignment) -> Look:
    """Look at a file that was handed in."""
    try:
        parts = rebuild(data, assignment).parts
    except Unreadable as error:
        return Look(-1, 0, str(error))
    theirs = [p for p in parts if p.kind in (CellKind.ANSWER, CellKind.WRITTEN)]
    return Look(fit(data, assignment), sum(not p.blank for p in theirs))


def is_run(part: Part) -> bool:
    """Whether a part of a notebook is code that is run before questions are asked; demonstrations and tests are not."""
    return part.cell["cell_type"] == "code" and part.kind in (CellKind.GIVEN, CellKind.ANSWER, CellKind.OWN)


class _Rebuilding:
    """The work on one submission: which cells of theirs are used, as what, and what had to be repaired."""

    def __init__(self, theirs: Sequence[SubmittedCell], assignment: Assignment) -> None:
        self.theirs, self.ours = theirs, assignment.cells
        self.defines = {e.name: e.defines for e in assignment.exercises}
        self.renamed = assignment.renamed
        self.repairs: list[str] = []
        self.used: set[int] = set()  # numbers of cells of theirs

    def rebuilt(self) -> Rebuilt:
        chosen: dict[str, SubmittedCell] = {}
        places: dict[str, int] = {}
        for place, cell in enumerate(self.ours):
            name, kind = grade_id(cell), kind_of(cell)
            if kind == CellKind.ANSWER:
                answer = self._find_answer(name, cell)
            elif kind == CellKind.WRITTEN:
                answer = self._find_written(name, cell)
            else:
                continue
            if answer is not None:
                chosen[name], places[name] = answer, place
        anchors = self._recognise_ours()
        for name, answer in chosen.items():
            anchors.setdefault(answer.number, places[name])
        return Rebuilt(tuple(self._assemble(chosen, anchors)), tuple(self.repairs))

    def _claims(self, theirs: SubmittedCell, name: str, cell: Cell) -> bool:
        """Whether a cell of theirs says that it is this one of ours."""
        if theirs.grade_id:
            return self.renamed.get(theirs.grade_id, theirs.grade_id) == name
        return bool(theirs.id) and theirs.id == cell.get("id")

    def _find_answer(self, name: str, cell: Cell) -> SubmittedCell | None:
        defined = self.defines[name]
        claims = [t for t in self.theirs if self._claims(t, name, cell)]
        defining = [t for t in self.theirs if defined in t.defines]
        both = [t for t in claims if t in defining]
        filled = [t for t in both if not _is_blank(t, cell)]
        worked = filled or [t for t in defining if not _is_blank(t, cell)]
        candidates = worked or both or defining or [t for t in claims if t.source.strip()]
        if not candidates:
            self.repairs.append(f'the answer cell "{name}" is missing; graded without it')
            return None
        answer = candidates[-1]
        already = answer.number in self.used
        if answer not in claims:
            if already:
                self.repairs.append(f"`{defined}` was found in the cell of another answer")
            else:
                self.repairs.append(f'the answer "{name}" was found by the name that it defines, `{defined}`')
        if len(filled) > 1:
            self.repairs.append(
                f'there are {len(filled)} cells with the answer "{name}"; the last one that is filled in was graded'
            )
        if answer.type != "code":
            self.repairs.append(f'the answer cell "{name}" was turned into text; read as code')
        self.used.add(answer.number)
        self.used |= {t.number for t in claims if _is_blank(t, cell)}  # empty copies
        return None if already else answer

    def _find_written(self, name: str, cell: Cell) -> SubmittedCell | None:
        claims = [t for t in self.theirs if t.number not in self.used and self._claims(t, name, cell)]
        if not claims:
            self.repairs.append(f'the written answer "{name}" is missing')
            return None
        self.used |= {t.number for t in claims}
        filled = [t for t in claims if not _is_blank(t, cell)]
        return (filled or claims)[-1]

    def _recognise_ours(self) -> dict[int, int]:
        """Mark what is ours already, locked or only text; for each such cell of theirs, the place of ours that it is."""
        anchors: dict[int, int] = {}
        seen: set[int] = set()
        place_of, of_earlier_version = self._places(), False
        for t in self.theirs:
            place = place_of(t)
            if place is None:
                continue
            anchors[t.number] = place
            cell = self.ours[place]
            if t.number in self.used or kind_of(cell) in (CellKind.ANSWER, CellKind.WRITTEN):
                continue
            changed = t.source.strip() != text_of(cell["source"]).strip()
            if kind_of(cell) == CellKind.TEXT and changed:
                continue  # a note that the student wrote into our text: kept as a cell of their own
            added = (
                kind_of(cell) in (CellKind.GIVEN, CellKind.DEMO, CellKind.TEST)
                and t.type == "code"
                and changed
                and not t.untouched
            )
            if not added:  # what the student wrote into a cell of ours is run after it, as a cell of their own
                self.used.add(t.number)
            of_earlier_version |= bool(grade_id(cell)) and changed and t.untouched
            self._note_changes(t, cell, changed and not t.untouched, place in seen)
            seen.add(place)
        for place, cell in enumerate(self.ours if not of_earlier_version else ()):
            if kind_of(cell) in (CellKind.GIVEN, CellKind.TEST, CellKind.DEMO) and place not in seen:
                self.repairs.append(f'the cell "{grade_id(cell)}" is missing; put back')
        return anchors

    def _places(self) -> Callable[[SubmittedCell], int | None]:
        """A function that gives the place of ours that a cell of theirs is, by grade_id, id or source; None if it is none."""
        by_name = {grade_id(c): n for n, c in enumerate(self.ours) if grade_id(c)}
        by_id = {c["id"]: n for n, c in enumerate(self.ours) if "id" in c}
        by_source = {text_of(c["source"]).strip(): n for n, c in enumerate(self.ours)}

        def place_of(t: SubmittedCell) -> int | None:
            place = by_name.get(self.renamed.get(t.grade_id, t.grade_id))
            if place is None and not t.grade_id and t.id:
                place = by_id.get(t.id)
            if place is None and t.source.strip():
                place = by_source.get(t.source.strip())
            return place

        return place_of

    def _note_changes(self, t: SubmittedCell, cell: Cell, changed: bool, again: bool) -> None:
        name = grade_id(cell)
        if name and t.type != cell["cell_type"]:
            self.repairs.append(f'the cell "{name}" was turned into text; ours was used')
        elif name and changed:
            self.repairs.append(f'the cell "{name}" was changed; ours was used')
        if name and again:
            self.repairs.append(f'the cell "{name}" is there more than once; ours was used')

    def _moved_up(self, answers: Collection[int], anchors: Mapping[int, int]) -> dict[int, int]:
        """Answers that stood behind own cells further down, which may define what they need: each is run there, too.

        The place of ours behind which that is.
        """
        moved, last, own = {}, -1, -1
        for t in self.theirs:
            if t.number in answers:
                if own > anchors[t.number]:
                    moved[t.number] = last
                continue
            last = max(last, anchors.get(t.number, last))
            if t.number not in self.used and t.source.strip():
                own = last
        return moved

    def _assemble(self, chosen: Mapping[str, SubmittedCell], anchors: Mapping[int, int]) -> list[Part]:
        """Our cells in our order, with answers in their places and cells of their own after the cell each stood behind."""
        own: dict[int, list[tuple[int, Part]]] = {}
        moved = self._moved_up({answer.number for answer in chosen.values()}, anchors)
        place = -1
        for t in self.theirs:
            place = anchors.get(t.number, place)
            if (t.number not in self.used and t.source.strip()) or t.number in moved:
                cell = _cell(t.type, f"own-{t.number}", {}, t.source)
                own.setdefault(moved.get(t.number, place), []).append((t.number, Part(CellKind.OWN, "", cell)))
        parts = [part for _, part in own.get(-1, ())]
        for place, cell in enumerate(self.ours):
            kind, name = kind_of(cell), grade_id(cell)
            metadata = json.loads(json.dumps(cell["metadata"]))
            source, blank, start = text_of(cell["source"]), False, -1
            if kind in (CellKind.ANSWER, CellKind.WRITTEN):
                answer = chosen.get(name)
                source = answer.source if answer is not None else ""
                blank = answer is None or _is_blank(answer, cell)
                if kind == CellKind.ANSWER and answer is not None:
                    start = answer.number  # pieces that stood before the answer are run before it
            pieces = own.get(place, ())
            parts += [part for number, part in pieces if number < start]
            parts.append(Part(kind, name, _cell(cell["cell_type"], cell["id"], metadata, source), blank))
            parts += [part for number, part in pieces if number >= start]
        return parts


def _is_blank(theirs: SubmittedCell, ours: Cell) -> bool:
    """There is nothing in it but what was handed out."""
    return theirs.untouched or theirs.source.strip() in ("", text_of(ours["source"]).strip())


def _cell(cell_type: str, cell_id: str, metadata: dict[str, Any], source: str) -> Cell:
    cell: Cell = {"cell_type": cell_type, "id": cell_id, "metadata": metadata, "source": source}
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell
