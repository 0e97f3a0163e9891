"""What can be done from inside the jail, tried from inside; and that the verdict stays outside."""

import json
import os
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from answers import Everything, submission
from forgery import STEAL, TRICKS
from limits import PATIENCE, QUICK
from sentences import once_right

from exercises.model import Question, Reply
from exercises.problem import Problem
from grader.course import ROOT
from grader.errors import JailError, JailTrouble
from grader.grade import grade_notebook
from grader.result import Result
from grader.sandbox import bubblewrap, files, walls
from grader.sandbox.check_jail import check, open_jail
from grader.sandbox.jail import Jail
from grader.sandbox.limits import Limits
from grader.sandbox.session import JailSession

pytestmark = pytest.mark.jail


def run(jail: Jail, source: str) -> str:
    """The output of a cell in a copy of its own, or its error or trouble."""
    session = JailSession(jail, [source])
    (outcome,) = session.run()
    session.close()
    return outcome.output if not outcome.trouble else f"{outcome.trouble}: {outcome.error}"


def test_nothing_of_the_class_is_in_sight():
    """No solution, test, gradebook, class or home: every regular file inside is Python's, a package's or one of ours."""
    python = (sys.base_prefix, sys.prefix, "/usr/lib", "/dev", "/etc/ld.so.cache")
    source = f"""
import os, json
files = [os.path.join(d, f) for d, _, fs in os.walk("/") for f in fs]
theirs = [f for f in files if f.startswith({python!r})]
odd = [f for f in theirs if f.endswith((".ipynb", ".db")) and "/site-packages/" not in f and f[:9] != "/usr/lib/"]
print(json.dumps([sorted(set(files) - set(theirs)), odd]))
"""
    patient = open_jail(
        "04_attention", replace(QUICK, cell_time=30)
    )  # on a busy machine a walk through all files takes a while
    ours, suspicious = json.loads(run(patient, source))
    patient.close()
    library = [
        f"/jail/tinytorch/{f}.py"
        for f in ("__init__", "core/__init__", "core/activations", "core/layers", "core/tensor")
    ]
    grader = [f"/jail/grader/{f}.py" for f in ("__init__", "sandbox/__init__")]
    grader += [f"/jail/grader/sandbox/{f}.py" for f in ("calls", "copies", "landlock", "walls", "wire", "worker")]
    asked = [f"/jail/exercises/{f}.py" for f in ("__init__", "problem", "stand_ins")]
    asked += [f"/jail/exercises/probes/{path.name}" for path in (ROOT / "exercises" / "probes").glob("*.py")]
    assert ours == sorted([*asked, *grader, *library])
    assert not suspicious


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("network", "import socket; socket.create_connection(('127.0.0.1', 80), 0.2)"),
        ("a name server", "import socket; socket.getaddrinfo('example.org', 80)"),
        ("write to /", "open('/x', 'w')"),
        ("write to the library", "open('/jail/exercises/problem.py', 'a')"),
        ("write to a package", "import numpy; open(numpy.__file__, 'a')"),
        ("write to home", f"open({str(Path.home() / 'x')!r}, 'w')"),
        ("read a solution", f"open({str(ROOT / 'solutions' / '04_attention' / 'attention.ipynb')!r})"),
        ("read the tests", f"open({str(ROOT / 'autograded_tests' / 'm04_attention' / 'scale_scores.py')!r})"),
        ("import the reference", "import tinytorch.core.attention"),
        ("import the tests", "import autograded_tests"),
        ("processes", "import os; os.listdir('/proc')"),
        ("a process", "import os; os.fork()"),
        ("a program", "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])"),
        ("another namespace", "import ctypes, os; assert ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == 0"),
        ("a mount", "import ctypes; assert ctypes.CDLL(None).mount(b'x', b'/scratch', b'tmpfs', 0, None) == 0"),
        ("root", "import os; os.setuid(0)"),
        ("a large file", "open('/scratch/x', 'wb').write(bytes(17 << 20))"),
        ("a full disk", "[open(f'/scratch/{n}', 'wb').write(bytes(15 << 20)) for n in range(6)]"),
        (
            "many threads",
            "import threading, time\n[threading.Thread(target=time.sleep, args=(9,)).start() for _ in range(99)]",
        ),
        ("much memory", "import numpy as np; x = [np.ones(1 << 26) for _ in range(9)]"),
    ],
)
def test_what_is_refused(jail, what, source):
    assert run(jail, source).startswith(("error: ", "memory: ")), what


