"""Points mean work: an answer that computes nothing of what is asked has none."""

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from answers import namespace

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Exercise, Verdict
from tinytorch.core.tensor import Tensor

Function = Callable[..., Any]
Lazy = Callable[[Function], Function]  # a right function -> one that may look at what shape that gives
Fill = Callable[[np.ndarray, list[Any], int], Any]  # part `number` of a right result, all arguments -> what replaces it


@cache
def right(module: str) -> dict[str, Any]:
    return namespace(module)


@cache
def right_verdicts(module: str) -> dict[str, Verdict]:
    session = LocalSession(right(module))
    return {e.name: judge(e, session) for e in EXERCISES.values() if e.module == module}


def points(exercise: Exercise, answer: Any) -> float:
    """Of this answer among right ones, from the cases that count by themselves; the others count with one of these only."""
    session = LocalSession(right(exercise.module) | {exercise.defines: answer})
    session.verdicts = {e.name: right_verdicts(e.module)[e.name] for e in exercise.uses}
    cases = tuple(case for case in exercise.cases if not case.needs_another)
    return judge(replace(exercise, cases=cases, misconceptions=()), session).points  # what is said does not matter here


# --- what comes back in place of a right result -----------------------------------------------------------------------


def plain(value: Any) -> np.ndarray:
    """An argument or a result as an array; an empty one if it is no numbers."""
    array = np.asarray(value.data if isinstance(value, Tensor) else value)
    return array if array.dtype.kind in "biuf" else np.zeros(0, np.float32)


def broadcast(value: Any, like: np.ndarray) -> Any:
    """An argument in the shape of the result, with its graph if that can be."""
    array = plain(value)
    if isinstance(value, Tensor) and array.size == like.size:
        return value.reshape(like.shape)
    try:
        return (value if isinstance(value, Tensor) else array) + np.zeros(like.shape, np.float32)
    except ValueError:
        return np.resize(array, like.shape) if array.size else np.zeros(like.shape, np.float32)


def turned(value: Any, like: np.ndarray) -> Any:
    """An argument with two axes exchanged such that it has the shape of the result."""
    array = plain(value)
    for a, b in combinations(range(array.ndim), 2):
        if array.swapaxes(a, b).shape == like.shape:
            return value.transpose(a, b) if isinstance(value, Tensor) else array.swapaxes(a, b)
    return broadcast(array.T, like)


RANDOM = np.random.default_rng(0)
CONSTANTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "zeros": lambda r: np.zeros(r.shape),
    "ones": lambda r: np.ones(r.shape),
    "nan": lambda r: np.full(r.shape, np.nan),
    "inf": lambda r: np.full(r.shape, np.inf),
    "MASK_VALUE": lambda r: np.full(r.shape, -1e9),
    "identity": lambda r: np.broadcast_to(np.eye(*(1, 1, *r.shape)[-2:]), r.shape),
    "numbers from 0": lambda r: np.arange(r.size).reshape(r.shape),
    "even shares": lambda r: np.full(r.shape, 1 / (1, *r.shape)[-1]),
    "random, a fixed seed": lambda r: np.random.default_rng(0).normal(size=r.shape),
    "random": lambda r: RANDOM.normal(size=r.shape),
}


def constant(make: Callable[[np.ndarray], np.ndarray], kind: Function, like: np.ndarray, *_: Any) -> Any:
    return kind(make(like))


def of_argument(shape: Function, i: int | None, kind: Function, like: np.ndarray, given: list[Any], number: int) -> Any:
    """Argument i in the shape of the result; without i, each part of the result has an argument of its own."""
    return kind(shape(given[min(number, len(given) - 1) if i is None else i], like))


def fills() -> Iterator[tuple[str, Fill]]:
    for name, make in CONSTANTS.items():
        for kind in (np.array, Tensor):
            yield f"{name}, {kind.__name__}", partial(constant, make, kind)
    for i in (None, 0, 1, 2, 3):
        for shape in (broadcast, turned):
            for change in (lambda x: x, plain, lambda x: 0 * x):
                yield f"{shape.__name__} {i}, {change.__name__}", partial(of_argument, shape, i, change)


