"""What becomes of written answers: they are never lost, and their pictures are shown with nothing else that is live."""

import base64
import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from small import CELLS, FIRST, SMALL, WRITTEN, cell, filled, named, own, saved, text, verdict

from grader import pictures
from grader.grade import cut_short
from grader.notebook import Cell, CellKind
from grader.pages import markup
from grader.prose import added, below, holds, is_prose
from grader.rebuild import Rebuilt, rebuild

EMPTY = "YOUR ANSWER HERE"
PNG = b"\x89PNG\r\n\x1a\n and so on"
KINDS = {"png": PNG, "jpeg": b"\xff\xd8\xff\xe0 JFIF", "gif": b"GIF89a...", "webp": b"RIFF\0\0\0\0WEBPVP8 "}
TAKEN = 'the written answer "question" was empty; the text beside it was taken'
MISSING = 'the written answer "question" is missing'


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def written(*cells: Any) -> tuple[str, bool]:
    """The written answer after all, and whether it is blank."""
    part = next(p for p in rebuild(saved(cells), SMALL).parts if p.kind == CellKind.WRITTEN)
    return part.cell["source"], part.blank


def own_cells(rebuilt: Rebuilt) -> list[str]:
    return [p.cell["source"] for p in rebuilt.parts if p.kind == CellKind.OWN]


def pictured(text: str, attached: Any = None) -> tuple[Cell, tuple[str, ...]]:
    """The written answer with a text and attachments, and the repairs."""
    cells = filled(question=text)
    if attached is not None:
        named(cells, "question")["attachments"] = attached
    rebuilt = rebuild(saved(cells), SMALL)
    return next(p.cell for p in rebuilt.parts if p.kind == CellKind.WRITTEN), rebuilt.repairs


def kept(cells: list[Any]) -> dict[str, Any]:
    """The notebook that is kept of them."""
    verdicts = {e.name: verdict(e, *(c.points for c in e.cases)) for e in SMALL.exercises}
    result = cut_short(rebuild(saved(cells), SMALL), SMALL, verdicts, "", "ada")
    assert result.notebook is not None
    return result.notebook


def written_in(notebook: dict[str, Any]) -> str:
    source: str = named(notebook["cells"], "question")["source"]
    return source


# Nothing takes room from an answer


def test_no_other_cell_cuts_an_answer() -> None:
    """100,000 characters each; the student's own cells have 20,000 each and 200,000 together."""
    early = [own("x" * 60_000, "markdown"), own(f"#{'y' * 60_000}")]
    cells = [*early, *filled(f"{FIRST}#{'1' * 60_000}", "2" * 100_001, "z" * 100_000)]
    notebook = kept(cells)
    assert named(notebook["cells"], "first")["source"] == f"{FIRST}#{'1' * 60_000}"
    assert named(notebook["cells"], "second")["source"] == "2" * 100_000 + "\n... 1 more characters are left out ..."
    assert written_in(notebook) == "z" * 100_000
    assert [c["source"] for c in notebook["cells"][:2]] == [
        "x" * 20_000 + "\n... 40000 more characters are left out ...",
        f"#{'y' * 19_999}\n... 40001 more characters are left out ...",
    ]
    many = kept([own("x" * 19_999, "markdown") for _ in range(11)])["cells"][1:12]  # the first one tells of repairs
    assert many[9]["source"] == "x" * 19_999
    assert many[10]["source"] == f"{'x' * 10}\n... 19989 more characters are left out ..."


# Text beside an empty written answer


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("markdown", "Since it is."),
        ("raw", "Since it is."),
        ("code", "# Since it is.\n# Yes."),
        ("code", "Since it is."),
    ],
)
@pytest.mark.parametrize("where", ["above", "below"])
def test_text_beside_an_empty_written_answer_is_the_answer(kind: str, text: str, where: str) -> None:
    *others, question = filled(question=EMPTY)
    mine = own(text, kind)
    rebuilt = rebuild(saved([*others, mine, question] if where == "above" else [*others, question, mine]), SMALL)
    assert written(*others, question, mine) == (text, False)
    assert rebuilt.repairs == (TAKEN,) and own_cells(rebuilt) == []


