"""Branches of a stub that ask for Python's version, decided for one version.

This room knows the conditions that stubs may have: ``sys.version_info`` compared with a tuple. What
asks for anything else, such as the platform, stays a branch among others.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

Version = tuple[int, int]

_COMPARED: Mapping[type[ast.cmpop], Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
}


def decide(tree: ast.Module, version: Version) -> None:
    """Leave of each branch that asks for the version what holds, without its condition.

    Args:
        tree: is changed.
        version: major and minor.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for part in ("body", "orelse"):
            inside = getattr(node, part, None)
            if isinstance(inside, list):
                setattr(node, part, _decided(inside, version))
                waiting += getattr(node, part)


def _decided(body: list[ast.stmt], version: Version) -> list[ast.stmt]:
    left: list[ast.stmt] = []
    for statement in body:
        holds = _holds(statement.test, version) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and holds is not None:
            left += _decided(statement.body if holds else statement.orelse, version)
        else:
            left.append(statement)
    return left


def _holds(test: ast.expr, version: Version) -> bool | None:
    """Whether a condition is true in a version; None where that is not all it asks."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            held = _holds(inner, version)
            return None if held is None else not held
        case ast.BoolOp(op=op, values=values):
            parts = [_holds(each, version) for each in values]
            ending = isinstance(op, ast.Or)
            if ending in parts:
                return ending
            return None if None in parts else not ending
        case ast.Compare(
            left=ast.Attribute(value=ast.Name(id="sys"), attr="version_info"),
            ops=[compared],
            comparators=[ast.Tuple(elts=parts)],
        ):
            compare = _COMPARED.get(type(compared))
            wanted = tuple(each.value for each in parts if isinstance(each, ast.Constant))
            if compare is None or len(wanted) != len(parts):
                return None
            numbers = tuple(each for each in wanted if isinstance(each, int))
            # Of what comes after the minor version nothing is known.
            return compare(version, numbers) if len(numbers) == len(version) else None
    return None
