"""Files that were saved in another way."""

import json

from answers import Everything, submission

from grader.course import ROOT
from kinds.base import FULL, RIGHT, SCALE, Kind, Kinds, Notebook, cell, edited, every_cell

KINDS = Kinds()
kind = KINDS.kind


def as_version_3(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        if c["cell_type"] == "code":
            c["input"], c["language"] = c.pop("source"), "python"
    notebook["worksheets"] = [{"cells": notebook.pop("cells")}]
    notebook |= {"nbformat": 3, "nbformat_minor": 0}


def without_ids(notebook: Notebook) -> None:
    for c in notebook["cells"]:
        c.pop("id")


kind("format 3", edited(as_version_3), FULL)
kind("format 3 without cells", b'{"worksheets": [], "nbformat": 3}', 0, 'the answer cell "scale_scores" is missing')
kind("format 4.0 without ids", edited(without_ids), FULL)
kind("duplicate ids", edited(every_cell(lambda c: c.update(id="same"))), FULL)
kind("CRLF", edited(every_cell(lambda c: c.update(source="".join(c["source"]).replace("\n", "\r\n")))), FULL)
kind("byte-order mark", b"\xef\xbb\xbf" + RIGHT, FULL)
kind("UTF-16", RIGHT.decode().encode("utf-16"), FULL)
kind(
    "Latin-1",
    json.dumps(json.loads(submission({"scale_scores": f"# café\n{SCALE}"})), ensure_ascii=False).encode("cp1252"),
    FULL,
)
kind(
    "another kernel",
    edited(lambda n: n["metadata"].update(kernelspec={"name": "julia-1.9", "language": "julia"})),
    FULL,
)
kind("another file name", RIGHT, FULL, 'the file is called "attention (1).ipynb"', file="attention (1).ipynb")
kind("a space in the name", RIGHT, FULL, 'the file is called "my attention.ipynb"', file="my attention.ipynb")
kind("an upper-case ending", RIGHT, FULL, 'the file is called "Attention.IPYNB"', file="Attention.IPYNB")
KINDS.append(
    Kind(
        "two notebooks of which one fits",
        {"a.ipynb": b'{"cells": []}', "homework.ipynb": RIGHT},
        FULL,
        ('"homework.ipynb"',),
    )
)
KINDS.append(
    Kind(
        "the right one and another",
        {"attention.ipynb": RIGHT, "attention-old.ipynb": submission(blank=Everything())},
        FULL,
    )
)
kind(
    "50 MB of outputs",
    lambda: edited(
        lambda n: cell(n, "scale_scores").update(
            outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * (50 << 20)}]
        )
    ),
    FULL,
)
kind(
    "more than 100 MB",
    lambda: edited(lambda n: n["metadata"].update(x="x" * (101 << 20))),
    0,
    "more than 100 MB",
    status="unreadable",
)
kind("sources as strings", edited(every_cell(lambda c: c.update(source="".join(c["source"])))), FULL)
kind(
    "metadata null",
    edited(every_cell(lambda c: c.update(metadata=None) if "nbgrader" not in c["metadata"] else None)),
    FULL,
)
kind("cells that are none", edited(lambda n: n["cells"].__setitem__(slice(0, 0), [None, 3, "x", {}])), FULL)
kind("raw cells", edited(lambda n: n["cells"].append({"cell_type": "raw", "metadata": {}, "source": "raw"})), FULL)
kind("attachments", edited(every_cell(lambda c: c.update(attachments={"x.png": {"image/png": "AAAA"}}))), FULL)
kind(
    "another module's notebook",
    (ROOT / "modules" / "03_layers" / "layers.ipynb").read_bytes(),
    0,
    "is missing; graded without it",
)
