# --- symbol by symbol
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    caches = model.new_caches()
    codes = [int(code) for code in prompt]
    for code in codes[:-1]:
        model(np.array([[code]]), caches)
    for _ in range(length):
        logits = model(np.array([[codes[-1]]]), caches).data[0, 0].astype(float)
        z = logits / temperature
        if top_k:
            z[np.argsort(-z)[top_k:]] = -np.inf
        e = np.exp(z - z.max())
        codes.append(draw(e / e.sum()))
    return codes


# --- renormalised afterwards
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    text, caches = list(prompt), [KVCache() for _ in model.blocks]
    logits = model(np.array([text]), caches)[0, -1]
    for n in range(length):
        shares = Softmax()(logits / temperature, dim=0).numpy().copy()
        if top_k is not None:
            order = np.argsort(shares)[::-1]
            shares[order[top_k:]] = 0
            shares /= shares.sum()
        text.append(int(draw(shares)))
        if n < length - 1:
            logits = model([text[-1:]], caches)[0, -1]
    return text


# --- an array that is filled
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    P = len(prompt)
    codes, caches = np.zeros(P + length, int), model.new_caches()
    codes[:P] = prompt
    with no_grad():
        for n in range(length):
            new = codes[None, :P] if n == 0 else codes[None, P + n - 1 : P + n]
            scores = model.forward(new, caches)[:, -1].data[0]
            allowed = np.ones(len(scores), bool)
            if top_k is not None:
                allowed = scores >= np.partition(scores, -min(top_k, len(scores)))[-min(top_k, len(scores))]
            shares = np.exp((scores - scores.max()) / temperature) * allowed
            codes[P + n] = draw(shares / shares.sum())
    return codes.tolist()


# --- masked_fill
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    caches, new, written = model.new_caches(), np.array([prompt]), []
    while len(written) < length:
        scores = model(new, caches)[:, -1] / temperature
        if top_k is not None:
            k = min(top_k, scores.shape[-1])
            lowest = np.sort(scores.data)[:, -k][:, None]
            scores = scores.masked_fill(scores.data < lowest, -1e9)
        written.append(draw(Softmax()(scores).data[0]))
        new = np.array([[written[-1]]])
    return [*prompt, *written]
