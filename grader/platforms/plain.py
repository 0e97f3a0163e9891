"""Whose file it is, where people chose all names: folders, flat files, the instructor's pattern.

Nothing in a single name says which part of it is the person. What is the same in all names is not, and a part that says
nothing ("final") is not; who is in the class already helps. What stays ambiguous is not guessed.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.errors import CourseError
from grader.platforms.archive import Damaged, Member
from grader.platforms.layouts import WRAPPERS, platform_reading
from grader.platforms.people import words_of
from grader.platforms.reading import Item, Owner, Reading, digits_time

SAYS_NOTHING = re.compile(
    r"(final|finale?|finished|done|fixed|copy|kopie|of|v?[0-9]{1,3}|version|draft|submission|submitted|solutions?|home ?work|hw[0-9]*|"
    r"notebook|untitled[0-9]*|nb|assignment|lab[0-9]*|ex|exercise|week[0-9]*|module|work|answers?|part)",
    re.IGNORECASE,
)
BETWEEN = re.compile(r"[\s_.,\-\u2013]+")  # what stands between words of a file's name
AROUND = " _.,-\u2013()[]"  # a name in a file's name
STAMP = "timestamp.txt"
MAY_BE = "it may be that of more than one in the roster"
ROSTER = "the roster says whose it is"
FLAT = "nothing in its name says whose it is"


@dataclass(frozen=True)
class Names:
    """What helps to tell persons from other words.

    modules    module folders, "04_attention"; `module` is the one that is collected
    notebooks  names of notebooks, this module's first
    known      ids and names of those who are in the class
    people     words of each of these names, and whose they are
    """

    module: str
    modules: Sequence[str]
    notebooks: Sequence[str]
    known: frozenset[str]
    people: Mapping[tuple[str, ...], frozenset[str]]


def plain_reading(members: Sequence[Member], archive: str, names: Names) -> Reading:
    """The archive read as folders of students, or as files with their names in them."""
    folders = [m for m in members if len(m.parts) > 1]
    if not folders:
        return _flat(members, names)
    above = _common_folders(folders)
    inside = [m for m in folders if len(m.parts) > len(above) + 1]
    outside = _but(members, inside)
    if not inside:
        return _one_folder(folders, above, archive, names, outside)
    groups = {m.parts[len(above)] for m in inside}
    if all(len(m.parts) == len(above) + 2 and WRAPPERS.fullmatch(m.parts[len(above)]) for m in inside):
        flat = _flat(inside, names)  # sections with files in them
        if len({item.owner.key[0] for item in flat.items}) > len(groups) and not flat.trouble:
            return _with_others(flat, outside, archive, names)
    level, trouble = _level(inside, len(above), names)
    how = "one folder for each student"
    if trouble:
        return Reading("folders", how, trouble=trouble)
    reading = _by_folder(inside, level, names, how)
    return _with_others(reading, outside, archive, names)


def pattern_reading(members: Sequence[Member], patterns: Sequence[str]) -> Reading:
    """The archive read by the instructor's regular expressions. Raises CourseError if one is none."""
    try:
        expressions = [re.compile(p, re.DOTALL) for p in patterns]
    except (re.error, RecursionError, OverflowError) as error:
        raise CourseError(f"--pattern: {error}") from None
    if any("student" not in e.groupindex or "file" not in e.groupindex for e in expressions):
        raise CourseError("--pattern: a pattern needs the groups (?P<student>...) and (?P<file>...)")
    items, strangers = [], []
    for member in members:
        found = next((m for e in expressions if (m := e.fullmatch(member.path))), None)
        groups = {k: (v or "").strip() for k, v in found.groupdict().items()} if found else {}
        if not groups.get("student"):
            strangers.append((member, "its name fits no pattern"))
            continue
        attempt = " ".join(filter(None, (groups.get("attempt"), groups.get("timestamp"))))
        number = groups.get("id") or groups.get("number", "")
        name, stamp = groups.get("name") or groups["student"], groups.get("timestamp", "")
        owner = Owner((" ".join(filter(None, (groups["student"], number))), attempt), name, number)
        login = groups["student"] if groups.get("name") else groups.get("login", "")
        owner = replace(owner, login=login, email=groups.get("email", ""), attempt=groups.get("attempt", ""))
        owner = replace(owner, time=digits_time(stamp) or stamp)
        items.append(Item(member, owner, groups["file"] or member.parts[-1], member.path))
    return Reading("pattern", "the pattern", tuple(items), tuple(strangers))


def _common_folders(members: Sequence[Member]) -> tuple[str, ...]:
    """The folders in which all of these are."""
    first, *others = [m.parts[:-1] for m in members]
    length = len(first)
    for parts in others:
        length = next((n for n in range(min(length, len(parts))) if parts[n] != first[n]), min(length, len(parts)))
    return first[:length]


