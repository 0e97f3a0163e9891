"""Learn to say eight digits backwards: one head of attention, and positions.

python examples/reverse.py [PICTURE]

The picture shows the attention weights, what is said against what is read: a diagonal from the last digit to the first.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from training import Adam, cross_entropy, embedding, positions

from tinytorch.core.attention import MultiHeadAttention
from tinytorch.core.layers import Linear

DIGITS, LENGTH, WIDTH = 10, 8, 32


class Reverser:
    def __init__(self) -> None:
        self.embedding = embedding(DIGITS, WIDTH)
        self.attention = MultiHeadAttention(WIDTH, num_heads=1)
        self.readout = Linear(WIDTH, DIGITS)

    def __call__(self, sequence):  # (B, L) -> (B, L, DIGITS)
        return self.readout(self.attention(self.embedding[sequence] + positions(LENGTH, WIDTH)))

    def parameters(self):
        return [self.embedding, *self.attention.parameters(), *self.readout.parameters()]


def main(picture: str) -> None:
    np.random.seed(0)
    rng = np.random.default_rng(0)
    model = Reverser()
    optimiser = Adam(model.parameters(), rate=0.005)
    for step in range(401):
        sequence = rng.integers(DIGITS, size=(32, LENGTH))
        loss = cross_entropy(model(sequence), sequence[:, ::-1])
        optimiser.step(loss)
        if step % 100 == 0:
            print(f"step {step:3}  loss {loss.item():.3f}")
    sequence = np.array([[3, 1, 4, 1, 5, 9, 2, 6]])
    answer = model(sequence).data.argmax(-1)
    print("in ", *sequence[0])
    print("out", *answer[0])

    figure, axes = plt.subplots(figsize=(4, 3.8), layout="constrained")
    axes.imshow(model.attention.attention_weights.data[0, 0], cmap="Greys", vmin=0, vmax=1)
    axes.set_xticks(range(LENGTH), sequence[0])
    axes.set_yticks(range(LENGTH), answer[0])
    axes.set(xlabel="read", ylabel="said", title="attention weights")
    figure.savefig(picture, dpi=100)
    if not (answer == sequence[:, ::-1]).all():
        raise SystemExit("it did not learn to reverse; is something in the library wrong?")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "reverse.png")
