"""Formulas in LaTeX as MathML, which browsers show without a script."""

import re
from collections.abc import Iterator
from functools import cache
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from grader.errors import CourseError

NEGATIVE = {
    "negativethinmathspace": "-0.167em",
    "negativemediummathspace": "-0.222em",
    "negativethickmathspace": "-0.278em",
}
ENVIRONMENTS = {"aligned", "array", "bmatrix", "cases", "matrix", "pmatrix"}
OPENS, CLOSES = {"(", "[", "{", "|"}, {")", "]", "}", "|", "!"}
MINUS = "\N{MINUS SIGN}"


@cache
def mathml(latex: str, block: bool = False) -> str:
    """A formula as MathML. Raises CourseError if it holds something that is not known here."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        raise CourseError("package latex2mathml is not installed; `make site` installs what a site needs") from None
    what = f"the formula ${latex}$ cannot be shown"
    environments = set(re.findall(r"\\begin\{(.*?)\}", latex))
    if latex.count("{") != latex.count("}") or environments - ENVIRONMENTS:
        raise CourseError(f"{what}: look at its braces; environments that are known: {', '.join(sorted(ENVIRONMENTS))}")
    source = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex.strip())  # it knows these by this name
    try:
        root = ElementTree.fromstring(convert(source, display="block" if block else "inline"))  # noqa: S314  (our own)
    except Exception as error:  # noqa: BLE001  (of many kinds)
        raise CourseError(f"{what}: {str(error) or type(error).__name__}") from None
    unknown = next((text for text in root.itertext() if text.startswith("\\")), None)
    if unknown:
        raise CourseError(f"{what}: {unknown} is not known")
    elements = list(root.iter())
    for element in elements:
        element.tag = element.tag.rpartition("}")[2]  # in HTML, what is in <math> needs no namespace
    for element in elements:
        _mend(element)
    return ElementTree.tostring(root, encoding="unicode")


def _mend(parent: Element) -> None:
    """Put right what browsers space in another way than LaTeX does."""
    for before, child, following in _neighbours(parent):
        if child.tag == "mspace":
            child.set("width", NEGATIVE.get(child.get("width", ""), child.get("width", "")))
        elif child.text == MINUS and before is not None and before.tag == "mo" and before.text not in CLOSES:
            child.set("form", "prefix")  # a sign, not a difference
        elif child.text == ".":
            child.set("lspace", "0")
        base = child[0] if child.tag in ("msub", "msup", "msubsup", "munder") else child
        word = base.text or ""
        if base.tag in ("mi", "mo") and len(word) > 1 and word.isascii() and word.isalpha():
            base.tag = "mi"  # max is no sign between two others
            in_row = parent.tag in ("mrow", "mtd", "math", "msqrt")
            if in_row and following is not None and following.text not in OPENS and following.tag != "mspace":
                space = Element("mspace", width="0.167em")
                parent.insert(list(parent).index(child) + 1, space)


def _neighbours(parent: Element) -> Iterator[tuple[Element | None, Element, Element | None]]:
    """Each child, with the one before it and the one after it."""
    children = list(parent)
    for number, child in enumerate(children):
        before = children[number - 1] if number else None
        yield before, child, children[number + 1] if number + 1 < len(children) else None
