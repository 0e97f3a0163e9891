"""05 from the archive to the gradebook and the kit, where it differs from the other modules."""

import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from answers import Everything, answers, namespace, submission
from classes import grade, rows_of
from kinds.base import changed as with_cells
from kits import make, unpacked_kit
from limits import QUICK
from secret import hidden_lines
from sentences import once_right

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from exercises.model import Question, Reply
from exercises.problem import Problem
from exercises.signs.shapes import raised_as
from grader.classroom import Classroom
from grader.course import ROOT, load_assignment
from grader.grade import grade_notebook
from grader.platforms.collect import collect
from grader.sandbox.check_jail import open_jail
from tinytorch.core.efficient_attention import KVCache

MODULE = "05_efficient_attention"


def test_there_is_something_to_hide():
    assert len(hidden_lines(MODULE)) > 30


@pytest.mark.jail
def test_it_is_graded_like_the_others():
    """Right, blank, and eight wrong answers at a time: in the jail as outside, references in place of earlier answers included."""
    wrong: dict[str, list[str]] = {}
    for answer in answers("wrong_answers"):
        if EXERCISES[answer.exercise].module == MODULE:
            wrong.setdefault(answer.exercise, []).append(answer.source)
    kinds = [{name: sources[n % len(sources)] for name, sources in wrong.items()} for n in range(0, 24, 3)]
    kinds += [{"kv_cache": wrong["kv_cache"][0]}, {"online_softmax": wrong["online_softmax"][0]}, {}]
    assignment, jail = load_assignment(MODULE), open_jail(MODULE, QUICK)
    helped = once_right("KVCache"), once_right("_online_softmax")
    try:
        for changed in kinds:
            graded = grade_notebook(submission(changed, module=MODULE), assignment, jail)
            local = LocalSession(namespace(MODULE, **changed))
            assert graded.verdicts == {e.name: judge(e, local) for e in assignment.exercises}
            lost = [name for name, v in graded.verdicts.items() if v.points < v.max]
            assert lost == [name for name in graded.verdicts if name in changed]
            if len(changed) == 1:
                assert any(m in helped for v in graded.verdicts.values() for m in v.messages)
        assert graded.score == sum(v.max for v in graded.verdicts.values()) == assignment.max_score
        blank = grade_notebook(submission(blank=Everything(), module=MODULE), assignment, jail)
        assert blank.score == 0
    finally:
        jail.close()


@pytest.mark.jail
def test_answers_of_version_0_1_0_keep_their_points(tmp_path):
    """They call what was given then, `_check_groups(Q, K, V)` for one."""
    with zipfile.ZipFile(ROOT / "tests" / "data" / "classroom-0.1.0.zip") as archive:
        archive.extractall(tmp_path)
    before, *_ = rows_of(tmp_path / "gradebook.db")
    status, rows, errors = grade(tmp_path, module=MODULE)
    assert status == 0, errors
    by_student = {row["student"]: row for row in rows if row["status"] == "graded"}
    assert {student: row["score"] for student, row in by_student.items()} == {"ada": 32, "chloe": 30}
    assert by_student["chloe"]["scores"]["sliding_window_mask"] == 0
    after, *_ = rows_of(tmp_path / "gradebook.db")
    ours = {c["metadata"]["nbgrader"]["grade_id"] for c in load_assignment(MODULE).cells if "nbgrader" in c["metadata"]}
    assert [row for row in after if row[1] not in ours] == [row for row in before if row[1] not in ours]
    grades = {(student, cell): scores for student, cell, *scores in after}
    assert grades["ada", "question_cache"][:3] == [None, 3, None]
    assert (
        sum(scores[0] or 0 for (student, cell), scores in grades.items() if student == "chloe" and cell in ours) == 30
    )


@pytest.mark.parametrize(
    "name",
    [
        "ada_efficient_attention.ipynb",
        "ada/05_efficient_attention/efficient_attention.ipynb",
        "ada_12_assignsubmission_file_/efficient_attention.ipynb",
        "ada_LATE_12_34_efficient_attention-2.ipynb",
        "ada_attempt_2026-03-01-12-00-00_efficient_attention.ipynb",
    ],
)
def test_the_name_of_its_notebook_ends_like_another(tmp_path, name):
    data, file = submission(module=MODULE), tmp_path / "archive" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    (taken,) = collect(MODULE, tmp_path / "archive", Classroom(tmp_path / "class")).lines
    assert taken.student.split("_")[0] == "ada" and not taken.reason
    (path,) = (tmp_path / "class" / "submitted").glob(f"ada*/{MODULE}/efficient_attention.ipynb")
    assert path.read_bytes() == data


