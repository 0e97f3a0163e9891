"""What students see of a test lets every right answer pass, and hardly a wrong one, also without the judge's sentence."""

import re
import warnings

import numpy as np
import pytest
from answers import Answer, answers, namespace
from secret import HIDDEN, cells, source

from autograded_tests import EXERCISES
from grader.course import module_notebook, modules

WRONG, RIGHT = answers("wrong_answers"), answers("right_answers")
CHECK = re.compile(r"^check\(.*\)\n", re.MULTILINE)  # the judge, in the student's own kernel
GRADED = [module for module in modules() if any(e.module == module for e in EXERCISES.values())]


def visible_test(exercise: str, without: re.Pattern[str] | None = None) -> str:
    """The part of an exercise's test cell that students get."""
    found = {
        cell["metadata"].get("nbgrader", {}).get("grade_id"): source(cell)
        for cell in cells(module_notebook(EXERCISES[exercise].module))
    }
    test = HIDDEN.sub("", found[f"test_{exercise}"])
    return without.sub("", test) if without else test


def run(answer: Answer, test: str) -> None:
    """Run a test as in a student's kernel, where all other answers are right."""
    np.random.seed(0)  # noqa: NPY002  (some answers draw from it)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(test, namespace(EXERCISES[answer.exercise].module, **{answer.exercise: answer.source}))


def passes(answer: Answer) -> bool:
    try:
        run(answer, visible_test(answer.exercise, without=CHECK))
    except Exception:  # noqa: BLE001  (whatever a wrong answer raises, the student sees it)
        return False
    return True


@pytest.mark.parametrize("answer", [pytest.param(a, id=str(a)) for a in RIGHT])
def test_right_answer_passes_what_is_visible(answer: Answer) -> None:
    run(answer, visible_test(answer.exercise))


@pytest.mark.long
@pytest.mark.parametrize("module", GRADED)
def test_hardly_a_wrong_answer_passes_what_is_visible(module: str) -> None:
    """One in twenty at most: what is left needs sizes and values that no student wants to read in a test."""
    wrong = [answer for answer in WRONG if EXERCISES[answer.exercise].module == module]
    passed = [str(answer) for answer in wrong if passes(answer)]
    assert len(passed) <= len(wrong) / 20, f"{len(passed)} of {len(wrong)}:\n" + "\n".join(passed)
