"""The course in a browser: JupyterLite with the kits in it, and Pyodide, which is Python for browsers."""

import calendar
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

from grader.classroom import write_whole
from grader.course import ROOT
from grader.errors import CourseError
from grader.kit import DATE, kit_files, lock_entry
from grader.printable import printable
from grader.student_copies import beside

PYODIDE = "0.27.7"
NETWORK = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full"
CORE_NETWORK = f"https://cdn.jsdelivr.net/npm/pyodide@{PYODIDE}"
CACHE = ROOT / ".cache"
LIST = "pyodide-lock.json"  # names each package's file with its sha256
CORE = {
    LIST: "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
}
# what the kernel loads when it starts, and what the notebooks import; what these need comes with them
LOADED = ("micropip", "ssl", "sqlite3", "jedi", "ipython", "numpy", "matplotlib")
PURE = "comm"  # the kernel needs it, and Pyodide does not have it
EXTENSION = "@jupyterlite/pyodide-kernel-extension"
KERNELSPEC = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},  # seconds: a closed tab loses little
    "@jupyterlab/notebook-extension:tracker": {
        "windowingMode": "defer",  # the browser's own search sees every cell
        "autoStartDefaultKernel": True,  # a notebook begun at home names another kernel; there is only one here
    },
    "@jupyterlab/mainmenu-extension:plugin": {
        "menus": [{"id": "jp-mainmenu-file", "items": [{"command": "docmanager:download", "rank": 6}]}]
    },
    # what is handed in is the downloaded file, so the way to it is always in sight
    "@jupyterlab/notebook-extension:panel": {
        "toolbar": [{"name": "download", "command": "docmanager:download", "label": "Download", "rank": 45}]
    },
}
# JupyterLite names a download by its whole path, and browsers make tinytorch-04_attention_attention.ipynb of that
NAME_ALONE = """<script>
addEventListener("click", event => {
  if (event.target.download) event.target.download = event.target.download.split("/").pop()
}, true)
</script>
"""
# without a service worker cells run without the course's files, or never end, and nothing says why
UNREACHED = """<div id="unreached" role="alert" hidden
style="position: fixed; inset: auto 0 0; z-index: 10000; padding: 12px 16px; background: #fff4d6; color: #222;
border-top: 2px solid #8a6d00; font: 15px/1.4 sans-serif">
The course does not run in this window, which does not let the page keep data or start a service worker.
Use an ordinary window, not a private one, let this site keep data, and see that the address begins with https.
Or take the kit from <a href="../../index.html">the start page</a>.
</div>
<script>
addEventListener("load", async () => {
  const notice = document.getElementById("unreached")
  try {
    await new Promise((opened, failed) => Object.assign(indexedDB.open("kept"), { onsuccess: opened, onerror: failed }))
    if (crossOriginIsolated) return
    navigator.serviceWorker.ready.then(() => { clearTimeout(late); notice.hidden = true })
    const late = setTimeout(() => { notice.hidden = false }, 10000)
  } catch {
    notice.hidden = false
  }
})
</script>
"""
# a renamed notebook gets an address that only a Jupyter server answers, and a reload finds nothing there
RENAMED = """<script>
for (const change of ["pushState", "replaceState"]) {
  const method = History.prototype[change]
  History.prototype[change] = function (state, title, url) {
    return method.call(this, state, title, url && String(url).replace(/\\/notebooks\\/([^/?#]+\\.ipynb)$/, "/notebooks/index.html?path=$1"))
  }
}
</script>
"""
WITHOUT_SCRIPTS = """<noscript>
<p>Python runs here in scripts, and this browser has them switched off. <a href="../../index.html">The pages to read</a> need none.</p>
</noscript>
"""


def build(folder: Path, modules: Sequence[str], bundle: bool) -> None:
    """Write JupyterLite into a folder, with what a student needs of each module; with bundle, Pyodide is in it.

    Raises CourseError where a package or a file of Pyodide cannot be had.
    """
    pyodide = bundled() if bundle else {}
    seconds = calendar.timegm(DATE)
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        for module in modules:
            for name, data in browser_files(module).items():
                path = work / "contents" / f"tinytorch-{module}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        for path in (work / "contents").rglob("*"):
            os.utime(path, (seconds, seconds))
        shutil.copy(wheel(PURE), work)
        _configure(work, bundle)
        _run_jupyterlite(work, seconds)
        for page in (work / "site").glob("*/index.html"):
            html = page.read_text(encoding="utf-8")
            html = html.replace("</head>", f"{NAME_ALONE}{RENAMED}</head>").replace(
                "</body>", f"{UNREACHED}{WITHOUT_SCRIPTS}</body>"
            )
            page.write_text(html, encoding="utf-8")
        for path in sorted((work / "site").rglob("*")):
            if path.is_file():
                write_whole(folder / path.relative_to(work / "site"), path.read_bytes())
    for name, data in pyodide.items():
        write_whole(folder / "static" / "pyodide" / name, data)


