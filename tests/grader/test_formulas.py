"""Formulas as MathML: all of the notebooks and of docs/, and what is said of one that cannot be shown."""

import json
import re
import sys

import pytest

from grader.course import ROOT, modules, student_copy
from grader.errors import CourseError
from grader.pages.formulas import mathml
from grader.pages.texts import Text

pytest.importorskip("latex2mathml", reason="package latex2mathml is not installed")


def texts() -> dict[str, str]:
    """Every text of the course, by where it stands."""
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
    for module in modules():
        for cell in json.loads(student_copy(module).read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                found[f"{module} {cell['id']}"] = "".join(cell["source"])
    return found


def test_every_formula_of_the_notebooks_and_documents_is_shown() -> None:
    formulas = 0
    for where, source in texts().items():
        html = Text(where, lambda address: address).html(source)
        prose = re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)
        formulas += prose.count("<math ")
        assert "$" not in prose and "\\" not in prose, where
    assert formulas > 10 * len(modules())


@pytest.mark.parametrize(
    "latex",
    [r"\foo x", "a & b", r"\frac{1", "x_", r"\begin{tikz}a\end{tikz}", r"x + \bar", r"\limits", r"\mathbb{\alpha}"],
)
def test_a_formula_that_cannot_be_shown_is_named_with_its_file(latex: str) -> None:
    with pytest.raises(CourseError) as raised:
        Text("docs/x.md", lambda address: address).html(f"A ${latex}$ b.")
    assert str(raised.value).startswith(f"docs/x.md: the formula ${latex}$ cannot be shown: ")
    assert not str(raised.value).endswith(": ")


@pytest.mark.parametrize("source", ["From $5 to $6.", "It costs $5; the code is `a $b`."])
def test_a_price_is_no_formula(source: str) -> None:
    with pytest.raises(
        CourseError, match=r"^docs/x\.md: \$5.* is no formula; a dollar that begins none is written \\\$$"
    ):
        Text("docs/x.md", lambda address: address).html(source)
    assert "From $5 to $6" in Text("docs/x.md", lambda address: address).html(r"From \$5 to \$6")


def test_an_environment_without_dollars_is_a_formula_too() -> None:
    text = Text("docs/x.md", lambda address: address)
    assert '<math display="block">' in text.html("\\begin{aligned}a &= b\\end{aligned}")
    with pytest.raises(CourseError, match=r"environments that are known: aligned, array"):
        text.html("\\begin{equation}a = b\\end{equation}")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "latex2mathml.converter", None)
    mathml.cache_clear()
    with pytest.raises(CourseError, match="package latex2mathml is not installed; `make site` installs"):
        mathml("x")


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        # names, signs and points, with the space that LaTeX gives them
        (r"\ln p", '<mi>ln</mi><mspace width="0.167em" /><mi>p</mi>'),
        (r"\ln(p)", "<mi>ln</mi><mo"),
        (r"\max(x)", "<mi>max</mi><mo"),
        (r"\text{split}\!(x)", '<mspace width="-0.167em" />'),
        (r"y = -x", '<mo form="prefix">\N{MINUS SIGN}</mo>'),
        (r"(y) - x", '<mo stretchy="false">)</mo><mo>\N{MINUS SIGN}</mo>'),
        (r"x \sim p", "<mo>\N{TILDE OPERATOR}</mo>"),
        (r"1 \pm 2", "<mo>±</mo>"),
        (r"y.", '<mo lspace="0">.</mo>'),
        # what LaTeX takes as one thing
        (r"\begin{bmatrix} a \end{bmatrix}^T", "<mo>]</mo></mrow><mi>T</mi></msup>"),
        (r"\begin{matrix} 1 \\[2pt] 2 \end{matrix}", "</mtr><mtr><mtd><mn>2</mn></mtd></mtr>"),
        (r"\left\{ x \right.", ">{</mo><mi>x</mi>"),
        (r"d_{\text{d\_model}}", "<mtext>d_model</mtext>"),
        (r"\operatorname*{arg\,max}_i", '<mi mathvariant="normal">g</mi><mspace width="0.167em" />'),
        (r"\operatorname*{argmax}_i", "<msub><mi>argmax</mi><mi>i</mi></msub>"),
        (r"\mathbb{1}", ">\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}</mn>"),
        (r"\mathcal N(0, 1)", "<mi>\N{MATHEMATICAL SCRIPT CAPITAL N}</mi>"),
    ],
)
def test_a_formula_is_shown_as_latex_shows_it(latex: str, shown: str) -> None:
    assert shown in mathml(latex)


def test_aligned_rows_are_aligned_where_they_say() -> None:
    html = mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", block=True)
    assert html.count('<mtd columnalign="right">') == html.count('<mtd columnalign="left">') == 2
