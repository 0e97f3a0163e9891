"""What a student gets: the notebook and what lies beside it, the library of the modules before it, and three commands, in one archive."""

import ast
import io
import json
import re
import zipfile
from pathlib import Path

from autograded_tests import exercises_of
from exercises.data import Data
from exercises.tables import pack
from grader.classroom import write_whole
from grader.course import ROOT, modules, student_copy
from grader.errors import CourseError
from grader.handed_out import handed_out
from grader.notebook import Cell, CellKind, kind_of, text_of
from grader.student_copies import beside, has_work

FILES = Path(__file__).parent / "kit_files"
EXAMPLES = ROOT / "examples"
SHARED = EXAMPLES / "training.py"  # what the examples have in common
PACKAGES = (
    "jupyterlab",
    "matplotlib",
    "numpy",
    "ipykernel",
    "jupyter-client",
    "nbdev",
    "execnb",
    "fastcore",
    "setuptools",
)
NOT_FOR_CHECKS = ("errors", "stand_ins")  # files of exercises/
PRACTICE = Data(seed=1, B=2, H=3, L=5, S=4, D=7, Dv=6)  # other numbers than those that are graded with
DATE = (2026, 1, 1, 0, 0, 0)  # of every file, so that the same course gives the same archive


def make_kit(module: str, folder: Path) -> Path:
    """Write tinytorch-NN_name.zip; its path. Raises CourseError if there is no such module, or no student copy as it was made.

    An example goes into the kit of the last module that it needs.
    """
    files = kit_files(module)
    path, archived = folder / f"tinytorch-{module}.zip", io.BytesIO()
    with zipfile.ZipFile(archived, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(f"tinytorch-{module}/{name}", DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, data)
    write_whole(path, archived.getvalue())
    return path


def kit_files(module: str) -> dict[str, bytes]:
    """Name and content of every file in a kit. Raises CourseError, as make_kit."""
    from jinja2 import Template

    copy = student_copy(module)
    notebook = copy.stem
    if has_work(copy):
        raise CourseError(
            f"{copy.relative_to(ROOT)}: somebody worked in it, so it is not handed out; move it to a folder of your own and "
            "run `make course`"
        )
    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    title = text_of(cells[0]["source"]).splitlines()[0].removeprefix("# ")
    exercises = [(e.name, e.points) for e in exercises_of(module)]
    earlier = [m.partition("_")[2] for m in modules()[: modules().index(module)]]
    library = ["__init__.py", "core/__init__.py", *(f"core/{name}.py" for name in earlier)]
    files = {f"tinytorch/{name}": (ROOT / "tinytorch" / name).read_bytes() for name in library}
    examples = [p for p in sorted(EXAMPLES.glob("*.py")) if p != SHARED and _last_module(p) == module]
    for path in [*examples, SHARED] if examples else ():
        files[f"examples/{path.name}"] = path.read_bytes()
    others = beside(module)
    readme = Template((FILES / "README.md.j2").read_text(encoding="utf-8"), keep_trailing_newline=True)
    files["README.md"] = readme.render(
        title=title,
        module=module,
        notebook=notebook,
        exercises=exercises,
        examples=bool(examples),
        written=any(kind_of(c) == CellKind.WRITTEN for c in cells),
        beside=list(others),
    ).encode()
    if exercises:
        files |= practice_files(module, cells)
    files["Makefile"], files["course.py"] = ((FILES / name).read_bytes() for name in ("Makefile", "course.py"))
    files["requirements.txt"] = requirements()
    files["course.json"] = handed_out(module, notebook, cells)
    files[f"{notebook}.ipynb"] = copy.read_bytes()
    for name in others.keys() & files.keys():
        raise CourseError(
            f"solutions/{module}/{name}: a kit has a file of its own with this name; call it something else"
        )
    return files | others


def practice_files(module: str, cells: list[Cell]) -> dict[str, bytes]:
    """What `check` needs in a kit: how answers are judged, and tables of numbers to judge them with."""
    later = {m.partition("_")[2] for m in modules()[modules().index(module) + 1 :]}
    code = {path for path in (ROOT / "exercises").rglob("*.py") if path.stem not in NOT_FOR_CHECKS}
    code -= {ROOT / "exercises" / "probes" / f"{name}.py" for name in later}
    files = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in code}
    practice = [exercise.on(PRACTICE) for exercise in exercises_of(module)]
    return files | {f"exercises/{module}.tables": pack(practice, given_names(cells))}


def given_names(cells: list[Cell]) -> set[str]:
    """The functions and classes in the cells of a notebook that are no answers."""
    code = [
        text_of(cell["source"])
        for cell in cells
        if cell["cell_type"] == "code" and not cell["metadata"].get("nbgrader", {}).get("solution")
    ]
    statements = [s for source in code for s in ast.parse(re.sub(r"^\s*[%!].*", "", source, flags=re.MULTILINE)).body]
    return {s.name for s in statements if isinstance(s, ast.FunctionDef | ast.ClassDef)}


def _last_module(example: Path) -> str:
    """The last module whose library a script imports, or "". Raises CourseError if no notebook makes one of these libraries."""
    made = {module.partition("_")[2]: module for module in modules()}
    text = example.read_text(encoding="utf-8")
    names = re.findall(r"^\s*(?:from|import) tinytorch\.core\.(\w+)", text, re.MULTILINE)
    for name in names:
        if name not in made:
            raise CourseError(
                f"examples/{example.name} imports tinytorch.core.{name}, which no notebook makes; delete the example, or put the "
                "module back"
            )
    return max((made[name] for name in names), default="")


def requirements(root: Path = ROOT) -> bytes:
    """What to install for the notebooks, for pip. Raises CourseError if requirements.lock does not have it."""
    lock = (root / "requirements.lock").read_text(encoding="utf-8")
    return "".join(f"{name}=={_locked(name, lock)}\n" for name in PACKAGES).encode()


def _locked(package: str, lock: str) -> str:
    """The version in requirements.lock."""
    return re.split(r"[\s;\\]", lock_entry(package, lock).partition("==")[2], maxsplit=1)[0]


def lock_entry(package: str, lock: str) -> str:
    """The lines about a package: version and digests, those for the oldest Python if there are several. Raises CourseError."""
    found = re.search(rf"^{re.escape(package)}==.*\n?(?:    --hash=.*\n?)*", lock, re.MULTILINE)
    if found is None:
        raise CourseError(f"requirements.lock: {package} is not in it; run `make lock`")
    return found.group()
