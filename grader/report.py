"""A page about one class and one module: how it did, what it did not understand, who needs attention."""

import csv
import io
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from autograded_tests import EXERCISES
from autograded_tests.exercise import FOLLOWS, TOGETHER
from grader.batch import Classroom, find_submission, write_whole
from grader.course import CourseError
from grader.export import harmless
from grader.grade import GRADED, Assignment, load_assignment
from grader.rebuild import Unreadable, rebuild

ALIKE = 90  # per cent, from which two submissions are shown
NO_MISTAKES = (FOLLOWS, TOGETHER, "Right, once ", "Not answered yet.")


@dataclass(frozen=True)
class Student:
    """What the report knows of one student."""

    name: str
    status: str
    reason: str = ""
    score: float = 0.0
    scores: tuple[tuple[str, float], ...] = ()
    messages: tuple[tuple[str, str], ...] = ()  # (exercise, sentence)
    repairs: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Alike:
    """Two submissions whose answers are nearly the same text; `characters` of the shorter were compared."""

    first: str
    second: str
    percent: float
    characters: int


def students(assignment: Assignment, classroom: Classroom) -> list[Student]:
    """Everyone who handed something in, or has been graded."""
    names = set(classroom.students())
    names |= {p.parents[1].name for p in (classroom.folder / "autograded").glob(f"*/{assignment.module}/*.ipynb")}
    return [_student(name, assignment, classroom) for name in sorted(names)]


def _student(name: str, assignment: Assignment, classroom: Classroom) -> Student:
    path = classroom.autograded(name, assignment.module) / f"{assignment.notebook}.ipynb"
    try:
        row = json.loads(path.read_text(encoding="utf-8"))["metadata"]["grader"]
    except (OSError, ValueError, KeyError):
        submission = find_submission(classroom.submitted(name, assignment.module), name, assignment)
        return Student(
            name,
            "missing" if submission.missing else "not graded",
            submission.missing or "it was handed in but not graded",
        )
    messages = tuple((exercise, m) for exercise, found in row["messages"].items() for m in found)
    scores = tuple(row["scores"].items())
    return Student(
        name,
        row["status"],
        row.get("reason", ""),
        row["score"],
        scores,
        messages,
        tuple(row["repairs"]),
        row["seconds"],
    )


def misconceptions(found: Sequence[Student]) -> list[tuple[str, str, list[str]]]:
    """(exercise, sentence, who), the most common first."""
    who: dict[tuple[str, str], list[str]] = {}
    for student in found:
        for exercise, sentence in student.messages:
            if not sentence.startswith(NO_MISTAKES):
                who.setdefault((exercise, sentence), []).append(student.name)
    order = list(EXERCISES)
    keys = sorted(who, key=lambda k: (-len(who[k]), order.index(k[0]), k[1]))
    return [(*key, who[key]) for key in keys]


def attention(found: Sequence[Student]) -> list[tuple[str, str]]:
    """(student, why) for everyone who should be looked at."""
    return [
        (s.name, f"{s.status}: {s.reason}" if s.status != GRADED else "no points")
        for s in found
        if s.status != GRADED or s.score == 0
    ]


def alike(found: Sequence[Student], assignment: Assignment, classroom: Classroom) -> list[Alike]:
    """Pairs of submissions whose answers, without the lines that were handed out, are alike (rapidfuzz's normalised edit distance)."""
    from rapidfuzz import fuzz

    texts = {}
    for student in found:
        text = _own_lines(student.name, assignment, classroom) if student.status == GRADED else ""
        if len(text) > 100:
            texts[student.name] = text
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
        parts = rebuild(submission.data, assignment.cells, {e.name: e.defines for e in assignment.exercises}).parts
    except Unreadable:
        return ""
    given = {line.strip() for cell in assignment.cells for line in "".join(cell["source"]).splitlines()}
    lines = [line for p in parts if p.kind in ("answer", "added", "written") for line in p.cell["source"].splitlines()]
    return "\n".join(line for line in lines if line.strip() not in given)[:20_000]


def write_report(module: str, classroom: Classroom) -> Path:
    """Write report/index.html and its data as CSV files; the page's path. Raises CourseError if nobody has been graded."""
    from jinja2 import Environment, FileSystemLoader

    assignment = load_assignment(module)
    found = students(assignment, classroom)
    graded = [s for s in found if s.status == GRADED]
    if not graded:
        raise CourseError(
            f"{classroom.folder}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    wrong, pairs = misconceptions(found), alike(found, assignment, classroom)
    folder = classroom.folder / "report"
    folder.mkdir(parents=True, exist_ok=True)
    exercises = [e.name for e in assignment.exercises]
    _write_csv(
        folder / "submissions.csv",
        ["student", "status", "reason", "points", *exercises, "repairs", "seconds"],
        [
            [
                s.name,
                s.status,
                s.reason,
                s.score,
                *(dict(s.scores).get(e, "") for e in exercises),
                len(s.repairs),
                s.seconds,
            ]
            for s in found
        ],
    )
    _write_csv(
        folder / "misconceptions.csv",
        ["exercise", "sentence", "students", "who"],
        [[e, m, len(w), " ".join(w)] for e, m, w in wrong],
    )
    _write_csv(
        folder / "alike.csv",
        ["first", "second", "percent", "characters"],
        [[p.first, p.second, p.percent, p.characters] for p in pairs],
    )
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True)
    page = environment.get_template("report.html.j2").render(
        module=module,
        assignment=assignment,
        students=found,
        graded=graded,
        statuses=Counter(s.status for s in found),
        mean=statistics.mean(s.score for s in graded),
        median=statistics.median(s.score for s in graded),
        lost=_lost(assignment, graded),
        misconceptions=wrong,
        attention=attention(found),
        pairs=pairs[:50],
        alike_from=ALIKE,
        slowest=sorted(graded, key=lambda s: -s.seconds)[:5],
        seconds=statistics.median(s.seconds for s in graded),
        plots={"scores": _plot_scores(assignment, graded), "lost": _plot_lost(assignment, graded)},
    )
    write_whole(folder / "index.html", page.encode())
    return folder / "index.html"


def _lost(assignment: Assignment, graded: Sequence[Student]) -> list[tuple[str, float, float]]:
    """(exercise, points, mean points lost)."""
    return [
        (e.name, e.points, e.points - statistics.mean(dict(s.scores)[e.name] for s in graded))
        for e in assignment.exercises
    ]


def _write_csv(path: Path, head: Sequence[str], rows: Sequence[Sequence[str | float]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([[harmless(value) for value in row] for row in rows])
    write_whole(path, text.getvalue().encode())


def _plot_scores(assignment: Assignment, graded: Sequence[Student]) -> str:
    import numpy as np

    figure, axes = _axes(7, 2.6)
    most = int(np.ceil(assignment.max_score))
    axes.hist([s.score for s in graded], bins=np.linspace(0, most, min(most, 28) + 1), color="0.35", edgecolor="white")
    axes.set(xlabel="points", ylabel="submissions", xlim=(0, most))
    axes.yaxis.get_major_locator().set_params(integer=True)
    return _svg(figure)


def _plot_lost(assignment: Assignment, graded: Sequence[Student]) -> str:
    lost = _lost(assignment, graded)[::-1]
    figure, axes = _axes(7, 0.9 + 0.32 * len(lost))
    axes.barh([name for name, _, _ in lost], [100 * part / points for _, points, part in lost], color="0.35")
    axes.set(xlabel="points lost on average, per cent of the exercise's", xlim=(0, 100))
    return _svg(figure)


def _axes(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    """A figure as an element of a page, the same bytes for the same data."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "report"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
