"""The course in a browser: JupyterLite with the kits in it, and Pyodide, which is Python for browsers."""

from collections.abc import Sequence
from pathlib import Path


def build(folder: Path, modules: Sequence[str], bundle: bool) -> None:
    """Write JupyterLite into a folder."""
    folder.mkdir(parents=True)
