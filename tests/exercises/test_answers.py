"""Every wrong answer loses points where it is wrong and nowhere else, and is named; every right one keeps them all."""

import re
from collections.abc import Mapping

import numpy as np
import pytest
from answers import Answer, answers, namespace
from sentences import once_right
from verdicts import verdicts_on, wrong_verdicts

from autograded_tests import EXERCISES
from exercises.compare import expected, predicted, same
from exercises.data import Data
from exercises.explain import TOGETHER
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Arrays, Exercise, Misconception, Question, Reply, StandIn, Verdict

WRONG, RIGHT = answers("wrong_answers"), answers("right_answers")


def named(verdict: Verdict) -> bool:
    return any(case.named for case in verdict.cases if case.points < case.max)


@pytest.mark.parametrize(
    "answer", [pytest.param(a, id=str(a), marks=[pytest.mark.long] * (n % 48 > 0)) for n, a in enumerate(WRONG)]
)
def test_wrong_answer_is_caught_in_its_own_exercise(answer: Answer) -> None:
    found = verdicts_on(answer)
    assert found[answer.exercise].points < found[answer.exercise].max, "full marks for a wrong answer"
    for other in found.values():
        assert other.exercise == answer.exercise or other.points == other.max, f"cascades:\n{other}"


@pytest.mark.parametrize(
    "answer", [pytest.param(a, id=str(a), marks=[pytest.mark.long] * (n % 3 > 0)) for n, a in enumerate(RIGHT)]
)
def test_right_answer_keeps_all_points(answer: Answer) -> None:
    for verdict in verdicts_on(answer).values():
        assert verdict.points == verdict.max, f"\n{verdict}"
        assert not verdict.messages


@pytest.mark.long
def test_nineteen_in_twenty_are_named() -> None:
    without_a_name = [str(a) for a in WRONG if not named(wrong_verdicts()[a][a.exercise])]
    assert len(without_a_name) <= 0.05 * len(WRONG), without_a_name


class WrongComputation:
    """Answers with what a misconception would compute, and else with the reference."""

    def __init__(self, exercise: Exercise, misconception: Misconception) -> None:
        self.exercise, self.misconception = exercise, misconception
        self.verdicts = {e.name: Verdict(e.name, e.points, e.points, ()) for e in exercise.uses}

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        arrays: Arrays = dict(expected(self.exercise, question))
        return Reply(dict(arrays) | dict(predicted(self.misconception, question) or {}))


COMPUTATIONS = [(e, m) for e in EXERCISES.values() for m in e.misconceptions if m.wrong is not None]


@pytest.mark.parametrize(
    ("exercise", "misconception"),
    [
        pytest.param(e, m, id=f"{e.name}: {m.sentence}", marks=[pytest.mark.long] * (n % 4 > 0))
        for n, (e, m) in enumerate(COMPUTATIONS)
    ],
)
def test_each_misconception_loses_points_and_is_named(exercise: Exercise, misconception: Misconception) -> None:
    """Its sentence, or that of another misconception that computes the very same."""
    verdict = judge(exercise, WrongComputation(exercise, misconception))
    assert verdict.points < verdict.max
    assert named(verdict), f"{misconception.sentence}\n{verdict}"
    assert misconception.sentence in verdict.messages or all(
        compute_the_same(misconception, other, exercise)
        for other in exercise.misconceptions
        if other.sentence in verdict.messages and other.wrong is not None
    ), f"{misconception.sentence}\n{verdict}"


def compute_the_same(one: Misconception, other: Misconception, exercise: Exercise) -> bool:
    """Whether two misconceptions cannot be told apart by any question of the exercise."""
    return all(
        same(first[key], second[key])
        for case in exercise.cases
        for question in exercise.questions(case)
        if (first := predicted(one, question)) and (second := predicted(other, question))
        for key in set(first) & set(second) & set(question.compare)
    )


