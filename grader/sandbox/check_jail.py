"""Is a jail good enough? It is tried from inside before anything of a student's runs in it."""

import os
from pathlib import Path

from grader.errors import CourseError, JailError, JailTrouble
from grader.sandbox import bubblewrap, files, landlock, wire
from grader.sandbox.jail import Jail, JailKind, first_user
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


# where one user has all copies these may be weaker; all others must hold in every jail
MAY_BE_WEAKER = {Wall.THREADS: "the number of threads is not limited"}
IN_A_CONTAINER = ("/.dockerenv", "/run/.containerenv")
APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
INSTALL = """Install bubblewrap with
    apt-get install bubblewrap      (Debian, Ubuntu)
    dnf install bubblewrap          (Fedora)
"""


def unprotected() -> bool:
    """Whether the environment asks for no jail at all."""
    return os.environ.get("GRADER_JAIL") == JailKind.NONE


def weaknesses() -> tuple[str, ...]:
    """What every command says before it runs a submission: a line for each protection that is missing."""
    if unprotected():
        return ("GRADER_JAIL=none: nothing protects this machine from what students wrote",)
    wanted = os.environ.get("GRADER_JAIL")
    because = f"GRADER_JAIL={wanted}" if wanted == JailKind.LANDLOCK else bubblewrap.trouble()
    if not because or wanted == JailKind.BUBBLEWRAP:
        return ()
    weaker = [] if first_user(for_files=True) else [*MAY_BE_WEAKER.values(), "submissions run one at a time"]
    return (
        f"the jail is made of Landlock ({because}): {', '.join(weaker) or 'it has no namespaces'}; see docs/jail.md",
    )


def installed() -> bool:
    """Whether bubblewrap is there, and may be used."""
    return bubblewrap.program() is not None and os.environ.get("GRADER_JAIL") in (None, "", JailKind.BUBBLEWRAP)


def open_jail(module: str, limits: Limits | None = None, started: Jail | None = None) -> Jail:
    """A jail that was tried and holds: of the kinds that this machine allows, the strongest and fastest.

    started  a jail of this module and these limits that nobody has tried yet; one is started if there is none

    GRADER_JAIL asks for one kind. With GRADER_JAIL=none there is none: scores are still decided outside the student's process,
    but nothing protects the machine. Raises JailError, with the next step, if there is no jail or it does not hold.
    """
    wanted = os.environ.get("GRADER_JAIL", "")
    if wanted and wanted not in set(JailKind):
        raise CourseError(f"GRADER_JAIL={wanted}: there is no such jail; it can be {', '.join(JailKind)}")
    if wanted == JailKind.NONE:
        return Jail(module, limits, kind=JailKind.NONE)
    reasons: dict[JailKind, str] = {}
    for kind in (JailKind.BUBBLEWRAP, JailKind.LANDLOCK):
        if wanted not in ("", kind):
            continue
        try:
            return _open(kind, module, limits, started if started and started.kind == kind else None)
        except JailError as error:
            if error.trouble == JailTrouble.HOLES:
                raise
            reasons[kind] = str(error)
    raise JailError(_why_none(reasons), JailTrouble.NOT_STARTED if bubblewrap.program() else JailTrouble.NOT_INSTALLED)


def _open(kind: JailKind, module: str, limits: Limits | None, started: Jail | None) -> Jail:
    """A jail of a kind, tried. Raises JailError."""
    if kind == JailKind.LANDLOCK:
        if not landlock.version() and first_user(for_files=True) is None:
            raise JailError("this kernel has no Landlock", JailTrouble.NOT_STARTED)
        return _checked(started or Jail(module, limits, kind))
    if bubblewrap.program() is None:
        raise JailError("bubblewrap is not installed", JailTrouble.NOT_INSTALLED)
    try:
        return _checked(started or Jail(module, limits))
    except JailError as error:
        if error.trouble != JailTrouble.NO_NAMESPACES:
            raise
    try:
        return _checked(Jail(module, limits, namespaces=False))
    except JailError as error:  # the jail of Landlock may be better
        raise JailError(str(error), JailTrouble.NO_NAMESPACES) from None


def _why_none(reasons: dict[JailKind, str]) -> str:
    """Why there is no jail, and what can be done on this machine."""
    lines = ["no jail can be made here, and without one submissions would run unprotected:"]
    lines += [f"    {kind}: {reason}" for kind, reason in reasons.items()]
    steps = INSTALL if bubblewrap.program() is None else ""
    if any(Path(mark).exists() for mark in IN_A_CONTAINER):
        steps += "In a container, docs/jail.md says what to give to `docker run`.\n"
    if _is_one(APPARMOR):
        steps += (
            "On Ubuntu 24.04 and later, docs/jail.md has the AppArmor profile that lets bubblewrap make namespaces.\n"
        )
    return "\n".join([*lines, f"{steps}Or set GRADER_JAIL=none to run without protection for this machine."])


def _is_one(switch: str) -> bool:
    try:
        return Path(switch).read_text().strip() == "1"
    except OSError:
        return False


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
    holes -= set(MAY_BE_WEAKER) if jail.one_at_a_time else set()
    if holes:
        sentences = ", ".join(HOLDS[wall] for wall in Wall if wall in holes)
        raise JailError(f"the jail does not hold; not so: {sentences}", JailTrouble.HOLES)


def _holes(copy: Copy) -> set[Wall]:
    """The walls that do not hold, as a copy finds."""
    copy.connection.settimeout(20)
    wire.send(copy.connection, {"id": 0, "do": wire.Request.LOOK_AROUND, "hidden": files.hidden()}, {})
    message, _ = wire.receive(copy.connection, 1 << 16, 0)
    return {wall for wall in Wall if message["holds"][wall] is not True}
