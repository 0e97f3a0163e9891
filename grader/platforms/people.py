"""Which student of the class somebody in an archive is: by the platform's number, e-mail or login, else by name."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.classroom import Classroom
from grader.origin import Origin, read_origin
from grader.platforms.reading import Owner
from grader.roster import Student, read_roster

LONGEST = 60  # bytes of a folder's name
PLAIN = ("folders", "files", "pattern", "nbgrader", "blackboard", "github")  # here a name may be an id
WORKSHEET = "`grader roster FILE` with this assignment's grading worksheet tells them apart"
ROSTER = "`grader roster FILE` with the platform's list tells them apart"


@dataclass
class Known:
    """What is known of a student: all names, numbers, logins and e-mails that a roster or a platform wrote."""

    id: str
    names: set[str] = field(default_factory=set)
    persons: set[tuple[str, str]] = field(default_factory=set)  # (platform, its number of the person)
    numbers: set[str] = field(default_factory=set)  # Moodle's, of any assignment
    here: set[tuple[str, str]] = field(default_factory=set)  # (platform, number) in the module that is collected
    logins: set[str] = field(default_factory=set)
    emails: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)  # that lie in submitted/
    number: str = ""
    listed: bool = False

    def add(self, origin: Origin, here: bool) -> None:
        self.names |= {name_key(origin.name)} - {""}
        self.persons |= {(origin.platform, origin.person)} if origin.person else set()
        self.numbers |= {origin.number} if origin.platform == "moodle" and origin.number else set()
        self.here |= {(origin.platform, origin.number)} if here and origin.number else set()
        self.logins |= {origin.login} - {""}
        self.emails |= {origin.email.casefold()} - {""}


def name_key(name: str) -> str:
    """A name as it is compared: composed, and with single blanks."""
    return unicodedata.normalize("NFC", " ".join(name.split()))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a name, in small letters."""
    return tuple(word for word in re.split(r"[\W_]+", text.casefold()) if word)


def squashed(name: str) -> str:
    """A name as Canvas writes it into file names: "Lovelace, Ada" is "lovelaceada"."""
    return "".join(c for c in name.lower() if c == "_" or unicodedata.category(c)[0] in "LM" or c.isdecimal())


def cleaned(name: str) -> str:
    """A name as Moodle writes it into paths: "Sean O'Brien" is "Sean OBrien"."""
    return name_key(re.sub(r"[\x00-\x1f\x7f&<>\"`|':\\/]", "", name.replace("_", " ")))


def folder_name(name: str) -> str:
    """A readable name for a folder: lower case, words joined by "-", at most LONGEST bytes; "" if there is none."""
    text = unicodedata.normalize("NFC", name).lower()
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "_.@-" else "-" for c in text)
    kept = re.sub(r"-{2,}", "-", kept).strip("-").lstrip(".")
    if len(kept.encode()) > LONGEST:
        short = kept.encode()[: LONGEST - 9].decode(errors="ignore").rstrip("-")
        kept = f"{short}-{_digest(name)}"
    return kept.rstrip(". ")


def _digest(text: str) -> str:
    return hashlib.sha256(name_key(text).encode(errors="replace")).hexdigest()[:8]


def formerly(name: str) -> str:
    """The folder's name that version 0.1.0 gave, without the number."""
    return re.sub(r"[^\w.@+-]+", "-", name.strip().lower()).lstrip(".-") or "unnamed"


@dataclass(frozen=True)
class Unknown:
    """Why it is not known who somebody is."""

    reason: str


