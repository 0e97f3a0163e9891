"""The walls of one submission's process: namespaces, limits, a filter of system calls; and trying from inside whether they hold."""

import ctypes
import errno
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib.machinery import PathFinder
from pathlib import Path

from grader.sandbox.calls import checked, forbid, libc, number_of

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x08000000, 0x20000000, 0x40000000
PR_CAPBSET_DROP, PR_SET_DUMPABLE = 24, 4
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
SHM = "/dev/shm"  # noqa: S108  (each copy has a fresh one)
DEVICES = ("null", "zero", "full", "random", "urandom")  # all of /dev, inside
MOST_FILES = 4096  # in a folder that can be written
OPEN_FILES = 64  # at a time; what sockets hold is in no limit of memory
MOST_THREADS = 1024  # that any limit may allow
MARK = "\0grader-mark"  # an address that belongs to the network, not to a folder
CLOSED = ("", "/usr", "/dev", "/tmp", "/var/tmp")  # noqa: S108  (nothing can be written there)
OUR_FOLDER = Path(__file__).resolve().parents[2]
# what must not be there a second time, wherever somebody installed it
INSTALLED = ("tinytorch", "solutions", "autograded_tests", "exercises", "grader")


class NoNamespaces(OSError):
    """The kernel allows no namespaces here."""


def fork(namespaces: bool) -> int:
    """os.fork, in a PID, mount, IPC and network namespace of its own if asked for; NoNamespaces if there can be none."""
    if not namespaces:
        return os.fork()
    number = number_of("clone")
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
    close_descriptors(connection)
    limit(limits["memory"], limits["file_size"], OPEN_FILES)
    give_up_rights(uid, limits["threads"])
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


def close_descriptors(keep: int) -> None:
    """Standard input, output and errors are a /dev/null of its own, since flags of a shared one can be set and read."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.closerange(3, keep)
    os.closerange(keep + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def limit(memory: int, file_size: int, open_files: int) -> None:
    for name, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))


def give_up_rights(uid: int | None, threads: int | None) -> None:
    """No capabilities, no other user's rights, and no way to get them; so many threads of this user, if a number is given."""
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if threads is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
    header, nothing = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    checked(libc.capset(header, nothing), "capset")  # with them go those that a program would be given
    hide()


def hide() -> None:
    """No other process of this user may look into this one."""
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def own_folder(place: str, slot: int, uid: int | None) -> str:
    """A new folder in which a copy lives, where nothing can be mounted. Whoever ends the copy removes it."""
    folder = f"{place}/{slot}"
    os.mkdir(folder, 0o700)  # noqa: PTH102  (the mode is set at once)
    if uid is not None:
        os.chown(folder, uid, uid)
    os.chdir(folder)
    os.environ |= {"HOME": folder, "TMPDIR": folder, "MPLCONFIGDIR": f"{folder}/mpl"}
    tempfile.tempdir = None
    return folder


# --- trying them from inside ------------------------------------------------------------------------------------------


class Wall(StrEnum):
    """What must hold before a student's code is run."""

    NETWORK = "network"
    SIGHT = "sight"
    LIBRARY = "library"
    WRITING = "writing"
    DEVICES = "devices"
    DESCRIPTORS = "descriptors"
    MEMORY = "memory"
    LOCKS = "locks"
    COPIES = "copies"
    CAPABILITIES = "capabilities"
    PROCESSES = "processes"
    OTHERS = "others"
    THREADS = "threads"
    SCRATCH = "scratch"


