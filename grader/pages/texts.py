"""Our own Markdown as HTML: headings with anchors, formulas as MathML, and links that lead somewhere on the site."""

import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any

from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from grader.errors import CourseError
from grader.pages.formulas import mathml

FITS = 38  # characters of code that a telephone shows
Target = Callable[[str], str]  # from an address in a text to that on the page; "" if it leads nowhere there


def nowhere(_address: str) -> str:
    return ""


class Text:
    """The texts of one page, cell by cell: their headings are numbered together. Without picture, there are none."""

    def __init__(self, where: str, link: Target, picture: Target = nowhere) -> None:
        self.where, self.link, self.picture = where, link, picture
        self.headings: list[tuple[int, str, Markup]] = []  # level, anchor, text

    def html(self, source: str) -> Markup:
        """Raises CourseError, which names the page, for a formula that cannot be shown."""
        try:
            return Markup(MarkdownWithMath(renderer=_Renderer(self)).render(source))  # noqa: S704  (it is ours)
        except CourseError as error:
            raise CourseError(f"{self.where}: {error}") from None

    def anchor(self, text: str) -> str:
        """A heading's, as GitHub makes them."""
        plain = re.sub(r"[^\w\- ]", "", plain_text(text).lower()).strip().replace(" ", "-") or "part"
        taken = {anchor for _, anchor, _ in self.headings}
        return next(name for name in (plain, *(f"{plain}-{n}" for n in range(1, 1000))) if name not in taken)


class _Renderer(IPythonRenderer):  # type: ignore[misc]  # nbconvert has no types
    def __init__(self, text: Text) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.page = text

    def heading(self, text: str, level: int, **_: Any) -> str:
        anchor = self.page.anchor(text)
        self.page.headings.append((level, anchor, Markup(re.sub(r"</?a\b[^>]*>", "", text))))  # noqa: S704  (ours)
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def link(self, text: str, url: str, **_: Any) -> str:
        target = self.page.link(url)
        return f'<a href="{escape(target)}">{text}</a>' if target else text

    def image(self, text: str, url: str, **_: Any) -> str:
        source = self.page.picture(url)
        return f'<img src="{escape(source)}" alt="{escape(text)}">' if source else escape(text)

    def block_code(self, code: str, info: str | None = None) -> str:
        return reachable(Markup(super().block_code(code, info)))  # noqa: S704  (it escapes)

    def table(self, text: str) -> str:
        return f'<div class="wide" tabindex="0"><table>\n{text}</table></div>\n'

    def block_html(self, html: str) -> str:
        return str(super().block_html(re.sub(r"<!--.*?-->", "", html, flags=re.DOTALL)))

    def block_math(self, body: str) -> str:
        return f'<span class="formula" tabindex="0">{mathml(body, block=True)}</span>'

    def inline_math(self, body: str) -> str:
        if "`" in body or (body[-1].isspace() and not body[0].isspace()):
            raise CourseError(f"${body}$ is no formula; a dollar that begins none is written \\$")
        return mathml(body)

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def reachable(html: Markup) -> Markup:
    """Code in which a line is too long for a narrow screen, so that the keyboard can move it."""
    longest = max(map(len, plain_text(html, spaces=True).splitlines()), default=0)
    return Markup(str(html).replace("<pre>", '<pre tabindex="0">', 1)) if longest > FITS else html  # noqa: S704


def plain(where: str, source: str) -> str:
    """Markdown as words. Raises CourseError as Text does."""
    return plain_text(Text(where, nowhere).html(source))


def plain_text(html: str, spaces: bool = False) -> str:
    """HTML without its tags; what is white is a space."""
    text = unescape(re.sub(r"<[^>]+>", "", html))
    return text if spaces else " ".join(text.split())
