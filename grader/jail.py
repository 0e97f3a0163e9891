"""A warm process in a jail, copied for each submission.

The jail is bubblewrap's (https://github.com/containers/bubblewrap): the interpreter, its packages, the library of the
modules before the one graded, probes.py and grader/worker.py, all read-only; no network, no /proc, no home. Each submission's
copy gets namespaces, a scratch folder and limits of its own (see `enclose` in grader/worker.py).
"""

import itertools
import json
import os
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.course import ROOT, modules

NONE, BUBBLEWRAP = "none", "bwrap"


class JailError(Exception):
    """No jail can be made here, or it does not hold; the message says what to do."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Times in seconds, sizes in bytes."""

    cell_time: float = 10
    probe_time: float = 4
    whole_time: float = 60
    memory: int = 1536 << 20  # address space, of which the warm process has about 400 MB
    threads: int = 16  # in one process; it can start no other
    file_size: int = 16 << 20
    scratch: int = 64 << 20
    output: int = 10_000  # characters of one cell
    reply: int = 64 << 20


class Jail:
    """Copies of a warm process. May be used by several threads.

    module      the module graded: only the library of those before it is inside
    kind        "bwrap", or "none" for a process that is not jailed at all
    namespaces  False where the kernel allows no namespaces inside the jail: then each submission gets a new jail
    """

    def __init__(
        self, module: str, limits: Limits | None = None, kind: str = BUBBLEWRAP, namespaces: bool = True
    ) -> None:
        self.module, self.limits, self.kind = module, limits or Limits(), kind
        self.namespaces = namespaces and kind == BUBBLEWRAP
        self._lock, self._slots = threading.Lock(), itertools.count(1)
        self._fresh: dict[int, Jail] = {}
        self._start()

    def _start(self) -> None:
        """Start the warm process; it warms up while we do something else."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ready, self._scratch = False, ""
        earlier = modules()[: modules().index(self.module)]
        names = [m.partition("_")[2] for m in earlier]
        settings = {
            "limits": asdict(self.limits),
            "namespaces": self.namespaces,
            "enclosed": self.kind == BUBBLEWRAP,
            # a user who owns nothing; without this the limit on threads would not hold for root
            "uid": 60000 if self.kind == BUBBLEWRAP and os.geteuid() == 0 else None,
        }
        arguments = [str(theirs.fileno()), json.dumps(settings)]
        environment = {"GRADER_MODULES": " ".join(names), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"MALLOC_ARENA_MAX": "2"}  # else every thread takes 64 MB of address space
        environment |= {"GRADER_HIDDEN": os.pathsep.join(_hidden()), "LANG": "C.UTF-8", "MPLBACKEND": "Agg"}
        environment |= {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS_") and k not in environment}
        if self.kind == BUBBLEWRAP:
            environment |= {"HOME": "/scratch", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "/jail"}
            environment |= {"MPLCONFIGDIR": "/scratch/mpl", "IPYTHONDIR": "/scratch/ipython"}
            command = [*_bubblewrap(names), sys.executable, "/jail/worker.py", *arguments]
        else:
            self._scratch = tempfile.mkdtemp()
            _copy_library(Path(self._scratch), names)
            environment |= {"GRADER_SCRATCH": self._scratch, "HOME": self._scratch, "PYTHONPATH": self._scratch}
            command = [sys.executable, f"{self._scratch}/worker.py", *arguments]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the jail)
        self._process = subprocess.Popen(
            command,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for us
            cwd="/",
        )
        theirs.close()

    def _wait_until_warm(self) -> None:
        self._control.settimeout(60)
        try:
            warm = self._ready or self._control.recv(64) == b"ready"
        except TimeoutError:
            warm = False
        if not warm:
            self._process.kill()
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
            self.close()
            raise JailError(f"the jail did not start: {text.splitlines()[-1] if text else 'no word from it'}")
        self._ready = True

    def open(self) -> tuple[socket.socket, int]:
        """A new copy of the warm process: a socket for grader/worker.py's messages, and a number to end it by."""
        slot = next(self._slots)
        if self.kind == BUBBLEWRAP and not self.namespaces:
            jail = self._fresh[slot] = Jail(self.module, self.limits, self.kind, namespaces=False)
            return jail._copy(slot), slot
        return self._copy(slot), slot

    def _copy(self, slot: int) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._lock, theirs:
            self._wait_until_warm()
            socket.send_fds(self._control, [f"start {slot}".encode()], [theirs.fileno()])
            answer = self._control.recv(200).decode(errors="replace")
        if answer != "started":
            ours.close()
            raise JailError(answer or "the jail is gone")
        return ours

    def end(self, slot: int) -> None:
        """Kill a copy, and with it everything that it started."""
        if slot in self._fresh:
            self._fresh.pop(slot).close()
            return
        with self._lock:
            if not self.closed and self._ready:
                self._control.send(f"end {slot}".encode())
                self._control.recv(64)

    @property
    def closed(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        for jail in self._fresh.values():
            jail.close()
        self._control.close()
        if self._process.poll() is None:
            if self.kind == NONE:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()  # the jail dies with bubblewrap
        self._process.wait()
        self._errors.close()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def check(self) -> None:
        """Try from inside whether the jail holds; JailError if it does not."""
        from grader import worker

        connection, slot = self.open()
        try:
            connection.settimeout(20)
            worker.send(connection, {"id": 0, "do": "look around"}, {})
            message, _ = worker.receive(connection, 1 << 16)
            holes = [what for what, holds in message["holds"].items() if not holds]
        except (OSError, EOFError, ValueError, KeyError) as error:
            raise JailError(f"the jail did not answer: {error}") from None
        finally:
            connection.close()
            self.end(slot)
        if holes:
            raise JailError(f"the jail does not hold; not so: {', '.join(holes)}")


def unprotected() -> bool:
    """Whether the environment asks for no jail at all."""
    return os.environ.get("GRADER_JAIL") == NONE


_warming: dict[str, Jail] = {}


def start_warming(module: str) -> None:
    """Start a jail for open_jail to take later; it warms up while we import what grading needs."""
    if not unprotected() and shutil.which("bwrap") and module in modules():
        _warming[module] = Jail(module)


def close_warming() -> None:
    """Close what was started for nothing."""
    while _warming:
        _warming.popitem()[1].close()


def open_jail(module: str, limits: Limits | None = None) -> Jail:
    """A jail that was tried and holds, in the fastest way that this machine allows.

    With GRADER_JAIL=none there is none: scores are still decided outside the student's process, but nothing protects the
    machine. Raises JailError, with the next step, if there is no bubblewrap or it does not hold.
    """
    if unprotected():
        return Jail(module, limits, kind=NONE)
    if shutil.which("bwrap") is None:
        raise JailError(
            "bubblewrap is not installed, and without it submissions would run unprotected. Install it with\n"
            "    apt-get install bubblewrap      (Debian, Ubuntu)\n"
            "    dnf install bubblewrap          (Fedora)\n"
            "or set GRADER_JAIL=none to run without protection for this machine."
        )
    jail = (_warming.pop(module, None) if limits is None else None) or Jail(module, limits)
    try:
        jail.check()
        return jail
    except JailError as error:
        jail.close()
        if "namespaces" not in str(error):
            raise
    jail = Jail(module, limits, namespaces=False)
    jail.check()
    return jail


def _library_files(names: list[str]) -> dict[str, Path]:
    """Where in the jail each file of ours is."""
    files = {
        "worker.py": ROOT / "grader" / "worker.py",
        "probes.py": ROOT / "autograded_tests" / "probes.py",
        "tinytorch/__init__.py": ROOT / "tinytorch" / "__init__.py",
        "tinytorch/core/__init__.py": ROOT / "tinytorch" / "core" / "__init__.py",
    }
    return files | {f"tinytorch/core/{name}.py": ROOT / "tinytorch" / "core" / f"{name}.py" for name in names}


def _copy_library(folder: Path, names: list[str]) -> None:
    for target, path in _library_files(names).items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / target)


