# --- polarity of the article
def _apply_mask(scores, mask):
    return scores + Tensor(mask) * MASK_VALUE
# --- masked_fill the wrong way round
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 1, MASK_VALUE)
# --- multiplied
def _apply_mask(scores, mask):
    return scores * Tensor(mask)
# --- zero is not blocked
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, 0.0)
# --- minus ten
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, -10.0)
# --- minus ten, added
def _apply_mask(scores, mask):
    return scores + (1 - Tensor(mask)) * -10
# --- minus a thousand, added
def _apply_mask(scores, mask):
    return scores + (1 - Tensor(mask)) * -1000
# --- always causal
def _apply_mask(scores, mask):
    L, S = scores.shape[-2:]
    return scores.masked_fill(np.tril(np.ones((L, S))) == 0, MASK_VALUE)
# --- mask ignored
def _apply_mask(scores, mask):
    return scores
# --- first batch element's mask only
def _apply_mask(scores, mask):
    mask = Tensor(mask)
    if mask.ndim > 2:
        mask = mask[:1]
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- first matrix of the mask only
def _apply_mask(scores, mask):
    mask = Tensor(mask).data
    while mask.ndim > 2:
        mask = mask[0]
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- no broadcasting
def _apply_mask(scores, mask):
    blocked = np.asarray(mask) == 0
    filled = np.zeros(scores.shape, np.float32)
    filled[blocked] = MASK_VALUE
    return scores * Tensor(filled == 0) + Tensor(filled)
# --- scores changed in place
def _apply_mask(scores, mask):
    scores.data = np.where(np.asarray(mask) != 0, scores.data, MASK_VALUE).astype(np.float32)
    return scores
# --- scores changed on the way
def _apply_mask(scores, mask):
    masked = scores.masked_fill(mask == 0, MASK_VALUE)
    scores.data[...] = masked.data
    return masked
# --- mask changed in place
def _apply_mask(scores, mask):
    values = mask.data if isinstance(mask, Tensor) else mask
    masked = scores.masked_fill(values == 0, MASK_VALUE)
    values[...] = 1
    return masked
# --- booleans subtracted
def _apply_mask(scores, mask):
    values = mask.data if isinstance(mask, Tensor) else mask
    return scores + (np.ones_like(values) - values) * MASK_VALUE
# --- Tensor masks only
def _apply_mask(scores, mask):
    return scores.masked_fill(mask.data == 0, MASK_VALUE)
# --- cut from the graph
def _apply_mask(scores, mask):
    return Tensor(np.where(np.asarray(mask) != 0, scores.data, MASK_VALUE))
# --- huge and positive
def _apply_mask(scores, mask):
    return scores + (1 - Tensor(mask)) * 1e9
# --- transposed mask
def _apply_mask(scores, mask):
    mask = Tensor(mask)
    if mask.ndim > 1:
        mask = mask.transpose(-2, -1)
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- softmax included
def _apply_mask(scores, mask):
    return Softmax()(scores.masked_fill(mask == 0, MASK_VALUE))
# --- diagonal always allowed
def _apply_mask(scores, mask):
    allowed = np.maximum(np.asarray(mask), np.eye(*scores.shape[-2:]))
    return scores.masked_fill(allowed == 0, MASK_VALUE)
# --- blocked where the product with the mask is zero
def _apply_mask(scores, mask):
    kept = scores * Tensor(mask)
    return scores.masked_fill(kept == 0, MASK_VALUE)
# --- nan
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, np.nan)
# --- -inf, and nan for a row without allowed keys
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, -np.inf)
# --- -inf, added
def _apply_mask(scores, mask):
    return scores + Tensor(np.where(np.asarray(mask) != 0, 0, -np.inf))
# --- too low for float32
def _apply_mask(scores, mask):
    return scores + (Tensor(mask) - 1) * 1e39
# --- where of NumPy
def _apply_mask(scores, mask):
    return np.where(mask, scores, MASK_VALUE)
# --- where of values
def _apply_mask(scores, mask):
    return Tensor(np.where(Tensor(mask).data, scores.data, MASK_VALUE))
# --- minus mask plus one
def _apply_mask(scores, mask):
    return scores + (-mask + 1) * MASK_VALUE
