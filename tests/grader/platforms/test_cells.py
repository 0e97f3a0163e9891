"""Cells of a CSV file are replaced, and every other byte stays."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import CourseError
from grader.platforms.cells import bytes_of, read_sheet, with_cells

MARKS = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
texts = st.text(
    st.sampled_from("ab1 ,;\t:\"'\n=äИ\U0001f600"), max_size=6
)  # Python's csv leaves a lone \r without quotes
tables = st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), min_size=2, max_size=5))


@given(data=st.text(st.sampled_from('ab,;\t:"\n\rä'), min_size=1, max_size=40), mark=st.sampled_from([None, *MARKS]))
def test_what_is_read_is_written_again(data: str, mark: str | None) -> None:
    raw = MARKS.get(mark or "", b"") + data.encode(mark or "utf-8")
    try:
        sheet = read_sheet(raw, "f")
    except CourseError:
        return
    assert bytes_of(sheet) == raw


@given(
    rows=tables,
    quoted=st.booleans(),
    delimiter=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n"]),
    data=st.data(),
)
def test_a_replaced_cell_is_read_by_others_and_leaves_the_rest(
    rows: list[list[str]], quoted: bool, delimiter: str, end: str, data: st.DataObject
) -> None:
    rows[0] = [f"c{n}" for n in range(len(rows[0]))]
    text = io.StringIO()
    csv.writer(
        text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    ).writerows(rows)
    sheet = read_sheet(text.getvalue().encode(), "f")
    assert [list(r.values) for r in sheet.records] == rows and sheet.delimiter == delimiter
    place = data.draw(st.tuples(st.integers(1, len(rows) - 1), st.integers(0, len(rows[0]) - 1)))
    value = data.draw(texts) + data.draw(st.sampled_from(["", "\r", "\r\n"]))
    changed = with_cells(sheet, {place: value})
    there = list(csv.reader(io.StringIO(bytes_of(changed).decode(), newline=""), delimiter=delimiter))
    rows[place[0]][place[1]] = value
    assert there == rows
    others = [(n, c) for n, r in enumerate(sheet.records) for c in range(len(r.raw)) if (n, c) != place]
    assert all(changed.records[n].raw[c] == sheet.records[n].raw[c] for n, c in others)


@pytest.mark.parametrize(
    ("text", "delimiter", "rows"),
    [
        ("a,b\n1,2", ",", [["a", "b"], ["1", "2"]]),
        ("a;b, c, d, e\n1;2\n", ";", [["a", "b, c, d, e"], ["1", "2"]]),
        ("a;b\n1,5;2,5\n", ";", [["a", "b"], ["1,5", "2,5"]]),
        ("a:b\n1:2\n", ":", [["a", "b"], ["1", "2"]]),
        ('a,"b ""x"" c"\n"1\n2",\n', ",", [["a", 'b "x" c'], ["1\n2", ""]]),
        ("a,b\r1,2\r", ",", [["a", "b"], ["1", "2"]]),
        ('a,5" wide\n1,2\n', ",", [["a", '5" wide'], ["1", "2"]]),
        ("a,b\n\n1,2\n", ",", [["a", "b"], [""], ["1", "2"]]),
    ],
)
def test_how_lines_are_cut(text: str, delimiter: str, rows: list[list[str]]) -> None:
    sheet = read_sheet(text.encode(), "f")
    assert sheet.delimiter == delimiter and [list(r.values) for r in sheet.records] == rows
    assert bytes_of(sheet) == text.encode()


def test_lines_are_counted_as_an_editor_does() -> None:
    sheet = read_sheet(b'a,b\r\n"1\n2\r\n3",4\r\n5,6', "f")
    assert [r.line for r in sheet.records] == [1, 2, 5]


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", "a,Müller\n"), ("latin-1", "a,\x81\xe4\n")])
def test_texts_that_are_not_unicode(encoding: str, text: str) -> None:
    sheet = read_sheet(text.encode(encoding), "f")
    assert sheet.encoding == encoding and bytes_of(sheet) == text.encode(encoding)
    changed = with_cells(sheet, {(0, 0): "ä Ω"})
    assert bytes_of(changed) == text.encode(encoding).replace(b"a,", '"ä &#937;",'.encode(encoding), 1)