@pytest.mark.parametrize(
    "mine",
    [
        own("x = 1"),
        own("'a text in code'"),
        own("%timeit is no prose"),
        own("# a\n!ls"),
        own("---", "markdown"),
        own(EMPTY, "markdown"),
        own("(" * 10_000),
    ],
)
def test_what_says_nothing_is_no_answer(mine: Cell) -> None:
    rebuilt = rebuild(saved([*filled(question=EMPTY), mine]), SMALL)
    assert written(*filled(question=EMPTY), mine) == (EMPTY, True)
    assert rebuilt.repairs == () and own_cells(rebuilt) == [mine["source"]]


def test_beside_an_answer_that_says_something_a_text_stays_what_it_is() -> None:
    rebuilt = rebuild(saved([*filled(), own("More.", "markdown")]), SMALL)
    assert written(*filled(), own("More.", "markdown")) == (WRITTEN, False)
    assert rebuilt.repairs == () and own_cells(rebuilt) == ["More."]


def test_only_what_stands_between_the_question_and_the_next_cell_of_ours() -> None:
    start, *rest = filled(question=EMPTY)
    *before, prompt, question = rest
    cells = [own("0", "markdown"), start, own("1", "markdown"), *before, own("2", "markdown"), prompt]
    cells += [
        own("3", "markdown"),
        question,
        own("4", "markdown"),
        own("5", "markdown"),
        CELLS[1],
        own("6", "markdown"),
    ]
    rebuilt = rebuild(saved(cells), SMALL)
    assert written(*cells)[0] == "3\n\n4\n\n5" and own_cells(rebuilt) == ["0", "1", "6", "2"]


def test_a_text_in_another_modules_notebook_is_no_answer() -> None:
    """Its questions are not ours, though they stand where ours would."""
    theirs = [
        c for c in CELLS if c["metadata"].get("nbgrader", {}).get("cell_type") != "code" and c["cell_type"] != "code"
    ]
    assert written(*theirs, own("A question of another module.", "markdown"))[1]


def test_text_in_place_of_a_written_answer_is_taken() -> None:
    cells = [*filled()[:-1], own("Since it is.", "markdown")]
    assert written(*cells) == ("Since it is.", False)
    assert rebuild(saved(cells), SMALL).repairs == (f"{MISSING}; the text beside its question was taken",)
    assert rebuild(saved(filled()[:-1]), SMALL).repairs == (MISSING,)


def test_an_empty_answer_that_lost_its_name_is_not_taken_for_one() -> None:
    cells = [*filled()[:-1], own(EMPTY, "markdown"), own("Since it is.", "markdown")]
    assert written(*cells) == ("Since it is.", False)


def test_empty_answers_that_lost_their_names_are_told_apart_by_their_questions() -> None:
    again = (text("and", "And then?"), cell("again", EMPTY, "markdown", grade=True, solution=True, points=1))
    ours = SMALL.__class__(SMALL.module, SMALL.metadata, (*CELLS, *again), SMALL.exercises)
    cells = [*filled()[:-1], own(EMPTY, "markdown"), own("Since it is.", "markdown"), again[0], own(EMPTY, "markdown")]
    said = {p.name: p.cell["source"] for p in rebuild(saved(cells), ours).parts if p.kind == CellKind.WRITTEN}
    assert said == {"question": "Since it is.", "again": ""}


def test_text_in_the_questions_own_cell_is_taken_without_the_question() -> None:
    for prompt in ("Why?\n\nSince it is.", "Why? Since it is."):
        cells = filled(question=EMPTY)
        named(cells, "prompt")["source"] = prompt
        rebuilt = rebuild(saved(cells), SMALL)
        assert written(*cells) == ("Since it is.", False) and rebuilt.repairs == (TAKEN,) and own_cells(rebuilt) == []
        del named(cells, "prompt")["id"]
        assert prompt != "Why?\n\nSince it is." or written(*cells) == ("Since it is.", False)


def test_an_answer_in_two_cells_of_one_name_is_whole() -> None:
    question = named(filled(), "question")
    cells = [*filled(question="One."), question | {"source": "Two."}, question | {"source": "Two."}]
    rebuilt = rebuild(saved(cells), SMALL)
    assert written(*cells) == ("Two.", False) and own_cells(rebuilt) == ["One."]
    assert rebuilt.repairs == (
        'there are 2 cells with the written answer "question"; the last one that is filled in was taken',
    )