def _bubblewrap(names: list[str]) -> list[str]:
    """The command line that makes the jail, up to the program to run in it."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    command += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "jail", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        command += ["--unshare-user"]
    for capability in ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL"):
        command += ["--cap-add", capability]
    command += ["--tmpfs", "/", "--perms", "1777", "--tmpfs", "/scratch", "--dev", "/dev"]
    seen: list[Path] = []
    for path in _interpreter():
        if path.exists() and not any(path.is_relative_to(s) for s in seen):
            command += _folders(path, seen) + ["--ro-bind", str(path), str(path)]
            seen.append(path)
    for link in ("/lib", "/lib64"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            command += ["--ro-bind", link, link]
    for package in site.getsitepackages():  # the library, if it is installed and not only linked
        if (Path(package) / "tinytorch").is_dir():
            command += ["--tmpfs", str(Path(package) / "tinytorch")]
    command += _folders(Path("/jail/tinytorch/core/x"), seen)
    for target, path in _library_files(names).items():
        command += ["--ro-bind", str(path), f"/jail/{target}"]
    return [*command, "--remount-ro", "/", "--chdir", "/scratch", "--"]


def _interpreter() -> list[Path]:
    """Python, its packages, and the libraries that they are linked with."""
    executable = Path(sys.executable)
    paths = [Path("/usr/lib"), Path("/usr/lib64"), Path("/etc/ld.so.cache"), Path(sys.base_prefix), Path(sys.prefix)]
    paths += [executable, executable.resolve(), *map(Path, site.getsitepackages())]
    return [Path("/usr/bin") if path == Path("/usr") else path for path in paths]  # of the system's Python, not all


def _hidden() -> list[str]:
    """What must not be there, seen from inside: the course, the class, and all of the home but the way to Python."""
    home, inside = Path.home(), _interpreter()
    ours = [
        ROOT / name for name in ("solutions", "autograded_tests", "grader", "tinytorch", "classroom", "tests", ".git")
    ]
    theirs = [p for p in home.iterdir() if not any(i.is_relative_to(p) or p.is_relative_to(i) for i in inside)]
    return [str(p) for p in (*ours, *theirs)]


def _folders(path: Path, mounted: list[Path]) -> list[str]:
    """Arguments that make the folders above a path; bubblewrap itself would close them to others than root."""
    above = [p for p in reversed(path.parents[:-1]) if not any(p.is_relative_to(m) for m in mounted)]
    return [argument for p in above for argument in ("--perms", "0755", "--dir", str(p))]
