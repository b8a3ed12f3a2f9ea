"""Which changes of a Python signature break its callers."""

from __future__ import annotations

import ast
import builtins
import enum
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from docstow.languages.python.source.signature import parameters
from docstow.languages.python.source.syntax import Function
from docstow.text.python_ast import try_parse_expression, try_parse_module

#: Rules about parameters that only the newer version has.
OF_NEW = frozenset({"parameter-added-required", "parameter-now-required"})
#: Bases without members of their own.
_MARKERS = frozenset({"Generic", "Protocol", "ABC", "object"})
_RECEIVERS = frozenset({"self", "cls", "mcs"})
_TYPING = frozenset({"t", "te", "typing", "typing_extensions", "collections", "abc", "cabc"})
_BUILTIN_TYPES = {"List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "Type": "type"}


class _Parameter(NamedTuple):
    position: int
    kind: str
    required: bool


def same(old: str, new: str) -> bool:
    """Return whether two declarations differ only in how their types are written."""
    return old == new or (_normalize(old) == _normalize(new) != "")


def _normalize(declaration: str) -> str:
    """Return a declaration with ``Optional[X]`` as ``X | None`` and so on; empty if unreadable."""
    bodied = re.sub(r"(?m)^((?:async )?def .*?)(?:: \.\.\.)?$", r"\1: ...", declaration.strip())
    for each in (declaration.strip(), f"{declaration.strip()}: ...", bodied):
        with suppress(RecursionError):
            if (module := try_parse_module(each)) is not None:
                return ast.unparse(_TypeNormalizer().visit(module))
    return ""


class _TypeNormalizer(ast.NodeTransformer):
    """Rewriter of types to one notation; defaults stay as they are."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg):
            if each is not None and each.annotation is not None:
                each.annotation = _normalize_type(each.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = _normalize_type(node.returns) if node.returns is not None else None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = _normalize_type(node.annotation)
        return node


def _normalize_type(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        quoted = try_parse_expression(node.value)
        return _normalize_type(quoted) if quoted is not None else node
    if isinstance(node, ast.Attribute):
        root = ast.unparse(node.value).partition(".")[0]
        node = ast.Name(node.attr) if root in _TYPING else node
    if isinstance(node, ast.Name):
        return ast.Name(_BUILTIN_TYPES.get(node.id, node.id))
    if isinstance(node, ast.Subscript):
        kind = _normalize_type(node.value)
        if isinstance(kind, ast.Name) and kind.id == "Literal":
            return ast.Subscript(kind, node.slice)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        parts = [_normalize_type(each) for each in inner]
        if isinstance(kind, ast.Name) and kind.id in ("Optional", "Union"):
            parts += [ast.Constant(None)] if kind.id == "Optional" else []
            return _union(parts)
        given = ast.Tuple(parts) if isinstance(node.slice, ast.Tuple) else parts[0]
        return ast.Subscript(kind, given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_normalize_type(node.left), _normalize_type(node.right)])
    if isinstance(node, ast.List):
        return ast.List([_normalize_type(each) for each in node.elts])
    return node


def _union(parts: list[ast.expr]) -> ast.expr:
    """Return a union, flat and sorted."""
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
    """Return the rules that a changed signature breaks, each with the names concerned.

    There are none where a signature cannot be read, or has several overloads.

    Args:
        old: a declaration; of a class with its constructor in its body.
        new: the newer one.
    """
    was, now = _parse(old), _parse(new)
    broken: dict[str, set[str]] = {}
    if isinstance(was, ast.ClassDef) and isinstance(now, ast.ClassDef):
        bases = _bases(now)
        if lost := {each for each in _bases(was) - bases if not _is_implied(each, bases)}:
            broken["base-removed"] = lost
        was, now = _constructor(was), _constructor(now)
    if isinstance(was, Function) and isinstance(now, Function):
        for rule, name in _broken_rules(was.args, now.args):
            broken.setdefault(rule, set()).add(name)
    return broken


def _parse(declaration: str) -> ast.stmt | None:
    # Of overloads only the last has a body, so that none is parsed.
    module = try_parse_module(f"{declaration.strip()}: ...")
    return module.body[0] if module is not None and len(module.body) == 1 else None


def _bases(definition: ast.ClassDef) -> set[str]:
    """Return the last names of public bases, without their type arguments."""
    found = set()
    for each in definition.bases:
        bare = each.value if isinstance(each, ast.Subscript) else each
        found.add(ast.unparse(bare).strip("'\"").partition("[")[0].rpartition(".")[2])
    return {each for each in found if not each.startswith("_")} - _MARKERS


def _is_implied(base: str, bases: set[str]) -> bool:
    """Return whether a lost base is itself a base of a remaining builtin one."""
    known = {**vars(builtins), **vars(enum)}
    above = [known[each] for each in bases if isinstance(known.get(each), type)]
    lost = known.get(base)
    return isinstance(lost, type) and any(issubclass(each, lost) for each in above)


def _constructor(definition: ast.ClassDef) -> ast.stmt | None:
    found = (each for each in definition.body if isinstance(each, ast.FunctionDef))
    return next(found, None)


def _broken_rules(old: ast.arguments, new: ast.arguments) -> Iterator[tuple[str, str]]:
    was, now = _parameters(old), _parameters(new)
    renamed = dict(_renamed(was, now))
    for name, each in was.items():
        if name in now:
            yield from _changes(name, each, now[name])
        elif name in renamed:
            # A renamed parameter at the same position takes what is passed by position.
            if each.kind != "positional-only":
                yield "parameter-renamed", f"{name} to {renamed[name]}"
            if now[renamed[name]].required and not each.required:
                yield "parameter-now-required", renamed[name]
        else:
            takes_name = new.kwarg is not None or each.kind == "positional-only"
            takes_position = new.vararg is not None or each.kind == "keyword-only"
            if not (takes_name and takes_position):
                yield "parameter-removed", name
    for gathered, left in ((old.vararg, new.vararg), (old.kwarg, new.kwarg)):
        if gathered is not None and left is None:
            yield "parameter-removed", f"*{gathered.arg}"
    for name, added in now.items():
        if name not in was and name not in renamed.values() and added.required:
            yield "parameter-added-required", name


def _renamed(
    was: Mapping[str, _Parameter], now: Mapping[str, _Parameter]
) -> Iterator[tuple[str, str]]:
    """Yield removed parameters, each with the new one at its position."""
    by_position = {each.position: name for name, each in now.items() if each.position >= 0}
    for name, each in was.items():
        other = by_position.get(each.position, "")
        if name in now or not other or other in was:
            continue
        # An optional parameter is as likely to have been replaced by an unrelated one.
        if each.kind == "positional-only" or each.required:
            yield name, other


def _changes(name: str, old: _Parameter, new: _Parameter) -> Iterator[tuple[str, str]]:
    if new.required and not old.required:
        yield "parameter-now-required", name
    if new.kind not in (old.kind, "positional"):
        yield "parameter-kind-changed", name
    elif "keyword-only" not in (old.kind, new.kind) and new.position != old.position:
        yield "parameter-moved", name


def _parameters(arguments: ast.arguments) -> dict[str, _Parameter]:
    found: dict[str, _Parameter] = {}
    named = (each for each in parameters(arguments) if not each.kind.startswith("var_"))
    for position, each in enumerate(named):
        if each.kind == "keyword_only":
            found[each.name] = _Parameter(-1, "keyword-only", each.required)
        elif position or each.name.lstrip("_") not in _RECEIVERS:
            # Before ``/``, two underscores meant positional-only.
            hidden = each.name.startswith("__") and not each.name.endswith("__")
            only = each.kind == "positional_only" or hidden
            kind = "positional-only" if only else "positional"
            found[each.name] = _Parameter(position, kind, each.required)
    return found
