"""A student who installs nothing: the site in Chromium, under a path, with nothing else of the world to be reached."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import submission
from hosts import Open, Quiet, serving
from in_lab import GO_TO, active, fill, keep, run
from kits import python_course, unpacked_kit
from limits import PATIENCE, chromium
from playwright.sync_api import Page, expect
from pyodide import fetch
from sentences import DIVIDED_BY_D_K, UPPER_TRIANGLE

from autograded_tests import exercises_of
from grader import in_browser
from grader.classroom import write_whole
from grader.course import ROOT, modules
from grader.student_copies import beside

MODULE = "04_attention"
CHECKED = "scale_scores"
WRONG = "def _scale_scores(scores, d_k):\n    return scores / d_k"
UPPER = "def causal_mask(seq_len):\n    return np.triu(np.ones((seq_len, seq_len)))"
RIGHT = "def _scale_scores(scores, d_k):\n    return scores / math.sqrt(d_k)"
READY = "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel"
FILL_ALL = """answers => {
    for (const cell of window.jupyterapp.shell.currentWidget.content.widgets) {
        const source = answers[(cell.model.getMetadata('nbgrader') || {}).grade_id];
        if (source) cell.model.sharedModel.setSource(source);
    }
}"""
# what Chromium asks for by itself, whatever page is open
OWN = re.compile(
    r"(http://)?(update|content-autofill|optimizationguide-pa|safebrowsing|clients\d)\.google(apis)?\.com\b|accounts\.google\.com:"
)
pytestmark = [pytest.mark.slow, pytest.mark.browser]


class Proxy(http.server.BaseHTTPRequestHandler):
    """What a browser asks for elsewhere comes here, is noted and refused."""

    asked: list[str]

    def refuse(self) -> None:
        if not OWN.match(self.path):
            self.asked.append(self.path)
        self.send_error(503)

    do_GET = do_CONNECT = do_POST = do_HEAD = do_OPTIONS = refuse  # noqa: N815

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the bundled site, one folder below the top of its host."""
    fetch()
    folder = tmp_path_factory.mktemp("host")
    command = [
        sys.executable,
        "-P",
        "-m",
        "grader",
        "site",
        "--bundle",
        "--output",
        str(folder / "course" / "attention"),
    ]
    subprocess.run(command, check=True, cwd=ROOT)
    with serving(functools.partial(Quiet, directory=folder)) as host:
        yield f"{host}/course/attention"


@pytest.fixture
def asked() -> list[str]:
    """What Chromium asked for that is not on this machine; empty until it does."""
    return []


@pytest.fixture
def page(asked: list[str]) -> Iterator[Page]:
    """Of a student who opens Chromium for the first time."""
    from playwright.sync_api import sync_playwright

    with serving(type("Noting", (Proxy,), {"asked": asked})) as proxy, sync_playwright() as playwright:
        options = [
            "--no-sandbox",
            "--disable-gpu",
            f"--proxy-server={proxy}",
        ]  # which is not for this machine's addresses
        chrome = playwright.chromium.launch(executable_path=chromium(), args=options)
        page = chrome.new_page(viewport={"width": 1366, "height": 768})
        page.set_default_timeout(30_000 * PATIENCE)
        yield page
        chrome.close()


def open_module(page: Page, address: str, module: str = MODULE) -> float:
    """One click on the start page; the seconds until the first cell has run."""
    page.goto(f"{address}/index.html")
    page.locator(f'a[href^="browser/notebooks/"][href*="{module}"]').first.click()
    start = time.monotonic()
    page.wait_for_function(READY)
    run(page, "imports")
    return time.monotonic() - start


def errors(page: Page) -> list[str]:
    """What cells of the open notebook say on standard error or raised."""
    return page.evaluate(
        """() => window.jupyterapp.shell.currentWidget.content.widgets
            .flatMap(w => w.model.type === 'code' ? w.model.outputs.toJSON() : [])
            .filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue)"""
    )


def test_a_student_works_in_the_browser_and_hands_in(
    page: Page, address: str, asked: list[str], tmp_path: Path
) -> None:
    assert open_module(page, address) < 30 * PATIENCE
    page.evaluate(GO_TO, "scale_scores")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-above')")
    fill(page, "scale_scores", WRONG)
    run(page, "test_scale_scores")
    output = active(page).locator(".jp-OutputArea-output")
    expect(output.last).to_contain_text(DIVIDED_BY_D_K)
    expect(output.last).to_contain_text("0 of 8 exercises done: 0 of 28 points")
    expect(output.last).not_to_contain_text("Traceback")
    keep(page, "browser-fails")
    fill(page, "scale_scores", RIGHT)
    run(page, "test_scale_scores")
    expect(output).to_have_text("1 of 8 exercises done: 2 of 28 points")
    keep(page, "browser-passes")

    run(page, "lookup_matrix")
    plot = active(page).locator(".jp-OutputArea-output img")
    assert plot.evaluate("image => image.naturalWidth") > 300

    fill(page, "causal_mask", UPPER)
    run(page, "test_causal_mask")
    expect(active(page).locator(".jp-OutputArea-output").last).to_contain_text(UPPER_TRIANGLE)
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")  # it saves by itself
    page.reload()
    page.wait_for_function(READY)
    page.evaluate(GO_TO, "scale_scores")
    expect(active(page).locator(".cm-content")).to_contain_text("return scores / math.sqrt(d_k)")
    keep(page, "browser-reloaded")
    handed_in = download(page, tmp_path)
    rename(page, "my answers.ipynb")
    page.reload()
    page.wait_for_function(READY)
    page.evaluate(GO_TO, "scale_scores")
    expect(active(page).locator(".cm-content")).to_contain_text("return scores / math.sqrt(d_k)")
    assert asked == []

    verdict = said("try", str(handed_in))
    assert re.search(r"^scale_scores +2/2$", verdict, re.MULTILINE) and UPPER_TRIANGLE in verdict
    assert verdict.endswith("\n2 of 28 points\n")
    kit = unpacked_kit(MODULE, tmp_path)
    shutil.copy(handed_in, kit)
    checked = python_course(kit, "check").stdout
    assert re.search(r"^ok +scale_scores\b", checked, re.MULTILINE), checked


