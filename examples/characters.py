"""A language model of characters: it learns to continue a rhyme, one character at a time, without looking ahead.

    python examples/characters.py [PICTURE]

The text is a counting rhyme made for this course.

The picture shows the loss, which falls from that of guessing almost to zero, and where each character of "two old hats and two" looks
in the second layer: never ahead, mostly at the letters of its own word and of the one before it.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from training import Adam, cross_entropy, embedding, positions

from tinytorch.core.attention import MultiHeadAttention, causal_mask
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import no_grad

COUNT = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
THINGS = ["grey cats", "old hats", "red kites", "late nights", "blue bells", "sea shells"]
TEXT = "".join(f"{n} {THINGS[i % 6]} and {n} {THINGS[(i * 5 + 1) % 6]}.\n" for i, n in enumerate(COUNT * 3))

LENGTH, WIDTH, HEADS = 48, 48, 4
ALPHABET = sorted(set(TEXT))
CODES = np.array([ALPHABET.index(c) for c in TEXT])


class Model:
    """Two layers of causal attention, each with its input added to its output."""

    def __init__(self) -> None:
        self.embedding = embedding(len(ALPHABET), WIDTH)
        self.attention = [MultiHeadAttention(WIDTH, HEADS) for _ in range(2)]
        self.hidden, self.readout = Linear(WIDTH, 96), Linear(96, len(ALPHABET))

    def __call__(self, codes):  # (B, L) -> (B, L, alphabet)
        length = codes.shape[1]
        x = self.embedding[codes] + positions(length, WIDTH)
        for layer in self.attention:
            x = x + layer(x, mask=causal_mask(length))
        hidden = self.hidden(x)
        return self.readout(hidden.masked_fill(hidden <= 0, 0.0))

    def parameters(self):
        layers = [*self.attention, self.hidden, self.readout]
        return [self.embedding, *(p for layer in layers for p in layer.parameters())]


def sample(model: Model, start: str, characters: int, rng: np.random.Generator) -> str:
    codes = [ALPHABET.index(c) for c in start]
    with no_grad():
        for _ in range(characters):
            logits = model(np.array([codes[-LENGTH:]])).data[0, -1].astype(float)
            shares = np.exp(logits - logits.max())
            codes.append(int(rng.choice(len(ALPHABET), p=shares / shares.sum())))
    return "".join(ALPHABET[c] for c in codes)


def main(picture: str) -> None:
    np.random.seed(0)
    rng = np.random.default_rng(0)
    model = Model()
    optimiser = Adam(model.parameters(), rate=0.004)
    print("before:", repr(sample(model, "one ", 60, rng)))
    losses = []
    for step in range(401):
        starts = rng.integers(len(CODES) - LENGTH - 1, size=16)
        batch = np.stack([CODES[s : s + LENGTH + 1] for s in starts])
        loss = cross_entropy(model(batch[:, :-1]), batch[:, 1:])
        optimiser.step(loss)
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:3}  loss {losses[-1]:.3f}")
    text = sample(model, "one ", 110, rng)
    print("after:\n" + text)

    line = "two old hats and two"
    with no_grad():
        model(np.array([[ALPHABET.index(c) for c in line]]))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[1.2, 1])
    left.plot(losses, color="black")
    left.axhline(np.log(len(ALPHABET)), color="0.7", linewidth=1)
    left.text(400, np.log(len(ALPHABET)), "guessing", ha="right", va="bottom")
    left.set(xlabel="step", ylabel="loss per character", ylim=(0, None))
    right.imshow(model.attention[1].attention_weights.data[0].mean(0), cmap="Greys")
    right.set_xticks(range(len(line)), line)
    right.set_yticks(range(len(line)), line)
    right.set(xlabel="looks at", ylabel="character", title="second layer, mean of the heads")
    figure.savefig(picture, dpi=100)
    if np.mean(losses[-50:]) > 0.5:
        raise SystemExit("it did not learn the rhyme; is something in the library wrong?")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "characters.png")
