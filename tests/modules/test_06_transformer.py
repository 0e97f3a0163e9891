"""06 from the archive to the grade and the kit, where it differs from the other modules."""

import re
from typing import Any

import numpy as np
import pytest
from answers import Answer, Everything, answers, namespace, submission
from kits import make, unpacked_kit
from limits import QUICK
from secret import hidden_lines
from sentences import once_right

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from grader.course import ROOT, load_assignment
from grader.grade import grade_notebook
from grader.sandbox.check_jail import open_jail
from tinytorch.core.tensor import no_grad
from tinytorch.core.transformer import LanguageModel, sample, train

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


EARLIER = ("causal_mask", "multi_head_attention", "kv_cache", "cached_attention")
WRONG = [answer for answer in answers("wrong_answers") if answer.exercise in EARLIER]


def of_04_and_05(answer: Answer) -> dict[str, Any]:
    """What a notebook of 06 defines in which somebody has put a wrong answer of their own to 04 or 05."""
    earlier = EXERCISES[answer.exercise]
    own = namespace(earlier.module, **{answer.exercise: answer.source})
    return namespace(MODULE) | {earlier.defines: own[earlier.defines]}


@pytest.mark.parametrize(
    "answer", [pytest.param(a, id=str(a), marks=[pytest.mark.long] * (n % 40 > 0)) for n, a in enumerate(WRONG)]
)
def test_a_wrong_answer_to_04_or_05_costs_nothing_in_06(answer):
    session = LocalSession(of_04_and_05(answer))
    for exercise in load_assignment(MODULE).exercises:
        verdict = judge(exercise, session)
        assert verdict.points == verdict.max, f"\n{verdict}"
        assert set(verdict.messages) <= {once_right(EXERCISES[answer.exercise].defines)}


@pytest.mark.long
def test_what_is_wrong_in_06_is_not_blamed_on_right_answers_to_04_and_05():
    for answer in answers("wrong_answers"):
        if EXERCISES[answer.exercise].module == MODULE:
            session = LocalSession(namespace(MODULE, **{answer.exercise: answer.source}))
            verdict = judge(EXERCISES[answer.exercise], session)
            assert not [m for m in verdict.messages if "no points lost" in m], f"{answer}\n{verdict}"


@pytest.mark.jail
def test_so_it_is_in_the_jail_and_no_other_module_gives_points():
    """A wrong answer to 05 in the answer cell itself, above a right one and above a wrong one."""
    (wrong, *_) = (a.source for a in WRONG if a.exercise == "cached_attention")
    missing = "_split_heads, _merge_heads, scaled_dot_product_attention"
    own = f"from tinytorch.core.attention import {missing}\n\n{wrong}\n\n"
    blocks = {str(a): a.source for folder in ("right_answers", "wrong_answers") for a in answers(folder)}
    assignment, jail = load_assignment(MODULE), open_jail(MODULE, QUICK)
    try:
        right = own + blocks["transformer_block: two functions in a loop"]
        graded = grade_notebook(submission({"transformer_block": right}, module=MODULE), assignment, jail)
        assert list(graded.verdicts) == [e.name for e in assignment.exercises]
        assert graded.score == assignment.max_score
        assert graded.messages == {"transformer_block": (once_right("cached_attention"),)}
        no_norm = own + blocks["transformer_block: no norm"]
        graded = grade_notebook(submission({"transformer_block": no_norm}, module=MODULE), assignment, jail)
        assert graded.scores["transformer_block"] == 0 and graded.score == assignment.max_score - 4
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


@pytest.mark.slow
def test_it_learns_from_the_book_and_writes_recognisable_words():
    """As the notebook trains it: far from equal shares, and most of its words occur in the book."""
    text = TEXT.read_text(encoding="ascii")
    symbols = sorted(set(text))
    book = np.array([symbols.index(s) for s in text])
    rest = book[len(book) * 19 // 20 :][:6500].reshape(100, 65)
    np.random.seed(0)
    model = LanguageModel(len(symbols), length=64, embed_dim=64, num_heads=4, num_layers=2)
    for _ in train(model, book[: len(book) * 19 // 20], steps=1000):
        pass
    with no_grad():
        assert model.loss(rest).item() < 1.75 < np.log(len(symbols)) / 2
    prompt = [symbols.index(s) for s in "Alice "]
    lines = ["".join(symbols[code] for code in sample(model, prompt, 58, temperature=0.6)) for _ in range(12)]
    words = [word for line in lines for word in re.findall("[A-Za-z]+", line)[1:-1]]
    known = set(re.findall("[A-Za-z]+", text))
    assert len(words) > 80 and np.mean([word in known for word in words]) > 0.75, lines


def test_the_text_is_small_and_clean():
    data = TEXT.read_bytes()
    text = data.decode("ascii")
    assert len(data) < 200_000 and text.startswith("CHAPTER I. Down the Rabbit-Hole\nAlice was beginning")
    assert text.endswith(".\n") and not re.search(r"  |\n\n|\r|\t|`", text)
    assert len(set(text)) == 68
