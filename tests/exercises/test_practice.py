"""check() at the keyboard: got and expected, the named mistake, how far one is; and it changes nothing."""

import functools
import logging
import random
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from answers import namespace
from sentences import DIVIDED_BY_D_K

from autograded_tests import exercises_of
from exercises import practice
from exercises.model import Question, Reply
from exercises.practice import NotYet, check
from exercises.show import Difference, drawn
from exercises.tables import pack
from grader.kit import PRACTICE

MODULE = "04_attention"
TABLE = pack([e.on(PRACTICE) for e in exercises_of(MODULE)], ["padding_mask"])
DIVIDED = {"scale_scores": "def _scale_scores(scores, d_k):\n    return scores / d_k\n"}


@pytest.fixture(autouse=True)
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like a kit's."""
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / f"{MODULE}.tables").write_bytes(TABLE)
    monkeypatch.setattr(practice, "HERE", tmp_path / "exercises")
    monkeypatch.setattr(practice, "LEFT", tmp_path / ".skipped")
    monkeypatch.setattr(practice, "VERDICTS", {})
    practice.practice.cache_clear()
    yield tmp_path
    practice.practice.cache_clear()


def notebook(**replaced: str) -> dict[str, Any]:
    names = namespace(MODULE, **replaced)
    names["check"] = check
    return names


def checked(name: str, names: dict[str, Any]) -> str:
    """What stands below a cell that calls check: what was raised, or "" if nothing was."""
    try:
        exec(f"check({name!r})", names)
    except NotYet as error:
        (told,) = error._render_traceback_()
        return told
    return ""


def test_a_wrong_answer_is_shown_beside_the_right_one_and_named() -> None:
    assert checked("scale_scores", notebook(**DIVIDED)).splitlines() == [
        "scale_scores",
        "    values: scores=[[10]], d_k=100",
        "    scaled: got [[0.1]], expected [[1]]",
        f"    {DIVIDED_BY_D_K}",
        "0 of 8 exercises done: 0 of 28 points",
    ]


def test_right_answers_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    names = notebook(**DIVIDED)
    for name in ("causal_mask", "apply_mask", "split_heads", "causal_mask"):
        assert checked(name, names) == ""
    assert capsys.readouterr().out.splitlines() == [
        "1 of 8 exercises done: 1 of 28 points",
        "2 of 8 exercises done: 4 of 28 points",
        "3 of 8 exercises done: 7 of 28 points",
        "3 of 8 exercises done: 7 of 28 points",
    ]
    assert checked("scale_scores", names).endswith("3 of 8 exercises done: 7 of 28 points")
    exec("def _scale_scores(scores, d_k):\n    return scores / d_k**0.5\n", names)
    assert checked("scale_scores", names) == ""
    assert capsys.readouterr().out == "4 of 8 exercises done: 9 of 28 points\n"
    exec(DIVIDED["scale_scores"], names)
    assert checked("scale_scores", names).endswith("3 of 8 exercises done: 7 of 28 points")


def test_no_other_answer_is_called_for_the_progress() -> None:
    names = notebook()
    checked("scale_scores", names)
    names["_scale_scores"] = None
    assert checked("causal_mask", names) == ""
    assert practice.VERDICTS["scale_scores"].points == 2


def test_an_exercise_waits_for_those_that_it_calls(capsys: pytest.CaptureFixture[str]) -> None:
    names = notebook(**DIVIDED)
    for name in ("scaled_dot_product_attention", "multi_head_attention"):
        assert checked(name, names).splitlines() == [
            name,
            "    waits for `_scale_scores`: it is called here, and is not right yet.",
            "0 of 8 exercises done: 0 of 28 points",
        ]
    assert names["_scale_scores"].__code__.co_name == "_scale_scores", "the notebook has its own function back"
    exec("def _scale_scores(scores, d_k):\n    return scores / d_k**0.5\n", names)
    assert checked("multi_head_attention", names) == ""
    assert capsys.readouterr().out == "1 of 8 exercises done: 9 of 28 points\n"


def test_an_answer_that_calls_no_wrong_one_is_judged_by_itself() -> None:
    own = """def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / (Q.shape[-1] ** 0.5)
    if mask is not None:
        scores = _apply_mask(scores, mask)
    weights = Softmax()(scores)
    return weights @ V, weights
"""
    assert checked("scaled_dot_product_attention", notebook(**DIVIDED, scaled_dot_product_attention=own)) == ""


@pytest.mark.parametrize("tables", [True, False])
def test_a_wrong_one_that_calls_none_does_not_wait(kit: Path, tables: bool) -> None:
    """Without tables the earlier answers are judged on the way, which is no call of this one."""
    if not tables:
        (kit / "exercises" / f"{MODULE}.tables").unlink()
    own = "def scaled_dot_product_attention(Q, K, V, mask=None):\n    return V, V\n"
    told = checked("scaled_dot_product_attention", notebook(**DIVIDED, scaled_dot_product_attention=own))
    assert "waits" not in told and "output" in told


