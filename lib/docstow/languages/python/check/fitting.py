"""How what a name stands for fits the place where another name stands: how it is called there.

Only what is written plainly on both sides counts: literals and functions that are passed, what is
done with the result; annotations and defaults. Anything else may be right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from docstow.languages.python.source.kinds import (
    FUNCTION,
    NONE,
    UNKNOWN,
    kind_of_value,
    kinds_of_annotation,
)
from docstow.languages.python.source.syntax import Function
from docstow.languages.shared.surface import Parameter, Symbol
from docstow.text.python_ast import try_parse_expression

#: What it counts that things are plainly the same, and that they are not.
_LIKE, _UNLIKE = 0.5, -0.6
_RETURNS = re.compile(r"\) -> ([^\n]+)$")
_AWAITABLE = frozenset({"Awaitable", "Coroutine", "Future", "Task"})
_ITERABLE = frozenset({"list", "dict", "tuple", "set", "str", "bytes"})
_NUMBERS = frozenset({"int", "float", "bool", "complex"})
_WORD = re.compile(r"\w+")


class Surroundings:
    """What stands around the calls of a piece of code, read once it is asked for.

    Args:
        tree: the code.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    @cached_property
    def functions(self) -> Collection[str]:
        """The names of the code's own functions."""
        return {each.name for each in ast.walk(self._tree) if isinstance(each, Function)}

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """What each call is directly in."""
        return {
            inner: each
            for each in ast.walk(self._tree)
            for inner in ast.iter_child_nodes(each)
            if isinstance(inner, ast.Call)
        }


@dataclass(frozen=True, eq=False)
class CallUse:
    """What a call passes, and what is done with its result.

    Attributes:
        node: the call.
        around: what is around it; None where that is not looked at.
    """

    node: ast.Call
    around: Surroundings | None = None

    def fits(self, symbol: Symbol) -> float:
        """Return from -1 to 1 how a function fits; 0 where nothing tells."""
        parameters = symbol.parameters or ()
        plain = [each for each in parameters if each.kind in {"positional", "positional_only"}]
        fitting = [
            self._fits(taken, given) for taken, given in zip(plain, self.node.args, strict=False)
        ]
        by_name = {each.name: each for each in parameters}
        fitting += [
            self._fits(by_name[each.arg], each.value)
            for each in self.node.keywords
            if each.arg in by_name
        ]
        used = self._fits_result(symbol)
        return min([used, *fitting]) if _UNLIKE in (used, *fitting) else max([used, *fitting])

    def fits_parameter(self, keyword: str, parameter: Parameter) -> float:
        """Return from -1 to 1 how what a keyword passes fits a parameter; 0 where nothing tells."""
        given = (each.value for each in self.node.keywords if each.arg == keyword)
        return self._fits(parameter, next(given, None))

    def _fits(self, parameter: Parameter, given: ast.expr | None) -> float:
        kind = kind_of_value(given)
        functions = self.around.functions if self.around is not None else ()
        if isinstance(given, ast.Name) and given.id in functions:
            kind = FUNCTION
        taken = set(parameter.kinds)
        if not kind or not taken or kind == NONE:
            return 0.0
        if kind in taken or (kind == "int" and "float" in taken):
            return _LIKE
        return 0.0 if UNKNOWN in taken else _UNLIKE

    def _fits_result(self, symbol: Symbol) -> float:
        if not self._wanted or symbol.kind == "class":
            return 0.0
        is_async = "async def " in symbol.signature
        if self._wanted == "awaited":
            returned = _returned(symbol.signature)
            awaitable = returned is not None and not _AWAITABLE.isdisjoint(_words(returned))
            if is_async or awaitable:
                return _LIKE
            return 0.0 if returned is None else _UNLIKE
        if is_async:
            return _UNLIKE if self._wanted != "something" else 0.0
        returned = _returned(symbol.signature)
        kinds = set(kinds_of_annotation(returned)) if returned is not None else set()
        if not kinds:
            return 0.0
        if kinds == {NONE}:
            return _UNLIKE
        if UNKNOWN in kinds or self._wanted == "something":
            return 0.0
        if self._wanted == "truth":
            return _LIKE if kinds == {"bool"} else 0.0
        if self._wanted == "iterable":
            return _LIKE if kinds & _ITERABLE else _UNLIKE
        return 0.0 if kinds - _NUMBERS else _UNLIKE

    @cached_property
    def _wanted(self) -> str:
        """What its place takes; empty where nothing tells."""
        node = self.node
        match self.around.parents.get(node) if self.around is not None else None:
            case ast.Await():
                return "awaited"
            case ast.For(iter=inner) | ast.comprehension(iter=inner) if inner is node:
                return "iterable"
            case ast.Attribute() | ast.Subscript():
                return "object"
            case ast.If() | ast.While() | ast.IfExp() | ast.BoolOp() | ast.Assert():
                return "truth"
            case ast.UnaryOp(op=ast.Not()):
                return "truth"
            case ast.Expr() | None:
                return ""
        return "something"


def _returned(signature: str) -> ast.expr | None:
    """Return the annotation of what a function returns; None where it has none."""
    match = _RETURNS.search(signature)
    return try_parse_expression(match[1]) if match is not None else None


def _words(node: ast.expr) -> set[str]:
    return set(_WORD.findall(ast.unparse(node)))
