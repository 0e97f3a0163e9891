"""Which cells are run before an exercise is asked about again, and how much time a student's own cells have."""

import time
from dataclasses import replace
from typing import Any

import pytest
from limits import PATIENCE
from played import OFFERED, SHORT, Act, Arrays, Copy, Message, PlayedJail, ask, failing, run_well, saying

from exercises.model import Question, Verdict
from exercises.problem import Problem
from grader.sandbox import session as session_module
from grader.sandbox.limits import Limits
from grader.sandbox.session import CellRole, CellRun, JailSession, RunCell, Trouble

# --- asked again, after fewer cells -----------------------------------------------------------------------------------


GIVEN, OWN, A, BELOW, B = (
    RunCell("given", CellRole.GIVEN),
    RunCell("own"),
    RunCell("a", CellRole.ANSWER, "a"),
    RunCell("below"),
    RunCell("b", CellRole.ANSWER, "b"),
)


def ways(of: str, *cells: RunCell, **said: Any) -> tuple[list[tuple[list[str], bool, str]], PlayedJail]:
    """For each other way to ask about an exercise: the cells that are run, whether names are given back, what is asked."""
    done: list[tuple[list[str], bool, str]] = []

    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        given_back.append(request["give_back"])
        run_well(copy, request, arrays)

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        given_back.append(request["give_back"])
        saying(**said)(copy, request, arrays)

    jail, given_back = PlayedJail(on_ask, on_run), list[bool]()
    session = JailSession(jail, cells)
    ask(session, of)
    for other in session.other_ways(of):
        jail.ran, jail.asked = [], []
        given_back.clear()
        other.ask(of, Question(of, {}, ()), {})
        assert len(set(given_back)) == 1
        assert {copy for copy, _ in jail.ran} <= {jail.opened} == {copy for copy, _ in jail.asked}
        done.append(([source for _, source in jail.ran], given_back[0], jail.asked[0][1]))
    session.close()
    assert sorted(jail.ended) == list(range(1, jail.opened + 1))
    return done, jail


def test_cells_below_an_exercise_and_then_own_cells_above_it_are_left_out():
    assert ways("a", GIVEN, OWN, A, BELOW, B)[0] == [(["given", "own", "a"], True, "a"), (["given", "a"], True, "a")]
    assert ways("b", GIVEN, OWN, A, BELOW, B)[0] == [(["given", "a", "b"], True, "b")]


@pytest.mark.parametrize(("anew", "again"), [(True, True), (False, False), (1, False), ("true", False), (None, False)])
def test_answers_below_are_left_out_where_they_made_something_anew(anew, again):
    def on_run(copy: Copy, request: Message, _arrays: Arrays) -> None:
        ran = {"id": request["id"], "output": "", "error": "", "raised": ""}
        copy.say(ran | ({} if anew is None else {"anew": anew if request["source"] == "b" else False}))

    session = JailSession(PlayedJail(on_run=on_run), [GIVEN, A, B])
    ask(session, "a")
    assert bool(list(session.other_ways("a"))) is again
    session.close()


def test_where_nothing_of_the_students_is_around_an_exercise_it_is_not_asked_again():
    assert ways("b", GIVEN, A, B, GIVEN)[0] == []
    assert ways("c", GIVEN, OWN, A)[0] == []


def test_blank_work_is_not_asked_at_all():
    jail = PlayedJail()
    session = JailSession(jail, [GIVEN, replace(A, blank=True), B])
    for stand_ins in ({}, OFFERED):
        assert ask(session, "a", stand_ins) == Problem.BLANK
    assert (jail.opened, list(session.other_ways("a"))) == (0, [])
    session.close()


def test_a_blank_answer_is_asked_where_an_own_cell_may_answer():
    session = JailSession(PlayedJail(), [GIVEN, replace(A, blank=True), BELOW])
    assert ask(session, "a") == Problem.NONE
    session.close()


@pytest.mark.parametrize("changed", [True, False, 1, "true", ["x"]])
def test_names_are_left_as_they_are_where_giving_them_back_changed_something(changed):
    all_run, above = ["given", "a", "below"], ["given", "a"]
    expected = [(above, True, "a")]
    if changed is True:
        expected = [(all_run, False, "a"), *expected, (above, False, "a")]
    assert ways("a", GIVEN, A, BELOW, changed=changed)[0] == expected


def test_other_ways_with_stand_ins_are_asked_in_copies_of_their_own():
    jail = PlayedJail()
    session = JailSession(jail, [A, BELOW, B])
    (above,) = session.other_ways("a")
    for stand_ins in ({}, OFFERED, OFFERED):
        above.ask("a", Question("a", {}, ()), stand_ins)
    assert ask(session, "b") == Problem.NONE
    assert jail.asked == [(1, "a"), (2, "a"), (2, "a"), (3, "b")]
    assert jail.ran == [(1, "a"), (2, "a"), (3, "a"), (3, "below"), (3, "b")]
    session.close()


def test_another_way_knows_the_other_verdicts_and_not_that_of_the_exercise():
    session = JailSession(PlayedJail(), [A, BELOW, B])
    one, two = (Verdict(name, 1, 2, ()) for name in "ab")
    session.verdicts = {"a": one, "b": two}
    (above,) = session.other_ways("a")
    assert above.verdicts == {"b": two}
    above.verdicts["c"] = one
    assert session.verdicts == {"a": one, "b": two}


