"""Feedback pages for students: nbgrader's own, with the settings of nbgrader_config.py."""

from grader.classroom import Classroom
from grader.course import load_assignment
from grader.errors import CourseError
from grader.records import graded_students


def write_feedback(module: str, classroom: Classroom) -> list[str]:
    """Write feedback/<student>/<module>/*.html for everyone who has been graded; the names of these students.

    Raises CourseError if nobody has been.
    """
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    students = graded_students(load_assignment(module), classroom)
    if not students:
        raise CourseError(
            f"{classroom.folder / 'autograded'}: nobody has been graded for {module}; run `python -m grader grade {module}` first"
        )
    config = classroom.nbgrader_config()
    config.CourseDirectory.assignment_id = module
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    converter.force = True
    converter.log.setLevel("ERROR")
    converter.start()
    return students
