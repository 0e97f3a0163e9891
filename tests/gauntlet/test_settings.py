"""The gauntlet again: as other users than the one who runs the tests, and where there are no namespaces."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inside import AS_REAL_USER, AS_USER, in_sight, without_namespaces

from grader.course import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.slow, pytest.mark.timeout(1200)]

PYTEST = (
    "-m",
    "pytest",
    "-q",
    "-m",
    "not slow",
    "-p",
    "no:cacheprovider",
    str(Path(__file__).with_name("test_gauntlet.py")),
)
PYTHON = (sys.executable, "-P", *PYTEST)
SETTINGS = {"no namespaces": without_namespaces(*PYTEST)}
if os.geteuid() == 0:  # only root can become others
    SETTINGS |= {"user of a namespace": [*AS_USER, *PYTHON], "real user": in_sight(*AS_REAL_USER, *PYTHON)}


@pytest.mark.parametrize("setting", SETTINGS)
def test_all_kinds_of_submissions(setting):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(SETTINGS[setting], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
