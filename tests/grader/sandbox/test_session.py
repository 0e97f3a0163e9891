"""What JailSession makes of every odd thing that a student's process can say, or not say."""

import json
import struct
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from limits import PATIENCE
from played import Act, Arrays, Copy, Message, PlayedJail, answer_well, run_well

from exercises.model import Question, Reply, StandIn
from exercises.problem import Problem
from grader.sandbox import session as session_module
from grader.sandbox.limits import Limits
from grader.sandbox.session import CellRun, JailSession, Trouble

SHORT = 0.5 * PATIENCE  # seconds; for what is to come too late
HASTY = Limits(cell_time=SHORT, probe_time=SHORT)
QUESTION = Question("probe", {"x": np.arange(3.0), "n": 2}, ("y",))
TWICE = StandIn("_twice", ("x",), 1, lambda x: [2 * x], lambda index, grad, x: [[2 * grad][index] + 0 * x])
OFFERED = {"_twice": TWICE}
RIGHT = {"problem": "", "text": "", "raised": ""}


def reply_to(
    on_ask: Act, stand_ins: Mapping[str, StandIn] | None = None, limits: Limits | None = None
) -> tuple[Reply, PlayedJail]:
    """The reply to one question to a process that does `on_ask`."""
    jail = PlayedJail(on_ask, limits=limits)
    session = JailSession(jail, [])
    reply = session.ask("exercise", QUESTION, stand_ins or {})
    session.close()
    return reply, jail


def saying(**keys: Any) -> Act:
    """A process whose reply is right but for some keys; a key that is None is left out."""

    def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
        message = {"id": request["id"]} | RIGHT | keys
        copy.say({key: value for key, value in message.items() if value is not None}, {"y": np.ones(1)})

    return on_ask


def cells(sources: list[str], on_run: Act, limits: Limits | None = None) -> tuple[list[CellRun], PlayedJail]:
    """What came of cells in a process that does `on_run`."""
    jail = PlayedJail(on_run=on_run, limits=limits)
    session = JailSession(jail, sources)
    runs = session.run()
    session.close()
    return runs, jail


def as_told(copy: Copy, request: Message, arrays: Arrays) -> None:
    """A cell that does what its source says: "die", "hang", or {"error": ..., "raised": ...} as JSON."""
    source = request["source"]
    if source == "die":
        copy.die()
    if source == "hang":
        copy.hang()
    if source.startswith("{"):
        copy.say({"id": request["id"], "output": "", "error": "", "raised": ""} | json.loads(source))
    else:
        run_well(copy, request, arrays)


def test_a_right_reply_is_taken():
    reply, jail = reply_to(answer_well)
    assert reply == Reply({"y": np.ones(1)}, Problem.NONE, "")
    assert jail.ended == [1]  # by close


# --- what a reply says ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", [0, 2, -1, "1", [1], float("nan"), 10**30])
def test_a_reply_to_another_question_is_none(id_):
    reply, jail = reply_to(saying(id=id_))
    assert reply == Reply(problem=Problem.BAD)
    assert jail.ended == [1]


@pytest.mark.parametrize("key", ["id", "problem", "text", "raised"])
def test_a_reply_with_a_key_missing_is_none(key):
    assert reply_to(saying(**{key: None}))[0] == Reply(problem=Problem.BAD)


@pytest.mark.parametrize(
    "problem", ["time", "memory", "died", "bad", "nonsense", "Blank", " ", 0, False, [], ["blank"], {"blank": 1}]
)
def test_a_problem_that_is_ours_to_tell_is_not_believed(problem):
    assert reply_to(saying(problem=problem, text="t"))[0] == Reply(problem=Problem.BAD, text="no known problem")


@pytest.mark.parametrize("problem", [Problem.BLANK, Problem.MISSING, Problem.KIND, Problem.RAISED])
def test_with_a_problem_arrays_are_left_out(problem):
    assert reply_to(saying(problem=problem, text="t", raised="E"))[0] == Reply({}, problem, "t")