def test_a_line_is_no_longer_than_a_page_is_wide() -> None:
    said = checked(
        "split_heads", notebook(split_heads="def _split_heads(x, num_heads):\n    return x.reshape(2, 3, 4, 5)\n")
    )
    assert max(len(line) for line in said.splitlines()) <= 96 and len(said.splitlines()) > 3


def test_what_a_line_of_the_students_raised_is_told_with_it() -> None:
    said = checked(
        "compute_attention_scores",
        notebook(compute_attention_scores="def _compute_attention_scores(Q, K):\n    return Q @ K.T\n"),
    )
    assert "Your line `return Q @ K.T` uses `.T`, which is for two axes only." in " ".join(said.split())


def test_an_answer_that_is_not_there_or_not_written_yet() -> None:
    names = notebook()
    del names["causal_mask"]
    assert "`causal_mask` is not defined" in checked("causal_mask", names)
    names = notebook(causal_mask="def causal_mask(seq_len):\n    raise NotImplementedError()\n")
    assert "Not answered yet." in checked("causal_mask", names)


def test_what_is_left_for_later_is_not_judged(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (kit / ".skipped").write_text("scale_scores\n", encoding="utf-8")
    names = notebook(scale_scores="def _scale_scores(scores, d_k):\n    raise NotImplementedError()\n")
    assert checked("scale_scores", names) == ""
    assert capsys.readouterr().out == "`scale_scores` is left for later. 0 of 8 exercises done: 0 of 28 points\n"
    said = checked("scaled_dot_product_attention", names)
    assert "waits for `_scale_scores` (left for later)" in said


def test_a_check_is_not_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that an answer prints is shown; random numbers go on as they would have."""
    talks = "def causal_mask(seq_len):\n    print('here')\n    np.random.normal()\n    return np.tril(np.ones((seq_len, seq_len)))\n"
    names = notebook(causal_mask=talks)
    np.random.seed(5)  # noqa: NPY002
    before = dict(names)
    assert checked("causal_mask", names) == ""
    drawn = np.random.normal()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    assert drawn == np.random.normal()  # noqa: NPY002
    assert capsys.readouterr().out == "1 of 8 exercises done: 1 of 28 points\n"
    assert {k: v for k, v in names.items() if k != "__builtins__"} == {
        k: v for k, v in before.items() if k != "__builtins__"
    }


def test_an_answer_cannot_ask_for_input() -> None:
    said = checked("causal_mask", notebook(causal_mask="def causal_mask(seq_len):\n    return input()\n"))
    assert "Your line `return input()` raised RuntimeError: input() was called" in " ".join(said.split())


def test_a_name_that_is_no_exercise() -> None:
    for name, said in (
        ("scale_score", "Is it scale_scores?"),
        (["x"], "There are compute_attention_scores, scale_scores"),
    ):
        with pytest.raises(NotYet, match=re.escape(said)):
            check(name)  # type: ignore[arg-type]


def test_without_tables_the_project_is_asked(kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There follow-through is possible: nothing waits."""
    (kit / "exercises" / f"{MODULE}.tables").unlink()
    names = notebook(**DIVIDED)
    assert DIVIDED_BY_D_K in checked("scale_scores", names)
    assert checked("scaled_dot_product_attention", names) == ""
    assert capsys.readouterr().out.startswith(
        "Correct once `_scale_scores` is fixed; no points lost.\n1 of 8 exercises"
    )


def test_with_neither_it_says_so(
    kit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (kit / "exercises" / f"{MODULE}.tables").unlink()
    monkeypatch.setitem(__import__("sys").modules, "autograded_tests", None)
    assert checked("scale_scores", notebook(**DIVIDED)) == ""
    assert capsys.readouterr().out == "Nothing to check with: the course's kit has the numbers.\n"


def test_pictures_show_the_matrices_that_differ() -> None:
    right = np.arange(60.0).reshape(3, 4, 5)
    got = right.copy()
    got[1, 2, 3] += 1
    difference = Difference("values", Question("p", {}, ("y",)), Reply({"y": got}), True, "y", right)
    matrices = difference.matrices()
    assert matrices is not None
    assert matrices[0] == "y[1]" and np.array_equal(matrices[1], got[1]) and np.array_equal(matrices[2], right[1])
    assert str(difference).endswith("y[1, 2, 3]: got 34, expected 33 (1 of 60 differ)")
    for odd in (got[1], np.full((4, 5), np.nan), np.full((4, 5), -1e9), np.zeros((2, 9))):
        assert drawn("y", odd, right[1]).startswith(b"\x89PNG")


# --- what a check survives, and what it leaves as it was ---------------------------------------------------------------

AS_OBJECT = """class Scale:
    def forward(self, scores, d_k):
        return scores / math.sqrt(d_k)

    __call__ = forward


_scale_scores = Scale()
"""
BY_METHOD = """def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = _scale_scores.forward(_compute_attention_scores(Q, K), Q.shape[-1])
    assert isinstance(_scale_scores, Scale)
    weights = Softmax()(scores if mask is None else _apply_mask(scores, mask))
    return weights @ V, weights
"""
BY_OTHER_NAME = BY_METHOD.replace("_scale_scores.forward", "scale").replace(
    "    assert isinstance(_scale_scores, Scale)\n", ""
)


def test_an_earlier_answer_may_be_any_object() -> None:
    names = notebook(scale_scores=AS_OBJECT, scaled_dot_product_attention=BY_METHOD)
    assert checked("scaled_dot_product_attention", names) == ""
    exec(AS_OBJECT.replace("/ math.sqrt(d_k)", "/ d_k"), names)
    assert "waits for `_scale_scores`" in checked("scaled_dot_product_attention", names)


def test_a_wrong_helper_is_waited_for_by_whatever_name_it_is_called() -> None:
    names = notebook(**DIVIDED)
    names["scale"], names["_scale_scores"] = names["_scale_scores"], functools.lru_cache(names["_scale_scores"])
    exec(BY_OTHER_NAME, names)
    assert "waits for `_scale_scores`" in checked("scaled_dot_product_attention", names)


def test_checks_in_threads_judge_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their callers' names are those of this file, where there is no answer."""
    main = namespace(MODULE, **DIVIDED)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(**main))
    vars(sys.modules["__main__"]).update(main)
    said: list[str] = []

    def in_thread() -> None:
        try:
            check("scale_scores")
        except NotYet as error:
            said.append(str(error))

    before = sys.stdout, sys.stderr
    threads = [threading.Thread(target=in_thread) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sys.stdout, sys.stderr) == before
    assert len(said) == 3 and all(DIVIDED_BY_D_K in text for text in said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sys.exit(3)", "`sys.exit(3)` raised SystemExit: 3"),
        ("raise GeneratorExit", "raise GeneratorExit"),
        ("raise KeyboardInterrupt", "was stopped in your line `raise KeyboardInterrupt`"),
        ("check('causal_mask')", "check is called in an answer that is being checked"),
        ("raise ValueError('x' * 10**6)", "xxx..."),
    ],
)
def test_whatever_an_answer_does_it_is_told_in_words(line: str, said: str) -> None:
    answer = f"def causal_mask(seq_len):\n    import sys\n    {line}\n"
    text = " ".join(checked("causal_mask", notebook(causal_mask=answer)).split())
    assert said in text and len(text) < 2000, text


