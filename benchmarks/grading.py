"""Grading a class, ours against stock nbgrader: the same notebooks, the same machine, the same run.

    python benchmarks/grading.py [--sizes 1,20,200] [--markdown FILE]

Whole commands are timed, from the shell to the last grade in the gradebook. Stock runs our instructor's notebook as it is, hidden
tests included, in nbgrader's own Execute. Demo cells are taken out on both sides, and once more left in for stock, which
would run them; our grader never does.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from page import replace_tables

from grader.course import ROOT

MODULE = "04_attention"
STOCK_CONFIG = """
from pathlib import Path
c = get_config()
c.CourseDirectory.course_id = "stock"
c.CourseDirectory.root = str(Path(__file__).parent)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "modules"
c.Execute.timeout = 120
"""


@dataclass(frozen=True)
class Measured:
    who: str
    demos: bool
    submissions: int
    seconds: float
    megabytes: float  # largest sum over all processes of the memory that is theirs (shared memory counted once)
    points: set[float]


def notebook(path: Path, demos: bool) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if not demos:
        content["cells"] = [c for c in content["cells"] if "demo" not in c["metadata"].get("tags", ())]
    return content


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds, and the peak of all processes' memory in MB."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=environment)
        peak, done = 0.0, threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.1):
                total = 0
                try:
                    processes = [psutil.Process(process.pid)]
                    processes += processes[0].children(recursive=True)
                except psutil.Error:
                    continue
                for p in processes:
                    try:
                        total += p.memory_full_info().pss
                    except psutil.Error:
                        continue
                peak = max(peak, total / 1e6)

        watcher = threading.Thread(target=watch)
        watcher.start()
        status = process.wait()
        seconds = time.perf_counter() - start
        done.set()
        watcher.join()
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{(folder / 'log.txt').read_text()[-3000:]}")
    return seconds, peak


def points(database: Path) -> set[float]:
    """Automatic points of every submission in a gradebook."""
    query = (
        "import sys; from grader.gradebook import open_gradebook\n"
        "with open_gradebook('sqlite:///' + sys.argv[1], '') as book:\n"
        f"    for s in book.assignment_submissions('{MODULE}'):\n"
        "        print(sum(g.auto_score or 0 for n in s.notebooks for g in n.grades))"
    )
    out = subprocess.run([sys.executable, "-c", query, database], capture_output=True, text=True, check=True).stdout
    return {float(line) for line in out.split()}


def stock(submissions: int, demos: bool) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nbgrader_config.py").write_text(STOCK_CONFIG)
        write(
            folder / "solutions" / MODULE / "attention.ipynb",
            notebook(ROOT / "solutions" / MODULE / "attention.ipynb", demos),
        )
        nbgrader = [sys.executable, "-m", "nbgrader"]
        run([*nbgrader, "generate_assignment", MODULE, "--create"], folder)
        right = notebook(ROOT / "examples" / "class" / "ada" / MODULE / "attention.ipynb", demos)
        for n in range(submissions):
            write(folder / "submitted" / f"s{n:03}" / MODULE / "attention.ipynb", right)
        seconds, peak = run([*nbgrader, "autograde", MODULE], folder)
        return Measured("stock nbgrader", demos, submissions, seconds, peak, points(folder / "gradebook.db"))


def ours(submissions: int) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = ROOT / "examples" / "class" / "ada" / MODULE / "attention.ipynb"
        for n in range(submissions):
            target = folder / "class" / "submitted" / f"s{n:03}" / MODULE / "attention.ipynb"
            target.parent.mkdir(parents=True)
            shutil.copy(source, target)
        command = [sys.executable, "-m", "grader", "grade", MODULE, "--class", str(folder / "class"), "--json"]
        seconds, peak = run(command, folder)
        return Measured("ours", False, submissions, seconds, peak, points(folder / "class" / "gradebook.db"))


def first_row() -> float:
    """Seconds from the command to the first row of results, for a new class."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(ROOT / "examples" / "class", Path(name) / "submitted")
        command = [sys.executable, "-m", "grader", "grade", MODULE, "--class", name, "--json"]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - start
        process.communicate()
        return seconds


