# --- scores not overwritten
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- a loop over keys
def _online_softmax(largest, total, output, scores, V):
    for s, v in zip(scores.T, V):
        new = np.maximum(largest, s[:, None])
        shrink, e = np.exp(largest - new), np.exp(s[:, None] - new)
        largest, total, output = new, total * shrink + e, output * shrink + e * v
    return largest, total, output
# --- the block by itself first
def _online_softmax(largest, total, output, scores, V):
    m = scores.max(1)[:, None]
    e = np.exp(scores - m)
    new = np.where(m > largest, m, largest)
    a, b = np.exp(largest - new), np.exp(m - new)
    return [new, a * total + b * e.sum(1)[:, None], a * output + b * (e @ V)]