def _one_folder(
    members: Sequence[Member], above: tuple[str, ...], archive: str, names: Names, outside: Sequence[Member]
) -> Reading:
    """All files are in one folder: that of a student, or one around files of several."""
    says = [n for n, part in enumerate(above) if not _is_no_person(part, archive, names)]
    known = [n for n in says if above[n] in names.known]
    flat = _flat(members, names)
    people = {item.owner.key[0] for item in flat.items}
    several = len(people) > 1 and 2 * len({i.member for i in flat.items}) > len(_notebooks(members))
    outside = _but(outside, members)
    if not says or (several and not known):
        return _with_others(flat, outside, archive, names)
    if len(known or says) > 1:
        paths = "/".join(above)
        return Reading("folders", "folders", trouble=f"{_either(known or says, above)} in {paths}/ may be the student")
    reading = _by_folder(members, (known or says)[0], names, "one folder for each student")
    return _with_others(reading, outside, archive, names)


def _but(members: Sequence[Member], others: Sequence[Member]) -> list[Member]:
    there = set(others)
    return [m for m in members if m not in there]


def _either(places: Sequence[int], above: tuple[str, ...]) -> str:
    return " or ".join(f"\"{above[n]}\" (--pattern '{_pattern(n)}')" for n in places)


def _pattern(level: int) -> str:
    return "[^/]+/" * level + "(?P<student>[^/]+)/(?P<file>.+)"


def _is_no_person(part: str, archive: str, names: Names) -> bool:
    if part in names.known:
        return False
    return part in names.modules or part in names.notebooks or part == archive or bool(WRAPPERS.fullmatch(part))


def _level(inside: Sequence[Member], level: int, names: Names) -> tuple[int, str]:
    """Which component of the paths is the person; or why that is not plain."""
    groups: dict[str, set[str]] = {}
    direct: set[str] = set()
    for member in _notebooks(inside) or inside:
        group, *below = member.parts[level:-1]
        groups.setdefault(group, set())
        if below and group != "submitted":
            groups[group].add(below[0])
        else:
            direct.add(group)
    ours = {*names.modules, *names.notebooks}
    if set(groups) <= ours:
        return level + 1, ""
    wrapped = all(WRAPPERS.fullmatch(name) for name in groups.keys() - names.known)
    inner = Counter(name for found in groups.values() for name in found)
    again = sum(count > 1 for count in inner.values())
    attempts = 2 * again >= len(inner) or bool(inner.keys() & ours)  # "ada/first/", "ben/first/"
    sections = wrapped and any(len(found) > 1 for found in groups.values())
    known_here, known_below = len(groups.keys() & names.known), len(inner.keys() & names.known)
    if direct or attempts or known_here > known_below or (len(inner) < 2 * len(groups) and not sections):
        return level, ""
    if not again and (known_below > known_here or sections or len(inner) >= 4 * len(groups)):
        return level + 1, ""
    return level, (
        f"{len(groups)} folders have {len(inner)} folders with notebooks in them, and either may be the students: "
        f"--pattern '{_pattern(level)}' for {_some(groups)}, --pattern '{_pattern(level + 1)}' for {_some(inner)}"
    )


def _some(names: Collection[str]) -> str:
    return ", ".join(sorted(names)[:2])


def _by_folder(members: Sequence[Member], level: int, names: Names, how: str) -> Reading:
    items, strangers = [], []
    stamps: dict[tuple[str, ...], str] = {}
    for member in members:
        parts = member.parts
        at = level + 1 if parts[level] == "submitted" and len(parts) > level + 2 else level
        if len(parts) < at + 2:
            strangers.append((member, "it is in no student's folder"))
            continue
        module = next((p for p in parts[:-1] if p in names.modules), names.module)
        if module != names.module:
            strangers.append((member, f"it is in a folder of {module}"))
            continue
        rest = parts[at + 1 :]
        rest = rest[1:] if len(rest) > 1 and rest[0] in names.modules else rest
        if rest == (STAMP,):
            stamps[parts[: at + 1]] = _stamp(member)
        owner = Owner((parts[at], ""), parts[at])
        items.append(Item(member, owner, "/".join(rest), "/".join(parts[: at + 1])))
    timed = [replace(i, owner=replace(i.owner, time=stamps.get(tuple(i.place.split("/")), ""))) for i in items]
    own = tuple(i.member for i in timed if i.file == STAMP)
    return Reading("folders", how, tuple(i for i in timed if i.file != STAMP), tuple(strangers), own)


def _stamp(member: Member) -> str:
    try:
        return member.read()[:100].decode(errors="replace").strip()
    except Damaged:
        return ""


