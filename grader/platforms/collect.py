"""Take submissions from a learning platform's archive into submitted/, by the names that platforms give to files."""

import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.classroom import Classroom, read_file, write_whole
from grader.course import Assignment, load_assignment, modules
from grader.errors import CourseError
from grader.notebook import LARGEST
from grader.sandbox import pool

# Paths inside an archive, tried in this order. Groups: student; optional: id (the platform's number for the student),
# attempt (a number; the largest wins), timestamp; file is the name that the student gave.
# An example of each is in tests/grader/platforms/test_names.py.
PATTERNS = {
    # "Ada Lovelace_1234567_assignsubmission_file_/attention.ipynb", or the same without folders
    "Moodle": r"(?:.*/)?(?P<student>[^/_]+)_(?P<id>\d+)_assignsubmission_file_?/?(?P<file>[^/]+)",
    # "lovelaceada_LATE_123_45678_attention-2.ipynb"
    "Canvas": r"(?:.*/)?(?P<student>[^/_]+)(?:_LATE)?_(?P<id>\d+)_\d+_(?P<file>[^/]+?(?:-(?P<attempt>\d+))?\.[^./]+)",
    # "ada_attempt_2026-03-01-12-00-00_attention.ipynb", as nbgrader's zip collector expects
    "timestamped": r"(?:.*/)?(?P<student>[^/_]+)_attempt_(?P<timestamp>[\d-]+)_(?P<file>[^/]+)",
    # "ada/attention.ipynb", "ada/04_attention/attention.ipynb"
    "folders": r"(?:submitted/)?(?P<student>[^/]+)/(?:\d\d_\w+/)?(?P<file>[^/]+)",
    # "ada_attention.ipynb", "ada-attention.ipynb"
    "files": r"(?P<student>[^/]+?)[_-](?P<file>NOTEBOOKS|[^/_-]+)\.ipynb",
}
NOTEBOOKS = "NOTEBOOKS"  # in a pattern: the name of any module's notebook

MOST_ENTRIES, MOST_BYTES = 10_000, 2 << 30  # of an archive
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError, ValueError)


@dataclass(frozen=True)
class Entry:
    """A file in an archive: its path there, its content, or why it is not looked at."""

    path: str
    data: bytes = b""
    trouble: str = ""
    modified: tuple[int, ...] = ()


@dataclass(frozen=True)
class Taken:
    """What became of one file: it was taken for a student, or skipped for a reason."""

    path: str
    student: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"skipped  {self.path}: {self.reason}"
        return f"taken    {self.path} -> {self.student}"


@dataclass(frozen=True)
class _Found:
    entry: Entry
    timestamp: str
    rank: tuple[object, ...]


def collect(module: str, archive: Path, classroom: Classroom, patterns: Sequence[str] = ()) -> list[Taken]:
    """Copy each student's latest notebook to submitted/<student>/<module>/; what was taken, skipped, and why.

    archive   a zip file or a folder
    patterns  regular expressions for paths, instead of PATTERNS

    Raises CourseError if there is no such archive or a pattern is none.
    """
    assignment = load_assignment(module)
    expressions = _expressions(patterns)
    result: list[Taken] = []
    found: dict[str, list[_Found]] = {}
    unknown: list[Entry] = []
    for entry in _entries(archive):
        match = next((m for e in expressions if (m := e.fullmatch(entry.path))), None)
        if entry.trouble:
            result.append(Taken(entry.path, reason=entry.trouble))
        elif not entry.path.lower().endswith(".ipynb"):
            result.append(Taken(entry.path, reason="it is no notebook"))
        elif match is None:
            unknown.append(entry)
        else:
            found.setdefault(_student_id(match), []).append(_found(entry, match, assignment))
    for student, items in sorted(found.items()):
        result += _take(student, items, assignment, classroom)
    known = sorted({*found, *_known_students(classroom)})
    result += [Taken(e.path, reason=f"its name fits no pattern{_nearest(e.path, known)}") for e in unknown]
    return result


