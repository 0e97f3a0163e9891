"""When a reply may come, and what stand-ins are told; the processes here are played, but for those that are timed."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from limits import PATIENCE
from played import (
    HASTY,
    OFFERED,
    QUESTION,
    RIGHT,
    SHORT,
    TWICE,
    Act,
    Arrays,
    Copy,
    Message,
    PlayedJail,
    answer_well,
    reply_to,
    run_well,
)

from exercises.model import Question, Reply, StandIn
from exercises.problem import Problem
from grader.sandbox import running
from grader.sandbox.limits import Limits
from grader.sandbox.running import LATE, WAIT, Sizes, Stopwatch
from grader.sandbox.session import JailSession

# --- a process's own time ---------------------------------------------------------------------------------------------

SPIN = "while True: pass"
# spins until it gets a signal, and sleeps from then on
SPIN_THEN_SLEEP = """
import signal, time
class Enough(Exception): pass
def enough(*_): raise Enough
signal.signal(signal.SIGUSR1, enough)
print(flush=True)
try:
    while True: pass
except Enough:
    time.sleep(1000)
"""
NEIGHBOURS = 5


@contextmanager
def process(source: str = "", core: int | None = None, wait: bool = False) -> Iterator[int]:
    """A process of Python, or one that sleeps; on one core, if so; and when it has said a line."""
    command = [sys.executable, "-I", "-c", source] if source else ["sleep", "1000"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        if core is not None:
            os.sched_setaffinity(started.pid, {core})
        if wait:
            assert started.stdout is not None
            started.stdout.readline()
        yield started.pid
    finally:
        started.kill()
        started.communicate()


@contextmanager
def neighbours(core: int) -> Iterator[None]:
    """Processes that leave another one on this core a sixth of it."""
    beside = [process(SPIN, core) for _ in range(NEIGHBOURS)]
    try:
        for one in beside:
            one.__enter__()
        yield
    finally:
        for one in beside:
            one.__exit__(None, None, None)


@pytest.fixture
def core() -> int:
    return min(os.sched_getaffinity(0))


def test_what_a_process_sleeps_is_its_own_time() -> None:
    with process() as pid:
        watch = Stopwatch(pid)
        time.sleep(0.5)
        assert watch.wall() - 0.3 * PATIENCE < watch.own() <= watch.wall()


# one thread spins, and the first waits for it
THREAD_SPINS = """
import threading
def spin():
    print(flush=True)
    while True: pass
