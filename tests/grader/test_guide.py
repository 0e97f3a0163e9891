"""docs/instructor.md, typed from the first command to the last: for a class of sixty, and for one begun with version 0.1.0.

Between the commands the test is the world outside: Moodle, those who read written answers, and whoever lays files somewhere.
"""

import csv
import fcntl
import io
import json
import re
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from answers import Everything, submission
from before_0_2 import BY_HAND, COMMENT, lay_out, old_class
from classes import rows_of, set_manual_score
from copies import ROOT
from guide import GRADE, Walk, maximum, points_of, sections, table, the_project
from moodle_site import Site
from sixty import BESIDE, LATER_MODULE, MODULE, NAME, RIGHT, Case, class_of_sixty, later

pytestmark = [pytest.mark.jail, pytest.mark.slow, pytest.mark.timeout(900)]

LAB = "make lab"  # waits for somebody at a browser
EXPORT = f"python -m grader export {MODULE} --into worksheet.csv --comments"
COLLECT = f"python -m grader collect {MODULE} submissions.zip"


# Each section: what happens outside before it, and what must be so after it. A command may have its own, too.


def after_setup(walk: Walk) -> None:
    imported = walk.type("python -c 'import grader; print(grader.__file__)'").out.strip()
    assert imported == str(walk.root / "grader" / "__init__.py")
    kits = sorted((walk.root / "dist").glob("*.zip"))
    assert len(kits) == len([p for p in (ROOT / "modules").iterdir() if p.is_dir()])
    for kit in kits:
        with zipfile.ZipFile(kit) as archive:
            text = b"".join(archive.read(name) for name in archive.namelist())
            assert not [name for name in archive.namelist() if re.search("solutions|autograded_tests|/grader/", name)]
        assert b"BEGIN SOLUTION" not in text and b"BEGIN HIDDEN" not in text


def before_list(walk: Walk) -> None:
    walk.site.participants(walk.root / "participants.csv")


def after_list(walk: Walk) -> None:
    assert f"{len(walk.cases)} students, {len(walk.cases)} of them new" in walk.done.out
    roster = json.loads((walk.classroom / "roster.json").read_text(encoding="utf-8"))["students"]
    ids = {row["email"].partition("@")[0]: row["id"] for row in roster}
    assert ids.keys() == {case.person.login for case in walk.cases} and len(roster) == len(set(ids.values()))
    assert not walk.old or ids == walk.ids
    walk.ids = ids
    with closing(sqlite3.connect(walk.classroom / "gradebook.db")) as book:
        known = dict(book.execute("select id, last_name from student"))
    assert {walk.id(case): case.person.last for case in walk.cases}.items() <= {
        k: v or "" for k, v in known.items()
    }.items()


def after_due(walk: Walk) -> None:
    assert "2026-03-01 22:59 UTC" in walk.done.out
    assert "2026-03-01 22:59 UTC" in walk.type(f"python -m grader due {MODULE}").out


def before_collect(walk: Walk) -> None:
    walk.site.worksheet(walk.root / "worksheet.csv")
    walk.site.submissions(walk.root / "submissions.zip")


def after_collect(walk: Walk) -> None:
    """Each has what they handed in, by the platform's number; what came by mail and on paper is laid beside it."""
    for case in walk.cases:
        folder = walk.classroom / "submitted" / walk.id(case) / MODULE
        if not case.files or case.broken:
            assert not (folder / "origin.json").exists()
            continue
        origin = json.loads((folder / "origin.json").read_text(encoding="utf-8"))
        assert origin["number"] == walk.site.numbers[case.person.login] and origin["platform"] == "moodle"
        kept = walk.classroom / "collected" / walk.id(case) / MODULE / "1"
        assert len(list(kept.iterdir())) == len(case.files) + 1
        if set(case.files) == {NAME}:
            assert (folder / NAME).read_bytes() == case.files[NAME]
        assert walk.old or not (folder / "timestamp.txt").exists()
    for case in (c for c in walk.cases if c.broken):
        assert re.search(rf"^skipped +{re.escape(case.name)}_", walk.done.out, re.MULTILINE)
    stamps = {"ada": "2026-03-02 20:00 Europe/Berlin"}
    if walk.has("by mail"):
        mail = walk.classroom / "submitted" / walk.id(walk.case("by mail")) / MODULE
        mail.mkdir(parents=True)
        (mail / NAME).write_bytes(submission())
        stamps |= {"bymail": "2026-03-02 08:30 Europe/Berlin", "badtimestamp": "gestern abend"}
    for login, stamp in stamps.items():
        (walk.classroom / "submitted" / walk.ids[login] / MODULE / "timestamp.txt").write_text(f"{stamp}\n")


