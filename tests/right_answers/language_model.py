# --- a loop with numbers
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
        start = len(caches[0]) if caches is not None else 0
        x = self.symbols.weight[codes] + self.positions.weight[start : start + codes.shape[1]]
        for n in range(len(self.blocks)):
            x = self.blocks[n](x, caches[n] if caches is not None else None)
        x = self.norm(x)
        return self.head(x)

    def loss(self, codes):
        codes = np.asarray(codes)
        logits = self(codes)
        return cross_entropy(logits[:, :-1], codes[:, 1:])

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- own caches
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
        if caches is None:
            caches = self.new_caches()
        before = [len(cache) for cache in caches][0]
        places = self.positions(before + np.arange(codes.shape[-1]))
        x = places + self.symbols(codes)
        for block, cache in zip(self.blocks, caches):
            x = block(x, cache)
        return self.head(self.norm(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        inputs, targets = codes[:, :-1], codes[:, 1:]
        return cross_entropy(self.forward(inputs), targets)

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- text by text, and the loss by hand
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
        logits = self.forward(codes[:, :-1])
        targets = codes[:, 1:]
        shares = Softmax()(logits, dim=-1)
        b, i = np.indices(targets.shape)
        return -(shares[b, i, targets].log().mean())

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)


# --- keywords
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
        L = codes.shape[1]
        first = 0 if caches is None else len(caches[0])
        x = self.symbols(codes) + self.positions(np.tile(np.arange(first, first + L), (len(codes), 1)))
        for i, block in enumerate(self.blocks):
            x = block.forward(x) if caches is None else block.forward(x, cache=caches[i])
        return self.head.forward(self.norm.forward(x))

    def loss(self, codes):
        codes = np.asarray(codes)
        total = 0
        for text in codes:
            total = total + cross_entropy(self.forward(text[None, :-1])[0], text[1:])
        return total / len(codes)

    def new_caches(self):
        return [KVCache() for _ in self.blocks]

    def parameters(self):
        parts = (self.symbols, self.positions, *self.blocks, self.norm, self.head)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, codes, caches=None):
        return self.forward(codes, caches)
