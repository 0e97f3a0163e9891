"""Check your notebook, leave an exercise for later, or make a library of your notebook.

python course.py check        run the visible tests in a fresh kernel, and say what is missing
python course.py skip NAME    leave an exercise for later; the same again takes it back
python course.py export       make tinytorch/core/... from your notebook, and run the examples on it
"""

import ast
import builtins
import importlib.util
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 60  # after which a cell is stopped
SKIPPED = ".skipped"  # the file with the exercises left for later, one name a line
INSTALL = f"Install the packages with `{Path(sys.executable).stem} -m pip install -r requirements.txt`"
UNPACK = "Unpack the kit's archive into a new folder and copy what is missing from there; your notebook stays as it is."
BLANK = re.compile(r"^\s*raise NotImplementedError", re.MULTILINE)

# kind: given, demo, answer, test or written for a cell of the course, "" for a cell of your own
Cell = namedtuple("Cell", "number type source name id kind points")
# how: "" if it ran to its end, "error", "stopped" or "died"; error: the kernel's message, or None
Ran = namedtuple("Ran", "how error", defaults=("", None))
Step = namedtuple("Step", "kind name source")


class Problem(Exception):
    """What is wrong, in sentences for the student."""


# --- Reading: what the course handed out, and the notebook


class Course:
    """What was handed out: exercises[name] = {"points", "defines"}, and the cells of the course."""

    def __init__(self, notebook, exercises, cells, known=True):
        self.notebook, self.exercises, self.cells, self.known = notebook, exercises, cells, known


def load_course():
    """From course.json; without it from .module and the notebook itself, which then counts as unchanged."""
    try:
        data = json.loads((HERE / "course.json").read_text(encoding="utf-8-sig"))
        exercises = {e["name"]: e for e in data["exercises"]}
        cells = [Cell(n, "", c["source"], c["name"], c["id"], c["kind"], 0) for n, c in enumerate(data["cells"])]
        return Course(data["notebook"], exercises, cells)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        name = (HERE / ".module").read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError):
        name = ""
    paths = [HERE / f"{name}.ipynb"] if name and name.isidentifier() else []
    paths += sorted(HERE.glob("*.ipynb"), key=lambda p: p.stat().st_mtime, reverse=True)
    for path in paths:
        ours = [c for c in read_cells(path) if c.kind] if path.is_file() else []
        if ours:
            tests = [c for c in ours if c.kind == "test"]
            exercises = {c.name[len("test_") :]: {"points": c.points, "defines": ""} for c in tests}
            ours = [c._replace(source="") if c.kind in ("answer", "written") else c for c in ours]
            return Course(path.stem, exercises, ours, known=False)
    raise Problem(
        f"course.json is missing or damaged in {HERE}, and no notebook there says which exercises it has. {UNPACK}"
    )


def find_notebook(course):
    """(path, sentences): the notebook, or the newest file that looks like it."""
    path = HERE / f"{course.notebook}.ipynb"
    others = [p for p in HERE.glob("*.ipynb*") if p.is_file() and p != path and _looks_like(p, course)]
    others.sort(key=lambda p: (p.stat().st_mtime, p.name), reverse=True)
    if path.is_file():
        newer = [p.name for p in others if p.stat().st_mtime > path.stat().st_mtime]
        return path, [f"{newer[0]} is newer than {path.name}, and is not read."] if newer else []
    if not others:
        raise Problem(f"There is no {path.name} in {HERE}, where course.py is. Put your notebook there. {UNPACK}")
    taken, *left = [p.name for p in others]
    sentences = [f"There is no {path.name}: {taken} is read. Rename it to {path.name} before you hand it in."]
    return others[0], sentences + ([f"It is the newest; not read: {', '.join(left)}."] if left else [])


