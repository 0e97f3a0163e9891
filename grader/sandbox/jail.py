"""A warm process in a jail, copied for each submission.

bubblewrap.py says what the jail is made of. Each submission's copy gets namespaces, a scratch folder and limits of its own
(see `enclose` in walls.py). check.py decides whether a jail is good enough.
"""

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from grader.course import modules
from grader.errors import JailError, JailTrouble
from grader.sandbox import bubblewrap
from grader.sandbox.limits import Limits
from grader.sandbox.wire import LONGEST, Answer, Order


class JailKind(StrEnum):
    """What a submission runs in; NONE is a process that is not jailed at all."""

    BUBBLEWRAP = "bwrap"
    NONE = "none"


class Jail:
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
        self._lock, self._slots = threading.Lock(), itertools.count(1)
        self._fresh: dict[int, Jail] = {}
        self._start()

    def _start(self) -> None:
        """Start the warm process; it warms up while we do something else."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ready, self._scratch = False, ""
        names = [m.partition("_")[2] for m in modules()[: modules().index(self.module)]]
        if self.kind == JailKind.BUBBLEWRAP:
            home, library, command = "/scratch", str(bubblewrap.INSIDE), bubblewrap.command_line(names)
        else:
            home = library = self._scratch = tempfile.mkdtemp()
            bubblewrap.copy_files(Path(library), names)
            command = []
        command += [sys.executable, "-P", "-m", "grader.sandbox.worker", str(theirs.fileno()), self._settings(home)]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the jail)
        self._process = subprocess.Popen(
            command,
            env=self._environment(names, home, library),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for us
            cwd="/",
        )
        theirs.close()

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
        environment |= {"GRADER_HIDDEN": os.pathsep.join(bubblewrap.hidden_paths()), "LANG": "C.UTF-8"}
        environment |= {"MPLBACKEND": "Agg", "HOME": home, "PYTHONPATH": library}
        environment |= {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS_") and k not in environment}
        if self.kind == JailKind.BUBBLEWRAP:
            environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
            environment |= {"MPLCONFIGDIR": f"{home}/mpl", "IPYTHONDIR": f"{home}/ipython"}
        return environment

    def _answer(self) -> tuple[Answer | None, str]:
        """What the warm process says, and a text to it; None if it is gone."""
        data = self._control.recv(LONGEST)
        if not data:
            return None, "the jail is gone"
        message = json.loads(data)
        return Answer(message["answer"]), message["text"]

    def _wait_until_warm(self) -> None:
        self._control.settimeout(60)
        try:
            warm = self._ready or self._answer()[0] == Answer.READY
        except TimeoutError:
            warm = False
        if not warm:
            self._process.kill()
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace").strip()
            self.close()
            raise JailError(
                f"the jail did not start: {text.splitlines()[-1] if text else 'no word from it'}",
                JailTrouble.NOT_STARTED,
            )
        self._ready = True

    def open(self) -> tuple[socket.socket, int]:
        """A new copy of the warm process: a socket for wire.py's messages, and a number to end it by."""
        slot = next(self._slots)
        if self.kind == JailKind.BUBBLEWRAP and not self.namespaces:
            jail = self._fresh[slot] = Jail(self.module, self.limits, self.kind, namespaces=False)
            return jail._copy(slot), slot
        return self._copy(slot), slot

    def _copy(self, slot: int) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._lock, theirs:
            self._wait_until_warm()
            socket.send_fds(self._control, [json.dumps({"do": Order.START, "slot": slot}).encode()], [theirs.fileno()])
            answer, text = self._answer()
        if answer != Answer.STARTED:
            ours.close()
            no_namespaces = answer == Answer.NO_NAMESPACES
            raise JailError(text, JailTrouble.NO_NAMESPACES if no_namespaces else JailTrouble.NOT_STARTED)
        return ours

    def end(self, slot: int) -> None:
        """Kill a copy, and with it everything that it started."""
        if slot in self._fresh:
            self._fresh.pop(slot).close()
            return
        with self._lock:
            if not self.closed and self._ready:
                self._control.send(json.dumps({"do": Order.END, "slot": slot}).encode())
                self._answer()

    @property
    def pid(self) -> int:
        """Of bubblewrap, or of the warm process where there is no jail."""
        return self._process.pid

    @property
    def closed(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        for jail in self._fresh.values():
            jail.close()
        self._control.close()
        if self._process.poll() is None:
            if self.kind == JailKind.NONE:
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()  # the jail dies with bubblewrap
        self._process.wait()
        self._errors.close()
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
