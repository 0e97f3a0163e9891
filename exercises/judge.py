"""judge() is the one place where a score is decided."""

from collections.abc import Mapping, Sequence

from exercises.compare import expected, wrong_result
from exercises.explain import TOGETHER, Failure, Failures, Said, explain, is_own_mistake
from exercises.model import Case, CaseResult, Exercise, Session, StandIn, Verdict
from exercises.problem import Problem

ENDED = (Problem.TIME, Problem.MEMORY, Problem.DIED, Problem.BAD)


def judge(exercise: Exercise, session: Session) -> Verdict:
    """Score one answer, case by case; remembered in the session.

    A case that fails is tried again with the reference in place of those earlier answers that are wrong themselves, and then in
    place of all: a mistake costs its points once, also one that the earlier exercise does not ask about.
    """
    if exercise.name in session.verdicts:
        return session.verdicts[exercise.name]
    failures: Failures = {}
    for case in exercise.cases:
        if failed := _failures(exercise, case, session):
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


def _failures(exercise: Exercise, case: Case, session: Session) -> tuple[Failure, ...]:
    """The questions of a case that are not answered rightly, up to the first that brings no arrays at all."""
    failed: list[Failure] = []
    for question in exercise.questions(case):
        reply = session.ask(exercise.name, question, {})
        if reply.problem:
            return (*failed, Failure(question, reply, ""))
        wrong = wrong_result(question, reply, expected(exercise, question))
        if wrong is not None:
            failed.append(Failure(question, reply, wrong))
    return tuple(failed)


def _follow_through(exercise: Exercise, session: Session, failures: Failures) -> dict[str, Said]:
    """The failed cases that are right once the earlier answers are, each with a sentence that says which."""
    if all(_is_missing(exercise, f) for failed in failures.values() for f in failed):
        return {}
    replaceable = [e for e in earlier(exercise) if e.stand_in is not None]
    wrong = [e for e in replaceable if judge(e, session).points < e.points]
    excused: dict[str, Said] = {}
    for replaced in (wrong, replaceable) if len(wrong) < len(replaceable) else (wrong,):
        stand_ins = {e.defines: e.stand_in for e in replaced if e.stand_in is not None}
        for case in exercise.cases if stand_ins else ():
            failed = () if case.name in excused else failures.get(case.name, ())
            if not failed or (replaced is not wrong and is_own_mistake(exercise, case, failed)):
                continue
            if _right_with_help(exercise, case, session, stand_ins, failed):
                excused[case.name] = _once_right(replaced, wrong)
    return excused


def _is_missing(exercise: Exercise, failure: Failure) -> bool:
    """Whether it is this very answer that is not defined."""
    return failure.reply.problem is Problem.MISSING and failure.reply.text.partition(":")[0] == exercise.defines


def _right_with_help(
    exercise: Exercise, case: Case, session: Session, stand_ins: Mapping[str, StandIn], failed: Sequence[Failure]
) -> bool:
    """Whether a case is right with references in place of earlier answers.

    Where none was asked it is luck, unless the process had been stopped or ended, maybe by another question.
    """
    helped = any(f.reply.problem in ENDED for f in failed)
    for question in exercise.questions(case):
        reply = session.ask(exercise.name, question, stand_ins)
        if reply.problem or wrong_result(question, reply, expected(exercise, question)) is not None:
            return False
        helped |= reply.helped
    return helped


def earlier(exercise: Exercise) -> list[Exercise]:
    """All exercises whose answers this one calls, by way of others too, each once."""
    found = dict.fromkeys(exercise.uses)
    for used in exercise.uses:
        found |= dict.fromkeys(earlier(used))
    return list(found)


def _once_right(replaced: Sequence[Exercise], wrong: Sequence[Exercise]) -> Said:
    """What is said of a case that is right with other answers in place of these."""
    *first, last = (f"`{e.defines}`" for e in replaced)
    names = f"{', '.join(first)} and {last}" if first else last
    if replaced is not wrong:
        return Said(f"Correct with our own {names} in place of yours; no points lost.")
    return Said(f"Correct once {names} {'is' if len(replaced) == 1 else 'are'} fixed; no points lost.")