def after_grade(walk: Walk) -> None:
    rows = walk.rows()
    assert rows.keys() == set(walk.ids.values())
    for case in walk.cases:
        row = rows[walk.id(case)]
        assert row["status"] == case.status, case.name
        if case.points is not None:
            assert sum(row["scores"].values()) == case.points, case.name
        else:
            assert [name for name, points in row["scores"].items() if points < points_of(MODULE)[f"test_{name}"]] == [
                case.wrong
            ], case.what
    marked = walk.grades()
    for case in walk.cases:
        unread = {name for (student, name), marks in marked.items() if student == walk.id(case) and marks[3]}
        assert unread == set(case.unread), case.name
    if walk.has("text beside"):
        kept = walk.classroom / "autograded" / walk.id(walk.case("text beside")) / MODULE / NAME
        assert BESIDE in kept.read_text(encoding="utf-8") and rows[walk.id(walk.case("text beside"))]["repairs"]


def before_extension(walk: Walk) -> None:
    """Late work costs everything from now on."""
    with (walk.root / "nbgrader_config.py").open("a") as config:
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    rows, totals = walk.rows(), walk.totals()
    late = [walk.id(c) for c in walk.cases if c.person.login in ("ada", "bymail")]
    assert {id_ for id_, row in totals.items() if float(row["late penalty"] or 0)} >= set(late)
    assert all(float(totals[id_]["total"]) == 0 for id_ in late)
    if walk.has("bad timestamp"):
        assert "no penalty follows" in rows[walk.id(walk.case("bad timestamp"))]["late"]


def after_extension(walk: Walk) -> None:
    assert "2026-03-03 22:59 UTC" in walk.done.out
    ada = walk.totals()[walk.ids["ada"]]
    assert float(ada["late penalty"]) == 0 and float(ada["total"]) > 0
    walk.rows()
    if walk.has("by mail"):
        assert float(walk.totals()[walk.id(walk.case("by mail"))]["total"]) == 0


def read_by_hand(walk: Walk, marks: Sequence[tuple[Case, str, float]]) -> None:
    """What the formgrader does when somebody types a score and a comment."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{walk.classroom / 'gradebook.db'}", "tinytorch") as book:
        for case, name, points in marks:
            grade = book.find_grade(name, "attention", MODULE, walk.id(case))
            grade.manual_score, grade.needs_manual_grade = points, False
            book.find_comment(name, "attention", MODULE, walk.id(case)).manual_comment = f"Read: {points:g}."
        book.db.commit()


def after_reading(walk: Walk) -> None:
    """Two people have read all but one; nothing of it is lost when everyone is graded once more, one command at a time."""
    unread = [(case, name) for case in walk.cases for name in case.unread]
    walk.waits = unread[-1]
    read_by_hand(walk, [(case, name, 1.0 + n % 3) for n, (case, name) in enumerate(unread[:-1])])
    with (walk.classroom / ".grader.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another grader is at work" in walk.type(GRADE, status=1).err
    walk.rows()
    marked = walk.grades()
    for n, (case, name) in enumerate(unread[:-1]):
        assert marked[walk.id(case), name] == (None, 1.0 + n % 3, None, 0)
    assert [key for key, marks in marked.items() if marks[3]] == [(walk.id(unread[-1][0]), unread[-1][1])]


def after_report(walk: Walk) -> None:
    report = walk.classroom / "report"
    text = (report / MODULE / "index.html").read_text(encoding="utf-8")
    for case in walk.cases:
        if case.status != "graded":
            assert walk.id(case) in text, case.name
    assert (report / "index.html").is_file() and list((report / MODULE).glob("*.csv"))
    assert "[red]Red[/red]" in text or walk.old


def after_refusal(walk: Walk) -> None:
    assert walk.waits is not None and "1 student has written answers that nobody has read" in walk.done.err
    assert walk.id(walk.waits[0]) in walk.done.err
    assert not (walk.root / "worksheet-filled.csv").exists()


def grades_arrive(walk: Walk) -> None:
    """Moodle takes each grade that there is, and nothing else in the file is another."""
    filled = (walk.root / "worksheet-filled.csv").read_bytes()
    before, after = cells_of((walk.root / "worksheet.csv").read_bytes()), cells_of(filled)
    ours = {before[0].index("Grade"), before[0].index("Feedback comments")}
    for old, new in zip(before, after, strict=True):
        assert [v for n, v in enumerate(old) if n not in ours] == [v for n, v in enumerate(new) if n not in ours]
    totals = walk.totals()
    walk.site.upload_worksheet(filled)
    for case in walk.cases:
        if walk.id(case) in totals:
            total = float(totals[walk.id(case)]["total"] or 0)
            taken = (
                total if 0 < total <= maximum(MODULE) else None
            )  # extra credit above the maximum is for a person to enter
            assert walk.site.of(case).grade == taken, case.name


def cells_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def after_export(walk: Walk) -> None:
    grades_arrive(walk)
    for case in walk.cases:
        if case.wrong:
            assert f"{case.wrong}: " in walk.site.of(case).comment
        elif case.status == "missing":
            assert not walk.site.of(case).comment


def feedback_arrives(walk: Walk) -> None:
    """Each page reaches its student, and nobody else's."""
    archive = walk.classroom / f"feedback-{MODULE}-moodle.zip"
    assert not walk.site.upload_feedback(archive.read_bytes())
    there = {p.parents[1].name for p in (walk.classroom / "submitted").glob("*/*/origin.json")}
    for case in walk.cases:
        files = walk.site.of(case).files
        if walk.id(case) in there:
            assert files["attention.html"].decode() == walk.page_of(case), case.name
        else:
            assert not files


