"""The library of 06 by value: against loops in float64, its gradients against central differences, and what it learns."""

import math
from itertools import pairwise

import numpy as np
import pytest
from differences import check
from hypothesis import given
from hypothesis import strategies as st

from autograded_tests.m06_transformer import _transformer as right
from exercises.data import Data
from tinytorch.core.efficient_attention import KVCache
from tinytorch.core.layers import Linear
from tinytorch.core.tensor import Tensor, no_grad
from tinytorch.core.transformer import (
    Adam,
    Embedding,
    FeedForward,
    LanguageModel,
    LayerNorm,
    TransformerBlock,
    cross_entropy,
    draw,
    feed_forward,
    layer_norm,
    sample,
    train,
)

normal = Data().normal
B, L, E, V = 2, 5, 6, 7


def model(length: int = 8, layers: int = 2) -> LanguageModel:
    np.random.seed(0)
    return LanguageModel(V, length, E, 2, layers)


def close(a, b, tolerance: float = 1e-5) -> None:
    a, b = (x.data if isinstance(x, Tensor) else x for x in (a, b))
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, atol=tolerance, rtol=tolerance)


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(E,), (L, E), (B, L, E), (2, 3, L, E)])
def test_layer_norm_and_feed_forward_take_any_leading_axes(shape):
    x, weight, bias = normal(1, *shape, scale=3), normal(2, E), normal(3, E)
    close(layer_norm(x, weight, bias), right.layer_norm(x, weight, bias))
    expand, contract = Linear(E, 9), Linear(9, E)
    assert expand.bias is not None and contract.bias is not None
    h = x @ expand.weight.data + expand.bias.data
    close(feed_forward(x, expand, contract), right.gelu(h) @ contract.weight.data + contract.bias.data)


def test_layer_norm_of_equal_numbers_is_the_bias():
    close(layer_norm(np.full((3, E), 4.0), np.ones(E), np.arange(E)), np.tile(np.arange(E, dtype=float), (3, 1)))


def test_gradients_equal_central_differences():
    x, weight, bias = (normal(n, *shape).astype(float) for n, shape in ((1, (2, E)), (2, (E,)), (3, (E,))))
    check(layer_norm, x, weight, bias)
    expand, contract = Linear(E, 4), Linear(4, E)
    check(lambda x: feed_forward(x, expand, contract), x)
    block = TransformerBlock(E, 2)
    check(lambda x: block(x), normal(4, 1, 3, E).astype(float))
    check(lambda logits: cross_entropy(logits, [1, 0]), x)


def test_gradients_of_the_references_equal_central_differences():
    """Those that answers are compared with."""
    x, weight, bias, grad = (normal(n, *shape).astype(float) for n, shape in enumerate(((3, E), (E,), (E,), (3, E)), 5))
    found = right.layer_norm_gradient(x, weight, grad)
    for place, array in enumerate((x, weight, bias)):
        for index in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [np.array(a) for a in (x, weight, bias)]
                moved[place][index] += step
                ends.append((right.layer_norm(*moved) * grad).sum())
            assert abs((ends[0] - ends[1]) / 2e-6 - found[place][index]) < 1e-5
    h = np.linspace(-5, 5, 31)
    close((right.gelu(h + 1e-6) - right.gelu(h - 1e-6)) / 2e-6, right.gelu_slope(h), 1e-6)


def test_float64_stays_float64():
    x = Tensor(normal(1, L, E), dtype=float)
    assert layer_norm(x, np.ones(E), np.zeros(E)).dtype == LayerNorm(E)(x).dtype == FeedForward(E, 4)(x).dtype == float


def test_cross_entropy_is_the_mean_of_minus_log_of_the_right_share():
    logits, targets = normal(1, B, L, V, scale=30), np.arange(B * L).reshape(B, L) % V
    assert cross_entropy(logits, targets).item() == pytest.approx(right.nats(logits, targets), rel=1e-5)
    assert cross_entropy([[1e4, 0.0]], [1]).item() == pytest.approx(1e4)


# --- a model ----------------------------------------------------------------------------------------------------------


@given(cuts=st.sets(st.integers(1, 7)), seed=st.integers(0, 1000))
def test_pieces_through_caches_equal_the_whole(cuts, seed):
    codes = np.random.default_rng(seed).integers(V, size=(B, 8))
    writer = model()
    whole, caches, ends = writer(codes).data, writer.new_caches(), [0, *sorted(cuts), 8]
    with no_grad():
        pieces = [writer(codes[:, a:b], caches).data for a, b in pairwise(ends)]
    close(np.concatenate(pieces, axis=1), whole, 1e-4)
    assert [len(cache) for cache in caches] == [8, 8]


@pytest.mark.parametrize("place", range(1, 8))
def test_a_changed_symbol_changes_nothing_before_it_and_something_from_it_on(place):
    codes = np.random.default_rng(0).integers(V, size=(B, 8))
    other = codes.copy()
    other[:, place] = (other[:, place] + 1) % V
    before, after = (model()(some).data for some in (codes, other))
    assert np.array_equal(before[:, :place], after[:, :place])
    assert (np.abs(after - before)[:, place:].max(-1) > 1e-5).all()


