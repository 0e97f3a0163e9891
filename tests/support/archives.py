"""Archives of submissions as platforms make them. Where each format was read is in docs/platforms.md.

Each function takes what was handed in, and gives the files of the archive and, for each work, what `origin.json` must say.
"""

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html.entities import codepoint2name

from grader.origin import Origin

NOON = datetime.fromisoformat("2026-03-01 12:00:00")  # the platforms write no zone


@dataclass(frozen=True)
class Person:
    """Someone whom a platform knows; `number` is theirs on the whole site."""

    first: str
    last: str
    login: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()

    @property
    def sortable(self) -> str:
        return f"{self.last}, {self.first}" if self.last else self.first

    @property
    def email(self) -> str:
        return f"{self.login}@uni.example"


@dataclass(frozen=True)
class Work:
    """One attempt of one person: a notebook, if it has a name, and files beside it."""

    person: Person
    data: bytes
    name: str = "attention.ipynb"
    at: datetime = NOON
    late: bool = False
    beside: Mapping[str, bytes] = field(default_factory=dict)
    text: str = ""  # typed into the platform

    @property
    def files(self) -> dict[str, bytes]:
        return {**({self.name: self.data} if self.name else {}), **self.beside}


@dataclass(frozen=True)
class Made:
    """The files of an archive, those of them that the platform wrote for itself, and the origin of each work."""

    files: dict[str, bytes]
    origins: list[Origin]
    own: tuple[str, ...] = ()


WOLFE = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenhaftschaferswessenschafe"
PEOPLE = (
    Person("Ada", "Lovelace", "ada", 31),
    Person("Seán", "O'Brien", "obrien", 32),
    Person("x_y", "2nd", "x_y", 33),
    Person("Ana", "de_la_Cruz", "ana.dlc", 34),
    Person("Mary-Ann", "Smith", "smith-ma", 35),
    Person("7", "", "seven", 36),
    Person("Пётр", "Иванов", "pivanov", 37),
    Person("伟", "张", "zhangwei", 38),
    Person("किरण", "शर्मा", "kiran", 39),  # with the vowel sign
    Person("करण", "शर्मा", "karan", 40),  # without it
    Person("กานต์", "ใจดี", "kant", 41),
    Person("กันต์", "ใจดี", "gun", 42),
    Person("José", "García", "jose", 43),
    Person("Jose", "Garcia", "jose2", 44),
    Person("Al", "Bo", "albo", 45),
    Person("Al-Bo", "", "al-bo", 46),
    Person(WOLFE, (WOLFE * 3)[: 199 - len(WOLFE)], "wolfe", 47),
)


# Moodle ---------------------------------------------------------------------------------------------------------------


def clean_filename(text: str) -> str:
    """Moodle's clean_param_value_file: what it does not like is left out, not replaced."""
    kept = "".join(c for c in text if unicodedata.category(c) != "Cc" and c not in "&<>\"`|':\\/")
    return "" if kept in (".", "..") else kept


def moodle(
    works: Sequence[Work],
    first: int = 10233,
    folders: bool = True,
    old: bool = False,
    blind: bool = False,
    team: str = "",
) -> Made:
    """
    first   number of the first person in this assignment: another one in each assignment
    old     3.1 to 4.0, where a folder's name ends in an underscore
    team    the name of the group that these versions wrote before a person's
    """
    files: dict[str, bytes] = {}
    origins: list[Origin] = []
    for index, work in enumerate(works):
        name = "Participant" if blind else work.person.name.replace("_", " ")
        name = clean_filename(f"{team}-{name}" if team else name)
        number = first + 7 * index
        for kind, handed_in in (("file", work.files), ("onlinetext", _online_text(work))):
            place = f"{name}_{number}_assignsubmission_{kind}"
            if folders:
                files |= {f"{place}{'_' * old}/{path}": data for path, data in handed_in.items()}
            else:
                files |= {clean_filename(f"{place}_{p.rpartition('/')[2]}"): data for p, data in handed_in.items()}
        origins.append(Origin("moodle", name=name, number=str(number)))
    return Made(files, origins)


def _online_text(work: Work) -> dict[str, bytes]:
    head = '<!DOCTYPE html><html><head><meta charset="UTF-8"></head><body>'
    return {"onlinetext.html": f"{head}<p>{work.text}</p></body></html>".encode()} if work.text else {}


