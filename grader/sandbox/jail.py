"""The warm process in a jail, whose copies run submissions.

bubblewrap.py says what the jail is made of. Each submission's copy gets namespaces, a scratch folder and limits of its own
(see `enclose` in walls.py). check_jail.py decides whether a jail is good enough.
"""

import json
import os
import shutil
import sys
import tempfile
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from grader.course import modules
from grader.sandbox import bubblewrap, files
from grader.sandbox.limits import Limits
from grader.sandbox.warm import Copy, Ended, WarmProcess


class JailKind(StrEnum):
    """What a submission runs in; NONE is a process that is not jailed at all."""

    BUBBLEWRAP = "bwrap"
    NONE = "none"


class Jail(WarmProcess):
    """Copies of a warm process. May be used by several threads.

    module      the module graded: only the library of those before it is inside
    namespaces  False where the kernel allows no namespaces inside the jail: then each submission gets a new jail
    """

    def __init__(
        self,
        module: str,
        limits: Limits | None = None,
        kind: JailKind = JailKind.BUBBLEWRAP,
        namespaces: bool = True,
    ) -> None:
        self.module, self.limits, self.kind = module, limits or Limits(), kind
        self.namespaces = namespaces and kind == JailKind.BUBBLEWRAP
        self._fresh: dict[int, Jail] = {}
        self._scratch = ""
        names = [m.partition("_")[2] for m in modules()[: modules().index(module)]]
        if kind == JailKind.BUBBLEWRAP:
            home, library, command = "/scratch", str(bubblewrap.INSIDE), bubblewrap.command_line(names)
        else:
            home = library = self._scratch = tempfile.mkdtemp()
            files.copy_ours(Path(library), names)
            command = []
        command += [sys.executable, "-P", "-m", "grader.sandbox.worker"]
        super().__init__("the jail", command, self._environment(names, home, library), self._settings(home))

    def _settings(self, scratch: str) -> str:
        """JSON for worker.py's Settings."""
        enclosed = self.kind == JailKind.BUBBLEWRAP
        settings = {
            "limits": asdict(self.limits),
            "namespaces": self.namespaces,
            "enclosed": enclosed,
            # a user who owns nothing; without this the limit on threads would not hold for root
            "uid": 60000 if enclosed and os.geteuid() == 0 else None,
            "scratch": scratch,
        }
        return json.dumps(settings)

    def _environment(self, names: list[str], home: str, library: str) -> dict[str, str]:
        environment = {"GRADER_MODULES": " ".join(names), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"MALLOC_ARENA_MAX": "2"}  # else every thread takes 64 MB of address space
        environment |= {"GRADER_HIDDEN": os.pathsep.join(files.hidden()), "LANG": "C.UTF-8"}
        environment |= {"MPLBACKEND": "Agg", "HOME": home, "PYTHONPATH": library}
        environment |= {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS_") and k not in environment}
        if self.kind == JailKind.BUBBLEWRAP:
            environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
            environment |= {"MPLCONFIGDIR": f"{home}/mpl", "IPYTHONDIR": f"{home}/ipython"}
        return environment

    def open(self) -> Copy:
        """A new copy of the warm process, for wire.py's messages. Raises JailError."""
        if self.kind == JailKind.BUBBLEWRAP and not self.namespaces:
            jail = Jail(self.module, self.limits, self.kind, namespaces=False)
            copy = WarmProcess.open(jail)
            slot = next(self._slots)
            self._fresh[slot] = jail
            return Copy(copy.connection, slot, copy.pid)
        return super().open()

    def end(self, slot: int) -> Ended:
        if slot in self._fresh:
            self._fresh.pop(slot).close()
            return Ended()
        return super().end(slot)

    def close(self) -> None:
        for jail in self._fresh.values():
            jail.close()
        super().close()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
