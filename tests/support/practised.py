"""What the check of a kit says of many answers, on any Python that runs the kit: python practised.py KIT FILE

FILE is JSON: the notebook's cells as [name, source] and answers as [exercise, source]. Prints a list of sentences for each.
"""

import io
import json
import linecache
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path


def sentences(kit: str, file: str) -> list[list[str]]:
    sys.path.insert(0, kit)
    import numpy as np

    from exercises import practice

    task = json.loads(Path(file).read_text(encoding="utf-8"))
    found = []
    for exercise, answer in task["answers"]:
        names = {"__name__": "__main__"}
        for name, source in task["cells"]:
            code = answer if name == exercise else source
            linecache.cache[f"<{name}>"] = (len(code), None, code.splitlines(keepends=True), f"<{name}>")
            exec(compile(code, f"<{name}>", "exec"), names)
        practice.VERDICTS.clear()
        np.random.seed(0)  # noqa: NPY002  (some answers draw from it)
        with suppress(practice.NotYet), redirect_stdout(io.StringIO()):
            exec(f"check({exercise!r})", names)
        found.append(list(practice.VERDICTS[exercise].messages))
    return found


if __name__ == "__main__":
    print(json.dumps(sentences(*sys.argv[1:])))
