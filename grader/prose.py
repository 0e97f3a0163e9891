"""What of a cell's text is the student's own: notes in a text of ours, and answers written as code that is none."""

import ast
import re
import warnings

ALIKE = 80  # per cent of a line that is ours but for a slip that was put right
SAME_WORDS = 2 / 3  # of the letters of a paragraph that is ours in other words; answers have half of them
FEW = 8  # words, of which nobody can tell
LARGEST = 20_000  # characters of a code cell that may be prose


def holds(theirs: str, ours: str) -> bool:
    """Whether all lines of a text of ours are there, whatever was written between or behind them."""
    lines = _lines(theirs)
    missing = set(_lines(ours)) - set(lines)
    return all(any(line.startswith(known) for line in lines) for known in missing)


def added(theirs: str, ours: str) -> str | None:
    """The lines that a student wrote into a text of ours, "" if there are none; None if it is another text."""
    from rapidfuzz import fuzz

    whole = holds(theirs, ours)
    if not whole and not fuzz.ratio(theirs, ours, score_cutoff=ALIKE):
        return None
    known = _lines(ours)
    kept = (_own(line, known, exact=whole) for line in theirs.splitlines())
    return "\n".join(line for line in kept if line is not None).strip()


def below(theirs: str, ours: str) -> str:
    """What a student wrote below an earlier wording of a text of ours: what follows the last paragraph in our words."""
    words, known = set(_words(ours)), _lines(ours)
    kept: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", theirs):
        said = _words(paragraph)
        shared = sum(len(word) for word in said if word in words)
        if len(said) >= FEW and shared >= SAME_WORDS * sum(map(len, said)):
            kept = []
        else:
            kept += [line for line in paragraph.splitlines() if line.strip() not in known]
            kept.append("")
    return "\n".join(kept).strip()


def is_prose(code: str) -> bool:
    """Whether a code cell holds no code: nothing but comments, or sentences."""
    lines = _lines(code)
    if len(code) > LARGEST or any(line[0] in "%!" for line in lines):
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            return not ast.parse(code).body
    except SyntaxError:
        return True
    except (ValueError, RecursionError, MemoryError):
        return False


def says_something(text: str) -> bool:
    """Whether there is a word in it, and not only a line or a dot."""
    return re.search(r"\w", text) is not None


def _own(line: str, known: list[str], *, exact: bool) -> str | None:
    """A line of theirs without what is ours in it; None if that is all of it."""
    from rapidfuzz import fuzz, process

    text = line.strip()
    if text in known:
        return None
    start = next((k for k in known if text.startswith(k)), None)
    if start is not None:
        return text.removeprefix(start).strip()
    if not exact and text and process.extractOne(text, known, scorer=fuzz.ratio, score_cutoff=ALIKE):
        return None
    return line


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
