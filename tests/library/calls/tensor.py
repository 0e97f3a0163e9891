"""How tinytorch.core.tensor is called."""

from calls import Calls, X, Y
from tinytorch.core.tensor import cat, custom_gradient, stack

PROGRAM = """
import numpy as np
from tinytorch import __version__
from tinytorch.core.tensor import Tensor, as_tensors, cat, custom_gradient, no_grad, stack


def step(parameters: list[Tensor], loss: Tensor) -> float:
    for p in parameters:
        p.grad = None
    loss.backward()
    with no_grad():
        for p in parameters:
            if p.grad is not None:
                p.data -= 0.1 * p.grad
    return float(loss) + loss.item()


q, k = as_tensors([[1.0, 2.0]], np.ones((3, 2)))
y: Tensor = 2 * q.exp() / q.sum(axis=-1, keepdims=True)
y = cat([y, stack([q, q], dim=0)[0], np.ones((1, 2))], axis=0).T.mT.reshape(-1, 2).reshape((2, -1))
z = custom_gradient(q.data * 2, (q,), lambda g: [2 * g])
text: str = f"{y.max():.2f} {__version__}" if y is not None and (y > 1).any() else repr(y)
"""

CALLS = Calls(
    arrays={
        "cat": (lambda x, y: cat([x, y], 1), (X, Y)),
        "stack": (lambda x, y: stack([x, y]), (X, Y)),
        "custom_gradient": (lambda x: custom_gradient(X, (x,), lambda g: (g,)), (X,)),
    },
    program=PROGRAM,
    mistakes=(
        "Tensor([1.0]).sum(keep=True)",
        "x: int = Tensor([1.0]).exp()",
        "Tensor([1.0]).astype(float)",
    ),
)
