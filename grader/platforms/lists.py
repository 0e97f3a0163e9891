"""Archives in which a list, a receipt or the folder above says who a submission is of: Gradescope, GitHub Classroom, Blackboard."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from grader.platforms.archive import Damaged, Member
from grader.platforms.reading import Item, Owner, Reading

METADATA = "submission_metadata.yml"  # in Gradescope's export
CLONES = "-submissions"  # the end of the folder into which GitHub Classroom clones


def listed_reading(members: Sequence[Member], archive: str) -> Reading | None:
    """The archive read as Gradescope's export or GitHub Classroom's clones; None if it is neither."""
    lists = sorted((m for m in members if m.parts[-1] == METADATA), key=lambda m: len(m.parts))
    if lists and _is_export(lists[0], members):
        return _gradescope(lists[0], members)
    return _github(members, archive)


def _is_export(listed: Member, members: Sequence[Member]) -> bool:
    """Whether a list is the platform's: all files are beside it, most of them in submission_<n>/ or named by a number."""
    above = len(listed.parts) - 1
    beside = {m.parts[above] for m in members if m is not listed and m.parts[:above] == listed.parts[:above]}
    numbered = [place for place in beside if re.fullmatch(r"(submission_)?[0-9]+(\.\w+)?", place)]
    everything = all(m.parts[:above] == listed.parts[:above] for m in members)
    return everything and 2 * len(numbered) > len(beside)


@dataclass(frozen=True)
class _Submission:
    """An entry of Gradescope's list."""

    people: tuple[dict[str, str], ...]
    time: str


def _gradescope(listed: Member, members: Sequence[Member]) -> Reading:
    """Gradescope's export: assignment_<n>_export/submission_<n>/..., and who that is in a list."""
    how = f"Gradescope's export, by its {METADATA}"
    above = listed.parts[:-1]
    try:
        submissions = dict(_entries(listed.read().decode(errors="replace")))
    except Damaged as error:
        strangers = tuple((m, f"{METADATA} says whose it is, and {error}") for m in members)
        return Reading("gradescope", how, strangers=strangers)
    items: list[Item] = []
    strangers_: list[tuple[Member, str]] = []
    for member in members:
        if member is listed:
            continue
        inside = member.parts[: len(above)] == above and len(member.parts) > len(above)
        place = member.parts[len(above)] if inside else ""
        submission = submissions.get(place)
        if submission is None or not submission.people:
            strangers_.append((member, f"{METADATA} names nobody for it"))
            continue
        file = "/".join(member.parts[len(above) + 1 :]) or place
        number = "".join(re.findall("[0-9]+", place)[:1])
        for who in submission.people:
            person = who.get("sid") or who.get("email", "")
            name = who.get("name") or person
            owner = Owner((person or name, place), name, number, who.get("sid", ""), email=who.get("email", ""))
            items.append(Item(member, replace(owner, time=submission.time, attempt=number), file, place))
    return Reading("gradescope", how, tuple(items), tuple(strangers_), (listed,))


def _entries(text: str) -> Iterator[tuple[str, _Submission]]:
    """The entries of the list. Only what is above `:results:` is read as YAML: below it are outputs of students' programs,
    and quoted texts in them may end at the first column, which YAML forbids."""
    pieces = re.split(r"^(\"?[^\s:#][^:\n]*\"?):[ \t]*$", text, flags=re.MULTILINE)
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if re.fullmatch(r"\"?(submission_[0-9]+|[^\"/]+\.\w+|[0-9]+)\"?", name):
            yield name.strip('"'), _Submission(tuple(_people(body)), _created(body))


def _people(body: str) -> Iterator[dict[str, str]]:
    import yaml

    found = re.search(r"^  :submitters:[ \t]*(\[\])?\n((?:  - .*\n|    .*\n)*)", body, re.MULTILINE)
    try:
        rows: Any = yaml.safe_load(found[2]) if found else []
    except yaml.YAMLError:
        return
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield {str(k).lstrip(":"): str(v).strip() for k, v in row.items() if v not in (None, "")}


def _created(body: str) -> str:
    found = re.search(
        r"^  :created_at: '?([0-9-]{10})[ T]([0-9:]{8})(\.[0-9]{1,6})?[0-9]* ?(Z|[+-][0-9:]+)?'?[ \t]*$",
        body,
        re.MULTILINE,
    )
    if found is None:
        return ""
    day, clock, part, zone = found.groups()
    try:
        time = datetime.fromisoformat(f"{day}T{clock}{'' if zone in (None, 'Z') else zone}")
    except ValueError:
        return ""
    time = time.astimezone(UTC) if time.tzinfo else time
    return f"{time:%Y-%m-%d %H:%M:%S}{part or ''} UTC"


