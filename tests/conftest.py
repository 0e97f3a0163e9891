"""What all tests share; pytest's own settings are in pyproject.toml.

GRADER_TEST_PATIENCE  a factor for every time limit, for slow machines; 1 if not given
CI                    where it is set, a test that is skipped fails, but for those that MAY_BE_SKIPPED
"""

import os
import re
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from limits import PATIENCE, QUICK, chromium

from grader.course import ROOT, Assignment, load_assignment
from grader.sandbox.check_jail import open_jail
from grader.sandbox.jail import Jail

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NEED = {"jail": "jail", "browser": "browser"}  # a test with this fixture has this mark
PROGRAMS = {"jail": (("bwrap",), "bubblewrap"), "browser": (("chromium", "chromium-browser"), "chromium")}
# PyTorch is too large for the locked packages, and hardly a machine has every Python
MAY_BE_SKIPPED = re.compile(r"package (torch|python3\.\d+) is not installed|NumPy [\d.]+ has no wheels for Python")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every test its time limit, multiplied by the patience that is asked for, and its marks."""
    for item in items:
        mark = item.get_closest_marker("timeout")
        seconds = float(mark.args[0] if mark else config.getini("timeout"))
        item.add_marker(pytest.mark.timeout(seconds * PATIENCE), append=False)
        for fixture, name in NEED.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(name)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a program that is not on this machine."""
    for name, (programs, package) in PROGRAMS.items():
        if item.get_closest_marker(name) and not any(map(shutil.which, programs)):
            pytest.skip(f"package {package} is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped(report)
    return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI everything that a test needs is installed, so a skipped test is a mistake."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not MAY_BE_SKIPPED.search(reason):
            report.outcome = "failed"
            report.longrepr = f"in CI nothing may be skipped: {reason}"


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    """A jail for 04_attention with short limits."""
    jail = open_jail("04_attention", QUICK)
    yield jail
    jail.close()


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return load_assignment("04_attention")


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample class, not graded yet."""
    shutil.copytree(ROOT / "examples" / "class", tmp_path / "submitted")
    return tmp_path
