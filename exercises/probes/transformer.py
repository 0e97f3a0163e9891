"""How the exercises of transformer are asked. Stand-ins with which one can count take the place of what a layer is made of."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from exercises.probes import Answers, Arrays, WrongKind, array_of, leaf, observe
from exercises.probes.attention import set_projections
from exercises.probes.efficient_attention import slices


class _Scale:
    """x * weight + bias, in place of a normalisation or a feed-forward layer."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        self.weight, self.bias = leaf(weight), leaf(bias)

    def forward(self, x: Any) -> Any:
        return x * self.weight + self.bias

    def parameters(self) -> list[Any]:
        return [self.weight, self.bias]

    __call__ = forward


class _Block:
    """x + mean of what may be seen @ weight, in place of a transformer block; a cache has every x."""

    def __init__(self, weight: np.ndarray) -> None:
        self.weight = leaf(weight)

    def forward(self, x: Any, cache: Any = None) -> Any:
        seen, _ = (x, x) if cache is None else cache.append(x, x)
        L, S = x.shape[-2], seen.shape[-2]
        allowed = np.tri(L, S, S - L, dtype=x.data.dtype)
        return x + leaf(allowed / allowed.sum(-1, keepdims=True)) @ seen @ self.weight

    def parameters(self) -> list[Any]:
        return [self.weight]

    __call__ = forward


def feed_forward(
    answers: Answers,
    x: np.ndarray,
    expand: np.ndarray,
    expand_bias: np.ndarray,
    contract: np.ndarray,
    contract_bias: np.ndarray,
    grad: np.ndarray | None = None,
) -> Arrays:
    """The layers are the library's, with these weights and biases."""
    from tinytorch.core.layers import Linear

    first, second = Linear(*expand.shape), Linear(*contract.shape)
    first.weight, first.bias, second.weight, second.bias = given = [
        leaf(a) for a in (expand, expand_bias, contract, contract_bias)
    ]
    tensor = leaf(x)
    result = answers["feed_forward"](tensor, first, second)
    names = ("expand", "expand_bias", "contract", "contract_bias")
    seen = observe(result, grad, x=tensor, **dict(zip(names, given, strict=True)))
    return {"result": array_of(result, "The result"), **seen}


def _block(answers: Answers, num_heads: int, inputs: dict[str, np.ndarray]) -> tuple[Any, dict[str, Any]]:
    """A TransformerBlock with stand-ins for all but attention, and its parameters by name."""
    block = answers["TransformerBlock"](inputs["weights"].shape[-1], num_heads)
    tensors = set_projections(block.attention, inputs["weights"], inputs["biases"])
    for name in ("norm1", "norm2", "feed_forward"):
        stand_in = _Scale(inputs[name], inputs[f"{name}_bias"])
        setattr(block, name, stand_in)
        tensors[name] = stand_in.weight
    return block, tensors


def transformer_block(
    answers: Answers,
    num_heads: int,
    x: np.ndarray,
    *,
    pieces: Sequence[int] = (),
    by_call: bool = True,
    grad: np.ndarray | None = None,
    **inputs: np.ndarray,
) -> Arrays:
    """Attention has `weights` (4, E, E) and `biases` (4, E); norm1, norm2 and feed_forward are x * name + name_bias.

    pieces: with a cache, positions arrive in pieces of these lengths; by_call: `block(x)`, not `block.forward(x)`
    """
    block, tensors = _block(answers, num_heads, inputs)
    call = block if by_call else block.forward
    if not pieces:
        tensor = leaf(x)
        result = call(tensor)
        return {"output": array_of(result, "The result"), **observe(result, grad, x=tensor, **tensors)}
    cache = answers["KVCache"]()
    parts = [array_of(call(leaf(x[:, piece]), cache), "The result") for piece in slices(pieces)]
    together = np.concatenate(parts, axis=1) if all(part.ndim == 3 for part in parts) else parts[-1]
    return {"output": together, "positions": np.array(len(cache))}


def block_looks_ahead(answers: Answers, num_heads: int, x: np.ndarray, **inputs: np.ndarray) -> Arrays:
    """How many positions have another result when the last one is another: 1, itself."""
    block, _ = _block(answers, num_heads, inputs)
    other = np.array(x)
    other[:, -1] += 1
    before, after = (array_of(block(leaf(given)), "The result") for given in (x, other))
    return {"changed": np.array(int((np.abs(after - before) > 1e-6).any(axis=(0, 2)).sum()))}


