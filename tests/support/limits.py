"""How long tests wait, and what they need of the machine."""

import os
import shutil

from grader.sandbox.limits import Limits

PATIENCE = float(os.environ.get("GRADER_TEST_PATIENCE", "1"))  # a factor for every time limit
QUICK = Limits(
    cell_time=2 * PATIENCE, probe_time=1.5 * PATIENCE, whole_time=30 * PATIENCE, own_time=4 * PATIENCE, memory=800 << 20
)


def chromium() -> str:
    """Where Chromium is; tests with the mark `browser` are skipped where it is not."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
