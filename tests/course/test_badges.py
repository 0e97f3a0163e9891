"""What student copies have when settings.ini says where the course is published, and that it costs nothing elsewhere."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from answers import submission
from classes import ENVIRONMENT
from copies import ROOT, copy_of_the_project, files, python

from grader import cli
from grader.badges import FETCH, Published, published, with_badges
from grader.course import modules
from grader.course import settings as course_settings
from grader.errors import CourseError
from grader.kit import requirements
from grader.notebook import text_of
from grader.student_copies import has_work

MODULE = "04_attention"
COPY = f"modules/{MODULE}/attention.ipynb"
BADGES = ["elsewhere-text", "fetch-kit"]
SITE = Published("https://github.com/someone/course", "main", "https://someone.github.io/course")


def settings(folder: Path, **values: str) -> Path:
    """The project's settings.ini with these words about where it is published, and no others."""
    text = (ROOT / "settings.ini").read_text(encoding="utf-8")
    for key in {"user", "git_url", "doc_host", "doc_baseurl", *values}:
        text = re.sub(rf"^{key} =.*\n", "", text, flags=re.MULTILINE)
    more = "".join(f"{key} = {value}\n" for key, value in values.items())
    (folder / "settings.ini").write_text(f"{text}{more}", encoding="utf-8")
    return folder


# --- where it is published --------------------------------------------------------------------------------------------


def test_without_a_user_nothing_is_said_of_it(tmp_path):
    assert published(settings(tmp_path)) is None
    assert published(settings(tmp_path, user="", git_url="https://git.example.org/b")) is None
    for module in modules():
        ids = [cell["id"] for cell in notebook_of(ROOT, module)["cells"]]
        assert [id_ for id_ in ids if id_ in BADGES] == (BADGES if published() else [])


def test_a_repository_on_github_needs_a_user_alone(tmp_path):
    where = published(settings(tmp_path, user="someone"))
    assert where == Published("https://github.com/someone/tinytorch", "main", "https://someone.github.io/tinytorch")
    assert where.kit(MODULE) == f"https://someone.github.io/tinytorch/kits/tinytorch-{MODULE}.zip"
    opened = "?urlpath=lab%2Ftree%2Fmodules%2F04_attention%2Fattention.ipynb"
    assert where.links(COPY) == {
        "Colab": f"https://colab.research.google.com/github/someone/tinytorch/blob/main/{COPY}",
        "Binder": f"https://mybinder.org/v2/gh/someone/tinytorch/main{opened}",
    }


def test_other_hosts_have_binder_only(tmp_path):
    gitlab = published(
        settings(tmp_path, user="a/group", git_url="https://gitlab.com/%(user)s/%(repo)s", branch="of/2026")
    )
    assert gitlab is not None and gitlab.site == "https://a.gitlab.io/group/tinytorch"
    binder = gitlab.links(COPY)
    assert list(binder) == ["Binder"]
    assert binder["Binder"].startswith(
        "https://mybinder.org/v2/gl/a%2Fgroup%2Ftinytorch/of%2F2026?urlpath=lab%2Ftree%2F"
    )
    git = "https://git.example.org/course.git"
    other = published(settings(tmp_path, user="a", git_url=git, doc_host="https://example.org/", doc_baseurl="/"))
    assert other == Published(git, "main", "https://example.org")
    assert list(other.links(COPY)) == ["Binder"]
    assert "/v2/git/https%3A%2F%2Fgit.example.org%2Fcourse.git/main?" in other.links(COPY)["Binder"]


def test_the_site_of_a_repository_that_is_named_as_its_host_is_at_the_top_of_it(tmp_path):
    where = published(settings(tmp_path, user="someone", repo="Someone.github.io"))
    assert where is not None and where.kit(MODULE) == f"https://someone.github.io/kits/tinytorch-{MODULE}.zip"


def test_files_of_a_repository_have_addresses_on_hosts_that_are_known():
    for git in ("https://github.com/a/b", "https://github.com/a/b.git"):
        assert Published(git, "main", "").file("README.md") == "https://github.com/a/b/blob/main/README.md"
    assert Published("https://codeberg.org/a/b", "main", "").file("README.md") == ""


