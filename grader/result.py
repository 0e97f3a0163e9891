"""The one shape of a result, from the judge to the page."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from exercises.model import CaseResult, Verdict

VERDICT_TYPE = "application/vnd.tinytorch.verdict+json"


class Status(StrEnum):
    """What came of a submission. NOT_GRADED is for pages: it was handed in, and nobody has graded it yet."""

    GRADED = "graded"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    NOT_GRADED = "not graded"


@dataclass(frozen=True)
class Result:
    """What came of one submission. Points are those given automatically.

    verdicts  by exercise; empty unless graded
    blank     answers and written answers that were left as they were
    notebook  what nbgrader keeps, with outputs of ours; None unless graded
    late      why nobody knows how late it was, as a sentence; "" if that is known
    answers   a digest of each answer, by cell: of a result that is read back, and of none else
    recorded_again  one of the two stores had lost it, or had something else
    starved   something was stopped since it got no processor: graded once more alone, it may bring more
    """

    student: str
    module: str
    status: Status
    max_score: float
    reason: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    seconds: float = 0.0
    notebook: dict[str, Any] | None = None
    unchanged: bool = False
    late: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    recorded_again: bool = False
    starved: bool = False

    @property
    def score(self) -> float:
        return sum(v.points for v in self.verdicts.values())

    @property
    def scores(self) -> dict[str, float]:
        """Points by exercise."""
        return {name: v.points for name, v in self.verdicts.items()}

    @property
    def messages(self) -> dict[str, tuple[str, ...]]:
        """What the student reads, by exercise."""
        return {name: v.messages for name, v in self.verdicts.items() if v.messages}

    @property
    def named(self) -> dict[str, tuple[str, ...]]:
        """The mistakes whose names are known, by exercise, each sentence once."""
        found = {n: tuple(dict.fromkeys(c.message for c in v.cases if c.named)) for n, v in self.verdicts.items()}
        return {name: sentences for name, sentences in found.items() if sentences}

    def to_row(self) -> dict[str, Any]:
        """The fields that programs read; `reason` and those below it only where there is something to say."""
        row: dict[str, Any] = {
            "student": self.student,
            "module": self.module,
            "status": self.status,
            "score": self.score,
            "max_score": self.max_score,
            "scores": self.scores,
            "repairs": self.repairs,
            "messages": self.messages,
            "seconds": round(self.seconds, 3),
        }
        if self.reason:
            row["reason"] = self.reason
        if self.late:
            row["late"] = self.late
        if self.unchanged:
            row["unchanged"] = True
        if self.recorded_again:
            row["recorded_again"] = True
        return row

    def to_json(self) -> str:
        return json.dumps(self.to_row())


def verdict_to_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a test cell's output holds it, under VERDICT_TYPE."""
    return asdict(verdict)


def verdict_from_data(data: Mapping[str, Any], sentences: Collection[str]) -> Verdict:
    """The verdict again. Version 0.1.0 did not keep `named`: there a message is named if it is one of these sentences.

    Raises KeyError, TypeError or ValueError if it is none.
    """
    known = [f.name for f in fields(CaseResult)]
    cases = [{name: case[name] for name in known if name in case} for case in data["cases"]]
    results = tuple(CaseResult(**{"named": case["message"] in sentences} | case) for case in cases)
    return Verdict(str(data["exercise"]), data["points"], data["max"], results)