def filled(fill: Fill, of: Function, *args: Any, **kwargs: Any) -> Any:
    """What `of` gives, each part replaced; the arguments are not touched."""
    given = [*args, *kwargs.values()]
    copies = [a if isinstance(a, Tensor) else copy.deepcopy(a) for a in given]
    result = of(*copies[: len(args)], **dict(zip(kwargs, copies[len(args) :], strict=True)))
    if isinstance(result, tuple | list):
        return tuple(fill(plain(part), given, n) for n, part in enumerate(result))
    return fill(plain(result), given, 0)


def refuses(error: type[Exception], *args: Any, **kwargs: Any) -> Any:
    raise error


# --- functions that do not look at what a right answer gives -----------------------------------------------------------


def nth(i: int, *args: Any, **kwargs: Any) -> Any:
    return [*args, *kwargs.values()][i]


def several(kind: Function, n: int, *args: Any, **kwargs: Any) -> Any:
    return kind([*args, *kwargs.values()][:n])


def first_again(n: int, *args: Any, **kwargs: Any) -> Any:
    return [nth(0, *args, **kwargs)] * n


def call_first(*args: Any, **kwargs: Any) -> Any:
    return args[0](*args[1:2])


def echoes() -> Iterator[tuple[str, Function]]:
    for i in range(4):
        yield f"argument {i}", partial(nth, i)
        yield f"the first {i + 1} as a tuple", partial(several, tuple, i + 1)
        yield f"the first {i + 1} as a list", partial(several, list, i + 1)
        yield f"the first, {i + 1} times", partial(first_again, i + 1)
    yield "the first is called", call_first
    yield "None", lambda *args, **kwargs: None
    for error in (ValueError, TypeError, NotImplementedError):
        yield error.__name__, partial(refuses, error)


def others(exercise: Exercise) -> Iterator[tuple[str, Function]]:
    """The right answers to all other exercises, which take as many of the arguments as they can."""
    for other in EXERCISES.values():
        if other.name == exercise.name:
            continue
        theirs = right(other.module)[other.defines]
        for function in methods(theirs) if inspect.isclass(theirs) else [theirs]:
            yield f"{other.name} in its place", partial(with_some, function)


def methods(made: type) -> list[Function]:
    """What can be called of a class, each time on a new instance as wide as the first argument."""

    def call(name: str, *args: Any) -> Any:
        width = plain(args[0]).shape[-1]
        sizes = [width, 1][: len(inspect.signature(made).parameters)]
        return getattr(made(*sizes), name)(*args)

    return [partial(call, name) for name in ("forward", "append") if hasattr(made, name)]


def with_some(function: Function, *args: Any, **kwargs: Any) -> Any:
    given = [*args, *kwargs.values()]
    for some in ([given[:n] for n in range(len(given), 0, -1)]) + [[g] for g in given[1:]]:
        with suppress(Exception):  # whatever an answer says to arguments that are not its own
            return function(*some)
    raise TypeError


# --- the same as classes ----------------------------------------------------------------------------------------------

LEFT_RIGHT = ("__init__", "parameters", "__len__")


def made_lazy(made: type, replaced: Sequence[str], lazy: Lazy) -> type:
    """A right class with some methods that are lazy; they may look at the shapes that a right one gives."""

    right_init: Function = vars(made).get("__init__", object.__init__)

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        right_init(self, *args, **kwargs)
        self.shown = made(*args, **kwargs)
        self.later = [name for name, value in vars(self.shown).items() if value is None]

    def method(name: str) -> Function:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = lazy(getattr(self.shown, name))(*args, **kwargs)
            kept = {name: getattr(self.shown, name) for name in self.later}
            for attribute, value in kept.items():
                if isinstance(value, Tensor):
                    setattr(self, attribute, lazy(partial(nth, 0, value))(*args))
            return result

        return call

    return type(made.__name__, (made,), {"__init__": init} | {name: method(name) for name in replaced})


def bare(lazy: Function, length: int) -> type:
    """A class that takes anything, has everything, and does the same whatever is called."""
    own = {
        "__init__": lambda self, *args, **kwargs: None,
        "__getattr__": lambda self, name: lazy,
        "__call__": lambda self, *args, **kwargs: lazy(*args, **kwargs),
        "__len__": lambda self: length,
    }
    return type("Bare", (), own)


