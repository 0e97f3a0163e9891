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
