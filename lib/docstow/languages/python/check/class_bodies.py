"""Bodies of classes in Python code: what they bind, and the fields that make a constructor.

This room knows syntax. It does not know bases, nor what names mean.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from docstow.languages.python.source.signature import dotted
from docstow.languages.shared.surface import Parameter

Function = ast.FunctionDef | ast.AsyncFunctionDef


def made_by_dataclass(maker: ast.expr, node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """What a plain ``dataclass`` makes of a body; None where it is told more."""
    words = maker.keywords if isinstance(maker, ast.Call) else []
    if {each.arg for each in words} - {"frozen", "slots", "order", "eq", "repr", "unsafe_hash"}:
        return None
    return fields(node, "field")


def made_by_attrs(maker: ast.expr, node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """What a plain ``attrs.define`` makes of a body; None where it is told more."""
    words = maker.keywords if isinstance(maker, ast.Call) else []
    if {each.arg for each in words} - {"frozen", "slots", "order", "eq", "repr", "unsafe_hash"}:
        return None
    for each in node.body:
        # Fields without annotations, fields of other names, defaults and steps that methods give.
        made = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
        call = made if isinstance(made, ast.Call) else None
        named = call is not None and any(word.arg == "alias" for word in call.keywords)
        if named or (isinstance(each, ast.Assign) and call is not None):
            return None
        if isinstance(each, Function) and (
            each.name.startswith("__attrs_")
            or any(dotted(above).endswith(".default") for above in each.decorator_list)
        ):
            return None
    found = fields(node, "field")
    return found and tuple(replace(each, name=each.name.lstrip("_")) for each in found)


def fields(node: ast.ClassDef, maker: str) -> tuple[Parameter, ...] | None:
    """The annotated names of a body as parameters; None where one is more than a plain field."""
    found: list[Parameter] = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            if isinstance(each, ast.If | ast.Try | ast.With):
                return None
            continue
        text = ast.unparse(each.annotation)
        if any(word in text for word in ("ClassVar", "InitVar", "KW_ONLY")):
            if "ClassVar" in text:
                continue
            return None
        default = each.value is not None
        if isinstance(each.value, ast.Call) and maker:
            name = dotted(each.value.func).rpartition(".")[2]
            words = {word.arg for word in each.value.keywords}
            if name == maker:
                if words & {"init", "kw_only", None}:
                    return None
                default = bool(words & {"default", "default_factory", "factory"})
        found.append(Parameter(each.target.id, "positional", not default))
    return tuple(found)


def bound(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """The names that a class body binds, those of its branches too."""
    for node in body:
        yield from ((name, node) for name in _names(node))
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for part in ("body", "orelse", "finalbody"):
                yield from bound(getattr(node, part, []))
            for each in getattr(node, "handlers", []):
                yield from bound(each.body)


def _names(node: ast.stmt) -> Iterator[str]:
    """The names that one statement binds."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=targets):
            found = [e.id for t in targets for e in ast.walk(t) if isinstance(e, ast.Name)]
            yield from found
            if "__slots__" in found:
                yield from _texts(node.value)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (each.asname or each.name.partition(".")[0] for each in node.names)
        case ast.For(target=target):
            yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _texts(node: ast.expr) -> list[str]:
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


def receiver(method: ast.stmt) -> str:
    """The name of a method's first parameter."""
    if not isinstance(method, Function):
        return ""
    every = [*method.args.posonlyargs, *method.args.args]
    return every[0].arg if every else ""


def stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Targets of an assignment, each with the value, or the annotation where that is said."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value, False) for target in targets)
        case ast.AnnAssign(target=target, annotation=annotation):
            yield target, annotation, True
        case ast.AugAssign(target=target, value=value):
            yield target, value, False


def is_property(node: ast.FunctionDef) -> bool:
    """Whether a method is asked for as an attribute."""
    return any("property" in ast.unparse(each) for each in node.decorator_list)
