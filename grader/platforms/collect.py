"""Take submissions from a learning platform's archive into a class: whose they are, each attempt, the one that is graded.

What platforms write is read in layouts.py and lists.py, what people chose in plain.py; who that is in the class, in people.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from grader.classroom import Classroom, only_writer
from grader.course import Assignment, load_assignment, modules
from grader.errors import CourseError
from grader.origin import FILE, Origin, read_origin
from grader.platforms import attempts as kept
from grader.platforms.archive import Archive, Damaged, Member, opened
from grader.platforms.attempts import Attempt, Candidate, Quality
from grader.platforms.layouts import platform_reading
from grader.platforms.people import People, Unknown
from grader.platforms.plain import MAY_BE, ROSTER, Names, nearest, pattern_reading, plain_reading
from grader.platforms.reading import Item, Owner, Reading

NO_ZONE = ("brightspace", "blackboard", "pattern")  # times as the teacher's clock shows them, without a zone


@dataclass(frozen=True)
class Taken:
    """What became of one file.

    student  whose it is; "" if it was skipped
    reason   why it was skipped, or is kept and not graded; or what there is to know
    graded   whether it lies in submitted/ now
    """

    path: str
    student: str = ""
    reason: str = ""
    graded: bool = False

    def __str__(self) -> str:
        what = "skipped " if not self.student else "taken   " if self.graded else "kept    "
        return f"{what} {self.path}{f' -> {self.student}' * bool(self.student)}{f': {self.reason}' * bool(self.reason)}"


@dataclass
class Collected:
    """What became of an archive: a line for each file, sentences about the whole, whether something was left out that should not be."""

    how: str = ""
    lines: list[Taken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False
    fits: bool = False  # a notebook of the module is among the files, or was before

    def skip(self, path: str, reason: str, failed: bool = False) -> None:
        self.lines.append(Taken(path, reason=reason))
        self.failed |= failed


def collect(
    module: str, archive: Path, classroom: Classroom, patterns: Sequence[str] = (), zone: str = ""
) -> Collected:
    """Keep each student's files in collected/, and lay the notebook that is graded into submitted/<student>/<module>/.

    archive   a zip file or a folder
    patterns  regular expressions for paths, instead of what is known of platforms
    zone      of times that a platform writes without one; UTC if "" is given

    Raises CourseError if there is no such archive, a pattern is none, or the class cannot be written.
    """
    assignment = load_assignment(module)
    of_zone = _zone(zone)
    done = Collected()
    with opened(archive) as found, only_writer(classroom.folder):
        people = People(classroom, module)
        members = []
        for member in found.members:
            if member.trouble:
                done.skip(member.path, member.trouble, True)
            else:
                members.append(member)
        reading = _reading(members, found, assignment, people, patterns)
        done.how = reading.how
        if reading.trouble:
            done.notes.append(f"it is not plain whose the files are: {reading.trouble}")
            for member in members:
                done.skip(member.path, "it is not plain whose it is", True)
            return done
        _say_strangers(done, reading, people, found)
        _take_all(done, _in_zone(reading, of_zone), found, people, assignment, classroom)
        if not done.fits:
            done.failed = True
            done.notes.append(f"no notebook of {module} is in it")
        if reading.platform in NO_ZONE and not zone and any(item.owner.time for item in reading.items):
            done.notes.append(
                "the times have no zone and are read as UTC; --zone Europe/Berlin, say, reads them as there"
            )
    return done


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        raise CourseError(f"--zone {name}: no such time zone; one is Europe/Berlin") from None


def _reading(
    members: Sequence[Member], found: Archive, assignment: Assignment, people: People, patterns: Sequence[str]
) -> Reading:
    if patterns:
        return pattern_reading(members, patterns)
    if not members:
        return Reading("", "nothing")
    notebooks = [m.partition("_")[2] for m in modules()]
    notebooks.sort(key=lambda name: name != assignment.notebook)
    names = Names(assignment.module, [*modules()], notebooks, people.words, people.by_words())
    return platform_reading(members, found.name, people.words) or plain_reading(members, found.name, names)


def _in_zone(reading: Reading, zone: ZoneInfo | None) -> Reading:
    """Times as UTC, where the platform wrote those of a zone."""
    if zone is None or reading.platform not in NO_ZONE:
        return reading

    def moved(item: Item) -> Item:
        try:
            time = datetime.strptime(f"{item.owner.time.removesuffix(' UTC')} +0000", "%Y-%m-%d %H:%M:%S %z")
        except ValueError:
            return item
        there = time.replace(tzinfo=zone).astimezone(UTC)
        return replace(item, owner=replace(item.owner, time=f"{there:%Y-%m-%d %H:%M:%S} UTC"))

    return replace(reading, items=tuple(map(moved, reading.items)))


def _say_strangers(done: Collected, reading: Reading, people: People, found: Archive) -> None:
    names = {item.owner.name for item in reading.items} | people.known.keys()
    for member, why in reading.strangers:
        done.skip(member.path, f"{why}{nearest(member.path, names)}", why == MAY_BE)
    for member in reading.own_files:
        done.skip(member.path, "it is the platform's own")
    if found.junk:
        done.notes.append(
            f"left out what systems and programs add (__MACOSX, .DS_Store, .git ...): {_files(found.junk)}"
        )


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _take_all(
    done: Collected, reading: Reading, found: Archive, people: People, assignment: Assignment, classroom: Classroom
) -> None:
    who = people.who(reading.platform, (item.owner for item in reading.items))
    date = max((m.modified for m in found.members), default="") if found.zipped else ""
    unknown: dict[str, None] = {}
    by_student: dict[str, list[Item]] = {}
    for item in reading.items:
        id_ = who[item.owner.key[0]]
        if isinstance(id_, Unknown):
            unknown[id_.reason] = None
            done.skip(item.member.path, f"it is not known whose it is: {id_.reason}", True)
        elif id_ in people.dropped:
            done.skip(item.member.path, f"{id_} was dropped from the class; `grader drop {id_} --back` takes it back")
        else:
            by_student.setdefault(id_, []).append(item)
    by_roster = {member.path for member in reading.by_roster}
    done.notes += unknown
    for student, items in sorted(by_student.items()):
        try:
            _take(done, student, items, assignment, classroom, Origin(reading.platform, found.name, modified=date))
        except (OSError, CourseError) as error:
            reason = f"it cannot be written ({getattr(error, 'strerror', None) or error})"
            done.lines = [line for line in done.lines if line.student != student]
            for item in items:
                done.skip(item.member.path, reason, True)
    for n, line in enumerate(done.lines):
        if line.path in by_roster and line.student:
            done.lines[n] = replace(line, reason="; ".join(filter(None, (line.reason, ROSTER))))


def _take(
    done: Collected, student: str, items: Sequence[Item], assignment: Assignment, classroom: Classroom, about: Origin
) -> None:
    """Keep a student's attempts and lay the best into submitted/; a line for each file. Raises OSError or CourseError."""
    kept.adopt(classroom, student, assignment)
    here: dict[tuple[Path, str], Member] = {}
    for of_attempt in _attempts(items):
        files = [(_name_of(item, about.platform), item.member) for item in _readable(of_attempt, done)]
        if files:
            attempt, members = kept.keep(classroom, student, assignment.module, _origin(of_attempt, about), files)
            here |= {(attempt.folder, name): member for name, member in members.items()}
    ordered, by = kept.in_order(kept.attempts(classroom, student, assignment.module))
    if not ordered or not here:
        return
    best, chosen, others = _choose(ordered, assignment)
    done.fits |= chosen is not None and chosen.quality >= Quality.BLANK
    folder = classroom.submitted(student, assignment.module)
    before = read_origin(folder)
    if before.digest != best.origin.digest or not any(p.name not in (FILE, kept.STAMP) for p in folder.iterdir()):
        kept.put(classroom, student, assignment, best, chosen)
    _say(done, student, here, best, chosen, others, by)


