"""A module's exercises as tables of numbers: questions, right results, and what each mistake would give.

A table judges as the exercises do and holds no way to compute a right result, so that students can have it. It is a line of
JSON and one block of float32 numbers, little-endian: the same bytes on every machine.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from exercises.compare import BLOCKED, expected, predicted, same
from exercises.model import Arrays, Case, Exercise, Misconception, Question, Sign
from exercises.signs import find

KEPT = 2  # questions of a case for which a table holds what a mistake gives
RIGHT = -1  # in place of the number of an array
BITS = 20  # that are kept of a result, counted from its largest number


@dataclass(frozen=True)
class Practice:
    """What a table holds: the exercises, by name, and which functions and classes of the notebook are given."""

    exercises: Mapping[str, Exercise]
    given: frozenset[str]


class _Block:
    """Arrays one behind the other, each different one once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.forms: list[tuple[str, tuple[int, ...]]] = []  # kind and shape, each once
        self.arrays: list[int] = []  # the form of each
        self._places: dict[tuple[bytes, tuple[int, ...], str], int] = {}

    def add(self, array: np.ndarray) -> int:
        """The number of an array."""
        with np.errstate(over="ignore"):
            numbers = np.asarray(array, dtype="<f4").tobytes()
        key = (numbers, array.shape, array.dtype.kind)
        if key not in self._places:
            self._places[key] = len(self.arrays)
            form = (array.dtype.kind, array.shape)
            if form not in self.forms:
                self.forms.append(form)
            self.arrays.append(self.forms.index(form))
            self.data += numbers
        return self._places[key]


def pack(exercises: Iterable[Exercise], given: Iterable[str]) -> bytes:
    """The table of some exercises, with their seed and sizes."""
    block = _Block()
    told = [_packed(exercise, block) for exercise in exercises]
    table = {"given": sorted(given), "exercises": told, "forms": block.forms, "arrays": block.arrays}
    return json.dumps(table, separators=(",", ":"), default=int).encode() + b"\n" + bytes(block.data)


def _packed(exercise: Exercise, block: _Block) -> dict[str, Any]:
    asked = {question: case.name for case in exercise.cases for question in exercise.questions(case)}
    right = {question: expected(exercise, question) for question in asked}
    return {
        "name": exercise.name,
        "module": exercise.module,
        "defines": exercise.defines,
        "uses": [used.name for used in exercise.uses if used.module == exercise.module],
        "cases": [[c.name, c.points, c.needs_another, len(exercise.questions(c))] for c in exercise.cases],
        "questions": [
            {
                "probe": question.probe,
                "inputs": {name: _value(value, block) for name, value in question.inputs.items()},
                "compare": question.compare,
                "expected": {name: block.add(_portable(a)) for name, a in right[question].items()},
            }
            for question in asked
        ],
        "mistakes": [_mistake(m, asked, right, block) for m in exercise.misconceptions],
    }


def _value(value: Any, block: _Block) -> Any:
    return {"array": block.add(value)} if isinstance(value, np.ndarray) else value


def _portable(array: np.ndarray) -> np.ndarray:
    """Rounded, so that the last bits, in which one processor differs from another, do not show."""
    if np.asarray(array).dtype.kind != "f":
        return np.asarray(array)
    array = np.array(array, dtype=float)
    plain = np.abs(array) < BLOCKED
    largest = np.abs(array[plain]).max(initial=0)
    if largest > 0:
        # 1.001, since the largest itself may be a power of two but for its last bit; what should be zero is tiny
        unit = 2.0 ** max(int(np.frexp(largest * 1.001)[1]) - BITS, -40)
        array[plain] = np.round(array[plain] / unit) * unit + 0.0  # and there is no -0
    return array


def _mistake(
    misconception: Misconception, asked: Mapping[Question, str], right: Mapping[Question, Arrays], block: _Block
) -> list[Any]:
    """[sentence, cases, rough, sign, wrong], the last two None or what there is."""
    told = [misconception.sentence, misconception.cases, int(misconception.rough)]
    if misconception.sign is not None:
        sign = misconception.sign
        return [*told, [sign.shows.__name__, sign.arguments, sign.named], None]
    return [*told, None, _wrong(misconception, asked, right, block)]