class People:
    """The people of a class, as far as they are known before an archive is read."""

    def __init__(self, classroom: Classroom, module: str) -> None:
        self.known: dict[str, Known] = {}
        self.dropped: set[str] = set()
        for student in read_roster(classroom).values():
            self._add_student(student)
        submitted = classroom.folder / "submitted"
        for folder in sorted(submitted.iterdir()) if submitted.is_dir() else ():
            if folder.name.startswith("."):
                continue
            known = self.known.setdefault(folder.name, Known(folder.name))
            known.modules |= {place.name for place in folder.iterdir()} if folder.is_dir() else set()
            for place in folder.glob("*/origin.json"):
                known.add(read_origin(place.parent), place.parent.name == module)

    def _add_student(self, student: Student) -> None:
        names = {student.full_name, student.name, f"{student.last_name}, {student.first_name}"}
        known = self.known.setdefault(student.id, Known(student.id))
        known.names |= {name_key(n) for n in names if n.strip(" ,")}
        known.numbers |= set(student.identifiers)
        known.number, known.listed = student.number, True
        known.logins |= {student.login} - {""}
        known.emails |= {student.email.casefold()} - {""}
        if student.dropped:
            self.dropped.add(student.id)

    @property
    def words(self) -> frozenset[str]:
        """Ids, names and logins of all who are known."""
        return frozenset(self.known).union(*(k.names | k.logins for k in self.known.values()))

    def by_words(self) -> dict[tuple[str, ...], frozenset[str]]:
        """Ids of those in the roster by the words of their ids, logins and names, in either order."""
        found: dict[tuple[str, ...], set[str]] = {}
        for k in self.known.values():
            for name in {k.id, *k.logins, *k.names} if k.listed else ():
                key = words_of(name)
                for words in {key, key[::-1]} - {()}:
                    found.setdefault(words, set()).add(k.id)
        return {key: frozenset(ids) for key, ids in found.items()}

    def who(self, platform: str, owners: Iterable[Owner], listed: bool = False) -> dict[str, str | Unknown]:
        """For each person of an archive, by the first part of its key, the id; or why that is not known.

        listed  the owners are of a list, in which two people of one name are two
        """
        persons: dict[str, Owner] = {}
        for owner in owners:
            persons.setdefault(owner.key[0], owner)
        index = _Index(platform, self.known.values())
        found: dict[str, str | Unknown] = {}
        for person, owner in persons.items():
            sure = index.by_number(owner)
            if sure:
                found[person] = sure
        for exact in (True, False):
            left = [owner for person, owner in persons.items() if person not in found]
            for same in _by_name(left):
                taken = {id_ for id_ in found.values() if isinstance(id_, str)}
                found |= self._by_names(index, same, taken, exact, listed)
        self._make_new(platform, persons, found)
        return _only_once(found, persons)

    def _by_names(
        self, index: "_Index", same: Sequence[Owner], taken: set[str], exact: bool, listed: bool
    ) -> dict[str, str | Unknown]:
        """People of one name: the one student of that name, nobody yet (missing in what is returned), or why it is not known."""
        first, several = same[0], len(same) > 1
        named = index.exactly(first) if exact else index.nearly(first)
        told_apart = all(owner.person for owner in same)
        if told_apart:
            named = [id_ for id_ in named if not self._has_number(index.platform, id_)]
        if several and (told_apart or listed):
            free = [id_ for id_ in named if id_ not in taken]
            again = listed and len(free) == len(same)  # the same list, read again
            return {o.key[0]: id_ for o, id_ in zip(same, free, strict=True)} if again else {}
        free = [id_ for id_ in named if id_ not in taken and not self._has_other(index.platform, id_, first.number)]
        if len(free) == 1 and len(named) == 1 and not several:
            return {first.key[0]: free[0]}
        if not several and (not named or (not free and not exact)):
            return {}
        if named and not several and all(self._has_other(index.platform, id_, first.number) for id_ in named):
            students = f'a student called "{first.name}" ({", ".join(named)})'
            return {first.key[0]: Unknown(f"{students} has another number in this assignment; {WORKSHEET}")}
        help_ = WORKSHEET if index.platform == "moodle" else ROSTER
        numbers = ", ".join(filter(None, (o.number for o in same)))
        who = f"{len(same)} people are" if several else "more than one student is"
        known = f" ({', '.join(sorted(named))})" if named else ""
        with_numbers = f", with the numbers {numbers}" if several and numbers else ""
        reason = Unknown(f'{who} called "{first.name}"{known}{with_numbers}; {help_}')
        return {owner.key[0]: reason for owner in same}

    def _has_other(self, platform: str, id_: str, number: str) -> bool:
        """Whether Moodle knows a student of this name by another number in the same assignment."""
        return platform == "moodle" and any(p == platform and n != number for p, n in self.known[id_].here)

    def _has_number(self, platform: str, id_: str) -> bool:
        """Whether the platform's number of a student is known; if it were this one, they had been found by it."""
        return any(p == platform for p, _ in self.known[id_].persons) or bool(self.known[id_].number)

    def _make_new(self, platform: str, persons: Mapping[str, Owner], found: dict[str, str | Unknown]) -> None:
        """Ids for people who are new to the class: readable, and nobody else's."""
        used = {id_.casefold() for id_ in self.known}
        new = {person: persons[person] for person in persons.keys() - found.keys()}
        by_login = platform in (*PLAIN, "ilias")
        names = {p: (by_login and folder_name(o.login)) or folder_name(o.name) for p, o in new.items()}
        for person in sorted(new, key=lambda p: (names[p] != new[p].name, p)):
            owner = new[person]
            id_ = names[person] or f"student-{_digest(person)}"
            if id_.casefold() in used:
                mark = (
                    folder_name(owner.person or owner.login or owner.email.partition("@")[0])
                    or _digest(f"{owner.name} {person}")[:4]
                )
                id_ = f"{id_}-{mark}" if f"{id_}-{mark}".casefold() not in used else f"{id_}-{_digest(person)}"
            used.add(id_.casefold())
            found[person] = id_


