# --- nothing shrunk
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = 1
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- total not shrunk
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- output not shrunk
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, output + exponentials @ V
# --- shrunk the wrong way
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.where(np.isfinite(largest), np.exp(new_largest - np.where(np.isfinite(largest), largest, 0)), 0)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- new scores only
def _online_softmax(largest, total, output, scores, V):
    new_largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- largest not updated
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return largest, new_total, shrink * output + exponentials @ V
# --- relative to the old largest
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, new_largest))
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- relative to the new scores
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- nothing subtracted
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- quotient of exponentials
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest) / np.exp(new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- one largest for all
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max())
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- mean
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.mean(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- sum over everything
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum()
    return new_largest, new_total, shrink * output + exponentials @ V
# --- no keepdims
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- values not weighted
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + V.sum(axis=0)
# --- old output lost
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, exponentials @ V
# --- old sums lost
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, exponentials @ V
# --- divided already
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, (shrink * output + exponentials @ V) / new_total
# --- -inf taken for 0
def _online_softmax(largest, total, output, scores, V):
    largest = np.where(np.isinf(largest), 0, largest)
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- nan in the first block
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest) * (largest / largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- scores halved
def _online_softmax(largest, total, output, scores, V):
    scores *= 0.5
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- results in another order
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return shrink * output + exponentials @ V, new_total, new_largest
# --- two results
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_total, shrink * output + exponentials @ V
