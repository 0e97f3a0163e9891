"""Random computations: the same steps on arrays, on Tensors and in PyTorch.

A step is (operation, which earlier values, options). What a program computes on plain arrays is what NumPy says, so neither the
values nor the central differences that are taken of them owe anything to the library.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from tinytorch.core.tensor import Tensor, cat, stack

Step = tuple[str, tuple[int, ...], Any]


@dataclass(frozen=True)
class Program:
    leaves: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]

    def run(self, leaves: Sequence[Any], operations: dict[str, Callable[..., Any]]) -> list[Any]:
        """All values: the leaves, then the result of each step."""
        values = list(leaves)
        for name, places, options in self.steps:
            values.append(operations[name](*(values[place] for place in places), options))
        return values


def _augmented(a: Any, b: Any, sign: str) -> Any:
    """a and then b, by an augmented assignment to another name for a."""
    c = a
    if sign == "+":
        c += b
    elif sign == "-":
        c -= b
    elif sign == "*":
        c *= b
    else:
        c /= b
    return c


def _with_number(a: Any, sign: str) -> Any:
    return 0.7 + a if sign == "+" else 0.7 - a if sign == "-" else a * -1.3 if sign == "*" else 0.7 / a


ON_ARRAYS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, _: a + b,
    "subtract": lambda a, b, _: a - b,
    "multiply": lambda a, b, _: a * b,
    "divide": lambda a, b, _: a / b,
    "matmul": lambda a, b, _: a @ b,
    "number": _with_number,
    "negative": lambda a, _: -a,
    "power": lambda a, n: a**n,
    "index": lambda a, key: a[key],
    "augmented": lambda a, b, sign: _augmented(np.array(a), b, sign),
    "exp": lambda a, _: np.exp(a),
    "log": lambda a, _: np.log(a),
    "sqrt": lambda a, _: np.sqrt(a),
    "sum": lambda a, o: a.sum(axis=o[0], keepdims=o[1]),
    "mean": lambda a, o: a.mean(axis=o[0], keepdims=o[1]),
    "max": lambda a, o: a.max(axis=o[0], keepdims=o[1]),
    "reshape": lambda a, shape: a.reshape(shape),
    "transpose": lambda a, o: a.swapaxes(*o),
    "cat": lambda *o: np.concatenate(o[:-1], axis=o[-1]),
    "stack": lambda *o: np.stack(o[:-1], axis=o[-1]),
    "masked_fill": lambda a, mask: np.where(mask, -0.4, a),
}
ON_TENSORS: dict[str, Callable[..., Any]] = ON_ARRAYS | {
    "augmented": _augmented,
    "exp": lambda a, _: a.exp(),
    "log": lambda a, _: a.log(),
    "sqrt": lambda a, _: a.sqrt(),
    "sum": lambda a, o: a.sum(*o),
    "mean": lambda a, o: a.mean(*o),
    "max": lambda a, o: a.max(*o),
    "transpose": lambda a, o: a.transpose(*o),
    "cat": lambda *o: cat(o[:-1], o[-1]),
    "stack": lambda *o: stack(o[:-1], o[-1]),
    "masked_fill": lambda a, mask: a.masked_fill(mask, -0.4),
}


def on_torch(torch: ModuleType) -> dict[str, Callable[..., Any]]:
    """The operations on PyTorch's tensors."""
    return ON_TENSORS | {
        "augmented": lambda a, b, sign: _augmented(a.clone(), b, sign),
        "index": lambda a, key: a[tuple(torch.tensor(k) if isinstance(k, list) else k for k in key)],
        "sum": lambda a, o: a.sum(dim=tuple(range(a.ndim)) if o[0] is None else o[0], keepdim=o[1]),
        "mean": lambda a, o: a.mean(dim=tuple(range(a.ndim)) if o[0] is None else o[0], keepdim=o[1]),
        "max": lambda a, o: a.amax(dim=tuple(range(a.ndim)) if o[0] is None else o[0], keepdim=o[1]),
        "cat": lambda *o: torch.cat(o[:-1], o[-1]),
        "stack": lambda *o: torch.stack(o[:-1], o[-1]),
        "masked_fill": lambda a, mask: a.masked_fill(torch.tensor(mask), -0.4),
    }


SHAPES = [(), (1,), (2,), (3,), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (1, 1), (2, 2, 2), (2, 1, 3), (0, 2)]


