"""The library of 05 by value: against the plain attention of 04, against loops in float64, and by its memory."""

import copy
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograded_tests import references
from exercises.data import Data
from tinytorch.core.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from tinytorch.core.efficient_attention import (
    KVCache,
    cached_attention,
    grouped_query_attention,
    rotary_embedding,
    sliding_window_mask,
    tiled_attention,
)
from tinytorch.core.tensor import Tensor, no_grad

normal, random_mask = Data().normal, Data().random_mask

B, H, L, S, D, DV = 2, 6, 9, 13, 8, 5
seeds = st.integers(0, 2**32 - 1)


def close(a, b, tolerance: float = 1e-5) -> None:
    a, b = (x.data if isinstance(x, Tensor) else x for x in (a, b))
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, atol=tolerance, rtol=tolerance)


# --- cache ------------------------------------------------------------------------------------------------------------


@given(cuts=st.sets(st.integers(1, L - 1)), seed=seeds)
def test_pieces_through_a_cache_equal_the_causal_pass(cuts, seed):
    np.random.seed(seed % 1000)
    layer, x = MultiHeadAttention(12, 3), normal(seed, B, L, 12)
    expected = layer(Tensor(x), mask=causal_mask(L)).data
    cache, ends = KVCache(), [0, *sorted(cuts), L]
    with no_grad():
        rows = [cached_attention(layer, Tensor(x[:, a:b]), cache).data for a, b in pairwise(ends)]
    close(np.concatenate(rows, axis=1), expected)
    assert len(cache) == L and cache.K.shape == (B, 3, L, 4)
    assert layer.attention_weights.shape == (B, 3, L - ends[-2], L)


def test_each_text_of_a_batch_is_as_if_alone():
    layer, x = MultiHeadAttention(12, 3), normal(1, B, L, 12)

    def write(x):
        cache = KVCache()
        return np.concatenate([cached_attention(layer, Tensor(x[:, i : i + 1]), cache).data for i in range(L)], axis=1)

    together = write(x)
    for b in range(B):
        close(together[b : b + 1], write(x[b : b + 1]))


@pytest.mark.parametrize(
    ("K", "V"),
    [
        (np.ones((2, 3, 6)), np.ones((2, 2, 5))),
        (np.ones((2, 3, 6)), np.ones((1, 3, 5))),
        (np.ones((2, 3, 6)), np.ones((2, 3, 4))),
        (np.ones((2, 3, 7)), np.ones((2, 3, 5))),
        (np.ones((1, 3, 6)), np.ones((1, 3, 5))),
        (np.ones(6), np.ones(5)),
        ("keys", np.ones((2, 3, 5))),
        (np.ones((2, 3, 6)), None),
    ],
)
@pytest.mark.parametrize("filled", [True, False])
def test_pieces_that_do_not_fit_change_nothing(K, V, filled):
    cache = KVCache()
    if filled:
        cache.append(np.ones((2, 4, 6)), np.ones((2, 4, 5)))
    elif np.shape(K)[:-1] == np.shape(V)[:-1] and np.ndim(K) > 1:
        return  # they fit each other, and an empty cache takes anything
    before = (cache.K, cache.V, len(cache))
    with pytest.raises((ValueError, TypeError)):
        cache.append(K, V)
    assert (cache.K, cache.V, len(cache)) == before


def test_a_cache_keeps_what_it_was_given_by_value():
    """A buffer that is filled again for each position."""
    cache, k, v = KVCache(), np.zeros((1, 2), np.float32), np.zeros((1, 3), np.float32)
    for position in range(3):
        k[:], v[:] = position, position
        keys, values = cache.append(k, v)
    assert keys.data[:, 0].tolist() == values.data[:, 0].tolist() == [0, 1, 2]


def test_a_cache_can_be_copied():
    cache = KVCache()
    cached_attention(MultiHeadAttention(6, 2), normal(9, B, 4, 6), cache)
    again = copy.deepcopy(cache)
    assert len(again) == 4
    np.testing.assert_array_equal(again.K.data, cache.K.data)


