"""An exercise is data; judge() is the one place where a score is decided."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Arrays = Mapping[str, np.ndarray]
Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What came back for one question: arrays, or a problem with what the student's code said about it.

    problem  "" | blank | missing | kind | raised | time | memory | died | bad
    """

    arrays: Arrays = field(default_factory=dict)
    problem: str = ""
    text: str = ""


@dataclass(frozen=True)
class Helper:
    """The reference in place of an earlier answer.

    forward(**arguments) -> results; backward(index, grad, **arguments) -> gradients of the arguments that are tensors
    """

    function: str
    parameters: tuple[str, ...]
    results: int
    forward: Callable[..., list[np.ndarray]]
    backward: Callable[..., list[np.ndarray]]


class Session(Protocol):
    """Answers questions about one submission. verdicts keeps what has been judged already, by exercise."""

    verdicts: dict[str, "Verdict"]

    def ask(self, probe: str, inputs: Inputs, helpers: Mapping[str, Helper]) -> Reply: ...


@dataclass(frozen=True, eq=False)
class Ask:
    """One question of a case: a probe with inputs, and which of its results are compared with the reference."""

    probe: str
    inputs: Inputs
    compare: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """Questions that are right or wrong together, and what they are worth.

    alone  False if an answer that computes nothing right could pass: then it counts only together with another case
    """

    name: str
    points: float
    asks: tuple[Ask, ...]
    alone: bool = True


@dataclass(frozen=True, eq=False)
class Misconception:
    """A wrong computation, or another sign of a mistake, with the sentence that a student should read.

    wrong  the probe's inputs -> the results it would give (those it can tell), or None where it does not apply
    sign   (ask, reply) -> True if the reply shows this mistake; for mistakes that are no computation
    cases  names of the cases in which it may be recognised; all if empty
    """

    sentence: str
    wrong: Callable[..., Arrays | None] | None = None
    sign: Callable[[Ask, Reply], bool] | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Exercise:
    """What is asked (`defines` is the name that the answer cell gives), how it is judged, what it builds on."""

    name: str
    module: str
    defines: str
    cases: tuple[Case, ...]
    reference: Callable[[str, Inputs], Arrays]
    misconceptions: tuple[Misconception, ...]
    uses: tuple[str, ...] = ()
    helper: Helper | None = None

    @property
    def points(self) -> float:
        return sum(case.points for case in self.cases)


FOLLOWS, TOGETHER = "Probably for the same reason.", "Counts when something else is right."


@dataclass(frozen=True)
class CaseResult:
    name: str
    points: float
    max: float
    message: str = ""
    named: bool = False  # the message is a misconception's own sentence


