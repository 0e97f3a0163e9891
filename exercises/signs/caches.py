"""Signs in how a cache grows."""

import numpy as np

from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def length_counts_calls(question: Question, reply: Reply, expected: Arrays) -> bool:
    """len(cache) is 0, 1, 2, 3, ... before and after the calls."""
    lengths = np.asarray(reply.arrays.get("lengths", ())).tolist()
    return bool(lengths == list(range(len(question["pieces"]) + 1)))
