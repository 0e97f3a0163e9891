"""pytest's own settings are in pyproject.toml; this makes the modules beside the tests importable."""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from collections.abc import Iterator  # noqa: E402

import pytest  # noqa: E402

from grader.course import Assignment, load_assignment  # noqa: E402
from grader.sandbox.check import open_jail  # noqa: E402
from grader.sandbox.jail import Jail  # noqa: E402
from grader.sandbox.limits import Limits  # noqa: E402

PATIENCE = float(os.environ.get("GRADER_TEST_PATIENCE", "1"))  # more on a slow or busy machine
QUICK = Limits(cell_time=2 * PATIENCE, probe_time=1.5 * PATIENCE, whole_time=30 * PATIENCE, memory=800 << 20)


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
