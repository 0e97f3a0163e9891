"""What a student's code finds inside the jail, fact by fact, and what of the jail can be seen from outside."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.course import ROOT

AS_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]  # for root: a user namespace without rights
AS_ROOT = ["unshare", "--user", "--map-root-user", "--mount"]  # all capabilities, over nothing that matters

# Calls that must be refused: number on x86_64, on aarch64 (None: there is no such call), arguments. With these arguments
# no call does anything, and the kernel itself has another error for them than EPERM, even for a process without rights.
NONE = (-1,) * 6
CALLS: dict[str, tuple[int, int | None, tuple[int, ...]]] = {
    "mount": (165, 40, NONE),
    "umount2": (166, 39, NONE),
    "unshare": (272, 97, NONE),
    "setns": (308, 268, NONE),
    "ptrace": (101, 117, NONE),
    "bpf": (321, 280, NONE),
    "keyctl": (250, 219, NONE),
    "add_key": (248, 217, NONE),
    "request_key": (249, 218, NONE),
    "perf_event_open": (298, 241, NONE),
    "userfaultfd": (323, 282, NONE),
    "chroot": (161, 51, NONE),
    "pivot_root": (155, 41, NONE),  # but for this one: the kernel looks at the rights first
    "memfd_create": (319, 279, NONE),
    "io_uring_setup": (425, 425, NONE),
    "process_vm_readv": (310, 270, NONE),
    "process_vm_writev": (311, 271, NONE),
    "fork": (57, None, ()),
    "vfork": (58, None, ()),
    "clone without CLONE_THREAD": (56, 220, (0x800, 0, 0, 0, 0)),
    "clone with a namespace": (56, 220, (0x10000000 | 0x20000 | 0x200, 0, 0, 0, 0)),
    "clone3": (435, 435, NONE),
    "an x32 call": (0x40000000 + 39, 0x40000000 + 39, ()),
    "the first x32 call": (0x40000000, 0x40000000, NONE),
}
COLUMN = 1 if os.uname().machine == "aarch64" else 0
NUMBERS = {name: [call[COLUMN], *call[2]] for name, call in CALLS.items() if call[COLUMN] is not None}
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
import json, resource, socket, struct
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
left = libc.shmget(4711, 4096, 0) >= 0
libc.shmget(4711, 4096, 0o1666)
scratch = os.statvfs("/scratch")
print(json.dumps(dict(
    errors={{name: error(*call) for name, call in outside["calls"].items()}},
    a_thread=error(*outside["a thread"]),
    limits={{name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in ("AS", "FSIZE", "NOFILE", "CORE", "NPROC")}},
    no_new_privileges=libc.prctl(39, 0, 0, 0, 0), dumpable=libc.prctl(3, 0, 0, 0, 0), seccomp=libc.prctl(21, 0, 0, 0, 0),
    bounding=[n for n in range(64) if libc.prctl(23, n, 0, 0, 0) > 0],
    ambient=[n for n in range(64) if libc.prctl(47, 1, n, 0, 0) > 0],
    capabilities=capabilities.raw.hex(),
    users=os.getresuid(), groups=os.getresgid(), more_groups=os.getgroups(),
    pid=os.getpid(), others=[p for p in range(1, 5000) if p != os.getpid() and error(outside["kill"], p, 0) != 3],
    ours=error(outside["kill"], outside["pid"], 0),
    left=left, segment=libc.shmget(outside["segment"], 1, 0) >= 0,
    interfaces=[name for _, name in socket.if_nameindex()],
    port=works(connect, socket.AF_INET, ("127.0.0.1", outside["port"])),
    named=works(connect, socket.AF_UNIX, chr(0) + outside["name"]),
    host=socket.gethostname(), proc=os.path.lexists("/proc"), sys=os.path.lexists("/sys"), root=sorted(os.listdir("/")),
    folder=os.getcwd(), files=os.listdir("."), size=scratch.f_blocks * scratch.f_frsize, inodes=scratch.f_files,
    flags=scratch.f_flag, environment=sorted(os.environ),
    descriptors=[fd for fd in range(300) if works(os.fstat, fd)],
)))
open("left", "w").close()
"""
)
# what runs outside: opens a jail, runs each source in a copy of its own, and looks at the warm process
PROGRAM = """
import json, os, sys
from pathlib import Path
import psutil
from limits import QUICK
from grader.sandbox.jail import Jail
from grader.sandbox.session import JailSession
namespaces, sources = json.load(sys.stdin)
jail = Jail("04_attention", QUICK, namespaces=namespaces)
runs = []
for source in sources:
    session = JailSession(jail, [source])
    (run,) = session.run()
    runs.append(run.output if not run.trouble else f"{run.trouble}: {run.error}")
    session.close()
connection = jail.open().connection  # the warm process is warm
newest = max(psutil.Process().children(), key=lambda process: process.pid)
warm = newest.children()[0].children()[0].pid
status = dict(line.split(":", 1) for line in Path(f"/proc/{warm}/status").read_text().splitlines())
mounts = [line.split() for line in Path(f"/proc/{warm}/mountinfo").read_text().splitlines()]
shared = [n for n in ("cgroup", "ipc", "mnt", "net", "pid", "uts")
          if os.readlink(f"/proc/{warm}/ns/{n}") == os.readlink(f"/proc/self/ns/{n}")]
print(json.dumps([runs, shared, status["CapEff"].strip(), {m[4]: m[5].split(",") for m in mounts}]))
connection.close()
jail.close()
"""


@dataclass(frozen=True)
class Inside:
    """What was found in a jail.

    runs          what each cell printed, or its trouble
    shared        kinds of namespaces that the warm process shares with the machine
    capabilities  of the warm process, as a mask
    mounts        options of what is mounted in it, by place
    """

    runs: list[str]
    shared: list[str]
    capabilities: int
    mounts: dict[str, list[str]]


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


def look_inside(
    sources: list[str], how: Sequence[str] = (), namespaces: bool = True, groups: Sequence[int] | None = None
) -> Inside:
    """Open a jail in a process that is started `how`, and run each source in a copy of its own."""
    answer: list[Any] = json.loads(python(PROGRAM, how, json.dumps([namespaces, sources]), groups))
    runs, shared, capabilities, mounts = answer
    return Inside(runs, shared, int(capabilities, 16), mounts)
