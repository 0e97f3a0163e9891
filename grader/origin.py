"""Where a submission came from: what is needed to give grades and feedback back, in `origin.json` beside it."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from grader.classroom import is_file, read_file, write_whole

FILE = "origin.json"


@dataclass(frozen=True)
class Origin:
    """What the platform wrote about one attempt of one student. All that it did not write is "".

    platform  "moodle", "canvas", ... or "folders", "files", "pattern"
    archive   the name of the archive or folder that it was taken from
    paths     of the student's files in the archive, that of the notebook which is graded first
    place     the part of the path that the platform wrote for this student: a folder, or the beginning of file names
    name      of the person (or group), as the platform writes it
    number    the platform's number in that part; Moodle's is the assignment's, not the person's
    person    the platform's number of the person, the same in each assignment: Canvas's user id, say
    login, email
    attempt   which attempt the platform says it is
    time      when it was handed in, as timestamp.txt has it
    late      what the platform says about lateness, in its words, where it gives no time
    modified  the latest date in the archive, by which two archives without times are put in order
    digest    of the files of this attempt
    """

    platform: str = ""
    archive: str = ""
    paths: tuple[str, ...] = ()
    place: str = ""
    name: str = ""
    number: str = ""
    person: str = ""
    login: str = ""
    email: str = ""
    attempt: str = ""
    time: str = ""
    late: str = ""
    modified: str = ""
    digest: str = ""


def read_origin(folder: Path) -> Origin:
    """What origin.json in a folder says; nothing if it is not there, or is none. Never raises for what is in it."""
    path = folder / FILE
    try:
        data = json.loads(read_file(path)) if is_file(path) else {}
    except (OSError, ValueError, RecursionError):
        return Origin()
    return origin_from_data(data)


def origin_from_data(data: Any) -> Origin:
    """An origin of what JSON has; fields of other types are left out."""
    if not isinstance(data, dict):
        return Origin()
    texts: dict[str, Any] = {f.name: data[f.name] for f in fields(Origin) if isinstance(data.get(f.name), str)}
    paths = data.get("paths")
    return Origin(**texts, paths=tuple(str(p) for p in paths) if isinstance(paths, list) else ())


def write_origin(folder: Path, origin: Origin) -> None:
    """Write origin.json into a folder. Raises CourseError or OSError."""
    text = json.dumps({k: v for k, v in asdict(origin).items() if v}, indent=1)
    write_whole(folder / FILE, f"{text}\n".encode())
