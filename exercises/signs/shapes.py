"""What an exception's text says of shapes that met, and the line of the student's that it came from."""

import re

from exercises.model import Arrays, Question, Reply
from exercises.problem import Problem
from exercises.signs import sign
from exercises.signs.exceptions import keys_and_values

SHAPE = re.compile(r"\(((?:\d+, ?)*\d+,?)\)")


@sign
def raised_as(question: Question, reply: Reply, expected: Arrays, text: str = "", line: str = "") -> bool:
    """An exception with such a text ("TypeName: text") came from such a line of the student's (both are patterns).

    line="^$" is for what our own call raised, before any line of the student's.
    """
    raised = reply.problem is Problem.RAISED
    return raised and re.search(text, reply.text) is not None and re.search(line, reply.line) is not None


@sign
def joined_along_another_axis(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Shapes that fit along axis -2 were joined along another."""
    shapes = _shapes(reply)
    along = re.search(r"cannot be joined along (-?\d+)", reply.text)
    if along is None or not shapes or len({(*s[:-2], s[-1]) for s in shapes}) > 1:
        return False
    return int(along[1]) not in (-2, len(shapes[0]) - 2)


@sign
def joined_keys_with_values(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Something as wide as the keys was joined with something as wide as the values."""
    widths = {shape[-1] for shape in _shapes(reply)}
    return "cannot be joined" in reply.text and widths == {question["K"].shape[-1], question["V"].shape[-1]}


@sign
def joined_with_other_axes(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Tensors with different numbers of axes were joined."""
    return "cannot be joined" in reply.text and len({len(shape) for shape in _shapes(reply)}) > 1


@sign
def product_of_heads(question: Question, reply: Reply, expected: Arrays) -> bool:
    """Something with four axes, as wide as a head, was multiplied with a layer's weight."""
    shapes = _shapes(reply)
    width = question["x"].shape[-1]
    return (
        reply.text.startswith("ValueError: @: ")
        and len(shapes) > 1
        and len(shapes[0]) == 4
        and (shapes[0][-1], *shapes[1]) == (width // question["num_heads"], width, width)
    )


@sign
def more_keys_than_values(question: Question, reply: Reply, expected: Arrays, more: bool) -> bool:
    """Attention was asked with more keys than values, or with fewer."""
    found = keys_and_values(reply)
    return found is not None and (found[0] > found[1]) == more


@sign
def written_into_the_width_of(question: Question, reply: Reply, expected: Arrays, wide: str, narrow: str) -> bool:
    """Rows as wide as one input did not fit into an array as wide as another."""
    shapes = [s for s in _shapes(reply) if s]
    widths = [question[name].shape[-1] for name in (wide, narrow)]
    return "could not broadcast input array" in reply.text and [s[-1] for s in shapes] == widths


def _shapes(reply: Reply) -> list[tuple[int, ...]]:
    """The shapes in the text of what was raised, in order."""
    if reply.problem is not Problem.RAISED:
        return []
    return [tuple(int(n) for n in found.split(",") if n.strip()) for found in SHAPE.findall(reply.text)]
