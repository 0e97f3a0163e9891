"""nbgrader's gradebook, the system of record. One writer at a time."""

import importlib
import importlib.util
import json
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.grade import GRADED, Assignment, Graded

# An optional checker of web addresses that jsonschema would load; it takes longer (1.3 s) than all else together.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


class GradebookError(Exception):
    """The gradebook cannot be used; the message says what to do."""


@contextmanager
def open_gradebook(db_url: str, course_id: str) -> Iterator[Any]:
    """nbgrader's Gradebook; a new one is made if there is none."""
    api = _nbgrader_api()
    api.get_alembic_version = _alembic_head
    if db_url.startswith("sqlite:///"):
        Path(db_url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    try:
        book = api.Gradebook(db_url, course_id)
    except Exception as error:
        raise GradebookError(
            f"{db_url}: the gradebook cannot be opened ({type(error).__name__}: {error}). If nbgrader was upgraded, back the file up "
            "and run `nbgrader db upgrade`"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Object of type .* not in session")  # nbgrader's own way of adding
            yield book
    finally:
        book.close()


def load_nbgrader() -> None:
    """Import what a gradebook needs, which takes a second; meant for a thread while the first submission is graded."""
    _nbgrader_api()
    importlib.import_module("alembic.script")


def _nbgrader_api() -> Any:
    """nbgrader.api without what nbgrader imports for its server extensions, which takes longer than grading a few notebooks."""
    if "nbgrader" not in sys.modules:
        spec = importlib.util.find_spec("nbgrader")
        assert spec is not None and spec.submodule_search_locations is not None
        package = types.ModuleType("nbgrader")
        package.__path__ = list(spec.submodule_search_locations)
        package.__spec__ = spec
        sys.modules["nbgrader"] = package
    return importlib.import_module("nbgrader.api")


def _alembic_head() -> str:
    """What nbgrader asks of a process of its own (3 s) when it makes a gradebook: the version of its tables."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def save_assignment(book: Any, assignment: Assignment) -> None:
    """Make the gradebook's record of a module equal to ours, also when there are submissions already.

    nbgrader refuses to change a notebook that has submissions; here cells are updated and added, and those that are gone lose
    their grades.
    """
    with _one_transaction(book):
        _save_cells(book, assignment)


def _save_cells(book: Any, assignment: Assignment) -> None:
    from nbgrader.api import BaseCell, Comment, Grade, MissingEntry

    book.update_or_create_assignment(assignment.module)
    try:
        notebook = book.find_notebook(assignment.notebook, assignment.module)
    except MissingEntry:
        kernel = json.dumps(assignment.metadata.get("kernelspec", {}))
        notebook = book.add_notebook(assignment.notebook, assignment.module, kernelspec=kernel)
    where = (assignment.notebook, assignment.module)
    graded, solutions, sources = set(), set(), set()
    for cell in assignment.cells:
        mark = cell["metadata"].get("nbgrader")
        if mark is None:
            continue
        name, kind = mark["grade_id"], cell["cell_type"]
        source = "".join(cell["source"])
        sources.add(name)
        book.update_or_create_source_cell(
            name, *where, cell_type=kind, locked=mark["locked"], source=source, checksum=mark.get("checksum")
        )
        if mark["grade"]:
            graded.add(name)
            book.update_or_create_grade_cell(name, *where, max_score=float(mark["points"]), cell_type=kind)
        if mark["solution"]:
            solutions.add(name)
            book.update_or_create_solution_cell(name, *where)
    book.db.expire(notebook)
    wanted = {id(c): c.name in graded for c in notebook.grade_cells} | {
        id(c): c.name in solutions for c in notebook.solution_cells
    }
    for cell in [*notebook.grade_cells, *notebook.solution_cells]:
        if not wanted[id(cell)]:
            book.db.query(Grade).filter(Grade.cell_id == cell.id).delete()
            book.db.query(Comment).filter(Comment.cell_id == cell.id).delete()
            book.db.query(BaseCell).filter(BaseCell.id == cell.id).delete()
    for cell in notebook.source_cells:
        if cell.name not in sources:
            book.db.delete(cell)
    for submitted in notebook.submissions:
        has = {g.cell_id for g in submitted.grades} | {c.cell_id for c in submitted.comments}
        for cell in notebook.grade_cells:
            if cell.id not in has and cell.name in graded:
                book.db.add(Grade(cell_id=cell.id, notebook=submitted))
        for cell in notebook.solution_cells:
            if cell.id not in has and cell.name in solutions:
                book.db.add(Comment(cell_id=cell.id, notebook=submitted))


@contextmanager
def _one_transaction(book: Any) -> Iterator[None]:
    """All or nothing: nbgrader commits after every change, here once at the end."""
    book.db.commit = book.db.flush
    try:
        yield
    except BaseException:
        book.db.rollback()
        raise
    finally:
        del book.db.commit
    book.db.commit()


def late_plugin(config: Any) -> Any:
    """nbgrader's plug-in for late submissions, as its configuration says."""
    from nbgrader.plugins import LateSubmissionPlugin
    from traitlets.utils.importstring import import_item

    plugin = config.AssignLatePenalties.get("plugin_class", LateSubmissionPlugin)
    return (import_item(plugin) if isinstance(plugin, str) else plugin)(config=config)


def record(book: Any, assignment: Assignment, student: str, graded: Graded, timestamp: str, late: Any) -> None:
    """Write what came of one submission, in one transaction; grades and comments given by hand are not touched.

    late  nbgrader's plug-in for late submissions
    """
    with _one_transaction(book):
        _record(book, assignment, student, graded, timestamp, late)


def _record(book: Any, assignment: Assignment, student: str, graded: Graded, timestamp: str, late: Any) -> None:
    book.update_or_create_student(student)
    stamp = {} if not timestamp else {"timestamp": timestamp}
    submission = book.update_or_create_submission(assignment.module, student, **stamp)
    notebook = book.find_submission_notebook(assignment.notebook, assignment.module, student)
    outcome = _outcome(graded)
    for grade in notebook.grades:
        grade.auto_score = outcome.get(grade.name, 0.0)
        hand_given = grade.manual_score is not None
        grade.needs_manual_grade = graded.status == GRADED and (hand_given or grade.auto_score is None)
    for comment in notebook.comments:
        unanswered = graded.notebook is not None and comment.name in graded.blank
        comment.auto_comment = "No response." if unanswered else None
    book.db.flush()
    notebook.late_submission_penalty = None
    if submission.total_seconds_late > 0:
        book.db.refresh(notebook)
        penalty = late.late_submission_penalty(student, notebook.score, submission.total_seconds_late)
        if penalty is not None:
            notebook.late_submission_penalty = min(max(penalty, 0), notebook.score)


def _outcome(graded: Graded) -> Mapping[str, float | None]:
    """The automatic score of each graded cell: points of a verdict, 0 for a blank written answer, None for one to be read."""
    scores: dict[str, float | None] = {f"test_{name}": float(v.points) for name, v in graded.verdicts.items()}
    if graded.notebook is not None:
        for cell in graded.notebook["cells"]:
            mark = cell["metadata"].get("nbgrader", {})
            if mark.get("grade") and mark.get("solution"):
                scores[mark["grade_id"]] = 0.0 if mark["grade_id"] in graded.blank else None
    return scores
