# --- unstable: no maximum subtracted
class Softmax:
    def forward(self, x, dim=-1):
        e = x.exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- shares over the whole array
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max()).exp()
        return e / e.sum()

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- dim ignored, last axis
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- dim dropped by __call__
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x)
# --- axis fixed at 1
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(1, keepdim=True)).exp()
        return e / e.sum(1, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- maximum of the whole array
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max()).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- graph cut
class Softmax:
    def forward(self, x, dim=-1):
        e = np.exp(x.data - x.data.max(axis=dim, keepdims=True))
        return Tensor(e / e.sum(axis=dim, keepdims=True))

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- gradient through the denominator cut
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True).data

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- changes its input
class Softmax:
    def forward(self, x, dim=-1):
        x.data -= x.data.max(axis=dim, keepdims=True)
        e = x.exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- not divided by the sum
class Softmax:
    def forward(self, x, dim=-1):
        return (x - x.max(dim, keepdim=True)).exp()

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- no exponentials
class Softmax:
    def forward(self, x, dim=-1):
        return x / x.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- hard maximum
class Softmax:
    def forward(self, x, dim=-1):
        return Tensor(x.data == x.data.max(axis=dim, keepdims=True)) + 0 * x

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- softmin
class Softmax:
    def forward(self, x, dim=-1):
        e = (x.max(dim, keepdim=True) - x).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- log softmax
class Softmax:
    def forward(self, x, dim=-1):
        shifted = x - x.max(dim, keepdim=True)
        return shifted - shifted.exp().sum(dim, keepdim=True).log()

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- no return
class Softmax:
    def forward(self, x, dim=-1):
        e = (x - x.max(dim, keepdim=True)).exp()
        e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- everything but the first axis flattened
class Softmax:
    def forward(self, x, dim=-1):
        if dim == -1:
            rows = x.reshape(x.shape[0], -1)
            e = (rows - rows.max(1, keepdim=True)).exp()
            return (e / e.sum(1, keepdim=True)).reshape(*x.shape)
        e = (x - x.max(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=-1):
        return self.forward(x, dim)
# --- the default axis is the first
class Softmax:
    def forward(self, x, dim=0):
        e = (x - x.max(dim, keepdim=True)).exp()
        return e / e.sum(dim, keepdim=True)

    def __call__(self, x, dim=0):
        return self.forward(x, dim)
