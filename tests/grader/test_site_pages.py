"""The pages of the site: what is on them, what is not, and where their links lead."""

import base64
import filecmp
import json
import re
from pathlib import Path

import nbformat
import pytest
from site_pages import Page, pages_of, picture, solution_lines, write_pages

from grader.badges import Published
from grader.course import ROOT, modules, student_copy
from grader.errors import CourseError
from grader.pages import frame, outputs
from grader.pages.documents import GROUPS, document, grouped, read_documents, write_documents
from grader.pages.frame import Links
from grader.pages.in_kernel import described
from grader.pages.notebooks import Module, module_of, notebook_page
from grader.pages.notebooks import described as described_page
from grader.pages.outputs import Output, compared, outputs_of, shown
from grader.pages.reference import library_module
from grader.pages.texts import Text
from grader.site import make_site

pytest.importorskip("latex2mathml", reason="package latex2mathml is not installed")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("site"))


def nowhere(address: str) -> str:
    return ""


# What is on a page of a notebook


def cell(name: str, source: str, kind: str = "given") -> dict:
    marks = {"grade": kind == "test", "solution": kind == "answer", "grade_id": name, "locked": kind != "answer"}
    if kind == "text":
        return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source}
    tags = ["demo"] if kind == "demo" else []
    metadata = {"nbgrader": marks, "tags": tags}
    return {"cell_type": "code", "id": name, "metadata": metadata, "source": source, "outputs": []}


HANDED_OUT = Module(
    "02_activations",
    (
        cell("title", "# Title\n\n> About.\n\nFirst *paragraph*.\n\nAbout 20 minutes.", "text"),
        cell("given", "x = 1"),
        cell("heading", "## Softmax of $x$\n\n### Exercise: `f` (2 points, 5 minutes, easy)", "text"),
        cell("answer", "raise NotImplementedError()", "answer"),
        cell("test_answer", "check()", "test"),
        cell("demo", "x + 1", "demo"),
    ),
)
VALUE = Output("<2>")


def test_a_page_shows_outputs_of_given_cells_and_demonstrations_and_never_of_answers_and_tests() -> None:
    secret = [Output("secret")]
    figure = Output("Heat map.", picture())
    outputs = {"given": [VALUE], "demo": [figure, figure], "answer": secret, "test_answer": secret}
    page = notebook_page(HANDED_OUT, outputs, nowhere)
    assert [[shown.kind for shown in part.outputs] for part in page.parts] == [[], ["text"], [], [], [], ["figure"] * 2]
    assert page.parts[1].outputs[0].text == "<pre>&lt;2&gt;</pre>"
    assert list(page.figures) == ["demo.png", "demo-1.png"]
    assert {(p.file, p.text, p.width, p.height) for p in page.pictures} == {
        ("demo.png", "Heat map.", 600, 200),
        ("demo-1.png", "Heat map.", 600, 200),
    }
    assert [part.label for part in page.parts] == ["", "", "", "To be written", "Its test", ""]


def test_headings_have_anchors_and_are_listed_without_points() -> None:
    page = notebook_page(HANDED_OUT, {}, nowhere)
    assert [(level, anchor) for level, anchor, _ in page.contents] == [
        (2, "softmax-of-x"),
        (3, "exercise-f-2-points-5-minutes-easy"),
    ]
    assert page.contents[1][2] == "Exercise: <code>f</code>"


def test_what_a_module_says_of_itself_is_its_title_cell() -> None:
    assert (HANDED_OUT.title, HANDED_OUT.about) == ("Title", "About.")
    assert (HANDED_OUT.beginning, HANDED_OUT.time) == ("First *paragraph*.", "About 20 minutes.")
    attention = module_of("04_attention")
    written = [c for c in attention.cells if c["metadata"].get("nbgrader", {}).get("points")]
    assert attention.points == sum(c["metadata"]["nbgrader"]["points"] for c in written)
    assert "hours" in attention.time and "|" not in attention.time


def titled(source: str, **more: object) -> Module:
    return Module("02_activations", ({**cell("title", source, "text"), **more},))


