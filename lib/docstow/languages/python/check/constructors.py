"""Constructors of classes that the checked code defines."""

from __future__ import annotations

import ast
from dataclasses import replace

from docstow.languages.python.check.inference import Inference
from docstow.languages.python.check.local_classes import NAMED_TUPLES
from docstow.languages.python.check.value_types import LocalType
from docstow.languages.python.source.signature import parameters
from docstow.languages.python.source.syntax import Function, callee, dotted
from docstow.languages.shared.surface import Parameter

_DATACLASS = "dataclasses.dataclass"
_ATTRS = frozenset(
    {
        *("attrs.define", "attrs.frozen", "attrs.mutable"),
        *("attr.define", "attr.frozen", "attr.mutable"),
    }
)
#: Keywords of both decorators that leave the constructor as it is.
_HARMLESS_KEYWORDS = frozenset({"frozen", "slots", "order", "eq", "repr", "unsafe_hash"})


def constructor_parameters(own: LocalType, values: Inference) -> tuple[Parameter, ...] | None:
    """Return what a call of a class takes; None where that is not certain.

    Args:
        own: the class.
        values: the types of the code's expressions.
    """
    node = own.node
    names, bases = values.classes.body_names(node), values.classes.bases(own)
    if bases is None or node.keywords or "__new__" in names or values.classes.is_enum(own):
        return None
    if "__init__" in names:
        (first, *more) = names["__init__"]
        if more or not isinstance(first, ast.FunctionDef) or first.decorator_list:
            return None
        return parameters(first.args)[1:]
    if not node.decorator_list and len(node.bases) == 1:
        is_tuple = values.import_path(node.bases[0], own.scope) in NAMED_TUPLES
        return _fields(node) if is_tuple else None
    if len(node.decorator_list) != 1 or node.bases:
        return None
    decorator = node.decorator_list[0]
    path = values.import_path(callee(decorator), own.scope)
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    if {each.arg for each in keywords} - _HARMLESS_KEYWORDS:
        return None
    if path == _DATACLASS:
        return _fields(node, "field")
    return _attrs_fields(node) if path in _ATTRS else None


def _attrs_fields(node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    for each in node.body:
        # Fields without annotations, fields of other names, defaults and steps in methods.
        value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
        call = value if isinstance(value, ast.Call) else None
        renamed = call is not None and any(word.arg == "alias" for word in call.keywords)
        if renamed or (isinstance(each, ast.Assign) and call is not None):
            return None
        if isinstance(each, Function) and (
            each.name.startswith("__attrs_")
            or any(dotted(above).endswith(".default") for above in each.decorator_list)
        ):
            return None
    found = _fields(node, "field")
    return found and tuple(replace(each, name=each.name.lstrip("_")) for each in found)


def _fields(node: ast.ClassDef, specifier: str = "") -> tuple[Parameter, ...] | None:
    """Return the annotated names of a body as parameters; None where one is no plain field.

    Args:
        node: the class.
        specifier: the function whose call as a default says more of the field.
    """
    found: list[Parameter] = []
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            if isinstance(each, ast.If | ast.Try | ast.With):
                return None
            continue
        annotation = ast.unparse(each.annotation)
        if "ClassVar" in annotation:
            continue
        if "InitVar" in annotation or "KW_ONLY" in annotation:
            return None
        has_default = each.value is not None
        if isinstance(each.value, ast.Call) and specifier:
            keywords = {word.arg for word in each.value.keywords}
            if dotted(each.value.func).rpartition(".")[2] == specifier:
                if keywords & {"init", "kw_only", None}:
                    return None
                has_default = bool(keywords & {"default", "default_factory", "factory"})
        found.append(Parameter(each.target.id, "positional", not has_default))
    return tuple(found)