def random_program(seed: int) -> Program:
    """Leaves in a smooth region, then 3 to 12 steps on values that are there, each used again as often as chance has it."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[rng.integers(len(SHAPES) - (rng.random() < 0.95))]
    others = [SHAPES[rng.integers(len(SHAPES) - 1)] for _ in range(rng.integers(3))]
    chosen = [shape, *(shape if rng.random() < 0.5 else other for other in others)]
    leaves = tuple(np.asarray(rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape)) for shape in chosen)
    values = list(leaves)
    steps: list[Step] = []
    crowded = rng.choice(
        [0.1, 0.8]
    )  # how often values meet each other, and so flow into one gradient from several sides
    while len(steps) < rng.integers(3, 13):
        step = _random_step(rng, values, crowded)
        if step is None:
            continue
        with np.errstate(all="ignore"):
            value = np.asarray(ON_ARRAYS[step[0]](*(values[place] for place in step[1]), step[2]))
        if value.size > 60 or not np.isfinite(value).all() or np.abs(value).max(initial=0) > 30:
            continue
        steps.append(step)
        values.append(value)
    return Program(leaves, tuple(steps))


def _random_step(rng: np.random.Generator, values: list[np.ndarray], crowded: float) -> Step | None:
    """A step that the values allow, or None."""
    a, b = (int(i) for i in rng.integers(len(values), size=2))
    a = len(values) - 1 if rng.random() < 0.5 else a  # half of the steps go on from the last
    a, b = (a, b) if rng.random() < 0.5 else (b, a)
    x, y = values[a], values[b]
    smooth = np.abs(x).min(initial=1) > 0.3
    name = str(rng.choice(["add", "subtract", "multiply"] if rng.random() < crowded else sorted(ON_TENSORS)))
    dim: int | tuple[int, int] | None = (
        None if rng.random() < 0.3 or x.ndim == 0 else int(rng.integers(-x.ndim, x.ndim))
    )
    if x.ndim > 1 and rng.random() < 0.2:
        dim = (0, -1)
    match name:
        case "add" | "subtract" | "multiply" | "divide":
            fits = _broadcasts(x, y) and (name != "divide" or np.abs(y).min(initial=1) > 0.3)
            return (name, (a, b), None) if fits else None
        case "augmented":
            sign = str(rng.choice(list("+-*/")))
            fits = _broadcasts(x, y) and np.broadcast_shapes(x.shape, y.shape) == x.shape
            return (name, (a, b), sign) if fits and (sign != "/" or np.abs(y).min(initial=1) > 0.3) else None
        case "matmul":
            fits = x.ndim > 0 and y.ndim > 0 and x.shape[-1] == y.shape[-2 if y.ndim > 1 else 0]
            return (name, (a, b), None) if fits and _broadcasts_before(x, y) else None
        case "number":
            sign = str(rng.choice(list("+-*/")))
            return (name, (a,), sign) if smooth or sign != "/" else None
        case "negative" | "exp":
            return (name, (a,), None) if name == "negative" or x.max(initial=0) < 2 else None
        case "log" | "sqrt":
            return (name, (a,), None) if x.min(initial=1) > 0.3 else None
        case "power":
            n = [0, 1, 2, 3, -1, -2, 0.5, 1.5][rng.integers(8)]
            return (name, (a,), n) if (n == int(n) and (n >= 0 or smooth)) or x.min(initial=1) > 0.3 else None
        case "sum" | "mean":
            empty = name == "mean" and x.size == 0
            return None if empty else (name, (a,), (dim, bool(rng.integers(2))))
        case "max":
            return (name, (a,), (dim, bool(rng.integers(2)))) if x.size and _one_winner(x, dim) else None
        case "reshape":
            shapes = [x.shape[::-1], (1, *x.shape), (*x.shape, 1), (x.size,), (-1,) if x.size else (0,)]
            return name, (a,), shapes[rng.integers(len(shapes))]
        case "transpose":
            return (name, (a,), tuple(int(i) for i in rng.integers(-x.ndim, x.ndim, size=2))) if x.ndim else None
        case "index":
            return (name, (a,), _random_key(rng, x)) if x.ndim and x.size else None
        case "cat":
            fits = x.ndim and x.shape == y.shape
            return (name, (a, b, a)[: rng.integers(1, 4)], int(rng.integers(-x.ndim, x.ndim))) if fits else None
        case "stack":
            fits = x.shape == y.shape
            return (name, (a, b, a)[: rng.integers(1, 4)], int(rng.integers(-x.ndim - 1, x.ndim + 1))) if fits else None
        case "masked_fill":
            shape = x.shape if rng.random() < 0.6 else x.shape[-1:]
            return name, (a,), rng.random(shape) < 0.4
    raise AssertionError(name)


def _broadcasts(x: np.ndarray, y: np.ndarray) -> bool:
    return all(n == m or 1 in (n, m) for n, m in zip(x.shape[::-1], y.shape[::-1], strict=False))


def _broadcasts_before(x: np.ndarray, y: np.ndarray) -> bool:
    return _broadcasts(np.empty(x.shape[:-2]), np.empty(y.shape[:-2]))


def _one_winner(x: np.ndarray, dim: Any) -> bool:
    """No two values so near each other that a small step could change which is the largest."""
    gaps = np.abs(x.ravel()[:, None] - x.ravel()) + np.eye(x.size)
    return bool(gaps.min() > 1e-3)


def _random_key(rng: np.random.Generator, x: np.ndarray) -> Any:
    n = x.shape[0]
    rows = [int(i) for i in rng.integers(-n, n, size=rng.integers(1, 5))]  # often with repeats
    keys: list[Any] = [
        (rows[0],),
        (slice(None, None, -1) if n == 0 else slice(0, 1),),
        (..., None),
        (rows,),
        (None, rows),
    ]
    if x.ndim > 1:
        columns = [int(i) for i in rng.integers(x.shape[1], size=len(rows))]
        keys += [(rows, columns), (slice(None), columns), (rows, 0), (rows, slice(0, 1))]
    return keys[rng.integers(len(keys))]


def run_on_tensors(program: Program) -> tuple[list[Tensor], list[Tensor]]:
    """(leaves that collect gradients, all values), in float64."""
    leaves = [Tensor(leaf.copy(), requires_grad=True, dtype=np.float64) for leaf in program.leaves]
    return leaves, program.run(leaves, ON_TENSORS)