def test_titles_and_descriptions_are_words_whatever_marks_they_have() -> None:
    module = titled('# "A" & `b<c>` for 1 < 2\n\n> *Fast* <i>and</i> `x<y`, "q".')
    assert module.title == '"A" & b<c> for 1 < 2'
    assert described_page(module) == '"A" & b<c> for 1 < 2: Fast and x<y, "q".'


def test_a_picture_that_is_attached_to_a_text_is_a_file_beside_the_page() -> None:
    png = base64.b64encode(picture()).decode()
    attached = {"attachments": {"a.png": {"image/png": png}}}
    page = notebook_page(titled("# T\n\n![Loss](attachment:a.png)", **attached), {}, nowhere)
    assert '<img src="title-0.png" alt="Loss">' in page.parts[0].html and page.figures == {"title-0.png": picture()}
    for address in ("attachment:b.png", "a.png", "../../docs/reversal.png", "https://e.org/a.png"):
        with pytest.raises(CourseError, match=rf'the cell "title": the picture {re.escape(address)} is not attached'):
            notebook_page(titled(f"# T\n\n![Loss]({address})", **attached), {}, nowhere)


@pytest.mark.parametrize(
    "address", ["../README.md", "missing.png", "https://e.org/a.png", "/etc/hostname", "data:image/png;base64,AA"]
)
def test_a_picture_that_is_not_in_docs_is_named_with_its_document(address: str) -> None:
    with pytest.raises(
        CourseError, match=rf"^docs/x\.md: the picture {re.escape(address)} is not in docs/; put it there"
    ):
        document("x", f"# T\n\n![Loss]({address})", Links({}))


def test_two_headings_of_one_name_have_two_anchors() -> None:
    text = Text("x.md", nowhere)
    text.html("## One\n\n## One\n\n# `code` & *more*")
    assert [anchor for _, anchor, _ in text.headings] == ["one", "one-1", "code--more"]


# What is shown of a run


def test_outputs_of_answers_and_tests_are_not_taken_from_a_run() -> None:
    output = {"output_type": "stream", "text": "a\n"}
    cells = [{**cell(kind, "", kind), "outputs": [output]} for kind in ("given", "answer", "test", "demo")]
    assert shown({"cells": cells}) == {"given": [Output("a")], "demo": [Output("a")]}


def ran(**output: object) -> list[Output]:
    return shown({"cells": [{**cell("demo", "", "demo"), "outputs": [output]}]})["demo"]


def test_an_exception_that_a_cell_may_raise_is_shown() -> None:
    assert ran(output_type="error", ename="ValueError", evalue="wrong shape") == [Output("ValueError: wrong shape")]


def test_what_moves_a_cursor_is_not_on_a_page() -> None:
    coloured = "\x1b[31mred\x1b[0m\t\x1b[2K\x1b]8;;http://x\x07link\x1b]8;;\x1b\\\x08\x00\nend"
    assert ran(output_type="stream", text=coloured) == [Output("red\tlink\nend")]


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "text/latex"])
def test_what_a_page_cannot_show_is_named_with_its_cell(kind: str) -> None:
    data = {"text/plain": "<IPython.core.display.Thing object>", kind: "<b>x</b>"}
    with pytest.raises(
        CourseError, match=rf'^the cell "demo" displays {re.escape(kind)}, which its page cannot show; '
    ):
        ran(output_type="display_data", data=data)
    with pytest.raises(CourseError, match="displays image/jpeg"):
        ran(output_type="display_data", data={"text/plain": "A line.", "image/jpeg": "AAAA"})
    png = {"text/plain": "<IPython.core.display.Image object>", "image/png": "iVBORw0K"}
    assert ran(output_type="display_data", data=png)[0].figure


