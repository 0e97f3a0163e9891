"""Files that are no notebook."""

from kinds.base import RIGHT, Kinds

KINDS = Kinds()
kind, unreadable = KINDS.kind, KINDS.unreadable

kind("empty folder", None, 0, "there is no notebook in the folder", status="missing")
kind(
    "another file only",
    b"def f(): pass",
    0,
    "there is no notebook among the files: attention.py",
    status="unreadable",
    file="attention.py",
)
unreadable("empty file", b"", "the file is empty")
unreadable("white space", b" \n\n", "the file is empty")
unreadable("plain text", b"I did not finish", "not a notebook (not JSON)")
unreadable("web page", b"<!DOCTYPE html><html>", "not a notebook (not JSON)")
unreadable("picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "the file is not text")
unreadable("cut off", RIGHT[: len(RIGHT) // 2], "damaged")
unreadable("JSON list", b"[1, 2]", "no notebook")
unreadable("JSON number", b"[42]", "no notebook")
unreadable("no cells", b'{"metadata": {}}', "it has no cells")
unreadable("cells of a wrong kind", b'{"cells": 3}', "it has no cells")
unreadable("nested without end", b"[" * 200_000, "nested too deeply")
unreadable("conflict markers", RIGHT.replace(b"{", b"{\n<<<<<<< HEAD\n", 1), "damaged")
