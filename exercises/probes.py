"""How a question is put to an answer. Runs in the student's process; it holds no expected value.

A probe takes the namespace of a notebook and plain inputs, calls the answer, and gives arrays: the results, the inputs
as they are afterwards (`Q_after`) and, when `grad` is given as the gradient of the (first) result, the gradients of the
inputs (`grad_Q`), as far as any arrived.
"""

import contextlib
import tracemalloc
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from exercises.problem import Problem, in_words, own_line

Arrays = dict[str, np.ndarray]
Namespace = dict[str, Any]
MOST_RESULTS, MOST_PARAMETERS = 8, 100  # that are taken from what may have no end
WITH_DEFAULT = ("mask", "causal", "block", "offset", "base")  # arguments that are named in a call


class Missing(Exception):
    """The answer's name is not defined; the argument is the name."""


class Answers:
    """What a notebook defines, by name. A name that is not there raises Missing, whatever KeyError the answers raise."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace

    def __getitem__(self, name: str) -> Any:
        if name not in self.namespace:
            raise Missing(name)
        return self.namespace[name]


class WrongKind(Exception):
    """An answer gave something that is not what it was asked for; the message says what."""


def _leaf(array: np.ndarray) -> Any:
    from tinytorch.core.tensor import Tensor

    return Tensor(np.array(array), requires_grad=True, dtype=array.dtype)


def _array(value: Any, what: str, wanted: str = "a Tensor") -> np.ndarray:
    from tinytorch.core.tensor import Tensor

    if isinstance(value, Tensor):
        value = value.data
    if not isinstance(value, np.ndarray | np.generic):
        raise WrongKind(f"{what} should be {wanted}, it is {_kind(value, what in ('The result', 'The mask'))}")
    if value.dtype.kind not in "fiubc":
        raise WrongKind(f"{what} should hold plain numbers, it holds values of type {value.dtype}")
    return np.array(value, copy=True)


def _kind(value: Any, returned: bool = False) -> str:
    if value is None:
        return "None (is there a return in every branch?)" if returned else "None"
    name = type(value).__name__.replace("ndarray", "NumPy array")
    if name == "Tensor":
        return "a Tensor of another class (was `Tensor` defined or imported again? Restart and run all cells)"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _check_is_tensor(value: Any, what: str) -> None:
    from tinytorch.core.tensor import Tensor

    if not isinstance(value, Tensor):
        raise WrongKind(f"{what} should be a Tensor, it is {_kind(value)}")


def _parameters(layer: Any, what: str = "parameters()") -> list[Any]:
    """What parameters() lists. Raises WrongKind if that is no list of Tensors."""
    from tinytorch.core.tensor import Tensor

    given = layer.parameters()
    if isinstance(given, Tensor | np.ndarray | dict | str) or not hasattr(given, "__iter__"):
        raise WrongKind(f"{what} should give a list of Tensors, it gives {_kind(given, returned=True)}")
    listed = list(islice(given, MOST_PARAMETERS))
    for other in (p for p in listed if not isinstance(p, Tensor)):
        raise WrongKind(f"{what} should list Tensors only, it lists {_kind(other)}")
    return listed


def _parts(result: Any) -> tuple[Any, ...] | None:
    """The results of an answer that gives several, in whatever they come; None if it gives one, or none."""
    from tinytorch.core.tensor import Tensor

    if isinstance(result, Tensor | np.ndarray | str | dict) or not hasattr(result, "__iter__"):
        return None
    return tuple(result if isinstance(result, tuple | list) else islice(result, MOST_RESULTS))


def _in_order(arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as one would write a call: those without a default by their places, then the others by name."""
    by_name = {name: value for name, value in arguments.items() if name in WITH_DEFAULT}
    return [value for name, value in arguments.items() if name not in by_name], by_name


def _observe(result: Any, grad: np.ndarray | None, **inputs: Any) -> Arrays:
    """The inputs after the call, and their gradients."""
    from tinytorch.core.tensor import Tensor

    arrays = {f"{name}_after": np.array(tensor.data) for name, tensor in inputs.items()}
    if grad is not None and isinstance(result, Tensor) and result.requires_grad and result.shape == grad.shape:
        result.backward(grad)
        arrays |= {f"grad_{name}": np.array(t.grad) for name, t in inputs.items() if t.grad is not None}
    return arrays


