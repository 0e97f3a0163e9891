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
