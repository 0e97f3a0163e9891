"""A class of 40 of whom ten hand in the worst that we know: the others do not notice."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from kinds import KINDS
from limits import PATIENCE
from test_gauntlet import MODULE, hand_in, student

from grader.course import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.slow]

WORST = (
    "50 MB of nested lists",
    "200,000 cells",
    "one cell of 30 MB",
    "many threads that compute",
    "endless loop that swallows interrupts",
    "memory without end",
    "thread bomb",
    "the wire: 60 MB",
    "the wire: one byte at a time",
    "an earlier answer's reference: asked a thousand times",
)
JOBS = 2
A_GIGABYTE = 1 << 30
EXAMPLES = sorted((ROOT / "examples" / "class").iterdir())


def grade(folder: Path) -> tuple[dict[str, dict[str, Any]], float, int]:
    """Rows by student, seconds, and the most memory that the grader had, with what judges and without what is jailed."""
    command = [sys.executable, "-m", "grader", "grade", MODULE, "--class", str(folder), "--json", "--jobs", str(JOBS)]
    start, most = time.monotonic(), 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        while process.poll() is None:
            most = max(most, _memory(psutil.Process(process.pid)))
            time.sleep(0.1)
        rows = [json.loads(line) for line in process.stdout]
    assert process.returncode == 0
    return {row["student"]: row for row in rows}, time.monotonic() - start, most


def _memory(process: psutil.Process) -> int:
    try:
        children = [c for c in process.children(recursive=True) if not _is_jailed(c)]
        return sum(p.memory_info().rss for p in (process, *children))
    except psutil.NoSuchProcess:
        return 0


def _is_jailed(process: psutil.Process) -> bool:
    return any(re.search(r"bwrap|sandbox\.worker", part) for part in process.cmdline())


def test_the_others_do_not_notice(tmp_path: Path) -> None:
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    for folder in (calm, disturbed):
        for n in range(30):
            shutil.copytree(
                EXAMPLES[n % len(EXAMPLES)], folder / "submitted" / f"{n}-{EXAMPLES[n % len(EXAMPLES)].name}"
            )
    worst = [kind for kind in KINDS if kind.name in WORST]
    for kind in worst:
        hand_in(disturbed, kind)
    alone, took_alone, _ = grade(calm)
    rows, took, memory = grade(disturbed)
    for name, row in alone.items():
        assert (rows[name]["scores"], rows[name]["messages"]) == (row["scores"], row["messages"])
    found = {kind.name: (rows[student(kind)]["status"], rows[student(kind)]["score"]) for kind in worst}
    assert found == {kind.name: (kind.status, kind.score) for kind in worst} and len(worst) == len(WORST)
    assert took < took_alone + 90 * PATIENCE * len(worst) / JOBS
    assert memory < A_GIGABYTE