def test_all_parameters_are_listed_once_and_get_a_gradient():
    writer = model()
    listed = writer.parameters()
    assert len({id(p) for p in listed}) == len(listed) == 2 + 2 * (2 + 8 + 2 + 4) + 2 + 2
    writer.loss(np.arange(2 * 9).reshape(2, 9) % V).backward()
    assert all(p.grad is not None for p in listed)
    still = {id(p) for p in listed if p.grad is not None and not p.grad.any()}
    keys = {id(block.attention.k_proj.bias) for block in writer.blocks}
    assert still <= keys  # a key's bias moves all scores of a query alike


def test_a_fresh_model_is_about_as_good_as_equal_shares():
    loss = model().loss(np.random.default_rng(0).integers(V, size=(20, 9))).item()
    assert math.log(V) - 0.1 < loss < math.log(V) + 0.5


# --- writing ----------------------------------------------------------------------------------------------------------


def test_what_is_written_with_caches_is_what_is_written_without():
    writer, shares = model(), []

    def best(some):
        shares.append(np.asarray(some))
        return int(np.argmax(some))

    text = sample(writer, [3, 1], 6, draw=best)
    assert text[:2] == [3, 1] and len(text) == 8
    for n, some in enumerate(shares, 2):
        logits = writer(np.array([text[:n]])).data[0, -1]
        close(some, right.softmax(logits), 1e-4)
        assert text[n] == int(logits.argmax())


def test_temperature_and_top_k_share_out_one():
    writer = model()
    assert writer.head.bias is not None
    writer.head.weight.data[...], writer.head.bias.data = 0, np.log(np.arange(1, V + 1, dtype=np.float32))
    seen = []

    def first(some):
        seen.append(np.asarray(some))
        return 0

    for how in ({}, {"temperature": 0.5}, {"top_k": 2}, {"top_k": 3, "temperature": 2.0}, {"top_k": 99}):
        sample(writer, [0], 1, draw=first, **how)
    n = np.arange(1, V + 1)
    wanted = [n, n**2, np.where(n > V - 2, n, 0), np.where(n > V - 3, n**0.5, 0), n]
    for some, right_one in zip(seen, wanted, strict=True):
        close(some, right_one / right_one.sum(), 1e-5)


def test_symbols_are_drawn_as_often_as_their_shares_say():
    np.random.seed(0)
    shares = np.array([0.5, 0.0, 0.3, 0.2], np.float32)
    counts = np.bincount([draw(shares) for _ in range(4000)], minlength=4) / 4000
    assert not counts[1] and float(np.abs(counts - shares).max()) < 0.03
    with pytest.raises(ValueError, match="do not sum to 1"):
        draw([0.5, 0.2])


def test_a_text_may_fill_the_model_and_not_more():
    writer = model(length=4)
    assert len(sample(writer, [0, 1, 2], 2)) == 5  # what is drawn last need not go in
    with pytest.raises(ValueError, match="4 is none of the 4 codes 0 to 3"):
        sample(writer, [0, 1, 2], 3)
    assert sample(writer, [5], 0) == [5]


# --- training ---------------------------------------------------------------------------------------------------------


def test_adam_moves_by_the_rate_while_the_gradient_keeps_its_sign():
    p = Tensor(np.zeros(3), requires_grad=True)
    adam = Adam([p, Tensor(np.zeros(2), requires_grad=True)], rate=0.1)  # the second has no gradient
    for _ in range(3):
        adam.step((p * [1.0, -5.0, 0.0]).sum())
    close(p.data, np.array([-0.3, 0.3, 0], np.float32), 1e-4)
    assert not adam.parameters[1].data.any()


def test_it_learns_a_rhyme_and_goes_on_with_it():
    np.random.seed(0)
    rhyme = np.tile([0, 3, 1, 4, 2, 5, 6], 12)
    writer = model(length=12, layers=1)
    losses = [loss for _, loss in train(writer, rhyme, steps=80, batch=8, rate=0.02)]
    assert losses[0] > 1.5 and losses[-1] < 0.2
    assert sample(writer, [0, 3], 8, temperature=0.1) == [0, 3, 1, 4, 2, 5, 6, 0, 3, 1]


def test_the_rate_rises_and_then_falls_to_nothing(monkeypatch):
    rates = []
    monkeypatch.setattr(Adam, "step", lambda self, loss: rates.append(self.rate))
    assert [step for step, _ in train(model(), np.zeros(20, int), steps=40)] == list(range(1, 41))
    assert rates[:2] == pytest.approx([0.005, 0.01]) and rates[-1] == 0 and max(rates) <= 0.01


def test_an_embedding_is_a_row_of_its_table():
    table = Embedding(4, 3)
    codes = np.array([[1, 3], [1, 0]])
    got = table(codes)
    assert np.array_equal(got.data, table.weight.data[codes])
    got.sum().backward()
    assert table.weight.grad is not None
    assert np.array_equal(table.weight.grad, [[1] * 3, [2] * 3, [0] * 3, [1] * 3])


