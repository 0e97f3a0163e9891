"""A submission's bytes are read as cells, whatever wrote them."""

import json

import pytest
from small import CELLS, cell, own, saved, text

from grader import notebook
from grader.errors import Unreadable
from grader.notebook import CellKind, SubmittedCell, grade_id, kind_of, read, text_of

ONE = [own("x = 'é'")]
AS_TEXT = json.dumps({"cells": ONE}, ensure_ascii=False)


def sources(data: bytes) -> list[str]:
    return [found.source for found in read(data)]


@pytest.mark.parametrize(
    "data",
    [
        AS_TEXT.encode(),
        b"\xef\xbb\xbf" + AS_TEXT.encode(),
        b"\xff\xfe" + AS_TEXT.encode("utf-16-le"),
        b"\xfe\xff" + AS_TEXT.encode("utf-16-be"),
        AS_TEXT.encode("cp1252"),
    ],
    ids=["UTF-8", "byte-order mark", "UTF-16, little end first", "UTF-16, big end first", "cp1252"],
)
def test_encodings(data: bytes) -> None:
    assert sources(data) == ["x = 'é'"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a\nb", "a\nb"),
        (["a\n", "b"], "a\nb"),
        (["a\n", 3, None, "b"], "a\nb"),
        ("a\r\nb\rc\n\r", "a\nb\nc\n\n"),
        (["a\r", "\nb\r"], "a\nb\n"),
        (3, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_sources_and_line_ends(source: object, expected: str) -> None:
    assert text_of(source) == expected
    assert sources(json.dumps({"cells": [own("") | {"source": source}]}).encode()) == [expected]


def test_a_lone_surrogate_gets_into_no_source():
    """JSON can hold one, a file cannot, and Python compiles none."""
    found = sources(json.dumps({"cells": [own("x = '\ud800'"), own("y = '\U0001f600'")]}).encode())
    assert found == ["x = '?'", "y = '\U0001f600'"]


def test_format_3() -> None:
    sheets = [
        {"cells": [{"cell_type": "code", "input": ["x = 1\n", "y"]}]},
        3,
        {"cells": 3},
        {"cells": [text("t", "T")]},
    ]
    assert read(json.dumps({"nbformat": 3, "worksheets": sheets}).encode()) == [
        SubmittedCell(0, "code", "x = 1\ny", "", ""),
        SubmittedCell(1, "markdown", "T", "", "t"),
    ]
    assert sources(json.dumps({"cells": ONE, "worksheets": sheets}).encode()) == ["x = 'é'"]


def test_what_is_read_of_a_cell() -> None:
    claimed = cell("first", "@wraps\nasync  def a():\n  def b(): pass\nclass C: pass\ndef\td(): pass\nx = 'def e'")
    strange = {"cell_type": 3, "id": 4, "metadata": {"nbgrader": {"grade_id": 5}}, "source": "x"}
    assert read(
        saved([claimed, None, strange, {"metadata": []}, {"metadata": {"nbgrader": []}, "cell_type": "raw"}])
    ) == [
        SubmittedCell(0, "code", claimed["source"], "first", "first", False, frozenset({"a", "C", "d"})),
        SubmittedCell(2, "markdown", "x", "", ""),
        SubmittedCell(3, "markdown", "", "", ""),
        SubmittedCell(4, "markdown", "", "", ""),
    ]


# computed by nbgrader 0.9.6 (nbgrader.utils.compute_checksum)
@pytest.mark.parametrize(
    ("mark", "kind", "checksum"),
    [
        ({"solution": True}, "code", "05d49b7d8dddddf897f06a4fde220052"),
        ({"grade": True, "locked": True, "points": 2}, "code", "1998870d396c66d2e6713e51d6b66b54"),
        ({"locked": True}, "code", "dfe97a29ad1cdf43dbe3794ac293d4e0"),
        ({"grade": True, "solution": True, "points": 2.5}, "markdown", "c3673ccf9c680b49c49f5b6d3181ce86"),
    ],
)
def test_a_cell_is_untouched_if_nbgraders_checksum_still_fits(mark: dict, kind: str, checksum: str) -> None:
    as_it_was = cell("first", "as it was", kind, checksum=checksum, **mark)
    assert read(saved([as_it_was]))[0].untouched
    assert not read(saved([as_it_was | {"source": "as it is"}]))[0].untouched
    for change in (
        {"grade_id": "second"},
        {"points": 3.0} if mark.get("grade") else {"locked": not mark.get("locked")},
    ):
        marked = as_it_was["metadata"]["nbgrader"] | change
        fits = read(saved([as_it_was | {"metadata": {"nbgrader": marked}}]))[0].untouched
        assert fits == ("locked" in change and mark.get("solution", False))


def test_no_more_than_2000_cells() -> None:
    found = read(saved([own(str(n)) for n in range(2001)]))
    assert notebook.MOST_CELLS == 2000 and [c.source for c in found] == [str(n) for n in range(2000)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b" \r\n\t", "the file is empty"),
        (b"I did not finish", "the file is not a notebook (not JSON)"),
        (b"\x81\x8d", "the file is not text"),
        (b"\xff\xfe\x00", "the file is not text"),
        (b" {", "the file is damaged: it begins like a notebook but is no valid JSON"),
        (b'[{"cells"', "the file is damaged: it begins like a notebook but is no valid JSON"),
        (b"[" * 200_000, "the file is nested too deeply for a notebook"),
        (b"[1, 2]", "the file is JSON, but no notebook"),
        (b"{}", "the file is JSON, but no notebook: it has no cells"),
        (b'{"cells": {}}', "the file is JSON, but no notebook: it has no cells"),
        (b'{"worksheets": 1}', "the file is JSON, but no notebook: it has no cells"),
    ],
)
def test_what_is_no_notebook(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(data)
    assert str(caught.value) == reason


def test_the_largest_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook.LARGEST == 100 << 20
    monkeypatch.setattr(notebook, "LARGEST", 1 << 20)
    whole = AS_TEXT.encode().ljust(1 << 20)
    assert sources(whole) == ["x = 'é'"]
    with pytest.raises(Unreadable) as caught:
        read(whole + bytes(2 << 20))
    assert str(caught.value) == "the file has 3 MB; more than 1 MB are not read"


def test_what_our_cells_are() -> None:
    assert [(kind_of(c), grade_id(c)) for c in CELLS] == [
        (CellKind.TEXT, ""),
        (CellKind.GIVEN, "imports"),
        (CellKind.ANSWER, "first"),
        (CellKind.TEST, "test_first"),
        (CellKind.DEMO, "look"),
        (CellKind.ANSWER, "second"),
        (CellKind.TEST, "test_second"),
        (CellKind.TEXT, ""),
        (CellKind.WRITTEN, "question"),
    ]
