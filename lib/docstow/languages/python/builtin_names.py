"""Names that Python itself and widespread packages give to modules and classes."""

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

#: Modules whose classes have much the same names in every supported Python.
_STABLE_MODULES: tuple[ModuleType, ...] = (
    builtins,
    abc,
    enum,
    typing,
    collections,
    collections.abc,
    contextlib,
)
#: Names of every module.
MODULE_NAMES = frozenset(
    {
        *("__name__", "__doc__", "__file__", "__path__", "__package__", "__spec__", "__loader__"),
        *("__dict__", "__cached__", "__builtins__", "__annotations__", "__class__"),
    }
)
#: Names of every class.
CLASS_NAMES = frozenset(dir(type))
#: Decorators that add to a class only names with double underscores.
HARMLESS_DECORATORS = frozenset(
    {
        *("dataclass", "dataclass_transform", "define", "frozen", "mutable", "s", "attrs"),
        *("final", "runtime_checkable", "type_check_only", "disjoint_base", "deprecated"),
        *("total_ordering", "unique", "set_module", "define_aliases"),
    }
)
#: What the dates, spans and periods of a pandas Series have, which decorators take from arrays.
_DATES = (
    *("year", "month", "day", "hour", "minute", "second", "microsecond", "nanosecond", "date"),
    *("time", "timetz", "tz", "unit", "freq", "quarter", "weekday", "day_of_week", "dayofweek"),
    *("day_of_year", "dayofyear", "days_in_month", "daysinmonth", "is_leap_year"),
    *("is_month_start", "is_month_end", "is_quarter_start", "is_quarter_end", "is_year_start"),
    *("is_year_end", "day_name", "month_name", "normalize", "strftime", "round", "floor", "ceil"),
    *("as_unit", "to_period", "tz_convert", "tz_localize"),
)
_SPANS = (
    *("days", "seconds", "microseconds", "nanoseconds", "unit", "freq", "total_seconds"),
    *("round", "floor", "ceil", "as_unit", "components", "to_pytimedelta"),
)
_PERIODS = (
    *("year", "month", "day", "hour", "minute", "second", "quarter", "qyear", "week"),
    *("weekofyear", "weekday", "day_of_week", "dayofweek", "day_of_year", "dayofyear"),
    *("days_in_month", "daysinmonth", "is_leap_year", "freq", "start_time", "end_time"),
    *("strftime", "asfreq", "to_timestamp"),
)
_CATEGORIES = (
    *("categories", "ordered", "codes", "rename_categories", "reorder_categories"),
    *("add_categories", "remove_categories", "remove_unused_categories", "set_categories"),
    *("as_ordered", "as_unordered"),
)
#: Names with their types that a metaclass or another package adds to a class and its subclasses, by
#: code that cannot be followed.
ADDED_NAMES: Mapping[str, Mapping[str, str]] = {
    "django.db.models.base.Model": {
        "objects": "django.db.models.manager.Manager",
        "DoesNotExist": "type[django.core.exceptions.ObjectDoesNotExist]",
        "MultipleObjectsReturned": "type[django.core.exceptions.MultipleObjectsReturned]",
        "_meta": "django.db.models.options.Options",
        "id": "typing.Any",
        "pk": "typing.Any",
    },
    "mongoengine.base.document.BaseDocument": {
        "objects": "mongoengine.queryset.queryset.QuerySet",
        "id": "typing.Any",
        "pk": "typing.Any",
        "_meta": "typing.Any",
        "DoesNotExist": "type[mongoengine.errors.DoesNotExist]",
        "MultipleObjectsReturned": "type[mongoengine.errors.MultipleObjectsReturned]",
    },
    # Headers of a message that its class does not declare.
    "celery.app.task.Context": dict.fromkeys(
        ("task", "lang", "argsrepr", "kwargsrepr", "compression"), "typing.Any"
    ),
    # pytest-xdist
    "_pytest.config.Config": dict.fromkeys(("workerinput", "workeroutput"), "typing.Any"),
    # ``tqdm.pandas()``
    "pandas.core.base.PandasObject": {
        "progress_apply": "typing.Any",
        "progress_applymap": "typing.Any",
        "progress_map": "typing.Any",
        "progress_aggregate": "typing.Any",
        "progress_transform": "typing.Any",
    },
    **{
        f"pandas.core.{path}": dict.fromkeys(names, "typing.Any")
        for path, names in (
            ("indexes.accessors.DatetimeProperties", _DATES),
            ("indexes.accessors.TimedeltaProperties", _SPANS),
            ("indexes.accessors.PeriodProperties", _PERIODS),
            ("arrays.categorical.CategoricalAccessor", _CATEGORIES),
        )
    },
}
#: Classes that set attributes by name, but only values: columns, cached results, parts of a copy.
#: All their methods are written.
DATA_HOLDERS = frozenset(
    {
        "pandas.core.generic.NDFrame",
        "pandas.core.indexes.accessors.DatetimeProperties",
        "pandas.core.indexes.accessors.TimedeltaProperties",
        "pandas.core.indexes.accessors.PeriodProperties",
        "pandas.core.arrays.categorical.CategoricalAccessor",
        "geopandas.geodataframe.GeoDataFrame",
        "xarray.core.common.AttrAccessMixin",
        "pydantic.main.BaseModel",
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
#: Classes that set attributes by names that they have already, as code elsewhere makes sure.
CHECKED_NAMES = frozenset(
    {"celery.app.task.Context", "textual.dom.DOMNode", "sklearn.base.BaseEstimator"}
)
#: Classes that answer for data that their configuration allows, and for nothing else. All their
#: methods are written.
MODELS = frozenset(
    {"pydantic.main.BaseModel", "pydantic._internal._model_construction.ModelMetaclass"}
)
#: What attributes hold and methods return of which their packages tell no type.
UNTOLD: Mapping[str, str] = {
    "asyncpg.connection.connect": "asyncpg.connection.Connection",
    "asyncpg.pool.Pool.acquire": "asyncpg.pool.PoolAcquireContext",
    "asyncpg.pool.PoolAcquireContext.__aenter__": "asyncpg.pool.PoolConnectionProxy",
    "celery.app.task.Task.request": "celery.app.task.Context",
    "celery.app.task.Task.apply": "celery.result.EagerResult",
    "celery.canvas.group.apply_async": "celery.result.GroupResult",
    "celery.canvas.group.__call__": "celery.result.GroupResult",
    "celery.canvas.chain.__new__": "celery.canvas._chain",
    "celery.canvas.Signature.__or__": "celery.canvas.Signature",
    **dict.fromkeys(
        (
            *("celery.app.task.Task.delay", "celery.app.task.Task.apply_async"),
            *("celery.canvas.Signature.apply_async", "celery.canvas._chain.apply_async"),
            *("celery.canvas._chain.__call__", "celery.canvas._chord.apply_async"),
            *("celery.canvas._chord.__call__", "celery.app.base.Celery.send_task"),
        ),
        "celery.result.AsyncResult",
    ),
    **dict.fromkeys(
        (f"celery.app.task.Task.{each}" for each in ("s", "si", "signature", "subtask")),
        "celery.canvas.Signature",
    ),
    "django.db.connection": "django.db.backends.base.base.BaseDatabaseWrapper",
    "django.db.backends.base.base.BaseDatabaseWrapper.schema_editor": (
        "django.db.backends.base.schema.BaseDatabaseSchemaEditor"
    ),
    "lxml.etree._Element.find": "lxml.etree._Element",
    "lxml.etree._ElementTree.find": "lxml.etree._Element",
    "openpyxl.workbook.workbook.Workbook.active": "openpyxl.worksheet.worksheet.Worksheet",
    "openpyxl.workbook.workbook.Workbook.__getitem__": "openpyxl.worksheet.worksheet.Worksheet",
    "pandas.core.series.Series.dt": "pandas.core.indexes.accessors.CombinedDatetimelikeProperties",
    "pandas.core.series.Series.str": "pandas.core.strings.accessor.StringMethods",
    "pandas.core.series.Series.cat": "pandas.core.arrays.categorical.CategoricalAccessor",
    "pandas.core.indexes.base.Index.str": "pandas.core.strings.accessor.StringMethods",
    **{
        f"django.db.models.{owner}.{name}": "django.db.models.query.QuerySet"
        for owner in ("query.QuerySet", "manager.Manager", "manager.BaseManager")
        for name in (
            *("all", "filter", "exclude", "complex_filter", "annotate", "alias", "order_by"),
            *("distinct", "extra", "reverse", "defer", "only", "using", "none", "union"),
            *("intersection", "difference", "select_for_update", "select_related"),
            *("prefetch_related", "values", "values_list", "dates", "datetimes"),
        )
    },
}
#: What an item is whose key is a text, and one whose key is a list or a comparison.
UNTOLD_ITEMS: Mapping[str, tuple[str, str]] = {
    "pandas.core.frame.DataFrame": ("pandas.core.series.Series", "pandas.core.frame.DataFrame"),
}
#: Classes that answer for any name with data, and with nothing that could be called.
DATA_ANSWERS = frozenset(
    {
        *("bs4.element.Tag", "django.conf.LazySettings", "omegaconf.dictconfig.DictConfig"),
        *("pyparsing.results.ParseResults", "requests.structures.LookupDict"),
        # Its stub tells all that its providers have, but for those that code adds.
        "faker.proxy.Faker",
        *("sqlalchemy.engine._py_row.BaseRow", "sqlalchemy.engine._row_cy.BaseRow"),
    }
) | frozenset(
    f"pymongo.{kind}.{name}"
    for kind in ("synchronous", "asynchronous")
    for name in (
        *("mongo_client.MongoClient", "mongo_client.AsyncMongoClient"),
        *("database.Database", "database.AsyncDatabase"),
        *("collection.Collection", "collection.AsyncCollection"),
    )
)
#: Classes that answer for the fields that their bodies write, for ``type_`` by ``type``, too.
FIELD_ANSWERS = frozenset({"proto.message.Message"})
#: Classes that set by name what their package writes in lists, and nothing else.
WRITTEN_NAMES = frozenset({"pandas.core.accessor.PandasDelegate"})
#: Names that ``typing.NamedTuple`` adds.
NAMED_TUPLE_NAMES = frozenset({"_asdict", "_fields", "_make", "_replace", "_field_defaults"})
#: Bases of classes with slots that leave it at these.
SLOTTED = frozenset({object, abc.ABC, typing.Generic, typing.Protocol})
#: Metaclasses that add no names to a class.
PLAIN_METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})
#: Names of an enumeration's members.
ENUM_NAMES = frozenset({"name", "value", "_name_", "_value_", "_missing_", "_ignore_", "_order_"})
#: Names of ``typing`` that are no classes, with the classes that they act as.
_SPECIAL_FORMS: dict[str, type] = {
    "Protocol": object,
    "Generic": object,
    "NamedTuple": tuple,
    "TypedDict": dict,
}


def standard_class(path: str) -> type | None:
    """Return a class of the standard library by its path; None unless its names are known."""
    module, _, name = path.rpartition(".")
    for each in _STABLE_MODULES:
        if each.__name__ == module or (module == "typing_extensions" and each is typing):
            found = getattr(each, name, None)
            if isinstance(found, type):
                return found
            origin = typing.get_origin(found)
            return origin if isinstance(origin, type) else _SPECIAL_FORMS.get(name)
    return None
