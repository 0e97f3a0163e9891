# --- by d_k
def _scale_scores(scores, d_k):
    return scores / d_k
# --- not at all
def _scale_scores(scores, d_k):
    return scores
# --- by a constant right for the first example only
def _scale_scores(scores, d_k):
    return scores / 2
# --- half of d_k
def _scale_scores(scores, d_k):
    return scores / (d_k / 2)
# --- by the number of keys
def _scale_scores(scores, d_k):
    return scores / math.sqrt(scores.shape[-1])
# --- multiplied
def _scale_scores(scores, d_k):
    return scores * math.sqrt(d_k)
# --- rounded root
def _scale_scores(scores, d_k):
    return scores / int(math.sqrt(d_k))
# --- integer root
def _scale_scores(scores, d_k):
    return scores / math.isqrt(d_k)
# --- cut from the graph
def _scale_scores(scores, d_k):
    return Tensor(scores.data / math.sqrt(d_k))
# --- changed in place
def _scale_scores(scores, d_k):
    scores.data /= math.sqrt(d_k)
    return scores
# --- changes the input on the way, right otherwise
def _scale_scores(scores, d_k):
    scaled = scores / math.sqrt(d_k)
    scores.data = scaled.data.copy()
    return scaled
# --- wrong power
def _scale_scores(scores, d_k):
    return scores * d_k**-1.5
# --- fourth root, as each of Q and K needs it
def _scale_scores(scores, d_k):
    return scores / d_k**0.25
# --- caret
def _scale_scores(scores, d_k):
    return scores / (d_k ^ 2)
# --- one over d_k in whole numbers
def _scale_scores(scores, d_k):
    return scores // math.sqrt(d_k)
# --- root rounded up
def _scale_scores(scores, d_k):
    return scores / math.ceil(math.sqrt(d_k))
# --- d_k**1/2
def _scale_scores(scores, d_k):
    return scores / d_k**1/2
# --- (d_k**1/2)
def _scale_scores(scores, d_k):
    return scores / (d_k**1/2)
# --- d_k**-1/2
def _scale_scores(scores, d_k):
    return scores * d_k**-1/2
# --- math.sqrt of the scores
def _scale_scores(scores, d_k):
    return math.sqrt(scores) / d_k
# --- root of d_k minus 1
def _scale_scores(scores, d_k):
    return scores / math.sqrt(d_k - 1)
# --- last axis for d_k
def _scale_scores(scores, d_k):
    d_k = scores.shape[-1]
    return scores / math.sqrt(d_k)
# --- divides twice
def _scale_scores(scores, d_k):
    scores = scores / math.sqrt(d_k)
    return scores / math.sqrt(d_k)
# --- division the other way round
def _scale_scores(scores, d_k):
    return math.sqrt(d_k) / scores
# --- no return
def _scale_scores(scores, d_k):
    scores = scores / math.sqrt(d_k)
# --- d_k.sqrt()
def _scale_scores(scores, d_k):
    return scores / d_k.sqrt()
# --- np array returned
def _scale_scores(scores, d_k):
    return scores.data / math.sqrt(d_k)
# --- exp
def _scale_scores(scores, d_k):
    return scores / math.exp(d_k)
# --- divided by the sum
def _scale_scores(scores, d_k):
    return scores / scores.sum(-1, keepdim=True)
# --- adds the root
def _scale_scores(scores, d_k):
    return scores + math.sqrt(d_k)
# --- root of both
def _scale_scores(scores, d_k):
    return (scores / d_k).sqrt()
# --- two arguments named otherwise
def _scale_scores(scores, d_k):
    return scores / math.sqrt(dk)
# --- max scaled
def _scale_scores(scores, d_k):
    return scores / scores.max(-1, keepdim=True)
# --- root of 2 d_k
def _scale_scores(scores, d_k):
    return scores / math.sqrt(2 * d_k)
# --- other argument names
def _scale_scores(scores):
    return scores / math.sqrt(scores.shape[-1])
# --- math.sqrt(scores.shape)
def _scale_scores(scores, d_k):
    return scores / math.sqrt(scores.shape)
# --- times d_k**-0.25
def _scale_scores(scores, d_k):
    return scores * d_k ** -0.25
# --- tuple
def _scale_scores(scores, d_k):
    return scores / math.sqrt(d_k),
# --- loops in lists
def _scale_scores(scores, d_k):
    return Tensor([row / math.sqrt(d_k) for row in scores])
# --- no return for small
def _scale_scores(scores, d_k):
    if d_k > 10:
        return scores / math.sqrt(d_k)
# --- normalise
def _scale_scores(scores, d_k):
    return (scores - scores.mean()) / ((scores - scores.mean()) ** 2).mean().sqrt()
# --- string
def _scale_scores(scores, d_k):
    return scores / 'sqrt(d_k)'
# --- d_k.shape
def _scale_scores(scores, d_k):
    return scores / math.sqrt(d_k.shape[-1])
# --- square of root inverted
def _scale_scores(scores, d_k):
    return scores / (1 / math.sqrt(d_k))
# --- minus d_k
def _scale_scores(scores, d_k):
    return scores - d_k
# --- in place Tensor
def _scale_scores(scores, d_k):
    scores /= math.sqrt(d_k)
    scores[0] = scores[0]
    return scores
# --- pow
def _scale_scores(scores, d_k):
    return scores / pow(d_k, 2)
# --- np.power
def _scale_scores(scores, d_k):
    return scores / np.power(d_k, 1 / 3)
# --- d_k to 1//2
def _scale_scores(scores, d_k):
    return scores / d_k ** (1 // 2)
# --- subtract
def _scale_scores(scores, d_k):
    return scores - d_k ** 0.5
# --- sum over
def _scale_scores(scores, d_k):
    return (scores / math.sqrt(d_k)).sum(-1)
# --- exp, once more
def _scale_scores(scores, d_k):
    return (scores / math.sqrt(d_k)).exp()
# --- wrong global
def _scale_scores(scores, d_k):
    return scores / math.sqrt(D)
# --- math.sqrt with two
def _scale_scores(scores, d_k):
    return math.sqrt(scores, d_k)
# --- clamp
def _scale_scores(scores, d_k):
    s = scores / math.sqrt(d_k)
    return s.masked_fill(s < 0, 0.0)
# --- standard deviation measured from the scores, d_k ignored
def _scale_scores(scores, d_k):
    spread = scores.data.std()
    return scores / (spread + 1e-8)
