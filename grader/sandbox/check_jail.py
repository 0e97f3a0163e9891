"""Is a jail good enough? It is tried from inside before anything of a student's runs in it."""

import os
import shutil

from grader.errors import JailError, JailTrouble
from grader.sandbox import wire
from grader.sandbox.jail import Jail, JailKind
from grader.sandbox.limits import Limits
from grader.sandbox.walls import Wall
from grader.sandbox.warm import Copy

HOLDS = {
    Wall.NETWORK: "there is no network",
    Wall.SIGHT: "there is nothing of the course or of a home",
    Wall.LIBRARY: "no later module of the library is installed",
    Wall.WRITING: "nothing can be written outside scratch",
    Wall.DEVICES: "there is no terminal, and no device can be changed",
    Wall.DESCRIPTORS: "no descriptor is open but its own",
    Wall.MEMORY: "there is no memory outside the limits",
    Wall.LOCKS: "no file can be locked or watched",
    Wall.COPIES: "nothing of another submission is there",
    Wall.CAPABILITIES: "there are no capabilities",
    Wall.PROCESSES: "no process can be started",
    Wall.OTHERS: "no other process is in sight",
    Wall.THREADS: "the number of threads is limited",
    Wall.SCRATCH: "scratch can be written",
}


def unprotected() -> bool:
    """Whether the environment asks for no jail at all."""
    return os.environ.get("GRADER_JAIL") == JailKind.NONE


def installed() -> bool:
    return shutil.which("bwrap") is not None


def open_jail(module: str, limits: Limits | None = None, started: Jail | None = None) -> Jail:
    """A jail that was tried and holds, in the fastest way that this machine allows.

    started  a jail of this module and these limits that nobody has tried yet; one is started if there is none

    With GRADER_JAIL=none there is none: scores are still decided outside the student's process, but nothing protects the
    machine. Raises JailError, with the next step, if there is no bubblewrap or it does not hold.
    """
    if unprotected():
        return Jail(module, limits, kind=JailKind.NONE)
    if not installed():
        raise JailError(
            "bubblewrap is not installed, and without it submissions would run unprotected. Install it with\n"
            "    apt-get install bubblewrap      (Debian, Ubuntu)\n"
            "    dnf install bubblewrap          (Fedora)\n"
            "or set GRADER_JAIL=none to run without protection for this machine.",
            JailTrouble.NOT_INSTALLED,
        )
    try:
        return _checked(started or Jail(module, limits))
    except JailError as error:
        if error.trouble != JailTrouble.NO_NAMESPACES:
            raise
    return _checked(Jail(module, limits, namespaces=False))


def _checked(jail: Jail) -> Jail:
    try:
        check(jail)
    except JailError:
        jail.close()
        raise
    return jail


def check(jail: Jail) -> None:
    """Try from inside whether a jail holds (walls.look_around); JailError if it does not.

    Two copies try it, the second while the first is there: what one leaves, the other must not find.
    """
    copies = [jail.open()]
    try:
        holes = _holes(copies[0])
        copies.append(jail.open())
        holes |= _holes(copies[1])
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise JailError(f"the jail did not answer: {error}", JailTrouble.SILENT) from None
    finally:
        for copy in copies:
            copy.connection.close()
            jail.end(copy.slot)
    if holes:
        sentences = ", ".join(HOLDS[wall] for wall in Wall if wall in holes)
        raise JailError(f"the jail does not hold; not so: {sentences}", JailTrouble.HOLES)


def _holes(copy: Copy) -> set[Wall]:
    """The walls that do not hold, as a copy finds."""
    copy.connection.settimeout(20)
    wire.send(copy.connection, {"id": 0, "do": wire.Request.LOOK_AROUND}, {})
    message, _ = wire.receive(copy.connection, 1 << 16)
    return {wall for wall in Wall if message["holds"][wall] is not True}
