"""The walls where there are no namespaces: Landlock for files, more of the filter, and a user of its own where we are root.

https://docs.kernel.org/userspace-api/landlock.html; what it leaves open (modes, times, sizes of files, signals, and names of
sockets before version 6) the filter closes.
"""

import ctypes
import os
import posix
import signal
import socket
import stat
import struct
from collections.abc import Sequence
from typing import Any

from grader.sandbox import walls
from grader.sandbox.calls import (
    FORBIDDEN,
    LOOKED_INTO,
    PR_SET_NO_NEW_PRIVS,
    RULES,
    Numbers,
    Only,
    checked,
    forbid,
    libc,
    number_of,
)

# rights by the version that brought them: LANDLOCK_ACCESS_FS_...
WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE, IOCTL_DEV = 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14, 1 << 15
FIRST = (1 << 13) - 1
NET = 3  # TCP ports, bound or connected to
SCOPED = 3  # sockets by name, and signals
RULE_PATH_BENEATH = 1
PR_SET_PDEATHSIG = 1
AT_EMPTY_PATH = 0x1000

# The filter refuses these, too
CLOSED: Numbers = {
    # what a file is, by its path
    "stat": (4, None),
    "lstat": (6, None),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "statfs": (137, 43),
    "chdir": (80, 49),
    "openat2": (437, 437),  # whose flags cannot be looked into
    # its size, mode, owner, times and attributes
    "truncate": (76, 45),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # the machine's network, and sockets by name
    "socket": (41, 198),
    "bind": (49, 200),
    "connect": (42, 203),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # other processes
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "get_robust_list": (274, 100),
}
OPEN: Numbers = {
    "open": (2, None),
    "openat": (257, 56),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "prctl": (157, 167),
}


def rules(pid: int) -> dict[str, tuple[Only, ...]]:
    """What of these calls is allowed to a process."""
    no_path, no_truncation = (0,), os.O_TRUNC | os.O_ACCMODE
    itself = (Only(0, (0,)),)

    def opening(flags: int) -> tuple[Only, ...]:
        """No handle without a right to it, and no truncation by who may only read, which Landlock knows since version 3."""
        return Only(flags, no_path, os.O_PATH), Only(flags, (os.O_TRUNC,), no_truncation, refused=True)

    return {name: rule for name, rule in RULES.items() if name != "socket"} | {
        "open": opening(1),
        "openat": opening(2),
        "newfstatat": (Only(3, (AT_EMPTY_PATH,), AT_EMPTY_PATH),),
        "statx": (Only(2, (AT_EMPTY_PATH,), AT_EMPTY_PATH),),
        "kill": (Only(0, (pid,)),),
        "tgkill": (Only(0, (pid,)),),
        "prlimit64": itself,
        "prctl": (Only(0, (PR_SET_PDEATHSIG,), refused=True),),
        # a pair of another type could send to the names of others
        "socketpair": (*RULES["socketpair"], Only(1, (socket.SOCK_STREAM,), 0xF)),
    }


def version() -> int:
    """Of the kernel's Landlock; 0 if it has none."""
    return max(int(libc.syscall(number_of("landlock_create_ruleset"), None, ctypes.c_size_t(0), ctypes.c_uint32(1))), 0)


def enclose(
    limits: dict[str, int],
    uid: int | None,
    scratch: str,
    connection: int,
    readable: Sequence[str],
    listed: Sequence[str],
) -> None:
    """Put up the walls around this process, for good.

    readable  files and folders that it may read
    listed    folders of which it may see the names
    """
    parent = os.getppid()
    walls.close_descriptors(connection)
    # what was deleted and is still open is counted by nobody, so all open files together are as large as scratch may be
    walls.limit(limits["memory"], limits["scratch"] // walls.OPEN_FILES, walls.OPEN_FILES)
    # the kernel counts threads by user: where that is ours, all that we run would count
    walls.give_up_rights(uid, limits["threads"] if uid is not None else None)
    checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "death of the parent")
    if os.getppid() != parent:
        raise OSError("the process that started this one is gone")
    os.chdir(scratch)
    restrict_files(scratch, readable, listed)
    forbid(FORBIDDEN | LOOKED_INTO | CLOSED | OPEN, rules(os.getpid()))
    _look_by_opening()


def restrict_files(scratch: str, readable: Sequence[str], listed: Sequence[str]) -> None:
    """Every right over files that the kernel knows is asked for, and given for what is named here only."""
    known = version()
    if not known:
        return  # then the modes of files have to do, and check_jail.py says whether they do
    rights = FIRST | (REFER if known >= 2 else 0) | (TRUNCATE if known >= 3 else 0) | (IOCTL_DEV if known >= 5 else 0)
    attributes = struct.pack("<QQQ", rights, NET if known >= 4 else 0, SCOPED if known >= 6 else 0)
    ruleset = libc.syscall(
        number_of("landlock_create_ruleset"),
        ctypes.c_char_p(attributes),
        ctypes.c_size_t(8 if known < 4 else 16 if known < 6 else 24),
        ctypes.c_uint32(0),
    )
    checked(ruleset, "Landlock")
    _allow(ruleset, scratch, rights & ~IOCTL_DEV)
    for device in walls.DEVICES:
        _allow(ruleset, f"/dev/{device}", READ_FILE | WRITE_FILE)
    for path in readable:
        _allow(ruleset, path, READ_FILE | READ_DIR)
    for path in listed:
        _allow(ruleset, path, READ_DIR)
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    checked(libc.syscall(number_of("landlock_restrict_self"), ruleset, ctypes.c_uint32(0)), "Landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except PermissionError:
        raise OSError(f"a user of its own may not read {path}; install Python where everyone may read it") from None
    known = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & (READ_FILE | WRITE_FILE)
    number, rule = number_of("landlock_add_rule"), struct.pack("<Qi", known, place)
    result = libc.syscall(number, ruleset, RULE_PATH_BENEATH, ctypes.c_char_p(rule), ctypes.c_uint32(0))
    checked(result, f"Landlock: {path}")
    os.close(place)


def _look_by_opening() -> None:
    """Let Python ask what a file is by opening it, which Landlock decides on, since asking by its path is refused."""

    def look(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if isinstance(path, int):
            return os.fstat(path)
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow_symlinks else os.O_NOFOLLOW)
        file = os.open(path, flags, dir_fd=dir_fd)
        try:
            return os.fstat(file)
        finally:
            os.close(file)

    def look_at_link(path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        return look(path, dir_fd=dir_fd, follow_symlinks=False)

    def access(path: Any, mode: int, *, dir_fd: int | None = None, **_how: bool) -> bool:
        try:
            return look(path, dir_fd=dir_fd).st_mode >> 6 & mode == mode
        except OSError:
            return False

    def change_folder(path: Any) -> None:
        folder = path if isinstance(path, int) else os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fchdir(folder)
        finally:
            if folder is not path:
                os.close(folder)

    for name, function in (("stat", look), ("lstat", look_at_link), ("access", access), ("chdir", change_folder)):
        setattr(posix, name, function)  # where importing looks for it
        setattr(os, name, function)
