# --- no last norm
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(x)

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- norm before the blocks
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.norm(self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1])))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(x)

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- norm twice
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(self.norm(x)))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- no positions
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions in each block
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes)
        for block, cache in zip(self.blocks, caches):
            x = block(x + self.positions(np.arange(start, start + codes.shape[1])), cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions again in each block
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x + self.positions(np.arange(start, start + codes.shape[1])), cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions multiplied
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) * self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions from 1
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start + 1, start + codes.shape[1] + 1))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions from the end
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1])[::-1])
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions from 0 with caches
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- one position too early with caches
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else max(len(caches[0]) - 1, 0)
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- one position too late with caches
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0]) + 1
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- number of caches
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches)
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions asked by codes
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(codes)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- symbols asked by positions
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(np.arange(start, start + codes.shape[1])) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- one cache for all
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, caches[0])
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- caches not given to the blocks
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- an empty cache is false
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = len(caches[0]) if caches[0] else 0
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache) if cache else block(x)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- first block only
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks[:1], caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- last block only
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            y = block(x, cache)
        return self.head(self.norm(y))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- two blocks
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks[:2], caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- reverse order
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in list(zip(self.blocks, caches))[::-1]:
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- residual around blocks
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = x + block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- softmax at the end
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return Softmax()(self.head(self.norm(x)))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- last position only
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))[:, -1]

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- no head
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.norm(x)

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- tables as arrays
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = Tensor(self.symbols.weight.data[codes]) + self.positions.weight.data[start : start + codes.shape[1]]
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions as an array
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions.weight.data[start : start + codes.shape[1]]
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- no caches is no list
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        x = self.symbols(codes) + self.positions(np.arange(len(caches[0]), len(caches[0]) + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss shifted by nothing
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes), codes)

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss shifted by nothing, shorter
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, :-1])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss shifted the wrong way
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, 1:]), codes[:, :-1])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss shifted the wrong way, cut later
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes)[:, 1:], codes[:, :-1])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss shifted by two
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-2]), codes[:, 2:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss goes round
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes), np.roll(codes, -1, axis=1))

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss of all logits
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss as a sum
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]) * codes[:, 1:].size

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss of the last guess
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1])[:, -1], codes[:, -1])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss of the first text
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:1, :-1]), codes[:1, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- softmax before the loss
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(Softmax()(self.forward(codes[:, :-1])), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss cut
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return Tensor(cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]).item())

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss as a number
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]).item()

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- less than that of equal shares
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]) - math.log(len(self.symbols.weight))

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- positions after the blocks
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        x = x + self.positions(np.arange(start, start + codes.shape[1]))
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- loss in bits
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]) / math.log(2)

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- perplexity
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-1]), codes[:, 1:]).exp()

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- without the last guess
class LanguageModel:
    def __init__(self, vocabulary, length, embed_dim, num_heads, num_layers):
        self.length = length
        self.symbols = Embedding(vocabulary, embed_dim)
        self.positions = Embedding(length, embed_dim)
        self.blocks = [TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)]
        self.norm = LayerNorm(embed_dim)
        self.head = Linear(embed_dim, vocabulary)

    def forward(self, codes, caches=None):
        codes = np.asarray(codes)
        caches = caches or [None] * len(self.blocks)
        start = 0 if caches[0] is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.arange(start, start + codes.shape[1]))
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        return cross_entropy(self.forward(codes[:, :-2]), codes[:, 1:-1])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)
