"""Draw the pictures of README and docs/: keep what cells of the notebooks draw, and run the examples."""

import base64
import subprocess
import sys
from pathlib import Path

from grader.build import run_notebook
from grader.course import module_notebook, modules
from grader.kit import EXAMPLES, SHARED

# module -> cell -> picture
FIGURES = {
    "04_attention": {"training": "reversal.png", "two-heads": "two_heads.png"},
    "06_transformer": {"training": "writing.png", "heads": "heads.png"},
}


def main() -> None:
    for module, cells in ((m, FIGURES[m]) for m in modules() if m in FIGURES):
        for cell in run_notebook(module_notebook(module)).cells:
            if cell.id in cells:
                (png,) = (o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
                Path(__file__).with_name(cells[cell.id]).write_bytes(base64.b64decode(png))
    for example in sorted(EXAMPLES.glob("*.py")):
        if example != SHARED:
            picture = str(Path(__file__).with_name(f"{example.stem}.png"))
            subprocess.run([sys.executable, str(example), picture], check=True)


if __name__ == "__main__":
    main()
