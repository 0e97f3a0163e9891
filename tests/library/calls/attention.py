"""How tinytorch.core.attention is called."""

import numpy as np

from calls import MASK, Calls, X, Y
from tinytorch.core.attention import MultiHeadAttention, as_mask, padding_mask, scaled_dot_product_attention
from tinytorch.core.tensor import Tensor

np.random.seed(1)
LAYER = MultiHeadAttention(6, 2)

PROGRAM = """
from tinytorch.core.attention import MultiHeadAttention, as_mask, causal_mask, padding_mask, scaled_dot_product_attention
from tinytorch.core.tensor import Tensor, as_tensors


def block(x: Tensor) -> Tensor:
    layer = MultiHeadAttention(8, 2)
    return x + layer(x, mask=causal_mask(x.shape[1]) * padding_mask([2], x.size(1)))


q, k = as_tensors([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
output, weights = scaled_dot_product_attention(q, k, k.data, mask=[[1, 0, True]])
mask = as_mask(Tensor([1, 0]))
"""

CALLS = Calls(
    arrays={
        "scaled_dot_product_attention": (scaled_dot_product_attention, (X, Y, X, MASK)),
        "MultiHeadAttention": (lambda x, y, m: LAYER(x, mask=m, context=y), (X, Y, MASK)),
        "as_mask": (lambda m: Tensor(as_mask(m)), (MASK,)),
        "padding_mask": (lambda n: Tensor(padding_mask(n, 5)), (np.array([2, 5]),)),
    },
    masks={
        "scaled_dot_product_attention": lambda m: scaled_dot_product_attention(X, X, X, m)[0],
        "MultiHeadAttention": lambda m: LAYER(X, mask=m),
    },
    refused=(
        (lambda: MultiHeadAttention(4, 2.0), "num_heads is 2.0, it must be a whole number"),
        (lambda: MultiHeadAttention("8", 2), "embed_dim is '8', it must be a whole number"),
        (lambda: MultiHeadAttention(-8, 2), "embed_dim is -8, it must be a whole number, at least 1"),
    ),
    program=PROGRAM,
    mistakes=(
        'causal_mask("3")',
        "MultiHeadAttention(8)",
        "scaled_dot_product_attention(q, k)",
    ),
)
