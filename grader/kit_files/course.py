"""Check your notebook, leave an exercise for later, or make a library of your notebook.

python course.py check        run the visible tests in a fresh kernel, and say what is missing
python course.py skip NAME    leave an exercise for later; the same again takes it back
python course.py export       make tinytorch/core/... from your notebook, and run the examples on it
"""

import ast
import contextlib
import importlib.util
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SECONDS = 60  # after which a cell is stopped
OPEN = re.compile(r"# YOUR CODE HERE\s+raise NotImplementedError")
SKIPPED = HERE / ".skipped"  # the exercises left for later, one name a line

INSTALL = "Install the packages with `python -m pip install -r requirements.txt`"
UNPACK = "Unpack the kit's archive into a new folder, and copy what is missing from there."
RESCUE = "Save it again in JupyterLab; an earlier copy may be in the folder .ipynb_checkpoints."
CLOSE = "If another program has it open, close it there."
COPY = "If the folder is read-only, copy the kit to one of your own."


class Problem(Exception):
    """What is wrong, in sentences for the student."""


class Cell(NamedTuple):
    """A cell of the notebook, or of what was handed out; `kind` is known of the latter only."""

    number: int
    type: str  # code, or else it is text
    name: str
    id: str
    source: str
    kind: str = ""  # given, demo, answer, test or written


def load_course():
    """notebook: its name; exercises: name: {"points", "defines"}; cells: as they were handed out."""
    try:
        data = json.loads((HERE / "course.json").read_text(encoding="utf-8-sig"))
        cells = [Cell(n, c["type"], c["name"], c["id"], c["source"], c["kind"]) for n, c in enumerate(data["cells"])]
        return SimpleNamespace(
            notebook=data["notebook"], exercises={e["name"]: e for e in data["exercises"]}, cells=cells
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise Problem(f"course.json is missing or damaged in {HERE}. {UNPACK}") from None


def find_notebook(course):
    """The notebook, or the newest file named like it: `attention (1)`, not `efficient_attention`."""
    path = HERE / f"{course.notebook}.ipynb"
    like = re.compile(rf"(?<![a-z0-9_]){course.notebook}(?![a-z]).*\.ipynb", re.IGNORECASE)
    others = [p for p in HERE.iterdir() if like.search(p.name) and p.is_file() and p != path]
    others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
    if path.is_file():
        if others and others[0].stat().st_mtime > path.stat().st_mtime:
            show(f"{others[0].name} is newer than {path.name}, but only {path.name} is read.")
        return path
    if not others:
        there = ", ".join(p.name for p in HERE.glob("*.ipynb")) or "none"
        raise Problem(f"There is no {path.name} beside course.py in {HERE} (notebooks there: {there}). {UNPACK}")
    taken, *left = [p.name for p in others]
    newest = f", the newest (not read: {', '.join(left)})" if left else ""
    show(f"There is no {path.name}. {taken} is read{newest}. Rename it to {path.name} before you hand it in.")
    return others[0]


def read_cells(path):
    """The cells of a notebook of any format and encoding. Raises Problem."""
    text = _text(path)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        damaged = "is damaged: it begins like a notebook, but is cut off or changed"
        what = damaged if text.lstrip()[:1] == "{" else "is not a notebook" if text.strip() else "is empty"
        raise Problem(f"{path.name} {what}. {RESCUE}") from None
    notebook, cells = (notebook, notebook.get("cells")) if isinstance(notebook, dict) else ({}, None)
    if cells is None and isinstance(notebook.get("worksheets"), list):  # format 3
        cells = [c for s in notebook["worksheets"] if isinstance(s, dict) for c in s.get("cells") or ()]
    if not isinstance(cells, list):
        raise Problem(f"{path.name} is JSON, but not a notebook. {RESCUE}")
    return [_cell(number, cell) for number, cell in enumerate(cells) if isinstance(cell, dict)]


def _text(path):
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path.name} cannot be read ({error.strerror}). {CLOSE}") from None
    for encoding in ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]:
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode(encoding, errors="replace")


def _cell(number, cell):
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = mark.get("grade_id") if isinstance(mark, dict) else None
    source = cell.get("source", cell.get("input", ""))
    whole = "".join(map(str, source if isinstance(source, list) else [source]))
    source = whole.encode("utf-8", "replace").decode()  # a kernel is sent whole letters only
    name, own = (text if isinstance(text, str) else "" for text in (name, cell.get("id")))
    return Cell(number, cell.get("cell_type"), name, own, re.sub(r"\r\n?", "\n", source))