@pytest.mark.parametrize("broken", ["user = a\nuser = b\n", "user\n", "[DEFAULT\n"])
def test_settings_that_cannot_be_read_are_one_sentence(broken, tmp_path, monkeypatch, capsys):
    text = (settings(tmp_path) / "settings.ini").read_text(encoding="utf-8")
    (tmp_path / "settings.ini").write_text(f"{text}{broken}", encoding="utf-8")
    with pytest.raises(CourseError, match=r"^settings\.ini: ") as caught:
        published(tmp_path)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("grader.course.settings", lambda: course_settings(tmp_path))
    assert cli.main(["course"]) == 1
    assert capsys.readouterr().err.startswith("grader: settings.ini: ")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"user": "some one"}, "user is 'some one'; write a name without spaces"),
        ({"user": "a", "branch": "'main'"}, "branch is \"'main'\"; write a name without spaces"),
        (
            {"user": "a", "git_url": "git@github.com:a/b"},
            "git_url is 'git@github.com:a/b'; write an address as https://",
        ),
        (
            {"user": "a", "doc_host": "example.org"},
            "doc_host and doc_baseurl is 'example.org/tinytorch'; write doc_host",
        ),
        ({"user": "a", "doc_host": 'https://x.org/")'}, "doc_host and doc_baseurl is"),
        (
            {"user": "a", "git_url": "https://git.x.org/b"},
            "nobody knows where pages of git.x.org are published; set doc_host",
        ),
        ({"user": "a", "doc_host": "https://x.org/%20"}, "'%' must be followed by"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_can_be_no_address_is_one_sentence(values, said, tmp_path):
    with pytest.raises(CourseError) as caught:
        published(settings(tmp_path, **values))
    assert str(caught.value).startswith(f"settings.ini: {said}") and "\n" not in str(caught.value)


# --- the cell that fetches the kit, by itself -------------------------------------------------------------------------


def code_of(where: Published = SITE, module: str = MODULE) -> str:
    """The source of the cell in a student copy."""
    cells = with_badges({"cells": [{"id": "title-text"}]}, module, where)["cells"]
    return text_of(cells[2]["source"])


def fetch(folder: Path, address: str, variable: str = "COLAB_RELEASE_TAG", before: str = "", after: str = "") -> str:
    """Run the cell in a folder, between other lines; what is printed."""
    code = f"{before}\n{FETCH.read_text(encoding='utf-8')}\nfetch_kit({address!r})\n{after}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COLAB", "BINDER"))}
    environment |= {variable: "1"} if variable else {}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder, and the address under which it is on the web."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name is the base class's)
            pass

    folder = tmp_path_factory.mktemp("served")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def serve(served: tuple[Path, str], name: str, content: dict[str, bytes]) -> str:
    """Put an archive on the web; its address."""
    folder, address = served
    archived = io.BytesIO()
    with zipfile.ZipFile(archived, "w") as archive:
        for file, data in content.items():
            archive.writestr(file, data)
    (folder / name).write_bytes(archived.getvalue())
    return f"{address}/{name}"


def test_a_students_line_of_code_ends_before_column_100():
    assert max(map(len, code_of().splitlines())) < 100
    assert [type(node) for node in ast.parse(code_of()).body] == [ast.FunctionDef, ast.Expr]


def test_elsewhere_the_cell_does_nothing(tmp_path):
    watched = (
        "import sys; sys.addaudithook(lambda e, a: print(e) if e.startswith(('socket', 'urllib', 'shutil')) else None)"
    )
    assert fetch(tmp_path, "http://127.0.0.1:1/kit.zip", variable="", before=watched) == ""
    assert not list(tmp_path.iterdir())
    assert "urllib.Request" in fetch(tmp_path, "http://127.0.0.1:1/kit.zip", before=watched)


@pytest.mark.parametrize("variable", ["COLAB_RELEASE_TAG", "BINDER_LAUNCH_HOST"])
def test_files_of_the_student_stay_as_they_are(variable, tmp_path, served):
    kit = {"kit/a.ipynb": b"handed out", "kit/b.ipynb": b"other", "kit/course.py": b"new", "kit/tinytorch/x.py": b"x"}
    address = serve(served, "kit.zip", kit | {"kit/empty/": b""})
    (tmp_path / "a.ipynb").write_text("mine")
    (tmp_path / "course.py").write_text("mine, too")
    assert fetch(tmp_path, address, variable) == ""
    assert files(tmp_path) == {"a.ipynb": b"mine", "course.py": b"mine, too", "tinytorch/x.py": b"x"}


