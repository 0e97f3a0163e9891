"""Grades whatever `tinytorch` is importable, ours or a student's own export: pytest autograded_tests -k scale_scores"""

import importlib
from functools import cache

import pytest

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Case, Exercise, Verdict


@cache
def session(module: str) -> LocalSession:
    library = importlib.import_module(f"tinytorch.core.{module.partition('_')[2]}")
    return LocalSession(vars(library))


def verdict(exercise: Exercise) -> Verdict:
    return judge(exercise, session(exercise.module))


@pytest.mark.parametrize(
    ("exercise", "case"),
    [pytest.param(e, c, id=f"{e.name}: {c.name}") for e in EXERCISES.values() for c in e.cases],
)
def test_case(exercise: Exercise, case: Case) -> None:
    (result,) = (r for r in verdict(exercise).cases if r.name == case.name)
    assert result.points == result.max, f"\n{verdict(exercise)}"
