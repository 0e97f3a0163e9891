"""The walls of one submission's process: namespaces, limits, a filter of system calls; and trying from inside whether they hold."""

import ctypes
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_THREAD = 0x20000, 0x08000000, 0x20000000, 0x10000
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 22, 24, 47, 38, 4
AUDIT_ARCH, SYS_CLONE, FORBIDDEN = {
    # mount umount2 unshare setns ptrace bpf keyctl add_key request_key perf_event_open userfaultfd chroot pivot_root
    # memfd_create io_uring_setup process_vm_readv process_vm_writev fork vfork
    "x86_64": (
        0xC000003E,
        56,
        (165, 166, 272, 308, 101, 321, 250, 248, 249, 298, 323, 161, 155, 319, 425, 310, 311, 57, 58),
    ),
    "aarch64": (0xC00000B7, 220, (40, 39, 97, 268, 117, 280, 219, 217, 218, 241, 282, 51, 41, 279, 425, 270, 271)),
}.get(os.uname().machine, (0, 0, ()))
SYS_CLONE3 = 435

libc = ctypes.PyDLL(None, use_errno=True)  # PyDLL keeps the interpreter's lock, so that a copy of the process holds it


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


class NoNamespaces(OSError):
    """The kernel allows no namespaces here."""


def fork(namespaces: bool) -> int:
    """os.fork, in a PID, mount and IPC namespace of its own if asked for; NoNamespaces if there can be none."""
    if not namespaces:
        return os.fork()
    ctypes.pythonapi.PyOS_BeforeFork()
    flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | signal.SIGCHLD
    pid = libc.syscall(SYS_CLONE, flags, 0, 0, 0, 0)
    error = ctypes.get_errno()
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise NoNamespaces(error, f"no namespaces of its own: {os.strerror(error)}")
    return int(pid)


def enclose(limits: dict[str, int], namespaces: bool, uid: int | None, scratch: str) -> None:
    """A fresh scratch folder, limits, no capabilities, no other user's rights, no system calls that make room outside."""
    if namespaces:
        options = f"size={limits['scratch']},nr_inodes=4096,mode=0777".encode()
        _check(libc.mount(b"tmpfs", scratch.encode(), b"tmpfs", 2 | 4, options), "mount")  # nosuid, nodev
    for name, value in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    resource.setrlimit(resource.RLIMIT_NPROC, (limits["threads"], limits["threads"]))
    libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)
    header, nothing = struct.pack("<Ii", 0x20080522, 0), bytes(24)
    _check(libc.capset(header, nothing), "capset")
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    forbid_system_calls()
    os.chdir(scratch)


def forbid_system_calls() -> None:
    """A seccomp filter: threads are allowed, processes and namespaces are not, nor is anything that reaches round the walls."""
    if not AUDIT_ARCH:
        raise OSError(f"no list of system calls for {os.uname().machine}")

    def statement(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("<HBBI", code, if_true, if_false, k)

    load, jump_equal, jump_set, jump_above, answer = 0x20, 0x15, 0x45, 0x35, 0x06
    refuse, absent, allow = 0x00050000 | 1, 0x00050000 | 38, 0x7FFF0000  # EPERM, ENOSYS
    program = [
        statement(load, 4),
        statement(jump_equal, AUDIT_ARCH, 1, 0),
        statement(answer, refuse),
        statement(load, 0),
        statement(jump_above, 0x40000000, 0, 1),
        statement(answer, refuse),
        statement(jump_equal, SYS_CLONE3, 0, 1),  # clone, which can be looked into, is used instead
        statement(answer, absent),
    ]
    for number in FORBIDDEN:
        program += [statement(jump_equal, number, 0, 1), statement(answer, refuse)]
    program += [
        statement(jump_equal, SYS_CLONE, 0, 3),
        statement(load, 16),
        statement(jump_set, CLONE_THREAD, 1, 0),
        statement(answer, refuse),
        statement(answer, allow),
    ]
    code = ctypes.create_string_buffer(b"".join(program))
    filters = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(code))
    _check(libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(filters), 0, 0), "seccomp")


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
