"""06 from the archive to the grade and the kit, where it differs from the other modules."""

import re

import pytest
from answers import Everything, answers, namespace, submission
from kits import make, unpacked_kit
from limits import QUICK
from secret import hidden_lines

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from grader.course import ROOT, load_assignment
from grader.grade import grade_notebook
from grader.sandbox.check_jail import open_jail

MODULE = "06_transformer"
TEXT = ROOT / "solutions" / MODULE / "alice.txt"


def test_there_is_something_to_hide():
    assert len(hidden_lines(MODULE)) > 20


@pytest.mark.jail
def test_it_is_graded_like_the_others():
    """Right, blank, and some wrong answers at a time: in the jail as outside."""
    wrong: dict[str, list[str]] = {}
    for answer in answers("wrong_answers"):
        if EXERCISES[answer.exercise].module == MODULE:
            wrong.setdefault(answer.exercise, []).append(answer.source)
    kinds = [{name: sources[n % len(sources)] for name, sources in wrong.items()} for n in range(0, 30, 7)]
    assignment, jail = load_assignment(MODULE), open_jail(MODULE, QUICK)
    try:
        for changed in [*kinds, {"layer_norm": wrong["layer_norm"][0]}, {}]:
            graded = grade_notebook(submission(changed, module=MODULE), assignment, jail)
            local = LocalSession(namespace(MODULE, **changed))
            assert graded.verdicts == {e.name: judge(e, local) for e in assignment.exercises}
            assert [name for name, v in graded.verdicts.items() if v.points < v.max] == [
                name for name in graded.verdicts if name in changed
            ]
        assert graded.score == assignment.max_score
        blank = grade_notebook(submission(blank=Everything(), module=MODULE), assignment, jail)
        assert blank.score == 0
    finally:
        jail.close()


@pytest.mark.slow
def test_its_kit_is_checked_and_makes_a_library(tmp_path):
    kit = unpacked_kit(MODULE, tmp_path)
    (kit / "transformer.ipynb").write_bytes(submission(module=MODULE))
    assert "\n5 of 5 exercises pass their visible tests: " in make(kit, "check").stdout
    exported = make(kit, "export")
    assert exported.returncode == 0, exported.stderr
    assert (kit / "tinytorch" / "core" / "transformer.py").is_file()


def test_the_text_is_small_and_clean():
    data = TEXT.read_bytes()
    text = data.decode("ascii")
    assert len(data) < 200_000 and text.startswith("CHAPTER I. Down the Rabbit-Hole\nAlice was beginning")
    assert text.endswith(".\n") and not re.search(r"  |\n\n|\r|\t|`", text)
    assert len(set(text)) == 68
