"""The command line that makes the jail (https://github.com/containers/bubblewrap): which files are inside, and where.

Inside is what files.py lists, all read-only; no network, no /proc, no home.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from grader.sandbox import files
from grader.sandbox.walls import DEVICES, SHM

INSIDE = Path("/jail")  # where our own files are, inside


def program() -> str | None:
    """Where bubblewrap is, if it is installed."""
    return shutil.which("bwrap")


def trouble() -> str:
    """Why it cannot make a jail here, in its own words; empty if it can."""
    if program() is None:
        return "bubblewrap is not installed"
    command = [*command_line([]), sys.executable, "-I", "-S", "-c", ""]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={}, check=False)
    return ["it does not start", *done.stderr.strip().splitlines()][-1] if done.returncode else ""


def command_line(names: list[str]) -> list[str]:
    """The command that makes the jail, up to the program to run in it; `names` are the library's files inside."""
    command = [program() or "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net"]
    command += ["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "jail", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        command += ["--unshare-user"]
    for capability in ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL"):
        command += ["--cap-add", capability]
    command += ["--tmpfs", "/", "--perms", "1777", "--tmpfs", "/scratch"]
    command += ["--perms", "0755", "--dir", "/dev", "--perms", "0755", "--dir", SHM]
    command += [a for device in DEVICES for a in ("--dev-bind", f"/dev/{device}", f"/dev/{device}")]
    seen: list[Path] = []
    for path in files.interpreter():
        command += [*_folders(path, seen), "--ro-bind", str(path), str(path)]
        seen.append(path)
    for link in files.links():
        if link not in seen:
            command += [*_folders(link, seen), "--symlink", str(link.readlink()), str(link)]
    for path in files.masked(seen):
        empty = ["--tmpfs", str(path), "--remount-ro", str(path)]
        command += empty if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
    ours = files.ours(names)
    for folder in dict.fromkeys((INSIDE / target).parent for target in ours):
        command += _folders(folder / "x", seen)
    for target, path in ours.items():
        command += ["--ro-bind", str(path), str(INSIDE / target)]
    return [*command, "--remount-ro", "/", "--chdir", "/scratch", "--"]


def _folders(path: Path, mounted: list[Path]) -> list[str]:
    """Arguments that make the folders above a path; bubblewrap itself would close them to others than root."""
    above = [p for p in reversed(path.parents[:-1]) if not any(p.is_relative_to(m) for m in mounted)]
    return [argument for p in above for argument in ("--perms", "0755", "--dir", str(p))]
