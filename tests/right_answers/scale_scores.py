# --- a negative power
def _scale_scores(scores, d_k):
    return scores * d_k**-0.5
# --- np.sqrt
def _scale_scores(scores, d_k):
    return scores / np.sqrt(d_k)
# --- one over the root first
def _scale_scores(scores, d_k):
    return (1 / np.sqrt(d_k)) * scores
# --- an augmented assignment
def _scale_scores(scores, d_k):
    scores /= math.sqrt(d_k)
    return scores