@pytest.mark.parametrize(
    "text", ["CPU times: user 11 μs, sys: 4 μs\nWall time: 9 μs", "3 μs ± 0 ns per loop (mean ± std. dev. of 1 run)"]
)
def test_times_that_magics_measure_are_not_shown_be_they_the_same_by_chance(text: str) -> None:
    measured = [*ran(output_type="stream", text=text), VALUE]
    assert compared(measured, measured) == [VALUE, Output(measured=True)]
    other = [*ran(output_type="stream", text=text.replace("3", "7").replace("9", "7")), VALUE]
    assert compared(measured, other) == [VALUE, Output(measured=True)]


def test_what_differs_between_runs_is_a_measurement_and_is_not_shown() -> None:
    one, two, figure = Output("1"), Output("2"), Output("Lines.", picture())
    assert compared([one, figure], [one, figure]) == [one, figure]
    assert compared([one, figure], [two, figure]) == [figure, Output(measured=True)]
    assert compared([one, figure], [two, Output("Lines.", b"other")]) == [Output(measured=True)]
    assert compared([one], [one, one]) == [Output(measured=True)]


def test_one_number_among_others_is_left_out_alone() -> None:
    one = Output("{'accuracy': 1.0, 'weights': [0.61, 0.36], 'seconds': 2.1}")
    kept = Output("{'accuracy': 1.0, 'weights': [0.61, 0.36], 'seconds': ...}")
    assert compared([one], [Output(one.text.replace("2.1", "6.3e1"))]) == [kept, Output(measured=True)]
    for other in ("{'accuracy': 0.9, 'weights': [0.61, 0.36], 'seconds': 6.3}", one.text.replace("seconds", "s"), "3"):
        assert compared([one], [Output(other)]) == [Output(measured=True)]
    assert compared([Output("2.1 s")], [Output("6.3 s")]) == [Output(measured=True)]


SECONDS = "import time\ndef seconds():\n    start = time.perf_counter()\n    time.sleep(0.1)\n    return time.perf_counter() - start\n"
CELLS = {
    "value": "[1, 2]",
    "time": f"{SECONDS}round(seconds(), 1)",
    "ratio": "round(seconds() / seconds(), 1)",
    "memory": "import tracemalloc\ntracemalloc.start()\nx = bytes(10**6)\ntracemalloc.get_traced_memory()[0] // 10**5",
    "figure": "import matplotlib.pyplot as plt\nplt.title('Mass')\nplt.plot([1, 2])\nNone",
}


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "small.ipynb"
    monkeypatch.setattr(outputs, "module_notebook", lambda module: path)
    return path


