"""Makes classroom-0.1.0.zip, the class of version 0.1.0 that test_takeover.py unpacks. It runs in a checkout of that version:

git worktree add /tmp/v010 3b79503
archive=$PWD/tests/data/classroom-0.1.0.zip script=$PWD/tests/data/make_classroom.py
(cd /tmp/v010 && PYTHONPATH=$PWD OPENBLAS_NUM_THREADS=1 python -P $script $archive)
git worktree remove /tmp/v010

Made again with the same packages, it has the same bytes.
"""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

MODULE, LATER_MODULE = "04_attention", "05_efficient_attention"
GRADED = {name: name for name in ("ada", "ben", "chloe", "dan", "julia")} | {"goran-example_1006": "goran"}
NOT_GRADED = {name: name for name in ("emil", "hana", "ivan")}
STAMPS = {"ada": "2026-03-01 11:30:00 UTC", "dan": "2026-03-01 14:00:00 UTC", "emil": "2026-03-02 09:00:00 UTC"}
DUE = "2026-03-01 12:00:00 UTC"
ONE_TOO_MANY = """def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (distance <= window)).astype(np.float32)
"""


def hand_in(folder: Path, students: dict[str, str]) -> None:
    """Put notebooks of the sample class into submitted/; dan and hana also answer a written question."""
    for student, example in students.items():
        notebook = json.loads(Path("examples", "class", example, MODULE, "attention.ipynb").read_text("utf-8"))
        for cell in notebook["cells"]:
            if example in ("dan", "hana") and _name(cell) == "question_scaling":
                cell["source"] = (
                    "The scores have standard deviation sqrt(D), and a softmax of large scores is nearly 0 or 1."
                )
        write(folder / "submitted" / student / MODULE / "attention.ipynb", notebook)
        if student in STAMPS:
            (folder / "submitted" / student / MODULE / "timestamp.txt").write_text(f"{STAMPS[student]}\n")


def hand_in_later_module(folder: Path, student: str, changed: dict[str, str]) -> None:
    """Put a student copy with the instructor's answers into submitted/, but for those that are changed."""
    file = "efficient_attention.ipynb"
    solved = json.loads(Path("solutions", LATER_MODULE, file).read_text("utf-8"))
    right = {_name(c): "".join(c["source"]) for c in solved["cells"] if _is_answer(c)}
    notebook = json.loads(Path("modules", LATER_MODULE, file).read_text("utf-8"))
    for cell in notebook["cells"]:
        if _name(cell) in right:
            source = re.sub(r"^ *### (BEGIN|END) SOLUTION\n?", "", right[_name(cell)], flags=re.MULTILINE)
            cell["source"] = changed.get(_name(cell), source)
        elif _name(cell) == "question_cache":
            cell["source"] = "It grows by one key and one value for each new word, layer and head."
    write(folder / "submitted" / student / LATER_MODULE / file, notebook)


def _name(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def _is_answer(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code" and bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(notebook, indent=1)}\n", "utf-8")


def grade(folder: Path, module: str) -> None:
    """Grade one student after the other, so that the gradebook's rows are in the same order each time."""
    command = [sys.executable, "-P", "-m", "grader", "grade", module, "--class", str(folder)]
    for path in sorted(folder.glob(f"submitted/*/{module}")):
        subprocess.run([*command, "--student", path.parent.name], check=True)


def give_grades_by_hand(folder: Path) -> None:
    """What an instructor does: names, a due date, and grades and comments as the formgrader writes them."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "tinytorch") as book:
        book.update_or_create_student("ada", first_name="Ada", last_name="Lovelace", email="ada@example.org")
        book.update_or_create_student("goran-example_1006", first_name="Goran", last_name="Example")
        book.add_student("nina", first_name="Nina", last_name="Never", email="nina@example.org", lms_user_id="1099")
        book.update_or_create_assignment(MODULE, duedate=DUE)
        for student, cell, points, extra in [
            ("ada", "question_scaling", 3.5, None),
            ("ada", "question_masking", 4.0, 1.0),
            ("ben", "test_scale_scores", 1.0, None),
            ("dan", "test_apply_mask", None, 0.25),
            ("uma", "question_masking", 2.0, None),
        ]:
            given = book.find_grade(cell, "attention", MODULE, student)
            given.manual_score, given.extra_credit = points, extra
            given.needs_manual_grade = points is None and given.auto_score is None
        later = book.find_grade("question_cache", "efficient_attention", LATER_MODULE, "ada")
        later.manual_score, later.needs_manual_grade = 3.0, False
        for student, cell, text in [
            ("ada", "question_scaling", "Right; say also what happens without the root."),
            ("ben", "scale_scores", "You showed me this in class: 1 point. Grüße, 李"),
            ("chloe", "scale_scores", "Look at the variance once more."),
        ]:
            book.find_comment(cell, "attention", MODULE, student).manual_comment = text
        book.db.commit()


def make_reproducible(folder: Path) -> None:
    """Count the gradebook's random keys, and set all times that were measured to 0.05 s."""
    database = folder / "gradebook.db"
    old = sqlite3.connect(database)
    tables = ["assignment", "notebook", "base_cell", "source_cell", "submitted_assignment", "submitted_notebook"]
    keys: dict[str, str] = {}
    for table in [*tables, "grade", "comment"]:
        for (key,) in old.execute(f"select id from {table} order by rowid"):
            keys[key] = f"{len(keys) + 1:032x}"
    script = re.sub(r"'([0-9a-f]{32})'", lambda m: f"'{keys.get(m[1], m[1])}'", "\n".join(old.iterdump()))
    old.close()
    database.unlink()
    new = sqlite3.connect(database)
    new.executescript(script)
    new.execute("vacuum")
    new.close()
    for path in folder.glob("autograded/*/*/*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        notebook["metadata"]["grader"]["seconds"] = 0.05
        write(path, notebook)


def pack(folder: Path, archive: Path) -> None:
    """Pack all files and empty folders, in order and without their times."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir() and not any(path.iterdir()):
                packed.writestr(_entry(f"{name}/", 0o40755), b"")
            elif path.is_file() and path.name != ".grader.lock":
                packed.writestr(_entry(name, 0o100644), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _entry(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    return entry


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        hand_in(folder, GRADED)
        hand_in_later_module(folder, "ada", {})
        hand_in_later_module(folder, "chloe", {"sliding_window_mask": ONE_TOO_MANY})
        (folder / "submitted" / "eve" / MODULE).mkdir(parents=True)
        unreadable = folder / "submitted" / "uma" / MODULE / "attention.ipynb"
        unreadable.parent.mkdir(parents=True)
        unreadable.write_text('{"cells": [')
        grade(folder, MODULE)
        grade(folder, LATER_MODULE)
        give_grades_by_hand(folder)
        hand_in(folder, NOT_GRADED)
        make_reproducible(folder)
        pack(folder, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
