# --- lists
class KVCache:
    def __init__(self):
        self.keys, self.values = [], []

    def append(self, K, V):
        self.keys.append(K)
        self.values.append(V)
        return cat(self.keys, dim=K.ndim - 2), cat(self.values, dim=V.ndim - 2)

    def __len__(self):
        return sum(K.shape[-2] for K in self.keys)
# --- memory that doubles
class KVCache:
    def __init__(self):
        self.held, self.length = None, 0

    def append(self, K, V):
        new = [np.asarray(K), np.asarray(V)]
        L = new[0].shape[-2]
        if self.held is None:
            self.held = [np.zeros((*a.shape[:-2], 4, a.shape[-1]), a.dtype) for a in new]
        while self.length + L > self.held[0].shape[-2]:
            self.held = [np.concatenate([a, np.zeros_like(a)], axis=-2) for a in self.held]
        for a, b in zip(self.held, new):
            a[..., self.length : self.length + L, :] = b
        self.length += L
        return tuple(Tensor(a[..., : self.length, :]) for a in self.held)

    def __len__(self):
        return self.length
