"""The article that the module follows: its code runs unchanged, with the shapes and zeros that it states."""

from typing import Any

import numpy as np

ATTENTION = """
import numpy as np
from tinytorch.core.tensor import Tensor
from tinytorch.core.attention import scaled_dot_product_attention

# Dummy data: batch=2, seq_len=4, d_model=8
Q = Tensor(np.random.randn(2, 4, 8))
K = Tensor(np.random.randn(2, 4, 8))
V = Tensor(np.random.randn(2, 4, 8))

# Optional causal mask (lower-triangular)
mask = Tensor(np.tril(np.ones((2, 4, 4))))

output, weights = scaled_dot_product_attention(Q, K, V, mask=mask)
print("Output shape :", output.shape) # (2, 4, 8)
print("Weights shape:", weights.shape) # (2, 4, 4)
"""

MULTI_HEAD = """
from tinytorch.core.attention import MultiHeadAttention

embed_dim = 64 # d_model
num_heads = 8
mha = MultiHeadAttention(embed_dim, num_heads)

# Input: batch=3, seq_len=10, embed_dim=64
x = Tensor(np.random.randn(3, 10, embed_dim))

# Simple forward pass (no mask)
out = mha(x)
print("Multi-head output shape:", out.shape) # (3, 10, 64)
"""

CAUSAL = """
mask = Tensor(np.tril(np.ones((3, 10, 10)))) # causal mask for each batch item
out_masked = mha(x, mask=mask)

# Verify that future positions have zero attention weight
_, weights = scaled_dot_product_attention(
    mha.q_proj(x), mha.k_proj(x), mha.v_proj(x), mask=mask
)
"""


def test_the_articles_code_runs(capsys):
    names: dict[str, Any] = {}
    for code in (ATTENTION, MULTI_HEAD, CAUSAL):
        exec(code, names)
        if code is ATTENTION:
            future = np.triu(np.ones((4, 4)), k=1) > 0
            assert (names["weights"].data[:, future] == 0).all()
    assert capsys.readouterr().out.split("\n")[:3] == [
        "Output shape : (2, 4, 8)",
        "Weights shape: (2, 4, 4)",
        "Multi-head output shape: (3, 10, 64)",
    ]
    assert names["out_masked"].shape == (3, 10, 64)
    future = np.triu(np.ones((10, 10)), k=1) > 0
    assert (names["weights"].data[:, future] == 0).all()
    assert (names["mha"].attention_weights.data[..., future] == 0).all()
