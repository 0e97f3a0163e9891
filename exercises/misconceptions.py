"""Short ways to write down a misconception. The sentences are in autograded_tests/."""

from collections.abc import Callable

import numpy as np

from exercises.model import Arrays, Misconception, Question, Sign
from exercises.signs.exceptions import Raised, cannot_be_called, raised

CUT = "for example by `.data`, `.detach()` or `Tensor(...)`"  # how a value is cut from the graph


def computes(
    sentence: str, result: str, function: Callable[..., np.ndarray], cases: tuple[str, ...] = ()
) -> Misconception:
    """A wrong computation of one result from the arguments of the question, by name."""

    def wrong(question: Question) -> Arrays:
        return {result: function(**question.arguments)}

    return Misconception(sentence, wrong=wrong, cases=cases)


def says(sentence: str, *kinds: Raised, cases: tuple[str, ...] = (), line: str = "") -> Misconception:
    """A mistake that shows in what the student's code raised, and maybe in the line that did (a pattern)."""
    return Misconception(sentence, sign=raised(*kinds, line=line), cases=cases)


def shows(sentence: str, sign: Sign, cases: tuple[str, ...] = (), rough: bool = False) -> Misconception:
    """A mistake that shows in a reply; the signs are in exercises/signs/."""
    return Misconception(sentence, sign=sign, cases=cases, rough=rough)


NAMES_KEPT = shows(
    "The function does not take the arguments that it was handed out with. Keep their names and their order.",
    cannot_be_called(),
)
