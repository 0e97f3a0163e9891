"""Write what students read: docs/messages.md, and tests/said/ with all of it: python tests/support/messages.py"""

from collections import Counter
from pathlib import Path

from verdicts import wrong_verdicts

from autograded_tests import EXERCISES
from exercises.model import Verdict
from grader.course import ROOT

PAGE = ROOT / "docs" / "messages.md"
SAID = ROOT / "tests" / "said"  # a file per exercise: each wrong answer, and each sentence that it gets
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


def said() -> dict[Path, str]:
    """For each exercise a page to read: whoever changes a sentence, or who gets it, sees here of which answers it must be true."""
    pages = dict.fromkeys(EXERCISES, "")
    for answer, verdicts in wrong_verdicts().items():
        pages[answer.exercise] += f"# --- {answer.title}\n{_of(verdicts[answer.exercise])}"
    return {SAID / f"{name}.txt": page for name, page in pages.items()}


def _of(verdict: Verdict) -> str:
    """Each sentence once, with the cases that it is said of."""
    cases: dict[str, list[str]] = {}
    for case in verdict.cases:
        if case.points < case.max:
            mark = "" if case.named else "(follows) " if case.follows else "(not named) "
            cases.setdefault(mark + case.message, []).append(case.name)
    return "".join(f"{sentence}\n    {', '.join(names)}\n" for sentence, names in cases.items())


if __name__ == "__main__":
    SAID.mkdir(exist_ok=True)
    for path in set(SAID.iterdir()) - set(said()):
        path.unlink()
    for path, text in {PAGE: page(), **said()}.items():
        path.write_text(text, encoding="utf-8")
