"""What a student handed in, attempt by attempt: each is kept in collected/, the one that is graded lies in submitted/."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from pathlib import Path

from grader.classroom import Classroom, is_file, read_file, write_whole
from grader.course import Assignment, gradable, load_assignment
from grader.dates import time_of
from grader.origin import FILE, Origin, read_origin, write_origin
from grader.platforms.archive import Damaged, Member, nested
from grader.sandbox import pool

STAMP = "timestamp.txt"
LONGEST = 120  # bytes of a file's name in collected/
MOST_INSIDE = 50  # notebooks of a zip file that are looked at


class Quality(IntEnum):
    """How much of a submission a file is; the best is graded."""

    DAMAGED = 0
    OTHER = 1
    BLANK = 2
    WORKED = 3


@dataclass(frozen=True)
class Candidate:
    """A notebook in an attempt: its name there, also inside a zip file, and what it is."""

    name: str
    data: bytes
    quality: Quality
    answered: int
    why: str  # it is not graded, if it is less than WORKED
    right_name: bool
    modified: float

    @property
    def order(self) -> tuple[object, ...]:
        """The last is graded."""
        number = re.match(r"([0-9]+)_", self.name)
        copy = re.search(r"(?: \(|-)([0-9]+)\)?\.ipynb$", self.name)
        return (
            self.quality,
            _as_number(number[1] if number else ""),
            self.answered,
            self.right_name,
            _as_number(copy[1] if copy else ""),
            self.modified,
            self.name,
        )


@dataclass(frozen=True)
class Attempt:
    """One attempt: its folder below collected/, and where it came from."""

    folder: Path
    origin: Origin

    @property
    def number(self) -> int:
        return int(self.folder.name)

    def files(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir() if p.name != FILE and not p.name.endswith(".new"))


def _as_number(text: str) -> tuple[int, str]:
    """Digits as a key to sort by, however many there are."""
    text = text.lstrip("0")
    return len(text), text


def attempts(classroom: Classroom, student: str, module: str) -> list[Attempt]:
    """What was collected of a student before, in the order in which it was."""
    folder = classroom.folder / "collected" / student / module
    numbers = [p.name for p in folder.iterdir() if p.name.isdecimal()] if folder.is_dir() else []
    found = [Attempt(folder / n, read_origin(folder / n)) for n in sorted(numbers, key=int)]
    return [a for a in found if a.origin.digest]


def in_order(found: Sequence[Attempt]) -> tuple[list[Attempt], str]:
    """Attempts, the latest last, and what says so: times if all have one, else the platform's numbers, else dates of archives."""
    times = [time(a.origin.time) for a in found]
    keys: list[tuple[str, list[object | None]]] = [
        ("the time of submission", list(times)),
        ("Canvas's numbers", [_as_number(a.origin.number) if a.origin.platform == "canvas" else None for a in found]),
        (
            "the number of the attempt",
            [_as_number(a.origin.attempt) if a.origin.attempt.isdecimal() else None for a in found],
        ),
        ("the dates in the archives", [a.origin.modified or None for a in found]),
    ]
    for words, values in keys:
        if all(v is not None for v in values) and len(set(values)) > 1:
            ordered = sorted(zip(values, found, strict=True), key=lambda pair: (pair[0], pair[1].number))
            return [attempt for _, attempt in ordered], words
    return sorted(found, key=lambda a: a.number), "the order in which they were collected"


def time(text: str) -> datetime | None:
    """What a text says of when something was handed in; None if that is no time."""
    try:
        return time_of(text)
    except (ValueError, OverflowError):
        return None


