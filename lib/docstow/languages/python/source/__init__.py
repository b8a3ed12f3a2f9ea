"""Python source and stubs: what a file binds, without running it."""

from __future__ import annotations

import ast
import re

from docstow.core.errors import UnreadableInput
from docstow.languages.python.source.body import DEFINES_GETATTR, BodyReader
from docstow.languages.python.source.dynamic import find_dynamics
from docstow.languages.python.source.facts import Definition, ModuleFacts
from docstow.languages.python.source.getattr_names import (
    attached_names,
    getattr_factories,
    module_getattr,
)
from docstow.languages.python.source.signature import docstring
from docstow.languages.python.source.syntax import SourceText
from docstow.languages.python.source.version_branches import Version, decide_branches
from docstow.text.python_ast import UNREADABLE, parse_module

_ENCODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def read_module(
    body: bytes, name: str, *, package: bool, version: Version | None = None
) -> ModuleFacts:
    """Read one file.

    Args:
        body: the file.
        name: of the module, dotted.
        package: whether the file is an ``__init__``, which decides what relative imports mean.
        version: of Python; branches that test it are decided. None: all of them count.

    Raises:
        UnreadableInput: it is no Python that this interpreter can parse.
    """
    text = _decode(body)
    tree = _parse(text, name)
    if version is not None:
        decide_branches(tree, version)
    dynamics = find_dynamics(tree, text)
    scope = BodyReader(SourceText(text), name if package else name.rpartition(".")[0], dynamics)
    scope.read(tree.body)
    open_reason = scope.open_reason or dynamics.open_reason
    for each in dynamics.names - scope.names.keys():
        scope.names[each] = [Definition(each, "attribute", 0, 0)]
    factories: tuple[str, ...] = ()
    answered: frozenset[str] = frozenset()
    if open_reason == DEFINES_GETATTR and (answers := module_getattr(tree)) is not None:
        open_reason = dynamics.open_reason
        answered, factories = answers.names, answers.factories
    if lazy := attached_names(tree, name):
        open_reason = "" if open_reason == DEFINES_GETATTR else open_reason
        for each, (module, imported) in lazy.items():
            definition = Definition(each, "import", 1, 1, target=module, imported=imported)
            scope.names.setdefault(each, [definition])
    return ModuleFacts(
        name=name,
        docstring=docstring(tree),
        names={each: tuple(bound) for each, bound in scope.names.items()},
        stars=tuple(dict.fromkeys(scope.stars)),
        exports=None if scope.exports is None else tuple(dict.fromkeys(scope.exports)),
        open_reason=open_reason,
        lines=len(scope.source.lines),
        getattr_names=answered,
        getattr_factories=factories,
        defined_factories=getattr_factories(tree) if "AttributeError" in text else {},
    )


def _decode(body: bytes) -> str:
    """Decode a source file by its byte-order mark or its declared encoding."""
    encoding = "utf-8-sig"
    for line in body.split(b"\n", 2)[:2]:
        if found := _ENCODING.match(line):
            encoding = found[1].decode("ascii")
            break
    encoding = "utf-8-sig" if encoding.lower().replace("_", "-") == "utf-8" else encoding
    try:
        return body.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableInput(f"The file is not {encoding} text.") from error


def _parse(text: str, name: str) -> ast.Module:
    try:
        return parse_module(text)
    except UNREADABLE as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deep"
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UnreadableInput(f"{name} cannot be parsed{line}: {reason}.") from error
