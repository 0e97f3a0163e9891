"""What a kit says of its notebook as it was handed out, so that its `check` sees what was changed since."""

import json

from autograded_tests import exercises_of
from grader.notebook import Cell, CellKind, grade_id, kind_of, text_of


def handed_out(module: str, notebook: str, cells: list[Cell]) -> bytes:
    """The kit's course.json: exercises with points, and every cell of the course."""
    content = {
        "notebook": notebook,
        "exercises": [{"name": e.name, "points": e.points, "defines": e.defines} for e in exercises_of(module)],
        "cells": [
            {
                "type": c["cell_type"],
                "name": grade_id(c) or c["id"],
                "id": c.get("id", ""),
                "kind": kind_of(c),
                "source": text_of(c["source"]),
            }
            for c in cells
            if kind_of(c) != CellKind.TEXT
        ],
    }
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
