"""The library against PyTorch on the CPU and against plain NumPy: one thread, float32, the same inputs, the same run.

    python benchmarks/library.py [--lengths 128,512,1024,2048,4096] [--only WORDS] [--markdown FILE]

PyTorch is not among the course's packages: .venv/bin/pip install torch. Without it the rows of PyTorch are missing. The
candidates take turns, and medians are compared, so that a slow minute of the machine is slow for all. What makes BLAS choose
another kernel than its own for this processor is unset, and the processor and the kernel are written beside the tables.
"""

# ruff: noqa: E402  (the environment is set before NumPy is imported)
import os

for library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy reads it
    os.environ[f"{library}_NUM_THREADS"] = "1"
for name in (
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "NPY_DISABLE_CPU_FEATURES",
):  # with these it is slower than it could be
    os.environ.pop(name, None)

import argparse
import ctypes
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from page import blas_kernel, processor, replace_tables

from tinytorch.core.attention import MultiHeadAttention, scaled_dot_product_attention
from tinytorch.core.efficient_attention import tiled_attention
from tinytorch.core.tensor import Tensor

try:
    import torch
except ImportError:
    torch = None

HEADS, WIDTH = 8, 64
EMBED = HEADS * WIDTH
Call = Callable[[], object]


def attention_in_numpy(Q: np.ndarray, K: np.ndarray, V: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The formula with every step in place, in memory that is there already."""
    np.matmul(Q, K.swapaxes(-1, -2), out=weights)
    weights *= np.float32(1 / np.sqrt(Q.shape[-1]))
    weights -= weights.max(-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(-1, keepdims=True)
    output: np.ndarray = weights @ V
    return output


def attention_in_torch(Q, K, V):
    return torch.softmax(Q @ K.transpose(-2, -1) / WIDTH**0.5, dim=-1) @ V


def backward(leaves: list[Any], output: Any, grad: Any) -> None:
    output.backward(grad)
    for leaf in leaves:
        leaf.grad = None


def attention(length: int, gradient: bool) -> dict[str, Call]:
    """Candidates for attention on (1, 8, length, 64), by name."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(1, HEADS, length, WIDTH)).astype(np.float32) for _ in range(4)]
    q_array, k_array, v_array, grad = arrays
    inputs = q_array, k_array, v_array
    Q, K, V = (Tensor(a, requires_grad=gradient) for a in inputs)

    def ours(function: Callable[..., Any], **options: bool) -> Call:
        def call() -> None:
            result = function(Q, K, V, **options)
            if gradient:
                backward([Q, K, V], result[0] if isinstance(result, tuple) else result, grad)

        return call

    calls = {
        "scaled_dot_product_attention": ours(scaled_dot_product_attention),
        "tiled_attention": ours(tiled_attention),
    }
    calls["tiled_attention, causal"] = ours(tiled_attention, causal=True)
    if not gradient:
        weights = np.zeros((1, HEADS, length, length), np.float32)
        calls["NumPy, in place"] = lambda: attention_in_numpy(*inputs, weights)
    if torch is None:
        return calls
    q, k, v = (torch.from_numpy(a.copy()).requires_grad_(gradient) for a in inputs)

    def theirs(function: Callable[..., Any], **options: bool) -> Call:
        def call() -> None:
            with torch.set_grad_enabled(gradient):
                output = function(q, k, v, **options)
            if gradient:
                backward([q, k, v], output, torch.from_numpy(grad))

        return call

    fused = torch.nn.functional.scaled_dot_product_attention
    calls |= {"PyTorch, eager": theirs(attention_in_torch), "PyTorch, fused": theirs(fused)}
    return calls | {"PyTorch, fused, causal": theirs(fused, is_causal=True)}


def layer(length: int, gradient: bool) -> dict[str, Call]:
    """Candidates for multi-head attention on (1, length, 512) with 8 heads, by name."""
    rng = np.random.default_rng(0)
    x, grad = (rng.normal(size=(1, length, EMBED)).astype(np.float32) for _ in range(2))
    mha = MultiHeadAttention(EMBED, HEADS)
    for parameter in mha.parameters():
        parameter.requires_grad = gradient

    def ours() -> None:
        output = mha(Tensor(x))
        if gradient:
            backward(mha.parameters(), output, grad)

    if torch is None:
        return {"MultiHeadAttention": ours}
    weights = [torch.from_numpy(p.data.T.copy()).requires_grad_(gradient) for p in mha.parameters()]

    def theirs(function: Callable[..., Any]) -> Call:
        def call() -> None:
            with torch.set_grad_enabled(gradient):
                given, linear = torch.from_numpy(x), torch.nn.functional.linear
                projected = [linear(given, weights[i], weights[i + 1]) for i in (0, 2, 4)]
                q, k, v = (p.view(1, length, HEADS, WIDTH).transpose(1, 2) for p in projected)
                heads = function(q, k, v)
                output = linear(heads.transpose(1, 2).reshape(1, length, EMBED), weights[6], weights[7])
            if gradient:
                backward(weights, output, torch.from_numpy(grad))

        return call

    fused = torch.nn.functional.scaled_dot_product_attention
    return {
        "MultiHeadAttention": ours,
        "PyTorch, eager": theirs(attention_in_torch),
        "PyTorch, fused": theirs(fused),
    }


SUBJECTS = {"attention (1, 8, S, 64)": attention, "multi-head attention (1, S, 512), 8 heads": layer}


def products(subject: str, length: int, gradient: bool) -> float:
    """Floating-point operations of the matrix products alone; the gradient of a product takes two more."""
    forward = 4 * HEADS * length**2 * WIDTH
    if SUBJECTS[subject] is layer:
        forward += 8 * length * EMBED**2
    return forward * (3 if gradient else 1)


def operations_per_second() -> float:
    """What one large matrix product in NumPy achieves."""
    a = np.random.default_rng(0).normal(size=(2048, 2048)).astype(np.float32)
    return 2 * 2048**3 / min(seconds(lambda: a @ a) for _ in range(5))


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def take_turns(calls: dict[str, Call], budget: float = 12.0, at_least: int = 5) -> dict[str, float]:
    """Median seconds of each, from as many rounds (up to 60) as fit into the budget."""
    first = sum(seconds(call) for call in calls.values())
    rounds = int(min(60, max(at_least, budget / first)))
    taken: dict[str, list[float]] = {name: [] for name in calls}
    names, order = list(calls), np.random.default_rng(0)
    for _ in range(rounds):  # in random order: what one leaves in the caches is not always for the same other
        for name in order.permutation(names).tolist():
            taken[name].append(seconds(calls[name]))
    return {name: median(times) for name, times in taken.items()}


def resident(which: str) -> float:
    """Memory of this process in MB: VmRSS now, VmHWM at most since it was reset."""
    (line,) = (x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(which))
    return int(line.split()[1]) * 1024 / 1e6


def print_memory(subject: str, name: str, length: int, gradient: bool) -> None:
    """In a process of its own: how much more memory one call takes, at most, than its inputs."""
    SUBJECTS[subject](16, gradient)[name]()
    call = SUBJECTS[subject](length, gradient)[name]
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back to the system, so that it counts when it is taken again
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    call()
    print(max(0.0, resident("VmHWM") - before))


def peak_memory(subject: str, name: str, length: int, gradient: bool) -> float:
    command = [sys.executable, __file__, "--memory", subject, name, str(length), str(int(gradient))]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(subject: str, gradient: bool, lengths: list[int], rate: float) -> list[str]:
    lines = [
        f"**{subject}, forward{' and backward' if gradient else ''}**",
        "",
        "| S | | milliseconds | times PyTorch eager | times PyTorch fused | times the bound | peak extra memory |",
        "|---|---|---|---|---|---|---|",
    ]
    for length in lengths:
        times = take_turns(SUBJECTS[subject](length, gradient))
        bound = products(subject, length, gradient) / rate
        for name, taken in times.items():
            other = ", causal" if "causal" in name else ""

            def ratio(of: str, taken: float = taken, times: dict[str, float] = times) -> str:
                return f"{taken / times[of]:.2f}" if of in times else ""

            columns = [
                str(length),
                _code(name),
                f"{1000 * taken:.1f}",
                "" if other else ratio("PyTorch, eager"),
                ratio(f"PyTorch, fused{other}"),
                "" if other else f"{taken / bound:.1f}",
                f"{peak_memory(subject, name, length, gradient):.0f} MB",
            ]
            lines.append(f"| {' | '.join(columns)} |")
            print(lines[-1], flush=True)
    return ["", *lines]


# what is aimed at: (candidate, beside which, with a gradient, largest ratio, lengths)
AIMS = (
    ("tiled_attention", "PyTorch, fused", False, 0.85, (512, 1024, 2048)),
    ("tiled_attention, causal", "PyTorch, fused, causal", False, 0.78, (512, 1024, 2048)),
    ("tiled_attention", "PyTorch, fused", True, 0.78, (512, 1024, 2048)),
    ("tiled_attention, causal", "PyTorch, fused, causal", True, 0.78, (512, 1024, 2048)),
    ("tiled_attention, causal", "tiled_attention", False, 1.0, (512, 1024, 2048)),
    ("tiled_attention, causal", "tiled_attention", True, 1.0, (512, 1024, 2048)),
    ("scaled_dot_product_attention", "PyTorch, eager", False, 0.9, (512, 1024)),
)
MOST_MEMORY = 64  # MB, of tiled_attention at 4096 with its gradient
TURNS = 30


def aims() -> list[str]:
    """A table of what is aimed at and what was found, in at least 30 turns."""
    lines = [
        f"| aim, for (1, 8, S, 64), medians of at least {TURNS} turns | 512 | 1024 | 2048 |",
        "|---|---|---|---|",
    ]
    found: dict[tuple[int, bool], dict[str, float]] = {}
    for length in (512, 1024, 2048):
        for gradient in (False, True):
            calls = attention(length, gradient)
            wanted = {n for aim in AIMS if aim[2] == gradient and length in aim[4] for n in aim[:2]}
            found[length, gradient] = take_turns({n: calls[n] for n in calls if n in wanted}, at_least=TURNS)
    for name, other, gradient, most, lengths in AIMS:
        cells = []
        for length in (512, 1024, 2048):
            times = found[length, gradient]
            ratio = times[name] / times[other] if length in lengths and other in times else None
            cells.append("" if ratio is None else f"{ratio:.2f}{'' if ratio <= most else ', not met'}")
        way = ", forward and backward" if gradient else ""
        lines.append(f"| `{name}`{way}, at most {most:g} times {_code(other)} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    memory = peak_memory("attention (1, 8, S, 64)", "tiled_attention", 4096, True)
    met = "" if memory <= MOST_MEMORY else ", not met"
    lines += ["", f"Memory of `tiled_attention` at 4096 with its gradient, beyond the inputs: {memory:.0f} MB{met}"]
    lines[-1] += f" (aim: at most {MOST_MEMORY} MB)."
    return lines


def sentence(page: str) -> str:
    """README's sentence about speed, from the page of performance."""

    def ratios(start: str) -> str:
        (row,) = re.findall(rf"^\| {re.escape(start)} at most .* PyTorch, .*$", page, re.MULTILINE)
        first, second, third = re.findall(r"\| (\d+\.\d\d)", row)
        return f"{first}, {second} and {third}"

    (where,) = re.findall(r"^(.*); Python .* one thread, float32", page, re.MULTILINE)
    return (
        f"Measured on one core of {where}: for 8 heads of width 64 at 512, 1024 and 2048 positions `tiled_attention` takes "
        f"{ratios('`tiled_attention`,')} times as long as PyTorch's fused kernel, causal {ratios('`tiled_attention, causal`,')} "
        f"times, with its gradient {ratios('`tiled_attention`, forward and backward,')} times "
        "([docs/performance.md](docs/performance.md))."
    )


def _code(name: str) -> str:
    return name if "PyTorch" in name or "NumPy" in name else f"`{name}`"


def conditions(rate: float) -> str:
    """Processor, BLAS and versions, which every figure depends on."""
    versions = f"Python {platform.python_version()}, NumPy {np.__version__} with {blas_kernel()}"
    if torch is not None:
        versions += f", PyTorch {torch.__version__} with {torch.backends.cpu.get_cpu_capability()}"
    rates = f"One large matrix product runs at {rate / 1e9:.0f} GFLOP/s; {exponentials()}"
    return f"{processor()}; {versions}; one thread, float32. {rates}."


def exponentials() -> str:
    """How long one value of an exponential takes, for values that stay in the cache."""
    x = -np.random.default_rng(0).random(1 << 16, np.float32)
    out = np.empty_like(x)
    calls: dict[str, Call] = {"NumPy": lambda: np.exp(x, out=out)}
    if torch is not None:
        t, to = torch.from_numpy(x), torch.from_numpy(np.empty_like(x))
        calls["PyTorch"] = lambda: torch.exp(t, out=to)
    times = take_turns(calls, at_least=TURNS)
    return "an exponential takes " + ", ".join(f"{1e9 * s / x.size:.1f} ns in {name}" for name, s in times.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="128,256,512,1024,2048,4096")
    parser.add_argument("--only", default="", help="subjects with these words in their name")
    parser.add_argument("--markdown", type=Path, help="a page whose tables are to be replaced")
    parser.add_argument("--memory", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if torch is not None:
        torch.set_num_threads(1)
    if options.memory:
        subject, name, length, gradient = options.memory
        print_memory(subject, name, int(length), gradient == "1")
        return
    rate = operations_per_second()
    lines = [conditions(rate)]
    print(lines[0], flush=True)
    if torch is not None and not options.only:
        lines += ["", *aims()]
    for subject in SUBJECTS:
        for gradient in (False, True):
            if options.only in subject + (" backward" if gradient else " forward"):
                lines += table(subject, gradient, [int(n) for n in options.lengths.split(",")], rate)
    print("\n".join(lines))
    if options.markdown:
        replace_tables(options.markdown, "library", lines)
        readme = Path(__file__).parent.parent / "README.md"
        replace_tables(readme, "speed", [sentence(options.markdown.read_text(encoding="utf-8"))])


if __name__ == "__main__":
    main()
