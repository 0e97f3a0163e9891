"""What a kind of submission is, and short ways to make one."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import answers, submission

FULL = 28.0
Notebook = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One submission. `files` are written into the student's folder; words must be in the row's reason, repairs or messages.

    What is large is made when it is written.
    """

    name: str
    files: dict[str, bytes | Callable[[], bytes]]
    score: float
    words: tuple[str, ...] = ()
    status: str = "graded"
    place: Callable[[Path], None] | None = None  # what else there is to do to the folder


class Kinds(list[Kind]):
    """The kinds of one file, in its order."""

    def kind(
        self,
        name: str,
        data: bytes | Callable[[], bytes] | None,
        score: float,
        *words: str,
        status: str = "graded",
        file: str = "attention.ipynb",
        **more: Any,
    ) -> None:
        self.append(Kind(name, {} if data is None else {file: data}, score, words, status, **more))

    def unreadable(self, name: str, data: bytes, reason: str) -> None:
        self.kind(name, data, 0, reason, status="unreadable")


def edited(edit: Callable[[Notebook], Any], **options: Any) -> bytes:
    return submission(edit=lambda notebook: edit(notebook) and None, **options)


def cell(notebook: Notebook, name: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)


def code_cell(source: str) -> dict[str, Any]:
    """A cell of the student's own."""
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}


def added(source: str, where: int = 2, blank: Any = (), **changed: str) -> bytes:
    """A right submission (or a blank one) with a cell of the student's own."""
    new = code_cell(source) | {"id": "own"}
    return submission(changed, blank=blank, edit=lambda n: n["cells"].insert(where % (len(n["cells"]) + 1), new))


def changed(
    answers: dict[str, str], *cells: tuple[str | int, str], blank: Container[str] = (), module: str = "04_attention"
) -> bytes:
    """Right work with other answers, or without, and own cells each behind an answer, or at a place."""

    def edit(notebook: dict[str, Any]) -> None:
        for number, (where, source) in enumerate(cells):
            all_cells = notebook["cells"]
            place = (
                all_cells.index(cell(notebook, where)) + 1 if isinstance(where, str) else where % (len(all_cells) + 1)
            )
            all_cells.insert(place, code_cell(source) | {"id": f"own{number}"})

    return submission(answers, blank=blank, edit=edit, module=module)


def every_cell(change: Callable[[dict[str, Any]], Any]) -> Callable[[Notebook], None]:
    def edit(notebook: Notebook) -> None:
        for c in notebook["cells"]:
            change(c)

    return edit


RIGHT = submission()
SCALE = next(a.source for a in answers("right_answers") if a.exercise == "scale_scores")
WRONG_SCALE = "def _scale_scores(scores, d_k):\n    return scores / d_k\n"
