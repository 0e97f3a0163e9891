"""The walls of one submission's process: namespaces, limits, a filter of system calls; and trying from inside whether they hold."""

import ctypes
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum

from grader.sandbox.calls import LOOKED_INTO, checked, forbid, libc, number_of

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x08000000, 0x20000000, 0x40000000
PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_SET_DUMPABLE = 24, 47, 4
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
SHM = "/dev/shm"  # noqa: S108  (each copy has a fresh one)
DEVICES = ("null", "zero", "full", "random", "urandom")  # all of /dev, inside
MOST_FILES = 4096  # in a folder that can be written


class NoNamespaces(OSError):
    """The kernel allows no namespaces here."""


def fork(namespaces: bool) -> int:
    """os.fork, in a PID, mount, IPC and network namespace of its own if asked for; NoNamespaces if there can be none."""
    if not namespaces:
        return os.fork()
    number = number_of("clone", LOOKED_INTO)
    ctypes.pythonapi.PyOS_BeforeFork()
    flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | signal.SIGCHLD
    pid = libc.syscall(number, flags, 0, 0, 0, 0)
    error = ctypes.get_errno()
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise NoNamespaces(error, f"no namespaces of its own: {os.strerror(error)}")
    return int(pid)


def enclose(limits: dict[str, int], uid: int | None, scratch: str, connection: int) -> None:
    """Put up all walls around this process, for good.

    uid         of the user that it becomes; None: it stays who it is
    scratch     the folder that it may write into
    connection  the one descriptor that stays open
    """
    for folder in (scratch, SHM):
        _mount_fresh(folder, limits["scratch"])
    for device in DEVICES:
        _make_read_only(f"/dev/{device}")
    _close_descriptors(connection)
    _limit(limits)
    _give_up_rights(uid, limits["threads"])
    forbid()
    os.chdir(scratch)


def _mount_fresh(folder: str, size: int) -> None:
    """An empty folder in memory, for everyone to write into."""
    options = f"size={size},nr_inodes={MOST_FILES},mode=1777".encode()
    checked(libc.mount(b"tmpfs", folder.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, options), f"mount {folder}")


def _make_read_only(device: str) -> None:
    """Reading and writing go on, but its times cannot be set: all copies of the machine's users see them."""
    flags = os.statvfs(device).f_flag & 0xF | MS_RDONLY | MS_REMOUNT | MS_BIND
    checked(libc.mount(None, device.encode(), None, flags, None), f"make {device} read-only")


def _close_descriptors(keep: int) -> None:
    """Standard input, output and errors are a /dev/null of its own, since flags of a shared one can be set and read."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.closerange(3, keep)
    os.closerange(keep + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _limit(limits: dict[str, int]) -> None:
    for name, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))


def _give_up_rights(uid: int | None, threads: int) -> None:
    """No capabilities, no other user's rights, and no way to get them."""
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
    libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)
    header, nothing = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    checked(libc.capset(header, nothing), "capset")
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


class Wall(StrEnum):
    """What must hold before a student's code is run."""

    NETWORK = "network"
    SIGHT = "sight"
    WRITING = "writing"
    CAPABILITIES = "capabilities"
    PROCESSES = "processes"
    OTHERS = "others"
    SCRATCH = "scratch"


def look_around(hidden: Sequence[str], scratch: str) -> dict[Wall, bool]:
    """Which walls hold? Tried from inside, as a student could.

    hidden   paths that must not be there
    scratch  the folder that can be written
    """
    header, sets = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    libc.capget(header, sets)
    return {
        Wall.NETWORK: _fails(_connect),
        Wall.SIGHT: not any(map(os.path.lexists, hidden)),
        Wall.WRITING: all(_fails(_write, f"{folder}/x") for folder in ("", "/usr", "/jail", "/tmp")),  # noqa: S108  (nothing can be written there)
        Wall.CAPABILITIES: not any(sets.raw),
        Wall.PROCESSES: _fails(os.fork),
        Wall.OTHERS: not os.path.lexists("/proc/1"),
        Wall.SCRATCH: not _fails(_write, f"{scratch}/x") and not _fails(os.remove, f"{scratch}/x"),
    }


def _fails(action: Callable[..., object], *arguments: object) -> bool:
    try:
        action(*arguments)
    except OSError:
        return True
    return False


def _connect() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.settimeout(0.2)
        s.connect(("192.0.2.1", 9))


def _write(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
