"""Whose file it is, where a platform wrote it: the part of each path that the platform made, and what it says.

docs/platforms.md has each layout with the source of its format. A layout is recognised for an archive as a whole, never for a
single file, and read from the first part of a path that the platform made, so that no name that a student chose decides.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.platforms.archive import Member
from grader.platforms.lists import listed_reading, with_users
from grader.platforms.reading import Item, Owner, Reading, digits_time, words_time

WRAPPERS = re.compile(
    r"(zip|archive|download(s|ed)?|submi(ssions?|tted)|inbound|extracted|abgaben|assignments?|homeworks?|exercises?|modules?|class(es)?|"
    r"sections?|tutorials?|groups?|weeks?|(mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"hw|ps|lab|exam|students?|export|feedback|collected|all)([ _-]?[0-9]+)?([ _-]\w+)?",
    re.IGNORECASE,
)


# what a component of a path says, where it is the platform's; `last` if it is the file's own name
Reader = Callable[[str, bool], tuple[Owner, str] | None]

ANONYMOUS = re.compile(
    r"participant[es]?|partecipante|deelnemer|deltagare|deltager|teilnehmer(in)?|osallistuja|uczestnik|\u0443\u0447\u0430\u0441\u0442\u043d\u0438\u043a|\u53c2\u4e0e\u8005",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layout:
    """A platform's way to write paths."""

    platform: str
    how: str
    read: Reader
    certain: bool = True  # the platform's part cannot be a name that somebody chose
    own_files: frozenset[str] = field(default=frozenset())


def _moodle(text: str, last: bool) -> tuple[Owner, str] | None:
    """Moodle, mod_assign: <name>_<number>_assignsubmission_<plugin>[_]/..., or the same and _<file> without folders."""
    found = re.fullmatch(r"(.+?)_([0-9]+)_assignsubmission_([a-z0-9]+)(?:_(.*))?", text, re.DOTALL)
    if found is None:
        return None
    name, number, _plugin, flat = found.groups()
    if last and not flat:
        return None
    name = re.sub(r"[_\s]+", " ", name).strip()
    return Owner((number, ""), name, number=number), flat if last else ""


def _canvas(text: str, last: bool) -> tuple[Owner, str] | None:
    """Canvas: <name>[_LATE]_<user>_<attachment>_<file>, or ..._<user>_text.html; [LATE_]anon_<id>_... for anonymous marking."""
    if not last:
        return None
    found = re.fullmatch(r"(?:(LATE)_)?anon_([^_]+)_(?:([0-9]+)_(.+)|((?:text|link)\.html))", text, re.DOTALL)
    if found:
        late, anonymous, number, file, page = found.groups()
        owner = Owner((anonymous, ""), f"anon {anonymous}", number=number or "", late=late or "")
        return owner, file or page
    found = re.fullmatch(
        r"(?:(.+?)[_-](?:(LATE|late)_)?|)([0-9]+)_(?:([0-9]+)_(.+)|((?:text|link)\.html))", text, re.DOTALL
    )
    if found is None:
        return None
    name, late, person, number, file, page = found.groups()
    if name and name.endswith("-late"):
        name, late = name.removesuffix("-late"), "late"
    owner = Owner((person, ""), name or person, number=number or "", person=person, late="LATE" if late else "")
    return owner, file or page


def _brightspace(text: str, last: bool) -> tuple[Owner, str] | None:
    """Brightspace: <user>-<folder> - [<group> - ]<name> - <date>, a folder, or the beginning of a file's name."""
    found = re.fullmatch(
        r"([0-9]+)(?:-[0-9]+)? - (?:.+ - )??((?:(?! - ).)+?) - "
        r"((?:[^\W\d_]+\.? [0-9]{1,2}|[0-9]{1,2}\.? [^\W\d_]+\.?),? [0-9]{4} [0-9]{3,4}(?: ?[AP]M)?)(?: - (.+))?",
        text,
        re.DOTALL,
    )
    if found is None:
        return None
    person, name, date, flat = found.groups()
    if last != bool(flat):
        return None
    owner = Owner((person, date), name.lstrip(". "), person=person, attempt=date, time=words_time(date))
    return owner, flat or ""


ATTEMPT = re.compile(r"(.+?)_([^\W\d_]+)_([0-9]{4}(?:-[0-9]{2}){5})(?:_(.+)|(\.txt))", re.DOTALL)


