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
from typing import Any

import numpy as np

from autograded_tests.exercise import Helper, Inputs, Reply, Verdict
from autograded_tests.session import answer_helper
from grader import worker
from grader.jail import Jail

RESTARTS = 12  # of one submission
HELPER_CALLS = 200  # of one question
LATE = 2  # seconds
FAILURES = 2  # questions about one exercise that may hang or end the process, before the rest is not asked


@dataclass(frozen=True)
class CellRun:
    """What came of a cell: its output, and why it did not run to its end, if so.

    trouble  "" | error | time | memory | died | skipped
    """

    output: str = ""
    error: str = ""
    trouble: str = ""


class _Gone(Exception):
    """The copy of the warm process is of no more use; the argument says why: time, memory, died or bad."""


class JailSession:
    """Runs the cells of one submission in a jail and answers questions about what they define."""

    def __init__(self, jail: Jail, cells: Sequence[str], ours: Collection[int] = ()) -> None:
        """ours: numbers of the cells that are given by us."""
        self.jail, self.cells, self.ours = jail, list(cells), frozenset(ours)
        self.verdicts: dict[str, Verdict] = {}
        self.runs: list[CellRun | None] = [None] * len(self.cells)
        self._connection: socket.socket | None = None
        self._deadline = time.monotonic() + jail.limits.whole_time
        self._failures: dict[tuple[str, bool], list[str]] = {}
        self._restarts = self._question = self._slot = 0

    def run(self) -> list[CellRun]:
        """Run all cells, as often as it takes to get past those that hang or end the process."""
        while self._connection is None and self._start():
            pass
        return [run or CellRun(trouble="skipped") for run in self.runs]

    def ask(self, probe: str, inputs: Inputs, helpers: Mapping[str, Helper]) -> Reply:
        """Ask a question; what went wrong, in one word, is in the reply's problem."""
        about = str(inputs.get("name", probe.partition("_head_")[0]))
        failures = self._failures.setdefault((about, bool(helpers)), [])
        others_failed = any(f for f in self._failures.values() if f is not failures)
        if len(failures) >= (1 if others_failed else FAILURES):
            return Reply(problem=failures[-1])
        self.run()
        if self._connection is None:
            return Reply(problem="time", text="the time for the whole notebook is used up")
        arrays = {k: v for k, v in inputs.items() if isinstance(v, np.ndarray)}
        plain = {k: v for k, v in inputs.items() if not isinstance(v, np.ndarray)}
        named = [[name, list(h.parameters), h.results] for name, h in helpers.items()]
        try:
            message, answers = self._call(
                {"do": "ask", "probe": probe, "inputs": plain, "helpers": named},
                arrays,
                self.jail.limits.probe_time,
                helpers,
            )
            problem, text = str(message["problem"]), str(message["text"])
        except (_Gone, KeyError) as gone:
            problem = gone.args[0] if isinstance(gone, _Gone) else "bad"
            failures.append(problem)
            return Reply(problem=problem)
        if problem == "raised" and text.startswith("MemoryError"):
            problem = "memory"
            failures.append(problem)
            self.close()  # what filled the memory may still be there
        if problem == "missing":
            return self._why_missing(text)
        if problem not in ("", "blank", "missing", "kind", "raised", "memory"):
            return Reply(problem="bad", text="no known problem")
        return Reply({} if problem else answers, problem, text)

    def _why_missing(self, name: str) -> Reply:
        """Why a name is not defined, as far as the run of its cell tells."""
        for source, run in zip(self.cells, self.runs, strict=True):
            if (
                run is not None
                and run.trouble
                and re.search(rf"^(def|class) {re.escape(name)}\b", source, re.MULTILINE)
            ):
                if run.trouble in ("time", "memory", "died"):
                    return Reply(problem=run.trouble)
                return Reply(problem="missing", text=f"{name}: {run.error}")
        return Reply(problem="missing", text=name)

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
        self._connection, self._slot = self.jail.open()
        for number, source in enumerate(self.cells):
            before = self.runs[number]
            if before is not None and before.trouble in ("time", "memory", "died", "skipped"):
                continue
            try:
                message, _ = self._call(
                    {"do": "run", "source": source, "ours": number in self.ours}, {}, self.jail.limits.cell_time, {}
                )
                run = CellRun(str(message["output"]), str(message["error"]), "error" if message["error"] else "")
                if run.error.startswith("MemoryError"):
                    self.runs[number] = CellRun(run.output, run.error, "memory")
                    self.close()
                    return True
            except (_Gone, KeyError) as gone:
                trouble = gone.args[0] if isinstance(gone, _Gone) else "died"
                self.runs[number] = CellRun(trouble="died" if trouble == "bad" else trouble)
                return True
            if before is None:
                self.runs[number] = run
        return True

    def _call(
        self, message: dict[str, Any], arrays: dict[str, np.ndarray], seconds: float, helpers: Mapping[str, Helper]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Send a request and wait for its reply, answering what stand-ins ask meanwhile. Raises _Gone."""
        assert self._connection is not None
        self._question += 1
        end = min(time.monotonic() + seconds, self._deadline)
        try:
            self._send({"id": self._question} | message, arrays, end)
            for _ in range(HELPER_CALLS):
                self._connection.settimeout(max(end - time.monotonic(), 0.001))
                reply, answers = _receive_by(self._connection, self.jail.limits.reply, end)
                if reply.get("id") != self._question:
                    raise _Gone("bad")
                if "helper" not in reply:
                    return reply, answers
                self._send(*_help(helpers, reply, answers), end)
            raise _Gone("bad")
        except TimeoutError:
            problem = "time"
        except EOFError:
            problem = "died"
        except OSError:
            problem = "died"
        except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
            problem = "bad"
        except _Gone as gone:
            problem = gone.args[0]
        self.close()
        raise _Gone(problem)

    def _send(self, message: dict[str, Any], arrays: dict[str, np.ndarray], end: float) -> None:
        assert self._connection is not None
        self._connection.settimeout(max(end - time.monotonic(), 0.001))
        worker.send(self._connection, message, arrays)


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


def _receive_by(connection: socket.socket, most: int, end: float) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return worker.receive(_Deadline(connection, end), most)


def _help(
    helpers: Mapping[str, Helper], request: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The reference's answer to what a stand-in asks, or why there is none."""
    helper = helpers.get(str(request["helper"]))
    if helper is None:
        raise _Gone("bad")
    grad = arrays.pop("\0grad", None)
    arguments = dict(request["arguments"]) | arrays
    try:
        if sum(a.size for a in arrays.values()) > 100_000:
            raise ValueError("arguments that large are not answered")
        answers = answer_helper(helper, int(request["index"]), grad, {k: arguments[k] for k in arguments})
    except Exception as error:  # whatever a student passes to a reference is the student's mistake
        return {"error": f"{helper.function}: {error}"[:300]}, {}
    return {"error": ""}, {str(n): np.asarray(a) for n, a in enumerate(answers)}
