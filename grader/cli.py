"""The command line: python -m grader."""

import argparse
import errno
import io
import os
import select
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from exercises.errors import UserError
from grader import course
from grader.errors import CourseError, is_bug, told
from grader.options import parser
from grader.printable import printable, say

if TYPE_CHECKING:
    from grader.classroom import Classroom
    from grader.result import Result


def main(arguments: list[str] | None = None) -> int:
    """Run a command; its exit status: 0, 1 for a failure that was told, 2 for a command that is none."""
    _open_output()
    try:
        options = parser().parse_args(arguments)
    except UserError as error:  # in settings.ini, which has the version
        say(f"grader: {error}", error=True)
        return 1
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process with one thread can be copied (WarmProcess)
    try:
        status = COMMANDS[options.command](options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        say(f"{options.command}: stopped; what was done is kept, the same command goes on from there", error=True)
        return 130
    except UserError as error:
        for line in str(error).split("\n"):
            say(f"{options.command}: {line}", error=True)
        return 1
    except OSError as error:
        return _refused(options.command, error)
    return status


def _open_output() -> None:
    """Standard output and standard error that are there, and take every letter: a name must not stop a command."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before we began
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _refused(command: str, error: OSError) -> int:
    """Say what the system refused; the exit status. A bug of ours is raised again."""
    nobody_reads = error.errno == errno.EPIPE and any(map(_is_closed, (sys.stdout, sys.stderr)))
    if not nobody_reads:
        if is_bug(error):
            raise error
        say(f"{command}: {told(error)}", error=True)
    try:
        sys.stdout.flush()
    except OSError:  # what is still to be printed is dropped: Python would try it again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _is_closed(stream: TextIO) -> bool:
    """Whether nobody reads a pipe any more, as with `| head`."""
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLERR)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _course(options: argparse.Namespace) -> int:
    from grader.build import build, run_notebook

    differences, kept = build(check=options.check)
    for line in differences:
        print(f"course: {line}", file=sys.stderr if options.check else sys.stdout)
    for line in kept:
        print(f"course: {line}", file=sys.stderr)
    if options.check and differences:
        print("course: run `make course` and commit what it makes", file=sys.stderr)
        return 1
    if options.run:
        for module in course.modules():
            run_notebook(course.module_notebook(module))
    return 0


def _grade(options: argparse.Namespace) -> int:
    from grader.sandbox import pool

    pool.warm_up(options.module)
    try:
        return _grade_class(options)
    finally:
        pool.close()


def _grade_class(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from grader import batch, quick_nbgrader
    from grader.classroom import Classroom
    from grader.result import Status

    _say_weaknesses(options)
    classroom = Classroom(options.folder)
    students = _asked_for(options.student, classroom)
    unknown = len(students) < len(set(options.student))
    if unknown and not students:
        return 1
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=options.json or not sys.stderr.isatty(),
    )
    task = progress.add_task("", total=None)

    def on_result(result: "Result") -> None:
        progress.update(task, advance=1, description=printable(result.student))
        if options.json:
            print(result.to_json(), flush=True)
        elif result.status != Status.GRADED:
            progress.console.print(
                printable(f"grade: {result.student}/{result.module}: {result.status}: {result.reason}"),
                markup=False,
                soft_wrap=True,
            )

    with progress:
        results = batch.grade_class(
            options.module,
            classroom,
            students=students,
            jobs=options.jobs,
            force=options.force,
            on_start=lambda students: progress.update(task, total=len(students)),
            on_result=on_result,
            meanwhile=quick_nbgrader.load,
            on_line=lambda line: print(f"grade: {line}", file=sys.stderr),
        )
    if not options.json:
        _print_table(results)
    return 1 if unknown or any(result.status == Status.FAILED for result in results) else 0


def _asked_for(students: Sequence[str], classroom: "Classroom") -> list[str]:
    """Those of the students that are in the class; the others are named, each with the one who is called most like them."""
    from difflib import get_close_matches

    from grader import roster

    known = {**roster.read_roster(classroom), **roster.students(classroom)} if students else {}
    for name in dict.fromkeys(students) if known else ():
        if name not in known:
            nearest = get_close_matches(name, known, 1, 0)[0]
            say(f'grade: nobody in the class is called "{name}"; the nearest is "{nearest}"', error=True)
    return [name for name in dict.fromkeys(students) if name in known or not known]


def _say_weaknesses(options: argparse.Namespace) -> None:
    from grader.sandbox.check_jail import weaknesses

    for line in weaknesses():
        say(f"{options.command}: {line}", error=True)


def _due(options: argparse.Namespace) -> int:
    from grader.classroom import Classroom
    from grader.deadlines import due

    return _say("due", due(options.module, Classroom(options.folder), options.time, options.none))


def _extend(options: argparse.Namespace) -> int:
    from datetime import timedelta

    from grader.classroom import Classroom
    from grader.deadlines import extend

    span = timedelta(days=options.days, hours=options.hours)
    classroom = Classroom(options.folder)
    return _say("extend", extend(options.module, classroom, options.student, options.until, span, options.none))


def _drop(options: argparse.Namespace) -> int:
    from grader import drop
    from grader.classroom import Classroom

    classroom = Classroom(options.folder)
    if not options.delete:
        return _say("drop", (drop.take_back if options.back else drop.drop)(options.student, classroom))
    if not options.yes:
        raise CourseError(f"all that there is of {options.student} would be deleted; say so with --yes")
    return _say("drop", drop.delete(options.student, classroom, options.backups))


def _say(command: str, lines: Sequence[str]) -> int:
    for line in lines:
        print(f"{command}: {line}")
    return 0


def _collect(options: argparse.Namespace) -> int:
    from grader.classroom import Classroom
    from grader.platforms.collect import collect
    from grader.sandbox import pool

    try:
        done = collect(options.module, options.archive, Classroom(options.folder), options.pattern, options.zone)
    finally:
        pool.close()
    for line in done.lines:
        say(str(line))
    taken = {line.student for line in done.lines if line.student}
    skipped = sum(not line.student for line in done.lines)
    say(f"collect: students taken: {len(taken)}, files skipped: {skipped}; read as {done.how}")
    for note in done.notes:
        say(f"collect: {note}", error=True)
    return 1 if done.failed or not taken else 0


def _roster(options: argparse.Namespace) -> int:
    from grader.classroom import Classroom
    from grader.gradebook import open_gradebook, save_students
    from grader.platforms.rosters import enrol

    classroom = Classroom(options.folder)
    done = enrol(options.file, classroom)
    directory = classroom.nbgrader_config().CourseDirectory
    with open_gradebook(directory.db_url, directory.course_id) as book:
        save_students(book, done.students)
    for line in done.troubles:
        say(f"roster: {line}", error=True)
    say(f"roster: {len(done.students)} students, {len(done.new)} of them new")
    if done.not_listed:
        names = ", ".join(done.not_listed[:10]) + " ..." * (len(done.not_listed) > 10)
        say(f"roster: not in {options.file.name}: {names}; `grader drop` takes out who has left")
    return 1 if done.troubles else 0


def _feedback(options: argparse.Namespace) -> int:
    from grader import quick_nbgrader

    quick_nbgrader.load()
    from grader.classroom import Classroom
    from grader.pages.feedback import write_feedback
    from grader.pages.words import counted

    if options.output and not options.zip:
        options.usage("--output goes with --zip")
    pages = write_feedback(options.module, Classroom(options.folder))
    _say_gone(options.command, pages.gone)
    for student, reason in pages.left_out.items():
        print(f"feedback: {student}: left out: {reason}", file=sys.stderr)
    folder = options.folder / "feedback"
    print(f"feedback: {counted(len(pages.written), 'page')} in {folder}/<student>/{options.module}/")
    return max(1 if pages.left_out else 0, _give_back(options) if options.zip else 0)


def _say_gone(command: str, students: Sequence[str]) -> None:
    if students:
        print(f"{command}: left out, since they are no longer in the class: {', '.join(students)}", file=sys.stderr)


def _give_back(options: argparse.Namespace) -> int:
    from grader.classroom import Classroom
    from grader.platforms.give_back import give_back

    given = give_back(options.module, Classroom(options.folder), options.zip, options.output)
    print(f"feedback: {given.path}: {given.pages} pages for {options.zip}")
    for line in given.left_out:
        print(f"feedback: {line}", file=sys.stderr)
    return 1 if given.failed else 0


def _report(options: argparse.Namespace) -> int:
    from grader import quick_nbgrader

    quick_nbgrader.load()
    from grader.classroom import Classroom
    from grader.pages.report import write_reports

    reports = write_reports(Classroom(options.folder), options.module or "")
    _say_gone(options.command, reports.gone)
    if reports.trouble:
        print(f"report: {reports.trouble}", file=sys.stderr)
    for page in reports.pages:
        print(f"report: {page}")
    return 1 if reports.trouble else 0


def _export(options: argparse.Namespace) -> int:
    from grader import quick_nbgrader
    from grader.classroom import Classroom
    from grader.platforms.export import Exported, export, export_totals
    from grader.platforms.fill_in import Target, fill_in_module, fill_in_totals

    _check_export(options)
    quick_nbgrader.load()
    classroom, zero = Classroom(options.folder), options.unread == "zero"
    if options.into is not None:
        target = Target(options.into, options.output, options.column, options.comments, options.scale)
        if options.total:
            done = Exported("", tuple(fill_in_totals(classroom, options.weights, target, zero)))
        else:
            done = Exported("", tuple(fill_in_module(options.module, classroom, target, zero)))
    elif options.total:
        done = export_totals(classroom, options.weights, zero)
    else:
        done = export(options.module, classroom, options.format or "csv", zero)
    sys.stdout.write(done.text)
    for line in done.notes:
        print(f"export: {line}", file=sys.stderr)
    return 0


def _check_export(options: argparse.Namespace) -> None:
    """Leave with a sentence on usage where options do not fit each other."""
    if bool(options.module) == options.total:
        options.usage("name a MODULE, or give --total")
    if options.weights and not options.total:
        options.usage("--weights goes with --total")
    if options.format and (options.into or options.total):
        options.usage("--format is for what is printed of one module; it does not go with --into or --total")
    if not options.into and (options.output or options.column or options.comments or options.scale):
        options.usage("--output, --column, --comments and --scale go with --into")


def _kit(options: argparse.Namespace) -> int:
    from grader.kit import make_kit

    for module in options.module or course.modules():
        say(f"kit: {make_kit(module, course.ROOT / 'dist')}")
    return 0


def _site(options: argparse.Namespace) -> int:
    from grader.site import make_site

    try:
        lines = make_site(options.output, options.module, options.bundle)
    except KeyboardInterrupt:
        say("site: stopped; the site that was there before is still there", error=True)
        return 130
    for line in lines:
        say(f"site: {line}")
    return 0


def _workspace(_options: argparse.Namespace) -> int:
    from grader.student_copies import fill_workspace

    for line in fill_workspace(course.ROOT / "workspace"):
        say(f"workspace: {line}")
    return 0


def _try(options: argparse.Namespace) -> int:
    from grader.batch import grade_submission
    from grader.classroom import Submission, read_file
    from grader.result import Status
    from grader.sandbox import pool

    try:
        data = read_file(options.file)
    except OSError as error:
        raise CourseError(told(error, options.file)) from None
    _say_weaknesses(options)
    assignments = [course.load_assignment(module) for module in course.gradable()]
    try:
        assignment = max(assignments, key=lambda a: pool.fit(data, a) / len(a.exercises))
        result = grade_submission(Submission("", data), assignment.module)
    finally:
        pool.close()
    if result.status != Status.GRADED:
        say(f"try: {options.file}: {result.reason}", error=True)
        return 1
    for line in "\n\n".join(map(str, result.verdicts.values())).split("\n"):
        say(line)
    for line in result.repairs:
        say(f"note: {line}")
    print(f"\n{result.score:g} of {assignment.max_score:g} points")
    return 0


def _print_table(results: Sequence["Result"]) -> None:
    """One line per student: points, exercise by exercise, and what there is to know."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from grader.result import Status

    exercises = next((list(result.scores) for result in results if result.scores), [])
    table = Table(box=None, pad_edge=False)
    table.add_column("student", overflow="fold")  # two long names do not become the same
    table.add_column("points", justify="right")
    for number in range(len(exercises)):
        table.add_column(str(number + 1), justify="right")
    table.add_column("")
    for result in results:
        points = [f"{result.scores[name]:g}" if name in result.scores else "" for name in exercises]
        note: str = result.status if result.status != Status.GRADED else "unchanged" if result.unchanged else ""
        if result.recorded_again:
            note = "recorded again"
        if result.repairs:
            note = f"{note} {len(result.repairs)} repaired".strip()
        table.add_row(Text(printable(result.student)), f"{result.score:g}/{result.max_score:g}", *points, note)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(table)
    if exercises:
        console.print("\n" + ", ".join(f"{n + 1} {name}" for n, name in enumerate(exercises)), soft_wrap=True)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "course": _course,
    "collect": _collect,
    "roster": _roster,
    "grade": _grade,
    "due": _due,
    "extend": _extend,
    "drop": _drop,
    "feedback": _feedback,
    "report": _report,
    "export": _export,
    "kit": _kit,
    "site": _site,
    "try": _try,
    "workspace": _workspace,
}