def _attempt(text: str, last: bool) -> tuple[Owner, str] | None:
    """Blackboard and nbgrader's zip collector: <assignment>_<user>_attempt_<time>_<file>, and ...<time>.txt, the receipt.

    What stands before the time is split later, when all of the archive is known.
    """
    found = ATTEMPT.fullmatch(text) if last else None
    if found is None:
        return None
    before, _word, time, file, _receipt = found.groups()
    return Owner((before, time), before, attempt=time, time=digits_time(time)), file or ""


def _exchange(text: str, last: bool) -> tuple[Owner, str] | None:
    """nbgrader's exchange: <user>+<assignment>+<time>[+<random>]/."""
    found = re.fullmatch(r"([^+]+)\+([^+]*)\+([0-9]{4}[^+]*)(?:\+.*)?", text, re.DOTALL)
    if found is None or last:
        return None
    user, _module, time = found.groups()
    time = re.sub(
        r"(?<= )(\d\d)[_-](\d\d)[_-](\d\d(?:\.\d+)?)(?= |$)", r"\1:\2:\3", time.strip()
    )  # Windows has no ":" in names
    return Owner((user, time), user, login=user, attempt=time, time=time), ""


def _ilias(text: str, last: bool) -> tuple[Owner, str] | None:
    """ILIAS: <last>_<first>_<login>_<user>/."""
    found = re.fullmatch(r"(.*?)_(.*?)_(.+)_([0-9]+)", text, re.DOTALL)
    if found is None or last:
        return None
    family, first, login, person = found.groups()
    if not family.strip("_") and "_" in login:  # of a name in another script nothing is left but "_"
        family, first, login = "", "", login.rpartition("_")[2] or login
    name = " ".join(filter(None, (first, family))) or login
    return Owner((person, ""), name, person=person, login=login), ""


LAYOUTS = (
    Layout("moodle", "Moodle's archive", _moodle),
    Layout("brightspace", "Brightspace's archive", _brightspace, own_files=frozenset({"index.html"})),
    Layout(
        "blackboard", "names with _attempt_ and a time, as Blackboard and nbgrader's zip collector have them", _attempt
    ),
    Layout("nbgrader", "nbgrader's exchange", _exchange),
    Layout("canvas", "Canvas's archive", _canvas),
    Layout("ilias", "ILIAS's archive", _ilias, certain=False),
)
DEEPEST = 8


def platform_reading(members: Sequence[Member], archive: str, known: frozenset[str]) -> Reading | None:
    """The archive read as that of a platform; None if it is of none that is known.

    known  names of folders and ids of students who are in the class
    """
    listed = listed_reading(members, archive)
    if listed is not None:
        return listed
    for layout in LAYOUTS:
        for depth in range(DEEPEST):
            items = _read_at(layout, depth, members)
            if items:
                reading = _reading(layout, depth, members, items)
                if layout.platform == "blackboard":
                    reading = with_users(reading, known)
                if layout.platform == "moodle":
                    reading = _anonymous(reading)
                if layout.platform == "nbgrader":
                    reading = _without_exchange_files(reading)
                if layout.platform == "ilias":
                    reading = replace(reading, items=tuple(map(_late_in_ilias, reading.items)))
                return _single(reading, depth, archive, known)
    return None


def _anonymous(reading: Reading) -> Reading:
    """Moodle's anonymous marking calls everyone "Participant", in the teacher's language: then the number is the name."""
    names = {item.owner.name for item in reading.items}
    numbers = {item.owner.number for item in reading.items}
    if len(names) != 1 or (len(numbers) < 4 and not ANONYMOUS.fullmatch(next(iter(names)))):
        return reading
    named = [replace(i, owner=replace(i.owner, name=f"{i.owner.name} {i.owner.number}")) for i in reading.items]
    return replace(reading, items=tuple(named))


def _without_exchange_files(reading: Reading) -> Reading:
    own = {i.member for i in reading.items if i.file in ("timestamp.txt", "submission_secret.txt")}
    items = tuple(i for i in reading.items if i.member not in own)
    return replace(reading, items=items, own_files=(*reading.own_files, *own))


def _late_in_ilias(item: Item) -> Item:
    """ILIAS writes lateness before the file's name, in the teacher's language."""
    found = re.match(r"((Late Submission|Versp(?:ä|ae)tete Abgabe)) - ", item.file)
    return replace(item, owner=replace(item.owner, late=found[1])) if found else item


