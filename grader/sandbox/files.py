"""Which files a jail sees, whatever it is made of: Python, its packages, and what of ours has to be there."""

import itertools
import os
import shutil
import site
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.course import ROOT
from grader.sandbox.walls import INSTALLED

# what of ours a student's process imports, besides the library: path inside -> path in the project
OURS = {
    name: ROOT / name
    for name in (
        "exercises/__init__.py",
        *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "exercises" / "probes").glob("*.py"))),
        "exercises/problem.py",
        "exercises/stand_ins.py",
        "grader/__init__.py",
        "grader/sandbox/__init__.py",
        "grader/sandbox/calls.py",
        "grader/sandbox/copies.py",
        "grader/sandbox/landlock.py",
        "grader/sandbox/wire.py",
        "grader/sandbox/walls.py",
        "grader/sandbox/worker.py",
    )
}
SECRET = (
    *("solutions", "autograded_tests", "exercises", "grader", "tinytorch", "tests", ".git"),
    *("classroom", "classroom-sample", "workspace"),
)

DEEPEST = 100  # folder that a submission may make
# where packages are, below a folder of libraries
PACKAGES = ("*", "*/site-packages", "*/dist-packages")


def ours(names: list[str]) -> dict[str, Path]:
    """Our files by their path inside; `names` are the modules of the library."""
    library = ["tinytorch/__init__.py", "tinytorch/core/__init__.py", *(f"tinytorch/core/{n}.py" for n in names)]
    return OURS | {name: ROOT / name for name in library}


def copy_ours(folder: Path, names: list[str]) -> None:
    """The same files in a folder, where nothing can be mounted; everyone may read them."""
    for target, path in ours(names).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / target)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


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


def readable() -> tuple[list[str], list[str]]:
    """What may be read where nothing can be mounted, with all that is in it; and the folders on the way to what is masked."""
    paths = interpreter()
    closed = masked(paths)
    whole: list[str] = []
    split: list[str] = []
    while paths:
        path = paths.pop()
        if any(c.is_relative_to(path) for c in closed):
            split.append(str(path))
            paths += [p for p in path.iterdir() if p not in closed] if path.is_dir() and path not in closed else []
        else:
            whole.append(str(path))
    return whole, split


def everyone_may_read() -> bool:
    """Whether any user may read Python and its packages."""
    above = {parent for path in interpreter() for parent in (*path.parents, *path.resolve().parents)}
    return all(folder.stat().st_mode & 0o001 for folder in above) and all(
        path.stat().st_mode & 0o004 for path in interpreter()
    )


def remove(folder: Path) -> None:
    """Remove a folder and all that is in it, however deep it is and whatever its modes are."""
    if folder.is_symlink() or not folder.is_dir():
        return
    number = itertools.count()
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        here.chmod(0o700)
        for entry in list(here.iterdir()):
            if entry.is_symlink() or not entry.is_dir():
                entry.unlink()
            else:
                entry.chmod(0o700)
                waiting.append(entry.rename(f"{folder}.{next(number)}"))
        here.rmdir()


def too_much(folder: str, most_bytes: int, most_files: int) -> bool:
    """Whether more is in a folder than that, or what cannot be counted, or folders in folders that nobody needs."""
    size, count, waiting = 0, 0, [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    count += 1
                    with suppress(FileNotFoundError):  # it goes on changing: what has gone is not counted
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
                        waiting += [(entry.path, depth + 1)] if entry.is_dir(follow_symlinks=False) else []
                    if size > most_bytes or count > most_files or depth > DEEPEST:
                        return True
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def hidden() -> list[str]:
    """What must not be there, seen from inside: the course, the class, and all of the home but the way to Python."""
    inside, around = interpreter(), list[Path]()
    with suppress(OSError, RuntimeError):  # there is no home, or nobody may read it
        home = Path.home()
        around = list(home.iterdir()) if home != Path("/") else []
    theirs = [p for p in around if not any(i.is_relative_to(p) or p.is_relative_to(i) for i in inside)]
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
