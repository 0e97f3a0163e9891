"""What one submission makes us do costs that submission only. The student's process is played here, but for Ctrl-C."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from answers import namespace, submission
from classes import ENVIRONMENT, MODULE, grade, hand_in
from limits import PATIENCE
from played import Act, Arrays, Copy, Message, PlayedJail, answer_well

from exercises.probes import run_probe
from grader import judges as judges_module
from grader.course import ROOT, load_assignment
from grader.errors import JailError
from grader.judges import Broken, Judges
from grader.rebuild import fit
from grader.result import Status
from grader.sandbox import pool
from grader.sandbox.limits import Limits

RIGHT = submission()
MB = 1 << 20
NAMES = namespace(MODULE)
EXERCISES = [e.name for e in load_assignment(MODULE).exercises]


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    judges = Judges(MODULE)
    yield judges
    judges.close()


def rightly(copy: Copy, request: Message, arrays: Arrays) -> None:
    """The right answer to any question."""
    results, problem, text, line = run_probe(NAMES, request["probe"], request["inputs"] | arrays, {})
    copy.say({"id": request["id"], "problem": problem, "text": text, "line": line, "raised": ""}, results)


def right_until(probe: str, act: Act) -> Act:
    """Right answers up to a probe, and something else from there on."""
    reached: list[bool] = []

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        if request["probe"] == probe:
            reached.append(True)
        (act if reached else rightly)(copy, request, arrays)

    return on_ask


def jail(on_ask: Act = rightly, **limits: Any) -> PlayedJail:
    return PlayedJail(on_ask, limits=Limits(**limits))


def with_output(text: str) -> Callable[[dict[str, Any]], None]:
    """Right work with a text in an output of its last cell."""

    def edit(notebook: dict[str, Any]) -> None:
        output = {"output_type": "stream", "name": "stdout", "text": text}
        last = {"cell_type": "code", "metadata": {}, "source": "", "execution_count": 1, "outputs": [output]}
        notebook["cells"].append(last)

    return edit


def judging(judges: Judges) -> list[psutil.Process]:
    """The processes that judge."""
    return psutil.Process(judges.pid).children()


# --- bounds of reading and judging ------------------------------------------------------------------------------------


NESTED = (
    b'{"cells": [' + b",".join([b"[" + b",".join([b"[]"] * 99) + b"]"] * 80_000) + b"]}"
)  # 24 MB, and 520 in memory


def test_right_work_is_graded_in_a_process_that_is_used_again(judges: Judges) -> None:
    first = judges.grade(RIGHT, MODULE, jail(), "ada")
    assert (first.student, first.module, first.status, first.score, first.reason) == ("ada", MODULE, "graded", 28, "")
    before = judging(judges)
    assert judges.grade(RIGHT, MODULE, jail(), "ben").score == 28
    assert judging(judges) == before and len(before) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("data", "limits", "reason"),
    [
        (NESTED, {"judge_memory": 100 * MB}, "it needed more than 100 MB to be read and judged"),
        (NESTED * 2, {"judge_time": 0.01}, "it needed more than 0.01 s of processor time to be read and judged"),
    ],
    ids=["memory", "time"],
)
def test_what_cannot_be_read_within_bounds_has_no_points_and_the_next_one_is_graded_right(
    judges: Judges, data: bytes, limits: dict[str, Any], reason: str
) -> None:
    result = judges.grade(data, MODULE, jail(**limits), "ada")
    assert (result.student, result.status, result.score, result.reason) == ("ada", Status.GRADED, 0, reason)
    assert set(result.verdicts) == set(EXERCISES) and result.notebook is not None
    assert all(v.messages == (f"Not judged: {reason}.",) for v in result.verdicts.values())
    assert judges.grade(RIGHT, MODULE, jail()).score == 28


@pytest.mark.long
def test_50_mb_of_nested_lists(judges: Judges) -> None:
    result = judges.grade(b'{"cells": [' + b"[]," * (50 * MB // 3) + b"[]]}", MODULE, jail())
    assert (result.status, result.score) == (Status.GRADED, 0)
    assert result.reason == f"it needed more than {Limits().judge_memory >> 20} MB to be read and judged"
    assert judges.grade(RIGHT, MODULE, jail()).score == 28


@pytest.mark.long
def test_what_was_judged_before_keeps_its_points(judges: Judges) -> None:
    """Here a student's process asks for references that take us long: no more of them than one question allows."""
    Q = K = np.ones((16, 16, 16, 3), np.int8)

    def ask_for_much(copy: Copy, request: Message, arrays: Arrays) -> None:
        for name, parameters, _ in request["stand_ins"] * 199:
            ask = {"id": request["id"], "stand_in": name, "index": -1, "arguments": {}}
            copy.say(ask, dict(zip(parameters, (Q, K), strict=False)))
            copy.hear()
        answer_well(copy, request, arrays)

    def on_ask(copy: Copy, request: Message, arrays: Arrays) -> None:
        wrong = request["probe"] in ("compute_attention_scores", "scaled_dot_product_attention")
        (ask_for_much if request["stand_ins"] else answer_well if wrong else rightly)(copy, request, arrays)

    played = jail(on_ask, judge_time=1)
    result = judges.grade(RIGHT, MODULE, played)
    assert result.reason == "it needed more than 1 s of processor time to be read and judged"
    place = EXERCISES.index("scaled_dot_product_attention")
    for name, verdict in result.verdicts.items():
        judged = name in EXERCISES[:place] and name != "compute_attention_scores"
        assert verdict.points == (verdict.max if judged else 0)
    assert result.score > 0 and sorted(played.ended) == list(range(1, played.opened + 1))


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGKILL, "the process that judged it ended twice, by SIGKILL"),
        (signal.SIGSEGV, "the process that judged it ended twice, by SIGSEGV"),
        (signal.SIGSTOP, f"judging it was stopped after {3 * (0.5 + 0.5 * PATIENCE):.0f} s without a word"),
    ],
)
def test_a_judging_process_that_ends_costs_one_result(
    judges: Judges, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, reason: str
) -> None:
    monkeypatch.setattr(judges_module, "SILENT", 0.2)

    def strike(copy: Copy, _request: Message, _arrays: Arrays) -> None:
        for process in judging(judges):
            process.send_signal(number)
        copy.hang()

    played = jail(right_until("apply_mask", strike), judge_time=0.5, whole_time=0.5 * PATIENCE, own_time=0.1)
    result = judges.grade(RIGHT, MODULE, played, "ada")
    before = EXERCISES[: EXERCISES.index("apply_mask")]
    assert (result.status, result.reason) == (Status.GRADED, reason)
    assert all(v.points == (v.max if name in before else 0) for name, v in result.verdicts.items())
    assert played.ended == ([1] if number == signal.SIGSTOP else [1, 2])
    assert judges.grade(RIGHT, MODULE, jail()).score == 28


