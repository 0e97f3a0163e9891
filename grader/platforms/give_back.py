"""Feedback pages as the archive that a platform takes back, with the names that it gave.

Moodle's upload of several feedback files knows a person by the second part of a path's name between underscores, the participant's
number (mod/assign/feedback/file, importziplib.php: is_valid_filename_for_import). Canvas's upload of submissions knows one by the first
two parts that are numbers, the person's and that of the file (abstract_assignment.rb: infer_comment_context_from_filename). Brightspace
wants the folder or the beginning of the file name that its download had.
"""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.classroom import Classroom, read_file, write_whole
from grader.course import load_assignment
from grader.errors import CourseError
from grader.notebook import LARGEST
from grader.origin import Origin, read_origin
from grader.platforms.export import called
from grader.roster import Student, students

# the numbers, the name and the date, "Sep 24, 2024 926 PM" or "24 sept. 2024 2126"
DATED = re.compile(r"\d+-\d+ - .+? - (?:[^\W\d_]+\.? \d{1,2},?|\d{1,2} [^\W\d_]+\.?) \d{4} \d{3,4}(?: [AP]M)?")
WRITTEN_AT = (1980, 1, 1, 0, 0, 0)  # so that the same pages make the same archive


@dataclass(frozen=True)
class Given:
    """What came of it.

    path      the archive
    pages     how many are in it
    left_out  a line for each reason, with those whom it is about
    failed    a page that is there cannot be read
    """

    path: Path
    pages: int
    left_out: tuple[str, ...]
    failed: bool


class NoPlace(Exception):
    """A platform gave nothing by which a student's page could find its way back; the message says what is lacking."""


def give_back(module: str, classroom: Classroom, platform: str, output: Path | None = None) -> Given:
    """Write the archive with the pages of everyone in the class. Raises CourseError if there would be nothing in it."""
    notebook = load_assignment(module).notebook
    there = students(classroom)
    names: dict[str, str] = {}
    whose: dict[str, str] = {}
    reasons: dict[str, list[str]] = {}
    for id_, student in there.items():
        page, origin = _page(classroom, id_, module, notebook), read_origin(classroom.submitted(id_, module))
        try:
            names[id_] = _name(platform, student, origin, module, notebook, bool(page))
            whose[id_] = {"moodle": origin.number, "canvas": origin.person}.get(platform) or names[id_]
        except NoPlace as reason:
            reasons.setdefault(str(reason), []).append(called(student))
    often = Counter(whose.values())
    for id_ in [id_ for id_, one in whose.items() if often[one] > 1]:
        reasons.setdefault("several students have the same number or place on the platform", []).append(
            called(there[id_])
        )
        del names[id_]
    pages, failed = _pages(names, classroom, module, notebook)
    gone = sorted(
        {p.parents[1].name for p in (classroom.folder / "feedback").glob(f"*/{module}/*.html")} - there.keys()
    )
    left_out = [f"{reason}: {', '.join(who)}" for reason, who in reasons.items()] + failed
    left_out += [f"left out, since they are no longer in the class: {', '.join(gone)}"] if gone else []
    if not pages:
        raise CourseError(
            f"{classroom.folder / 'feedback'}: there is nothing to give back for {module} to {platform}; "
            + "; ".join(left_out)
        )
    path = output or classroom.folder / f"feedback-{module}-{platform}.zip"
    write_whole(path, _archive(pages))
    return Given(path, len(pages), tuple(left_out), bool(failed))


def _page(classroom: Classroom, student: str, module: str, notebook: str) -> Path | None:
    path = classroom.folder / "feedback" / student / module / f"{notebook}.html"
    return path if path.exists() or path.is_symlink() else None


def _pages(
    names: Mapping[str, str], classroom: Classroom, module: str, notebook: str
) -> tuple[dict[str, bytes], list[str]]:
    """The pages by name in the archive, and a line for each that cannot be read."""
    pages: dict[str, bytes] = {}
    failed = []
    for id_, name in names.items():
        path = classroom.folder / "feedback" / id_ / module / f"{notebook}.html"
        try:
            pages[name] = read_file(path)
        except OSError as error:
            failed.append(f"{path}: it cannot be read ({error.strerror}); remove it and write the pages again")
            continue
        if len(pages[name]) > LARGEST:
            failed.append(f"{path}: it is too large to be given back")
            del pages[name]
    return pages, failed


def _name(platform: str, student: Student, origin: Origin, module: str, notebook: str, there_is_a_page: bool) -> str:
    """The name of a student's page in the archive. Raises NoPlace."""
    if not there_is_a_page:
        raise NoPlace(f"there is no page; if something was handed in, run `python -m grader grade {module}` first")
    if platform == "plain":
        return _text(f"{student.id}/{module}.html")
    if origin.platform != platform:
        raise NoPlace(
            f"what was handed in did not come from {platform}, so it is not known under which name it takes the page"
        )
    return _text(PLATFORMS[platform](origin, notebook))


def _text(name: str) -> str:
    """A name that can be written as UTF-8."""
    return name.encode(errors="backslashreplace").decode().replace("\\", "_")


def _moodle(origin: Origin, notebook: str) -> str:
    if not origin.number.isdecimal():
        raise NoPlace("Moodle gave no number of a participant")
    parts = origin.place.split("_", 4)
    if not (
        len(parts) >= 4 and parts[1] == origin.number and parts[2] == "assignsubmission" and "/" not in origin.place
    ):
        name = re.sub(r"[\\/_]", " ", origin.name) or "Participant"
        parts = [name, origin.number, "assignsubmission", "file", ""]
    return "_".join([*parts[:4], *[""] * (len(parts) > 4)]) + f"/{notebook}.html"


def _canvas(origin: Origin, notebook: str) -> str:
    if not origin.number.isdecimal():
        raise NoPlace("Canvas gave no number of a file, as for text entries and links")
    file = notebook if not notebook.rpartition("_")[2].startswith("link") else "feedback"
    anonymous = re.match(r"(?:LATE_)?anon_[^_]+", origin.place)
    if anonymous and not origin.person.isdecimal():
        return f"{anonymous.group()}_{origin.number}_{file}.html"
    if not origin.person.isdecimal():
        raise NoPlace("Canvas gave no number of a person")
    given = origin.place.split("_")
    before = given[: given.index(origin.person)] if origin.person in given else []
    # a name of digits would be taken for the person's number, and "anon" for the mark of an anonymous one
    safe = before and "anon" not in before and all(part and not part.isdecimal() for part in before)
    return "_".join([*(before if safe else ["student"]), origin.person, origin.number, file]) + ".html"


def _brightspace(origin: Origin, notebook: str) -> str:
    if not origin.place:
        raise NoPlace("Brightspace gave no folder")
    if any(f"{origin.place}/" in path for path in origin.paths):
        return f"{origin.place}/{notebook}.html"
    beginning = DATED.match(origin.place)  # of the file's name
    return f"{beginning.group() if beginning else origin.place} - {notebook}.html"


PLATFORMS: dict[str, Callable[[Origin, str], str]] = {"moodle": _moodle, "canvas": _canvas, "brightspace": _brightspace}


def _archive(pages: Mapping[str, bytes]) -> bytes:
    """The same bytes for the same pages."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, page in sorted(pages.items()):
            entry = zipfile.ZipInfo(name, WRITTEN_AT)
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, page)
    return data.getvalue()
