"""The warm process in a jail, whose copies run submissions.

bubblewrap.py says what a jail is made of, and landlock.py what it is where bubblewrap cannot be used. Each submission's copy
gets walls, a scratch folder and limits of its own (see `enclose` in either). check_jail.py decides whether a jail is good enough.
"""

import json
import os
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from grader.course import modules
from grader.sandbox import bubblewrap, files
from grader.sandbox.limits import Limits
from grader.sandbox.walls import MOST_FILES
from grader.sandbox.warm import Copy, Ended, WarmProcess

USERS = 60000  # the first of a thousand users who own nothing
LOOKS = 0.1  # seconds from one look at what a copy has written to the next


class JailKind(StrEnum):
    """What a submission runs in; NONE is a process that is not jailed at all."""

    BUBBLEWRAP = "bwrap"
    LANDLOCK = "landlock"
    NONE = "none"


class Jail(WarmProcess):
    """Copies of a warm process. May be used by several threads.

    module         the module graded: only the library of those before it is inside
    namespaces     False where the kernel allows no namespaces inside the jail: then each submission gets a new jail
    one_at_a_time  where two copies would be processes of one user, without namespaces between them
    """

    one_at_a_time = False

    def __init__(
        self,
        module: str,
        limits: Limits | None = None,
        kind: JailKind = JailKind.BUBBLEWRAP,
        namespaces: bool = True,
    ) -> None:
        self.module, self.limits, self.kind = module, limits or Limits(), kind
        self.namespaces = namespaces and kind == JailKind.BUBBLEWRAP
        self._users = None if kind == JailKind.NONE else first_user(for_files=kind == JailKind.LANDLOCK)
        self.one_at_a_time = kind == JailKind.LANDLOCK and self._users is None
        self._fresh: dict[int, Jail] = {}
        self._threads: dict[int, int] = {}  # which thread has which copy
        self._processes: dict[int, int] = {}  # of the copies that may write
        self._turn = threading.Condition()
        self._over = threading.Event()
        self._watch: threading.Thread | None = None
        self._folder: Path | None = None
        names = [m.partition("_")[2] for m in modules()[: modules().index(module)]]
        if kind == JailKind.BUBBLEWRAP:
            home, library, scratch = "/scratch", str(bubblewrap.INSIDE), "/scratch"
            command = bubblewrap.command_line(names)
        else:
            self._folder = Path(tempfile.mkdtemp(prefix="grader-"))
            self._folder.chmod(0o711)
            home, library, scratch = (str(self._folder / name) for name in ("home", "ours", "copies"))
            for folder, mode in ((home, 0o700), (library, 0o755), (scratch, 0o711)):
                Path(folder).mkdir()
                Path(folder).chmod(mode)
            files.copy_ours(Path(library), names)
            command = []
        command += [sys.executable, "-P", "-m", "grader.sandbox.worker"]
        environment = self._environment(names, home, library)
        super().__init__("the jail", command, environment, self._settings(scratch, library))

    def _settings(self, scratch: str, library: str) -> str:
        """JSON for worker.py's Settings."""
        readable, listed = files.readable() if self.kind == JailKind.LANDLOCK else ([], [])
        settings = {
            "limits": asdict(self.limits),
            "kind": self.kind,
            "namespaces": self.namespaces,
            # a user who owns nothing; without this the limit on threads would not hold for root
            "uid": self._users,
            "scratch": scratch,
            "readable": [*readable, library],
            "listed": listed,
        }
        return json.dumps(settings)

    def _environment(self, names: list[str], home: str, library: str) -> dict[str, str]:
        environment = {"GRADER_MODULES": " ".join(names), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"MALLOC_ARENA_MAX": "2"}  # else every thread takes 64 MB of address space
        environment |= {"LANG": "C.UTF-8"}
        environment |= {"MPLBACKEND": "Agg", "HOME": home, "PYTHONPATH": library, "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS_") and k not in environment}
        return environment | {"MPLCONFIGDIR": f"{home}/mpl", "IPYTHONDIR": f"{home}/ipython"}

    def open(self) -> Copy:
        """A new copy of the warm process, for wire.py's messages. Raises JailError.

        Where only one may run at a time, this waits until another thread has ended its own.
        """
        if self.kind == JailKind.BUBBLEWRAP and not self.namespaces:
            jail = Jail(self.module, self.limits, self.kind, namespaces=False)
            copy = WarmProcess.open(jail)
            slot = next(self._slots)
            self._fresh[slot] = jail
            return Copy(copy.connection, slot, copy.pid)
        if self.kind != JailKind.LANDLOCK:
            return super().open()
        me = threading.get_ident()
        with self._turn:
            if self.one_at_a_time:
                self._turn.wait_for(lambda: set(self._threads.values()) <= {me} or self._over.is_set())
            copy = super().open()
            self._threads[copy.slot], self._processes[copy.slot] = me, copy.pid
            if self._watch is None:
                self._watch = threading.Thread(target=self._look_at_scratch, daemon=True)
                self._watch.start()
        return copy

    def end(self, slot: int) -> Ended:
        if slot in self._fresh:
            self._fresh.pop(slot).close()
            return Ended()
        with self._turn:
            self._processes.pop(slot, None)  # its number may soon be another process's
        ended = super().end(slot)
        if self._folder is not None:
            files.remove(self._folder / "copies" / str(slot))
        with self._turn:
            self._threads.pop(slot, None)
            self._turn.notify_all()
        return ended

    def _look_at_scratch(self) -> None:
        """End copies that have written too much; the kernel limits each file, but not all of them together."""
        while not self._over.wait(LOOKS):
            with self._turn:
                slots = list(self._processes)
            for slot in slots:
                if files.too_much(f"{self._folder}/copies/{slot}", self.limits.scratch, MOST_FILES):
                    with self._turn, suppress(KeyError, ProcessLookupError):
                        os.kill(self._processes[slot], signal.SIGKILL)

    def close(self) -> None:
        self._over.set()
        for jail in self._fresh.values():
            jail.close()
        super().close()  # ends what another thread may wait for while it has the turn
        with self._turn:
            self._turn.notify_all()
        if self._folder is not None:
            files.remove(self._folder)


def first_user(for_files: bool = False) -> int | None:
    """The first of the users that copies become: only root can change users, and only to those that its namespace has.

    for_files  they have to read Python where it is, which they may not if it is in root's home
    """
    if os.geteuid() != 0 or (for_files and not files.everyone_may_read()):
        return None
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= USERS and first + count >= USERS + 1000:
            return USERS
    return None
