"""check("scale_scores"): what the grader would say of an answer, in the kernel in which it was written.

In a kit it judges with the tables that lie beside this file. In the project itself it asks autograded_tests.
"""

import builtins
import difflib
import functools
import importlib
import inspect
import io
import logging
import os
import random
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from exercises.judge import earlier, judge
from exercises.local import LocalSession
from exercises.model import Exercise, Question, Reply, StandIn, Verdict
from exercises.problem import Problem, in_words, own_line
from exercises.show import Difference, differences, show_picture
from exercises.tables import Practice, unpack

HERE = Path(__file__).parent
LEFT = HERE.parent / ".skipped"  # exercises that are left for later, a line each: `course.py skip`
COLUMNS, INDENT = 96, "    "  # what a notebook shows on a laptop without breaking lines
VERDICTS: dict[str, Verdict] = {}  # the last of each exercise, in this kernel
LARGE = 1_000_000  # numbers in a reply that is not kept to be shown
IN_A_BROWSER = 100  # calls that an answer may be deep
JUDGING = threading.Lock()  # output and random numbers are the whole process's
JUDGED_IN: ContextVar[str | None] = ContextVar("JUDGED_IN", default=None)  # by this thread


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
        self.about = ""  # the exercise of the last question

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        self.about = about
        try:
            reply = super().ask(about, question, stand_ins)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (sys.exit() in an answer ends no kernel)
            line = own_line(error, self.namespace, self.given)
            reply = Reply(problem=Problem.RAISED, text=in_words(error), line=line)
        if not stand_ins and sum(array.size for array in reply.arrays.values()) < LARGE:
            self.replies[question] = reply
        return reply

    @contextmanager
    def noting(self, exercise: Exercise) -> Iterator[None]:
        """While it lasts, the earlier answers that this one calls are noted, whatever name they are called by."""
        names = [e.defines for e in earlier(exercise)]
        codes = {code: name for name in names for code in _codes(self.namespace.get(name))}

        def note(frame: FrameType, event: str, _argument: object) -> None:
            if event == "call" and frame.f_code in codes and self.about == exercise.name:
                self.called.add(codes[frame.f_code])

        before = sys.getprofile()
        sys.setprofile(note if codes else before)
        try:
            yield
        finally:
            sys.setprofile(before)


def _codes(value: object) -> Iterator[CodeType]:
    """The code of a function, or of the methods of a class or of an object's class; of what is wrapped, too."""
    for inner in (getattr(value, "__wrapped__", None), getattr(value, "func", None), getattr(value, "__func__", None)):
        if inner is not None and inner is not value:
            yield from _codes(inner)
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        yield code
    elif value is not None:
        for method in vars(value if isinstance(value, type) else type(value)).values():
            code = getattr(getattr(method, "__func__", method), "__code__", None)
            if isinstance(code, CodeType):
                yield code


@functools.cache
def practice() -> Practice | None:
    """What there is to check with; None in a folder that is neither a kit nor the project. Raises NotYet for a damaged table."""
    exercises: dict[str, Exercise] = {}
    given: set[str] = set()
    for path in sorted(HERE.glob("[!.]*.tables")):
        if path.is_file():
            try:
                found = unpack(path.read_bytes())
            except ValueError:
                raise NotYet(f"{path} is damaged. Unpack the kit again, and copy your notebook into it.") from None
            exercises.update(found.exercises)
            given.update(found.given)
    if exercises:
        return Practice(exercises, frozenset(given))
    with suppress(ImportError):
        return Practice(importlib.import_module("autograded_tests").EXERCISES, frozenset())
    return None


def check(name: str) -> None:
    """Judge the answer to an exercise, as defined in the notebook that calls this.

    Prints how many exercises are done. Raises NotYet with what is wrong and, where it is known, why.
    """
    there = practice()
    if there is None:
        print("Nothing to check with: the course's kit has the numbers.")
        return
    if str(name) not in there.exercises:
        like = difflib.get_close_matches(str(name), there.exercises, 1)
        known = f"Is it {like[0]}?" if like else f"There are {', '.join(there.exercises)}."
        raise NotYet(f"No exercise is called {name!s:.40}. {known}")
    left = _left_for_later()
    if name in left:
        print(f"`{name}` is left for later. {_progress(there, name)}")
        return
    exercise = there.exercises[name]
    namespace = sys._getframe(1).f_globals  # noqa: SLF001  (the notebook's names)
    if exercise.defines not in namespace:  # called in a thread, or by a function of another module
        namespace = vars(sys.modules["__main__"])
    if JUDGING.locked() and JUDGED_IN.get() is not None:
        raise NotYet("check is called in an answer that is being checked. Take it out there.")
    with JUDGING, unnoticed():
        verdict, waiting, found = _judged(exercise, Noting(namespace, there), there)
    if verdict.points == verdict.max:
        print("\n".join([*verdict.messages, _progress(there, name)]))
        return
    if waiting:
        names = ", ".join(f"`{e.defines}`" + " (left for later)" * (e.name in left) for e in waiting)
        called = "it is called here, and is" if len(waiting) == 1 else "they are called here, and are"
        lines = [f"waits for {names}: {called} not right yet."]
    else:
        show_picture(found)
        lines = [line for smallest in found[:1] for line in str(smallest).splitlines()] + _sentences(verdict)
    raise NotYet(_text(name, lines, there))


