"""Python source and stubs: what a file binds, without running it.

This room knows encodings and whole files. It does not know where they are, nor what a name of
another module means.
"""

from __future__ import annotations

import ast
import re

from docstow.core.errors import UnreadableInput
from docstow.languages.python.source import dynamic as python_lazy
from docstow.languages.python.source import version_branches as python_versions
from docstow.languages.python.source.body import GETATTR, Body
from docstow.languages.python.source.dynamic import dynamics
from docstow.languages.python.source.facts import Definition, ModuleFacts
from docstow.languages.python.source.signature import Source, docstring
from docstow.text import python_ast as python_tree

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def read(
    body: bytes, name: str, *, package: bool, version: python_versions.Version | None = None
) -> ModuleFacts:
    """Read one file.

    Args:
        body: the file.
        name: of the module, dotted.
        package: whether the file is an ``__init__``, which decides what relative imports mean.
        version: of Python; branches that ask for it are decided. None: all of them count.

    Raises:
        UnreadableInput: it is no Python that this interpreter can parse.
    """
    text = decode(body)
    tree = parse(text, name)
    if version is not None:
        python_versions.decide(tree, version)
    found = dynamics(tree, text)
    scope = Body(Source(text), name if package else name.rpartition(".")[0], found)
    scope.take(tree.body)
    opened = scope.opened or found.opened
    for each in found.names - scope.names.keys():
        scope.names[each] = [Definition(each, "attribute", 0, 0)]
    delegates: tuple[str, ...] = ()
    answers: frozenset[str] = frozenset()
    if opened == GETATTR and (answered := python_lazy.compared(tree)) is not None:
        opened, delegates = found.opened, answered.makers
        answers = answered.names
    if lazy := python_lazy.attached(tree, name):
        opened = "" if opened == GETATTR else opened
        for each, (module, imported) in lazy.items():
            made = Definition(each, "import", 1, 1, target=module, imported=imported)
            scope.names.setdefault(each, [made])
    return ModuleFacts(
        name=name,
        docstring=docstring(tree),
        names={each: tuple(bound) for each, bound in scope.names.items()},
        stars=tuple(dict.fromkeys(scope.stars)),
        exports=None if scope.exports is None else tuple(dict.fromkeys(scope.exports)),
        opened=opened,
        lines=len(scope.source.lines),
        answers=answers,
        delegates=delegates,
        makers=python_lazy.makers(tree) if "AttributeError" in text else {},
    )


def decode(body: bytes) -> str:
    """The text of a source file, by its mark or its declared encoding.

    Raises:
        UnreadableInput: it is none of that encoding.
    """
    encoding = "utf-8-sig"
    for line in body.split(b"\n", 2)[:2]:
        if found := _CODING.match(line):
            encoding = found[1].decode("ascii")
            break
    encoding = "utf-8-sig" if encoding.lower().replace("_", "-") == "utf-8" else encoding
    try:
        return body.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableInput(f"The file is not {encoding} text.") from error


def parse(text: str, name: str) -> ast.Module:
    """The syntax tree.

    Raises:
        UnreadableInput: it is no Python that this interpreter can parse.
    """
    try:
        return python_tree.module(text)
    except python_tree.UNREADABLE as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deep"
        line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UnreadableInput(f"{name} cannot be parsed{line}: {reason}.") from error
