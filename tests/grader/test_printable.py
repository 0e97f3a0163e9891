"""Names on a terminal: what would move the cursor, break a line or cannot be encoded is shown as an escape."""

import os

import pytest

from grader.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("two\nlines\r\n", r"two\x0alines\x0d\x0a"),
        ("a\tb\x00c\x7f\x85\x9b", r"a\x09b\x00c\x7f\x85\x9b"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("ada\u202egnp.exe\u202c\u2066x\u2069", r"ada\u202egnp.exe\u202c\u2066x\u2069"),
        (os.fsdecode(b"caf\xe9"), r"caf\udce9"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_is_no_text_is_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown
    shown.encode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Zoë O'Brien",
        "[red]x[/]",
        "=1+1",
        "王小明",
        "محمد\u200f",
        "Nguyễn",
        "हिन्दी",
        "👩\u200d🔬",
        "a\u200cb",
        r"C:\x1b",
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert printable(text) == text
