"""The jails of this process: one for each module, opened when it is first needed, closed at the end."""

import threading

from grader.course import modules
from grader.sandbox.check_jail import installed, open_jail, unprotected
from grader.sandbox.jail import Jail

_jails: dict[str, Jail] = {}
_warming: dict[str, Jail] = {}  # started and not tried yet
_opening = threading.Lock()


def warm_up(module: str) -> None:
    """Start a jail that will be needed soon; it warms up while we import what grading needs."""
    if not unprotected() and installed() and module in modules():
        _warming[module] = Jail(module)


def jail_of(module: str) -> Jail:
    """The jail of a module, tried. Raises JailError."""
    with _opening:
        if module not in _jails or _jails[module].closed:
            _jails[module] = open_jail(module, started=_warming.pop(module, None))
        return _jails[module]


def close() -> None:
    """Close all of them, those that were started for nothing too."""
    for jails in (_jails, _warming):
        while jails:
            jails.popitem()[1].close()
