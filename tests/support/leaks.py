"""Does anything that is hidden stand in what students get to see?"""

import codecs
import html
import json
import re
import sqlite3
from collections import Counter
from pathlib import Path

from secret import hidden_lines

from grader.course import ROOT
from grader.kit import kit_files

SHORTEST = 16  # characters of a line that is looked for; shorter ones are anybody's
SENTENCE = re.compile(r'\s*f?"[^"]*",?')  # a line of an exercise that says something to students
Secrets = dict[str, set[str]]


def squeezed(text: str) -> str:
    """A text without white space, quotes and backslashes, so that it is the same in source, in JSON and as a repr."""
    return re.sub(r"[\s\"'\\]+", "", text)


def shown(path: Path) -> str:
    """What a notebook or a page says, squeezed; of a page, what stands between its tags and in its attributes."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
        attributes = "\n".join(re.findall(r'=("[^"]*"|\'[^\']*\')', text))
        text = html.unescape(re.sub(r"<[^>]*>", "", text) + attributes)
    return squeezed(text)


def handed_in(folder: Path) -> str:
    """All that a student handed in, squeezed."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return "\n".join(squeezed(_decoded(p.read_bytes())) for p in files)


def secrets(classroom: Path, module: str) -> Secrets:
    """Lines that no student may get to see, by where they stand, squeezed. What the kit shows is no secret."""
    references = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "autograded_tests").rglob("*.py"))]
    found = {
        "a solution": hidden_lines(module, ["SOLUTION"]),
        "a hidden test": hidden_lines(module, ["HIDDEN TESTS"]),
        "a reference": {line for text in references for line in text.splitlines() if not SENTENCE.fullmatch(line)},
        "the gradebook": _of_gradebook(classroom / "gradebook.db"),
    }
    public = _public(module)
    return {what: _secret(lines, public) for what, lines in found.items()}


def works(classroom: Path, module: str) -> dict[str, set[str]]:
    """For each student, the lines that nobody else wrote, squeezed."""
    public = _public(module)
    lines = {
        folder.name: {
            line
            for path in folder.rglob("*.ipynb")
            if path.is_file() and not path.is_symlink()
            for line in _lines(path.read_bytes())
        }
        for folder in sorted((classroom / "submitted").iterdir())
        if folder.is_dir() and not folder.is_symlink()
    }
    written = Counter(squeezed(line) for of_one in lines.values() for line in set(map(squeezed, of_one)))
    return {
        student: {line for line in _secret(of_one, public) if written[line] == 1} for student, of_one in lines.items()
    }


def leaks(text: str, hidden: Secrets) -> list[tuple[str, str]]:
    """What of the secrets stands in a text: (where it is from, line)."""
    return [(what, line) for what, lines in hidden.items() for line in sorted(lines) if line in text]


def _public(module: str) -> str:
    return squeezed("\n".join(_decoded(data) for data in kit_files(module).values()))


def _secret(lines: set[str], public: str) -> set[str]:
    return {line for line in map(squeezed, lines) if len(line) >= SHORTEST and line not in public}


def _of_gradebook(database: Path) -> set[str]:
    """How the file begins, how its tables are made, and the keys in them."""
    connection = sqlite3.connect(database)
    try:
        tables = [sql for (sql,) in connection.execute("select sql from sqlite_master") if sql]
        keys = [key for (key,) in connection.execute("select id from submitted_notebook")]
    finally:
        connection.close()
    return {"SQLite format 3", *keys, *(line for sql in tables for line in sql.splitlines())}


def _lines(data: bytes) -> list[str]:
    """The lines of a notebook's cells; none if it is no notebook."""
    try:
        cells = json.loads(data)["cells"]
        return [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _decoded(data: bytes) -> str:
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8", errors="replace")
