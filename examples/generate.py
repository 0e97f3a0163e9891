"""A model that repeats what it reads, with everything of 05: it is trained in tiles and writes with a cache.

    python examples/generate.py [PICTURE]

Each text is a random word of eight letters, over and over. What comes next stands eight letters back, wherever one is: a matter of
distance, as rotary embedding sees it, and within a window of sixteen. So a model that was trained on 40 letters goes on for 400.

The picture shows the loss, which falls from that of guessing to nearly nothing, and the time for the next letter: it rises with the
length where the whole text is computed again, and stays the same with a cache.
"""

import sys
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from training import Adam, cross_entropy, embedding

from tinytorch.core.attention import _merge_heads, _split_heads
from tinytorch.core.efficient_attention import (
    KVCache,
    grouped_query_attention,
    rotary_embedding,
    sliding_window_mask,
    tiled_attention,
)
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import no_grad

LETTERS, WORD, LENGTH, WINDOW = 12, 8, 40, 16
WIDTH, HEADS, GROUPS = 48, 4, 2


class Model:
    """One layer of attention with grouped queries, its input added to its output."""

    def __init__(self) -> None:
        self.embedding = embedding(LETTERS, WIDTH)
        self.q_proj, self.out_proj = Linear(WIDTH, WIDTH), Linear(WIDTH, WIDTH)
        self.k_proj, self.v_proj = (Linear(WIDTH, WIDTH // HEADS * GROUPS) for _ in range(2))
        self.readout = Linear(WIDTH, LETTERS)

    def heads(self, x, offset=0):
        """Queries (B, H, L, D), keys and values (B, G, L, D); the first position is offset."""
        Q, K = _split_heads(self.q_proj(x), HEADS), _split_heads(self.k_proj(x), GROUPS)
        return rotary_embedding(Q, offset), rotary_embedding(K, offset), _split_heads(self.v_proj(x), GROUPS)

    def __call__(self, codes):  # (B, L) -> (B, L, letters): all positions at once
        B, L = codes.shape
        x = self.embedding[codes]
        Q, K, V = (h.reshape(B, GROUPS, -1, L, WIDTH // HEADS) for h in self.heads(x))  # heads of a group side by side
        y = tiled_attention(Q, K, V, mask=sliding_window_mask(L, WINDOW), causal=True)
        return self.readout(x + self.out_proj(_merge_heads(y.reshape(B, HEADS, L, -1))))

    def step(self, codes, cache):  # (B, 1) -> (B, 1, letters): one more position
        x = self.embedding[codes]
        Q, K, V = self.heads(x, offset=len(cache))
        K, V = (kept[..., -WINDOW:, :] for kept in cache.append(K, V))
        y, _ = grouped_query_attention(Q, K, V)
        return self.readout(x + self.out_proj(_merge_heads(y)))

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj, self.readout)
        return [self.embedding, *(p for layer in layers for p in layer.parameters())]


def texts(number: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """(number, length): random words, each over and over."""
    words = rng.integers(LETTERS, size=(number, WORD))
    return np.tile(words, -(-length // WORD))[:, :length]


def write(model: Model, word: np.ndarray, letters: int, with_cache: bool) -> tuple[np.ndarray, list[float]]:
    """The word and what the model makes of it, and the seconds that each new letter took."""
    codes, seconds, cache = list(word), [], KVCache()
    with no_grad():
        for code in word[:-1] if with_cache else ():
            model.step(np.array([[code]]), cache)
        for _ in range(letters):
            start = time.perf_counter()
            logits = model.step(np.array([codes[-1:]]), cache) if with_cache else model(np.array([codes]))
            codes.append(int(logits.data[0, -1].argmax()))
            seconds.append(time.perf_counter() - start)
    return np.array(codes), seconds


def main(picture: str) -> None:
    np.random.seed(0)
    rng = np.random.default_rng(0)
    model = Model()
    optimiser, losses = Adam(model.parameters(), rate=0.01), []
    for step in range(301):
        batch = texts(8, LENGTH + 1, rng)
        loss = cross_entropy(model(batch[:, :-1])[:, WORD - 1 :], batch[:, WORD:])
        optimiser.step(loss)
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:3}  loss {losses[-1]:.3f}")

    text = texts(1, WORD + 400, rng)[0]
    written, slow = write(model, text[:WORD], 400, with_cache=False)
    with_cache, fast = write(model, text[:WORD], 400, with_cache=True)
    right = (written == text)[WORD:].mean()
    print(f"400 letters, {right:.0%} of them right; {sum(slow):.2f} s without a cache, {sum(fast):.2f} s with one")

    figure, (left, right_side) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.semilogy(losses, color="black")
    left.axhline(np.log(LETTERS), color="0.7", linewidth=1)
    left.text(300, np.log(LETTERS), "guessing", ha="right", va="top")
    left.set(xlabel="step", ylabel="loss per letter")
    right_side.semilogy(np.array(slow) * 1000, ".", color="0.6", label="the whole text again")
    right_side.semilogy(np.array(fast) * 1000, ".", color="black", label="one step with a cache")
    right_side.set(xlabel="letters written", ylabel="milliseconds for the next")
    right_side.legend()
    figure.savefig(picture, dpi=100)
    if not np.array_equal(written, with_cache):
        raise SystemExit("with a cache it writes another text; is something in the library wrong?")
    if right < 0.95:
        raise SystemExit("it did not learn to repeat; is something in the library wrong?")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "generate.png")
