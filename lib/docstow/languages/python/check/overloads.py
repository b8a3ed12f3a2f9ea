"""Which overloads of a function a call or a key is for."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from docstow.core.patterns import lazy_pattern
from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.syntax import Function, dotted, positional
from docstow.languages.shared.lookup import PassedArguments, mismatch

#: Displays of what is not hashable.
_UNHASHABLE = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
_INTEGERS = lazy_pattern(r"\b(?:int|SupportsIndex)\b")
#: Annotations of what takes several keys at once.
_SEVERAL = frozenset({"Sequence", "Iterable", "Collection", "List", "list", "Set", "set"})


def matching_overloads(
    headers: Sequence[Function], shape: PassedArguments, *, receives: bool, unbound: bool = False
) -> Sequence[Function]:
    """Return the overloads that take a call; all of them where none seems to."""
    if len(headers) < 2:
        return headers
    fit = []
    for header in headers:
        takes = parameters(header.args)
        is_static = any(ast.unparse(each) == "staticmethod" for each in header.decorator_list)
        takes = takes[1:] if receives and not is_static else takes
        if mismatch(takes, shape, unbound=unbound) is None:
            fit.append(header)
    return fit or headers


def agree(headers: Sequence[Function], shape: PassedArguments, *, receives: bool) -> bool:
    """Return whether overloads annotate all that a call passes the same."""
    if shape.open_positional or shape.open_keywords:
        return False
    annotations = set()
    for header in headers:
        plain = positional(header)[receives:]
        by_name = {each.arg: each for each in (*plain, *header.args.kwonlyargs)}
        taken = [*plain[: shape.positional], *(by_name.get(each) for each in shape.keywords)]
        annotations.add(
            tuple(
                ast.unparse(each.annotation) if each and each.annotation else "" for each in taken
            )
        )
    return len(annotations) == 1


def of_key(headers: Sequence[Function], key: ast.expr) -> Function | None:
    """Return the overload of ``__getitem__`` that takes a key; None where the key does not tell."""
    fit = [each for each in headers if _may_take_key(each, key)]
    if isinstance(key, ast.Constant) and isinstance(key.value, int):
        fit = [each for each in fit if _names_integers(each)] or fit
    is_written = isinstance(key, (*_UNHASHABLE, ast.Constant, ast.JoinedStr, ast.Tuple))
    # What a variable holds may be hashable or not.
    if not fit or (len(fit) > 1 and _takes_hashable(fit[0]) and not is_written):
        return None
    return fit[0]


def _may_take_key(header: Function, key: ast.expr) -> bool:
    """Return whether a ``__getitem__`` that takes certain keys only may take a key."""
    if _takes_hashable(header):
        return not isinstance(key, _UNHASHABLE)
    match _annotation_of_key(header):
        case ast.Name(id="slice") | ast.Subscript(value=ast.Name(id="slice")):
            return isinstance(key, ast.Slice)
        case ast.Subscript(value=kind) if dotted(kind).rpartition(".")[2] in _SEVERAL:
            return not isinstance(key, ast.Constant)
        case ast.Subscript(value=kind, slice=keys) if dotted(kind).rpartition(".")[2] == "Literal":
            known = [each.value for each in ast.walk(keys) if isinstance(each, ast.Constant)]
            return isinstance(key, ast.Constant) and key.value in known
    return True


def _names_integers(header: Function) -> bool:
    taken = _annotation_of_key(header)
    return taken is not None and bool(_INTEGERS.search(ast.unparse(taken)))


def _takes_hashable(header: Function) -> bool:
    taken = _annotation_of_key(header)
    return taken is not None and dotted(taken).rpartition(".")[2] == "Hashable"


def _annotation_of_key(header: Function) -> ast.expr | None:
    taken = next(iter(positional(header)[1:]), None)
    return taken.annotation if taken is not None else None
