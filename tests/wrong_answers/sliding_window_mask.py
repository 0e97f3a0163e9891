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
# --- a loop, one too many
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(max(0, i - window), i + 1):
            mask[i, j] = 1
    return mask
# --- a loop without the query itself
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(max(0, i - window + 1), i):
            mask[i, j] = 1
    return mask
# --- loop index out of range
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(i, i + window):
            mask[i, j] = 1
    return mask
# --- loop with negative index wraps
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        for j in range(window):
            mask[i, i - j] = 1
    return mask
# --- chained comparison
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (0 <= distance < window).astype(np.float32)
# --- or
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) | (distance < window)).astype(np.float32)
# --- precedence
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (distance >= 0 & distance < window).astype(np.float32)
# --- only the diagonal of the window
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) & (distance == window - 1)).astype(np.float32)
# --- the diagonal
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (distance == 0).astype(np.float32)
# --- batch axis
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) & (distance < window)).astype(np.float32)[None]
# --- triu plus
def sliding_window_mask(seq_len, window):
    return causal_mask(seq_len) * np.triu(np.ones((seq_len, seq_len)), window)
# --- tril difference
def sliding_window_mask(seq_len, window):
    return np.tril(np.ones((seq_len, seq_len))) - np.tril(np.ones((seq_len, seq_len)), window)
# --- causal_mask without argument
def sliding_window_mask(seq_len, window):
    return causal_mask() * np.triu(np.ones((seq_len, seq_len)), 1 - window)
# --- a size of window
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(window)
    return ((distance >= 0) & (distance < window)).astype(np.float32)
# --- floats 1 and 2
def sliding_window_mask(seq_len, window):
    return causal_mask(seq_len) + np.triu(np.ones((seq_len, seq_len)), 1 - window)
# --- one argument
def sliding_window_mask(seq_len):
    return causal_mask(seq_len)
# --- a diag of negative length
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for k in range(window):
        mask += np.diag(np.ones(seq_len - k), -k)
    return mask
# --- return inside the loop
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        mask[i, max(0, i - window + 1) : i + 1] = 1
        return mask
# --- short windows only
def sliding_window_mask(seq_len, window):
    if window < seq_len:
        distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
        return ((distance >= 0) & (distance < window)).astype(np.float32)
# --- window longer gives ones
def sliding_window_mask(seq_len, window):
    if window >= seq_len:
        return np.ones((seq_len, seq_len))
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return ((distance >= 0) & (distance < window)).astype(np.float32)
# --- numpy ones wrongly
def sliding_window_mask(seq_len, window):
    return np.tril(np.ones(seq_len, seq_len)) * np.triu(np.ones(seq_len, seq_len), 1 - window)
# --- centred
def sliding_window_mask(seq_len, window):
    _check_window(window)
    distance = np.arange(seq_len)[:, None] - np.arange(seq_len)
    return (abs(distance) <= window // 2).astype(np.float32)
# --- a set of pairs
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    pairs = [(i, j) for i in range(seq_len) for j in range(seq_len) if i - j < window]
    for i, j in pairs:
        mask[i, j] = 1
    return mask
# --- step of the range
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(0, seq_len, window):
        mask[i, max(0, i - window + 1) : i + 1] = 1
    return mask
# --- columns filled
def sliding_window_mask(seq_len, window):
    mask = np.zeros((seq_len, seq_len))
    for i in range(seq_len):
        mask[max(0, i - window + 1) : i + 1, i] = 1
    return mask
# --- one zero array of rows
def sliding_window_mask(seq_len, window):
    rows = [[0] * seq_len] * seq_len
    for i in range(seq_len):
        for j in range(max(0, i - window + 1), i + 1):
            rows[i][j] = 1
    return np.array(rows)
# --- np.roll
def sliding_window_mask(seq_len, window):
    row = np.zeros(seq_len)
    row[:window] = 1
    return np.stack([np.roll(row, i) for i in range(seq_len)])
# --- only the diagonal before the window blocked
def sliding_window_mask(seq_len, window):
    _check_window(window)
    allowed = causal_mask(seq_len)
    too_far = np.eye(seq_len, k=-window, dtype=np.float32)
    return allowed - too_far
# --- positions in uint8
def sliding_window_mask(seq_len, window):
    _check_window(window)
    pos = np.arange(seq_len).astype(np.uint8)
    distance = pos[:, None] - pos  # never negative in uint8, so < window says it all
    return np.where(distance < window, 1.0, 0.0).astype(np.float32)
# --- a long window cut to seq_len - 1
def sliding_window_mask(seq_len, window):
    _check_window(window)
    window = min(window, seq_len - 1)  # it cannot be longer than what is there
    causal = np.tri(seq_len, dtype=np.float32)
    too_old = np.tri(seq_len, k=-window, dtype=np.float32)
    return causal - too_old
# --- power of the neighbours' mask
def sliding_window_mask(seq_len, window):
    _check_window(window)
    # one step: myself and my neighbour on the left; window - 1 steps reach window - 1 back
    step = np.eye(seq_len) + np.eye(seq_len, k=-1)
    return np.linalg.matrix_power(step, int(window) - 1).astype(np.float32)
