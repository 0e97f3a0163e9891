"""nbgrader: solutions/ -> modules/, and everything of one class under classroom/."""

import os
import sys
from pathlib import Path

from grader.gradebook_file import sqlite_url

# nbgrader looks for the program `alembic` by PATH: it is beside this Python, also where no environment is activated
BESIDE = str(Path(sys.executable).parent)
if BESIDE not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join(filter(None, [BESIDE, os.environ.get("PATH", "")]))

c = get_config()  # noqa: F821  (nbgrader puts it there)

c.CourseDirectory.course_id = "tinytorch"
c.CourseDirectory.root = str(Path(__file__).parent)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "modules"
c.CourseDirectory.submitted_directory = "classroom/submitted"
c.CourseDirectory.autograded_directory = "classroom/autograded"
c.CourseDirectory.feedback_directory = "classroom/feedback"
c.CourseDirectory.solution_directory = "classroom/solution"
(Path(__file__).parent / "classroom").mkdir(exist_ok=True)
c.CourseDirectory.db_url = sqlite_url(Path(__file__).parent / "classroom" / "gradebook.db")

c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}

# `nbgrader autograde` and the formgrader grade with our engine: in a jail, judged outside it
c.Autograde.exporter_class = "grader.nbgrader_plugins.SubmissionExporter"
c.Autograde.sanitize_preprocessors = ["grader.nbgrader_plugins.GradeInJail"]
c.Autograde.autograde_preprocessors = []

# feedback: our own page; nothing of a student's is run, nothing is loaded from elsewhere
c.GenerateFeedback.exporter_class = "grader.nbgrader_plugins.FeedbackExporter"
c.GenerateFeedback.preprocessors = []
c.HTMLExporter.sanitize_html = True  # what the formgrader shows
