"""What the student's own line did that raised, in plain words, where the exception leaves no doubt about it.

An exception's text chooses the words, and names from it stand in them; nothing else of it does.
"""

import re

NAME = r"'?([A-Za-z_][\w.]{0,37})'?"
METHOD = r"((?!Tensor\.)[A-Z]\w{0,30}\.\w{1,30})\(\)"
FUNCTION = r"([A-Za-z_][\w.]{0,37})\(\)"

OURS = r"(?:Softmax|Tensor|ReLU|cat|stack|_sum|_max|_mean)[\w.]*"
MASK = "uses a mask of shape {0} for scores of shape {1}. It must broadcast to them"
INSIDE = re.compile(
    r"^(?:Tensor\.)?_(masked_fill|sum|max|mean|reshape|transpose|matmul|exp|log|sqrt)$"
)  # named in full inside the library

# A pattern for "TypeName: text", another for the line, and what the line does; {0}, {1} ... are the groups of the first.
NUMBER = r"(\d{1,9})"
SHAPE = r"(\([\d, ]{0,40}\))"
SINGLE = "uses a whole array or Tensor where a single number is needed"
WORDS: tuple[tuple[str, str, str], ...] = (
    (r"", r"^raise\b", "refuses what should be answered"),
    (r"^AssertionError", r"^assert\b", "is your own check, and it does not hold"),
    # calls
    (rf"{OURS}\(\) got an unexpected keyword argument 'axis'", "", "uses NumPy's word `axis`. Here it is called `dim`"),
    (
        rf"{OURS}\(\) got an unexpected keyword argument 'keepdims'",
        "",
        "uses NumPy's word `keepdims`. Here it is called `keepdim`",
    ),
    (
        r"_?(sum|amax|amin|max|min|mean)\(\) got an unexpected keyword argument '(keepdim|dim)'",
        "",
        "gives `{1}` to the `{0}` of a NumPy array, which calls it otherwise. Stay with Tensors",
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
    (
        rf"{METHOD} got multiple values for argument {NAME}",
        "",
        "gives `{0}` the argument `{1}` twice (a method's first parameter is `self`)",
    ),
    (rf"{FUNCTION} got multiple values for argument {NAME}", "", "gives `{0}` the argument `{1}` twice"),
    (
        rf"{METHOD} takes .*positional arguments? but",
        "",
        "calls `{0}` with more arguments than it takes (a method's first parameter is `self`)",
    ),
    (rf"{FUNCTION} takes .*positional arguments? but", "", "calls `{0}` with more arguments than it takes"),
    (r"([\w.]{1,37})\(\) takes (?:exactly|at most|at least) ", "", "calls `{0}` with the wrong number of arguments"),
    (r"did not contain a loop with signature", "", "computes with something that is not a number, such as a text"),
    (rf"^TypeError: {FUNCTION} takes no (?:keyword )?arguments", "", "gives `{0}` arguments, and it takes none"),
    (
        r"'method' object|not \"method\"|'method' and|and 'method'",
        "",
        "uses a method without calling it: `()` is missing",
    ),
    (rf"^TypeError: {NAME} object is not callable", "", "calls something that is not a function: a {0}"),
    (r"^RecursionError", "", "leads back to itself without end"),
    # names
    (
        r"^NameError: name '(torch|nn|F)'",
        "",
        "uses `{0}`. There is no PyTorch here: use NumPy and the operations of `Tensor`",
    ),
    (r"^(?:ModuleNotFound|Import)Error", "", "imports something that is not there"),
    (
        rf"^UnboundLocalError: .*local variable {NAME}",
        "",
        "uses `{0}` before it has a value; is it set in every branch?",
    ),
    (rf"^NameError: name {NAME} is not defined", "", "uses the name `{0}`, which is not defined"),
    # attributes
    (
        rf"^AttributeError: a Tensor has no {NAME}; write (.{{1,60}})$",
        "",
        "uses `.{0}`, which a Tensor does not have. Write {1}",
    ),
    (rf"^AttributeError: a Tensor has no {NAME}", "", "uses `.{0}`, which a Tensor does not have"),
    (
        rf"^AttributeError: 'numpy.ndarray' object has no attribute {NAME}",
        "",
        "uses `.{0}` of a NumPy array, which does not have it",
    ),
    (
        rf"^AttributeError: 'NoneType' object has no attribute {NAME}",
        "",
        "uses something that is None there, and has no `.{0}`",
    ),
    (
        rf"^AttributeError: '(tuple|list)' object has no attribute {NAME}",
        "",
        "uses `.{1}` of a {0}, which does not have it. Take a part of the {0} first",
    ),
    (rf"^AttributeError: {NAME} object has no attribute {NAME}", "", "uses `.{1}`, which the {0} there does not have"),
    # values of the wrong kind
    (r"NoneType", "", "uses something that is None there"),
    (
        r"truth value",
        r"[!=]= *None",
        "compares every value with None. Write `is None` or `is not None`",
    ),
    (
        r"truth value",
        r"\b(if|while|not|elif)\s+[\w.]+\s*(:|\)|,|and\b|or\b|else\b|$)|[\w.]+ or |[\w.]+ and ",
        "asks a whole Tensor or array whether it is true. To ask whether there is one, write `is not None`",
    ),
    (
        r"truth value",
        r"\b(if|while|elif|not)\b",
        "asks a whole Tensor or array of comparisons whether it is true, as if it were one",
    ),
    (r"truth value", "", SINGLE),
    (r"only (0-dimensional|length-1|size-1) arrays|needs a single value", "", SINGLE),
    (
        r"nothing is written into a Tensor",
        "",
        "writes into a Tensor, and gradients could not follow. Build a new Tensor",
    ),
    (
        rf"^TypeError: {NAME} knows nothing of gradients",
        "",
        "gives a Tensor to `{0}`, and gradients cannot pass through that. Use the operations of `Tensor`",
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
        rf"Tensor: data is an? {NAME}, it must be numbers",
        "",
        "computes with a {0} where numbers or a Tensor are needed",
    ),
    (r"boolean negative", "", "puts a minus before an array of True and False, which NumPy refuses. Compare: `== 0`"),
    (r"boolean subtract", "", "subtracts arrays of True and False, which NumPy refuses. Compare: `== 0`"),
    (
        r"bad operand type for unary ~|ufunc 'invert' not supported",
        "",
        "uses `~` on numbers. `~` is for arrays of True and False; compare instead: `== 0`",
    ),
    (r"^TypeError: unsupported operand type\(s\) for (//|%|\^)", "", "uses `{0}`, which a Tensor does not have"),
    (
        rf"^TypeError: unsupported operand type\(s\) for ([^:]{{1,6}}): {NAME} and {NAME}",
        "",
        "uses `{0}` between a {1} and a {2}, which do not go together",
    ),
    (
        r"'float' object cannot be interpreted as an integer|must be whole numbers.*\d\.\d|slice indices must be integers",
        "",
        "uses a float where a whole number is needed. Sizes are divided with `//`, not with `/`",
    ),
    (r"^TypeError: Cannot interpret '\d+' as a data type", "", "gives the shape as two arguments. It is one: `(n, n)`"),
    (rf"^TypeError: {NAME} object is not subscriptable", "", "takes a part, `[...]`, of a {0}, which has no parts"),
    (rf"^TypeError: {NAME} object is not iterable", "", "loops over a {0}, which has no parts"),
    (rf"^TypeError: cannot unpack non-iterable {NAME} object", "", "takes several values out of a single {0}"),
    (r"^ZeroDivisionError", "", "divides by zero"),
    # axes and shapes
    (r"too many values to unpack \(expected (\d{1,9})", r"\.shape", "expects exactly {0} axes, and there were more"),
    (
        r"not enough values to unpack \(expected (\d{1,9}), got (\d{1,9})",
        r"\.shape",
        "expects exactly {0} axes; there were {1}",
    ),
    (r"too many values to unpack \(expected (\d{1,9})", "", "needs exactly {0} axes or values, and there were more"),
    (
        r"not enough values to unpack \(expected (\d{1,9}), got (\d{1,9})",
        "",
        "needs exactly {0} axes or values; there were {1}",
    ),
    (
        r"axis (-?\d{1,9}) is out of bounds for array of dimension (\d{1,9})",
        "",
        "uses axis {0} of an array with {1} axes",
    ),
    (r"^IndexError: tuple index out of range", r"\.shape", "uses an axis that the shape does not have"),
    (
        r"index (-?\d{1,9}) is out of bounds for axis \d+ with size (\d{1,9})",
        "",
        "uses index {0} on an axis of length {1}",
    ),
    (
        r"too many indices for array: array is (\d{1,9})-dimensional, but (\d{1,9}) were indexed",
        "",
        "uses {1} indices on an array with {0} axes",
    ),
    (r"^IndexError: (list|tuple) index out of range", "", "uses an index that the {0} does not have"),
    (rf"object of type {NAME} has no len", "", "asks for the length of a {0}, which has none"),
    (
        r"input array dimensions|input arrays must have same|shapes .* cannot be joined",
        "",
        "joins arrays whose shapes do not fit together",
    ),
    (r"cat and stack take a list", "", "gives a single Tensor to `cat` or `stack`, which take a list of Tensors"),
    (
        r"inhomogeneous|with a sequence|rows of different lengths",
        "",
        "makes an array of rows that are not equally long",
    ),
    (r"must be real number, not (\w{1,37})", "", "uses a {0} where a single number is needed"),
    (rf"must be an iterable, not {NAME}", "", "unpacks, with `*`, a single {0}"),
    (r"requested shape", "", "broadcasts an array to a shape that it does not fit"),
    (r"boolean index did not match", "", "uses as an index an array of another shape. An index does not broadcast"),
    (r"x\.T is for tables", "", "uses `.T`, which is for two axes only. Write `.transpose(-2, -1)` or `.mT`"),
    (
        rf"@: the left side has shape {SHAPE}, the right side {SHAPE}",
        "",
        "multiplies shapes {0} and {1}. The left one's last axis must be as long as the right one's second-to-last",
    ),
    (
        rf"@: shapes {SHAPE} and {SHAPE}; the axes before",
        "",
        "multiplies shapes {0} and {1}. The axes before the last two must be equal or 1",
    ),
    (
        rf"([-+*/]): shapes {SHAPE} and {SHAPE} do not broadcast",
        "",
        "uses `{0}` with shapes {1} and {2}. Counted from the right, their axes must be equal or 1",
    ),
    (
        rf"operands could not be broadcast together with shapes {SHAPE} {SHAPE}",
        "",
        "uses together arrays of shapes {0} and {1}. Counted from the right, their axes must be equal or 1",
    ),
    (rf"reshape: {SHAPE} has \d+ values, {SHAPE}", "", "reshapes {0} to {1}, which does not hold as many values"),
    (
        r"cannot reshape array of size (\d{1,9}) into shape (\([\d, ]{0,40}\))",
        "",
        "reshapes an array of {0} values to {1}, which does not hold as many",
    ),
    (rf"masked_fill: mask has shape {SHAPE}, it must broadcast to {SHAPE}", "", MASK),
    (rf"mask has shape {SHAPE}, it must broadcast to the shape of the scores, {SHAPE}", "", MASK),
    (r"mask holds \S+; a mask is", "", "uses as a mask something that holds other numbers than 1 and 0"),
    (
        rf"K has shape {SHAPE}, its last axis must be as wide as the queries: {NUMBER}",
        "",
        "uses keys of shape {0} with queries of width {1}. They must be equally wide",
    ),
    (
        rf"V has shape {SHAPE}, it must have a row for each of the {NUMBER} keys",
        "",
        "uses values of shape {0} with {1} keys. Each key needs a value",
    ),
    (
        r"num_heads is (\d{1,9}), it must divide the embedding width, (\d{1,9})",
        "",
        "uses {0} as the number of heads for the width {1}, which it does not divide",
    ),
    (
        rf"x has shape {SHAPE}, it must be \(batch, positions, {NUMBER}\)",
        "",
        "gives an x of shape {0} where (batch, positions, {1}) is needed",
    ),
    (
        rf"context has shape {SHAPE}, it must be \(batch, positions, {NUMBER}\)",
        "",
        "gives as the context something of shape {0}; (batch, positions, {1}) is needed",
    ),
    (r"zero-size array to reduction", "", "takes the largest or smallest of no numbers at all"),
    (r"operand has more dimensions than allowed", "", "broadcasts an array to a shape with fewer axes than it has"),
)


def in_plain_words(text: str, line: str) -> str | None:
    """What a line did, to be read after "Your line `...`"; None where the exception does not say it for certain."""
    for pattern, where, words in WORDS:
        found = re.search(pattern, text)
        if found is not None and re.search(where, line) is not None:
            said = words.format(*(INSIDE.sub(r"Tensor.\1", name or "") for name in found.groups()))
            return re.sub(r"\ba (?=[aeioAEIO](?!ne\b))", "an ", said)
    return None
