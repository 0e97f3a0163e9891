"""What is in the site, and what is said where something of it cannot be had."""

import errno
import functools
import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from hosts import Open, serving
from pyodide import fetch

from grader import in_browser, site
from grader.classroom import write_whole
from grader.cli import main
from grader.course import modules
from grader.errors import CourseError

NOWHERE = "http://127.0.0.1:9"  # nothing listens there


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one, in a project that is elsewhere."""
    monkeypatch.setattr(in_browser, "ROOT", tmp_path)
    monkeypatch.setattr(in_browser, "CACHE", tmp_path / ".cache")
    return tmp_path / ".cache"


@pytest.fixture
def jupyterlite() -> None:
    pytest.importorskip("jupyterlite_core", reason="package jupyterlite-core is not installed")


def files(folder: Path) -> dict[str, str]:
    """The path and the digest of every file."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_modules_are_named_by_number_or_whole_in_the_order_of_the_course() -> None:
    assert site.chosen(["04", "02_activations"]) == ["02_activations", "04_attention"]
    assert site.chosen([]) == modules()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites without kits and browsers."""
    monkeypatch.setattr(site, "make_kit", lambda module, folder: folder)
    monkeypatch.setattr(site, "write_pages", lambda folder, names: write_whole(folder / "index.html", b"new"))
    monkeypatch.setattr(in_browser, "build", lambda folder, names, bundle: folder.mkdir(parents=True))


def old_site(folder: Path) -> Path:
    write_whole(folder / "index.html", b"old")
    return folder


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", [".git", "CNAME", "holiday.jpg"])
def test_a_site_beside_which_something_else_was_put_is_not_replaced(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (old_site(tmp_path) / name).write_text("mine")
    assert main(["site", "--output", str(tmp_path)]) == 1
    assert f"holds something else ({name}); name a folder" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine" and (tmp_path / "index.html").read_text() == "old"


@pytest.mark.usefixtures("quick")
def test_a_site_is_made_in_the_folder_where_one_is_and_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = old_site(tmp_path / "real")
    (tmp_path / "link").symlink_to(real)
    site.make_site(tmp_path / "link")
    assert (real / "index.html").read_text() == "new" and (tmp_path / "link").is_symlink()
    monkeypatch.chdir(old_site(tmp_path / "here"))
    site.make_site(Path())
    assert (tmp_path / "here" / "index.html").read_text() == "new"
    assert (tmp_path / "here" / ".nojekyll").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "link", "real"]


@pytest.mark.usefixtures("quick")
def test_of_two_builds_into_one_folder_the_second_is_refused_and_the_first_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"

    def during(_folder: Path, _names: list[str], _bundle: bool) -> None:
        with pytest.raises(CourseError, match=r": another site is being made here; wait until it is done"):
            site.make_site(folder)

    monkeypatch.setattr(in_browser, "build", during)
    site.make_site(folder)
    assert (folder / "index.html").read_text() == "new"


@pytest.mark.usefixtures("quick")
def test_a_site_that_cannot_be_replaced_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = old_site(tmp_path / "site")
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.suffix == ".new":
            raise PermissionError(errno.EACCES, "no", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        site.make_site(folder)
    assert (folder / "index.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["4", "attention", "", "04_Attention", "..", "\x1b[31m"])
def test_a_name_that_no_module_has_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(CourseError, match=r"no such module; the modules are: 01_tensor, 02_activations") as refused:
        site.chosen(["04", name])
    assert "\x1b" not in str(refused.value)


def test_a_folder_that_holds_something_else_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    assert main(["site", "--output", str(tmp_path)]) == 1
    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_a_file_that_cannot_be_had_is_named_with_the_place_where_it_may_be_put(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_browser, "CORE_NETWORK", NOWHERE)
    with pytest.raises(CourseError) as refused:
        in_browser.bundled()
    said = str(refused.value)
    assert said.startswith(f"pyodide-lock.json, a part of Pyodide, cannot be had from {NOWHERE} (")
    assert said.endswith(f"; put it at .cache/pyodide-{in_browser.PYODIDE}/pyodide-lock.json, or leave BUNDLE=1 out")
    assert not list(cache.rglob("*.*"))


def test_what_a_network_sends_in_place_of_a_file_is_neither_used_nor_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "pyodide-lock.json").write_text('{"packages": {}}')
    with serving(functools.partial(Open, directory=tmp_path / "network")) as network:
        monkeypatch.setattr(in_browser, "CORE_NETWORK", network)
        with pytest.raises(
            CourseError, match=r"pyodide-lock\.json: what .* sends is not the file with the sha256 9c45b916"
        ):
            in_browser.bundled()
    assert not list(cache.rglob("*.*"))


def test_a_file_that_changed_in_the_cache_is_fetched_again(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = b"the file that is wanted"
    (tmp_path / "network").mkdir()
    (tmp_path / "network" / "pyodide.js").write_bytes(right)
    kept = cache / f"pyodide-{in_browser.PYODIDE}" / "pyodide.js"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(right[:-1])
    monkeypatch.setattr(in_browser, "CORE", {"pyodide.js": hashlib.sha256(right).hexdigest()})
    monkeypatch.setattr(in_browser, "LOADED", ())
    with serving(functools.partial(Open, directory=tmp_path / "network")) as network:
        assert in_browser.fetched("pyodide.js", hashlib.sha256(right).hexdigest(), network) == right
    assert kept.read_bytes() == right
    assert in_browser.fetched("pyodide.js", hashlib.sha256(right).hexdigest(), NOWHERE) == right


def test_of_files_that_cannot_be_written_the_first_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the list of all files that were not copied."""

    def made(work: Path, _seconds: int) -> None:
        for name in ("a.js", "b.js"):
            write_whole(work / "site" / "build" / name, b"made")

    (tmp_path / "comm.whl").touch()
    monkeypatch.setattr(in_browser, "wheel", lambda package: tmp_path / f"{package}.whl")
    monkeypatch.setattr(in_browser, "_configure", lambda work, bundle: None)
    monkeypatch.setattr(in_browser, "_run_jupyterlite", made)
    in_browser.build(tmp_path / "browser", [], bundle=False)
    assert sorted(files(tmp_path / "browser")) == ["build/a.js", "build/b.js"]
    (tmp_path / "taken" / "build").mkdir(parents=True)
    for name in ("a.js", "b.js"):  # as good as a full disk: neither can be written
        (tmp_path / "taken" / "build" / name).mkdir()
    with pytest.raises(CourseError, match=r"a\.js: it is a folder, not a file"):
        in_browser.build(tmp_path / "taken", [], bundle=False)


