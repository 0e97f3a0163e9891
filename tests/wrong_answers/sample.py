# --- temperature with top-k only
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1]
            if top_k is not None:
                scores = scores / temperature
                if top_k < len(scores):
                    scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- temperature multiplied
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] * temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- no temperature
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1]
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- temperature twice
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- temperature of the shares
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1]
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data / temperature)]
            codes = codes + new
    return codes


# --- exponent of the shares
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1]
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data ** (1 / temperature))]
            codes = codes + new
    return codes


# --- no top-k
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- top-k after the softmax
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            shares = Softmax()(scores).data
            if top_k is not None and top_k < len(scores):
                shares = np.where(shares >= np.sort(shares)[-top_k], shares, 0)
            new = [draw(shares)]
            codes = codes + new
    return codes


# --- blocked logits 0
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, 0.0)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the lowest
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores <= np.sort(scores)[top_k - 1], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- one more
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k - 1], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- one less
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores > np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the first symbols
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(np.arange(len(scores)) < top_k, scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- a large top_k raises
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None:
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- logits drawn
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(scores)]
            codes = codes + new
    return codes


# --- exponentials that overflow
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(np.exp(scores) / np.exp(scores).sum())]
            codes = codes + new
    return codes


# --- logits of the first position
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, 0] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- logits of all positions
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0].mean(0) / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the whole text each time
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([codes]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the whole text, no caches
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([codes])).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- new caches each time
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), model.new_caches()).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the prompt each time
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([prompt]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- last symbol only
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes[-1:]
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the prompt's last symbol twice
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    model(np.array([new]), caches)
    new = codes[-1:]
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the prompt without its last
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes[:-1] or codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the prompt without its first
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes[1:] or codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- one symbol late
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            drawn = draw(Softmax()(scores).data)
            new = codes[-1:]
            codes = codes + [drawn]
    return codes


# --- the last two symbols
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
            new = codes[-2:]
    return codes


# --- without the prompt
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes[len(prompt):]


# --- one too few
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes[:-1]


# --- one too many
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length + 1):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- the prompt is appended to
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = prompt, model.new_caches()
    new = list(codes)
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes.append(new[0])
    return codes


# --- the best, not drawn
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [int(np.argmax(scores))]
            codes = codes + new
    return codes


# --- codes without a batch
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array(new), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- shares of a batch
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[:, -1] / temperature
            if top_k is not None and top_k < scores.shape[1]:
                scores = np.where(scores >= np.sort(scores)[0, -top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- nothing returned
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new


# --- another default
def sample(model, prompt, length, temperature=0.8, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(scores).data)]
            codes = codes + new
    return codes


# --- softmax twice
def sample(model, prompt, length, temperature=1.0, top_k=None, draw=draw):
    codes, caches = [int(code) for code in prompt], model.new_caches()
    new = codes
    with no_grad():
        for _ in range(length):
            scores = model(np.array([new]), caches).data[0, -1] / temperature
            if top_k is not None and top_k < len(scores):
                scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
            new = [draw(Softmax()(Softmax()(scores)).data)]
            codes = codes + new
    return codes