def test_a_text_that_is_none_becomes_one():
    assert reply_to(saying(problem="raised", text=["t"]))[0] == Reply({}, Problem.RAISED, "['t']")


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff" * 4, b"[" * 200_000])
def test_what_is_no_message_is_no_reply(data):
    def on_ask(copy: Copy, _request: Message, _arrays: Arrays) -> None:
        copy.connection.sendall(struct.pack("<I", len(data)) + data)

    reply, jail = reply_to(on_ask)
    assert reply == Reply(problem=Problem.BAD)
    assert jail.ended == [1]


def test_arrays_may_fill_the_limit_and_no_more():
    def of(size: int) -> Act:
        def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
            copy.say({"id": request["id"]} | RIGHT, {"y": np.ones(size, np.int8)})

        return on_ask

    limits = Limits(reply=1000)
    full, _ = reply_to(of(1000), limits=limits)
    assert (full.problem, full.arrays["y"].shape) == (Problem.NONE, (1000,))
    assert reply_to(of(1001), limits=limits)[0] == Reply(problem=Problem.BAD)


def test_a_memory_error_ends_the_copy():
    """What filled the memory may still be there, so the next question is put to a new copy."""
    jail = PlayedJail(saying(problem="raised", text="MemoryError: no", raised="MemoryError"))
    session = JailSession(jail, [])
    assert session.ask("exercise", QUESTION, {}) == Reply(problem=Problem.MEMORY, text="MemoryError: no")
    assert jail.ended == [1]
    session.ask("exercise", QUESTION, {})
    session.ask("exercise", QUESTION, {})
    assert (jail.asked, jail.ended) == ([(1, "probe"), (2, "probe")], [1, 2])  # each counts as a failure
    session.close()


# --- when it comes ----------------------------------------------------------------------------------------------------


def test_no_reply_at_all():
    assert reply_to(lambda copy, _request, _arrays: copy.hang(), limits=HASTY)[0] == Reply(problem=Problem.TIME)


def test_a_process_that_ends():
    assert reply_to(lambda copy, _request, _arrays: copy.die())[0] == Reply(problem=Problem.DIED)


def test_a_reply_that_comes_late():
    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        time.sleep(2 * SHORT)
        answer_well(copy, request, arrays)

    assert reply_to(on_ask, limits=HASTY)[0] == Reply(problem=Problem.TIME)


def test_a_reply_that_drips():
    """Every byte comes in time, all of them do not."""

    def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
        text = json.dumps({"id": request["id"], "arrays": []} | RIGHT).encode()
        for byte in struct.pack("<I", len(text)) + text:
            copy.connection.sendall(bytes([byte]))
            time.sleep(SHORT / 6)

    start = time.monotonic()
    assert reply_to(on_ask, limits=HASTY)[0] == Reply(problem=Problem.TIME)
    assert time.monotonic() - start < 5 * SHORT


def when_we_are_late(monkeypatch: pytest.MonkeyPatch, allowed: float) -> Reply:
    """The reply to a question when the reply is there in time, but we come to read it at twice the limit."""
    monkeypatch.setattr(session_module, "LATE", allowed)

    def slow(x: np.ndarray) -> list[np.ndarray]:
        time.sleep(2 * SHORT)
        return [x]

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        copy.say({"id": request["id"], "stand_in": "_twice", "index": -1, "arguments": {}}, {"x": np.ones(1)})
        answer_well(copy, request, arrays)
        copy.hang()

    return reply_to(on_ask, {"_twice": StandIn("_twice", ("x",), 1, slow, TWICE.backward)}, HASTY)[0]


def test_a_reply_that_is_there_is_read_when_we_are_late(monkeypatch):
    assert when_we_are_late(monkeypatch, 60 * PATIENCE) == Reply({"y": np.ones(1)})


def test_but_not_for_ever(monkeypatch):
    assert when_we_are_late(monkeypatch, SHORT / 2) == Reply(problem=Problem.TIME)


def test_a_question_ends_with_the_time_for_the_notebook():
    start = time.monotonic()
    limits = Limits(whole_time=SHORT, probe_time=60 * PATIENCE)
    assert reply_to(lambda copy, _request, _arrays: copy.hang(), limits=limits)[0] == Reply(problem=Problem.TIME)
    assert time.monotonic() - start < 10 * PATIENCE


def test_without_time_nothing_is_run_or_asked():
    jail = PlayedJail(limits=Limits(whole_time=-1))
    session = JailSession(jail, ["a", "b"])
    assert session.run() == [CellRun(trouble=Trouble.SKIPPED)] * 2
    used_up = Reply(problem=Problem.TIME, text="the time for the whole notebook is used up")
    assert session.ask("exercise", QUESTION, {}) == used_up
    assert jail.opened == 0


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


def test_a_stand_in_is_answered():
    act, told = asking({"x": np.array([3.0])})
    assert reply_to(act, OFFERED)[0] == Reply({"y": np.ones(1)})
    ((message, arrays),) = told
    assert (message["error"], arrays) == ("", {"0": np.array([6.0])})


def test_a_gradient_is_answered():
    act, told = asking({"\0grad": np.array([5.0]), "x": np.array([3.0])}, index=0)
    assert reply_to(act, OFFERED)[0] == Reply({"y": np.ones(1)})
    ((message, arrays),) = told
    assert (message["error"], arrays) == ("", {"0": np.array([10.0])})


@pytest.mark.parametrize("name", ["other", "", 0, ["_twice"], {}])
def test_a_stand_in_that_was_not_offered_is_not_answered(name):
    act, told = asking({"x": np.array([3.0])}, stand_in=name)
    reply, jail = reply_to(act, OFFERED)
    assert (reply, told, jail.ended) == (Reply(problem=Problem.BAD), [], [1])


def test_where_none_is_offered_none_is_answered():
    act, told = asking({"x": np.array([3.0])})
    assert (reply_to(act)[0], told) == (Reply(problem=Problem.BAD), [])


@pytest.mark.parametrize("arguments", [None, 7, [1], "x"])
def test_arguments_that_are_none_are_no_question(arguments):
    act, told = asking({"x": np.array([3.0])}, arguments=arguments)
    assert (reply_to(act, OFFERED)[0], told) == (Reply(problem=Problem.BAD), [])


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (1, "_twice: list index out of range"),
        (10**30, "_twice: cannot fit 'int' into an index-sized integer"),
        ("one", "_twice: invalid literal for int() with base 10: 'one'"),
        ([0], "_twice: int() argument must be a string, a bytes-like object or a real number, not 'list'"),
        (float("inf"), "_twice: cannot convert float infinity to integer"),
        (None, "_twice: 'index'"),
    ],
)
def test_an_index_out_of_range_is_the_students_mistake(index, error):
    """It costs the student's process no more than an exception there."""
    act, told = asking({"\0grad": np.ones(1), "x": np.ones(1)}, index=index)
    assert reply_to(act, OFFERED)[0] == Reply({"y": np.ones(1)})
    assert [(message["error"], arrays) for message, arrays in told] == [(error, {})]


