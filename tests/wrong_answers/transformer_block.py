# --- no mask
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            x = x + self.attention(self.norm1(x))
        else:
            x = x + cached_attention(self.attention, self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- mask transposed
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        mask = causal_mask(x.shape[1]).T
        a = self.attention(self.norm1(x), mask=mask) if cache is None else cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- mask inverted
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        mask = 1 - causal_mask(x.shape[1])
        a = self.attention(self.norm1(x), mask=mask) if cache is None else cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- mask of a fixed size
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        mask = causal_mask(4)[: x.shape[1], : x.shape[1]]
        a = self.attention(self.norm1(x), mask=mask) if cache is None else cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no residual around attention
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return a + self.feed_forward(self.norm2(a))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no residual around the feed-forward layer
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return self.feed_forward(self.norm2(x + a))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no residual at all
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return self.feed_forward(self.norm2(a))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- residual after the norm, first half
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        if cache is None:
            a = self.attention(y, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, y, cache)
        x = y + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- residual after the norm, second half
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        y = self.norm2(x + a)
        return y + self.feed_forward(y)

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- residual after the norm, both
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        x = self.norm1(x)
        if cache is None:
            a = self.attention(x, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, x, cache)
        x = self.norm2(x + a)
        return x + self.feed_forward(x)

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- post-norm
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(x, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, x, cache)
        x = self.norm1(x + a)
        return self.norm2(x + self.feed_forward(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- the result of attention is normalised
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(x, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, x, cache)
        x = x + self.norm1(a)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no first norm
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(x, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, x, cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no second norm
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(x)

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no norm
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(x, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, x, cache)
        x = x + a
        return x + self.feed_forward(x)

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- norm1 twice
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm1(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- norms exchanged
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm2(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm2(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm1(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- both halves see x
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return x + a + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- the second half sees the first norm
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        if cache is None:
            a = self.attention(y, mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, y, cache)
        return x + a + self.feed_forward(y)

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- x is added in the second half
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x + a))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- x twice
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return x + (x + a) + self.feed_forward(self.norm2(x + a))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no feed-forward layer
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return x + a

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no attention
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- feed-forward layer first
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        x = x + self.feed_forward(self.norm1(x))
        if cache is None:
            a = self.attention(self.norm2(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm2(x), cache)
        return x + a

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- cache not used
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- an empty cache is false
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        a = cached_attention(self.attention, y, cache) if cache else self.attention(y, mask=causal_mask(x.shape[1]))
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- a new cache each time
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        x = x + cached_attention(self.attention, y, KVCache())
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- cached attention twice
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        if cache is None:
            cache = KVCache()
        cached_attention(self.attention, y, cache)
        x = x + cached_attention(self.attention, y, cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- without norm with a cache
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            x = x + self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            x = x + cached_attention(self.attention, x, cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- without residual with a cache
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            x = x + self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            x = cached_attention(self.attention, self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- cache given to attention
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        x = x + self.attention(y, mask=causal_mask(x.shape[1]), cache=cache)
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- a method of the layer
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        a = self.attention(y, mask=causal_mask(x.shape[1])) if cache is None else self.attention.cached_attention(y, cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- attention cut
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x + a.detach()
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- nothing returned
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        x = x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- a position does not see itself
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        mask = np.tril(np.ones((x.shape[1],) * 2), -1)
        a = self.attention(self.norm1(x), mask=mask) if cache is None else cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- no mask for two positions
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        mask = causal_mask(x.shape[1]) if x.shape[1] > 2 else None
        a = self.attention(self.norm1(x), mask=mask) if cache is None else cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- attention subtracted
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x - a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- normalised at the end
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        if cache is None:
            a = self.attention(self.norm1(x), mask=causal_mask(x.shape[1]))
        else:
            a = cached_attention(self.attention, self.norm1(x), cache)
        x = x + a
        return self.norm2(x + self.feed_forward(self.norm2(x)))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)


# --- the cache as a mask
class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.norm1, self.norm2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, 4 * embed_dim)

    def forward(self, x, cache=None):
        y = self.norm1(x)
        a = self.attention(y, mask=cache) if cache is not None else self.attention(y, mask=causal_mask(x.shape[1]))
        x = x + a
        return x + self.feed_forward(self.norm2(x))

    def parameters(self):
        parts = (self.norm1, self.attention, self.norm2, self.feed_forward)
        return [p for part in parts for p in part.parameters()]

    def __call__(self, x, cache=None):
        return self.forward(x, cache)
