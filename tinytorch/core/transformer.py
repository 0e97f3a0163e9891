# Made from solutions/06_transformer/transformer.ipynb by `make course`. Edit the notebook, not this file.
"""Layer normalisation, feed-forward layer, transformer block, a language model, and writing with temperature and top-k."""

__all__ = [
    "EPSILON",
    "layer_norm",
    "LayerNorm",
    "feed_forward",
    "FeedForward",
    "TransformerBlock",
    "Embedding",
    "cross_entropy",
    "LanguageModel",
    "draw",
    "sample",
    "Adam",
    "train",
]

import math

import numpy as np

from .activations import Softmax
from .attention import MultiHeadAttention, causal_mask
from .efficient_attention import KVCache, cached_attention
from .layers import Linear
from .tensor import Tensor, as_tensors, custom_gradient, no_grad

EPSILON = 1e-5  # added to a variance before its root is taken


def layer_norm(x, weight, bias):
    """Each position with mean 0 and variance 1, then times weight plus bias (Ba et al. 2016).

    x             (..., E)
    weight, bias  (E,)
    ->            (..., E)

    EPSILON is added to the variance.

    >>> x, ones, zeros = Tensor([[2.0, 6.0]]), Tensor(np.ones(2)), Tensor(np.zeros(2))
    >>> layer_norm(x, ones, zeros).data.round(3)
    array([[-1.,  1.]], dtype=float32)
    """
    x, weight, bias = as_tensors(x, weight, bias)  # lists and arrays do, too
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + EPSILON).sqrt() * weight + bias


class LayerNorm:
    """layer_norm with a weight and a bias of its own; at the start 1 and 0.

    embed_dim  E, the width of a position

    >>> LayerNorm(2)(Tensor([2.0, 6.0])).data.round(3)
    array([-1.,  1.], dtype=float32)
    """

    def __init__(self, embed_dim):
        self.weight = Tensor(np.ones(embed_dim), requires_grad=True)
        self.bias = Tensor(np.zeros(embed_dim), requires_grad=True)

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias)

    def parameters(self):
        return [self.weight, self.bias]

    def __call__(self, x):
        return self.forward(x)


def _tanh(x):
    """The hyperbolic tangent of each number; its derivative is 1 - tanh(x)**2."""
    (x,) = as_tensors(x)
    y = np.tanh(x.data)
    return custom_gradient(y, [x], lambda grad: [grad * (1 - y * y)])


def feed_forward(x, expand, contract):
    """Two linear layers with GELU between them, for each position by itself.

    x         (..., E)
    expand    Linear(E, F)
    contract  Linear(F, E)
    ->        (..., E)

    GELU in the form with tanh (Hendrycks and Gimpel 2016, arXiv:1606.08415).

    >>> one = Linear(1, 1)
    >>> one.weight.data, one.bias.data = np.float32([[1]]), np.float32([0])
    >>> feed_forward(Tensor([[-1.0], [0.0], [1.0]]), one, one).data.round(3).ravel()
    array([-0.159,  0.   ,  0.841], dtype=float32)
    """
    (x,) = as_tensors(x)
    h = expand(x)
    bend = _tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h * h * h))
    return contract(0.5 * h * (1 + bend))


class FeedForward:
    """feed_forward with two layers of its own.

    embed_dim   E, the width of a position
    hidden_dim  F, the width between the two layers
    """

    def __init__(self, embed_dim, hidden_dim):
        self.expand = Linear(embed_dim, hidden_dim)
        self.contract = Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return feed_forward(x, self.expand, self.contract)

    def parameters(self):
        return [*self.expand.parameters(), *self.contract.parameters()]

    def __call__(self, x):
        return self.forward(x)


