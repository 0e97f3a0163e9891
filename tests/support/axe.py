"""axe-core, which looks for what keeps people with disabilities out of a page, fetched once: python tests/support/axe.py"""

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from grader.classroom import write_whole
from grader.course import ROOT

VERSION = "4.10.3"
DIGEST = "0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292"
SCRIPT = ROOT / ".cache" / f"axe-{VERSION}.js"
RUN = """async () => {
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations
        .filter(rule => ["serious", "critical"].includes(rule.impact))
        .map(rule => `${rule.id}: ${rule.help}: ${rule.nodes.slice(0, 3).map(node => node.html).join(" ")}`);
}"""


def script() -> str:
    """axe-core's script. Raises OSError or subprocess.CalledProcessError where it cannot be had."""
    if not SCRIPT.exists():
        with tempfile.TemporaryDirectory() as folder:
            pack = ["npm", "pack", "--silent", f"axe-core@{VERSION}"]
            subprocess.run(pack, cwd=folder, check=True, capture_output=True)
            packed = Path(folder) / f"axe-core-{VERSION}.tgz"
            if hashlib.sha256(packed.read_bytes()).hexdigest() != DIGEST:
                raise OSError(f"axe-core {VERSION} from npm is not the file that was looked at")
            with tarfile.open(packed) as archive:
                content = archive.extractfile("package/axe.min.js")
                assert content is not None
                write_whole(SCRIPT, content.read())
    return SCRIPT.read_text(encoding="utf-8")


def serious(page: Any) -> list[str]:
    """The serious and critical findings on a page of Playwright's, whose context passes over its policy (bypass_csp)."""
    page.evaluate(script())
    return list(page.evaluate(RUN))


if __name__ == "__main__":
    script()