# Canvas ---------------------------------------------------------------------------------------------------------------


def _is_word(character: str) -> bool:
    """Ruby's [[:word:]]."""
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("Nd", "Pc")


def canvas_filename(person: Person, late: bool, style: str = "") -> str:
    """ContentZipper#get_filename, as it is, and as it was twice: "hyphens" until about 2014, then "lower"."""
    if style == "hyphens":
        name = re.sub(r"_(\d+)_", r"-\1-", person.sortable)
        base = f"{name}{' LATE_' if late else '_'}{person.number}".replace(" ", "-")
        return re.sub(r"[^-A-Za-z0-9_]", "-", base).lower()
    name = re.sub(r"_(\d+)_", r"\1", person.sortable).lower()
    base = "_".join([name, *(["LATE"] if late else []), str(person.number)])
    kept = "".join(filter(_is_word, base))
    return kept.lower() if style == "lower" else kept


def canvas(works: Sequence[Work], style: str = "", anonymous: bool = False) -> Made:
    files: dict[str, bytes] = {}
    origins: list[Origin] = []
    draw = random.Random(3)
    for index, work in enumerate(works):
        base = canvas_filename(work.person, work.late, style)
        if anonymous:
            code = "".join(draw.choices("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", k=5))
            base = f"{'LATE_' * work.late}anon_{code}"
        first = 98765 + 100 * index
        for offset, (name, data) in enumerate(work.files.items()):
            shown = re.sub(r'[\x00/\\:*?"<>|]+', "_", name)
            files[f"{base}_{first + offset}_{shown}"] = data
        if work.text:
            files[f"{base}_text.html"] = canvas_page(work)
        person = "" if anonymous else str(work.person.number)
        name = "" if anonymous else re.sub(r"(_LATE|[_-]late)?_\d+$", "", base)
        late = "LATE" if work.late else ""
        place = "" if anonymous else base  # where the code and the file's number end is not said anywhere
        origins.append(Origin("canvas", place=place, name=name, number=str(first), person=person, late=late))
    return Made(files, origins)


def canvas_page(work: Work) -> bytes:
    title = f"Attention: {work.person.name}"
    style = "width: 600px; margin: 20px auto; border: 1px solid #888; padding: 20px;"
    head = f'<meta http-equiv="Content-Type" content="text/html; charset=utf-8" /><title>{title}</title>'
    body = f'<h1>{title}</h1><div style="{style}">{work.text}</div>'
    return f"<html><head>{head}</head><body>{body}</body></html>".encode()


# Brightspace ----------------------------------------------------------------------------------------------------------


def brightspace_place(work: Work, group: str = "") -> str:
    when = f"{work.at:%b} {work.at.day}, {work.at.year} {int(f'{work.at:%I}')}{work.at:%M %p}"
    who = [group] if group else []
    return " - ".join([f"{100_000 + work.person.number}-2557369", *who, work.person.name, when])


def brightspace(works: Sequence[Work], folders: bool = True, group: str = "") -> Made:
    files, origins = {"index.html": b"<html><body><table></table></body></html>"}, []
    for work in works:
        place = brightspace_place(work, group)
        files |= {f"{place}{'/' if folders else ' - '}{name}": data for name, data in work.files.items()}
        person, when = str(100_000 + work.person.number), f"{work.at:%Y-%m-%d %H:%M}:00"
        origins.append(Origin("brightspace", place=place, name=work.person.name, person=person, time=when))
    return Made(files, origins, ("index.html",))


# Blackboard -----------------------------------------------------------------------------------------------------------


def blackboard(works: Sequence[Work], word: str = "attempt", assignment: str = "Attention (week 4)") -> Made:
    files: dict[str, bytes] = {}
    origins, own = list[Origin](), list[str]()
    for work in works:
        start = f"{assignment}_{work.person.login}_{word}_{work.at:%Y-%m-%d-%H-%M-%S}"
        files |= {f"{start}_{name}": data for name, data in work.files.items()}
        files[f"{start}.txt"] = receipt(work, start, assignment)
        own.append(f"{start}.txt")
        person, when = work.person, f"{work.at:%Y-%m-%d %H:%M:%S}"
        origins.append(Origin("blackboard", name=person.name, login=person.login, time=when))
    return Made(files, origins, tuple(own))