def test_an_argument_that_the_reference_does_not_know_is_the_students_mistake():
    act, told = asking({"z": np.ones(1)})
    assert reply_to(act, OFFERED)[0] == Reply({"y": np.ones(1)})
    assert "unexpected keyword argument 'z'" in told[0][0]["error"]


def test_an_error_is_cut():
    act, told = asking({"z" * 1000: np.ones(1)})
    reply_to(act, OFFERED)
    assert len(told[0][0]["error"]) == 300


def test_arguments_may_have_100000_numbers_and_no_more():
    pair = StandIn("_twice", ("x", "y"), 1, lambda x, y: [x.sum() + y.sum()], TWICE.backward)
    act, told = asking({"x": np.ones(60_000), "y": np.ones(40_000)})
    reply_to(act, {"_twice": pair})
    assert told[0][0]["error"] == "" and told[0][1]["0"].item() == 100_000
    act, told = asking({"x": np.ones(60_000), "y": np.ones(40_001)})
    assert reply_to(act, {"_twice": pair})[0] == Reply({"y": np.ones(1)})
    assert (told[0][0]["error"], told[0][1]) == ("_twice: arguments that large are not answered", {})


def test_a_stand_in_is_answered_199_times_for_one_question_and_no_more():
    act, told = asking({"x": np.ones(1)}, times=199)
    assert (reply_to(act, OFFERED)[0], len(told)) == (Reply({"y": np.ones(1)}), 199)
    act, told = asking({"x": np.ones(1)}, times=200)
    reply, jail = reply_to(act, OFFERED)
    assert (reply, jail.ended) == (Reply(problem=Problem.BAD), [1])
    while len(told) < 200:  # the last answer may still be on its way to the thread that plays the student
        time.sleep(0.01)


