"""Pages about a class: one for each module (how it did, what it did not understand, who needs attention), one for the course."""

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograded_tests import EXERCISES
from grader.classroom import Classroom, write_whole
from grader.course import gradable, load_assignment
from grader.errors import CourseError
from grader.pages.alike import ALIKE, Alike, alike
from grader.pages.markup import page
from grader.pages.plots import plot_lost, plot_scores
from grader.pages.standing import ClassInModule, Standing, graded_modules, label, standings
from grader.pages.words import encoded
from grader.result import Status
from grader.roster import Student
from grader.spreadsheet import csv_text

Said = list[tuple[str, str, list[Standing]]]  # (exercise or nothing, sentence, who)
Rows = Sequence[Sequence[str | float]]


@dataclass(frozen=True)
class Reports:
    """The pages that were written, the course's last; who was left out, and what is wrong with the gradebook."""

    pages: tuple[Path, ...]
    gone: tuple[str, ...]
    trouble: str


def write_reports(classroom: Classroom, module: str = "") -> Reports:
    """Write report/<module>/ for a module, or for all that have results, and report/index.html, the page of the course.

    Raises CourseError if nobody has been graded, or what is there cannot be read or written.
    """
    assignments = graded_modules(map(load_assignment, gradable()), classroom)
    if module and load_assignment(module).module not in {a.module for a in assignments}:
        raise CourseError(
            f"{classroom.folder}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    if not assignments:
        raise CourseError(f"{classroom.folder}: nobody has been graded; run `python -m grader grade MODULE` first")
    found = standings(assignments, classroom)
    folder = classroom.folder / "report"
    pages = [_write_module(folder, m, classroom) for m in found if module in ("", m.assignment.module)]
    pages.append(_write_course(folder, found))
    gone = sorted({name for m in found for name in m.gone if module in ("", m.assignment.module)})
    return Reports(tuple(pages), tuple(gone), found[0].trouble)


def misconceptions(found: Sequence[Standing]) -> Said:
    """The mistakes that have a name, the most common first; a student counts once."""
    order = {name: n for n, name in enumerate(EXERCISES)}
    said = _said(found, lambda s: [(e, sentence) for e, sentences in s.result.named.items() for sentence in sentences])
    return sorted(said, key=lambda m: (-len(m[2]), order.get(m[0], len(order)), m[:2]))


def repairs(found: Sequence[Standing]) -> Said:
    """What was repaired in whose notebook, the most common first."""
    said = _said(found, lambda s: [("", line) for line in s.result.repairs])
    return sorted(said, key=lambda r: (-len(r[2]), r[1]))


def _said(found: Sequence[Standing], lines: Callable[[Standing], list[tuple[str, str]]]) -> Said:
    who: dict[tuple[str, str], list[Standing]] = {}
    for standing in found:
        for key in dict.fromkeys(lines(standing)):
            who.setdefault(key, []).append(standing)
    return [(*key, whose) for key, whose in who.items()]


def attention(found: Sequence[Standing]) -> list[tuple[Standing, str]]:
    """Everyone whose work should be looked at, and why."""
    why = [(s, f"{s.result.status}: {s.result.reason}") for s in found if s.handed_in and s.result.reason]
    return why + [(s, "no points") for s in found if s.result.status == Status.GRADED and s.result.score == 0]


def _write_module(folder: Path, found: ClassInModule, classroom: Classroom) -> Path:
    assignment, people = found.assignment, {s.student.id: s for s in found.everyone}
    pairs = alike([s.student.id for s in found.graded], assignment, classroom)
    place = folder / assignment.module
    place.mkdir(parents=True, exist_ok=True)
    for name, rows in _tables(found, pairs).items():
        write_whole(place / f"{name}.csv", encoded(csv_text(rows)))
    lost = _lost(found)
    automatic = [s.result.score for s in found.graded]
    text = page(
        "report",
        found=found,
        assignment=assignment,
        statuses=Counter(str(s.result.status) for s in found.everyone),
        automatic=_figures(automatic),
        totals=_figures(found.totals),
        lost=lost,
        misconceptions=misconceptions(found.everyone),
        repairs=repairs(found.everyone),
        repaired=sum(bool(s.result.repairs) for s in found.everyone),
        attention=attention(found.everyone),
        pairs=[(people[p.first], people[p.second], p) for p in pairs[:50]],
        alike_from=ALIKE,
        slowest=sorted(found.graded, key=lambda s: -s.result.seconds)[:5],
        seconds=statistics.median(s.result.seconds for s in found.graded) if found.graded else 0,
        plots={"scores": plot_scores(automatic, assignment.max_score), "lost": plot_lost(lost)},
    )
    write_whole(place / "index.html", text.encode())
    return place / "index.html"


def _figures(values: Sequence[float]) -> dict[str, float] | None:
    """Mean and the like; None of nothing."""
    if not values:
        return None
    middle = {"mean": statistics.mean(values), "median": statistics.median(values)}
    return middle | {"least": min(values), "most": max(values), "number": len(values)}


def _lost(found: ClassInModule) -> list[tuple[str, float, float]]:
    """(exercise, points, mean points lost)."""
    scores = [s.result.scores for s in found.graded]
    return [
        (e.name, e.points, e.points - statistics.mean(s.get(e.name, 0.0) for s in scores) if scores else 0.0)
        for e in found.assignment.exercises
    ]


def _tables(found: ClassInModule, pairs: Sequence[Alike]) -> dict[str, Rows]:
    """The page's data, as CSV files."""
    exercises = [e.name for e in found.assignment.exercises]
    head = ["student", "name", "status", "reason", "points", *exercises, "total", "penalty", "to be read", "late"]
    submissions: list[list[str | float]] = [[*head, "repairs", "seconds"]]
    for s in found.everyone:
        r, points = s.result, [s.result.scores.get(e, "") for e in exercises]
        total, penalty = ("" if s.total is None else s.total), (s.grades.penalty if s.grades is not None else "")
        row = [s.student.id, s.student.full_name, r.status, r.reason, r.score, *points, total, penalty]
        submissions.append([*row, " ".join(s.unread), s.late, len(r.repairs), r.seconds])
    wrong = [(e, sentence, len(who), _ids(who)) for e, sentence, who in misconceptions(found.everyone)]
    mended = [(line, len(who), _ids(who)) for _, line, who in repairs(found.everyone)]
    return {
        "submissions": submissions,
        "misconceptions": [("exercise", "sentence", "students", "who"), *wrong],
        "repairs": [("repair", "students", "who"), *mended],
        "alike": [
            ("first", "second", "percent", "characters"),
            *((p.first, p.second, p.percent, p.characters) for p in pairs),
        ],
    }


def _ids(who: Sequence[Standing]) -> str:
    return " ".join(s.student.id for s in who)


def _write_course(folder: Path, found: Sequence[ClassInModule]) -> Path:
    people = {s.student.id: s.student for m in found for s in reversed(m.everyone)}
    standing = [{s.student.id: s for s in m.everyone} for m in found]
    rows = [(people[id_], [of[id_] for of in standing]) for id_ in sorted(people)]
    table = [(student, cells, sum(c.total or 0 for c in cells)) for student, cells in rows]
    text = page(
        "course",
        modules=[(m, _figures(m.totals) or _figures([s.result.score for s in m.graded])) for m in found],
        table=table,
        most=sum(m.max_total for m in found),
        gone=sorted({name for m in found for name in m.gone}),
        trouble=found[0].trouble,
        label=label,
    )
    write_whole(folder / "index.html", text.encode())
    write_whole(folder / "course.csv", encoded(csv_text(_course_table(found, table))))
    return folder / "index.html"


def _course_table(found: Sequence[ClassInModule], table: Sequence[tuple[Student, list[Standing], float]]) -> Rows:
    """Totals by student and module, and in all."""
    names = [m.assignment.module for m in found]
    head = ["student", "name", *names, "total", *(f"{name} {what}" for name in names for what in ("status", "unread"))]
    rows: list[Sequence[str | float]] = [head]
    for student, cells, total in table:
        totals = ["" if c.total is None else c.total for c in cells]
        notes = [note for c in cells for note in (str(c.result.status), " ".join(c.unread))]
        rows.append([student.id, student.full_name, *totals, total, *notes])
    return rows
