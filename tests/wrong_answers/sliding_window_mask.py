# --- one too many
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (distance <= window)).astype(np.float32)
# --- one too few
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (distance < window - 1)).astype(np.float32)
# --- without itself
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 < distance) & (distance <= window)).astype(np.float32)
# --- both sides
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (abs(distance) < window).astype(np.float32)
# --- into the future
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance <= 0) & (distance > -window)).astype(np.float32)
# --- causal
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (0 <= distance).astype(np.float32)
# --- inverted
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (~((0 <= distance) & (distance < window))).astype(np.float32)
# --- outside the window
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (distance >= window).astype(np.float32)
# --- blocks
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (np.arange(seq_len)[:, None] // window == np.arange(seq_len) // window)).astype(np.float32)
# --- the first keys for all
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (np.arange(seq_len) < window)).astype(np.float32)
# --- scores
def sliding_window_mask(seq_len, window):
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return np.where((0 <= distance) & (distance < window), 0, -1e9)
# --- first rows empty
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(window - 1, seq_len):
        mask[i, i - window + 1 : i + 1] = 1
    return mask
# --- a negative start
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        mask[i, i - window + 1 : i + 1] = 1
    return mask
# --- fails with a long window
def sliding_window_mask(seq_len, window):
    assert window < seq_len
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((0 <= distance) & (distance < window)).astype(np.float32)
