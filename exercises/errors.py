"""What can be wrong with the files of the exercises."""


class ExerciseError(Exception):
    """A file in autograded_tests/ does not hold the exercise that it should; the message names the file."""
