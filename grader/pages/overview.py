"""What is on a feedback page: the total, what was lost and why, what was right, the written answers; then cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbconvert.filters import strip_ansi

from exercises.model import ABOVE, BELOW, CaseResult, Verdict
from grader.course import Assignment
from grader.gradebook_marks import Mark, Marks
from grader.notebook import Cell, CellKind, grade_id, kind_of, text_of
from grader.pages import words
from grader.result import Result, Status

OWN = ("own-", "added-")  # how ids of cells that students added begin, in this version and in 0.1.0
NO_RESPONSE = "No response."  # nbgrader's comment on an answer that is blank


def by_hand(comment: str) -> str:
    """A comment that a person wrote; "" for nbgrader's own."""
    return "" if comment == NO_RESPONSE else comment


@dataclass(frozen=True)
class Loss:
    """A sentence, the cases that it is about, and the points that these lost."""

    sentence: str
    cases: tuple[str, ...]
    points: float


@dataclass(frozen=True)
class Line:
    """One exercise.

    right    the names of its cases that brought all points
    told     what these cases say all the same: that an earlier answer is to be fixed
    comment  given by hand
    """

    name: str
    mark: Mark
    right: tuple[str, ...]
    told: tuple[str, ...]
    losses: tuple[Loss, ...]
    comment: str

    @property
    def is_right(self) -> bool:
        return self.mark.points >= self.mark.max

    @property
    def note(self) -> str:
        """What the points are, where they are not those given automatically."""
        if not self.mark.is_by_hand:
            return ""
        return f"given by hand; {words.number(self.mark.automatic or 0)} automatically"


@dataclass(frozen=True)
class Written:
    """One written answer, under the heading of its question."""

    name: str
    title: str
    mark: Mark
    blank: bool

    @property
    def comment(self) -> str:
        """What somebody wrote about it by hand."""
        return by_hand(self.mark.comment)

    @property
    def grade(self) -> str:
        """Its points, or why there are none yet."""
        most = words.number(self.mark.max)
        if self.mark.unread and self.mark.by_hand is None:
            return "not yet read"
        given = f"{words.number(self.mark.points)} of {most}"
        if self.mark.unread:
            return f"{given} for what it was before; not yet read again"
        return f"{given}: nothing was written" if self.blank and not self.mark.is_by_hand else given


@dataclass(frozen=True)
class Shown:
    """A cell that concerns the student: an answer, a test, a question, or one that they added.

    name  where links to it lead; "" if there are none
    """

    kind: CellKind
    cell: Cell
    name: str = ""
    line: Line | None = None
    written: Written | None = None
    cases: tuple[CaseResult, ...] = ()

    @property
    def printed(self) -> list[str]:
        """What the cell printed."""
        return [strip_ansi(text_of(output["text"])) for output in self.cell.get("outputs", ()) if "text" in output]

    @property
    def comment(self) -> str:
        if self.written is not None:
            return self.written.comment
        return self.line.comment if self.line is not None else ""


@dataclass(frozen=True)
class Overview:
    """Everything above the notebook.

    reason  why it could not be graded, or not all of it
    """

    module: str
    student: str
    name: str
    status: Status
    reason: str
    marks: Marks
    lines: tuple[Line, ...]
    written: tuple[Written, ...]
    repairs: tuple[str, ...]
    late: str

    @property
    def lost(self) -> list[Line]:
        return [line for line in self.lines if not line.is_right]

    @property
    def right(self) -> list[Line]:
        return [line for line in self.lines if line.is_right]

    @property
    def unread(self) -> float:
        """Points of written answers that nobody has read yet."""
        return sum(w.mark.max for w in self.written if w.mark.unread)

    @property
    def total(self) -> str:
        total = f"{words.number(self.marks.total)} of {words.points(self.marks.max_score)}"
        if not self.unread:
            return total
        verb = "is" if round(self.unread, 2) == 1 else "are"
        so_far = f"{words.number(self.marks.total)} of {words.number(self.marks.max_score)} so far"
        return f"{so_far}; {words.points(self.unread)} {verb} not yet read"

    @property
    def submitted(self) -> str:
        """When it was handed in and how late that was; "" if nobody says so."""
        time = words.moment(self.marks.time) if self.marks.time else ""
        if self.marks.seconds_late > 0:
            time = f"{time}, {words.duration(self.marks.seconds_late)} late"
        penalty = f"Penalty for lateness: {words.points(self.marks.penalty)}" if self.marks.penalty else ""
        if self.marks.seconds_late > 0 and not penalty:
            penalty = "No points are taken off for that"
        return ". ".join(filter(None, (f"Handed in {time}" if time else "", penalty)))