def _looks_like(path, course):
    """By its name (`attention (1)`, not `efficient_attention`), or else by the exercises in it."""
    if re.search(rf"(?<![a-z0-9_]){course.notebook}(?![a-z])", path.name.lower()):
        return True
    try:
        cells = read_cells(path)
    except Problem:
        return False
    return any(c.name in course.exercises or _defines(c, e["defines"]) for c in cells for e in course.exercises.values())


def read_cells(path):
    """The cells of a notebook of any format and encoding. Raises Problem."""
    notebook = _parse(path)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict) and isinstance(notebook.get("worksheets"), list):  # format 3
        cells = [c for s in notebook["worksheets"] if isinstance(s, dict) for c in s.get("cells") or ()]
    if not isinstance(cells, list):
        raise Problem(f"{path.name} is JSON, but not a notebook. {_rescue()}")
    return [_cell(number, cell) for number, cell in enumerate(cells) if isinstance(cell, dict)]


def _cell(number, cell):
    metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
    mark = metadata.get("nbgrader") if isinstance(metadata.get("nbgrader"), dict) else {}
    source = cell.get("source", cell.get("input", ""))
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    kind = "code" if cell.get("cell_type") == "code" else "markdown"
    name = mark.get("grade_id") if isinstance(mark.get("grade_id"), str) else ""
    role = ""
    if name and kind == "markdown":
        role = "written" if mark.get("solution") else ""
    elif name:
        given = "demo" if "demo" in (metadata.get("tags") or ()) else "given"
        role = "test" if mark.get("grade") else "answer" if mark.get("solution") else given
    points = mark.get("points") if isinstance(mark.get("points"), (int, float)) else 0
    identity = cell.get("id") if isinstance(cell.get("id"), str) else ""
    return Cell(number, kind, re.sub(r"\r\n?", "\n", source), name, identity, role, points)


def _parse(path):
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(
            f"{path.name} cannot be read ({error.strerror}). If another program has it open, close it there."
        ) from None
    if not data.strip():
        raise Problem(f"{path.name} is empty. {_rescue()}")
    encodings = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            begins = text.lstrip()[:1] == "{"
            what = "is damaged: it begins like a notebook, but is not valid JSON" if begins else "is not a notebook"
            raise Problem(f"{path.name} {what}. {_rescue()}") from None
    raise Problem(f"{path.name} is not a notebook. {_rescue()}")


def _rescue():
    kept = sorted((HERE / ".ipynb_checkpoints").glob("*.ipynb"))
    where = f"Jupyter's last checkpoint is .ipynb_checkpoints/{kept[0].name}." if kept else "Look for an earlier copy."
    return f"Save it in JupyterLab again (File, Save Notebook). {where}"


def _defines(cell, name):
    return bool(name) and bool(re.search(rf"^(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b", cell.source, re.MULTILINE))


def _same(some, other):
    return some.strip() == other.strip()


# --- Arranging: the cells to run, in the course's order, as in grading


