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
from collections.abc import Sequence
from dataclasses import dataclass

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


class WarmProcess:
    """May be used by several threads.

    what  what is started, in words for a message
    """

    def __init__(self, what: str, command: Sequence[str], environment: dict[str, str], argument: str = "") -> None:
        """The command gets two more arguments: the number of a descriptor to be told by, and `argument`."""
        self._what = what
        self._lock, self._slots = threading.Lock(), itertools.count(1)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ready = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process)
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
        self._control.close()
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._errors.close()
