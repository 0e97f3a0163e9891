"""check("scale_scores"): what the grader would say of an answer, in the kernel in which it was written.

In a kit it judges with the tables that lie beside this file. In the project itself it asks autograded_tests.
"""

import builtins
import functools
import importlib
import io
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np

from exercises.judge import earlier, judge
from exercises.local import LocalSession
from exercises.model import Exercise, Question, Reply, StandIn, Verdict
from exercises.show import differences, show_picture
from exercises.tables import Practice, unpack

HERE = Path(__file__).parent
LEFT = HERE.parent / ".skipped"  # exercises that are left for later, a line each: `course.py skip`
COLUMNS, INDENT = 96, "    "  # what a notebook shows on a laptop without breaking lines
VERDICTS: dict[str, Verdict] = {}  # the last of each exercise, in this kernel


class NotYet(AssertionError):
    """An answer that is not right yet. IPython shows the text alone: where the check stands tells nothing."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Noting(LocalSession):
    """A session that notes what was answered, and which earlier answers an answer really called."""

    def __init__(self, namespace: dict[str, Any], practice: Practice) -> None:
        super().__init__(namespace, practice.given)
        self.replies: dict[Question, Reply] = {}
        self.called: set[str] = set()

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        reply = super().ask(about, question, stand_ins)
        if not stand_ins:
            self.replies[question] = reply
        return reply

    @contextmanager
    def noting(self, names: list[str]) -> Iterator[None]:
        """While it lasts, calls of these functions are noted; a class is taken to be called."""
        before = {name: self.namespace[name] for name in names if callable(self.namespace.get(name))}
        for name, function in before.items():
            if isinstance(function, type):
                self.called.add(name)
            else:
                self.namespace[name] = self._noted(name, function)
        try:
            yield
        finally:
            self.namespace.update(before)

    def _noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            self.called.add(name)
            return function(*args, **kwargs)

        return noted


@functools.cache
def practice() -> Practice | None:
    """What there is to check with; None in a folder that is neither a kit nor the project."""
    found = [unpack(path.read_bytes()) for path in sorted(HERE.glob("*.tables"))]
    if found:
        exercises = {name: exercise for practice in found for name, exercise in practice.exercises.items()}
        return Practice(exercises, frozenset().union(*(practice.given for practice in found)))
    with suppress(ImportError):
        return Practice(importlib.import_module("autograded_tests").EXERCISES, frozenset())
    return None


def check(name: str) -> None:
    """Judge the answer to an exercise, as defined in the notebook that calls this.

    Prints how many exercises are done. Raises NotYet, with what is wrong and, where it is known, why; ValueError if there is no
    such exercise.
    """
    there = practice()
    if there is None:
        print("Nothing to check with: the course's kit has the numbers.")
        return
    if name not in there.exercises:
        raise ValueError(f'no exercise is called "{name}"; there are {", ".join(there.exercises)}')
    left = _left_for_later()
    if name in left:
        print(f"`{name}` is left for later. {_progress(there, name)}")
        return
    exercise = there.exercises[name]
    session = Noting(sys._getframe(1).f_globals, there)  # noqa: SLF001  (the notebook's names)
    with _unnoticed():
        with session.noting([e.defines for e in earlier(exercise)]):
            VERDICTS[name] = verdict = judge(exercise, session)
        waiting = _waiting(exercise, verdict, session, there)
    if verdict.points == verdict.max:
        print("\n".join([*verdict.messages, _progress(there, name)]))
        return
    if waiting:
        del VERDICTS[name]
        names = ", ".join(f"`{e.defines}`" + " (left for later)" * (e.name in left) for e in waiting)
        lines = [f"waits for {names}: it is called here, and is not right yet."]
    else:
        found = differences(exercise, verdict, session.replies)
        show_picture(found)
        lines = [line for smallest in found[:1] for line in str(smallest).splitlines()] + _sentences(verdict)
    wrapped = [textwrap.fill(line, COLUMNS, initial_indent=INDENT, subsequent_indent=INDENT) for line in lines]
    raise NotYet("\n".join([name, *wrapped, _progress(there, name)]))


def _sentences(verdict: Verdict) -> list[str]:
    """What is wrong: all mistakes that have a name, and the first symptom that has none."""
    said = [case for case in verdict.cases if case.message and not case.follows]
    symptoms = [case.message for case in said if not case.named]
    return list(dict.fromkeys(case.message for case in said if case.named or case.message == symptoms[0]))


def _waiting(exercise: Exercise, verdict: Verdict, session: Noting, practice: Practice) -> list[Exercise]:
    """The earlier answers that a wrong one called and that are not right: they may be all that is wrong with it."""
    if verdict.points == verdict.max:
        return []
    again = LocalSession(session.namespace, practice.given)
    wrong = [e for e in earlier(exercise) if e.defines in session.called and judge(e, again).points < e.points]
    return [e for e in wrong if not set(earlier(e)) & set(wrong)]  # the others wait themselves


def _left_for_later() -> list[str]:
    try:
        return LEFT.read_text(encoding="utf-8").split()
    except OSError:
        return []


def _progress(practice: Practice, name: str) -> str:
    """How far one is in the module of an exercise, as far as this kernel knows."""
    module = practice.exercises[name].module
    there = [e for e in practice.exercises.values() if e.module == module]
    left = set(_left_for_later())
    verdicts = [VERDICTS[e.name] for e in there if e.name in VERDICTS and e.name not in left]
    done = sum(verdict.points == verdict.max for verdict in verdicts)
    points = sum(verdict.points for verdict in verdicts)
    return f"{done} of {len(there)} exercises done: {points:g} of {sum(e.points for e in there):g} points"


@contextmanager
def _unnoticed() -> Iterator[None]:
    """What an answer prints while it is judged is not shown, and random numbers go on as if nothing had been drawn.

    It cannot ask for input either.
    """
    state = np.random.get_state()  # noqa: NPY002  (the library's layers draw from it)
    ask, builtins.input = builtins.input, _no_input
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        builtins.input = ask
        np.random.set_state(state)  # noqa: NPY002


def _no_input(*_args: object) -> str:
    raise RuntimeError("input() was called, and nobody answers here")
