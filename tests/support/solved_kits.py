"""Unpack every kit in dist/ into a folder, with the right answers in its notebook: python tests/support/solved_kits.py FOLDER

A kit's commands can then be tried on a system that has nothing else of the project, such as Windows.
"""

import shutil
import sys
import zipfile
from pathlib import Path

from answers import submission

from grader.course import ROOT, module_notebook, modules


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for module in modules():
        with zipfile.ZipFile(ROOT / "dist" / f"tinytorch-{module}.zip") as archive:
            archive.extractall(folder)
        (folder / f"tinytorch-{module}" / module_notebook(module).name).write_bytes(submission(module=module))
        print(f"solved: {folder / f'tinytorch-{module}'}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
