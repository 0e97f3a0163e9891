# --- mask ignored
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
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask dropped by __call__
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
        return self.forward(x, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context dropped by __call__
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
        return self.forward(x, mask=mask)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context not taken by __call__
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

    def __call__(self, x, mask=None):
        return self.forward(x, mask=mask)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- __call__ takes x only
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

    def __call__(self, x):
        return self.forward(x)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- three axes not given a head axis
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
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- three axes only
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
            B, L, S = mask.shape
            mask = mask.reshape(B, 1, L, S)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- masks with four axes dropped
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
        if mask is not None and mask.ndim == 4:
            mask = None
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- first batch element's mask
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
            mask = mask[0]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- head axis in the wrong place
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
            mask = mask.reshape(1, *mask.shape)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask inverted
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
        if mask is not None:
            mask = 1 - Tensor(mask)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- always causal
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
        L, S = x.shape[1], context.shape[1]
        mask = np.tril(np.ones((L, S)))
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- causal without a mask
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
        if mask is None:
            mask = causal_mask(max(x.shape[1], context.shape[1]))[: x.shape[1], : context.shape[1]]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- no output projection
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
        return _merge_heads(output)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- output projection twice
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
        return self.out_proj(self.out_proj(_merge_heads(output)))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- keys and values swapped
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
        K = _split_heads(self.v_proj(context), self.num_heads)
        V = _split_heads(self.k_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- queries and keys swapped
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
        Q = _split_heads(self.k_proj(x), self.num_heads)
        K = _split_heads(self.q_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- one projection for all
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
        K = _split_heads(self.q_proj(context), self.num_heads)
        V = _split_heads(self.q_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- one projection for keys and values
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
        V = _split_heads(self.k_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- one layer object for all
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = self.q_proj
        self.v_proj = self.q_proj
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- values not projected
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
        V = _split_heads(context, self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- keys not projected
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
        K = _split_heads(context, self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- heads not split
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
        Q = _split_heads(self.q_proj(x), 1)
        K = _split_heads(self.k_proj(context), 1)
        V = _split_heads(self.v_proj(context), 1)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- width of a head as number of heads
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
        Q = _split_heads(self.q_proj(x), self.head_dim)
        K = _split_heads(self.k_proj(context), self.head_dim)
        V = _split_heads(self.v_proj(context), self.head_dim)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- split by a bare reshape
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
        Q = self.q_proj(x).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        K = self.k_proj(context).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        V = self.v_proj(context).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- split and merged by bare reshapes
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
        Q = self.q_proj(x).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        K = self.k_proj(context).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        V = self.v_proj(context).reshape(x.shape[0], self.num_heads, -1, self.head_dim)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(output.reshape(*x.shape))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- merged by a bare reshape
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
        return self.out_proj(output.reshape(*x.shape))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- scaled by the embedding width
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
        scores = _compute_attention_scores(Q, K) / math.sqrt(self.embed_dim)
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
# --- not scaled
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
        scores = _compute_attention_scores(Q, K)
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
# --- residual
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
        return x + self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- dropout
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
        output = self.out_proj(_merge_heads(output))
        return output * (np.random.rand(*output.shape) > 0.1) / 0.9

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- a tuple returned
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
        return self.out_proj(_merge_heads(output)), self.attention_weights

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- nothing returned
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
        self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters lacks out_proj
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
        layers = (self.q_proj, self.k_proj, self.v_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters repeats q_proj
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
        layers = (self.q_proj, self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters twice q_proj, no k_proj
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
        layers = (self.q_proj, self.q_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters gives weights only
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [layer.weight for layer in layers]
# --- parameters gives layers
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return list(layers)
# --- biases ignored
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
        Q = _split_heads(x @ self.q_proj.weight, self.num_heads)
        K = _split_heads(context @ self.k_proj.weight, self.num_heads)
        V = _split_heads(context @ self.v_proj.weight, self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return _merge_heads(output) @ self.out_proj.weight

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers without biases
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = Linear(embed_dim, embed_dim, bias=False)
        self.out_proj = Linear(embed_dim, embed_dim, bias=False)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers created in each call
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
        self.q_proj, self.k_proj = Linear(self.embed_dim, self.embed_dim), Linear(self.embed_dim, self.embed_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- cut before out_proj
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
        return self.out_proj(Tensor(_merge_heads(output).data))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- queries and keys cut
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
        Q = _split_heads(Tensor(self.q_proj(x).data), self.num_heads)
        K = _split_heads(Tensor(self.k_proj(context).data), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- values cut
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
        V = _split_heads(Tensor(self.v_proj(context).data), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- result cut
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
        return Tensor(self.out_proj(_merge_heads(output)).data)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- x cut
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
        x = Tensor(x.data)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- batch elements mixed
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
        K = _split_heads(self.k_proj(context[::-1]), self.num_heads)
        V = _split_heads(self.v_proj(context[::-1]), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- division not checked
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- division checked by an assert
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        assert embed_dim % num_heads == 0
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights not kept
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
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights averaged over heads
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
        self.attention_weights = self.attention_weights.mean(1)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights of the first head
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
        self.attention_weights = self.attention_weights[:, 0]
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context gives the queries
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
        Q = _split_heads(self.q_proj(context), self.num_heads)
        K = _split_heads(self.k_proj(x), self.num_heads)
        V = _split_heads(self.v_proj(x), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- values from x
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
        V = _split_heads(self.v_proj(x), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context gives everything
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
        Q = _split_heads(self.q_proj(context), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- length of x for the context
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
        K = self.k_proj(context).reshape(x.shape[0], x.shape[1], self.num_heads, self.head_dim).transpose(1, 2)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- x changed in place
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
        x.data -= x.data.mean()
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- one head only where there are several
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
        output = output * (np.arange(self.num_heads) == 0)[:, None, None]
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- wrong only with one head
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
        return self.out_proj(_merge_heads(output)) * (1 if self.num_heads > 1 else 2)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- wrong only for a single position
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
        return self.out_proj(_merge_heads(output)) * (1 if x.shape[1] > 1 else 2)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- masks with four axes need all heads
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
        if mask is not None and mask.ndim == 4:
            mask = Tensor(mask).reshape(x.shape[0], self.num_heads, x.shape[1], -1)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- the first call's keys are kept
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
        if not hasattr(self, "_kept"):
            self._kept = context
        K = _split_heads(self.k_proj(self._kept), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- the first mask is kept
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
        if not hasattr(self, "_mask"):
            self._mask = mask
        mask = self._mask
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context of the same length taken for x
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
        K = _split_heads(self.k_proj(x if context.shape == x.shape else context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- input and output in another order of heads
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
        return self.out_proj(_merge_heads(output[:, ::-1]))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- masks of two axes dropped
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
        if mask is not None and mask.ndim == 2:
            mask = None
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers as wide as there are heads
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(num_heads, embed_dim)
        self.k_proj = Linear(num_heads, embed_dim)
        self.v_proj = Linear(num_heads, embed_dim)
        self.out_proj = Linear(num_heads, embed_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers as wide as a head
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, self.head_dim)
        self.k_proj = Linear(embed_dim, self.head_dim)
        self.v_proj = Linear(embed_dim, self.head_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- cannot be called
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

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context or x
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
        context = context or x
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context ignored
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
        context = x
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context for queries
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
        Q = _split_heads(self.q_proj(context), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask[:, None] always
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
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask with if mask
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
        if mask and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask.dim()
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
        if mask is not None and mask.dim() == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask no None test
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
        if mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask passed as fourth wrong name
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
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, attn_mask=mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- sdpa result not unpacked
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
        output = scaled_dot_product_attention(Q, K, V, mask)
        self.attention_weights = None
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- sdpa results swapped
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
        self.attention_weights, output = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- sdpa arguments swapped Q K
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
        output, self.attention_weights = scaled_dot_product_attention(K, Q, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- split without num_heads
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
        Q = _split_heads(self.q_proj(x))
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- merge forgotten
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
        return self.out_proj(output)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- K not split
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
        K = self.k_proj(context)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- head_dim not set
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- num_heads not kept
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.head_dim = embed_dim, embed_dim // num_heads
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- Linear(num_heads, embed_dim) for one
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(num_heads, embed_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- other names
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.W_q = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        Q = _split_heads(self.W_q(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.W_q, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters nothing
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
        [p for l in (self.q_proj, self.k_proj) for p in l.parameters()]
# --- parameters copies
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
        return [Tensor(p) for l in (self.q_proj, self.k_proj, self.v_proj, self.out_proj) for p in l.parameters()]
# --- parameters from weights with None
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
        return [self.q_proj.weight, self.k_proj.weight, self.v_proj.weight, self.out_proj.weight, None]
# --- parameters without parentheses
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters]
# --- no parameters
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
# --- no __call__
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

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- __call__ swaps
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
        return self.forward(x, context, mask)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- __call__ calls itself
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
        return self(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- forward does not take context
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None):
        context = x
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- matmul with the layer
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
        Q = _split_heads(x @ self.q_proj, self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights only by hand
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
        Q = _split_heads(x @ self.q_proj.weight, self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- check arguments exchanged
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(num_heads, embed_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention weights as scores
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
        self.attention_weights = _compute_attention_scores(Q, K)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention weights without mask
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
        self.attention_weights = scaled_dot_product_attention(Q, K, V)[1]
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention weights kept from the first call
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
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        if self.attention_weights is None:
            self.attention_weights = weights
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- causal flag
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
        if mask is None and context is x:
            mask = causal_mask(x.shape[1])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- q and k share layer
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = self.q_proj
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- k from x
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
        K = _split_heads(self.k_proj(x), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- batch loop, first
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
        Q = _split_heads(self.q_proj(x[:1]), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask on self kept
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
        self.mask = mask if mask is not None else getattr(self, 'mask', None)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, self.mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- x detached in q
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
        Q = _split_heads(self.q_proj(Tensor(x.data)), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask for context ignored
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
        if context is not x:
            mask = None
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- super init
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.dropout = dropout
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- head split transposed by hand
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
        B, L, E = x.shape
        Q = self.q_proj(x).reshape(B, L, self.num_heads, self.head_dim)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask inverted for three
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
            mask = 1 - mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask any over the batch
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
            mask = np.asarray(mask).max(0)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask first of three
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
            mask = mask[0]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- context only for K
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
        V = _split_heads(self.v_proj(x), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- concatenated context
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
        from tinytorch.core.tensor import cat
        context = x if context is None else cat([x, context], 1)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- head loop with full masks
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
        from tinytorch.core.tensor import cat
        outs = [scaled_dot_product_attention(Q[:, h], K[:, h], V[:, h], mask) for h in range(self.num_heads)]
        output, self.attention_weights = cat([o for o, _ in outs], 1), cat([w for _, w in outs], 1)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- split helper result transposed
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
        Q = _split_heads(self.q_proj(x), self.num_heads).transpose(1, 2)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- scaled twice
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
        Q = _split_heads(self.q_proj(x), self.num_heads) / math.sqrt(self.head_dim)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- out_proj applied to x
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
        return self.out_proj(x)

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask as bool only
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
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask if mask is None else ~mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask only two axes
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
        if mask is not None and mask.ndim != 2:
            raise ValueError('mask')
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- mask 4 reduced to the first head
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
        if mask is not None and mask.ndim == 4:
            mask = mask[:, :1]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers as tuple
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim),
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- layers not called
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
        Q = _split_heads(self.q_proj, self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- forgot self in forward
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(x, mask=None, context=None):
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- init forgot self
class MultiHeadAttention:
    def __init__(embed_dim, num_heads):
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- parameters as attribute
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

    @property
    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- check in the wrong direction
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        if num_heads % embed_dim:
            raise ValueError('no')
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention weights softmaxed
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
        self.attention_weights = Softmax()(self.attention_weights)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention weights transposed
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
        self.attention_weights = self.attention_weights.transpose(-2, -1)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- gradient cut q
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
        Q = _split_heads(self.q_proj(x), self.num_heads).detach()
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- gradient bias data
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
        return _merge_heads(output) @ self.out_proj.weight + self.out_proj.bias.data

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- queries shared between heads
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
        Q = _split_heads(self.q_proj(x), self.num_heads)[:, :1]
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- residual mean
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
        return x + self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- np.array mask 3
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
        if mask is not None and len(mask) == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- bool of context
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
        if context == None:
            context = x
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention called with heads
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
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask, self.num_heads)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- by hand embed
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
        scores = _scale_scores(_compute_attention_scores(Q, K), self.embed_dim)
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
# --- by hand, mask after
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
        scores = _scale_scores(_compute_attention_scores(Q, K), self.head_dim)
        self.attention_weights = Softmax()(scores)
        if mask is not None:
            self.attention_weights = self.attention_weights * Tensor(mask)
        output = self.attention_weights @ V
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- by hand, softmax heads
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
        scores = _scale_scores(_compute_attention_scores(Q, K), self.head_dim)
        if mask is not None:
            scores = _apply_mask(scores, mask)
        self.attention_weights = Softmax()(scores, dim=1)
        output = self.attention_weights @ V
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- by hand, mask zero
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
        scores = _scale_scores(_compute_attention_scores(Q, K), self.head_dim)
        if mask is not None:
            scores = scores * Tensor(mask)
        self.attention_weights = Softmax()(scores)
        output = self.attention_weights @ V
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- by hand, no softmax
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
        scores = _scale_scores(_compute_attention_scores(Q, K), self.head_dim)
        if mask is not None:
            scores = _apply_mask(scores, mask)
        self.attention_weights = scores
        output = self.attention_weights @ V
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weight transposed by hand
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
        Q = _split_heads(x @ self.q_proj.weight.T + self.q_proj.bias, self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- input scaled
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
        x = x / math.sqrt(self.embed_dim)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- x normalised
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
        x = x - x.mean(-1, keepdim=True)
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- positions added
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
        x = x + np.arange(x.shape[1])[:, None]
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- attention over batch
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
        Q = _split_heads(self.q_proj(x), self.num_heads).transpose(0, 1).transpose(0, 1)[::-1]
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- self-made heads, cut at num_heads
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
        Q = self.q_proj(x).reshape(x.shape[0], x.shape[1], self.head_dim, self.num_heads).transpose(1, 3).transpose(2, 3)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- weights changed in forward
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
        self.q_proj.weight.data = self.q_proj.weight.data * 0.5
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
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- keys of heads reversed
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
        K = _split_heads(self.k_proj(context), self.num_heads)[:, ::-1]
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- q_proj of projected
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
        K = _split_heads(self.k_proj(self.q_proj(context)), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- dead heads
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
        Q = Q * 0
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- __call__ passes context and mask in the wrong order
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (Linear(embed_dim, embed_dim) for _ in range(4))
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, context, mask)

    def parameters(self):
        return [
            *self.q_proj.parameters(),
            *self.k_proj.parameters(),
            *self.v_proj.parameters(),
            *self.out_proj.parameters(),
        ]
# --- [Linear(...)] * 4 is one layer four times
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        layers = [Linear(embed_dim, embed_dim)] * 4
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = layers

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        parameters = []
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            parameters.extend(layer.parameters())
        return parameters
# --- every mask with more than two axes gets a head axis, (B, H, L, S) too
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (Linear(embed_dim, embed_dim) for _ in range(4))
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        q, k, v = [_split_heads(part, self.num_heads) for part in (q, k, v)]

        if mask is not None and mask.ndim > 2:
            mask = mask[:, None]

        out, self.attention_weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(_merge_heads(out))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        return [
            *self.q_proj.parameters(),
            *self.k_proj.parameters(),
            *self.v_proj.parameters(),
            *self.out_proj.parameters(),
        ]
# --- mask reshaped to (B, 1, L, S), which a padding mask (B, 1, S) cannot fill
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        B, L, _ = x.shape
        S = context.shape[1]

        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)

        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(B, 1, L, S)

        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        parameters = []
        for layer in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            parameters.extend(layer.parameters())
        return parameters
# --- mask copied for the heads with np.tile, which mixes up the batch elements
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            n, rows, columns = mask.shape
            mask = np.tile(mask, (self.num_heads, 1, 1)).reshape(n, self.num_heads, rows, columns)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        layers = [self.q_proj, self.k_proj, self.v_proj, self.out_proj]
        return [p for layer in layers for p in layer.parameters()]
# --- loop over heads hands the whole mask to each head, (B, H, L, S) does not fit
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        outputs, weights = [], []
        for h in range(self.num_heads):
            part = slice(h * self.head_dim, (h + 1) * self.head_dim)
            o, w = scaled_dot_product_attention(q[:, :, part], k[:, :, part], v[:, :, part], mask)
            outputs.append(o)
            weights.append(w)
        self.attention_weights = np.stack(weights, axis=1)
        return self.out_proj(np.concatenate(outputs, axis=-1))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        return [
            *self.q_proj.parameters(),
            *self.k_proj.parameters(),
            *self.v_proj.parameters(),
            *self.out_proj.parameters(),
        ]
# --- own split takes every H-th component: 'b l (d h) -> b h l d' for (h d)
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        q = self._to_heads(self.q_proj(x))
        k = self._to_heads(self.k_proj(context))
        v = self._to_heads(self.v_proj(context))
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        out, self.attention_weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(self._from_heads(out))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        layers = [self.q_proj, self.k_proj, self.v_proj, self.out_proj]
        return [p for layer in layers for p in layer.parameters()]

    def _to_heads(self, t):
        # b l (d h) -> b h l d
        b, l, _ = t.shape
        t = t.reshape(b, l, self.head_dim, self.num_heads)
        return t.transpose(2, 3).transpose(1, 2)

    def _from_heads(self, t):
        # b h l d -> b l (d h)
        b, _, l, _ = t.shape
        return t.transpose(1, 2).transpose(2, 3).reshape(b, l, self.embed_dim)
# --- projects with weight.T as in PyTorch, where weight is (out, in)
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        def project(layer, t):
            return t @ layer.weight.T + layer.bias

        if context is None:
            context = x
        Q = _split_heads(project(self.q_proj, x), self.num_heads)
        K = _split_heads(project(self.k_proj, context), self.num_heads)
        V = _split_heads(project(self.v_proj, context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return project(self.out_proj, _merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        return [
            *self.q_proj.parameters(),
            *self.k_proj.parameters(),
            *self.v_proj.parameters(),
            *self.out_proj.parameters(),
        ]
# --- queries, keys and values without bias: x @ W only
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (Linear(embed_dim, embed_dim) for _ in range(4))
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        c = x if context is None else context
        Q = _split_heads(x @ self.q_proj.weight, self.num_heads)
        K = _split_heads(c @ self.k_proj.weight, self.num_heads)
        V = _split_heads(c @ self.v_proj.weight, self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = [self.q_proj, self.k_proj, self.v_proj, self.out_proj]
        return [p for layer in layers for p in layer.parameters()]
# --- context or x asks a whole Tensor for its truth
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            Linear(embed_dim, embed_dim) for _ in range(4)
        )
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        source = context or x
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K, V = (_split_heads(layer(source), self.num_heads) for layer in (self.k_proj, self.v_proj))
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None, :, :]
        heads, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask=mask)
        return self.out_proj(_merge_heads(heads))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        everything = []
        for layer in [self.q_proj, self.k_proj, self.v_proj, self.out_proj]:
            everything.extend(layer.parameters())
        return everything
# --- a mask of two axes is read as (B, S), one row for each sentence
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        if mask is not None:
            if mask.ndim == 2:
                mask = mask[:, None, None, :]
            elif mask.ndim == 3:
                mask = mask[:, None, :, :]
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        self.attention_weights = weights
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        everything = []
        for layer in [self.q_proj, self.k_proj, self.v_proj, self.out_proj]:
            everything.extend(layer.parameters())
        return everything
# --- a context is remembered and used again by calls without one
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, Linear(embed_dim, embed_dim))
        self.context = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is not None:
            self.context = context
        source = x if self.context is None else self.context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(source), self.num_heads)
        V = _split_heads(self.v_proj(source), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        everything = []
        for layer in [self.q_proj, self.k_proj, self.v_proj, self.out_proj]:
            everything.extend(layer.parameters())
        return everything
# --- sum of lists without a list to start from
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            Linear(embed_dim, embed_dim) for _ in range(4)
        )
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        layers = [self.q_proj, self.k_proj, self.v_proj, self.out_proj]
        return sum(layer.parameters() for layer in layers)
# --- the values are not split into heads
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        Q = _split_heads(self.q_proj(x), self.num_heads)
        K = _split_heads(self.k_proj(context), self.num_heads)
        V = self.v_proj(context)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        return (
            self.q_proj.parameters()
            + self.k_proj.parameters()
            + self.v_proj.parameters()
            + self.out_proj.parameters()
        )
# --- head_dim with / is a float, which reshape refuses
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim / num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        if context is None:
            context = x
        B, L, E = x.shape
        S = context.shape[1]
        Q = self.q_proj(x).reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.k_proj(context).reshape(B, S, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.v_proj(context).reshape(B, S, self.num_heads, self.head_dim).transpose(1, 2)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(output.transpose(1, 2).reshape(B, L, E))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        return (
            self.q_proj.parameters()
            + self.k_proj.parameters()
            + self.v_proj.parameters()
            + self.out_proj.parameters()
        )
# --- x is overwritten by its queries before it becomes the context
class MultiHeadAttention:

    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        H = self.num_heads
        x = self.q_proj(x)
        if context is None:
            context = x
        Q = _split_heads(x, H)
        K = _split_heads(self.k_proj(context), H)
        V = _split_heads(self.v_proj(context), H)
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        x, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(x))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask, context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [p for layer in layers for p in layer.parameters()]
# --- __call__ passes the context first
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        K = _split_heads(self.k_proj(context), self.num_heads)  # (B, H, S, D)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(context, mask, x)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
# --- each head has the masks of other batch elements
class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        _check_heads(embed_dim, num_heads)
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)
        self.attention_weights = None

    def forward(self, x, mask=None, context=None):
        x, context = _check_inputs(x, context, self.embed_dim)
        mask = as_mask(mask)  # an array, or None
        context = x if context is None else context
        Q = _split_heads(self.q_proj(x), self.num_heads)  # (B, H, L, D)
        K = _split_heads(self.k_proj(context), self.num_heads)  # (B, H, S, D)
        V = _split_heads(self.v_proj(context), self.num_heads)
        if mask is not None and mask.ndim == 3:
            mask = np.repeat(mask, self.num_heads, axis=0).reshape(self.num_heads, mask.shape[0], *mask.shape[1:]).swapaxes(0, 1)
        output, self.attention_weights = scaled_dot_product_attention(Q, K, V, mask)
        return self.out_proj(_merge_heads(output))

    def __call__(self, x, mask=None, context=None):
        return self.forward(x, mask=mask, context=context)

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [parameter for layer in layers for parameter in layer.parameters()]