def softmax(
    answers: Answers, x: np.ndarray, dim: int, by_default: bool = False, grad: np.ndarray | None = None
) -> Arrays:
    """by_default: the last axis, without saying so."""
    tensor, layer = _leaf(x), answers["Softmax"]()
    with contextlib.suppress(Exception):
        layer(_leaf(-x), dim=dim)  # what an earlier call left behind must not matter
    shares = layer(tensor) if by_default else layer(tensor, dim=dim)
    return {"shares": _array(shares, "The result"), **_observe(shares, grad, x=tensor)}


def linear(
    answers: Answers, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None, grad: np.ndarray | None = None
) -> Arrays:
    layer = answers["Linear"](*weight.shape, **({} if bias is not None else {"bias": False}))
    _check_is_tensor(layer.weight, "`.weight`")
    drawn = [layer.weight] if bias is None else [layer.weight, layer.bias]
    made = {"weight_shape": np.array(layer.weight.shape)}
    made["computed"] = np.array([int(bool(getattr(tensor, "_inputs", ()))) for tensor in drawn])
    tensor, layer.weight.data = _leaf(x), np.array(weight)
    tensors = {"x": tensor, "weight": layer.weight}
    if bias is not None:
        _check_is_tensor(layer.bias, "With a bias, `.bias`")
        made["bias_shape"] = np.array(layer.bias.shape)
        layer.bias.data = np.array(bias)
        tensors["bias"] = layer.bias
    else:
        made["without_bias"] = np.array(int(getattr(layer, "bias", None) is None))
    y = layer(tensor)
    return {"y": _array(y, "The result"), **made, **_observe(y, grad, **tensors)}


def linear_parameters(answers: Answers, in_features: int, out_features: int, bias: bool) -> Arrays:
    """Which of [weight, bias] each entry of parameters() is (-1: neither)."""
    layer = answers["Linear"](in_features, out_features, bias=bias)
    what = "parameters()" if bias else "With bias=False, parameters()"
    before = _parameters(layer, what)
    with contextlib.suppress(Exception):  # other cases ask for what a call gives
        layer(_leaf(np.ones((1, in_features), np.float32)))
    after = _parameters(layer, what)
    kept = len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))
    known = [layer.weight, layer.bias] if bias else [layer.weight]
    largest = np.abs(np.asarray(getattr(known[-1], "data", 0.0), float)).max(initial=0)
    return {
        "without_bias": np.array(int(getattr(layer, "bias", None) is None)),
        "order": _which(before, known),
        "kept": np.array(int(kept)),
        "grown": np.array(int(len(before) != len(after))),
        "within": np.array(int(largest <= 1.001 / np.sqrt(in_features))),
        "trainable": np.array([int(bool(getattr(p, "requires_grad", False))) for p in before]),
        "varied": np.array(int(np.ptp(_array(layer.weight, "weight")) > 0)),
    }


def _which(tensors: Any, known: list[Any]) -> np.ndarray:
    """For each tensor its place among the known ones, by identity; -1 if it is none of them."""
    return np.array([next((i for i, k in enumerate(known) if k is t), -1) for t in tensors], dtype=np.int64)


