"""Inside the jail: a warm process that is copied for each submission; a copy runs cells and answers probes.

It decides nothing. files.py lists what else of ours a jail sees; jail.py starts it.
"""

import ast
import builtins
import gc
import importlib
import io
import json
import os
import re
import socket
import sys
import threading
import traceback
import types
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from exercises.probes import run_probe
from exercises.problem import GIVEN, Problem, in_words
from exercises.stand_ins import stand_in_for
from grader.sandbox import landlock, walls
from grader.sandbox.copies import HELLO, make_copies
from grader.sandbox.wire import Request, receive, send

PLOTS_AFTER = 3  # copies: two that try the jail, one for the first submission; while that runs there is time
MOST_TEXT = 500  # characters of what an answer raised
DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
HISTORY = re.compile(r"_+(i{0,3}|i?\d+)")  # names that IPython gives to what was typed and shown


@dataclass(frozen=True)
class Warm:
    """What is made once, before any copy: IPython's shell, and its way to run a cell."""

    shell: Any
    run_cell: Any


@dataclass(frozen=True)
class Settings:
    """What jail.py says of this jail.

    scratch           the folder that can be written, or where a copy makes one
    readable, listed  what may be read, and what may be listed, where nothing can be mounted
    """

    limits: dict[str, int]
    kind: str
    namespaces: bool
    uid: int | None
    scratch: str
    readable: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


# --- one submission ---------------------------------------------------------------------------------------------------


class Captured(io.TextIOBase):
    """What a cell prints, up to a number of characters."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, most: int) -> None:
        super().__init__()
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

    def close(self) -> None:
        """What comes next prints, too."""

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("the output of a cell is no file")


class Names:
    """What our cells and answers made of names. It is given back whatever other cells have done to the names since."""

    def __init__(self, namespace: dict[Any, Any]) -> None:
        self.namespace, self.first = namespace, dict(namespace)
        self.made: dict[str, Any] = {}
        self.spare: dict[str, Any] = {}  # what other cells made: given back if it is gone
        self.run_since = False  # a cell, since names were given back
        self.gave = False  # giving back has changed something, now or earlier

    def changed(self, before: dict[Any, Any]) -> dict[str, Any]:
        """Names that a cell has made or made anew, but for those in which IPython keeps what was typed and shown."""
        absent = object()
        return {
            name: value
            for name, value in self.namespace.items()
            if isinstance(name, str)  # not so after globals()[1] = 2
            and before.get(name, absent) is not value
            and name not in self.first
            and not HISTORY.fullmatch(name)
        }

    def keep(self, before: dict[str, Any], role: str, defined: list[str]) -> bool:
        """Remember what a cell made; whether it made something anew that was there.

        A cell of the student's own that defines an answer again counts as one.
        """
        self.run_since = True
        changed = self.changed(before)
        anew = not changed.keys().isdisjoint(before)
        if role == "own":
            self.spare |= {k: v for k, v in changed.items() if not _hides_builtin(k, v)}
            changed = {k: v for k, v in changed.items() if k in defined and callable(v)}
        self.made |= changed
        return anew

    def give_back(self) -> bool:
        """Whether this changed anything, now or earlier."""
        if not self.run_since:
            return self.gave
        self.run_since = False
        namespace, wanted = self.namespace, self.first | self.spare | self.made
        gone = {name: value for name, value in wanted.items() if name not in namespace}
        other = {name: value for name, value in self.made.items() if namespace.get(name, value) is not value}
        hidden = [n for n, v in namespace.items() if n not in wanted and isinstance(n, str) and _hides_builtin(n, v)]
        namespace.update(gone | other)
        for name in hidden:
            namespace.pop(name, None)
        self.gave |= bool(gone or other or hidden)
        return self.gave


def _hides_builtin(name: str, value: Any) -> bool:
    """Such as sum = 0."""
    return hasattr(builtins, name) and not callable(value)


class Line:
    """The way to the other side, read by larger pieces than are asked for."""

    def __init__(self, connection: socket.socket) -> None:
        self.recv, self.sendall = connection.makefile("rb").read, connection.sendall


def serve(connection: Line, warm: Warm, settings: Settings) -> None:
    """Run cells and answer probes until the other side is gone."""
    names = Names(warm.shell.user_ns)
    while True:
        try:
            message, arrays = receive(connection)
        except EOFError:
            return
        sys.stdout = sys.stderr = captured = Captured(settings.limits["output"])
        reply: dict[str, Any] = {"id": message["id"]}
        results: dict[str, np.ndarray] = {}
        if message["do"] == Request.LOOK_AROUND:
            reply["holds"] = walls.look_around(message["hidden"], settings.scratch)
        elif message["do"] == Request.RUN:
            error, anew = _run(message, message["source"], message["role"], names, warm)
            reply |= {"output": captured.text(), "error": "", "raised": "", "anew": anew}
            if error is not None:
                reply |= {"error": describe(error), "raised": type(error).__name__}
            del error
        elif message["do"] == Request.DEFINE:
            before = dict(names.namespace)
            _define(message["source"], names.namespace, warm)
            names.keep(before, message["role"], message["defined"])
        elif message["do"] == Request.AGAIN:
            for source, role in message["cells"]:
                _run(message, source, role, names, warm, seen=True)
        else:
            results, answer = _ask(connection, message, arrays, names)
            reply |= answer
        sys.stdout = sys.stderr = Captured(0)
        send(connection, reply, results)


def _ask(
    connection: Line, message: dict[str, Any], arrays: dict[str, np.ndarray], names: Names
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Put one question to the answers in the shell; arrays, and the problem if there are none."""
    stand_ins = {
        name: stand_in_for(name, parameters, results_of, partial(ask_reference, connection, message["id"]))
        for name, parameters, results_of in message["stand_ins"]
    }
    changed = message["give_back"] and names.give_back()
    with np.errstate(all="ignore"):
        results, problem, text, line = run_probe(
            names.namespace, message["probe"], message["inputs"] | arrays, stand_ins
        )
    raised = MemoryError.__name__ if problem is Problem.MEMORY else ""
    said = {
        "problem": problem,
        "text": text[:MOST_TEXT],
        "line": line[:MOST_TEXT],
        "raised": raised,
        "changed": changed,
    }
    return results, said


