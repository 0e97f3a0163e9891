"""Short ways to write down a misconception."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograded_tests.exercise import Arrays, Ask, Inputs, Misconception, Reply

Array = np.ndarray
Function = Callable[..., Any]
NOT_ARGUMENTS = (
    "grad",
    "as_tensor",
    "by_call",
    "name",
    "results",
    "overwritten",
)  # inputs of a probe that the answer never sees


def computes(
    key: str, sentence: str, function: Function, probe: str = "", cases: tuple[str, ...] = ()
) -> Misconception:
    """A misconception that is a wrong computation of one result from the inputs."""

    def predict(asked: str, inputs: Inputs) -> Arrays | None:
        if probe and asked != probe:
            return None
        return {key: function(**{k: v for k, v in inputs.items() if k not in NOT_ARGUMENTS})}

    return Misconception(sentence, wrong=predict, cases=cases)


def says(pattern: str, sentence: str, cases: tuple[str, ...] = ()) -> Misconception:
    """A misconception that shows in what an exception says."""
    return Misconception(
        sentence, sign=lambda _ask, r: r.problem == "raised" and bool(re.search(pattern, r.text)), cases=cases
    )


def shows(sentence: str, sign: Callable[[Ask, Reply], bool], cases: tuple[str, ...] = ()) -> Misconception:
    return Misconception(sentence, sign=sign, cases=cases)


def no_gradient(*names: str) -> Callable[[Ask, Reply], bool]:
    """No gradient arrived at these inputs, but at others it did."""

    def sign(ask: Ask, reply: Reply) -> bool:
        arrived = {k.removeprefix("grad_") for k, v in reply.arrays.items() if k.startswith("grad_") and v.any()}
        wanted = {k.removeprefix("grad_") for k in ask.compare if k.startswith("grad_")}
        return bool(arrived) and set(names) & wanted == wanted - arrived

    return sign


def swap(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))
