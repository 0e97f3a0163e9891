"""The same answer is told the same words at the keyboard, by the kit's command, by `try`, on the page and in the formgrader."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from answers import namespace, submission
from classes import ENVIRONMENT, MODULE, grade, hand_in
from kits import unpacked_kit

from autograded_tests import EXERCISES
from exercises.judge import judge
from exercises.local import LocalSession
from grader.classroom import Classroom
from grader.cli import main
from grader.pages.feedback import write_feedback

WRONG = {
    "compute_attention_scores": "def _compute_attention_scores(Q, K):\n    return Q.data @ K.data.swapaxes(-1, -2)\n",
    "scale_scores": "def _scale_scores(scores, d_k):\n    return scores / d_k\n",
    "causal_mask": "def causal_mask(seq_len):\n    return np.triu(np.ones((seq_len, seq_len)))\n",
    "apply_mask": "def _apply_mask(scores, mask):\n    return scores.filled_where(mask)\n",
    "split_heads": "def _split_heads(x, num_heads):\n    B, L, E = x.shape\n    return x.reshape(B, num_heads, L, E // num_heads)\n",
    "merge_heads": "def _merge_heads(x):\n    pass\n",
}


def words(text: str) -> str:
    """Without markup, colours, and where lines break."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"\x1b\[[0-9;]*m|<[^>]+>", "", text)))


@pytest.mark.jail
@pytest.mark.slow
@pytest.mark.usefixtures("jail")
def test_the_same_answer_is_told_the_same_words_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = submission(WRONG)
    names = namespace(MODULE, **WRONG)
    sentences = [
        case.message
        for name in WRONG
        for case in judge(EXERCISES[name], LocalSession(names)).cases
        if case.message and not case.follows
    ]
    assert len(set(sentences)) >= len(WRONG)

    hand_in(tmp_path / "class", "sam", data)
    assert grade(tmp_path / "class")[0] == 0
    write_feedback(MODULE, Classroom(tmp_path / "class"))
    (page,) = (tmp_path / "class" / "feedback" / "sam" / MODULE).glob("*.html")
    kept = json.loads((tmp_path / "class" / "autograded" / "sam" / MODULE / "attention.ipynb").read_text("utf-8"))
    outputs = [o for cell in kept["cells"] if cell["cell_type"] == "code" for o in cell["outputs"]]
    shown = [text for o in outputs for text in (o.get("text", ""), *o.get("data", {}).values())]

    kit = unpacked_kit(MODULE, tmp_path)
    (kit / "attention.ipynb").write_bytes(data)
    command = [sys.executable, "course.py", "check"]
    checked = subprocess.run(command, cwd=kit, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    capsys.readouterr()
    assert main(["try", str(kit / "attention.ipynb")]) == 0
    said = {
        "the kit's check": checked.stdout,
        "try": capsys.readouterr().out,
        "the feedback page": page.read_text(encoding="utf-8"),
        "the formgrader": "\n".join("".join(text) for text in shown),
    }
    for place, text in said.items():
        missing = [sentence for sentence in sentences if words(sentence) not in words(text)]
        assert not missing, f"{place} does not say: {missing}\n{text[-3000:]}"
