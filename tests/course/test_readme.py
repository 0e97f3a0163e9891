"""What README and the pages in docs/ say is so: counts, versions, verbs, files and code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from answers import answers
from kinds import KINDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
# what other tests and commands write, and what is history
PROSE = [page for page in PAGES if page.name not in ("CHANGELOG.md", "messages.md")]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def part(name: str) -> str:
    """What is between the marks of that name in README."""
    (found,) = re.findall(rf"<!-- {name} -->\n\n(.*?)\n\n<!-- end of {name} -->", README, re.DOTALL)
    return str(found)


def prose(page: Path) -> str:
    """A page without what a command has written, numbers of steps, blocks of code and addresses; code in lines is `x`."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!-- (\w+) -->.*?<!-- end of \1 -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    .*$|^\d+\. |\]\([^)]*\)", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "x", text)


def test_the_counts_are_those_of_the_folders() -> None:
    wrong, right = len(answers("wrong_answers")), len(answers("right_answers"))
    lines = [
        f"- {wrong} wrong answers lose points where they are wrong and nowhere else, and at least nineteen in twenty are named.",
        f"- {right} right answers, written in other ways than ours, keep all points.",
        f"- {len(KINDS)} kinds of broken and hostile submissions are graded as they should be.",
    ]
    assert part("counts").splitlines() == [*lines, "", "`make test` tries them all."]


def test_the_table_of_times_is_that_of_the_benchmark() -> None:
    code = (
        "import grading; print('\\n'.join(grading.comparison(open('../docs/performance.md', encoding='utf-8').read())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True
    )
    assert part("grading") == done.stdout.strip()


def test_versions_are_those_of_pyproject() -> None:
    (numpy,) = re.findall(r"numpy>=(.*)", PROJECT["dependencies"][0])
    pythons = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python ::" in c]
    assert f"NumPy {numpy} or newer and nothing else, on Python {pythons[0]} to {pythons[-1]}" in README
    for page in PROSE:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"Python (3\.\d+) or newer", text)) <= {pythons[0]}, page
        assert set(re.findall(r"Python (?:from )?(3\.\d+ to 3\.\d+)", text)) <= {f"{pythons[0]} to {pythons[-1]}"}, page


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_no_number_is_typed(page: Path) -> None:
    """A number in prose is a version, a dtype, points of an exercise, or is written by what measures it."""
    known = r"Ubuntu \d\d\.\d\d|Linux \d\.\d+|Docker \d+|"
    known += r"Python(?: from)? 3\.\d+(?: to 3\.\d+)?|NumPy [\d.]+|[Vv]ersion \d\.\d\.\d|float\d+|\d points|arXiv:\S+"
    assert not re.findall(r"^.*\d.*$", re.sub(known, "", prose(page)), re.MULTILINE)


def test_the_example_in_readme_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["y"].shape == (3, 10, 64)
    assert names["layer"].attention_weights.shape == (3, 8, 10, 10)


@pytest.mark.parametrize("page", [*PAGES, *WORKFLOWS, ROOT / ".ci" / "run"], ids=lambda page: page.name)
def test_verbs_are_in_the_makefile(page: Path) -> None:
    verbs = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"`make ([^`]*)`|^(?: *- run: | *|    )make (?!\[)([a-z =/._A-Z$%{}-]*)", text, re.MULTILINE)
    for words in (word for line in lines for word in " ".join(line).split()):
        if "=" not in words and not words.startswith("-"):
            assert words in verbs, f"{page.name}: make {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_a_line_holds_one_sentence(page: Path) -> None:
    for line in prose(page).splitlines():
        if not line.startswith("|"):
            assert not re.search(r"[a-z)][.?!] +[A-Z]", line), line
