"""Students who leave a class: dropped, taken back, deleted."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import gradebook
from grader.classroom import STEPS, Classroom, only_writer
from grader.errors import CourseError
from grader.gradebook_file import changed, copies_with, file_of, forget, in_plain_words
from grader.roster import Student, near, read_roster, write_roster

FOLDERS = (*STEPS, "collected")


def drop(student: str, classroom: Classroom) -> list[str]:
    """Leave a student out of tables, exports and pages; nothing is deleted. Lines for a person.

    Raises CourseError if there is no such student.
    """
    with only_writer(classroom.folder):
        _check(student, classroom)
        roster = read_roster(classroom)
        before = roster.get(student, Student(student))
        write_roster(classroom, {**roster, student: replace(before, dropped=True)}.values())
    return [f"{student} is left out from now on, and nothing is deleted; `--back` takes them in again"]


def take_back(student: str, classroom: Classroom) -> list[str]:
    """Take in a student who was dropped. Raises CourseError if there is no such student."""
    with only_writer(classroom.folder):
        _check(student, classroom)
        roster = read_roster(classroom)
        if student not in roster or not roster[student].dropped:
            return [f"{student} is in the class"]
        write_roster(classroom, {**roster, student: replace(roster[student], dropped=False)}.values())
    return [f"{student} is in the class again"]


def delete(student: str, classroom: Classroom, with_backups: bool = False) -> list[str]:
    """Delete all that the class folder has of a student; lines for a person.

    with_backups  also the copies of the gradebook in which they are, whole

    Raises CourseError or GradebookError. What is deleted until then stays so, and the same command goes on.
    """
    with only_writer(classroom.folder):
        _check(student, classroom)
        lines = []
        path = _gradebook(classroom)
        if path is None or changed(path):
            with _opened(classroom) as book:
                lines += gradebook.remove_student(book, student)
            if path is not None:
                forget(path)
        lines += [f"{folder} is deleted" for folder in _delete_folders(student, classroom)]
        lines += [f"{archive} is deleted" for archive in _delete_archives(classroom)]
        roster = read_roster(classroom)
        if student in roster:
            write_roster(classroom, (s for s in roster.values() if s.id != student))
            lines.append("the entry in the roster is deleted")
        return lines + _about_copies(student, classroom, path, with_backups)


def _about_copies(student: str, classroom: Classroom, path: Path | None, delete: bool) -> list[str]:
    copies = copies_with(path, student) if path is not None else []
    if delete:
        with in_plain_words(classroom.folder):
            for copy in copies:
                copy.unlink()
        lines = [f"{copy} is deleted" for copy in copies]
    else:
        lines = [f"{copy} still has them; `--backups` deletes it, too" for copy in copies]
    if (classroom.folder / "report").is_dir():
        lines.append(f"{classroom.folder / 'report'} is as it was: write it anew with `python -m grader report`")
    return lines


def _delete_folders(student: str, classroom: Classroom) -> list[Path]:
    """Delete a student's folders; a link is deleted, and not what it leads to."""
    found = [p for step in FOLDERS if (p := classroom.folder / step / student).is_symlink() or p.exists()]
    with in_plain_words(classroom.folder):
        for path in found:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    return found


def _delete_archives(classroom: Classroom) -> list[Path]:
    """Delete the archives of feedback pages, which have everybody's; they are made again when they are needed."""
    found = sorted(classroom.folder.glob("feedback-*.zip"))
    with in_plain_words(classroom.folder):
        for path in found:
            path.unlink()
    return found


def _check(student: str, classroom: Classroom) -> None:
    """CourseError if nobody is called so; what has a slash in it is nobody, and no path either."""
    known = _known(classroom)
    if student not in known:
        raise CourseError(f"{student}: no such student{near(student, known)}")


def _known(classroom: Classroom) -> set[str]:
    """Everyone of whom there is anything."""
    known = set(read_roster(classroom))
    for step in FOLDERS:
        folder = classroom.folder / step
        if folder.is_dir():
            known |= {p.name for p in folder.iterdir() if not p.name.startswith(".")}
    path = _gradebook(classroom)
    if path is None or changed(path):
        with _opened(classroom) as book:
            known |= {s.id for s in book.students}
    return known


def _gradebook(classroom: Classroom) -> Path | None:
    return file_of(classroom.nbgrader_config().CourseDirectory.db_url)


@contextmanager
def _opened(classroom: Classroom) -> Iterator[Any]:
    directory = classroom.nbgrader_config().CourseDirectory
    with gradebook.open_gradebook(directory.db_url, directory.get("course_id", "")) as book:
        yield book
