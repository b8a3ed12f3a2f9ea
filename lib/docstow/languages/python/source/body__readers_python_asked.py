"""What a class does with names that it has not: which ``__getattr__`` is how open.

This room knows the forms of ``__getattr__``. It does not know what a class inherits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from docstow.languages.python.source.facts import Asked
from docstow.languages.python.source.signature__readers_python_signature import dotted

_ORDER: tuple[Asked, ...] = ("no", "hidden", "items", "any")


def asked(body: Sequence[ast.stmt]) -> Asked:
    """The widest of what the ``__getattr__`` and ``__getattribute__`` of a class body do."""
    found = [_form(node, hidden=hidden) for node, hidden in _askers(body)]
    return max(found, key=_ORDER.index, default="no")


def _askers(body: Sequence[ast.stmt], *, hidden: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    for node in body:
        match node:
            case ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                yield node, hidden
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(dotted(each) in {"__getattr__", "__getattribute__"} for each in targets):
                    yield node, hidden
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=operand)):
                # ``if not TYPE_CHECKING``: who reads types is to see no such name.
                secret = dotted(operand).rpartition(".")[2] == "TYPE_CHECKING"
                yield from _askers(node.body, hidden=hidden or secret)
                yield from _askers(node.orelse, hidden=hidden)
            case ast.If() | ast.Try() | ast.With():
                for part in ("body", "orelse", "finalbody"):
                    yield from _askers(getattr(node, part, ()), hidden=hidden)


def _form(node: ast.stmt, *, hidden: bool) -> Asked:
    if hidden:
        return "hidden"
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 2:
        return "any"
    if dotted(node.returns).rpartition(".")[2] in {"NoReturn", "Never"}:
        return "no"
    name = node.args.args[1].arg
    given = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    given = [each for each in given if not _passes_on(each, name)]
    if not given:
        return "no" if isinstance(node.body[-1], ast.Raise | ast.Return) else "any"
    return "items" if all(_is_item(each, name) for each in given) else "any"


def _is_item(node: ast.expr | None, name: str) -> bool:
    """``self[name]``."""
    match node:
        case ast.Subscript(value=ast.Name(id="self"), slice=ast.Name(id=key)):
            return key == name
    return False


def _passes_on(node: ast.expr | None, name: str) -> bool:
    """``object.__getattribute__(self, name)`` and the like of ``super()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="__getattribute__" | "__getattr__")):
            above = isinstance(owner, ast.Call) and dotted(owner.func) == "super"
            last = node.args[-1] if node.args else None
            return (above or dotted(owner) == "object") and dotted(last) == name
    return False
