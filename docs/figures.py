"""Draw the pictures of README and docs/: run the attention notebook and keep what its cells draw."""

import base64
from pathlib import Path

from grader.course import module_notebook, run_notebook

FIGURES = {"training": "reversal.png", "two-heads": "two_heads.png"}


def main() -> None:
    notebook = run_notebook(module_notebook("04_attention"))
    for cell in notebook.cells:
        if cell.id in FIGURES:
            (png,) = (o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {}))
            Path(__file__).with_name(FIGURES[cell.id]).write_bytes(base64.b64decode(png))


if __name__ == "__main__":
    main()
