"""What a dishonest student may put into a notebook: tricks of blank work that asks for points, and messages of their own."""

STEAL = """
import gc, socket, struct, json, threading, time
wire = next(o for o in gc.get_objects() if isinstance(o, socket.socket))
def say(text, data=b""):
    wire.sendall(struct.pack("<I", len(text)) + text + data)
def announce(dtype, shape, data=b"", id=0):
    say(json.dumps({"id": id, "problem": "", "text": "", "arrays": [["scaled", dtype, shape]]}).encode(), data)
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
    "worker replaced": "import sys; w = sys.modules['__main__']; w.send = lambda *a: None",
    "a SystemExit": "raise SystemExit(0)",
    "output forged": "print('scale_scores  2/2'); from IPython.display import publish_display_data\n"
    "publish_display_data({'text/plain': '28.0', 'application/vnd.tinytorch.verdict+json': {'points': 28}})",
    "frames walked": "import sys\nf = sys._getframe()\nwhile f: print(sorted(f.f_globals)[:99], f.f_locals.keys()); f = f.f_back",
    "asking for help": "import sys\nfrom exercises.stand_ins import stand_in_for\ndef _scale_scores(scores, d_k):\n"
    "    return stand_in_for('_scale_scores', ['scores', 'd_k'], 1, sys.modules['__main__'].ask_reference)(scores, d_k)",
}
