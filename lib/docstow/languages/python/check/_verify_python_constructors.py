"""How classes are called that the code itself defines.

This room knows what makes constructors: methods, decorators, named tuples. It does not know what
members classes have (:mod:`docstow.languages.python.check.types`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from docstow.languages.python.check.class_bodies import fields, made_by_attrs, made_by_dataclass
from docstow.languages.python.check.terms import Own
from docstow.languages.python.check.types import TUPLES
from docstow.languages.python.source.signature__readers_python_signature import dotted, parameters
from docstow.languages.shared.surface__readers_call_parameters import Parameter
from docstow.text import python_ast as python_tree

if TYPE_CHECKING:
    from docstow.languages.python.check.types__verify_python_values import Values

_ATTRS = frozenset(
    {
        *("attrs.define", "attrs.frozen", "attrs.mutable"),
        *("attr.define", "attr.frozen", "attr.mutable"),
    }
)


def constructor(own: Own, values: Values) -> tuple[Parameter, ...] | None:
    """How a class of the code is called; None where that is not certain.

    Args:
        own: the class.
        values: what expressions of the code are.
    """
    body, bases = values.own.body(own.node), values.own.bases(own)
    if bases is None or own.node.keywords:
        return None
    if "__new__" in body or values.own.is_enum(own):
        return None
    if "__init__" in body:
        (first, *more) = body["__init__"]
        if more or not isinstance(first, ast.FunctionDef) or first.decorator_list:
            return None
        return parameters(first.args)[1:]
    makers = [
        (each, dotted(each.func if isinstance(each, ast.Call) else each))
        for each in own.node.decorator_list
    ]
    paths = {_path(name, own, values) for _, name in makers}
    named = any(values.dotted(each, own.scope) in TUPLES for each in own.node.bases)
    if named and len(own.node.bases) == 1 and not makers:
        return fields(own.node, "")
    if paths == {"dataclasses.dataclass"} and not bases and not own.node.bases:
        return made_by_dataclass(makers[0][0], own.node)
    if len(makers) == 1 and paths <= _ATTRS and not bases and not own.node.bases:
        return made_by_attrs(makers[0][0], own.node)
    return None


def _path(name: str, own: Own, values: Values) -> str | None:
    node = python_tree.expression(name) if name else None
    return values.dotted(node, own.scope) if node is not None else None
