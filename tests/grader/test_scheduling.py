"""A class is graded side by side and recorded one by one. No jail: what comes of a submission is written down."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from classes import rows_of
from gradebooks import grades_in, new_gradebook
from small import MODULE, SMALL, filled, graded, saved, unreadable
from stand_in import Grading, hand_in, stand_in

from grader import batch, gradebook, records
from grader.batch import grade_class
from grader.classroom import Classroom, Submission, find_submission, only_writer
from grader.errors import CourseError, GradebookError, JailError
from grader.result import Result, Status
from grader.sandbox import pool


@pytest.fixture
def grading(monkeypatch: pytest.MonkeyPatch) -> Grading:
    return stand_in(monkeypatch)


@pytest.fixture
def klass(tmp_path: Path) -> Classroom:
    new_gradebook(tmp_path)
    return Classroom(tmp_path)


def told(rows: Sequence[Result]) -> list[tuple[str, str, float, bool]]:
    return [(row.student, str(row.status), row.score, row.unchanged) for row in rows]


def graded_in(klass: Classroom) -> list[str]:
    return [row[0] for row in rows_of(klass.folder / "gradebook.db")[2]]


def kept_of(klass: Classroom) -> list[str]:
    return records.graded_students(SMALL, klass)


def test_rows_are_sorted_whoever_is_done_first(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "cleo", "ada", "ben")
    others = threading.Barrier(2)

    def last() -> Result:
        others.wait(10)
        return graded("ada", 1, 1)

    def ready(result: Result) -> None:
        seen.append(result.student)
        if len(seen) == 2:
            others.wait(10)

    seen: list[str] = []
    grading.outcomes = {"ada": last, "ben": unreadable("ben")}
    rows = grade_class(MODULE, klass, jobs=3, on_result=ready)
    assert told(rows) == [("ada", "graded", 2, False), ("ben", "unreadable", 0, False), ("cleo", "graded", 5, False)]
    assert seen[2] == "ada" and sorted(seen) == ["ada", "ben", "cleo"]
    assert graded_in(klass) == kept_of(klass) == ["ada", "ben", "cleo"]
    assert grades_in(klass.folder / "gradebook.db", "ada")["test_second"] == (1, None, None, 0, 3)


def test_who_will_be_graded_is_told_first(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ben", "ada")
    events: list[Any] = []
    grade_class(
        MODULE,
        klass,
        jobs=1,
        on_start=lambda names: events.append(list(names)),
        on_result=lambda r: events.append(r.student),
    )
    assert events[0] == ["ada", "ben"] and sorted(events[1:]) == grading.asked == ["ada", "ben"]


def test_what_is_done_meanwhile_is_done_once_and_only_if_somebody_is_graded(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada", "ben")
    calls: list[int] = []
    grade_class(MODULE, klass, jobs=1, meanwhile=lambda: calls.append(1))
    assert calls == [1]
    grade_class(MODULE, klass, jobs=1, meanwhile=lambda: calls.append(2))
    assert calls == [1] and grading.asked == ["ada", "ben"]


def test_only_what_has_changed_is_graded_again(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada", "ben")
    grade_class(MODULE, klass, jobs=1)
    hand_in(klass, "ben", data=saved(filled(first="x")))
    hand_in(klass, "cleo")
    grading.outcomes = {"ada": graded("ada", 0, 0), "ben": graded("ben", 1, 1)}
    assert told(grade_class(MODULE, klass, jobs=1)) == [
        ("ada", "graded", 5, True), ("ben", "graded", 2, False), ("cleo", "graded", 5, False),
    ]  # fmt: skip
    assert grading.asked == ["ada", "ben", "ben", "cleo"]
    assert grades_in(klass.folder / "gradebook.db", "ben")["test_first"] == (1, None, None, 0, 2)


def test_force_grades_all_again_and_students_only_these(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada", "ben", "cleo")
    assert told(grade_class(MODULE, klass, students=["cleo", "ada"], jobs=1)) == [
        ("ada", "graded", 5, False), ("cleo", "graded", 5, False),
    ]  # fmt: skip
    assert grading.asked == ["cleo", "ada"] and graded_in(klass) == ["ada", "cleo"]
    grading.outcomes = {"ada": graded("ada", 1, 0)}
    assert told(grade_class(MODULE, klass, students=["ada"], jobs=1, force=True)) == [("ada", "graded", 1, False)]
    assert told(grade_class(MODULE, klass, jobs=1)) == [
        ("ada", "graded", 1, True), ("ben", "graded", 5, False), ("cleo", "graded", 5, True),
    ]  # fmt: skip


def test_who_handed_nothing_in_is_a_row_and_no_record(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada")
    klass.submitted("ben", "08_other").mkdir(parents=True)
    rows = grade_class(MODULE, klass, jobs=1)
    assert rows[1] == Result("ben", MODULE, Status.MISSING, 5, "nothing was handed in")
    assert graded_in(klass) == kept_of(klass) == ["ada"] and grading.asked == ["ada"]
    assert grade_class(MODULE, klass, ["nobody"]) == [
        Result("nobody", MODULE, Status.MISSING, 5, "nothing was handed in")
    ]


def test_a_bug_of_ours_is_a_failed_row_a_traceback_and_no_record(
    klass: Classroom, grading: Grading, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are graded, and the next run tries again."""
    hand_in(klass, "ada", "ben", "cleo")
    grading.outcomes = {"ben": RuntimeError("a bug")}
    rows = grade_class(MODULE, klass, jobs=1)
    assert rows[1] == Result(
        "ben", MODULE, Status.FAILED, 5, "the grader failed on this submission: RuntimeError: a bug"
    )
    assert [row.status for row in rows] == ["graded", "failed", "graded"]
    error = capsys.readouterr().err
    assert error.startswith("Traceback (most recent call last):") and error.endswith("RuntimeError: a bug\n")
    assert graded_in(klass) == kept_of(klass) == ["ada", "cleo"]
    grading.outcomes = {}
    assert told(grade_class(MODULE, klass, jobs=1))[1] == ("ben", "graded", 5, False)


