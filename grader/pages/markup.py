"""Pages from templates: names, sentences and code as text, students' Markdown as HTML that loads and runs nothing."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import bleach  # type: ignore[import-untyped]
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]

from grader.notebook import Cell, text_of
from grader.pages import words

TEMPLATES = Path(__file__).parent / "templates"
TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "summary", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
PICTURES = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))


def page(template: str, **values: Any) -> str:
    """A page from templates/<template>.html.j2; what no file can hold, a lone surrogate, is in it as its escape."""
    return words.encoded(_environment().get_template(f"{template}.html.j2").render(**values)).decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "code": code,
        "text": text,
        "number": words.number,
        "points": words.points,
        "counted": words.counted,
    }
    return environment


def code(cell: Cell) -> Markup:
    """A code cell's source in colours."""
    return _coloured(text_of(cell["source"]))


@lru_cache(maxsize=200)  # most cells on a page are the same on the next
def _coloured(source: str) -> Markup:
    return Markup(highlight(source, PythonLexer(stripnl=False), HtmlFormatter()))  # noqa: S704  (Pygments escapes)


def text(cell: Cell) -> Markup:
    """A text cell as HTML. Attached pictures are in it; what would load or run something is not."""
    attachments = cell.get("attachments")
    renderer = _Renderer(
        escape=False, exclude_anchor_links=True, attachments=attachments if isinstance(attachments, dict) else {}
    )
    html = MarkdownWithMath(renderer=renderer).render(text_of(cell["source"]))
    return Markup(bleach.clean(html, TAGS, _may_stay, protocols={"http", "https", "data"}))  # noqa: S704  (bleach cleans)


class _Renderer(IPythonRenderer):  # type: ignore[misc]  # nbconvert has no types
    """nbconvert's, for which a picture that is not attached is no error: its name is shown."""

    attachments: Mapping[str, Any]

    def _embed_image_or_attachment(self, src: str) -> str:
        pictures = self.attachments.get(src.removeprefix("attachment:"))
        for kind, data in pictures.items() if isinstance(pictures, dict) else ():
            return f"data:{kind};base64,{''.join(text_of(data).split())}"
        return ""


def _may_stay(tag: str, attribute: str, value: str) -> bool:
    """Whether an attribute shows something, and loads, runs and styles nothing."""
    if tag == "img":
        return attribute in ("alt", "title") or (attribute == "src" and value.startswith(PICTURES))
    return tag == "a" and attribute == "href" and value.startswith(("http://", "https://", "#"))
