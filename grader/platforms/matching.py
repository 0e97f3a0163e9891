"""Which row of a platform's file is which student of the class: by what both sides know, the surest first."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from grader.origin import Origin
from grader.roster import Student


class Key(IntEnum):
    """What a student is known by, the surest first."""

    GROUP = 0
    NUMBER = 1  # Moodle's, one for each assignment
    PERSON = 2
    LOGIN = 3
    ID = 4
    EMAIL = 5
    NAME = 6


Keys = Mapping[Key, frozenset[str]]
DROPPED = str.maketrans("", "", "&<>\"`|':\\/")  # what Moodle removes from names of files
SAME_PERSON = ("canvas",)  # where archives and files of grades have the same number of a person
MANY = "several rows are this student's, or the row fits several students"


@dataclass(frozen=True)
class Known:
    """What one student of the class is known by.

    certain  keys by which the student must be found, if anybody is found by them: a namesake is somebody else
    """

    keys: Keys
    certain: frozenset[Key]


@dataclass(frozen=True)
class Matches:
    """rows      student by record
    doubtful  records and students that fit more than once
    """

    rows: dict[int, str]
    doubtful_rows: frozenset[int]
    doubtful_students: frozenset[str]


def known_by(student: Student, origin: Origin, platform: str) -> Known:
    """What a student is known by on a platform.

    origin  of the submission for the module whose grades go out; an empty one if there is none
    """
    here = origin.platform == platform
    person = origin.person if here and platform in SAME_PERSON else ""
    suffix = "" if origin.platform else (re.search(r"_(\d+)$", student.id) or ["", ""])[1]  # a folder of version 0.1.0
    names = {student.name, student.full_name, f"{student.last_name} {student.first_name}"}
    keys = {
        Key.GROUP: _all([_name(origin.name)]),
        Key.NUMBER: _all([origin.number if here else "", suffix, *student.identifiers]),
        Key.PERSON: _all([person, suffix, student.number]),
        Key.LOGIN: _all([_folded(origin.login), _folded(student.login)]),
        Key.ID: _all([_folded(student.id)]),
        Key.EMAIL: _all([_folded(origin.email), _folded(student.email)]),
        Key.NAME: names_of(*names, origin.name),
    }
    certain = {
        Key.GROUP: here and origin.name,
        Key.NUMBER: here and origin.number,
        Key.PERSON: student.number or person,
        Key.LOGIN: student.login or (here and origin.login),
        Key.EMAIL: keys[Key.EMAIL],
    }
    return Known(keys, frozenset(key for key, is_so in certain.items() if is_so))


def keys_of(**texts: Iterable[str]) -> Keys:
    """What a row says of a student, by the names of keys in lower case."""
    found: dict[Key, frozenset[str]] = {}
    for name, values in texts.items():
        key = Key[name.upper()]
        if key == Key.NAME:
            found[key] = names_of(*values)
        elif key == Key.GROUP:
            found[key] = _all(map(_name, values))
        else:
            found[key] = _all(map(_folded, values))
    return found


def _all(values: Iterable[str]) -> frozenset[str]:
    return frozenset(v for v in values if v)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _name(text: str) -> str:
    """A name as it is compared: without marks and letters that platforms drop or replace."""
    text = re.sub(r"<[^>]*>", "", text).replace("_", " ").translate(DROPPED)
    return " ".join(_folded(text).split())


def names_of(*names: str) -> frozenset[str]:
    """The forms of a name: as it is, "Last, First" the other way round, and run together as Canvas writes it into paths."""
    forms: set[str] = set()
    for name in names:
        last, comma, first = name.partition(",")
        forms |= {_name(name), _name(f"{first} {last}") if comma else "", _name(re.sub(r"[^\w]", "", name))}
    return _all(forms)


def match(rows: Mapping[int, Keys], known: Mapping[str, Known]) -> Matches:
    """Who is in which row. A group's row is each of its members'; else a row is one student's, and a student has one row."""
    found: dict[int, str] = {}
    doubtful_rows: set[int] = set()
    doubtful_students: set[str] = set()
    settled: set[Key] = set()  # somebody was found by these
    for key in Key:
        students = defaultdict(set)
        for id_, one in known.items():
            for value in one.keys.get(key, ()):
                students[value].add(id_)
        taken = set(found.values()) | doubtful_students
        pairs = {
            (row, id_)
            for row, keys in rows.items()
            if row not in found and row not in doubtful_rows
            for value in keys.get(key, ())
            for id_ in students[value]
            if id_ not in taken and not any(keys.get(k) for k in settled & known[id_].certain)
        }
        of_row, of_student = Counter(row for row, _ in pairs), Counter(id_ for _, id_ in pairs)
        for row, id_ in pairs:
            if of_row[row] == 1 and (of_student[id_] == 1 or key == Key.GROUP):
                found[row] = id_
            else:
                doubtful_rows.add(row)
                doubtful_students.add(id_)
        if pairs:
            settled.add(key)
    return Matches(dict(sorted(found.items())), frozenset(doubtful_rows), frozenset(doubtful_students))