def receipt(work: Work, start: str, assignment: str) -> bytes:
    files = "".join(f"\tOriginal filename: {name}\n\tFilename: {start}_{name}\n\n" for name in work.files)
    return (
        f"Name: {work.person.name} ({work.person.login})\nAssignment: {assignment}\n"
        f"Date Submitted: {work.at:%A, %d %B %Y %H:%M:%S} o'clock GMT\nCurrent Grade: Needs Grading\n\n"
        f"Submission Field:\n{work.text or 'There is no student submission text data for this assignment.'}\n\n"
        f"Comments:\nThere are no student comments for this assignment.\n\nFiles:\n{files}\n"
    ).encode()


# Gradescope -----------------------------------------------------------------------------------------------------------


def gradescope(works: Sequence[Work], output: str = "All tests passed", documents: bool = False) -> Made:
    """
    output     of the teacher's autograder, which may print what a student's code prints
    documents  with a document end between the entries, and scalars that end at column 0, as in real exports
    """
    root = "assignment_8046601_export"
    files: dict[str, bytes] = {}
    origins, entries = list[Origin](), list[str]()
    for index, work in enumerate(works):
        number = 409194023 + 17 * index
        files |= {f"{root}/submission_{number}/{name}": data for name, data in work.files.items()}
        entries.append(_psych(work, number, output, documents))
        origins.append(
            Origin(
                "gradescope",
                name=work.person.name,
                number=str(number),
                person=str(work.person.number).zfill(8),
                email=work.person.email,
                time=f"{work.at:%Y-%m-%d %H:%M:%S}",
            )
        )
    path = f"{root}/submission_metadata.yml"
    files[path] = ("---\n" + ("...\n" if documents else "").join(entries)).encode()
    return Made(files, origins, (path,))


def _psych(work: Work, number: int, output: str, documents: bool) -> str:
    """An entry as Ruby's Psych writes it: symbols with a colon, texts that look like numbers in quotes."""
    name = f"'{work.person.name}'" if work.person.name.isdigit() else work.person.name
    if len(name) > 80:
        name = name.replace(" ", "\n      ")  # a long text is folded at blanks
    shown = "\n".join(f"      {line}" for line in output.splitlines())
    shown = f"'{output}\n\n'" if documents else f"|-\n{shown}"
    return (
        f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{work.person.number:08}'\n"
        f"    :email: {work.person.email}\n  :created_at: {work.at:%Y-%m-%d %H:%M:%S}.000000000 Z\n  :score: 2.0\n"
        f"  :results:\n    score: 2.0\n    output: {shown}\n    tests:\n    - name: one\n      score: 2.0\n      max_score: 2.0\n"
        f"  :id: {number}\n  :history:\n  - :created_at: 2020-01-01 00:00:00.000000000 Z\n    :score: 0.0\n"
    )


# GitHub Classroom -----------------------------------------------------------------------------------------------------


def github(works: Sequence[Work], slug: str = "attention-week-4") -> Made:
    """What `gh classroom clone student-repos` leaves. A login has letters, digits and hyphens only."""
    files: dict[str, bytes] = {}
    origins: list[Origin] = []
    for work in works:
        login = re.sub(r"[^A-Za-z0-9-]", "-", work.person.login)
        place = f"{slug}-submissions/{slug}-{login}"
        files |= {f"{place}/{name}": data for name, data in work.files.items()}
        files |= {f"{place}/README.md": b"# Attention\n", f"{place}/.git/HEAD": b"ref: refs/heads/main\n"}
        files |= {f"{place}/.git/config": b"[core]\n", f"{place}/.git/objects/7a/attention.ipynb": b"\x78\x01"}
        origins.append(Origin("github", login=login))
    return Made(files, origins)


# ILIAS ----------------------------------------------------------------------------------------------------------------


