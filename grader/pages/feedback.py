"""Feedback pages for students: what was lost and why, then the notebook. By our command, and by nbgrader's own."""

import errno
import json
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exercises.errors import UserError
from grader.classroom import Classroom, is_file, read_file, timestamp_of, write_whole
from grader.course import Assignment, load_assignment
from grader.errors import CourseError, GradebookError
from grader.gradebook import open_gradebook
from grader.gradebook_marks import is_there, marks
from grader.pages.markup import page
from grader.pages.overview import overview, shown
from grader.records import graded_students, read_kept
from grader.roster import Student, students

NOTHING_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # who cannot write one page can write no other


@dataclass(frozen=True)
class FeedbackPages:
    """What became of a class's pages.

    written   students, each with a page
    left_out  students whose page could not be made, and why
    gone      students who have been graded and are no longer in the class
    """

    written: tuple[str, ...]
    left_out: Mapping[str, str]
    gone: tuple[str, ...]


def feedback_page(student: str, name: str, assignment: Assignment, classroom: Classroom, book: Any) -> str:
    """A student's page. Raises CourseError, GradebookError or OSError.

    name  of the student, "" if there is none but the id
    book  nbgrader's Gradebook
    """
    path = classroom.autograded(student, assignment.module) / f"{assignment.notebook}.ipynb"
    data, result = read_file(path), read_kept(student, assignment, classroom)
    if result is None:
        raise CourseError(
            f"{path}: the notebook that was kept is damaged; run `python -m grader grade {assignment.module} --force`"
        )
    notebook = json.loads(data)
    found = overview(name, assignment, result, marks(book, assignment.module, assignment.notebook, student), notebook)
    return page("feedback", o=found, cells=shown(found, result, notebook))


def page_of(notebook: Path, student: str, module: str, db_url: str) -> str:
    """The page of a notebook under autograded/<student>/<module>/, as nbgrader's converter asks for it."""
    classroom = Classroom(notebook.absolute().parents[3])
    with open_gradebook(db_url, "") as book:
        return feedback_page(student, _name(students(classroom).get(student)), load_assignment(module), classroom, book)


def write_feedback(module: str, classroom: Classroom) -> FeedbackPages:
    """Write feedback/<student>/<module>/*.html for everyone in the class who has been graded.

    A page that cannot be made is left out, with the reason. Raises CourseError if nobody has been graded, or if there is no
    room for pages; GradebookError if there is no gradebook that can be read.
    """
    assignment = load_assignment(module)
    graded = graded_students(assignment, classroom)
    if not graded:
        raise CourseError(
            f"{classroom.folder / 'autograded'}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    in_class = students(classroom)
    directory = classroom.nbgrader_config().CourseDirectory
    if not is_there(directory.db_url):
        raise GradebookError(f"{directory.db_url}: there is no gradebook; run `python -m grader grade {module}` again")
    written: list[str] = []
    left_out: dict[str, str] = {}
    with open_gradebook(directory.db_url, directory.course_id) as book:
        for student in graded:
            if student not in in_class:
                continue
            try:
                text = feedback_page(student, _name(in_class[student]), assignment, classroom, book)
                _write(text, student, assignment, classroom)
                written.append(student)
            except (OSError, UserError, UnicodeError) as error:
                left_out[student] = _reason(error)
            except Exception as error:  # noqa: BLE001  (a bug of ours costs one page, and keeps its traceback)
                traceback.print_exception(error, file=sys.stderr)
                left_out[student] = f"the page could not be made: {type(error).__name__}: {error}"
    gone = tuple(student for student in graded if student not in in_class)
    return FeedbackPages(tuple(written), left_out, gone)


def _name(student: Student | None) -> str:
    """The name of a student of the class; "" if there is none but the id."""
    return student.full_name if student is not None and student.full_name != student.id else ""


def _write(text: str, student: str, assignment: Assignment, classroom: Classroom) -> None:
    """Write a page, and the time of submission, by which nbgrader knows whether it is out of date."""
    folder = classroom.folder / "feedback" / student / assignment.module
    time = timestamp_of(classroom.autograded(student, assignment.module))
    write_whole(folder / f"{assignment.notebook}.html", text.encode())
    if time:
        write_whole(folder / "timestamp.txt", f"{time}\n".encode(errors="surrogateescape"))
    elif is_file(folder / "timestamp.txt"):
        (folder / "timestamp.txt").unlink()


def _reason(error: OSError | UserError | UnicodeError) -> str:
    """One line about what could not be read or written. Raises CourseError if no other page can be written either."""
    if not isinstance(error, OSError):
        return str(error)
    line = f"{error.filename or 'a page'}: {error.strerror or error}"
    if error.errno in NOTHING_MORE:
        raise CourseError(f"{line}; no page can be written there. Give the same command again when there is room")
    return line