def test_the_environment_says_nothing(jail):
    os.environ["GRADER_TEST_SECRET"] = "secret"
    fresh = Jail("04_attention")
    names = run(fresh, "import os; print(*sorted(os.environ))").split()
    fresh.close()
    del os.environ["GRADER_TEST_SECRET"]
    allowed = {"GRADER_MODULES", "HOME", "IPYTHONDIR", "LANG", "LC_CTYPE", "MPLBACKEND", "MPLCONFIGDIR", "PWD"}
    allowed |= {"MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    assert {n for n in names if not n.startswith("OPENBLAS_")} <= allowed


def test_what_is_allowed(jail):
    assert run(jail, "import threading; t = threading.Thread(target=print, args=(3,)); t.start(); t.join()") == "3\n"
    assert run(jail, "open('x', 'w').write('y'); print(open('/scratch/x').read())") == "y\n"
    assert run(
        jail, "print(plt.figure()) if 'plt' in globals() else print(__import__('matplotlib.pyplot'))"
    ).startswith("<")


def test_a_check_does_nothing(jail):
    """The cell at the top finds it, and it judges nothing, whatever is wrong."""
    copy = json.loads((ROOT / "modules" / "04_attention" / "attention.ipynb").read_text(encoding="utf-8"))
    (given,) = ("".join(c["source"]) for c in copy["cells"] if c["id"] == "practice")
    assert run(jail, f"{given}\n_scale_scores = None\nprint(check('scale_scores'), check('nothing'))") == "None None\n"


def test_scratch_is_empty_for_everyone(jail):
    run(jail, "open('/scratch/left', 'w').write('for the next')")
    assert run(jail, "import os; print(os.listdir('/scratch'))") == "[]\n"


def test_nothing_is_left_running(jail):
    source = (
        "import threading\ndef spin():\n    while True: pass\n[threading.Thread(target=spin).start() for _ in range(3)]"
    )
    session = JailSession(jail, [source])
    session.run()
    warm = psutil.Process(jail.pid)
    assert len(warm.children(recursive=True)) == 3  # bubblewrap's own child, the warm process, the copy
    session.close()
    assert len(warm.children(recursive=True)) == 2
    jail_of_its_own = open_jail("04_attention")
    pid = jail_of_its_own.pid
    session = JailSession(jail_of_its_own, [source])
    session.run()
    children = psutil.Process(pid).children(recursive=True)
    jail_of_its_own.close()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not alive and not psutil.pid_exists(pid)
    session.close()


def test_output_is_cut(jail):
    assert len(run(jail, "print('x' * (20 << 20))")) < 11_000
    assert run(jail, "while True: print('again')") == "time: "
    many = run(jail, "for n in range(10 ** 4): print(n)")
    assert many.endswith("more characters were printed ...") and len(many) < 11_000


@pytest.mark.parametrize(
    ("trouble", "source"),
    [
        ("time", "while True: pass"),
        ("time", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"),
        ("died", "import os; os._exit(0)"),
        ("died", "import ctypes; ctypes.string_at(0)"),
        ("error", "import sys; sys.exit()"),
        ("error", "def f(): return f()\nf()"),
        ("error", "input()"),
        ("error", "raise BaseException('no Exception')"),
        ("error", "this is no Python"),
        ("memory", "x = []\nwhile True: x.append(bytearray(10 ** 6))"),
    ],
)
def test_a_cell_that_goes_wrong_costs_itself_only(jail, trouble, source):
    session = JailSession(jail, ["a = 1", source, "print(a + 1)"])
    before, bad, after = session.run()
    session.close()
    assert (before.trouble, bad.trouble, after.output) == ("", trouble, "2\n")


LOOP = "def _scale_scores(scores, d_k):\n    while True: pass"
FULL = "def _scale_scores(scores, d_k):\n    x = []\n    while True: x.append(np.ones(10 ** 6))"
EXIT = "def _scale_scores(scores, d_k):\n    import os; os._exit(1)"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (LOOP, "It ran for too long and was stopped."),
        (FULL, "It needed more memory than there is."),
        (EXIT, "It ended the Python process."),
        ("while True: pass\n" + LOOP, "It ran for too long and was stopped."),
        (
            "1 / 0\n" + LOOP,
            "`_scale_scores` is not defined: its cell raised ZeroDivisionError: division by zero (line 1)",
        ),
    ],
    ids=["loop", "memory", "exit", "loop in the cell", "error in the cell"],
)
def test_a_function_that_goes_wrong_costs_its_exercise_only(jail, assignment, source, reason):
    graded = grade_notebook(submission({"scale_scores": source}), assignment, jail)
    assert graded.verdicts["scale_scores"].points == 0
    assert graded.verdicts["scale_scores"].messages == (reason,)
    assert graded.score == assignment.max_score - 2
    for name in ("scaled_dot_product_attention", "multi_head_attention"):
        assert graded.verdicts[name].messages == (once_right("_scale_scores"),)