@pytest.mark.slow
def test_its_kit_writes_with_a_cache(tmp_path):
    kit = unpacked_kit(MODULE, tmp_path)
    (kit / "efficient_attention.ipynb").write_bytes(submission(module=MODULE))
    assert "\n8 of 8 exercises pass their visible tests: " in make(kit, "check").stdout
    exported = make(kit, "export")
    assert exported.returncode == 0, exported.stderr
    assert re.search(r"400 letters, (100|9\d)% of them right", exported.stdout)
    assert sorted(p.name for p in (kit / "examples").glob("*.py")) == ["generate.py", "training.py"]


def test_pieces_that_a_cache_cannot_join_are_known_by_the_error():
    cache = KVCache()
    cache.append(np.ones((1, 2, 3)), np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match=r"\(2, 2, 3\)") as caught:
        cache.append(np.ones((2, 2, 3)), np.ones((2, 2, 3)))
    reply = Reply(problem=Problem.RAISED, text=f"ValueError: {caught.value}")
    assert raised_as("cannot be joined")(Question("", {}, ()), reply, {})


def test_the_sentence_about_speed_is_what_was_measured():
    """README repeats docs/performance.md, which the benchmark writes, processor and versions included."""
    page = ROOT / "docs" / "performance.md"
    code = f"import library; print(library.sentence(open({str(page)!r}, encoding='utf-8').read()))"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True).stdout.strip()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- speed -->\n\n{said}\n\n<!-- end of speed -->" in readme
    versions = r"; Python [\d.]+, NumPy [\d.]+ with OpenBLAS \w+, PyTorch \S+ with"
    assert re.search(versions, page.read_text(encoding="utf-8"))


# --- honest work ------------------------------------------------------------------------------------------------------


WIDER_MASK = """def causal_mask(seq_len, keys=None):
    keys = seq_len if keys is None else keys
    return np.tril(np.ones((seq_len, keys)), keys - seq_len)
"""
CACHED = """def cached_attention(layer, x, cache):
    Q, K, V = (_split_heads(p(x), layer.num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    K, V = cache.append(K, V)
    output, layer.attention_weights = scaled_dot_product_attention(Q, K, V, causal_mask(x.shape[1], K.shape[-2]))
    return layer.out_proj(_merge_heads(output))
"""
ONE_BY_ONE = """def _online_softmax(largest, total, output, scores, V):
    top = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    e, before = np.exp(scores - top), np.exp(largest - top)
    yield from (top, before * total + e.sum(axis=-1, keepdims=True), before * output + e @ V)
"""
BY_PLACE = """def by_place(function):
    def call(*arguments):
        return function(*arguments)
    return call

@by_place
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) & (distance < window)).astype(np.float32)
"""
HONEST: dict[str, tuple[bytes, float]] = {
    "a given name made wider": (
        with_cells({"cached_attention": CACHED}, ("kv_cache", WIDER_MASK), module=MODULE), 32),
    "a cache that is not there": (with_cells({"kv_cache": "class KvCache:\n    pass"}, module=MODULE), 29),
    "results one after another": (with_cells({"online_softmax": ONE_BY_ONE}, module=MODULE), 32),
    "arguments by their places": (with_cells({"sliding_window_mask": BY_PLACE}, module=MODULE), 32),
    "memory looked at before": (
        with_cells({}, ("imports", "import tracemalloc\ntracemalloc.start()\nlarge = np.ones(10**6)"), module=MODULE), 32),
}  # fmt: skip


@pytest.mark.jail
@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST)
def test_honest_work_keeps_its_points(kind: str) -> None:
    data, score = HONEST[kind]
    jail = open_jail(MODULE, QUICK)
    found = grade_notebook(data, load_assignment(MODULE), jail)
    jail.close()
    assert found.score == score, found.verdicts