def _read_at(layout: Layout, depth: int, members: Sequence[Member]) -> dict[int, Item]:
    """What a layout makes of the components at one depth, by the number of the member; nothing if it is not this layout.

    At that depth most entries have to fit, all of them if people could choose such names, and all that is above is one folder.
    """
    at_depth = {n: m for n, m in enumerate(members) if len(m.parts) > depth}
    if not at_depth or (
        depth and len({m.parts[:depth] for m in at_depth.values()}) > 1 and not _teams(layout, at_depth, depth)
    ):
        return {}
    found: dict[int, Item] = {}
    entries: dict[tuple[str, ...], bool] = {}
    for number, member in at_depth.items():
        component, last = member.parts[depth], len(member.parts) == depth + 1
        if last and component.lower() in layout.own_files:
            continue
        what = layout.read(component, last)
        entries[member.parts[: depth + 1]] = what is not None
        if what is not None:
            owner, flat = what
            file = flat if last else "/".join(member.parts[depth + 1 :])
            place = _beginning(component, owner, flat) if last else "/".join(member.parts[: depth + 1])
            found[number] = Item(member, owner, file, place)
    fitting, folders = sum(entries.values()), len(entries)
    enough = fitting == folders if not layout.certain else 2 * fitting > folders
    return found if enough and _is_consistent(layout, found.values()) else {}


def _is_consistent(layout: Layout, items: Collection[Item]) -> bool:
    """Whether each number is one person's, or one file's, as it is where a platform gave them."""
    if layout.platform not in ("canvas", "ilias"):
        return True
    people = {(i.owner.person, i.owner.name, i.owner.login) for i in items if i.owner.person}
    files = [(i.owner.person, i.owner.number) for i in items if layout.platform == "canvas" and i.owner.number]
    return len({person for person, *_ in people}) == len(people) and len(set(files)) == len(files)


def _beginning(component: str, owner: Owner, file: str) -> str:
    """What the platform wrote before a file's name, without what differs from file to file."""
    before = re.sub(r"( - |_)$", "", component.removesuffix(file))
    return before.removesuffix(f"_{owner.number}") if owner.number else before


def _teams(layout: Layout, members: Mapping[int, Member], depth: int) -> bool:
    """Whether the folders above are ILIAS's teams of one exercise: "Team 88"."""
    if layout.platform != "ilias":
        return False
    above = {m.parts[:depth] for m in members.values()}
    return len({a[:-1] for a in above}) == 1 and all(re.fullmatch(r"\w+ [0-9]+", a[-1]) for a in above)


def _reading(layout: Layout, depth: int, members: Sequence[Member], items: Mapping[int, Item]) -> Reading:
    rest = [m for n, m in enumerate(members) if n not in items]
    own = tuple(m for m in rest if m.parts[-1].lower() in layout.own_files and len(m.parts) <= depth + 1)
    strangers = [(m, _why_strange(layout, m)) for m in rest if m not in own]
    return Reading(layout.platform, layout.how, tuple(items.values()), tuple(strangers), own)


def _why_strange(layout: Layout, member: Member) -> str:
    if layout.platform == "moodle" and re.search(r"(^|/)[^_/]+_assignsubmission_", member.path):
        return "Moodle puts everyone without a group there, and does not say who; download it with groups off"
    return f"{layout.how} has no such names, so nothing says whose it is"


def _single(reading: Reading, depth: int, archive: str, known: frozenset[str]) -> Reading:
    """A single file in a single folder: the folder may be a student, who chose the name of the file."""
    people = {item.owner.key[0] for item in reading.items}
    if depth == 0 or len(people) > 1:
        return reading
    above = reading.items[0].member.parts[depth - 1]
    if above not in known and (above in (archive, archive.partition(".")[0]) or WRAPPERS.fullmatch(above)):
        return reading
    inside = reading.items[0].owner.name
    return replace(
        reading,
        items=(),
        strangers=(),
        trouble=f'the only folder is "{above}", and its file is named like one of {reading.how} for "{inside}": either may be '
        f"the student. If it is {above}: --pattern '(?P<student>[^/]+)/(?P<file>.+)'; if it is {inside}, give that folder itself",
    )