def where_time_goes() -> list[tuple[str, float]]:
    """Seconds of one right submission, step by step, in a warm jail; medians."""
    from exercises.judge import judge
    from grader.course import load_assignment
    from grader.grade import run_cell
    from grader.rebuild import is_run, rebuild
    from grader.sandbox.check_jail import open_jail
    from grader.sandbox.session import JailSession

    assignment = load_assignment(MODULE)
    data = (ROOT / "examples" / "class" / "ada" / MODULE / "attention.ipynb").read_bytes()
    jail = open_jail(MODULE)
    steps: dict[str, list[float]] = {}
    for _ in range(20):
        times = [time.perf_counter()]
        cells = [p for p in rebuild(data, assignment).parts if is_run(p)]
        times.append(time.perf_counter())
        session = JailSession(jail, [run_cell(part) for part in cells], {e.defines for e in assignment.exercises})
        session.run()
        times.append(time.perf_counter())
        for exercise in assignment.exercises:
            judge(exercise, session)
        times.append(time.perf_counter())
        session.close()
        times.append(time.perf_counter())
        for name, a, b in zip(
            ("rebuild", "copy and run cells", "ask and judge", "end"), times, times[1:], strict=False
        ):
            steps.setdefault(name, []).append(b - a)
    jail.close()
    return [(name, median(values)) for name, values in steps.items()]


def comparison(page: str) -> list[str]:
    """README's table, from the page of performance."""
    (cores, stocks_version) = re.findall(r"^On (\d+) cores, with nbgrader (.*)\.$", page, re.MULTILINE)[0]

    def taken(who: str, demos: str, submissions: int) -> str:
        (found,) = re.findall(rf"^\| {who} \| {demos} \| {submissions} \| ([\d.]+) \|", page, re.MULTILINE)
        return f"{float(found):.1f} s" if float(found) < 10 else f"{float(found):.0f} s"

    few, many = taken("ours", "none", 20), taken("ours", "none", 200)
    return [
        f"| on {cores} cores | stock nbgrader {stocks_version} | this grader |",
        "|---|---|---|",
        "| where the verdict is decided | in the student's process | outside it, from arrays |",
        f"| 20 right submissions, whole command | {taken('stock nbgrader', 'none', 20)} | {few} |",
        f"| the same, with the demonstrations left in | {taken('stock nbgrader', 'run', 20)} | {few} (they are not run) |",
        f"| 200 right submissions | {taken('stock nbgrader', 'none', 200)} | {many} |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1,20,200")
    parser.add_argument("--markdown", type=Path, help="a page whose tables are to be replaced")
    options = parser.parse_args()
    rows: list[Measured] = []
    for size in map(int, options.sizes.split(",")):
        rows += [ours(size), stock(size, demos=False)]
        if size <= 20:
            rows.append(stock(size, demos=True))
    lines = [
        f"On {os.cpu_count()} cores, with nbgrader {version('nbgrader')}.",
        "",
        "| who | demo cells | submissions | seconds | seconds each | times ours | peak memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        assert row.points == {28.0}, f"{row.who}: {row.points}"
        mine = next(r.seconds for r in rows if r.who == "ours" and r.submissions == row.submissions)
        lines.append(
            f"| {row.who} | {'run' if row.demos else 'none'} | {row.submissions} | {row.seconds:.1f} "
            f"| {row.seconds / row.submissions:.2f} | {row.seconds / mine:.1f} | {row.megabytes:.0f} MB |"
        )
    lines += ["", "| step of one submission, in a warm jail | milliseconds |", "|---|---|"]
    lines += [f"| {name} | {1000 * seconds:.0f} |" for name, seconds in where_time_goes()]
    first = sorted(first_row() for _ in range(8))
    lines += ["", f"First row of results {first[0]:.2f} s after the command (the best of eight runs; "]
    lines[-1] += f"{median(first):.2f} s in the middle, {first[-1]:.2f} s at worst)."
    print("\n".join(lines))
    if options.markdown:
        replace_tables(options.markdown, "grading", lines)
        replace_tables(ROOT / "README.md", "grading", comparison(options.markdown.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
