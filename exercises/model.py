"""What an exercise, a question, a reply and a verdict are. An exercise is data; judge.py decides its score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

import numpy as np

from exercises.data import Data
from exercises.problem import Problem

Arrays = Mapping[str, np.ndarray]
ABOVE, BELOW = (f"Probably caused by the mistake {where}." for where in ("above", "below"))
NOT_ARGUMENTS = ("grad", "as_tensor", "by_call", "by_default", "name", "results", "overwritten")  # told to the probe


@dataclass(frozen=True)
class Reply:
    """What came back for one question: arrays, or a problem with what the student's code said about it.

    line    the line of the student's that raised it; "" if none did
    helped  a reference was asked in place of an earlier answer
    """

    arrays: Arrays = field(default_factory=dict)
    problem: Problem = Problem.NONE
    text: str = ""
    line: str = ""
    helped: bool = field(default=False, compare=False)


@dataclass(frozen=True, eq=False)
class Question:
    """A probe with its inputs, and the names of the results that are compared with the reference."""

    probe: str
    inputs: Mapping[str, Any]
    compare: tuple[str, ...]

    @property
    def arguments(self) -> dict[str, Any]:
        """The inputs that the answer sees."""
        return {name: value for name, value in self.inputs.items() if name not in NOT_ARGUMENTS}

    def __getitem__(self, name: str) -> Any:
        return self.inputs[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.inputs.get(name, default)


@dataclass(frozen=True, eq=False)
class Case:
    """Questions that are right or wrong together, and what they are worth.

    ask            the questions, for a seed and sizes
    needs_another  an answer that computes nothing right could pass: scored only if another case passes
    """

    name: str
    points: float
    ask: Callable[[Data], tuple[Question, ...]]
    needs_another: bool = False


@dataclass(frozen=True, eq=False)
class Sign:
    """A mistake that shows in a reply: a function of (question, reply, expected, *arguments) in exercises/signs/."""

    shows: Callable[..., bool]
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, question: Question, reply: Reply, expected: Arrays) -> bool:
        return self.shows(question, reply, expected, *self.arguments, **self.named)


@dataclass(frozen=True, eq=False)
class Misconception:
    """A wrong computation, or another sign of a mistake, with the sentence that a student should read.

    wrong  question -> the results it would give (those it can tell), or None where it does not apply
    sign   for mistakes that are no computation
    cases  names of the cases in which it may be recognised; all if empty
    rough  it says what can be seen rather than what was done: it speaks where nothing more specific fits
    """

    sentence: str
    wrong: Callable[[Question], Arrays | None] | None = None
    sign: Sign | None = None
    cases: tuple[str, ...] = ()
    rough: bool = False


@dataclass(frozen=True)
class StandIn:
    """The reference in place of an earlier answer, so that a mistake costs its points once.

    forward(**arguments) -> results; backward(index, grad, **arguments) -> gradients of the arguments that are tensors
    results is 0 where the answer is one of an earlier module, whose library is there: parameters is the name of that library
    """

    function: str
    parameters: tuple[str, ...]
    results: int
    forward: Callable[..., list[np.ndarray]]
    backward: Callable[..., list[np.ndarray]]

    @classmethod
    def of_library(cls, function: str, library: str) -> "StandIn":
        """The library's own function or class, such as causal_mask of tinytorch.core.attention."""
        return cls(function, (library,), 0, list, lambda index, grad: [])

    def answer(self, index: int, grad: np.ndarray | None, arguments: Mapping[str, Any]) -> list[np.ndarray]:
        """The results (index -1), or the gradients of the arguments for the gradient of one result."""
        return self.forward(**arguments) if index < 0 else self.backward(index, grad, **arguments)


@dataclass(frozen=True, eq=False)
class Exercise:
    """What is asked, how it is judged, what it builds on.

    defines   the name that the answer cell gives
    uses      the earlier exercises whose answers this one calls
    stand_in  the reference in place of this answer, where a later exercise calls it
    formerly  names that this exercise had in earlier versions of the course; grades given by hand then are kept
    data      the seed and sizes of its questions
    """

    name: str
    module: str
    defines: str
    cases: tuple[Case, ...]
    reference: Callable[[Question], Arrays]
    misconceptions: tuple[Misconception, ...]
    uses: tuple["Exercise", ...] = ()
    stand_in: StandIn | None = None
    formerly: tuple[str, ...] = ()
    data: Data = Data()

    @property
    def points(self) -> float:
        return sum(case.points for case in self.cases)

    def on(self, data: Data) -> "Exercise":
        """The same exercise with another seed and other sizes."""
        return replace(self, data=data)

    def questions(self, case: Case) -> tuple[Question, ...]:
        """The questions of a case; the same objects each time."""
        return _asked(case, self.data)


@cache
def _asked(case: Case, data: Data) -> tuple[Question, ...]:
    return case.ask(data)


@dataclass(frozen=True)
class CaseResult:
    """What one case brought.

    named    the message names a mistake
    follows  the message says no more than that something else is to blame
    """

    name: str
    points: float
    max: float
    message: str = ""
    named: bool = False
    follows: bool = False


@dataclass(frozen=True)
class Verdict:
    """What one answer brought, case by case. As text: a table for people."""

    exercise: str
    points: float
    max: float
    cases: tuple[CaseResult, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """What there is to say, each sentence once, causes before what follows from them."""
        said = sorted((case for case in self.cases if case.message), key=lambda case: case.follows)
        return tuple(dict.fromkeys(ABOVE if case.message == BELOW else case.message for case in said))

    def __str__(self) -> str:
        width = max(len(c.name) for c in self.cases)
        lines = [f"{self.exercise}  {self.points:g}/{self.max:g}"]
        for c in self.cases:
            mark = "ok  " if c.points == c.max else "lost"
            lines.append(f"  {mark}  {c.name:{width}}  {c.message}".rstrip())
        return "\n".join(lines)


class Session(Protocol):
    """One submission to which questions can be put. verdicts keeps what has been judged already, by exercise."""

    verdicts: dict[str, Verdict]

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        """Put a question about an exercise, with references in place of some earlier answers, by the names they define."""
        ...