def browser_files(module: str) -> dict[str, bytes]:
    """Name and content of what a kit has for a browser: the notebook and what lies beside it, the library, the checks."""
    found = beside(module)
    for name, data in kit_files(module).items():
        if name.startswith(("tinytorch/", "exercises/")):
            found[name] = data
        elif name.endswith(".ipynb"):
            notebook = json.loads(data)
            notebook["metadata"] |= {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
            found[name] = f"{json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)}\n".encode()
    return found


def _configure(work: Path, bundle: bool) -> None:
    """What JupyterLite reads when it is built, and when it is opened."""
    extension = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / EXTENSION
    if not extension.is_dir():
        raise CourseError("JupyterLite is not installed; `make site` installs it and makes the site")
    building = {
        "LiteBuildConfig": {
            "apps": ["notebooks", "lab", "tree"],
            "contents": ["contents"],
            "federated_extensions": [str(extension)],
            "ignore_sys_prefix": ["federated_extensions"],  # what else is installed here is nothing for students
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
            "output_dir": "site",
        },
        "PipliteAddon": {"piplite_urls": sorted(path.name for path in work.glob("*.whl"))},
    }
    url = "./static/pyodide/pyodide.js" if bundle else f"{NETWORK}/pyodide.js"
    opened = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "exposeAppInBrowser": True,
            "litePluginSettings": {f"{EXTENSION}:kernel": {"pyodideUrl": url, "disablePyPIFallback": True}},
            "settingsOverrides": SETTINGS,
        },
    }
    for name, content in (("jupyter_lite_config.json", building), ("jupyter-lite.json", opened)):
        (work / name).write_text(json.dumps(content), encoding="utf-8")


def _run_jupyterlite(work: Path, seconds: int) -> None:
    command = [sys.executable, "-P", "-m", "jupyterlite_core", "build"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(seconds)}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-12:]
        raise CourseError("JupyterLite could not be built:\n" + printable("\n".join(last)))


def wheel(package: str) -> Path:
    """The wheel of a package, in the version and with one of the digests of requirements.lock; fetched once."""
    entry = lock_entry(package, (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    digests = set(re.findall(r"sha256:(\w+)", entry))
    folder = CACHE / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    for again in (False, True):
        for path in sorted(folder.glob(f"{package}-*.whl")):
            if _sha256(path.read_bytes()) in digests:
                return path
        if not again:
            _download(entry, folder)
    raise CourseError(f"{package}: what pip brought is not what requirements.lock names; run `make lock`")


def _download(entry: str, folder: Path) -> None:
    wanted = entry.split(" ", 1)[0]
    with tempfile.TemporaryDirectory() as made:
        listed = Path(made) / "listed.txt"
        listed.write_text(entry, encoding="utf-8")
        command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--require-hashes", "--dest", str(folder), "--requirement", str(listed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = printable((done.stderr.strip().splitlines() or [""])[-1])
        raise CourseError(
            f"{wanted}: its wheel cannot be had ({said}); see whether this machine reaches PyPI, and give the same command again"
        )


def bundled() -> dict[str, bytes]:
    """Name and content of every file of Pyodide that the browser loads. Raises CourseError for one that cannot be had."""
    found = {name: fetched(name, digest, CORE_NETWORK) for name, digest in CORE.items()}
    listed = json.loads(found[LIST])["packages"]
    for package in sorted(with_what_they_need(LOADED, listed)):
        entry = listed[package]
        found[entry["file_name"]] = fetched(entry["file_name"], entry["sha256"], NETWORK)
    return found


def with_what_they_need(packages: Sequence[str], listed: Mapping[str, Any]) -> set[str]:
    """Names, as in Pyodide's list, of packages and of all that they need."""
    found: set[str] = set()
    wanted = list(packages)
    while wanted:
        name = wanted.pop().lower().replace("_", "-")
        if name not in found:
            found.add(name)
            wanted += listed[name]["depends"]
    return found


def fetched(name: str, digest: str, network: str) -> bytes:
    """A file of Pyodide by its digest, from the cache or from the network, which fills the cache."""
    kept = CACHE / f"pyodide-{PYODIDE}" / name
    data = kept.read_bytes() if kept.is_file() else b""
    if _sha256(data) == digest:
        return data
    shown = kept.relative_to(ROOT)
    try:
        with urllib.request.urlopen(f"{network}/{name}", timeout=60) as answer:  # noqa: S310  (https, as written above)
            data = bytes(answer.read())
    except (OSError, HTTPException) as error:
        raise CourseError(
            f"{name}, a part of Pyodide, cannot be had from {network} ({error}); put it at {shown}, or leave BUNDLE=1 out"
        ) from None
    if _sha256(data) != digest:
        raise CourseError(
            f"{name}: what {network} sends is not the file with the sha256 {digest}; put that one at {shown}, or leave "
            "BUNDLE=1 out"
        )
    write_whole(kept, data)
    return data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
