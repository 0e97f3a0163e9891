# --- loops
def causal_mask(seq_len):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i, j] = 1
    return mask
# --- booleans
def causal_mask(seq_len):
    return np.arange(seq_len)[:, None] >= np.arange(seq_len)
# --- a Tensor of one minus the upper triangle
def causal_mask(seq_len):
    return Tensor(1 - np.triu(np.ones((seq_len, seq_len)), k=1))