WALLS, CALLS = "grader/sandbox/walls.py", "grader/sandbox/calls.py"


@pytest.mark.parametrize(
    ("sentence", "file", "there", "instead"),
    [
        ("there is no network", CALLS, "in numbers}", "in numbers if name != 'socket'}"),
        ("there is no terminal, and no device can be changed", WALLS, "for device in DEVICES", "for device in ()"),
        ("no descriptor is open but its own", WALLS, "    forbid()", "    os.dup(connection)\n    forbid()"),
        ("there is no memory outside the limits", CALLS, "in numbers}", "in numbers if name != 'shmget'}"),
        ("there is no memory outside the limits", CALLS, "in numbers}", "in numbers if name != 'memfd_create'}"),
        ("no file can be locked or watched", CALLS, "in numbers}", "in numbers if name != 'flock'}"),
        ("nothing of another submission is there", WALLS, " | CLONE_NEWNET", ""),
        (
            "nothing of another submission is there",
            WALLS,
            "for folder in (scratch, SHM):\n        _m",
            "for folder in ():\n        _m",
        ),
        ("nothing of another submission is there", WALLS, "for standard in range(3)", "for standard in ()"),
        ("there are no capabilities", WALLS, 'checked(libc.capset(header, nothing), "capset")', "pass"),
        ("no process can be started", CALLS, "in numbers}", "in numbers if name != 'clone'}"),
        ("no process can be started", CALLS, "in numbers}", "in numbers if name != 'execve'}"),
        (
            "the number of threads is limited",
            WALLS,
            "    resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))\n",
            "",
        ),
        ("scratch can be written", WALLS, "nr_inodes={MOST_FILES}", "nr_inodes=1"),
    ],
)
def test_a_jail_without_a_wall_is_refused(monkeypatch, tmp_path, sentence, file, there, instead):
    source = (ROOT / file).read_text()
    assert source.count(there) == 1
    (tmp_path / "x.py").write_text(source.replace(there, instead))
    monkeypatch.setitem(files.OURS, file, tmp_path / "x.py")
    refused(sentence)


def refused(sentence: str) -> None:
    with pytest.raises(JailError) as caught:
        open_jail("04_attention")
    assert caught.value.trouble == JailTrouble.HOLES
    assert str(caught.value) == f"the jail does not hold; not so: {sentence}"


def test_a_jail_with_something_of_ours_in_it_is_refused(monkeypatch):
    monkeypatch.setattr(files, "hidden", lambda: ["/jail/exercises/problem.py"])
    monkeypatch.setitem(files.OURS, "tinytorch/core/attention.py", ROOT / "tinytorch" / "core" / "attention.py")
    refused("there is nothing of the course or of a home, no later module of the library is installed")


@pytest.mark.parametrize(
    ("sentence", "mounted"),
    [
        ("nothing can be written outside scratch", ["--perms", "0777", "--tmpfs", "/tmp"]),
        ("no other process is in sight", ["--proc", "/proc"]),
    ],
)
def test_a_jail_with_something_of_the_machine_in_it_is_refused(monkeypatch, sentence, mounted):
    command_line = bubblewrap.command_line

    def with_more(names: list[str]) -> list[str]:
        *command, remount, root, change, folder, end = command_line(names)
        return [*command, *mounted, remount, root, change, folder, end]

    monkeypatch.setattr(bubblewrap, "command_line", with_more)
    refused(sentence)


INSTALLED = {
    "python3.11/site-packages/tinytorch/core/attention.py": "a package",
    "python3.11/site-packages/tinytorch_attention-0.1.0-py3.11.egg/tinytorch/core/attention.py": "an egg",
    "python3/dist-packages/solutions/attention.py": "the solutions",
    "python3.11/tinytorch.py": "a module in the standard library's folder",
}


