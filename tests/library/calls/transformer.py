"""How tinytorch.core.transformer is called."""

import numpy as np

from calls import Calls, X
from tinytorch.core.layers import Linear
from tinytorch.core.transformer import (
    Embedding,
    FeedForward,
    LanguageModel,
    LayerNorm,
    TransformerBlock,
    cross_entropy,
    feed_forward,
    layer_norm,
    sample,
    train,
)

np.random.seed(2)
EXPAND, CONTRACT = Linear(6, 5), Linear(5, 6)
BLOCK, MODEL = TransformerBlock(6, 2), LanguageModel(5, 4, 6, 2, 1)
W, B = (np.linspace(0.5, 1, 6, dtype=np.float32) * n for n in (1, 2))

PROGRAM = """
import numpy as np
from tinytorch.core.tensor import Tensor, no_grad
from tinytorch.core.transformer import LanguageModel, LayerNorm, draw, sample, train

model = LanguageModel(vocabulary=5, length=8, embed_dim=4, num_heads=2, num_layers=1)
logits: Tensor = model([[3, 1, 4]], model.new_caches())
loss: Tensor = model.loss(np.array([[3, 1, 4]]))
for step, so_far in train(model, np.zeros(20, int), steps=2):
    text: list[int] = sample(model, [0, 1], length=2, temperature=0.5, top_k=3)
normal: Tensor = LayerNorm(2)([[1.0, 2.0]])
code: int = draw([0.5, 0.5])
"""

CALLS = Calls(
    arrays={
        "LayerNorm": (lambda x: LayerNorm(6)(x), (X,)),
        "FeedForward": (FeedForward(6, 4), (X,)),
        "TransformerBlock": (lambda x: BLOCK(x), (X,)),
        "layer_norm": (layer_norm, (X, W, B)),
        "feed_forward": (lambda x: feed_forward(x, EXPAND, CONTRACT), (X,)),
        "cross_entropy": (lambda x: cross_entropy(x, np.zeros((2, 4), int)), (X,)),
    },
    refused=(
        (lambda: Embedding(3, 2)([0.5]), "codes must be whole numbers, they are float64"),
        (lambda: Embedding(3, 2)([0, 3]), "3 is none of the 3 codes 0 to 2"),
        (lambda: Embedding(3, 2)([0, -1]), "-1 is none of the 3 codes 0 to 2"),
        (lambda: cross_entropy(X, [0]), "targets are one whole number for each row of logits"),
        (lambda: cross_entropy(X, np.full((2, 4), 6)), "6 is none of the 6 classes 0 to 5"),
        (lambda: MODEL([[0, 1, 2, 3, 4]]), "4 is none of the 4 codes 0 to 3"),
        (lambda: MODEL([0, 1, 2]), r"codes has shape \(3,\), it must be \(B, L\)"),
        (lambda: sample(MODEL, [], 2), "a prompt is a list of at least one code"),
        (lambda: sample(MODEL, np.array([[0, 1]]), 2), r"its shape is \(1, 2\)"),
        (lambda: sample(MODEL, [0], 2, temperature=0), "temperature is 0, it must be a number above 0"),
        (lambda: sample(MODEL, [0], 2, temperature=float("nan")), "temperature is nan"),
        (lambda: sample(MODEL, [0], 2, top_k=0), "top_k is 0, it must be a whole number, at least 1, or None"),
        (lambda: sample(MODEL, [0], 2, top_k=True), "top_k is True"),
        (lambda: sample(MODEL, [0], 9), "4 is none of the 4 codes 0 to 3"),
        (lambda: sample(MODEL, [0], -1), "length is -1, it must be a whole number, 0 or more"),
        (lambda: next(train(MODEL, [0, 1, 2], 5)), r"5 codes or more, not \(3,\)"),
        (lambda: LanguageModel(5, 4, 6, 4, 1), "num_heads"),
    ),
    program=PROGRAM,
    mistakes=("model.loss()", "sample(model, 3, 2)"),
)