class Arranged:
    """steps: what is run; notes: what differs from what was handed out; open, lost, empty, written: names of cells."""

    def __init__(self, course, cells):
        self.steps, self.notes = [], []
        self.places = _places(course, cells)  # number of a cell of the notebook: the cell of the course that it is
        answers = {c.name: self._answer(c, course, cells) for c in course.cells if c.kind == "answer"}
        self.lost = [name for name, answer in answers.items() if answer is None]
        self.open = [
            c.name for c in course.cells if c.kind == "answer" and answers[c.name] and _is_blank(answers[c.name], c)
        ]
        self.written = [c for c in course.cells if c.kind == "written"]
        self.empty = [c.name for c in self.written if not self._is_written(c, cells)]
        self._own = self._own_cells(course, cells, {a.number for a in answers.values() if a})
        self._assemble(course, answers)
        self._note(course, cells)

    def _theirs(self, ours, cells):
        return [c for c in cells if self.places.get(c.number) == ours.number]

    def _answer(self, ours, course, cells):
        """The cell that is graded: the last that has the place and defines the name; or one of these."""
        claims = self._theirs(ours, cells)
        defined = course.exercises.get(ours.name, {}).get("defines", "")
        found = [c for c in cells if c in claims or _defines(c, defined)]

        def rank(cell):
            claimed, filled = cell in claims, not _is_blank(cell, ours)
            defines = _defines(cell, defined) if defined else claimed
            return defines and filled, defines and claimed, defines, bool(cell.source.strip()), cell.number

        filled = [c for c in claims if not _is_blank(c, ours)]
        if len(filled) > 1:
            self.notes.append(f"There are {len(filled)} cells with the answer {ours.name}; the last one counts.")
        return max(found, key=rank, default=None)

    def _is_written(self, ours, cells):
        handed_out = ("", "YOUR ANSWER HERE", ours.source.strip())
        return any(c.source.strip() not in handed_out for c in self._theirs(ours, cells))

    def _own_cells(self, course, cells, answers):
        """place: [(number, source)] of your own cells, and of cells of the course that you changed."""
        own, place = {}, -1
        for cell in cells:
            place = self.places.get(cell.number, place)
            ours = course.cells[self.places[cell.number]] if cell.number in self.places else None
            mine = ours is None or (not _same(cell.source, ours.source) and ours.kind in ("given", "demo", "answer"))
            if mine and cell.type == "code" and cell.source.strip() and cell.number not in answers:
                own.setdefault(place, []).append((cell.number, cell.source))
        return own

    def _assemble(self, course, answers):
        self._add_own(-1)
        for ours in course.cells:
            source, number = ours.source, -1
            if ours.kind == "answer":
                answer = answers[ours.name]
                source, number = (answer.source, answer.number) if answer else ("", -1)
            self._add_own(ours.number, before=number)
            if ours.kind in ("given", "test", "answer") and source.strip():
                self.steps.append(Step(ours.kind, ours.name, source))
            self._add_own(ours.number, after=number)

    def _add_own(self, place, before=None, after=-1):
        for number, source in self._own.get(place, ()):
            if (before is None and number > after) or (before is not None and number < before):
                self.steps.append(Step("", "", source))

    def _note(self, course, cells):
        """Say what is not as it was handed out."""
        if not course.known:
            self.notes.append(f"course.json is missing or damaged, so changed tests go unnoticed. {UNPACK}")
        if not any(c.name for c in cells) and course.cells:
            self.notes.append(
                "The notebook has lost its metadata, by which cells are graded; cells are recognised by their text. "
                "Copy your answers into a fresh copy of the notebook before you hand it in."
            )
        differing, gone, given = [], [], []
        for ours in course.cells:
            theirs = [c for c in self._theirs(ours, cells) if c.type == "code"]
            if ours.kind == "test" and not any(_same(c.source, ours.source) for c in theirs):
                (differing if theirs else gone).append(ours.name[len("test_") :])
            elif ours.kind == "given" and not any(_same(c.source, ours.source) for c in theirs):
                given.append(ours.name)
        for names, what in ((differing, "changed"), (gone, "missing")):
            if names:
                self.notes.append(f"Tests that are {what} in your notebook, run as handed out: {', '.join(names)}.")
        if given:
            self.notes.append(f"Given cells that are changed or missing, run as handed out: {', '.join(given)}.")


def _places(course, cells):
    """number of a cell: number of the cell of the course that it is, by its name, its id or its text."""
    by_name = {c.name: c.number for c in course.cells}
    by_id = {c.id: c.number for c in course.cells if c.id}
    by_source = {c.source.strip(): c.number for c in course.cells if c.source.strip() and c.kind != "written"}
    places = {}
    for cell in cells:
        place = by_name.get(cell.name) if cell.name else by_id.get(cell.id)
        place = by_source.get(cell.source.strip()) if place is None else place
        if place is not None:
            places[cell.number] = place
    return places


def _is_blank(theirs, ours):
    return theirs.source.strip() in ("", ours.source.strip())


# --- Running


