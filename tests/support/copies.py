"""Copies of the project, in which a test may change what it likes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# what is not committed
NOT_OURS = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", ".coverage*", ".ipynb_checkpoints", "*.egg-info")
MADE = ("build", "classroom", "classroom-sample", "dist", "workspace")


def copy_of_the_project(folder: Path) -> Path:
    """Its folder, which is called course: so the settings of coverage know it."""
    return Path(shutil.copytree(ROOT, folder / "course", ignore=shutil.ignore_patterns(*NOT_OURS, *MADE)))


def python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, with what is importable there."""
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def run_tests(root: Path, *arguments: str) -> str:
    """What pytest prints in a copy, where all tests that it finds must pass."""
    done = python(root, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(root: Path) -> dict[str, bytes]:
    """The content of every file in a copy."""
    paths = [p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in paths}
