"""A page about one class and one module: how it did, what it did not understand, who needs attention."""

import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograded_tests import EXERCISES
from grader.classroom import Classroom, find_submission, write_whole
from grader.course import Assignment, load_assignment
from grader.errors import CourseError
from grader.pages.alike import ALIKE, Alike, alike
from grader.pages.plots import plot_lost, plot_scores
from grader.records import graded_students, read_kept
from grader.result import Result, Status
from grader.spreadsheet import csv_text

TEMPLATES = Path(__file__).parent / "templates"
Mistakes = list[tuple[str, str, list[str]]]  # (exercise, sentence, who)


def results(assignment: Assignment, classroom: Classroom) -> list[Result]:
    """One for everyone who handed something in, or has been graded."""
    names = {*classroom.students(), *graded_students(assignment, classroom)}
    return [
        read_kept(name, assignment, classroom) or _not_graded(name, assignment, classroom) for name in sorted(names)
    ]


def _not_graded(name: str, assignment: Assignment, classroom: Classroom) -> Result:
    missing = find_submission(classroom.submitted(name, assignment.module), name, assignment).missing
    status = Status.MISSING if missing else Status.NOT_GRADED
    reason = missing or "it was handed in but not graded"
    return Result(name, assignment.module, status, assignment.max_score, reason)


def misconceptions(found: Sequence[Result]) -> Mistakes:
    """The mistakes that have a name, the most common first."""
    who: dict[tuple[str, str], list[str]] = {}
    for result in found:
        for exercise, sentences in result.named.items():
            for sentence in sentences:
                who.setdefault((exercise, sentence), []).append(result.student)
    order = {name: n for n, name in enumerate(EXERCISES)}
    keys = sorted(who, key=lambda k: (-len(who[k]), order.get(k[0], len(order)), k))
    return [(*key, who[key]) for key in keys]


def attention(found: Sequence[Result]) -> list[tuple[str, str]]:
    """(student, why) for everyone who should be looked at."""
    return [
        (r.student, f"{r.status}: {r.reason}" if r.status != Status.GRADED else "no points")
        for r in found
        if r.status != Status.GRADED or r.score == 0
    ]


def write_report(module: str, classroom: Classroom) -> Path:
    """Write report/index.html and its data as CSV files; the page's path. Raises CourseError if nobody has been graded."""
    assignment = load_assignment(module)
    found = results(assignment, classroom)
    graded = [r for r in found if r.status == Status.GRADED]
    if not graded:
        raise CourseError(
            f"{classroom.folder}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    wrong, pairs = misconceptions(found), alike([r.student for r in graded], assignment, classroom)
    folder = classroom.folder / "report"
    folder.mkdir(parents=True, exist_ok=True)
    _write_data(folder, assignment, found, wrong, pairs)
    write_whole(folder / "index.html", _page(assignment, found, graded, wrong, pairs).encode())
    return folder / "index.html"


def _page(
    assignment: Assignment, found: Sequence[Result], graded: Sequence[Result], wrong: Mistakes, pairs: list[Alike]
) -> str:
    from jinja2 import Environment, FileSystemLoader

    lost = _lost(assignment, graded)
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    return environment.get_template("report.html.j2").render(
        module=assignment.module,
        assignment=assignment,
        students=found,
        graded=graded,
        statuses=Counter(r.status for r in found),
        mean=statistics.mean(r.score for r in graded),
        median=statistics.median(r.score for r in graded),
        lost=lost,
        misconceptions=wrong,
        attention=attention(found),
        pairs=pairs[:50],
        alike_from=ALIKE,
        slowest=sorted(graded, key=lambda r: -r.seconds)[:5],
        seconds=statistics.median(r.seconds for r in graded),
        plots={"scores": plot_scores([r.score for r in graded], assignment.max_score), "lost": plot_lost(lost)},
    )


def _lost(assignment: Assignment, graded: Sequence[Result]) -> list[tuple[str, float, float]]:
    """(exercise, points, mean points lost)."""
    return [
        (e.name, e.points, e.points - statistics.mean(r.scores.get(e.name, 0.0) for r in graded))
        for e in assignment.exercises
    ]


def _write_data(
    folder: Path, assignment: Assignment, found: Sequence[Result], wrong: Mistakes, pairs: Sequence[Alike]
) -> None:
    """The page's data, as CSV files."""
    exercises = [e.name for e in assignment.exercises]
    rows: list[list[Any]] = []
    for r in found:
        points = [r.scores.get(e, "") for e in exercises]
        rows.append([r.student, r.status, r.reason, r.score, *points, len(r.repairs), r.seconds])
    head = ["student", "status", "reason", "points", *exercises, "repairs", "seconds"]
    _write(folder / "submissions.csv", [head, *rows])
    rows = [[exercise, sentence, len(who), " ".join(who)] for exercise, sentence, who in wrong]
    _write(folder / "misconceptions.csv", [["exercise", "sentence", "students", "who"], *rows])
    rows = [[p.first, p.second, p.percent, p.characters] for p in pairs]
    _write(folder / "alike.csv", [["first", "second", "percent", "characters"], *rows])


def _write(path: Path, rows: Sequence[Sequence[str | float]]) -> None:
    write_whole(path, csv_text(rows).encode())