def _expressions(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Compiled patterns, the usual ones if none are given. Raises CourseError."""
    notebooks = "|".join(m.partition("_")[2] for m in modules())
    try:
        expressions = [re.compile(p) for p in patterns or [p.replace(NOTEBOOKS, notebooks) for p in PATTERNS.values()]]
    except re.error as error:
        raise CourseError(f"--pattern: {error}") from None
    if any("student" not in e.groupindex or "file" not in e.groupindex for e in expressions):
        raise CourseError("--pattern: a pattern needs the groups (?P<student>...) and (?P<file>...)")
    return expressions


def _take(student: str, items: list[_Found], assignment: Assignment, classroom: Classroom) -> list[Taken]:
    """Write the best of a student's files into the class; what became of each."""
    *others, best = sorted(items, key=lambda item: item.rank)
    taken = Taken(best.entry.path, student)
    try:
        _put(classroom.submitted(student, assignment.module), assignment, best)
    except CourseError as error:
        taken = Taken(best.entry.path, reason=str(error))
    reason = f"{student} handed in a later or better fitting one, {best.entry.path}"
    return [*(Taken(i.entry.path, reason=reason) for i in others), taken]


def _entries(archive: Path) -> Iterator[Entry]:
    """The files of an archive. Nothing is written here, so no name in it can point anywhere."""
    if archive.is_dir():
        for path in sorted(p for p in archive.rglob("*") if not p.is_dir() or p.is_symlink()):
            name = path.relative_to(archive).as_posix()
            try:
                yield _checked(name, read_file(path), (path.lstat().st_mtime_ns,))
            except OSError as error:
                yield Entry(name, trouble=f"it cannot be read ({error.strerror})")
        return
    if not archive.is_file():
        raise CourseError(f"{archive}: there is no such archive or folder")
    try:
        with zipfile.ZipFile(archive) as file:
            yield from _zip_entries(file)
    except zipfile.BadZipFile as error:
        raise CourseError(f"{archive}: not a readable zip file ({error})") from None


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[Entry]:
    left = MOST_BYTES
    for number, info in enumerate(archive.infolist()):
        if info.is_dir():
            continue
        name = info.filename.replace("\\", "/")
        if number >= MOST_ENTRIES:
            yield Entry(name, trouble=f"the archive has more than {MOST_ENTRIES} entries")
        elif stat.S_ISLNK(info.external_attr >> 16):
            yield Entry(name, trouble="it is a link, and links are not followed")
        elif name.startswith("/") or ".." in PurePosixPath(name).parts or ":" in name.split("/")[0]:
            yield Entry(name, trouble="its path leads out of the archive")
        elif info.flag_bits & 1:
            yield Entry(name, trouble="it is encrypted")
        elif info.file_size > LARGEST:
            yield Entry(name, trouble=f"it unpacks to {info.file_size >> 20} MB")
        elif info.file_size > left:
            yield Entry(name, trouble=f"the files unpack to more than {MOST_BYTES >> 20} MB together")
        else:
            try:
                with archive.open(info) as stream:
                    data = stream.read(LARGEST + 1)  # whatever the header says
            except DAMAGED as error:
                yield Entry(name, trouble=f"it cannot be unpacked ({error})")
                continue
            left -= len(data)
            yield _checked(name, data, tuple(info.date_time))


def _checked(name: str, data: bytes, modified: tuple[int, ...]) -> Entry:
    if len(data) > LARGEST:
        return Entry(name, trouble=f"it has more than {LARGEST >> 20} MB")
    return Entry(name, data, modified=modified)


def _found(entry: Entry, match: re.Match[str], assignment: Assignment) -> _Found:
    """When a file was handed in, and how good it is: the right content, then the right name, then the latest."""
    groups = match.groupdict()
    name = re.sub(r"( \(\d+\)|-\d+)?(\.ipynb)?$", "", groups["file"], flags=re.IGNORECASE)
    right = name.lower() == assignment.notebook
    rank = (
        pool.fit(entry.data, assignment) > 0,
        right,
        int(groups.get("attempt") or 0),
        groups.get("timestamp") or "",
        entry.modified,
        entry.path,
    )
    return _Found(entry, groups.get("timestamp") or "", rank)


def _student_id(match: re.Match[str]) -> str:
    """A folder name for a student: what the platform calls them, with its number where it has one."""
    groups = match.groupdict()
    name = "_".join(filter(None, (groups["student"], groups.get("id")))).strip().lower()
    return re.sub(r"[^\w.@+-]+", "-", name).lstrip(".-") or "unnamed"


def _put(folder: Path, assignment: Assignment, item: _Found) -> None:
    write_whole(folder / f"{assignment.notebook}.ipynb", item.entry.data)
    if item.timestamp:
        date = re.sub(r"^(\d+-\d+-\d+)-(\d+)-(\d+)-(\d+)$", r"\1 \2:\3:\4 UTC", item.timestamp)
        write_whole(folder / "timestamp.txt", f"{date}\n".encode())


def _known_students(classroom: Classroom) -> list[str]:
    folder = classroom.folder / "submitted"
    return [p.name for p in folder.iterdir() if p.is_dir() and not p.is_symlink()] if folder.is_dir() else []


def _nearest(path: str, students: Sequence[str]) -> str:
    from rapidfuzz import fuzz, process

    if not students:
        return ""
    nearest, *_ = process.extractOne(path.lower(), students, scorer=fuzz.partial_ratio)
    return f"; the nearest student is {nearest}"