def test_who_got_no_processor_is_graded_once_more_alone_at_the_end(klass: Classroom, grading: Grading) -> None:
    """The second result counts, whatever it is, and the first is neither told nor recorded."""
    names = [f"s{n:02}" for n in range(8)]
    hand_in(klass, *names)
    at_work: list[str] = []
    beside: dict[str, list[str]] = {}
    starved = {"s01": replace(graded("s01", 0, 0), starved=True), "s03": replace(unreadable("s03"), starved=True)}

    def working(student: str) -> Result:
        at_work.append(student)
        time.sleep(0.02)
        beside[student] = list(at_work)
        at_work.remove(student)
        first = grading.asked.count(student) == 1
        return starved.get(student, graded(student)) if first or student == "s03" else graded(student, 1, 1)

    grading.outcomes = {name: partial(working, name) for name in names}
    seen: list[str] = []
    rows = grade_class(MODULE, klass, jobs=3, on_result=lambda row: seen.append(row.student))
    assert sorted(grading.asked[:8]) == names and sorted(grading.asked[8:]) == ["s01", "s03"]
    assert beside["s01"] == ["s01"] and beside["s03"] == ["s03"]
    assert sorted(seen) == names and sorted(seen[6:]) == ["s01", "s03"]
    assert [row.score for row in rows] == [5, 2, 5, 0, 5, 5, 5, 5] and rows[3].status == Status.UNREADABLE
    assert grades_in(klass.folder / "gradebook.db", "s01")["test_first"] == (1, None, None, 0, 2)
    assert all(row.unchanged for row in grade_class(MODULE, klass, jobs=1))


def test_a_jail_that_cannot_be_made_stops_the_run(klass: Classroom, grading: Grading) -> None:
    """What was recorded before stays, nothing else is graded, and the class can be graded again."""
    names = [f"s{n:02}" for n in range(20)]
    hand_in(klass, *names)
    one_is_done = threading.Event()

    def no_jail() -> Result:
        assert one_is_done.wait(10)
        raise JailError("no jail")

    def done(row: Result) -> None:
        seen.append(row.student)
        one_is_done.set()

    seen: list[str] = []
    grading.outcomes = {"s01": no_jail}
    with pytest.raises(JailError, match="no jail"):
        grade_class(MODULE, klass, jobs=1, on_result=done)
    assert "s00" in seen and "s01" not in seen and kept_of(klass) == graded_in(klass) == sorted(seen)
    assert len(grading.asked) < len(names)
    grading.outcomes = {}
    rows = grade_class(MODULE, klass, jobs=1)
    assert [row.score for row in rows] == [5] * 20 and [row.student for row in rows if row.unchanged] == sorted(seen)


