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
# --- a overwritten before b
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    even = even * cos - odd * sin
    odd = even * sin + odd * cos
    return stack([even, odd], dim=-1).reshape(x.shape)
# --- arange(offset, L)
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = np.arange(offset, L)[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- written into a zeros_like
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.zeros(x.shape)
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return Tensor(out)
# --- written into x
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = even * cos - odd * sin
    x[..., 1::2] = even * sin + odd * cos
    return x
# --- written into x.data
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    x.data[..., 0::2] = (even * cos - odd * sin).data
    x.data[..., 1::2] = (even * sin + odd * cos).data
    return x
# --- stack along the first axis
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=0).reshape(x.shape)
# --- concatenated halves and wrong reshape
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
# --- pairs exchanged in the result
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * sin + odd * cos, even * cos - odd * sin], dim=-1).reshape(x.shape)
# --- cos and sin exchanged
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * sin - odd * cos, even * cos + odd * sin], dim=-1).reshape(x.shape)
# --- odd part unchanged
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, odd], dim=-1).reshape(x.shape)
# --- even part unchanged
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- only the first part
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return even * cos - odd * sin
# --- the second part twice
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * cos - odd * sin], dim=-1).reshape(x.shape)
# --- even used for odd
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - even * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- odd used for even
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, odd * sin + odd * cos], dim=-1).reshape(x.shape)
# --- exponent without D
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** -np.arange(0, D, 2)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- xor for power
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ^ (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- precedence of minus
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** -np.arange(0, D, 2) / D
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- frequencies from 1
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(2, D + 2, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- too many angles
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(D) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- no new axis
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L)) * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- unpacking four
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    B, H, L, D = x.shape
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- slices of axis 1 and 2
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[:, :, 0::2], x[:, :, 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset only for the first row
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = np.concatenate([[offset], np.arange(1, L)])[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset times base
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = offset + np.arange(L)[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- offset default 1
def rotary_embedding(x, offset=1, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- base default 1000
def rotary_embedding(x, offset=0, base=1000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- floor division
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) // D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- no offset parameter
def rotary_embedding(x, base=10000.0):
    x = _check_pairs(x, 0, base)
    L, D = x.shape[-2:]
    angles = (np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- math.cos
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = math.cos(angles), math.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- return in one branch
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    if offset:
        return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- sines of the sum
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.cos(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- rotate_half with interleaved angles
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    half = cat([-x[..., D // 2 :], x[..., : D // 2]], dim=-1)
    c, s = np.repeat(cos, 2, -1), np.repeat(sin, 2, -1)
    return x * c + half * s
# --- neighbours turned with llama angles
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    half = stack([-odd, even], dim=-1).reshape(x.shape)
    c, s = np.concatenate([cos, cos], -1), np.concatenate([sin, sin], -1)
    return x * c + half * s
# --- neighbours turned without minus
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    half = stack([odd, even], dim=-1).reshape(x.shape)
    c, s = np.repeat(cos, 2, -1), np.repeat(sin, 2, -1)
    return x * c + half * s
# --- loop over the last pair missing
def rotary_embedding(x, offset=0, base=10000.0):
    y = x.data.copy()
    L, D = x.shape[-2:]
    for p in range(L):
        for i in range(D // 2 - 1):
            a = (offset + p) * base ** (-2 * i / D)
            y[..., p, 2 * i] = np.cos(a) * x.data[..., p, 2 * i] - np.sin(a) * x.data[..., p, 2 * i + 1]
            y[..., p, 2 * i + 1] = np.sin(a) * x.data[..., p, 2 * i] + np.cos(a) * x.data[..., p, 2 * i + 1]
    return Tensor(y)
# --- complex conjugate
def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    turn = np.exp(-1j * np.outer(np.arange(L) + offset, base ** (-np.arange(D // 2) * 2 / D)))
    z = (x.data[..., 0::2] + 1j * x.data[..., 1::2]) * turn
    return Tensor(np.stack([z.real, z.imag], axis=-1).reshape(x.shape))
# --- the angle as offset
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset * np.ones(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- scaled by the root
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    cos, sin = np.cos(angles), np.sin(angles)
    x = x / math.sqrt(D)
    even, odd = x[..., 0::2], x[..., 1::2]
    return stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).reshape(x.shape)
# --- a matrix from the other side
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    angles = (np.arange(L) + offset)[:, None] * base ** (-np.arange(0, D, 2) / D)
    c, s = np.cos(angles), np.sin(angles)
    turn = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)  # (L, D/2, 2, 2)
    pairs = x.reshape(*x.shape[:-1], D // 2, 1, 2)  # each pair a row vector
    return (pairs @ turn).reshape(x.shape)
# --- frequencies from linspace
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    half = x.shape[-1] // 2
    theta = base ** -np.linspace(0, 1, half)  # from 1 down to 1 / base
    angles = np.einsum("p,i->pi", offset + np.arange(x.shape[-2]), theta)
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    return stack([a * cos - b * sin, b * cos + a * sin], dim=-1).reshape(*x.shape)
# --- a table kept without its offset
_angle_tables = {}


def _angle_table(L, D, offset, base):
    if (L, D, base) not in _angle_tables:
        theta = base ** (-np.arange(0, D, 2) / D)
        angles = (offset + np.arange(L))[:, None] * theta
        _angle_tables[L, D, base] = np.cos(angles), np.sin(angles)
    return _angle_tables[L, D, base]


def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    cos, sin = _angle_table(x.shape[-2], x.shape[-1], offset, base)
    a, b = x[..., 0::2], x[..., 1::2]
    return stack([a * cos - b * sin, a * sin + b * cos], dim=-1).reshape(x.shape)
# --- turning begins at row offset
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    L, D = x.shape[-2:]
    position = np.arange(L) - offset
    position[position < 0] = 0  # not turned yet
    angle = position[:, None] * np.power(float(base), -np.arange(0, D, 2) / D)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., 0::2], x[..., 1::2]
    return stack([cos * a - sin * b, sin * a + cos * b], dim=-1).reshape(x.shape)
# --- positions counted by len(x)
def rotary_embedding(x, offset=0, base=10000.0):
    x = _check_pairs(x, offset, base)
    positions = np.arange(offset, offset + len(x))[:, None]
    width = x.shape[-1]
    angles = positions / base ** (np.arange(0, width, 2) / width)
    left, right = x[..., ::2], x[..., 1::2]
    turned = (
        left * np.cos(angles) - right * np.sin(angles),
        left * np.sin(angles) + right * np.cos(angles),
    )
    return stack(turned, dim=-1).reshape(x.shape)
# --- a table kept without its base
_tables = {}


def rotary_embedding(x, offset=0, base=10000.0):
    L, D = x.shape[-2:]
    if (L, D, offset) not in _tables:
        _tables[L, D, offset] = (offset + np.arange(L))[:, None] * base ** (-np.arange(0, D, 2) / D)
    angles = _tables[L, D, offset]
    a, b = x[..., 0::2], x[..., 1::2]
    return stack([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], dim=-1).reshape(x.shape)
