"""A jail without a jail: a thread plays the student's process, so that it can say what no honest process says."""

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from limits import PATIENCE

from exercises.model import Question, Reply, StandIn
from exercises.problem import Problem
from grader.sandbox import warm, wire
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits
from grader.sandbox.session import JailSession

Message = dict[str, Any]
Arrays = dict[str, np.ndarray]

NOBODY = 1 << 22  # the number of no process: of one that is played, there is only the wall clock
SHORT = 0.5 * PATIENCE  # seconds; for what is to come too late
HASTY = Limits(cell_time=SHORT, probe_time=SHORT)
QUESTION = Question("probe", {"x": np.arange(3.0), "n": 2}, ("y",))
TWICE = StandIn("_twice", ("x",), 1, lambda x: [2 * x], lambda index, grad, x: [[2 * grad][index] + 0 * x])
OFFERED = {"_twice": TWICE}
RIGHT = {"problem": "", "text": "", "line": "", "raised": ""}


class Copy:
    """One copy of the student's process, seen from inside."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self.connection, self.number = connection, number

    def say(self, message: Message, arrays: Arrays | None = None) -> None:
        wire.send(self.connection, message, arrays or {})

    def hear(self) -> tuple[Message, Arrays]:
        return wire.receive(self.connection)

    def hang(self) -> None:
        """Say nothing until the other side is gone."""
        while self.connection.recv(1 << 16):
            pass
        raise EOFError

    def die(self) -> None:
        raise EOFError


Act = Callable[[Copy, Message, Arrays], None]


def run_well(copy: Copy, request: Message, _arrays: Arrays) -> None:
    """A cell that prints nothing."""
    copy.say({"id": request["id"], "output": "", "error": "", "raised": ""})


def answer_well(copy: Copy, request: Message, _arrays: Arrays) -> None:
    """An answer: {"y": [1]}."""
    copy.say({"id": request["id"], "problem": "", "text": "", "line": "", "raised": ""}, {"y": np.ones(1)})


class Unheard(Copy):
    """A copy that runs one of several cells together: what comes of it is not told."""

    def __init__(self, copy: Copy) -> None:
        super().__init__(copy.connection, copy.number)

    def say(self, message: Message, arrays: Arrays | None = None) -> None:
        pass


class PlayedJail(Jail):
    """Copies that do `on_run` for each cell and `on_ask` for each question.

    asked   (number of the copy, probe) of every question that reached a copy
    ran     (number of the copy, source) of every cell
    defined of every cell of which only what it defines was asked for
    ended   numbers of the copies that were ended
    """

    def __init__(self, on_ask: Act = answer_well, on_run: Act = run_well, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.on_ask, self.on_run = on_ask, on_run
        self.on_define: Act = run_well
        self.asked: list[tuple[int, str]] = []
        self.ran: list[tuple[int, str]] = []
        self.defined: list[tuple[int, str]] = []
        self.opened, self.ended = 0, list[int]()

    def open(self) -> warm.Copy:
        self.opened += 1
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._play, args=(Copy(theirs, self.opened),), daemon=True).start()
        return warm.Copy(ours, self.opened, NOBODY)

    def end(self, slot: int) -> warm.Ended:
        self.ended.append(slot)
        return warm.Ended()

    def _play(self, copy: Copy) -> None:
        with copy.connection, contextlib.suppress(OSError, EOFError):
            while True:
                request, arrays = copy.hear()
                if request["do"] == wire.Request.RUN:
                    self.ran.append((copy.number, request["source"]))
                    self.on_run(copy, request, arrays)
                elif request["do"] == wire.Request.DEFINE:
                    self.defined.append((copy.number, request["source"]))
                    self.on_define(copy, request, arrays)
                elif request["do"] == wire.Request.AGAIN:
                    for source, role in request["cells"]:
                        self.ran.append((copy.number, source))
                        self.on_run(Unheard(copy), request | {"source": source, "role": role}, arrays)
                    run_well(copy, request, arrays)
                else:
                    self.asked.append((copy.number, request["probe"]))
                    self.on_ask(copy, request, arrays)


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


def failing(*names: str) -> Act:
    """A process that ends at the questions of some probes and answers the others."""

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["probe"] in names:
            copy.die()
        answer_well(copy, request, arrays)

    return on_ask


def ask(session: JailSession, name: str, stand_ins: Mapping[str, StandIn] | None = None) -> Problem:
    return session.ask(name, Question(name, {}, ()), stand_ins or {}).problem
