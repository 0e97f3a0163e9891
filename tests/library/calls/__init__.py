"""How each module of the library is called, right and wrong: one file per module, named after it."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

rng = np.random.default_rng(0)
X, Y = (rng.uniform(0.1, 2, size=(2, 4, 6)).astype(np.float32) for _ in range(2))
MASK = np.tril(np.ones((4, 4), np.float32))  # for X as queries and as keys


@dataclass(frozen=True)
class Calls:
    """What tests of the whole library need to know of one module.

    arrays    what takes arrays and lists in place of Tensors, with arrays to call it with, by name: classes, and functions
              that need something special. The other functions are found by their types.
    masks     function of a mask like MASK -> Tensor, by name
    refused   calls with sizes or options of a wrong kind, each with a pattern of what the error says
    program   what somebody writes who imports the module: mypy finds no fault in it
    mistakes  lines that may follow the program: mypy finds each of them
    """

    arrays: Mapping[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = field(default_factory=dict)
    masks: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    refused: tuple[tuple[Callable[[], object], str], ...] = ()
    program: str = ""
    mistakes: tuple[str, ...] = ()


def calls_of_all_modules() -> dict[str, Calls]:
    """By name of the module."""
    paths = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    return {path.stem: importlib.import_module(f"calls.{path.stem}").CALLS for path in paths}