def test_what_was_fetched_can_be_imported_at_once(tmp_path, served):
    """Though it was looked for before, on a disk whose clock is too coarse to tell that the folder has changed since."""
    address = serve(served, "kit.zip", {"kit/ourlibrary/__init__.py": b"value = 3"})
    before = """
import os, sys
sys.path[0] = os.getcwd()
try:
    import ourlibrary
except ImportError:
    then = os.stat(".").st_mtime_ns
"""
    after = "os.utime('.', ns=(then, then)); import ourlibrary; print(ourlibrary.value)"
    assert fetch(tmp_path, address, before=before, after=after) == "3\n"
    assert fetch(tmp_path, address, before="import sys; sys.path.remove('')", after="import ourlibrary") == ""


def test_an_evil_archive_writes_nothing_outside(tmp_path, served):
    here, outside = tmp_path / "here", tmp_path / "outside"
    here.mkdir()
    outside.mkdir()
    (here / "link").symlink_to(outside)
    evil = [
        "../a",
        "kit/../../a",
        f"{outside}/a",
        f"kit/{outside}/a",
        "kit/link/a",
        "../outside/a",
        "kit/x/../../outside/a",
    ]
    address = serve(served, "evil.zip", {**dict.fromkeys(evil, b"evil"), "kit/good": b"good"})
    assert fetch(here, address) == ""
    assert not list(outside.iterdir()) and (here / "good").is_file()
    assert {name.partition("/")[0] for name in files(tmp_path)} == {"here"}


def test_what_cannot_be_fetched_is_one_sentence(tmp_path, served):
    folder, address = served
    (folder / "no.zip").write_bytes(b"this is no archive")
    whole = serve(served, "half.zip", {"kit/a": os.urandom(5000)})
    (folder / "half.zip").write_bytes((folder / "half.zip").read_bytes()[:3000])
    serve(served, "taken.zip", {"kit/tinytorch/a": b"a"})
    (tmp_path / "tinytorch").write_text("a file of mine")
    for bad in (
        "http://127.0.0.1:1/kit.zip",
        f"{address}/none.zip",
        f"{address}/no.zip",
        whole,
        f"{address}/taken.zip",
        "x",
    ):
        said = fetch(tmp_path, bad)
        assert re.fullmatch(
            rf"{re.escape(bad)} was not fetched \(.+\)\. Run this cell again, or ask your instructor\.\n", said
        )
    assert files(tmp_path) == {"tinytorch": b"a file of mine"}


# --- the course as it is made then ------------------------------------------------------------------------------------


def notebook_of(root: Path, module: str) -> Any:
    return json.loads((root / "modules" / module / f"{module.partition('_')[2]}.ipynb").read_text(encoding="utf-8"))


def solved(root: Path, module: str = MODULE, edit: Callable[[list[Any]], None] = lambda cells: None) -> dict[str, Any]:
    """The student copy of a project with right answers in it."""
    right = {name_of(c): c["source"] for c in json.loads(submission(module=module))["cells"] if name_of(c)}
    notebook: dict[str, Any] = notebook_of(root, module)
    for cell in notebook["cells"]:
        if name_of(cell):
            cell["source"] = right[name_of(cell)]
    edit(notebook["cells"])
    return notebook