# What of a text is the student's own

TEXT = "### Question 1\n\nTake eight heads of width 64.\nWhat does a head do before it is trained for anything?\nWhy?"
EARLIER = "### Question 1\n\nTake 8 heads of width 64, and say what a head does before it is trained for anything."


def test_what_was_added_to_a_text_of_ours() -> None:
    assert added(TEXT, TEXT) == "" and holds(TEXT, TEXT)
    assert added(f"{TEXT} No.\n\nOr yes.", TEXT) == "No.\n\nOr yes." and holds(f"{TEXT} No.", TEXT)
    slip = TEXT.replace("width", "widht")
    assert added(slip, TEXT) == "" and not holds(slip, TEXT)
    assert added(f"{slip}\n\nMine.", TEXT) == "Mine."
    assert added("Why?\nWhy? And how?\nMine.", "Why?\nWhy? And how?") == "Mine."
    assert added("My own text.", TEXT) is None and not holds("My own text.", TEXT)


def test_below_an_earlier_wording_stands_the_students_text() -> None:
    assert below(EARLIER, TEXT) == ""
    assert below(f"{EARLIER}\n\nIt mixes.\n\nA bit.", TEXT) == "It mixes.\n\nA bit."
    assert below(f"### Question 1\nIt mixes.\n\n{EARLIER}", TEXT) == ""
    assert below(f"{EARLIER}\n\nBefore it is trained.", TEXT) == "Before it is trained."  # too short to tell


def test_prose_is_no_code() -> None:
    assert is_prose("# a comment") and is_prose("It is so.") and not is_prose("x") and not is_prose(f"#{'x' * 20_000}")


def older(*changed: int) -> list[Cell]:
    """Five texts and a question, of which some are in other words than ours now."""
    return [
        {"cell_type": "markdown", "id": f"text-{n}", "metadata": {}, "source": f"As it was formerly said in text {n}."}
        if n in changed
        else cell
        for n, cell in enumerate(TEXTS)
    ]


TEXTS = [
    {"cell_type": "markdown", "id": f"text-{n}", "metadata": {}, "source": f"Now it is new: {n}"} for n in range(5)
]


@pytest.mark.parametrize(("changed", "kept"), [((0, 1, 2), 3), ((0, 1, 2, 3), 0), ((), 0)])
def test_texts_of_an_earlier_copy_are_not_the_students(changed: tuple[int, ...], kept: int) -> None:
    """One or two changed texts are a student's; where many are, the course has changed."""
    ours = SMALL.__class__(SMALL.module, SMALL.metadata, (*TEXTS, *CELLS), SMALL.exercises)
    assert len(own_cells(rebuild(saved([*older(*changed), *filled()]), ours))) == kept


@pytest.mark.parametrize(("below_it", "blank"), [("", True), ("\n\nIt mixes.", False)])
def test_in_an_earlier_copy_too_an_answer_below_the_question_is_taken(below_it: str, blank: bool) -> None:
    prompt = named(CELLS, "prompt") | {"source": TEXT}
    ours = SMALL.__class__(SMALL.module, SMALL.metadata, (*TEXTS, *CELLS[:-2], prompt, CELLS[-1]), SMALL.exercises)
    cells = [*older(0, 1, 2), *filled(question=EMPTY)]
    named(cells, "prompt")["source"] = EARLIER + below_it
    rebuilt = rebuild(saved(cells), ours)
    assert next(p for p in rebuilt.parts if p.kind == CellKind.WRITTEN).blank == blank
    assert own_cells(rebuilt) == [] and rebuilt.repairs == (() if blank else (TAKEN,))


def test_a_note_in_an_earlier_copy_is_the_students_where_our_text_is_whole() -> None:
    ours = SMALL.__class__(SMALL.module, SMALL.metadata, (*TEXTS, *CELLS), SMALL.exercises)
    cells = [*older(0, 1, 2, 3), *filled()]
    cells[4] = cells[4] | {"source": f"{cells[4]['source']}\n\nMine."}
    assert own_cells(rebuild(saved(cells), ours)) == ["Mine."]


