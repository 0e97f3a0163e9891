"""The notebooks in modules/ and what lies beside them: whether somebody worked in one, and copies of them for work."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from grader.classroom import write_whole
from grader.course import ROOT, modules, student_copy
from grader.errors import CourseError
from grader.notebook import text_of

STAMP = "handed_out"  # a notebook's metadata: a digest of the cells that were handed out
NOT_OURS = {"__pycache__", ".ipynb_checkpoints"}
NOT_HANDED_OUT = ("*.pyi", "ruff.toml")  # of what lies beside a notebook in solutions/


def _digest(notebook: dict[str, Any]) -> str:
    """Of each cell's id, type and source: running a notebook does not change it, working in it does."""
    cells = [[c.get("id"), c["cell_type"], text_of(c["source"])] for c in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def stamped(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook that says what was handed out."""
    return notebook | {"metadata": notebook["metadata"] | {STAMP: _digest(notebook)}}


def has_work(path: Path) -> bool:
    """Whether a file is no longer the notebook that was handed out, or never was one."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return bool(notebook["metadata"][STAMP] != _digest(notebook))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return True


def files(base: Path, part: str) -> set[Path]:
    """What is in base/part, as paths from base."""
    found = (p for p in (base / part).rglob("*") if p.is_file())
    return {p.relative_to(base) for p in found if not NOT_OURS & set(p.parts)}


def beside(module: str) -> dict[str, bytes]:
    """Name and content of what goes along with a notebook: the other files of its folder in modules/, such as a text that it reads.

    A file that solutions/ does not have is somebody's own and is left out. Raises CourseError for one that is not there.
    """
    folder, found = student_copy(module).parent, {}
    for path in sorted(files(ROOT / "solutions" / module, ".")):
        if path.suffix == ".ipynb" or any(path.match(pattern) for pattern in NOT_HANDED_OUT):
            continue
        if not (folder / path).is_file():
            raise CourseError(f"{(folder / path).relative_to(ROOT)} is not there; run `make course`")
        found[path.as_posix()] = (folder / path).read_bytes()
    return found


def replace_copies(root: Path, new: Path) -> list[Path]:
    """Put new copies in place of the old ones in modules/; which were kept, since somebody worked in them."""
    old_files, new_files = files(root, "modules"), files(new, "modules")
    kept = []
    for path in sorted(old_files):
        there = root / path
        if path in new_files and (there.read_bytes() == (new / path).read_bytes() or path.suffix != ".ipynb"):
            continue
        if has_work(there):
            kept.append(path)
        else:
            there.unlink()
    for path in sorted(new_files):
        if path.suffix != ".ipynb" or not (root / path).exists():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new / path, root / path)
    for folder in {(root / path).parent for path in old_files}:
        if not any(folder.iterdir()):
            folder.rmdir()
    return kept


def fill_workspace(folder: Path) -> list[str]:
    """Copy each notebook of modules/, and what lies beside it, to folder/<module>/ if it is not there yet.

    A line about each file that was copied, and about each that is another version now.
    """
    lines = []
    for module in modules():
        handed_out = student_copy(module)
        own = folder / module / handed_out.name
        if not own.exists():
            write_whole(own, handed_out.read_bytes())
            lines.append(f"{own}: copied from {handed_out.relative_to(ROOT)}")
        elif _stamp(own) != _stamp(handed_out):
            lines.append(f"{own}: yours, unchanged; {handed_out.relative_to(ROOT)} is another version now")
        for name, data in beside(module).items():
            path, there = folder / module / name, (handed_out.parent / name).relative_to(ROOT)
            if not path.exists():
                write_whole(path, data)
                lines.append(f"{path}: copied from {there}")
            elif path.read_bytes() != data:
                lines.append(f"{path}: yours, unchanged; {there} is another version now")
    return lines


def _stamp(path: Path) -> str | None:
    """What a notebook says of what was handed out."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["metadata"].get(STAMP))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
