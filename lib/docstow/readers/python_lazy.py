"""Names that a module gives on demand, where they can be read.

This room knows ``lazy_loader.attach`` and the ``__getattr__`` that compares with written names.
Other loaders are code, and stay unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from docstow.readers.python_signature import dotted, literal


def attached(tree: ast.Module, name: str) -> Mapping[str, tuple[str, str]]:
    """Names that a package's ``__init__`` loads lazily: module and name in it (or nothing).

    Empty where there is no such call, or where a part of it is not written out.
    """
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if isinstance(call, ast.Call) and dotted(call.func) in {
            "lazy.attach",
            "lazy_loader.attach",
        }:
            return _names(call, name)
    return {}


def _names(call: ast.Call, name: str) -> Mapping[str, tuple[str, str]]:
    given = dict(zip(("name", "submodules", "submod_attrs"), call.args, strict=False))
    given |= {each.arg or "**": each.value for each in call.keywords}
    try:
        modules = ast.literal_eval(given["submodules"]) if "submodules" in given else ()
        attributes = ast.literal_eval(given["submod_attrs"]) if "submod_attrs" in given else {}
        found = {each: (f"{name}.{each}", "") for each in modules or ()}
        for module, names in (attributes or {}).items():
            found |= {each: (f"{name}.{module}", each) for each in names}
    except (ValueError, TypeError, AttributeError, SyntaxError):
        return {}
    return found


def compared(tree: ast.Module) -> frozenset[str] | None:
    """The names that a module's ``__getattr__`` answers for; None where it may answer for more."""
    makers = [each for each in tree.body if getattr(each, "name", "") == "__getattr__"]
    if len(makers) != 1 or not isinstance(makers[0], ast.FunctionDef) or not makers[0].args.args:
        return None
    tables = {
        each.targets[0].id: each.value
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    names: set[str] = set()
    ends = _reads(makers[0].body, makers[0].args.args[0].arg, tables, names)
    return frozenset(names) if ends else None


def _reads(
    body: list[ast.stmt], asked: str, tables: Mapping[str, ast.expr], names: set[str]
) -> bool:
    """Collect what ``asked`` is compared with; whether all else raises AttributeError."""
    for node in body:
        if isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            return dotted(raised) == "AttributeError"
        if isinstance(node, ast.If):
            found = _compared_with(node.test, asked, tables)
            if found is None:
                return False
            names |= found
            if node.orelse:
                return _reads(node.orelse, asked, tables, names)
        elif not isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
            return False
    return False


def _compared_with(test: ast.expr, asked: str, tables: Mapping[str, ast.expr]) -> set[str] | None:
    if not isinstance(test, ast.Compare) or dotted(test.left) != asked or len(test.ops) != 1:
        return None
    other: ast.expr | None = test.comparators[0]
    if isinstance(test.ops[0], ast.Eq):
        return {literal(other)} if literal(other) else None
    if not isinstance(test.ops[0], ast.In):
        return None
    other = tables.get(dotted(other), other)
    elements = getattr(other, "keys" if isinstance(other, ast.Dict) else "elts", None)
    if not isinstance(elements, list) or not all(literal(each) for each in elements):
        return None
    return {literal(each) for each in elements}
