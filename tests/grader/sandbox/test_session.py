"""What JailSession makes of every odd thing that a student's process can say, or not say; test_running.py has the rest."""

import json
import struct
import time
from collections.abc import Sequence
from dataclasses import replace
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
    Act,
    Arrays,
    Copy,
    Message,
    PlayedJail,
    answer_well,
    ask,
    failing,
    reply_to,
    run_well,
    saying,
)

from exercises.model import Question, Reply
from exercises.problem import Problem
from grader.sandbox import session as session_module
from grader.sandbox.limits import Limits
from grader.sandbox.session import CellRole, CellRun, JailSession, RunCell, Trouble


def cells(
    sources: Sequence[RunCell | str], on_run: Act, limits: Limits | None = None
) -> tuple[list[CellRun], PlayedJail]:
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


@pytest.mark.parametrize("id_", [0, 2, -1, True, 1.0, "1", [1], {"id": 1}, float("nan"), 10**30])
def test_a_reply_to_another_question_is_none(id_):
    reply, jail = reply_to(saying(id=id_))
    assert reply == Reply(problem=Problem.BAD)
    assert jail.ended == [1]


@pytest.mark.parametrize("value", [None, 0, 1.5, True, ["t"], {"t": 1}])
@pytest.mark.parametrize("key", ["id", "problem", "text", "line", "raised"])
def test_a_reply_with_a_key_missing_or_of_another_kind_is_none(key, value):
    """A key that is None is left out."""
    reply, jail = reply_to(saying(**{key: value}))
    assert (reply, jail.ended) == (Reply(problem=Problem.BAD), [1])


@pytest.mark.parametrize("key", ["problem", "text", "line", "raised"])
def test_null_is_no_text(key):
    def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
        copy.say({"id": request["id"]} | RIGHT | {key: None}, {"y": np.ones(1)})

    assert reply_to(on_ask)[0] == Reply(problem=Problem.BAD)


@pytest.mark.parametrize(
    "problem",
    [
        "time",
        "memory",
        "died",
        "bad",
        "nonsense",
        "Blank",
        " ",
        "blank" + " " * 100,
        0,
        False,
        [],
        ["blank"],
        {"blank": 1},
    ],
)
def test_a_problem_that_is_ours_to_tell_or_nobodys_ends_the_copy(problem):
    reply, jail = reply_to(saying(problem=problem, text="t"))
    assert (reply, jail.ended) == (Reply(problem=Problem.BAD), [1])


@pytest.mark.parametrize("problem", [Problem.BLANK, Problem.MISSING, Problem.KIND, Problem.RAISED])
def test_with_a_problem_arrays_are_left_out(problem):
    assert reply_to(saying(problem=problem, text="t", raised="E"))[0] == Reply({}, problem, "t")


