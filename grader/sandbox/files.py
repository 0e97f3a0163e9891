"""Which files a jail sees, whatever it is made of: Python, its packages, and what of ours has to be there."""

import os
import shutil
import site
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from grader.course import ROOT
from grader.sandbox.walls import INSTALLED

# what of ours a student's process imports, besides the library: path inside -> path in the project
OURS = {
    name: ROOT / name
    for name in (
        "exercises/__init__.py",
        "exercises/probes.py",
        "exercises/problem.py",
        "exercises/stand_ins.py",
        "grader/__init__.py",
        "grader/sandbox/__init__.py",
        "grader/sandbox/calls.py",
        "grader/sandbox/copies.py",
        "grader/sandbox/wire.py",
        "grader/sandbox/walls.py",
        "grader/sandbox/worker.py",
    )
}
SECRET = (
    *("solutions", "autograded_tests", "exercises", "grader", "tinytorch", "tests", ".git"),
    *("classroom", "classroom-sample", "workspace"),
)

# where packages are, below a folder of libraries
PACKAGES = ("*", "*/site-packages", "*/dist-packages")


def ours(names: list[str]) -> dict[str, Path]:
    """Our files by their path inside; `names` are the modules of the library."""
    library = ["tinytorch/__init__.py", "tinytorch/core/__init__.py", *(f"tinytorch/core/{n}.py" for n in names)]
    return OURS | {name: ROOT / name for name in library}


def copy_ours(folder: Path, names: list[str]) -> None:
    """The same files in a folder, where nothing can be mounted."""
    for target, path in ours(names).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / target)


def interpreter() -> list[Path]:
    """Python, its packages, and the libraries that they are linked with; none lies in one before it."""
    executable = Path(sys.executable)
    paths = [Path("/usr/lib"), Path("/usr/lib64"), Path("/etc/ld.so.cache"), Path("/lib"), Path("/lib64")]
    for prefix in _prefixes():
        paths += [prefix / part for part in ("lib", "lib64", "pyvenv.cfg")]
    paths += [executable, executable.resolve(), *map(Path, site.getsitepackages())]
    seen: list[Path] = []
    for path in paths:
        real = path.resolve() if path.is_dir() else path
        if path.exists() and not any(real.is_relative_to(s) for s in seen):
            seen.append(path)
    return seen


def links() -> list[Path]:
    """Links between folders of libraries, by which programs and packages find each other."""
    places = [Path("/"), *_prefixes()]
    return [place / part for place in places for part in ("lib", "lib64") if (place / part).is_symlink()]


def _prefixes() -> list[Path]:
    """Of this Python, and of the one that its virtual environment was made by."""
    return list(dict.fromkeys(map(Path, (sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix))))


def masked(paths: list[Path]) -> list[Path]:
    """What of these paths must be hidden: the library, the tests and the like, wherever they are installed."""
    found = [entry for path in paths for folder in _packages(path) for entry in folder.iterdir() if _is_ours(entry)]
    found = [entry.resolve() if entry.is_symlink() else entry for entry in found]
    return [
        f for f in dict.fromkeys(found) if any(f.is_relative_to(p) for p in paths) and not set(f.parents) & set(found)
    ]


def hidden() -> list[str]:
    """What must not be there, seen from inside: the course, the class, and all of the home but the way to Python."""
    home, inside = Path.home(), interpreter()
    theirs = [p for p in home.iterdir() if not any(i.is_relative_to(p) or p.is_relative_to(i) for i in inside)]
    return [str(p) for p in (*(ROOT / name for name in SECRET), *theirs)]


def _packages(path: Path) -> Iterator[Path]:
    """Folders below a path that can be on the path of a Python."""
    for folder in [path, *(found for pattern in PACKAGES for found in path.glob(pattern))]:
        if folder.is_dir() and os.access(folder, os.R_OK):
            yield folder
            yield from (egg for egg in folder.glob("*.egg") if egg.is_dir())


def _is_ours(entry: Path) -> bool:
    if entry.suffix == ".egg" and zipfile.is_zipfile(entry):
        with zipfile.ZipFile(entry) as egg:
            return any(name.startswith(INSTALLED) for name in egg.namelist())
    return entry.name.startswith(INSTALLED) and not entry.name.endswith("-info")
