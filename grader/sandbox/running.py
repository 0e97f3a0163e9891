"""One copy of the warm process that runs a submission: requests, replies, and the time that it takes.

Nothing that comes back is trusted: each reply has a size that follows from the request, known before it is read, and a
time that is the process's own.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from exercises.model import Question, StandIn
from exercises.problem import Problem
from grader.sandbox import wire
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Copy

REFERENCE_CALLS = 200  # of one question
LATE = 2  # seconds
WAIT = 3  # the wall clock may show so many times a limit, before a process that gets no processor is stopped
TEXT, ERROR, NAME = 500, 1100, 100  # characters of what was said: about a question, about a cell, a word
AT_ONCE = 1 << 16  # bytes
A_CHARACTER = 12  # bytes in JSON, at most
HEAD = 16_384  # bytes of JSON for what is no text: keys, and the arrays that are announced

Arrays = dict[str, np.ndarray]
Message = dict[str, Any]


class Gone(Exception):
    """The copy is of no more use; why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class Starved(TimeoutError):
    """A process was stopped by the wall clock, not by its own time."""


@dataclass(frozen=True)
class Sizes:
    """How large what comes back may be: bytes of text, numbers of all arrays together, and one axis."""

    text: int
    numbers: int = 0
    axis: int = 0

    @classmethod
    def of_run(cls, limits: Limits) -> "Sizes":
        return cls(HEAD + A_CHARACTER * (limits.output + ERROR + 2 * NAME))

    @classmethod
    def of_question(cls, question: Question) -> "Sizes":
        """What a question implies: an answer has no more axes, and not many more numbers, than what it was asked with."""
        arrays = [v for v in question.inputs.values() if isinstance(v, np.ndarray)]
        plain = [n for v in question.inputs.values() for n in _whole_numbers(v)]
        axis = 2 * max([*(n for a in arrays for n in a.shape), *plain, 8])
        return cls(
            HEAD + A_CHARACTER * (2 * TEXT + 2 * NAME), 64 * sum(a.size for a in arrays) + 64 * axis * axis, axis
        )


def _whole_numbers(value: Any) -> list[int]:
    values = value if isinstance(value, tuple | list) else [value]
    return [int(v) for v in values if isinstance(v, int | np.integer)]


class Stopwatch:
    """A process's own time in seconds: what it computes, and what it sleeps; not what it waits for a processor, or for us."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._clock = (~pid << 3) | 2  # the processor clock of another process, see clock_getcpuclockid(3)
        self._threads: dict[str, float] = {}  # for how long each was ready to run and did not
        self._before = self._waited()
        self._computed, self._start, self.ours = self._processor(), time.monotonic(), 0.0

    def wall(self) -> float:
        return time.monotonic() - self._start - self.ours

    def own(self) -> float:
        """Never more than the wall clock shows, unless it has several threads."""
        wall = self.wall()
        if wall < 0.05:
            return wall
        return max(self._processor() - self._computed, wall - self._waited() + self._before)

    def _processor(self) -> float:
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0

    def _waited(self) -> float:
        """For how long its threads were ready to run and did not, so far; 0 if the kernel does not tell.

        All are added up: while one waits for another, it is that one's waiting that counts.
        """
        with suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{self._pid}/task"):  # noqa: PTH208  (once for each request)
                with open(f"/proc/{self._pid}/task/{thread}/schedstat", "rb") as schedstat:  # noqa: PTH123
                    self._threads[thread] = int(schedstat.read().split()[1]) / 1e9
        return sum(self._threads.values())


class Running:
    """A copy, and what it has been asked."""

    def __init__(self, copy: Copy, end: Callable[[int], object]) -> None:
        """end: is called with the copy's number when it is over."""
        self._connection, self.copy, self._end = copy.connection, copy, end
        self._question = 0
        self._unread = bytearray()
        self.took = 0.0  # own seconds of the last request
        self.helped = False  # in the last request, a stand-in was answered
        self.starved = False
        self.closed = False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._connection.close()
            self._end(self.copy.slot)

    def call(
        self,
        message: Message,
        arrays: Arrays,
        seconds: float,
        sizes: Sizes,
        stand_ins: Mapping[str, StandIn],
        read: Callable[[Message], Any],
    ) -> tuple[Any, Arrays]:
        """Send a request, answer what stand-ins ask meanwhile, and read the reply. The copy is closed if Gone is raised.

        read  makes something of the reply; ValueError if there is something wrong with it
        """
        self._question += 1
        self.helped = False
        watch = Stopwatch(self.copy.pid)
        try:
            patient = _Patient(self._connection, watch, seconds, self._unread)
            patient.send({"id": self._question} | message, arrays)
            for _ in range(REFERENCE_CALLS):
                reply, answers = wire.receive(patient, sizes.text, 16 * sizes.numbers)
                if type(reply.get("id")) is not int or reply["id"] != self._question:
                    raise ValueError("a reply to another question")
                if max((n for a in answers.values() for n in a.shape), default=0) > sizes.numbers:
                    raise ValueError("an axis that long")  # of an array that has no numbers
                if "stand_in" not in reply:
                    self.took = watch.own()
                    return read(reply), answers
                start = time.monotonic()
                answer = _from_reference(stand_ins, reply, answers, sizes)
                watch.ours += time.monotonic() - start
                self.helped = True
                patient.send(*answer)
            raise ValueError("too many questions")
        except TimeoutError as error:
            self.starved |= isinstance(error, Starved)
            problem = Problem.TIME
        except (EOFError, OSError):
            problem = Problem.DIED
        except (ValueError, TypeError):
            problem = Problem.BAD
        self.took = watch.own()
        self.close()
        raise Gone(problem)


