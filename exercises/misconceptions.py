"""Short ways to write down a misconception. The sentences are in autograded_tests/."""

from collections.abc import Callable

import numpy as np

from exercises.model import Arrays, Misconception, Question, Sign
from exercises.signs.exceptions import Raised, raised


def computes(
    sentence: str, result: str, function: Callable[..., np.ndarray], cases: tuple[str, ...] = ()
) -> Misconception:
    """A wrong computation of one result from the arguments of the question, by name."""

    def wrong(question: Question) -> Arrays:
        return {result: function(**question.arguments)}

    return Misconception(sentence, wrong=wrong, cases=cases)


def says(sentence: str, *kinds: Raised, cases: tuple[str, ...] = ()) -> Misconception:
    """A mistake that shows in what the student's code raised."""
    return Misconception(sentence, sign=raised(*kinds), cases=cases)


def shows(sentence: str, sign: Sign, cases: tuple[str, ...] = ()) -> Misconception:
    """A mistake that shows in a reply; the signs are in exercises/signs/."""
    return Misconception(sentence, sign=sign, cases=cases)


NAMES_KEPT = says(
    "The function does not take the arguments that it was handed out with; keep their names and their order.",
    Raised.ARGUMENTS,
)
