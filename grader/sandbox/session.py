"""One submission, seen from outside: cells to run, questions to ask, arrays in return.

A reply that is late, broken or not asked for ends the copy of the warm process, and a new one runs the cells again without
the one that did it. running.py says what a reply may be.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np

from exercises.model import Question, Reply, StandIn, Verdict
from exercises.problem import Problem
from grader.sandbox import wire
from grader.sandbox.jail import Jail
from grader.sandbox.running import ERROR, NAME, TEXT, Gone, Message, Running, Sizes

RESTARTS = 12  # copies that may end while they run answers or are asked, in each purse
OWN_RESTARTS = 24  # copies that the student's own cells may end, before no more of them are run
AGAIN = 10, 5  # seconds for questions with references in place of earlier answers, and for other ways to run the cells
HASTY = 2  # seconds for one such question
FAILURES = 2  # questions about one exercise that may hang or end the process, before the rest is not asked
QUICK_CELL = 1  # seconds; a cell of the student's own that takes no longer is run in every copy
RESERVE = 5  # seconds for quick cells, when the time for the student's own is used up


class Trouble(StrEnum):
    """Why a cell did not run to its end."""

    NONE = ""
    ERROR = "error"
    TIME = "time"
    MEMORY = "memory"
    DIED = "died"
    SKIPPED = "skipped"


class CellRole(StrEnum):
    """Whose a cell is that is run. What an answer or a given cell made of a name, other cells do not take away."""

    GIVEN = "given"
    ANSWER = "answer"
    OWN = "own"


ENDED = (Trouble.TIME, Trouble.MEMORY, Trouble.DIED)  # with such a cell the copy of the process is gone
OUT_OF_MEMORY = "MemoryError"  # the type of the exception
# what the student's process may say of itself; the rest is for us to say
TOLD = {Problem.NONE, Problem.BLANK, Problem.MISSING, Problem.KIND, Problem.RAISED}


@dataclass(frozen=True)
class RunCell:
    """A code cell of a submission; `exercise` is that of an answer, which may be blank."""

    source: str
    role: CellRole = CellRole.OWN
    exercise: str = ""
    blank: bool = False


@dataclass(frozen=True)
class CellRun:
    """What came of a cell: its output, and why it did not run to its end, if so."""

    output: str = ""
    error: str = ""
    trouble: Trouble = Trouble.NONE


@dataclass(frozen=True)
class Way:
    """Which copy a question is put to.

    exercise  "" for the one to which all exercises' questions are put; else one that is asked about this exercise only
    above     only the cells above the exercise, and its own, have been run
    as_left   names are as the cells left them
    bare      the student's own cells have not been run
    apart     it is asked with references in place of earlier answers
    """

    exercise: str = ""
    above: bool = False
    as_left: bool = False
    bare: bool = False
    apart: bool = False


@dataclass
class _Purse:
    """What one kind of copies may still use: own seconds of cells and questions, and copies that end."""

    left: float
    restarts: int = RESTARTS


class JailSession:
    """Runs the cells of one submission in a jail and answers questions about what they define."""

    def __init__(self, jail: Jail, cells: Sequence[RunCell | str], defined: Collection[str] = ()) -> None:
        """A cell that is only a text is the student's own.

        defined: the names of all answers; a cell of the student's own that defines one again counts as an answer.
        """
        self.jail, self.defined = jail, sorted(defined)
        self.cells = [cell if isinstance(cell, RunCell) else RunCell(cell) for cell in cells]
        self.verdicts: dict[str, Verdict] = {}
        self.runs: list[CellRun | None] = [None] * len(self.cells)
        self.starved = False  # something was stopped by the wall clock: once more alone, it may go further
        self._seconds: dict[int, float] = {}  # that cells took
        self._own_left, self._reserve, self._own_restarts = jail.limits.own_time, float(RESERVE), OWN_RESTARTS
        whole = jail.limits.whole_time
        self._all, self._apart, self._others = (_Purse(min(seconds, whole)) for seconds in (whole, *AGAIN))
        self._copies: dict[Way, Running] = {}
        self._failures: dict[tuple[str, Way], list[Problem]] = {}
        self._changed: set[Way] = set()  # where giving names back changed something
        self._anew: set[int] = set()  # cells that made something anew that was there
        # an own cell may answer in any way, such as `_scale_scores = lambda ...`
        own = any(cell.role == CellRole.OWN for cell in self.cells)
        self._blank = set() if own else {cell.exercise for cell in self.cells if cell.blank}
        self._lost: set[int] = set()  # cells of which not even what they define can be had
        self._together = True  # cells that are run again may be run in one go

    def run(self) -> list[CellRun]:
        """Run all cells, as often as it takes to get past those that hang or end the process."""
        self._ready(Way())
        return [run or CellRun(trouble=Trouble.SKIPPED) for run in self.runs]

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        """Put a question about an exercise; what went wrong, in one word, is in the reply's problem."""
        return self._ask(Way(about, apart=True) if stand_ins else Way(), about, question, stand_ins)

    def other_ways(self, exercise: str) -> "Iterator[Above]":
        """Sessions in which other cells have done less to an exercise; none if they cannot have done anything.

        First, names are as the cells left them; then, cells below the exercise have not been run; then both; then, the student's
        own cells above it have not been run either.
        """
        place = self._place(exercise)
        if place is None or exercise in self._blank:
            return
        above = Way(exercise, above=True)
        if Way() in self._changed:
            yield Above(self, Way(exercise, as_left=True))
        below = range(place + 1, len(self.cells))
        if any(n in self._anew or self.cells[n].role == CellRole.OWN for n in below):
            yield Above(self, above)
            if above in self._changed:
                yield Above(self, replace(above, as_left=True))
        if any(cell.role == CellRole.OWN for cell in self.cells[:place]):
            yield Above(self, replace(above, bare=True))

    def close(self) -> None:
        for way in list(self._copies):
            self._close(way)

    def _ask(self, way: Way, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        if about in self._blank:
            return Reply(problem=Problem.BLANK)
        failures = self._failures.setdefault((about, way), [])
        others_failed = any(f for f in self._failures.values() if f is not failures)
        if len(failures) >= (1 if others_failed else FAILURES):
            return Reply(problem=failures[-1])
        running, purse = self._ready(way), self._purse(way)
        if purse.left <= 0:
            return Reply(problem=Problem.TIME, text="the time for the whole notebook is used up")
        if running is None:
            return Reply(problem=Problem.DIED)
        arrays = {k: v for k, v in question.inputs.items() if isinstance(v, np.ndarray)}
        plain = {k: v for k, v in question.inputs.items() if not isinstance(v, np.ndarray)}
        named = [[name, list(s.parameters), s.results] for name, s in stand_ins.items()]
        message: Message = {"do": wire.Request.ASK, "probe": question.probe, "inputs": plain, "stand_ins": named}
        message["give_back"] = not way.as_left
        seconds = min(self.jail.limits.probe_time, purse.left if way == Way() else min(HASTY, purse.left))
        try:
            (reply, raised), answers = running.call(
                message, arrays, seconds, Sizes.of_question(question), stand_ins, partial(self._reply, way)
            )
        except Gone as gone:
            failures.append(gone.problem)
            purse.restarts -= 1
            return Reply(problem=gone.problem)
        finally:
            purse.left -= running.took
            self.starved |= running.starved
        if raised == OUT_OF_MEMORY:
            failures.append(Problem.MEMORY)
            purse.restarts -= 1
            self._close(way)  # what filled the memory may still be there
            return Reply(problem=Problem.MEMORY, text=reply.text)
        if reply.problem is Problem.MISSING:
            return self._why_missing(reply.text)
        return reply if reply.problem else Reply(answers, helped=running.helped)

    def _reply(self, way: Way, message: Message) -> tuple[Reply, str]:
        """A reply without its arrays, and the type of what was raised; ValueError if it is none."""
        problem = Problem(wire.text_in(message, "problem", NAME))
        text, line = wire.text_in(message, "text", TEXT), wire.text_in(message, "line", TEXT)
        raised = wire.text_in(message, "raised", NAME)
        if problem not in TOLD and raised != OUT_OF_MEMORY:
            raise ValueError("a problem that is ours to tell")
        if message.get("changed") is True:
            self._changed.add(way)
        return Reply(problem=problem, text=text, line=line), raised

    def _why_missing(self, name: str) -> Reply:
        """Why a name is not defined, as far as the run of its cell tells."""
        for cell, run in zip(self.cells, self.runs, strict=True):
            if (
                run is not None
                and run.trouble
                and re.search(rf"^(def|class) {re.escape(name)}\b", cell.source, re.MULTILINE)
            ):
                if run.trouble in ENDED:
                    return Reply(problem=Problem(run.trouble))
                return Reply(problem=Problem.MISSING, text=f"{name}: {run.error}")
        return Reply(problem=Problem.MISSING, text=name)

    # --- copies -------------------------------------------------------------------------------------------------------

    def _ready(self, way: Way) -> Running | None:
        """A copy that has run its cells, as often as it takes; None if there is no use in trying again."""
        for other in [w for w in self._copies if self._copies[w].closed or w not in (way, Way())]:
            self._close(other)
        while way not in self._copies:
            purse = self._purse(way)
            if purse.left <= 0 or purse.restarts < 0:
                return None
            if self.jail.one_at_a_time:
                self.close()
            running = Running(self.jail.open(), self.jail.end)
            if self._run_cells(running, way, purse):
                self._copies[way] = running
        return self._copies[way]

    def _purse(self, way: Way) -> _Purse:
        """What a copy may use: what other ways and references in place of earlier answers use costs no answer its time."""
        return self._all if way == Way() else self._apart if way == Way(way.exercise, apart=True) else self._others

    def _close(self, way: Way) -> None:
        self._copies.pop(way).close()

    def _place(self, exercise: str) -> int | None:
        """The number of an exercise's answer cell."""
        return next((n for n, cell in enumerate(self.cells) if exercise and cell.exercise == exercise), None)

    def _numbers(self, way: Way) -> list[int]:
        """The cells that are run in a copy."""
        last = self._place(way.exercise) if way.above else None
        numbers = range(len(self.cells) if last is None else last + 1)
        return [n for n in numbers if not (way.bare and self.cells[n].role == CellRole.OWN)]

    def _run_cells(self, running: Running, way: Way, purse: _Purse) -> bool:
        """Run the cells in a new copy; False if one of them ended it."""
        numbers = self._numbers(way)
        if self._may_run_together(numbers):
            return self._run_together(running, way, purse, numbers)
        for number in numbers:
            before = self.runs[number]
            seconds = self._seconds_for(number, way, purse)
            if seconds <= 0:
                if before is None:
                    self.runs[number] = CellRun(trouble=Trouble.SKIPPED)
                if not self._define(running, number, way, purse):
                    return False
                continue
            run = self._run_cell(running, number, way, seconds)
            self._count(number, running.took, purse)
            if before is None or run.trouble in ENDED:
                self.runs[number] = run
            if run.trouble in ENDED:
                if self.cells[number].role == CellRole.OWN:
                    self._own_restarts -= 1
                else:
                    purse.restarts -= 1
                return False
        return True

    def _define(self, running: Running, number: int, way: Way, purse: _Purse) -> bool:
        """Take from a cell that is not run what it defines and imports; False if that ended the copy."""
        cell, run = self.cells[number], self.runs[number]
        if number in self._lost or (cell.role != CellRole.OWN and run is not None and run.trouble in ENDED):
            return True
        request: Message = {"do": wire.Request.DEFINE, "source": cell.source, "role": cell.role} | self._how(way)
        done = self._tell(running, request, min(QUICK_CELL, purse.left), purse)
        if not done:
            self._lost.add(number)
        return done

    def _may_run_together(self, numbers: Sequence[int]) -> bool:
        """Whether all of these cells have been run to their ends, and quickly."""
        runs = [self.runs[n] for n in numbers]
        done = all(run is not None and run.trouble in (Trouble.NONE, Trouble.ERROR) for run in runs)
        quick = sum(self._seconds.get(n, 0) for n in numbers) <= QUICK_CELL
        return bool(numbers) and self._together and done and quick

    def _run_together(self, running: Running, way: Way, purse: _Purse, numbers: Sequence[int]) -> bool:
        """Run cells in one go; False if the copy is gone, and then they are run one by one from now on."""
        cells = [[self.cells[n].source, self.cells[n].role] for n in numbers]
        request: Message = {"do": wire.Request.AGAIN, "cells": cells} | self._how(way)
        self._together = self._tell(running, request, min(self.jail.limits.cell_time, purse.left), purse)
        return self._together

    def _tell(self, running: Running, request: Message, seconds: float, purse: _Purse) -> bool:
        """Have a copy do something of which nothing is to be known; False if the copy is gone."""
        try:
            running.call(request, {}, seconds, Sizes.of_run(self.jail.limits), {}, lambda message: message)
        except Gone:
            return False
        finally:
            purse.left -= running.took
            self.starved |= running.starved
        return True

    def _how(self, way: Way) -> Message:
        """What a copy has to know to run cells."""
        return {"defined": self.defined, "give_back": not way.as_left}

    def _seconds_for(self, number: int, way: Way, purse: _Purse) -> float:
        """How long a cell may run; 0 if it is not run."""
        limit, took, before = self.jail.limits.cell_time, self._seconds.get(number, 0.0), self.runs[number]
        if before is not None and before.trouble in ENDED:
            return 0
        if self.cells[number].role != CellRole.OWN:
            slow = self.cells[number].role == CellRole.ANSWER and took > QUICK_CELL and way != Way()
            return min(limit, purse.left) if not slow else 0
        if self._own_restarts < 0:
            return 0
        if self._own_left > 0:
            return min(limit, self._own_left) if took <= max(QUICK_CELL, self._own_left) else 0
        return min(QUICK_CELL, self._reserve) if took <= QUICK_CELL else 0

    def _count(self, number: int, took: float, purse: _Purse) -> None:
        self._seconds.setdefault(number, took)
        if self.cells[number].role != CellRole.OWN:
            purse.left -= took
        elif self._own_left > 0:
            self._own_left -= took
        else:
            self._reserve -= took

    def _run_cell(self, running: Running, number: int, way: Way, seconds: float) -> CellRun:
        """Run one cell; the copy is closed if it is of no more use."""
        cell = self.cells[number]
        request: Message = {"do": wire.Request.RUN, "source": cell.source, "role": cell.role} | self._how(way)
        run: CellRun
        try:
            (run, raised, anew), _ = running.call(
                request, {}, seconds, Sizes.of_run(self.jail.limits), {}, self._run_of
            )
        except Gone as gone:
            return CellRun(trouble=Trouble.DIED if gone.problem is Problem.BAD else Trouble(gone.problem))
        finally:
            self.starved |= running.starved
        if anew:
            self._anew.add(number)
        if raised == OUT_OF_MEMORY:
            running.close()
            return replace(run, trouble=Trouble.MEMORY)
        return run

    def _run_of(self, message: Message) -> tuple[CellRun, str, bool]:
        """What came of a cell, the type of what it raised, and whether it made something anew; ValueError if it is not said."""
        raised = wire.text_in(message, "raised", NAME)
        output = wire.text_in(message, "output", self.jail.limits.output + NAME)
        trouble = Trouble.ERROR if raised else Trouble.NONE
        return CellRun(output, wire.text_in(message, "error", ERROR), trouble), raised, message.get("anew") is True


class Above:
    """A session to which only one exercise's questions are put, after the cells above it and its own."""

    def __init__(self, session: JailSession, way: Way) -> None:
        self._session, self._way = session, way
        self.verdicts = dict(session.verdicts)
        self.verdicts.pop(way.exercise, None)

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        way = replace(self._way, apart=bool(stand_ins))
        return self._session._ask(way, about, question, stand_ins)  # noqa: SLF001
