"""Embeddings, blocks, a last normalisation and a head; and the loss of guessing what comes next."""

from typing import Any

import numpy as np

from autograded_tests import references
from autograded_tests.m06_transformer import _transformer as right
from autograded_tests.m06_transformer._earlier import KV_CACHE
from autograded_tests.variants import Function
from exercises.data import Data
from exercises.misconceptions import NAMES_KEPT
from exercises.model import Arrays, Case, Exercise, Misconception, Question

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
    return ask(usual(d)), ask(another(d))


def one_symbol(d: Data) -> tuple[Question, ...]:
    return (ask(model(d, 930, d.S, d.L, d.H, 1) | {"codes": text(d, 937, 1, 1, d.S)}),)


def with_caches(d: Data) -> tuple[Question, ...]:
    compare = ("logits", "lengths")
    return (
        ask(usual(d), compare, pieces=[1] * d.S),
        ask(usual(d), compare, pieces=[d.S - 2, 2]),
        ask(another(d), compare, pieces=[2, 1, d.D - 3]),
    )


def loss(d: Data) -> tuple[Question, ...]:
    return tuple(Question("language_model_loss", inputs, ("loss",)) for inputs in (usual(d), another(d)))


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
    place: Function = lambda start, L, first: start + np.arange(L),
    add: Function = lambda x, places: x + places,
    enter: Function = lambda x, places: x,
    blocks: Function = lambda weights: weights,
    norm: Function = lambda x, n: n(x),
    head: Function = lambda x, weight, bias: x @ weight + bias,
) -> Arrays:
    """A language model in which each step can be replaced by a wrong one, piece by piece if there are caches."""
    codes, pieces = question["codes"], question.get("pieces") or [question["codes"].shape[1]]
    weights = blocks(question["blocks"])
    held: list[list[Array]] = [[] for _ in weights]
    outputs, start = [], 0
    for n, length in enumerate(pieces):
        x = question["symbols"][codes[:, start : start + length]].astype(float)
        places = question["positions"][place(start, length, n == 0)].astype(float)
        x = add(x, places)
        for number, weight in enumerate(weights):
            x = enter(x, places)
            held[number].append(x)
            together = np.concatenate(held[number], axis=1)
            x = x + right.causal_means(together, together.shape[1] - length) @ weight
        x = norm(x, lambda a: a * question["norm"].astype(float) + question["norm_bias"])
        outputs.append(head(x, question["head"].astype(float), question["head_bias"]))
        start += length
    return {"logits": np.concatenate(outputs, axis=1)}


def steps(sentence: str, cases: tuple[str, ...] = (), **wrong: Any) -> Misconception:
    """A wrong step of forward."""

    def of(question: Question) -> Arrays | None:
        return computed(question, **wrong) if question.probe == "language_model" else None

    return Misconception(sentence, wrong=of, cases=cases)


def guesses(sentence: str, loss_of: Function) -> Misconception:
    """A wrong loss: loss_of(logits of some codes, codes)."""

    def of(question: Question) -> Arrays | None:
        if question.probe != "language_model_loss":
            return None
        return {"loss": np.array(loss_of(lambda codes: forward(question, codes)[0], question["codes"]))}

    return Misconception(sentence, wrong=of, cases=("loss",))


EXERCISE = Exercise(
    name="language_model",
    module="06_transformer",
    defines="LanguageModel",
    cases=(
        Case("values", 1.5, values),
        Case("one symbol", 0.25, one_symbol),
        Case("with caches", 1.25, with_caches),
        Case("loss", 1.25, loss),
        Case("gradient", 0.75, gradient),
    ),
    reference=reference,
    misconceptions=(
        guesses(
            "The loss is shifted by nothing: each position is asked for the symbol that it sees. The answers are codes[:, 1:].",
            lambda logits, codes: right.nats(logits(codes), codes),
        ),
        steps("The last normalisation is left out before the head.", norm=lambda x, n: x),
        NAMES_KEPT,
    ),
    uses=(KV_CACHE,),
)