# Pictures


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "reference",
    [
        "![a b](attachment:my%20plot%20(1).png)",
        "![a b](<attachment:my plot (1).png>)",
        '![a b](attachment:my%20plot%20(1).png "a title")',
        '<img src="attachment:my plot (1).png" alt="a b" width=300/>',
        "![a b](DATA)",
        "<IMG alt='a b' src='DATA'>",
    ],
)
def test_a_picture_is_kept_under_a_name_of_ours(kind: str, reference: str) -> None:
    """Attached to the cell or pasted into it; what it is, its bytes say."""
    encoded = base64_of(KINDS[kind])
    text = f"See {reference.replace('DATA', f'data:image/tiff;base64,{encoded}')}."
    made, repairs = pictured(text, {"my plot (1).png": {"image/bmp": f"{encoded[:8]}\n{encoded[8:]}"}})
    assert made["source"] == f"See ![a b](attachment:picture-1.{kind})." and repairs == ()
    assert made["attachments"] == {f"picture-1.{kind}": {f"image/{kind}": encoded}}


def test_a_picture_alone_is_an_answer() -> None:
    cells = filled(question="![](attachment:a.png)")
    named(cells, "question")["attachments"] = {"a.png": {"image/png": base64_of(PNG)}}
    assert written(*cells) == ("![](attachment:picture-1.png)", False)
    beside = [*filled(question=EMPTY), named(cells, "question") | {"metadata": {}, "id": "new"}]
    assert written(*beside) == ("![](attachment:picture-1.png)", False)


def test_pictures_of_several_cells_are_told_apart() -> None:
    """Each cell has an `image.png` of its own; a picture that nobody refers to is dropped, one that is shown twice is there once."""
    first, second = (
        {"image.png": {"image/png": base64_of(PNG + b)}, "b": {"image/png": base64_of(PNG)}} for b in (b"1", b"2")
    )
    twice = "![](attachment:image.png)![](attachment:image.png)"
    cells = [own(twice, "markdown") | {"attachments": first}, *filled(question=EMPTY)]
    cells += [own("![](attachment:image.png)", "markdown") | {"attachments": made} for made in (first, second)]
    found = {p.name or "own": p.cell for p in rebuild(saved(cells), SMALL).parts if "attachments" in p.cell}
    assert found["question"]["source"] == "![](attachment:picture-1.png)\n\n![](attachment:picture-2.png)"
    assert found["question"]["attachments"] == {
        "picture-1.png": {"image/png": base64_of(PNG + b"1")},
        "picture-2.png": {"image/png": base64_of(PNG + b"2")},
    }
    assert found["own"]["source"] == "![](attachment:picture-3.png)![](attachment:picture-3.png)"
    assert list(found["own"]["attachments"]) == ["picture-3.png"]


@pytest.mark.parametrize(
    ("attached", "reason"),
    [
        ({"a": {"image/svg+xml": "<svg onload='alert(1)'/>"}}, "it is damaged"),
        ({"a": {"image/png": base64_of(b"<svg onload='alert(1)'/>")}}, "only PNG, JPEG, GIF and WebP are shown"),
        ({"a": {"image/png": '"><script>alert(1)</script>'}}, "it is damaged"),
        ({"a": {"image/png": "\u00e9"}}, "it is damaged"),
        ({"a": {"image/png": 7}}, "only PNG, JPEG, GIF and WebP are shown"),
        ({"a": {"image/png": base64_of(PNG + b"\0" * (5 << 20))}}, "a picture may have 5 MB"),
        ({"a": {"image/png": " " * (11 << 20)}}, "a picture may have 5 MB"),
        ({"a": {}}, "it is not in the notebook"),
        ({"a": ["image/png"]}, "it is not in the notebook"),
        ({"b": {"image/png": base64_of(PNG)}}, "it is not in the notebook"),
        ([], "it is not in the notebook"),
        (None, "it is not in the notebook"),
    ],
)
def test_what_is_no_picture_is_left_out_with_a_reason(attached: Any, reason: str) -> None:
    made, repairs = pictured("![of <me>](attachment:a)!", attached)
    assert made["source"] == "(picture left out: of me)!" and "attachments" not in made
    assert repairs == (f'a picture in the written answer "question" was left out: {reason}',)


def test_of_two_forms_of_a_picture_the_one_that_is_none_of_svg() -> None:
    for forms in (
        {"image/png": base64_of(PNG), "image/svg+xml": "x"},
        {"image/svg+xml": "x", "image/png": base64_of(PNG)},
    ):
        assert list(pictured("![](attachment:a)", {"a": forms})[0]["attachments"]) == ["picture-1.png"]


