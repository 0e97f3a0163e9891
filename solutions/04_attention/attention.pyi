from typing import overload

import numpy.typing as npt

from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Array, Tensor, Values

MASK_VALUE: float

def causal_mask(seq_len: int) -> Array: ...
def padding_mask(lengths: Values, seq_len: int) -> Array: ...
@overload
def as_mask(mask: None) -> None: ...
@overload
def as_mask(mask: Tensor | npt.ArrayLike) -> Array: ...
def scaled_dot_product_attention(
    Q: Values, K: Values, V: Values, mask: Values | None = None
) -> tuple[Tensor, Tensor]: ...

class MultiHeadAttention:
    embed_dim: int
    num_heads: int
    head_dim: int
    q_proj: Linear
    k_proj: Linear
    v_proj: Linear
    out_proj: Linear
    attention_weights: Tensor | None
    def __init__(self, embed_dim: int, num_heads: int) -> None: ...
    def forward(
        self, x: Values, mask: Values | None = None, context: Values | None = None
    ) -> Tensor: ...
    def __call__(
        self, x: Values, mask: Values | None = None, context: Values | None = None
    ) -> Tensor: ...
    def parameters(self) -> list[Tensor]: ...