class TransformerBlock:
    """Causal attention, then a feed-forward layer, each normalised at its entrance (pre-norm).

    Each is added to what came in (a residual connection).

    embed_dim  E, the width of a position
    num_heads  H, must divide E

    x  (B, L, E)  ->  (B, L, E)

    >>> block, cache = TransformerBlock(4, 2), KVCache()
    >>> block(Tensor(np.ones((1, 3, 4))), cache).shape, len(cache)
    ((1, 3, 4), 3)
    """

    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        """All positions (B, L, E), or with a KVCache the new ones, which it then has, too."""
        (x,) = as_tensors(x)
        y = self.norm1(x)
        x = x + (
            self.attention(y, mask=causal_mask(y.shape[-2]))
            if cache is None
            else cached_attention(self.attention, y, cache)
        )
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


class Embedding:
    """A trainable row of numbers for each code.

    entries    how many codes there are, 0 to entries - 1
    embed_dim  E, the width of a row

    codes (...) whole numbers  ->  (..., E)

    Raises ValueError for other codes.
    """

    def __init__(self, entries, embed_dim):
        self.weight = Tensor(0.1 * np.random.normal(size=(entries, embed_dim)), requires_grad=True)

    def forward(self, codes):
        codes, entries = np.asarray(codes), len(self.weight)
        if codes.dtype.kind not in "iu":
            raise ValueError(f"codes must be whole numbers, they are {codes.dtype}")
        if codes.size and not 0 <= codes.min() <= codes.max() < entries:
            worst = codes.max() if codes.max() >= entries else codes.min()
            raise ValueError(f"{worst} is none of the {entries} codes 0 to {entries - 1}")
        return self.weight[codes]

    def parameters(self):
        return [self.weight]

    def __call__(self, codes):
        return self.forward(codes)


def cross_entropy(logits, targets):
    """Mean of -log(share of the right class), in nats.

    logits   (..., V)
    targets  (...)      the right classes, whole numbers from 0 to V - 1
    ->       ()

    >>> round(cross_entropy(Tensor([[0.0, 0.0], [0.0, 0.0]]), [0, 1]).item(), 3)
    0.693
    """
    (logits,) = as_tensors(logits)
    targets = np.asarray(targets)
    if targets.shape != logits.shape[:-1] or targets.dtype.kind not in "iu":
        shapes = f"{targets.shape} for logits of shape {logits.shape}"
        raise ValueError(f"targets are one whole number for each row of logits, not {shapes}")
    classes = logits.shape[-1]
    if targets.size and not 0 <= targets.min() <= targets.max() < classes:
        worst = targets.max() if targets.max() >= classes else targets.min()
        raise ValueError(f"{worst} is none of the {classes} classes 0 to {classes - 1}")
    shifted = logits - logits.data.max(-1, keepdims=True)  # the shares stay the same
    right = shifted[(*np.indices(targets.shape), targets)]
    return (shifted.exp().sum(-1).log() - right).mean()


def _check_codes(codes):
    """Codes of texts as an array (B, L)."""
    codes = np.asarray(codes)
    if codes.ndim != 2:
        raise ValueError(f"codes has shape {codes.shape}, it must be (B, L): a row for each text")
    return codes