# --- after failures ---------------------------------------------------------------------------------------------------


def failing(*names: str) -> Act:
    """A process that ends at the questions of some probes and answers the others."""

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["probe"] in names:
            copy.die()
        answer_well(copy, request, arrays)

    return on_ask


def ask(session: JailSession, name: str, stand_ins: Mapping[str, StandIn] | None = None) -> Problem:
    return session.ask(name, Question(name, {}, ()), stand_ins or {}).problem


def test_an_exercise_that_fails_twice_is_not_asked_again():
    jail = PlayedJail(failing("a"))
    session = JailSession(jail, [])
    assert [ask(session, name) for name in "aaaab"] == [*[Problem.DIED] * 4, Problem.NONE]
    assert jail.asked == [(1, "a"), (2, "a"), (3, "b")]
    session.close()


def test_an_exercise_is_asked_once_if_another_failed():
    jail = PlayedJail(failing("a", "b"))
    session = JailSession(jail, [])
    assert [ask(session, name) for name in "abbac"] == [*[Problem.DIED] * 4, Problem.NONE]
    assert jail.asked == [(1, "a"), (2, "b"), (3, "c")]
    session.close()


def test_with_stand_ins_an_exercise_is_asked_again():
    jail = PlayedJail(failing("a"))
    session = JailSession(jail, [])
    for stand_ins in ({}, {}, {}, OFFERED, OFFERED):
        assert ask(session, "a", stand_ins) == Problem.DIED
    assert jail.asked == [(1, "a"), (2, "a"), (3, "a")]
    session.close()


def test_the_last_failure_is_told_again():
    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        (failing("a") if copy.number == 1 else saying(id=0))(copy, request, arrays)

    session = JailSession(PlayedJail(on_ask), [])
    assert [ask(session, "a") for _ in range(3)] == [Problem.DIED, Problem.BAD, Problem.BAD]
    session.close()


# --- cells ------------------------------------------------------------------------------------------------------------


def test_cells_run_in_order_and_are_run_once():
    jail = PlayedJail(on_run=as_told)
    session = JailSession(jail, ["a", '{"output": "o", "error": "E: e (line 1)", "raised": "E"}', "c"], ours=[0])
    runs = [CellRun(), CellRun("o", "E: e (line 1)", Trouble.ERROR), CellRun()]
    assert session.run() == runs
    assert session.run() == runs
    assert [number for number, _ in jail.ran] == [1, 1, 1]
    session.close()


def test_a_cell_is_told_whether_it_is_ours():
    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        copy.say({"id": request["id"], "output": str(request["ours"]), "error": "", "raised": ""})

    session = JailSession(PlayedJail(on_run=on_run), ["a", "b"], ours=[1])
    assert [run.output for run in session.run()] == ["False", "True"]
    session.close()


@pytest.mark.parametrize(
    ("source", "trouble"),
    [
        ("die", Trouble.DIED),
        ("hang", Trouble.TIME),
        ('{"id": 99}', Trouble.DIED),
        ('{"raised": "MemoryError"}', Trouble.MEMORY),
    ],
)
def test_a_cell_that_ends_the_process_is_not_run_again(source, trouble):
    limits = Limits(cell_time=SHORT if source == "hang" else 60)
    runs, jail = cells(["a", source, "c"], as_told, limits)
    assert runs == [CellRun(), CellRun(trouble=trouble), CellRun()]
    assert jail.ran == [(1, "a"), (1, source), (2, "a"), (2, "c")]
    assert jail.ended == [1, 2]


def test_what_a_cell_said_when_memory_ended_is_kept():
    said = {"output": "o", "error": "MemoryError: m (line 1)", "raised": "MemoryError"}
    runs, _ = cells([json.dumps(said)], as_told)
    assert runs == [CellRun("o", "MemoryError: m (line 1)", Trouble.MEMORY)]