def test_each_way_may_fail_by_itself():
    jail = PlayedJail(failing("a"))
    session = JailSession(jail, [A, BELOW])
    assert [ask(session, "a") for _ in range(3)] == [Problem.DIED] * 3
    (above,) = session.other_ways("a")
    assert [above.ask("a", Question("a", {}, ()), {}).problem for _ in range(3)] == [Problem.DIED] * 3
    assert [copy for copy, _ in jail.asked] == [1, 2, 3]
    session.close()


# --- the time of own cells --------------------------------------------------------------------------------------------


def sleeps(copy: Copy, request: Message, arrays: Arrays) -> None:
    """A cell that says how many tenths of SHORT it takes, after its name."""
    time.sleep(int(request["source"].split()[1]) * SHORT / 10)
    run_well(copy, request, arrays)


@pytest.mark.long
def test_own_cells_have_their_time_together_and_answers_another(monkeypatch):
    """The second is stopped after what the first has left, the third takes no longer than is quick."""
    monkeypatch.setattr(session_module, "QUICK_CELL", SHORT / 2)
    own = Limits(own_time=SHORT, whole_time=60 * PATIENCE)
    given, answer = RunCell("given 9", CellRole.GIVEN), RunCell("answer 9", CellRole.ANSWER, "a")
    jail = PlayedJail(on_run=sleeps, limits=own)
    session = JailSession(jail, [given, "one 7", "two 9", "three 0", "four 9", answer])
    ok, stopped = CellRun(), CellRun(trouble=Trouble.TIME)
    assert session.run() == [ok, ok, stopped, ok, stopped, ok]
    assert [s for n, s in jail.ran if n == 2] == [
        "given 9",
        "three 0",
        "four 9",
    ]  # the first is too slow to be run again
    assert [s for n, s in jail.ran if n == 3] == ["given 9", "three 0", "answer 9"]
    session.close()


@pytest.mark.long
def test_when_the_reserve_is_used_up_own_cells_are_left_out(monkeypatch):
    monkeypatch.setattr(session_module, "QUICK_CELL", SHORT)
    monkeypatch.setattr(session_module, "RESERVE", SHORT)
    jail = PlayedJail(on_run=sleeps, limits=Limits(own_time=SHORT / 10))
    answer = RunCell("answer 9", CellRole.ANSWER, "a")
    session = JailSession(jail, ["one 2", "two 6", "three 6", "four 0", answer])
    ok, stopped, skipped = CellRun(), CellRun(trouble=Trouble.TIME), CellRun(trouble=Trouble.SKIPPED)
    assert session.run() == [stopped, ok, stopped, skipped, ok]
    session.close()


def test_an_own_cell_that_took_longer_than_there_is_left_is_not_run_again(monkeypatch):
    """It has been run once; in the next copy it could only be stopped."""
    monkeypatch.setattr(session_module, "QUICK_CELL", SHORT / 2)

    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["source"] == "die":
            copy.die()
        sleeps(copy, request, arrays)

    jail = PlayedJail(on_run=on_run, limits=Limits(own_time=SHORT))
    session = JailSession(jail, ["one 7", RunCell("die", CellRole.ANSWER, "a"), RunCell("b 0", CellRole.ANSWER, "b")])
    assert session.run() == [CellRun(), CellRun(trouble=Trouble.DIED), CellRun()]
    assert jail.ran == [(1, "one 7"), (1, "die"), (2, "b 0")]
    session.close()


def test_the_time_of_own_cells_is_not_that_of_answers():
    jail = PlayedJail(on_run=sleeps, limits=Limits(own_time=60 * PATIENCE, whole_time=SHORT))
    session = JailSession(jail, ["one 12", RunCell("answer 0", CellRole.ANSWER, "a")])
    assert session.run() == [CellRun(), CellRun()]
    assert ask(session, "a") == Problem.NONE
    session.close()


def test_an_answer_runs_no_longer_than_there_is_time_for_the_notebook():
    limits = Limits(cell_time=60 * PATIENCE, whole_time=SHORT)
    session = JailSession(
        PlayedJail(on_run=sleeps, limits=limits), [RunCell("answer 30", CellRole.ANSWER, "a"), "own 0"]
    )
    assert session.run() == [CellRun(trouble=Trouble.TIME), CellRun(trouble=Trouble.SKIPPED)]
    session.close()


# --- run again, in one go ---------------------------------------------------------------------------------------------


def requests(jail_on_run: Act, *cells: RunCell) -> list[str]:
    """What each copy was told to do with cells, for a question with and one without stand-ins."""
    told: list[str] = []

    class Listening(PlayedJail):
        def _play(self, copy: Copy) -> None:
            hear = copy.hear

            def heard() -> tuple[Message, Arrays]:
                request, arrays = hear()
                told.append(request["do"])
                return request, arrays

            copy.hear = heard  # type: ignore[method-assign]
            super()._play(copy)

    session = JailSession(Listening(on_run=jail_on_run), cells)
    for stand_ins in ({}, OFFERED):
        assert ask(session, "a", stand_ins) == Problem.NONE
    session.close()
    return told


def test_cells_that_were_quick_are_run_again_in_one_go():
    assert requests(run_well, GIVEN, A, BELOW) == ["run", "run", "run", "ask", "run again", "ask"]


def test_where_one_was_slow_they_are_run_one_by_one(monkeypatch):
    monkeypatch.setattr(session_module, "QUICK_CELL", 0)
    assert requests(run_well, GIVEN, A) == ["run", "run", "ask", "run", "define", "ask"]


def test_where_it_ends_the_copy_they_are_run_one_by_one():
    def on_run(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["do"] == "run again":
            copy.die()
        run_well(copy, request, arrays)

    assert requests(on_run, GIVEN, A) == ["run", "run", "ask", "run again", "run", "run", "ask"]
