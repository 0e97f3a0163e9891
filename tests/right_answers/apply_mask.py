# --- added
def _apply_mask(scores, mask):
    return scores + (1 - Tensor(mask)) * MASK_VALUE
# --- added, the other way round
def _apply_mask(scores, mask):
    return scores + (Tensor(mask) - 1) * 1e10
# --- the lowest float
def _apply_mask(scores, mask):
    return scores.masked_fill(np.asarray(mask) == 0, np.finfo(np.float32).min)
# --- -1e10
def _apply_mask(scores, mask):
    return scores.masked_fill(1 - Tensor(mask), -1e10)
# --- kept by a product, blocked by a sum
def _apply_mask(scores, mask):
    mask = Tensor(mask)
    return scores * mask + (1 - mask) * MASK_VALUE
