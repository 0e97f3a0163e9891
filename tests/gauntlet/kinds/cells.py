"""Cells that were moved, lost or changed."""

import json
from collections.abc import Callable
from typing import Any

from sentences import DIVIDED_BY_D_K

from kinds.base import FULL, WRONG_SCALE, Kinds, Notebook, cell, code_cell, edited, every_cell

KINDS = Kinds()
kind = KINDS.kind


def remove(*names: str) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        gone = [id(cell(notebook, name)) for name in names]
        notebook["cells"] = [c for c in notebook["cells"] if id(c) not in gone]

    return edit


def duplicate(name: str, **change: Any) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        original = cell(notebook, name)
        notebook["cells"].insert(notebook["cells"].index(original) + 1, json.loads(json.dumps(original)) | change)

    return edit


def move_up(name: str) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        moved = cell(notebook, name)
        notebook["cells"].remove(moved)
        notebook["cells"].insert(3, moved)

    return edit


def split_test(notebook: Notebook) -> None:
    test = cell(notebook, "test_scale_scores")
    lines = "".join(test["source"]).splitlines(keepends=True)
    test["source"] = lines[0]
    notebook["cells"].insert(notebook["cells"].index(test) + 1, code_cell(lines[1]))


def split_answer(notebook: Notebook) -> None:
    answer = cell(notebook, "scale_scores")
    own = code_cell("def root(d_k):\n    return d_k**0.5")
    notebook["cells"].insert(notebook["cells"].index(answer), own)
    answer["source"] = "def _scale_scores(scores, d_k):\n    return scores / root(d_k)"


def merge_answers(notebook: Notebook) -> None:
    first, second = cell(notebook, "split_heads"), cell(notebook, "merge_heads")
    first["source"] = "".join(first["source"]) + "\n\n\n" + "".join(second["source"])
    notebook["cells"].remove(second)


def merge_with_test(notebook: Notebook) -> None:
    answer, test = cell(notebook, "scale_scores"), cell(notebook, "test_scale_scores")
    answer["source"] = "".join(answer["source"]) + "\n" + "".join(test["source"])
    notebook["cells"].remove(test)


def lose_metadata(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        c["metadata"] = {}


def lose_everything(notebook: Notebook) -> None:
    lose_metadata(notebook)
    for number, c in enumerate(notebook["cells"]):
        c["id"] = f"new-{number}"


def flip(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        mark = c["metadata"].get("nbgrader")
        if mark:
            mark |= {"grade": not mark["grade"], "solution": not mark["solution"], "locked": not mark["locked"]}


def old_schema(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        mark = c["metadata"].get("nbgrader")
        if mark:
            mark |= {"schema_version": 1}
            mark.pop("cell_type", None), mark.pop("task", None)


def surround(notebook: Notebook) -> None:
    numbered = enumerate(notebook["cells"])
    notebook["cells"] = [c for number, theirs in numbered for c in (code_cell(f"mine_{number} = {number}"), theirs)]


TESTS = ["test_scale_scores", "test_apply_mask", "test_split_heads", "test_merge_heads", "test_causal_mask"]

kind(
    "test cell deleted", edited(remove("test_scale_scores")), FULL, 'the cell "test_scale_scores" is missing; put back'
)
kind("many test cells deleted", edited(remove(*TESTS)), FULL, 'the cell "test_apply_mask" is missing; put back')
kind(
    "test cell edited",
    edited(lambda n: cell(n, "test_scale_scores").update(source="assert True")),
    FULL,
    'the cell "test_scale_scores" was changed; ours was used',
)
kind(
    "test cell duplicated",
    edited(duplicate("test_scale_scores")),
    FULL,
    'the cell "test_scale_scores" is there more than once',
)
kind(
    "every cell duplicated",
    edited(lambda n: n.update(cells=[c for c in n["cells"] for _ in range(2)])),
    FULL,
    "is there more than once",
)
kind("test cell split", edited(split_test), FULL, 'the cell "test_scale_scores" was changed; ours was used')
kind(
    "test cell turned into text",
    edited(lambda n: cell(n, "test_scale_scores").update(cell_type="markdown")),
    FULL,
    "was turned into text; ours was used",
)
kind("test cell above its answer", edited(move_up("test_multi_head_attention")), FULL)
kind("answer above everything", edited(move_up("merge_heads")), FULL)
kind(
    "answer cell deleted",
    edited(remove("scale_scores")),
    FULL - 2,
    'the answer cell "scale_scores" is missing; graded without it',
    "its cell is missing",
)
kind(
    "answer cell duplicated",
    edited(duplicate("scale_scores")),
    FULL,
    'there are 2 cells with the answer "scale_scores"',
)
kind("answer, then an empty copy", edited(duplicate("scale_scores", source="")), FULL)
kind(
    "answer, then a wrong one",
    edited(duplicate("scale_scores", source=WRONG_SCALE)),
    FULL - 2,
    "the last one that is filled in was graded",
    DIVIDED_BY_D_K,
)
kind("answer in two cells", edited(split_answer), FULL)
kind("two answers in one cell", edited(merge_answers), FULL, "`_merge_heads` was found in the cell of another answer")
kind("answer and test in one cell", edited(merge_with_test), FULL, 'the cell "test_scale_scores" is missing; put back')
kind(
    "answer turned into text",
    edited(lambda n: cell(n, "scale_scores").update(cell_type="markdown")),
    FULL,
    "was turned into text; read as code",
)
kind("nbgrader's metadata lost", edited(lose_metadata), FULL)
kind(
    "metadata and ids lost",
    edited(lose_everything),
    FULL,
    'the answer "scale_scores" was found by the name that it defines',
)
kind("metadata flipped", edited(flip), FULL)
kind("metadata of an old schema", edited(old_schema), FULL)
kind(
    "metadata of a wrong kind",
    edited(every_cell(lambda c: c["metadata"].update(nbgrader=[1]) if "nbgrader" in c["metadata"] else None)),
    FULL,
)
kind("tags added", edited(every_cell(lambda c: c["metadata"].update(tags=["hide-input", "demo"]))), FULL)
kind("cells added everywhere", edited(surround), FULL)
kind(
    "500 cells added",
    edited(lambda n: n["cells"].extend([code_cell("1")] * 500)),
    FULL,
)
kind(
    "text cells deleted", edited(lambda n: n.update(cells=[c for c in n["cells"] if "nbgrader" in c["metadata"]])), FULL
)
kind("given cell deleted", edited(remove("mask_value", "imports")), FULL, 'the cell "mask_value" is missing; put back')
kind(
    "given cell edited",
    edited(lambda n: cell(n, "mask_value").update(source="MASK_VALUE = 1")),
    FULL,
    'the cell "mask_value" was changed; ours was used',
)
kind(
    "written answer deleted",
    edited(remove("question_scaling")),
    FULL,
    'the written answer "question_scaling" is missing',
)