def _with_others(reading: Reading, others: Sequence[Member], archive: str, names: Names) -> Reading:
    """Files that lie beside the students' folders: whoever made the archive put them there and gave them names."""
    if not others:
        return reading
    beside = platform_reading(others, archive, names.known)
    if beside is not None and not beside.trouble:
        reading = replace(
            reading, items=(*reading.items, *beside.items), own_files=(*reading.own_files, *beside.own_files)
        )
        others = [member for member, _ in beside.strangers]
    beside = _flat(others, names)
    if beside.trouble:
        beside = Reading("", "")
    left = _but(others, [item.member for item in beside.items])
    strangers = (*reading.strangers, *((m, "it is in no student's folder") for m in left))
    return replace(reading, items=(*reading.items, *beside.items), strangers=strangers)


def _notebooks(members: Sequence[Member]) -> list[Member]:
    return [m for m in members if ".ipynb" in m.parts[-1].lower()]


def _stem(name: str) -> str:
    """A file's name without its endings and what systems add to copies."""
    stem = re.sub(r"(\.(ipynb|txt|json|zip|pdf|py|html|md|docx?))+$", "", name, flags=re.IGNORECASE)
    stem = re.sub(r"^(copy|kopie|copie|kopia) (of|von|de|av) ", "", stem, flags=re.IGNORECASE)
    return re.sub(r"([ _]?\([0-9]{1,2}\)| - copy)+$", "", stem, flags=re.IGNORECASE).strip()


def _flat(members: Sequence[Member], names: Names) -> Reading:
    """The archive read as files that have their students' names in them, before or behind what is the same in all."""
    how = "the part of the files' names that is not the same in all"
    stems = {m: _stem(m.parts[-1]) for m in members}
    notebooks = dict.fromkeys(_notebooks(members) or [m for m in members if m.parts[-1].lower().endswith(".zip")])
    listed = {m: ids for m, stem in stems.items() if (ids := _in_roster(stem, names))}
    split = _splitter([stems[m] for m in notebooks], names)
    sides = {m: split(stem) for m, stem in stems.items()}
    first, trouble = _which_side([sides[m] for m in notebooks if m not in listed], names)
    if trouble:
        return Reading("files", how, trouble=trouble)
    found: dict[Member, str] = {}
    strangers = []
    for member in members:
        before, after = sides[member]
        name = (before or after) if first else (after or before)
        if member in listed:
            name = next(iter(listed[member])) if len(listed[member]) == 1 else ""
        if name and (member in notebooks or not notebooks or member in listed or (before and after)):
            found[member] = name
    found |= _without_the_same({m: name for m, name in found.items() if m not in listed})
    beside = _beside([(stems[m], found[m]) for m in notebooks if m in found])
    for member in members:
        if member not in found and (name := beside(stems[member]) if member not in notebooks else ""):
            found[member] = name
        if member not in found:
            several = member in listed
            strangers.append((member, MAY_BE if several else FLAT))
    items = [Item(m, Owner((n, ""), n, login=n if m in listed else ""), m.parts[-1], m.path) for m, n in found.items()]
    return Reading("files", how, tuple(items), tuple(strangers), by_roster=frozenset(listed.keys() & found.keys()))


def _without_the_same(found: dict[Member, str]) -> dict[Member, str]:
    """Names without words that all of them begin, or end, with: they are not the person's."""
    split = {name: re.split(f"({BETWEEN.pattern})", name) for name in found.values()}
    while len(split) > 1 and min(map(len, split.values())) > 2:
        if len({pieces[0] for pieces in split.values()}) == 1:
            split = {name: pieces[2:] for name, pieces in split.items()}
        elif len({pieces[-1] for pieces in split.values()}) == 1:
            split = {name: pieces[:-2] for name, pieces in split.items()}
        else:
            break
    short = {name: "".join(pieces) for name, pieces in split.items()}
    if len(set(short.values())) < len(short):  # then they were
        return found
    return {member: short[name] for member, name in found.items()}


def _in_roster(stem: str, names: Names) -> frozenset[str]:
    """Who of the roster is named in a file's name, by id, login or name, if all other words in it say nothing."""
    words = words_of(stem)
    spans = [(n, m) for n in range(len(words)) for m in range(n + 1, min(n + 6, len(words)) + 1)]
    hits = [(n, m) for n, m in spans if words[n:m] in names.people]
    whole = [(n, m) for n, m in hits if not any((i, j) != (n, m) and i <= n and m <= j for i, j in hits)]
    found = frozenset[str]().union(*(names.people[words[n:m]] for n, m in whole))
    ours = {word for name in names.notebooks for word in words_of(name)}
    rest = [w for k, w in enumerate(words) if not any(n <= k < m for n, m in whole)]
    plain = all(w in ours or len(w) == 1 or SAYS_NOTHING.fullmatch(w) for w in rest)
    return found if plain or len(found) > 1 else frozenset()


