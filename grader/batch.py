"""A class: its submissions are graded side by side and recorded one by one."""

import os
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import replace

from grader import records
from grader.classroom import Classroom, Submission, find_submission, only_writer
from grader.course import Assignment, load_assignment
from grader.errors import CourseError, JailError
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
    return replace(result, repairs=(submission.note, *result.repairs)) if submission.note else result


def grade_class(
    module: str,
    classroom: Classroom,
    students: Sequence[str] = (),
    jobs: int = 0,
    force: bool = False,
    executor: Executor | None = None,
    on_start: Callable[[Sequence[str]], None] = nothing,
    on_result: OnResult = nothing,
    meanwhile: Callable[[], None] = nothing,
) -> list[Result]:
    """Grade the submissions of all students, or of some, and record them in the gradebook.

    jobs       submissions graded at a time; 0 for one per core
    force      grade also what has not changed since it was graded
    executor   where grading runs; threads if None, each with a process that judges
    on_start   is told who will be graded, on_result each result when it is there
    meanwhile  is called in a thread while the first submission is graded

    Raises CourseError, JailError or GradebookError if there is nothing to work with. What goes wrong with one submission is
    its result.
    """
    assignment = load_assignment(module)
    names = list(students) or classroom.students()
    if not names:
        raise CourseError(f"{classroom.folder / 'submitted'}: there are no submissions")
    on_start(names)
    results: list[Result] = []

    def done(result: Result) -> None:
        results.append(result)
        on_result(result)

    with ExitStack() as stack:
        stack.enter_context(only_writer(classroom.folder))
        at_a_time = min(jobs or os.cpu_count() or 1, len(names))
        workers = executor or stack.enter_context(ThreadPoolExecutor(at_a_time))
        stack.callback(pool.close)  # before threads are waited for: Ctrl-C ends what they wait for
        writer = stack.enter_context(records.Writer(assignment, classroom.nbgrader_config()))
        to_do = _to_do(names, assignment, classroom, force, done)
        graded = _side_by_side(to_do, assignment, workers, 4 * at_a_time, meanwhile)
        starved: list[Submission] = []
        alone = _side_by_side(iter(starved), assignment, workers, 1)  # begins when it is known who starved
        for results_of, first in ((graded, True), (alone, False)):
            for submission, result in stack.enter_context(closing(results_of)):
                if first and result.starved:
                    starved.append(submission)
                    continue
                writer.write(submission, result, classroom.autograded(submission.student, module))
                done(result)
    return sorted(results, key=lambda result: result.student)


def _to_do(
    names: Sequence[str], assignment: Assignment, classroom: Classroom, force: bool, done: OnResult
) -> Iterator[Submission]:
    """Submissions that have to be graded; `done` is told of the others."""
    for name in names:
        submission = find_submission(classroom.submitted(name, assignment.module), name, assignment)
        before = None if force else records.read_unchanged(submission, assignment, classroom)
        if before is not None:
            done(replace(before, unchanged=True))
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