class Kernel:
    """A kernel of this Python; after a cell that it did not survive, a fresh one that has run the cells before."""

    def __init__(self):
        self.before = []  # the sources that ran to their end
        self.manager = self.client = None
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        self._stop()
        self.folder.cleanup()

    def run(self, source):
        ran = self._run(source)
        if ran.how in ("stopped", "died"):
            self._fresh()
        else:
            self.before.append(source)
        return ran

    def _fresh(self):
        self._stop()
        self._start()
        for source in list(self.before):
            if self._run(source).how in ("stopped", "died"):
                self.before.remove(source)
                return self._fresh()
        return None

    def _start(self):
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

        class ThisPython(KernelSpecManager):
            def get_kernel_spec(self, kernel_name):
                quiet = ["--IPKernelApp.log_level=ERROR", "--HistoryManager.enabled=False"]
                argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *quiet]
                return KernelSpec(argv=argv, display_name=kernel_name, language="python")

        connection = os.path.join(self.folder.name, f"kernel-{time.monotonic_ns()}.json")
        self.manager = KernelManager(kernel_spec_manager=ThisPython(), connection_file=connection)
        try:
            self.manager.start_kernel(cwd=str(HERE), env=_environment(self.folder.name))
            self.client = self.manager.client()
            self.client.start_channels()
            self.client.wait_for_ready(timeout=120)
        except (RuntimeError, OSError) as error:
            raise Problem(f"Python's kernel does not start: {error}. {INSTALL}, and try again.") from None

    def _stop(self):
        if self.client is not None:
            self.client.stop_channels()
        if self.manager is not None and self.manager.has_kernel:
            self.manager.shutdown_kernel(now=True)
        self.client = self.manager = None

    def _run(self, source):
        request = self.client.execute(source, allow_stdin=False)
        ran = self._wait(request, SECONDS)
        if ran.how == "stopped":
            self.manager.interrupt_kernel()  # then it says in which line
            ran = Ran("stopped", self._wait(request, 3).error)
        return ran

    def _wait(self, request, seconds):
        end, error = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                if not self.manager.is_alive():
                    return Ran("died")
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "error":
                error = message["content"]
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return self._ended(request, error)
        return Ran("stopped", error)

    def _ended(self, request, error):
        """`exit()` ends the kernel after its cell."""
        reply = {}
        while reply.get("parent_header", {}).get("msg_id") != request:
            try:
                reply = self.client.get_shell_msg(timeout=5)
            except queue.Empty:
                return Ran("died")
        if any(p.get("source") == "ask_exit" for p in reply["content"].get("payload") or ()):
            return Ran("died")
        return Ran("error", error) if error else Ran()


