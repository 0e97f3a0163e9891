"""pytest's own settings are in pyproject.toml; this makes the modules beside the tests importable.

GRADER_TEST_PATIENCE  a factor for every time limit, for slow machines; 1 if not given
CI                    where it is set, a test that is skipped fails, but for those that MAY_BE_SKIPPED
"""

import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "support"), str(HERE / "gauntlet")]

from collections.abc import Generator, Iterator

import pytest

from grader.course import Assignment, load_assignment
from grader.sandbox.check import open_jail
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits

PATIENCE = float(os.environ.get("GRADER_TEST_PATIENCE", "1"))
QUICK = Limits(cell_time=2 * PATIENCE, probe_time=1.5 * PATIENCE, whole_time=30 * PATIENCE, memory=800 << 20)
# PyTorch is too large for the locked packages, and hardly a machine has every Python
MAY_BE_SKIPPED = re.compile(r"package (torch|python3\.\d+) is not installed|NumPy [\d.]+ has no wheels for Python")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give every test its time limit, multiplied by the patience that is asked for."""
    for item in items:
        mark = item.get_closest_marker("timeout")
        seconds = float(mark.args[0] if mark else config.getini("timeout"))
        item.add_marker(pytest.mark.timeout(seconds * PATIENCE), append=False)


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
    """A jail for 04_attention with short limits. No bubblewrap is a failure, not a reason to skip."""
    jail = open_jail("04_attention", QUICK)
    yield jail
    jail.close()


@pytest.fixture(scope="session")
def assignment() -> Assignment:
    return load_assignment("04_attention")


def chromium() -> str:
    """Where Chromium is. A test that needs it is skipped where it is not installed, but not in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None and not os.environ.get("CI"):
        pytest.skip("package chromium is not installed")
    return found or "chromium"