def overview(name: str, assignment: Assignment, result: Result, marks: Marks, notebook: Mapping[str, Any]) -> Overview:
    """What the page of a graded or unreadable submission begins with.

    name      the student's; that in the gradebook, or the id, if it is ""
    notebook  the one that was kept
    """
    graded = result.status == Status.GRADED
    lines = [_line(v, marks) for v in result.verdicts.values()] if graded else []
    written = _written(assignment, marks, notebook)
    return Overview(
        assignment.module,
        result.student,
        name or marks.name or result.student,
        result.status,
        result.reason,
        marks,
        tuple(lines),
        tuple(w for w in written if graded or w.mark.is_by_hand),
        result.repairs,
        result.late,
    )


def _line(verdict: Verdict, marks: Marks) -> Line:
    mark = marks.cells.get(f"test_{verdict.exercise}") or Mark(
        f"test_{verdict.exercise}", verdict.points, verdict.max, verdict.points
    )
    answer = marks.cells.get(verdict.exercise)
    comment = by_hand(answer.comment) if answer is not None else ""
    right = [c for c in verdict.cases if c.points == c.max]
    told = tuple(dict.fromkeys(c.message for c in right if c.message))
    return Line(verdict.exercise, mark, tuple(c.name for c in right), told, _losses(verdict), comment)


def _losses(verdict: Verdict) -> tuple[Loss, ...]:
    """Each sentence once, causes first, with what it cost."""
    lost = [c for c in verdict.cases if c.points < c.max]
    order = {sentence: n for n, sentence in enumerate(verdict.messages)}
    by_sentence: dict[str, list[Any]] = {}
    for case in lost:
        by_sentence.setdefault(ABOVE if case.message == BELOW else case.message, []).append(case)
    found = [
        Loss(sentence, tuple(c.name for c in cases), sum(c.max - c.points for c in cases))
        for sentence, cases in by_sentence.items()
    ]
    return tuple(sorted(found, key=lambda loss: order.get(loss.sentence, len(order))))


def _written(assignment: Assignment, marks: Marks, notebook: Mapping[str, Any]) -> list[Written]:
    cells = {grade_id(cell): cell for cell in notebook["cells"] if kind_of(cell) == CellKind.WRITTEN}
    found = []
    for place, cell in enumerate(assignment.cells):
        name = grade_id(cell)
        if kind_of(cell) != CellKind.WRITTEN:
            continue
        mark = marks.cells.get(name) or Mark(name)
        kept = cells.get(name, {"source": ""})
        blank = mark.automatic == 0 or not text_of(kept["source"]).strip()
        found.append(Written(name, _heading(assignment.cells[:place]) or name, mark, blank))
    return found


def _heading(above: Sequence[Mapping[str, Any]]) -> str:
    """The heading of a question: that of the text above it, without its points."""
    text = text_of(above[-1]["source"]) if above else ""
    first = text.strip().partition("\n")[0]
    return first.lstrip("#").partition("(")[0].strip() if first.startswith("#") else ""


def shown(found: Overview, result: Result, notebook: Mapping[str, Any]) -> list[Shown]:
    """The cells of a kept notebook that the page shows, in their order."""
    lines = {line.name: line for line in found.lines}
    written = {answer.name: answer for answer in found.written}
    cells = []
    for cell in notebook["cells"]:
        kind, name, id_ = kind_of(cell), grade_id(cell), text_of(cell.get("id"))
        tested = name.removeprefix("test_")
        if kind == CellKind.TEST and tested in lines:
            cells.append(Shown(kind, cell, name, lines[tested], cases=result.verdicts[tested].cases))
        elif kind == CellKind.ANSWER and name in lines:
            cells.append(Shown(kind, cell, name, lines[name]))
        elif kind == CellKind.WRITTEN and name in written:
            cells.append(Shown(kind, cell, name, written=written[name]))
        elif id_.startswith(OWN):
            cells.append(Shown(CellKind.OWN, cell))
        elif id_.startswith("question"):
            cells.append(Shown(CellKind.TEXT, cell))
    return cells
