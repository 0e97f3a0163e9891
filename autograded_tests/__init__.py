"""What is graded: exercises with references, cases and misconceptions. Hidden from students."""

from typing import Any

from autograded_tests import activations, attention, layers
from autograded_tests.exercise import Exercise, Reply, Session, Verdict, judge
from autograded_tests.session import LocalSession

EXERCISES: dict[str, Exercise] = {e.name: e for e in (*activations.EXERCISES, *layers.EXERCISES, *attention.EXERCISES)}


def grade(name: str, namespace: dict[str, Any]) -> float:
    """Judge one answer in the kernel that it lives in: prints the verdict, gives the points."""
    verdict = judge(EXERCISES[name], LocalSession(namespace))
    print(verdict)
    return float(verdict.points)


__all__ = ["EXERCISES", "Exercise", "LocalSession", "Reply", "Session", "Verdict", "grade", "judge"]
