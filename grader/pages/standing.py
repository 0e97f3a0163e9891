"""How the students of a class stand in a module: what came of their work, and what the gradebook has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.classroom import Classroom, find_submission
from grader.course import Assignment
from grader.errors import GradebookError
from grader.gradebook import Grades, grades, open_gradebook
from grader.gradebook_marks import is_there
from grader.pages import words
from grader.records import graded_students, read_kept
from grader.result import Result, Status
from grader.roster import Student, students


@dataclass(frozen=True)
class Standing:
    """One student in one module. `grades` is None where the gradebook has nothing."""

    student: Student
    result: Result
    grades: Grades | None

    @property
    def label(self) -> str:
        """The name with the id, or the id alone."""
        return label(self.student)

    @property
    def handed_in(self) -> bool:
        return self.result.status != Status.MISSING

    @property
    def total(self) -> float | None:
        """Points with those given by hand, after penalties; None if nobody has graded anything."""
        known = self.grades is not None and self.result.status in (Status.GRADED, Status.UNREADABLE)
        return self.grades.total if self.grades is not None and known else None

    @property
    def unread(self) -> tuple[str, ...]:
        """The written answers that somebody must read."""
        return self.grades.to_be_read if self.grades is not None and self.handed_in else ()

    @property
    def late(self) -> str:
        """How late it was and what that cost, or what the platform says where it gives no time; "" if it was not late."""
        if not self.handed_in:
            return ""
        if self.grades is None or self.grades.seconds_late <= 0:
            return self.result.late
        penalty = f"penalty {words.points(self.grades.penalty)}" if self.grades.penalty else "no penalty"
        return f"{words.duration(self.grades.seconds_late)}, {penalty}"


@dataclass(frozen=True)
class ClassInModule:
    """A class in one module.

    gone     who has been graded and is no longer in the class
    trouble  why nothing of the gradebook is here; "" if it is
    """

    assignment: Assignment
    everyone: tuple[Standing, ...]
    gone: tuple[str, ...]
    trouble: str

    @property
    def graded(self) -> list[Standing]:
        return [s for s in self.everyone if s.result.status == Status.GRADED]

    @property
    def missing(self) -> list[Standing]:
        return [s for s in self.everyone if not s.handed_in]

    @property
    def late(self) -> list[Standing]:
        return [s for s in self.everyone if s.late]

    @property
    def unread(self) -> list[Standing]:
        return [s for s in self.everyone if s.unread]

    @property
    def totals(self) -> list[float]:
        """Of those whose notebook was graded."""
        return [s.total for s in self.graded if s.total is not None]

    @property
    def max_total(self) -> float:
        """With the written answers."""
        return max((s.grades.max_score for s in self.everyone if s.grades is not None), default=0.0)


def label(student: Student) -> str:
    return student.id if student.full_name == student.id else f"{student.full_name} ({student.id})"


def graded_modules(assignments: Iterable[Assignment], classroom: Classroom) -> list[Assignment]:
    """Those in which somebody has been graded."""
    return [a for a in assignments if graded_students(a, classroom)]


def standings(assignments: Sequence[Assignment], classroom: Classroom) -> list[ClassInModule]:
    """The class in each module. Raises CourseError if the roster cannot be read; what is wrong with the gradebook is `trouble`."""
    in_class = students(classroom)
    found, trouble = _grades(assignments, classroom)
    return [_standing(a, classroom, in_class, found.get(a.module, {}), trouble) for a in assignments]


def _standing(
    assignment: Assignment,
    classroom: Classroom,
    in_class: Mapping[str, Student],
    found: Mapping[str, Grades],
    trouble: str,
) -> ClassInModule:
    everyone = [
        Standing(_named(student, found.get(id_)), _result(id_, assignment, classroom), found.get(id_))
        for id_, student in in_class.items()
    ]
    known = {*graded_students(assignment, classroom), *found}
    return ClassInModule(assignment, tuple(everyone), tuple(sorted(known - in_class.keys())), trouble)


def _named(student: Student, found: Grades | None) -> Student:
    """A student with the gradebook's name, if the class has none."""
    if student.full_name != student.id or found is None:
        return student
    return Student(student.id, name=found.name, email=found.email)


def _result(student: str, assignment: Assignment, classroom: Classroom) -> Result:
    kept = read_kept(student, assignment, classroom)
    if kept is not None:
        return kept
    submission = find_submission(classroom.submitted(student, assignment.module), student, assignment)
    missing = submission.missing or submission.unreadable
    status = Status.MISSING if submission.missing else Status.NOT_GRADED
    reason = missing or "it was handed in but not graded"
    return Result(student, assignment.module, status, assignment.max_score, reason)


def _grades(assignments: Iterable[Assignment], classroom: Classroom) -> tuple[dict[str, dict[str, Grades]], str]:
    """What the gradebook has, by module and student; or why there is nothing. No gradebook is made for it."""
    directory = classroom.nbgrader_config().CourseDirectory
    if not is_there(directory.db_url):
        return {}, "there is no gradebook yet, so nothing is known of lateness and of grades given by hand"
    try:
        with open_gradebook(directory.db_url, directory.course_id) as book:
            return {a.module: {g.student: g for g in grades(book, a)} for a in assignments}, ""
    except GradebookError as error:
        return {}, str(error)
