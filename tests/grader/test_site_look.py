"""How the site's pages look in a browser: at two widths, without requests to elsewhere, and for those who see or hear them otherwise."""

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import axe
import pytest
from playwright.sync_api import Page
from site_pages import pages_of, write_pages

pytest.importorskip("latex2mathml", reason="package latex2mathml is not installed")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("site"))


@pytest.fixture
def page(browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1366, "height": 800}, bypass_csp=True)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("width", [1366, 390])
def test_pages_fit_the_screen_and_ask_for_nothing_from_elsewhere(width: int, pages: Path, browser) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    try:
        for path in pages_of(pages):
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    finally:
        page.close()
    assert said == [] and [url for url in asked if not url.startswith(pages.as_uri())] == []


def test_a_wide_formula_scrolls_by_itself(pages: Path, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((pages / "modules" / "05_efficient_attention" / "index.html").as_uri())
    boxes = page.locator(".formula").evaluate_all("all => all.map(box => [box.scrollWidth, box.clientWidth])")
    assert any(inside > outside for inside, outside in boxes) and all(outside < 390 for _, outside in boxes)


@pytest.fixture
def with_axe() -> None:
    if shutil.which("npm") is None and not axe.SCRIPT.exists():
        pytest.skip("package npm is not installed")
    try:
        axe.script()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"package axe-core is not installed: {error}")


def serious(page: Page, paths: Iterable[Path]) -> dict[str, list[str]]:
    """What axe finds, with all that is folded open."""
    found = {}
    for path in paths:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        found[path.as_uri()] = axe.serious(page)
    return {address: findings for address, findings in found.items() if findings}


@pytest.mark.usefixtures("with_axe")
def test_axe_finds_nothing_serious_on_a_page_of_each_kind(pages: Path, page: Page) -> None:
    kinds = (
        "index",
        "modules/02_activations/index",
        "docs/index",
        "docs/students",
        "reference/index",
        "reference/attention",
    )
    assert serious(page, (pages / f"{kind}.html" for kind in kinds)) == {}


@pytest.mark.slow
@pytest.mark.usefixtures("with_axe")
def test_axe_finds_nothing_serious_on_any_page_at_either_width(pages: Path, page: Page) -> None:
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert serious(page, pages_of(pages)) == {}


@pytest.mark.usefixtures("with_axe")
def test_axe_sees_what_is_wrong(page: Page) -> None:
    """Else the test above could not fail."""
    page.set_content('<html lang="en"><title>x</title><main><h1>x</h1><img src="x.png"><a href="x"></a></main></html>')
    assert {found.partition(":")[0] for found in axe.serious(page)} == {"image-alt", "link-name"}
