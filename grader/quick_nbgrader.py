"""A quicker way to import what a gradebook needs of nbgrader.

`import nbgrader` imports its server extensions and, through jsonschema, an optional checker of web addresses; both take longer
than grading some notebooks, and a gradebook needs neither.
"""

import importlib
import importlib.util
import sys
import types

NEEDED = ("nbgrader.api", "nbgrader.plugins", "alembic.script")
CHECKER = "rfc3987_syntax"


def load() -> None:
    """Import what a gradebook needs, without the rest of nbgrader.

    Meant for a thread while the first submission is graded. An empty package stands for nbgrader meanwhile and is gone
    afterwards: who imports nbgrader later gets all of it.
    """
    spec = importlib.util.find_spec("nbgrader")
    if "nbgrader" in sys.modules or spec is None or spec.submodule_search_locations is None:
        return
    empty = types.ModuleType("nbgrader")
    empty.__path__, empty.__spec__ = list(spec.submodule_search_locations), spec
    no_checker = CHECKER not in sys.modules
    sys.modules["nbgrader"] = empty
    if no_checker:
        sys.modules[CHECKER] = None  # type: ignore[assignment]  # Python's own way to say: cannot be imported
    try:
        for name in NEEDED:
            importlib.import_module(name)
    finally:
        del sys.modules["nbgrader"]
        if no_checker:
            del sys.modules[CHECKER]
