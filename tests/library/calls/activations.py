"""How tinytorch.core.activations is called."""

from calls import Calls, X
from tinytorch.core.activations import ReLU, Softmax

PROGRAM = """
from tinytorch.core.activations import ReLU, Softmax
from tinytorch.core.tensor import Tensor

shares: Tensor = Softmax()(ReLU()([[1.0, -2.0]]), dim=-1)
"""

CALLS = Calls(
    arrays={
        "ReLU": (lambda x: ReLU()(x), (X,)),
        "Softmax": (lambda x: Softmax()(x, dim=1), (X,)),
    },
    program=PROGRAM,
    mistakes=('Softmax()([1.0], dim="last")',),
)