def look_around(hidden: Sequence[str], scratch: str) -> dict[Wall, bool]:
    """Which walls hold? Tried from inside, as a student could. Leaves marks that another copy must not find.

    hidden   paths that must not be there
    scratch  the folder that can be written
    """
    header, sets = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    libc.capget(header, sets)
    descriptors = [fd for fd in range(256) if not _fails(os.fstat, fd)]  # before marks are left
    alone = _is_unmarked(scratch)
    shared = ("shmget", "semget", "msgget", "mq_open", "memfd_create", "memfd_secret")
    return {
        Wall.NETWORK: all(_fails(socket.socket, f) for f in (socket.AF_INET, socket.AF_INET6, socket.AF_VSOCK)),
        Wall.SIGHT: not any(os.path.lexists(path) or not _fails(_read, path) for path in hidden),
        Wall.LIBRARY: not strange_modules(),
        Wall.WRITING: all(_fails(_write, f"{folder}/x") for folder in (*CLOSED, OUR_FOLDER, Path(scratch).parent)),
        Wall.DEVICES: _fails(os.openpty) and _fails(_read, "/dev/tty") and _fails(os.utime, "/dev/null"),
        Wall.DESCRIPTORS: descriptors[:3] == [0, 1, 2] and len(descriptors) == 4,
        Wall.MEMORY: all(_is_refused(name) for name in shared),
        Wall.LOCKS: all(_is_refused(name) for name in ("flock", "inotify_init1", "fanotify_init")),
        Wall.COPIES: alone,
        Wall.CAPABILITIES: not any(sets.raw),
        Wall.PROCESSES: _is_refused("clone", 0x800) and _is_refused("execve"),  # with these flags nothing is started
        Wall.OTHERS: not _sees_others(),
        Wall.THREADS: 0 < resource.getrlimit(resource.RLIMIT_NPROC)[1] <= MOST_THREADS,
        Wall.SCRATCH: not _fails(_write, f"{scratch}/x") and not _fails(os.remove, f"{scratch}/x"),
    }


_kept: list[object] = []  # marks that go with the object


def _is_unmarked(scratch: str) -> bool:
    """Whether nothing is here that this function has left in another copy: files, a name in the network, a flag."""
    seen = [bool(_names(scratch) or _names(SHM))]
    seen += [bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK) for fd in range(3)]
    try:
        own, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    except OSError:  # there are no sockets at all
        pass
    else:
        seen.append(not _fails(other.connect, MARK))
        _kept.append(own)
        _fails(own.bind, MARK)
        _fails(own.listen)
    for fd in range(3):
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
    for folder in (scratch, SHM):
        _fails(_write, f"{folder}/{os.getpid()}")
    return not any(seen)


def _names(folder: str) -> list[str]:
    """What is to be seen in a folder."""
    try:
        return os.listdir(folder)  # noqa: PTH208  (several times faster)
    except OSError:
        return []


def _sees_others() -> bool:
    """Whether another process can be looked at or sent a signal."""
    parent = os.getppid()  # 0 if it is not there
    return not (
        _fails(_read, "/proc/1/stat") and _fails(_read, "/proc/self/stat") and _fails(os.kill, parent or 1 << 22, 0)
    )


def strange_modules() -> list[str]:
    """Files by which modules of ours can be imported, or read, that do not belong here."""
    core, modules = f"{OUR_FOLDER}/tinytorch/core", os.environ["GRADER_MODULES"].split()
    strange = [name for name in _names(core) if name.partition(".")[0] not in ("__init__", "__pycache__", *modules)]
    libraries = [f"{prefix}/{part}" for prefix in ("/usr", sys.base_prefix, sys.prefix) for part in ("lib", "lib64")]
    folders = [*sys.path, *(f"{library}/{name}" for library in libraries for name in _names(library))]
    folders += [f"{folder}/{name}" for folder in folders for name in ("site-packages", "dist-packages")]
    for folder in dict.fromkeys(folders):
        for name in _names(folder) if folder != str(OUR_FOLDER) else ():
            path = f"{folder}/{name}"
            if name.endswith(".egg"):
                strange += [path for module in INSTALLED if PathFinder.find_spec(module, [path])]
            elif name.startswith(INSTALLED) and not name.endswith("-info"):
                files = [path, *(f"{below}/{file}" for below, _, files in os.walk(path) for file in files)]
                # Path.is_file raises where a folder may not be entered
                strange += [path] if any(os.path.isfile(f) and not _fails(_read, f) for f in files) else []  # noqa: PTH113
    return strange


def _is_refused(name: str, first: int = -1) -> bool:
    """Whether the filter answers, or there is no such call."""
    ctypes.set_errno(0)
    libc.syscall(number_of(name), *map(ctypes.c_long, (first, *(-1,) * 5)))
    return ctypes.get_errno() in (errno.EACCES, errno.ENOSYS)


def _fails(action: Callable[..., object], *arguments: object) -> bool:
    try:
        action(*arguments)
    except OSError:
        return True
    return False


def _read(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))


def _write(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
