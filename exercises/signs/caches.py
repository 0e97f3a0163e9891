"""Signs in how a cache grows."""

import numpy as np

from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def length_counts_calls(question: Question, reply: Reply, expected: Arrays) -> bool:
    """len(cache) is 0, 1, 2, 3, ... before and after the calls."""
    lengths = np.asarray(reply.arrays.get("lengths", ())).tolist()
    return bool(lengths == list(range(len(question["pieces"]) + 1)))


@sign
def cache_has_no_weight(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The weights of the last piece are 0 for all keys of earlier ones."""
    weights = reply.arrays["attention_weights"]
    before = weights.shape[-1] - question["pieces"][-1]
    return weights.ndim == 4 and before > 0 and not weights[..., :before].any()
