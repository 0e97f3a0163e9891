# --- halves
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., : D // 2], x[..., D // 2 :]
    return cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
# --- neighbours joined as halves
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
# --- the other way round
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos + odd * sin, odd * cos - even * sin], dim=-1).reshape(x.shape)
# --- both sines added
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos + odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- counted from 1
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + 1 + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- exponent -i / D
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(D // 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- exponent -4i / D
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / (D / 2))
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- exponent positive
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- no frequencies
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * np.ones(D // 2)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- degrees
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(np.radians(angles)), np.sin(np.radians(angles))
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- 2 pi
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = 2 * np.pi * (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- positions of axis 1
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    if x.ndim == 4:
        angles = (offset + np.arange(x.shape[1]))[:, None, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- positions of axis 0
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(x.shape[0])).reshape(-1, *[1] * (x.ndim - 1)) * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- three axes only
def rotary_embedding(x, offset=0, base=10000.0):
    B, L, D = x.shape
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset ignored
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset subtracted
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (np.arange(L) - offset)[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset multiplied
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (np.arange(L) * max(offset, 1))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- base ignored
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * 10000.0 ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- added, not turned
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return x + np.stack([sin, cos], axis=-1).reshape(L, D)
# --- no mixing
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos, odd * sin], dim=-1).reshape(x.shape)
# --- cut from the graph
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = Tensor(x.data[..., 0::2]), Tensor(x.data[..., 1::2])
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- odd part cut from the graph
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x.data[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- x as it was
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return x
