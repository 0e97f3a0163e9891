"""A table judges as the exercises do: the same points and the same sentences, from the same bytes on every machine."""

import hashlib
import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from answers import Answer, answers, namespace
from verdicts import verdicts_on

from autograded_tests import EXERCISES, exercises_of
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Verdict
from exercises.tables import pack, unpack
from grader.course import modules
from grader.kit import PRACTICE

MODULES = [m for m in modules() if exercises_of(m)]
WRONG, RIGHT = answers("wrong_answers"), answers("right_answers")


@cache
def table(module: str) -> bytes:
    return pack([e.on(PRACTICE) for e in exercises_of(module)], ["given"])


def practised(answer: Answer) -> Verdict:
    """What the table says of one answer, the others being right."""
    module = EXERCISES[answer.exercise].module
    np.random.seed(0)  # noqa: NPY002  (some answers draw from it)
    session = LocalSession(namespace(module, **{answer.exercise: answer.source}))
    return judge(_unpacked(module)[answer.exercise], session)


@cache
def _unpacked(module: str) -> dict:
    return dict(unpack(table(module)).exercises)


@pytest.mark.parametrize("module", MODULES)
def test_a_table_says_of_an_exercise_what_it_says_itself(module: str) -> None:
    practice = unpack(table(module))
    assert practice.given == {"given"} and list(practice.exercises) == [e.name for e in exercises_of(module)]
    for name, exercise in practice.exercises.items():
        original = EXERCISES[name]
        assert (exercise.module, exercise.defines, exercise.points) == (module, original.defines, original.points)
        assert [(c.name, c.points, c.needs_another) for c in exercise.cases] == [
            (c.name, c.points, c.needs_another) for c in original.cases
        ]
        assert [m.sentence for m in exercise.misconceptions] == [m.sentence for m in original.misconceptions]
        assert [u.name for u in exercise.uses] == [u.name for u in original.uses if u.module == module]
        assert exercise.stand_in is None


@pytest.mark.parametrize("module", MODULES)
def test_a_table_is_small(module: str) -> None:
    assert len(table(module)) < 500_000


@pytest.mark.slow
def test_nine_in_ten_wrong_answers_get_the_sentences_of_the_hidden_tests() -> None:
    """All that name a mistake, in their order; and none is right."""
    others = []
    for answer in WRONG:
        full, here = verdicts_on(answer)[answer.exercise], practised(answer)
        assert here.points < here.max, f"{answer}: right in practice"
        if _named(here) != _named(full):
            others.append(str(answer))
    assert len(others) <= 0.1 * len(WRONG), others


def _named(verdict: Verdict) -> list[str]:
    return list(dict.fromkeys(c.message for c in verdict.cases if c.named))


@pytest.mark.long
def test_a_right_answer_gets_no_sentence() -> None:
    for answer in RIGHT:
        verdict = practised(answer)
        assert verdict.points == verdict.max and not verdict.messages, f"{answer}\n{verdict}"


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"},
        {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"},
    ],
    ids=lambda s: s["OPENBLAS_CORETYPE"],
)
def test_a_table_has_the_same_bytes_on_every_processor(settings: dict[str, str]) -> None:
    """Other kernels of the BLAS and of NumPy sum in another order."""
    code = (
        "import hashlib, json; from autograded_tests import exercises_of; from exercises.tables import pack;"
        "from grader.kit import PRACTICE;"
        f"print(json.dumps([hashlib.sha256(pack([e.on(PRACTICE) for e in exercises_of(m)], ['given'])).hexdigest()"
        f" for m in {MODULES!r}]))"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout) == [hashlib.sha256(table(m)).hexdigest() for m in MODULES]


@pytest.mark.parametrize(
    "damaged", [b"", b"{", b"[]\n", b"{}\n", table(MODULES[0])[:-4], table(MODULES[0]).replace(b'"cases"', b'"cassis"')]
)
def test_a_damaged_table_is_told(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(damaged)
