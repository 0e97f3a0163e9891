"""Embeddings, blocks, a last normalisation and a head; and the loss of guessing what comes next."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.m06_transformer._earlier import KV_CACHE, MULTI_HEAD_ATTENTION
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import CUT, NAMES_KEPT, shows
from exercises.model import Arrays, Case, Exercise, Misconception, Question
from exercises.signs.arrays import other_shape
from exercises.signs.facts import number_off
from exercises.signs.gradients import no_gradient
from exercises.signs.shapes import raised_as

Array = np.ndarray
GRADIENTS = ("grad_symbols", "grad_positions", "grad_norm", "grad_head", "grad_head_bias")


def model(d: Data, number: int, vocabulary: int, longest: int, width: int, blocks: int) -> dict[str, Any]:
    return {
        "symbols": d.normal(number, vocabulary, width),
        "positions": d.normal(number + 1, longest, width),
        "blocks": d.normal(number + 2, blocks, width, width, scale=0.5),
        "norm": d.normal(number + 3, width) + np.float32(1.5),
        "norm_bias": d.normal(number + 4, width),
        "head": d.normal(number + 5, width, vocabulary),
        "head_bias": d.normal(number + 6, vocabulary),
    }


def text(d: Data, number: int, batch: int, length: int, vocabulary: int) -> Array:
    """Codes; no symbol comes twice in a row."""
    steps = 1 + np.abs(d.normal(number, batch, length, scale=20)).astype(np.int64) % (vocabulary - 1)
    return np.asarray(steps.cumsum(-1) % vocabulary)


def usual(d: Data) -> dict[str, Any]:
    return model(d, 910, d.D, d.L + d.S, d.Dv, 2) | {"codes": text(d, 917, d.B, d.S, d.D)}


def another(d: Data) -> dict[str, Any]:
    return model(d, 920, d.S, d.D, d.L, 3) | {"codes": text(d, 927, d.H, d.D, d.S)}


def ask(inputs: dict[str, Any], compare: tuple[str, ...] = ("logits",), **told: Any) -> Question:
    return Question("language_model", inputs | told, compare)


def values(d: Data) -> tuple[Question, ...]:
    """Two blocks, three, and one block with one symbol."""
    single = model(d, 930, d.S, d.L, d.H, 1) | {"codes": text(d, 937, 1, 1, d.S)}
    return ask(usual(d)), ask(another(d)), ask(single)


def with_caches(d: Data) -> tuple[Question, ...]:
    compare = ("logits", "lengths")
    return (
        ask(usual(d), compare, pieces=[1] * d.S),
        ask(usual(d), compare, pieces=[d.S - 2, 2]),
        ask(usual(d), compare, pieces=[2, 1, d.S - 3]),
    )


def loss(d: Data) -> tuple[Question, ...]:
    longer = usual(d) | {"codes": text(d, 918, d.H, d.D, d.D)}
    return tuple(Question("language_model_loss", inputs, ("loss",)) for inputs in (usual(d), longer))


def gradient(d: Data) -> tuple[Question, ...]:
    inputs = usual(d)
    grad = d.normal(940, *inputs["codes"].shape, d.D)
    return ask(inputs, GRADIENTS, grad=grad), Question(
        "language_model_loss", inputs | {"grad": np.ones((), np.float32)}, GRADIENTS
    )


def forward(question: Question, codes: Array) -> tuple[Array, Array]:
    """Logits, and what went into the last normalisation."""
    x = question["symbols"][codes].astype(float) + question["positions"][: codes.shape[1]]
    for weight in question["blocks"]:
        x = x + right.causal_means(x) @ weight
    normal = x * question["norm"].astype(float) + question["norm_bias"]
    return references.linear(normal, question["head"], question["head_bias"]), x


def backward(question: Question, codes: Array, to_logits: Array) -> dict[str, Array]:
    _, x = forward(question, codes)
    normal = x * question["norm"].astype(float) + question["norm_bias"]
    to_normal, to_head, to_bias = references.linear_gradient(normal, question["head"], to_logits)
    to_x = to_normal * question["norm"]
    L = codes.shape[1]
    means = np.tril(np.ones((L, L))) / np.arange(1, L + 1)[:, None]
    for weight in question["blocks"][::-1]:
        to_x = to_x + means.T @ (to_x @ weight.T.astype(float))
    to_symbols, to_positions = (np.zeros(question[name].shape) for name in ("symbols", "positions"))
    for b, i in np.ndindex(codes.shape):
        to_symbols[codes[b, i]] += to_x[b, i]
        to_positions[i] += to_x[b, i]
    return {
        "grad_symbols": to_symbols,
        "grad_positions": to_positions,
        "grad_norm": (to_normal * x).sum((0, 1)),
        "grad_head": to_head,
        "grad_head_bias": to_bias,
    }


def reference(question: Question) -> Arrays:
    codes = question["codes"]
    if question.probe == "language_model_loss":
        seen, answers = codes[:, :-1], codes[:, 1:]
        logits, _ = forward(question, seen)
        answer = {"loss": np.array(right.nats(logits, answers))}
        if question.get("grad") is None:
            return answer
        to_logits = right.softmax(logits)
        for index in np.ndindex(answers.shape):
            to_logits[(*index, answers[index])] -= 1
        return answer | backward(question, seen, to_logits / answers.size)
    logits, _ = forward(question, codes)
    answer = {"logits": logits, "lengths": np.full(len(question["blocks"]), codes.shape[1])}
    return answer if question.get("grad") is None else answer | backward(question, codes, question["grad"])


def computed(
    question: Question,
    *,
    place: Function = lambda start, L, number, question: start + np.arange(L),
    add: Function = lambda x, places: x + places,
    enter: Function = lambda x, places: x,
    around: Function = lambda x, result: result,
    blocks: Function = lambda weights: weights,
    held_by: Function = lambda number: number,
    finish: Function = lambda x, places: x,
    norm: Function = lambda x, n: n(x),
    leave: Function = lambda x, places, logits: logits,
    only: str = "",
) -> Arrays | None:
    """A language model in which each step can be replaced by a wrong one, piece by piece if there are caches.

    place(start, L, number of the piece, question) is which rows of the table of positions are added
    only  "cache" if the mistake is made with caches only
    """
    pieces = question.get("pieces")
    if question.probe != "language_model" or (only and not pieces):
        return None
    codes, pieces = question["codes"], pieces or [question["codes"].shape[1]]
    weights = blocks(question["blocks"])
    held: list[list[Array]] = [[] for _ in range(10)]
    outputs, start = [], 0
    for n, length in enumerate(pieces):
        x = question["symbols"][codes[:, start : start + length]].astype(float)
        places = question["positions"][place(start, length, n, question)].astype(float)
        x = add(x, places)
        for number, weight in enumerate(weights):
            x = enter(x, places)
            cache = held[held_by(number)]
            cache.append(x)
            together = np.concatenate(cache, axis=1)
            x = around(x, x + right.causal_means(together, together.shape[1] - length) @ weight)
        x = norm(finish(x, places), lambda a: a * question["norm"].astype(float) + question["norm_bias"])
        logits = x @ question["head"].astype(float) + question["head_bias"]
        outputs.append(leave(x, places, logits))
        start += length
    return {"logits": np.concatenate(outputs, axis=1)}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    """A wrong step of forward."""
    return Misconception(sentence, wrong=lambda question: computed(question, **wrong), cases=cases)


def guesses(sentence: str, loss_of: Function) -> Misconception:
    """A wrong loss: loss_of(logits of some codes, codes)."""

    def of(question: Question) -> Arrays | None:
        if question.probe != "language_model_loss":
            return None
        return {"loss": np.array(loss_of(lambda codes: forward(question, codes)[0], question["codes"]))}

    return Misconception(sentence, wrong=of, cases=("loss",))


def row_nats(logits: Array, answers: Array) -> Array:
    return np.array([right.nats(one, a) for one, a in zip(logits, answers, strict=True)])


FROM_START = "With caches the first new symbol stands after all that the caches have: begin at len(caches[0])."
SHIFT = "The model sees codes[:, :-1], the answers are codes[:, 1:]."
WRONG_STEPS = (
    steps("The positions are left out. Add their embeddings to those of the symbols.", add=lambda x, places: x),
    steps("The embeddings of symbols and positions are multiplied. Add them.", add=lambda x, places: x * places),
    steps(
        "The positions are added again before each block. Add them once, to the symbols.",
        enter=lambda x, places: x + places,
    ),
    steps(
        "The positions are added before each block, not to the symbols. With several blocks they come in several times; add them once.",
        add=lambda x, places: x,
        enter=lambda x, places: x + places,
    ),
    steps("The positions are subtracted. Add them.", add=lambda x, places: x - places),
    steps("Positions count from 1. They should count from 0.", place=lambda s, L, n, q: s + 1 + np.arange(L)),
    steps(
        "Positions are counted from the end. They should count from 0.",
        place=lambda s, L, n, q: (s + np.arange(L))[::-1],
    ),
    steps("All symbols get position 0. Each has its own: 0, 1, 2, ...", place=lambda s, L, n, q: np.zeros(L, int)),
    steps(
        "Positions are asked by the codes of the symbols. They are asked by 0, 1, 2, ...",
        place=lambda s, L, n, q: q["codes"][:, s : s + L],
    ),
    steps(
        f"With caches, positions begin at 0 again in each call. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: np.arange(L),
        only="cache",
    ),
    steps(
        f"With caches, positions begin one too early. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: max(s - 1, 0) + np.arange(L),
        only="cache",
    ),
    steps(
        f"With caches, positions begin one too late. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: s + 1 + np.arange(L),
        only="cache",
    ),
    steps(
        f"With caches, positions begin one too late after the first call. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: s + (n > 0) + np.arange(L),
        only="cache",
    ),
    steps(
        f"len(caches) is the number of blocks. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: len(q["blocks"]) + np.arange(L),
        only="cache",
    ),
    steps(
        f"With caches, positions begin where the call before began, or after all new symbols: ask len(caches[0]) before the blocks run. {FROM_START}",
        ("with caches",),
        place=lambda s, L, n, q: s + L + np.arange(L),
        only="cache",
    ),
    steps(
        "All blocks share one cache. Each has its own: zip(self.blocks, caches).",
        ("with caches",),
        held_by=lambda number: 0,
        only="cache",
    ),
    steps("The last normalisation is left out. The head gets self.norm(x).", norm=lambda x, n: x),
    steps("The last normalisation is used twice.", norm=lambda x, n: n(n(x))),
    steps(
        "Each block's result is added to what went in. The block has done that: x = block(x, cache).",
        around=lambda x, result: x + result,
    ),
    steps("No block is used: x = block(x, cache) for each of self.blocks.", blocks=lambda weights: weights[:0]),
    steps(
        "Only the first block is used. x goes through all of them, one after the other.",
        blocks=lambda weights: weights[:1],
    ),
    steps(
        "Only the last block is used. x goes through all of them, one after the other.",
        blocks=lambda weights: weights[-1:],
    ),
    steps(
        "The first two blocks are used, whatever there are. x goes through all of self.blocks.",
        blocks=lambda weights: weights[:2],
    ),
    steps("The blocks are used in reverse order.", blocks=lambda weights: weights[::-1]),
    steps(
        "A softmax is taken of the logits. Return the logits: the loss and the writing take the softmax themselves.",
        leave=lambda x, places, logits: right.softmax(logits),
    ),
    steps("The head is left out. Return self.head(self.norm(x)).", leave=lambda x, places, logits: x),
    steps(
        "Only the logits of the last position come back. There is a row for each position: (B, L, V).",
        leave=lambda x, places, logits: logits[:, -1:],
    ),
    steps(
        "Only the logits of the last position come back. There is a row for each position: (B, L, V).",
        leave=lambda x, places, logits: logits[:, -1],
    ),
    guesses(
        f"The loss is shifted by nothing: each position is asked for the symbol that it sees. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes), codes),
    ),
    guesses(
        f"The loss is shifted by nothing: each position is asked for the symbol that it sees. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, :-1]),
    ),
    guesses(
        f"The loss is shifted by one the wrong way: each position is asked for the symbol before it. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes[:, 1:]), codes[:, :-1]),
    ),
    guesses(
        f"The loss is shifted by one the wrong way: each position is asked for the symbol before it. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes)[:, 1:], codes[:, :-1]),
    ),
    guesses(
        f"The loss is shifted by two: each position is asked for the symbol after the next. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes[:, :-2]), codes[:, 2:]),
    ),
    guesses(
        f"The symbols before the first are not left out: the last position is asked for the first symbol. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes), np.roll(codes, -1, axis=1)),
    ),
    guesses(
        f"Each text's first symbol is left out of what the model sees. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes[:, 1:])[:, :-1], codes[:, 2:]),
    ),
    guesses(
        "The loss is a sum over all guesses. It should be their mean, as cross_entropy gives it.",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, 1:]) * codes[:, 1:].size,
    ),
    guesses(
        "The loss is a sum over the texts, or over the positions. It should be the mean of all guesses.",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, 1:]) * len(codes),
    ),
    guesses(
        "The loss is a sum over the texts, or over the positions. It should be the mean of all guesses.",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, 1:]) * (codes.shape[1] - 1),
    ),
    guesses(
        "Only the last guess of each text counts. The loss is the mean of all guesses.",
        lambda logits, codes: right.nats(logits(codes[:, :-1])[:, -1], codes[:, -1]),
    ),
    guesses(
        "Only the first text counts. The loss is the mean of all guesses of all texts.",
        lambda logits, codes: right.nats(logits(codes[:1, :-1]), codes[:1, 1:]),
    ),
    guesses(
        "A softmax is taken of the logits before cross_entropy, which takes it itself.",
        lambda logits, codes: right.nats(right.softmax(logits(codes[:, :-1])), codes[:, 1:]),
    ),
    guesses(
        "The loss of equal shares, ln V, is subtracted. Return the cross-entropy itself.",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, 1:]) - np.log(logits(codes).shape[-1]),
    ),
    guesses(
        "The loss is in bits: divided by ln 2. It should be in nats, as cross_entropy gives it.",
        lambda logits, codes: right.nats(logits(codes[:, :-1]), codes[:, 1:]) / np.log(2),
    ),
    guesses(
        "The exponential of the loss is taken. Return the cross-entropy itself.",
        lambda logits, codes: np.exp(right.nats(logits(codes[:, :-1]), codes[:, 1:])),
    ),
    guesses(
        f"The last guess of each text is left out. {SHIFT}",
        lambda logits, codes: right.nats(logits(codes[:, :-2]), codes[:, 1:-1]),
    ),
    guesses("The sign of the loss is flipped.", lambda logits, codes: -right.nats(logits(codes[:, :-1]), codes[:, 1:])),
)


def late_positions(question: Question) -> Arrays | None:
    """Positions that are added after the blocks."""
    return computed(
        question,
        add=lambda x, places: x,
        finish=lambda x, places: x + places,
    )


def early_norm(question: Question) -> Arrays | None:
    """The last normalisation before the blocks, in place of after them."""
    return computed(
        question,
        add=lambda x, places: (x + places) * question["norm"].astype(float) + question["norm_bias"],
        norm=lambda x, n: x,
    )


EXERCISE = Exercise(
    name="language_model",
    module="06_transformer",
    defines="LanguageModel",
    cases=(
        Case("values", 1.75, values),
        Case("with caches", 1.25, with_caches),
        Case("loss", 1.25, loss),
        Case("gradient", 0.75, gradient),
    ),
    reference=reference,
    misconceptions=(
        *WRONG_STEPS,
        Misconception(
            "The positions are added after the blocks. Add them to the symbols, before the first block.",
            wrong=late_positions,
        ),
        Misconception(
            "The normalisation comes before the blocks. It comes after the last one, before the head.", wrong=early_norm
        ),
        shows(
            "A cache gets more symbols than there are: blocks share it, or a block is called twice. Each has its own: zip(self.blocks, caches).",
            number_off("lengths", more=True),
            ("with caches",),
        ),
        shows(
            "The caches do not get the new symbols. Give each block its own: block(x, cache). "
            "(An empty cache is false in an `if`, since its length is 0: ask `caches is None`.)",
            number_off("lengths", more=False),
            ("with caches",),
        ),
        shows(
            "A table was asked for a code or a position that it does not have. Symbols are asked by their codes, positions by 0, 1, 2, ..., "
            "with caches from len(caches[0]) on.",
            raised_as("^ValueError: .* is none of the"),
            rough=True,
        ),
        shows(
            "Symbols and positions do not fit each other: there is a position for each symbol, np.arange(start, start + L).",
            raised_as("do not broadcast", r"symbols|positions|\+"),
            rough=True,
        ),
        shows(
            "The loss compares logits and answers whose shapes do not fit. Logits are (B, L, V). " + SHIFT,
            raised_as("targets are one whole number"),
            ("loss", "gradient"),
        ),
        shows(
            "Without caches there is no list to go through. Take None for each block then.",
            raised_as("'NoneType' object"),
        ),
        shows(
            f"No gradient reaches the tables: they are used as arrays, {CUT}. Call self.symbols(codes) and self.positions(...).",
            no_gradient("symbols", "positions"),
            ("gradient",),
        ),
        shows(
            f"No gradient reaches the table of positions: it is used as an array, {CUT}. Call self.positions(...).",
            no_gradient("positions"),
            ("gradient",),
        ),
        shows(
            f"No gradient reaches the table of symbols: it is used as an array, {CUT}. Call self.symbols(codes).",
            no_gradient("symbols"),
            ("gradient",),
        ),
        shows(
            "Logits have the shape (B, L, V): a score for each symbol, after each position.",
            other_shape("logits"),
            rough=True,
        ),
        NAMES_KEPT,
    ),
    uses=(MULTI_HEAD_ATTENTION, KV_CACHE),
)
