"""Reading and judging submissions, in processes that can be ended. judges.py is the other side.

A copy of the warm process takes one submission after another. Before each it sets itself a limit of processor time and of
memory; the kernel keeps it, whatever the submission makes us do.
"""

import gc
import math
import os
import resource
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, cast

from exercises.compare import expected
from grader.course import load_assignment
from grader.errors import JailError, JailTrouble
from grader.grade import grade_notebook
from grader.rebuild import look
from grader.sandbox.copies import HELLO, make_copies
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Copy, Ended

TIRED = 200 << 10  # KiB; a process that took so much more than it began with is not used again


class Word(StrEnum):
    """What a judging process says; most words come with something."""

    OPEN = "open"  # a copy in the jail, please
    END = "end"  # this copy, please
    REBUILT = "rebuilt"
    VERDICT = "verdict"
    RESULT = "result"
    NO_MEMORY = "no memory"
    NO_JAIL = "no jail"
    BUG = "bug"


@dataclass(frozen=True)
class Task:
    """What a judging process is to do: grade a submission, or only to look at it."""

    module: str
    limits: Limits
    only_look: bool = False
    student: str = ""
    one_at_a_time: bool = False


class FarJail:
    """The jail, which is the other side's: copies in it are opened and ended there."""

    def __init__(self, connection: socket.socket, told: Connection, task: Task) -> None:
        self._connection, self._told = connection, told
        self.limits, self.one_at_a_time = task.limits, task.one_at_a_time

    def open(self) -> Copy:
        self._told.send((Word.OPEN, None))
        answer = self._told.recv()
        if isinstance(answer, tuple):
            raise JailError(*answer)
        pid = self._told.recv()
        _, (descriptor,), _, _ = socket.recv_fds(self._connection, 1, 1)
        return Copy(socket.socket(fileno=descriptor), answer, pid)

    def end(self, slot: int) -> Ended:
        self._told.send((Word.END, slot))
        return Ended()


def serve(connection: socket.socket) -> None:
    """Do tasks until the other side is gone."""
    told = Connection(os.dup(connection.fileno()))
    fresh = _most_memory()  # the process that it is a copy of may be large itself
    while True:
        try:
            task: Task = told.recv()
            data = told.recv_bytes()
        except EOFError:
            return
        _limit(task.limits)
        word, about = _do(task, data, connection, told)
        del data
        tired = _most_memory() > fresh + TIRED
        told.send((word, (about, tired)))
        if tired or word != Word.RESULT:
            return


def _do(task: Task, data: bytes, connection: socket.socket, told: Connection) -> tuple[Word, Any]:
    try:
        assignment = load_assignment(task.module)
        if task.only_look:
            return Word.RESULT, look(data, assignment)
        jail = cast(Jail, FarJail(connection, told, task))
        result = grade_notebook(
            data,
            assignment,
            jail,
            task.student,
            on_rebuilt=lambda rebuilt: told.send((Word.REBUILT, rebuilt)),
            on_verdict=lambda verdict: told.send((Word.VERDICT, verdict)),
        )
    except MemoryError:
        return Word.NO_MEMORY, None
    except JailError as error:
        return Word.NO_JAIL, (str(error), JailTrouble(error.trouble))
    except Exception as error:  # noqa: BLE001  (a bug of ours is told on the other side)
        return Word.BUG, (f"{type(error).__name__}: {error}", traceback.format_exc())
    return Word.RESULT, result


def _most_memory() -> int:
    """What this process has had at most, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _limit(limits: Limits) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(usage.ru_utime + usage.ru_stime + limits.judge_time)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + limits.judge_memory, resource.RLIM_INFINITY))


def main() -> None:
    run(int(sys.argv[1]), sys.argv[2])


def run(control: int, module: str) -> None:
    """The life of the warm process; `module` is the one that most submissions will be of, "" if nobody knows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if module:
        for exercise in load_assignment(module).exercises:
            for case in exercise.cases:
                for question in exercise.questions(case):
                    expected(exercise, question)
    gc.collect()
    gc.freeze()

    def live(connection: socket.socket, _slot: int) -> NoReturn:
        try:
            connection.sendall(HELLO)
            serve(connection)
        finally:
            os._exit(0)

    make_copies(socket.socket(fileno=control), os.fork, live, lambda _count: None)