def arrange(course, cells):
    """steps: (kind, name, source) of what is run, kind and name are "" for your own cells; notes: what was changed;
    open: exercises of which there is nothing to test, and why; empty: written questions without an answer."""
    places = _places(course, cells)
    theirs = {ours.name: [c for c in cells if places.get(c.number) == ours.number] for ours in course.cells}
    notes, pieces, used, blank, place = _differing(course, theirs, cells), [], set(), {}, -1
    for ours in course.cells:
        answer = _answer(course, ours, theirs[ours.name], cells, notes) if ours.kind == "answer" else None
        if ours.kind == "answer" and (not answer or not _filled(answer, ours) or OPEN.search(answer.source)):
            blank[ours.name] = "not answered yet" if answer else "its answer cell is missing"
        if answer or ours.kind in ("given", "test"):
            source, number = (answer.source, answer.number) if answer else (ours.source, -1)
            pieces.append((ours.number, number, (ours.kind, ours.name, source)))
            used.add(number)
    for cell in cells:
        place = places.get(cell.number, place)
        ours = course.cells[place] if cell.number in places else None
        own = ours is None or (ours.kind != "test" and _filled(cell, ours))  # your own, or changed by you
        if own and cell.type == "code" and cell.source.strip() and cell.number not in used:
            pieces.append((place, cell.number, ("", "", cell.source)))
    written = [c for c in course.cells if c.kind == "written" and not any(_filled(t, c) for t in theirs[c.name])]
    return SimpleNamespace(
        steps=[step for _, _, step in sorted(pieces, key=lambda piece: piece[:2])],
        notes=notes,
        open=blank,
        empty=[c.name if theirs[c.name] else f"{c.name}: its cell is not found" for c in written],
    )


def _places(course, cells):
    """number of a cell: number of the cell of the course that it is, by its name, its id or its text."""
    by_name = {c.name: c.number for c in course.cells}
    by_id = {c.id: c.number for c in course.cells if c.id}
    by_source = {c.source.strip(): c.number for c in course.cells if c.kind != "written"}
    places = {}
    for cell in cells:
        place = by_name.get(cell.name) if cell.name else by_id.get(cell.id)
        places[cell.number] = by_source.get(cell.source.strip()) if place is None else place
    return {number: place for number, place in places.items() if place is not None}


def _answer(course, ours, claims, cells, notes):
    """The cell that is graded: the last that is filled in and defines the name, at best under the cell's own name."""
    name = course.exercises[ours.name]["defines"]
    definition = re.compile(rf"^(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b", re.MULTILINE)
    filled = [c for c in claims if _filled(c, ours)]
    if len(filled) > 1:
        notes.append(f"There are {len(filled)} cells with the answer {ours.name}; the last one counts.")

    def fit(cell):
        defines = bool(definition.search(cell.source))
        return defines and _filled(cell, ours), defines, cell in claims, cell.number

    return max((c for c in cells if c in claims or fit(c)[1]), key=fit, default=None)


def _filled(theirs, ours):
    """There is more in it than what was handed out."""
    return theirs.source.strip() not in ("", ours.source.strip())


def _differing(course, theirs, cells):
    """Sentences on the cells that are not as they were handed out."""
    notes = []
    if not any(c.name for c in cells):
        notes.append(
            "The notebook has lost its metadata; its cells are recognised by their text. "
            "Copy your answers into a fresh copy of the notebook before you hand it in."
        )
    pairs = [(c, t) for c in course.cells for t in theirs[c.name] if t.source.strip() == c.source.strip()]
    same = {c.name for c, t in pairs if t.type == c.type}
    for kind, what in (("test", "Test"), ("given", "Given")):
        names = [c.name for c in course.cells if c.kind == kind and c.name not in same]
        if names:
            notes.append(f"{what} cells changed or missing in your notebook, run as handed out: {', '.join(names)}.")
    return notes


