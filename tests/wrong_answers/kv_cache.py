# --- new positions first
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([K, self.K], dim=-2)
        self.V = V if self.V is None else cat([V, self.V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- nothing kept
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else K
        self.V = V if self.V is None else V
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- nothing added
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else self.K
        self.V = V if self.V is None else self.V
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- joined along the width
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-1)
        self.V = V if self.V is None else cat([self.V, V], dim=-1)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- joined along axis 2
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=2)
        self.V = V if self.V is None else cat([self.V, V], dim=2)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- joined along axis 1
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=1)
        self.V = V if self.V is None else cat([self.V, V], dim=1)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- joined along the batch
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=0)
        self.V = V if self.V is None else cat([self.V, V], dim=0)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- the last two calls only
class KVCache:
    def __init__(self):
        self.last, self.length = None, 0

    def append(self, K, V):
        last, self.last = self.last, (K, V)
        self.length += K.shape[-2]
        if last is None:
            return K, V
        return cat([last[0], K], dim=-2), cat([last[1], V], dim=-2)

    def __len__(self):
        return self.length
# --- values exchanged with keys
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.V, self.K

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- keys only
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- nothing returned
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- length is the number of calls
class KVCache:
    def __init__(self):
        self.K = self.V = None
        self.calls = 0

    def append(self, K, V):
        self.calls += 1
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return self.calls
# --- length is the width
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-1]
# --- length is the batch size
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else len(self.K)
# --- no length
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V
# --- one list for all caches
class KVCache:
    keys, values = [], []

    def append(self, K, V):
        self.keys.append(K)
        self.values.append(V)
        return cat(self.keys, dim=-2), cat(self.values, dim=-2)

    def __len__(self):
        return sum(K.shape[-2] for K in self.keys)
# --- earlier results grow
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        if self.K is None:
            self.K, self.V = Tensor(K), Tensor(V)
        else:
            self.K.data = np.concatenate([self.K.data, K.data], axis=-2)
            self.V.data = np.concatenate([self.V.data, V.data], axis=-2)
        return self.K, self.V

    def __len__(self):
        return 0 if self.K is None else self.K.shape[-2]
# --- no length while it is empty
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return self.K.shape[-2]
# --- one position while it is empty
class KVCache:
    def __init__(self):
        self.K = self.V = None

    def append(self, K, V):
        self.K = K if self.K is None else cat([self.K, K], dim=-2)
        self.V = V if self.V is None else cat([self.V, V], dim=-2)
        return self.K, self.V

    def __len__(self):
        return 1 if self.K is None else self.K.shape[-2]