t = threading.Thread(target=spin, daemon=True)
t.start()
t.join()
"""


@pytest.mark.long
@pytest.mark.parametrize("source", [SPIN_THEN_SLEEP, THREAD_SPINS], ids=["the first thread", "another thread"])
def test_what_a_process_computes_is_its_own_time_and_what_it_waits_for_a_processor_is_not(
    core: int, source: str
) -> None:
    with neighbours(core), process(source, core, wait=True) as pid:
        watch, before = Stopwatch(pid), time.clock_gettime((~pid << 3) | 2)
        time.sleep(2)
        computed, own = time.clock_gettime((~pid << 3) | 2) - before, watch.own()
    assert 0 < computed < 1.2 and computed - 0.1 <= own < computed + 0.3 * PATIENCE


@pytest.mark.long
def test_what_a_process_waited_earlier_is_no_time_to_sleep(core: int) -> None:
    with process(SPIN_THEN_SLEEP, core, wait=True) as pid:
        with neighbours(core):
            time.sleep(1.5)
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.3)
        watch = Stopwatch(pid)
        time.sleep(0.5)
        assert watch.own() > 0.3


def test_what_is_ours_is_not_its_own_time() -> None:
    with process() as pid:
        watch = Stopwatch(pid)
        time.sleep(0.3)
        watch.ours += 0.2
        assert 0 < watch.own() <= watch.wall() < 0.2 + 0.3 * PATIENCE


@pytest.mark.long
def test_threads_that_compute_side_by_side_each_count() -> None:
    """It has no more of the processor than its own time allows, on however many cores."""
    source = (
        "import threading, hashlib\ndef spin():\n    data = bytes(1 << 24)\n    while True: hashlib.sha256(data)\n"
        "for _ in range(2): threading.Thread(target=spin, daemon=True).start()\nspin()"
    )
    with process(source) as pid:
        time.sleep(0.5)
        watch, before = Stopwatch(pid), time.clock_gettime((~pid << 3) | 2)
        time.sleep(1)
        computed = time.clock_gettime((~pid << 3) | 2) - before
        assert watch.own() >= computed


def test_of_a_process_that_is_gone_there_is_the_wall_clock() -> None:
    with process() as pid:
        pass
    watch = Stopwatch(pid)
    time.sleep(0.1)
    assert 0.1 <= watch.own() <= watch.wall()


# --- when a reply comes -----------------------------------------------------------------------------------------------


class Watch(SimpleNamespace):
    """In place of a Stopwatch: it shows what is written down, after that many seconds."""

    def __init__(self, own: float, wall: float, after: float = 0) -> None:
        super().__init__(ours=0.0, shown=own, on_the_wall=wall, start=time.monotonic() + after)

    def own(self) -> float:
        return float(self.shown) if time.monotonic() >= self.start else 0.0

    def wall(self) -> float:
        return float(self.on_the_wall) if time.monotonic() >= self.start else 0.0


def watched(monkeypatch: pytest.MonkeyPatch, act: Act, watch: Watch, seconds: float = SHORT) -> tuple[Reply, bool]:
    """The reply to a question that may take so many seconds, by this watch; and whether the process was starved."""
    monkeypatch.setattr(running, "Stopwatch", lambda _pid: watch)
    session = JailSession(PlayedJail(act, limits=Limits(probe_time=seconds)), [])
    reply = session.ask("exercise", QUESTION, {})
    session.close()
    return reply, session.starved


def hang(copy: Copy, _request: Message, _arrays: Arrays) -> None:
    copy.hang()


def test_no_reply_at_all() -> None:
    assert reply_to(hang, limits=HASTY)[0] == Reply(problem=Problem.TIME)


def test_a_process_that_ends() -> None:
    assert reply_to(lambda copy, _request, _arrays: copy.die())[0] == Reply(problem=Problem.DIED)


def test_a_reply_that_comes_late() -> None:
    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        time.sleep(2 * SHORT)
        answer_well(copy, request, arrays)

    assert reply_to(on_ask, limits=HASTY)[0] == Reply(problem=Problem.TIME)


@pytest.mark.long
@pytest.mark.parametrize("own", [0.0, SHORT / 2])
def test_a_reply_is_waited_for_while_its_process_gets_no_processor(monkeypatch: pytest.MonkeyPatch, own: float) -> None:
    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        time.sleep(2 * SHORT)
        answer_well(copy, request, arrays)

    assert watched(monkeypatch, on_ask, Watch(own, WAIT * SHORT - 0.01)) == (Reply({"y": np.ones(1)}), False)


def test_but_not_for_longer_than_three_times_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, hang, Watch(SHORT / 2, WAIT * SHORT)) == (Reply(problem=Problem.TIME), True)


def test_a_cell_is_starved_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "Stopwatch", lambda _pid: Watch(SHORT / 2, WAIT * SHORT))
    session = JailSession(PlayedJail(on_run=hang, limits=HASTY), ["cell"])
    assert [run.trouble for run in session.run()] == ["time"] and session.starved
    session.close()


def test_who_has_used_the_time_is_not_starved(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched(monkeypatch, hang, Watch(SHORT, WAIT * SHORT)) == (Reply(problem=Problem.TIME), False)


def test_a_reply_that_is_there_is_read_a_little_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be us who are late."""
    late = Watch(SHORT + LATE - 0.01, SHORT + LATE)
    assert watched(monkeypatch, in_two_parts, late) == (Reply({"y": np.ones(1)}), False)
    too_late = Watch(SHORT + LATE + 0.01, SHORT + LATE)
    assert watched(monkeypatch, in_two_parts, too_late) == (Reply(problem=Problem.TIME), False)


def in_two_parts(copy: Copy, request: Message, arrays: Arrays) -> None:
    answer_well(copy, request, arrays)
    copy.hang()


def test_a_reply_that_drips() -> None:
    """Every byte comes in time, all of them do not."""

    def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
        text = json.dumps({"id": request["id"], "arrays": []} | RIGHT).encode()
        for byte in struct.pack("<I", len(text)) + text:
            copy.connection.sendall(bytes([byte]))
            time.sleep(SHORT / 6)

    start = time.monotonic()
    assert reply_to(on_ask, limits=HASTY)[0] == Reply(problem=Problem.TIME)
    assert time.monotonic() - start < 5 * SHORT


@pytest.mark.long
def test_what_a_process_does_not_read_is_not_waited_for_either() -> None:
    """Larger than what the kernel keeps for it."""
    done = threading.Event()

    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        run_well(copy, request, arrays)
        done.wait(60 * PATIENCE)

    jail = PlayedJail(on_run=on_run, limits=HASTY)
    session = JailSession(jail, ["cell"])
    assert session.ask("exercise", Question("probe", {"x": np.ones(1 << 22)}, ()), {}) == Reply(problem=Problem.TIME)
    assert jail.ended == [1] and jail.asked == []
    done.set()
    session.close()