class Half(Open):
    """Sends less than it says."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"half")


def test_a_file_of_which_a_part_is_sent_is_named(cache: Path) -> None:
    with (
        serving(Half) as network,
        pytest.raises(CourseError, match=r"^pyodide\.js, a part of Pyodide, cannot be had from"),
    ):
        in_browser.fetched("pyodide.js", "00", network)
    assert not list(cache.rglob("*.*"))


def test_a_wheel_that_cannot_be_had_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache.parent / "requirements.lock").write_text(f"comm==0.2.3 \\\n    --hash=sha256:{'0' * 64}\nother==1\n")
    for name, value in (("PIP_INDEX_URL", NOWHERE), ("PIP_RETRIES", "0"), ("PIP_CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(
        CourseError, match=r"comm==0\.2\.3: its wheel cannot be had \(.*\); see whether this machine reaches PyPI"
    ):
        in_browser.wheel("comm")


def test_a_package_that_the_lock_does_not_have_is_named(cache: Path) -> None:
    (cache.parent / "requirements.lock").write_text("commons==0.2.3 \\\n    --hash=sha256:00\n")
    with pytest.raises(CourseError, match=r"requirements\.lock: comm is not in it; run `make lock`"):
        in_browser.wheel("comm")


def test_what_a_package_needs_comes_with_it_under_any_spelling() -> None:
    listed = {"a-b": {"depends": ["C_d"]}, "c-d": {"depends": ["a_b", "e"]}, "e": {"depends": []}, "f": {"depends": []}}
    assert in_browser.with_what_they_need(["A_b"], listed) == {"a-b", "c-d", "e"}


@pytest.mark.long
def test_all_that_a_bundle_holds_can_be_had() -> None:
    """So a file that vanishes from where it is fetched shows here first."""
    try:
        fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"package pyodide could not be fetched: {error}")
    found = in_browser.bundled()
    listed = json.loads(found[in_browser.LIST])["packages"]
    assert {listed[name]["file_name"] for name in ("numpy", "matplotlib", "ipython", "pillow", "six")} <= set(found)


@pytest.mark.slow
@pytest.mark.usefixtures("jupyterlite")
def test_two_builds_for_the_browser_give_the_same_bytes_and_no_answer_of_a_module_that_is_left_out(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        in_browser.build(tmp_path / name, ["02_activations", "04_attention"], bundle=False)
    found = files(tmp_path / "one")
    assert found == files(tmp_path / "two")
    ours = {name.removeprefix("files/") for name in found if name.startswith("files/")}
    assert {name.partition("/")[0] for name in ours} == {"tinytorch-02_activations", "tinytorch-04_attention"}
    assert "tinytorch-04_attention/tinytorch/core/layers.py" in ours
    assert not any(name.endswith(("core/attention.py", "core/efficient_attention.py")) for name in ours)
    assert "tinytorch-02_activations/tinytorch/core/activations.py" not in ours
    settings = json.loads((tmp_path / "one" / "jupyter-lite.json").read_text())["jupyter-config-data"]
    assert [e["name"] for e in settings["federated_extensions"]] == [in_browser.EXTENSION]


def test_without_jupyterlite_the_next_step_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr(in_browser, "wheel", lambda _package: Path(__file__))
    with pytest.raises(CourseError, match="JupyterLite is not installed; `make site` installs it"):
        in_browser.build(tmp_path / "browser", [], bundle=False)
