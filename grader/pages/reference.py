"""The library's reference: public names, with types from the .pyi files and docstrings; no line of code, which is an answer."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from grader.course import ROOT, modules
from grader.pages.frame import write_site_page
from grader.pages.texts import reachable

LIBRARY = "tinytorch.core"
WIDTH = 88  # of a signature in a line


@dataclass(frozen=True)
class Entry:
    """A name: its signatures, what is said of it, and the names in it if it is a class."""

    name: str
    signatures: tuple[str, ...]
    text: Markup
    attributes: tuple[str, ...] = ()
    members: tuple["Entry", ...] = ()


@dataclass(frozen=True)
class LibraryModule:
    name: str
    text: Markup
    entries: tuple[Entry, ...]
    types: tuple[str, ...]  # what short names of types stand for

    @property
    def full_name(self) -> str:
        return f"{LIBRARY}.{self.name}"


def library_module(name: str) -> LibraryModule:
    """One file of the library."""
    module = importlib.import_module(f"{LIBRARY}.{name}")
    stub = ast.parse((ROOT / "tinytorch" / "core" / f"{name}.pyi").read_text(encoding="utf-8"))
    found = {entry.name: entry for entry in _entries(stub.body, module)}
    types = [s for s in stub.body if isinstance(s, ast.AnnAssign) and ast.unparse(s.annotation) == "TypeAlias"]
    aliases = tuple(f"{ast.unparse(s.target)} = {ast.unparse(s.value)}" for s in types if s.value)
    return LibraryModule(name, _text(module), tuple(found[n] for n in module.__all__ if n in found), aliases)


def _entries(body: list[ast.stmt], owner: Any) -> Iterator[Entry]:
    """The public names of a stub, or of a class in it; overloads are one entry."""
    signatures: dict[str, list[str]] = {}
    classes: dict[str, ast.ClassDef] = {}
    for statement in body:
        if isinstance(statement, ast.AnnAssign):
            signatures.setdefault(ast.unparse(statement.target), []).append(_attribute(statement, owner))
        elif isinstance(statement, ast.FunctionDef):
            signatures.setdefault(statement.name, []).append(_signature(statement))
        elif isinstance(statement, ast.ClassDef):
            made = [s for s in statement.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"]
            signatures[statement.name] = [_signature(s, statement.name) for s in made] or [f"{statement.name}()"]
            classes[statement.name] = statement
    for name, lines in signatures.items():
        if not name.startswith("_"):
            own = inspect.getattr_static(owner, name, None)
            members = tuple(_entries(classes[name].body, own)) if name in classes else ()
            plain = [m for m in members if not m.text and "(" not in m.signatures[0].partition(":")[0]]
            attributes = tuple(line for member in plain for line in member.signatures)
            yield Entry(name, tuple(lines), _text(own), attributes, tuple(m for m in members if m not in plain))


def _attribute(statement: ast.AnnAssign, owner: Any) -> str:
    value = inspect.getattr_static(owner, ast.unparse(statement.target), None)
    shown = f" = {value!r}" if isinstance(value, int | float) and not isinstance(value, bool) else ""
    return f"{ast.unparse(statement.target)}: {ast.unparse(statement.annotation)}{shown}"


def _signature(function: ast.FunctionDef, name: str = "") -> str:
    """As one writes a call; a long one has a line for each argument. name: of the class that the function makes."""
    decorators = {ast.unparse(d) for d in function.decorator_list}
    result = f" -> {ast.unparse(function.returns)}" if function.returns and not name else ""
    if "property" in decorators:
        return f"{function.name}: {result.removeprefix(' -> ')}"
    arguments = re.split(r", (?=\*{0,2}\w+: |\*, |/, )", ast.unparse(function.args))
    arguments = [re.sub(r"^([^=]*: [^=]*)=", r"\1 = ", a) for a in arguments if a not in ("", "self", "cls")]
    start = name or function.name
    line = f"{start}({', '.join(arguments)}){result}"
    if len(line) > WIDTH:
        line = "".join([f"{start}(\n", *(f"    {argument},\n" for argument in arguments), f"){result}"])
    return re.sub(r"\b_(?=[A-Z])", "", line)  # Python's own private names


def _text(documented: Any) -> Markup:
    """A docstring: its sentences as paragraphs, its tables of shapes and its examples as they are."""
    own = getattr(documented, "__doc__", None)
    if not isinstance(own, str) or (
        not callable(documented) and not inspect.ismodule(documented) and not _described(documented)
    ):
        return Markup()
    html = Markup()
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(own)):
        if re.search(r"^>>>|^\s|\S {2,}\S|^->", paragraph, re.MULTILINE):
            html += reachable(Markup("<pre>{}</pre>\n").format(paragraph))
        else:
            said = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(paragraph)))
            html += Markup(f"<p>{said}</p>\n")  # noqa: S704  (it is escaped)
    return html


def _described(value: Any) -> bool:
    return isinstance(value, property | staticmethod | classmethod)


def read_reference() -> list[LibraryModule]:
    """The library in the order of the course."""
    return [library_module(module.partition("_")[2]) for module in modules()]


def write_reference(folder: Path, library: list[LibraryModule]) -> None:
    for each in library:
        contents = tuple((2, entry.name, Markup("<code>{}</code>").format(entry.name)) for entry in each.entries)
        description = f"Reference of {each.full_name}: {', '.join(entry.name for entry in each.entries)}."
        path = f"reference/{each.name}.html"
        write_site_page(folder, path, "site_reference", each.full_name, description, module=each, contents=contents)
    about = "The public names of tinytorch, with their types, shapes and examples."
    write_site_page(folder, "reference/index.html", "site_references", "Reference", about, library=library)
