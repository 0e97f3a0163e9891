"""Tables as text: data only, in every spreadsheet and every country."""

import csv
import io
import re

import pytest

from grader.spreadsheet import csv_text, harmless


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-x", "'-x"),
        ("@x", "'@x"),
        (" =1", " '=1"),
        ("\xa0\ufeff\u200b=1", "\xa0\ufeff\u200b'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("\uff0d1", "'\uff0d1"),
        ("\tx", "'\tx"),
        ("\rx", "'\nx"),
        ("\t=x", "\t'=x"),
        ("a;=1", "a;'=1"),
        ("a; +1;@b", "a; '+1;'@b"),
        ('a;"=1', "a;\"'=1"),
        ("a\t-1", "a\t'-1"),
        ("a\r\n=1\r@b", "a\n'=1\n'@b"),
        ("a|=1", "a|'=1"),
        ("a,=1", "a,'=1"),
        ("x\x00=1\x1b[31m", r"x\x00=1\x1b[31m"),
        ("caf\udce9", r"caf\udce9"),
        ("a\u2028=1", r"a\u2028=1"),
    ],
)
def test_no_cell_has_a_formula(value: str, cell: str) -> None:
    assert harmless(value) == cell


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "x=1",
        "'=1",
        "1.50",
        "-",
        "- ",
        "O'Brien",
        "Jean-Luc",
        "a@b.org",
        "scores, -inf",
        "b+; c",
        "محمد\u200f",
        "王 小明",
    ],
)
def test_what_people_write_stays(value: str) -> None:
    assert harmless(value) == value


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (-1.5, "-1.5"),
        (2.0, "2"),
        (1 / 3, "0.3333"),
        (0, "0"),
        (-0.0, "0"),
        (123456, "123456"),
        (12345678.25, "12345678.25"),
    ],
)
def test_numbers_stay_numbers(value: float, cell: str) -> None:
    assert harmless(value) == cell


def test_a_table_as_text() -> None:
    table: list[list[str | float]] = [["a", 1.5], ['say "b"', "c\nd"], ["e;f", " g"], []]
    text = 'a,1.5\r\n"say ""b""","c\nd"\r\n"e;f", g\r\n\r\n'
    assert csv_text(table) == text
    assert list(csv.reader(io.StringIO(text, newline=""))) == [[str(v) for v in row] for row in table]


@pytest.mark.parametrize("name", ["a;=1+1", 'a";=1+1', 'a";"=1+1', "a\n=1+1", 'a\n"=1+1', "a\t=1+1", "=1+1", 'a"";""=1+1'])  # fmt: skip
def test_where_cells_are_split_at_semicolons_there_is_no_formula_either(name: str) -> None:
    """As a spreadsheet does it that takes quotes for quotes in no cell, and in all."""
    text = csv_text([["who", "points"], ["x", name]])
    cells = re.split(r"[;\t\r\n]", text) + [c for row in csv.reader(io.StringIO(text), delimiter=";") for c in row]
    assert not [c for c in cells if c.strip(' "')[:1] in ("=", "+", "-", "@") and c]
