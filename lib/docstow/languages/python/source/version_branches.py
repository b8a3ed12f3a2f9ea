"""Branches of a stub that test Python's version, decided for one version.

The conditions are those that stubs may have: ``sys.version_info`` compared with a tuple. A branch
that tests anything else, such as the platform, stays.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

Version = tuple[int, int]

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.Lt: operator.lt,
}


def decide_branches(tree: ast.Module, version: Version) -> None:
    """Replace each statement that tests the version by the branch that applies.

    Args:
        tree: changed in place.
        version: major and minor.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for part in ("body", "orelse"):
            inside = getattr(node, part, None)
            if isinstance(inside, list):
                setattr(node, part, _decide(inside, version))
                waiting += getattr(node, part)


def _decide(body: list[ast.stmt], version: Version) -> list[ast.stmt]:
    left: list[ast.stmt] = []
    for statement in body:
        holds = _holds(statement.test, version) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and holds is not None:
            left += _decide(statement.body if holds else statement.orelse, version)
        else:
            left.append(statement)
    return left


def _holds(test: ast.expr, version: Version) -> bool | None:
    """Return whether a condition holds in a version; None where it depends on anything else."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            holds = _holds(inner, version)
            return None if holds is None else not holds
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
            compare = _COMPARISONS.get(type(compared))
            wanted = tuple(each.value for each in parts if isinstance(each, ast.Constant))
            if compare is None or len(wanted) != len(parts):
                return None
            numbers = tuple(each for each in wanted if isinstance(each, int))
            # Nothing is known of the numbers after the minor version.
            return compare(version, numbers) if len(numbers) == len(version) else None
    return None