def _beside(notebooks: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """A function that says whose a file beside the notebooks is: its name begins, or ends, as that of a notebook does."""
    before = [stem[len(name) :] for stem, name in notebooks if stem.startswith(name)]
    after = [stem[: -len(name)] for stem, name in notebooks if stem.endswith(name) and stem != name]
    sign = re.match(BETWEEN, before[0]) if len(before) == len(notebooks) and before else None
    end = re.search(rf"{BETWEEN.pattern}$", after[0]) if len(after) == len(notebooks) and after else None

    def whose(stem: str) -> str:
        if sign and sign[0] in stem:
            return _person(stem.partition(sign[0])[0])
        return _person(stem.rpartition(end[0])[2]) if end and end[0] in stem else ""

    return whose


def _splitter(stems: Sequence[str], names: Names) -> Callable[[str], tuple[str, str]]:
    """A function that takes the notebook's name, or what is the same in all names, out: what stands before, and behind."""
    words = "|".join(re.escape(n) for n in sorted(names.notebooks, key=len, reverse=True))
    word = re.compile(rf"(?:^|(?<=[\s_.,\-()])|(?<=\d))(?:{words})(?=$|[\s_.,\-()\d])", re.IGNORECASE)
    start, end = _same(stems)
    known = not names.people and any(
        _person(stem) in names.known for stem in stems
    )  # then files are called as their students

    def split(stem: str) -> tuple[str, str]:
        found = word.search(stem)
        if found:
            return _person(stem[: found.start()]), _person(stem[found.end() :])
        if start and stem.startswith(start):
            return "", _person(stem[len(start) :])
        if end and stem.endswith(end):
            return _person(stem[: len(stem) - len(end)]), ""
        whole = _person(stem)
        trimmed = whole != BETWEEN.sub(" ", stem).strip() and whole != stem
        sure = whole in names.known or known or (not names.known and (trimmed or len(stems) > 1))
        return (whole, "") if sure else ("", "")

    return split


def _same(stems: Sequence[str]) -> tuple[str, str]:
    """What all names begin with, and end with, up to a place between words."""
    if len(stems) < 2:
        return "", ""
    pieces = [re.split(rf"({BETWEEN.pattern})", stem) for stem in stems]
    shortest = min(map(len, pieces))
    start = next((n for n in range(shortest) if len({p[n] for p in pieces}) > 1), shortest - 1)
    end = next((n for n in range(1, shortest + 1) if len({p[-n] for p in pieces}) > 1), shortest) - 1
    first = "".join(pieces[0][: start - start % 2])
    last = "".join(pieces[0][len(pieces[0]) - (end - end % 2) :]) if end > 1 else ""
    return first, last


def _person(text: str) -> str:
    """A name without what stands around it, "" if it is only words that say nothing."""
    text = text.strip(AROUND)
    while text:
        tokens = BETWEEN.split(text)
        if SAYS_NOTHING.fullmatch(tokens[-1]):
            text = text[: len(text) - len(tokens[-1])].rstrip(AROUND)
        elif SAYS_NOTHING.fullmatch(tokens[0]):
            text = text[len(tokens[0]) :].lstrip(AROUND)
        else:
            break
    return "" if text.lower() == "my" else text


def _which_side(sides: Sequence[tuple[str, str]], names: Names) -> tuple[bool | None, str]:
    """Whether the person stands before what is the same, where names have something on both sides; or why that is not plain."""
    both = [(before, after) for before, after in sides if before and after]
    if not both:
        return True, ""
    known = [sum(side[n] in names.known for side in sides) for n in (0, 1)]
    alone = [sum(bool(b) and not a for b, a in sides), sum(bool(a) and not b for b, a in sides)]
    for counts in (known, alone):
        if counts[0] != counts[1]:
            return counts[0] > counts[1], ""
    before, after = both[0]
    word = "|".join(names.notebooks[:1])
    return None, (
        f'"{before}" or "{after}" may be the student: '
        f"--pattern '(?:.*/)?(?P<student>[^/]+?)[_ -]+(?P<file>{word}.*)' for the first, "
        f"--pattern '(?:.*/)?(?P<file>[^/]*{word})[_ -]+(?P<student>[^/.]+).*' for the second"
    )


def nearest(path: str, students: Collection[str] | Mapping[str, object]) -> str:
    """Which student a path is nearest to, as the end of a sentence."""
    from rapidfuzz import fuzz, process

    if not students:
        return ""
    found, *_ = process.extractOne(path.lower(), sorted(students), scorer=fuzz.partial_ratio)
    return f"; the nearest student is {found}"
