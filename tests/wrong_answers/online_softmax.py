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
# --- old largest returned
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return largest, new_total, shrink * output + exponentials @ V
# --- exponentials added to the shrunk total first
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * (total + exponentials.sum(axis=-1, keepdims=True))
    return new_largest, new_total, shrink * output + exponentials @ V
# --- all shrunk
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * (output + exponentials @ V)
# --- total used for output
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * total + exponentials @ V
# --- shrink by division
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = total / shrink + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, output / shrink + exponentials @ V
# --- shrink without exp
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = largest - new_largest
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- shrink ratio
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = largest / new_largest
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- max for maximum
def _online_softmax(largest, total, output, scores, V):
    new_largest = max(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- np.max of two
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.max(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- keepdim
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdim=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- sum()
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + sum(exponentials)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- math.exp
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = math.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- exp missing
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = scores - new_largest
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- exp base 2
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = 2 ** (scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- plus new largest
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(new_largest - scores)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- V.T
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V.T
# --- scores @ V
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + scores @ V
# --- weights normalised
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials / exponentials.sum(axis=-1, keepdims=True) @ V
# --- weights normalised by new total
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials / new_total @ V
# --- only new divided, old times total
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, (shrink * total * output + exponentials @ V) / new_total
# --- new total lost
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total
    return new_largest, new_total, shrink * output + exponentials @ V
# --- new output lost
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output
# --- order total first
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_total, new_largest, shrink * output + exponentials @ V
# --- log of total
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    new_total = np.log(new_total)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- returns shrink
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return shrink, new_total, shrink * output + exponentials @ V
# --- scaled
def _online_softmax(largest, total, output, scores, V):
    scores = scores / math.sqrt(V.shape[-1])
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- if first
def _online_softmax(largest, total, output, scores, V):
    if largest == -np.inf:
        largest = 0
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- softmax of the block
def _online_softmax(largest, total, output, scores, V):
    m = scores.max(-1, keepdims=True)
    e = np.exp(scores - m)
    return m, e.sum(-1, keepdims=True), e @ V
# --- minimum
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.minimum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- min
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.min(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- mean for max
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.mean(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- argmax
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.argmax(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- four arguments
def _online_softmax(largest, total, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- loop over keys, largest late
def _online_softmax(largest, total, output, scores, V):
    for s, v in zip(scores.T, V):
        e = np.exp(s[:, None] - largest)
        total, output = total + e, output + e * v
        largest = np.maximum(largest, s[:, None])
    return largest, total, output
# --- shrink by total
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = total / (total + exponentials.sum(axis=-1, keepdims=True))
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- scores already shifted twice
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    scores = scores - new_largest
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest, new_total, shrink * output + exponentials @ V
# --- largest plus log
def _online_softmax(largest, total, output, scores, V):
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    new_total = shrink * total + exponentials.sum(axis=-1, keepdims=True)
    return new_largest + np.log(new_total), new_total, shrink * output + exponentials @ V
# --- a running average
def _online_softmax(largest, total, output, scores, V):
    m = np.maximum(largest, np.max(scores, axis=1, keepdims=True))
    new = np.exp(scores - m)
    old_total = np.exp(largest - m) * total
    new_total = old_total + np.sum(new, axis=1, keepdims=True)
    average = (old_total * output + new @ V) / new_total
    return m, new_total, average
# --- einsum over the queries
def _online_softmax(largest, total, output, scores, V):
    m = np.maximum(largest, scores.max(axis=1)[:, None])
    e = np.exp(scores - m)
    c = np.exp(largest - m)
    l = c * total + np.einsum("nk->n", e)[:, None]
    o = c * output + np.einsum("nk,kd->kd", e, V)
    return m, l, o
# --- np.max of both
def _online_softmax(largest, total, output, scores, V):
    of_block = np.max(scores, axis=-1, keepdims=True)
    new_largest = np.max([largest, of_block])
    exponentials = np.exp(scores - new_largest)
    shrink = np.exp(largest - new_largest)
    total = total * shrink + np.sum(exponentials, axis=-1, keepdims=True)
    output = output * shrink + np.matmul(exponentials, V)
    return np.full_like(largest, new_largest), total, output
# --- each key with the largest so far
def _online_softmax(largest, total, output, scores, V):
    m = largest.copy()
    block_total = np.zeros_like(total)
    block_output = np.zeros_like(output)
    for j in range(scores.shape[1]):
        s = scores[:, j : j + 1]
        m = np.maximum(m, s)
        e = np.exp(s - m)
        block_total = block_total + e
        block_output = block_output + e * V[j]
    shrink = np.exp(largest - m)
    return m, shrink * total + block_total, shrink * output + block_output
# --- nothing done without a new largest
def _online_softmax(largest, total, output, scores, V):
    block_max = scores.max(axis=-1, keepdims=True)
    if np.all(block_max <= largest):
        return largest, total, output  # nothing to correct
    m = np.maximum(block_max, largest)
    p = np.exp(scores - m)
    old = np.exp(largest - m)
    return m, old * total + p.sum(axis=-1, keepdims=True), old * output + p.dot(V)
