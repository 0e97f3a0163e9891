"""The gradebook's record of a module's cells follows the course, whatever grades there are already."""

import json
from typing import Any

from grader.course import Assignment
from grader.errors import GradebookError


def save_cells(book: Any, assignment: Assignment) -> None:
    """Rename, update, add and delete cells in nbgrader's tables. Raises GradebookError; who calls it undoes all then."""
    from nbgrader.api import MissingEntry

    book.update_or_create_assignment(assignment.module)
    try:
        notebook = book.find_notebook(assignment.notebook, assignment.module)
    except MissingEntry:
        kernel = json.dumps(assignment.metadata.get("kernelspec", {}))
        notebook = book.add_notebook(assignment.notebook, assignment.module, kernelspec=kernel)
    _rename(book, notebook, assignment.renamed)
    graded, solutions, sources = _update(book, assignment)
    book.db.expire(notebook)
    gone = [c for c in notebook.grade_cells if c.name not in graded]
    gone += [c for c in notebook.solution_cells if c.name not in solutions]
    _delete(book, notebook, assignment, gone)
    for cell in notebook.source_cells:
        if cell.name not in sources:
            book.db.delete(cell)
    _complete(book, notebook, graded, solutions)


def _rename(book: Any, notebook: Any, renamed: dict[str, str]) -> None:
    """Cells keep their grades and comments under the names that they have now."""
    for cells in (notebook.grade_cells, notebook.solution_cells, notebook.source_cells):
        there = {cell.name for cell in cells}
        for cell in cells:
            new = renamed.get(cell.name)
            if new is not None and new not in there:
                cell.name = new
    book.db.flush()


def _update(book: Any, assignment: Assignment) -> tuple[set[str], set[str], set[str]]:
    """Write what each cell of ours is; names of the graded cells, of the answers, and of all."""
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
    return graded, solutions, sources


def _delete(book: Any, notebook: Any, assignment: Assignment, gone: list[Any]) -> None:
    """Delete cells that are gone from the course, with their automatic grades."""
    from nbgrader.api import BaseCell, Comment, Grade

    _refuse_to_lose_work(notebook, assignment, gone)
    for cell in gone:
        book.db.query(Grade).filter(Grade.cell_id == cell.id).delete()
        book.db.query(Comment).filter(Comment.cell_id == cell.id).delete()
        book.db.query(BaseCell).filter(BaseCell.id == cell.id).delete()


def _refuse_to_lose_work(notebook: Any, assignment: Assignment, gone: list[Any]) -> None:
    """GradebookError if somebody graded or commented one of these cells by hand."""
    ids = {cell.id: cell.name for cell in gone}
    students: dict[str, set[str]] = {}
    for submitted in notebook.submissions:
        by_hand = [g.cell_id for g in submitted.grades if g.manual_score is not None or g.extra_credit]
        by_hand += [c.cell_id for c in submitted.comments if c.manual_comment]
        for cell_id in by_hand:
            if cell_id in ids:
                students.setdefault(ids[cell_id], set()).add(submitted.student.id)
    if students:
        name, who = min(students.items())
        raise GradebookError(
            f'the cell "{name}" is no longer in {assignment.module}, and {len(who)} '
            f"{'student has' if len(who) == 1 else 'students have'} grades or comments in it that were given by hand. If its "
            "exercise was renamed, say in the exercise's `formerly` what it was called; else clear these grades and comments "
            "in the formgrader first"
        )


def _complete(book: Any, notebook: Any, graded: set[str], solutions: set[str]) -> None:
    """Submissions that were there before get an empty grade or comment for each cell that is new."""
    from nbgrader.api import Comment, Grade

    for submitted in notebook.submissions:
        has = {g.cell_id for g in submitted.grades} | {c.cell_id for c in submitted.comments}
        for cell in notebook.grade_cells:
            if cell.id not in has and cell.name in graded:
                book.db.add(Grade(cell_id=cell.id, notebook=submitted))
        for cell in notebook.solution_cells:
            if cell.id not in has and cell.name in solutions:
                book.db.add(Comment(cell_id=cell.id, notebook=submitted))