def _readable(items: Sequence[Item], done: Collected) -> Iterator[Item]:
    """Those that can be unpacked; the others get a line."""
    for item in items:
        try:
            item.member.read()
        except Damaged as error:
            done.skip(item.member.path, str(error), True)
        else:
            yield item


def _attempts(items: Sequence[Item]) -> list[list[Item]]:
    found: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        found.setdefault(item.owner.key, []).append(item)
    return list(found.values())


def _name_of(item: Item, platform: str) -> str:
    """The name under which a file is kept: with Canvas's number, by which files of one name are told apart and put in order."""
    return f"{item.owner.number}_{item.file}" if platform == "canvas" and item.owner.number else item.file


def _origin(items: Sequence[Item], about: Origin) -> Origin:
    owner: Owner = max((item.owner for item in items), key=lambda o: (len(o.number), o.number))
    return replace(
        about,
        paths=tuple(item.member.path for item in items),
        place=items[0].place,
        name=owner.name.removesuffix(f" {owner.number}") if about.platform == "moodle" else owner.name,
        number=owner.number,
        person=owner.person,
        login=owner.login,
        email=owner.email,
        attempt=owner.attempt,
        time=owner.time,
        late=next((item.owner.late for item in items if item.owner.late), ""),
    )


Ranked = list[tuple[Attempt, Candidate]]


