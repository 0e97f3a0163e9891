"""judge() is the one place where a score is decided."""

from collections.abc import Iterator, Mapping, Sequence

from exercises.compare import expected, wrong_result
from exercises.explain import TOGETHER, Failure, Failures, Said, explain
from exercises.model import Case, CaseResult, Exercise, Session, StandIn, Verdict
from exercises.problem import Problem


def judge(exercise: Exercise, session: Session) -> Verdict:
    """Score one answer, case by case; remembered in the session.

    A case that fails is tried again with the reference in place of those earlier answers that are wrong themselves, and then in
    place of all: a mistake costs its points once, also one that the earlier exercise does not ask about.
    """
    if exercise.name in session.verdicts:
        return session.verdicts[exercise.name]
    failures: Failures = {}
    for case in exercise.cases:
        if failed := tuple(_failures(exercise, case, session, {})):
            failures[case.name] = failed
    excused = _follow_through(exercise, session, failures) if failures else {}
    lost = {name for name in failures if name not in excused}
    together: set[str] = set()
    if all(c.name in lost for c in exercise.cases if not c.needs_another):
        excused = {}
        together = {c.name for c in exercise.cases if c.needs_another and c.name not in failures}
        lost = set(failures) | together
    said = explain(exercise, session, {name: failed for name, failed in failures.items() if name in lost})
    said |= dict.fromkeys(together, TOGETHER) | {name: excused[name] for name in excused if name not in lost}
    verdict = _verdict(exercise, lost, said)
    session.verdicts[exercise.name] = verdict
    return verdict


def _verdict(exercise: Exercise, lost: set[str], said: Mapping[str, Said]) -> Verdict:
    results = []
    for case in exercise.cases:
        points = 0.0 if case.name in lost else case.points
        what = said.get(case.name, Said(""))
        results.append(CaseResult(case.name, points, case.points, what.sentence, what.named, what.follows))
    return Verdict(exercise.name, sum(r.points for r in results), exercise.points, tuple(results))


def _failures(exercise: Exercise, case: Case, session: Session, stand_ins: Mapping[str, StandIn]) -> Iterator[Failure]:
    """The questions of a case that are not answered rightly, up to the first that brings no arrays at all."""
    for question in exercise.questions(case):
        reply = session.ask(exercise.name, question, stand_ins)
        if reply.problem:
            yield Failure(question, reply, "")
            return
        wrong = wrong_result(question, reply, expected(exercise, question))
        if wrong is not None:
            yield Failure(question, reply, wrong)


def _follow_through(exercise: Exercise, session: Session, failures: Failures) -> dict[str, Said]:
    """The failed cases that are right once the earlier answers are, each with a sentence that says which."""
    if all(f.reply.problem is Problem.MISSING for failed in failures.values() for f in failed):
        return {}
    earlier = [e for e in _earlier(exercise) if e.stand_in is not None]
    wrong = [e for e in earlier if judge(e, session).points < e.points]
    excused: dict[str, Said] = {}
    for replaced in (wrong, earlier) if len(wrong) < len(earlier) else (wrong,):
        stand_ins = {e.defines: e.stand_in for e in replaced if e.stand_in is not None}
        for case in exercise.cases if stand_ins else ():
            if case.name not in failures or case.name in excused:
                continue
            replies = (f for _ in range(2) for f in _failures(exercise, case, session, stand_ins))  # once may be luck
            if next(replies, None) is None:
                excused[case.name] = _once_right(replaced, wrong)
    return excused


def _earlier(exercise: Exercise) -> list[Exercise]:
    """All exercises whose answers this one calls, by way of others too, each once."""
    found = dict.fromkeys(exercise.uses)
    for used in exercise.uses:
        found |= dict.fromkeys(_earlier(used))
    return list(found)


def _once_right(replaced: Sequence[Exercise], wrong: Sequence[Exercise]) -> Said:
    """What is said of a case that is right with other answers in place of these."""
    names = " and ".join(f"`{e.defines}`" for e in replaced)
    if replaced is not wrong:
        return Said(f"Right with our own {names} in place of yours; nothing lost here.")
    return Said(f"Right, once {names} {'is' if len(replaced) == 1 else 'are'}; nothing lost here.")
