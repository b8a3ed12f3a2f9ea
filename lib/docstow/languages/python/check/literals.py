"""What literals, collections and operators of Python are."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

_CONSTANTS = frozenset({"str", "bytes", "int", "float", "complex", "bool"})
_COLLECTIONS: Mapping[type[ast.expr], str] = {
    ast.JoinedStr: "str",
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
}
#: The methods of operators.
OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.MatMult: "__matmul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.BitOr: "__or__",
    ast.BitXor: "__xor__",
    ast.BitAnd: "__and__",
}


def literal_class(node: ast.expr) -> str:
    """Return the built-in class of a constant or a collection; empty for anything else."""
    if isinstance(node, ast.Constant):
        name = type(node.value).__name__
        return name if name in _CONSTANTS else ""
    return _COLLECTIONS.get(type(node), "")


def known_items(node: ast.expr) -> Sequence[ast.expr]:
    """Return the expressions whose types are the type arguments of a literal."""
    match node:
        case ast.List(elts=[first, *_]):
            return [first]
        case ast.Tuple(elts=parts):
            return parts
        case ast.ListComp(elt=element) | ast.SetComp(elt=element):
            return [element]
    return ()
