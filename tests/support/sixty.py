"""A class of sixty: most do as they should, and each of the others is one of the accidents that classes have."""

import io
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from answers import Answer, Everything, answers, submission
from archives import PEOPLE, Person

from grader.course import ROOT

MODULE, EARLIER_MODULE, LATER_MODULE = "04_attention", "02_activations", "05_efficient_attention"
NAME = "attention.ipynb"
RIGHT = 28.0  # points of all exercises; the written questions have 8 more
WORDS = "The scores have the variance of D, and a softmax of large scores is nearly 0 or 1."
BESIDE = "A mask after the softmax leaves rows that do not add up to 1."
NOT_UNPACKED = (200, 0xFF, False)  # a byte of the packed content
ENCRYPTED = (8, 1, True)  # the flags in the central directory


@dataclass(frozen=True)
class Case:
    """One student: what they handed in, and what must become of it.

    files   as the platform packs them, by name; none if nothing was handed in
    status  of the row that `grade` prints
    points  before anything is read by hand; None if the wrong answer says it
    wrong   the exercise that is answered wrongly
    unread  the written answers that somebody has to read
    broken  which byte of the zip file is wrong: place, value, whether in the central directory
    """

    person: Person
    files: Mapping[str, bytes]
    what: str = "right"
    status: str = "graded"
    points: float | None = RIGHT
    wrong: str = ""
    unread: tuple[str, ...] = ()
    broken: tuple[int, int, bool] | None = None

    @property
    def name(self) -> str:
        return self.person.name


def cell(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """A cell of ours, by its name."""
    named = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name)
    found: dict[str, Any] = next(named)
    return found


def written(text: str) -> Callable[[dict[str, Any]], None]:
    """Answers the first question."""
    return lambda notebook: cell(notebook, "question_scaling").update(source=text)


def text_beside(notebook: dict[str, Any]) -> None:
    """Leaves the second question as it is, and types into a new cell below."""
    place = notebook["cells"].index(cell(notebook, "question_masking"))
    notebook["cells"].insert(place + 1, {"cell_type": "markdown", "id": "beside", "metadata": {}, "source": BESIDE})


def picture_attached(notebook: dict[str, Any]) -> None:
    """Answers the first question with a picture of one pixel."""
    data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
    source = f"{WORDS}\n\n![](attachment:drawing.png)"
    cell(notebook, "question_scaling").update(source=source, attachments={"drawing.png": {"image/png": data}})


def large_picture_early(notebook: dict[str, Any]) -> None:
    """60 kB in an early cell, and a written answer at the end."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 60_000}}
    early = {"cell_type": "code", "id": "early", "metadata": {}, "execution_count": 1, "outputs": [output]}
    notebook["cells"].insert(1, early | {"source": "1"})
    written(WORDS)(notebook)


def zipped(name: str, data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, data)
    return packed.getvalue()


def odd_cases() -> list[Case]:
    """One of each accident. That of a file is the name of its student, too."""
    right, blank = submission(), submission(blank=Everything())
    scaling = ("question_scaling",)

    def case(what: str, files: Mapping[str, bytes], status: str = "graded", **more: Any) -> Case:
        points = more.pop("points", RIGHT if status == "graded" else 0.0)
        first, _, last = what.title().rpartition(" ")
        return Case(Person(first, last, what.replace(" ", ""), 0), files, what, status, points, **more)

    mallory = f"Ada Lovelace_10233_assignsubmission_file_{NAME}"
    second = submission(blank=("apply_mask",))
    return [
        Case(Person("Mallory", "Malory", "mallory", 0), {mallory: right}, "a file named like another's"),
        Case(Person("=HYPERLINK(0)", "[red]Red[/red]", "formula", 0), {NAME: right}, "a formula and markup"),
        Case(Person("Bell\a\x1b[31m", "Turned\u202e", "escape", 0), {NAME: right}, "signs for a terminal"),
        Case(Person(unicodedata.normalize("NFD", "Zoë"), "Ångström", "zoe", 0), {NAME: right}, "the Mac's form"),
        Case(Person("Wei", "Zhang", "wei1", 0), {NAME: right}, "first of one name"),
        Case(Person("Wei", "Zhang", "wei2", 0), {NAME: second}, "second of one name", points=RIGHT - 3),
        case("blank after finished", {"attention_final.ipynb": right, NAME: blank}),
        case("only blank", {NAME: blank}, points=0.0),
        case("damaged file", {NAME: right[: len(right) // 2]}, "unreadable"),
        case("damaged beside good", {NAME: b"{", "attention (1).ipynb": right}),
        case("other module", {NAME: submission(module=EARLIER_MODULE)}, points=0.0),
        case("only pdf", {"answers.pdf": b"%PDF-1.7"}, "unreadable"),
        case("in zip", {"homework.zip": zipped(f"work/{NAME}", right)}),
        case("other ending", {f"{NAME}.txt": right}),
        case("own timestamp", {NAME: right, "timestamp.txt": b"1999-01-01 00:00:00 UTC\n"}),
        case("bad timestamp", {NAME: right}),
        case("lone surrogate", {NAME: submission(edit=written("Half a character: \ud800"))}, unread=scaling),
        case("text beside", {NAME: submission(edit=text_beside)}, unread=("question_masking",)),
        case("picture attached", {NAME: submission(edit=picture_attached)}, unread=scaling),
        case("large picture", {NAME: submission(edit=large_picture_early)}, unread=scaling),
        case("never hands in", {}, "missing"),
        case("cannot be unpacked", {NAME: right}, "missing", broken=NOT_UNPACKED),
        case("is encrypted", {NAME: right}, "missing", broken=ENCRYPTED),
        case("worse later", {NAME: right}),
        case("by mail", {}),
    ]


def ordinary(people: Sequence[Person]) -> list[Case]:
    """Every third answers an exercise wrongly, every second answers a written question."""
    exercises = {path.stem for path in (ROOT / "autograded_tests" / f"m{MODULE}").glob("*.py")}
    wrong = [a for a in answers("wrong_answers") if a.exercise in exercises]
    step = len(wrong) // len(people)
    return [_ordinary(n, person, wrong[n * step]) for n, person in enumerate(people)]


def _ordinary(number: int, person: Person, answer: Answer) -> Case:
    unread = ("question_scaling",) if number % 2 else ()
    edit = written(f"{WORDS} ({number})") if unread else lambda notebook: None
    if number % 3:
        return Case(person, {NAME: submission(edit=edit)}, unread=unread)
    data = submission({answer.exercise: answer.source}, edit=edit)
    return Case(person, {NAME: data}, f"wrong: {answer}", points=None, wrong=answer.exercise, unread=unread)


def class_of_sixty() -> list[Case]:
    """All of them: names in any script, two that are nearly one, and very long ones are among the ordinary."""
    odd = odd_cases()
    known = [*PEOPLE, Person("Blaise", "Pascal", "pascal", 0)]
    others = [Person(f"Nova{n:02}", "Student", f"nova{n:02}", 0) for n in range(60 - len(odd) - len(known))]
    return [*ordinary([*known, *others]), *odd]


def later(cases: Sequence[Case]) -> list[Case]:
    """The same class in the next archive: one has done better, one has put a blank notebook over good work."""
    instead = {"only blank": submission(), "worse later": submission(blank=Everything())}
    now = [replace(c, files={NAME: instead[c.what]}) if c.what in instead else c for c in cases]
    return [replace(c, points=RIGHT) if c.what == "only blank" else c for c in now]
