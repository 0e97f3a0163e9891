"""The command line: python -m grader."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import course

if TYPE_CHECKING:
    from grader.batch import Row


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader", description="Make the course, and grade a class.")
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("course", help="make tinytorch/ and modules/ from solutions/")
    make.add_argument("--check", action="store_true", help="change nothing; fail if what is there differs")
    make.add_argument("--run", action="store_true", help="also run every instructor notebook")
    take = _class_command(commands, "collect", "take submissions from an archive of a learning platform")
    take.add_argument("archive", metavar="ARCHIVE", type=Path, help="a zip file or a folder")
    take.add_argument(
        "--pattern", metavar="REGEX", action="append", default=[], help="for paths, with (?P<student>) and (?P<file>)"
    )
    grade = _class_command(commands, "grade", "grade a class, record it in the gradebook, print a table")
    grade.add_argument("--student", metavar="ID", action="append", default=[], help="only this one; may be repeated")
    grade.add_argument("--jobs", metavar="N", type=int, default=0, help="at a time; one per core if not given")
    grade.add_argument("--force", action="store_true", help="grade unchanged submissions again")
    grade.add_argument("--json", action="store_true", help="print one JSON object a line and nothing else")
    _class_command(commands, "feedback", "write feedback pages for everyone who has been graded")
    _class_command(commands, "report", "write a page about the class")
    export = _class_command(commands, "export", "print grades for a learning platform")
    export.add_argument("--format", choices=("csv", "canvas", "moodle"), default="csv")
    kit = commands.add_parser("kit", help="make the archive that students get")
    kit.add_argument("module", metavar="MODULE", nargs="*", help="all modules if none is named")
    attempt = commands.add_parser("try", help="judge one notebook at once; nothing is recorded")
    attempt.add_argument("file", metavar="FILE", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.command == "course":
            return _course(options.check, options.run)
        return COMMANDS[options.command](options)
    except KeyboardInterrupt:
        print(
            f"{options.command}: stopped; what was done is kept, the same command goes on from there", file=sys.stderr
        )
        return 130
    except Exception as error:
        if type(error).__name__ not in ("CourseError", "JailError", "GradebookError"):
            raise
        print(f"{options.command}: {error}", file=sys.stderr)
        return 1


def _class_command(commands: Any, name: str, purpose: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    command.add_argument("module", metavar="MODULE", help="for example 04_attention")
    command.add_argument("--class", dest="folder", metavar="DIR", type=Path, default=course.ROOT / "classroom")
    return command


def _course(check: bool, run: bool) -> int:
    differences = course.build(check=check)
    for line in differences:
        print(f"course: {line}", file=sys.stderr if check else sys.stdout)
    if check and differences:
        print("course: run `make course` and commit what it makes", file=sys.stderr)
        return 1
    if run:
        for module in course.modules():
            course.run_notebook(course.module_notebook(module))
    return 0


def _grade(options: argparse.Namespace) -> int:
    from grader.jail import close_warming, start_warming

    start_warming(options.module)
    try:
        return _grade_class(options)
    finally:
        close_warming()


def _grade_class(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from grader import batch
    from grader.jail import unprotected

    if unprotected():
        print("grade: GRADER_JAIL=none: nothing protects this machine from what students wrote", file=sys.stderr)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=options.json or not sys.stderr.isatty(),
    )
    task = progress.add_task("", total=None)

    def on_row(row: "Row") -> None:
        progress.update(task, advance=1, description=row.student)
        if options.json:
            print(row.to_json(), flush=True)
        elif row.status != "graded":
            progress.console.print(
                f"grade: {row.student}/{row.module}: {row.status}: {row.reason}", markup=False, soft_wrap=True
            )

    with progress:
        rows = batch.grade_class(
            options.module,
            batch.Classroom(options.folder),
            students=options.student,
            jobs=options.jobs,
            force=options.force,
            on_start=lambda students: progress.update(task, total=len(students)),
            on_row=on_row,
        )
    if not options.json:
        _print_table(rows)
    return 1 if any(row.status == "failed" for row in rows) else 0


def _collect(options: argparse.Namespace) -> int:
    from grader.batch import Classroom
    from grader.collect import collect

    taken = collect(options.module, options.archive, Classroom(options.folder), options.pattern)
    for line in taken:
        print(line)
    skipped = sum(bool(line.reason) for line in taken)
    print(f"collect: {len(taken) - skipped} taken, {skipped} skipped")
    return 0


def _feedback(options: argparse.Namespace) -> int:
    from grader.batch import Classroom
    from grader.feedback import write_feedback

    students = write_feedback(options.module, Classroom(options.folder))
    print(f"feedback: {len(students)} pages in {options.folder / 'feedback'}/<student>/{options.module}/")
    return 0


def _report(options: argparse.Namespace) -> int:
    from grader.batch import Classroom
    from grader.report import write_report

    print(f"report: {write_report(options.module, Classroom(options.folder))}")
    return 0


def _export(options: argparse.Namespace) -> int:
    from grader.batch import Classroom
    from grader.export import export

    sys.stdout.write(export(options.module, Classroom(options.folder), options.format))
    return 0


def _kit(options: argparse.Namespace) -> int:
    from grader.kit import make_kit

    for module in options.module or course.modules():
        print(f"kit: {make_kit(module, course.ROOT / 'dist')}")
    return 0


def _try(options: argparse.Namespace) -> int:
    from grader import batch
    from grader.grade import GRADED, load_assignment

    try:
        data = options.file.read_bytes()
    except OSError as error:
        raise course.CourseError(f"{options.file}: {error.strerror}") from None
    assignments = [load_assignment(module) for module in batch.gradable()]
    assignment = max(assignments, key=lambda a: batch.fit(data, a) / len(a.exercises))
    graded = batch.grade_submission(batch.Submission("", data), assignment.module)
    batch.close_jails()
    if graded.status != GRADED:
        print(f"try: {options.file}: {graded.reason}", file=sys.stderr)
        return 1
    print("\n\n".join(str(verdict) for verdict in graded.verdicts.values()))
    for line in graded.repairs:
        print(f"note: {line}")
    print(f"\n{graded.score:g} of {assignment.max_score:g} points")
    return 0


def _print_table(rows: Sequence["Row"]) -> None:
    """One line per student: points, exercise by exercise, and what there is to know."""
    from rich.console import Console
    from rich.table import Table

    exercises = next((list(row.scores) for row in rows if row.scores), [])
    table = Table(box=None, pad_edge=False)
    table.add_column("student")
    table.add_column("points", justify="right")
    for number in range(len(exercises)):
        table.add_column(str(number + 1), justify="right")
    table.add_column("")
    for row in rows:
        points = [f"{row.scores[name]:g}" if name in row.scores else "" for name in exercises]
        note = row.status if row.status != "graded" else "unchanged" if row.unchanged else ""
        if row.repairs:
            note = f"{note} {len(row.repairs)} repaired".strip()
        table.add_row(row.student, f"{row.score:g}/{row.max_score:g}", *points, note)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(table)
    if exercises:
        console.print("\n" + ", ".join(f"{n + 1} {name}" for n, name in enumerate(exercises)), soft_wrap=True)


COMMANDS = {
    "collect": _collect,
    "grade": _grade,
    "feedback": _feedback,
    "report": _report,
    "export": _export,
    "kit": _kit,
    "try": _try,
}

if __name__ == "__main__":
    sys.exit(main())
