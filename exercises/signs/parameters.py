"""Signs in what a layer says of its parameters."""

import numpy as np

from exercises.model import Arrays, Question, Reply, Sign


def any_is(result: str, value: int) -> Sign:
    """One entry of a result has this value."""
    return lambda question, reply, expected: result in reply.arrays and bool((reply.arrays[result] == value).any())


def transposed_weight(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The weight has the right shape the other way round, and it is no square."""
    right = tuple(expected["weight_shape"])
    return "weight_shape" in reply.arrays and tuple(reply.arrays["weight_shape"]) == right[::-1] != right


def weight_or_bias_missing(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "order" in reply.arrays and list(reply.arrays["order"]) in ([], [0], [1])


def not_weight_then_bias(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "order" in reply.arrays and list(reply.arrays["order"]) not in ([0], [0, 1])


def some_missing(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Fewer of the layer's tensors are among its parameters than there are."""
    return (
        "parameters" in reply.arrays
        and len(set(reply.arrays["parameters"].tolist()) - {-1}) < expected["parameters"].size
    )


def some_doubled(question: Question, reply: Reply, expected: Arrays) -> bool:
    found = np.asarray(reply.arrays.get("parameters", ())).tolist()
    return len(found) != len(set(found))


def others_after_a_call(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "parameters_after" in reply.arrays and not np.array_equal(
        reply.arrays["parameters_after"], reply.arrays["parameters"]
    )


def other_values(result: str) -> Sign:
    """A list of numbers is not what it should be."""
    return lambda question, reply, expected: (
        result in reply.arrays and not np.array_equal(reply.arrays[result], expected[result])
    )
