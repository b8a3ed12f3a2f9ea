"""What code puts into collections that it makes empty: ``found = []``, ``found.append(item)``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from docstow.languages.python.check.annotations import (
    Inferred,
    PackageType,
    join,
    without_none,
)
from docstow.languages.python.source.syntax import dotted

_COLLECTIONS = frozenset({"builtins.list", "builtins.set", "builtins.tuple", "builtins.dict"})


def is_bare(kind: Inferred) -> bool:
    """Return whether it is a collection of which nothing tells the items: ``-> list``, ``[]``."""
    if not isinstance(kind, PackageType) or kind.is_class:
        return False
    return kind.path in _COLLECTIONS and not any(kind.arguments)


@dataclass(frozen=True, slots=True)
class Addition:
    """Something that is put into a collection.

    Attributes:
        collection: its dotted name.
        value: what is put there.
        by_key: it is the value of a key.
    """

    collection: str
    value: ast.expr
    by_key: bool = False


def additions(nodes: Iterable[ast.AST]) -> Iterator[Addition]:
    """Yield what nodes put into collections, one by one."""
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="append" | "add"), args=[value], keywords=[]
            ) if name := dotted(owner):
                yield Addition(name, value)
            case ast.Assign(targets=[ast.Subscript(value=owner)], value=value) if name := dotted(
                owner
            ):
                yield Addition(name, value, by_key=True)


def with_items(
    kind: Inferred, added: Iterable[Addition], infer: Callable[[Addition], Inferred]
) -> Inferred:
    """Return the type of a collection with that of its items, where those are known.

    Args:
        kind: the type without it.
        added: what is put there.
        infer: gives the type of what is put there.
    """
    if not isinstance(kind, PackageType) or not is_bare(kind):
        return kind
    by_key = kind.path == "builtins.dict"
    item = without_none(join(infer(each) for each in added if each.by_key is by_key))
    if item is None:
        return kind
    return replace(kind, arguments=(None, item) if by_key else (item,))
