"""judge() is the one place where a score is decided."""

from collections.abc import Mapping

from exercises.compare import expected, wrong_result
from exercises.explain import TOGETHER, Failure, Failures, Said, explain
from exercises.model import Case, CaseResult, Exercise, Session, StandIn, Verdict
from exercises.problem import Problem


def judge(exercise: Exercise, session: Session) -> Verdict:
    """Score one answer, case by case; remembered in the session.

    A case that fails is tried again with the reference in place of those earlier answers that are wrong themselves: a mistake
    costs its points once.
    """
    if exercise.name in session.verdicts:
        return session.verdicts[exercise.name]
    failures: Failures = {}
    for case in exercise.cases:
        if failed := _failures(exercise, case, session, {}):
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


def _failures(
    exercise: Exercise, case: Case, session: Session, stand_ins: Mapping[str, StandIn]
) -> tuple[Failure, ...]:
    """The questions of a case that were not answered rightly, up to the first that brought no arrays at all."""
    failed: list[Failure] = []
    for question in exercise.questions(case):
        reply = session.ask(exercise.name, question, stand_ins)
        if reply.problem:
            return (*failed, Failure(question, reply, ""))
        wrong = wrong_result(question, reply, expected(exercise, question))
        if wrong is not None:
            failed.append(Failure(question, reply, wrong))
    return tuple(failed)


def _follow_through(exercise: Exercise, session: Session, failures: Failures) -> dict[str, Said]:
    """The failed cases that are right once the earlier answers are, each with a sentence that says which."""
    if all(f.reply.problem is Problem.MISSING for failed in failures.values() for f in failed):
        return {}
    wrong = [e for e in exercise.uses if e.stand_in is not None and judge(e, session).points < e.points]
    stand_ins = {e.defines: e.stand_in for e in wrong if e.stand_in is not None}
    if not stand_ins:
        return {}
    names = " and ".join(f"`{e.defines}`" for e in wrong)
    said = Said(f"Right, once {names} {'is' if len(wrong) == 1 else 'are'}; nothing lost here.")
    return {
        case.name: said
        for case in exercise.cases
        if case.name in failures and not _failures(exercise, case, session, stand_ins)
    }