def _run(
    message: dict[str, Any], source: str, role: str, names: Names, warm: Warm, seen: bool = False
) -> tuple[BaseException | None, bool]:
    """Run a cell, a student's as Jupyter would; what it raised, if anything, and whether it made something anew.

    seen  what it prints and shows has been: what is plain Python needs no shell
    """
    if message["give_back"] and role != "own":
        names.give_back()
    before = dict(names.namespace)
    error: BaseException | None = None
    try:
        if role == "given":
            exec(compile(source, GIVEN, "exec"), names.namespace)  # noqa: S102  (a cell of ours)
        elif seen and (code := _plain_python(source, warm)) is not None:
            exec(code, names.namespace)  # noqa: S102  (a student's cell)
        else:
            outcome = warm.run_cell(warm.shell, source, store_history=True)
            error = outcome.error_before_exec or outcome.error_in_exec
    except Exception as raised:  # noqa: BLE001  (a cell of ours calls what students wrote)
        error = raised
    if error is not None and role == "own":
        _define(source, names.namespace, warm)
    return error, names.keep(before, role, message["defined"])


def _plain_python(source: str, warm: Warm) -> types.CodeType | None:
    """A cell's code; None if only the shell can run it."""
    with suppress(SyntaxError, ValueError):
        if "get_ipython" in source or "__future__" in source:
            return None
        compiler = warm.shell.compile  # it remembers `from __future__ import ...`, and sources for inspect.getsource
        code: types.CodeType = compile(source, compiler.cache(source), "exec", compiler.flags, dont_inherit=True)
        return code
    return None


def _define(source: str, namespace: dict[str, Any], warm: Warm) -> None:
    """What a cell that failed or is not run defines, imports and names, each statement by itself: answers may need it."""
    with suppress(SyntaxError, ValueError):
        for statement in ast.parse(warm.shell.transform_cell(source)).body:
            if isinstance(statement, DEFINING) or (
                isinstance(statement, ast.Assign | ast.AnnAssign) and _is_plain(statement.value)
            ):
                with suppress(Exception):
                    exec(compile(ast.Module([statement], []), "<own>", "exec"), namespace)  # noqa: S102


def _is_plain(value: ast.expr | None) -> bool:
    """Whether it is a number, a text, or a list or such of them."""
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return value is not None and ast.literal_eval(value) is not Ellipsis
    return False


def describe(error: BaseException) -> str:
    """What went wrong, and in which line of the cell."""
    text = in_words(error)[:1000]
    lines = [error.lineno] if isinstance(error, SyntaxError) else []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<ipython-input"):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"{text} (line {lines[-1]})" if lines else text


def ask_reference(
    connection: Line, question: int, name: str, index: int, grad: np.ndarray | None, arguments: dict[str, Any]
) -> list[np.ndarray]:
    """What the reference in place of an earlier answer gives; ValueError if it says no."""
    arrays = {k: v for k, v in arguments.items() if isinstance(v, np.ndarray)}
    plain = {k: v for k, v in arguments.items() if isinstance(v, int | None)}
    if grad is not None:
        arrays["\0grad"] = np.asarray(grad)
    send(connection, {"id": question, "stand_in": name, "index": index, "arguments": plain}, arrays)
    message, answers = receive(connection)
    if message.get("error"):
        raise ValueError(message["error"])
    return list(answers.values())


