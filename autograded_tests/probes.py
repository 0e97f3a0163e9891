"""How to ask an answer a question. The only file of this folder that a student's process sees; it holds no expected value.

A probe takes the namespace of a notebook and plain inputs, calls the answer, and gives arrays: the results, the inputs
as they are afterwards (`Q_after`) and, when `grad` is given as the gradient of the (first) result, the gradients of the
inputs (`grad_Q`), as far as any arrived.
"""

import inspect
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
Namespace = dict[str, Any]


class WrongKind(Exception):
    """An answer gave something that is not what it was asked for; the message says what."""


def _leaf(array: np.ndarray) -> Any:
    from tinytorch.core.tensor import Tensor

    return Tensor(np.array(array), requires_grad=True, dtype=array.dtype)


def _array(value: Any, what: str) -> np.ndarray:
    from tinytorch.core.tensor import Tensor

    if isinstance(value, Tensor):
        value = value.data
    if not isinstance(value, np.ndarray | np.generic):
        kind = "None (is there a return?)" if value is None else f"a {type(value).__name__}"
        raise WrongKind(f"{what} should be a Tensor, it is {kind}")
    return np.array(value, copy=True)


def _observe(result: Any, grad: np.ndarray | None, **inputs: Any) -> Arrays:
    """The inputs after the call, and their gradients."""
    from tinytorch.core.tensor import Tensor

    arrays = {f"{name}_after": np.array(tensor.data) for name, tensor in inputs.items()}
    if grad is not None and isinstance(result, Tensor) and result.requires_grad:
        result.backward(grad)
        arrays |= {f"grad_{name}": np.array(t.grad) for name, t in inputs.items() if t.grad is not None}
    return arrays


def softmax(ns: Namespace, x: np.ndarray, dim: int, by_default: bool = False, grad: np.ndarray | None = None) -> Arrays:
    """by_default: the last axis, without saying so."""
    tensor = _leaf(x)
    shares = ns["Softmax"]()(tensor) if by_default else ns["Softmax"]()(tensor, dim=dim)
    return {"shares": _array(shares, "The result"), **_observe(shares, grad, x=tensor)}


def linear(
    ns: Namespace, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None, grad: np.ndarray | None = None
) -> Arrays:
    layer = ns["Linear"](*weight.shape, **({} if bias is not None else {"bias": False}))
    made = {"weight_shape": np.array(_array(layer.weight, "weight").shape)}
    tensor, layer.weight.data = _leaf(x), np.array(weight)
    tensors = {"x": tensor, "weight": layer.weight}
    if bias is not None:
        made["bias_shape"] = np.array(_array(layer.bias, "bias").shape)
        layer.bias.data = np.array(bias)
        tensors["bias"] = layer.bias
    y = layer(tensor)
    return {"y": _array(y, "The result"), **made, **_observe(y, grad, **tensors)}


def linear_parameters(ns: Namespace, in_features: int, out_features: int, bias: bool) -> Arrays:
    """Which of [weight, bias] each entry of parameters() is (-1: neither)."""
    layer = ns["Linear"](in_features, out_features, bias=bias)
    before = list(layer.parameters())
    layer(_leaf(np.ones((1, in_features), np.float32)))
    kept = len(before) == len(layer.parameters()) and all(
        a is b for a, b in zip(before, layer.parameters(), strict=True)
    )
    known = [layer.weight, layer.bias] if bias else [layer.weight]
    return {
        "order": _which(before, known),
        "kept": np.array(int(kept)),
        "trainable": np.array([int(bool(getattr(p, "requires_grad", False))) for p in before]),
        "varied": np.array(int(np.ptp(_array(layer.weight, "weight")) > 0)),
    }


def _which(tensors: Any, known: list[Any]) -> np.ndarray:
    """For each tensor its place among the known ones, by identity; -1 if it is none of them."""
    return np.array([next((i for i, k in enumerate(known) if k is t), -1) for t in tensors], dtype=np.int64)