@pytest.mark.long
def test_how_our_reference_is_slow_costs_the_student_nothing() -> None:
    def slow(x: np.ndarray) -> list[np.ndarray]:
        time.sleep(1.5 * SHORT)
        return [x]

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        for _ in range(2):
            copy.say({"id": request["id"], "stand_in": "_twice", "index": -1, "arguments": {}}, {"x": np.ones(1)})
            copy.hear()
            time.sleep(SHORT / 8)
        answer_well(copy, request, arrays)

    stand_in = StandIn("_twice", ("x",), 1, slow, TWICE.backward)
    assert reply_to(on_ask, {"_twice": stand_in}, HASTY)[0] == Reply({"y": np.ones(1)})


# --- what is asked of a stand-in --------------------------------------------------------------------------------------


def asking(arrays: Arrays, times: int = 1, **keys: Any) -> tuple[Act, list[tuple[Message, Arrays]]]:
    """A process that asks for the reference before it answers, and what it is told. A key that is None is left out."""
    told: list[tuple[Message, Arrays]] = []

    def on_ask(copy: Copy, request: Message, none: Arrays) -> None:
        message = {"id": request["id"], "stand_in": "_twice", "index": -1, "arguments": {}} | keys
        for _ in range(times):
            copy.say({key: value for key, value in message.items() if value is not None}, arrays)
            told.append(copy.hear())
        answer_well(copy, request, none)

    return on_ask, told


def told_by(arrays: Arrays, stand_in: StandIn = TWICE, **keys: Any) -> tuple[str, Arrays]:
    """What a process that asks is told: an error, or arrays. It may answer afterwards."""
    act, told = asking(arrays, **keys)
    assert reply_to(act, {"_twice": stand_in})[0] == Reply({"y": np.ones(1)})
    ((message, answers),) = told
    return message["error"], answers


TOO_LARGE: tuple[str, Arrays] = ("_twice: arguments that large are not answered", {})
NO_ARGUMENTS: tuple[str, Arrays] = ("_twice: arguments are arrays and whole numbers", {})
ANYTHING = StandIn("_twice", ("x", "n"), 1, lambda **_given: [np.ones(1)], TWICE.backward)


def test_a_stand_in_is_answered() -> None:
    assert told_by({"x": np.array([3.0])}) == ("", {"0": np.array([6.0])})


def test_a_gradient_is_answered() -> None:
    assert told_by({"\0grad": np.array([5.0]), "x": np.array([3.0])}, index=0) == ("", {"0": np.array([10.0])})


@pytest.mark.parametrize("id_", [0, 2, True, 1.0, "1", [1]])
def test_a_stand_in_of_another_question_is_not_answered(id_: Any) -> None:
    act, told = asking({"x": np.ones(1)}, id=id_)
    assert (reply_to(act, OFFERED)[0], told) == (Reply(problem=Problem.BAD), [])


@pytest.mark.parametrize("name", ["other", "", 0, True, ["_twice"], {}, {"_twice": 1}])
def test_a_stand_in_that_was_not_offered_is_not_answered(name: Any) -> None:
    act, told = asking({"x": np.array([3.0])}, stand_in=name)
    reply, jail = reply_to(act, OFFERED)
    assert (reply, told, jail.ended) == (Reply(problem=Problem.BAD), [], [1])


def test_where_none_is_offered_none_is_answered() -> None:
    act, told = asking({"x": np.array([3.0])})
    assert (reply_to(act)[0], told) == (Reply(problem=Problem.BAD), [])


def test_a_cell_has_no_stand_in() -> None:
    jail = PlayedJail(on_run=asking({"x": np.ones(1)})[0])
    session = JailSession(jail, ["cell"])
    assert [run.trouble for run in session.run()] == ["died"]
    session.close()


@pytest.mark.parametrize("arguments", [None, 7, True, [1], "x"])
def test_arguments_that_are_none_are_no_question(arguments: Any) -> None:
    act, told = asking({"x": np.array([3.0])}, arguments=arguments)
    assert (reply_to(act, OFFERED)[0], told) == (Reply(problem=Problem.BAD), [])


@pytest.mark.parametrize("value", [1.0, 0.5, True, False, "1", [1], [], {}, {"n": 1}, [[1]], float("nan")])
def test_an_argument_that_is_no_whole_number_is_not_answered(value: Any) -> None:
    assert told_by({"x": np.ones(1)}, ANYTHING, arguments={"n": value}) == NO_ARGUMENTS


