"""The one base of all errors of ours, and what can be wrong with the files of the exercises."""


class UserError(Exception):
    """The base: the message says what is wrong and what to do, and a command prints it and ends with status 1."""


class ExerciseError(UserError):
    """A file in autograded_tests/ does not hold the exercise that it should; the message names the file."""
