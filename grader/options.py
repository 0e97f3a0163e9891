"""What can be typed: the commands and their options."""

import argparse
from pathlib import Path
from typing import Any

from grader import course


def parser() -> argparse.ArgumentParser:
    """Of the whole command line; `command` says which one it is."""
    whole = argparse.ArgumentParser(prog="python -m grader", description="Make the course, and grade a class.")
    whole.add_argument("--version", action="version", version=_version())
    commands = whole.add_subparsers(dest="command", required=True)
    make = commands.add_parser("course", help="make tinytorch/ and modules/ from solutions/")
    make.add_argument("--check", action="store_true", help="change nothing; fail if what is there differs")
    make.add_argument("--run", action="store_true", help="also run every instructor notebook")
    _add_class(commands)
    kit = commands.add_parser("kit", help="make the archive that students get")
    kit.add_argument("module", metavar="MODULE", nargs="*", help="all modules if none is named")
    site = commands.add_parser("site", help="make pages to read, and the course in the browser")
    site.add_argument(
        "module", metavar="MODULE", nargs="*", help="whose kits are in it, 04 or 04_attention; all if none"
    )
    site.add_argument("--bundle", action="store_true", help="with Pyodide in it, so that nothing comes from elsewhere")
    site.add_argument("--output", metavar="DIR", type=Path, default=course.ROOT / "dist" / "site")
    attempt = commands.add_parser("try", help="judge one notebook at once; nothing is recorded")
    attempt.add_argument("file", metavar="FILE", type=Path)
    commands.add_parser("workspace", help="copy the notebooks to workspace/, where they may be worked in")
    return whole


def _add_class(commands: Any) -> None:
    """What is done with a class."""
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
    _add_deadlines(commands)
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


def _add_deadlines(commands: Any) -> None:
    """Who has longer, and who leaves."""
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
    about = course.settings()
    return f"grader {about['version']} ({about['dist_name']})"


def _class_command(commands: Any, name: str, purpose: str, optional: bool = False) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose)
    if optional:
        command.add_argument(
            "module", metavar="MODULE", nargs="?", default="", help="all that were graded if not given"
        )
    else:
        command.add_argument("module", metavar="MODULE", help="for example 04_attention")
    _class_option(command)
    return command


def _class_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--class", dest="folder", metavar="DIR", type=Path, default=course.ROOT / "classroom")


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:5]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000")
    return int(text)
