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
# --- python loops, off by one
def causal_mask(seq_len):
    m = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(i):
            m[i, j] = 1
    return m
# --- the last column lost
def causal_mask(seq_len):
    m = np.tril(np.ones((seq_len, seq_len)))
    m[:, -1] = 0
    return m
# --- a Tensor with gradient, of -inf
def causal_mask(seq_len):
    return Tensor(np.triu(np.full((seq_len, seq_len), -np.inf), 1))
# --- only the first row
def causal_mask(seq_len):
    m = np.ones((seq_len, seq_len))
    m[0, 1:] = 0
    return m
# --- flat
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len))).ravel()
# --- torch
def causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len))
# --- np.ones with two arguments
def causal_mask(seq_len):
    return np.tril(np.ones(seq_len, seq_len))
# --- zeros
def causal_mask(seq_len):
    return np.zeros((seq_len, seq_len))
# --- strings
def causal_mask(seq_len):
    return np.where(np.tril(np.ones((seq_len, seq_len))) > 0, "1", "0")
# --- arange
def causal_mask(seq_len):
    return np.arange(seq_len)[:, None] - np.arange(seq_len)
# --- a window of three
def causal_mask(seq_len):
    i = np.arange(seq_len)
    return (i[:, None] >= i) & (i[:, None] - i < 3)
# --- two leading axes
def causal_mask(seq_len):
    return np.tril(np.ones((1, 1, seq_len, seq_len)))
# --- a tuple
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len))), seq_len
# --- tridiagonal
def causal_mask(seq_len):
    i = np.arange(seq_len)
    return abs(i[:, None] - i) <= 1
# --- bool inverted
def causal_mask(seq_len):
    return ~np.tril(np.ones((seq_len, seq_len), bool))
# --- index beyond
def causal_mask(seq_len):
    m = np.zeros((seq_len, seq_len))
    for i in range(seq_len + 1):
        m[i, : i + 1] = 1
    return m
# --- Tensor write
def causal_mask(seq_len):
    m = Tensor(np.zeros((seq_len, seq_len)))
    for i in range(seq_len):
        m[i, : i + 1] = 1
    return m
# --- np.zeros args
def causal_mask(seq_len):
    m = np.zeros(seq_len)
    for i in range(seq_len):
        m[i, : i + 1] = 1
    return m
# --- generator
def causal_mask(seq_len):
    return (row for row in np.tril(np.ones((seq_len, seq_len))))
# --- strings typed
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, seq_len))).tolist()
# --- vstack wrong
def causal_mask(seq_len):
    return np.vstack([np.ones(i + 1) for i in range(seq_len)])
# --- function of args
def causal_mask(seq_len):
    return np.tril(np.ones((seq_len, len(seq_len))))
# --- np.triu transposed twice
def causal_mask(seq_len):
    return np.triu(np.ones((seq_len, seq_len))).T.T
# --- fliplr
def causal_mask(seq_len):
    return np.fliplr(np.tril(np.ones((seq_len, seq_len))))
# --- uses L
def causal_mask(seq_len):
    return np.tril(np.ones((L, L)))
# --- rows divided by their sums, an average over what came before
def causal_mask(seq_len):
    mask = np.tril(np.ones((seq_len, seq_len), dtype=np.float32))
    return mask / mask.sum(axis=1, keepdims=True)
# --- only itself and the one position before
def causal_mask(seq_len):
    itself = np.eye(seq_len, dtype=np.float32)
    before = np.eye(seq_len, k=-1, dtype=np.float32)
    return itself + before
