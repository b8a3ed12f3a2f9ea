"""What a changed signature of Python means for those who call it.

This room knows Python's rules of calling. It does not know documents.
"""

from __future__ import annotations

import ast
import builtins
import enum
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from docstow.text import python_ast as python_tree

#: Rules about what only the newer version has.
OF_NEW = frozenset({"parameter-added-required", "parameter-now-required"})
#: Bases that say nothing of what a class has.
_MARKS = frozenset({"Generic", "Protocol", "ABC", "object"})
_OWN = frozenset({"self", "cls", "mcs"})
_TYPING = frozenset({"t", "te", "typing", "typing_extensions", "collections", "abc", "cabc"})
_PLAIN = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type"}
_CALLED = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Parameter(NamedTuple):
    place: int
    kind: str
    required: bool


def same(old: str, new: str) -> bool:
    """Whether two declarations differ in nothing but how their types are written."""
    return old == new or (_respelt(old) == _respelt(new) != "")


def _respelt(declaration: str) -> str:
    """A declaration with ``Optional[X]`` as ``X | None`` and the like; empty if unreadable."""
    bodied = re.sub(r"(?m)^((?:async )?def .*?)(?:: \.\.\.)?$", r"\1: ...", declaration.strip())
    for each in (declaration.strip(), f"{declaration.strip()}: ...", bodied):
        try:
            return ast.unparse(_Respell().visit(python_tree.module(each)))
        except (SyntaxError, ValueError, RecursionError):
            continue
    return ""


class _Respell(ast.NodeTransformer):
    """Writes types the way that is usual today; defaults stay as they are."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each is not None and each.annotation is not None:
                each.annotation = _respelt_type(each.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = _respelt_type(node.returns) if node.returns is not None else None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = _respelt_type(node.annotation)
        return node


def _respelt_type(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return _respelt_type(python_tree.expression(node.value))
        except (SyntaxError, ValueError):
            return node
    if isinstance(node, ast.Attribute):
        root = ast.unparse(node.value).partition(".")[0]
        node = ast.Name(node.attr) if root in _TYPING else node
    if isinstance(node, ast.Name):
        return ast.Name(_PLAIN.get(node.id, node.id))
    if isinstance(node, ast.Subscript):
        kind = _respelt_type(node.value)
        if isinstance(kind, ast.Name) and kind.id == "Literal":
            return ast.Subscript(kind, node.slice)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [_respelt_type(each) for each in inner]
        if isinstance(kind, ast.Name) and kind.id in ("Optional", "Union"):
            parts += [ast.Constant(None)] if kind.id == "Optional" else []
            return _either(parts)
        given = ast.Tuple(parts) if isinstance(node.slice, ast.Tuple) else parts[0]
        return ast.Subscript(kind, given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either([_respelt_type(node.left), _respelt_type(node.right)])
    if isinstance(node, ast.List):
        return ast.List([_respelt_type(each) for each in node.elts])
    return node


def _either(parts: list[ast.expr]) -> ast.expr:
    """A union, flat and in an order of its own."""
    members: dict[str, ast.expr] = {}
    for each in parts:
        while isinstance(each, ast.BinOp):
            members[ast.unparse(each.right)] = each.right
            each = each.left
        members[ast.unparse(each)] = each
    first, *rest = (members[key] for key in sorted(members))
    for each in rest:
        first = ast.BinOp(first, ast.BitOr(), each)
    return first


def broken_rules(old: str, new: str) -> dict[str, set[str]]:
    """The rules that a signature breaks, each with the names that are concerned.

    There are none where a signature cannot be read, or is one of several overloads.

    Args:
        old: a declaration; of a class with its constructor in it.
        new: the newer one.
    """
    was, now = _parsed(old), _parsed(new)
    broken: dict[str, set[str]] = {}
    if isinstance(was, ast.ClassDef) and isinstance(now, ast.ClassDef):
        bases = _bases(now)
        if lost := {each for each in _bases(was) - bases if not _is_implied(each, bases)}:
            broken["base-removed"] = lost
        was, now = _constructor(was), _constructor(now)
    if isinstance(was, _CALLED) and isinstance(now, _CALLED):
        for rule, name in _broken(was.args, now.args):
            broken.setdefault(rule, set()).add(name)
    return broken


def _parsed(declaration: str) -> ast.stmt | None:
    try:
        # Of overloads the last alone would be whole, so that none is parsed.
        module = python_tree.module(f"{declaration.strip()}: ...")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return module.body[0] if len(module.body) == 1 else None


def _bases(definition: ast.ClassDef) -> set[str]:
    """The last names of public bases: their type arguments are for checkers alone."""
    found = set()
    for each in definition.bases:
        bare = each.value if isinstance(each, ast.Subscript) else each
        found.add(ast.unparse(bare).strip("'\"").partition("[")[0].rpartition(".")[2])
    return {each for each in found if not each.startswith("_")} - _MARKS


def _is_implied(base: str, bases: set[str]) -> bool:
    """Whether a class of Python's own that is a base has the lost one as its base."""
    known = {**vars(builtins), **vars(enum)}
    above = [known[each] for each in bases if isinstance(known.get(each), type)]
    lost = known.get(base)
    return isinstance(lost, type) and any(issubclass(each, lost) for each in above)


