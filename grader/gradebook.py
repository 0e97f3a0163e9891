"""nbgrader's gradebook, the system of record: opened, written and read here. One writer at a time."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from grader import dates
from grader.course import Assignment
from grader.errors import GradebookError, NotRecorded
from grader.gradebook_cells import save_cells
from grader.gradebook_file import UPGRADE, check_file, file_of, in_plain_words, stamp, version_in
from grader.gradebook_rows import (
    Grades,
    Row,
    answer_to,
    answers_of,
    answers_table,
    grades,
    known_answers,
    outcome,
    seconds_late,
)
from grader.result import Result, Status
from grader.roster import Student

__all__ = ["Grades", "grades"]  # read here, written in gradebook_rows.py


@contextmanager
def open_gradebook(db_url: str, course_id: str) -> Iterator[Any]:
    """nbgrader's Gradebook; a new one is made if there is none, and one that is half made is completed.

    Raises GradebookError, also for what its database or the disk refuses while it is open.
    """
    from nbgrader.api import Gradebook

    path = file_of(db_url)
    if path is not None:
        version = check(path)
        with in_plain_words(db_url):
            path.parent.mkdir(parents=True, exist_ok=True)
            if version:
                stamp(path, version)
    try:
        with in_plain_words(db_url), alembic_in_this_process(), _without_tracebacks():
            book = Gradebook(db_url, course_id)
    except GradebookError:
        raise
    except Exception as error:
        raise GradebookError(f"{db_url}: the gradebook cannot be opened ({type(error).__name__}: {error})") from error
    try:
        with warnings.catch_warnings(), in_plain_words(db_url), _without_tracebacks():
            warnings.filterwarnings("ignore", "Object of type .* not in session")  # nbgrader's own way of adding
            yield book
    finally:
        book.close()


@contextmanager
def _without_tracebacks() -> Iterator[None]:
    """nbgrader logs the traceback of an error before it raises it; here who catches it says what it is."""
    log = import_module("nbgrader.api").app_log
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def check(path: Path) -> str:
    """GradebookError if there is something else than a gradebook, or if another nbgrader made its tables.

    The version that it lacks; "" if it lacks none. `nbgrader db` leaves tables without one where it does not find the program
    alembic.
    """
    with in_plain_words(path):
        check_file(path)
        version, columns = version_in(path)
    if not columns:
        return ""
    head, known = _alembic_versions()
    if version == head:
        return ""
    if version and version not in known:
        raise GradebookError(
            f"{path}: the gradebook is of a newer nbgrader than this (version {version}); run `make setup` in the newest version of the course"
        )
    today = import_module("nbgrader.api").Base.metadata.tables
    if not set(columns) & set(today):
        raise GradebookError(f"{path}: it is a database, but no gradebook. Move it away")
    if version or any(columns[name] < set(today[name].columns.keys()) for name in set(columns) & set(today)):
        raise GradebookError(f"{path}: the gradebook is of an older nbgrader than this; {UPGRADE}")
    return head


@contextmanager
def alembic_in_this_process() -> Iterator[None]:
    """Meanwhile nbgrader asks alembic for the version of its tables in this process, when it makes a gradebook.

    Else it starts a process (3 s), which it finds by PATH: without an activated environment, not at all.
    """
    api: Any = import_module("nbgrader.api")
    in_a_process = api.get_alembic_version
    api.get_alembic_version = _alembic_head
    try:
        yield
    finally:
        api.get_alembic_version = in_a_process


def _alembic_versions() -> tuple[str, set[str]]:
    """The version of nbgrader's tables, and all that there were."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    versions = ScriptDirectory(ALEMBIC_DIR)
    return str(versions.get_current_head()), {v.revision for v in versions.walk_revisions()}


def _alembic_head() -> str:
    return _alembic_versions()[0]


def save_assignment(book: Any, assignment: Assignment) -> None:
    """Make the gradebook's record of a module equal to ours, also when there are submissions already.

    nbgrader refuses to change a notebook that has submissions; here cells are updated, added, and renamed where an exercise
    says what it was called formerly. Those that are gone lose their grades. Raises GradebookError, and changes nothing, if
    somebody gave one of these by hand.
    """
    with _one_transaction(book):
        save_cells(book, assignment)


@contextmanager
def _one_transaction(book: Any) -> Iterator[None]:
    """All or nothing: nbgrader commits after every change, here once at the end."""
    book.db.commit = book.db.flush
    try:
        yield
    except BaseException:
        book.db.rollback()
        raise
    finally:
        del book.db.commit
    book.db.commit()


