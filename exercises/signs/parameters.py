"""Signs in what a layer says of its parameters."""

import numpy as np

from exercises.model import Arrays, Question, Reply
from exercises.signs import sign


@sign
def any_is(question: Question, reply: Reply, expected: Arrays, result: str, value: int) -> bool:
    """One entry of a result has this value."""
    return result in reply.arrays and bool((reply.arrays[result] == value).any())


@sign
def transposed_weight(question: Question, reply: Reply, expected: Arrays) -> bool:
    """The weight has the right shape the other way round, and it is no square."""
    right = tuple(expected["weight_shape"])
    return "weight_shape" in reply.arrays and tuple(reply.arrays["weight_shape"]) == right[::-1] != right


@sign
def bias_in_spite_of_that(question: Question, reply: Reply, expected: Arrays) -> bool:
    """A layer was asked for without a bias, and has one."""
    return not question["bias"] and bool(reply.arrays["without_bias"] == 0)


@sign
def weight_or_bias_missing(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "order" in reply.arrays and set(reply.arrays["order"]) < set(expected["order"])


@sign
def not_weight_then_bias(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "order" in reply.arrays and not np.array_equal(reply.arrays["order"], expected["order"])


@sign
def some_missing(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Fewer of the layer's tensors are among its parameters than there are."""
    return (
        "parameters" in reply.arrays
        and len(set(reply.arrays["parameters"].tolist()) - {-1}) < expected["parameters"].size
    )


@sign
def some_doubled(question: Question, reply: Reply, expected: Arrays) -> bool:
    found = np.asarray(reply.arrays.get("parameters", ())).tolist()
    return len(found) != len(set(found))


@sign
def others_after_a_call(question: Question, reply: Reply, expected: Arrays) -> bool:
    return "parameters_after" in reply.arrays and not np.array_equal(
        reply.arrays["parameters_after"], reply.arrays["parameters"]
    )


@sign
def other_values(question: Question, reply: Reply, expected: Arrays, result: str) -> bool:
    """A list of numbers is not what it should be."""
    return result in reply.arrays and not np.array_equal(reply.arrays[result], expected[result])


@sign
def own_and_others(question: Question, reply: Reply, expected: Arrays) -> bool:
    """All of the layer's own tensors are listed, and others."""
    return set(reply.arrays["order"].tolist()) == {-1, *expected["order"].tolist()}


@sign
def shared_layers(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Two of the projections are one and the same layer."""
    return "layers" in reply.arrays and len(set(reply.arrays["layers"].tolist())) < reply.arrays["layers"].size
