"""judge() on small exercises made for it: points, follow-through and sentences, each with the value that must come."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from exercises.data import Data
from exercises.judge import judge
from exercises.misconceptions import CUT, computes, says, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question, Reply, Sign, StandIn, Verdict
from exercises.problem import Problem
from exercises.signs.arrays import returned
from exercises.signs.exceptions import Raised
from grader.course import ROOT

Answer = Callable[[np.ndarray], object]


def ask(number: int, *shape: int, compare: tuple[str, ...] = ("y",)) -> Question:
    return Question("double", {"x": Data().normal(number, *shape)}, compare)


def reference(question: Question) -> Arrays:
    x = question["x"].astype(float)
    return {"y": 2 * x, "x_after": x, "grad_x": np.full(x.shape, 2.0)}


TRIPLED = computes("You tripled it.", "y", lambda x: 3 * x)
EXERCISE = Exercise(
    name="double",
    module="00_none",
    defines="double",
    cases=(
        Case("values", 2, lambda d: (ask(1, 3), ask(2, 2, 3))),
        Case("one number", 1, lambda d: (ask(3, 1),)),
        Case("gradient", 0.75, lambda d: (ask(4, 4, compare=("grad_x",)),)),
        Case("input unchanged", 0.25, lambda d: (ask(5, 3, compare=("x_after",)),), needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        TRIPLED,
        computes("You squared it.", "y", lambda x: x * x),
        says("The axis is not there.", Raised.AXIS),
    ),
    stand_in=StandIn("double", ("x",), 1, lambda x: [2 * x], lambda _index, grad, x: [2 * grad]),
)


class Answers:
    """A session that answers with a function of (question, stand-ins), and remembers what it was asked."""

    def __init__(self, answer: Callable[[Question, Mapping[str, StandIn]], Reply], **verdicts: Verdict) -> None:
        self.answer, self.verdicts = answer, dict(verdicts)
        self.helps = True  # where stand-ins are offered, one is asked
        self.asked: list[tuple[str, Question, tuple[str, ...]]] = []

    def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        self.asked.append((about, question, tuple(stand_ins)))
        reply = self.answer(question, stand_ins)
        return replace(reply, helped=bool(stand_ins) and self.helps)


def replies(
    y: Answer = lambda x: 2 * x, after: Answer = lambda x: x, grad: Answer = lambda x: np.full(x.shape, 2.0)
) -> Answers:
    def answer(question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        x = question["x"]
        arrays = {"y": y(x), "x_after": after(x), "grad_x": grad(x)}
        return Reply({k: np.asarray(v) for k, v in arrays.items() if v is not None})

    return Answers(answer)


def problem(kind: Problem, text: str = "") -> Answers:
    return Answers(lambda question, stand_ins: Reply(problem=kind, text=text))


def points(verdict: Verdict) -> list[float]:
    return [case.points for case in verdict.cases]


def said(verdict: Verdict) -> list[str]:
    return [case.message for case in verdict.cases]


def test_a_right_answer_has_all_points_and_nothing_is_said() -> None:
    session = replies()
    verdict = judge(EXERCISE, session)
    assert (verdict.points, verdict.max, verdict.messages) == (4, 4, ())
    assert points(verdict) == [2, 1, 0.75, 0.25] and [c.max for c in verdict.cases] == [2, 1, 0.75, 0.25]
    assert {about for about, _, _ in session.asked} == {"double"} and len(session.asked) == 5
    assert str(verdict).splitlines() == [
        "double  4/4", "  ok    values", "  ok    one number", "  ok    gradient", "  ok    input unchanged",
    ]  # fmt: skip


def test_a_verdict_is_remembered() -> None:
    session = replies()
    first = judge(EXERCISE, session)
    asked = len(session.asked)
    assert judge(EXERCISE, session) is first and len(session.asked) == asked
    assert session.verdicts == {"double": first}


def test_one_wrong_question_loses_its_case_and_no_other() -> None:
    verdict = judge(EXERCISE, replies(y=lambda x: 2 * x + (x.size == 1)))
    assert points(verdict) == [2, 0, 0.75, 0.25] and verdict.points == 3
    assert said(verdict) == ["", "`y[0]` is not right (1 of 1 differ).", "", ""]
    assert str(verdict).splitlines()[2] == "  lost  one number       `y[0]` is not right (1 of 1 differ)."


def test_a_wrong_computation_is_named_and_what_follows_says_so() -> None:
    verdict = judge(EXERCISE, replies(y=lambda x: 3 * x, grad=lambda x: np.full(x.shape, 3.0)))
    assert points(verdict) == [0, 0, 0, 0]  # the input is unchanged, which counts for nothing alone
    assert said(verdict) == ["You tripled it.", "You tripled it.", "Probably caused by the mistake above.", TOGETHER]
    assert [c.named for c in verdict.cases] == [True, True, False, False]
    assert [c.follows for c in verdict.cases] == [False, False, True, True]
    assert verdict.messages == ("You tripled it.", "Probably caused by the mistake above.", TOGETHER)


TOGETHER = "Scored only if another case passes."


def test_what_could_be_right_without_computing_counts_with_another_case() -> None:
    verdict = judge(EXERCISE, replies(y=lambda x: 0 * x))
    assert points(verdict) == [0, 0, 0.75, 0.25]
    verdict = judge(EXERCISE, replies(y=lambda x: 0 * x, grad=lambda x: 0 * x))
    assert points(verdict) == [0, 0, 0, 0] and said(verdict)[3] == TOGETHER


def test_a_changed_input_is_said() -> None:
    verdict = judge(EXERCISE, replies(after=lambda x: x + 1))
    assert points(verdict) == [2, 1, 0.75, 0]
    assert verdict.messages == (
        "The input x was changed in place. Compute a new Tensor and leave the input alone.",
    ) and verdict.cases[3].named  # fmt: skip


def test_only_an_array_can_have_been_changed() -> None:
    """A process may send an array under any name."""

    class Odd:
        def __init__(self) -> None:
            self.verdicts: dict[str, Verdict] = {}

        def ask(self, about: str, question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
            return Reply({"y": np.zeros(9), "name_after": np.ones(1)})

    named = Case("values", 1, lambda d: (Question("probe", {"name": "double", "x": np.ones(2)}, ("y",)),))
    exercise = Exercise("double", "module", "double", (named,), lambda q: {"y": 2 * q["x"]}, ())
    assert judge(exercise, Odd()).messages == ("`y` has shape (9,), it should be (2,).",)


@pytest.mark.parametrize(
    ("kind", "text", "sentence", "named"),
    [
        (Problem.BLANK, "", "Not answered yet.", False),
        (
            Problem.MISSING,
            "double",
            "`double` is not defined: its cell is missing, was not run, or raised an error.",
            False,
        ),
        (Problem.MISSING, "double: NameError: x", "`double` is not defined: its cell raised NameError: x", False),
        (Problem.KIND, "The result should be a Tensor", "The result should be a Tensor.", True),
        (Problem.RAISED, "ValueError: no", "It cannot be used as its description says: ValueError: no", False),
        (Problem.RAISED, "AxisError: axis 3 is out of bounds", "The axis is not there.", True),
        (
            Problem.RAISED,
            "E: " + "x" * 500,
            "It cannot be used as its description says: E: " + "x" * 154 + "...",
            False,
        ),
        (Problem.RAISED, "E: x\n\n\x00 y", "It cannot be used as its description says: E: x ? y", False),
        (Problem.TIME, "", "It ran for too long and was stopped.", False),
        (Problem.TIME, "all of it", "It ran for too long and was stopped: all of it.", False),
        (Problem.MEMORY, "", "It needed more memory than there is.", False),
        (Problem.DIED, "", "It ended the Python process.", False),
        (
            Problem.BAD,
            "no known problem",
            "What came back is not plain numbers of about the size that was asked for.",
            False,
        ),
    ],
)
def test_a_problem_has_its_sentence(kind: Problem, text: str, sentence: str, named: bool) -> None:
    verdict = judge(EXERCISE, problem(kind, text))
    assert verdict.points == 0 and said(verdict)[0] == sentence and verdict.cases[0].named is named


def test_a_case_ends_with_the_first_problem() -> None:
    session = problem(Problem.DIED)
    judge(EXERCISE, session)
    assert len(session.asked) == 4  # one of two for "values"


@pytest.mark.parametrize(
    ("answers", "case", "sentence", "named"),
    [
        (replies(grad=lambda x: None), 2, f"No gradient reaches x: it is cut from the graph, {CUT}.", True),
        (replies(grad=lambda x: 0 * x), 2, f"No gradient reaches x: it is cut from the graph, {CUT}.", True),
        (
            replies(grad=lambda x: x),
            2,
            f"The gradient of x is not right. Is a part of the computation cut from the graph, {CUT}?",
            True,
        ),
        (replies(y=lambda x: None), 0, "There is no `y`.", True),
        (replies(y=lambda x: 2 * x[None]), 0, "`y` has shape (1, 3), it should be (3,).", False),
        (replies(y=lambda x: 2 * x.T), 0, "`y` has shape (3, 2), it should be (2, 3). Two axes are exchanged.", False),
        (replies(y=lambda x: (2 * x).astype(complex)), 0, "`y` holds values of type complex128. It should hold plain numbers.", True),
        (replies(y=lambda x: (2 * x).astype(object)), 0, "`y` holds values of type object. It should hold plain numbers.", True),
        (replies(y=lambda x: np.where(x == x.max(), np.nan, 2 * x)), 0, "`y` holds inf or nan.", False),
        (replies(y=lambda x: 2 * x + (np.arange(x.size).reshape(x.shape) == 1)), 0, "`y[1]` is not right (1 of 3 differ).", False),
    ],
)  # fmt: skip
def test_a_symptom_has_its_sentence(answers: Answers, case: int, sentence: str, named: bool) -> None:
    result = judge(EXERCISE, answers).cases[case]
    assert (result.points, result.message, result.named) == (0, sentence, named)


def test_a_result_of_one_number_has_no_place() -> None:
    exercise = replace(
        EXERCISE, cases=(Case("one", 1, lambda d: (ask(1, 3),)),), reference=lambda q: {"y": np.array(2.0)}
    )
    assert said(judge(exercise, replies(y=lambda x: np.array(1.0)))) == ["`y` is not right."]


def test_an_answer_that_differs_from_call_to_call_is_told_so() -> None:
    numbers = iter(range(100))
    verdict = judge(EXERCISE, replies(y=lambda x: 2 * x + 1 + next(numbers)))
    assert said(verdict)[0].startswith("The result differs from one call to the next.") and verdict.cases[0].named


def test_random_nan_is_no_difference() -> None:
    assert said(judge(EXERCISE, replies(y=lambda x: np.nan * x)))[0] == "`y` holds inf or nan."


# --- which of several sentences ---------------------------------------------------------------------------------------


def with_misconceptions(*misconceptions: Misconception) -> Exercise:
    return replace(EXERCISE, misconceptions=misconceptions)


def test_a_misconception_must_fit_every_wrong_question_of_the_case() -> None:
    wrong = replies(y=lambda x: 3 * x if x.ndim == 1 else 5 * x)
    assert said(judge(EXERCISE, wrong))[:2] == ["Probably caused by the mistake below.", "You tripled it."]


def test_a_misconception_that_would_fail_a_right_question_does_not_fit() -> None:
    wrong = replies(y=lambda x: 3 * x if x.ndim == 2 else 2 * x)  # the first of two questions is right
    assert (
        said(judge(EXERCISE, wrong))[0] == "All values of `y` are too large, or too small, by one and the same factor."
    )


def test_where_a_table_does_not_hold_what_a_mistake_gives_nothing_is_held_against_it() -> None:
    def only(*sizes: int) -> Misconception:
        return Misconception("Tripled.", lambda q: {"y": 3 * q["x"]} if q["x"].size in sizes else {})

    assert said(judge(with_misconceptions(only(3)), replies(y=lambda x: 3 * x)))[0] == "Tripled."
    assert "Tripled." not in said(judge(with_misconceptions(only()), replies(y=lambda x: 3 * x)))
    other = replies(y=lambda x: 3 * x if x.size == 6 else 4 * x)
    assert "Tripled." not in said(judge(with_misconceptions(only(3)), other))


def test_what_equals_the_right_answer_is_no_misconception() -> None:
    doubled = computes("You doubled it.", "y", lambda x: 2 * x)
    assert "You doubled it." not in judge(with_misconceptions(doubled), replies(y=lambda x: 7 * x)).messages
    assert judge(with_misconceptions(doubled), replies()).messages == ()


def test_the_one_that_explains_most_cases_is_said() -> None:
    first = computes("Only sometimes.", "y", lambda x: 3 * x if x.ndim == 1 and x.size > 1 else 2 * x)
    one = replace(EXERCISE, cases=(Case("a", 1, lambda d: (ask(1, 3),)), Case("b", 1, lambda d: (ask(3, 1),))))
    verdict = judge(replace(one, misconceptions=(first, TRIPLED)), replies(y=lambda x: 3 * x))
    assert said(verdict) == ["You tripled it.", "You tripled it."]
    verdict = judge(replace(one, misconceptions=(TRIPLED, first)), replies(y=lambda x: 3 * x if x.size > 1 else 2 * x))
    assert said(verdict) == ["Only sometimes.", ""]  # the other would have lost the second case


def test_of_two_that_fit_alike_the_first_is_said() -> None:
    again = computes("Again.", "y", lambda x: 3 * x)
    assert judge(with_misconceptions(TRIPLED, again), replies(y=lambda x: 3 * x)).messages[0] == "You tripled it."
    assert judge(with_misconceptions(again, TRIPLED), replies(y=lambda x: 3 * x)).messages[0] == "Again."


def test_a_rough_sentence_is_said_only_where_no_other_fits() -> None:
    rough = shows("It is something else.", returned("y"), rough=True)
    both = with_misconceptions(rough, TRIPLED)
    assert said(judge(both, replies(y=lambda x: 3 * x)))[0] == "You tripled it."
    assert said(judge(both, replies(y=lambda x: 2 * x**2)))[0] == "It is something else."


def test_a_misconception_may_be_for_some_cases_only() -> None:
    only = replace(TRIPLED, cases=("one number",))
    assert said(judge(with_misconceptions(only), replies(y=lambda x: 3 * x)))[:2] == [
        "Probably caused by the mistake below.",
        "You tripled it.",
    ]
    sign = shows("It came.", returned("y"), ("one number",))
    assert said(judge(with_misconceptions(sign), replies(y=lambda x: 5 * x)))[1] == "It came."


def test_a_misconception_that_cannot_be_computed_does_not_apply() -> None:
    broken = computes("Broken.", "y", lambda x: x.reshape(77))
    other = Misconception("Not here.", wrong=lambda question: None)
    elsewhere = computes("Elsewhere.", "z", lambda x: 3 * x)
    verdict = judge(with_misconceptions(broken, other, elsewhere, TRIPLED), replies(y=lambda x: 3 * x))
    assert said(verdict)[0] == "You tripled it."


def test_a_sign_that_meets_odd_arrays_shows_nothing() -> None:
    def odd(question: Question, reply: Reply, expected: Arrays) -> bool:
        raise KeyError("no such array")

    assert (
        said(judge(with_misconceptions(shows("Odd.", Sign(odd)), TRIPLED), replies(y=lambda x: 3 * x)))[0]
        == "You tripled it."
    )


def test_what_was_raised_is_not_put_down_to_another_mistake() -> None:
    def answer(question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        if question["x"].size == 1:
            return Reply(problem=Problem.RAISED, text="ValueError: my own", line="return my(own)")
        return Reply({"y": 3 * question["x"], "x_after": question["x"], "grad_x": np.full(4, 3.0)})

    assert said(judge(EXERCISE, Answers(answer))) == [
        "You tripled it.",
        "Your line `return my(own)` raised ValueError: my own",
        "Probably caused by the mistake above.",
        TOGETHER,
    ]


def test_no_more_than_two_sentences_of_an_exercise_quote_what_its_code_wrote() -> None:
    """A text of 160 characters could carry a part of a hidden question out."""
    texts, lines = (iter(f"{kind}{n}" * 100 for n in range(9)) for kind in ("ValueError: ", "x"))

    def answer(_question: Question, _stand_ins: Mapping[str, StandIn]) -> Reply:
        return Reply(problem=Problem.RAISED, text=next(texts), line=next(lines))

    sentences = said(judge(replace(EXERCISE, misconceptions=()), Answers(answer)))
    assert [len(s) for s in sentences[:2]] == [len("Your line `` raised ") + 160] * 2 and sentences[0] != sentences[1]
    said_to_all = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "at most two texts of a hundred and sixty characters for each exercise" in said_to_all
    assert sentences[2:] == ["Something else went wrong here."] * 2


# --- follow-through ---------------------------------------------------------------------------------------------------

LATER = replace(EXERCISE, name="later", defines="later", uses=(EXERCISE,), misconceptions=(), stand_in=None)
HELPED = "Correct once `double` is fixed; no points lost."


def after_mistake(right_with_help: bool) -> Answers:
    """The answer to `later` doubles with the earlier answer, which triples."""

    def answer(question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        factor = 2 if stand_ins and right_with_help else 3
        x = question["x"]
        return Reply({"y": factor * x, "x_after": x, "grad_x": np.full(x.shape, float(factor))})

    return Answers(answer)


def test_a_mistake_costs_its_points_once() -> None:
    session = after_mistake(right_with_help=True)
    verdict = judge(LATER, session)
    assert (verdict.points, verdict.messages) == (4, (HELPED,))
    assert said(verdict) == [HELPED, HELPED, HELPED, ""]
    assert not any(case.named for case in verdict.cases)
    assert session.verdicts["double"].points == 0
    assert {stand_ins for about, _, stand_ins in session.asked if about == "later"} == {(), ("double",)}


def test_what_is_wrong_with_right_earlier_answers_too_loses_its_points() -> None:
    verdict = judge(LATER, after_mistake(right_with_help=False))
    assert verdict.points == 0 and HELPED not in verdict.messages


WITH_OURS = "Correct with our own `double` in place of yours; no points lost."


def test_an_earlier_answer_that_lost_nothing_is_replaced_too() -> None:
    """What it gives may be of a kind that its own exercise does not mind."""
    session = after_mistake(right_with_help=True)
    session.verdicts["double"] = Verdict("double", 4, 4, ())
    assert judge(LATER, session).points == 4
    assert said(session.verdicts["later"]) == [WITH_OURS, WITH_OURS, WITH_OURS, ""]


def test_first_only_wrong_answers_are_replaced_and_then_all() -> None:
    other, last = replace(EXERCISE, name="other", defines="other"), replace(LATER, name="last", uses=(LATER,))
    stand_in = replace(EXERCISE, name="later", defines="later", uses=(EXERCISE, other))
    exercise = replace(last, uses=(stand_in,))

    def right_if(*needed: str) -> Answers:
        def answer(question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
            x, factor = question["x"], 2.0 if set(needed) <= set(stand_ins) else 3.0
            return Reply({"y": factor * x, "x_after": x, "grad_x": np.full(x.shape, factor)})

        verdicts = {e.name: Verdict(e.name, 4, 4, ()) for e in (stand_in, other)}
        return Answers(answer, double=Verdict("double", 3, 4, ()), **verdicts)

    assert judge(exercise, right_if("double")).messages == (HELPED,)  # by way of `later`, which calls it
    all_of_ours = "Correct with our own `later`, `double` and `other` in place of yours; no points lost."
    assert judge(exercise, right_if("double", "other")).messages == (all_of_ours,)
    assert judge(exercise, right_if("no such answer")).points == 0


def test_luck_is_no_excuse() -> None:
    """What is right with help and did not ask for any was right for another reason."""
    session = after_mistake(right_with_help=True)
    session.helps = False
    assert judge(LATER, session).points == 0


def test_a_mistake_with_a_name_is_not_put_down_to_an_earlier_answer_without_one() -> None:
    def answer(question: Question, stand_ins: Mapping[str, StandIn]) -> Reply:
        x, factor = question["x"], 2.0 if stand_ins else 3.0
        return Reply({"y": factor * x, "x_after": x, "grad_x": np.full(x.shape, factor)})

    for misconceptions, points in (((TRIPLED,), 0), ((), 4)):
        session = Answers(answer, double=Verdict("double", 4, 4, ()))
        later = replace(LATER, cases=EXERCISE.cases[:1], misconceptions=misconceptions)
        assert judge(later, session).points == (points and later.points)


def test_an_earlier_answer_without_a_stand_in_is_not_replaced() -> None:
    session = after_mistake(right_with_help=True)
    assert judge(replace(LATER, uses=(replace(EXERCISE, stand_in=None),)), session).points == 0


def test_two_earlier_answers_are_named_together() -> None:
    other = replace(EXERCISE, name="other", defines="other")
    verdict = judge(replace(LATER, uses=(EXERCISE, other)), after_mistake(right_with_help=True))
    assert verdict.messages == ("Correct once `double` and `other` are fixed; no points lost.",)


def test_an_answer_that_is_not_there_is_not_asked_with_help() -> None:
    session = problem(Problem.MISSING, "later")
    assert judge(LATER, session).points == 0
    assert "double" not in session.verdicts