class _Patient:
    """A socket whose reads all end when the process has used its time, however slowly the bytes drip in.

    What is there already is still read for a while after it: it may be us who were late.
    """

    def __init__(self, connection: Any, watch: Stopwatch, seconds: float, unread: bytearray) -> None:
        """unread: what was read from the socket and not asked for yet."""
        self._connection, self._watch, self._seconds, self._unread = connection, watch, seconds, unread

    def send(self, message: Message, arrays: Arrays) -> None:
        self._connection.settimeout(max(self._seconds, 0.001))
        wire.send(self._connection, message, arrays)

    def recv(self, size: int) -> bytes:
        if not self._unread:
            self._unread += self._read()
        data = bytes(self._unread[:size])
        del self._unread[:size]
        return data

    def _read(self) -> bytes:
        while True:
            left = self._seconds - self._watch.own()
            if left < -LATE:
                raise TimeoutError
            self._connection.settimeout(max(left, 0.001))
            try:
                data: bytes = self._connection.recv(AT_ONCE)
                return data
            except TimeoutError:
                if self._seconds <= self._watch.own():
                    raise
                if self._watch.wall() >= WAIT * self._seconds:
                    raise Starved from None


def _from_reference(
    stand_ins: Mapping[str, StandIn], request: Message, arrays: Arrays, sizes: Sizes
) -> tuple[Message, Arrays]:
    """The reference's answer to what a stand-in asks, or why there is none; ValueError if none was offered."""
    name = request["stand_in"]
    stand_in = stand_ins.get(name) if isinstance(name, str) else None
    plain = request.get("arguments")
    if stand_in is None or not isinstance(plain, dict):
        raise ValueError("no stand-in of that name")
    try:
        _check_sizes(arrays, plain, sizes)
        grad = arrays.pop("\0grad", None)
        answers = stand_in.answer(int(request["index"]), grad, plain | arrays)
        given = {str(n): np.asarray(a) for n, a in enumerate(answers)}
        if sum(a.size for a in given.values()) > sizes.numbers:
            raise ValueError("results that large are not given")
    except Exception as error:  # noqa: BLE001  (whatever a student passes to a reference is the student's mistake)
        return {"error": f"{stand_in.function}: {error}"[:300]}, {}
    return {"error": ""}, given


def _check_sizes(arrays: Arrays, plain: Message, sizes: Sizes) -> None:
    """The arguments of a replaced answer are no larger than the question implies. Raises ValueError."""
    if not all(n is None or type(n) is int for n in plain.values()):
        raise ValueError("arguments are arrays and whole numbers")
    numbers = [*(n for a in arrays.values() for n in a.shape), *(abs(n) for n in plain.values() if n is not None)]
    if sum(a.size for a in arrays.values()) > sizes.numbers or max(numbers, default=0) > sizes.axis:
        raise ValueError("arguments that large are not answered")
