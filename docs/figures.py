"""Draw the pictures of README and docs/: keep what cells of the attention notebook draw, and run the examples."""

import base64
import subprocess
import sys
from pathlib import Path

from grader.build import run_notebook
from grader.course import module_notebook
from grader.kit import EXAMPLES, SHARED

FIGURES = {"training": "reversal.png", "two-heads": "two_heads.png"}


def main() -> None:
    notebook = run_notebook(module_notebook("04_attention"))
    for cell in notebook.cells:
        if cell.id in FIGURES:
            (png,) = (o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
            Path(__file__).with_name(FIGURES[cell.id]).write_bytes(base64.b64decode(png))
    for example in sorted(EXAMPLES.glob("*.py")):
        if example != SHARED:
            picture = str(Path(__file__).with_name(f"{example.stem}.png"))
            subprocess.run([sys.executable, str(example), picture], check=True)


if __name__ == "__main__":
    main()