def compute_attention_scores(answers: Answers, Q: np.ndarray, K: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    q, k = _leaf(Q), _leaf(K)
    scores = answers["_compute_attention_scores"](q, k)
    return {"scores": _array(scores, "The result"), **_observe(scores, grad, Q=q, K=k)}


def scale_scores(answers: Answers, scores: np.ndarray, d_k: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(scores)
    scaled = answers["_scale_scores"](tensor, d_k)
    return {"scaled": _array(scaled, "The result"), **_observe(scaled, grad, scores=tensor)}


def causal_mask(answers: Answers, seq_len: int) -> Arrays:
    return {"mask": _array(answers["causal_mask"](seq_len), "The mask", "an array")}


def _mask(mask: np.ndarray | None, as_tensor: bool) -> Any:
    from tinytorch.core.tensor import Tensor

    return mask if mask is None else Tensor(np.array(mask)) if as_tensor else np.array(mask)


def apply_mask(
    answers: Answers, scores: np.ndarray, mask: np.ndarray, as_tensor: bool = True, grad: np.ndarray | None = None
) -> Arrays:
    tensor, given = _leaf(scores), _mask(mask, as_tensor)
    masked = answers["_apply_mask"](tensor, given)
    arrays = {"masked": _array(masked, "The result"), **_observe(masked, grad, scores=tensor)}
    largest = np.atleast_1d(arrays["masked"]).max(axis=-1, initial=-np.inf)
    arrays["finite"] = np.isfinite(largest)  # where it is not, a softmax is nan
    return arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def scaled_dot_product_attention(
    answers: Answers,
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
    function = answers[name]
    result = function(q, k, v) if mask is None else function(q, k, v, mask=given)
    parts = _parts(result)
    if parts is None or len(parts) != 2:
        came = _kind(result, returned=True) if parts is None else f"{len(parts)} result{'s' * (len(parts) != 1)}"
        raise WrongKind(f"Two results are asked for, output and weights; {came} came back")
    arrays = {"output": _array(parts[0], "The output"), "weights": _array(parts[1], "The second result")}
    arrays |= _observe(parts[0], grad, Q=q, K=k, V=v)
    return arrays if mask is None else arrays | {"mask_after": np.array(given.data if as_tensor else given)}


def split_heads(answers: Answers, x: np.ndarray, num_heads: int, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(x)
    heads = answers["_split_heads"](tensor, num_heads)
    return {"heads": _array(heads, "The result"), **_observe(heads, grad, x=tensor)}


def merge_heads(answers: Answers, x: np.ndarray, grad: np.ndarray | None = None) -> Arrays:
    tensor = _leaf(x)
    merged = answers["_merge_heads"](tensor)
    return {"merged": _array(merged, "The result"), **_observe(merged, grad, x=tensor)}


PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


def _set_projections(layer: Any, weights: np.ndarray, biases: np.ndarray) -> dict[str, Any]:
    """Give a layer its weights and biases, which must have the shape of its own; its parameters by name."""
    tensors = {}
    for name, weight, bias in zip(PROJECTIONS, weights, biases, strict=True):
        projection = getattr(layer, name)
        for part, array in (("weight", weight), ("bias", bias)):
            own = getattr(getattr(projection, part), "shape", None)
            if own != array.shape:
                came = f"has shape {own}" if own else f"is {getattr(projection, part)}"
                raise WrongKind(f"{name}.{part} {came}; with embed_dim={len(bias)} its shape should be {array.shape}")
        projection.weight.data, projection.bias.data = np.array(weight), np.array(bias)
        tensors[f"{name}_weight"], tensors[f"{name}_bias"] = projection.weight, projection.bias
    return tensors


def _layers(layer: Any) -> np.ndarray:
    """For each projection the first that is the same layer."""
    projections = [getattr(layer, name) for name in PROJECTIONS]
    return _which(projections, projections)


def multi_head_attention(
    answers: Answers,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    *,
    mask: np.ndarray | None = None,
    context: np.ndarray | None = None,
    as_tensor: bool = True,
    by_call: bool = True,
    grad: np.ndarray | None = None,
) -> Arrays:
    """weights (4, E, E) and biases (4, E) are those of q_proj, k_proj, v_proj, out_proj."""
    layer = answers["MultiHeadAttention"](x.shape[-1], num_heads)
    tensors = {"x": _leaf(x), **_set_projections(layer, weights, biases)}
    call = layer if by_call else layer.forward
    call(_leaf(x[:1, :1]))  # what earlier calls left behind must not matter
    with contextlib.suppress(Exception):
        if mask is None:
            call(_leaf(x[:1]), mask=np.tri(x.shape[1], dtype=x.dtype))
        if context is None:
            call(_leaf(x), context=_leaf(-x))
    arguments = {} if mask is None else {"mask": _mask(mask, as_tensor)}
    if context is not None:
        tensors["context"] = arguments["context"] = _leaf(context)
    output = call(tensors["x"], **arguments)
    arrays = {"output": _array(output, "The result"), **_observe(output, grad, **tensors), "layers": _layers(layer)}
    kept = getattr(layer, "attention_weights", None)
    return arrays if kept is None else arrays | {"attention_weights": _array(kept, "attention_weights")}


def multi_head_parameters(answers: Answers, embed_dim: int, num_heads: int) -> Arrays:
    """Which of the 8 tensors each entry of parameters() is, before and after a call (-1: none of them)."""
    layer = answers["MultiHeadAttention"](embed_dim, num_heads)
    known = [t for name in PROJECTIONS for t in (getattr(layer, name).weight, getattr(layer, name).bias)]
    before = _which(_parameters(layer), known)
    with contextlib.suppress(Exception):  # other cases ask for what a call gives
        layer(_leaf(np.ones((1, 2, embed_dim), np.float32)))
    sizes = [getattr(layer, name, -1) for name in ("embed_dim", "num_heads", "head_dim")]
    return {
        "parameters": np.sort(before),
        "parameters_after": np.sort(_which(_parameters(layer), known)),
        "sizes": np.array(sizes, dtype=np.int64),
        "layers": _layers(layer),
    }


def multi_head_raises(answers: Answers, embed_dim: int, num_heads: int) -> Arrays:
    """1 if a number of heads that does not divide is refused with a ValueError."""
    try:
        answers["MultiHeadAttention"](embed_dim, num_heads)
    except ValueError:
        return {"refused": np.array(1)}
    return {"refused": np.array(0)}


def function(answers: Answers, name: str, grad: np.ndarray | None = None, **arguments: Any) -> Arrays:
    """Any function of tensors that gives a tensor: arrays among the arguments become tensors."""
    tensors = {k: _leaf(v) for k, v in arguments.items() if isinstance(v, np.ndarray)}
    by_place, by_name = _in_order(arguments | tensors)
    result = answers[name](*by_place, **by_name)
    return {"result": _array(result, "The result"), **_observe(result, grad, **tensors)}


def array_function(
    answers: Answers, name: str, results: Sequence[str], overwritten: Sequence[str] = (), **arguments: Any
) -> Arrays:
    """Any function of arrays that gives arrays, which are called `results` here; it may overwrite some of its arguments."""
    given = {k: np.array(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    by_place, by_name = _in_order(given)
    answer = answers[name](*by_place, **by_name)
    parts = (_parts(answer) if len(results) > 1 else None) or (answer,)
    if len(parts) != len(results):
        came = "None came back (is there a return in every branch?)" if answer is None else f"{len(parts)} came back"
        raise WrongKind(f"{len(results)} results are asked for, {', '.join(results)}; {came}")
    after = {f"{k}_after": v for k, v in given.items() if isinstance(v, np.ndarray) and k not in overwritten}
    return {key: _array(part, f"`{key}`", "an array") for key, part in zip(results, parts, strict=True)} | after


def _slices(pieces: Sequence[int]) -> list[slice]:
    """One slice after another, of these lengths."""
    return [slice(int(end) - length, int(end)) for length, end in zip(pieces, np.cumsum(pieces), strict=True)]


def kv_cache(
    answers: Answers, K: np.ndarray, V: np.ndarray, pieces: Sequence[int], with_lengths: bool = False, wider: str = ""
) -> Arrays:
    """Positions go into a cache in pieces of these lengths; then the first goes into another cache.

    with_lengths: len(cache) before the first piece and after each; wider: what is then added again, too wide ("K", "V" or both).
    """
    *arriving, again = [(_leaf(K[..., p, :]), _leaf(V[..., p, :])) for p in (*_slices(pieces), slice(pieces[0]))]
    cache, other, results = answers["KVCache"](), answers["KVCache"](), []
    lengths = [len(cache)] if with_lengths else []
    for new in arriving:
        result = cache.append(*new)
        parts = _parts(result)
        if parts is None or len(parts) != 2:
            raise WrongKind(f"append should give two results, all keys and all values; it gave {_kind(result)}")
        results.append(parts)
        lengths += [len(cache)] if with_lengths else []
    first, last = (
        {"K": _array(k, "The first result of append"), "V": _array(v, "The second result of append")}
        for k, v in (results[0], results[-1])
    )
    other_K = _array((_parts(other.append(*again)) or (None,))[0], "The first result of append")
    refused = 0
    for wide in wider:
        try:
            cache.append(*(_leaf(np.repeat(x, 1 + (name == wide), axis=-1)) for name, x in (("K", K), ("V", V))))
        except ValueError:
            refused += 1
    told = {"lengths": np.array(lengths), "refused": np.array(refused)}
    return {**last, "first_K": first["K"], "first_V": first["V"], **told, "other_K": other_K}


def cached_attention(
    answers: Answers,
    num_heads: int,
    x: np.ndarray,
    weights: np.ndarray,
    biases: np.ndarray,
    pieces: Sequence[int],
    grad: np.ndarray | None = None,
    held_K: np.ndarray | None = None,
    held_V: np.ndarray | None = None,
) -> Arrays:
    """Positions arrive in pieces of these lengths; `output` is all that came back, side by side.

    held_K, held_V: keys and values that the cache has before; grad: of one piece, and then with a cache of ours, which keeps the graph
    """
    from tinytorch.core.attention import MultiHeadAttention

    layer = MultiHeadAttention(x.shape[-1], num_heads)
    parameters = _set_projections(layer, weights, biases)
    cache = answers["KVCache"]() if grad is None else _OnePiece()
    if held_K is not None and held_V is not None:
        cache.append(_leaf(held_K), _leaf(held_V))
    layer.attention_weights = earlier = _leaf(np.zeros(1, np.float32))  # what is kept must be of these calls
    results = [answers["cached_attention"](layer, _leaf(x[:, piece]), cache) for piece in _slices(pieces)]
    outputs = [_array(result, "The result") for result in results]
    together = np.concatenate(outputs, axis=1) if all(o.ndim == 3 for o in outputs) else outputs[-1]
    kept = None if layer.attention_weights is earlier else layer.attention_weights
    arrays = {"output": together, "positions": np.array(len(cache)), **_observe(results[-1], grad, **parameters)}
    return arrays if kept is None else arrays | {"attention_weights": _array(kept, "attention_weights")}


class _OnePiece(list[int]):
    """A cache for one piece, which keeps the graph."""

    def append(self, K: Any, V: Any) -> Any:  # type: ignore[override]
        self[:], self.K, self.V = range(K.shape[-2]), K, V
        return K, V


def whole_table(answers: Answers, name: str, length: int, block: int, backward: bool, causal: bool) -> Arrays:
    """1 if a function in tiles had as much memory at once as one byte for each pair of query and key takes, else 0."""
    rng, widths = np.random.default_rng(0), (4, 4, 4, *(4, 1, 4) * backward)
    inputs = [rng.normal(size=(length, n)).astype(np.float32) + 20 * (n == 1) for n in widths]
    on_already = tracemalloc.is_tracing()
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        answers[name](*inputs, causal=causal, block=block)
        return {"whole_table": np.array(int(tracemalloc.get_traced_memory()[1] - before >= length * length))}
    finally:
        if not on_already:
            tracemalloc.stop()


ALL: list[Callable[..., Arrays]] = [
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
]
PROBES = {probe.__name__: probe for probe in ALL}


class Answered(NamedTuple):
    """What came of a question. The text says which name is missing, what came in place of a Tensor, or what was raised."""

    arrays: Arrays
    problem: Problem = Problem.NONE
    text: str = ""
    line: str = ""


def run_probe(
    namespace: Namespace,
    probe: str,
    inputs: Mapping[str, Any],
    stand_ins: Mapping[str, Callable[..., Any]],
    given: Container[str] = (),
) -> Answered:
    """Ask one question, with stand-ins in place of some names; given as in own_line."""
    before = {name: namespace.get(name) for name in stand_ins}
    try:
        namespace.update(stand_ins)
        return Answered(PROBES[probe](Answers(namespace), **inputs))
    except NotImplementedError:
        return Answered({}, Problem.BLANK)
    except WrongKind as error:
        return Answered({}, Problem.KIND, str(error))
    except Missing as error:
        return Answered({}, Problem.MISSING, str(error))
    except MemoryError as error:
        return Answered({}, Problem.MEMORY, in_words(error))
    except Exception as error:  # noqa: BLE001  (students' code raises what it likes)
        return Answered({}, Problem.RAISED, in_words(error), own_line(error, namespace, given))
    finally:
        for name, value in before.items():
            if value is None:
                namespace.pop(name, None)
            else:
                namespace[name] = value