# --- the warm process -------------------------------------------------------------------------------------------------


class LatePlots(types.ModuleType):
    """matplotlib, or its pyplot, until it is used: importing it takes longer than all else, and few submissions plot."""

    def __getattr__(self, name: str) -> Any:
        load_plots()
        module = sys.modules[self.__name__]
        if name == "__all__":  # from ... import *
            return getattr(module, name, [n for n in dir(module) if not n.startswith("_")])
        return getattr(module, name)


def put_plots_off() -> None:
    package, pyplot = LatePlots("matplotlib"), LatePlots("matplotlib.pyplot")
    vars(package)["pyplot"] = pyplot
    sys.modules.update({"matplotlib": package, "matplotlib.pyplot": pyplot})


def load_plots() -> None:
    if isinstance(sys.modules.get("matplotlib"), LatePlots):
        del sys.modules["matplotlib"], sys.modules["matplotlib.pyplot"]
        import matplotlib

        matplotlib.use("Agg")
        importlib.import_module("matplotlib.pyplot")


def warm_up(modules: list[str]) -> Warm:
    """Import what every notebook imports, and make the IPython shell that copies will run cells in."""
    for part in ("random", "linalg", "fft"):  # NumPy loads them late, when there may be no memory left for it
        getattr(np, part)
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.text import SList
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    for name in ("showtraceback", "showsyntaxerror", "_format_exception_for_storage"):  # see describe
        setattr(InteractiveShell, name, lambda *_args, **_kwargs: {})
    warnings.formatwarning = lambda message, category, *_args, **_kwargs: f"{category.__name__}: {message}\n"
    threading.stack_size(512 << 10)  # many threads must not use up the memory
    shell = InteractiveShell.instance(config=config)
    # plots are drawn, but not shown; nothing can be installed; there is nothing to save
    for name in ("matplotlib", "pip", "conda", "autosave"):
        shell.register_magic_function(lambda _line: None, magic_name=name)
    shell.system = lambda *_args, **_kwargs: None  # no program can be started
    shell.getoutput = lambda *_args, **_kwargs: SList()
    for name in modules:
        importlib.import_module(f"tinytorch.core.{name}")
    with np.errstate(all="ignore"):
        InteractiveShell.run_cell(shell, "1 / 0")  # loads what is loaded at the first cell and at the first error
    shell.reset(new_session=True)
    put_plots_off()
    checks = types.ModuleType("exercises.practice")  # notebooks call it; here it would judge what is judged anyway
    vars(checks)["check"] = lambda _name: None
    sys.modules[checks.__name__] = checks
    return Warm(shell, InteractiveShell.run_cell)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    settings = Settings(**json.loads(sys.argv[2]))
    warm = warm_up(os.environ["GRADER_MODULES"].split())
    if settings.kind == "landlock":
        walls.hide()  # copies may be processes of the same user
    gc.collect()
    gc.freeze()  # a copy that does not touch what it shares with us starts faster

    def started(count: int) -> None:
        if count == PLOTS_AFTER:
            load_plots()
            gc.freeze()

    make_copies(control, partial(walls.fork, settings.namespaces), partial(_serve_one, warm, settings), started)


def _serve_one(warm: Warm, settings: Settings, connection: socket.socket, slot: int) -> NoReturn:
    """The life of one copy."""
    try:
        settings = replace(settings, scratch=_enclose(settings, connection.fileno(), slot))
    except OSError as error:
        connection.sendall(str(error).encode()[:200])
        os._exit(1)
    sys.path.append(settings.scratch)  # a module that the notebook writes can be imported
    try:
        connection.sendall(HELLO)
        serve(Line(connection), warm, settings)
    except BaseException:  # noqa: BLE001  (SystemExit, too, ends a copy here and nowhere else)
        if settings.kind == "none":
            traceback.print_exc(file=sys.__stderr__)
    os._exit(0)


def _enclose(settings: Settings, connection: int, slot: int) -> str:
    """Put up the walls of a copy; the folder that it may write into."""
    uid = None if settings.uid is None else settings.uid + slot % 1000
    if settings.kind == "bwrap":
        walls.enclose(settings.limits, uid, settings.scratch, connection)
        return settings.scratch
    scratch = walls.own_folder(settings.scratch, slot, uid)
    if settings.kind == "landlock":
        landlock.enclose(settings.limits, uid, scratch, connection, settings.readable, settings.listed)
    return scratch


if __name__ == "__main__":
    main()
