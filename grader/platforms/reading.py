"""What is read from an archive: whose each file is, and when it was handed in."""

import re
from dataclasses import dataclass
from datetime import datetime

from grader.platforms.archive import Member

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Owner:
    """What the platform's part of a path says. All but `key` and `name` may be "".

    key     tells people, and attempts of one, apart within the archive: (person, attempt)
    name    as the platform writes it
    others  which of these words a platform wrote is in grader.origin.Origin
    """

    key: tuple[str, str]
    name: str
    number: str = ""
    person: str = ""
    login: str = ""
    email: str = ""
    attempt: str = ""
    time: str = ""
    late: str = ""


@dataclass(frozen=True)
class Item:
    """A file of a student's: whose it is, and its name as the student chose it."""

    member: Member
    owner: Owner
    file: str
    place: str


@dataclass(frozen=True)
class Reading:
    """How an archive was read.

    platform   as in Origin
    how        in words
    items      files whose owner is known
    strangers  files that do not fit, and why
    own_files  files of the platform's own: lists, receipts
    by_roster  files of which the roster says whose they are
    trouble    why nobody is taken, and the pattern that would settle it; "" if all is plain
    """

    platform: str
    how: str
    items: tuple[Item, ...] = ()
    strangers: tuple[tuple[Member, str], ...] = ()
    own_files: tuple[Member, ...] = ()
    by_roster: frozenset[Member] = frozenset()
    trouble: str = ""


def words_time(text: str) -> str:
    """ "Sep 24, 2024 926 PM" as other times are written; "" in a language that is not known."""
    found = re.fullmatch(
        r"(?:([a-z]{3})[a-z]*\.? ([0-9]+)|([0-9]+)\.? ([a-z]{3})[a-z]*\.?),? ([0-9]{4}) ([0-9]{1,2})([0-9]{2})(?: ?([ap]m))?",
        text.lower(),
    )
    if found is None:
        return ""
    month_1, day_1, day_2, month_2, year, hour, minute, half = found.groups()
    name = month_1 or month_2
    hours = int(hour) % 12 + 12 * (half == "pm") if half else int(hour)
    if name not in MONTHS:
        return ""
    return digits_time(f"{year}-{MONTHS.index(name) + 1}-{day_1 or day_2}-{hours}-{minute}-00")


def digits_time(text: str) -> str:
    """ "2026-03-01-12-00-00" as other times are written; "" if it is no time."""
    try:
        return f"{datetime.strptime(f'{text} +0000', '%Y-%m-%d-%H-%M-%S %z'):%Y-%m-%d %H:%M:%S} UTC"
    except ValueError:
        return ""