def _model(answers: Answers, inputs: dict[str, np.ndarray]) -> tuple[Any, dict[str, Any]]:
    """A LanguageModel with these tables and this head, and stand-ins for blocks and normalisation."""
    symbols, positions, blocks = inputs["symbols"], inputs["positions"], inputs["blocks"]
    model = answers["LanguageModel"](len(symbols), len(positions), symbols.shape[-1], 1, len(blocks))
    model.symbols.weight, model.positions.weight = leaf(symbols), leaf(positions)
    model.blocks = [_Block(weight) for weight in blocks]
    model.norm = _Scale(inputs["norm"], inputs["norm_bias"])
    model.head.weight, model.head.bias = leaf(inputs["head"]), leaf(inputs["head_bias"])
    return model, {
        "symbols": model.symbols.weight,
        "positions": model.positions.weight,
        "norm": model.norm.weight,
        "head": model.head.weight,
        "head_bias": model.head.bias,
    }


def language_model(
    answers: Answers,
    codes: np.ndarray,
    *,
    pieces: Sequence[int] = (),
    grad: np.ndarray | None = None,
    **inputs: np.ndarray,
) -> Arrays:
    """Tables `symbols` (V, E) and `positions` (T, E), `blocks` (N, E, E) of _Block, `norm` of _Scale, `head` (E, V).

    pieces: with caches, symbols arrive in pieces of these lengths
    """
    model, tensors = _model(answers, inputs)
    if not pieces:
        logits = model.forward(np.array(codes))
        return {"logits": array_of(logits, "The result"), **observe(logits, grad, **tensors)}
    caches = [answers["KVCache"]() for _ in model.blocks]
    parts = [array_of(model.forward(np.array(codes[:, p]), caches), "The result") for p in slices(pieces)]
    together = np.concatenate(parts, axis=1) if all(part.ndim == 3 for part in parts) else parts[-1]
    return {"logits": together, "lengths": np.array([len(cache) for cache in caches])}


def language_model_loss(
    answers: Answers, codes: np.ndarray, grad: np.ndarray | None = None, **inputs: np.ndarray
) -> Arrays:
    """The loss of texts, and its gradients."""
    model, tensors = _model(answers, inputs)
    loss = model.loss(np.array(codes))
    return {"loss": array_of(loss, "The loss"), **observe(loss, grad, **tensors)}


class _Writer:
    """In place of a language model: row t of the logits is the mean of the table's rows of all codes so far, plus places[t]."""

    def __init__(self, table: np.ndarray, places: np.ndarray, new_cache: Any) -> None:
        self.table, self.places, self.new_cache = table, places, new_cache
        self.length, self.blocks, self.fed = len(places), [None, None], 0

    def new_caches(self) -> list[Any]:
        return [self.new_cache() for _ in self.blocks]

    def forward(self, codes: Any, caches: Any = None) -> Any:
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.dtype.kind not in "iu":
            raise ValueError(
                f"codes should be whole numbers of shape (B, L), they are {codes.dtype} of shape {codes.shape}"
            )
        self.fed += codes.shape[1]
        rows = leaf(self.table[codes])
        for cache in caches or ():
            seen, _ = cache.append(rows, rows)
        if not caches:
            seen = rows
        L, S = codes.shape[1], seen.shape[-2]
        if self.length < S:
            raise ValueError(f"{S - 1} is none of the {self.length} codes 0 to {self.length - 1}")
        allowed = np.tri(L, S, S - L, dtype=self.table.dtype)
        return leaf(allowed / allowed.sum(-1, keepdims=True)) @ seen + leaf(self.places[S - L : S])

    __call__ = forward


def sample(
    answers: Answers,
    table: np.ndarray,
    places: np.ndarray,
    prompt: Sequence[int],
    drawn: Sequence[int],
    **how: Any,
) -> Arrays:
    """What is written with _Writer if these codes are drawn, and the shares before each draw.

    how: temperature and top_k, as far as they are given
    """
    model = _Writer(table, places, answers["KVCache"])
    shares: list[np.ndarray] = []
    waiting = list(drawn)

    def draw(given: Any) -> int:
        shares.append(array_of(given, "What draw was given", "an array"))
        if not waiting:
            raise WrongKind(f"draw was called more than {len(drawn)} times for length={len(drawn)}")
        return int(waiting.pop(0))

    given = list(prompt)
    written = answers["sample"](model, given, len(drawn), draw=draw, **how)
    if any(one.shape != shares[0].shape for one in shares):
        raise WrongKind("What draw was given should have the same shape each time")
    codes = array_of(
        np.asarray(written) if isinstance(written, list | tuple) else written, "The result", "a list of codes"
    )
    calls = len(prompt) + len(drawn)
    seen = {"codes": codes, "again": np.array(int(model.fed > calls)), "prompt_after": np.array(given)}
    return seen | ({"shares": np.array(shares)} if shares else {})