# --- bool masks
def _apply_mask(scores, mask):
    return scores.masked_fill(~mask, MASK_VALUE)
# --- not mask
def _apply_mask(scores, mask):
    return scores.masked_fill(not mask, MASK_VALUE)
# --- if mask == 0
def _apply_mask(scores, mask):
    if mask == 0:
        return MASK_VALUE
    return scores
# --- indexed assignment
def _apply_mask(scores, mask):
    scores[mask == 0] = MASK_VALUE
    return scores
# --- indexed assignment on the data, in place
def _apply_mask(scores, mask):
    scores.data[np.asarray(mask) == 0] = MASK_VALUE
    return scores
# --- arguments of masked_fill exchanged
def _apply_mask(scores, mask):
    return scores.masked_fill(MASK_VALUE, mask == 0)
# --- multiplied by MASK_VALUE where blocked
def _apply_mask(scores, mask):
    return scores * (Tensor(mask) + (1 - Tensor(mask)) * MASK_VALUE)
# --- subtracts mask_value
def _apply_mask(scores, mask):
    return scores - (1 - Tensor(mask)) * MASK_VALUE
# --- rows of the mask
def _apply_mask(scores, mask):
    return scores.masked_fill(Tensor(mask).data.min(-1, keepdims=True) == 0, MASK_VALUE)
# --- reshaped to the scores
def _apply_mask(scores, mask):
    return scores.masked_fill(np.asarray(mask).reshape(scores.shape) == 0, MASK_VALUE)
# --- with head axis added
def _apply_mask(scores, mask):
    return scores.masked_fill(np.asarray(mask)[:, None] == 0, MASK_VALUE)
# --- mask is False
def _apply_mask(scores, mask):
    return scores.masked_fill(mask is False, MASK_VALUE)
# --- allowed to zero
def _apply_mask(scores, mask):
    return (1 - Tensor(mask)) * MASK_VALUE
# --- a loop with a fixed number of axes
def _apply_mask(scores, mask):
    m = np.asarray(mask)
    out = scores.data.copy()
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            if m[i, j] == 0:
                out[i, j] = MASK_VALUE
    return Tensor(out)
# --- no return
def _apply_mask(scores, mask):
    scores.masked_fill(mask == 0, MASK_VALUE)
# --- weights in place of scores
def _apply_mask(scores, mask):
    return Softmax()(scores) * Tensor(mask)
# --- only for a Tensor
def _apply_mask(scores, mask):
    if isinstance(mask, Tensor):
        return scores.masked_fill(mask == 0, MASK_VALUE)
    return scores
# --- only for a Tensor, no return
def _apply_mask(scores, mask):
    if isinstance(mask, Tensor):
        return scores.masked_fill(mask == 0, MASK_VALUE)
# --- two axes only, else ignored
def _apply_mask(scores, mask):
    if mask.ndim == 2:
        return scores.masked_fill(mask == 0, MASK_VALUE)
    return scores
# --- an offset everywhere
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, MASK_VALUE) + 1
# --- scaled again
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, MASK_VALUE) / math.sqrt(scores.shape[-1])
# --- rows without keys
def _apply_mask(scores, mask):
    m = np.asarray(mask)
    m = m / m.sum(-1, keepdims=True)
    return scores.masked_fill(m == 0, MASK_VALUE)
# --- scores where mask
def _apply_mask(scores, mask):
    return scores.where(mask, MASK_VALUE)
# --- masked_fill_
def _apply_mask(scores, mask):
    return scores.masked_fill_(mask == 0, MASK_VALUE)
# --- mask.bool()
def _apply_mask(scores, mask):
    return scores.masked_fill(mask.bool() == False, MASK_VALUE)
# --- mask.astype
def _apply_mask(scores, mask):
    return scores.masked_fill(mask.astype(bool) == False, MASK_VALUE)
# --- mask.numpy()
def _apply_mask(scores, mask):
    return scores.masked_fill(mask.numpy() == 0, MASK_VALUE)
# --- mask == 0 added
def _apply_mask(scores, mask):
    return scores + (mask == 0) * MASK_VALUE * 1e-9
