"""Which sentence a failed case gets: that of a mistake that fits, or else what can be seen."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exercises.compare import expected, predicted, same
from exercises.differences import difference
from exercises.misconceptions import CUT
from exercises.model import ABOVE, BELOW, Case, Exercise, Misconception, Question, Reply, Session, Sign
from exercises.own_lines import in_plain_words
from exercises.problem import Problem


@dataclass(frozen=True)
class Failure:
    """A question that was not answered rightly: the reply, and which result is wrong; none if no arrays came."""

    question: Question
    reply: Reply
    result: str


Failures = dict[str, Sequence[Failure]]


@dataclass(frozen=True)
class Said:
    """A sentence for a case.

    named    it names a mistake
    follows  it says no more than that something else is to blame
    raised   it says what the student's own code raised
    quotes   a part of it was written by the student's own code
    unless   it is true only if nothing else is wrong than gradients
    """

    sentence: str
    named: bool = False
    follows: bool = False
    raised: bool = False
    quotes: bool = False
    unless: bool = False


QUOTED, LINE = 160, 60  # characters of what a student's code wrote in a sentence, and of its line among them
QUOTES = 2  # different sentences of one exercise that quote: an exception's text could carry a hidden question out
FOLLOWS = Said(ABOVE, follows=True)
ANOTHER = Said("Something else went wrong here.", raised=True)
TOGETHER = Said("Scored only if another case passes.", follows=True)


def explain(exercise: Exercise, session: Session, failures: Failures) -> dict[str, Said]:
    """A sentence for each failed case.

    Of all misconceptions that fit a failed case, the one that fits most failed cases and would lose fewest others explains it,
    and of rough ones, where nothing else fits, the first.
    """
    cases = {case.name: case for case in exercise.cases}
    fits = {
        name: [m for m in exercise.misconceptions if _fits(exercise, m, cases[name], failed)]
        for name, failed in failures.items()
    }
    fits = {name: [m for m in found if not _is_wider(m, name, failures)] for name, found in fits.items()}
    passed = [case for case in exercise.cases if case.name not in failures]
    votes = {
        m: sum(m in found for found in fits.values())
        - sum(_would_lose(exercise, m, exercise.questions(c)) for c in passed if not m.cases or c.name in m.cases)
        for m in dict.fromkeys(m for found in fits.values() for m in found)
    }
    best = {
        name: max(found, key=lambda m: (votes[m] > 0 and not m.rough, not m.rough and votes[m]))
        for name, found in fits.items()
        if found
    }
    said: dict[str, Said] = {}
    likely = {m for m in best.values() if votes[m] > 1}
    for name, failed in failures.items():
        sentence = Said(best[name].sentence, named=True) if name in best else None
        if sentence is not None and best[name].rough and not best[name].cases and any(not m.rough for m in likely):
            sentence = FOLLOWS
        elif sentence is None or best[name].rough:
            sentence = _disturbance(exercise, session, failed[0]) or sentence
        said[name] = sentence or _symptom_of_any(exercise, failed, likely, alone=not best)
    said = _once(exercise, said, failures, best)
    values = [name for name, failed in failures.items() if not all(f.result.startswith("grad_") for f in failed)]
    of_one_case = {name for name, m in best.items() if m.rough and m.cases}  # other cases do not follow from these
    if any(said[name].named for name in values if name not in of_one_case):  # gradients and the rest follow
        said = {n: s if n in values and (s.named or s.raised) else FOLLOWS for n, s in said.items()}
    elif any(f.result for name in values for f in failures[name]):  # wrong values have wrong gradients
        said = {n: FOLLOWS if s.unless else s for n, s in said.items()}
    return _placed(said)


def _placed(said: Mapping[str, Said]) -> dict[str, Said]:
    """What follows from a mistake that is told of in a later case only says "below"; the cases are in order."""
    causes = [name for name, s in said.items() if s.named] or [name for name, s in said.items() if not s.follows]
    order = list(said)
    first = min((order.index(name) for name in causes), default=0)
    return {
        name: replace(s, sentence=BELOW) if s == FOLLOWS and n < first else s
        for n, (name, s) in enumerate(said.items())
    }


def _is_wider(misconception: Misconception, name: str, failures: Failures) -> bool:
    """Whether the line that raised, from which a mistake is known in this case, raised in cases that it says nothing of."""
    line = failures[name][-1].reply.line
    return bool(line and misconception.sign is not None and misconception.cases) and any(
        failed[-1].reply.line == line and other not in misconception.cases for other, failed in failures.items()
    )


def _once(
    exercise: Exercise, said: dict[str, Said], failures: Failures, best: Mapping[str, Misconception]
) -> dict[str, Said]:
    """A line that raised is told about once, and so are a student's own words but for a few."""
    told = {
        f.reply.line: said[name]
        for name, m in best.items()
        for f in failures[name]
        if f.reply.line and m.sign is not None and _shows(exercise, m.sign, f)
    }
    for name, failed in failures.items():
        line = failed[-1].reply.line
        if name not in best and said[name].raised and line and told.setdefault(line, said[name]) != said[name]:
            said[name] = FOLLOWS
    quotes = list(dict.fromkeys(s.sentence for s in said.values() if s.quotes))
    another = FOLLOWS if any(s.named for s in said.values()) else ANOTHER
    return {n: another if s.sentence in quotes[QUOTES:] else s for n, s in said.items()}


