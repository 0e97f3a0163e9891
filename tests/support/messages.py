"""Write docs/messages.md, which shows what students read most often: python tests/support/messages.py"""

from collections import Counter

from verdicts import wrong_verdicts

from autograded_tests import EXERCISES
from grader.course import ROOT

PAGE = ROOT / "docs" / "messages.md"
HEAD = """# What students read

The twenty sentences that wrong answers meet most often, counted over `tests/wrong_answers/`, with an answer that each belongs to.
`python tests/support/messages.py` writes this page, and a test compares it.

| times | exercise | for example | sentence |
|---|---|---|---|
"""


def page() -> str:
    counts: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], str] = {}
    for answer, verdicts in wrong_verdicts().items():
        verdict = verdicts[answer.exercise]
        for message in dict.fromkeys(case.message for case in verdict.cases if case.named):
            counts[(answer.exercise, message)] += 1
            example.setdefault((answer.exercise, message), answer.title)
    rows = sorted(counts, key=lambda key: (-counts[key], list(EXERCISES).index(key[0]), key[1]))[:20]
    return HEAD + "".join(
        f"| {counts[key]} | `{key[0]}` | {example[key]} | {key[1].replace('|', chr(92) + '|')} |\n" for key in rows
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