@pytest.mark.parametrize("value", [None, 0, 16, -16])
def test_a_whole_number_or_none_is_answered(value: Any) -> None:
    seen: list[Any] = []

    def see(x: np.ndarray, n: Any) -> list[np.ndarray]:
        seen.append(n)
        return [x]

    stand_in = StandIn("_twice", ("x", "n"), 1, see, TWICE.backward)
    assert told_by({"x": np.ones(1)}, stand_in, arguments={"n": value})[0] == ""
    assert seen == [value] and type(seen[0]) is type(value)


@pytest.mark.parametrize("value", [17, -17, 10**30, -(10**30)])
def test_a_number_larger_than_any_axis_is_not_answered(value: int) -> None:
    assert told_by({"x": np.ones(1)}, ANYTHING, arguments={"n": value}) == TOO_LARGE


@pytest.mark.parametrize("name", ["x", "\0grad"])
def test_arguments_have_no_longer_axes_than_the_question_implies(name: str) -> None:
    """Twice the longest axis of the question, twice its largest number, and no less than 16."""
    for shape in ((16,), (1, 16), (0, 16), (16, 16, 16)):
        assert told_by({name: np.ones(shape)}, ANYTHING)[0] == ""
    for shape in ((17,), (1, 17), (0, 17), (17, 1)):
        assert told_by({name: np.ones(shape)}, ANYTHING) == TOO_LARGE


@pytest.mark.parametrize("other", ["y", "\0grad"])
def test_arguments_are_not_many_more_than_the_question_implies(other: str) -> None:
    """16,576 numbers together, the gradient too."""
    most = {"x": np.ones((16, 16, 16, 4), np.int8)}
    assert told_by(most | {other: np.ones((12, 16), np.int8)}, ANYTHING)[0] == ""
    assert told_by(most | {other: np.ones((1, 13, 15), np.int8)}, ANYTHING) == TOO_LARGE


def test_results_are_not_many_more_than_the_question_implies() -> None:
    of = {
        n: StandIn("_twice", ("x",), 2, lambda x, n=n: [np.ones(n), np.ones(576)], TWICE.backward)
        for n in (16000, 16001)
    }
    error, answers = told_by({"x": np.ones(1)}, of[16_000])
    assert (error, [a.size for a in answers.values()]) == ("", [16_000, 576])
    assert told_by({"x": np.ones(1)}, of[16_001]) == ("_twice: results that large are not given", {})


def test_arrays_and_numbers_of_one_name() -> None:
    """Arrays are what counts; a number has been bounded all the same."""
    assert told_by({"x": np.array([3.0])}, arguments={"x": 16}) == ("", {"0": np.array([6.0])})


@pytest.mark.parametrize("index", [1, 10**30, "one", [0], {}, float("inf"), None])
def test_an_index_out_of_range_is_the_students_mistake(index: Any) -> None:
    """It costs the student's process no more than an exception there."""
    error, answers = told_by({"\0grad": np.ones(1), "x": np.ones(1)}, index=index)
    assert error.startswith("_twice: ") and answers == {}


def test_an_argument_that_the_reference_does_not_know_is_the_students_mistake() -> None:
    assert "unexpected keyword argument 'z'" in told_by({"z": np.ones(1)})[0]


def test_an_error_is_cut() -> None:
    def fails(x: np.ndarray) -> list[np.ndarray]:
        raise ValueError("e" * 1000)

    error, _ = told_by({"x": np.ones(1)}, StandIn("_twice", ("x",), 1, fails, TWICE.backward))
    assert error == f"_twice: {'e' * 292}"


def test_a_stand_in_is_answered_199_times_for_one_question_and_no_more() -> None:
    act, told = asking({"x": np.ones(1)}, times=199)
    assert (reply_to(act, OFFERED)[0], len(told)) == (Reply({"y": np.ones(1)}), 199)
    act, told = asking({"x": np.ones(1)}, times=200)
    reply, jail = reply_to(act, OFFERED)
    assert (reply, jail.ended) == (Reply(problem=Problem.BAD), [1])
    while len(told) < 200:  # the last answer may still be on its way to the thread that plays the student
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("inputs", "numbers", "axis"),
    [
        ({}, 64 * 16 * 16, 16),
        ({"x": np.ones((3, 9)), "y": np.ones((2, 1))}, 64 * 29 + 64 * 18 * 18, 18),
        ({"x": np.ones(2), "length": 100}, 64 * 2 + 64 * 200 * 200, 200),
        ({"n": np.int64(10), "pieces": (3, 12), "block": [20], "name": "f", "grad": None}, 64 * 40 * 40, 40),
    ],
)
def test_how_large_an_answer_is_follows_from_the_question(inputs: Mapping[str, Any], numbers: int, axis: int) -> None:
    sizes = Sizes.of_question(Question("probe", inputs, ()))
    assert (sizes.numbers, sizes.axis) == (numbers, axis)
