"""Verdicts on the answers in tests/wrong_answers, computed once per process."""

from functools import cache

import numpy as np
from answers import Answer, answers, namespace

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Exercise, Verdict

Verdicts = dict[Answer, dict[str, Verdict]]


@cache
def verdicts_on(answer: Answer) -> dict[str, Verdict]:
    """Verdicts on a module with one answer replaced: on its exercise, and on all that build on it."""
    np.random.seed(0)  # noqa: NPY002  (some answers draw from it)
    replaced = EXERCISES[answer.exercise]
    session = LocalSession(namespace(replaced.module, **{answer.exercise: answer.source}))
    return {
        e.name: judge(e, session) for e in EXERCISES.values() if e.module == replaced.module and builds_on(e, replaced)
    }


def builds_on(exercise: Exercise, earlier: Exercise) -> bool:
    return exercise is earlier or any(builds_on(used, earlier) for used in exercise.uses)


@cache
def wrong_verdicts() -> Verdicts:
    """Verdicts on all of tests/wrong_answers."""
    return {answer: verdicts_on(answer) for answer in answers("wrong_answers")}
