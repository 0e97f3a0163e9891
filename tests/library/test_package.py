"""What an importer gets: a wheel that needs NumPy only, typed, on every Python and NumPy that it promises."""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
from calls import calls_of_all_modules

import tinytorch

ROOT = Path(__file__).parents[2]
SETTINGS = ConfigParser()
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(path.stem for path in (ROOT / "tinytorch" / "core").glob("[a-z]*.py"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def run(
    *command: object, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def test_pyproject_and_settings_say_the_same():
    """pip reads pyproject.toml, nbdev reads settings.ini, and `make course` writes the version into the library."""
    settings, project = SETTINGS["DEFAULT"], PROJECT["project"]
    assert project["name"] == settings["dist_name"]
    assert project["description"] == settings["description"]
    assert project["keywords"] == settings["keywords"].split()
    assert project["requires-python"] == f">={settings['min_python']}"
    assert project["dependencies"] == settings["requirements"].split()
    assert project["license"].lower() == settings["license"]
    assert [author["name"] for author in project["authors"]] == [settings["author"]]
    assert tinytorch.__version__ == settings["version"]


def test_the_pythons_that_are_promised_are_those_that_are_tested():
    said = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if "Python ::" in c]
    assert said == PYTHONS


# --- types ------------------------------------------------------------------------------------------------------------


def faults(folder: Path, programs: dict[str, str]) -> set[tuple[str, int]]:
    """Where mypy finds fault: name of the program and number of the line."""
    for name, source in programs.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        os.devnull,
        *(f"{name}.py" for name in programs),
    ]
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^(\w+)\.py:(\d+): error:", done.stdout, re.MULTILINE)
    assert done.returncode < 2 and done.stdout.count(": error:") == len(found), done.stdout + done.stderr
    return {(name, int(line)) for name, line in found}


@pytest.mark.long
def test_programs_of_importers_are_clean_under_mypy_and_mistakes_are_found(tmp_path):
    pytest.importorskip("mypy", reason="package mypy is not installed")
    calls = {f"uses_{name}": c for name, c in calls_of_all_modules().items() if c.program}
    programs = {name: c.program + "\n".join(c.mistakes) for name, c in calls.items()}
    mistakes = {(name, c.program.count("\n") + 1 + n) for name, c in calls.items() for n in range(len(c.mistakes))}
    assert faults(tmp_path, programs) == mistakes


def signatures(body: list[ast.stmt]) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def annotated(body: list[ast.stmt]) -> set[str]:
    """Names of variables; aliases of types are none."""
    found = [n for n in body if isinstance(n, ast.AnnAssign) and ast.unparse(n.annotation) != "TypeAlias"]
    return {n.target.id for n in found if isinstance(n.target, ast.Name)}


def same_parameters(stubs: list[ast.FunctionDef], function: Any, method: bool) -> bool:
    """The first overload has the names and defaults of the function, others may have NumPy's words besides."""
    if isinstance(function, property):
        return any(getattr(d, "id", "") == "property" for d in stubs[0].decorator_list)
    there = list(inspect.signature(function).parameters.values())[method:]
    for n, stub in enumerate(stubs):
        a = stub.args
        names = [arg.arg for arg in [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]][
            method:
        ]
        known = [p.name for p in there]
        if names != known and not (len(stubs) > 1 and set(names) <= {*known, "axis", "keepdims"}):
            return False
        defaults = [ast.literal_eval(d) for d in a.defaults]
        real = [p.default for p in there if p.default is not p.empty]
        # a function cannot be written down in a type: there it is ...
        if n == 0 and defaults != [... if callable(default) else default for default in real]:
            return False
    return True


@pytest.mark.parametrize("module", MODULES)
def test_types_are_those_of_the_code(module):
    """Every public name has its type, with the parameters and defaults that it really has, and no other name has one."""
    library = importlib.import_module(f"tinytorch.core.{module}")
    body = ast.parse((ROOT / "tinytorch" / "core" / f"{module}.pyi").read_text(encoding="utf-8")).body
    functions, classes = signatures(body), {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    assert functions.keys() | classes.keys() | annotated(body) == set(library.__all__)
    for name, stubs in functions.items():
        assert same_parameters(stubs, inspect.unwrap(getattr(library, name)), False), name
    for name, node in classes.items():
        kind = getattr(library, name)
        methods = signatures(node.body)
        fields = annotated(node.body)
        public = {n for n in vars(kind) if not n.startswith("_") or n in ("__init__", "__call__", "__len__")}
        assert public - fields <= methods.keys(), public - fields - methods.keys()
        for method, stubs in methods.items():
            if (
                method in ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rmatmul__")
                or len(stubs[0].args.args) < 2
            ):
                assert hasattr(kind, method)
            elif not (method.startswith("__") and method.endswith("__") and method not in ("__init__", "__call__")):
                function = vars(kind)[method]
                function = function if isinstance(function, property) else inspect.unwrap(function)
                assert same_parameters(stubs, function, True), f"{name}.{method}"


# --- the wheel --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "tinytorch", source / "tinytorch", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, source)
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.long
def test_the_wheel_holds_the_library_and_needs_numpy_only(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(n).decode() for n in names if n.endswith("/METADATA"))
    assert {n.split("/")[0].split("-")[0] for n in names} == {"tinytorch", "tinytorch_attention"}
    assert {f"tinytorch/core/{module}.{kind}" for module in MODULES for kind in ("py", "pyi")} <= set(names)
    assert "tinytorch/py.typed" in names
    needed = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    assert [line for line in needed if "; extra ==" not in line] == ["numpy>=2.0.2"]
    assert "\nName: tinytorch-attention\n" in metadata
    assert not any(name.endswith("/entry_points.txt") for name in names)
    assert f"\nVersion: {tinytorch.__version__}\n" in metadata and "\nRequires-Python: >=3.11\n" in metadata


def interpreter(version: str) -> str | None:
    """A Python of that version: one on the PATH or in PYTHONS, which holds folders, that can make environments."""
    path = os.pathsep.join([os.environ.get("PYTHONS", ""), os.environ.get("PATH", "")])
    for name in (f"python{version}", "python3"):
        found = shutil.which(name, path=path)
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        if found is None:
            continue
        said = subprocess.run([found, "-c", code], capture_output=True, text=True, check=False).stdout
        if said.strip() == version:
            return found
    return None


@pytest.mark.slow
@pytest.mark.parametrize("numpy", ["2.0.2", "newest"])
@pytest.mark.parametrize("python", PYTHONS)
def test_the_wheel_works_in_a_clean_environment(wheel, python, numpy, tmp_path):
    """The library's own tests and the table of exceptions, on the installed wheel; nothing else of the project can be imported."""
    found = interpreter(python)
    if found is None:
        pytest.skip(f"package python{python} is not installed")
    if numpy == "2.0.2" and python in ("3.13", "3.14"):
        pytest.skip(f"NumPy 2.0.2 has no wheels for Python {python}")
    run(found, "-m", "venv", tmp_path / "venv")
    inside = tmp_path / "venv" / "bin" / "python"
    packages = ["pytest", "pytest-timeout", "hypothesis", "numpy" if numpy == "newest" else f"numpy=={numpy}"]
    run(inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, *packages)
    shutil.copytree(
        ROOT / "tests" / "library",
        tmp_path / "library",
        ignore=shutil.ignore_patterns("__pycache__", "test_package.py"),
    )
    # what Python and NumPy say when they raise chooses sentences for students
    shutil.copy(ROOT / "tests" / "exercises" / "test_exceptions.py", tmp_path / "library")
    for folder in ("autograded_tests", "exercises"):
        shutil.copytree(ROOT / folder, tmp_path / "references" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    where = run(inside, "-P", "-c", "import tinytorch; print(tinytorch.__file__)", env=environment).stdout
    assert where.startswith(str(tmp_path / "venv"))
    environment["PYTHONPATH"] = str(tmp_path / "references")
    few = ["-k", "(not random and not cover) or random_graphs[0]"]  # the numbers depend on neither Python nor NumPy
    run(inside, "-P", "-m", "pytest", "-q", *few, "library", cwd=tmp_path, env=environment)
