"""One submission, seen from outside: cells to run, questions to ask, arrays in return.

Nothing that comes back is trusted: messages have sizes checked before they are read, arrays have plain numbers in them, a
reply that is late, broken or not asked for ends the copy of the warm process, and a new one runs the cells again without the
one that did it.
"""

import re
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from exercises.model import Question, Reply, StandIn, Verdict
from exercises.problem import Problem
from grader.sandbox import wire
from grader.sandbox.jail import Jail

RESTARTS = 12  # of one submission
REFERENCE_CALLS = 200  # of one question
LATE = 2  # seconds
FAILURES = 2  # questions about one exercise that may hang or end the process, before the rest is not asked


class Trouble(StrEnum):
    """Why a cell did not run to its end."""

    NONE = ""
    ERROR = "error"
    TIME = "time"
    MEMORY = "memory"
    DIED = "died"
    SKIPPED = "skipped"


ENDED = (Trouble.TIME, Trouble.MEMORY, Trouble.DIED)  # with such a cell the copy of the process is gone
OUT_OF_MEMORY = "MemoryError"  # the type of the exception
# what the student's process may say of itself; the rest is for us to say
TOLD = {Problem.NONE, Problem.BLANK, Problem.MISSING, Problem.KIND, Problem.RAISED}


@dataclass(frozen=True)
class CellRun:
    """What came of a cell: its output, and why it did not run to its end, if so."""

    output: str = ""
    error: str = ""
    trouble: Trouble = Trouble.NONE


