"""pyproject.toml lists every package that our code imports, and no other; the locks have a version of each."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOLDERS = ("grader", "exercises", "autograded_tests", "tinytorch", "tests", "benchmarks", "docs", "examples")
# as students write them
NOT_OURS = ("examples/class", "tests/wrong_answers", "tests/right_answers")
# installed by hand where it is wanted: it is larger than all others together
OPTIONAL = {"torch"}
# run as commands, or needed by those that are imported
NOT_IMPORTED = {
    "coverage",
    "execnb",
    "fastcore",
    "jupyterlab",
    "jupyterlite-core",
    "jupyterlite-pyodide-kernel",
    "mypy",
    "pip",
    "pre-commit",
    "pytest-timeout",
    "pytest-xdist",
    "ruff",
    "setuptools",
    "wheel",
}


def files() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not path.relative_to(ROOT).as_posix().startswith(NOT_OURS)]


def imported(path: Path) -> set[str]:
    """The top-level names that a file imports, wherever it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def plain(requirement: str) -> str:
    """The name in a requirement, as indexes compare it: `Jinja2>=3` is jinja2."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


LISTED = {plain(r) for r in [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)]}


def foreign() -> dict[str, str]:
    """Import name of each package of others, and the first file that imports it."""
    paths = files()
    scripts = {path.stem for path in paths if not (path.parent / "__init__.py").exists()}
    packages = {path.parent.name for path in (ROOT / "tests").rglob("__init__.py")}
    ours = {*FOLDERS, *scripts, *packages}
    found: dict[str, str] = {}
    for path in paths:
        for name in sorted(imported(path) - ours - sys.stdlib_module_names - OPTIONAL):
            found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.long
def test_every_import_is_listed() -> None:
    distributions = packages_distributions()
    for name, file in foreign().items():
        known = {plain(d) for d in distributions.get(name, [name])}
        assert known & LISTED, f"{file} imports {name}, which is not listed in pyproject.toml"


@pytest.mark.long
def test_everything_listed_is_used() -> None:
    distributions = packages_distributions()
    used = {plain(d) for name in foreign() for d in distributions.get(name, [name])}
    assert used >= LISTED - NOT_IMPORTED


def test_the_library_imports_numpy_only() -> None:
    for path in (ROOT / "tinytorch").rglob("*.py"):
        assert imported(path) - sys.stdlib_module_names <= {"numpy", "tinytorch"}, path


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_lock_has_it(name: str) -> None:
    lock = "".join((ROOT / f"requirements{part}.lock").read_text(encoding="utf-8") for part in ("", "-site"))
    assert re.search(rf"^{re.escape(name)}==", lock, re.MULTILINE | re.IGNORECASE), "run `make lock`"