def test_a_gradebook_that_cannot_be_written_stops_the_run(
    klass: Classroom, grading: Grading, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(klass, "ada", "ben")

    def locked(*_arguments: object) -> None:
        raise GradebookError("the gradebook is locked")

    with monkeypatch.context() as patch:
        patch.setattr(gradebook, "record", locked)
        with pytest.raises(GradebookError, match="the gradebook is locked"):
            grade_class(MODULE, klass, jobs=1)
    assert kept_of(klass) == graded_in(klass) == []
    assert [row.unchanged for row in grade_class(MODULE, klass, jobs=1)] == [False, False]
    assert set(grading.asked) == {"ada", "ben"}


def test_few_submissions_wait_in_memory(klass: Classroom, grading: Grading, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of any size: of those that are not recorded yet, four for each worker are read."""
    names = [f"s{n:02}" for n in range(20)]
    hand_in(klass, *names)
    read: list[str] = []

    def counted(folder: Path, student: str, assignment: Any) -> Submission:
        read.append(student)
        return find_submission(folder, student, assignment)

    monkeypatch.setattr(batch, "find_submission", counted)
    seen: list[int] = []
    grade_class(MODULE, klass, jobs=1, on_result=lambda _row: seen.append(len(read)))
    assert seen[0] == 4 and all(count <= n + 4 for n, count in enumerate(seen)) and len(seen) == 20
    assert sorted(grading.asked) == names


def test_a_class_without_anybody(tmp_path: Path, grading: Grading) -> None:
    (tmp_path / "submitted").mkdir()
    with pytest.raises(CourseError) as caught:
        grade_class(MODULE, Classroom(tmp_path))
    assert str(caught.value) == f"{tmp_path / 'submitted'}: there are no submissions" and grading.asked == []


def test_a_class_that_is_being_graded_is_left_alone(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada")
    with only_writer(klass.folder), pytest.raises(CourseError, match="another grader is at work here"):
        grade_class(MODULE, klass)
    assert grading.asked == [] and kept_of(klass) == []


def test_an_executor_of_ones_own_is_used_and_left_open(klass: Classroom, grading: Grading) -> None:
    hand_in(klass, "ada")
    names: list[str] = []

    def where() -> Result:
        names.append(threading.current_thread().name)
        return graded("ada")

    grading.outcomes = {"ada": where}
    with ThreadPoolExecutor(1, thread_name_prefix="ours") as executor:
        grade_class(MODULE, klass, executor=executor)
        assert executor.submit(lambda: 3).result() == 3
    assert names == ["ours_0"]


class Jail:
    """In place of a jail."""

    def __init__(self, module: str) -> None:
        self.module, self.closed = module, False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Jail]]:
    """The jails that were opened."""
    jails: list[Jail] = []

    def open_jail(module: str, started: Jail | None = None) -> Jail:
        jails.append(started or Jail(module))
        return jails[-1]

    monkeypatch.setattr(pool, "open_jail", open_jail)
    pool.close()
    yield jails
    pool.close()


def test_a_jail_that_died_is_opened_again(opened: list[Any]) -> None:
    first = pool.jail_of(MODULE)
    assert pool.jail_of(MODULE) is first and opened == [first]
    first.close()
    second = pool.jail_of(MODULE)
    assert second is not first and pool.jail_of(MODULE) is second and opened == [first, second]


def test_each_module_has_a_jail_until_all_are_closed(opened: list[Any]) -> None:
    pool.jail_of(MODULE)
    pool.jail_of("08_other")
    assert [jail.module for jail in opened] == [MODULE, "08_other"]
    pool.close()
    assert [jail.closed for jail in opened] == [True, True]
    pool.jail_of(MODULE)
    assert len(opened) == 3


def test_jails_are_closed_at_the_end_of_a_run(klass: Classroom, grading: Grading, opened: list[Any]) -> None:
    hand_in(klass, "ada")
    for outcome, error in ((graded("ada"), None), (JailError("no jail"), JailError)):

        def grade(outcome: Any = outcome) -> Result:
            pool.jail_of(MODULE)
            if isinstance(outcome, JailError):
                raise outcome
            return replace(outcome)

        grading.outcomes = {"ada": grade}
        if error is None:
            grade_class(MODULE, klass, force=True)
        else:
            with pytest.raises(error):
                grade_class(MODULE, klass, force=True)
        assert opened[-1].closed
    assert len(opened) == 2