def after_feedback(walk: Walk) -> None:
    feedback_arrives(walk)
    assert walk.waits is not None and "not yet read" in walk.page_of(walk.waits[0])
    if not walk.old:
        assert BESIDE in walk.page_of(walk.case("text beside"))
        assert "data:image/png;base64,iVBOR" in walk.page_of(walk.case("picture attached"))
        assert "[red]Red[/red]" in walk.page_of(walk.case("a formula and markup"))
        assert walk.id(walk.case("by mail")) in walk.done.err or walk.case("by mail").name in walk.done.err


def before_later(walk: Walk) -> None:
    walk.site.cases = later(walk.cases)
    if walk.old:  # chloe has done better
        better = {NAME: submission()}
        walk.site.cases = [
            replace(c, files=better, points=RIGHT) if c.person.login == "chloe" else c for c in walk.cases
        ]
    walk.site.submissions(walk.root / "later.zip")


def after_later(walk: Walk) -> None:
    """One is graded again."""
    graded = [case for case in walk.cases if case.status == "graded"]
    assert walk.done.out.count("unchanged") == len(graded) - 1
    rows = walk.rows()
    for case in walk.cases:
        if case.points is not None:
            assert sum(rows[walk.id(case)]["scores"].values()) == case.points, case.name
    if walk.has("worse later"):
        student = walk.id(walk.case("worse later"))
        assert len(list((walk.classroom / "collected" / student / MODULE).iterdir())) == 2
        assert (walk.classroom / "submitted" / student / MODULE / NAME).read_bytes() == submission()
    walk.type(COLLECT, status=1 if any(c.broken for c in walk.cases) else 0)  # the older archive
    walk.rows()


def before_mended_test(walk: Walk) -> None:
    with (walk.root / "autograded_tests" / f"m{MODULE}" / "scale_scores.py").open("a") as file:
        file.write("\n# mended\n")
    assert walk.waits is not None
    read_by_hand(walk, [(*walk.waits, 4.0)])
    walk.site.worksheet(walk.root / "worksheet.csv")
    walk.before = json.dumps(sorted((key, marks[1]) for key, marks in walk.grades().items() if marks[1] is not None))


