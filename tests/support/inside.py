"""What a student's code finds inside the jail, fact by fact, and what of the jail can be seen from outside."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import ROOT

AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]  # for root: a user namespace without rights
# a real user of this machine, or root, who may read Python and the project even if they are in root's home
IN_SIGHT = ["bwrap", "--dev-bind", "/", "/", "--cap-add", "ALL"]
AS_REAL_USER = ["setpriv", "--reuid", "1234", "--regid", "1234", "--clear-groups"]
AS_ROOT = ["unshare", "--user", "--map-root-user", "--mount"]  # all capabilities, over nothing that matters

# Calls that must be refused: number on x86_64, on aarch64 (None: there is no such call), arguments. With these arguments
# no call does anything that matters, and the kernel itself never answers what the filter does.
NONE = (-1,) * 6
CALLS: dict[str, tuple[int, int | None, tuple[int, ...]]] = {
    "mount": (165, 40, NONE),
    "umount2": (166, 39, NONE),
    "unshare": (272, 97, NONE),
    "setns": (308, 268, NONE),
    "chroot": (161, 51, NONE),
    "pivot_root": (155, 41, NONE),
    "open_tree": (428, 428, NONE),
    "move_mount": (429, 429, NONE),
    "fsopen": (430, 430, NONE),
    "fsconfig": (431, 431, NONE),
    "fsmount": (432, 432, NONE),
    "fspick": (433, 433, NONE),
    "mount_setattr": (442, 442, NONE),
    "sched_setparam": (142, 118, NONE),
    "sched_setscheduler": (144, 119, NONE),
    "sched_setattr": (314, 274, NONE),
    "sched_setaffinity": (203, 122, (1 << 30, 0, 0, 0, 0, 0)),
    "setpriority": (141, 140, NONE),
    "ioprio_set": (251, 30, NONE),
    "fork": (57, None, ()),
    "vfork": (58, None, ()),
    "clone without CLONE_THREAD": (56, 220, (0x800, 0, 0, 0, 0)),
    "clone with a namespace": (56, 220, (0x10000000 | 0x20000 | 0x200, 0, 0, 0, 0)),
    "clone3": (435, 435, NONE),
    "execve": (59, 221, NONE),
    "execveat": (322, 281, NONE),
    "ptrace": (101, 117, NONE),
    "process_vm_readv": (310, 270, NONE),
    "process_vm_writev": (311, 271, NONE),
    "process_madvise": (440, 440, NONE),
    "process_mrelease": (448, 448, NONE),
    "kcmp": (312, 272, NONE),
    "move_pages": (279, 239, NONE),
    "migrate_pages": (256, 238, NONE),
    "pidfd_send_signal": (424, 424, NONE),
    "pidfd_open": (434, 434, NONE),
    "pidfd_getfd": (438, 438, NONE),
    "shmget": (29, 194, NONE),
    "shmat": (30, 196, NONE),
    "shmctl": (31, 195, NONE),
    "shmdt": (67, 197, NONE),
    "semget": (64, 190, NONE),
    "semop": (65, 193, NONE),
    "semctl": (66, 191, NONE),
    "semtimedop": (220, 192, NONE),
    "msgget": (68, 186, (0x7FFFFFFF, 0)),
    "msgsnd": (69, 189, NONE),
    "msgrcv": (70, 188, NONE),
    "msgctl": (71, 187, NONE),
    "mq_open": (240, 180, NONE),
    "mq_unlink": (241, 181, NONE),
    "memfd_create": (319, 279, NONE),
    "memfd_secret": (447, 447, NONE),
    "keyctl": (250, 219, NONE),
    "add_key": (248, 217, NONE),
    "request_key": (249, 218, NONE),
    "socket of AF_INET": (41, 198, (2, 1, 0)),
    "socket of AF_INET6": (41, 198, (10, 2, 0)),
    "socket of AF_NETLINK": (41, 198, (16, 3, 0)),
    "socket of AF_PACKET": (41, 198, (17, 3, 0)),
    "socket of AF_VSOCK": (41, 198, (40, 1, 0)),
    "socketpair of AF_TIPC": (53, 199, (30, 1, 0, -1)),
    "setsockopt": (54, 208, NONE),
    "sendmsg": (46, 211, NONE),
    "sendmmsg": (307, 269, NONE),
    "io_setup": (206, 0, NONE),
    "io_submit": (209, 2, NONE),
    "io_getevents": (208, 4, NONE),
    "io_pgetevents": (333, 292, NONE),
    "io_cancel": (210, 3, NONE),
    "io_destroy": (207, 1, NONE),
    "fadvise64": (221, 223, NONE),
    "readahead": (187, 213, NONE),
    "mincore": (27, 232, NONE),
    "preadv2": (327, 286, NONE),
    "flock": (73, 32, NONE),
    **{
        f"fcntl({name})": (72, 25, (-1, command, -1))
        for name, command in (
            ("F_GETLK", 5),
            ("F_SETLK", 6),
            ("F_SETLKW", 7),
            ("F_OFD_GETLK", 36),
            ("F_OFD_SETLK", 37),
            ("F_OFD_SETLKW", 38),
            ("F_SETOWN", 8),
            ("F_SETOWN_EX", 15),
            ("F_SETSIG", 10),
            ("F_SETLEASE", 1024),
            ("F_GETLEASE", 1025),
            ("F_NOTIFY", 1026),
            ("F_SETPIPE_SZ", 1031),
            ("F_SET_RW_HINT", 1036),
            ("F_SET_FILE_RW_HINT", 1038),
        )
    },
    **{
        f"ioctl({name})": (16, 29, (-1, command, -1))
        for name, command in (
            ("TIOCSTI", 0x5412),
            ("TIOCLINUX", 0x541C),
            ("FIOSETOWN", 0x8901),
            ("FS_IOC_SETFLAGS", 0x40086602),
        )
    },
    **{
        f"futex({name})": (202, 98, (-1, operation, 0, 0, -1, 0))
        for name, operation in (
            ("WAKE", 1),
            ("FD", 2),
            ("REQUEUE", 3),
            ("CMP_REQUEUE", 4),
            ("WAKE_OP", 5),
            ("LOCK_PI", 6),
            ("UNLOCK_PI", 7),
            ("TRYLOCK_PI", 8),
            ("WAKE_BITSET", 10),
            ("WAIT_REQUEUE_PI", 11),
            ("CMP_REQUEUE_PI", 12),
            ("LOCK_PI2", 13),
            ("WAKE, real time", 1 | 256),
        )
    },
    "futex_waitv": (449, 449, NONE),
    "inotify_init": (253, None, ()),
    "inotify_init1": (294, 26, NONE),
    "inotify_add_watch": (254, 27, NONE),
    "fanotify_init": (300, 262, NONE),
    "fanotify_mark": (301, 263, NONE),
    "name_to_handle_at": (303, 264, NONE),
    "open_by_handle_at": (304, 265, NONE),
    "io_uring_setup": (425, 425, NONE),
    "io_uring_enter": (426, 426, NONE),
    "io_uring_register": (427, 427, NONE),
    "bpf": (321, 280, NONE),
    "perf_event_open": (298, 241, NONE),
    "userfaultfd": (323, 282, NONE),
    "kexec_load": (246, 104, NONE),
    "kexec_file_load": (320, 294, NONE),
    "init_module": (175, 105, NONE),
    "finit_module": (313, 273, NONE),
    "delete_module": (176, 106, NONE),
    "swapon": (167, 224, NONE),
    "swapoff": (168, 225, NONE),
    "acct": (163, 89, NONE),
    "quotactl": (179, 60, NONE),
    "quotactl_fd": (443, 443, NONE),
    "syslog": (103, 116, NONE),
    "personality": (135, 92, (0xFFFFFFFF,)),
    "landlock_create_ruleset": (444, 444, NONE),
    "landlock_add_rule": (445, 445, NONE),
    "landlock_restrict_self": (446, 446, NONE),
    "cachestat, a newer call": (451, 451, NONE),
    "an x32 call": (0x40000000 + 39, 0x40000000 + 39, ()),
    "the first x32 call": (0x40000000, 0x40000000, NONE),
}
# Those that are refused, besides, where the jail is made of Landlock
CLOSED: dict[str, tuple[int, int | None, tuple[int, ...]]] = {
    "stat": (4, None, NONE),
    "lstat": (6, None, NONE),
    "newfstatat": (262, 79, (-1, -1, -1, 0)),
    "statx": (332, 291, (-1, -1, 0, 0, -1)),
    "access": (21, None, NONE),
    "faccessat": (269, 48, NONE),
    "faccessat2": (439, 439, NONE),
    "readlink": (89, None, NONE),
    "readlinkat": (267, 78, NONE),
    "statfs": (137, 43, NONE),
    "chdir": (80, 49, NONE),
    "open, a handle without rights": (2, None, (-1, 0x200000)),
    "openat, a handle without rights": (257, 56, (-1, -1, 0x200000)),
    "open to read, and truncate": (2, None, (-1, 0x200)),
    "openat to read, and truncate": (257, 56, (-1, -1, 0x200)),
    "openat2": (437, 437, NONE),
    "truncate": (76, 45, NONE),
    "chmod": (90, None, NONE),
    "fchmod": (91, 52, NONE),
    "fchmodat": (268, 53, NONE),
    "fchmodat2": (452, 452, NONE),
    "chown": (92, None, NONE),
    "fchown": (93, 55, NONE),
    "lchown": (94, None, NONE),
    "fchownat": (260, 54, NONE),
    "utime": (132, None, NONE),
    "utimes": (235, None, NONE),
    "futimesat": (261, None, NONE),
    "utimensat": (280, 88, (-1, 0, 0, 0)),
    "setxattr": (188, 5, NONE),
    "lsetxattr": (189, 6, NONE),
    "fsetxattr": (190, 7, NONE),
    "getxattr": (191, 8, NONE),
    "lgetxattr": (192, 9, NONE),
    "fgetxattr": (193, 10, NONE),
    "listxattr": (194, 11, NONE),
    "llistxattr": (195, 12, NONE),
    "flistxattr": (196, 13, NONE),
    "removexattr": (197, 14, NONE),
    "lremovexattr": (198, 15, NONE),
    "fremovexattr": (199, 16, NONE),
    "socket of AF_UNIX": (41, 198, (1, 1, 0)),
    "socketpair of datagrams": (53, 199, (1, 2, 0, -1)),
    "bind": (49, 200, NONE),
    "connect": (42, 203, NONE),
    "listen": (50, 201, NONE),
    "accept": (43, 202, NONE),
    "accept4": (288, 242, NONE),
    "kill(1)": (62, 129, (1, 0)),
    "kill(0)": (62, 129, (0, 0)),
    "tgkill": (234, 131, (1, 1, 0)),
    "tkill": (200, 130, NONE),
    "rt_sigqueueinfo": (129, 138, NONE),
    "rt_tgsigqueueinfo": (297, 240, NONE),
    "prlimit64": (302, 261, NONE),
    "setsid": (112, 157, ()),
    "setpgid": (109, 154, NONE),
    "get_robust_list": (274, 100, (0, -1, -1)),
    "prctl(PR_SET_PDEATHSIG)": (157, 167, (1, 0)),
}
# Calls beside them that must go on: the kernel answers
GO_ON: dict[str, tuple[int, int | None, tuple[int, ...]]] = {
    "clone with CLONE_THREAD": (56, 220, (0x10000, 0, 0, 0, 0)),  # which needs other flags as well
    "socket of AF_UNIX": (41, 198, (1, -1, 0)),
    "socketpair of AF_UNIX": (53, 199, (1, 1, 0, -1)),
    "fcntl(F_GETFL)": (72, 25, (-1, 3)),
    "ioctl(FIONBIO)": (16, 29, (-1, 0x5421, -1)),
    "futex(WAIT)": (202, 98, (-1, 0, 0, 0, 0, 0)),
    "futex(WAKE, private)": (202, 98, (-1, 129, 1, 0, 0, 0)),
    "set_mempolicy_home_node, the newest that goes on": (450, 450, NONE),
}
GO_ON_THERE: dict[str, tuple[int, int | None, tuple[int, ...]]] = {
    "socketpair of AF_UNIX": (53, 199, (1, 1 | 0o2000000, 0, -1)),
    "open to read": (2, None, (-1, 0)),
    "openat to write": (257, 56, (-1, -1, 0x241)),
    "newfstatat of a descriptor": (262, 79, (-1, -1, -1, 0x1000)),
    "statx of a descriptor": (332, 291, (-1, -1, 0x1000, 0, -1)),
    "prlimit64": (302, 261, (0, -1, 0, 0)),
    "prctl(PR_SET_NAME)": (157, 167, (15, -1)),
}
COLUMN = 1 if os.uname().machine == "aarch64" else 0


def on_this_machine(calls: dict[str, tuple[int, int | None, tuple[int, ...]]]) -> dict[str, list[int]]:
    """Numbers and arguments."""
    numbered: dict[str, list[int]] = {}
    for name, (*numbers, arguments) in calls.items():
        number = numbers[COLUMN]
        if isinstance(number, int):
            numbered[name] = [number, *arguments]
    return numbered


NUMBERS = on_this_machine(CALLS)
STARTS_A_PROCESS = ("fork", "vfork")

# defines error(number, *arguments): the errno of a system call, 0 if it works; a process that it starts ends at once
ERROR = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def error(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*map(ctypes.c_long, (number, *arguments)))
    if result == 0 and number in (56, 57, 58, 220):
        os._exit(0)
    return ctypes.get_errno() if result < 0 else 0
"""
# prints the errno of getpid as a 32-bit program calls it
OLD_CALL = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3")  # mov eax, 20; int 0x80; ret
print(-min(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))(), 0))
"""
# prints everything that test_walls.py compares; {outside} is what there is on the machine
LOOK = (
    ERROR
    + """