def late_plugin(config: Any) -> Any:
    """nbgrader's plug-in for late submissions, as its configuration says."""
    from nbgrader.plugins import LateSubmissionPlugin
    from traitlets.utils.importstring import import_item

    plugin = config.AssignLatePenalties.get("plugin_class", LateSubmissionPlugin)
    return (import_item(plugin) if isinstance(plugin, str) else plugin)(config=config)


def record(
    book: Any,
    assignment: Assignment,
    result: Result,
    timestamp: str,
    late: Any,
    before: Mapping[str, str] | None = None,
) -> None:
    """Write what came of one submission, in one transaction; grades and comments given by hand are not touched.

    late    nbgrader's plug-in for late submissions
    before  digests of the answers that were graded before, where the gradebook does not know them

    Raises NotRecorded if the gradebook takes everyone's but this one, GradebookError if it takes nothing.
    """
    from nbgrader.api import FlushError, InvalidEntry, StatementError

    try:
        with in_plain_words(book.engine.url), _one_transaction(book):
            _record(book, assignment, result, timestamp, late, before or {})
    except (InvalidEntry, StatementError, FlushError, UnicodeError) as error:
        reason = str(getattr(error, "orig", None) or error)
        raise NotRecorded(f"the gradebook does not take it ({type(error).__name__}: {reason})") from None


def _record(
    book: Any, assignment: Assignment, result: Result, timestamp: str, late: Any, before: Mapping[str, str]
) -> None:
    student = result.student
    book.update_or_create_student(student)
    submission = book.update_or_create_submission(assignment.module, student, timestamp=dates.known_time(timestamp))
    notebook = _notebook_of(book, assignment, submission)
    scores = outcome(result, assignment)
    answers = result.answers or answers_of(result.notebook)
    known = known_answers(book, [grade.id for grade in notebook.grades])
    for grade in notebook.grades:
        score, answer = scores.get(grade.name, 0.0), answer_to(grade.name)
        to_be_read = score is None
        if grade.manual_score is not None:
            graded = known.get(grade.id) or before.get(answer)
            to_be_read = (
                grade.needs_manual_grade
                or graded is None
                or graded != answers.get(answer, "")
                or (score is not None and score != grade.auto_score)
            )
        grade.auto_score = score
        grade.needs_manual_grade = result.status == Status.GRADED and to_be_read
    for comment in notebook.comments:
        unanswered = result.status == Status.GRADED and comment.name in result.blank
        comment.auto_comment = "No response." if unanswered else None
    book.db.flush()
    _save_answers(book, {grade.id: answers.get(answer_to(grade.name), "") for grade in notebook.grades})
    notebook.late_submission_penalty = None
    book.db.refresh(notebook)
    seconds = seconds_late(submission.timestamp, submission.assignment.duedate, submission.extension)
    notebook.late_submission_penalty = penalty_of(late, student, notebook.score, seconds)


def _notebook_of(book: Any, assignment: Assignment, submission: Any) -> Any:
    """A submission's notebook. Where there was only an extension, it is made."""
    from nbgrader.api import Comment, Grade, SubmittedNotebook

    found = next((n for n in submission.notebooks if n.name == assignment.notebook), None)
    if found is None:
        notebook = book.find_notebook(assignment.notebook, assignment.module)
        found = SubmittedNotebook(notebook=notebook, assignment=submission)
        book.db.add(found)
        book.db.add_all(Grade(cell_id=cell.id, notebook=found) for cell in notebook.grade_cells)
        book.db.add_all(Comment(cell_id=cell.id, notebook=found) for cell in notebook.solution_cells)
        book.db.flush()
        book.db.refresh(found)
    return found


def _save_answers(book: Any, answers: Mapping[str, str]) -> None:
    """Write the digest of each grade's answer, by the grade's id."""
    table = answers_table()
    table.create(book.db.connection(), checkfirst=True)
    book.db.execute(table.delete().where(table.c.grade_id.in_(list(answers))))
    if answers:
        book.db.execute(table.insert(), [{"grade_id": i, "answer": a} for i, a in answers.items()])


def penalty_of(late: Any, student: str, score: float, seconds: float) -> float | None:
    """What the plug-in for late submissions takes, at most what there is; None if it takes nothing."""
    if seconds <= 0:
        return None
    penalty = late.late_submission_penalty(student, score, seconds)
    return None if penalty is None else min(max(penalty, 0), score)


