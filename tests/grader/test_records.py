"""What is kept of a result: when, in which order, and that it is read back as it was."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gradebooks import grades_in, new_gradebook
from small import KNOWN, METADATA, MODULE, SMALL, graded, notebook, unreadable, verdict, with_verdicts

from grader import gradebook, records
from grader.classroom import Classroom, Submission
from grader.errors import GradebookError
from grader.gradebook_rows import answers_of
from grader.records import digest, graded_students, read_kept, read_unchanged
from grader.result import VERDICT_TYPE, Result, Status

HANDED_IN = Submission("ada", b"what was handed in", "2026-03-01 12:00:00 UTC", "a note")


@pytest.fixture
def klass(tmp_path: Path) -> Classroom:
    new_gradebook(tmp_path)
    return Classroom(tmp_path)


def lost_points(student: str) -> Result:
    """A result with everything in it that is kept."""
    one, two = SMALL.exercises
    verdicts = {"first": verdict(one, 0.5, message=KNOWN), "second": verdict(two, 1, 0, message="It raised.")}
    return replace(graded(student), verdicts=verdicts, repairs=("a repair",), notebook=with_verdicts(verdicts))


def write(klass: Classroom, *results: tuple[Submission, Result]) -> None:
    with records.Writer(SMALL, klass.nbgrader_config()) as writer:
        for submission, result in results:
            writer.write(submission, result, klass.autograded(submission.student, MODULE))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kept_file(klass: Classroom, student: str = "ada") -> Path:
    return klass.autograded(student, MODULE) / "small.ipynb"


def test_a_result_is_read_back_as_it_was(klass: Classroom) -> None:
    """But for `notebook`, which is not read; `answers` are only there when it is read back."""
    result = replace(lost_points("ada"), blank=("first", "question"), late="nobody knows")
    write(klass, (HANDED_IN, result))
    kept = replace(result, notebook=None, answers=answers_of(result.notebook))
    assert read_kept("ada", SMALL, klass) == kept and len(kept.answers) == 3
    assert read_unchanged(HANDED_IN, SMALL, klass) == kept
    assert names_in(klass.autograded("ada", MODULE).parent) == [MODULE]
    assert names_in(klass.autograded("ada", MODULE)) == ["small.ipynb", "timestamp.txt"]
    assert (klass.autograded("ada", MODULE) / "timestamp.txt").read_text() == "2026-03-01 12:00:00 UTC\n"
    assert grades_in(klass.folder / "gradebook.db", "ada")["test_first"] == (0.5, None, None, 0, 2)


def test_an_unreadable_one_too(klass: Classroom) -> None:
    result = replace(unreadable("ben"), seconds=0.25)
    write(klass, (Submission("ben", b""), result))
    assert read_kept("ben", SMALL, klass) == result
    assert names_in(klass.autograded("ben", MODULE)) == ["small.ipynb"]
    kept = json.loads(kept_file(klass, "ben").read_text())
    assert kept["cells"] == [
        {
            "cell_type": "markdown",
            "id": "reason",
            "metadata": {},
            "source": "**This submission could not be graded:** the file is empty.",
        }
    ]


def test_what_the_kept_notebook_says_of_itself(klass: Classroom) -> None:
    write(klass, (HANDED_IN, lost_points("ada")))
    kept = json.loads(kept_file(klass).read_text())
    assert kept["metadata"] == METADATA | {
        "grader": {
            "student": "ada",
            "module": "07_small",
            "status": "graded",
            "score": 1.5,
            "max_score": 5,
            "scores": {"first": 0.5, "second": 1},
            "repairs": ["a repair"],
            "messages": {"first": [KNOWN], "second": ["It raised."]},
            "seconds": 0.125,
            "digest": digest(HANDED_IN, SMALL),
            "blank": [],
            "answers": answers_of(lost_points("ada").notebook),
            "whole": kept["metadata"]["grader"]["whole"],
        }
    }
    assert (kept["nbformat"], kept["nbformat_minor"]) == (4, 5)


@pytest.mark.parametrize("status", [Status.MISSING, Status.FAILED, Status.NOT_GRADED])
def test_nothing_is_written_where_there_was_nothing_to_read(tmp_path: Path, status: Status) -> None:
    write(Classroom(tmp_path), (Submission("ada", missing="x"), Result("ada", MODULE, status, 5, "x")))
    assert list(tmp_path.iterdir()) == []


def test_without_the_gradebooks_record_there_is_no_file(klass: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file says that both are done, so the next run grades again."""

    def locked(*_arguments: object) -> None:
        raise GradebookError("the gradebook is locked")

    with monkeypatch.context() as patch:
        patch.setattr(gradebook, "record", locked)
        with pytest.raises(GradebookError, match="the gradebook is locked"):
            write(klass, (HANDED_IN, lost_points("ada")))
    assert not (klass.folder / "autograded").exists()
    assert read_unchanged(HANDED_IN, SMALL, klass) is None


