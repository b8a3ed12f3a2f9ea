"""What Python statements bind, and what of them is written out.

This room knows syntax trees of statements. It does not know in what they stand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from docstow.languages.python.source.signature__readers_python_signature import dotted, literal


def bases(node: ast.expr) -> list[str]:
    """A base class's name, without what it is subscripted with.

    Of ``Base.made_with(Other)`` those of both: what a class makes of itself and another.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=owner), args=[other], keywords=[]):
            return [dotted(owner), dotted(other)]
        case ast.Subscript(value=value):
            return [dotted(value)]
    return [dotted(node)]


def names(target: ast.AST | None) -> Iterator[str]:
    """The names that a target of an assignment binds."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from names(part)
        case ast.Starred(value=value):
            yield from names(value)


def targets(node: ast.stmt) -> Iterable[str]:
    """Names that the head of a block binds itself."""
    match node:
        case ast.For(target=target):
            yield from names(target)
        case ast.With(items=items):
            for item in items:
                yield from names(item.optional_vars)
        case ast.If(test=test) | ast.While(test=test):
            for each in ast.walk(test):
                if isinstance(each, ast.NamedExpr):
                    yield from names(each.target)


def bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a block: each of its branches and handlers."""
    for part in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(node, part, [])
        if part in {"handlers", "cases"}:
            yield from (each.body for each in inner)
        elif inner:
            yield inner


def strings(node: ast.expr | None) -> list[str] | None:
    """The strings of a literal list; None where it is anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = strings(node.left), strings(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Dict):
        node = ast.List([each for each in node.keys if each is not None])
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [literal(each) for each in node.elts]
    return found if all(found) else None
