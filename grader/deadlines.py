"""When a module is due and who has longer, in nbgrader's own tables. What is late, and what that costs, follows at once."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

from grader import gradebook, gradebook_rows
from grader.classroom import Classroom, only_writer
from grader.course import Assignment, load_assignment
from grader.dates import in_words, span_in_words, to_set
from grader.errors import CourseError
from grader.gradebook_file import back_up, changed, file_of
from grader.roster import near, students

LONGEST = timedelta(days=3650)


@contextmanager
def changing(classroom: Classroom) -> Iterator[Any]:
    """The gradebook of a class, copied before it is changed, and nobody else writes. Raises GradebookError or CourseError."""
    directory = classroom.nbgrader_config().CourseDirectory
    with ExitStack() as stack:
        stack.enter_context(only_writer(classroom.folder))
        if path := file_of(directory.db_url):
            gradebook.check(path)
            back_up(path)
        yield stack.enter_context(gradebook.open_gradebook(directory.db_url, directory.get("course_id", "")))


def due(module: str, classroom: Classroom, text: str = "", none: bool = False) -> list[str]:
    """Set when a module is due, or with `none` that it is not; without both, only say it. Lines for a person.

    Raises CourseError for a time that is none, or has no zone.
    """
    assignment = load_assignment(module)
    if not text and not none:
        return [_due_line(_due_now(assignment, classroom), module)]
    time = to_set(text) if text else None
    with changing(classroom) as book:
        gradebook.save_assignment(book, assignment)
        extended = [row for row in gradebook_rows.rows(book, assignment).values() if row.extension is not None]
        book.update_or_create_assignment(module, duedate=time)
        lines = [_due_line(time, module, text)]
        if extended and time is None:  # nbgrader adds them to the due date, whether there is one or not
            gradebook.save_extensions(book, assignment, {row.student: None for row in extended})
            lines.append(f"the extensions of {', '.join(row.student for row in extended)} ended with it")
        elif extended:
            lines += [f"{r.student} has {span_in_words(r.extension)} longer" for r in extended if r.extension]
        return lines + _follow(book, assignment, classroom)


def _due_now(assignment: Assignment, classroom: Classroom) -> Any:
    """A class without a gradebook has no due date, and does not get a gradebook by being asked."""
    directory = classroom.nbgrader_config().CourseDirectory
    path = file_of(directory.db_url)
    if path is not None and not changed(path) and not path.is_dir():
        return None
    with gradebook.open_gradebook(directory.db_url, directory.get("course_id", "")) as book:
        return gradebook_rows.due_date(book, assignment.module)


def _due_line(time: Any, module: str, text: str = "") -> str:
    return f"{module} is due {in_words(time, text)}" if time else f"{module} has no due date"


def _follow(book: Any, assignment: Assignment, classroom: Classroom) -> list[str]:
    """Write the penalties that follow, for those who are in the class; who is late."""
    late = gradebook.late_plugin(classroom.nbgrader_config())
    there = students(classroom)
    rows = [row for row in gradebook_rows.rows(book, assignment).values() if row.handed_in and row.student in there]
    time = gradebook_rows.due_date(book, assignment.module)
    gradebook.save_penalties(book, assignment, gradebook.new_penalties(rows, time, late))
    found = [row.student for row in rows if row.seconds_late(time)]
    return [f"late: {', '.join(found)}"] if found else []


def extend(
    module: str, classroom: Classroom, student: str, until: str = "", span: timedelta | None = None, none: bool = False
) -> list[str]:
    """Give a student longer for a module, also one who has handed nothing in: until a time, or by so much; with `none`, no longer.

    An extension takes the place of an earlier one. Raises CourseError.
    """
    assignment = load_assignment(module)
    time = to_set(until) if until else None
    with changing(classroom) as book:
        known = {*students(classroom), *(s.id for s in book.students)}
        if student not in known:
            raise CourseError(f"{student}: no such student{near(student, known)}")
        gradebook.save_assignment(book, assignment)
        at = gradebook_rows.due_date(book, module)
        if at is None and not none:
            raise CourseError(f"{module} has no due date; set it first: `python -m grader due {module} TIME`")
        longer = None if none or at is None else _longer(time - at if time else span or timedelta(), module, at)
        gradebook.save_extensions(book, assignment, {student: longer})
        if at is None or longer is None:
            lines = [f"{student} has no extension for {module}"]
        else:
            lines = [f"{student} has until {in_words(at + longer, until)} for {module}, {span_in_words(longer)} longer"]
        return lines + _follow(book, assignment, classroom)


def _longer(span: timedelta, module: str, at: Any) -> timedelta:
    if not timedelta() < span <= LONGEST:
        raise CourseError(f"{module} is due {in_words(at)}; an extension ends after that, and within ten years")
    return span