def test_a_block_without_a_cache_is_one_with_an_empty_cache():
    block, x = TransformerBlock(E, 3), normal(1, B, L, E)
    cache = KVCache()
    close(block(x), block(x, cache), 1e-5)
    assert len(cache) == L


# --- PyTorch ----------------------------------------------------------------------------------------------------------


def theirs(torch, *arrays):
    """float64 leaves of PyTorch's."""
    return [torch.tensor(np.asarray(a, float), requires_grad=True) for a in arrays]


def same_as(ours, result, pairs) -> None:
    """The same values and, for one gradient of the result, the same gradients of our tensors and theirs."""
    grad = np.random.default_rng(3).normal(size=result.shape)
    close(np.asarray(ours.data, float), result.detach().numpy())
    ours.backward(grad)
    result.backward(result.new_tensor(grad))
    for tensor, other in pairs:
        close(np.asarray(tensor.grad, float), other.grad.numpy(), 1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(E,), (L, E), (2, 3, L, E)])
def test_normalisation_and_feed_forward_layer_against_pytorch(shape):
    torch = pytest.importorskip("torch", reason="package torch is not installed")
    functional = torch.nn.functional
    arrays = [normal(n, *some) for n, some in enumerate((shape, (E,), (E,)), 11)]
    ours, others = [Tensor(a, requires_grad=True) for a in arrays], theirs(torch, *arrays)
    result = functional.layer_norm(others[0], (E,), others[1], others[2])
    same_as(layer_norm(*ours), result, list(zip(ours, others, strict=True)))

    layer, x = FeedForward(E, 9), Tensor(arrays[0], requires_grad=True)
    other, w1, b1, w2, b2 = theirs(torch, arrays[0], *(p.data for p in layer.parameters()))
    result = functional.gelu(other @ w1 + b1, approximate="tanh") @ w2 + b2
    same_as(layer(x), result, list(zip([x, *layer.parameters()], [other, w1, b1, w2, b2], strict=True)))


@pytest.mark.torch
def test_a_block_against_pytorchs_encoder_layer():
    """With the norm first and a causal mask, it is the same."""
    torch = pytest.importorskip("torch", reason="package torch is not installed")
    np.random.seed(4)
    block, x = TransformerBlock(E, 2), Tensor(normal(1, B, L, E), requires_grad=True)
    for n, norm in enumerate((block.norm1, block.norm2)):
        norm.weight.data, norm.bias.data = normal(20 + n, E), normal(30 + n, E)
    layer = torch.nn.TransformerEncoderLayer(
        *(E, 2, 4 * E),
        dropout=0,
        activation=lambda h: torch.nn.functional.gelu(h, approximate="tanh"),
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    attention, forward = block.attention, block.feed_forward
    with torch.no_grad():
        parts = (attention.q_proj, attention.k_proj, attention.v_proj)
        layer.self_attn.in_proj_weight[:] = torch.tensor(np.concatenate([p.weight.data.T for p in parts]))
        layer.self_attn.in_proj_bias[:] = torch.tensor(
            np.concatenate([p.bias.data for p in parts if p.bias is not None])
        )
        pairs = [
            (attention.out_proj, layer.self_attn.out_proj),
            (forward.expand, layer.linear1),
            (forward.contract, layer.linear2),
        ]
        for ours, other in pairs:
            assert ours.bias is not None
            other.weight[:], other.bias[:] = torch.tensor(ours.weight.data.T), torch.tensor(ours.bias.data)
        for norm, other in ((block.norm1, layer.norm1), (block.norm2, layer.norm2)):
            other.weight[:], other.bias[:] = torch.tensor(norm.weight.data), torch.tensor(norm.bias.data)
    (y,) = theirs(torch, x.data)
    ahead = torch.triu(torch.ones(L, L, dtype=torch.bool), 1)  # there a mask blocks
    compared = [(x, y), (block.norm1.weight, layer.norm1.weight), (block.norm2.bias, layer.norm2.bias)]
    same_as(block(x), layer(y, src_mask=ahead), compared)
    for ours, other in pairs:
        close(np.asarray(ours.weight.grad, float), other.weight.grad.numpy().T, 1e-4)
    inside = np.concatenate([np.asarray(p.weight.grad, float).T for p in parts])
    close(inside, layer.self_attn.in_proj_weight.grad.numpy(), 1e-4)


@pytest.mark.torch
def test_embedding_and_cross_entropy_against_pytorch():
    torch = pytest.importorskip("torch", reason="package torch is not installed")
    functional = torch.nn.functional
    table, codes = Embedding(V, E), np.arange(B * L).reshape(B, L) % V
    (other,) = theirs(torch, table.weight.data)
    same_as(table(codes), functional.embedding(torch.tensor(codes), other), [(table.weight, other)])
    logits, targets = Tensor(normal(5, B, L, V, scale=3), requires_grad=True), (codes + 2) % V
    (other,) = theirs(torch, logits.data)
    result = functional.cross_entropy(other.reshape(-1, V), torch.tensor(targets).reshape(-1))
    same_as(cross_entropy(logits, targets), result, [(logits, other)])
