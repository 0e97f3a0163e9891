# --- always with a cache
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        x = x + cached_attention(self.attention, self.norm1(x), KVCache() if cache is None else cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- a mask by hand
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        L = x.shape[1]
        y = self.norm1.forward(x)
        if cache is not None:
            a = cached_attention(self.attention, y, cache)
        else:
            a = self.attention.forward(y, np.arange(L)[:, None] >= np.arange(L))
        middle = a + x
        return self.feed_forward.forward(self.norm2.forward(middle)) + middle

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- two functions in a loop
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        def attend(y):
            if cache is not None:
                return cached_attention(self.attention, y, cache)
            return self.attention(y, mask=causal_mask(y.shape[-2]))

        for norm, change in ((self.norm1, attend), (self.norm2, self.feed_forward)):
            x = x + change(norm(x))
        return x

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- an own class for the sum
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        class Residual:
            def __init__(self, norm, layer):
                self.norm, self.layer = norm, layer
        
            def __call__(self, x):
                return x + self.layer(self.norm(x))
        
        attend = lambda y: self.attention(y, mask=causal_mask(y.shape[1]))
        if cache is not None:
            attend = lambda y: cached_attention(self.attention, y, cache)
        return Residual(self.norm2, self.feed_forward)(Residual(self.norm1, attend)(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)
