"""A class: its submissions are graded side by side and recorded one by one."""

import errno
import os
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from grader import dates, gradebook_file, records, roster
from grader.classroom import Classroom, Submission, find_submission, only_writer
from grader.course import Assignment, load_assignment
from grader.errors import CourseError, GradebookError, JailError, NotRecorded
from grader.grade import nothing
from grader.result import Result, Status
from grader.sandbox import pool

HELD = 100 << 20  # bytes of submissions that are read and waiting

OnResult = Callable[[Result], None]


def grade_submission(submission: Submission, module: str) -> Result:
    """Grade what a student handed in, by this process's jail and judges. Raises JailError or CourseError."""
    if submission.unreadable:
        return _no_grade(submission.student, load_assignment(module), Status.UNREADABLE, submission.unreadable)
    result = pool.judges(module).grade(submission.data, module, pool.jail_of(module), submission.student)
    repairs = (submission.note, *result.repairs) if submission.note else result.repairs
    return replace(result, repairs=repairs, late=submission.late)


def read_submission(folder: Path, student: str, assignment: Assignment) -> Submission:
    """What is in a student's folder for a module, and what nobody knows of its time."""
    submission = find_submission(folder, student, assignment)
    return (
        replace(submission, late=dates.lateness(folder, submission.timestamp)) if not submission.missing else submission
    )


def grade_class(  # noqa: PLR0913, PLR0917  (who is told of what: one argument each, none of them needed)
    module: str,
    classroom: Classroom,
    students: Sequence[str] = (),
    jobs: int = 0,
    force: bool = False,
    executor: Executor | None = None,
    on_start: Callable[[Sequence[str]], None] = nothing,
    on_result: OnResult = nothing,
    meanwhile: Callable[[], None] = nothing,
    on_line: Callable[[str], None] = nothing,
) -> list[Result]:
    """Grade the submissions of all students, or of some, and record them in the gradebook.

    jobs       submissions graded at a time; 0 for one per core
    force      grade also what has not changed since it was graded
    executor   where grading runs; threads if None, each with a process that judges
    on_start   is told who will be graded, on_result each result when it is there
    meanwhile  is called in a thread while the first submission is graded
    on_line    is told what else a person should know

    At the end the gradebook has what autograded/ has, and lateness and penalties are as dates and plug-in say now. Raises
    CourseError, JailError or GradebookError if there is nothing to work with. What goes wrong with one submission is its result.
    """
    assignment = load_assignment(module)
    people = roster.students(classroom)
    names = _who(students, people, classroom)
    on_start(names)
    results: list[Result] = []

    def done(result: Result) -> None:
        results.append(result)
        on_result(result)

    with ExitStack() as stack:
        stack.enter_context(only_writer(classroom.folder))
        stack.enter_context(_saying_what_is_done(results, names))
        at_a_time = min(jobs or os.cpu_count() or 1, len(names))
        workers = executor or stack.enter_context(ThreadPoolExecutor(at_a_time))
        stack.callback(pool.close)  # before threads are waited for: Ctrl-C ends what they wait for
        writer = stack.enter_context(records.Writer(assignment, classroom.nbgrader_config(), classroom, on_line))
        kept: list[tuple[Submission, Result]] = []
        to_do = _to_do(names, assignment, classroom, force, kept, done)
        graded = _side_by_side(to_do, assignment, workers, 4 * at_a_time, meanwhile)
        starved: list[Submission] = []
        alone = _side_by_side(iter(starved), assignment, workers, 1)  # begins when it is known who starved
        for results_of, first in ((graded, True), (alone, False)):
            for submission, result in stack.enter_context(closing(results_of)):
                if first and result.starved:
                    starved.append(submission)
                    continue
                done(_recorded(writer, submission, result, classroom))
        for submission, result in kept:
            done(_recorded(writer, submission, result, classroom, is_kept=True))
        gone = writer.finish(people, _when(classroom.folder / roster.FILE))
        if gone and not students:
            on_line(f"left out, since they are no longer in the class: {', '.join(gone)}")
    return sorted(results, key=lambda result: result.student)


