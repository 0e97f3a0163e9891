"""Inside the jail: a warm process that is copied for each submission; a copy runs cells and answers probes.

This file is all of the grader that a jail sees, with autograded_tests/probes.py beside it. It decides nothing. It is started
by grader/jail.py, which also says what the jail is made of.
"""

import ctypes
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
import threading
import traceback
import types
import warnings
from functools import partial
from typing import Any, NoReturn, Protocol

import numpy as np

HIDDEN = os.environ.pop("GRADER_HIDDEN", "").split(os.pathsep)
SCRATCH = os.environ.get("GRADER_SCRATCH", "/scratch")

# --- messages: a length, JSON, and then the arrays that the JSON announces by dtype and shape --------------------------


class Readable(Protocol):
    def recv(self, size: int, /) -> bytes: ...


def send(connection: socket.socket, message: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    flat = {name: np.asarray(a, order="C") for name, a in arrays.items()}
    message = message | {"arrays": [[name, a.dtype.str, a.shape] for name, a in flat.items()]}
    text = json.dumps(message).encode()
    connection.sendall(struct.pack("<I", len(text)) + text + b"".join(a.tobytes() for a in flat.values()))


def receive(connection: Readable, most: int = 1 << 30) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """One message; ValueError if it is not one or is larger than `most` bytes, EOFError if the other side is gone."""
    (length,) = struct.unpack("<I", _exactly(connection, 4))
    if length > min(most, 1 << 20):
        raise ValueError(f"a message of {length} bytes")
    message = json.loads(_exactly(connection, length))
    if not isinstance(message, dict) or not isinstance(message.get("arrays"), list) or len(message["arrays"]) > 64:
        raise ValueError("no message")
    arrays, left = {}, most
    for name, code, shape in message["arrays"]:
        dtype = np.dtype(code) if isinstance(code, str) and len(code) <= 4 else None
        if dtype is None or dtype.kind not in "fiub" or len(shape) > 8:
            raise ValueError(f"an array of type {str(code)[:20]}")
        if not all(isinstance(n, int) and 0 <= n <= 1 << 30 for n in shape):
            raise ValueError("an array of no shape")
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size > left:
            raise ValueError(f"arrays of more than {most} bytes")
        left -= size
        arrays[str(name)] = np.frombuffer(_exactly(connection, size), dtype).reshape(shape)
    return message, arrays


def _exactly(connection: Readable, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


# --- the walls of one submission's process ----------------------------------------------------------------------------

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


def fork(namespaces: bool) -> int:
    """os.fork, in a PID, mount and IPC namespace of its own if asked for."""
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
        raise OSError(error, f"no namespaces of its own: {os.strerror(error)}")
    return int(pid)


def enclose(limits: dict[str, int], namespaces: bool, uid: int | None) -> None:
    """A fresh scratch folder, limits, no capabilities, no other user's rights, no system calls that make room outside."""
    if namespaces:
        options = f"size={limits['scratch']},nr_inodes=4096,mode=0777".encode()
        _check(libc.mount(b"tmpfs", SCRATCH.encode(), b"tmpfs", 2 | 4, options), "mount")  # nosuid, nodev
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
    _forbid_system_calls()
    os.chdir(SCRATCH)


def _forbid_system_calls() -> None:
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


def look_around() -> dict[str, bool]:
    """Does the jail hold? Tried from inside, as a student could; each value must be true."""

    def fails(action: Any) -> bool:
        try:
            action()
        except OSError:
            return True
        return False

    def connect() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            s.settimeout(0.2)
            s.connect(("192.0.2.1", 9))

    def write(path: str) -> Any:
        return lambda: os.close(os.open(path, os.O_CREAT | os.O_WRONLY))

    header, sets = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    libc.capget(header, sets)
    return {
        "there is no network": fails(connect),
        "there is nothing of the course or of a home": not any(map(os.path.lexists, HIDDEN)),
        "nothing can be written outside scratch": all(fails(write(f"{d}/x")) for d in ("", "/usr", "/jail", "/tmp")),
        "there are no capabilities": not any(sets.raw),
        "no process can be started": fails(os.fork),
        "no other process is in sight": not os.path.exists("/proc/1"),
        "scratch can be written": not fails(write(f"{SCRATCH}/x")) and not fails(lambda: os.remove(f"{SCRATCH}/x")),
    }


# --- one submission ---------------------------------------------------------------------------------------------------


class Captured:
    """What a cell prints, up to a number of characters."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        if self.size < self.most:
            self.parts.append(text[: self.most - self.size])
        self.size += len(text)
        return len(text)

    def text(self) -> str:
        rest = f"\n... {self.size - self.most} more characters were printed ..." if self.size > self.most else ""
        return "".join(self.parts) + rest

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("the output of a cell is no file")


def serve(connection: socket.socket, shell: Any, run_cell: Any, limits: dict[str, int]) -> None:
    """Run cells and answer probes until the other side is gone."""
    import probes

    while True:
        try:
            message, arrays = receive(connection)
        except EOFError:
            return
        sys.stdout = sys.stderr = captured = Captured(limits["output"])
        reply: dict[str, Any] = {"id": message["id"]}
        results: dict[str, np.ndarray] = {}
        if message["do"] == "look around":
            reply["holds"] = look_around()
        elif message["do"] == "run":
            error = _run(message["source"], message["ours"], shell, run_cell)
            reply |= {"output": captured.text(), "error": "" if error is None else describe(error)}
            del error
        else:
            inputs = message["inputs"] | arrays
            stand_ins = {
                name: probes.stand_in(name, parameters, results_of, partial(ask_back, connection, message["id"]))
                for name, parameters, results_of in message["helpers"]
            }
            with np.errstate(all="ignore"):
                results, reply["problem"], reply["text"] = probes.run_probe(
                    shell.user_ns, message["probe"], inputs, stand_ins
                )
            reply["text"] = reply["text"][:2000]
        sys.stdout = sys.stderr = Captured(0)
        send(connection, reply, results)


def _run(source: str, ours: bool, shell: Any, run_cell: Any) -> BaseException | None:
    """Run a cell, a student's as Jupyter would; what it raised, if anything."""
    if not ours:
        outcome = run_cell(shell, source, store_history=True)
        return outcome.error_before_exec or outcome.error_in_exec  # type: ignore[no-any-return]
    try:
        exec(compile(source, "<given>", "exec"), shell.user_ns)
    except Exception as error:
        return error
    return None


def describe(error: BaseException) -> str:
    """What went wrong, and in which line of the cell."""
    text = f"{type(error).__name__}: {error}"[:1000]
    lines = [error.lineno] if isinstance(error, SyntaxError) else []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<ipython-input"):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"{text} (line {lines[-1]})" if lines else text


def ask_back(
    connection: socket.socket, question: int, name: str, index: int, grad: np.ndarray | None, arguments: dict[str, Any]
) -> list[np.ndarray]:
    """What the reference in place of an earlier answer gives; ValueError if it says no."""
    arrays = {k: v for k, v in arguments.items() if isinstance(v, np.ndarray)}
    plain = {k: v for k, v in arguments.items() if isinstance(v, int | None)}
    if grad is not None:
        arrays["\0grad"] = np.asarray(grad)
    send(connection, {"id": question, "helper": name, "index": index, "arguments": plain}, arrays)
    message, answers = receive(connection)
    if message.get("error"):
        raise ValueError(message["error"])
    return list(answers.values())


# --- the warm process -------------------------------------------------------------------------------------------------


class LatePlots(types.ModuleType):
    """matplotlib, or its pyplot, until it is used: importing it takes longer than all else, and few submissions plot."""

    def __getattr__(self, name: str) -> Any:
        load_plots()
        return getattr(sys.modules[self.__name__], name)


def put_plots_off() -> None:
    package, pyplot = LatePlots("matplotlib"), LatePlots("matplotlib.pyplot")
    vars(package)["pyplot"] = pyplot
    sys.modules.update({"matplotlib": package, "matplotlib.pyplot": pyplot})


def load_plots() -> None:
    if isinstance(sys.modules.get("matplotlib"), LatePlots):
        del sys.modules["matplotlib"], sys.modules["matplotlib.pyplot"]
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot


def warm_up() -> tuple[Any, Any]:
    """Import what every notebook imports, and make the IPython shell that copies will run cells in."""
    for part in ("random", "linalg", "fft"):  # NumPy loads them late, when there may be no memory left for it
        getattr(np, part)
    import probes  # noqa: F401
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    for name in ("showtraceback", "showsyntaxerror"):  # see describe
        setattr(InteractiveShell, name, lambda *args, **kwargs: None)
    warnings.formatwarning = lambda message, category, *_args, **_kwargs: f"{category.__name__}: {message}\n"
    threading.stack_size(512 << 10)  # many threads must not use up the memory
    shell = InteractiveShell.instance(config=config)
    shell.register_magic_function(lambda line: None, magic_name="matplotlib")  # plots are drawn, but not shown
    for name in os.environ["GRADER_MODULES"].split():
        __import__(f"tinytorch.core.{name}")
    with np.errstate(all="ignore"):
        InteractiveShell.run_cell(shell, "1 / 0")  # loads what is loaded at the first cell and at the first error
    shell.reset(new_session=True)
    put_plots_off()
    return shell, InteractiveShell.run_cell


PLOTS_AFTER = 2  # copies: one that tries the jail, one for the first submission; while that runs there is time


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = json.loads(sys.argv[2])
    shell, run_cell = warm_up()
    gc.collect()
    gc.freeze()  # a copy that does not touch what it shares with us starts faster
    control.send(b"ready")
    copies: dict[str, int] = {}
    started = 0
    while True:
        message, fds, _, _ = socket.recv_fds(control, 64, 1)
        if not message:
            return
        order, slot = message.decode().split()
        if order == "end":
            pid = copies.pop(slot, 0)
            if pid:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            control.send(b"ended")
            continue
        try:
            pid = fork(settings["namespaces"])
        except OSError as error:
            control.send(f"failed {error}".encode())
        else:
            if pid == 0:
                control.close()
                _serve_one(fds[0], shell, run_cell, settings, int(slot))
            copies[slot] = pid
            control.send(b"started")
            started += 1
        os.close(fds[0])
        if started == PLOTS_AFTER:
            load_plots()
            gc.freeze()


def _serve_one(fd: int, shell: Any, run_cell: Any, settings: dict[str, Any], slot: int) -> NoReturn:
    """The life of one copy."""
    connection = socket.socket(fileno=fd)
    uid = None if settings["uid"] is None else settings["uid"] + slot % 1000
    try:
        if settings["enclosed"]:
            enclose(settings["limits"], settings["namespaces"], uid)
        serve(connection, shell, run_cell, settings["limits"])
    except BaseException:
        if not settings["enclosed"]:
            traceback.print_exc(file=sys.__stderr__)
    os._exit(0)


if __name__ == "__main__":
    main()