def _choose(ordered: Sequence[Attempt], assignment: Assignment) -> tuple[Attempt, Candidate | None, Ranked]:
    """The latest attempt with the best notebook that there is; that notebook, and all others."""
    found = [(attempt, candidate) for attempt in ordered for candidate in kept.candidates(attempt, assignment)]
    if not found:
        return ordered[-1], None, []
    best = max(candidate.quality for _, candidate in found)
    attempt, chosen = [(a, c) for a, c in found if c.quality == best][-1]
    return attempt, chosen, [(a, c) for a, c in found if c is not chosen]


def _say(
    done: Collected,
    student: str,
    here: Mapping[tuple[Path, str], Member],
    best: Attempt,
    chosen: Candidate | None,
    others: Ranked,
    by: str,
) -> None:
    """A line for each file of this archive that is a student's."""
    reasons = {}
    for attempt, candidate in others:
        place = (attempt.folder, candidate.name.partition("/")[0])
        reasons[place] = _why_not(attempt, candidate, best, chosen, by)
    graded = (best.folder, chosen.name.partition("/")[0]) if chosen else None
    for place, member in here.items():
        if place == graded and chosen is not None:
            inside = f"{chosen.name.partition('/')[2]} in it" if "/" in chosen.name else ""
            done.lines.append(Taken(member.path, student, chosen.why or inside, graded=True))
        elif place in reasons:
            done.lines.append(Taken(member.path, student, reasons[place]))
        else:
            no_notebook = (
                "it is no notebook, and there is no other; grading says so" if chosen is None else "it is no notebook"
            )
            done.lines.append(Taken(member.path, student, no_notebook))


def _why_not(attempt: Attempt, candidate: Candidate, best: Attempt, chosen: Candidate | None, by: str) -> str:
    if chosen is None:
        return candidate.why
    name = chosen.name.rpartition("/")[2]
    if candidate.quality < chosen.quality:
        return f"{candidate.why}; {name} is graded"
    if attempt.folder != best.folder:
        where = best.origin.archive if best.origin.archive != attempt.origin.archive else "the same archive"
        return f"{name} of {where} is later, by {by}, and is graded"
    if candidate.answered < chosen.answered:
        return f"{name} has more answers filled in and is graded"
    if chosen.right_name and not candidate.right_name:
        return f"{name} has the name that was handed out and is graded"
    return f"{name} is graded"
