"""The plain kinds of values: what a literal is, and what an annotation or a default tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from docstow.languages.python.source.syntax import dotted

#: What may be anything, for all that is written.
UNKNOWN = ""
FUNCTION, NONE = "function", "None"
_PLAIN = frozenset(
    {
        *("str", "bytes", "int", "float", "bool", "dict", "list", "tuple", "set", "complex"),
        *("bytearray", "frozenset"),
    }
)
_NAMED = {
    **dict.fromkeys(("Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"), "dict"),
    **dict.fromkeys(("List", "MutableSequence"), "list"),
    "Tuple": "tuple",
    "Set": "set",
    "FrozenSet": "set",
    "Callable": FUNCTION,
    "Text": "str",
    **dict.fromkeys(("None", "NoneType", "NoReturn", "Never"), NONE),
}
#: What several kinds of values are.
_WIDER = {
    **dict.fromkeys(("Sequence", "Iterable", "Collection"), ("list", "tuple", "set", "str")),
    "AnyStr": ("str", "bytes"),
}
_LITERALS: tuple[tuple[type[ast.expr] | tuple[type[ast.expr], ...], str], ...] = (
    (ast.JoinedStr, "str"),
    ((ast.List, ast.ListComp), "list"),
    ((ast.Dict, ast.DictComp), "dict"),
    (ast.Tuple, "tuple"),
    ((ast.Set, ast.SetComp), "set"),
    (ast.Lambda, FUNCTION),
)


def kind_of_value(node: ast.expr | None) -> str:
    """Return what a literal is: ``str``, ``int``, ``function``; empty where that is not plain."""
    if isinstance(node, ast.Constant):
        return NONE if node.value is None else type(node.value).__name__
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return kind_of_value(node.operand)
    return next((kind for types, kind in _LITERALS if isinstance(node, types)), UNKNOWN)


def kinds_of_parameter(annotation: ast.expr | None, default: ast.expr | None) -> tuple[str, ...]:
    """Return what a parameter takes, an empty text among it for what is not plain."""
    if annotation is not None:
        return kinds_of_annotation(annotation)
    kind = kind_of_value(default)
    # Of a parameter that may be None nothing tells what else it may be.
    return (kind,) if kind not in {UNKNOWN, NONE} else ()


def kinds_of_annotation(node: ast.expr) -> tuple[str, ...]:
    """Return the plain kinds that an annotation names, an empty text among them for others."""
    return tuple(dict.fromkeys(_kinds(node)))


def _kinds(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from _kinds(left)
            yield from _kinds(right)
        case ast.Constant(value=None):
            yield NONE
        case ast.Constant(value=str(text)):
            yield text if text in _PLAIN else UNKNOWN
        case ast.Subscript(value=owner, slice=inner):
            yield from _kinds_of_generic(dotted(owner).rpartition(".")[2], inner)
        case _:
            yield from _kinds_of_name(dotted(node).rpartition(".")[2])


def _kinds_of_name(name: str) -> tuple[str, ...]:
    return _WIDER.get(name) or (name if name in _PLAIN else _NAMED.get(name, UNKNOWN),)


def _kinds_of_generic(name: str, inner: ast.expr) -> Iterator[str]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Optional":
        yield NONE
    if name in {"Optional", "Union"}:
        for each in parts:
            yield from _kinds(each)
    elif name in {"Annotated", "Final", "Required", "NotRequired"}:
        yield from _kinds(parts[0])
    elif name == "Literal":
        for each in parts:
            yield kind_of_value(each)
    else:
        yield from _kinds_of_name(name)