class _Gone(Exception):
    """The copy of the warm process is of no more use; why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class JailSession:
    """Runs the cells of one submission in a jail and answers questions about what they define."""

    def __init__(self, jail: Jail, cells: Sequence[str], ours: Collection[int] = ()) -> None:
        """ours: numbers of the cells that are given by us."""
        self.jail, self.cells, self.ours = jail, list(cells), frozenset(ours)
        self.verdicts: dict[str, Verdict] = {}
        self.runs: list[CellRun | None] = [None] * len(self.cells)
        self._connection: socket.socket | None = None
        self._deadline = time.monotonic() + jail.limits.whole_time
        self._failures: dict[tuple[str, bool], list[Problem]] = {}
        self._restarts = self._question = self._slot = 0

    def run(self) -> list[CellRun]:
        """Run all cells, as often as it takes to get past those that hang or end the process."""
        while self._connection is None and self._start():
            pass
        return [run or CellRun(trouble=Trouble.SKIPPED) for run in self.runs]

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        """Put a question about an exercise; what went wrong, in one word, is in the reply's problem."""
        failures = self._failures.setdefault((about, bool(stand_ins)), [])
        others_failed = any(f for f in self._failures.values() if f is not failures)
        if len(failures) >= (1 if others_failed else FAILURES):
            return Reply(problem=failures[-1])
        self.run()
        if self._connection is None:
            return Reply(problem=Problem.TIME, text="the time for the whole notebook is used up")
        try:
            message, answers = self._put(self._connection, question, stand_ins)
            told, text, raised = (str(message[key]) for key in ("problem", "text", "raised"))
        except (_Gone, KeyError) as gone:
            problem = gone.problem if isinstance(gone, _Gone) else Problem.BAD
            failures.append(problem)
            return Reply(problem=problem)
        if raised == OUT_OF_MEMORY:
            failures.append(Problem.MEMORY)
            self.close()  # what filled the memory may still be there
            return Reply(problem=Problem.MEMORY, text=text)
        if told not in TOLD:
            return Reply(problem=Problem.BAD, text="no known problem")
        problem = Problem(told)
        if problem is Problem.MISSING:
            return self._why_missing(text)
        return Reply({} if problem else answers, problem, text)

    def _put(
        self, connection: socket.socket, question: Question, stand_ins: Mapping[str, StandIn]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Send a question, and what came back for it. Raises _Gone."""
        arrays = {k: v for k, v in question.inputs.items() if isinstance(v, np.ndarray)}
        plain = {k: v for k, v in question.inputs.items() if not isinstance(v, np.ndarray)}
        named = [[name, list(s.parameters), s.results] for name, s in stand_ins.items()]
        message = {"do": wire.Request.ASK, "probe": question.probe, "inputs": plain, "stand_ins": named}
        return self._call(connection, message, arrays, self.jail.limits.probe_time, stand_ins)

    def _why_missing(self, name: str) -> Reply:
        """Why a name is not defined, as far as the run of its cell tells."""
        for source, run in zip(self.cells, self.runs, strict=True):
            if (
                run is not None
                and run.trouble
                and re.search(rf"^(def|class) {re.escape(name)}\b", source, re.MULTILINE)
            ):
                if run.trouble in ENDED:
                    return Reply(problem=Problem(run.trouble))
                return Reply(problem=Problem.MISSING, text=f"{name}: {run.error}")
        return Reply(problem=Problem.MISSING, text=name)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self.jail.end(self._slot)

    def _start(self) -> bool:
        """Run the cells in a new copy; False if there is no use in trying again."""
        if self._restarts > RESTARTS or time.monotonic() > self._deadline:
            return False
        self._restarts += 1
        copy = self.jail.open()
        connection, self._slot = copy.connection, copy.slot
        self._connection = connection
        for number, source in enumerate(self.cells):
            before = self.runs[number]
            if before is not None and before.trouble in (*ENDED, Trouble.SKIPPED):
                continue
            run = self._run_cell(connection, number, source)
            if before is None or run.trouble in ENDED:
                self.runs[number] = run
            if run.trouble in ENDED:
                return True
        return True

    def _run_cell(self, connection: socket.socket, number: int, source: str) -> CellRun:
        """Run one cell; the copy is closed if it is of no more use."""
        request = {"do": wire.Request.RUN, "source": source, "ours": number in self.ours}
        try:
            message, _ = self._call(connection, request, {}, self.jail.limits.cell_time, {})
            output, error, raised = (str(message[key]) for key in ("output", "error", "raised"))
        except (_Gone, KeyError) as gone:
            self.close()
            problem = gone.problem if isinstance(gone, _Gone) else Problem.BAD
            return CellRun(trouble=Trouble.DIED if problem is Problem.BAD else Trouble(problem))
        if raised == OUT_OF_MEMORY:
            self.close()
            return CellRun(output, error, Trouble.MEMORY)
        return CellRun(output, error, Trouble.ERROR if raised else Trouble.NONE)

    def _call(
        self,
        connection: socket.socket,
        message: dict[str, Any],
        arrays: dict[str, np.ndarray],
        seconds: float,
        stand_ins: Mapping[str, StandIn],
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Send a request and wait for its reply, answering what stand-ins ask meanwhile. Raises _Gone."""
        self._question += 1
        end = min(time.monotonic() + seconds, self._deadline)
        try:
            _send(connection, {"id": self._question} | message, arrays, end)
            for _ in range(REFERENCE_CALLS):
                connection.settimeout(max(end - time.monotonic(), 0.001))
                reply, answers = wire.receive(_Deadline(connection, end), self.jail.limits.reply)
                if reply.get("id") != self._question:
                    raise _Gone(Problem.BAD)
                if "stand_in" not in reply:
                    return reply, answers
                _send(connection, *_from_reference(stand_ins, reply, answers), end)
            raise _Gone(Problem.BAD)
        except TimeoutError:
            problem = Problem.TIME
        except (EOFError, OSError):
            problem = Problem.DIED
        except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
            problem = Problem.BAD
        except _Gone as gone:
            problem = gone.problem
        self.close()
        raise _Gone(problem)


def _send(connection: socket.socket, message: dict[str, Any], arrays: dict[str, np.ndarray], end: float) -> None:
    connection.settimeout(max(end - time.monotonic(), 0.001))
    wire.send(connection, message, arrays)


class _Deadline:
    """A socket whose reads all end by one moment, however slowly the bytes drip in.

    What is there already is still read for a while after it: it may be us who were late.
    """

    def __init__(self, connection: socket.socket, end: float) -> None:
        self.connection, self.end = connection, end

    def recv(self, size: int) -> bytes:
        left = self.end - time.monotonic()
        if left < -LATE:
            raise TimeoutError
        self.connection.settimeout(max(left, 0.001))
        return self.connection.recv(size)


def _from_reference(
    stand_ins: Mapping[str, StandIn], request: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The reference's answer to what a stand-in asks, or why there is none."""
    stand_in = stand_ins.get(str(request["stand_in"]))
    if stand_in is None:
        raise _Gone(Problem.BAD)
    grad = arrays.pop("\0grad", None)
    arguments = dict(request["arguments"]) | arrays
    try:
        if sum(a.size for a in arrays.values()) > 100_000:
            raise ValueError("arguments that large are not answered")
        answers = stand_in.answer(int(request["index"]), grad, arguments)
    except Exception as error:  # noqa: BLE001  (whatever a student passes to a reference is the student's mistake)
        return {"error": f"{stand_in.function}: {error}"[:300]}, {}
    return {"error": ""}, {str(n): np.asarray(a) for n, a in enumerate(answers)}