class _Index:
    """Who is known by which number, name, e-mail, login."""

    def __init__(self, platform: str, known: Iterable[Known]) -> None:
        self.platform = platform
        self._sure: dict[tuple[str, ...], set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._near: dict[str, dict[str, Known]] = {}
        self._listed: list[Known] = []
        for k in known:
            self._add(k)

    def _add(self, k: Known) -> None:
        keys: set[tuple[str, ...]] = {("person", *p) for p in k.persons} | {("number", k.number), ("login", k.id)}
        keys |= {("email", e) for e in k.emails} | {("login", login) for login in k.logins}
        keys |= {("moodle", n) for n in k.numbers} | {("here", *n, name) for n in k.here for name in k.names}
        keys |= {("listed", k.id)} if k.listed else set()
        former = re.fullmatch(r"(.+)_([0-9]+)", k.id) if not k.persons | k.here else None
        if former:  # a folder that version 0.1.0 made
            keys.add(("former", _letters(former[1]), former[2]))
            self._near.setdefault(f"former {former[1]}", {})[k.id] = k
        for key in keys:
            self._sure.setdefault(key, set()).add(k.id)
        sortable = {n for n in k.names if "," in n}
        names = set(map(squashed, sortable or k.names)) if self.platform == "canvas" else set(map(cleaned, k.names))
        by_id = self.platform in PLAIN and (k.listed or not k.names)
        for name in names | k.names | ({name_key(k.id)} if by_id else set()):
            self._names.setdefault(name, set()).add(k.id)
            self._near.setdefault(name.casefold(), {})[k.id] = k
        if k.listed or not k.names:  # names in any order of words, and folders that say no name
            for name in {*k.names, k.id}:
                self._near.setdefault(_in_order(name), {})[k.id] = k
                self._near.setdefault(_letters(name), {})[k.id] = k
        if k.listed:
            self._listed.append(k)

    def by_number(self, owner: Owner) -> str:
        """The one student whom a number, an e-mail or a login means; "" if there is none."""
        person = owner.person
        number = person or owner.number
        keys: list[tuple[str, ...]] = [("person", self.platform, person), ("number", person)] if person else []
        keys += [("email", owner.email.casefold())] if owner.email else []
        keys += [("login", owner.login)] if owner.login else []
        keys += [("moodle", owner.number)] if owner.number and self.platform == "moodle" else []
        keys += [("here", self.platform, owner.number, name_key(owner.name))] if owner.number else []
        keys += [("listed", person)] if person else []
        keys += [("former", _letters(formerly(owner.name)), number)] if number else []
        for key in keys:
            ids = self._sure.get(key, set())
            if len(ids) == 1:
                return next(iter(ids))
        return ""

    def exactly(self, owner: Owner) -> list[str]:
        """Who has this very name."""
        return sorted(self._names.get(name_key(owner.name), set()) | self._names.get(cleaned(owner.name), set()))

    def nearly(self, owner: Owner) -> list[str]:
        """Who has it in other letters or another order, in a folder that says no name, or behind the name of a group."""
        key = name_key(owner.name)
        former = self._near.get(f"former {formerly(owner.name)}", {})
        if len(former) > 1 and len(set.union(*(k.modules for k in former.values()))) == sum(
            len(k.modules) for k in former.values()
        ):
            return [max(former)]  # the same person, with another number in each module
        keys = [key.casefold(), _in_order(key), *([_letters(key)] if self.platform == "canvas" else [])]
        found: Iterable[str] = former or next((self._near[k] for k in keys if k in self._near), ())
        group = "" if found or self.platform != "moodle" else key.partition("-")[0]
        if " " in group:
            found = [k.id for k in self._listed if any(key.endswith(f"-{name}") for name in k.names)]
        return sorted(found)


def _in_order(name: str) -> str:
    """The words of a name, whatever their order and what stands between them."""
    return f"words {' '.join(sorted(words_of(name)))}"


def _letters(name: str) -> str:
    """The letters of a name, whatever their order: Canvas writes the last name first, and without a blank."""
    return f"letters {''.join(sorted(squashed(name)))}"


def _only_once(found: dict[str, str | Unknown], persons: Mapping[str, Owner]) -> dict[str, str | Unknown]:
    """Two people of an archive who seem to be one student are neither."""
    who: dict[str, list[str]] = {}
    for person, id_ in found.items():
        if isinstance(id_, str):
            who.setdefault(id_, []).append(person)
    for id_, people in who.items():
        if len(people) > 1:
            names = " and ".join(f'"{persons[p].name}"' for p in sorted(people))
            found |= dict.fromkeys(people, Unknown(f"{names} both seem to be {id_}; {ROSTER}"))
    return found


def _by_name(owners: Sequence[Owner]) -> list[list[Owner]]:
    same: dict[str, list[Owner]] = {}
    for owner in owners:
        same.setdefault(name_key(owner.name), []).append(owner)
    return list(same.values())
