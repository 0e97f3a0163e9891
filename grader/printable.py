"""Names and paths as a terminal, a log or a page may get them: nothing in them is taken for more than text."""

import sys
import unicodedata

# control characters, line and paragraph separators, lone surrogates; marks of direction are part of some people's names
UNSAFE = {"Cc", "Zl", "Zp", "Cs"}
DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    r"""The text with everything that moves a cursor, breaks a line or cannot be encoded as an escape: `\x1b`, `\u202e`."""
    return "".join(_escape(c) if c in DIRECTIONS or unicodedata.category(c) in UNSAFE else c for c in text)


def say(line: str, error: bool = False) -> None:
    """Print one line, whatever is in it, to standard output, or to standard error."""
    print(printable(line), file=sys.stderr if error else sys.stdout)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
