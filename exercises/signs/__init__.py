"""Mistakes that show in a reply, not in its numbers: named functions of (question, reply, expected, *arguments).

Sizes come from the question, never from a constant, so that a sign holds for other seeds and sizes. A sign is a name with
arguments, so that a table can hold it; `find` goes the way back.
"""

import importlib
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec

from exercises.model import Arrays, Question, Reply, Sign

FILES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
P = ParamSpec("P")


def sign(shows: Callable[Concatenate[Question, Reply, Arrays, P], bool]) -> Callable[P, Sign]:
    """Make a function of (question, reply, expected, *arguments) one of the arguments, which gives the sign."""

    @wraps(shows)
    def with_arguments(*args: P.args, **kwargs: P.kwargs) -> Sign:
        return Sign(shows, args, kwargs)

    return with_arguments


def find(name: str) -> Callable[..., Sign]:
    """What gives the sign of this name for its arguments. Raises KeyError if there is none."""
    for file in FILES:
        found: Callable[..., Sign] | None = vars(importlib.import_module(f"exercises.signs.{file}")).get(name)
        if found is not None:
            return found
    raise KeyError(name)