import fcntl, json, resource, socket, struct
outside = {outside}
def works(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        return False
    return True
def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(1)
        s.connect(address)
capabilities = ctypes.create_string_buffer(24)
libc.capget(struct.pack("<Ii", 0x20080522, 0), capabilities)
found = dict(
    here=os.listdir("."), scratch=os.listdir("/scratch"), shm=os.listdir("/dev/shm"), named=works(connect, socket.AF_UNIX, chr(0) + "left"),
    flags=[fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in range(3)],
)
for folder in ("/scratch", "/dev/shm"):
    open(folder + "/left", "w").close()
open("here", "w").close()
for fd in range(3):
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
places = {{folder: os.statvfs(folder) for folder in ("/scratch", "/dev/shm")}}
print(json.dumps(dict(
    errors={{name: error(*call) for name, call in outside["calls"].items()}},
    goes_on={{name: error(*call) for name, call in outside["goes on"].items()}},
    limits={{name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in ("AS", "FSIZE", "NOFILE", "CORE", "NPROC")}},
    no_new_privileges=libc.prctl(39, 0, 0, 0, 0), dumpable=libc.prctl(3, 0, 0, 0, 0), seccomp=libc.prctl(21, 0, 0, 0, 0),
    bounding=[n for n in range(64) if libc.prctl(23, n, 0, 0, 0) > 0],
    ambient=[n for n in range(64) if libc.prctl(47, 1, n, 0, 0) > 0],
    capabilities=capabilities.raw.hex(),
    users=os.getresuid(), groups=os.getresgid(), more_groups=os.getgroups(),
    pid=os.getpid(), others=[p for p in range(1, 5000) if p != os.getpid() and error(outside["kill"], p, 0) != 3],
    ours=error(outside["kill"], outside["pid"], 0),
    found=found,
    named=works(connect, socket.AF_UNIX, chr(0) + outside["name"]),
    host=socket.gethostname(), proc=os.path.lexists("/proc"), sys=os.path.lexists("/sys"), root=sorted(os.listdir("/")),
    folder=os.getcwd(),
    sizes={{f: [p.f_blocks * p.f_frsize, p.f_files, p.f_flag] for f, p in places.items()}},
    dev=sorted(os.listdir("/dev")), touched=[d for d in os.listdir("/dev") if d != "shm" and works(os.utime, "/dev/" + d)],
    environment=sorted(os.environ),
    standard=[os.fstat(fd).st_rdev == os.stat("/dev/null").st_rdev for fd in range(3)],
    descriptors=[fd for fd in range(256) if works(os.fstat, fd)],
)))
listening = socket.socket(socket.AF_UNIX)
listening.bind(chr(0) + "left")
listening.listen()
"""
)
# runs Python where no namespace can be made, as in Docker
NO_NAMESPACES = """
import os, sys
from grader.sandbox.calls import FORBIDDEN, LOOKED_INTO, Only, forbid
names = ("mount", "umount2", "unshare", "setns", "pivot_root")
new = 0x7E020080  # CLONE_NEW...
forbid({name: FORBIDDEN[name] for name in names} | {"clone": LOOKED_INTO["clone"]}, {"clone": (Only(0, (0,), new),)})
os.execv(sys.executable, [sys.executable, "-P", *sys.argv[1:]])
"""
# what runs outside: opens a jail, runs each source in a copy of its own, and looks at the warm process
PROGRAM = """
import json, os, sys
from pathlib import Path
import psutil
from limits import QUICK
from grader.sandbox.jail import Jail, JailKind
from grader.sandbox.session import JailSession
kind, namespaces, sources = json.load(sys.stdin)
jail = Jail("04_attention", QUICK, JailKind(kind), namespaces)
sessions = [JailSession(jail, [source]) for source in sources]
runs = []
for session in sessions:  # while the ones before are still there
    (run,) = session.run()
    runs.append(run.output if not run.trouble else f"{run.trouble}: {run.error}")
if kind != "bwrap":
    for session in sessions:
        session.close()
    jail.close()
    print(json.dumps([runs, [], [], "0", {}, []]))
    sys.exit()
copy = jail.open()
warm = psutil.Process(copy.pid).ppid()
status = dict(line.split(":", 1) for line in Path(f"/proc/{warm}/status").read_text().splitlines())
mounts = [line.split() for line in Path(f"/proc/{copy.pid}/mountinfo").read_text().splitlines()]
network = [line.split(":")[0].strip() for line in Path(f"/proc/{copy.pid}/net/dev").read_text().splitlines()[2:]]
def shared(one, other):
    return [n for n in ("cgroup", "ipc", "mnt", "net", "pid", "uts")
            if os.readlink(f"/proc/{one}/ns/{n}") == os.readlink(f"/proc/{other}/ns/{n}")]
print(json.dumps([runs, shared(warm, "self"), shared(copy.pid, warm), status["CapEff"].strip(),
                  {m[4]: m[5].split(",") for m in mounts}, network]))
for session in sessions:
    session.close()
jail.close()
"""


@dataclass(frozen=True)
class Inside:
    """What was found in a jail.

    runs          what each cell printed, or its trouble; a copy lives on while the next ones run
    shared        kinds of namespaces that the warm process shares with the machine
    with_warm     those that a copy shares with the warm process
    capabilities  of the warm process, as a mask
    mounts        options of what is mounted in a copy, by place
    network       interfaces in a copy
    """

    runs: list[str]
    shared: list[str]
    with_warm: list[str]
    capabilities: int
    mounts: dict[str, list[str]]
    network: list[str]


def python(code: str, how: Sequence[str] = (), told: str = "", groups: Sequence[int] | None = None) -> str:
    """What a program prints, run `how`; AssertionError if it fails."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])}
    environment |= {"GRADER_TEST_SECRET": "secret"}
    done = subprocess.run(
        [*how, sys.executable, "-P", "-c", code],
        input=told,
        capture_output=True,
        text=True,
        env=environment,
        extra_groups=groups,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_sight(*command: str) -> list[str]:
    """A command in a view of this machine in which every user may read what Python and the project need."""
    closed = [path for path in (*ROOT.parents, *Path(sys.base_prefix).parents) if not path.stat().st_mode & 0o001]
    shown = [path for path in (ROOT, Path(sys.base_prefix), Path(sys.prefix)) if any(c in path.parents for c in closed)]
    covered = [a for path in dict.fromkeys(closed) for a in ("--perms", "0755", "--tmpfs", str(path))]
    folders = [f for path in shown for f in reversed(path.parents) if any(c in f.parents for c in closed)]
    made = [a for folder in dict.fromkeys(folders) for a in ("--perms", "0755", "--dir", str(folder))]
    return [
        *IN_SIGHT,
        *covered,
        *made,
        *(a for path in shown for a in ("--ro-bind", str(path), str(path))),
        "--",
        *command,
    ]


def without_namespaces(*arguments: str) -> list[str]:
    """A command that runs Python with these arguments where no namespace can be made."""
    return [sys.executable, "-P", "-c", NO_NAMESPACES, *arguments]


def look_inside(
    sources: list[str],
    how: Sequence[str] = (),
    namespaces: bool = True,
    groups: Sequence[int] | None = None,
    kind: str = "bwrap",
) -> Inside:
    """Open a jail in a process that is started `how`, and run each source in a copy of its own."""
    answer: list[Any] = json.loads(python(PROGRAM, how, json.dumps([kind, namespaces, sources]), groups))
    runs, shared, with_warm, capabilities, mounts, network = answer
    return Inside(runs, shared, with_warm, int(capabilities, 16), mounts, network)