def compute_attention_scores(ns: Namespace, Q: np.ndarray, K: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    q, k = _leaf(Q), _leaf(K)
    scores = ns["_compute_attention_scores"](q, k)
    return {"scores": _array(scores, "The result"), **_observe(scores, grad, Q=q, K=k)}


def scale_scores(ns: Namespace, scores: np.ndarray, d_k: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(scores)
    scaled = ns["_scale_scores"](tensor, d_k)
    return {"scaled": _array(scaled, "The result"), **_observe(scaled, grad, scores=tensor)}


def causal_mask(ns: Namespace, seq_len: int) -> Arrays:
    return {"mask": _array(ns["causal_mask"](seq_len), "The result")}


def _mask(mask: np.ndarray | None, as_tensor: bool) -> Any:
    from tinytorch.core.tensor import Tensor

    return mask if mask is None else Tensor(np.array(mask)) if as_tensor else np.array(mask)


def apply_mask(
    ns: Namespace, scores: np.ndarray, mask: np.ndarray, as_tensor: bool = True, grad: np.ndarray | None = None
) -> Arrays:
    tensor, given = _leaf(scores), _mask(mask, as_tensor)
    masked = ns["_apply_mask"](tensor, given)
    arrays = {"masked": _array(masked, "The result"), **_observe(masked, grad, scores=tensor)}
    return arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def scaled_dot_product_attention(
    ns: Namespace,
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    mask: np.ndarray | None = None,
    as_tensor: bool = True,
    grad: np.ndarray | None = None,
    name: str = "scaled_dot_product_attention",
) -> Arrays:
    """name: another function that takes the same and gives the same."""
    q, k, v = _leaf(Q), _leaf(K), _leaf(V)
    given = _mask(mask, as_tensor)
    function = ns[name]
    result = function(q, k, v) if mask is None else function(q, k, v, mask=given)
    if not isinstance(result, tuple | list) or len(result) != 2:
        raise WrongKind(f"Two results are asked for, output and weights; a {type(result).__name__} came back")
    arrays = {"output": _array(result[0], "The output"), "weights": _array(result[1], "The second result")}
    arrays |= _observe(result[0], grad, Q=q, K=k, V=v)
    return arrays if mask is None else arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def split_heads(ns: Namespace, x: np.ndarray, num_heads: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(x)
    heads = ns["_split_heads"](tensor, num_heads)
    return {"heads": _array(heads, "The result"), **_observe(heads, grad, x=tensor)}


def merge_heads(ns: Namespace, x: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(x)
    merged = ns["_merge_heads"](tensor)
    return {"merged": _array(merged, "The result"), **_observe(merged, grad, x=tensor)}


PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


def _set_projections(layer: Any, weights: np.ndarray, biases: np.ndarray) -> Namespace:
    """Give a layer its weights and biases; its parameters by name."""
    tensors = {}
    for name, weight, bias in zip(PROJECTIONS, weights, biases, strict=True):
        projection = getattr(layer, name)
        projection.weight.data, projection.bias.data = np.array(weight), np.array(bias)
        tensors[f"{name}_weight"], tensors[f"{name}_bias"] = projection.weight, projection.bias
    return tensors


def multi_head_attention(
    ns: Namespace,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    mask: np.ndarray | None = None,
    context: np.ndarray | None = None,
    as_tensor: bool = True,
    by_call: bool = True,
    grad: np.ndarray | None = None,
) -> Arrays:
    """weights (4, E, E) and biases (4, E) are those of q_proj, k_proj, v_proj, out_proj."""
    layer = ns["MultiHeadAttention"](x.shape[-1], num_heads)
    tensors = {"x": _leaf(x), **_set_projections(layer, weights, biases)}
    call = layer if by_call else layer.forward
    call(_leaf(x[:1, :1]))  # what an earlier call left behind must not matter
    arguments = {} if mask is None else {"mask": _mask(mask, as_tensor)}
    if context is not None:
        tensors["context"] = arguments["context"] = _leaf(context)
    output = call(tensors["x"], **arguments)
    arrays = {"output": _array(output, "The result"), **_observe(output, grad, **tensors)}
    kept = getattr(layer, "attention_weights", None)
    return arrays if kept is None else arrays | {"attention_weights": _array(kept, "attention_weights")}


def multi_head_parameters(ns: Namespace, embed_dim: int, num_heads: int) -> Arrays:
    """Which of the 8 tensors each entry of parameters() is, before and after a call (-1: none of them)."""
    layer = ns["MultiHeadAttention"](embed_dim, num_heads)
    known = [t for name in PROJECTIONS for t in (getattr(layer, name).weight, getattr(layer, name).bias)]
    before = _which(layer.parameters(), known)
    layer(_leaf(np.ones((1, 2, embed_dim), np.float32)))
    sizes = [getattr(layer, name, -1) for name in ("embed_dim", "num_heads", "head_dim")]
    return {
        "parameters": np.sort(before),
        "parameters_after": np.sort(_which(layer.parameters(), known)),
        "sizes": np.array(sizes, dtype=np.int64),
    }


def multi_head_raises(ns: Namespace, embed_dim: int, num_heads: int) -> Arrays:
    """1 if a number of heads that does not divide is refused with a ValueError."""
    try:
        ns["MultiHeadAttention"](embed_dim, num_heads)
    except ValueError:
        return {"refused": np.array(1)}
    return {"refused": np.array(0)}


def function(ns: Namespace, name: str, grad: np.ndarray | None = None, **arguments: Any) -> Arrays:
    """Any function of tensors that gives a tensor: arrays among the arguments become tensors."""
    tensors = {k: _leaf(v) for k, v in arguments.items() if isinstance(v, np.ndarray)}
    result = ns[name](**arguments | tensors)
    return {"result": _array(result, "The result"), **_observe(result, grad, **tensors)}


def array_function(
    ns: Namespace, name: str, results: Sequence[str], overwritten: Sequence[str] = (), **arguments: Any
) -> Arrays:
    """Any function of arrays that gives arrays, which are called `results` here; it may overwrite some of its arguments."""
    given = {k: np.array(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    answer = ns[name](**given)
    parts = answer if isinstance(answer, tuple | list) else (answer,)
    if len(parts) != len(results):
        came = "None came back (is there a return?)" if answer is None else f"{len(parts)} came back"
        raise WrongKind(f"{len(results)} results are asked for, {', '.join(results)}; {came}")
    after = {f"{k}_after": v for k, v in given.items() if isinstance(v, np.ndarray) and k not in overwritten}
    return {key: _array(part, f"`{key}`") for key, part in zip(results, parts, strict=True)} | after


def _pieces(steps: Sequence[int]) -> list[slice]:
    """One slice after another, of these lengths."""
    ends = np.cumsum(steps)
    return [slice(int(end) - step, int(end)) for step, end in zip(steps, ends, strict=True)]


def kv_cache(ns: Namespace, K: np.ndarray, V: np.ndarray, steps: Sequence[int]) -> Arrays:
    """Positions go into a cache in pieces of these lengths; then the first goes into another cache."""
    pieces = [(_leaf(K[..., piece, :]), _leaf(V[..., piece, :])) for piece in _pieces(steps)]
    cache, lengths, results = ns["KVCache"](), [], []
    for piece in pieces:
        result = cache.append(*piece)
        if not isinstance(result, tuple | list) or len(result) != 2:
            kind = "None" if result is None else f"a {type(result).__name__}"
            raise WrongKind(f"append should give two results, all keys and all values; it gave {kind}")
        results.append(result)
        lengths.append(len(cache))
    first, last = (
        {"K": _array(k, "The first result of append"), "V": _array(v, "The second result of append")}
        for k, v in (results[0], results[-1])
    )
    other = _array(ns["KVCache"]().append(*pieces[0])[0], "The first result of append")
    return {**last, "first_K": first["K"], "first_V": first["V"], "lengths": np.array(lengths), "other_K": other}


def cached_attention(
    ns: Namespace,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    steps: Sequence[int],
    grad: np.ndarray | None = None,
) -> Arrays:
    """Positions arrive in pieces of these lengths; `output` is all that came back, side by side."""
    from tinytorch.core.attention import MultiHeadAttention

    layer = MultiHeadAttention(x.shape[-1], num_heads)
    parameters, cache = _set_projections(layer, weights, biases), ns["KVCache"]()
    results = [ns["cached_attention"](layer, _leaf(x[:, piece]), cache) for piece in _pieces(steps)]
    outputs = [_array(result, "The result") for result in results]
    together = np.concatenate(outputs, axis=1) if all(o.ndim == 3 for o in outputs) else outputs[-1]
    kept = layer.attention_weights
    arrays = {"output": together, **_observe(results[-1], grad, **parameters)}
    return arrays if kept is None else arrays | {"attention_weights": _array(kept, "attention_weights")}


def whole_table(ns: Namespace, name: str, length: int, width: int, block: int, backward: bool) -> Arrays:
    """1 if a function in tiles had as much memory at once as one byte for each pair of query and key takes, else 0."""
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(length, width)).astype(np.float32) for _ in range(3)]
    if backward:
        grads = [rng.normal(size=(length, n)).astype(np.float32) for n in (width, 1, width)]
        inputs += [grads[0], grads[1] + 20, grads[2]]
    tracemalloc.start()
    try:
        ns[name](*inputs, block=block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return {"whole_table": np.array(int(peak >= length * length))}


PROBES: dict[str, Callable[..., Arrays]] = {
    probe.__name__: probe
    for probe in (
        softmax,
        linear,
        linear_parameters,
        compute_attention_scores,
        scale_scores,
        causal_mask,
        apply_mask,
        scaled_dot_product_attention,
        split_heads,
        merge_heads,
        multi_head_attention,
        multi_head_parameters,
        multi_head_raises,
        function,
        array_function,
        kv_cache,
        cached_attention,
        whole_table,
    )
}


def run_probe(
    ns: Namespace, probe: str, inputs: Mapping[str, Any], stand_ins: Mapping[str, Callable[..., Any]]
) -> tuple[Arrays, str, str]:
    """Ask one question: (arrays, problem, text). A problem is "blank", "missing", "kind" or "raised"; "" if there is none."""
    before = {name: ns.get(name) for name in stand_ins}
    try:
        ns.update(stand_ins)
        return PROBES[probe](ns, **inputs), "", ""
    except NotImplementedError:
        return {}, "blank", ""
    except WrongKind as error:
        return {}, "kind", str(error)
    except KeyError as error:
        missing = error.args and error.args[0] in NAMES | {inputs.get("name")}
        return {}, "missing" if missing else "raised", str(error.args[0]) if missing else f"KeyError: {error}"
    except Exception as error:
        return {}, "raised", f"{type(error).__name__}: {error}"
    finally:
        for name, value in before.items():
            if value is None:
                ns.pop(name, None)
            else:
                ns[name] = value


NAMES = {
    "Softmax",
    "Linear",
    "_compute_attention_scores",
    "_scale_scores",
    "causal_mask",
    "_apply_mask",
    "scaled_dot_product_attention",
    "_split_heads",
    "_merge_heads",
    "MultiHeadAttention",
    "KVCache",
    "cached_attention",
}


def stand_in(
    name: str, parameters: list[str], results: int, call: Callable[..., list[np.ndarray]]
) -> Callable[..., Any]:
    """A function that takes the place of an earlier answer and is answered from elsewhere, gradients included.

    call(name, index, grad, arguments) gives the results' arrays if index is -1; else the gradients of the arguments that
    are tensors, for the gradient `grad` of result `index`. Arrays are answered with arrays.
    """
    signature = inspect.Signature(
        [
            inspect.Parameter(
                p, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if p == "mask" else inspect.Parameter.empty
            )
            for p in parameters
        ]
    )

    def answered(*args: Any, **kwargs: Any) -> Any:
        from tinytorch.core.tensor import Tensor, custom_gradient

        bound = signature.bind(*args, **kwargs).arguments
        plain = {k: v.data if isinstance(v, Tensor) else v for k, v in bound.items()}
        inputs = [v for v in bound.values() if isinstance(v, Tensor)]
        arrays_given = [v for v in plain.values() if isinstance(v, np.ndarray)]
        dtype = (inputs or arrays_given or [np.zeros(0, np.float32)])[0].dtype

        def gradient(index: int) -> Callable[[np.ndarray], list[np.ndarray]]:
            def of_inputs(g: np.ndarray) -> list[np.ndarray]:
                grads = [array.astype(dtype) for array in call(name, index, g, plain)]
                grads += [np.zeros(t.shape, dtype) for t in inputs[len(grads) :]]
                return grads[: len(inputs)]  # a mask has none, or has one and is no Tensor

            return of_inputs

        arrays = [array.astype(dtype) for array in call(name, -1, None, plain)]
        outputs = tuple(
            custom_gradient(array, inputs, gradient(index)) if inputs else array for index, array in enumerate(arrays)
        )
        return outputs if results > 1 else outputs[0]

    return _cache_of(answered) if name == "KVCache" else answered


def _cache_of(append: Callable[..., Any]) -> type:
    """A KVCache whose `append` is answered from elsewhere, given what it gave last."""

    class KVCache:
        K = V = None

        def append(self, K: Any, V: Any) -> Any:
            self.K, self.V = append(self.K, self.V, K, V)
            return self.K, self.V

        def __len__(self) -> int:
            return 0 if self.K is None else self.K.shape[-2]

    return KVCache
