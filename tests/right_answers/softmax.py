# --- step by step, with the gradient of the maximum
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- largest score cut from the graph
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.data.max(axis=dim, keepdims=True)).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- through logarithms
class Softmax:
    def forward(self, x, dim=-1):
        shifted = x - x.max(dim, keepdim=True)
        return (shifted - shifted.exp().sum(dim, keepdim=True).log()).exp()

    def __call__(self, x, dim=-1):
        return self.forward(x, dim=dim)