def test_pictures_have_room_together_and_answers_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "TOGETHER", 3 * len(PNG))
    link = f"![](data:image/png;base64,{base64_of(PNG)})"
    others = [own("".join(link.replace("![", f"![{n}") for n in range(2)), "markdown") for _ in range(2)]
    cells = [*others, *filled(question=link)]
    rebuilt = rebuild(saved(cells), SMALL)
    assert written(*cells)[0] == "![](attachment:picture-1.png)"
    assert own_cells(rebuilt) == [
        "![0](attachment:picture-2.png)![1](attachment:picture-2.png)",
        "![0](attachment:picture-3.png)![1](attachment:picture-3.png)",
    ]
    more = rebuild(saved([*others, own(link, "markdown"), own(link, "markdown"), *filled()]), SMALL)
    assert more.repairs == (
        "a picture in a text of their own was left out: all pictures of a notebook may have 0 MB together",
    )


def test_a_notebook_with_pictures_that_is_rebuilt_again_is_the_same() -> None:
    cells = filled(question="![](attachment:a)")
    cells[-1]["attachments"] = {"a": {"image/png": base64_of(PNG)}}
    rebuilt = rebuild(saved([own(f"![x](data:image/png;base64,{base64_of(PNG)})", "markdown"), *cells]), SMALL)
    assert rebuild(saved([p.cell for p in rebuilt.parts]), SMALL) == rebuilt


@pytest.mark.parametrize("start", ["", "![", "![a](", "![a]((", '![a](x "', "<img", "<img src", "<img src='"])
@pytest.mark.parametrize("then", ["![", "](", "()", " ", '"', "<img src='"])
def test_a_long_text_is_searched_once(start: str, then: str) -> None:
    """A search that begins anew at every place would take hours."""
    text = start + then * 50_000
    assert pictured(text)[0]["source"] in (text, text.strip())


def test_an_exclamation_mark_with_a_backslash_makes_no_picture() -> None:
    text = r"\![x](attachment:a)"
    made, repairs = pictured(text, {"a": {"image/png": base64_of(PNG)}})
    assert made["source"] == text and "attachments" not in made and repairs == ()


# Nothing else is live

LIVE = [
    "<script>alert(1)</script>",
    "<img src=http://evil/ onerror=alert(1)>",
    "![x](http://evil/a.png)",
    "[x](http://evil/) [![x](attachment:a)](http://evil/)",
    "![x](attachment:a)(http://evil/)[y]: http://evil/",
    "![x][r]\n\n[r]: http://evil/a.png",
    "![x\n\n](http://evil/)](attachment:a)",
    '![x](attachment:a "\'><script>alert(1)</script>")',
    '![x"onerror="alert(1)](attachment:a)',
    "![x](attachment:a)![x](http://evil/a.png)",
    r"\![x](attachment:a)",
    r"![x\](attachment:a)](http://evil/)",
    "!![x](attachment:a)[x](javascript:alert(1))",
    "![x](attachment:picture-7.png) ![](attachment:)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+) ![x](data:text/html,<script>alert(1)</script>)",
    '<img alt="![" src="attachment:a"><img src="javascript:alert(1)">',
    '<img src="attachment:a"onload="alert(1)">',
    "<IMG SRC=&#106;avascript:alert(1)> &lt;script&gt;alert(1)&lt;/script&gt;",
    "$![x](attachment:a)<img src=http://evil/>$",
    "`![x](attachment:a)` ```\n<img src=http://evil/>\n```",
]


def shown(source: str, attached: Any) -> str:
    """What the formgrader makes of a text: sanitised, as nbgrader_config.py says, then turned to HTML."""
    import nbformat
    from nbconvert import HTMLExporter
    from nbconvert.preprocessors.sanitize import SanitizeHTML

    cells = filled(question=source)
    named(cells, "question")["attachments"] = attached
    cell = nbformat.from_dict(named(kept(cells)["cells"], "question"))
    SanitizeHTML().preprocess_cell(cell, {}, 0)
    html: str = HTMLExporter().markdown2html({"cell": cell}, cell.source)
    return html