# --- grouped queries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("shape", [None, (L, S), (B, 1, L, S), (B, H, L, S), (1, H, 1, S)])
def test_grouped_queries_equal_repeated_heads(groups, shape):
    arrays = normal(2, B, H, L, D), normal(3, B, groups, S, D), normal(4, B, groups, S, DV)
    mask = None if shape is None else random_mask(5, *shape)
    few, many = ([Tensor(a, requires_grad=True) for a in arrays] for _ in range(2))
    heads = np.arange(H) // (H // groups)
    expected = scaled_dot_product_attention(many[0], many[1][:, heads], many[2][:, heads], mask)
    found = grouped_query_attention(*few, mask)
    for a, b in zip(found, expected, strict=True):
        close(a, b)
    grad = normal(6, B, H, L, DV)
    found[0].backward(grad)
    expected[0].backward(grad)
    for a, b in zip(few, many, strict=True):
        close(a.grad, b.grad)


# --- rotary embedding -------------------------------------------------------------------------------------------------


@given(seed=seeds, m=st.integers(0, 500), n=st.integers(0, 500), shift=st.integers(0, 2000))
def test_a_score_depends_on_the_distance_alone(seed, m, n, shift):
    q, k = (Tensor(normal(seed + i, 1, D), dtype=np.float64) for i in range(2))

    def score(m, n):
        return (rotary_embedding(q, offset=m) @ rotary_embedding(k, offset=n).transpose(0, 1)).item()

    assert score(m, n) == pytest.approx(score(m + shift, n + shift), abs=1e-9)


def test_positions_start_at_zero_and_lengths_stay():
    x = normal(7, B, H, L, D)
    turned = rotary_embedding(Tensor(x)).data
    np.testing.assert_array_equal(turned[..., 0, :], x[..., 0, :])
    close(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1))
    close(turned, references.rotary(x))
    close(rotary_embedding(Tensor(x[..., 4:, :]), offset=4).data, turned[..., 4:, :])


def test_keys_are_turned_once_and_kept():
    """Rotary embedding with a cache, step by step, equals the whole."""
    Q, K, V = (Tensor(normal(8 + i, B, H, L, D)) for i in range(3))
    expected, _ = scaled_dot_product_attention(rotary_embedding(Q), rotary_embedding(K), V, causal_mask(L))
    cache, rows = KVCache(), []
    for p in range(L):
        here = slice(p, p + 1)
        kept = cache.append(rotary_embedding(K[..., here, :], offset=p), V[..., here, :])
        rows.append(scaled_dot_product_attention(rotary_embedding(Q[..., here, :], offset=p), *kept)[0].data)
    close(np.concatenate(rows, axis=-2), expected)


# --- sliding window ---------------------------------------------------------------------------------------------------


@given(n=st.integers(1, 12), window=st.integers(1, 15))
def test_sliding_window(n, window):
    mask = sliding_window_mask(n, window)
    np.testing.assert_array_equal(mask, references.sliding_window(n, window))
    assert mask.sum(1).max() == min(n, window)
    if window >= n:
        np.testing.assert_array_equal(mask, causal_mask(n))


# --- tiles ------------------------------------------------------------------------------------------------------------


@given(
    lengths=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    block=st.integers(1, 14) | st.tuples(st.integers(1, 14), st.integers(1, 14)),
    causal=st.booleans(),
    masked=st.sampled_from([None, (), (1,), (B, 1), (B, 3)]),
    seed=seeds,
)
def test_tiles_equal_the_table(lengths, block, causal, masked, seed):
    """Outputs and gradients, in float64, for any lengths and blocks, with masks that broadcast."""
    L, S = (min(lengths), max(lengths)) if causal else lengths
    arrays = normal(seed, B, 3, L, D), normal(seed + 1, B, 3, S, D), normal(seed + 2, B, 3, S, DV)
    allowed = np.ones((L, S))
    given_mask = None
    if masked is not None and S > 1:
        given_mask = random_mask(seed + 3, *masked, L, S)
        if causal:
            given_mask[..., 0] = 1  # every query may look somewhere
        allowed = allowed * given_mask
    if causal:
        allowed = allowed * references.causal_for_last(L, S)
    plain, tiled = ([Tensor(a, requires_grad=True, dtype=np.float64) for a in arrays] for _ in range(2))
    expected, _ = scaled_dot_product_attention(*plain, mask=allowed)
    output = tiled_attention(*tiled, mask=given_mask, causal=causal, block=block)
    close(output, expected, 1e-9)
    grad = normal(seed + 4, *output.shape).astype(float)
    output.backward(grad)
    expected.backward(grad)
    for a, b in zip(tiled, plain, strict=True):
        close(a.grad, b.grad, 1e-9)


