"""The walls of the jail that is made of Landlock, one by one: each test fails if no more than its wall is gone.

It is tried as an ordinary user, as root whose copies get users of their own, and where no namespace can be made at all.
"""

import errno
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inside import (
    AS_REAL_USER,
    AS_USER,
    CALLS,
    CLOSED,
    ERROR,
    GO_ON,
    GO_ON_THERE,
    in_sight,
    look_inside,
    on_this_machine,
    python,
    without_namespaces,
)
from limits import PATIENCE, QUICK

from grader.course import ROOT
from grader.errors import CourseError, JailError, JailTrouble
from grader.sandbox import bubblewrap, files, landlock
from grader.sandbox.check_jail import check, installed, open_jail, weaknesses
from grader.sandbox.jail import Jail, JailKind
from grader.sandbox.session import JailSession, Trouble

pytestmark = [
    pytest.mark.jail,
    pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock"),
]
ROOTED = os.geteuid() == 0
# only root can become others, and give its copies users of their own
WAYS: dict[str, list[str]] = {"as we are": []} | (
    {"ordinary user": AS_USER, "real user": in_sight(*AS_REAL_USER), "users of their own": in_sight()} if ROOTED else {}
)
ABSENT = ("clone3", "cachestat, a newer call", "fchmodat2")
REFUSED = on_this_machine(CALLS | CLOSED)
GOES_ON = on_this_machine({k: v for k, v in GO_ON.items() if not k.startswith("socket")} | GO_ON_THERE)
# what a student may try; none of it must work
FORBIDDEN = {
    "read a file of the machine": "open('/etc/passwd')",
    "read a solution": f"open({str(ROOT / 'solutions' / '04_attention' / 'attention.ipynb')!r})",
    "list the course": f"os.listdir({str(ROOT)!r})",
    "list the home": f"os.listdir({str(Path.home())!r})",
    "list /tmp": "os.listdir('/tmp')",
    "read of the grader what only its user may": "open('/proc/%d/environ' % outside['pid'])",
    "read of itself": "open('/proc/self/maps')",
    "list the other copies": "os.listdir(os.path.dirname(os.environ['HOME']))",
    "write beside its folder": "open(os.path.dirname(os.environ['HOME']) + '/x', 'w')",
    "write into /tmp": "open('/tmp/left', 'w')",
    "write into shared memory": "open('/dev/shm/left', 'w')",
    "write into the library": "open(sys.modules['exercises.probes'].__file__, 'a')",
    "write into a package": "open(numpy.__file__, 'a')",
    "remove a file of ours": "os.remove(sys.modules['exercises.problem'].__file__)",  # a copy, should it work
    "link to a package": "os.link(numpy.__file__, 'link')",
    "move something out": "open('x', 'w').close(); os.rename('x', '/tmp/left')",
    "make a folder": "os.mkdir('/tmp/left')",
    "open a terminal": "os.openpty()",
    "the size of a file": "os.stat('/etc/passwd')",
    "the size of a file, as the C library asks": "os.scandir(os.path.dirname(numpy.__file__)).__next__().stat()",
    "signal the warm process": "os.kill(os.getppid(), 0)",
    "signal the grader": "os.kill(outside['pid'], 0)",
    "a large file": "f = open('large', 'wb', 0); f.write(bytes(1 << 20)); f.write(b'x')",
    "many open files": "[open('/dev/null') for _ in range(64)]",
}
ALLOWED = {
    "threads": "t = threading.Thread(target=print); t.start(); t.join()",
    "import of what nothing has imported yet": "import numpy.polynomial, sqlite3, colorsys",
    "a library that is linked": "import _sqlite3",
    "files": "open('x', 'w').write('y'); assert open('x').read() == 'y' and os.path.getsize('x') == 1; os.remove('x')",
    "folders": "os.makedirs('a/b'); os.chdir('a'); assert os.listdir('.') == ['b']; os.chdir('..'); os.removedirs('a/b')",
    "a move to another folder": "os.mkdir('m'); open('f', 'w').close(); os.rename('f', 'm/f'); os.remove('m/f'); os.rmdir('m')",
    "a temporary file": "tempfile.TemporaryFile().write(b'x'); tempfile.mkdtemp()",
    "its own files by stat": "open('x', 'w').close(); assert os.path.isfile('x') and not os.path.exists('y'); os.stat('x')",
    "arrays in files": "numpy.save('x.npy', numpy.ones(3)); assert numpy.load('x.npy').sum() == 3",
    "the nothing": "open('/dev/null', 'w').write('x'); assert open('/dev/urandom', 'rb').read(1)",
    "a signal to itself": "signal.signal(signal.SIGUSR1, lambda *_: None); os.kill(os.getpid(), signal.SIGUSR1)",
    "a pair of sockets": "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'",
}
LOOK = (
    ERROR
    + """
import json, resource, signal, socket, sys, tempfile, threading, numpy
outside = {outside}
def works(source):
    try:
        exec(source, globals())
    except (OSError, AssertionError):
        return False
    return True
found, descriptors = os.listdir("."), [fd for fd in range(64) if works(f"os.fstat({{fd}})")]
open("left", "w").close()
print(json.dumps(dict(
    errors=[error(*call) for call in outside["calls"]], goes_on=[error(*call) for call in outside["goes on"]],
    forbidden=[name for name, source in outside["forbidden"].items() if works(source)],
    allowed=[name for name, source in outside["allowed"].items() if works(source)],
    limits={{name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in ("AS", "FSIZE", "NOFILE", "CORE", "NPROC")}},
    dumpable=libc.prctl(3, 0, 0, 0, 0), no_new_privileges=libc.prctl(39, 0, 0, 0, 0), seccomp=libc.prctl(21, 0, 0, 0, 0),
    users=os.getresuid(), groups=os.getgroups(), found=found, descriptors=descriptors,
)))
"""
)


