# --- two triangles
def sliding_window_mask(seq_len, window):
    ones = np.ones((seq_len, seq_len))
    return np.tril(ones) - np.tril(ones, -window)
# --- a loop, booleans
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len), bool)
    for i in range(seq_len):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask
# --- triu of the causal mask
def sliding_window_mask(seq_len, window):
    return np.triu(causal_mask(seq_len), 1 - window)
