"""How a question is put to an answer. Runs in the student's process; it holds no expected value.

A probe takes the namespace of a notebook and plain inputs, calls the answer, and gives arrays: the results, the inputs
as they are afterwards (`Q_after`) and, when `grad` is given as the gradient of the (first) result, the gradients of the
inputs (`grad_Q`), as far as any arrived.
"""

import importlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from exercises.problem import Problem, in_words, own_line

Arrays = dict[str, np.ndarray]
Namespace = dict[str, Any]
MOST_RESULTS, MOST_PARAMETERS = 8, 100  # that are taken from what may have no end
WITH_DEFAULT = ("mask", "causal", "block", "offset", "base")  # arguments that are named in a call


class Missing(Exception):
    """The answer's name is not defined; the argument is the name."""


class Answers:
    """What a notebook defines, by name. A name that is not there raises Missing, whatever KeyError the answers raise."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace

    def __getitem__(self, name: str) -> Any:
        if name not in self.namespace:
            raise Missing(name)
        return self.namespace[name]


class WrongKind(Exception):
    """An answer gave something that is not what it was asked for; the message says what."""


def leaf(array: np.ndarray) -> Any:
    from tinytorch.core.tensor import Tensor

    return Tensor(np.array(array), requires_grad=True, dtype=array.dtype)


def array_of(value: Any, what: str, wanted: str = "a Tensor") -> np.ndarray:
    from tinytorch.core.tensor import Tensor

    if isinstance(value, Tensor):
        value = value.data
    if not isinstance(value, np.ndarray | np.generic):
        raise WrongKind(f"{what} should be {wanted}, it is {kind(value, what in ('The result', 'The mask'))}")
    if value.dtype.kind not in "fiubc":
        raise WrongKind(f"{what} should hold plain numbers, it holds values of type {value.dtype}")
    return np.array(value, copy=True)


def kind(value: Any, returned: bool = False) -> str:
    if value is None:
        return "None (is there a return in every branch?)" if returned else "None"
    name = type(value).__name__.replace("ndarray", "NumPy array")
    if name == "Tensor":
        return "a Tensor of another class (was `Tensor` defined or imported again? Restart and run all cells)"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def check_is_tensor(value: Any, what: str) -> None:
    from tinytorch.core.tensor import Tensor

    if not isinstance(value, Tensor):
        raise WrongKind(f"{what} should be a Tensor, it is {kind(value)}")


def parameters(layer: Any, what: str = "parameters()") -> list[Any]:
    """What parameters() lists. Raises WrongKind if that is no list of Tensors."""
    from tinytorch.core.tensor import Tensor

    given = layer.parameters()
    if isinstance(given, Tensor | np.ndarray | dict | str) or not hasattr(given, "__iter__"):
        raise WrongKind(f"{what} should give a list of Tensors, it gives {kind(given, returned=True)}")
    listed = list(islice(given, MOST_PARAMETERS))
    for other in (p for p in listed if not isinstance(p, Tensor)):
        raise WrongKind(f"{what} should list Tensors only, it lists {kind(other)}")
    return listed


def parts_of(result: Any) -> tuple[Any, ...] | None:
    """The results of an answer that gives several, in whatever they come; None if it gives one, or none."""
    from tinytorch.core.tensor import Tensor

    if isinstance(result, Tensor | np.ndarray | str | dict) or not hasattr(result, "__iter__"):
        return None
    return tuple(result if isinstance(result, tuple | list) else islice(result, MOST_RESULTS))


def in_order(arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as one would write a call: those without a default by their places, then the others by name."""
    by_name = {name: value for name, value in arguments.items() if name in WITH_DEFAULT}
    return [value for name, value in arguments.items() if name not in by_name], by_name