def test_texts_are_cut():
    reply, _ = reply_to(saying(problem="raised", text="t" * 501, line="l" * 501, raised="MemoryError" + "!" * 100))
    assert reply == Reply({}, Problem.RAISED, "t" * 500, "l" * 500)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff" * 4, b"[" * 20_000])
def test_what_is_no_message_is_no_reply(data):
    def on_ask(copy: Copy, _request: Message, _arrays: Arrays) -> None:
        copy.connection.sendall(struct.pack("<I", len(data)) + data)

    reply, jail = reply_to(on_ask)
    assert reply == Reply(problem=Problem.BAD)
    assert jail.ended == [1]


def announcing(text: int, *shape: int) -> Act:
    """A process that says how long its reply is and sends nothing of it; or whole text, and what array follows."""

    def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
        arrays = [["y", "|i1", shape]] if shape else []
        said = json.dumps({"id": request["id"]} | RIGHT | {"arrays": arrays}).encode()
        copy.connection.sendall(struct.pack("<I", text) if text else struct.pack("<I", len(said)) + said)
        copy.hang()

    return on_ask


def test_a_reply_is_no_larger_than_the_question_implies():
    """16,576 numbers of at most 16 bytes: 64 for each of 3, and 64 for each place of a 16 by 16 table."""

    def of(size: int, dtype: str = "<f8") -> Act:
        def on_ask(copy: Copy, request: Message, _arrays: Arrays) -> None:
            copy.say({"id": request["id"]} | RIGHT, {"y": np.zeros(size, dtype)})

        return on_ask

    full, _ = reply_to(of(16_576, "<f16"))
    assert (full.problem, full.arrays["y"].shape) == (Problem.NONE, (16_576,))
    assert reply_to(of(16_577, "<f16"))[0] == Reply(problem=Problem.BAD)


@pytest.mark.parametrize("act", [announcing(30_785), announcing(0xFFFFFFFF), announcing(0, 16 * 16_576 + 1)])
def test_what_is_too_large_is_refused_before_it_is_there(act):
    """Of text, 16,384 bytes and 12 for each of 700 characters."""
    assert reply_to(act)[0] == Reply(problem=Problem.BAD)


@pytest.mark.parametrize("act", [announcing(24_784), announcing(0, 16 * 16_576)])
def test_what_is_not_too_large_is_waited_for(act):
    assert reply_to(act, limits=HASTY)[0] == Reply(problem=Problem.TIME)


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


# --- the time for the notebook ----------------------------------------------------------------------------------------


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


# --- after failures ---------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("one_at_a_time", [False, True])
def test_with_stand_ins_questions_are_put_to_a_copy_that_was_asked_nothing_else(one_at_a_time):
    """One copy of it for each exercise; what stand-ins told it can be of no use in another."""
    jail = PlayedJail()
    jail.one_at_a_time = one_at_a_time
    session = JailSession(jail, ["cell"])
    for name, stand_ins in (("a", {}), ("a", OFFERED), ("a", OFFERED), ("b", {}), ("b", OFFERED), ("a", {})):
        assert ask(session, name, stand_ins) == Problem.NONE
    copies = [1, 2, 2, 3, 4, 5] if one_at_a_time else [1, 2, 2, 1, 3, 1]
    assert jail.asked == [(copy, name) for copy, name in zip(copies, "aaabba", strict=True)]
    assert jail.ran == [(n, "cell") for n in range(1, max(copies) + 1)]
    assert jail.ended == ([1, 2, 3, 4] if one_at_a_time else [2, 3])
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
    session = JailSession(jail, ["a", '{"output": "o", "error": "E: e (line 1)", "raised": "E"}', "c"])
    runs = [CellRun(), CellRun("o", "E: e (line 1)", Trouble.ERROR), CellRun()]
    assert session.run() == runs
    assert session.run() == runs
    assert [number for number, _ in jail.ran] == [1, 1, 1]
    session.close()


def test_a_cell_is_told_whose_it_is_and_what_answers_define():
    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        told = [request["role"], *request["defined"], request["give_back"]]
        copy.say({"id": request["id"], "output": str(told), "error": "", "raised": ""})

    cells: list[RunCell | str] = [RunCell("", CellRole.GIVEN), RunCell("", CellRole.ANSWER, "a"), RunCell(""), ""]
    session = JailSession(PlayedJail(on_run=on_run), cells, {"g", "f"})
    roles = ["given", "answer", "own", "own"]
    assert [run.output for run in session.run()] == [str([role, "f", "g", True]) for role in roles]
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


def says_of_runs(**keys: Any) -> Act:
    """Every cell is right but for some keys; a key that is None is left out."""

    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        message = {"id": request["id"], "output": "", "error": "", "raised": ""} | keys
        copy.say({key: value for key, value in message.items() if value is not None})

    return on_run


@pytest.mark.parametrize("value", [None, 0, 1.5, True, ["t"], {"t": 1}])
@pytest.mark.parametrize("key", ["id", "output", "error", "raised"])
def test_a_run_with_a_key_missing_or_of_another_kind_ends_the_copy(key, value):
    runs, jail = cells(["a"], says_of_runs(**{key: value}))
    assert (runs, jail.ended) == ([CellRun(trouble=Trouble.DIED)], [1, 2])


def test_what_a_run_says_is_cut():
    limits = Limits(output=10)
    ((run,), _) = cells(["a"], says_of_runs(output="o" * 111, error="e" * 1101, raised="E" * 101), limits)
    assert run == CellRun("o" * 110, "e" * 1100, Trouble.ERROR)


def test_a_run_is_no_longer_than_its_output_may_be_and_brings_no_arrays():
    """16,384 bytes and 12 for each of 1,310 characters."""
    limits = Limits(output=10, cell_time=SHORT)
    for length, trouble in ((32_104, Trouble.TIME), (32_105, Trouble.DIED)):

        def on_run(copy: Copy, _request: Message, _arrays: Arrays, length: int = length) -> None:
            copy.connection.sendall(struct.pack("<I", length))
            copy.hang()

        assert cells(["a"], on_run, limits)[0] == [CellRun(trouble=trouble)]

    def with_arrays(copy: Copy, request: Message, _arrays: Arrays) -> None:
        copy.say({"id": request["id"], "output": "", "error": "", "raised": ""}, {"y": np.ones(1)})

    assert cells(["a"], with_arrays)[0] == [CellRun(trouble=Trouble.DIED)]


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


def test_own_cells_may_end_25_copies_and_what_is_left_of_them_is_skipped():
    runs, jail = cells(["die"] * 30, as_told)
    assert runs == [CellRun(trouble=Trouble.DIED)] * 25 + [CellRun(trouble=Trouble.SKIPPED)] * 5
    assert (jail.opened, jail.ended) == (26, list(range(1, 27)))
    session = JailSession(jail, ["die"] * 30)
    assert ask(session, "a") == Problem.NONE  # answers go on
    session.close()


def test_answers_may_end_13_copies():
    answers = [RunCell("die", CellRole.ANSWER, f"a{n}") for n in range(20)]
    runs, jail = cells(answers, as_told)
    assert runs == [CellRun(trouble=Trouble.DIED)] * 13 + [CellRun(trouble=Trouble.SKIPPED)] * 7
    assert (jail.opened, jail.ended) == (13, list(range(1, 14)))
    session = JailSession(jail, answers)
    assert ask(session, "a") == Problem.DIED


def test_of_own_cells_that_are_not_run_what_they_define_is_taken():
    def on_define(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["source"] == "hang":
            copy.die()
        run_well(copy, request, arrays)

    jail = PlayedJail(on_run=as_told, limits=HASTY)
    jail.on_define = on_define
    session = JailSession(jail, ["die", "hang", RunCell("die", CellRole.ANSWER, "a")])
    assert [run.trouble for run in session.run()] == [Trouble.DIED, Trouble.TIME, Trouble.DIED]
    assert jail.defined == [(2, "die"), (3, "die"), (3, "hang"), (4, "die"), (5, "die")]
    session.close()


def test_other_ways_and_references_take_no_time_from_answers(monkeypatch):
    monkeypatch.setattr(session_module, "AGAIN", (0.2, 0.2))
    jail = PlayedJail(lambda copy, _request, _arrays: copy.hang(), limits=replace(HASTY, probe_time=0.2))
    session = JailSession(jail, [RunCell("a", CellRole.ANSWER, "a"), "below"])
    (above,) = session.other_ways("a")
    for n in range(3):
        ask(session, f"b{n}", OFFERED)
        above.ask("a", Question(f"c{n}", {}, ()), {})
    assert [name for _, name in jail.asked] == ["b0", "c0"]
    jail.on_ask = answer_well
    assert ask(session, "d") == Problem.NONE
    session.close()


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
