"""Dishonesty."""

from answers import Everything, submission
from forgery import STEAL, TRICKS

from grader.course import ROOT
from kinds.base import FULL, Kinds, added, cell, edited, every_cell

KINDS = Kinds()
kind = KINDS.kind

for trick, source in TRICKS.items():
    kind(f"trick: {trick}", added(source, blank=Everything()), 0)

WRITE_EVERYWHERE = """
import os
for d in ("/", "/usr", "/etc", "/root", "/home", "/work", "/tmp", os.path.expanduser("~")):
    try: open(f"{d}/gauntlet-was-here", "w")
    except OSError: pass
"""
TEXT_WITH_SCRIPT = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    " ![x](http://192.0.2.1/x.png) [y](javascript:alert(1)) [z](java&#115;cript:alert(1)) [w][1]\n\n[1]: javascript:alert(1)"
)
SECRETS = {
    "the solution": str(ROOT / "solutions" / "04_attention" / "attention.ipynb"),
    "the hidden tests": str(ROOT / "autograded_tests" / "m04_attention" / "scale_scores.py"),
    "the gradebook": str(ROOT / "classroom" / "gradebook.db"),
    "another student's work": str(ROOT / "examples" / "class" / "ada" / "04_attention" / "attention.ipynb"),
    "the password file": "/etc/passwd",
}
for what, path in SECRETS.items():
    kind(f"reads {what}", added(f"print(open({path!r}).read())", blank=Everything()), 0)
kind(
    "reads the environment",
    added("import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())", blank=Everything()),
    0,
)
kind(
    "searches the disk",
    added(
        "import os\nprint([f for d, _, fs in os.walk('/') for f in fs if 'solution' in f or 'gradebook' in f])",
        blank=Everything(),
    ),
    0,
)
kind(
    "writes everywhere",
    added(WRITE_EVERYWHERE),
    FULL,
)
kind("removes everything", added("import shutil\nshutil.rmtree('/', ignore_errors=True)"), FULL)
kind(
    "a thread that goes on",
    added("import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin).start()"),
    FULL,
)
kind("fork bomb", added("import os\nwhile True: os.fork()"), FULL)
kind(
    "thread bomb",
    added("import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()"),
    FULL,
)
kind("full disk", added("n = 0\nwhile True:\n    open(f'f{n}', 'wb').write(bytes(1 << 20)); n += 1"), FULL)
kind("many files", added("n = 0\nwhile True:\n    open(f'f{n}', 'w').close(); n += 1"), FULL)
kind("network", added("import urllib.request\nurllib.request.urlopen('http://192.0.2.1/', timeout=1)"), FULL)
kind(
    "script in rich output",
    added(
        "from IPython.display import HTML, display\ndisplay(HTML('<script>document.title = \"owned\"</script>'))\nHTML('<script>1</script>')"
    ),
    FULL,
)
kind(
    "script in a text cell",
    edited(
        lambda n: n["cells"].append(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": TEXT_WITH_SCRIPT,
            }
        )
    ),
    FULL,
)
kind(
    "script in a written answer",
    edited(
        lambda n: cell(n, "question_scaling").update(
            source="<svg onload=\"document.title='owned'\"></svg><iframe src='http://192.0.2.1/'></iframe>"
        )
    ),
    FULL,
)
kind(
    "script in an error",
    submission({"scale_scores": "raise ValueError('<script>document.title = 1</script>')"}),
    FULL - 2,
)
kind(
    "outputs forged in the file",
    edited(
        every_cell(
            lambda c: (
                c.update(
                    outputs=[
                        {
                            "output_type": "execute_result",
                            "data": {"text/plain": "99.0"},
                            "metadata": {},
                            "execution_count": 1,
                        }
                    ]
                )
                if c["cell_type"] == "code"
                else None
            )
        ),
        blank=Everything(),
    ),
    0,
)
kind(
    "points raised in metadata",
    edited(every_cell(lambda c: c["metadata"].get("nbgrader", {}).update(points=100)), blank=Everything()),
    0,
)
kind(
    "skip-execution", edited(every_cell(lambda c: c["metadata"].update(tags=["skip-execution"])), blank=Everything()), 0
)
kind(
    "an earlier row forged",
    edited(
        lambda n: n["metadata"].update(grader={"digest": "", "score": 28.0, "status": "graded"}), blank=Everything()
    ),
    0,
)
for what, act in {
    "no JSON": "say(b'no JSON')",
    "huge": "announce('<f4', [1 << 29])",
    "pickles": "announce('|O', [1], b'12345678')",
    "another dtype": "announce('<U9', [1], bytes(36))",
    "a wrong length": "wire.sendall(struct.pack('<I', 100) + b'short'); time.sleep(9)",
    "forged": "announce('<f4', [2, 2], bytes(16), id=99)",
}.items():
    source = f"{STEAL}\ndef _scale_scores(scores, d_k):\n    {act}\n    return scores / math.sqrt(d_k)"
    kind(f"answers on the wire: {what}", submission({"scale_scores": source}), FULL - 2)
kind(
    "an object array as answer",
    submission({"causal_mask": "def causal_mask(seq_len):\n    return np.array([[object()] * seq_len] * seq_len)"}),
    FULL - 1,
)
kind(
    "a huge array as answer",
    submission({"causal_mask": "def causal_mask(seq_len):\n    return np.zeros((20000, 10000), np.int8)"}),
    FULL - 1,
)
kind(
    "a link for a file",
    None,
    0,
    "attention.ipynb is a link, and links are not followed",
    status="missing",
    place=lambda folder: (folder / "attention.ipynb").symlink_to("/etc/passwd"),
)
kind(
    "a link to another's work",
    None,
    0,
    "links are not followed",
    status="missing",
    place=lambda folder: (folder / "attention.ipynb").symlink_to(
        ROOT / "examples" / "class" / "ada" / "04_attention" / "attention.ipynb"
    ),
)
