"""The command line that makes the jail (https://github.com/containers/bubblewrap): which files are inside, and where.

Inside are the interpreter, its packages, the library of the modules before the one graded, and what of the grader has to be
there, all read-only; no network, no /proc, no home.
"""

import os
import shutil
import site
import sys
from pathlib import Path

from grader.course import ROOT
from grader.sandbox.walls import DEVICES, SHM

INSIDE = Path("/jail")  # where our own files are, inside
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


def command_line(names: list[str]) -> list[str]:
    """The command that makes the jail, up to the program to run in it; `names` are the library's files inside."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    command += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "jail", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        command += ["--unshare-user"]
    for capability in ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL"):
        command += ["--cap-add", capability]
    command += ["--tmpfs", "/", "--perms", "1777", "--tmpfs", "/scratch"]
    command += ["--perms", "0755", "--dir", "/dev", "--perms", "0755", "--dir", SHM]
    command += [a for device in DEVICES for a in ("--dev-bind", f"/dev/{device}", f"/dev/{device}")]
    seen: list[Path] = []
    for path in _interpreter():
        if path.exists() and not any(path.is_relative_to(s) for s in seen):
            command += [*_folders(path, seen), "--ro-bind", str(path), str(path)]
            seen.append(path)
    for link in (Path("/lib"), Path("/lib64")):
        if link.is_symlink():
            command += ["--symlink", str(link.readlink()), str(link)]
        elif link.is_dir():
            command += ["--ro-bind", str(link), str(link)]
    for package in site.getsitepackages():  # the library, if it is installed and not only linked
        if (Path(package) / "tinytorch").is_dir():
            command += ["--tmpfs", str(Path(package) / "tinytorch")]
    files = _files(names)
    for folder in dict.fromkeys((INSIDE / target).parent for target in files):
        command += _folders(folder / "x", seen)
    for target, path in files.items():
        command += ["--ro-bind", str(path), str(INSIDE / target)]
    return [*command, "--remount-ro", "/", "--chdir", "/scratch", "--"]


def copy_files(folder: Path, names: list[str]) -> None:
    """The same files of ours in a folder, for a process that is not jailed."""
    for target, path in _files(names).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / target)


def hidden_paths() -> list[str]:
    """What must not be there, seen from inside: the course, the class, and all of the home but the way to Python."""
    home, inside = Path.home(), _interpreter()
    theirs = [p for p in home.iterdir() if not any(i.is_relative_to(p) or p.is_relative_to(i) for i in inside)]
    return [str(p) for p in (*(ROOT / name for name in SECRET), *theirs)]


def _files(names: list[str]) -> dict[str, Path]:
    """Where in the jail each file of ours is."""
    library = ["tinytorch/__init__.py", "tinytorch/core/__init__.py", *(f"tinytorch/core/{n}.py" for n in names)]
    return OURS | {name: ROOT / name for name in library}


def _interpreter() -> list[Path]:
    """Python, its packages, and the libraries that they are linked with."""
    executable = Path(sys.executable)
    paths = [Path("/usr/lib"), Path("/usr/lib64"), Path("/etc/ld.so.cache"), Path(sys.base_prefix), Path(sys.prefix)]
    paths += [executable, executable.resolve(), *map(Path, site.getsitepackages())]
    return [Path("/usr/bin") if path == Path("/usr") else path for path in paths]  # of the system's Python, not all


def _folders(path: Path, mounted: list[Path]) -> list[str]:
    """Arguments that make the folders above a path; bubblewrap itself would close them to others than root."""
    above = [p for p in reversed(path.parents[:-1]) if not any(p.is_relative_to(m) for m in mounted)]
    return [argument for p in above for argument in ("--perms", "0755", "--dir", str(p))]
