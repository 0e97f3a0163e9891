"""A warm process that is copied on demand, seen from outside. copies.py is what it runs."""

import itertools
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import JailError, JailTrouble
from grader.sandbox.copies import HELLO
from grader.sandbox.wire import LONGEST, Answer, Order

PATIENCE = 60  # seconds, for a process to warm up or for a copy to say that it is there


@dataclass(frozen=True)
class Copy:
    """A copy of a warm process: a socket to it, the number to end it by, and its process as this machine counts."""

    connection: socket.socket
    slot: int
    pid: int


@dataclass(frozen=True)
class Ended:
    """How a copy ended: seconds of processor time that it took, and the signal that ended it, if any."""

    seconds: float = 0
    signal: int = 0


class Forked:
    """A copy of this very process that runs a function; it ends when the function does."""

    def __init__(self, run: Callable[[int, str], None], control: int, argument: str, errors: int) -> None:
        self._status: int | None = None
        self._lock = threading.Lock()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                nothing = os.open(os.devnull, os.O_RDWR)
                for number, ours in enumerate((nothing, nothing, errors)):
                    os.dup2(ours, number)
                os.closerange(3, control)
                os.closerange(control + 1, os.sysconf("SC_OPEN_MAX"))
                run(control, argument)
            except BaseException:  # noqa: BLE001  (nothing of ours may go on in the copy)
                traceback.print_exc(file=os.fdopen(2, "w"))
            finally:
                os._exit(0)

    def poll(self) -> int | None:
        return self._ask(os.WNOHANG)

    def wait(self) -> int | None:
        return self._ask(0)

    def _ask(self, options: int) -> int | None:
        with self._lock:
            if self._status is None:
                pid, status = os.waitpid(self.pid, options)
                self._status = os.waitstatus_to_exitcode(status) if pid else None
            return self._status

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class WarmProcess:
    """May be used by several threads.

    what  what is started, in words for a message
    """

    def __init__(
        self,
        what: str,
        command: Sequence[str],
        environment: dict[str, str],
        argument: str = "",
        run: Callable[[int, str], None] | None = None,
    ) -> None:
        """The command gets two more arguments: the number of a descriptor to be told by, and `argument`.

        run  what the command does with them: done in a copy of this process while it has no thread but one, which is quicker
        """
        self._what = what
        self._lock, self._slots = threading.Lock(), itertools.count(1)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ready = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
        if run is not None and len(list(Path("/proc/self/task").iterdir())) == 1:
            self._process: subprocess.Popen[bytes] | Forked = Forked(
                run, theirs.fileno(), argument, self._errors.fileno()
            )
        else:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), argument],
                env=environment,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for us
                cwd="/",
            )
        theirs.close()

    def _answer(self) -> tuple[Answer | None, str]:
        """What the warm process says, and a text to it; None if it is gone."""
        data = self._control.recv(LONGEST)
        if not data:
            return None, f"{self._what} is gone"
        message = json.loads(data)
        return Answer(message["answer"]), message["text"]

    def _wait_until_warm(self) -> None:
        self._control.settimeout(PATIENCE)
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
                f"{self._what} did not start: {text.splitlines()[-1] if text else 'no word from it'}",
                JailTrouble.NOT_STARTED,
            )
        self._ready = True

    def open(self) -> Copy:
        """A new copy. Raises JailError."""
        slot = next(self._slots)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # the kernel says who writes
        order = json.dumps({"do": Order.START, "slot": slot}).encode()
        try:
            with self._lock, theirs:
                self._wait_until_warm()
                socket.send_fds(self._control, [order], [theirs.fileno()])
                answer, text = self._answer()
        except (JailError, OSError):
            ours.close()
            raise
        if answer != Answer.STARTED:
            ours.close()
            no_namespaces = answer == Answer.NO_NAMESPACES
            raise JailError(text, JailTrouble.NO_NAMESPACES if no_namespaces else JailTrouble.NOT_STARTED)
        try:
            return Copy(ours, slot, self._greeted(ours))
        except JailError:
            ours.close()
            self.end(slot)
            raise

    def _greeted(self, ours: socket.socket) -> int:
        """The process at the other side, once it says that all is well."""
        size = struct.calcsize("3i")
        ours.settimeout(PATIENCE)
        try:
            data, ancillary, _, _ = ours.recvmsg(200, socket.CMSG_SPACE(size))
        except OSError as error:
            data, ancillary = str(error).encode(), []
        for level, kind, credentials in ancillary:
            if data == HELLO and (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
                return int(struct.unpack("3i", credentials[:size])[0])
        reason = data.decode(errors="replace") or "it ended before it said a word"
        raise JailError(f"{self._what} did not start a copy: {reason}", JailTrouble.NOT_STARTED)

    def end(self, slot: int) -> Ended:
        """Kill a copy, and with it everything that it started."""
        with self._lock:
            if self.closed or not self._ready:
                return Ended()
            self._control.send(json.dumps({"do": Order.END, "slot": slot}).encode())
            seconds, _, ended_by = self._answer()[1].partition(" ")
        return Ended(float(seconds or 0), int(ended_by or 0))

    @property
    def pid(self) -> int:
        """Of the process that was started."""
        return self._process.pid

    @property
    def closed(self) -> bool:
        return self._process.poll() is not None

    def close(self) -> None:
        """End it and all its copies."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._control.close()
        self._errors.close()
