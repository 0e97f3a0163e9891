"""`grader collect` and `grader roster`, given as commands, and what lies in the class folder afterwards."""

import contextlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from answers import Everything, submission
from archives import Made
from nbgrader.utils import parse_utc
from packing import pack

from grader.cli import main
from grader.origin import Origin, read_origin

MODULE = "04_attention"
OTHER_MODULE = "02_activations"


@cache
def _notebook(module: str, blank: bool) -> str:
    return submission(blank=Everything() if blank else (), module=module).decode()


def notebook(mark: object, blank: bool = False, module: str = MODULE) -> bytes:
    """A notebook with right answers, or as it was handed out, that is unlike any with another mark."""
    data = json.loads(_notebook(module, blank))
    data["metadata"]["mark"] = str(mark)
    return json.dumps(data).encode()


@dataclass(frozen=True)
class Said:
    status: int
    lines: list[str]
    errors: str

    def about(self, path: str) -> list[str]:
        """The lines whose file this is."""
        return [line for line in self.lines if re.match(rf"\w+ +{re.escape(path)}(:| ->|$)", line)]

    def verb(self, path: str) -> str:
        (line,) = self.about(path)
        return line.split()[0]


def said(*arguments: object) -> Said:
    """Run a command."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main([str(a) for a in arguments])
    return Said(status, out.getvalue().splitlines(), errors.getvalue())


@dataclass(frozen=True)
class Class:
    """A class in a folder; archives lie beside it."""

    folder: Path

    def collect(self, archive: Path | Mapping[str, bytes] | Made, *options: str, module: str = MODULE) -> Said:
        """Collect an archive, which is packed if only its files are given."""
        if isinstance(archive, Made):
            archive = archive.files
        if not isinstance(archive, Path):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            archive = pack(self.folder.parent / "archive.zip", archive)
        return said("collect", module, archive, "--class", self.folder, *options)

    def roster(self, file: Path | str, encoding: str = "utf-8") -> Said:
        if isinstance(file, str):
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            (self.folder.parent / "roster.csv").write_bytes(file.encode(encoding))
            file = self.folder.parent / "roster.csv"
        return said("roster", file, "--class", self.folder)

    def notebooks(self, module: str = MODULE) -> dict[str, bytes]:
        """What would be graded, by student."""
        name = f"{module.partition('_')[2]}.ipynb"
        return {p.parents[1].name: p.read_bytes() for p in (self.folder / "submitted").glob(f"*/{module}/{name}")}

    def students(self, module: str = MODULE) -> set[str]:
        """Everyone who has a folder, whatever is in it."""
        return {p.parent.name for p in (self.folder / "submitted").glob(f"*/{module}")}

    def whose(self, data: bytes, module: str = MODULE) -> str:
        """The one student whose notebook this is."""
        (student,) = [student for student, found in self.notebooks(module).items() if found == data]
        return student

    def origin(self, student: str, module: str = MODULE) -> Origin:
        return read_origin(self.folder / "submitted" / student / module)

    def time(self, student: str, module: str = MODULE) -> datetime | None:
        """What timestamp.txt says, as nbgrader reads it; nothing if there is none."""
        path = self.folder / "submitted" / student / module / "timestamp.txt"
        return parse_utc(path.read_text(encoding="utf-8").strip()) if path.exists() else None

    def kept(self, student: str, module: str = MODULE) -> list[list[bytes]]:
        """The files of each attempt that is kept, in order, without what we write beside them."""
        folder = self.folder / "collected" / student / module
        attempts = sorted(folder.iterdir(), key=lambda p: int(p.name)) if folder.is_dir() else []
        own = ("origin.json", "timestamp.txt")
        return [[p.read_bytes() for p in sorted(a.rglob("*")) if p.is_file() and p.name not in own] for a in attempts]
