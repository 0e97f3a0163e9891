"""Our engine behind nbgrader's own doors: `nbgrader autograde` and the formgrader's button end in the same functions.

nbgrader_config.py puts these into nbgrader's Autograde and GenerateFeedback. Autograde's first step does everything; its second
has nothing left to do. nbgrader's converters copy a student's whole folder and follow every link in it; here they copy nothing.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter, NotebookExporter
from nbgrader.converters import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from exercises.errors import UserError
from grader.batch import grade_submission, read_submission
from grader.classroom import REMOVE_IT, is_file, only_writer, timestamp_of, write_whole
from grader.course import load_assignment
from grader.dates import time_of
from grader.pages.feedback import page_of
from grader.records import Writer
from grader.sandbox import pool
from grader.sandbox.check_jail import weaknesses

Notebook = tuple[Any, dict[str, Any]]  # a notebook and nbconvert's resources


class _OwnFolders(CourseDirectory):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's folders, with names of any letters, and times that are read as we read them."""

    def format_path(self, nbgrader_step: str, student_id: str, assignment_id: str, escape: bool = False) -> str:
        """A path, or a pattern for one. In nbgrader's, folders are not escaped and names have no line breaks: one stops all."""
        step = re.escape(nbgrader_step) if escape else nbgrader_step
        path: str = super().format_path(step, student_id, assignment_id, escape)
        return f"(?s:{path})" if escape else path

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        """When a submission was handed in; None if nobody says so, or says it in no way that is understood."""
        try:
            return time_of(timestamp_of(Path(dest_path)))
        except (OSError, ValueError) as error:
            self.log.warning("%s/timestamp.txt is left out: %s", dest_path, error)
            return None


def _is_strange(path: Path, target: Path) -> bool:
    """Whether something is in the way: no folder where one is to be, or nothing that can be read to its end."""
    if path in (target, target.parent):
        return path.exists() and not path.is_dir()
    return not is_file(path) and not path.is_dir()


class _NoLinks:
    """An exporter whose converter reaches nothing by a link: what it would is left out, with a line."""

    parent: Any
    log: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        converter = self.parent
        folders = converter.coursedir.trait_values() | {"ignore": ["*"]}  # what its init_assignment does not copy
        converter.coursedir = _OwnFolders(**folders)
        found = converter.assignments.items()
        converter.assignments = {name: kept for name, books in found if (kept := self._kept(Path(name), books))}
        if not converter.assignments:
            raise NbGraderException("nothing is left to work with; see the lines above")

    def _kept(self, folder: Path, notebooks: list[str]) -> list[str]:
        """The notebooks of a student that may be converted."""
        try:
            link = next((p for p in (folder.parent, folder, *self._written(folder)) if p.is_symlink()), None)
            strange = next(
                (p for p in self._written(folder) if not link and _is_strange(p, self._target(folder))), None
            )
            others = [p for p in sorted(folder.iterdir()) if not is_file(p) and (p.is_symlink() or not p.is_dir())]
        except OSError as error:
            self.log.error("%s is left out: it cannot be read (%s)", folder, error.strerror)  # noqa: TRY400  (the line says it all)
            return []
        if link:
            self.log.error("%s is a link, and links are not followed: %s is left out. %s", link, folder, REMOVE_IT)
            return []
        if strange:
            self.log.error("%s is no file and no folder of ours: %s is left out. Remove it", strange, folder)
            return []
        if others:
            names = ", ".join(repr(p.name) for p in others[:5])
            self.log.warning("%s: left out, since only files are read, and links are not followed: %s", folder, names)
        return [notebook for notebook in notebooks if is_file(Path(notebook))]

    def _target(self, folder: Path) -> Path:
        """Where the converter writes what it makes of a student's folder."""
        return Path(self.parent._format_dest(folder.name, folder.parent.name))  # noqa: SLF001  (nbgrader's own words for it)

    def _written(self, folder: Path) -> Iterator[Path]:
        """Everything that the converter may write to."""
        target = self._target(folder)
        yield from (target.parent, target, *sorted(target.rglob("*")))

    def _keep_time(self, notebook: str) -> None:
        """Copy timestamp.txt, by which nbgrader knows whether there is a newer submission."""
        folder = Path(notebook).absolute().parent
        time = timestamp_of(folder)
        if time:
            write_whole(self._target(folder) / "timestamp.txt", f"{time}\n".encode())


class SubmissionExporter(_NoLinks, NotebookExporter):  # type: ignore[misc]  # nbconvert has no types
    """Does not read a submission as a notebook, which may be none; says where it is."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for line in weaknesses():
            self.log.warning("%s", line)
        try:  # before nbgrader removes what it would write anew
            for module in {Path(folder).name for folder in self.parent.assignments}:
                pool.jail_of(load_assignment(module).module)
        except UserError as error:
            self.log.error("%s", error)  # noqa: TRY400  (it names the next step, and a traceback would hide it)
            raise NbGraderException(str(error)) from None

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Notebook:
        if not self.parent._sanitizing:  # noqa: SLF001  (nbgrader's second step reads what our first one wrote)
            read: Notebook = super().from_filename(filename, resources=resources, **kwargs)
            return read
        resources["folder"] = str(Path(filename).absolute().parent)
        empty: Notebook = self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kwargs)
        self._keep_time(filename)
        return empty


class FeedbackExporter(_NoLinks, Exporter):  # type: ignore[misc]  # nbconvert has no types
    """Our feedback pages for nbgrader's converter."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_filename(self, filename: str, resources: Any = None, **_kwargs: Any) -> tuple[str, dict[str, Any]]:
        where = resources["nbgrader"]
        page = page_of(Path(filename), where["student"], where["assignment"], where["db_url"])
        self._keep_time(filename)
        return page, resources | {"output_extension": self.file_extension}


class GradeInJail(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Grades a submission, records it in the gradebook, and gives the notebook that is kept."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> Notebook:  # noqa: ARG002  (nbgrader names it)
        try:
            notebook = self._graded(resources["nbgrader"], Path(resources["folder"]))
        except UserError as error:
            # it would be the same for the next student; nbgrader shows any Exception as a traceback and goes on
            self.log.error("%s", error)  # noqa: TRY400  (it names the next step, and a traceback would hide it)
            raise SystemExit(1) from None
        return nbformat.from_dict(json.loads(json.dumps(notebook))), resources

    def _graded(self, where: dict[str, str], folder: Path) -> dict[str, Any]:
        assignment = load_assignment(where["assignment"])
        submission = read_submission(folder, where["student"], assignment)
        if submission.nothing:
            raise OSError(f"{folder}: {submission.nothing}")
        result = grade_submission(submission, assignment.module)
        config = deepcopy(self.config)
        config.CourseDirectory.db_url = where["db_url"]
        with only_writer(folder.parents[2]), Writer(assignment, config) as writer:
            return writer.record(submission, result)
