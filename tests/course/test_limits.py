"""Every test has a time limit, and in CI no test is skipped: the hooks of conftest.py, tried on small tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = """
import time
import pytest

def test_limit_of_the_settings():
    time.sleep(0.2)

@pytest.mark.timeout(600)
def test_limit_of_its_own():
    time.sleep(0.2)

def test_no_browser():
    pytest.skip("package chromium is not installed")

@pytest.mark.timeout(600_000)
def test_no_pyodide(tmp_path):
    import pyodide
    pyodide.FOLDER = tmp_path / "pyodide"
    pyodide.needed()

@pytest.mark.timeout(600_000)
def test_no_packages_for_pyodide(tmp_path):
    import pyodide
    pyodide.FOLDER = tmp_path
    for name in pyodide.FROM_NPM:
        (tmp_path / name).write_text('{"packages": {"numpy": {"file_name": "n", "sha256": "", "depends": []}}}')
    pyodide.LOADED = ("numpy",)
    pyodide.needed()

def test_no_torch():
    pytest.importorskip("torch_is_not_here", reason="package torch is not installed")

def test_no_wheel():
    pytest.skip("NumPy 2.0.2 has no wheels for Python 3.14")

@pytest.mark.xfail(reason="known")
def test_known():
    raise AssertionError
"""
NO_PYODIDE = ("test_no_pyodide", "test_no_packages_for_pyodide")
NOBODY = "http://127.0.0.1:9"  # no registry answers there
OFFLINE = {
    "npm_config_registry": NOBODY,
    "npm_config_fetch_retries": "0",
    "PIP_INDEX_URL": NOBODY,
    "PIP_RETRIES": "0",
    "PIP_CONFIG_FILE": os.devnull,
}
SKIPPED = 'import pytest\npytest.skip("no database", allow_module_level=True)\n'


def outcomes(folder: Path, **environment: str) -> dict[str, str]:
    """Name of each small test (or file that is skipped whole) and what pytest says of it, with our settings and hooks."""
    (folder / "test_small.py").write_text(SMALL, encoding="utf-8")
    (folder / "test_skipped.py").write_text(SKIPPED, encoding="utf-8")
    names = {k: v for k, v in os.environ.items() if k not in ("CI", "GRADER_TEST_PATIENCE")}
    names |= {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])} | OFFLINE | environment
    command = [sys.executable, "-P", "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-p", "conftest", "--continue-on-collection-errors", "--junitxml=said.xml"]
    subprocess.run([*command, str(folder)], cwd=folder, env=names, capture_output=True, check=False)
    said = (folder / "said.xml").read_text(encoding="utf-8")
    cases = re.findall(
        r'<testcase classname="[^"]*" name="([^"]*)" time="[^"]*"(?: />|>(.*?)</testcase>)', said, re.DOTALL
    )
    return dict(cases)


@pytest.mark.long
def test_elsewhere_nothing_changes(tmp_path: Path) -> None:
    said = outcomes(tmp_path)
    assert said["test_limit_of_the_settings"] == said["test_limit_of_its_own"] == ""
    for name in ("test_no_browser", "test_no_torch", "test_no_wheel", "test_known", "test_skipped", *NO_PYODIDE):
        assert said[name].startswith("<skipped"), said
    for name in NO_PYODIDE:
        assert re.search(r"package (pyodide|nodejs|npm) is not installed", said[name]), said


@pytest.mark.long
def test_in_ci_a_skip_is_a_failure_and_limits_are_multiplied_by_the_patience(tmp_path: Path) -> None:
    said = outcomes(tmp_path, CI="1", GRADER_TEST_PATIENCE="0.0003")
    for name in ("test_limit_of_the_settings", "test_limit_of_its_own"):
        assert "Timeout" in said[name]
    assert "in CI nothing may be skipped: Skipped: package chromium" in said["test_no_browser"]
    assert "in CI nothing may be skipped: Skipped: no database" in said["test_skipped"]
    for name in NO_PYODIDE:
        assert re.search(r"in CI nothing may be skipped: Skipped: package (pyodide|nodejs|npm) ", said[name])
    for name in ("test_no_torch", "test_no_wheel", "test_known"):
        assert said[name].startswith("<skipped"), said
