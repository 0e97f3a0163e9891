"""The walls one by one: each test fails if no more than its wall is gone.

A jail is tried in several ways: as we are, as a user of a namespace, as a real user, and where the kernel allows no namespaces
inside it. test_landlock.py tries the jail that needs none.
"""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from inside import (
    AS_REAL_USER,
    AS_ROOT,
    AS_USER,
    COLUMN,
    ERROR,
    GO_ON,
    LOOK,
    NUMBERS,
    OLD_CALL,
    STARTS_A_PROCESS,
    Inside,
    in_sight,
    look_inside,
    on_this_machine,
    python,
)
from limits import PATIENCE, QUICK

from grader.course import ROOT
from grader.sandbox.session import JailSession, Trouble

pytestmark = pytest.mark.jail

ROOTED = os.geteuid() == 0
KILL = 129 if COLUMN else 62
ABSENT = ("clone3", "cachestat, a newer call")
REFUSED = dict.fromkeys(NUMBERS, errno.EACCES) | dict.fromkeys(ABSENT, errno.ENOSYS)


@dataclass(frozen=True)
class Look:
    """What two copies found, the second while the first lived on, and what the jail is seen from outside."""

    way: str
    first: dict[str, Any]
    second: dict[str, Any]
    inside: Inside


@pytest.fixture(scope="module")
def machine() -> Iterator[dict[str, Any]]:
    """Things of this machine that must not be reached from inside, and what to try."""
    name = f"walls-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0{name}")
        named.listen()
        yield {"calls": NUMBERS, "goes on": on_this_machine(GO_ON), "kill": KILL, "pid": os.getpid(), "name": name}


# what only root can become is not there for others
WAYS = ["as we are", *(["ordinary user", "real user"] if ROOTED else []), "no namespaces inside"]
HOW = {"ordinary user": AS_USER, "real user": in_sight(*AS_REAL_USER) if ROOTED else []}


@pytest.fixture(scope="module", params=WAYS)
def look(request: pytest.FixtureRequest, machine: dict[str, Any]) -> Look:
    source = LOOK.format(outside=machine)
    if request.param in HOW:
        inside = look_inside([source] * 2, HOW[request.param])
    else:
        # root's further groups, where there are any, are to go
        groups = [1, 2] if ROOTED else None
        inside = look_inside([source] * 2, (), request.param == "as we are", groups)
    first, second = map(json.loads, inside.runs)
    return Look(request.param, first, second, inside)


# --- system calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS)
def test_a_call_is_refused(look, name):
    assert look.first["errors"][name] == REFUSED[name]


def test_it_is_the_filter_that_refuses():
    """With all capabilities and no filter, not one of these calls is answered like that; with the filter, each is."""
    calls = {name: call for name, call in NUMBERS.items() if name not in STARTS_A_PROCESS}
    errors = f"print(json.dumps({{name: error(*call) for name, call in {calls!r}.items()}}))"
    lines = ["import json", "from grader.sandbox import calls", errors, "calls.forbid()", errors]
    without, filtered = map(json.loads, python(ERROR + "\n".join(lines), AS_ROOT).splitlines())
    assert not [name for name, error in without.items() if error == REFUSED[name]]
    assert filtered == {name: REFUSED[name] for name in calls}


@pytest.mark.parametrize("name", GO_ON)
def test_a_call_goes_on(look, name):
    """What is refused is refused by its arguments; with others, the kernel is asked."""
    assert look.first["goes_on"][name] not in (0, errno.EACCES, errno.ENOSYS)


def test_calls_of_32_bit_programs_are_refused(jail):
    """Their numbers are others: 20 is getpid. Where the machine knows none, the process ends."""
    known = subprocess.run([sys.executable, "-c", OLD_CALL], capture_output=True, check=False).returncode == 0
    session = JailSession(jail, [OLD_CALL])
    (run,) = session.run()
    session.close()
    assert (run.output, run.trouble) == ((f"{errno.EACCES}\n", Trouble.NONE) if known else ("", Trouble.DIED))


def test_a_filter_is_on(look):
    assert look.first["seccomp"] == 2


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [("AS", QUICK.memory), ("FSIZE", QUICK.file_size), ("NOFILE", 64), ("CORE", 0), ("NPROC", QUICK.threads)],
)
def test_a_limit_is_set_and_cannot_be_raised(look, name, value):
    assert look.first["limits"][name] == [value, value]


@pytest.mark.parametrize("folder", ["/scratch", "/dev/shm"])
def test_what_can_be_written_is_small_and_gives_no_rights(look, folder):
    size, files, flags = look.first["sizes"][folder]
    assert (size, files) == (QUICK.scratch, 4096)
    assert flags & os.ST_NOSUID
    assert flags & 4  # ST_NODEV


# --- rights -----------------------------------------------------------------------------------------------------------


def test_no_program_gives_new_privileges(look):
    assert look.first["no_new_privileges"] == 1


def test_bubblewrap_is_not_needed_for_that():
    """It says so for all that it starts; we do for each copy."""
    code = "from grader.sandbox import calls; calls.forbid(); print(calls.libc.prctl(39, 0, 0, 0, 0))"
    assert python(code, AS_ROOT) == "1\n"


def test_no_other_process_may_look_into_it(look):
    assert look.first["dumpable"] == 0


