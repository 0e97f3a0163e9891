"""Classes to grade: handing in, the command, and what the gradebook holds."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

from grader.course import ROOT

MODULE = "04_attention"
EXAMPLES = sorted(p.name for p in (ROOT / "examples" / "class").iterdir())
ENVIRONMENT = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def hand_in(folder: Path, student: str, data: bytes, name: str = "attention.ipynb") -> Path:
    path = folder / "submitted" / student / MODULE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def grade(folder: Path, *options: str, module: str = MODULE) -> tuple[int, list[dict], str]:
    """Exit status, rows and stderr of `python -m grader grade`."""
    command = [sys.executable, "-m", "grader", "grade", module, "--class", str(folder), "--json", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


GRADES = """
    select s.student_id, c.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade, gc.max_score
    from grade g join submitted_notebook n on g.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id
    join base_cell c on g.cell_id = c.id join grade_cells gc on gc.id = c.id order by 1, 2
"""
COMMENTS = """
    select s.student_id, c.name, m.auto_comment, m.manual_comment
    from comment m join submitted_notebook n on m.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id
    join base_cell c on m.cell_id = c.id order by 1, 2
"""
SUBMISSIONS = """
    select s.student_id, a.name, s.timestamp, n.late_submission_penalty
    from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id join assignment a on a.id = s.assignment_id
    order by 1
"""
SOURCES = "select name, cell_type, locked, source, checksum from source_cell order by 1"


def rows_of(database: Path) -> list[list[tuple]]:
    connection = sqlite3.connect(database)
    try:
        return [connection.execute(query).fetchall() for query in (GRADES, COMMENTS, SUBMISSIONS, SOURCES)]
    finally:
        connection.close()


def set_manual_score(database: Path, student: str, cell: str, score: float) -> None:
    connection = sqlite3.connect(database)
    with connection:
        connection.execute(
            "update grade set manual_score = ?, needs_manual_grade = 0 where id in (select g.id from grade g"
            " join submitted_notebook n on g.notebook_id = n.id join submitted_assignment s on n.assignment_id = s.id"
            " join base_cell c on g.cell_id = c.id where s.student_id = ? and c.name = ?)",
            (score, student, cell),
        )
    connection.close()
