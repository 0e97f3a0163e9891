"""The processes that grade, of this process: one jail for each module, and those that judge.

They are opened when they are first needed, and closed at the end.
"""

import threading

from grader.course import Assignment, modules
from grader.errors import JailError, JailTrouble
from grader.judges import Judges
from grader.rebuild import Look
from grader.sandbox.check_jail import installed, open_jail, unprotected
from grader.sandbox.jail import Jail

_jails: dict[str, Jail] = {}
_warming: dict[str, Jail] = {}  # started and not tried yet
_judges: list[Judges] = []
_opening = threading.Lock()
_closed = 0  # how often


def warm_up(module: str) -> None:
    """Start what will be needed soon; it warms up while we import what grading needs."""
    if module in modules():
        if not unprotected() and installed():
            _warming[module] = Jail(module)
        judges(module)


def jail_of(module: str) -> Jail:
    """The jail of a module, tried. Raises JailError, also when everything was closed meanwhile."""
    before = _closed
    with _opening:
        if module not in _jails or _jails[module].closed:
            _check(before)
            jail = open_jail(module, started=_warming.get(module))
            _warming.pop(module, None)
            _jails[module] = jail
            if before != _closed:
                close()
                _check(before)
        return _jails[module]


def judges(module: str = "") -> Judges:
    """What reads and judges; `module` is the one that most submissions will be of."""
    before = _closed
    with _opening:
        if not _judges or _judges[0].closed:
            _check(before)
            _judges[:] = [Judges(module)]
        return _judges[0]


def _check(before: int) -> None:
    if before != _closed:
        raise JailError("grading was stopped", JailTrouble.NOT_STARTED)


def fit(data: bytes, assignment: Assignment) -> int:
    """How many answers of a module a notebook seems to have; -1 if it is none, or cannot be read within bounds."""
    return look(data, assignment).fit


def look(data: bytes, assignment: Assignment) -> Look:
    """What a file is, looked at within bounds."""
    return judges(assignment.module).look(data, assignment.module)


def close() -> None:
    """Close all of them, those that were started for nothing too. Whoever waits for one gets none."""
    global _closed  # noqa: PLW0603  (one for the process)
    _closed += 1
    for jails in (_jails, _warming):
        while jails:
            jails.popitem()[1].close()
    while _judges:
        _judges.pop().close()
