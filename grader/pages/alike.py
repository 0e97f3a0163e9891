"""Submissions that are alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.classroom import Classroom, find_submission
from grader.course import Assignment
from grader.errors import Unreadable
from grader.notebook import CellKind
from grader.rebuild import rebuild

ALIKE = 90  # per cent, from which two submissions are shown


@dataclass(frozen=True)
class Alike:
    """Two submissions whose answers are nearly the same text; `characters` of the shorter were compared."""

    first: str
    second: str
    percent: float
    characters: int


def alike(students: Sequence[str], assignment: Assignment, classroom: Classroom) -> list[Alike]:
    """Pairs of submissions whose answers, without the lines that were handed out, are alike (rapidfuzz's normalised edit distance)."""
    from rapidfuzz import fuzz

    texts = {name: _own_lines(name, assignment, classroom) for name in students}
    texts = {name: text for name, text in texts.items() if len(text) > 100}
    pairs = []
    for first, second in combinations(sorted(texts), 2):
        percent = fuzz.ratio(texts[first], texts[second], score_cutoff=ALIKE)
        if percent:
            pairs.append(Alike(first, second, round(percent, 1), min(len(texts[first]), len(texts[second]))))
    return sorted(pairs, key=lambda p: (-p.percent, p.first, p.second))


def _own_lines(name: str, assignment: Assignment, classroom: Classroom) -> str:
    """What a student wrote: answers and added cells, without the lines of the student copy."""
    submission = find_submission(classroom.submitted(name, assignment.module), name, assignment)
    try:
        parts = rebuild(submission.data, assignment).parts
    except Unreadable:
        return ""
    given = {line.strip() for cell in assignment.cells for line in "".join(cell["source"]).splitlines()}
    theirs = [p for p in parts if p.kind in (CellKind.ANSWER, CellKind.OWN, CellKind.WRITTEN)]
    lines = [line for p in theirs for line in p.cell["source"].splitlines()]
    return "\n".join(line for line in lines if line.strip() not in given)[:20_000]