def after_mended_test(walk: Walk) -> None:
    assert walk.before == json.dumps(sorted((k, m[1]) for k, m in walk.grades().items() if m[1] is not None))
    assert not [key for key, marks in walk.grades().items() if marks[3]]
    feedback_arrives(walk)
    if walk.old:
        marked = walk.grades()
        for (login, name), (points, extra) in BY_HAND.items():
            assert marked[walk.ids[login], name][1:3] == (points, extra)
        comments = rows_of(walk.classroom / "gradebook.db")[1]
        assert (walk.ids["ada"], "question_scaling", COMMENT) in [(c[0], c[1], c[3]) for c in comments]
    elif walk.waits is not None:
        assert "not yet read" not in walk.page_of(walk.waits[0])


def after_drop(walk: Walk) -> None:
    pascal = next(case for case in walk.cases if case.name == "Blaise Pascal")
    assert walk.id(pascal) not in walk.rows() and walk.id(pascal) not in walk.totals()
    assert (walk.classroom / "autograded" / walk.id(pascal)).is_dir()
    walk.type("python -m grader drop blaise-pascal --back")
    assert walk.rows()[walk.id(pascal)]["unchanged"] and walk.id(pascal) in walk.totals()
    walk.type("python -m grader drop blaise-pascal")


def after_deletion(walk: Walk) -> None:
    """Nothing of the student is in the class any more, not in a file's name and not in a file."""
    (pascal,) = (case for case in walk.cases if case.name == "Blaise Pascal")
    words = (walk.id(pascal), pascal.name, pascal.person.email)
    for path in walk.classroom.rglob("*"):
        assert not any(word in path.name for word in words)
        assert not path.is_file() or not any(word.encode() in path.read_bytes() for word in words), path
    walk.site.cases = [case for case in walk.cases if case is not pascal]
    del walk.ids[pascal.person.login]


def before_going_back(walk: Walk) -> None:
    """A day's work, and then an accident."""
    walk.type(f"python -m grader grade {MODULE}")
    walk.type(f"python -m grader extend {MODULE} ada-lovelace --days 3")
    walk.before = json.dumps(sorted(walk.grades().items()))
    with closing(sqlite3.connect(walk.classroom / "gradebook.db")) as book, book:
        book.execute("update grade set manual_score = 0, extra_credit = 0, auto_score = 0")
        book.execute("update comment set manual_comment = null")


def after_going_back(walk: Walk) -> None:
    assert json.dumps(sorted(walk.grades().items())) == walk.before


def before_unpacking(walk: Walk) -> None:
    """The same project on another machine."""
    walk.before = json.dumps(walk.totals())
    shutil.copytree(walk.root, walk.other, symlinks=True, ignore=shutil.ignore_patterns("classroom", "*.tgz"))
    shutil.copy(walk.root / "class.tgz", walk.other)
    with tarfile.open(walk.root / "class.tgz") as archive:
        assert all(name.partition("/")[0] == "classroom" for name in archive.getnames())
    walk.root = walk.other


def after_unpacking(walk: Walk) -> None:
    graded = [case for case in walk.cases if case.status == "graded"]
    assert walk.done.out.count("unchanged") == len(graded)
    assert json.dumps(walk.totals()) == walk.before


def before_total(walk: Walk) -> None:
    """The next module, in which Moodle has other numbers for the same people. What was there already is handed in again."""
    name = "efficient_attention.ipynb"
    right, blank = submission(module=LATER_MODULE), submission(blank=Everything(), module=LATER_MODULE)
    handed_in = {"ada": right, "obrien": right, "chloe": right, "ben": blank}
    there = {id_: walk.classroom / "submitted" / id_ / LATER_MODULE / name for id_ in walk.ids.values()}
    handed_in |= {login: there[id_].read_bytes() for login, id_ in walk.ids.items() if there[id_].exists()}
    cases = [replace(c, files={name: d} if (d := handed_in.get(c.person.login)) else {}) for c in walk.cases]
    next_site = Site(cases, 77001)
    next_site.worksheet(walk.root / "worksheet-05.csv")
    next_site.submissions(walk.root / "submissions-05.zip")
    walk.type("python -m grader roster worksheet-05.csv")
    assert f"{len(walk.cases)} students, 0 of them new" in walk.done.out
    walk.type(f"python -m grader collect {LATER_MODULE} submissions-05.zip")
    assert {f"-> {walk.id(c)}" for c in cases if c.files} == set(re.findall(r"-> [^:\n]+", walk.done.out))
    walk.type(f"python -m grader grade {LATER_MODULE}")
    if walk.old:
        set_manual_score(walk.classroom / "gradebook.db", walk.ids["chloe"], "question_cache", 2.0)


