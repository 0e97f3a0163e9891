"""System calls by name, and a filter (seccomp) under which a process cannot make those that reach round the walls."""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass

ALL = 0xFFFFFFFF
CLONE_THREAD = 0x10000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
MACHINES = ("x86_64", "aarch64")
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The numbers of calls on x86_64 and on aarch64; None where there is no such call.
Numbers = dict[str, tuple[int | None, int | None]]

# The filter refuses these whatever their arguments are. It answers EACCES, which the kernel itself answers to none of them.
FORBIDDEN: Numbers = {
    # other namespaces, mounts and roots
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # other programs and processes
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    # memory that no limit counts, and that can outlive a process
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # memory of sockets, which counts for nobody, and what else of the kernel's is one for all
    "setsockopt": (54, 208),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "io_getevents": (208, 4),
    "io_pgetevents": (333, 292),
    "io_cancel": (210, 3),
    "io_destroy": (207, 1),
    # which pages of a file are in memory, which can be told from the next copy
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "mincore": (27, 232),
    "preadv2": (327, 286),
    # marks on files that several can read: locks, and who opens them
    "flock": (73, 32),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "futex_waitv": (449, 449),
    # when it gets a processor, and which: one that never gets any cannot even be ended
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    # files by another way than their path
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # the kernel and the machine
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "personality": (135, 92),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
# The filter answers ENOSYS to these, so that the C library makes do with older calls
CLONE3 = 435  # whose flags cannot be looked into
NEWEST = 450  # nothing that a kernel learns later is open


@dataclass(frozen=True)
class Only:
    """A call is allowed only if an argument, after `mask`, is one of `values`; with `refused`, if it is none of them."""

    argument: int
    values: tuple[int, ...]
    mask: int = ALL
    refused: bool = False


# Calls that are allowed or not by their arguments; a number stands for the low half of it
LOOKED_INTO: Numbers = {
    "clone": (56, 220),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "futex": (202, 98),
}
RULES: dict[str, tuple[Only, ...]] = {
    "clone": (Only(0, (CLONE_THREAD,), CLONE_THREAD),),
    "socket": (Only(0, (socket.AF_UNIX,)),),
    "socketpair": (Only(0, (socket.AF_UNIX,)),),
    # F_DUPFD F_GETFD F_SETFD F_GETFL F_SETFL F_DUPFD_CLOEXEC: no locks, leases, hints, owners, sizes of pipes
    "fcntl": (Only(1, (0, 1, 2, 3, 4, 1030)),),
    # FIONBIO FIOCLEX FIONCLEX FIONREAD TCGETS TIOCGWINSZ
    "ioctl": (Only(1, (0x5421, 0x5451, 0x5450, 0x541B, 0x5401, 0x5413)),),
    # those that wake who waits at a page of a file that several have mapped; waiting is how a thread is joined
    "futex": (Only(1, (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13), ALL ^ 256, refused=True),),
}

libc = ctypes.PyDLL(None, use_errno=True)  # PyDLL keeps the interpreter's lock, so that a copy of the process holds it


def checked(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def number_of(name: str, numbers: Numbers = FORBIDDEN | LOOKED_INTO) -> int | None:
    """The number of a call on this machine; None if it has no such call. Raises OSError on a machine that is not known."""
    if os.uname().machine not in MACHINES:
        raise OSError(f"no list of system calls for {os.uname().machine}")
    return numbers[name][MACHINES.index(os.uname().machine)]


def forbid(numbers: Numbers = FORBIDDEN | LOOKED_INTO, rules: Mapping[str, tuple[Only, ...]] = RULES) -> None:
    """A filter that refuses all calls of `numbers`, but for those that keep their `rules`; all that is not named is allowed."""
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    program = _program({name: number_of(name, numbers) for name in numbers}, rules)
    code = ctypes.create_string_buffer(b"".join(program))
    filters = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(code))
    checked(libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(filters), 0, 0), "seccomp")


def _program(numbers: Mapping[str, int | None], rules: Mapping[str, tuple[Only, ...]]) -> list[bytes]:
    """The filter's instructions (struct sock_filter)."""
    load, jump_equal, jump_above, mask, answer = 0x20, 0x15, 0x35, 0x54, 0x06

    def statement(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
        return struct.pack("<HBBI", code, if_true, if_false, k)

    refuse, allow = statement(answer, 0x00050000 | errno.EACCES), statement(answer, 0x7FFF0000)
    absent = statement(answer, 0x00050000 | errno.ENOSYS)
    program = [
        statement(load, 4),
        statement(jump_equal, AUDIT_ARCH[os.uname().machine], 1, 0),
        refuse,
        statement(load, 0),
    ]
    program += [statement(jump_above, 0x40000000, 0, 1), refuse]  # as x32 programs number calls
    program += [statement(jump_above, NEWEST + 1, 0, 1), absent, statement(jump_equal, CLONE3, 0, 1), absent]
    for name, number in numbers.items():
        if number is None:
            continue
        body = [] if name in rules else [refuse]
        for rule in rules.get(name, ()):
            body += [statement(load, 16 + 8 * rule.argument), statement(mask, rule.mask)]
            for left, value in zip(range(len(rule.values), 0, -1), rule.values, strict=True):
                body += (
                    [statement(jump_equal, value, 0, 1), refuse]
                    if rule.refused
                    else [statement(jump_equal, value, left)]
                )
            body += [] if rule.refused else [refuse]
        body += [allow] if name in rules else []
        program += [statement(jump_equal, number, 0, len(body)), *body]
    return [*program, allow]
