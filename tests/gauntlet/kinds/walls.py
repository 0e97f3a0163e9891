"""Attacks on the others, on the judge and on the machine: each costs its own student at most."""

import json

from answers import Everything, submission
from forgery import STEAL

from kinds.base import FULL, Kinds, added, code_cell

KINDS = Kinds()
kind = KINDS.kind

MARK = "left-for-the-next-one"
# --- what is left for another -----------------------------------------------------------------------------------------
LEAVE = f"""
import ctypes, os, socket, threading
libc = ctypes.CDLL(None, use_errno=True)
def attempt(action, *arguments):
    try:
        return action(*arguments)
    except Exception as error:
        return error
for fd in range(64):
    attempt(os.write, fd, b"{MARK}\\n")
for folder in ("/", "/dev", "/dev/shm", "/tmp", "/var/tmp", "/run/shm", "/scratch", "/jail", os.path.expanduser("~")):
    attempt(lambda: open(f"{{folder}}/{MARK}", "w").write("{MARK}"))
segment = libc.shmget(0x1234, 4096, 0o1666)
libc.msgget(0x1234, 0o1666), libc.semget(0x1234, 1, 0o1666), libc.mq_open(b"/{MARK}", 0o102, 0o666, None)
servers = []
for family, address in ((socket.AF_UNIX, "\\0{MARK}"), (socket.AF_INET, ("127.0.0.1", 4711)), (socket.AF_INET6, ("::1", 4711))):
    def serve(family=family, address=address):
        server = socket.socket(family)
        server.bind(address), server.listen()
        servers.append(server)
        threading.Thread(target=lambda: server.accept()[0].sendall(b"{MARK}"), daemon=True).start()
    attempt(serve)
"""
FIND = f"""
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
found = []
def attempt(action):
    try:
        found.append(action())
    except Exception:
        pass
for fd in range(64):
    attempt(lambda: os.pread(fd, 1 << 16, 0))
    attempt(lambda: os.readlink(f"/proc/self/fd/{{fd}}"))
for folder in ("/", "/dev", "/dev/shm", "/dev/pts", "/tmp", "/var/tmp", "/run/shm", "/scratch", "/jail"):
    attempt(lambda: [n for n in os.listdir(folder) if "{MARK}" in n])
found += [libc.shmget(0x1234, 1, 0) >= 0, libc.msgget(0x1234, 0) >= 0, libc.semget(0x1234, 1, 0) >= 0]
for family, address in ((socket.AF_UNIX, "\\0{MARK}"), (socket.AF_INET, ("127.0.0.1", 4711)), (socket.AF_INET6, ("::1", 4711))):
    def connect():
        with socket.socket(family) as s:
            s.settimeout(0.2)
            s.connect(address)
            return s.recv(99)
    attempt(connect)
if any("{MARK}" in repr(f) or f is True for f in found):
    raise SystemExit("REACHED ANOTHER")
"""
kind("leaves things for another, 1", added(LEAVE, blank=Everything()), 0)
kind("leaves things for another, 2", added(f"{LEAVE}\nimport time; time.sleep(1)", blank=Everything()), 0)
for n in range(3):
    kind(f"looks for what another left, {n}", added(FIND), FULL)

# --- the judge --------------------------------------------------------------------------------------------------------


def saying(act: str) -> bytes:
    """Right answers, of which one also puts something on the wire."""
    source = f"""{STEAL}
def _scale_scores(scores, d_k):
    if asked()[0]['probe'] == 'scale_scores':
        {act}
    return scores / math.sqrt(d_k)"""
    return submission({"scale_scores": source})


for what, act in {
    "a text of 1 MB": "reply([], b'', problem='raised', text='@: the left side has shape (' * 40000); hush()",
    "a text of blanks": "reply([], b'', problem='raised', text=' ' * 100000 + 'x'); hush()",
    "a text for every pattern": "reply([], b'', problem='raised', text='V has shape (1, ' * 30); hush()",
    "texts that are none": "reply([], b'', problem='raised', text=['x'] * 1000); hush()",
    "an unknown problem": "reply([], b'', problem='well done'); hush()",
    "a problem of ours": "reply([], b'', problem='time'); hush()",
    "no problem at all": "say(json.dumps({'id': asked()[0]['id'], 'arrays': []}).encode()); hush()",
    "nested without end": "say(b'[' * 100000); hush()",
    "keys without end": "say(json.dumps({str(n): n for n in range(10 ** 5)}).encode()); hush()",
    "a dtype that is code": "announce('(1,', [2], bytes(8)); hush()",
    "a dtype of objects": "announce('|O8', [2], bytes(16)); hush()",
    "a size that is true": "announce('<f4', [True, 2], bytes(8)); hush()",
    "a size without end": "announce('<f4', [2 ** 62, 2 ** 62]); hush()",
    "nine axes": "announce('<f4', [1] * 9, bytes(4)); hush()",
    "a name that is none": "reply([[7, '<f4', [1]]], bytes(4)); hush()",
    "one name twice": "reply([['scaled', '<f4', [1]]] * 2, bytes(8)); hush()",
    "a thousand arrays": "reply([['a%d' % n, '<f4', [0]] for n in range(1000)], b''); hush()",
    "60 MB": "announce('<f4', [15 << 20], bytes(60 << 20)); hush()",
    "one byte at a time": "[(wire.sendall(b'{'), time.sleep(0.05)) for _ in range(1000)]",
    "a shape that tells": "announce('<f4', [int(x) for x in scores.data.view('u4').ravel()[:6]] + [0]); hush()",
    "more than was asked for": "[announce('<f4', [1], bytes(4)) for _ in range(50)]",
    "a stand-in that was not offered": "reply([], b'', stand_in='_scale_scores', index=-1, arguments={}); hush()",
    "the end of the wire": "wire.shutdown(socket.SHUT_RDWR)",
}.items():
    kind(f"the wire: {what}", saying(act), FULL - 2)