def ascii_filename(text: str) -> str:
    """ILIAS's getASCIIFilename: umlauts, then the first letter of HTML's name of a character, then `_` for each byte."""
    for letter, plain in zip("ÄÖÜäöüß", ("Ae", "Oe", "Ue", "ae", "oe", "ue", "ss"), strict=True):
        text = text.replace(letter, plain)
    text = "".join(codepoint2name.get(ord(c), c)[:1] if c != '"' else c for c in text)
    plain_bytes = bytes(byte if byte < 0x7F else ord("_") for byte in text.encode())
    return re.sub(r'[:\\/*?"<>|]', "_", plain_bytes.decode())


def ilias(works: Sequence[Work], word: str = "Submissions", late: str = "Late Submission", teams: bool = False) -> Made:
    files: dict[str, bytes] = {}
    origins: list[Origin] = []
    for index, work in enumerate(works):
        who = work.person
        place = ascii_filename(f"{who.last}_{who.first}_{who.login}_{who.number}")
        team = f"Team {88 + index}/" if teams else ""
        start = f"{late} - " if work.late else ""
        files |= {f"Attention/{word}/{team}{place}/{start}{name}": data for name, data in work.files.items()}
        said = late if work.late else ""
        origins.append(Origin("ilias", person=str(who.number), late=said))
    return Made(files, origins)


# Google Classroom, nbgrader, and what people make themselves ----------------------------------------------------------


def google(works: Sequence[Work]) -> Made:
    """A Drive folder of copies that Classroom made for each student."""
    files = {f"Attention/{w.person.name} - {name}": data for w in works for name, data in w.files.items()}
    return Made(files, [Origin("files", name=w.person.name) for w in works])


def inbound(works: Sequence[Work], assignment: str = "04_attention") -> Made:
    """nbgrader's exchange: ExchangeSubmit.init_dest and copy_files."""
    files: dict[str, bytes] = {}
    origins, own = list[Origin](), list[str]()
    draw = random.Random(4)
    for work in works:
        code = "".join(draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", k=12))
        stamp = f"{work.at:%Y-%m-%d %H:%M:%S}.948203 UTC"
        place = f"{work.person.login}+{assignment}+{stamp}+{code}"
        files |= {f"{place}/{name}": data for name, data in work.files.items()}
        mine = {f"{place}/timestamp.txt": stamp.encode(), f"{place}/submission_secret.txt": b"5e" * 64}
        files, own = files | mine, [*own, *mine]
        origins.append(Origin("nbgrader", login=work.person.login, time=f"{work.at:%Y-%m-%d %H:%M:%S}"))
    return Made(files, origins, tuple(own))


def submitted(works: Sequence[Work], assignment: str = "04_attention", zone: str = " UTC") -> Made:
    """A course folder of nbgrader."""
    files: dict[str, bytes] = {}
    origins, own = list[Origin](), list[str]()
    for work in works:
        place = f"submitted/{work.person.login}/{assignment}"
        files |= {f"{place}/{name}": data for name, data in work.files.items()}
        files[f"{place}/timestamp.txt"] = f"{work.at:%Y-%m-%d %H:%M:%S}.948203{zone}".encode()
        own.append(f"{place}/timestamp.txt")
        origins.append(Origin("folders", name=work.person.login, time=f"{work.at:%Y-%m-%d %H:%M:%S}"))
    return Made(files, origins, tuple(own))


def zip_collector(works: Sequence[Work]) -> Made:
    """The names in nbgrader's documentation of its zip collector: Blackboard's, without receipts."""
    made = blackboard(works, assignment="ps1")
    files = {path: data for path, data in made.files.items() if path not in made.own}
    return Made(files, [replace(origin, name="") for origin in made.origins])


def folders(works: Sequence[Work], inside: str = "") -> Made:
    """A folder for each, called by name; `inside` is a folder between it and the files."""
    files = {f"{w.person.name}/{inside}{name}": data for w in works for name, data in w.files.items()}
    return Made(files, [Origin("folders", name=w.person.name) for w in works])


def flat(works: Sequence[Work], join: str = "_", person_last: bool = False) -> Made:
    """One folder of files, each with the person in its name, before or after what all have."""
    files: dict[str, bytes] = {}
    for work in works:
        stem, dot, ending = work.name.rpartition(".")
        parts = (stem, work.person.login) if person_last else (work.person.login, stem)
        files[join.join(parts) + dot + ending] = work.data
    return Made(files, [Origin("files") for _ in works])