def _environment(folder):
    """For the kernel: none of your own IPython settings, and no words that concern only people who debug IPython."""
    environment = dict(os.environ, IPYTHONDIR=folder, PYDEVD_DISABLE_FILE_VALIDATION="1")
    quiet = "ignore:Proactor event loop:RuntimeWarning"  # Windows
    environment["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), quiet]))
    return environment


# --- Saying what happened


def explain(ran, course, name=""):
    """What stopped a cell: the first line, and further lines. `name` is the exercise, if it is a test."""
    line = _line(ran.error)
    where = f"   in: {line}" if line else ""
    if ran.how == "stopped":
        return [f"stopped after {SECONDS} seconds{where}", "Is there a loop that never ends?"]
    if ran.how == "died":
        return ["ended Python: a call such as exit() or os._exit(), or too little memory"]
    kind, text = ran.error["ename"], _plain(ran.error["evalue"])
    lines = text.strip("\n").splitlines() or [""]
    if name and _is_practice(ran.error, text, name):
        lines[0] = lines[0][len(name) :].strip() if lines[0].startswith(name) else lines[0]
        return lines
    if kind == "StdinNotImplementedError":
        return [f"asks for input(), and nobody answers here{where}", "Write the value into the code instead."]
    if kind == "NotImplementedError":
        return [_waits(ran.error, course, name) + where]
    if kind == "SystemExit":
        return [f"calls exit(){where}", "Take the call out."]
    lines[0] = re.sub(r" \(\S+?\.py, line (\d+)\)$", r" (line \1 of the cell)", lines[0])
    first = f"{kind}: {lines[0]}" if lines[0] and len(lines) == 1 else kind
    return [first + where, *(lines if len(lines) > 1 else ()), *_missing_package(kind, text)]


def _plain(text):
    """Without colours and other codes for terminals, and not endlessly long."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]", "", text.replace("\r\n", "\n"))
    return "\n".join(line[:500] for line in text.split("\n")[:40])


def _is_practice(error, text, name):
    """Whether these are sentences for students, which need neither type nor line."""
    from_practice = bool(error["traceback"]) and "practice.py" in _plain(error["traceback"][-1]).splitlines()[0]
    unknown = not hasattr(builtins, error["ename"])
    return text.lstrip().startswith(f"{name} ") or (from_practice and unknown)


def _line(error):
    """The line of a cell that raised: the last one that is in the notebook."""
    frames = _plain_frames(error)
    arrows = [re.findall(r"^-+> *\d+ (.*)", f, re.MULTILINE) for f in frames if f.startswith("Cell In[")]
    lines = [found[-1].strip() for found in arrows if found]
    if not lines and error and error["ename"] in ("SyntaxError", "IndentationError", "TabError"):
        text = "\n".join(frames)
        lines = re.findall(r"^\s*Cell In\[\d+\], line \d+\n\s*(.*)", text, re.MULTILINE)
    return lines[-1] if lines else ""


def _plain_frames(error):
    return [_plain(frame) for frame in error["traceback"]] if error else []


def _waits(error, course, name):
    """NotImplementedError comes from the exercise itself, or from one that it uses."""
    called = re.findall(r"^Cell In\[\d+\], line \d+, in ([A-Za-z_]\w*)", "\n".join(_plain_frames(error)), re.MULTILINE)
    for other, exercise in course.exercises.items():
        if called and exercise["defines"] == called[-1] and other != name:
            return f"needs {other}, which is not answered yet"
    return "not answered yet"


def _missing_package(kind, text):
    found = re.search(r"No module named '(\w+)", text) if kind == "ModuleNotFoundError" else None
    if found is None:
        return []
    if found.group(1) in ("tinytorch", "exercises"):
        return [f"The folder {found.group(1)} of the kit is missing or not complete in {HERE}. {UNPACK}"]
    return [f"{INSTALL}, if {found.group(1)} is in that file."]


def show(first, lines=()):
    print(first, *(f"       {line}" for line in lines), sep="\n", flush=True)


# --- The verbs


def check():
    """Run everything but the demonstrations; say of each test whether it passed, and what stopped it."""
    _need("jupyter_client", "ipykernel")
    course = load_course()
    path, notes = find_notebook(course)
    arranged = Arranged(course, read_cells(path))
    skipped, unknown = read_skipped(course)
    saved = time.strftime("%H:%M on %d %B", time.localtime(path.stat().st_mtime))
    show(f"{path.name}, saved at {saved}. A cell is stopped after {SECONDS} seconds.")
    if unknown:
        notes = [*notes, f"{SKIPPED} names what is no exercise of this notebook: {', '.join(unknown)}."]
    for note in [*notes, *arranged.notes]:
        show(note)
    results = {}  # exercise: "ok", "no" or "later"
    with Kernel() as kernel:
        broken = _run_steps(kernel, arranged, course, skipped, results)
    for name in course.exercises:
        if name not in results:
            results[name] = "no"
            show(f"no   {name}   has no test here, so nothing ran")
    show(summary(course, arranged, results, broken))
    return 0 if all(r == "ok" for r in results.values()) and (results or not broken) else 1


def _run_steps(kernel, arranged, course, skipped, results):
    """Fill in the results; how many cells that are no tests did not run to their end."""
    failed = {}  # answers whose cell did not run to its end
    for step in arranged.steps:
        if step.kind == "test":
            name = step.name[len("test_") :]
            results[name] = _run_test(kernel, step.source, name, course, arranged, skipped, failed)
            continue
        ran = kernel.run(step.source)
        if ran.how:
            failed[step.name or step.source] = ran
            first, *more = explain(ran, course)
            first_line = step.source.strip().splitlines()[0]
            cell = f"the cell {step.name}" if step.name else f"your cell that begins with `{first_line}`"
            show(f"     {cell}   {first}", more)
    return len(failed)


def _run_test(kernel, source, name, course, arranged, skipped, failed):
    if name in skipped:
        show(f"--   {name}   left for later (0 points); `python course.py skip {name}` takes it back")
        return "later"
    if name in arranged.lost:
        show(f"no   {name}   its answer cell is missing")
    elif name in arranged.open:
        show(f"no   {name}   not answered yet")
    elif name in failed:
        show(f"no   {name}   the cell of the answer did not run to its end, see above; its test was not run")
    else:
        ran = kernel.run(source)
        if not ran.how:
            show(f"ok   {name}   {course.exercises[name]['points']:g} points" if name in course.exercises else name)
            return "ok"
        first, *more = explain(ran, course, name)
        show(f"no   {name}   {first}", more)
    return "no"


def summary(course, arranged, results, broken):
    """One sentence on exercises, points, written questions and cells with errors."""
    if results:
        passed = [name for name, result in results.items() if result == "ok"]
        points = [sum(course.exercises[n]["points"] for n in names) for names in (passed, course.exercises)]
        text = f"{len(passed)} of {len(results)} exercises pass their visible tests: {points[0]:g} of {points[1]:g} points"
        later, to_go = (list(results.values()).count(result) for result in ("later", "no"))
        counts = [f"{later} left for later"] if later else []
        parts = [text, ", ".join(counts + ([f"{to_go} to go"] if to_go else []))]
    else:
        ran = len(arranged.steps) - broken
        parts = [f"There are no exercises in this notebook; {ran} of {len(arranged.steps)} cells ran without an error"]
    if arranged.written:
        empty, number = len(arranged.empty), len(arranged.written)
        names = f" ({', '.join(arranged.empty)})" if empty else ""
        verb = "is" if empty == 1 else "are"
        parts.append(f"{empty or 'none'} of {number} written question{'s' * (number > 1)} {verb} empty{names}")
    if broken and results:
        parts.append(f"{broken} cell{'s' * (broken > 1)} with an error, named above")
    return "; ".join(filter(None, parts)) + "."


def read_skipped(course):
    """(exercises left for later, lines of the file that name none)."""
    try:
        data = (HERE / SKIPPED).read_bytes()
    except OSError:
        return [], []
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")
    names = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    return [n for n in names if n in course.exercises], [n for n in names if n not in course.exercises]


def skip(*names):
    """Leave exercises for later; those that are left already are taken back."""
    course = load_course()
    skipped, _ = read_skipped(course)
    defined = {e["defines"]: name for name, e in course.exercises.items()}
    for given in names:
        name = defined.get(given, given)
        if name not in course.exercises:
            known = ", ".join(course.exercises) or "none"
            raise Problem(f"There is no exercise {given}. The exercises are: {known}.")
        if name in skipped:
            skipped.remove(name)
            show(f"{name} is no longer left for later.")
        else:
            skipped.append(name)
            show(f"{name} is left for later: `check` does not run its test. In grading, a blank answer has 0 points.")
    if names:
        try:
            (HERE / SKIPPED).write_text("".join(f"{name}\n" for name in skipped), encoding="utf-8")
        except OSError as error:
            raise Problem(_not_written(HERE / SKIPPED, error)) from None
    show(f"Left for later: {', '.join(skipped) or 'nothing'}.")
    return 0


def export():
    """Make the library with nbdev, say what is still open, and run the examples if nothing is."""
    _need("nbdev")
    course = load_course()
    path, notes = find_notebook(course)
    cells = read_cells(path)
    for note in notes:
        show(note)
    exported = [c for c in cells if c.type == "code" and re.search(r"^#\| *exports?\b", c.source, re.MULTILINE)]
    if not exported:
        raise Problem(f"No cell of {path.name} begins with `#| export`, so there is nothing to make a library of.")
    _check_syntax(exported)
    made = HERE / "tinytorch" / "core" / f"{course.notebook}.py"
    try:
        _nbdev_export(course, path, cells, made)
    except OSError as error:
        raise Problem(_not_written(made, error)) from None
    show(f"Made {made.relative_to(HERE).as_posix()} from the {len(exported)} cells that begin with `#| export`.")
    still_open = [c.name for c in exported if c.kind == "answer" and BLANK.search(c.source)]
    examples = [p for p in sorted((HERE / "examples").glob("*.py")) if p.stem != "training"]
    if still_open:
        show(f"Still open: {', '.join(still_open)}.")
        if examples:
            show("The examples run once every exercise is answered.")
        return 0
    return _run_examples(examples)


def _check_syntax(cells):
    for cell in cells:
        if cell.source.startswith("%"):
            continue
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            name = cell.name or f"that begins with `{cell.source.strip().splitlines()[0]}`"
            text = (error.text or "").strip()
            raise Problem(f"The cell {name}, line {error.lineno}: {error.msg}: {text}\nNothing was made.") from None


def _nbdev_export(course, path, cells, made):
    """From a copy in the notebook format of today; the file made names the notebook itself."""
    from nbdev.export import nb_export

    default = any(re.search(r"^#\| *default_exp\b", c.source, re.MULTILINE) for c in cells)
    first = [] if default else [Cell(-1, "code", f"#| default_exp core.{course.notebook}", "", "", "", 0)]
    clean = [
        {"cell_type": c.type, "metadata": {}, "source": c.source, "id": c.id or f"cell-{c.number}"}
        | ({"outputs": [], "execution_count": None} if c.type == "code" else {})
        for c in [*first, *cells]
    ]
    os.chdir(HERE)
    with tempfile.TemporaryDirectory(dir=HERE, ignore_cleanup_errors=True) as folder:
        copy = Path(folder).relative_to(HERE) / path.name
        copy.write_text(json.dumps({"cells": clean, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
        nb_export(str(copy), lib_path="tinytorch")
        text = made.read_text(encoding="utf-8").replace(copy.as_posix(), path.name)
        made.write_text(text, encoding="utf-8", newline="\n")


def _run_examples(examples):
    for example in examples:
        picture = HERE / f"{example.stem}.png"
        show(f"\nexamples/{example.name} on your library; its picture is {picture.name}.")
        environment = os.environ | {"PYTHONPATH": str(HERE)}
        command = [sys.executable, str(example), str(picture)]
        if subprocess.run(command, env=environment, check=False).returncode:
            raise Problem(f"examples/{example.name} stopped with the error above. Does `python course.py check` pass?")
    return 0


def _not_written(path, error):
    return (
        f"{path.relative_to(HERE).as_posix()} cannot be written in {HERE} ({error.strerror}). If another program has it "
        "open, close it there; if the folder is read-only, copy the kit to one of your own."
    )


def _need(*packages):
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise Problem(f"Missing in this Python ({sys.executable}): {', '.join(missing)}. {INSTALL}.")


def main(arguments):
    if sys.version_info < (3, 11):
        raise Problem(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")
    verbs = {"check": check, "skip": skip, "export": export}
    verb, *names = arguments or ["nothing"]
    if verb in ("-h", "--help", "help"):
        show(__doc__.strip())
        return 0
    if verb not in verbs or (names and verb != "skip"):
        print(f"`course.py {' '.join(arguments)}`: there is no such command.\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore", "Proactor event loop", RuntimeWarning)  # Windows: no word for students
    return verbs[verb](*names)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a console that cannot show every letter
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
