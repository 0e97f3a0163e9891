"""What a dishonest student may put into a notebook: tricks of blank work that asks for points, and messages of their own."""

# Defines, for a cell: say(text, data), which puts anything on the wire; asked(), the question that is answered right now and
# its arrays; and announce(dtype, shape, data), a reply to it that is right but for what is in it. The worker's own follows,
# unless it is hushed.
STEAL = """
import gc, socket, struct, json, sys, threading, time
wire = next(o for o in gc.get_objects() if isinstance(o, socket.socket))
def say(text, data=b""):
    wire.sendall(struct.pack("<I", len(text)) + text + data)
def asked():
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("message"), dict):
        frame = frame.f_back
    return frame.f_locals["message"], frame.f_locals["arrays"]
def reply(arrays, data, **keys):
    right = {"id": asked()[0]["id"], "problem": "", "text": "", "line": "", "raised": "", "arrays": arrays}
    say(json.dumps(right | keys).encode(), data)
def announce(dtype, shape, data=b"", **keys):
    reply([["scaled", dtype, shape]], data, **keys)
def worker():
    frame = sys._getframe()
    while "ask_reference" not in frame.f_globals:
        frame = frame.f_back
    return frame.f_globals
def hush():
    names, send = worker(), worker()["send"]
    def nothing(*arguments):
        names["send"] = send
    names["send"] = nothing
"""

TRICKS = {
    "the reference imported": "from tinytorch.core.attention import *",
    "the tests imported": "import autograded_tests; autograded_tests.grade = lambda *a: 99.0",
    "always equal": "class Equal:\n    def __eq__(self, other): return True\n    shape = data = property(lambda s: s)\n"
    "_scale_scores = causal_mask = _compute_attention_scores = lambda *a, **k: Equal()",
    "numpy replaced": "import numpy as np; np.allclose = np.isclose = np.array_equal = lambda *a, **k: True",
    "assert taken out": "import ast\nclass T(ast.NodeTransformer):\n    def visit_Assert(self, n): return ast.Pass()\n"
    "get_ipython().ast_transformers.append(T())",
    "input transformer": "get_ipython().input_transformers_cleanup.append(lambda lines: ['28.0\\n'])",
    "run_cell replaced": "ip = get_ipython(); ip.run_cell = lambda *a, **k: None; type(ip).run_cell = ip.run_cell",
    "showtraceback replaced": "get_ipython().showtraceback = lambda *a, **k: None",
    "probes replaced": "from exercises import probes\nfor n in probes.PROBES: probes.PROBES[n] = lambda ns, **k: {}",
    "probe results copied": "from exercises import probes\nimport numpy as np\n"
    "for n in probes.PROBES: probes.PROBES[n] = lambda ns, **k: {v: np.asarray(k.get('x', k.get('scores', 1))) for v in "
    "('scores', 'scaled', 'mask', 'masked', 'output', 'weights', 'heads', 'merged', 'attention_weights', 'refused', 'parameters')}",
    "worker replaced": f"{STEAL}worker()['send'] = lambda *a: None",
    "a SystemExit": "raise SystemExit(0)",
    "output forged": "print('scale_scores  2/2'); from IPython.display import publish_display_data\n"
    "publish_display_data({'text/plain': '28.0', 'application/vnd.tinytorch.verdict+json': {'points': 28}})",
    "frames walked": "import sys\nf = sys._getframe()\nwhile f: print(sorted(f.f_globals)[:99], f.f_locals.keys()); f = f.f_back",
    "asking for help": f"{STEAL}from exercises.stand_ins import stand_in_for\nfrom functools import partial\n"
    "def _scale_scores(scores, d_k):\n    help = partial(worker()['ask_reference'], wire, asked()[0]['id'])\n"
    "    return stand_in_for('_scale_scores', ['scores', 'd_k'], 1, help)(scores, d_k)",
}
