"""Sentences for students, looked up where they stand: tests then hold whatever their wording is."""

from collections.abc import Callable

import numpy as np

from autograded_tests import EXERCISES
from exercises.model import Arrays, Question


def sentence(exercise: str, wrong: Callable[[Question], Arrays]) -> str:
    """What an exercise says of a wrong computation: the one misconception that gives the same for its first case."""
    questions = EXERCISES[exercise].questions(EXERCISES[exercise].cases[0])
    (found,) = (
        m.sentence
        for m in EXERCISES[exercise].misconceptions
        if m.wrong is not None and all(_same(m.wrong(q), wrong(q)) for q in questions)
    )
    return found


def _same(some: Arrays | None, others: Arrays) -> bool:
    return some is not None and all(np.array_equal(some[name], others[name]) for name in others)


UPPER_TRIANGLE = sentence("causal_mask", lambda question: {"mask": np.triu(np.ones((question["seq_len"],) * 2))})
DIVIDED_BY_D_K = sentence("scale_scores", lambda question: {"scaled": question["scores"] / question["d_k"]})


def once_right(name: str) -> str:
    """What an exercise says if nothing is wrong with it but an earlier answer that it calls."""
    return f"Correct once `{name}` is fixed; no points lost."
