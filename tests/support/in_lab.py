"""A notebook in JupyterLab or JupyterLite, by its cells' names: what a student does with mouse and keyboard."""

import os

from playwright.sync_api import Locator, Page


def keep(page: Page, name: str) -> None:
    """A screenshot, if a folder for them is asked for."""
    if os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{os.environ['SCREENSHOTS']}/{name}.png")


GO_TO = """name => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const index = notebook.widgets.findIndex(w => (w.model.getMetadata('nbgrader') || {}).grade_id === name);
    notebook.activeCellIndex = index;
    notebook.deselectAll();
    return notebook.scrollToItem(index, 'start');
}"""


def active(page: Page) -> Locator:
    """The cell that was gone to."""
    return page.locator(".jp-Notebook .jp-Cell.jp-mod-active")


def fill(page: Page, name: str, source: str) -> None:
    """Click into a cell, replace what is in it, run it."""
    page.evaluate(GO_TO, name)
    active(page).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.keyboard.press("Control+Enter")


def run(page: Page, name: str) -> None:
    """Run a cell, wait until the kernel has done all that it was given."""
    page.evaluate(GO_TO, name)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
