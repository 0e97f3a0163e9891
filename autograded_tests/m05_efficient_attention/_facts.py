"""What is said where no wrong computation fits: what can be seen in the numbers, and what they should be."""

from exercises.misconceptions import shows
from exercises.model import Misconception, Sign


def seen(sentence: str, sign: Sign, *cases: str) -> tuple[Misconception, ...]:
    """A rough sign, one misconception for each case: fitting many, it would else speak before one that fits few."""
    return tuple(shows(sentence, sign, (case,), rough=True) for case in cases)