class Kernel:
    """A kernel of this Python; after a cell that it did not survive, a fresh one that has run the cells before."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.before, self.manager, self.client = [], None, None  # before: sources that ran to their end
        self._start()
        return self

    def __exit__(self, *_):
        self._stop()
        self.folder.cleanup()

    def run(self, source):
        """(how, error): how is "" if it ran to its end, else error, stopped or died; the kernel's message, or None."""
        how, error = self._run(source)
        if how in ("", "error"):
            self.before.append(source)
        else:
            before, self.before = self.before, []
            self._stop()
            self._start()
            for earlier in before:
                self.run(earlier)
        return how, error

    def _start(self):
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

        class ThisPython(KernelSpecManager):
            def get_kernel_spec(self, kernel_name):
                quiet = ["--IPKernelApp.log_level=ERROR", "--HistoryManager.enabled=False"]
                argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *quiet]
                return KernelSpec(argv=argv, display_name=kernel_name, language="python")

        # none of your own IPython settings, and no warnings that concern only those who debug IPython, or Windows
        filters = [os.environ.get("PYTHONWARNINGS"), "ignore:Proactor event loop:RuntimeWarning"]
        own = {"IPYTHONDIR": self.folder.name, "PYTHONWARNINGS": ",".join(filter(None, filters))}
        environment = os.environ | own | {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        connection = str(Path(self.folder.name) / f"kernel-{time.monotonic_ns()}.json")
        self.manager = KernelManager(kernel_spec_manager=ThisPython(), connection_file=connection)
        try:
            self.manager.start_kernel(cwd=str(HERE), env=environment)
            self.client = self.manager.client()
            self.client.start_channels()
            self.client.wait_for_ready(timeout=120)
        except (RuntimeError, OSError) as error:
            self.__exit__()
            raise Problem(f"Python's kernel does not start: {error}. {INSTALL}, and try again.") from None

    def _stop(self):
        if self.client is not None:
            self.client.stop_channels()
        if self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)
        self.client = None

    def _run(self, source):
        request = self.client.execute(source, allow_stdin=False)
        how, error = self._wait(request, SECONDS)
        if how == "stopped":
            self.manager.interrupt_kernel()  # so that it says in which line it was
            _, error = self._wait(request, min(3, SECONDS))
        return how, error

    def _wait(self, request, seconds):
        end, error = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                if not self.manager.is_alive():
                    return "died", None
                continue
            answers = message["parent_header"].get("msg_id") == request
            if answers and message["msg_type"] == "error":
                error = message["content"]
            elif answers and message["content"].get("execution_state") == "idle":
                return "died" if self._leaves(request) else "error" if error else "", error
        return "stopped", error

    def _leaves(self, request):
        """Whether the cell called exit(), which ends the kernel after it."""
        reply = {"parent_header": {}}
        while reply["parent_header"].get("msg_id") != request:
            try:
                reply = self.client.get_shell_msg(timeout=5)
            except queue.Empty:
                return True
        return any(p.get("source") == "ask_exit" for p in reply["content"].get("payload") or ())


def explain(how, error, course, name=""):
    """Lines on what stopped a cell, or [""]; `name` is the exercise, if it is a test."""
    if not how:
        return [""]
    frames = [_plain(frame) for frame in error["traceback"]] if error else []
    where = f"   in: {_line(frames)}" if _line(frames) else ""
    if how == "stopped":
        return [f"stopped after {SECONDS} seconds{where}", "Is there a loop that never ends?"]
    if how == "died":
        return ["Python ended in it: by exit() or os._exit(), or for lack of memory"]
    kind, (first, *more) = error["ename"], _plain(error["evalue"]).strip("\n").split("\n")
    if name and first == name and more:  # what `check` says; its last line is how far that kernel is
        return textwrap.dedent("\n".join(more[:-1])).split("\n")
    if kind == "StdinNotImplementedError":
        return [f"asks for input(), and nobody answers here{where}", "Write the value into the code instead."]
    if kind == "NotImplementedError":
        called = re.findall(r"^(?:Cell In|/tmp/ipykernel).* in ([A-Za-z_]\w*)", "\n".join(frames), re.MULTILINE)
        needed = [n for n, e in course.exercises.items() if called and e["defines"] == called[-1] and n != name]
        return [(f"needs {needed[0]}, which is not answered yet" if needed else "not answered yet") + where]
    first = re.sub(r" \(\S+?\.py, line (\d+)\)$", r" (line \1 of the cell)", first)
    package = re.search(r"No module named '(\w+)", first)
    if package and package.group(1) in ("tinytorch", "exercises"):
        more.append(f"The folder {package.group(1)} of the kit is not complete. {UNPACK}")
    elif package:
        more.append(f"{INSTALL}, if {package.group(1)} is one of them.")
    if more:  # such as NumPy's, with what came and what was expected
        return [kind + where, first, *more]
    return [kind + (f": {first}" if first else "") + where]


