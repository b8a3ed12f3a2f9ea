"""What the code of a package says of its names that went: tables of renames, and ``__getattr__``.

Packages keep tables of what has moved, ``{"old": "new"}`` or ``{"old": "Use new instead."}``, under
names that say so, and functions ``__getattr__`` that warn or raise for one name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from docstow.core.errors import DocstowError
from docstow.languages.python.source.syntax import SPACE, dotted, message_text, string_value
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.boundary import Boundary
from docstow.text.python_ast import try_parse_module

#: Names that are kept of a package, characters of what is said of one, and bytes of a file.
_MOST = 2000
_LONGEST = 300
_LARGEST_FILE = 1024 * 1024
_SKIPPED = frozenset({"tests", "test", "testing", "conftest", "_vendor", "vendored", "_vendored"})
_TABLE = re.compile(r"moved|renamed|redirect|expired|deprecat|replaced|replacement", re.IGNORECASE)
#: What a file has in it that has such a table or function.
_WORTH = re.compile(
    rb"\b__getattr__\b|^[ \t]*\w*(?:moved|renamed|redirect|expired|deprecat|replace)\w*"
    rb"[ \t]*(?::[^=\n]{1,80})?=[ \t]*\{",
    re.IGNORECASE | re.MULTILINE,
)
_SAID = re.compile(r"deprecat|moved|renamed|replaced|removed|instead", re.IGNORECASE)
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?::[A-Za-z_]\w*(?:\.\w+)*)?")


def read_successors(surface: PythonSurface, boundary: Boundary) -> Mapping[str, str]:
    """Return what is said of names that went, by their dotted paths; at most 2,000.

    Args:
        surface: of the package; its private modules are read, too.
        boundary: what may be opened.
    """
    found: dict[str, str] = {}
    for module in surface.modules():
        files = None if _SKIPPED & set(module.split(".")) else surface.files.module(module)
        for layer in files.layers if files is not None else ():
            if layer.role == "foreign stub" or layer.path.suffix != ".py":
                continue
            with suppress(DocstowError):
                body = boundary.read(layer.path, most=_LARGEST_FILE)
                if _WORTH.search(body):
                    for path, said in find_successors(body.decode(errors="replace"), module):
                        found.setdefault(path, said[:_LONGEST])
        if len(found) >= _MOST:
            break
    return dict(list(found.items())[:_MOST])


def find_successors(text: str, module: str) -> Iterator[tuple[str, str]]:
    """Yield the dotted paths of names that went, each with what is said of it.

    Args:
        text: of a file.
        module: its dotted name.
    """
    tree = try_parse_module(text)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as table)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict() as table)
            ) if _TABLE.search(name):
                yield from _in_table(table, module)
            case ast.If(test=ast.Compare(left=ast.Name(), ops=[ast.Eq()], comparators=[value])):
                path = _absolute(string_value(value), module)
                said = next(filter(_SAID.search, _messages(node)), "")
                if path and said:
                    yield path, said


def _in_table(table: ast.Dict, module: str) -> Iterator[tuple[str, str]]:
    for key, value in zip(table.keys, table.values, strict=True):
        path, said = _absolute(string_value(key), module), _say(value)
        if path and said:
            yield path, said


def _say(value: ast.expr) -> str:
    """Return what the value of a table says takes the place of its key; empty if nothing."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    texts = [SPACE.sub(" ", message_text(each)).strip() or dotted(each) for each in parts]
    # Beside the object itself, its path may be written out.
    texts.sort(key=lambda each: "." not in each)
    said = next((each for each in texts if each and not each.isdigit()), "")
    if _PATH.fullmatch(said):
        return f"Use `{said.replace(':', '.')}` instead."
    return said if " " in said else ""


def _absolute(name: str, module: str) -> str:
    """Return the path of a name of a table; those without a package are of the public module."""
    if not _PATH.fullmatch(name):
        return ""
    root = module.partition(".")[0]
    path = name.replace(":", ".")
    if path.startswith(f"{root}."):
        return path
    parts = module.split(".")
    while len(parts) > 1 and parts[-1].startswith("_"):
        parts.pop()
    return f"{'.'.join(parts)}.{path}"


def _messages(node: ast.If) -> Iterator[str]:
    """Yield the texts that the branch of a condition is left with, or warns of."""
    for statement in node.body:
        for each in ast.walk(statement):
            if isinstance(each, ast.Call) and each.args:
                yield SPACE.sub(" ", message_text(each.args[0])).strip()