# --- broadcasts wrongly
def _apply_mask(scores, mask):
    return scores.masked_fill(np.broadcast_to(np.asarray(mask), scores.shape[::-1]) == 0, MASK_VALUE)
# --- only first query
def _apply_mask(scores, mask):
    m = np.array(Tensor(mask).data)
    m = m[..., :1, :] if m.ndim > 1 else m
    return scores.masked_fill(m == 0, MASK_VALUE)
# --- keys by any
def _apply_mask(scores, mask):
    m = np.array(Tensor(mask).data)
    m = m.max(-2, keepdims=True) if m.ndim > 1 else m
    return scores.masked_fill(m == 0, MASK_VALUE)
# --- value minus scores max
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, MASK_VALUE) - scores.max()
# --- returns mask
def _apply_mask(scores, mask):
    return Tensor(mask)
# --- return both
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, MASK_VALUE), mask
# --- tanh
def _apply_mask(scores, mask):
    s = scores.masked_fill(mask == 0, MASK_VALUE)
    return Tensor(np.tanh(s.data))
# --- check shape
def _apply_mask(scores, mask):
    assert mask.shape == scores.shape
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- raise for ndim
def _apply_mask(scores, mask):
    if mask.ndim != 2:
        raise ValueError('mask must have two axes')
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- empty rows kept open
def _apply_mask(scores, mask):
    m = np.array(Tensor(mask).data)
    m = np.where(m.sum(-1, keepdims=True) == 0, 1, m)
    return scores.masked_fill(m == 0, MASK_VALUE)
# --- masked softmax
def _apply_mask(scores, mask):
    e = scores.exp() * Tensor(mask)
    return e / e.sum(-1, keepdim=True)
# --- multiply then fill zeros
def _apply_mask(scores, mask):
    s = scores * Tensor(mask)
    return s.masked_fill(s == 0, MASK_VALUE)
# --- MASK_VALUE typed
def _apply_mask(scores, mask):
    return scores.masked_fill(mask == 0, 'MASK_VALUE')
# --- mask == None
def _apply_mask(scores, mask):
    if mask == None:
        return scores
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- diag
def _apply_mask(scores, mask):
    m = np.asarray(mask) * (1 - np.eye(*scores.shape[-2:]))
    return scores.masked_fill(m == 0, MASK_VALUE)
# --- diagonal only
def _apply_mask(scores, mask):
    return scores.masked_fill(np.eye(*scores.shape[-2:]) == 0, MASK_VALUE)
# --- loop over batch
def _apply_mask(scores, mask):
    from tinytorch.core.tensor import stack
    return stack([s.masked_fill(m == 0, MASK_VALUE) for s, m in zip(scores, Tensor(mask))])
# --- shifted up by 1e9 and back, float32 forgets the scores
def _apply_mask(scores, mask):
    mask = _check_mask(scores, mask)  # an array
    above = scores - MASK_VALUE  # blocked is 0 now
    return above * mask + MASK_VALUE
# --- causal mask always multiplied in
def _apply_mask(scores, mask):
    mask = _check_mask(scores, mask)  # an array
    allowed = mask * causal_mask(scores.shape[-1])
    return scores.masked_fill(allowed == 0, MASK_VALUE)
# --- np.resize in place of broadcasting
def _apply_mask(scores, mask):
    mask = _check_mask(scores, mask)  # an array
    mask = np.resize(mask, scores.shape)
    return scores.masked_fill(mask == 0, MASK_VALUE)
# --- blocked keys get the lowest score there is
def _apply_mask(scores, mask):
    mask = _check_mask(scores, mask)  # an array
    lowest = scores.data.min(axis=-1, keepdims=True)
    forbidden = np.broadcast_to(mask == 0, scores.shape)
    # keep what is allowed, put something low elsewhere
    return scores.masked_fill(forbidden, 0.0) + forbidden * lowest
# --- the mask of the first sentence for the whole batch
def _apply_mask(scores, mask):
    mask = _check_mask(scores, mask)  # an array
    while mask.ndim > 2:
        mask = mask[0]  # down to (L, S), the rest broadcasts
    return scores + (1 - mask) * MASK_VALUE