def test_gradients_equal_central_differences():
    arrays = [normal(20 + i, n, 3).astype(float) for i, n in enumerate((4, 6, 6))]
    grad = normal(23, 4, 3)

    def total(arrays):
        return (tiled_attention(*(Tensor(a, dtype=float) for a in arrays), causal=True, block=2).data * grad).sum()

    tensors = [Tensor(a, requires_grad=True, dtype=float) for a in arrays]
    tiled_attention(*tensors, causal=True, block=2).backward(grad)
    for n, tensor in enumerate(tensors):
        for index in np.ndindex(tensor.shape):
            up, down = ([a.copy() for a in arrays] for _ in range(2))
            up[n][index] += 1e-6
            down[n][index] -= 1e-6
            assert tensor.grad[index] == pytest.approx((total(up) - total(down)) / 2e-6, rel=1e-5, abs=1e-7)


def test_leading_axes_broadcast():
    """Grouped queries in tiles: an axis of length one for the heads of a group."""
    arrays = normal(30, B, 2, 3, L, D), normal(31, B, 2, 1, S, D), normal(32, 1, 1, 1, S, DV)
    plain, tiled = ([Tensor(a, requires_grad=True) for a in arrays] for _ in range(2))
    mask = random_mask(33, B, 1, 1, L, S)
    expected, _ = scaled_dot_product_attention(*plain, mask=mask)
    output = tiled_attention(*tiled, mask=Tensor(mask), block=4)
    close(output, expected)
    grad = normal(34, *output.shape)
    output.backward(grad)
    expected.backward(grad)
    for a, b in zip(tiled, plain, strict=True):
        close(a.grad, b.grad)


@pytest.mark.parametrize("level", [100.0, -100.0])
def test_large_scores(level):
    Q, K, V = normal(40, L, D, scale=30), normal(41, S, D, scale=30), normal(42, S, DV)
    K[:, 0] += level
    with np.errstate(all="raise", under="ignore"):
        output = tiled_attention(Tensor(Q), Tensor(K), Tensor(V), block=3)
    close(output.data, references.attention(Q, K, V)[0], 1e-3)


def test_a_query_that_may_look_nowhere_gets_zeros_and_gives_no_gradient():
    mask = random_mask(50, L, S)
    mask[2] = 0
    Q, K, V = (Tensor(normal(51 + i, n, D), requires_grad=True) for i, n in enumerate((L, S, S)))
    output = tiled_attention(Q, K, V, mask, block=4)
    np.testing.assert_array_equal(output.data[2], 0)
    only = np.zeros((L, D))
    only[2] = 1
    output.backward(only)
    for tensor in (Q, K, V):
        np.testing.assert_array_equal(tensor.grad, 0)


def test_the_future_is_not_touched():
    Q, K, V = (normal(60 + i, 12, D) for i in range(3))
    expected = tiled_attention(*map(Tensor, (Q, K, V)), causal=True, block=4).data
    K[8:], V[8:] = np.nan, np.nan
    found = tiled_attention(*map(Tensor, (Q, K, V)), causal=True, block=4).data
    np.testing.assert_array_equal(found[:8], expected[:8])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("level", [1000.0, 30.0, -1000.0])
def test_constant_inputs_share_evenly_however_large(causal, level):
    """In float32 a logsumexp near 8e6 has no digits left for the logarithm of the number of keys; gradients show it."""
    Q, K = (Tensor(np.full((n, 64), x), requires_grad=True) for n, x in ((L, level), (S, abs(level))))
    V = Tensor(normal(70, S, DV), requires_grad=True)
    allowed = references.causal_for_last(L, S) if causal else np.ones((L, S))
    shares = allowed / allowed.sum(1, keepdims=True)
    output = tiled_attention(Q, K, V, causal=causal, block=4)
    close(output, (shares @ V.data).astype(np.float32), 1e-5)
    grad = normal(71, L, DV)
    output.backward(grad)
    close(V.grad, shares.T @ grad, 1e-5)


@pytest.mark.parametrize("block", [1, 2, (128, 1024)])
def test_allowed_scores_near_the_value_of_blocked_ones(block):
    """A query whose only allowed score is -9e8 does look somewhere."""
    Q, K = Tensor([[-9e8], [1.0]], requires_grad=True), Tensor([[1.0], [0.5], [1.0]])
    V = Tensor([[1.0], [20.0], [3.0]], requires_grad=True)
    mask = np.array([[1, 0, 0], [0, 0, 0]])
    output = tiled_attention(Q, K, V, mask, block=block)
    np.testing.assert_array_equal(output.data, [[1], [0]])
    output.sum().backward()
    np.testing.assert_array_equal(V.grad, [[1], [0], [0]])


