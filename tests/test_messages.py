"""docs/messages.md shows what students read most often; this test writes it."""

from collections import Counter

import numpy as np
from answers import answers, namespace

from autograded_tests import EXERCISES, LocalSession, judge
from grader.course import ROOT

PAGE = ROOT / "docs" / "messages.md"
HEAD = """# What students read

The twenty sentences that wrong answers meet most often, counted over `tests/wrong_answers/`, with an answer that each belongs to.
A test writes this page.

| times | exercise | for example | sentence |
|---|---|---|---|
"""


def page() -> str:
    counts: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], str] = {}
    for answer in answers("wrong_answers"):
        exercise = EXERCISES[answer.exercise]
        session = LocalSession(namespace(exercise.module, **{answer.exercise: answer.source}))
        np.random.seed(0)  # some answers are random
        for message in dict.fromkeys(case.message for case in judge(exercise, session).cases if case.named):
            counts[(exercise.name, message)] += 1
            example.setdefault((exercise.name, message), answer.title)
    rows = sorted(counts, key=lambda key: (-counts[key], list(EXERCISES).index(key[0]), key[1]))[:20]
    return HEAD + "".join(
        f"| {counts[key]} | `{key[0]}` | {example[key]} | {key[1].replace('|', chr(92) + '|')} |\n" for key in rows
    )


def test_messages_page_is_up_to_date() -> None:
    new = page()
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    PAGE.write_text(new, encoding="utf-8")
    assert new == old, "docs/messages.md was stale; it is written anew now, read and commit it"