ASKING = "def _scale_scores(scores, d_k):\n    return scores / d_k"
for what, call in {
    "12,000 x 12,000 scores": "_scale_scores(Tensor(np.zeros((12000, 12000), np.float32)), 4)",
    "an axis of a million": "_scale_scores(Tensor(np.zeros((1, 1 << 20), np.float32)), 4)",
    "a number of 300 digits": "_scale_scores(Q @ K.transpose(-2, -1), 10 ** 300)",
    "asked a thousand times": "[_scale_scores(Q @ K.transpose(-2, -1), 4) for _ in range(1000)][0]",
}.items():
    source = f"def scaled_dot_product_attention(Q, K, V, mask=None):\n    return {call}, Q"
    kind(
        f"an earlier answer's reference: {what}",
        submission({"scale_scores": ASKING, "scaled_dot_product_attention": source}),
        FULL - 2 - 6,
    )

# --- memory that no limit counts --------------------------------------------------------------------------------------
kind(
    "System V shared memory",
    added("import ctypes\nlibc = ctypes.CDLL(None)\nids = [libc.shmget(n, 1 << 28, 0o1666) for n in range(1, 13)]\n"
          "libc.shmat.restype = ctypes.c_void_p\n[ctypes.memset(libc.shmat(i, None, 0), 1, 1 << 28) for i in ids if i >= 0]"),
    FULL,
)  # fmt: skip
kind("POSIX shared memory", added("while True: open(f'/dev/shm/{id(object())}', 'ab').write(bytes(1 << 20))"), FULL)
kind("memory in files without a name", added("import os\nfds = [os.memfd_create('x') for _ in range(9)]"), FULL)
kind(
    "memory in sockets",
    added("import socket\npairs = []\nwhile True:\n    a, b = socket.socketpair(); a.setblocking(False); pairs.append((a, b))\n"
          "    try:\n        while True: a.send(bytes(1 << 16))\n    except BlockingIOError: pass"),
    FULL,
)  # fmt: skip
kind("sockets of a virtual machine", added("import socket\nsocket.socket(40, socket.SOCK_STREAM)"), FULL)
kind("raw sockets", added("import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)"), FULL)
kind(
    "a datagram",
    added("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))"),
    FULL,
)
kind("a lock on a file of all", added("import fcntl, numpy\nfcntl.flock(open(numpy.__file__), fcntl.LOCK_EX)"), FULL)
kind("rights changed", added("import os\nos.chmod('/scratch', 0)\nos.chmod('/jail', 0o777)"), FULL)
kind(
    "signals to all",
    added(
        "import os, signal\nfor pid in range(2, 99):\n    try: os.kill(pid, signal.SIGKILL)\n    except OSError: pass"
    ),
    FULL,
)
kind("a signal to everyone", added("import os, signal\nos.kill(-1, signal.SIGTERM)"), FULL)
kind(
    "higher limits",
    added("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\nx = bytearray(3 << 30)"),
    FULL,
)
kind(
    "many threads that compute",
    added(
        "import threading\ndef spin():\n    while True: pass\nfor _ in range(15): threading.Thread(target=spin).start()"
    ),
    FULL,
)

kind(
    "a hurry to get and to keep a processor",
    added("""import os
for attempt in (
    lambda: os.sched_setaffinity(0, {0}),
    lambda: os.nice(19),
    lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)),
):
    try:
        attempt()
    except OSError:
        pass"""),
    FULL,
)
# --- reading ----------------------------------------------------------------------------------------------------------


def raw(cells: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


BOUNDS = "MB to be read and judged"
kind("50 MB of nested lists", lambda: raw([[[[[[n]]]]] for n in range(4_000_000)]), 0, BOUNDS)
kind("numbers without end", lambda: raw([{"cell_type": "code", "source": list(range(6_000_000))}]), 0)
kind("200,000 cells", lambda: raw([code_cell("x = 1")] * 200_000), 0)
kind("one cell of 30 MB", lambda: raw([code_cell("x = 1  # " + "x" * (30 << 20))]), 0)
kind("a million functions in a cell", lambda: raw([code_cell("def f(): pass\n" * 300_000)]), 0)