def _fits(exercise: Exercise, misconception: Misconception, case: Case, failed: Sequence[Failure]) -> bool:
    """Whether a misconception accounts for the questions of a case that were answered wrongly, and for those that were not."""
    if misconception.cases and case.name not in misconception.cases:
        return False
    if misconception.sign is not None:
        return any(_shows(exercise, misconception.sign, f) for f in failed)
    agreed = False
    for f in failed:
        prediction = predicted(misconception, f.question)
        if f.reply.problem and prediction is None:  # the wrong computation raises there, too
            continue
        if prediction == {}:  # a table does not hold all
            continue
        reference = expected(exercise, f.question)
        keys = [key for key in f.question.compare if prediction is not None and key in prediction]
        if f.reply.problem or prediction is None or not keys:
            return False
        if not all(key in f.reply.arrays and same(f.reply.arrays[key], prediction[key]) for key in keys):
            return False
        others = set(prediction) & set(f.reply.arrays) & set(reference) - set(keys)
        if not all(same(f.reply.arrays[key], np.asarray(prediction[key], dtype=float)) for key in others):
            return False
        if all(same(np.asarray(prediction[key], dtype=float), reference[key]) for key in keys):
            return False
        agreed = True
    wrong = {f.question for f in failed}
    return agreed and not _would_lose(exercise, misconception, [q for q in exercise.questions(case) if q not in wrong])


def is_own_mistake(exercise: Exercise, case: Case, failed: Sequence[Failure]) -> bool:
    """Whether a wrong computation of this exercise accounts for a failed case, so that no earlier answer is to blame."""
    return any(m.wrong is not None and _fits(exercise, m, case, failed) for m in exercise.misconceptions)


def _shows(exercise: Exercise, sign: Sign, failure: Failure) -> bool:
    try:
        return bool(sign(failure.question, failure.reply, expected(exercise, failure.question)))
    except (ValueError, TypeError, IndexError, KeyError):  # arrays of any shape can come back
        return False


def _would_lose(exercise: Exercise, misconception: Misconception, questions: Sequence[Question]) -> bool:
    """Whether an answer with this misconception would fail one of these questions."""
    return any(
        not same(np.asarray(prediction[key]), expected(exercise, question)[key])
        for question in questions
        if (prediction := predicted(misconception, question)) is not None
        for key in question.compare
        if key in prediction
    )


def _symptom_of_any(
    exercise: Exercise, failed: Sequence[Failure], likely: Container[Misconception], alone: bool
) -> Said:
    """What can be said of a case whose mistake is not known; likely are those that explain several others."""
    *_, last = failed
    if last.reply.problem is Problem.RAISED and any(
        m in likely and m.wrong is not None and predicted(m, last.question) is None for m in exercise.misconceptions
    ):
        return FOLLOWS
    first = _symptom(exercise, failed[0])
    if first.named:
        return first
    if last.reply.problem:
        raised = _problem(last.reply)
        return raised if raised.named else first
    common = _difference(exercise, failed) if alone else None
    return first if common is None else Said(common, named=True)


def _difference(exercise: Exercise, failed: Sequence[Failure]) -> str | None:
    """What all results that are wrong here have in common."""
    key = failed[0].result
    if any(f.result != key or key not in f.reply.arrays for f in failed) or key.startswith("grad_"):
        return None
    return difference(key, [(f.reply.arrays[key], expected(exercise, f.question)[key]) for f in failed])


def _disturbance(exercise: Exercise, session: Session, failure: Failure) -> Said | None:
    """What makes any result wrong: an input that was changed, or numbers that are other ones in each call."""
    question, reply, key = failure.question, failure.reply, failure.result
    if reply.problem:
        return None
    if (changed := _changed_input(question, reply)) is not None:
        return Said(
            f"The input {changed} was changed in place. Compute a new Tensor and leave the input alone.", named=True
        )
    if key not in reply.arrays or key.startswith("grad_") or reply.arrays[key].dtype.kind not in "fiub":
        return None
    again = session.ask(exercise.name, question, {})
    if not again.problem and key in again.arrays and not _identical(reply.arrays[key], again.arrays[key]):
        return Said(
            "The result differs from one call to the next. Nothing in it may be random or made anew in each call.",
            named=True,
        )
    return None