def test_mask_and_causal_together_may_leave_nothing():
    """The mask allows what causal forbids."""
    Q, K, V = (Tensor(normal(72 + i, 4, D), requires_grad=True) for i in range(3))
    mask = np.ones((4, 4))
    mask[1, :2] = 0
    output = tiled_attention(Q, K, V, mask, causal=True, block=2)
    np.testing.assert_array_equal(output.data[1], 0)
    others = [0, 2, 3]
    close(output.data[others], references.attention(Q.data, K.data, V.data, np.tril(mask))[0][others])
    output.backward(np.ones((4, D)))
    assert all(np.isfinite(t.grad).all() for t in (Q, K, V)) and (Q.grad[1] == 0).all()


def test_the_mask_is_kept_by_value():
    Q, K, V = (Tensor(normal(80 + i, 4, D), requires_grad=True) for i in range(3))
    mask = np.tril(np.ones((4, 4)))
    grads = []
    for spoil in (False, True):
        output = tiled_attention(Q, K, V, mask, block=2)
        mask[:] = 1 if spoil else mask
        output.backward(np.ones((4, D)))
        grads.append(K.grad)
        K.grad = None
    np.testing.assert_array_equal(*grads)


@pytest.mark.parametrize("block", [1, 3, (2, 5), (5, 2), (128, 1024)])
def test_causal_tiles_end_where_the_future_begins(block, monkeypatch):
    """No score is computed that none of the queries of its tile may see, forward or back."""
    from tinytorch.core import efficient_attention

    tiles, tile_scores = [], efficient_attention._tile_scores
    monkeypatch.setattr(
        efficient_attention, "_tile_scores", lambda *a, **k: tiles.append(a[2:4]) or tile_scores(*a, **k)
    )
    Q, K, V = (Tensor(normal(90 + i, n, D), requires_grad=True) for i, n in enumerate((L, S, S)))
    tiled_attention(Q, K, V, causal=True, block=block).backward(np.ones((L, D)))
    of_queries, of_keys = block if isinstance(block, tuple) else (block, block)
    for rows, keys in tiles:
        assert rows.stop - rows.start <= of_queries and 0 < keys.stop - keys.start <= of_keys
        assert keys.stop - 1 <= rows.stop - 1 + S - L
    seen = np.zeros((L, S))
    for rows, keys in tiles:
        seen[rows, keys] += 1
    assert (seen[references.causal_for_last(L, S) > 0] == 2).all()


def peak(length: int, gradient: bool) -> int:
    Q, K, V = (Tensor(normal(i, length, 16), requires_grad=gradient) for i in range(3))
    grad = normal(3, length, 16)
    tracemalloc.start()
    output = tiled_attention(Q, K, V, block=64)
    if gradient:
        output.backward(grad)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size


@pytest.mark.long
@pytest.mark.parametrize("gradient", [False, True])
def test_memory_is_linear_in_the_length(gradient):
    short, long = peak(1024, gradient), peak(4096, gradient)
    assert long < 4.5 * short
    assert long < 0.1 * 4 * 4096**2  # a tenth of a table


@pytest.mark.long
def test_a_mask_of_padding_is_never_made_as_large_as_the_scores():
    """Padding and causal together, the usual pair: a tenth of a table of booleans."""
    Q, K, V = (Tensor(normal(i, 4096, 8), requires_grad=True) for i in range(3))
    mask, grad = np.ones((1, 4096)), normal(3, 4096, 8)
    mask[:, 4000:] = 0
    tracemalloc.start()
    tiled_attention(Q, K, V, mask, causal=True, block=64).backward(grad)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < 0.1 * 4096**2


@pytest.mark.parametrize("level", [0.0, 100.0, -100.0])
def test_float16_with_masks_stays_finite(level):
    """A fully blocked row is zero; the others are those of float64."""
    K = Tensor(normal(85, 4, 6) + level, dtype=np.float16)
    mask = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]])
    tiled = tiled_attention(K, K, K, mask, block=2)
    assert tiled.dtype == np.float16 and (tiled.data[1] == 0).all()
    wide = tiled_attention(*(Tensor(K, dtype=np.float64) for _ in range(3)), mask)
    np.testing.assert_allclose(tiled.data, wide.data, rtol=2e-3, atol=2e-3)


