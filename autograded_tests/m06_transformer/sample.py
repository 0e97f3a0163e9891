"""Writing symbol by symbol, with temperature and top-k, through a cache."""

from typing import Any

import numpy as np

from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.m06_transformer._earlier import KV_CACHE
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import changed_list, lacks, number_of_axes, other_shape
from exercises.signs.facts import number_off
from exercises.signs.numbers import do_not_sum_to_one, other_scale
from exercises.signs.shapes import raised_as

Array = np.ndarray


def ask(
    d: Data, number: int, compare: tuple[str, ...] = ("shares", "codes"), scale: float = 1.5, **how: Any
) -> Question:
    """A model of d.D symbols; a prompt of d.L, and d.S to write."""
    symbols = 1 + np.abs(d.normal(number + 2, d.L + d.S, scale=20)).astype(int) % (d.D - 1)
    codes = (symbols.cumsum() % d.D).tolist()
    inputs = {
        "table": d.normal(number, d.D, d.D, scale=scale),
        "places": d.normal(number + 1, (d.L + d.S) * d.S, d.D, scale=scale),
        "prompt": codes[: d.L],
        "drawn": codes[d.L :],
    }
    return Question("sample", inputs | how, compare)


def values(d: Data) -> tuple[Question, ...]:
    """Without a word about temperature and top-k."""
    return ask(d, 1010), ask(d, 1020)


def temperatures(d: Data) -> tuple[Question, ...]:
    return tuple(ask(d, 1030, temperature=t) for t in (0.5, 2.5, 0.002))


def top(d: Data) -> tuple[Question, ...]:
    return (
        ask(d, 1040, temperature=1.0, top_k=2),
        ask(d, 1040, temperature=0.7, top_k=d.L),
        ask(d, 1040, temperature=1.0, top_k=1),
    )


def edges(d: Data) -> tuple[Question, ...]:
    """As many in top_k as there are symbols, more, a prompt of one symbol, large logits."""
    short = dict(ask(d, 1050, temperature=1.0).inputs)
    short["prompt"] = short["prompt"][:1]
    return (
        ask(d, 1050, temperature=1.0, top_k=d.D),
        ask(d, 1050, temperature=1.0, top_k=2 * d.D),
        Question("sample", short, ("shares", "codes")),
        ask(d, 1060, scale=700, temperature=1.0),
    )


def once(d: Data) -> tuple[Question, ...]:
    return (ask(d, 1070, ("again", "prompt_after"), temperature=1.0),)


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
    return {
        "shares": np.array(shares),
        "codes": np.array(written),
        "again": np.array(0),
        "prompt_after": np.array(question["prompt"]),
    }


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
    pick: Function = lambda rows: rows[-1],
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
        found.append(shares(pick(rows), temperature, k))
        new, codes = [code], [*codes, code]
    return {"shares": np.array(found), "codes": np.array(result(question["prompt"], question["drawn"]))}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    return Misconception(sentence, wrong=lambda question: written(question, **wrong), cases=cases)


STABLE = "Take the softmax of logits from which the largest is subtracted, as Softmax does."
FEED = "The prompt goes in once, as a whole, and then only the symbol that was drawn last."


def unstable(scores: Array) -> Array:
    e = np.exp(scores.astype(np.float32))
    return np.asarray(e / e.sum())


def top_after(scores: Array, k: int | None, value: float = 0.0) -> Array:
    """Shares of what is not among the k highest become 0."""
    return np.where(keep(scores, k) > -np.inf, softmax(scores), value)


def lowest(scores: Array, k: int | None) -> Array:
    return scores if k is None else np.where(scores <= np.sort(scores)[min(k, len(scores)) - 1], scores, -np.inf)


def of(function: Function) -> Function:
    """Shares from logits that were divided by the temperature."""
    return lambda scores, temperature, k: function(scores / temperature, k)