def _constructor(definition: ast.ClassDef) -> ast.stmt | None:
    found = (each for each in definition.body if isinstance(each, ast.FunctionDef))
    return next(found, None)


def _broken(old: ast.arguments, new: ast.arguments) -> Iterator[tuple[str, str]]:
    was, now = _parameters(old), _parameters(new)
    instead = dict(_instead(was, now))
    for name, each in was.items():
        if name in now:
            yield from _moved(name, each, now[name])
        elif name in instead:
            # What stands at its place under a new name takes what is given by place.
            if each.kind != "positional-only":
                yield "parameter-renamed", f"{name} to {instead[name]}"
            if now[instead[name]].required and not each.required:
                yield "parameter-now-required", instead[name]
        else:
            by_name = new.kwarg is not None or each.kind == "positional-only"
            by_place = new.vararg is not None or each.kind == "keyword-only"
            if not (by_name and by_place):
                yield "parameter-removed", name
    for gathered, left in ((old.vararg, new.vararg), (old.kwarg, new.kwarg)):
        if gathered is not None and left is None:
            yield "parameter-removed", f"*{gathered.arg}"
    for name, added in now.items():
        if name not in was and name not in instead.values() and added.required:
            yield "parameter-added-required", name


def _instead(
    was: Mapping[str, _Parameter], now: Mapping[str, _Parameter]
) -> Iterator[tuple[str, str]]:
    """Parameters that are gone, with new ones that stand at their places."""
    at_place = {each.place: name for name, each in now.items() if each.place >= 0}
    for name, each in was.items():
        other = at_place.get(each.place, "")
        if name in now or not other or other in was:
            continue
        # One that may be left out is as likely to have made room for quite another.
        if each.kind == "positional-only" or each.required:
            yield name, other


def _moved(name: str, old: _Parameter, new: _Parameter) -> Iterator[tuple[str, str]]:
    if new.required and not old.required:
        yield "parameter-now-required", name
    if new.kind not in (old.kind, "positional"):
        yield "parameter-kind-changed", name
    elif "keyword-only" not in (old.kind, new.kind) and new.place != old.place:
        yield "parameter-moved", name


def _parameters(arguments: ast.arguments) -> dict[str, _Parameter]:
    found: dict[str, _Parameter] = {}
    plain = [*arguments.posonlyargs, *arguments.args]
    required = len(plain) - len(arguments.defaults)
    own = 1 if plain and plain[0].arg.lstrip("_") in _OWN else 0
    for place, each in enumerate(plain[own:], own):
        # Before there was a sign for it, two underscores meant the same.
        hidden = each.arg.startswith("__") and not each.arg.endswith("__")
        only = place < len(arguments.posonlyargs) or hidden
        kind = "positional-only" if only else "positional"
        found[each.arg] = _Parameter(place, kind, place < required)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[each.arg] = _Parameter(-1, "keyword-only", default is None)
    return found