def _who(asked: Sequence[str], people: Mapping[str, roster.Student], classroom: Classroom) -> list[str]:
    """Who is to be graded. Raises CourseError for somebody who was dropped, and if there is nobody."""
    for name in asked:
        if name not in people and name in roster.read_roster(classroom):
            raise CourseError(
                f"{name} was dropped from the class; `python -m grader drop {name} --back` takes them in again"
            )
    names = list(asked) or list(people) or classroom.students()
    if not names:
        raise CourseError(f"{classroom.folder / 'submitted'}: there are no submissions")
    return list(dict.fromkeys(names))


def _when(path: Path) -> float:
    """When a file was written; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def _saying_what_is_done(results: Sequence[Result], names: Sequence[str]) -> Iterator[None]:
    """An error that stops everything says how far one was."""
    try:
        yield
    except GradebookError as error:
        if not results:
            raise
        raise GradebookError(
            f"{error}. {len(results)} of {len(names)} students are done, and that is kept; the same command goes on from there"
        ) from None


def _recorded(
    writer: records.Writer, submission: Submission, result: Result, classroom: Classroom, is_kept: bool = False
) -> Result:
    """The row of a result that was written down; a failed one, with the reason, if this one alone cannot be."""
    folder = classroom.autograded(submission.student, result.module)
    try:
        if is_kept:
            return writer.agree(submission, result, folder)
        writer.write(submission, result, folder)
    except OSError as error:
        where = error.filename or folder
        if error.errno in gradebook_file.OF_THE_DISK:
            reason = gradebook_file.FULL if error.errno == errno.ENOSPC else error.strerror
            raise GradebookError(f"{where}: {reason}") from None
        return _not_recorded(result, f"{where}: {error.strerror}")
    except GradebookError:
        raise
    except (NotRecorded, CourseError) as error:
        return _not_recorded(result, str(error))
    return result


def _not_recorded(result: Result, reason: str) -> Result:
    return Result(result.student, result.module, Status.FAILED, result.max_score, f"it cannot be recorded: {reason}")


def _to_do(
    names: Sequence[str],
    assignment: Assignment,
    classroom: Classroom,
    force: bool,
    kept: list[tuple[Submission, Result]],
    done: OnResult,
) -> Iterator[Submission]:
    """Submissions that have to be graded; `kept` gets those that need not, and `done` is told of those that are not there."""
    for name in names:
        submission = read_submission(classroom.submitted(name, assignment.module), name, assignment)
        before = None if force else records.read_unchanged(submission, assignment, classroom)
        if before is not None:
            kept.append((replace(submission, data=b""), before))
        elif submission.failed:
            done(_no_grade(name, assignment, Status.FAILED, submission.failed))
        elif submission.missing:
            done(_no_grade(name, assignment, Status.MISSING, submission.missing))
        else:
            yield submission


def _side_by_side(
    to_do: Iterator[Submission],
    assignment: Assignment,
    workers: Executor,
    most: int,
    meanwhile: Callable[[], None] = nothing,
) -> Generator[tuple[Submission, Result]]:
    """Each submission with its result, as they come; at most so many, and so many bytes, are read and waiting at a time."""
    waiting: dict[Future[Result], Submission] = {}
    started = False
    try:
        while True:
            while len(waiting) < most and sum(len(s.data) for s in waiting.values()) < HELD:
                submission = next(to_do, None)
                if submission is None:
                    break
                waiting[workers.submit(grade_submission, submission, assignment.module)] = submission
            if not waiting:
                return
            if not started:
                threading.Thread(target=meanwhile, daemon=True).start()
                started = True
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                submission = waiting.pop(future)
                yield submission, _result(future, submission, assignment)
    finally:
        for future in waiting:
            future.cancel()


def _result(future: Future[Result], submission: Submission, assignment: Assignment) -> Result:
    try:
        return future.result()
    except JailError:
        raise
    except Exception as error:  # noqa: BLE001  (a bug of ours costs one result, and keeps its traceback)
        traceback.print_exception(error, file=sys.stderr)
        reason = f"the grader failed on this submission: {type(error).__name__}: {error}"
        return _no_grade(submission.student, assignment, Status.FAILED, reason)


def _no_grade(student: str, assignment: Assignment, status: Status, reason: str) -> Result:
    return Result(student, assignment.module, status, assignment.max_score, reason)