def _symptom(exercise: Exercise, failure: Failure) -> Said:
    """What can be said of a failed case without knowing the mistake. Never an expected value."""
    question, reply, key = failure.question, failure.reply, failure.result
    if reply.problem:
        return _problem(reply)
    answer, reference = reply.arrays.get(key), expected(exercise, question)[key]
    if key.startswith("grad_") and question.probe != "array_function":  # there they are what is asked for
        for other, right in expected(exercise, question).items():
            if (
                not other.startswith("grad_")
                and (came := reply.arrays.get(other)) is not None
                and came.shape != right.shape
            ):
                return _other_shape(other, came, right)
        if answer is None or not answer.any():
            return Said(_no_gradient(question, reply), named=True)
        return Said(
            f"The gradient of {_name(key)} is not right. Is a part of the computation cut from the graph, {CUT}?",
            named=True,
            unless=True,
        )
    if answer is None:
        return Said(f"There is no `{key}`.", named=True)
    if answer.shape != reference.shape:
        return _other_shape(key, answer, reference)
    if answer.dtype.kind not in "fiub":
        return Said(f"`{key}` holds values of type {answer.dtype}. It should hold plain numbers.", named=True)
    return _where(key, answer, reference)


def _no_gradient(question: Question, reply: Reply) -> str:
    """Where no gradient arrives, and what that may come from."""
    wanted = [key for key in question.compare if key.startswith("grad_")]
    *first, last = [_name(key) for key in wanted if key not in reply.arrays or not reply.arrays[key].any()]
    if len(first) > 3 and len(first) == len(wanted) - 1:
        return f"No gradient arrives anywhere: the result is cut from the graph, {CUT}."
    if not first:
        return f"No gradient reaches {last}: it is cut from the graph, {CUT}."
    names = f"{', '.join(first)} and {last}" if len(first) < 4 else f"{', '.join(first[:3])} and others"
    return f"No gradient reaches {names}: they are cut from the graph, {CUT}."


def _name(key: str) -> str:
    """What a gradient is of."""
    return key.removeprefix("grad_").replace("_weight", ".weight").replace("_bias", ".bias")


def _other_shape(key: str, answer: np.ndarray, reference: np.ndarray) -> Said:
    sentence = f"`{key}` has shape {answer.shape}, it should be {reference.shape}."
    if answer.ndim == reference.ndim and sorted(answer.shape) == sorted(reference.shape):
        sentence += " Two axes are exchanged."
    return Said(sentence, quotes=True)


def _problem(reply: Reply) -> Said:
    """Why no arrays came."""
    text = plain(reply.text)
    match reply.problem:
        case Problem.BLANK:
            return Said("Not answered yet.")
        case Problem.MISSING:
            name, _, error = text.partition(": ")
            reason = f"its cell raised {error}" if error else "its cell is missing, was not run, or raised an error."
            return Said(f"`{name}` is not defined: {reason}", raised=True, quotes=True)
        case Problem.KIND:
            return Said(f"{text}.", named=True, quotes=True)
        case Problem.RAISED:
            if not reply.line:
                return Said(f"It cannot be used as its description says: {text}", raised=True, quotes=True)
            if (words := in_plain_words(plain(reply.text, 3 * QUOTED), plain(reply.line, QUOTED))) is not None:
                mark = "" if words.endswith("?") else "."
                return Said(
                    f"Your line `{plain(reply.line, LINE)}` {words}{mark}", named=True, raised=True, quotes=True
                )
            line, text = plain(reply.line, LINE), plain(text, QUOTED - LINE)
            return Said(f"Your line `{line}` raised {text}", raised=True, quotes=True)
        case Problem.TIME:
            return Said(f"It ran for too long and was stopped{': ' + text if text else ''}.")
        case Problem.MEMORY:
            return Said("It needed more memory than there is.")
        case Problem.DIED:
            return Said("It ended the Python process.")
    return Said("What came back is not plain numbers of about the size that was asked for.")


def _changed_input(question: Question, reply: Reply) -> str | None:
    for after in (k for k in reply.arrays if k.endswith("_after") and k.removesuffix("_after") in question.inputs):
        name = after.removesuffix("_after")
        given = question[name]
        if isinstance(given, np.ndarray) and not same(reply.arrays[after], given):
            return name
    return None


def _where(key: str, answer: np.ndarray, reference: np.ndarray) -> Said:
    """The last resort: where a result of the right shape is wrong."""
    if not np.isfinite(answer.astype(float)).all() and np.isfinite(reference).all():
        return Said(f"`{key}` holds inf or nan.")
    off = [i for i in np.ndindex(reference.shape) if not same(answer[i][None], np.asarray(reference[i])[None])]
    if not off or not answer.ndim:
        return Said(f"`{key}` is not right.")
    first = ", ".join(map(str, off[0]))
    return Said(f"`{key}[{first}]` is not right ({len(off)} of {answer.size} differ).")


def _identical(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(np.allclose(a.astype(float), b.astype(float), rtol=1e-6, equal_nan=True))


def plain(text: str, most: int = QUOTED) -> str:
    """Text from a student's process: one line, printable, short."""
    line = re.sub(r"\s+", " ", "".join(c if c.isprintable() or c.isspace() else "?" for c in text)).strip()
    return line if len(line) <= most else line[: most - 3] + "..."
