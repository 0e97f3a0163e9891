"""Check your notebook, or make a library of it.

python course.py check      run the visible tests in a fresh kernel
python course.py export     make tinytorch/core/... from your notebook, and run the examples on it
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
(NOTEBOOK,) = [p for p in HERE.glob("*.ipynb") if (HERE / ".module").read_text().strip() == p.stem]


def cells():
    """(name, source, is a demo) of every code cell; cells of your own have no name."""
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            yield name, "".join(cell["source"]), "demo" in cell["metadata"].get("tags", ())


def open_exercises():
    """Answers that still raise NotImplementedError."""
    return [
        name
        for name, source, _ in cells()
        if name and re.search(r"^\s*raise NotImplementedError", source, re.MULTILINE)
    ]


def check():
    """Run everything but the demonstrations; say of each test whether it passed, and what stopped it."""
    from jupyter_client.manager import start_new_kernel

    manager, kernel = start_new_kernel(kernel_name="python3", cwd=str(HERE))
    failed = 0
    try:
        for name, source, is_demo in cells():
            if is_demo:
                continue
            errors = []

            def keep_errors(message, errors=errors):
                if message["msg_type"] == "error":
                    errors.append(message["content"])

            kernel.execute_interactive(source, timeout=120, output_hook=keep_errors)
            if name.startswith("test_"):
                failed += bool(errors)
                print(f"{'no' if errors else 'ok'}   {name.removeprefix('test_')}{_why(errors)}", flush=True)
            elif errors:
                print(f"     {name or 'a cell of yours'}:{_why(errors)}", flush=True)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    print("all visible tests pass" if not failed else f"{failed} to go")
    return 1 if failed else 0


def _why(errors):
    if not errors:
        return ""
    name, text, trace = errors[0]["ename"], errors[0]["evalue"], "\n".join(errors[0]["traceback"])
    if name == "NotImplementedError":
        return "   not answered yet"
    line = re.search(r"-+> *\d+ (.*)", re.sub(r"\x1b\[[0-9;]*m", "", trace))
    return f"   {name}{f': {text}' if text else ''}{f'   in: {line.group(1).strip()}' if line else ''}"


def export():
    """Make the library with nbdev, say what is still open, and run the examples if nothing is."""
    from nbdev.export import nb_export

    os.chdir(HERE)
    nb_export(NOTEBOOK.name, lib_path="tinytorch")
    print(f"made tinytorch/core/{NOTEBOOK.stem}.py")
    still_open = open_exercises()
    if still_open:
        print(f"still open: {', '.join(still_open)}")
        return 0
    for example in sorted((HERE / "examples").glob("*.py")):
        if example.stem != "training":
            print(f"\n{example.name}", flush=True)
            environment = os.environ | {"PYTHONPATH": str(HERE)}
            command = [sys.executable, str(example), str(HERE / f"{example.stem}.png")]
            if subprocess.run(command, env=environment, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["check"], ["export"]):
        sys.exit(__doc__)
    sys.exit({"check": check, "export": export}[sys.argv[1]]())
