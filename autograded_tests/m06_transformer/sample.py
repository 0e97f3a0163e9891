"""Writing symbol by symbol, with temperature and top-k, through a cache."""

from typing import Any

import numpy as np

from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.m06_transformer._earlier import KV_CACHE
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT
from exercises.model import Arrays, Case, Exercise, Misconception, Question

Array = np.ndarray


def ask(
    d: Data, number: int, compare: tuple[str, ...] = ("shares", "codes"), scale: float = 1.5, **how: Any
) -> Question:
    """A model of d.D symbols; a prompt of d.L, and d.S to write."""
    symbols = 1 + np.abs(d.normal(number + 2, d.L + d.S, scale=20)).astype(int) % (d.D - 1)
    codes = (symbols.cumsum() % d.D).tolist()
    inputs = {
        "table": d.normal(number, d.D, d.D, scale=scale),
        "places": d.normal(number + 1, d.L + d.S, d.D, scale=scale),
        "prompt": codes[: d.L],
        "drawn": codes[d.L :],
    }
    return Question("sample", inputs | how, compare)


def values(d: Data) -> tuple[Question, ...]:
    return ask(d, 1010), ask(d, 1020)


def temperatures(d: Data) -> tuple[Question, ...]:
    return ask(d, 1030, temperature=0.5), ask(d, 1030, temperature=2.5)


def top(d: Data) -> tuple[Question, ...]:
    return ask(d, 1040, top_k=2), ask(d, 1040, top_k=d.L, temperature=0.7), ask(d, 1040, top_k=1)


def edges(d: Data) -> tuple[Question, ...]:
    """More in top_k than there are symbols, all of them, a prompt of one symbol, large logits, nothing to write."""
    short = dict(ask(d, 1050).inputs)
    short["prompt"] = short["prompt"][:1]
    return (
        ask(d, 1050, top_k=d.D),
        ask(d, 1050, top_k=2 * d.D),
        Question("sample", short, ("shares", "codes")),
        ask(d, 1060, scale=700),
        ask(d, 1060, temperature=0.002),
    )


def once(d: Data) -> tuple[Question, ...]:
    return (ask(d, 1070, ("again",)),)


def reference(question: Question) -> Arrays:
    table, places = question["table"].astype(float), question["places"].astype(float)
    written, shares = list(question["prompt"]), []
    for code in question["drawn"]:
        scores = sum(table[c] for c in written) / len(written) + places[len(written) - 1]
        scores = scores / question.get("temperature", 1.0)
        k = question.get("top_k")
        order = sorted(range(len(scores)), key=lambda i: -scores[i])[: k or len(scores)]
        shares.append(np.zeros(len(scores)))
        shares[-1][order] = right.softmax(scores[order])
        written.append(code)
    return {"shares": np.array(shares), "codes": np.array(written), "again": np.array(0)}


def keep(scores: Array, k: int | None) -> Array:
    """-inf for what is not among the k highest."""
    return scores if k is None else np.where(scores >= np.sort(scores)[-min(k, len(scores))], scores, -np.inf)


def softmax(scores: Array) -> Array:
    e = np.exp(scores - scores.max())
    return np.asarray(e / e.sum())


def right_shares(scores: Array, temperature: float, k: int | None) -> Array:
    return softmax(keep(scores / temperature, k))


def written(
    question: Question,
    *,
    feed: Function = lambda codes, new, n: new,
    shares: Function = right_shares,
    last: int = -1,
    result: Function = lambda prompt, drawn: [*prompt, *drawn],
) -> Arrays:
    """Writing in which each step can be replaced by a wrong one.

    feed(all codes so far, the new ones, number of the step) goes into the model; shares(scores, temperature, top_k)
    """
    table, places = question["table"].astype(float), question["places"].astype(float)
    temperature, k = question.get("temperature", 1.0), question.get("top_k")
    codes = list(question["prompt"])
    new, seen, found = codes, list[int](), []
    for n, code in enumerate(question["drawn"]):
        fed = feed(codes, new, n)
        seen = [*seen, *fed]
        if len(seen) > len(places):
            raise ValueError("too long")
        rows = [table[seen[: i + 1]].mean(0) + places[i] for i in range(len(seen) - len(fed), len(seen))]
        found.append(shares(rows[last], temperature, k))
        new, codes = [code], [*codes, code]
    return {"shares": np.array(found), "codes": np.array(result(question["prompt"], question["drawn"]))}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    return Misconception(sentence, wrong=lambda question: written(question, **wrong), cases=cases)


EXERCISE = Exercise(
    name="sample",
    module="06_transformer",
    defines="sample",
    cases=(
        Case("values", 1.25, values),
        Case("temperature", 1, temperatures),
        Case("top-k", 1.25, top),
        Case("edges", 0.75, edges),
        Case("each symbol once", 0.75, once, needs_another=True),
    ),
    reference=reference,
    misconceptions=(
        steps(
            "The logits are multiplied by the temperature. Divide by it.",
            shares=lambda scores, temperature, k: softmax(keep(scores * temperature, k)),
        ),
        steps(
            "Top-k is taken after the softmax, and the shares do not sum to 1. Block the logits, then take the softmax.",
            shares=lambda scores, temperature, k: np.where(keep(scores, k) > -np.inf, softmax(scores / temperature), 0),
        ),
        NAMES_KEPT,
    ),
    uses=(KV_CACHE,),
)