def _judged(exercise: Exercise, session: Noting, there: Practice) -> tuple[Verdict, list[Exercise], list[Difference]]:
    """The verdict, the earlier answers that it waits for, and the questions that were answered wrongly."""
    VERDICTS.pop(exercise.name, None)
    token = JUDGED_IN.set(exercise.name)
    try:
        with session.noting(exercise):
            verdict = judge(exercise, session)
        waiting = _waiting(exercise, verdict, session)
    except KeyboardInterrupt as error:
        line = own_line(error, session.namespace, there.given)
        where = f" in your line `{line}`" if line else ""
        raise NotYet(_text(exercise.name, [f"was stopped{where}, before all was asked."], there)) from None
    finally:
        JUDGED_IN.reset(token)
    if not waiting:
        VERDICTS[exercise.name] = verdict
    return verdict, waiting, differences(exercise, verdict, session.replies)


def _text(name: str, lines: list[str], there: Practice) -> str:
    wrapped = [textwrap.fill(line, COLUMNS, initial_indent=INDENT, subsequent_indent=INDENT) for line in lines]
    return "\n".join([name, *wrapped, _progress(there, name)])


def _sentences(verdict: Verdict) -> list[str]:
    """What is wrong: all mistakes that have a name, and the first symptom that has none."""
    said = [case for case in verdict.cases if case.message and not case.follows]
    symptoms = [case.message for case in said if not case.named]
    return list(dict.fromkeys(case.message for case in said if case.named or case.message == symptoms[0]))


def _waiting(exercise: Exercise, verdict: Verdict, session: Noting) -> list[Exercise]:
    """The earlier answers that a wrong one called and that are not right: they may be all that is wrong with it."""
    if verdict.points == verdict.max:
        return []
    wrong = [e for e in earlier(exercise) if e.defines in session.called and judge(e, session).points < e.points]
    return [e for e in wrong if not set(earlier(e)) & set(wrong)]  # the others wait themselves


def _left_for_later() -> list[str]:
    try:
        data = LEFT.read_bytes()
    except OSError:
        return []
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, errors="replace").split()


def _progress(there: Practice, name: str) -> str:
    """How far one is in the module of an exercise, as far as this kernel knows."""
    module = there.exercises[name].module
    exercises = [e for e in there.exercises.values() if e.module == module]
    left = set(_left_for_later())
    verdicts = [VERDICTS[e.name] for e in exercises if e.name in VERDICTS and e.name not in left]
    done = sum(verdict.points == verdict.max for verdict in verdicts)
    points = sum(verdict.points for verdict in verdicts)
    return f"{done} of {len(exercises)} exercises done: {points:g} of {sum(e.points for e in exercises):g} points"


@contextmanager
def unnoticed() -> Iterator[None]:
    """What an answer prints, shows or logs while it is judged is not shown, and it cannot ask for input.

    Random numbers, figures and settings are afterwards as they were.
    """
    states = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002  (the library's layers draw from it)
    settings, folder, handlers = np.get_printoptions(), Path.cwd(), logging.root.handlers[:]
    plots = sys.modules.get("matplotlib.pyplot")
    figures = plots.get_fignums() if plots is not None else []
    deepest = sys.getrecursionlimit()
    if sys.platform == "emscripten":  # in a browser Python's own limit is beyond what the stack holds
        sys.setrecursionlimit(min(deepest, len(inspect.stack(0)) + IN_A_BROWSER))
    ask, builtins.input = builtins.input, _no_input
    try:
        with _no_output(), np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        builtins.input = ask
        sys.setrecursionlimit(deepest)
        np.random.set_state(states[0])  # noqa: NPY002
        random.setstate(states[1])
        np.set_printoptions(**settings)
        os.chdir(folder)
        logging.root.handlers[:] = handlers
        if plots is not None:
            for number in set(plots.get_fignums()) - set(figures):
                plots.close(number)


@contextmanager
def _no_output() -> Iterator[None]:
    """In a notebook, what is displayed is held back, too, and exit() ends nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
        return
    from IPython.utils.capture import capture_output

    def ask_exit() -> None:
        raise SystemExit("Python is not ended by an answer")

    vars(shell)["ask_exit"] = ask_exit
    try:
        with capture_output():
            yield
    finally:
        del vars(shell)["ask_exit"]


def _no_input(*_args: object) -> str:
    raise RuntimeError("input() was called, and nobody answers here")
