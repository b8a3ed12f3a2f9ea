"""What Django's models hold (and peewee's of others), what their managers and query sets return.

They carry no annotations. A query set is known with its model as the type argument, as long as
nothing has given the instances further attributes or made rows of them.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import LocalType, PackageType
from docstow.languages.python.source.syntax import string_value

if TYPE_CHECKING:
    from docstow.languages.python.check.annotations import ValueType

_MANAGER, _QUERY_SET = "django.db.models.manager.Manager", "django.db.models.query.QuerySet"
_ONE = frozenset({"get", "create", "first", "last", "earliest", "latest"})
_PAIR = frozenset({"get_or_create", "update_or_create"})
_MODEL = "django.db.models.base.Model"
#: Fields that link a model to another, whose instance they hold.
_LINKS = frozenset(
    {
        *("django.db.models.fields.related.ForeignKey", "peewee.ForeignKeyField"),
        "django.db.models.fields.related.OneToOneField",
    }
)
#: What other fields of Django hold.
_HELD = {
    **dict.fromkeys(("CharField", "TextField", "EmailField", "SlugField", "URLField"), "str"),
    "DateField": "datetime.date",
    "DateTimeField": "datetime.datetime",
    "DecimalField": "decimal.Decimal",
    "UUIDField": "uuid.UUID",
}
#: Methods that fields give their models: ``get_state_display``.
_OF_FIELDS = re.compile(r"get_\w+_(?:display|order)|(?:get_next|get_previous)_by_\w+|set_\w+_order")
#: What gives instances further attributes, or makes dictionaries and tuples of them.
_OTHER = frozenset({"annotate", "alias", "extra", "values", "values_list", "dates", "datetimes"})


def of_model(found: ValueType | None, own: LocalType) -> ValueType | None:
    """Return an attribute of a class of the code; a manager with that class as its model."""
    if isinstance(found, PackageType) and found.path == _MANAGER:
        # The manager that Django adds is of the class itself.
        return replace(found, arguments=(LocalType(own.node, own.scope),), subclasses=())
    return found


def linked_model(field: PackageType, call: ast.Call) -> ast.expr | None:
    """Return the class that a field links to, as the code names it; None for other fields.

    Args:
        field: what the call makes.
        call: in the body of the model.
    """
    if field.home not in _LINKS:
        return None
    keywords = (e.value for e in call.keywords if e.arg in {"to", "model"})
    named = next(iter(call.args), None) or next(keywords, None)
    text = string_value(named)
    return ast.Name(text, ast.Load()) if text.isidentifier() else named


def held_by(field: PackageType) -> str:
    """Return the class of Python's own that a field of Django holds; empty for other fields."""
    module, _, name = field.home.rpartition(".")
    held = _HELD.get(name, "") if module == "django.db.models.fields" else ""
    return f"builtins.{held}" if held == "str" else held


def is_model(base: PackageType) -> bool:
    """Return whether a class is that of Django's models."""
    return base.home == _MODEL


def may_be_of_field(name: str) -> bool:
    """Return whether a field may give its model a method of a name."""
    return _OF_FIELDS.fullmatch(name) is not None


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