def after_total(walk: Walk) -> None:
    """A total is in per cent; who handed nothing in has 0 there; what 0.1.0 had of the second module is counted as it was."""
    rows = {row["student"]: row for row in table((walk.root / "totals.csv").read_text(encoding="utf-8"))}
    assert rows.keys() == set(walk.ids.values())
    most = {module: maximum(module) for module in (MODULE, LATER_MODULE)}
    for row in rows.values():
        first, second = (float(row[module] or 0) / most[module] for module in most)
        assert float(row["total"]) == pytest.approx(100 * (2 * first + 3 * second) / 5, abs=0.01)
        assert row["handed nothing in"].split() == [module for module in most if not row[module]]
    automatic = sum(points for cell, points in points_of(LATER_MODULE).items() if cell.startswith("test_"))
    assert float(rows[walk.ids["ada"]][LATER_MODULE]) == automatic + 3 * walk.old  # 3 points were given by hand
    text = (walk.root / "classroom" / "report" / "index.html").read_text(encoding="utf-8")
    assert MODULE in text and LATER_MODULE in text


Play = Callable[[Walk], None]
BEFORE: dict[str, Play] = {
    "python -m grader roster participants.csv": before_list,
    "python -m grader roster worksheet.csv": before_collect,
    "More time for one student": before_extension,
    "When students hand in again": before_later,
    "When a test was wrong": before_mended_test,
    "Going back": before_going_back,
    "tar -xzf class.tgz": before_unpacking,
    "The whole course": before_total,
}
AFTER: dict[str, Play] = {
    "The first day": after_setup,
    "Who is in the class": after_list,
    "When it is due": after_due,
    "Submissions in": after_collect,
    "Grading": after_grade,
    "More time for one student": after_extension,
    "Written answers": after_reading,
    "What the class did not understand": after_report,
    "Grades out": after_export,
    "Feedback out": after_feedback,
    "When students hand in again": after_later,
    "When a test was wrong": after_mended_test,
    "python -m grader drop blaise-pascal": after_drop,
    "When somebody leaves": after_deletion,
    "Going back": after_going_back,
    "Another machine": after_unpacking,
    "The whole course": after_total,
}
# within a section: what must be so after one command, which is typed in other sections, too
WITHIN: dict[tuple[str, str], Play] = {
    ("Grades out", EXPORT): after_refusal,
    ("When a test was wrong", EXPORT): grades_arrive,
}


def follow(walk: Walk) -> None:
    """Type the page."""
    for heading, commands in sections().items():
        BEFORE.get(heading, nothing)(walk)
        for command in commands:
            if command == LAB:
                continue
            BEFORE.get(command, nothing)(walk)
            walk.type(command, status_of(heading, command, walk))
            AFTER.get(command, nothing)(walk)
            WITHIN.get((heading, command), nothing)(walk)
        AFTER.get(heading, nothing)(walk)


def nothing(_: Walk) -> None:
    """Nothing happens."""


def status_of(heading: str, command: str, walk: Walk) -> int:
    """1 where the page says so: unread answers are refused, and two files in the archive cannot be unpacked."""
    refused = (heading, command) == ("Grades out", EXPORT)
    return int(refused or (" collect " in command and any(case.broken for case in walk.cases)))


def test_each_section_is_played_and_one_command_is_for_a_person() -> None:
    commands = [command for typed in sections().values() for command in typed]
    assert {name for name in {*BEFORE, *AFTER} if name not in sections()} <= set(commands)
    assert set(AFTER) >= set(sections())
    assert all(command in sections()[heading] for heading, command in WITHIN) and LAB in commands


def test_the_page_leads_a_class_of_sixty_from_the_first_day_to_the_last(tmp_path: Path) -> None:
    site = Site(class_of_sixty(), 10233)
    assert len(site.cases) == 60
    follow(Walk(the_project(tmp_path / "here"), site, tmp_path / "there" / "course"))


def test_the_page_goes_on_with_a_class_that_version_0_1_0_began(tmp_path: Path) -> None:
    walk = Walk(the_project(tmp_path / "here"), Site(old_class(), 10233), tmp_path / "there" / "course", old=True)
    walk.ids = lay_out(walk.classroom, walk.site)
    follow(walk)
