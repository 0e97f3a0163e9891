"""What the student's own line did that raised, in plain words, where the exception leaves no doubt about it.

An exception's text chooses the words, and names from it stand in them; nothing else of it does.
"""

import re

NAME = r"'?([A-Za-z_][\w.]{0,50})'?"
FUNCTION = r"([A-Za-z_][\w.]{0,50})\(\)"

# A pattern for "TypeName: text", another for the line, and what the line does; {0}, {1} ... are the groups of the first.
WORDS: tuple[tuple[str, str, str], ...] = (
    # calls
    (
        r"(?:Softmax|Tensor|ReLU|softmax|cat|stack)[\w.]*\(\) got an unexpected keyword argument 'axis'",
        "",
        "uses NumPy's word `axis`. Here the argument is called `dim`",
    ),
    (
        r"(?:Softmax|Tensor|ReLU|softmax|cat|stack)[\w.]*\(\) got an unexpected keyword argument 'keepdims'",
        "",
        "uses NumPy's word `keepdims`. Here the argument is called `keepdim`",
    ),
    (
        r"^TypeError: Softmax\(\) takes no arguments",
        "",
        "gives arguments to the class `Softmax`. Create a softmax first, then call it: `Softmax()(x, dim=-1)`",
    ),
    (rf"{FUNCTION} missing \d+ required .*arguments?: {NAME}$", "", "calls `{0}` without the argument `{1}`"),
    (rf"{FUNCTION} missing \d+ required .*arguments?: ", "", "calls `{0}` with too few arguments"),
    (
        rf"{FUNCTION} got an unexpected keyword argument {NAME}",
        "",
        "gives `{0}` an argument `{1}`, which it does not take",
    ),
    (rf"{FUNCTION} got multiple values for argument {NAME}", "", "gives `{0}` the argument `{1}` twice"),
    (
        rf"{FUNCTION} takes .*positional arguments? but",
        r"\bself\.",
        "calls `{0}` with more arguments than it takes (a method's first parameter is `self`)",
    ),
    (rf"{FUNCTION} takes .*positional arguments? but", "", "calls `{0}` with more arguments than it takes"),
    (rf"^TypeError: {FUNCTION} takes no (?:keyword )?arguments", "", "gives `{0}` arguments, and it takes none"),
    (rf"^TypeError: {NAME} object is not callable", "", "calls something that is no function: a {0}"),
    (r"^RecursionError", "", "leads back to itself without end"),
    # names
    (r"^NameError: name '(torch|nn|F)'", "", "uses `{0}`. There is no PyTorch here: use the operations of `Tensor`"),
    (r"^(?:ModuleNotFound|Import)Error", "", "imports something that is not there"),
    (
        rf"^UnboundLocalError: .*local variable {NAME}",
        "",
        "uses `{0}` before it has a value; is it set in every branch?",
    ),
    (rf"^NameError: name {NAME} is not defined", "", "uses the name `{0}`, which is not defined"),
    # attributes
    (
        rf"^AttributeError: a Tensor has no {NAME}; write ([^;]*)$",
        "",
        "uses `.{0}`, which a Tensor does not have. Write {1}",
    ),
    (rf"^AttributeError: a Tensor has no {NAME}", "", "uses `.{0}`, which a Tensor does not have"),
    (
        rf"^AttributeError: 'numpy.ndarray' object has no attribute {NAME}",
        "",
        "uses `.{0}` of an array, which does not have it",
    ),
    (rf"^AttributeError: 'NoneType' object has no attribute {NAME}", "", "uses `.{0}` of something that is None there"),
    (
        rf"^AttributeError: '(?:tuple|list)' object has no attribute {NAME}",
        "",
        "uses `.{0}` of a tuple or list. Take one of its parts first",
    ),
    (
        rf"^AttributeError: {NAME} object has no attribute {NAME}",
        r"\bself\.",
        "uses `.{1}`, and the {0} has none: nothing sets it",
    ),
    (rf"^AttributeError: {NAME} object has no attribute {NAME}", "", "uses `.{1}`, which a {0} does not have"),
    # values of the wrong kind
    (r"NoneType", "", "computes with something that is None there"),
    (
        r"truth value",
        "",
        "asks a whole Tensor or array for one truth value. To ask whether there is one, write `is not None`",
    ),
    (
        r"nothing is written into a Tensor",
        "",
        "writes into a Tensor, and gradients could not follow. Build a new Tensor",
    ),
    (
        rf"^TypeError: {NAME} knows nothing of gradients",
        "",
        "gives a Tensor to `{0}`, which gradients cannot pass. Use the operations of `Tensor`",
    ),
    (
        r"an array cannot take in a Tensor in place",
        "",
        "changes an array in place by a Tensor. Write `a = a + x`, not `a += x`",
    ),
    (
        r"in a list, Tensors lose their gradients",
        "",
        "makes a Tensor of a list of Tensors, and gradients would be lost. Use `stack` or `cat`",
    ),
    (
        r"boolean negative",
        "",
        "puts a minus before an array of True and False, which NumPy refuses. Compare with `== 0`",
    ),
    (r"boolean subtract", "", "subtracts arrays of True and False, which NumPy refuses. Compare with `== 0`"),
    (r"^TypeError: unsupported operand type\(s\) for (//|%|\^)", "", "uses `{0}`, which a Tensor does not have"),
    (
        r"'float' object cannot be interpreted as an integer|must be whole numbers|slice indices must be integers",
        "",
        "uses a float where a whole number is needed. Sizes are divided with `//`, not with `/`",
    ),
    (
        rf"^TypeError: {NAME} object is not subscriptable",
        "",
        "takes a part of a {0}, which has no parts (square brackets)",
    ),
    (r"^TypeError: cannot unpack non-iterable (\w+) object", "", "takes several values out of a single {0}"),
    (r"^AssertionError", r"^assert\b", "is your own check, and it does not hold"),
    (r"^ZeroDivisionError", "", "divides by zero"),
    # axes
    (r"too many values to unpack \(expected (\d+)", r"\.shape", "expects exactly {0} axes, and there were more"),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)",
        r"\.shape",
        "expects exactly {0} axes, and there were {1}",
    ),
    (r"too many values to unpack \(expected (\d+)", "", "expects exactly {0} values, and there were more"),
    (r"not enough values to unpack \(expected (\d+), got (\d+)", "", "expects exactly {0} values, and there were {1}"),
    (r"axis (-?\d+) is out of bounds for array of dimension (\d+)", "", "uses axis {0} of an array with {1} axes"),
    (r"^IndexError: tuple index out of range", r"\.shape", "uses an axis that the shape does not have"),
    (r"x\.T is for tables", "", "uses `.T`, which is for two axes only. Write `.transpose(-2, -1)` or `.mT`"),
)


def in_plain_words(text: str, line: str) -> str | None:
    """What a line did, to be read after "Your line `...`"; None where the exception does not say it for certain."""
    for pattern, where, words in WORDS:
        found = re.search(pattern, text)
        if found is not None and re.search(where, line) is not None:
            return words.format(*found.groups())
    return None