@dataclass(frozen=True)
class Verdict:
    exercise: str
    points: float
    max: float
    cases: tuple[CaseResult, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """What there is to say, each sentence once, causes before what follows from them."""
        once = dict.fromkeys(c.message for c in self.cases if c.message)
        return tuple(sorted(once, key=lambda message: message in (FOLLOWS, TOGETHER)))

    def __str__(self) -> str:
        width = max(len(c.name) for c in self.cases)
        lines = [f"{self.exercise}  {self.points:g}/{self.max:g}"]
        for c in self.cases:
            mark = "ok  " if c.points == c.max else "lost"
            lines.append(f"  {mark}  {c.name:{width}}  {c.message}".rstrip())
        return "\n".join(lines)


_references: dict[int, Arrays] = {}
_predictions: dict[tuple[int, int], Arrays | None] = {}


def expected(exercise: Exercise, ask: Ask) -> Arrays:
    """The reference's answer to a question, computed once per process."""
    if id(ask) not in _references:
        _references[id(ask)] = exercise.reference(ask.probe, ask.inputs)
    return _references[id(ask)]


def predicted(misconception: Misconception, ask: Ask) -> Arrays | None:
    """What a misconception would answer, computed once per process; None where it does not apply."""
    key = (id(misconception), id(ask))
    if key not in _predictions:
        assert misconception.wrong is not None
        try:
            with np.errstate(all="ignore"):
                _predictions[key] = misconception.wrong(ask.probe, ask.inputs)
        except (ValueError, KeyError, IndexError, TypeError):
            _predictions[key] = None
    return _predictions[key]


def same(answer: np.ndarray, reference: np.ndarray) -> bool:
    """Equal in shape, and in value as far as float32 computations in another order can be.

    Where the reference is -inf (or -1e9, a blocked score) the answer may be anything so low that softmax gives it no share.
    """
    if answer.shape != reference.shape or answer.dtype.kind not in "fiub":
        return False
    answer, reference = np.asarray(answer, dtype=float), np.asarray(reference, dtype=float)
    low, high = reference <= -BLOCKED, reference >= BLOCKED
    plain = reference[~(low | high)]
    size = np.abs(plain[np.isfinite(plain)]).max(initial=1e-2)
    return (
        bool(np.allclose(answer[~(low | high)], plain, rtol=1e-3, atol=1e-4 * size, equal_nan=True))
        and bool((answer[low] <= plain.min(initial=0) - NO_SHARE).all())
        and bool((answer[high] >= BLOCKED).all())
    )


BLOCKED = 1e8  # a score beyond this is a mask's doing
NO_SHARE = 104  # exp(-104) is 0 in float32


def _wrong_key(ask: Ask, reply: Reply, reference: Arrays) -> str | None:
    """The first result of a reply that is not as it should be; None if all are."""
    for key in ask.compare:
        if key not in reply.arrays or not same(reply.arrays[key], reference[key]):
            return key
    return None


def judge(exercise: Exercise, session: Session) -> Verdict:
    """Score one answer, case by case; remembered in the session.

    A case that fails is tried again with the reference in place of those earlier answers that are wrong themselves: a mistake
    costs its points once.
    """
    if exercise.name in session.verdicts:
        return session.verdicts[exercise.name]
    failures: dict[str, list[tuple[Ask, Reply, str]]] = {}
    for case in exercise.cases:
        if failed := _ask_all(exercise, case, session, {}):
            failures[case.name] = failed
    excused = _follow_through(exercise, session, failures) if failures else {}
    if all(c.name in failures and c.name not in excused for c in exercise.cases if c.alone):
        excused = {}
        failures |= {c.name: failures.get(c.name, []) for c in exercise.cases if not c.alone}
    left = {name: failed for name, failed in failures.items() if name not in excused}
    messages = _explain(exercise, session, left) if left else {}
    results = []
    for case in exercise.cases:
        message, named = messages.get(case.name, (excused.get(case.name, ""), False))
        results.append(CaseResult(case.name, 0.0 if case.name in left else case.points, case.points, message, named))
    verdict = Verdict(exercise.name, sum(r.points for r in results), exercise.points, tuple(results))
    session.verdicts[exercise.name] = verdict
    return verdict


def _ask_all(
    exercise: Exercise, case: Case, session: Session, helpers: Mapping[str, Helper]
) -> list[tuple[Ask, Reply, str]]:
    """The questions of a case that were not answered rightly, up to the first that brought no arrays at all."""
    failed: list[tuple[Ask, Reply, str]] = []
    for ask in case.asks:
        reply = session.ask(ask.probe, ask.inputs, helpers)
        if reply.problem:
            return [*failed, (ask, reply, "")]
        wrong = _wrong_key(ask, reply, expected(exercise, ask))
        if wrong is not None:
            failed.append((ask, reply, wrong))
    return failed


def _follow_through(
    exercise: Exercise, session: Session, failures: dict[str, list[tuple[Ask, Reply, str]]]
) -> dict[str, str]:
    """The failed cases that are right once the earlier answers are, each with a sentence that says which."""
    from autograded_tests import EXERCISES

    if not exercise.uses or all(reply.problem == "missing" for f in failures.values() for _, reply, _ in f):
        return {}
    earlier = [EXERCISES[name] for name in exercise.uses]
    wrong = [e for e in earlier if judge(e, session).points < e.points and e.helper is not None]
    helpers = {e.defines: e.helper for e in wrong if e.helper is not None}
    if not helpers:
        return {}
    names = " and ".join(f"`{e.defines}`" for e in wrong)
    sentence = f"Right, once {names} {'is' if len(wrong) == 1 else 'are'}; nothing lost here."
    return {
        case.name: sentence
        for case in exercise.cases
        if case.name in failures and not _ask_all(exercise, case, session, helpers)
    }


def _explain(
    exercise: Exercise, session: Session, failures: dict[str, list[tuple[Ask, Reply, str]]]
) -> dict[str, tuple[str, bool]]:
    """A sentence for each failed case, and whether it names the mistake.

    Of all misconceptions that fit a failed case, the one that fits most failed cases and would lose fewest others explains it.
    """
    fits: dict[str, list[Misconception]] = {}
    for name, failed in failures.items():
        if not failed:
            continue
        (case,) = (c for c in exercise.cases if c.name == name)
        fits[name] = [m for m in exercise.misconceptions if _fits(exercise, m, case, failed)]
    passed = [case for case in exercise.cases if case.name not in failures]
    votes = {
        id(m): sum(m in found for found in fits.values())
        - sum(_would_lose(exercise, m, c.asks) for c in passed if not m.cases or c.name in m.cases)
        for m in {m for found in fits.values() for m in found}
    }
    messages = {}
    for name, failed in failures.items():
        if not failed:
            continue
        elif fits[name]:
            messages[name] = (max(fits[name], key=lambda m: votes[id(m)]).sentence, True)
        else:
            messages[name] = _symptom(exercise, session, failed)
    values = [
        name for name, failed in failures.items() if failed and not all(key.startswith("grad_") for _, _, key in failed)
    ]
    if any(messages[name][1] for name in values):  # with a named mistake in the values, gradients and the rest follow
        for name, (text, named) in messages.items():
            if name not in values or not (named or "raised" in text):
                messages[name] = (FOLLOWS, False)
    return messages | {name: (TOGETHER, False) for name, failed in failures.items() if not failed}


def _fits(exercise: Exercise, misconception: Misconception, case: Case, failed: list[tuple[Ask, Reply, str]]) -> bool:
    """Whether a misconception accounts for the questions of a case that were answered wrongly, and for those that were not."""
    if misconception.cases and case.name not in misconception.cases:
        return False
    if misconception.sign is not None:
        return any(_shows(misconception.sign, ask, reply) for ask, reply, _ in failed)
    for ask, reply, _ in failed:
        prediction = None if reply.problem else predicted(misconception, ask)
        reference = expected(exercise, ask)
        keys = [key for key in ask.compare if prediction is not None and key in prediction]
        if prediction is None or not keys:
            return False
        if not all(key in reply.arrays and same(reply.arrays[key], prediction[key]) for key in keys):
            return False
        if all(same(np.asarray(prediction[key], dtype=float), reference[key]) for key in keys):
            return False
    right = [ask for ask in case.asks if ask not in [a for a, _, _ in failed]]
    return not _would_lose(exercise, misconception, right)


def _shows(sign: Callable[[Ask, Reply], bool], ask: Ask, reply: Reply) -> bool:
    try:
        return sign(ask, reply)
    except (ValueError, TypeError, IndexError, KeyError):  # arrays of any shape can come back
        return False


def _would_lose(exercise: Exercise, misconception: Misconception, asks: Sequence[Ask]) -> bool:
    """Whether an answer with this misconception would fail one of these questions."""
    if misconception.wrong is None:
        return False
    return any(
        not same(np.asarray(prediction[key]), expected(exercise, ask)[key])
        for ask in asks
        if (prediction := predicted(misconception, ask)) is not None
        for key in ask.compare
        if key in prediction
    )


def _symptom(exercise: Exercise, session: Session, failed: list[tuple[Ask, Reply, str]]) -> tuple[str, bool]:
    """What can be said of a failed case without knowing the mistake. Never an expected value."""
    ask, reply, key = failed[0]
    text = _plain(reply.text)
    if reply.problem:
        sentences = {
            "blank": "Not answered yet.",
            "missing": _missing(*text.partition(": ")),
            "kind": f"{text}.",
            "raised": f"It raised {text}",
            "time": f"It ran for too long and was stopped{': ' + text if text else ''}.",
            "memory": "It needed more memory than there is.",
            "died": "It ended the Python process.",
            "bad": f"What came back could not be read: {text}.",
        }
        return sentences[reply.problem], reply.problem not in ("raised",)
    for after in (k for k in reply.arrays if k.endswith("_after") and k.removesuffix("_after") in ask.inputs):
        if not same(reply.arrays[after], np.asarray(ask.inputs[after.removesuffix("_after")])):
            name = after.removesuffix("_after")
            return f"The input {name} was changed in place. Compute a new Tensor and leave the input alone.", True
    answer, reference = reply.arrays.get(key), expected(exercise, ask)[key]
    if key.startswith("grad_"):
        name = key.removeprefix("grad_").replace("_weight", ".weight").replace("_bias", ".bias")
        if answer is None or not answer.any():
            return f"No gradient reaches {name}: the graph is cut. Stay with Tensor operations, without `.data`.", True
        return f"The gradient of {name} is not right, although the result may be.", False
    if answer is None:
        return f"There is no `{key}`.", True
    if answer.shape != reference.shape:
        sentence = f"`{key}` has shape {answer.shape}, it should be {reference.shape}."
        if answer.ndim == reference.ndim and sorted(answer.shape) == sorted(reference.shape):
            sentence += " Two axes are exchanged."
        return sentence, False
    again = session.ask(ask.probe, ask.inputs, {})
    if not again.problem and key in again.arrays and not _identical(answer, again.arrays[key]):
        return (
            "The result differs from one call to the next. Nothing in it may be random or made anew in each call.",
            True,
        )
    if not np.isfinite(answer.astype(float)).all() and np.isfinite(reference).all():
        return f"`{key}` holds inf or nan.", False
    off = [i for i in np.ndindex(reference.shape) if not same(answer[i][None], np.asarray(reference[i])[None])]
    if not off or not answer.ndim:
        return f"`{key}` is not right.", False
    first = ", ".join(map(str, off[0]))
    return f"`{key}[{first}]` is not right ({len(off)} of {answer.size} differ).", False


def _missing(name: str, _colon: str, error: str) -> str:
    reason = f"its cell raised {error}" if error else "its cell is missing, or it raised an error."
    return f"`{name}` is not defined: {reason}"


def _identical(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(np.allclose(a.astype(float), b.astype(float), rtol=1e-6, equal_nan=True))


def _plain(text: str) -> str:
    """Text from a student's process: one line, printable, short."""
    line = re.sub(r"\s+", " ", "".join(c if c.isprintable() or c.isspace() else "?" for c in text)).strip()
    return line if len(line) <= 160 else line[:157] + "..."