def test_without_room_for_the_file_there_is_the_gradebooks_record(
    klass: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(path: Path, _data: bytes) -> None:
        raise OSError(f"no space left for {path.name}")

    monkeypatch.setattr(records, "write_whole", full_disk)
    with pytest.raises(OSError, match=r"no space left for small\.ipynb"):
        write(klass, (replace(HANDED_IN, timestamp=""), lost_points("ada")))
    assert grades_in(klass.folder / "gradebook.db", "ada")["test_first"] == (0.5, None, None, 0, 2)
    assert read_unchanged(HANDED_IN, SMALL, klass) is None


def test_who_has_been_graded(klass: Classroom) -> None:
    assert graded_students(SMALL, klass) == []
    write(klass, *((Submission(name), graded(name)) for name in ("cleo", "ada", "ben")))
    (klass.folder / "autograded" / "dan" / "08_other").mkdir(parents=True)
    assert graded_students(SMALL, klass) == ["ada", "ben", "cleo"]


def changed_row(**change: Any) -> bytes:
    row = json.loads(lost_points("ada").to_json()) | {"digest": "x"} | change
    return json.dumps(notebook([]) | {"metadata": {"grader": {k: v for k, v in row.items() if v is not None}}}).encode()


def with_outputs(outputs: object) -> bytes:
    return json.dumps(json.loads(changed_row()) | {"cells": [{"outputs": outputs}]}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"\xff\xfe",
        b"{}",
        json.dumps(notebook([])).encode(),
        json.dumps(notebook([]) | {"metadata": {"grader": None}}).encode(),
        json.dumps(json.loads(changed_row()) | {"cells": None}).encode(),
        json.dumps(json.loads(changed_row()) | {"cells": [3]}).encode(),
        *(changed_row(**{key: None}) for key in ("student", "module", "status", "max_score", "repairs", "seconds", "digest")),
        changed_row(status="done"),
        changed_row(repairs=3),
        with_outputs(3),
        with_outputs([3]),
        with_outputs([{"data": {VERDICT_TYPE: {}}}]),
        with_outputs([{"data": {VERDICT_TYPE: {"exercise": "first", "points": 1, "max": 2, "cases": [{"name": "a"}]}}}]),
    ],
)  # fmt: skip
def test_a_kept_notebook_that_is_damaged_is_none(tmp_path: Path, data: bytes) -> None:
    klass = Classroom(tmp_path)
    kept_file(klass).parent.mkdir(parents=True)
    for content, is_there in ((changed_row(), True), (data, False)):
        kept_file(klass).write_bytes(content)
        assert (read_kept("ada", SMALL, klass) is not None) == is_there
        assert read_unchanged(HANDED_IN, SMALL, klass) is None


def test_who_has_nothing(tmp_path: Path) -> None:
    assert read_kept("ada", SMALL, Classroom(tmp_path)) is None


OURS = (
    "autograded_tests/__init__.py",
    "autograded_tests/m07_small/first.py",
    "exercises/judge.py",
    "exercises/signs/exceptions.py",
    "grader/grade.py",
    "grader/sandbox/worker.py",
    "tinytorch/core/tensor.py",
    "modules/07_small/small.ipynb",
)
OTHERS = (
    "grader/pages/report.py",
    "grader/platforms/collect.py",
    "docs/design.md",
    "modules/08_other/other.ipynb",
    "README.md",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with one file of each kind."""
    for name in (*OURS, *OTHERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(records, "ROOT", tmp_path)
    records.version_of.cache_clear()
    yield tmp_path
    records.version_of.cache_clear()


@pytest.mark.parametrize("name", OURS)
def test_what_a_score_depends_on_is_in_the_digest(project: Path, name: str) -> None:
    before = digest(HANDED_IN, SMALL)
    (project / name).write_text("changed")
    records.version_of.cache_clear()
    changed = digest(HANDED_IN, SMALL)
    (project / name).write_text(name)
    records.version_of.cache_clear()
    assert changed != before == digest(HANDED_IN, SMALL)


@pytest.mark.parametrize("name", OTHERS)
def test_what_no_score_depends_on_is_not(project: Path, name: str) -> None:
    before = digest(HANDED_IN, SMALL)
    (project / name).write_text("changed")
    records.version_of.cache_clear()
    assert digest(HANDED_IN, SMALL) == before


def test_so_is_what_was_handed_in(klass: Classroom) -> None:
    """Each of its parts alone; who handed it in is no part, since each has a file of their own."""
    parts: list[dict[str, Any]] = [
        {},
        {"data": b"other"},
        {"timestamp": "2026"},
        {"timestamp": ""},
        {"note": "other"},
        {"note": ""},
        {"late": "nobody knows"},
        {"unreadable": "no notebook"},
    ]
    changed = [replace(HANDED_IN, **part) for part in parts]
    assert len({digest(submission, SMALL) for submission in changed}) == len(parts)
    write(klass, (HANDED_IN, lost_points("ada")))
    assert [read_unchanged(s, SMALL, klass) is not None for s in changed] == [True] + [False] * 7
    assert digest(replace(HANDED_IN, timestamp="a note", note=HANDED_IN.timestamp), SMALL) != digest(HANDED_IN, SMALL)