WRONG_STEPS = (
    steps(
        "The logits are multiplied by the temperature. Divide by it.",
        shares=lambda s, t, k: softmax(keep(s * t, k)),
    ),
    steps("The temperature is not used. Divide the logits by it.", shares=lambda s, t, k: softmax(keep(s, k))),
    steps(
        "The temperature is used together with top_k only. Divide the logits by it in any case.",
        shares=lambda s, t, k: softmax(keep(s if k is None else s / t, k)),
    ),
    steps("The temperature divides twice.", shares=lambda s, t, k: softmax(keep(s / t / t, k))),
    steps(
        "The temperature divides the shares, after the softmax. Divide the logits, before it.",
        shares=lambda s, t, k: softmax(keep(s, k)) / t,
    ),
    steps(
        "The temperature is the exponent of the shares. It divides the logits, before the softmax.",
        shares=lambda s, t, k: softmax(keep(s, k)) ** (1 / t),
    ),
    steps(
        "The temperature is subtracted from the logits. Divide by it.", shares=lambda s, t, k: softmax(keep(s - t, k))
    ),
    steps("top_k is not used. Block all but the k highest logits.", shares=of(lambda s, k: softmax(s))),
    steps(
        "Top-k comes after the softmax, and the shares that are left do not sum to 1. Block the logits, then take the softmax.",
        shares=of(top_after),
    ),
    steps(
        "What is not among the k highest gets the logit 0, and so a share. Make it -inf.",
        shares=of(lambda s, k: softmax(np.where(keep(s, k) > -np.inf, s, 0.0))),
    ),
    steps("The k lowest logits are kept. Keep the k highest.", shares=of(lambda s, k: softmax(lowest(s, k)))),
    steps(
        "One logit more than top_k is kept. The smallest that stays is np.sort(scores)[-top_k].",
        shares=of(lambda s, k: softmax(keep(s, None if k is None else k + 1))),
    ),
    steps(
        "One logit less than top_k is kept. The smallest that stays is np.sort(scores)[-top_k], and it stays itself.",
        shares=of(lambda s, k: softmax(keep(s, None if k is None else k - 1)) if k != 1 else np.full(len(s), np.nan)),
    ),
    steps(
        "Not the k highest logits of all symbols are kept, but the first k symbols. Compare with np.sort(scores)[-top_k].",
        shares=of(lambda s, k: softmax(np.where(np.arange(len(s)) < (k or len(s)), s, -np.inf))),
    ),
    steps(
        "top_k is used although it is None, or the highest logit alone is kept. Without top_k all stay.",
        shares=of(lambda s, k: softmax(keep(s, 1))),
    ),
    steps("The softmax is taken twice. Take it once, last.", shares=of(lambda s, k: softmax(softmax(keep(s, k))))),
    steps("There is no softmax: draw gets logits. Give it shares.", shares=of(keep)),
    steps(
        "The logarithm of the shares is given to draw. Give it the shares.",
        shares=of(lambda s, k: np.log(softmax(keep(s, k)))),
    ),
    steps(f"Large logits make nan. {STABLE}", shares=of(lambda s, k: unstable(keep(s, k)))),
    steps("The logits of the first position are used. Take those of the last, [0, -1].", pick=lambda rows: rows[0]),
    steps(
        "The logits of all positions are averaged, or added up. Take those of the last, [0, -1].",
        pick=lambda rows: np.mean(rows, axis=0),
    ),
    steps(
        "The logits of all positions are averaged, or added up. Take those of the last, [0, -1].",
        pick=lambda rows: np.sum(rows, axis=0),
    ),
    steps(
        f"The whole text goes in at each step, on top of what the caches have. {FEED}",
        feed=lambda codes, new, n: codes,
    ),
    steps(
        f"The prompt goes in again at each step; what was drawn does not. {FEED}",
        feed=lambda codes, new, n: codes[: len(codes) - n],
    ),
    steps(
        f"Only the last symbol of the prompt goes in. {FEED}",
        feed=lambda codes, new, n: new[-1:],
    ),
    steps(
        f"The last symbol of the prompt goes in twice: once with the prompt and once alone. {FEED}",
        feed=lambda codes, new, n: [*new, new[-1]] if n == 0 else new,
    ),
    steps(
        f"The first symbol of the prompt is left out. {FEED}",
        feed=lambda codes, new, n: new[1:] if n == 0 and len(new) > 1 else new,
    ),
    steps(
        f"The last symbol of the prompt is left out. {FEED}",
        feed=lambda codes, new, n: new[:-1] if n == 0 and len(new) > 1 else new,
    ),
    steps(
        f"What goes in is one symbol late: not the one that was drawn last, but the one before it. {FEED}",
        feed=lambda codes, new, n: new if n == 0 else codes[-2:-1],
    ),
    steps(
        f"The last two symbols go in at each step, so each goes in twice. {FEED}",
        feed=lambda codes, new, n: new if n == 0 else codes[-2:],
    ),
    steps(
        "The prompt is missing in the result. Return its codes, then those that were drawn.",
        result=lambda prompt, drawn: drawn,
    ),
    steps(
        "The result lacks the last symbol. It has len(prompt) + length codes.",
        result=lambda prompt, drawn: [*prompt, *drawn[:-1]],
    ),
    steps(
        "The prompt comes after what was drawn.",
        result=lambda prompt, drawn: [*drawn, *prompt],
    ),
)


def forgetful(question: Question) -> Arrays:
    """New caches at each step: the model sees one symbol at a time, at position 0."""
    table, places = question["table"].astype(float), question["places"].astype(float)
    temperature, k = question.get("temperature", 1.0), question.get("top_k")
    new, found = list(question["prompt"]), []
    for code in question["drawn"]:
        found.append(right_shares(table[new].mean(0) + places[len(new) - 1], temperature, k))
        new = [code]
    return {"shares": np.array(found), "codes": np.array([*question["prompt"], *question["drawn"]])}


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
        *WRONG_STEPS,
        Misconception(
            "There are new caches at each step, so that what came before is forgotten. Make them once, before the loop.",
            wrong=forgetful,
        ),
        shows(
            "Without a temperature the shares are those of one that is not 1. Its default is 1.0.",
            other_scale("shares"),
            ("values",),
        ),
        shows(
            "The model gets whole texts again and again, where its caches have them: each symbol should go in once.",
            number_off("again", more=True),
            ("each symbol once",),
        ),
        shows(
            "The list that the caller gave as prompt is changed. Make a list of your own: list(prompt).",
            changed_list("prompt"),
        ),
        shows(
            "top_k is larger than the number of symbols, and np.sort(scores)[-top_k] is not there. All stay then.",
            raised_as("out of bounds|out of range|kth"),
            ("edges",),
        ),
        shows(
            "The model's codes are (B, L): give it np.array([new]), with the outer brackets.",
            raised_as("codes should be whole numbers of shape"),
        ),
        shows(
            "The text becomes longer than the model: more goes in than the prompt once and each drawn symbol once.",
            raised_as("is none of the .* codes"),
        ),
        shows(
            "`draw` is not called, or not for each symbol. Call draw(shares) for each symbol that is written.",
            lacks("shares"),
        ),
        shows(
            "draw was given something of another shape. Shares are (V,), those of one position of one text.",
            number_of_axes("shares", 3),
            rough=True,
        ),
        shows(
            "The result has another number of codes. It has len(prompt) + length.",
            other_shape("codes"),
            rough=True,
        ),
        shows(
            "The shares do not sum to 1 before each draw. The softmax comes last.",
            do_not_sum_to_one("shares"),
            rough=True,
        ),
        NAMES_KEPT,
    ),
    uses=(KV_CACHE,),
)