def test_whole_numbers_promote_as_in_numpy():
    x = Tensor([[1, 2], [3, 5]], dtype=int)
    tiled = tiled_attention(x, x, x)
    assert tiled.dtype == np.float64
    close(tiled, scaled_dot_product_attention(x, x, x)[0], 1e-7)


def test_inside_no_grad_nothing_is_recorded():
    x = Tensor(normal(86, L, D), requires_grad=True)
    with no_grad():
        assert not tiled_attention(x, x, x).requires_grad


# --- shapes that are empty, or do not fit -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 2, 4), (2, 0, 4), (2, 3, 0)])
def test_empty_axes(shape):
    """No batch, no position, no width."""
    lead, length, width = shape
    x = Tensor(np.ones(shape), requires_grad=True)
    if width:
        output = tiled_attention(x, x, x)
        assert output.shape == shape
        output.sum().backward()
        assert cached_attention(MultiHeadAttention(width, 2), x, KVCache()).shape == shape
    four = Tensor(np.ones((lead, 2, length, width or 2)))
    assert grouped_query_attention(four, four[:, :1], four[:, :1])[0].shape == four.shape
    assert rotary_embedding(x).shape == shape and sliding_window_mask(0, 2).shape == (0, 0)


def test_without_keys_the_output_is_zero():
    q, k, v = (Tensor(np.ones(shape), requires_grad=True) for shape in ((2, 3, 4), (2, 0, 4), (2, 0, 5)))
    output = tiled_attention(q, k, v, mask=np.ones((3, 0)))
    np.testing.assert_array_equal(output.data, np.zeros((2, 3, 5)))
    output.sum().backward()
    np.testing.assert_array_equal(q.grad, 0)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_single_row_is_named(place):
    arguments = [normal(87, 2, 4, 6)] * 3
    arguments[place] = arguments[place][0, 0]
    with pytest.raises(ValueError, match=r"[QKV] has shape \(6,\), it must be \(..., positions, width\)"):
        tiled_attention(*arguments)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: rotary_embedding(x(L, 7)), r"x has shape \(9, 7\), it must be .* with an even width"),
        (lambda x: sliding_window_mask(4, 0), r"window is 0, it must be at least 1"),
        (
            lambda x: grouped_query_attention(x(B, 6, L, D), x(B, 4, S, D), x(B, 4, S, D)),
            r"K has shape \(2, 4, 13, 8\).*divides that of Q, 6",
        ),
        (lambda x: grouped_query_attention(x(6, L, D), x(6, S, D), x(6, S, D)), r"Q has shape \(6, 9, 8\), it must be"),
        (lambda x: tiled_attention(x(L, D), x(S, D), x(S + 1, D)), r"V has shape \(14, 8\)"),
        (lambda x: tiled_attention(x(L, D), x(S, D + 1), x(S, D)), r"K has shape \(13, 9\)"),
        (lambda x: tiled_attention(x(L, D), x(S, D), x(S, D), block=0), r"block is 0, it must be at least 1"),
        (
            lambda x: tiled_attention(x(L, D), x(S, D), x(S, D), block=(8, 0)),
            r"block is \(8, 0\), it must be at least 1",
        ),
        (lambda x: grouped_query_attention(x(B, 6, L, D), x(B, 0, S, D), x(B, 0, S, D)), r"divides that of Q, 6"),
        (
            lambda x: grouped_query_attention(x(B, 6, L, D), x(B, 3, S, D), x(B, 3, S, D), np.ones((L, L))),
            r"mask has shape \(9, 9\), it must broadcast to the shape of the scores, \(2, 6, 9, 13\)",
        ),
        (lambda x: cached_attention(MultiHeadAttention(D, 2), x(L, D), KVCache()), r"x has shape \(9, 8\), it must be"),
        (lambda x: tiled_attention(x(S, D), x(L, D), x(L, D), causal=True), r"13 queries need as many keys, not 9"),
        (lambda x: tiled_attention(x(2, L, D), x(3, S, D), x(3, S, D)), r"leading axes must be equal or 1"),
        (lambda x: tiled_attention(x(L, D), x(S, D), x(S, D), np.ones((L, L))), r"mask must broadcast to the scores"),
    ],
)
def test_bad_shapes_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(lambda *shape: Tensor(normal(0, *shape)))
