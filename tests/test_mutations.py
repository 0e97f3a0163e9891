"""Every wrong answer loses points where it is wrong and nowhere else, and is named; every right one keeps them all."""

import re
from collections import Counter

import pytest
from answers import Answer, answers, namespace

from autograded_tests import EXERCISES, LocalSession, judge
from autograded_tests.exercise import Arrays, Exercise, Misconception, Reply, Verdict, expected, predicted, same

WRONG, RIGHT = answers("wrong_answers"), answers("right_answers")


def verdicts(answer: Answer) -> dict[str, Verdict]:
    """Verdicts on the whole module with one answer replaced."""
    module = EXERCISES[answer.exercise].module
    session = LocalSession(namespace(module, **{answer.exercise: answer.source}))
    return {e.name: judge(e, session) for e in EXERCISES.values() if e.module == module}


@pytest.fixture(scope="module")
def wrong_verdicts() -> dict[str, dict[str, Verdict]]:
    return {str(a): verdicts(a) for a in WRONG}


def named(verdict: Verdict) -> bool:
    return any(case.named for case in verdict.cases if case.points < case.max)


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answer_is_caught_in_its_own_exercise(
    answer: Answer, wrong_verdicts: dict[str, dict[str, Verdict]]
) -> None:
    found = wrong_verdicts[str(answer)]
    assert found[answer.exercise].points < found[answer.exercise].max, "full marks for a wrong answer"
    for other in found.values():
        assert other.exercise == answer.exercise or other.points == other.max, f"cascades:\n{other}"


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answer_keeps_all_points(answer: Answer) -> None:
    for verdict in verdicts(answer).values():
        assert verdict.points == verdict.max, f"\n{verdict}"
        assert not verdict.messages


def test_nine_in_ten_are_named(
    wrong_verdicts: dict[str, dict[str, Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    caught, known, kept = Counter(), Counter(), Counter()
    for answer in WRONG:
        verdict = wrong_verdicts[str(answer)][answer.exercise]
        caught[answer.exercise] += verdict.points < verdict.max
        known[answer.exercise] += named(verdict)
    for answer in RIGHT:
        verdict = verdicts(answer)[answer.exercise]
        kept[answer.exercise] += verdict.points == verdict.max
    wrong, right = Counter(a.exercise for a in WRONG), Counter(a.exercise for a in RIGHT)
    rows = [f"{'exercise':30} {'wrong caught':>14} {'named':>9} {'right kept':>12}"]
    for name in EXERCISES:
        rows.append(
            f"{name:30} {caught[name]:>7} of {wrong[name]:<3} {known[name]:>4} of {wrong[name]:<3}"
            f" {kept[name]:>4} of {right[name]:<3}"
        )
    rows.append(
        f"{'all':30} {caught.total():>7} of {wrong.total():<3} {known.total():>4} of {wrong.total():<3}"
        f" {kept.total():>4} of {right.total():<3}"
    )
    with capsys.disabled():
        print("\n\n" + "\n".join(rows))
    assert caught == wrong and kept == right
    assert known.total() >= 0.9 * wrong.total()
    assert wrong.total() >= 100 and right.total() >= 25


class WrongComputation:
    """Answers with what a misconception would compute, and else with the reference."""

    def __init__(self, exercise: Exercise, misconception: Misconception) -> None:
        self.exercise, self.misconception = exercise, misconception
        earlier = [EXERCISES[name] for name in exercise.uses]
        self.verdicts = {e.name: Verdict(e.name, e.points, e.points, ()) for e in earlier}

    def ask(self, probe: str, inputs: dict, helpers: dict) -> Reply:
        (ask,) = (a for c in self.exercise.cases for a in c.asks if a.inputs is inputs and a.probe == probe)
        arrays: Arrays = dict(expected(self.exercise, ask))
        return Reply(arrays | (predicted(self.misconception, ask) or {}))


COMPUTATIONS = [(e, m) for e in EXERCISES.values() for m in e.misconceptions if m.wrong is not None]


@pytest.mark.parametrize(("exercise", "misconception"), COMPUTATIONS, ids=lambda x: getattr(x, "name", None))
def test_each_misconception_loses_points_and_is_named(exercise: Exercise, misconception: Misconception) -> None:
    """Its sentence, or that of another misconception that computes the very same."""
    verdict = judge(exercise, WrongComputation(exercise, misconception))
    assert verdict.points < verdict.max
    assert named(verdict), f"{misconception.sentence}\n{verdict}"
    assert misconception.sentence in verdict.messages or all(
        same(predicted(other, ask)[key], predicted(misconception, ask)[key])
        for other in exercise.misconceptions
        if other.sentence in verdict.messages and other.wrong is not None
        for case in exercise.cases
        for ask in case.asks
        if predicted(other, ask) and predicted(misconception, ask)
        for key in set(predicted(other, ask)) & set(predicted(misconception, ask)) & set(ask.compare)
    ), f"{misconception.sentence}\n{verdict}"


def test_blank_notebooks_have_no_points() -> None:
    blank = "raise NotImplementedError()"
    for exercise in EXERCISES.values():
        session = LocalSession({"__name__": "__main__"})
        assert judge(exercise, session).points == 0
        assert "not defined" in judge(exercise, session).messages[0]
    stubs = {
        "multi_head_attention": f"class MultiHeadAttention:\n    def __init__(self, embed_dim, num_heads):\n        {blank}"
    } | {
        name: f"def {EXERCISES[name].defines}(*args, **kwargs):\n    {blank}"
        for name, e in EXERCISES.items()
        if e.module == "04_attention" and name != "multi_head_attention"
    }
    session = LocalSession(namespace("04_attention", **stubs))
    for name in stubs:
        verdict = judge(EXERCISES[name], session)
        assert verdict.points == 0 and verdict.messages == ("Not answered yet.",), f"\n{verdict}"


def test_follow_through_says_which_answer_to_mend() -> None:
    session = LocalSession(
        namespace("04_attention", scale_scores="def _scale_scores(scores, d_k):\n    return scores\n")
    )
    attention = judge(EXERCISES["scaled_dot_product_attention"], session)
    assert attention.points == attention.max
    assert attention.messages == ("Right, once `_scale_scores` is; nothing lost here.",)


def test_only_who_changes_an_input_is_told_so(wrong_verdicts: dict[str, dict[str, Verdict]]) -> None:
    told = [
        name
        for name, verdicts in wrong_verdicts.items()
        if any("was changed in place" in message for v in verdicts.values() for message in v.messages)
    ]
    assert len(told) > 10 and all(re.search("in place|chang|set to zero", name) for name in told), told


def test_each_case_is_needed(wrong_verdicts: dict[str, dict[str, Verdict]]) -> None:
    """Each case rejects a wrong answer that no other case of its exercise rejects; otherwise it would be merged away."""
    needed = set()
    for answer in WRONG:
        lost = [c.name for c in wrong_verdicts[str(answer)][answer.exercise].cases if c.points < c.max]
        if len(lost) == 1:
            needed.add((answer.exercise, lost[0]))
    idle = [(e.name, c.name) for e in EXERCISES.values() for c in e.cases if (e.name, c.name) not in needed]
    assert not idle
