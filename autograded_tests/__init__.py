"""What is graded: exercises with references, cases and misconceptions. Hidden from students."""

from typing import Any

from autograded_tests import activations, attention, efficient_attention, layers
from autograded_tests.exercise import Exercise, Reply, Session, Verdict, judge
from autograded_tests.session import LocalSession

EXERCISES: dict[str, Exercise] = {
    e.name: e for module in (activations, layers, attention, efficient_attention) for e in module.EXERCISES
}


def exercises_of(module: str) -> tuple[Exercise, ...]:
    """The exercises of a module, in the order of its notebook; none if there are none."""
    return tuple(e for e in EXERCISES.values() if e.module == module)


def grade(name: str, namespace: dict[str, Any]) -> float:
    """Judge one answer in the kernel that it lives in: prints the verdict, gives the points."""
    verdict = judge(EXERCISES[name], LocalSession(namespace))
    print(verdict)
    return float(verdict.points)


__all__ = ["EXERCISES", "Exercise", "LocalSession", "Reply", "Session", "Verdict", "exercises_of", "grade", "judge"]
