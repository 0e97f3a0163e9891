# --- upper triangle
def causal_mask(seq_len):
    return np.triu(np.ones((seq_len, seq_len)))
# --- diagonal lost
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len)), k=-1)
# --- one of the future
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len)), k=1)
# --- inverted
def causal_mask(seq_len):
    return 1 - np.tril(np.ones((seq_len, seq_len)))
# --- scores, not a mask
def causal_mask(seq_len):
    return np.triu(np.full((seq_len, seq_len), -1e9), k=1)
# --- all ones
def causal_mask(seq_len):
    return np.ones((seq_len, seq_len))
# --- fixed size
def causal_mask(seq_len):
    return np.tril(np.ones((3, 3)))
# --- a batch axis
def causal_mask(seq_len):
    return np.tril(np.ones((1, seq_len, seq_len)))
# --- a list
def causal_mask(seq_len):
    return [[int(j <= i) for j in range(seq_len)] for i in range(seq_len)]
# --- twos
def causal_mask(seq_len):
    return 2 * np.tril(np.ones((seq_len, seq_len)))
