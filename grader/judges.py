"""Reading and judging submissions within bounds: whatever one makes us do costs that submission only.

Everything that a student's bytes or process can make long or large happens in judge_process.py, in a process that the
kernel ends when it has used its time or its memory, and that can be ended at any moment.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing.connection import Connection
from typing import Any

from exercises.model import Verdict
from grader.course import ROOT, load_assignment
from grader.errors import JailError
from grader.grade import cut_short
from grader.judge_process import Task, Word, run
from grader.rebuild import Look, Rebuilt, rebuild
from grader.result import Result
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits
from grader.sandbox.running import WAIT
from grader.sandbox.warm import Copy, WarmProcess

LARGE = 8 << 20  # bytes; of larger submissions one is graded at a time
SILENT = 30  # seconds that we wait on top of what limits allow
NOTHING = b'{"cells": []}'

Told = dict[Word, Callable[[Any], object]]


class Broken(RuntimeError):
    """A bug of ours, which is told with its traceback."""


class Over(Exception):
    """Judging went over its bounds; the text says which. `again` if it may have been for another reason."""

    def __init__(self, reason: str, again: bool = False) -> None:
        super().__init__(reason)
        self.again = again


class Judges:
    """Processes that read and judge, one submission at a time each. May be used by several threads.

    module  the one that most submissions will be of; "" if nobody knows
    """

    def __init__(self, module: str = "") -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-c", "from grader.judge_process import main; main()"]
        self._warm = WarmProcess("the process that judges", command, environment, module, run)
        self._idle: list[_Judge] = []
        self._large = threading.Lock()

    @property
    def pid(self) -> int:
        """Of the process whose copies judge."""
        return self._warm.pid

    @property
    def closed(self) -> bool:
        return self._warm.closed

    def close(self) -> None:
        self._warm.close()
        while self._idle:
            self._idle.pop().end()

    def look(self, data: bytes, module: str) -> Look:
        """Look at a file that was handed in, within bounds."""
        task = Task(module, Limits(), only_look=True)
        try:
            with self._turn(data), self._judge() as judge:
                found: Look = judge.do(task, data, None, {})
                return found
        except Over as error:
            return Look(-1, 0, str(error))

    def grade(self, data: bytes, module: str, jail: Jail, student: str = "") -> Result:
        """Read a submission, run it in the jail and judge it. Raises JailError, or Broken for a bug of ours.

        A process that is gone, and not by its limits, is tried once more.
        """
        assignment = load_assignment(module)
        task = Task(module, jail.limits, student=student, one_at_a_time=jail.one_at_a_time)
        rebuilt: list[Rebuilt] = []
        verdicts: dict[str, Verdict] = {}
        told: Told = {Word.REBUILT: rebuilt.append, Word.VERDICT: lambda v: verdicts.update({v.exercise: v})}
        with self._turn(data):
            for again in (True, False):
                try:
                    with self._judge() as judge:
                        result: Result = judge.do(task, data, jail, told)
                        return result
                except Over as error:
                    over = error
                    if not (error.again and again) or self.closed:
                        break
        known = rebuilt[0] if rebuilt else Rebuilt(rebuild(NOTHING, assignment).parts, ())
        return cut_short(known, assignment, verdicts, str(over), student)

    def _turn(self, data: bytes) -> AbstractContextManager[object]:
        """Large submissions wait for each other."""
        return self._large if len(data) > LARGE else nullcontext()

    @contextmanager
    def _judge(self) -> Iterator["_Judge"]:
        """A process that does nothing at the moment; it is used again unless it is of no more use."""
        try:
            judge = self._idle.pop()
        except IndexError:
            judge = _Judge(self._warm.open(), self._warm)
        try:
            yield judge
        except BaseException:
            judge.tired = True
            raise
        finally:
            if judge.tired:
                judge.end()
            else:
                self._idle.append(judge)


class _Judge:
    """One process."""

    def __init__(self, copy: Copy, warm: WarmProcess) -> None:
        self._copy, self._warm = copy, warm
        copy.connection.settimeout(None)
        self._told = Connection(os.dup(copy.connection.fileno()))
        self.tired = False

    def end(self) -> Any:
        """Ends also what is left of it in the jail."""
        self._told.close()
        self._copy.connection.close()
        return self._warm.end(self._copy.slot)

    def do(self, task: Task, data: bytes, jail: Jail | None, told: Told) -> Any:
        """What comes of a task. Raises Over, JailError or Broken."""
        slots: set[int] = set()
        limits = task.limits
        longest = WAIT * (limits.judge_time + (0 if task.only_look else max(limits.whole_time, limits.own_time)))
        try:
            self._told.send(task)
            self._told.send_bytes(data)
            while self._told.poll(longest + SILENT):
                word, about = self._told.recv()
                if word == Word.OPEN and jail is not None:
                    self._open(jail, slots)
                elif word == Word.END and jail is not None:
                    slots.discard(about)
                    jail.end(about)
                elif word in told:
                    told[word](about)
                else:
                    return self._last(task, word, *about)
            raise Over(f"judging it was stopped after {longest:.0f} s without a word")
        except (EOFError, ConnectionError):
            raise self._gone(task) from None
        finally:
            if jail is not None:
                for slot in slots:
                    jail.end(slot)

    def _open(self, jail: Jail, slots: set[int]) -> None:
        try:
            copy = jail.open()
        except JailError as error:
            self._told.send((str(error), error.trouble))
            return
        slots.add(copy.slot)
        self._told.send(copy.slot)
        self._told.send(copy.pid)
        with copy.connection:
            socket.send_fds(self._copy.connection, [b"\0"], [copy.connection.fileno()])

    def _last(self, task: Task, word: Word, about: Any, tired: bool) -> Any:
        self.tired = tired or word != Word.RESULT
        match word:
            case Word.RESULT:
                return about
            case Word.NO_JAIL:
                raise JailError(*about)
            case Word.NO_MEMORY:
                raise Over(f"it needed more than {task.limits.judge_memory >> 20} MB to be read and judged")
        text, trace = about
        bug = Broken(text)
        bug.add_note(trace)
        raise bug

    def _gone(self, task: Task) -> Over:
        """Why a process ended without a word."""
        self.tired = True
        ended = self._warm.end(self._copy.slot)
        if ended.signal == signal.SIGXCPU:
            return Over(f"it needed more than {task.limits.judge_time:g} s of processor time to be read and judged")
        by = signal.Signals(ended.signal).name if ended.signal else "no signal"
        return Over(f"the process that judged it ended twice, by {by}", again=True)