def observe(result: Any, grad: np.ndarray | None, **inputs: Any) -> Arrays:
    """The inputs after the call, and their gradients."""
    from tinytorch.core.tensor import Tensor

    arrays = {f"{name}_after": np.array(tensor.data) for name, tensor in inputs.items()}
    if grad is not None and isinstance(result, Tensor) and result.requires_grad and result.shape == grad.shape:
        result.backward(grad)
        arrays |= {f"grad_{name}": np.array(t.grad) for name, t in inputs.items() if t.grad is not None}
    return arrays


def which(tensors: Any, known: list[Any]) -> np.ndarray:
    """For each tensor its place among the known ones, by identity; -1 if it is none of them."""
    return np.array([next((i for i, k in enumerate(known) if k is t), -1) for t in tensors], dtype=np.int64)


def mask_of(mask: np.ndarray | None, as_tensor: bool) -> Any:
    from tinytorch.core.tensor import Tensor

    return mask if mask is None else Tensor(np.array(mask)) if as_tensor else np.array(mask)


def function(answers: Answers, name: str, grad: np.ndarray | None = None, **arguments: Any) -> Arrays:
    """Any function of tensors that gives a tensor: arrays among the arguments become tensors."""
    tensors = {k: leaf(v) for k, v in arguments.items() if isinstance(v, np.ndarray)}
    by_place, by_name = in_order(arguments | tensors)
    result = answers[name](*by_place, **by_name)
    return {"result": array_of(result, "The result"), **observe(result, grad, **tensors)}


def array_function(
    answers: Answers, name: str, results: Sequence[str], overwritten: Sequence[str] = (), **arguments: Any
) -> Arrays:
    """Any function of arrays that gives arrays, which are called `results` here; it may overwrite some of its arguments."""
    given = {k: np.array(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    by_place, by_name = in_order(given)
    answer = answers[name](*by_place, **by_name)
    parts = (parts_of(answer) if len(results) > 1 else None) or (answer,)
    if len(parts) != len(results):
        came = "None came back (is there a return in every branch?)" if answer is None else f"{len(parts)} came back"
        raise WrongKind(f"{len(results)} results are asked for, {', '.join(results)}; {came}")
    after = {f"{k}_after": v for k, v in given.items() if isinstance(v, np.ndarray) and k not in overwritten}
    return {key: array_of(part, f"`{key}`", "an array") for key, part in zip(results, parts, strict=True)} | after


class Answered(NamedTuple):
    """What came of a question. The text says which name is missing, what came in place of a Tensor, or what was raised."""

    arrays: Arrays
    problem: Problem = Problem.NONE
    text: str = ""
    line: str = ""


def run_probe(
    namespace: Namespace,
    probe: str,
    inputs: Mapping[str, Any],
    stand_ins: Mapping[str, Callable[..., Any]],
    given: Container[str] = (),
) -> Answered:
    """Ask one question, with stand-ins in place of some names; given as in own_line."""
    before = {name: namespace.get(name) for name in stand_ins}
    try:
        namespace.update(stand_ins)
        return Answered(PROBES[probe](Answers(namespace), **inputs))
    except NotImplementedError:
        return Answered({}, Problem.BLANK)
    except WrongKind as error:
        return Answered({}, Problem.KIND, str(error))
    except Missing as error:
        return Answered({}, Problem.MISSING, str(error))
    except MemoryError as error:
        return Answered({}, Problem.MEMORY, in_words(error))
    except Exception as error:  # noqa: BLE001  (students' code raises what it likes)
        return Answered({}, Problem.RAISED, in_words(error), own_line(error, namespace, given))
    finally:
        for name, value in before.items():
            if value is None:
                namespace.pop(name, None)
            else:
                namespace[name] = value


def _in(file: str) -> Iterator[Callable[..., Arrays]]:
    """The public functions that a file of this folder defines."""
    module = importlib.import_module(f"{__name__}.{file}")
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and not name.startswith("_") and value.__module__ == module.__name__:
            yield value


FILES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
PROBES: dict[str, Callable[..., Arrays]] = {"function": function, "array_function": array_function}
for _file in FILES:
    PROBES |= {probe.__name__: probe for probe in _in(_file)}