class LanguageModel:
    """Scores what comes next at each position of a text (a decoder-only transformer).

    vocabulary  V, the number of symbols
    length      the most positions of a text
    embed_dim   E; num_heads H must divide it
    num_layers  how many blocks

    codes (B, L) whole numbers  ->  logits (B, L, V)

    >>> model = LanguageModel(vocabulary=5, length=8, embed_dim=4, num_heads=2, num_layers=1)
    >>> model([[3, 1, 4]]).shape
    (1, 3, 5)
    """

    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        """Logits (B, L, V) for codes (B, L); with caches, codes are the new ones."""
        codes = _check_codes(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[-1]))
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        """The mean cross-entropy of guessing each next symbol of codes (B, L + 1), in nats."""
        codes = _check_codes(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        """An empty KVCache for each block."""
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


def draw(shares):
    """A code from 0 to V - 1: code i comes with probability shares[i].

    It is drawn by NumPy's global generator.

    shares  (V,)  not negative, their sum is 1

    Raises ValueError if they are none.
    """
    return int(np.random.choice(len(shares), p=np.asarray(shares)))


def _is_whole(number):
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _check_sampling(prompt, length, temperature, top_k):
    """Raises ValueError if one of sample's arguments cannot be."""
    if len(np.shape(prompt)) != 1 or len(prompt) == 0:
        raise ValueError(f"a prompt is a list of at least one code; its shape is {np.shape(prompt)}")
    if not _is_whole(length) or length < 0:
        raise ValueError(f"length is {length}, it must be a whole number, 0 or more")
    if np.ndim(temperature) or not temperature > 0:
        raise ValueError(f"temperature is {temperature}, it must be a number above 0")
    if top_k is not None and (not _is_whole(top_k) or top_k < 1):
        raise ValueError(f"top_k is {top_k}, it must be a whole number, at least 1, or None")


def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    """Continue a text, each new symbol drawn from the model's shares.

    model        LanguageModel
    prompt       list of codes, at least one
    length       how many symbols to write
    temperature  divides the logits: below 1 bolder shares, above 1 more even ones
    top_k        only so many of the highest logits get a share (Fan et al. 2018); None for all
    draw         function: shares (V,) -> code
    ->           list of len(prompt) + length codes

    Each symbol goes through the model once; earlier keys and values are in caches.
    Raises ValueError if the text becomes longer than the model.

    >>> model = LanguageModel(vocabulary=5, length=8, embed_dim=4, num_heads=2, num_layers=1)
    >>> model.head.bias.data[3] = 100  # it always wants a 3
    >>> sample(model, [0, 1], length=4)
    [0, 1, 3, 3, 3, 3]
    """
    _check_sampling(prompt, length, temperature, top_k)
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


class Adam:
    """A step against the gradient, of about the same size for each parameter.

    Kingma and Ba 2015, arXiv:1412.6980.

    parameters  list of Tensors
    rate        how far a parameter moves at most in a step, about
    """

    def __init__(self, parameters, rate=0.001):
        self.parameters, self.rate, self.steps = list(parameters), rate, 0
        self.moments = [(np.zeros_like(p.data), np.zeros_like(p.data)) for p in self.parameters]

    def step(self, loss):
        """Go backward from a loss, and change the parameters once."""
        for parameter in self.parameters:
            parameter.grad = None
        loss.backward()
        self.steps += 1
        for parameter, (mean, square) in zip(self.parameters, self.moments, strict=True):
            grad = parameter.grad if parameter.grad is not None else 0
            mean[...] = 0.9 * mean + 0.1 * grad
            square[...] = 0.98 * square + 0.02 * grad**2
            m, v = mean / (1 - 0.9**self.steps), square / (1 - 0.98**self.steps)
            parameter.data -= self.rate * m / (np.sqrt(v) + 1e-8)


def train(model, codes, steps, batch=12, rate=0.01):
    """Let a LanguageModel learn from a text; after each step, its number and the loss.

    codes  (N,)  the text, longer than the model's length
    batch  how many pieces of the text, of model.length + 1 symbols, a step sees
    rate   Adam's, reached after a twentieth of the steps; from there it falls to 0

    for step, loss in train(model, codes, steps=1000): ...
    """
    codes, optimiser = np.asarray(codes), Adam(model.parameters())
    if codes.ndim != 1 or len(codes) <= model.length:
        more = f"{model.length + 1} codes or more"
        raise ValueError(f"a text to learn from has one axis with {more}, not {codes.shape}")
    for step in range(1, steps + 1):
        starts = np.random.randint(0, len(codes) - model.length, size=batch)
        loss = model.loss(np.stack([codes[s : s + model.length + 1] for s in starts]))
        optimiser.rate = rate * min(20 * step / steps, (1 - step / steps) / 0.95)
        optimiser.step(loss)
        yield step, loss.item()
