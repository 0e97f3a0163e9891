"""Feedback pages for students: nbgrader's own, with the settings of nbgrader_config.py."""

from grader.batch import Classroom
from grader.course import CourseError
from grader.grade import load_assignment
from grader.gradebook import open_gradebook  # noqa: F401  (leaves out what jsonschema need not load)


def write_feedback(module: str, classroom: Classroom) -> list[str]:
    """Write feedback/<student>/<module>/*.html for everyone who has been graded; the names of these students.

    Raises CourseError if nobody has been.
    """
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    notebook = load_assignment(module).notebook
    folder = classroom.folder / "autograded"
    students = sorted(p.parent.parent.name for p in folder.glob(f"*/{module}/{notebook}.ipynb"))
    if not students:
        raise CourseError(f"{folder}: nobody has been graded for {module}; run `python -m grader grade {module}` first")
    config = classroom.nbgrader_config()
    config.CourseDirectory.assignment_id = module
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    converter.log.setLevel("ERROR")
    converter.start()
    return students
