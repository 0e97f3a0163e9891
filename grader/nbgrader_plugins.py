"""Our engine behind nbgrader's own doors: `nbgrader autograde` and the formgrader's button end in the same functions.

nbgrader_config.py puts these two into nbgrader's Autograde. Its first step does everything; its second has nothing left to do.
"""

import json
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from grader import batch, gradebook
from grader.grade import load_assignment

Result = tuple[Any, dict[str, Any]]


class SubmissionExporter(NotebookExporter):  # type: ignore[misc]
    """Does not read a submission as a notebook, which may be none; says where it is."""

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Result:
        if not self.parent._sanitizing:  # nbgrader's second step reads what our first one wrote
            read: Result = super().from_filename(filename, resources=resources, **kwargs)
            return read
        resources["folder"] = str(Path(filename).absolute().parent)
        empty: Result = self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kwargs)
        return empty


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """HTMLExporter under a name of its own, so that nbgrader_config.py can give it another template than the formgrader's."""


class GradeInJail(NbGraderPreprocessor):  # type: ignore[misc]
    """Grades a submission, records it in the gradebook, and gives the notebook that is kept."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> Result:
        where, folder = resources["nbgrader"], Path(resources["folder"])
        assignment = load_assignment(where["assignment"])
        submission = batch.find_submission(folder, where["student"], assignment)
        graded = batch.grade_submission(submission, assignment.module)
        course = self.config.CourseDirectory.get("course_id", "")
        with (
            batch.only_writer(folder.parents[2]),
            gradebook.open_gradebook(where["db_url"], course) as book,
        ):
            gradebook.save_assignment(book, assignment)
            late = gradebook.late_plugin(self.config)
            gradebook.record(book, assignment, submission.student, graded, submission.timestamp, late)
        notebook = batch.kept_notebook(submission, graded, assignment)
        return nbformat.from_dict(json.loads(json.dumps(notebook))), resources
