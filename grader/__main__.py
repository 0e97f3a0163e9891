"""python -m grader."""

import sys

from exercises.model import ExerciseError

try:
    from grader.cli import main
except ExerciseError as error:  # autograded_tests/ is read when it is imported
    sys.exit(f"grader: {error}")

sys.exit(main())