def page_of(notebook: dict[str, Any], template: str, folder: str) -> str:
    """A page of nbgrader's, with one of its templates."""
    import nbformat
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    options = {"sanitize_html": True, "template_name": template, "extra_template_basedirs": [folder]}
    nbgrader = {"assignment": "a", "notebook": "n", "student": "s", "late_penalty": 0, "score": 0, "max_score": 1}
    page, _ = HTMLExporter(config=Config({"HTMLExporter": options})).from_notebook_node(
        nbformat.from_dict(json.loads(json.dumps(notebook))),
        {"nbgrader": nbgrader, "base_url": "", "index": 0, "total": 1, "notebook_id": "n", "assignment_id": "a"},
    )
    html: str = page
    return html


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("a < b <i>", "a <- b <-i>"),
        ("![x](y) ![x][y] !", "!-[x]-(y) !-[x]-[y] !"),
        ("[x](y) [x][y]\n[y]: z [x] (y)", "[x]-(y) [x]-[y]\n[y]-: z [x] (y)"),
        ("![a b](attachment:picture-1.png)![](attachment:picture-1.png)",) * 2,
        ("![a](attachment:picture-2.png)", "!-[a]-(attachment:picture-2.png)"),
        ("![<](attachment:picture-1.png)", "!-[<-]-(attachment:picture-1.png)"),
        (r"\![a](attachment:picture-1.png)", r"\!-[a]-(attachment:picture-1.png)"),
        ("[![a](attachment:picture-1.png)](y)<", "[![a](attachment:picture-1.png)]-(y)<-"),
    ],
)
def test_each_thing_that_could_be_live_is_parted(text: str, dead: str) -> None:
    """By a character that nobody sees; nbgrader's own cleaning comes on top."""
    assert pictures.no_live_html(text, {"picture-1.png": {}}).replace("\u2060", "-") == dead


@pytest.mark.parametrize("text", LIVE)
def test_a_text_with_a_picture_is_shown_with_nothing_live(text: str) -> None:
    """Only the picture itself may be there, and an address that is a link to what it says."""
    page = shown(text, {"a": {"image/png": base64_of(PNG)}})
    page = re.sub(rf'<img src="data:image/png;base64,{re.escape(base64_of(PNG))}" alt="[^"<>]*" />', "", page)
    for tag in re.findall(r"<a href=[^>]*>[^<]*", page):
        address, said = tag.removeprefix('<a href="').split('">')
        assert address.startswith("http://evil/") and unquote(unescape(address)) == unescape(said)
    page = re.sub('<a href="http://evil[^"]*">', "", page)
    for tag in re.findall(r"<[^>]*>", page):
        assert re.fullmatch(r"</?(p|a|code|pre|h3|br)/?>|<span class=\"[a-z]*\">", tag), tag


@pytest.mark.parametrize("text", LIVE)
def test_so_it_is_in_feedback(text: str) -> None:
    cells = filled(question=text)
    named(cells, "question")["attachments"] = {"a": {"image/png": base64_of(PNG)}}
    page: str = markup.text(named(kept(cells)["cells"], "question"))
    page = re.sub(rf'<img src="data:image/png;base64,{re.escape(base64_of(PNG))}" alt="[^"<>]*">', "", page)
    page = re.sub('<a href="http://evil[^"]*">', "", page)
    for tag in re.findall(r"<[^>]*>", page):
        assert re.fullmatch(r"</?(p|a|code|pre|h3|br|span)>", tag), tag


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_seen_by_readers_and_by_the_student(kind: str) -> None:
    from nbgrader.server_extensions.formgrader import handlers

    cells = filled(question="![my plot](attachment:a)")
    named(cells, "question")["attachments"] = {"a": {"image/png": base64_of(KINDS[kind])}}
    picture = f'<img alt="my plot" src="data:image/{kind};base64,{base64_of(KINDS[kind])}"/>'
    assert picture in page_of(kept(cells), "formgrade", handlers.template_path)
    feedback = f'<img src="data:image/{kind};base64,{base64_of(KINDS[kind])}" alt="my plot">'
    assert feedback in markup.text(named(kept(cells)["cells"], "question"))


def test_the_configuration_is_the_one_that_is_tested() -> None:
    assert "c.HTMLExporter.sanitize_html = True" in (Path(__file__).parents[2] / "nbgrader_config.py").read_text()