def ignoring(function: Function, right_one: Function) -> Function:
    return function


def lazy_answers(exercise: Exercise) -> Iterator[tuple[str, Any]]:
    """Every lazy answer to an exercise, made of nothing but its right one and those of the others."""
    theirs = right(exercise.module)[exercise.defines]
    simple = [*echoes(), *others(exercise)]
    shaped: list[tuple[str, Lazy]] = [(name, partial(partial, filled, fill)) for name, fill in fills()]
    if not inspect.isclass(theirs):
        yield from simple
        yield from ((name, lazy(theirs)) for name, lazy in shaped)
        return
    own = [name for name, value in vars(theirs).items() if inspect.isfunction(value) and name != "__init__"]
    unshaped: list[tuple[str, Lazy]] = [(name, partial(ignoring, function)) for name, function in simple]
    for name, lazy in unshaped + shaped:
        yield name, made_lazy(theirs, [m for m in own if m not in LEFT_RIGHT], lazy)
        yield f"{name}, and everywhere", made_lazy(theirs, own, lazy)
    for name, function in simple:
        yield from ((f"{name}, bare, {length}", bare(function, length)) for length in (0, 1, 3))


@pytest.mark.parametrize(
    "exercise",
    [pytest.param(e, id=e.name, marks=[pytest.mark.long] * (n % 8 > 0)) for n, e in enumerate(EXERCISES.values())],
)
def test_an_answer_that_computes_nothing_has_no_points(exercise: Exercise) -> None:
    assert points(exercise, right(exercise.module)[exercise.defines]) > 0
    found = {name: points(exercise, answer) for name, answer in lazy_answers(exercise)}
    assert len(found) > 60
    assert not {name: got for name, got in found.items() if got}


# --- a mistake costs its points once ----------------------------------------------------------------------------------


def array(part: Any) -> np.ndarray:
    return np.array(plain(part))


def read_only(part: Any) -> np.ndarray:
    made = array(part)
    made.flags.writeable = False
    return made


def typed(dtype: str, kind: Function, part: Any) -> Any:
    return kind(array(part).astype(dtype))


OTHER_KINDS: dict[str, Callable[[Any], Any]] = {
    "an array or a Tensor": lambda part: array(part) if isinstance(part, Tensor) else Tensor(part),
    "without its graph": lambda part: Tensor(array(part)),
    "a list": lambda part: array(part).tolist(),
    "a tuple of one": lambda part: (part,),
    "None": lambda part: None,
    "read-only": read_only,
    "in another order in memory": lambda part: np.asfortranarray(array(part)),
    "masked": lambda part: np.ma.masked_array(array(part)),
    **{
        f"{dtype} as {kind.__name__}": partial(typed, dtype, kind)
        for dtype in ("float64", "float16", "int64", "bool", "complex64", "object")
        for kind in (np.array, Tensor)
    },
}


def of_another_kind(function: Function, kind: Callable[[Any], Any]) -> Function:
    """The right answer, each result of another kind."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return [kind(part) for part in result] if isinstance(result, tuple | list) else kind(result)

    if not inspect.isclass(function):
        return call
    own = [n for n, value in vars(function).items() if inspect.isfunction(value) and n not in LEFT_RIGHT]
    return type(function.__name__, (function,), {n: of_another_kind(vars(function)[n], kind) for n in own})


def earlier(exercise: Exercise) -> dict[str, Exercise]:
    found = {e.name: e for e in exercise.uses}
    return found | {name: e for used in exercise.uses for name, e in earlier(used).items()}


PAIRS = [(first, later) for later in EXERCISES.values() for first in earlier(later).values()]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        pytest.param(*pair, id="-".join(e.name for e in pair), marks=[pytest.mark.long] * (n % 6 > 0))
        for n, pair in enumerate(PAIRS)
    ],
)
def test_a_result_of_another_kind_costs_nothing_later(first: Exercise, later: Exercise) -> None:
    names = right(later.module)
    for name, kind in OTHER_KINDS.items():
        session = LocalSession(names | {first.defines: of_another_kind(names[first.defines], kind)})
        assert judge(later, session).points == later.points, f"{name}\n{session.verdicts}"
