"""The command line: python -m grader."""

import argparse
import errno
import io
import os
import select
import sys
from collections.abc import Callable, Sequence
from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from exercises.errors import UserError
from grader import course
from grader.errors import CourseError, is_bug, told
from grader.printable import printable, say

if TYPE_CHECKING:
    from grader.classroom import Classroom
    from grader.result import Result


def main(arguments: list[str] | None = None) -> int:
    """Run a command; its exit status: 0, 1 for a failure that was told, 2 for a command that is none."""
    _open_output()
    options = _parser().parse_args(arguments)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grader", description="Make the course, and grade a class.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("course", help="make tinytorch/ and modules/ from solutions/")
    make.add_argument("--check", action="store_true", help="change nothing; fail if what is there differs")
    make.add_argument("--run", action="store_true", help="also run every instructor notebook")
    take = _class_command(commands, "collect", "take submissions from an archive of a learning platform")
    take.add_argument("archive", metavar="ARCHIVE", type=Path, help="a zip file or a folder")
    take.add_argument(
        "--pattern", metavar="REGEX", action="append", default=[], help="for paths, with (?P<student>) and (?P<file>)"
    )
    take.add_argument("--zone", metavar="ZONE", default="", help="of times that the platform writes without one")
    roster = commands.add_parser("roster", help="read a platform's list of students into the class and its gradebook")
    roster.add_argument(
        "file", metavar="FILE", type=Path, help="a gradebook export, a worksheet, a list of participants"
    )
    _class_option(roster)
    grade = _class_command(commands, "grade", "grade a class, record it in the gradebook, print a table")
    grade.add_argument("--student", metavar="ID", action="append", default=[], help="only this one; may be repeated")
    grade.add_argument("--jobs", metavar="N", type=_number, default=0, help="at a time; one per core if not given")
    grade.add_argument("--force", action="store_true", help="grade unchanged submissions again")
    grade.add_argument("--json", action="store_true", help="print one JSON object a line and nothing else")
    due = _class_command(commands, "due", "set when a module is due, or print it")
    when = due.add_mutually_exclusive_group()
    when.add_argument("time", metavar="TIME", nargs="?", default="", help='"2026-03-01 12:00 Europe/Berlin", say')
    when.add_argument("--none", action="store_true", help="it is not due any more")
    longer = _class_command(commands, "extend", "give a student longer than the due date")
    longer.add_argument("student", metavar="STUDENT")
    how = longer.add_mutually_exclusive_group(required=True)
    how.add_argument("--until", metavar="TIME", default="", help='"2026-03-03 12:00 Europe/Berlin", say')
    how.add_argument("--days", metavar="N", type=_number, default=0)
    how.add_argument("--hours", metavar="N", type=_number, default=0)
    how.add_argument("--none", action="store_true", help="no longer than the others")
    leave = commands.add_parser("drop", help="leave out a student who left the class, or delete their data")
    leave.add_argument("student", metavar="STUDENT")
    _class_option(leave)
    way = leave.add_mutually_exclusive_group()
    way.add_argument("--back", action="store_true", help="take in again who was dropped")
    way.add_argument("--delete", action="store_true", help="delete all that there is of them; needs --yes")
    leave.add_argument("--yes", action="store_true", help="yes, delete it")
    leave.add_argument("--backups", action="store_true", help="also delete the backups of the gradebook that have them")
    feedback = _class_command(commands, "feedback", "write feedback pages for everyone who has been graded")
    feedback.add_argument(
        "--zip",
        choices=("moodle", "canvas", "brightspace", "plain"),
        help="also make the archive of pages that the platform takes",
    )
    feedback.add_argument("--output", metavar="FILE", type=Path, help="where the archive goes; into DIR if not given")
    feedback.set_defaults(usage=feedback.error)
    _class_command(commands, "report", "write a page about a module, and one about the course", optional=True)
    _add_export(commands)
    kit = commands.add_parser("kit", help="make the archive that students get")
    kit.add_argument("module", metavar="MODULE", nargs="*", help="all modules if none is named")
    attempt = commands.add_parser("try", help="judge one notebook at once; nothing is recorded")
    attempt.add_argument("file", metavar="FILE", type=Path)
    commands.add_parser("workspace", help="copy the notebooks to workspace/, where they may be worked in")
    return parser


def _add_export(commands: Any) -> None:
    export = _class_command(
        commands, "export", "print grades, or fill in a copy of a platform's own file", optional=True
    )
    export.add_argument(
        "--total", action="store_true", help="totals of all modules that were graded, in place of MODULE"
    )
    export.add_argument(
        "--weights", metavar="02=1,04=3", default="", help="totals in per cent of these modules; points if not given"
    )
    export.add_argument("--unread", choices=("refuse", "zero"), default="refuse", help="what to do with unread answers")
    export.add_argument("--format", choices=("csv", "canvas", "moodle"), help="of what is printed; csv if not given")
    export.add_argument("--into", metavar="FILE", type=Path, help="the platform's own CSV file; a copy is filled in")
    export.add_argument("--output", metavar="FILE", type=Path, help="the copy; NAME-filled beside FILE if not given")
    export.add_argument("--column", metavar="NAME", default="", help="of the file: a title or a number")
    export.add_argument("--comments", action="store_true", help="fill in comments, too (Moodle)")
    export.add_argument("--scale", action="store_true", help="convert points if the platform's maximum is another")
    export.set_defaults(usage=export.error)


def _version() -> str:
    settings = ConfigParser()
    settings.read(course.ROOT / "settings.ini", encoding="utf-8")
    about = settings["DEFAULT"]
    return f"grader {about['version']} ({about['dist_name']})"


def _class_command(commands: Any, name: str, purpose: str, optional: bool = False) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    if optional:
        command.add_argument(
            "module", metavar="MODULE", nargs="?", default="", help="all that were graded if not given"
        )
    else:
        command.add_argument("module", metavar="MODULE", help="for example 04_attention")
    _class_folder(command)
    return command


def _class_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--class", dest="folder", metavar="DIR", type=Path, default=course.ROOT / "classroom")


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:5]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000")
    return int(text)


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
    "try": _try,
    "workspace": _workspace,
}