@pytest.mark.parametrize("key", ["id", "output", "error", "raised"])
def test_a_run_with_a_key_missing_ends_the_copy(key):
    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        message = {"id": request["id"], "output": "", "error": "", "raised": ""}
        copy.say({k: value for k, value in message.items() if k != key})

    runs, jail = cells(["a"], on_run)
    assert (runs, jail.ended) == ([CellRun(trouble=Trouble.DIED)], [1, 2])


def test_the_first_run_of_a_cell_counts_unless_it_ends_the_process_later():
    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        name = request["source"]
        if (copy.number, name) in ((1, "b"), (2, "c")):
            copy.die()
        copy.say({"id": request["id"], "output": f"{name} in {copy.number}", "error": "", "raised": ""})

    runs, jail = cells(["a", "b", "c", "d"], on_run)
    died = CellRun(trouble=Trouble.DIED)
    assert runs == [CellRun("a in 1"), died, died, CellRun("d in 3")]
    assert jail.ended == [1, 2, 3]

    def later(copy: Copy, request: Message, arrays: Arrays) -> None:
        on_run(copy, request | {"source": "c"} if request["source"] == "a" else request, arrays)

    assert cells(["a", "b"], later)[0] == [died, died]


def test_after_13_copies_the_rest_is_skipped():
    runs, jail = cells(["die"] * 20, as_told)
    assert runs == [CellRun(trouble=Trouble.DIED)] * 13 + [CellRun(trouble=Trouble.SKIPPED)] * 7
    assert (jail.opened, jail.ended) == (13, list(range(1, 14)))
    session = JailSession(jail, ["die"] * 20)
    assert ask(session, "a") == Problem.TIME


# --- why a name is missing --------------------------------------------------------------------------------------------


FAILED = '{"error": "E: e (line 2)", "raised": "E"}'


@pytest.mark.parametrize(
    ("source", "does", "reply"),
    [
        ("def f(x):", FAILED, Reply(problem=Problem.MISSING, text="f: E: e (line 2)")),
        ("x = 1\nclass f:", FAILED, Reply(problem=Problem.MISSING, text="f: E: e (line 2)")),
        ("def f(x):", "die", Reply(problem=Problem.DIED)),
        ("def f(x):", "hang", Reply(problem=Problem.TIME)),
        ("def f(x):", '{"raised": "MemoryError"}', Reply(problem=Problem.MEMORY)),
        ("def f(x):", "", Reply(problem=Problem.MISSING, text="f")),
        ("def ff(x):", FAILED, Reply(problem=Problem.MISSING, text="f")),
        ("    def f(x):", FAILED, Reply(problem=Problem.MISSING, text="f")),
        ("f = 1", FAILED, Reply(problem=Problem.MISSING, text="f")),
    ],
)
def test_why_a_name_is_missing(source, does, reply):
    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        as_told(copy, request | {"source": does if request["source"] == source else ""}, arrays)

    limits = Limits(cell_time=SHORT if does == "hang" else 60)
    jail = PlayedJail(saying(problem="missing", text="f"), on_run, limits)
    session = JailSession(jail, ["other", source])
    assert session.ask("exercise", QUESTION, {}) == reply
    session.close()


@pytest.mark.parametrize("name", [".*", "(", "f|g"])
def test_a_name_that_is_missing_is_no_pattern(name):
    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        as_told(copy, request | {"source": FAILED}, arrays)

    session = JailSession(PlayedJail(saying(problem="missing", text=name), on_run), ["def f(x):"])
    assert session.ask("exercise", QUESTION, {}) == Reply(problem=Problem.MISSING, text=name)
    session.close()


def test_what_is_asked_reaches_the_process():
    seen: list[tuple[Message, Arrays]] = []

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        seen.append((request, arrays))
        answer_well(copy, request, arrays)

    reply_to(on_ask, OFFERED)
    ((request, arrays),) = seen
    assert (request["probe"], request["inputs"], request["stand_ins"]) == ("probe", {"n": 2}, [["_twice", ["x"], 1]])
    np.testing.assert_array_equal(arrays["x"], [0, 1, 2])
