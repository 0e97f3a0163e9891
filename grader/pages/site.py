"""The pages of the site."""

from collections.abc import Sequence
from pathlib import Path


def write_pages(folder: Path, chosen: Sequence[str]) -> None:
    """Write index.html and all that it leads to."""
    (folder / "index.html").write_text(
        "".join(f'<a href="browser/notebooks/index.html?path=tinytorch-{m}/{m[3:]}.ipynb">{m}</a>' for m in chosen)
    )