def _github(members: Sequence[Member], archive: str) -> Reading | None:
    """GitHub Classroom's clones: <assignment>-submissions/<assignment>-<login>/..."""
    for depth in range(-1, 6):
        inside = [m for m in members if len(m.parts) > depth + 2]
        above = {m.parts[depth] for m in inside} if depth >= 0 else {archive}
        if not inside or len(above) != 1 or not (name := above.pop()).endswith(CLONES):
            continue
        prefix = f"{name.removesuffix(CLONES)}-"
        items, strangers = [], []
        for member in members:
            folder = member.parts[depth + 1] if len(member.parts) > depth + 2 else ""
            login = folder.removeprefix(prefix)
            if not login or login == folder:
                strangers.append((member, f"it is in no folder {prefix}<login>"))
                continue
            place = "/".join(member.parts[: depth + 2])
            owner = Owner((login, ""), login, login=login)
            items.append(Item(member, owner, "/".join(member.parts[depth + 2 :]), place))
        if items:
            return Reading("github", "GitHub Classroom's clones", tuple(items), tuple(strangers))
    return None


def with_users(reading: Reading, known: frozenset[str]) -> Reading:
    """Names like <assignment>_<user>_attempt_<time> with the user alone: as receipts say, else what is not the same in all.

    known  ids and logins of students who are in the class
    """
    receipts = [item for item in reading.items if not item.file]
    said = {item.owner.name: who for item in receipts if (who := _receipt(item.member))}
    prefixes = {before.removesuffix(user) for before, (_, user) in said.items() if before.endswith(f"_{user}")}
    others = {item.owner.name for item in reading.items} - said.keys()
    users = {before: (user, user) for before, user in _users(others, prefixes, known).items()} | said
    items = []
    for item in reading.items:
        name, user = users[item.owner.name]
        owner = replace(item.owner, key=(user, item.owner.attempt), name=name, login=user)
        if item.file:
            items.append(replace(item, owner=owner, place=item.member.parts[-1].removesuffix(f"_{item.file}")))
    own = tuple(r.member for r in receipts)
    alone = [r for r in receipts if users[r.owner.name][1] not in {i.owner.login for i in items}]
    for receipt in alone:  # somebody who wrote a text, or nothing: a row all the same
        name, user = users[receipt.owner.name]
        owner = replace(receipt.owner, key=(user, receipt.owner.attempt), name=name, login=user)
        items.append(replace(receipt, owner=owner, file=receipt.member.parts[-1]))
    own = tuple(m for m in own if m not in {r.member for r in alone})
    return replace(reading, items=tuple(items), own_files=(*reading.own_files, *own))


def _receipt(member: Member) -> tuple[str, str] | None:
    """Name and user in Blackboard's receipt, whose first line is "Name: Ada Lovelace (al123)", in any language."""
    try:
        line = member.read()[:1000].decode("utf-8-sig", errors="replace").partition("\n")[0].strip()
    except Damaged:
        return None
    found = re.fullmatch(r"[^:]+: *(.+) \((.+)\)", line)
    return (found[1].strip(), found[2].strip()) if found else None


def _users(befores: set[str], prefixes: set[str], known: frozenset[str]) -> dict[str, str]:
    """The user in each of "ps1_ada", "ps1_ben": without what all of them begin with."""
    tokens = [before.split("_") for before in befores]
    same = [column[0] for column in takewhile(lambda c: len(set(c)) == 1, zip(*(t[:-1] for t in tokens), strict=False))]
    common = "".join(f"{token}_" for token in same) if len(befores) > 1 else ""
    found = {}
    for before in befores:
        ends = [before[n + 1 :] for n, c in enumerate(before) if c == "_"]
        of_known = [user for user in (before, *ends) if user in known]
        prefix = max((p for p in prefixes if before.startswith(p) and before != p), key=len, default=None)
        if prefix is not None:
            found[before] = before.removeprefix(prefix)
        elif of_known:
            found[before] = of_known[0]
        elif len(befores) > 1:
            found[before] = before.removeprefix(common) or before
        else:
            found[before] = ends[-1] if ends and ends[-1] else before
    return found