def _wrong(
    misconception: Misconception, asked: Mapping[Question, str], right: Mapping[Question, Arrays], block: _Block
) -> list[list[int | None] | None]:
    """For each question the arrays that a mistake gives, in the order of what is compared; None where it gives none.

    Of the questions of a case that would show the mistake, those after the smallest two have an empty list.
    """
    found: dict[Question, Arrays] = {}
    for question, case in asked.items():
        if not misconception.cases or case in misconception.cases:
            results = _prediction(misconception, question)
            if results is not None:
                found[question] = {k: np.asarray(results[k]) for k in question.compare if k in results}
    shows = [q for q, results in found.items() if not all(same(a, np.asarray(right[q][k])) for k, a in results.items())]
    shows.sort(key=lambda question: sum(a.size for a in found[question].values()))
    left_out = {q for n, q in enumerate(shows) if sum(asked[other] == asked[q] for other in shows[:n]) >= KEPT}
    return [
        None
        if question not in found
        else []
        if question in left_out
        else [_told(found[question].get(k), right[question][k], block) for k in question.compare]
        for question in asked
    ]


def _told(wrong: np.ndarray | None, right: np.ndarray, block: _Block) -> int | None:
    """The number of an array, if there is one; RIGHT for what no one can tell from the right result."""
    if wrong is None:
        return None
    return RIGHT if same(wrong, np.asarray(right)) else block.add(_portable(wrong))


def _prediction(misconception: Misconception, question: Question) -> Arrays | None:
    """What a mistake gives, computed in float64: in float32 it is another number on another processor."""
    inputs = {
        name: value.astype(float) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
        for name, value in question.inputs.items()
    }
    return predicted(misconception, Question(question.probe, inputs, question.compare))


def unpack(data: bytes) -> Practice:
    """The exercises of a table. Raises ValueError if it is damaged."""
    try:
        head, _, numbers = data.partition(b"\n")
        table = json.loads(head)
        arrays = list(_arrays(np.frombuffer(numbers, "<f4"), [table["forms"][n] for n in table["arrays"]]))
        exercises: dict[str, Exercise] = {}
        for told in table["exercises"]:
            exercises[told["name"]] = _unpacked(told, arrays, exercises)
        return Practice(exercises, frozenset(table["given"]))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a damaged table: {error}") from None


def _arrays(block: np.ndarray, forms: list[tuple[str, tuple[int, ...]]]) -> Iterator[np.ndarray]:
    start = 0
    for kind, shape in forms:
        end = start + int(np.prod(shape))
        yield block[start:end].reshape(shape).astype({"f": np.float32, "b": np.bool_}.get(kind, np.int64))
        start = end


def _unpacked(told: dict[str, Any], arrays: list[np.ndarray], earlier: Mapping[str, Exercise]) -> Exercise:
    def array_or(value: Any) -> Any:
        return arrays[value["array"]] if isinstance(value, dict) else value

    def results(value: Mapping[str, int]) -> Arrays:
        return {name: arrays[number] for name, number in value.items()}

    questions = [
        Question(q["probe"], {k: array_or(v) for k, v in q["inputs"].items()}, tuple(q["compare"]))
        for q in told["questions"]
    ]
    expected = {q: results(t["expected"]) for q, t in zip(questions, told["questions"], strict=True)}
    cases, start = [], 0
    for name, points, needs_another, count in told["cases"]:
        cases.append(Case(name, points, _always(tuple(questions[start : start + count])), needs_another))
        start += count
    mistakes = []
    for sentence, where, rough, sign, wrong in told["mistakes"]:
        predictions = {
            q: {
                name: expected[q][name] if number == RIGHT else arrays[number]
                for name, number in zip(q.compare, found, strict=bool(found))
                if number is not None
            }
            for q, found in zip(questions, wrong or (), strict=False)
            if found is not None
        }
        shown = _sign(*sign) if sign else None
        mistakes.append(
            Misconception(sentence, None if shown else predictions.get, shown, tuple(where), rough=bool(rough))
        )
    uses = tuple(earlier[name] for name in told["uses"])
    return Exercise(
        told["name"], told["module"], told["defines"], tuple(cases), expected.__getitem__, tuple(mistakes), uses
    )


def _always(questions: tuple[Question, ...]) -> Callable[[Any], tuple[Question, ...]]:
    return lambda _data: questions


def _sign(name: str, arguments: Iterable[Any], named: Mapping[str, Any]) -> Sign:
    """Lists are what JSON makes of tuples."""
    return find(name)(*(tuple(a) if isinstance(a, list) else a for a in arguments), **named)
