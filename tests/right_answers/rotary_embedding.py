# --- a rotated copy
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    positions = np.arange(offset, offset + L)
    theta = 1.0 / base ** (np.arange(D) // 2 * 2 / D)
    angles = np.outer(positions, theta)
    turned = stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(*x.shape)
    return x * np.cos(angles) + turned * np.sin(angles)
# --- a matrix for each position
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    turn = np.zeros((L, D, D))
    for p in range(L):
        for i in range(D // 2):
            a = (offset + p) * base ** (-2 * i / D)
            turn[p, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    return (x.reshape(*x.shape[:-1], 1, D) @ Tensor(turn)).reshape(x.shape)
# --- complex angles
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    turn = np.exp(1j * np.outer(np.arange(L) + offset, base ** (-np.arange(D // 2) * 2 / D)))
    pairs = x.reshape(*x.shape[:-1], D // 2, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    return stack([a * turn.real - b * turn.imag, a * turn.imag + b * turn.real], dim=x.ndim).reshape(x.shape)