def download(page: Page, folder: Path) -> Path:
    """What a student has after the button beside those that save and run; the menu File has it, too."""
    page.locator(".lm-MenuBar-item", has_text="File").click()
    expect(page.locator(".lm-Menu-item", has_text="Download")).to_be_visible()
    page.keyboard.press("Escape")
    with page.expect_download() as downloaded:
        page.locator(".jp-NotebookPanel-toolbar", has_text="Download").get_by_text("Download").click()
    assert downloaded.value.suggested_filename == "attention.ipynb"
    path = folder / "attention.ipynb"
    downloaded.value.save_as(path)
    return path


def rename(page: Page, name: str) -> None:
    page.locator(".lm-MenuBar-item", has_text="File").click()
    page.locator(".lm-Menu-item", has_text="Rename").click()
    page.locator(".jp-Dialog input").fill(name)
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    expect(page).to_have_title(name.removesuffix(".ipynb"))


def said(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "grader", *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_whole_notebook_runs_there_with_right_answers(page: Page, address: str, asked: list[str]) -> None:
    open_module(page, address)
    solved = {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in json.loads(submission(module=MODULE))["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    page.evaluate(FILL_ALL, solved)
    page.evaluate(GO_TO, "training")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-above')")
    assert errors(page) == []
    page.evaluate(GO_TO, "test_multi_head_attention")
    expect(active(page).locator(".jp-OutputArea-output")).to_have_text("8 of 8 exercises done: 28 of 28 points")
    start = time.monotonic()
    run(page, "training")
    assert time.monotonic() - start < 120 * PATIENCE
    run(page, "best_guess")
    assert errors(page) == []
    assert active(page).locator(".jp-OutputArea-output").count() == 1
    assert asked == []


def printed(page: Page, name: str, source: str) -> str:
    """What code prints in a cell of the open notebook."""
    fill(page, name, source)
    expect(active(page).locator(".jp-OutputArea-output")).to_have_count(1)
    return active(page).locator(".jp-OutputArea-output").inner_text().strip()


def test_what_lies_beside_a_notebook_and_the_notebooks_of_earlier_modules_are_found_there(
    page: Page, address: str
) -> None:
    for module in modules():
        files = beside(module)
        if not files:
            continue
        open_module(page, address, module)
        sizes = f"from pathlib import Path; print([len(Path(name).read_bytes()) for name in {list(files)}])"
        assert printed(page, exercises_of(module)[0].name, sizes) == str([len(data) for data in files.values()])
    open_module(page, address)
    own = (
        "from exercises.own_answers import use_own_answers\nfrom tinytorch.core.layers import Linear\n"
        "print(use_own_answers({'Linear': Linear}))"
    )
    assert printed(page, CHECKED, own) == "{'layers': '`linear` is not answered yet'}"


def test_a_window_in_which_the_course_does_not_run_says_so(page: Page, address: str) -> None:
    notebook = f"{address}/browser/notebooks/index.html?path=tinytorch-{MODULE}/attention.ipynb"
    page.goto(notebook)
    page.evaluate("() => navigator.serviceWorker.ready")
    page.wait_for_timeout(11_000)  # a second after it would be said
    expect(page.locator("#unreached")).to_be_hidden()
    assert page.context.browser is not None
    private = page.context.browser.new_context(service_workers="block").new_page()
    private.goto(notebook)
    expect(private.locator("#unreached")).to_contain_text("Use an ordinary window", timeout=30_000 * PATIENCE)
    expect(private.locator("#unreached")).to_be_visible(timeout=30_000 * PATIENCE)
    keep(private, "browser-unreached")


def test_without_a_bundle_pyodide_comes_from_its_network_and_nothing_else_does(
    page: Page, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch()
    for name, data in in_browser.bundled().items():
        write_whole(tmp_path / "network" / name, data)
    with serving(functools.partial(Open, directory=tmp_path / "network")) as network:
        monkeypatch.setattr(in_browser, "NETWORK", network)
        in_browser.build(tmp_path / "site" / "browser", [MODULE], bundle=False)
        with serving(functools.partial(Quiet, directory=tmp_path / "site")) as host:
            page.goto(f"{host}/browser/notebooks/index.html?path=tinytorch-{MODULE}/attention.ipynb")
            page.wait_for_function(READY)
            run(page, "imports")
            run(page, "practice")
            run(page, "plots")
            assert errors(page) == []
    assert asked == []
    assert not (tmp_path / "site" / "browser" / "static" / "pyodide").exists()