def test_the_library_cannot_be_read_wherever_it_is_installed(monkeypatch, tmp_path):
    """It is hidden in every folder of packages that the jail sees, and what is looked for from inside finds nothing."""
    for name, text in INSTALLED.items():
        (tmp_path / "lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib" / name).write_text(f"print({text!r})")
    egg = tmp_path / "lib" / "python3" / "dist-packages" / "course-1.0.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        archive.writestr("tinytorch/core/attention.py", "print('a packed egg')")
    (tmp_path / "lib" / "python3" / "dist-packages" / "other.py").write_text("print('not ours')")
    monkeypatch.setattr(sys, "exec_prefix", str(tmp_path))  # as of the Python below a virtual environment
    opened = Jail("04_attention")
    read = """
def text(path):
    try:
        return open(path, "rb").read().decode("latin")
    except OSError:
        return ""
"""
    paths = [str(tmp_path / "lib" / name) for name in INSTALLED] + [str(egg)]
    assert run(opened, f"{read}print([text(path) for path in {paths!r}])") == f"{[''] * 5}\n"
    other = str(tmp_path / "lib" / "python3" / "dist-packages")
    assert run(opened, f"import sys; sys.path.append({other!r}); import other") == "not ours\n"
    opened.close()


@pytest.mark.parametrize("place", ["tinytorch/core/attention.py", "autograded_tests.py", "course-1.0.egg"])
def test_the_library_is_looked_for_from_inside(monkeypatch, tmp_path, place):
    monkeypatch.setenv(
        "GRADER_MODULES", " ".join(path.stem for path in (ROOT / "tinytorch" / "core").glob("[a-z]*.py"))
    )
    monkeypatch.setattr(walls, "OUR_FOLDER", str(ROOT))
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(ROOT)])
    assert walls.strange_modules() == []
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(tmp_path / place, "w") as archive:
        archive.writestr("tinytorch/__init__.py", "")
    assert walls.strange_modules() == [str(tmp_path / place.partition("/")[0])]


def test_without_namespaces_inside_the_answer_is_the_same(jail, assignment):
    """Where the kernel allows no namespaces in the jail, every submission gets a new one."""
    slow = Jail("04_attention", namespaces=False)
    check(slow)
    data = submission({"scale_scores": EXIT, "split_heads": "def _split_heads(x, num_heads):\n    return x"})
    assert grade_notebook(data, assignment, slow).verdicts == grade_notebook(data, assignment, jail).verdicts
    slow.close()


def test_it_works_for_an_ordinary_user():
    """As a user who is not root, in a user namespace of their own."""
    code = (
        "import os; from grader.sandbox.check_jail import open_jail; assert os.geteuid() != 0;"
        "jail = open_jail('04_attention'); assert jail.namespaces; jail.close(); print('holds')"
    )
    command = [sys.executable, "-c", code]
    if os.geteuid() == 0:
        command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout == "holds\n"


# --- replies that are not to be trusted -------------------------------------------------------------------------------


HONEST = "scores.data / math.sqrt(d_k)"
GIVEN = "import math\nimport numpy as np\nfrom tinytorch.core.tensor import Tensor"
SCORES = np.array([[4, 8]], np.float32)


def forged(act: str) -> str:
    """An answer cell that is right, but does something else to the wire first."""
    return f"{STEAL}\ndef _scale_scores(scores, d_k):\n    {act}\n    return scores / math.sqrt(d_k)"


def reply_to(jail: Jail, act: str) -> Reply:
    """What the first question about scale_scores gets from a process that does `act`."""
    session = JailSession(jail, [GIVEN, forged(act)])
    assert [run.error for run in session.run()] == ["", ""]
    question = Question("scale_scores", {"scores": SCORES, "d_k": 4, "grad": None}, ("scaled",))
    reply = session.ask("scale_scores", question, {})
    session.close()
    return reply


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "|b1"])
def test_a_forged_reply_with_nothing_wrong_is_an_answer(jail, dtype):
    """The forgery works, so what is refused below is refused for what is wrong with it."""
    array = np.array([[0, 1]], dtype)
    reply = reply_to(jail, f"announce({dtype!r}, [1, 2], {array.tobytes()!r}); hush()")
    assert (reply.problem, list(reply.arrays)) == (Problem.NONE, ["scaled"])
    np.testing.assert_array_equal(reply.arrays["scaled"], array, strict=True)