def write(path: Path, sources: dict[str, str]) -> None:
    cells = [nbformat.v4.new_code_cell(s, id=n, metadata=cell(n, s, "demo")["metadata"]) for n, s in sources.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


@pytest.mark.long
def test_times_ratios_of_times_and_memory_are_known_as_measurements(notebook: Path) -> None:
    write(notebook, CELLS)
    found = outputs_of("any")
    assert {n for n, o in found.items() if o == [Output(measured=True)]} == {"time", "ratio", "memory"}
    assert found["value"] == [Output("[1, 2]")]
    (figure,) = found["figure"]
    assert figure.text == "A line, “Mass”." and figure.figure.startswith(b"\x89PNG")


@pytest.mark.long
def test_what_somebody_has_set_for_their_own_notebooks_and_figures_is_not_on_a_page(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.rcParams['figure.facecolor']"
    write(notebook, {"figure": source})
    usual = outputs_of("any")
    (tmp_path / "profile_default").mkdir()
    (tmp_path / "profile_default" / "ipython_config.py").write_text('c.InlineBackend.figure_formats = {"svg"}\n')
    (tmp_path / "matplotlibrc").write_text("lines.linewidth: 9\nfigure.facecolor: black\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    assert outputs_of("any") == usual


@pytest.mark.long
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("1 / 0", "raises ZeroDivisionError: division by zero"),
        ("import os\nos._exit(1)", "does not come to its end (DeadKernelError)"),
    ],
)
def test_a_cell_that_stops_the_notebook_is_named(source: str, said: str, notebook: Path) -> None:
    write(notebook, {"fine": "1", "broken": source, "never": "2"})
    with pytest.raises(CourseError) as raised:
        outputs_of("any")
    assert str(raised.value) == f'{notebook}: the cell "broken" {said}'


def test_a_figure_is_told_in_words() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    figure.suptitle("Both")
    left.imshow([[1, 2]])
    left.set(xlabel="key", ylabel="query", title="scores $Q$")
    right.plot([1, 2], label="one")
    right.plot([2, 1], label="two")
    right.legend()
    figure.colorbar(left.images[0], ax=left)
    assert described(figure) == (
        "Both. 2 panels. Panel 1: heat map, “scores Q”; across: key; down: query. Panel 2: 2 lines; legend: one, two."
    )


# Documentation and reference


def test_links_between_documents_lead_to_their_pages_and_others_to_the_repository_or_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    links = Links({"docs/jail.md": "docs/jail.html", "modules/a/b.ipynb": "modules/a/index.html"})
    source = "# T\n\nAbout *it*.\nMore.\n\n[a](jail.md#b), [c](../README.md), [d](https://e.org), [f](../modules/a/b.ipynb), [g](#t)"
    monkeypatch.setattr(frame, "published", lambda: None)
    page = document("x", source, links)
    linked = '<a href="jail.html#b">a</a>, {}, <a href="https://e.org">d</a>, <a href="../modules/a/index.html">f</a>, <a href="#t">g</a>'
    assert linked.format("c") in page.html and (page.title, page.about) == ("T", "About it.")
    monkeypatch.setattr(
        frame, "published", lambda: Published("https://github.com/ada/r", "main", "https://ada.github.io/r")
    )
    readme = '<a href="https://github.com/ada/r/blob/main/README.md">c</a>'
    assert linked.format(readme) in document("x", source, links).html


def test_pictures_of_documents_are_beside_their_pages(tmp_path: Path) -> None:
    page = document("x", "# T\n\n![Loss](reversal.png)\n\n<!-- left out -->", Links({}))
    write_documents(tmp_path, [page])
    assert (
        '<img src="reversal.png" alt="Loss">' in (tmp_path / "docs" / "x.html").read_text() and "left" not in page.html
    )
    assert (tmp_path / "docs" / "reversal.png").read_bytes() == (ROOT / "docs" / "reversal.png").read_bytes()


def test_every_document_is_listed_once(pages: Path) -> None:
    documents = [each for group in grouped(read_documents(Links({}))).values() for each in group]
    assert {name for names in GROUPS.values() for name in names} <= {each.name for each in documents}
    assert sorted(each.name for each in documents) == sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    listed = Page(pages / "docs" / "index.html").links
    assert [link for link in (f"{each.name}.html" for each in documents) if listed.count(link) != 1] == []


def test_the_reference_has_types_and_docstrings_of_public_names_and_no_code(pages: Path) -> None:
    for module in modules():
        name = module.partition("_")[2]
        page = Page(pages / "reference" / f"{name}.html")
        public = [entry.name for entry in library_module(name).entries]
        assert set(public) <= set(page.ids)
        assert [i for i in page.ids if i.startswith("_") or "._" in i] == []
        assert "return " not in page.text and "import " not in page.text
    attention = Page(pages / "reference" / "attention.html").text
    assert "causal_mask(seq_len: int) -> Array" in attention and ">>> causal_mask(3)" in attention
    assert "MultiHeadAttention(embed_dim: int, num_heads: int)" in attention
    assert "cat(tensors: Iterable[Values], *, axis: int) -> Tensor" in Page(pages / "reference" / "tensor.html").text


def test_each_public_name_of_the_library_is_in_the_reference() -> None:
    import importlib

    for module in modules():
        name = module.partition("_")[2]
        public = importlib.import_module(f"tinytorch.core.{name}").__all__
        assert [entry.name for entry in library_module(name).entries] == list(public)


# The whole


@pytest.mark.long
def test_every_link_and_picture_is_there_and_relative(pages: Path) -> None:
    ids = {path: Page(path).ids for path in pages_of(pages)}
    for path in ids:
        for link in Page(path).links:
            if re.match(r"https?://", link):
                continue
            target, _, anchor = link.partition("#")
            there = (path.parent / target.partition("?")[0]).resolve() if target else path
            assert not link.startswith("/") and there.is_file(), f"{path}: {link}"
            assert not anchor or anchor in ids[there], f"{path}: {link}"
            if "?path=" in link:  # the notebook of a module, in its kit's folder
                folder, name = link.partition("?path=")[2].split("/")
                assert (ROOT / "modules" / folder.removeprefix("tinytorch-") / name).is_file(), link


@pytest.mark.long
def test_no_page_runs_anything_and_each_has_a_title_a_description_and_landmarks(pages: Path) -> None:
    found = [Page(path) for path in pages_of(pages)]
    for page in found:
        assert not {"script", "iframe", "object", "embed", "form", "link"} & set(page.tags), page.title
        assert page.language == "en" and page.tags.count("h1") == 1 and page.tags.count("main") == 1
        assert {"header", "nav", "footer"} <= set(page.tags)
        assert len(set(page.ids)) == len(page.ids), page.title
        assert all(len(alt) > 8 for _, alt in page.pictures), page.title
    titles, descriptions = [page.title for page in found], [page.described for page in found]
    assert len(set(titles)) == len(titles) and len(set(descriptions)) == len(descriptions) and all(descriptions)


@pytest.mark.long
def test_no_page_has_an_answer(pages: Path) -> None:
    lines = {line for module in modules() for line in solution_lines(module)}
    assert len(lines) > 50
    for path in pages_of(pages):
        text = Page(path).text
        assert [line for line in lines if line in text] == [], path
        if "modules" in path.parts:
            assert "HIDDEN TESTS" not in text and "autograded_tests" not in text


@pytest.mark.long
def test_modules_that_are_not_chosen_are_named_and_have_no_page(tmp_path: Path) -> None:
    folder = write_pages(tmp_path, ["02_activations", "04_attention"])
    assert sorted(path.name for path in (folder / "modules").iterdir()) == ["02_activations", "04_attention"]
    start = Page(folder / "index.html")
    assert all(module_of(module).title in start.text for module in modules())
    assert start.text.count("Not open yet.") == len(modules()) - 2
    assert {link.split("/")[1] for link in start.links if link.startswith("modules/")} == {
        "02_activations",
        "04_attention",
    }
    between = Page(folder / "modules" / "04_attention" / "index.html").links
    assert "../02_activations/index.html" in between and "../05_efficient_attention/index.html" not in between


@pytest.mark.long
def test_the_start_page_tells_of_each_module_what_its_title_cell_says(pages: Path) -> None:
    start = Page(pages / "index.html")
    for module in modules():
        said = module_of(module)
        assert said.title in start.text and re.sub(r"[`*]", "", said.about) in start.text
        assert f"kits/tinytorch-{module}.zip" in start.links
        assert any(link.startswith(f"modules/{module}/") and link.endswith(".png") for link in start.links)
    copy = json.loads(student_copy("04_attention").read_text(encoding="utf-8"))
    assert "`scale_scores`" in "".join(copy["cells"][0]["source"]) and "scale_scores" in start.text


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_builds_have_the_same_bytes_and_every_figure_says_what_it_shows(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        make_site(folder)
    compared = [path.relative_to(one) for path in sorted(one.rglob("*")) if path.is_file()]
    assert compared == [path.relative_to(two) for path in sorted(two.rglob("*")) if path.is_file()]
    assert Path(".nojekyll") in compared
    assert [path for path in compared if not filecmp.cmp(one / path, two / path, shallow=False)] == []
    pictures = [p for m in modules() for p in Page(one / "modules" / m / "index.html").pictures]
    assert pictures and [alt for _, alt in pictures if alt.startswith("<") or not alt.endswith(".")] == []
    measured = {
        m for m in modules() if "differs from machine to machine" in Page(one / "modules" / m / "index.html").text
    }
    assert {"04_attention", "05_efficient_attention"} <= measured < set(modules())