def keep(
    classroom: Classroom, student: str, module: str, origin: Origin, files: Sequence[tuple[str, Member]]
) -> tuple[Attempt, dict[str, Member]]:
    """Copy an attempt's files to collected/: the attempt, which may be one that was kept before, and which file of it is which of the archive.

    files  name as the student chose it, and the file

    Raises Damaged if a file cannot be read, OSError or CourseError if one cannot be written; then nothing is kept.
    """
    names = _names([name for name, _ in files])
    before = attempts(classroom, student, module)
    whole = hashlib.sha256(f"{origin.time}\0{origin.attempt}\0{origin.late}".encode(errors="replace"))
    for name, (_, member) in sorted(zip(names, files, strict=True), key=lambda pair: pair[0]):
        whole.update(name.encode(errors="replace") + b"\0" + hashlib.sha256(member.read()).digest())
    members = {name: member for name, (_, member) in zip(names, files, strict=True)}
    digest = whole.hexdigest()
    for attempt in before:
        if attempt.origin.digest == digest:
            return attempt, members
    folder = _next(classroom, student, module)
    try:
        for name, member in members.items():
            write_whole(folder / name, member.read())
            with suppress(ValueError, OSError):
                date = datetime.fromisoformat(f"{member.modified}+00:00").timestamp()
                os.utime(folder / name, (date, date))
        origin = replace(origin, digest=digest)
        write_origin(folder, origin)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Attempt(folder, origin), members


def _next(classroom: Classroom, student: str, module: str) -> Path:
    folder = classroom.folder / "collected" / student / module
    numbers = [int(p.name) for p in folder.iterdir() if p.name.isdecimal()] if folder.is_dir() else []
    return folder / str(max(numbers, default=0) + 1)


def _names(chosen: Sequence[str]) -> list[str]:
    """Names for files, all different, and harmless; near to those that a student chose."""
    found: list[str] = []
    for name in chosen:
        base = _harmless(name.rpartition("/")[2])
        if base in found or base in (FILE, STAMP):
            base = _harmless(name.replace("/", "_"))
        stem, dot, ending = base.rpartition(".")
        number = 2
        unique = f"student-{base}" if base in (FILE, STAMP) else base
        while unique in found:
            unique = f"{stem or ending}-{number}{dot if stem else ''}{ending if stem else ''}"
            number += 1
        found.append(unique)
    return found


def _harmless(name: str) -> str:
    name = re.sub(r"[\x00-\x1f\x7f/\\\u2028\u2029\ud800-\udfff]", "_", name).strip() or "file"
    name = f"_{name[1:]}" if name.startswith(".") else name
    if len(name.encode()) <= LONGEST:
        return name
    stem, dot, ending = name.rpartition(".")
    ending = ending[:16] if dot else ""
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    short = (stem if dot else name).encode()[: LONGEST - 30].decode(errors="ignore")
    return f"{short}-{mark}{dot}{ending}"


def candidates(attempt: Attempt, assignment: Assignment) -> list[Candidate]:
    """The notebooks of an attempt, in zip files too and under other endings; the one that is graded last."""
    found = []
    for name in attempt.files():
        path = attempt.folder / name
        with suppress(OSError):
            date = path.stat().st_mtime
            for inside, data, sure in _notebooks(name, read_file(path)):
                candidate = _looked_at(inside, data, assignment, date)
                if sure or candidate.quality > Quality.DAMAGED:
                    found.append(candidate)
    return sorted(found, key=lambda c: c.order)


def _notebooks(name: str, data: bytes) -> Iterator[tuple[str, bytes, bool]]:
    """What may be a notebook: its name, its content, whether it says so itself."""
    if name.lower().endswith(".ipynb"):
        yield name, data, True
    elif data[:4] == b"PK\x03\x04":
        inside = [m for m in nested(data) if m.parts[-1].lower().endswith(".ipynb") and not m.trouble]
        for member in inside[:MOST_INSIDE]:
            with suppress(Damaged):
                yield f"{name}/{member.path}", member.read(), True
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"cells"' in data:
        yield name, data, False


