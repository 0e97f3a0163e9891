"""Our engine behind nbgrader's own doors: `nbgrader autograde` and the formgrader's button end in the same functions.

nbgrader_config.py puts these two into nbgrader's Autograde. Its first step does everything; its second has nothing left to do.
"""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.batch import grade_submission
from grader.classroom import find_submission, only_writer
from grader.course import load_assignment
from grader.records import Writer

Notebook = tuple[Any, dict[str, Any]]  # a notebook and nbconvert's resources


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]  # nbconvert has no types
    """Does not read a submission as a notebook, which may be none; says where it is."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Notebook:
        if not self.parent._sanitizing:  # noqa: SLF001  (nbgrader's second step reads what our first one wrote)
            read: Notebook = super().from_filename(filename, resources=resources, **kwargs)
            return read
        resources["folder"] = str(Path(filename).absolute().parent)
        empty: Notebook = self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kwargs)
        return empty


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]  # nbconvert has no types
    """HTMLExporter under a name of its own, so that nbgrader_config.py can give it another template than the formgrader's."""


class GradeInJail(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Grades a submission, records it in the gradebook, and gives the notebook that is kept."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> Notebook:  # noqa: ARG002  (nbgrader names it)
        where, folder = resources["nbgrader"], Path(resources["folder"])
        assignment = load_assignment(where["assignment"])
        submission = find_submission(folder, where["student"], assignment)
        result = grade_submission(submission, assignment.module)
        config = deepcopy(self.config)
        config.CourseDirectory.db_url = where["db_url"]
        with only_writer(folder.parents[2]), Writer(assignment, config) as writer:
            notebook = writer.record(submission, result)
        return nbformat.from_dict(json.loads(json.dumps(notebook))), resources