def new_penalties(found: Iterable[Row], due: datetime | None, late: Any) -> dict[str, float | None]:
    """The penalties that are not as the due date, the extensions, the points and the plug-in say now, by student."""
    now = {r.student: penalty_of(late, r.student, r.score, r.seconds_late(due)) for r in found if r.handed_in}
    return {r.student: now[r.student] for r in found if r.handed_in and now[r.student] != r.penalty}


def save_penalties(book: Any, assignment: Assignment, penalties: Mapping[str, float | None]) -> None:
    """Write penalties, by student."""
    with _one_transaction(book):
        for student, penalty in penalties.items():
            notebook = book.find_submission_notebook(assignment.notebook, assignment.module, student)
            notebook.late_submission_penalty = penalty


def save_extensions(book: Any, assignment: Assignment, extensions: Mapping[str, timedelta | None]) -> None:
    """Write how much longer students have, also those who have handed nothing in: their submission has no notebook yet."""
    from nbgrader.api import MissingEntry, SubmittedAssignment

    with _one_transaction(book):
        for student, extension in extensions.items():
            try:
                submission = book.find_submission(assignment.module, student)
            except MissingEntry:
                if extension is None:
                    continue
                person = book.update_or_create_student(student)
                submission = SubmittedAssignment(assignment=book.find_assignment(assignment.module), student=person)
                book.db.add(submission)
            submission.extension = extension


def remove_student(book: Any, student: str) -> list[str]:
    """Delete a student with all grades and comments; what was deleted, for a person."""
    from nbgrader.api import Grade, MissingEntry, SubmittedAssignment, SubmittedNotebook
    from sqlalchemy import inspect

    table = answers_table()
    with _one_transaction(book):
        ids = book.db.query(Grade.id).join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        ids = ids.join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        found = [i for (i,) in ids.filter(SubmittedAssignment.student_id == student)]
        if inspect(book.db.connection()).has_table(table.name):
            book.db.execute(table.delete().where(table.c.grade_id.in_(found)))
        try:
            book.remove_student(student)
        except MissingEntry:
            return []
    return [f"{len(found)} grades in the gradebook are deleted"]


def new_names(book: Any, people: Iterable[Student], newer: bool) -> dict[str, dict[str, str]]:
    """What nbgrader's table of students lacks of names, e-mails and numbers, by student.

    newer  what is there already gives way to what is known of these people
    """
    there = {s.id: s for s in book.students}
    found = {}
    for person in people:
        wanted = {k: v for k, v in nbgraders_columns(person).items() if v and _is_text(v)}
        row = there.get(person.id)
        if row is None:
            listed = any((person.first_name, person.last_name, person.email, person.number))
            missing = wanted if listed and _is_text(person.id) else {}
        else:
            missing = {k: v for k, v in wanted.items() if getattr(row, k) != v and (newer or not getattr(row, k))}
            if row.first_name or row.last_name:  # a half of a name is not put beside a half of another
                missing = {k: v for k, v in missing.items() if newer or k not in ("first_name", "last_name")}
        if missing:
            found[person.id] = missing
    return found


def nbgraders_columns(person: Student) -> dict[str, str]:
    """A student as nbgrader's table has them. A name that the platform gives whole is split before its last word."""
    first, last = person.first_name, person.last_name
    if not first and not last and person.name:
        if ", " in person.name:
            last, first = person.name.split(", ", 1)
        else:
            first, _, last = person.name.rpartition(" ")
    return {"first_name": first, "last_name": last, "email": person.email, "lms_user_id": person.number}


def save_names(book: Any, names: Mapping[str, Mapping[str, str]]) -> None:
    """Write what new_names found."""
    with _one_transaction(book):
        for student, columns in names.items():
            book.update_or_create_student(student, **columns)


def _is_text(text: str) -> bool:
    """Whether a database takes it: no half of a character, as in names that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def save_students(book: Any, students: Iterable[Student]) -> None:
    """Make nbgrader's record of students say what a roster says; what it does not say stays."""
    with _one_transaction(book):
        for student in students:
            known = {"first_name": student.first_name, "last_name": student.last_name, "email": student.email}
            known["lms_user_id"] = student.number
            book.update_or_create_student(student.id, **{k: v for k, v in known.items() if v})