def test_a_forged_reply_is_judged_like_any_other(jail, assignment):
    """Who forges right answers has them, and the wrong ones are wrong; here, what the function returns is not looked at."""

    def graded(answer: str) -> Result:
        source = f"""{STEAL}
def forge(scores, d_k):
    arrays = {{"scaled": {answer}, "scores_after": scores.data}}
    if "grad" in asked()[1]:
        arrays["grad_scores"] = asked()[1]["grad"] / math.sqrt(d_k)
    arrays = {{name: np.asarray(a, np.float32, order="C") for name, a in arrays.items()}}
    reply([[name, "<f4", a.shape] for name, a in arrays.items()], b"".join(a.tobytes() for a in arrays.values()))
    hush()
def _scale_scores(scores, d_k):
    if asked()[0]["probe"] == "scale_scores":
        forge(scores, d_k)
    else:
        return scores / math.sqrt(d_k)"""
        return grade_notebook(submission({"scale_scores": source}), assignment, jail)

    right, wrong = graded(HONEST), graded(f"{HONEST} + 1")
    assert right.score == assignment.max_score
    assert (wrong.verdicts["scale_scores"].points, wrong.score) == (0.75, assignment.max_score - 1.25)


@pytest.mark.parametrize(
    ("problem", "act"),
    [
        ("bad", "say(b'no JSON')"),
        ("bad", "say(b'[]')"),
        ("bad", "wire.sendall(b'\\xff' * 100)"),
        ("bad", "announce('<f4', [10 ** 9, 10 ** 9])"),
        ("bad", "announce('<f4', [1 << 29])"),
        ("bad", "announce('|O', [1], b'12345678')"),
        ("bad", "announce('<f4', [-1])"),
        ("bad", "announce('<U9', [1], bytes(36))"),
        ("bad", f"announce('<f4', [1, 2], ({HONEST}).tobytes(), id=99)"),
        ("bad", "announce({}, [2])"),
        ("died", "socket.close(wire.fileno())"),
        ("time", "wire.sendall(struct.pack('<I', 100) + b'short'); time.sleep(60)"),
        ("bad", "reply([], b'', stand_in='_apply_mask', index=-1, arguments={})"),
        ("bad", "[say(json.dumps({'id': 10 ** 6, 'arrays': []}).encode()) for _ in range(1000)]"),
    ],
)
def test_a_reply_that_is_none_is_no_answer(jail, assignment, problem, act):
    reply = reply_to(jail, act)
    assert (reply.problem, reply.arrays) == (problem, {})
    graded = grade_notebook(submission({"scale_scores": forged(act)}), assignment, jail)
    assert graded.verdicts["scale_scores"].points == 0
    assert graded.score == assignment.max_score - 2


# --- dishonesty: blank work that asks for points ----------------------------------------------------------------------


@pytest.mark.parametrize("trick", TRICKS)
def test_blank_work_with_a_trick_has_no_points(jail, assignment, trick):
    def put_in(notebook):
        cell = {"cell_type": "code", "metadata": {"tags": ["skip-execution"]}, "source": TRICKS[trick], "outputs": []}
        notebook["cells"].insert(2, cell)

    graded = grade_notebook(submission(blank=Everything(), edit=put_in), assignment, jail)
    assert graded.score == 0, {k: str(v) for k, v in graded.verdicts.items() if v.points}
    text = json.dumps(graded.notebook)
    for hidden in ("BEGIN HIDDEN", "autograded_tests import", "float64", "references", str(ROOT)):
        assert hidden not in text.replace(TRICKS[trick], "").replace(json.dumps(TRICKS[trick])[1:-1], "")


def test_tags_and_metadata_raise_nothing(jail, assignment):
    def forge(notebook):
        for cell in notebook["cells"]:
            cell["metadata"]["tags"] = ["skip-execution", "demo"]
            mark = cell["metadata"].get("nbgrader", {})
            mark |= {"points": 100, "locked": False} if mark.get("grade") else {}
            if cell["cell_type"] == "code":
                cell["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": "100.0"}, "metadata": {}}]
                cell["execution_count"] = 1

    graded = grade_notebook(submission(blank=Everything(), edit=forge), assignment, jail)
    assert graded.score == 0 and graded.notebook is not None
    points = [c["metadata"]["nbgrader"].get("points") for c in graded.notebook["cells"] if "nbgrader" in c["metadata"]]
    assert 100 not in points


@pytest.mark.slow
def test_time_is_limited_as_a_whole(assignment):
    jail = open_jail("04_attention", Limits(probe_time=2, whole_time=3))
    sleeps = "import time\nclass MultiHeadAttention:\n    def __init__(self, *sizes): time.sleep(60)"
    sources = {e.name: f"import time\ndef {e.defines}(*arguments): time.sleep(60)" for e in assignment.exercises} | {
        "multi_head_attention": sleeps
    }
    start = time.monotonic()
    graded = grade_notebook(submission(sources), assignment, jail)
    jail.close()
    assert graded.status == "graded" and graded.score == 0
    assert time.monotonic() - start < 20 * PATIENCE  # three times 3, and more than 40 if each question had its time
