"""What Django's managers and query sets return: instances of the model that they are asked of.

They carry no annotations. A query set is known with its model as the type argument, as long as
nothing has given the instances further attributes or made rows of them.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import LocalType, PackageType

if TYPE_CHECKING:
    from docstow.languages.python.check.annotations import ValueType

_MANAGER, _QUERY_SET = "django.db.models.manager.Manager", "django.db.models.query.QuerySet"
_ONE = frozenset({"get", "create", "first", "last", "earliest", "latest"})
_PAIR = frozenset({"get_or_create", "update_or_create"})
#: What gives instances further attributes, or makes dictionaries and tuples of them.
_OTHER = frozenset({"annotate", "alias", "extra", "values", "values_list", "dates", "datetimes"})


def of_model(found: ValueType | None, own: LocalType) -> ValueType | None:
    """Return an attribute of a class of the code; a manager with that class as its model."""
    if isinstance(found, PackageType) and found.path == _MANAGER:
        return replace(found, arguments=(LocalType(own.node, own.scope),))
    return found


def is_query(value: ValueType | None) -> bool:
    """Return whether a value is a manager or a query set whose model is known."""
    is_one = isinstance(value, PackageType) and value.path in {_MANAGER, _QUERY_SET}
    return is_one and isinstance(value, PackageType) and len(value.arguments) == 1


def queried(made: PackageType, owner: PackageType, method: str) -> PackageType:
    """Return the query set that a method of another makes, with its model."""
    is_kept = is_query(owner) and made.path == _QUERY_SET and method not in _OTHER
    return replace(made, arguments=owner.arguments) if is_kept else made


def instances(owner: PackageType, method: str) -> tuple[ValueType | None, ...]:
    """Return the instance that a method returns, or a pair of it and a flag; nothing for others."""
    name = method.removeprefix("a")
    if not is_query(owner) or not {name, method} & (_ONE | _PAIR):
        return ()
    model = owner.arguments[0]
    return (model, None) if name in _PAIR else (model,)


def instance_at(value: PackageType, index: ast.expr) -> ValueType | None:
    """Return what an index of a query set leads to: an instance, or a query set of some."""
    return value if isinstance(index, ast.Slice) else value.arguments[0]