@pytest.fixture(scope="module", params=WAYS)
def look(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What two copies found, the second while the first lived on."""
    outside = {
        "calls": list(REFUSED.values()),
        "goes on": list(GOES_ON.values()),
        "forbidden": FORBIDDEN,
        "allowed": ALLOWED,
        "pid": os.getpid(),
    }
    inside = look_inside([LOOK.format(outside=outside)] * 2, WAYS[request.param], kind="landlock")
    first, second = map(json.loads, inside.runs)
    first["errors"] = dict(zip(REFUSED, first["errors"], strict=True))
    first["goes_on"] = dict(zip(GOES_ON, first["goes_on"], strict=True))
    return {"way": request.param, "first": first, "second": second}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused(look, name):
    assert look["first"]["errors"][name] == (errno.ENOSYS if name in ABSENT else errno.EACCES)


@pytest.mark.parametrize("name", GOES_ON)
def test_a_call_goes_on(look, name):
    assert look["first"]["goes_on"][name] not in (0, errno.EACCES, errno.ENOSYS)


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_is_forbidden(look, name):
    assert name not in look["first"]["forbidden"]
    assert name not in look["second"]["forbidden"]


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed(look, name):
    assert name in look["first"]["allowed"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("AS", QUICK.memory), ("FSIZE", QUICK.scratch // 64), ("NOFILE", 64), ("CORE", 0)],
)
def test_a_limit_is_set_and_cannot_be_raised(look, name, value):
    assert look["first"]["limits"][name] == [value, value]


def test_threads_are_counted_where_each_copy_is_a_user(look):
    if look["way"] == "users of their own":
        assert look["first"]["limits"]["NPROC"] == [QUICK.threads, QUICK.threads]
        assert look["first"]["groups"] == []
        assert 0 not in look["first"]["users"]
        assert not set(look["first"]["users"]) & set(look["second"]["users"])


def test_no_other_process_may_look_into_it(look):
    assert (look["first"]["dumpable"], look["first"]["no_new_privileges"], look["first"]["seccomp"]) == (0, 1, 2)


def test_no_way_to_the_warm_process_is_open(look):
    assert len(look["first"]["descriptors"]) == 4


def test_no_file_of_a_copy_at_its_side_is_there(look):
    assert (look["first"]["found"], look["second"]["found"]) == ([], [])


# --- Landlock without the filter, which refuses some of the same ------------------------------------------------------

BARE = """
import fcntl, json, os, signal, socket, sys
from grader.sandbox import landlock
outside = json.load(sys.stdin)
def works(source):
    try:
        exec(source, globals())
    except OSError:
        return False
    return True
before = [name for name, source in outside["tries"].items() if works(source)]
landlock.restrict_files(outside["scratch"], ["/usr/lib"], ["/usr/share"])
print(json.dumps([before, [name for name, source in outside["tries"].items() if works(source)]]))
"""
TRIES = {
    "write": "open(outside['there'] + '/file', 'w')",
    "read": "open(outside['there'] + '/file')",
    "list": "os.listdir(outside['there'])",
    "remove a file": "os.remove(outside['there'] + '/gone'); open(outside['there'] + '/gone', 'w')",
    "remove a folder": "os.rmdir(outside['there'] + '/folder'); os.mkdir(outside['there'] + '/folder')",
    "make a folder": "os.mkdir(outside['there'] + '/new'); os.rmdir(outside['there'] + '/new')",
    "make a link": "os.symlink('x', outside['there'] + '/link'); os.remove(outside['there'] + '/link')",
    "make a pipe": "os.mkfifo(outside['there'] + '/pipe'); os.remove(outside['there'] + '/pipe')",
    "run a program": "os.close(os.open('/usr/bin/true', os.O_RDONLY))",
    "truncate": "os.truncate(outside['there'] + '/file', 0)",
    "signal": "os.kill(outside['pid'], 0)",
    "a device": "fcntl.ioctl(os.open('/dev/urandom', os.O_RDONLY), 0x80045200, bytes(4))",
    "a socket by name": "socket.socket(socket.AF_UNIX).connect(chr(0) + outside['name'])",
    "a port": "socket.socket().bind(('127.0.0.1', 0))",
    "a connection": "socket.socket().connect(('127.0.0.1', outside['port']))",
}


def test_landlock_alone_refuses_all_that_its_version_knows(tmp_path):
    for name in ("scratch", "there", "there/folder"):
        (tmp_path / name).mkdir()
    for name in ("file", "gone"):
        (tmp_path / "there" / name).touch()
    name = f"landlock-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0{name}")
        named.listen()
        outside: dict[str, Any] = {
            "tries": TRIES,
            "scratch": str(tmp_path / "scratch"),
            "there": str(tmp_path / "there"),
            "name": name,
        }
        outside |= {"port": port.getsockname()[1], "pid": os.getpid()}
        before, after = json.loads(python(BARE, told=json.dumps(outside)))
    later = {"truncate": 3, "a device": 5, "a port": 4, "a connection": 4, "signal": 6, "a socket by name": 6}
    assert before == list(TRIES)
    assert after == [name for name in TRIES if later.get(name, 1) > landlock.version()]


# --- what is left when a copy ends ------------------------------------------------------------------------------------


@pytest.fixture
def weak() -> Iterator[Jail]:
    jail = Jail("04_attention", QUICK, JailKind.LANDLOCK)
    check(jail)
    yield jail
    jail.close()


def outcome(jail: Jail, *cells: str) -> list[str]:
    session = JailSession(jail, cells)
    runs = session.run()
    session.close()
    return [run.trouble or run.output for run in runs]


@pytest.mark.parametrize(
    "source",
    [
        "for n in range(10 ** 6): open(str(n), 'wb').write(bytes(1 << 20))",
        "import os\nfor n in range(10 ** 6): os.mkdir(str(n))",
        "import os\nfor n in range(10 ** 6): os.mkdir('x'); os.chdir('x')",
    ],
    ids=["bytes", "folders", "depth"],
)
def test_who_writes_too_much_is_stopped(weak, source):
    assert outcome(weak, source, "print(1)") == [Trouble.DIED, "1\n"]


def test_what_cannot_be_counted_is_too_much():
    code = """
import os, tempfile
from pathlib import Path
from grader.sandbox import files
folder = Path(tempfile.mkdtemp())
print(files.too_much(str(folder), 1 << 20, 10))
(folder / "hidden").mkdir(0)
print(files.too_much(str(folder), 1 << 20, 10))
folder.chmod(0)
files.remove(folder)
print(folder.exists())
"""
    assert python(code, AS_USER if ROOTED else ()).split() == ["False", "True", "False"]


def test_nothing_is_left_of_a_copy(weak, tmp_path):
    folder, here = outcome(weak, "import os; print(os.environ['HOME'])")[0].strip(), Path.cwd()
    deep = "import os\nfor n in range(99): os.mkdir('x', 0o700); os.chdir('x')\nos.mkdir('y', 0)"
    assert outcome(weak, deep) == [""]
    assert not Path(folder).exists()
    assert list(Path(folder).parent.iterdir()) == []
    assert Path.cwd() == here


def test_links_are_not_followed_when_a_folder_is_removed(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    files.remove(tmp_path / "gone")
    files.remove(tmp_path / "link")
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["kept", "file", "link"]


def test_copies_of_one_user_run_one_after_the_other(monkeypatch):
    monkeypatch.setattr("grader.sandbox.jail.first_user", lambda for_files=False: None)
    jail = Jail("04_attention", QUICK, JailKind.LANDLOCK)
    assert jail.one_at_a_time
    first, again = jail.open(), jail.open()  # of one thread: of one submission
    others: list[Any] = []
    other = threading.Thread(target=lambda: others.append(jail.open()))
    other.start()
    time.sleep(0.3)
    jail.end(first.slot)
    time.sleep(0.3)
    assert not others
    jail.end(again.slot)
    other.join(10 * PATIENCE)
    assert len(others) == 1
    for copy in (first, again, *others):
        copy.connection.close()
    jail.close()


def test_copies_end_with_the_warm_process(weak):
    session = JailSession(weak, ["import os"])
    session.run()
    copy = weak.open()
    os.kill(weak.pid, signal.SIGKILL)
    copy.connection.settimeout(10 * PATIENCE)
    assert copy.connection.recv(1) == b""
    copy.connection.close()
    session.close()


def test_no_copy_may_look_into_the_warm_process():
    """Where copies are of the same user, and Landlock did not keep them from it."""
    code = """
from grader.sandbox.jail import Jail, JailKind
jail = Jail("04_attention", kind=JailKind.LANDLOCK)
copy = jail.open()
try:
    open(f"/proc/{jail.pid}/mem").close()
except PermissionError as error:
    print(error.strerror)
copy.connection.close()
jail.close()
"""
    assert python(code, AS_USER if ROOTED else ()) == "Permission denied\n"


# --- which jail is chosen ---------------------------------------------------------------------------------------------

OPEN = """
from grader.sandbox.check_jail import open_jail, weaknesses
jail = open_jail("04_attention")
print(jail.kind, *weaknesses(), sep="\\n")
jail.close()
"""


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_without_namespaces_the_jail_is_made_of_landlock(how):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [*how, *without_namespaces("-c", OPEN)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    kind, line = done.stdout.splitlines()
    assert kind == "landlock"
    assert line.startswith("the jail is made of Landlock (bwrap: ")


@pytest.mark.parametrize(
    ("wanted", "because"), [("", "bubblewrap is not installed"), ("landlock", "GRADER_JAIL=landlock")]
)
@pytest.mark.parametrize("users", [None, 60000])
def test_what_is_weaker_is_said_in_one_line(monkeypatch, wanted, because, users):
    monkeypatch.setenv("GRADER_JAIL", wanted)
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr("grader.sandbox.check_jail.first_user", lambda for_files=False: users)
    weaker = "it has no namespaces" if users else "the number of threads is not limited, submissions run one at a time"
    assert weaknesses() == (f"the jail is made of Landlock ({because}): {weaker}; see docs/jail.md",)
    jail = open_jail("04_attention", QUICK)
    assert jail.kind == JailKind.LANDLOCK
    jail.close()


def test_a_jail_that_does_not_count_threads_holds_only_if_one_user_has_all_copies(monkeypatch):
    monkeypatch.setattr("grader.sandbox.jail.first_user", lambda for_files=False: None)
    jail = Jail("04_attention", QUICK, JailKind.LANDLOCK)
    check(jail)
    jail.one_at_a_time = False
    with pytest.raises(JailError, match="not so: the number of threads is limited"):
        check(jail)
    jail.close()


def test_nothing_is_weaker_with_bubblewrap():
    assert weaknesses() == ()


NONE_AT_ALL = """no jail can be made here, and without one submissions would run unprotected:
    bwrap: bubblewrap is not installed
    landlock: this kernel has no Landlock
Install bubblewrap with
    apt-get install bubblewrap      (Debian, Ubuntu)
    dnf install bubblewrap          (Fedora)
In a container, docs/jail.md says what to give to `docker run`.
On Ubuntu 24.04 and later, docs/jail.md has the AppArmor profile that lets bubblewrap make namespaces.
Or set GRADER_JAIL=none to run without protection for this machine."""


@pytest.mark.parametrize("container", [False, True])
@pytest.mark.parametrize("apparmor", [False, True])
def test_without_any_jail_the_next_step_is_said(monkeypatch, tmp_path, container, apparmor):
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr("grader.sandbox.check_jail.first_user", lambda for_files=False: None)
    monkeypatch.setattr("grader.sandbox.check_jail.IN_A_CONTAINER", [str(tmp_path)] if container else [])
    (tmp_path / "switch").write_text(f"{int(apparmor)}\n")
    monkeypatch.setattr("grader.sandbox.check_jail.APPARMOR", str(tmp_path / "switch"))
    with pytest.raises(JailError) as caught:
        open_jail("04_attention")
    lines = [line for line in NONE_AT_ALL.splitlines() if container or "container" not in line]
    assert str(caught.value).splitlines() == [line for line in lines if apparmor or "AppArmor" not in line]
    assert caught.value.trouble == JailTrouble.NOT_INSTALLED


def test_a_kind_that_is_asked_for_is_the_only_one_tried(monkeypatch):
    monkeypatch.setenv("GRADER_JAIL", "bwrap")
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    with pytest.raises(JailError, match="bubblewrap is not installed"):
        open_jail("04_attention")
    assert not installed()
    monkeypatch.setenv("GRADER_JAIL", "docker")
    with pytest.raises(CourseError) as caught:
        open_jail("04_attention")
    assert str(caught.value) == "GRADER_JAIL=docker: there is no such jail; it can be bwrap, landlock, none"


def test_bubblewrap_may_be_anywhere_on_the_path(monkeypatch, tmp_path):
    program = bubblewrap.program()
    assert program is not None
    (tmp_path / "bwrap").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    jail = open_jail("04_attention", QUICK)
    assert jail.kind == JailKind.BUBBLEWRAP
    jail.close()


def test_a_jail_of_another_kind_that_was_started_is_not_taken(monkeypatch):
    started = Jail("04_attention", QUICK)
    monkeypatch.setenv("GRADER_JAIL", "landlock")
    jail = open_jail("04_attention", QUICK, started)
    assert jail is not started and jail.kind == JailKind.LANDLOCK
    for each in (jail, started):
        each.close()


def test_without_a_jail_each_submission_has_a_folder_of_its_own():
    jail = Jail("04_attention", QUICK, JailKind.NONE)
    source = "import os, tempfile; open('left', 'w').close(); print(os.getcwd(), os.environ['HOME'], tempfile.gettempdir(), os.listdir())"
    first, second = outcome(jail, source), outcome(jail, source)
    for (said,), slot in ((first, 1), (second, 2)):
        folder, *same, files_there = said.split()
        assert Path(folder).name == str(slot) and same == [folder] * 2 and files_there == "['left']"
        assert not Path(folder).exists()
    jail.close()
    assert not Path(folder).parent.parent.exists()
