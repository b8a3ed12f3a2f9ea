"""What is known of Python itself without reading it: names that everything has, plain classes.

This room knows the language's own names. It does not know any package.
"""

from __future__ import annotations

import abc
import builtins
import collections
import collections.abc
import contextlib
import enum
import typing
from collections.abc import Mapping
from types import ModuleType

#: Classes whose names are the same in every Python that is in use, near enough.
_KNOWN_MODULES: tuple[ModuleType, ...] = (
    builtins,
    abc,
    enum,
    typing,
    collections,
    collections.abc,
    contextlib,
)
MODULE_NAMES = frozenset(
    {
        *("__name__", "__doc__", "__file__", "__path__", "__package__", "__spec__", "__loader__"),
        *("__dict__", "__cached__", "__builtins__", "__annotations__", "__class__"),
    }
)
CLASS_NAMES = frozenset(dir(type))
#: Decorators of classes that give no name but such with double underscores.
HARMLESS = frozenset(
    {
        *("dataclass", "dataclass_transform", "define", "frozen", "mutable", "s", "attrs"),
        *("final", "runtime_checkable", "type_check_only", "disjoint_base", "deprecated"),
        *("total_ordering", "unique", "set_module"),
    }
)
#: Names that a metaclass gives to all classes it makes, or another package to a class, with their
#: types: protocols of packages that everybody uses, where the code that does it cannot be followed.
GIVEN_NAMES: Mapping[str, Mapping[str, str]] = {
    "django.db.models.base.Model": {
        "objects": "django.db.models.manager.Manager",
        "DoesNotExist": "type[django.core.exceptions.ObjectDoesNotExist]",
        "MultipleObjectsReturned": "type[django.core.exceptions.MultipleObjectsReturned]",
        "_meta": "django.db.models.options.Options",
        "id": "typing.Any",
        "pk": "typing.Any",
    },
    # ``tqdm.pandas()``
    "pandas.core.base.PandasObject": {
        "progress_apply": "typing.Any",
        "progress_applymap": "typing.Any",
        "progress_map": "typing.Any",
        "progress_aggregate": "typing.Any",
        "progress_transform": "typing.Any",
    },
}
#: Classes that set attributes by name, but only such as hold values: columns, results that are
#: kept, parts of a copy. Their methods are all written.
HOLD_DATA = frozenset(
    {
        "pandas.core.generic.NDFrame",
        "sqlalchemy.util.langhelpers.HasMemoized",
        "sqlalchemy.sql.traversals.HasCopyInternals",
        "sqlalchemy.sql.base.HasSyntaxExtensions",
        "redis.client.Redis",
        "redis.asyncio.client.Redis",
        "celery.app.task.Task",
        "matplotlib.artist.Artist",
        "matplotlib.figure.FigureBase",
    }
)
MADE_NAMES = frozenset({"_asdict", "_fields", "_make", "_replace", "_field_defaults"})
METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})


def known_class(path: str) -> type | None:
    """A class of the standard library whose names are known."""
    module, _, name = path.rpartition(".")
    for each in _KNOWN_MODULES:
        if each.__name__ == module or (module == "typing_extensions" and each is typing):
            found = getattr(each, name, None)
            if isinstance(found, type):
                return found
            origin = typing.get_origin(found)
            return origin if isinstance(origin, type) else _SPECIAL.get(name)
    return None


#: Names of ``typing`` that are no classes but stand for ones, or for none.
_SPECIAL: dict[str, type] = {
    "Protocol": object,
    "Generic": object,
    "NamedTuple": tuple,
    "TypedDict": dict,
}
ENUM_NAMES = frozenset({"name", "value", "_name_", "_value_", "_missing_", "_ignore_", "_order_"})
