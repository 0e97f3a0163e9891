"""Feedback pages for students: nbgrader's own, with the settings of nbgrader_config.py."""

import logging
from pathlib import Path

from grader.classroom import Classroom
from grader.course import load_assignment
from grader.errors import CourseError
from grader.records import graded_students


def write_feedback(module: str, classroom: Classroom) -> list[str]:
    """Write feedback/<student>/<module>/*.html for everyone who has been graded; the names of these students.

    Raises CourseError if nobody has been, or if nbgrader says that it could not do all of them.
    """
    from nbgrader.converters import GenerateFeedback, NbGraderException
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
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("feedback: %(message)s"))
    converter.log.addHandler(handler)
    try:
        converter.start()
    except NbGraderException as error:
        raise CourseError(str(error)) from None
    finally:
        converter.log.removeHandler(handler)
    return sorted(Path(folder).parent.name for folder in converter.assignments)