def _looked_at(name: str, data: bytes, assignment: Assignment, modified: float) -> Candidate:
    seen = pool.look(data, assignment)
    chosen = re.sub(r"^[0-9]+_", "", name.rpartition("/")[2])
    stem = re.sub(r"( \([0-9]+\)|-[0-9]+)?(\.ipynb)?$", "", chosen, flags=re.IGNORECASE)
    right = stem.lower() == assignment.notebook
    if seen.reason:
        quality, why = Quality.DAMAGED, f"{seen.reason}"
    elif other := _other_module(data, assignment, seen.fit):
        quality, why = Quality.OTHER, other
    elif not seen.answered:
        quality, why = Quality.BLANK, "no answer in it is filled in"
    else:
        quality, why = Quality.WORKED, ""
    return Candidate(name, data, quality, seen.answered, why, right, modified)


def _other_module(data: bytes, assignment: Assignment, fit: int) -> str:
    """Which other module a notebook is of, in words; "" if it is of this one."""
    share = fit / len(assignment.exercises)
    if share >= 0.5:
        return ""
    for module in gradable():
        other = load_assignment(module)
        if module != assignment.module and pool.look(data, other).fit / len(other.exercises) > share:
            return f"it is a notebook of {module}"
    return "" if fit > 0 else f"no exercise of {assignment.module} is in it"


def put(classroom: Classroom, student: str, assignment: Assignment, attempt: Attempt, chosen: Candidate | None) -> None:
    """Lay an attempt into submitted/, where it is graded; all its files if no notebook is among them.

    Raises OSError or CourseError if it cannot be written.
    """
    folder = classroom.submitted(student, assignment.module)
    notebook = folder / f"{assignment.notebook}.ipynb"
    origin = attempt.origin
    if chosen is not None:
        number = re.match(r"([0-9]+)_", chosen.name) if origin.platform == "canvas" else None
        first = [p for p in origin.paths if p.endswith(chosen.name.partition("/")[0])]
        paths = (*first, *(p for p in origin.paths if p not in first))
        origin = replace(origin, number=number[1] if number else origin.number, paths=paths)
    _clear(folder, classroom, student, assignment)
    if chosen is None:
        for name in attempt.files():
            write_whole(folder / name, read_file(attempt.folder / name))
    else:
        write_whole(notebook, chosen.data)
    if origin.time:
        write_whole(folder / STAMP, f"{origin.time}\n".encode())
    write_origin(folder, origin)


def _clear(folder: Path, classroom: Classroom, student: str, assignment: Assignment) -> None:
    """Remove what an earlier attempt left in submitted/; all of it is in collected/."""
    if not folder.is_dir() or folder.is_symlink():
        return
    kept = {(p.name, read_file(p)) for a in attempts(classroom, student, assignment.module) for p in a.folder.iterdir()}
    for path in folder.iterdir():
        ours = path.name in (STAMP, FILE, f"{assignment.notebook}.ipynb") and not path.is_dir()
        if ours or (is_file(path) and (path.name, read_file(path)) in kept):
            path.unlink()


def adopt(classroom: Classroom, student: str, assignment: Assignment) -> None:
    """Keep what lies in submitted/ and was not collected, or was changed there, as an attempt of its own."""
    folder = classroom.submitted(student, assignment.module)
    notebook = folder / f"{assignment.notebook}.ipynb"
    if folder.is_symlink() or folder.parent.is_symlink() or not is_file(notebook):
        return
    data = read_file(notebook)
    found = attempts(classroom, student, assignment.module)
    if any(data == c.data for a in found for c in candidates(a, assignment)):
        return
    stamp = folder / STAMP
    said = read_file(stamp)[:100].decode(errors="replace").strip() if is_file(stamp) else ""
    before = read_origin(folder)
    place = _next(classroom, student, assignment.module)
    write_whole(place / notebook.name, data)
    digest = hashlib.sha256(b"submitted" + data).hexdigest()
    write_origin(place, replace(before, archive="submitted", time=said, digest=digest, modified=""))