@pytest.mark.long
def test_a_process_that_took_much_memory_is_not_used_again(judges: Judges) -> None:
    judges.grade(RIGHT, MODULE, jail())
    before = judging(judges)
    assert judges.grade(b'{"cells": [' + b"[]," * (5 * MB) + b"[]]}", MODULE, jail()).status == Status.GRADED
    assert judging(judges) == []
    judges.grade(RIGHT, MODULE, jail())
    assert len(judging(judges)) == 1 and judging(judges) != before


AMID_MUCH_MEMORY = f"""
import sys
sys.path[:0] = ["tests/support"]
import psutil
from answers import submission
from grader.judges import Judges

held = b"." * (600 << 20)
judges = Judges({MODULE!r})
found = []
for _ in range(2):
    judges.look(submission(), {MODULE!r})
    found.append([p.pid for p in psutil.Process(judges.pid).children()])
judges.close()
print(len(found[0]), found[0] == found[1])
"""


@pytest.mark.long
def test_what_the_grader_itself_holds_tires_no_judge() -> None:
    """The judging process is a copy of the grader, and so as large as that from the start."""
    one_thread = ENVIRONMENT | {"OPENBLAS_NUM_THREADS": "1"}  # with more it is no copy
    done = subprocess.run(
        [sys.executable, "-P", "-c", AMID_MUCH_MEMORY],
        cwd=ROOT,
        env=one_thread,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1 True\n", done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_closing_leaves_nothing_open() -> None:
    before = psutil.Process().num_fds()
    own = Judges(MODULE)
    own.look(RIGHT, MODULE)
    own.close()
    after = psutil.Process().num_fds()
    own.close()
    assert after == before


def test_a_bug_of_ours_is_told_with_its_traceback(judges: Judges) -> None:
    with pytest.raises(Broken, match=r"TypeError: unsupported operand") as caught:
        judges.grade(RIGHT, MODULE, jail(output=None))
    assert any("Traceback" in note and "running.py" in note for note in caught.value.__notes__)
    assert judges.grade(RIGHT, MODULE, jail()).score == 28


def test_a_jail_that_opens_no_copy_is_told_as_such(judges: Judges) -> None:
    class NoJail(PlayedJail):
        def open(self) -> Any:
            raise JailError("the jail is gone")

    with pytest.raises(JailError, match="the jail is gone"):
        judges.grade(RIGHT, MODULE, NoJail())
    assert judges.grade(RIGHT, MODULE, jail()).score == 28


# --- what can be read within the bounds of a class --------------------------------------------------------------------


def encoded(encoding: str, sign: str = "\N{EURO SIGN}") -> bytes:
    """Right work with a sign that is no ASCII, and 20 MB of output."""
    return json.dumps(json.loads(submission(edit=with_output(sign + "x" * 20 * MB))), ensure_ascii=False).encode(
        encoding
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [
        lambda: submission(edit=with_output("x" * 50 * MB)),
        lambda: submission(edit=lambda notebook: notebook["metadata"].update(a=float("nan"), b=float("-inf"))),
        lambda: encoded("utf-8-sig"),
        lambda: encoded("utf-16"),
        lambda: encoded("cp1252"),
    ],
    ids=["50 MB of output", "NaN", "byte-order mark", "UTF-16", "cp1252"],
)
def test_it_stays_readable(judges: Judges, make: Callable[[], bytes]) -> None:
    result = judges.grade(make(), MODULE, jail())
    assert (result.status, result.score, result.reason) == (Status.GRADED, 28, "")


@pytest.mark.long
def test_50_mb_in_small_outputs_stay_readable(judges: Judges) -> None:
    """As of a loop that prints."""
    output = {"output_type": "stream", "name": "stdout", "text": ["step 1000: loss 0.123456\n"] * 10}

    def edit(notebook: dict[str, Any]) -> None:
        cell = {"cell_type": "code", "metadata": {}, "source": "", "execution_count": 1, "outputs": [output] * 150_000}
        notebook["cells"].append(cell)

    data = submission(edit=edit)
    assert len(data) > 50 * MB
    result = judges.grade(data, MODULE, jail())
    assert (result.status, result.score, result.reason) == (Status.GRADED, 28, "")


@pytest.mark.parametrize("data", [RIGHT, b"", b"{", b'{"cells": []}', submission(blank=["scale_scores"])])
def test_how_well_a_notebook_fits_is_the_same_from_there(judges: Judges, data: bytes) -> None:
    assert judges.look(data, MODULE).fit == fit(data, load_assignment(MODULE))


def test_what_cannot_be_read_within_bounds_fits_nothing(judges: Judges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges_module, "Limits", lambda: Limits(judge_memory=50 * MB))
    assert judges.look(NESTED, MODULE).fit == -1
    assert judges.look(RIGHT, MODULE).fit == len(EXERCISES)


def test_the_process_that_judges_is_opened_again_when_it_is_gone() -> None:
    assignment = load_assignment(MODULE)
    try:
        assert pool.fit(RIGHT, assignment) == len(EXERCISES)
        first = pool.judges(MODULE)
        first.close()
        assert pool.fit(RIGHT, assignment) == len(EXERCISES) and pool.judges(MODULE) is not first
    finally:
        pool.judges(MODULE).close()
        pool.close()


# --- Ctrl-C and memory of the command ---------------------------------------------------------------------------------


LOOP = submission({"scale_scores": "def _scale_scores(scores, d_k):\n    while True: pass\n"})


@contextmanager
def started(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command at work; it and all that it started are gone afterwards."""
    command = ["env", "--default-signal=INT"]  # a shell's background commands do not hear of Ctrl-C
    command += [sys.executable, "-m", "grader", "grade", MODULE, "--class", str(folder), "--json", *options]
    process = subprocess.Popen(
        command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        for one in [*family_of(process), process]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        process.communicate()


def family_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60 * PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, float]:
    """Exit status as a shell gives it, stderr, and the seconds until the end. Nothing of it is left."""
    family = family_of(process)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60 * PATIENCE)
    took = time.monotonic() - start
    _, left = psutil.wait_procs(family, timeout=2 * PATIENCE)
    assert left == []
    # Python ends itself by the signal if that met code that is made at run time, as in a dataclass
    status = 128 - process.returncode if process.returncode < 0 else process.returncode
    return status, errors, took


def reading(process: subprocess.Popen[str]) -> bool:
    """Whether one of its processes reads something large."""
    with suppress(psutil.NoSuchProcess):
        return any(
            "sandbox.worker" not in " ".join(p.cmdline()) and p.memory_info().rss > 400 * MB for p in family_of(process)
        )
    return False


@pytest.mark.jail
@pytest.mark.long
@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("the jail warms up", marks=pytest.mark.slow),
        pytest.param("the jail is tried", marks=pytest.mark.slow),
        "a submission loops",
        pytest.param("a judge reads", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_ends_it_at_once_and_the_same_command_goes_on(tmp_path: Path, moment: str) -> None:
    hand_in(tmp_path, "ada", RIGHT)
    if moment == "a submission loops":
        hand_in(tmp_path, "ben", LOOP)
    if moment == "a judge reads":
        hand_in(tmp_path, "ben", b'{"cells": [' + b"[]," * (20 * MB) + b"[]]}")
    with started(tmp_path) as process:
        assert process.stdout is not None
        if moment == "the jail warms up":
            until(lambda: len(family_of(process)) >= 2)
        elif moment == "the jail is tried":
            until(lambda: len(family_of(process)) >= 4)
        elif moment == "a submission loops":
            assert json.loads(process.stdout.readline())["student"] == "ada"
            time.sleep(0.5)
        else:
            until(lambda: reading(process))
        status, errors, took = interrupted(process)
    assert (status, errors) == (130, "grade: stopped; what was done is kept, the same command goes on from there\n")
    assert took < 3 * PATIENCE  # a second on a machine that does nothing else
    if moment == "a submission loops":
        hand_in(tmp_path, "ben", RIGHT)
    status, rows, errors = grade(tmp_path)
    by_student = {row["student"]: row for row in rows}
    assert (status, errors) == (0, "") and by_student["ada"]["score"] == 28
    assert by_student.get("ben", {}).get("status", "graded") == "graded"


@pytest.mark.slow
@pytest.mark.jail
def test_of_several_large_submissions_the_command_itself_takes_little(tmp_path: Path) -> None:
    large = submission(edit=with_output("x" * 90 * MB))
    for student in ("ada", "ben", "cleo", "dan", "eva"):
        hand_in(tmp_path, student, large)
    most = 0
    with started(tmp_path, "--jobs", "4") as process:
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            assert json.loads(line)["score"] == 28
            words = Path(f"/proc/{process.pid}/status").read_text().split()
            most = int(words[words.index("VmHWM:") + 1])
        assert (process.wait(), process.stderr.read()) == (0, "")
    assert 0 < most << 10 < 1000 * MB