def name_of(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, served: tuple[Path, str]) -> Path:
    """A copy of the project that is published on a server of this machine."""
    root = copy_of_the_project(tmp_path_factory.mktemp("published"))
    settings(root, user="someone", doc_host=served[1], doc_baseurl="/course")
    for arguments in (["course"], ["course", "--check"], ["kit"]):
        done = python(root, "-m", "grader", *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    shutil.copytree(root / "dist", served[0] / "course" / "kits")
    return root


@pytest.mark.long
def test_each_copy_has_links_and_the_cell_below_its_title(project, served):
    for module in modules():
        notebook, plain = notebook_of(project, module), notebook_of(ROOT, module)
        assert [c["id"] for c in notebook["cells"][1:3]] == BADGES
        ours, theirs = ([c for c in n["cells"] if c["id"] not in BADGES] for n in (notebook, plain))
        assert ours == theirs
        text, code = (text_of(c["source"]) for c in notebook["cells"][1:3])
        path = f"modules/{module}/{module.partition('_')[2]}.ipynb"
        assert f"[Open in Colab](https://colab.research.google.com/github/someone/tinytorch/blob/main/{path})" in text
        assert "[Open in Binder](https://mybinder.org/v2/gh/someone/tinytorch/main?urlpath=" in text
        assert "![" not in text and "<img" not in text  # a picture would be loaded from elsewhere
        assert code.endswith(f'\nfetch_kit("{served[1]}/course/kits/tinytorch-{module}.zip")')
        assert not has_work(project / path)


@pytest.mark.slow
def test_on_colab_a_solved_notebook_alone_is_enough(project, served, tmp_path, monkeypatch):
    """In an empty folder, as Colab has it; what the kit brings is imported, and not the project."""
    import nbformat
    from nbclient import NotebookClient

    where = "import exercises, tinytorch; print(exercises.__file__, tinytorch.__file__)"
    notebook = nbformat.reads(json.dumps(solved(project)), as_version=4)
    notebook.cells = [c for c in notebook.cells if "demo" not in c.metadata.get("tags", ())]
    notebook.cells.append(nbformat.v4.new_code_cell(where))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = {name_of(c) or c.id: "".join(o.get("text", "") for o in c.get("outputs", ())) for c in notebook.cells}
    assert said["fetch-kit"] == ""
    tests = [text for name, text in said.items() if name.startswith("test_")]
    assert re.fullmatch(r"(\d+) of \1 exercises done: (\d+) of \2 points\n", tests[-1])
    assert list(said.values())[-1].split() == [str(tmp_path / p / "__init__.py") for p in ("exercises", "tinytorch")]


@pytest.mark.long
def test_the_commands_of_a_kit_go_well_with_the_cell(project, tmp_path):
    with zipfile.ZipFile(project / "dist" / "tinytorch-02_activations.zip") as archive:
        archive.extractall(tmp_path)
    kit = tmp_path / "tinytorch-02_activations"
    (kit / "activations.ipynb").write_text(json.dumps(solved(project, "02_activations")))
    known = json.loads((kit / "course.json").read_text(encoding="utf-8"))["cells"]
    assert [(c["name"], c["kind"]) for c in known if c["id"] in BADGES] == [("fetch-kit", "demo")]  # not run by `check`
    for verb in ("check", "export"):
        command = [sys.executable, "course.py", verb]
        done = subprocess.run(command, cwd=kit, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "fetch" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert "fetch_kit" not in (kit / "tinytorch" / "core" / "activations.py").read_text(encoding="utf-8")


# one line is in the cell that was handed out, too
OWN = """
def root(x):
    try:
        return x**0.5
    except Exception as error:
        print(error)
"""


@pytest.mark.jail
@pytest.mark.long
def test_submissions_with_and_without_the_cell_are_graded_alike(project, tmp_path):
    """Whether the course was published when a copy was handed out, or is when it is graded, and whatever was made of the cell."""

    def needed(cells: list[Any]) -> None:
        """The cell fetches from an older address, and has a function of the student's that an answer needs."""
        (cell,) = (c for c in cells if c["id"] == "fetch-kit")
        cell["source"] = text_of(cell["source"]).replace("/course/", "/older/") + OWN
        (answer,) = (c for c in cells if name_of(c) == "scale_scores")
        answer["source"] = text_of(answer["source"]).replace("math.sqrt", "root")

    def bare(cells: list[Any]) -> None:
        for cell in cells:
            cell.pop("id", None)

    handed_in = {
        "before": submission(),
        "with": json.dumps(solved(project)).encode(),
        "edited": json.dumps(solved(project, edit=needed)).encode(),
        "bare": json.dumps(solved(project, edit=bare)).encode(),
    }
    assert b"root(" in handed_in["edited"]
    for student, data in handed_in.items():
        folder = tmp_path / "class" / "submitted" / student / MODULE
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_bytes(data)
    for name, root in {"published": project, "as_it_is": ROOT}.items():
        group = shutil.copytree(tmp_path / "class", tmp_path / name)
        done = python(root, "-m", "grader", "grade", MODULE, "--class", str(group), "--json")
        rows = {row["student"]: row for row in map(json.loads, done.stdout.splitlines())}
        assert rows.keys() == handed_in.keys(), done.stderr
        for row in rows.values():
            assert row["status"] == "graded" and not row["repairs"], row
            assert row["scores"] == rows["before"]["scores"] and sum(row["scores"].values()) == 28, row


# --- Binder -----------------------------------------------------------------------------------------------------------


def test_binder_installs_what_a_kit_needs(tmp_path):
    assert {p.name for p in (ROOT / ".binder").iterdir()} == {"requirements.txt", "runtime.txt"}
    assert (ROOT / ".binder" / "requirements.txt").read_bytes() == requirements()
    oldest = re.search(r"^min_python = (.*)$", (ROOT / "settings.ini").read_text(encoding="utf-8"), re.MULTILINE)
    assert oldest and (ROOT / ".binder" / "runtime.txt").read_text() == f"python-{oldest[1]}\n"
