"""The inside of a warm process: it makes copies of itself as it is told, and ends them. warm.py is the other side.

Both kinds of warm processes run this: the one in a jail, and the one whose copies judge.
"""

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from grader.sandbox import walls
from grader.sandbox.wire import LONGEST, Answer, Order

SLOW: set[int] = set()  # copies that were killed and are not gone yet
HELLO = b"\0"  # the first byte from a copy whose walls are up; anything else says why they are not


def make_copies(
    control: socket.socket,
    fork: Callable[[], int],
    live: Callable[[socket.socket, int], NoReturn],
    started: Callable[[int], None],
) -> None:
    """Do what we are told until the other side is gone; then all copies are ended.

    live     the life of a copy, with its socket and its number
    started  is told how many copies have been started
    """
    _say(control, Answer.READY)
    copies: dict[int, int] = {}
    count = 0
    while True:
        message, fds, _, _ = socket.recv_fds(control, LONGEST, 1)
        if not message:
            break
        order = json.loads(message)
        _reap()
        slot = order["slot"]
        if order["do"] == Order.END:
            _say(control, Answer.ENDED, _end(copies.pop(slot)) if slot in copies else "")
            continue
        try:
            pid = fork()
        except walls.NoNamespaces as error:
            _say(control, Answer.NO_NAMESPACES, str(error))
        except OSError as error:
            _say(control, Answer.NO_PROCESS, str(error))
        else:
            if pid == 0:
                control.close()
                live(socket.socket(fileno=fds[0]), slot)
            copies[slot] = pid
            _say(control, Answer.STARTED)
            count += 1
        os.close(fds[0])
        started(count)
    for pid in copies.values():
        _end(pid)


def _end(pid: int) -> str:
    """Kill a copy, if it is not gone; the processor time that it took in seconds, and the signal that ended it.

    Nobody waits for one that is slow to die.
    """
    os.kill(pid, signal.SIGKILL)
    for pause in (0, 0.001, 0.01, 0.1, 0.5):
        time.sleep(pause)
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            return f"{usage.ru_utime + usage.ru_stime:.3f} {ended_by}"
    SLOW.add(pid)
    return ""


def _reap() -> None:
    """Forget copies that were slow to die. Those that ended by themselves wait to be asked about."""
    for pid in list(SLOW):
        if os.waitpid(pid, os.WNOHANG)[0]:
            SLOW.discard(pid)


def _say(control: socket.socket, answer: Answer, text: str = "") -> None:
    control.send(json.dumps({"answer": answer, "text": text[:200]}).encode())
