"""Rebuild a submission from our own student copy and the student's answers.

From the student come only the sources of answers, of written answers and of cells they added, and pictures in their texts.
Everything else, metadata, outputs, tags and locked cells, is ours. Every repair is a line in the result.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.course import Assignment
from grader.errors import Unreadable
from grader.notebook import Cell, CellKind, SubmittedCell, grade_id, kind_of, read, text_of
from grader.pictures import Attachments, Pictures
from grader.prose import added, below, holds, is_prose, says_something

OLDER = 4  # texts of ours that are in other words: then the copy is of an earlier version of the course


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
        self.theirs, self.ours = list(theirs), assignment.cells
        self.defines = {e.name: e.defines for e in assignment.exercises}
        self.renamed = assignment.renamed
        self.repairs: list[str] = []
        self.used: set[int] = set()  # numbers of cells of theirs
        self.pictures = Pictures()

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
        anchors = self._recognise_ours(chosen)
        for name, answer in chosen.items():
            anchors.setdefault(answer.number, places[name])
        written = self._written(chosen, anchors)
        parts = tuple(self._assemble(chosen, written, anchors))
        return Rebuilt(parts, (*self.repairs, *self.pictures.lines()))

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
        filled = [t for t in claims if not _is_blank(t, cell)]
        answer = (filled or claims)[-1]
        again = {t.source.strip() for t in filled} - {answer.source.strip()}
        if again:  # they are cells of their own, next to it
            self.repairs.append(
                f'there are {len(again) + 1} cells with the written answer "{name}"; the last one that is filled in was taken'
            )
        self.used |= {t.number for t in claims if t.source.strip() not in again}
        return answer

    def _recognise_ours(self, chosen: Mapping[str, SubmittedCell]) -> dict[int, int]:
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
                continue  # see _keep_notes
            was_added = (
                kind_of(cell) in (CellKind.GIVEN, CellKind.DEMO, CellKind.TEST)
                and t.type == "code"
                and changed
                and not t.untouched
            )
            if not was_added:  # what the student wrote into a cell of ours is run after it, as a cell of their own
                self.used.add(t.number)
            of_earlier_version |= bool(grade_id(cell)) and changed and t.untouched
            self._note_changes(t, cell, changed and not t.untouched, place in seen)
            seen.add(place)
        for place, cell in enumerate(self.ours if not of_earlier_version else ()):
            if grade_id(cell) and kind_of(cell) in (CellKind.GIVEN, CellKind.TEST, CellKind.DEMO) and place not in seen:
                self.repairs.append(f'the cell "{grade_id(cell)}" is missing; put back')
        self._keep_notes(anchors, chosen, older=of_earlier_version)
        return anchors

    def _keep_notes(self, anchors: Mapping[int, int], chosen: Mapping[str, SubmittedCell], *, older: bool) -> None:
        """Of texts of ours that were changed, only what the student wrote is kept, as a cell of their own.

        older  the copy is of an earlier version of the course: only what stands below the question of an empty answer
        """
        changed: list[tuple[int, int, str]] = []
        for n, t in enumerate(self.theirs):
            place = anchors.get(t.number)
            if place is not None and t.number not in self.used and kind_of(self.ours[place]) == CellKind.TEXT:
                changed.append((n, place, text_of(self.ours[place]["source"])))
        older |= sum(not holds(self.theirs[n].source, ours) for n, _, ours in changed) >= OLDER
        empty = {place - 1 for place, _ in self._empty(chosen)}
        for n, place, ours in changed:
            t = self.theirs[n]
            note = added(t.source, ours)
            if older and not holds(t.source, ours):
                note = below(t.source, ours) if place in empty else ""
            self.theirs[n] = replace(t, source=t.source if note is None else note)

    def _empty(self, chosen: Mapping[str, SubmittedCell]) -> list[tuple[int, str]]:
        """Places and names of written answers in which there is nothing."""
        written = [(n, grade_id(c)) for n, c in enumerate(self.ours) if kind_of(c) == CellKind.WRITTEN]
        return [(n, name) for n, name in written if name not in chosen or _is_blank(chosen[name], self.ours[n])]

    def _written(
        self, chosen: Mapping[str, SubmittedCell], anchors: Mapping[int, int]
    ) -> dict[str, tuple[str, Attachments]]:
        """Written answers that say something, with their pictures; if one is empty, the text beside it."""
        texts: dict[str, list[SubmittedCell]] = {}
        empty = dict(self._empty(chosen))
        of_this_module = any(
            name in chosen for name in self.defines
        )  # texts of another module's notebook are no answers
        for place, cell in enumerate(self.ours):
            name = grade_id(cell)
            if kind_of(cell) != CellKind.WRITTEN:
                continue
            beside = self._beside(place, anchors) if of_this_module else []
            texts[name] = beside if place in empty else [chosen[name]]
            if place in empty and texts[name]:
                self.used |= {t.number for t in texts[name]}
                missing = f'the written answer "{name}" is missing'
                if missing in self.repairs:
                    self.repairs.remove(missing)
                    self.repairs.append(f"{missing}; the text beside its question was taken")
                else:
                    self.repairs.append(f'the written answer "{name}" was empty; the text beside it was taken')
        written: dict[str, tuple[str, Attachments]] = {}
        for name, cells in texts.items():
            pieces = [self.pictures.take(t.source, t.attached, f'the written answer "{name}"') for t in cells]
            whole = {key: picture for _, attachments in pieces for key, picture in attachments.items()}
            if pieces:
                written[name] = "\n\n".join(text for text, _ in pieces), whole
        return written

    def _beside(self, place: int, anchors: Mapping[int, int]) -> list[SubmittedCell]:
        """Texts of the student's own between a question and the next cell of ours."""
        after = {place, place - 1} if place and kind_of(self.ours[place - 1]) == CellKind.TEXT else {place}
        nothing = text_of(self.ours[place]["source"]).strip()
        found, at = [], -1
        for t in self.theirs:
            at = anchors.get(t.number, at)
            if at not in after or t.number in self.used or t.source.strip() == nothing:
                continue
            if says_something(t.source) and (t.type != "code" or is_prose(t.source)):
                found.append(t)
        return found

    def _places(self) -> Callable[[SubmittedCell], int | None]:
        """A function that gives the place of ours that a cell of theirs is, by grade_id, id or source; None if it is none."""
        by_name = {grade_id(c): n for n, c in enumerate(self.ours) if grade_id(c)}
        by_id = {c["id"]: n for n, c in enumerate(self.ours) if "id" in c}
        # empty written answers are all alike
        recognised = [
            (n, text_of(c["source"]).strip()) for n, c in enumerate(self.ours) if kind_of(c) != CellKind.WRITTEN
        ]
        by_source = {source: n for n, source in recognised}
        by_heading = {_first_line(source): n for n, source in recognised if kind_of(self.ours[n]) == CellKind.TEXT}

        def place_of(t: SubmittedCell) -> int | None:
            place = by_name.get(self.renamed.get(t.grade_id, t.grade_id))
            if place is None and not t.grade_id and t.id:
                place = by_id.get(t.id)
            if place is None and t.source.strip():
                place = by_source.get(t.source.strip())
            if place is None and t.type != "code" and t.source.strip():
                place = by_heading.get(_first_line(t.source))
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

    def _assemble(
        self,
        chosen: Mapping[str, SubmittedCell],
        written: Mapping[str, tuple[str, Attachments]],
        anchors: Mapping[int, int],
    ) -> list[Part]:
        """Our cells in our order, with answers in their places and cells of their own after the cell each stood behind."""
        own: dict[int, list[tuple[int, Part]]] = {}
        moved = self._moved_up({answer.number for answer in chosen.values()}, anchors)
        place = -1
        for t in self.theirs:
            place = anchors.get(t.number, place)
            if (t.number not in self.used and t.source.strip()) or t.number in moved:
                text, attachments = t.source, None
                if t.type != "code":
                    text, attachments = self.pictures.take(t.source, t.attached, "a text of their own")
                cell = _cell(t.type, f"own-{t.number}", {}, text, attachments)
                own.setdefault(moved.get(t.number, place), []).append((t.number, Part(CellKind.OWN, "", cell)))
        parts = [part for _, part in own.get(-1, ())]
        for place, cell in enumerate(self.ours):
            kind, name = kind_of(cell), grade_id(cell)
            metadata = json.loads(json.dumps(cell["metadata"]))
            source, blank, start, attachments = text_of(cell["source"]), False, -1, None
            answer = chosen.get(name)
            if kind in (CellKind.ANSWER, CellKind.WRITTEN):
                source = answer.source if answer is not None else ""
                blank = answer is None or _is_blank(answer, cell)
            if kind == CellKind.ANSWER and answer is not None:
                start = answer.number  # pieces that stood before the answer are run before it
            if kind == CellKind.WRITTEN and name in written:
                blank = False
                source, attachments = written[name]
            pieces = own.get(place, ())
            parts += [part for number, part in pieces if number < start]
            parts.append(Part(kind, name, _cell(cell["cell_type"], cell["id"], metadata, source, attachments), blank))
            parts += [part for number, part in pieces if number >= start]
        return parts


def _is_blank(theirs: SubmittedCell, ours: Cell) -> bool:
    """There is nothing in it but what was handed out."""
    return theirs.untouched or theirs.source.strip() in ("", text_of(ours["source"]).strip())


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()


def _cell(
    cell_type: str, cell_id: str, metadata: dict[str, Any], source: str, attachments: Attachments | None = None
) -> Cell:
    cell: Cell = {"cell_type": cell_type, "id": cell_id, "metadata": metadata, "source": source}
    if attachments:
        cell["attachments"] = attachments
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell
