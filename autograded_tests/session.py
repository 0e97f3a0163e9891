"""A session in this very process: for the library under pytest, and for the instructor's own kernel."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograded_tests import probes
from autograded_tests.exercise import Helper, Inputs, Reply, Verdict


class LocalSession:
    """Answers questions from the functions and classes in a namespace."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.verdicts: dict[str, Verdict] = {}

    def ask(self, probe: str, inputs: Inputs, helpers: Mapping[str, Helper]) -> Reply:
        stand_ins = {
            name: probes.stand_in(name, list(h.parameters), h.results, _answer_with(h)) for name, h in helpers.items()
        }
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            arrays, problem, text = probes.run_probe(self.namespace, probe, inputs, stand_ins)
        return Reply(arrays, problem, text)


def answer_helper(
    helper: Helper, index: int, grad: np.ndarray | None, arguments: Mapping[str, Any]
) -> list[np.ndarray]:
    """What a stand-in asks for: the results (index -1), or the gradients for the gradient of one result."""
    return helper.forward(**arguments) if index < 0 else helper.backward(index, grad, **arguments)


def _answer_with(helper: Helper) -> Any:
    return lambda _name, index, grad, arguments: answer_helper(helper, index, grad, arguments)
