"""A toy translation: numbers in digits to numbers in words, with cross-attention.

    python examples/translate.py [PICTURE]

The reader gets five digits, ">40792"; the writer says "four zero seven nine two", and looks at what was read for every word. The sign in
front says which way round, so that where to look has to be learned.

The picture shows where each word looks: after ">" along the digits from left to right, after "<" from right to left.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from training import Adam, cross_entropy, embedding, positions

from tinytorch.core.attention import MultiHeadAttention
from tinytorch.core.layers import Linear

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
READ = [*"0123456789", ">", "<"]  # forwards, backwards
LENGTH, WIDTH = 5, 32


class Translator:
    def __init__(self) -> None:
        self.read, self.write = embedding(len(READ), WIDTH), embedding(LENGTH, WIDTH)
        self.encoder = MultiHeadAttention(WIDTH, num_heads=2)
        self.decoder = MultiHeadAttention(WIDTH, num_heads=1)
        self.readout = Linear(WIDTH, len(WORDS))

    def __call__(self, source):  # (B, 1 + L) -> (B, L, words)
        x = self.read[source] + positions(LENGTH + 1, WIDTH)
        x = x + self.encoder(x)  # every digit learns which way the number goes
        sign = x[:, :1]  # (B, 1, WIDTH): so does the writer
        questions = self.write.reshape(1, LENGTH, WIDTH) + sign
        return self.readout(self.decoder(questions, context=x))

    def parameters(self):
        layers = (self.encoder, self.decoder, self.readout)
        return [self.read, self.write, *(p for layer in layers for p in layer.parameters())]


def examples(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    digits = rng.integers(10, size=(number, LENGTH))
    backwards = rng.integers(2, size=number)
    words = np.where(backwards[:, None] == 1, digits[:, ::-1], digits)
    return np.concatenate([10 + backwards[:, None], digits], axis=1), words


def main(picture: str) -> None:
    np.random.seed(0)
    rng = np.random.default_rng(0)
    model = Translator()
    optimiser = Adam(model.parameters(), rate=0.005)
    for step in range(1001):
        source, words = examples(rng, 64)
        loss = cross_entropy(model(source), words)
        optimiser.step(loss)
        if step % 250 == 0:
            print(f"step {step:4}  loss {loss.item():.3f}")
    source, words = examples(rng, 500)
    accuracy = (model(source).data.argmax(-1) == words).mean()
    print(f"right words: {accuracy:.1%}")

    figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
    for axes, sign in zip(panels, (10, 11), strict=True):
        source = np.array([[sign, 4, 0, 7, 9, 2]])
        said = [WORDS[w] for w in model(source).data.argmax(-1)[0]]
        print("".join(READ[c] for c in source[0]), "->", *said)
        axes.imshow(model.decoder.attention_weights.data[0, 0], cmap="Greys", vmin=0, vmax=1)
        axes.set_xticks(range(LENGTH + 1), [READ[c] for c in source[0]])
        axes.set_yticks(range(LENGTH), said)
        axes.set(xlabel="read", ylabel="said")
    figure.savefig(picture, dpi=100)
    if accuracy < 0.95:
        raise SystemExit("it did not learn to translate; is something in the library wrong?")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "translation.png")
