"""What is said where no wrong computation fits: what can be seen in the numbers, and what they should be."""

from exercises.misconceptions import shows
from exercises.model import Misconception, Sign


def seen(sentence: str, sign: Sign, *cases: str) -> tuple[Misconception, ...]:
    """A sign, one misconception for each case: fitting many cases, it would else speak before a computation that fits few."""
    return tuple(shows(sentence, sign, (case,)) for case in cases)
