# --- scaled_dot_product_attention written out
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = _apply_mask(scores, mask)
        self.attention_weights = Softmax()(scores)
        output = self.attention_weights @ V
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- nothing of ours called
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads != 0:
            raise ValueError("no")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        split = lambda t: t.reshape(t.shape[0], t.shape[1], self.num_heads, -1).transpose(1, 2)
        Q = split(self.q_proj(x))
        K = split(self.k_proj(context))
        V = split(self.v_proj(context))
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -np.inf)
        self.attention_weights = Softmax()(scores)
        output = self.attention_weights @ V
        return self.out_proj(output.transpose(1, 2).reshape(*x.shape))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- a loop over heads and a concatenation
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        from tinytorch.core.tensor import cat, stack

        Q, K, V = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        outputs, weights = [], []
        for h in range(self.num_heads):
            part = slice(h * self.head_dim, (h + 1) * self.head_dim)
            m = mask
            if mask is not None and mask.ndim == 4:
                m = mask[:, min(h, mask.shape[1] - 1)]
            o, w = scaled_dot_product_attention(Q[:, :, part], K[:, :, part], V[:, :, part], m)
            outputs.append(o)
            weights.append(w)
        self.attention_weights = stack(weights, dim=1)
        return self.out_proj(cat(outputs, dim=-1))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters in a list made once
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None
        self._all = self.q_proj.parameters() + self.k_proj.parameters() + self.v_proj.parameters() + self.out_proj.parameters()

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        return self._all
# --- projections in another order in parameters
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.out_proj, self.v_proj, self.k_proj, self.q_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask made a Tensor first
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None:
            mask = Tensor(mask)
            if len(mask.shape) == 3:
                mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights kept as an array
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        self.attention_weights = self.attention_weights.numpy()
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
