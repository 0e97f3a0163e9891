"""How tinytorch.core.layers is called."""

import numpy as np

from calls import Calls, X
from tinytorch.core.layers import Linear

np.random.seed(1)
LINEAR = Linear(6, 3)

PROGRAM = """
import numpy as np
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor

read = Linear(8, 1, bias=False)
loss = ((read(np.ones((2, 8))) - [[1.0]]) ** 2).mean()
weights: list[Tensor] = read.parameters()
"""

CALLS = Calls(
    arrays={"Linear": (lambda x: LINEAR(x), (X,))},
    refused=((lambda: Linear(0, 2), r"sizes must be whole numbers, at least 1; they are 0 and \(0, 2\)"),),
    program=PROGRAM,
    mistakes=("Linear(1, 2).bias.data",),
)