def test_there_are_no_capabilities(look):
    assert look.first["capabilities"] == "00" * 24
    assert look.first["ambient"] == []


def test_none_can_be_had(look):
    assert look.first["bounding"] == []


def test_the_warm_process_has_no_more_than_it_needs(look):
    """SYS_ADMIN for namespaces and mounts, SETUID, SETGID and SETPCAP to give rights away, KILL to end a copy."""
    assert look.inside.capabilities == 1 << 21 | 1 << 7 | 1 << 6 | 1 << 8 | 1 << 5


@pytest.mark.parametrize("kind", ["users", "groups"])
def test_nobody_is_root(look, kind):
    """Real, effective and saved."""
    ids = look.first[kind]
    assert 0 not in ids and len(set(ids)) == 1
    if ROOTED and look.way == "as we are":
        assert not set(ids) & set(look.second[kind])  # two copies are two users


def test_there_are_no_other_groups(look):
    if ROOTED and look.way != "ordinary user":  # who keeps root's
        assert look.first["more_groups"] == []


# --- namespaces -------------------------------------------------------------------------------------------------------


def test_no_namespace_is_the_machines(look):
    assert look.inside.shared == []


def test_no_other_process_is_there(look):
    """A copy is alone. Without namespaces inside there are two more: bubblewrap's and the warm process."""
    alone = look.way != "no namespaces inside"
    assert (look.first["pid"], look.first["others"]) == ((1, []) if alone else (3, [1, 2]))


def test_none_of_our_processes_is_there(look):
    assert look.first["ours"] == errno.ESRCH


def test_a_copy_has_namespaces_of_its_own(look):
    """Where there are none inside, the jail is its own."""
    own = {"ipc", "mnt", "net", "pid"} if look.way != "no namespaces inside" else set()
    assert own.isdisjoint(look.inside.with_warm)


@pytest.mark.parametrize("place", ["here", "scratch", "shm"])
def test_no_file_of_a_copy_at_its_side_is_there(look, place):
    assert (look.first["found"][place], look.second["found"][place]) == ([], [])


def test_no_socket_of_a_copy_at_its_side_is_there(look):
    """A name that starts with a zero byte belongs to the network, not to a folder."""
    assert look.second["found"]["named"] is False


def test_no_flag_of_a_copy_at_its_side_is_there(look):
    """A descriptor that two have from the same parent has one set of flags."""
    assert look.second["found"]["flags"] == [0, 0, 0]


def test_no_socket_of_the_machine_is_there(look):
    assert look.first["named"] is False


def test_the_only_network_is_to_itself(look):
    assert look.inside.network == ["lo"]


def test_the_name_of_the_machine_is_not_told(look):
    assert look.first["host"] == "jail"


# --- what is there ----------------------------------------------------------------------------------------------------


def test_there_is_no_proc_and_no_sys(look):
    assert (look.first["proc"], look.first["sys"]) == (False, False)
    assert not {"proc", "sys", "run", "var", "tmp", "bin", "mnt", "opt"} & set(look.first["root"])


def test_all_that_is_mounted_is_read_only(look):
    writable = {place for place, options in look.inside.mounts.items() if "ro" not in options}
    assert writable == {"/scratch", "/dev/shm"}
    assert "/" in look.inside.mounts


def test_there_are_few_devices_and_their_times_cannot_be_set(look):
    """No terminals: two copies of one user could talk through them."""
    assert look.first["dev"] == ["full", "null", "random", "shm", "urandom", "zero"]
    assert look.first["touched"] == []


def test_work_begins_in_scratch(look):
    assert look.first["folder"] == "/scratch"


def test_the_environment_is_ours(look):
    ours = {"GRADER_MODULES", "HOME", "IPYTHONDIR", "LANG", "LC_CTYPE", "MPLBACKEND", "MPLCONFIGDIR", "PWD"}
    ours |= {"MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    assert {name for name in look.first["environment"] if not name.startswith("OPENBLAS_")} <= ours


def test_no_way_to_the_warm_process_is_open(look):
    """Standard input, output and errors, and the way to us."""
    assert len(look.first["descriptors"]) == 4
    assert look.first["standard"] == [True] * 3


def test_all_descriptors_but_one_are_closed():
    """Whatever the warm process had open."""
    code = """
import os
from grader.sandbox import walls
keep = [os.dup(1) for _ in range(5)][2]
walls.close_descriptors(keep)
is_open = [fd for fd in range(300) if not walls._fails(os.fstat, fd)]
os.write(keep, repr([keep, is_open]).encode())
"""
    keep, is_open = json.loads(python(code))
    assert is_open == [0, 1, 2, keep]


# --- the end ----------------------------------------------------------------------------------------------------------


def test_a_jail_ends_with_the_process_that_started_it():
    """Even if the warm process does nothing more."""
    code = (
        "import time; from grader.sandbox.jail import Jail; jail = Jail('04_attention'); jail.open();"
        "print(jail.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        bubblewrap = psutil.Process(int(parent.stdout.readline()))
        jailed = [bubblewrap, *bubblewrap.children(recursive=True)]
        warm = bubblewrap.children()[0].children()[0]
        os.kill(warm.pid, signal.SIGSTOP)
        parent.kill()
    _, alive = psutil.wait_procs(jailed, timeout=10 * PATIENCE)
    for process in alive:
        process.kill()
    assert len(jailed) == 4 and not alive
