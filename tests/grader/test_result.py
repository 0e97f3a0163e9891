"""One row of the results table, field by field."""

from dataclasses import replace

import pytest
from small import KNOWN, SMALL, graded, unreadable, verdict

from exercises.model import CaseResult, Verdict
from grader.result import Result, Status, verdict_from_data, verdict_to_data

ONE, TWO = SMALL.exercises


def test_a_row_has_these_fields_in_this_order() -> None:
    result = replace(
        graded("ada", 0, 2),
        verdicts={"first": verdict(ONE, 0, message=KNOWN), "second": verdict(TWO, 1, 0.5, message="Raised.")},
        repairs=("a repair", "another"),
        seconds=1.23456,
        unchanged=True,
    )
    assert result.to_json() == (
        '{"student": "ada", "module": "07_small", "status": "graded", "score": 1.5, "max_score": 5, '
        '"scores": {"first": 0, "second": 1.5}, "repairs": ["a repair", "another"], '
        '"messages": {"first": ["A mistake with a name."], "second": ["Raised."]}, "seconds": 1.235, "unchanged": true}'
    )


def test_a_row_without_a_grade_says_why() -> None:
    assert list(unreadable("ben").to_row().items()) == [
        ("student", "ben"),
        ("module", "07_small"),
        ("status", "unreadable"),
        ("score", 0),
        ("max_score", 5),
        ("scores", {}),
        ("repairs", ()),
        ("messages", {}),
        ("seconds", 0.0),
        ("reason", "the file is empty"),
    ]


def test_words_for_a_status() -> None:
    assert [str(s) for s in Status] == ["graded", "missing", "unreadable", "failed", "not graded"]


CASES = (
    CaseResult("a", 0, 1, "It follows.", follows=True),
    CaseResult("b", 1, 1),
    CaseResult("c", 0, 1, "Named.", named=True),
    CaseResult("d", 0, 1, "Raised."),
    CaseResult("e", 0, 1, "Named.", named=True),
    CaseResult("f", 0, 1, "Also named.", named=True),
)


def test_causes_are_said_before_what_follows_and_each_once() -> None:
    result = Result("ada", "07_small", Status.GRADED, 6, verdicts={"first": Verdict("first", 1, 6, CASES)})
    assert result.messages == {"first": ("Named.", "Raised.", "Also named.", "It follows.")}
    assert result.named == {"first": ("Named.", "Also named.")}


def test_nothing_to_say_is_no_entry() -> None:
    result = replace(
        graded("ada"), verdicts={"first": verdict(ONE, 2), "second": verdict(TWO, 1, 1, message="Raised.")}
    )
    result = replace(
        result, verdicts={**result.verdicts, "second": Verdict("second", 2, 3, (CaseResult("a", 0, 1, "R"),))}
    )
    assert result.messages == {"second": ("R",)} and result.named == {}


def test_a_verdict_as_data_and_back() -> None:
    data = verdict_to_data(Verdict("first", 1.5, 2, (CaseResult("a", 1.5, 2, "Named.", True, True),)))
    case = {"name": "a", "points": 1.5, "max": 2, "message": "Named.", "named": True, "follows": True}
    assert data == {"exercise": "first", "points": 1.5, "max": 2, "cases": (case,)}
    assert verdict_from_data(data, ()) == Verdict("first", 1.5, 2, (CaseResult("a", 1.5, 2, "Named.", True, True),))


def test_a_verdict_of_version_0_1_0() -> None:
    """It did not say which messages are names, and had fields that are gone."""
    cases = [{"name": n, "points": 0, "max": 1, "message": m, "helped": False} for n, m in (("a", KNOWN), ("b", "No."))]
    read = verdict_from_data({"exercise": "first", "points": 0, "max": 2, "cases": cases}, {KNOWN})
    assert read.cases == (CaseResult("a", 0, 1, KNOWN, named=True), CaseResult("b", 0, 1, "No.", named=False))


@pytest.mark.parametrize("data", [{}, {"exercise": "first", "points": 0, "max": 2, "cases": [{"name": "a"}]}])
def test_what_is_no_verdict(data: dict) -> None:
    with pytest.raises((KeyError, TypeError)):
        verdict_from_data(data, ())
