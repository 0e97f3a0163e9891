"""Signs in which gradients arrived."""

import numpy as np

from exercises.compare import same
from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def no_gradient(question: Question, reply: Reply, expected: Arrays, *names: str) -> bool:
    """No gradient arrived at these inputs, but at others it did."""
    arrived = {k.removeprefix("grad_") for k, v in reply.arrays.items() if k.startswith("grad_") and v.any()}
    wanted = {k.removeprefix("grad_") for k in question.compare if k.startswith("grad_")}
    return bool(arrived) and set(names) & wanted == wanted - arrived


@sign
def half_of_each_pair(question: Question, reply: Reply, expected: Arrays) -> bool:
    """What arrived at x is the gradient of one component of each pair; that of the other is zero."""
    right = expected["grad_x"]
    for part in (0, 1):
        half = np.zeros(right.shape)
        half[..., part::2] = right[..., part::2]
        if same(reply.arrays["grad_x"], half):
            return True
    return False
