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
OPERATORS = {"~": "\N{TILDE OPERATOR}", "±": "±", "⟂": "⟂"}  # which it takes for names
MINUS = "\N{MINUS SIGN}"
PARTS = {"mfrac": 2, "mover": 2, "mroot": 2, "msub": 2, "msubsup": 3, "msup": 2, "munder": 2, "munderover": 3}


@cache
def mathml(latex: str, block: bool = False) -> str:
    """A formula as MathML. Raises CourseError if it holds something that is not known here."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        raise CourseError("package latex2mathml is not installed; `make site` installs what a site needs") from None
    what = f"the formula ${latex}$ cannot be shown"
    environments = set(re.findall(r"\\begin\{(.*?)\}", latex))
    braces = re.sub(r"\\.", "", latex, flags=re.DOTALL)  # \{ and \} are signs
    if braces.count("{") != braces.count("}") or environments - ENVIRONMENTS:
        raise CourseError(f"{what}: look at its braces; environments that are known: {', '.join(sorted(ENVIRONMENTS))}")
    try:
        root = ElementTree.fromstring(convert(_as_it_is_known(latex), display="block" if block else "inline"))  # noqa: S314  (our own)
    except Exception as error:  # noqa: BLE001  (of many kinds)
        raise CourseError(f"{what}: {str(error) or type(error).__name__}") from None
    elements = list(root.iter())
    for element in elements:
        element.tag = element.tag.rpartition("}")[2]  # in HTML, what is in <math> needs no namespace
        if element.tag == "mtext":
            element.text = re.sub(r"\\([_%&#$ ])", r"\1", element.text or "")
        if "\\" in (element.text or ""):
            raise CourseError(f"{what}: {element.text} is not known")
        if element.get("mathvariant") in ("double-struck", "fraktur", "script"):  # browsers know no such letters
            if element.get("mathvariant") != "double-struck" or not re.fullmatch(r"[0-9]+", element.text or ""):
                raise CourseError(f"{what}: {element.text} has no such form")
            element.text = "".join(
                chr(ord("\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ZERO}") + int(digit)) for digit in element.text or ""
            )
        if len(element) != PARTS.get(element.tag, len(element)):
            raise CourseError(f"{what}: what is raised, lowered or divided in it is not clear; put braces round it")
    for element in elements:
        _mend(element)
    return ElementTree.tostring(root, encoding="unicode")


def _as_it_is_known(latex: str) -> str:
    """The same formula in words that are read as LaTeX reads them."""
    source = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{align*}", latex.strip())
    source = re.sub(r"(\\begin\{\w*matrix\})", r"{\1", source)  # so that the whole matrix is raised in a power of it
    source = re.sub(r"(\\end\{\w*matrix\})", r"\1}", source)
    source = re.sub(r"\\operatorname\*?\{([^{}]*\\[^{}]*)\}", r"\\mathrm{\1}", source)  # of several words
    source = re.sub(r"\\operatorname\*", r"\\operatorname", source)
    source = re.sub(r"\\(math(?:bb|bf|cal|frak|rm|sf|tt))\s+(\w)", r"\\\1{\2}", source)
    return re.sub(r"\\\\\s*\[[-.\d]+ *[a-z]{2}\]", r"\\\\ ", source)  # the distance of two rows is the browser's


def _mend(parent: Element) -> None:
    """Put right what browsers space in another way than LaTeX does."""
    for before, child, following in _neighbours(parent):
        if child.tag == "mspace":
            child.set("width", NEGATIVE.get(child.get("width", ""), child.get("width", "")))
        elif child.text == MINUS and before is not None and before.tag == "mo" and before.text not in CLOSES:
            child.set("form", "prefix")  # a sign, not a difference
        elif child.tag == "mi" and child.text in OPERATORS:
            child.tag, child.text = "mo", OPERATORS[child.text]
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