def test_blank_notebooks_have_no_points() -> None:
    blank = "raise NotImplementedError()"
    for exercise in EXERCISES.values():
        session = LocalSession({"__name__": "__main__"})
        assert judge(exercise, session).points == 0
        assert "not defined" in judge(exercise, session).messages[0]
    stubs = {
        "multi_head_attention": f"class MultiHeadAttention:\n    def __init__(self, embed_dim, num_heads):\n        {blank}"
    } | {
        name: f"def {e.defines}(*args, **kwargs):\n    {blank}"
        for name, e in EXERCISES.items()
        if e.module == "04_attention" and name != "multi_head_attention"
    }
    session = LocalSession(namespace("04_attention", **stubs))
    for name in stubs:
        verdict = judge(EXERCISES[name], session)
        assert verdict.points == 0 and verdict.messages == ("Not answered yet.",), f"\n{verdict}"


# --- other seeds and sizes ---------------------------------------------------------------------------------------------

OTHERS = Data(seed=1, B=3, H=2, L=6, S=7, D=5, Dv=4)
ELSEWHERE = {name: exercise.on(OTHERS) for name, exercise in EXERCISES.items()}


@pytest.mark.long
@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_a_right_answer_is_right_for_other_seeds_and_sizes(answer: Answer) -> None:
    exercise = EXERCISES[answer.exercise]
    session = LocalSession(namespace(exercise.module, **{answer.exercise: answer.source}))
    verdict = judge(ELSEWHERE[answer.exercise], session)
    assert verdict.points == verdict.max and not verdict.messages, f"\n{verdict}"


@pytest.mark.slow
def test_wrong_answers_are_wrong_for_other_seeds_and_sizes() -> None:
    """A case is a function of seed and sizes: with others it rejects what it rejects here."""
    right = []
    for answer in WRONG:
        exercise = EXERCISES[answer.exercise]
        session = LocalSession(namespace(exercise.module, **{answer.exercise: answer.source}))
        session.verdicts = {e.name: Verdict(e.name, e.points, e.points, ()) for e in exercise.uses}
        if judge(ELSEWHERE[answer.exercise], session).points == exercise.points:
            right.append(str(answer))
    assert not right


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.name)
def test_questions_depend_on_nothing_but_seed_and_sizes(exercise: Exercise) -> None:
    """Asked twice, a case gives the same arrays, bit for bit; with another seed or other sizes it gives others."""

    def arrays(data: Data) -> list[bytes]:
        questions = [question for case in exercise.cases for question in case.ask(data)]
        return [np.asarray(v).tobytes() for q in questions for v in q.inputs.values() if isinstance(v, np.ndarray)]

    assert arrays(Data()) == arrays(Data()) and arrays(OTHERS) == arrays(OTHERS)
    assert arrays(Data()) != arrays(OTHERS) or not arrays(Data())  # a mask is asked for by whole numbers alone


def test_follow_through_says_which_answer_to_mend() -> None:
    session = LocalSession(
        namespace("04_attention", scale_scores="def _scale_scores(scores, d_k):\n    return scores\n")
    )
    attention = judge(EXERCISES["scaled_dot_product_attention"], session)
    assert attention.points == attention.max
    assert attention.messages == (once_right("_scale_scores"),)


@pytest.mark.long
def test_only_who_changes_an_input_is_told_so() -> None:
    told = [
        answer
        for answer, verdicts in wrong_verdicts().items()
        if any("was changed in place" in message for v in verdicts.values() for message in v.messages)
    ]
    assert told and all(re.search("in place|chang|set to zero", answer.title) for answer in told), told


@pytest.mark.long
def test_each_case_is_needed() -> None:
    """Each case rejects a wrong answer that no other case of its exercise rejects; otherwise it would be merged away."""
    needed = set()
    for answer in WRONG:
        cases = wrong_verdicts()[answer][answer.exercise].cases
        lost = [c.name for c in cases if c.points < c.max and c.message != TOGETHER.sentence]
        if len(lost) == 1:
            needed.add((answer.exercise, lost[0]))
    idle = [(e.name, c.name) for e in EXERCISES.values() for c in e.cases if (e.name, c.name) not in needed]
    assert not idle