def test_a_check_that_was_stopped_leaves_no_old_verdict() -> None:
    names = notebook()
    assert checked("causal_mask", names) == ""
    exec("def causal_mask(seq_len):\n    raise KeyboardInterrupt\n", names)
    assert checked("causal_mask", names).endswith("0 of 8 exercises done: 0 of 28 points")


def test_settings_are_afterwards_as_they_were() -> None:
    answer = """def causal_mask(seq_len):
    import logging, os, random
    random.random(), os.chdir("/"), np.set_printoptions(precision=1), logging.warning("careful")
    return np.tril(np.ones((seq_len, seq_len)))
"""

    def settings() -> tuple[object, ...]:
        return Path.cwd(), np.get_printoptions(), logging.root.handlers[:], sys.getprofile(), random.getstate()

    before = settings()
    assert checked("causal_mask", notebook(causal_mask=answer)) == ""
    assert settings() == before


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_list_of_what_is_left_is_read_as_editors_write_it(encoding: str, kit: Path) -> None:
    (kit / ".skipped").write_bytes("causal_mask\r\n".encode(encoding))
    names = notebook(causal_mask="def causal_mask(seq_len):\n    raise NotImplementedError\n")
    assert checked("causal_mask", names) == ""


@pytest.mark.parametrize("damage", [b"", b"{", TABLE[:-6], TABLE.replace(b"\n", b"\r\n")])
def test_a_damaged_table_is_told_in_a_sentence(damage: bytes, kit: Path) -> None:
    (kit / "exercises" / f"{MODULE}.tables").write_bytes(damage)
    assert f"{MODULE}.tables is damaged. Unpack the kit again" in checked("causal_mask", notebook())


def test_what_other_systems_leave_beside_a_table_is_no_table(kit: Path) -> None:
    (kit / "exercises" / f"._{MODULE}.tables").write_bytes(b"\0\5\x16\7")
    (kit / "exercises" / "old.tables").mkdir()
    assert checked("causal_mask", notebook()) == ""


def test_an_axis_without_length_is_told_and_not_drawn() -> None:
    for shape in ((0, 5), (5, 0), (300, 5)):
        reply = Reply({"y": np.zeros(shape)})
        difference = Difference("v", Question("p", {}, ("y",)), reply, True, "y", np.ones((5, 5)))
        assert difference.matrices() is None and f"got shape {shape}" in str(difference)
