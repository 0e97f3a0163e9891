"""The command line: python -m grader."""

import argparse
import sys

from grader import course


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("course", help="make tinytorch/ and modules/ from solutions/")
    make.add_argument("--check", action="store_true", help="change nothing; fail if what is there differs")
    make.add_argument("--run", action="store_true", help="also run every instructor notebook")
    grade = commands.add_parser("grade", help="grade a class and print a table")
    grade.add_argument("module", metavar="MODULE")
    options = parser.parse_args(arguments)
    try:
        if options.command == "course":
            return _course(options.check, options.run)
        from grader import batch

        return batch.grade(options.module)
    except course.CourseError as error:
        print(f"{options.command}: {error}", file=sys.stderr)
        return 1


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


if __name__ == "__main__":
    sys.exit(main())
