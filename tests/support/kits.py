"""Kits as students use them."""

import subprocess
import sys
import zipfile
from pathlib import Path

from classes import ENVIRONMENT

from grader.kit import make_kit


def unpacked_kit(module: str, folder: Path) -> Path:
    """The folder that a student gets."""
    with zipfile.ZipFile(make_kit(module, folder)) as archive:
        archive.extractall(folder)
    return folder / f"tinytorch-{module}"


def make(kit: Path, verb: str, *more: str) -> subprocess.CompletedProcess[str]:
    """A verb of the kit's Makefile."""
    command = ["make", "--no-print-directory", verb, f"PYTHON={sys.executable}", *more]
    return subprocess.run(command, cwd=kit, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def python_course(kit: Path, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """`python course.py ...`, which stops a cell after some seconds."""
    start = f"import sys, course;  course.SECONDS = {seconds}; sys.exit(course.main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, *arguments]
    return subprocess.run(command, cwd=kit, env=ENVIRONMENT, capture_output=True, text=True, check=False)