def _plain(text):
    """Without colours and other codes for terminals, and not endlessly long."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]", "", text)
    return "\n".join(line[:500] for line in text.split("\n")[:40])


def _line(frames):  # the line that raised: the last one that is in a cell
    arrows = [re.findall(r"^-+> *\d+ (.*)", f, re.MULTILINE) for f in frames if re.match("Cell In|/tmp/ipykernel", f)]
    lines = [found[-1] for found in arrows if found]
    told = r"^ *Cell In\[\d+\], line \d+\n *(.*)\n *\^|in your line `(.+)`"  # a syntax error; what check was stopped in
    lines = lines or ["".join(m) for m in re.findall(told, "\n".join(frames), re.MULTILINE)]
    return lines[-1].strip() if lines else ""


def show(first, *lines):
    print(first, *(f"       {line}" for line in lines), sep="\n", flush=True)


def check():
    """Run everything but the demonstrations; say of each test whether it passed, and what stopped it."""
    _need("jupyter_client", "ipykernel")
    course = load_course()
    path = find_notebook(course)
    arranged = arrange(course, read_cells(path))
    skipped = read_skipped(course)
    saved = time.strftime("%H:%M on %d %B", time.localtime(path.stat().st_mtime))
    show(f"{path.name}, saved at {saved}. A cell is stopped after {SECONDS} seconds.")
    for note in arranged.notes:
        show(note)
    results, failed = {}, 0  # exercise: ok, no or later; how many other cells did not run to their end
    with Kernel() as kernel:
        for kind, name, source in arranged.steps:
            if kind == "test":
                exercise = name.removeprefix("test_")
                results[exercise] = _run_test(kernel, source, exercise, course, skipped, arranged.open)
                continue
            first, *more = explain(*kernel.run(source), course)
            if first:
                failed += 1
                begin = f"your cell that begins with `{source.strip().splitlines()[0]}`"
                show(f"     {f'the cell {name}' if name else begin}   {first}", *more)
                if name in course.exercises:
                    arranged.open[name] = "its cell did not run to its end, see above, so its test was not run"
    show(summary(course, arranged, results, failed))
    return 0 if set(results.values()) <= {"ok"} and (results or not failed) else 1


def _run_test(kernel, source, name, course, skipped, blank):
    if name in skipped:
        show(f"--   {name}   left for later, 0 points; `python course.py skip {name}` takes it back")
        return "later"
    first, *more = [blank[name]] if name in blank else explain(*kernel.run(source), course, name)
    if first:
        show(f"no   {name}   {first}", *more)
        return "no"
    points = course.exercises[name]["points"]
    show(f"ok   {name}   {points:g} point{'s' * (points != 1)}")
    return "ok"


def summary(course, arranged, results, failed):
    """One sentence on exercises, points, written questions and cells with errors."""
    parts = [f"There are no exercises in this notebook; {failed or 'none'} of {len(arranged.steps)} cells had an error"]
    if results:
        ok, later, no = ([n for n, result in results.items() if result == kind] for kind in ("ok", "later", "no"))
        points, most = (sum(course.exercises[n]["points"] for n in names) for names in (ok, results))
        parts = [f"{len(ok)} of {len(results)} exercises pass their visible tests: {points:g} of {most:g} points"]
        parts.append(", ".join([f"{len(later)} left for later"] * bool(later) + [f"{len(no)} to go"] * bool(no)))
        parts.append(f"{failed} cell{'s' * (failed > 1)} with an error, named above" if failed else "")
    questions, empty = sum(c.kind == "written" for c in course.cells), len(arranged.empty)
    if questions:
        names = f" ({', '.join(arranged.empty)})" if empty else ""
        parts.append(f"{empty} of {questions} written questions {'is' if empty == 1 else 'are'} empty{names}")
    return "; ".join(filter(None, parts)) + "."


def read_skipped(course):
    """Exercises left for later."""
    text = _text(SKIPPED) if SKIPPED.exists() else ""
    names = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if unknown := [name for name in names if name not in course.exercises]:
        show(f"In the file {SKIPPED.name}, this is no exercise of the notebook: {', '.join(unknown)}.")
    return [name for name in names if name in course.exercises]


def skip(*names):
    """Leave exercises for later; those that are left already are taken back."""
    course = load_course()
    skipped = read_skipped(course)
    for name in names:
        if name not in course.exercises:
            raise Problem(f"There is no exercise {name}. The exercises are: {', '.join(course.exercises) or 'none'}.")
        (skipped.remove if name in skipped else skipped.append)(name)
    try:
        SKIPPED.write_text("".join(f"{name}\n" for name in skipped), encoding="utf-8")
    except OSError as error:
        raise Problem(f"{SKIPPED} cannot be written ({error.strerror}). {CLOSE} {COPY}") from None
    show(f"Left for later, so that `check` passes over it: {', '.join(skipped) or 'nothing'}.")
    return 0


def export():
    """Make the library with nbdev, say what is still open, and run the examples if nothing is."""
    _need("nbdev")
    course = load_course()
    path = find_notebook(course)
    cells = read_cells(path)
    arranged = arrange(course, cells)
    exported = [c for c in cells if c.type == "code" and re.search(r"^#\| *exports?\b", c.source, re.MULTILINE)]
    if not exported:
        raise Problem(f"Nothing was made: no cell of {path.name} begins with `#| export`.")
    for cell in exported:
        try:
            ast.parse("" if cell.source.startswith("%") else cell.source)
        except SyntaxError as error:
            name = cell.name or f"that begins with `{cell.source.strip().splitlines()[0]}`"
            what = f"{error.msg}, line {error.lineno}: {(error.text or '').strip()}"
            raise Problem(f"Nothing was made: the cell {name} is not Python yet ({what}).") from None
    made = HERE / "tinytorch" / "core" / f"{course.notebook}.py"
    try:
        _nbdev_export(path, cells, made)
    except OSError as error:
        raise Problem(f"{made} cannot be written ({error.strerror}). {CLOSE} {COPY}") from None
    show(f"Made {made.relative_to(HERE).as_posix()} from the {len(exported)} cells that begin with `#| export`.")
    if arranged.open:
        show(f"Still open: {', '.join(arranged.open)}. The examples run when nothing is open.")
        return 0
    for example in sorted((HERE / "examples").glob("*.py")):
        if example.stem == "training":  # what the examples have in common
            continue
        picture = HERE / f"{example.stem}.png"
        show(f"\nexamples/{example.name} on your library; its picture will be {picture.name}.")
        command = [sys.executable, str(example), str(picture)]
        if subprocess.run(command, env=os.environ | {"PYTHONPATH": str(HERE)}, check=False).returncode:
            raise Problem(f"examples/{example.name} stopped with the error above. Does `python course.py check` pass?")
    return 0


def _nbdev_export(path, cells, made):
    """From a copy in today's notebook format; what is made names the notebook itself."""
    from nbdev.export import nb_export

    os.chdir(HERE)
    with tempfile.TemporaryDirectory(dir=HERE, ignore_cleanup_errors=True) as folder:
        copy = Path(folder).relative_to(HERE) / f"{made.stem}.ipynb"
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        clean = [code | {"source": c.source, "id": c.id or f"cell-{c.number}"} for c in cells if c.type == "code"]
        notebook = {"cells": clean, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        copy.write_text(json.dumps(notebook), encoding="utf-8")
        nb_export(str(copy), lib_path="tinytorch", name=f"core.{made.stem}")
        text = made.read_text(encoding="utf-8").replace(copy.as_posix(), path.name)
        made.write_text(text, encoding="utf-8", newline="\n")


def _need(*packages):
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise Problem(f"Missing in this Python ({sys.executable}): {', '.join(missing)}. {INSTALL}.")


def main(arguments):
    verb, *names = arguments or [""]
    if verb not in ("check", "skip", "export") or bool(names) != (verb == "skip"):
        print(f"Not a command: course.py {' '.join(arguments)}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore", "Proactor event loop", RuntimeWarning)  # Windows: no word for students
    return {"check": check, "skip": skip, "export": export}[verb](*names)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console that cannot show every letter
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
