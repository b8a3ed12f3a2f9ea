"""Keywords that functions take by what they begin with, of which no signature tells.

SQLAlchemy's columns and constraints take those of databases, ``sqlite_where``, and refuse one that
has no database before it. The constructors of plotly's parts, and what updates them, take those of
parts inside, ``marker_color``, and parts with numbers, ``xaxis2``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from docstow.languages.python.check.certainty import best_likeness
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Mismatch, PassedArguments, mismatch
from docstow.languages.shared.surface import Parameter, Symbol

_OF_DATABASES = re.compile(
    r"sqlalchemy\.(?:sql\.schema\.(?:Column|\w*Constraint|ForeignKey|Index|Table)"
    r"|orm\._orm_constructors\.mapped_column)"
)
#: Databases of SQLAlchemy itself, and those whose dialects are packages of their own.
_DIALECTS = frozenset(
    {"mariadb", "mssql", "mysql", "oracle", "postgresql", "sqlite"}
    | {"access", "athena", "awsathena", "bigquery", "clickhouse", "cockroachdb", "crate"}
    | {"databricks", "db2", "doris", "dremio", "drill", "druid", "duckdb", "elasticsearch"}
    | {"exa", "exasol", "firebird", "gsheets", "hana", "hive", "ibm", "ignite", "impala"}
    | {"informix", "ingres", "iris", "kylin", "monetdb", "netezza", "opensearch", "pinot"}
    | {"presto", "redshift", "risingwave", "rockset", "snowflake", "solr", "spanner"}
    | {"starrocks", "sybase", "teradata", "teradatasql", "tidb", "trino", "vertica", "yql"}
)
#: How like a parameter's name a keyword is that is none of a database.
_LEAST_OF_SLIP = 85.0
_OF_PARTS = re.compile(r"plotly\.graph_objs\.(?:\w+\.)*_\w+\.(?!Figure\b|FigureWidget\b)[A-Z]\w*")
_OF_UPDATES = re.compile(r"plotly\.(?:\w+\.)*_\w+\.\w+\.update_(layout|xaxes|yaxes)")
_UPDATED = {"layout": "Layout", "xaxes": "layout.XAxis", "yaxes": "layout.YAxis"}
#: What plotly's constructors take out of their further keywords.
_TAKEN_OUT = frozenset({"skip_invalid", "_parent", "_validate"})


def mismatch_of_prefixed(
    surface: PythonSurface, symbol: Symbol, given: PassedArguments
) -> Mismatch | None:
    """Return what is wrong with a keyword that begins like none that a function takes.

    None where none is wrong, or the function is no such one.

    Args:
        surface: of its package.
        symbol: the function or class.
        given: what it is called with.
    """
    path, forms = symbol.target or symbol.path, [*symbol.forms[:1]]
    updated = _OF_UPDATES.fullmatch(path)
    if updated is not None:
        part = surface.symbol(f"plotly.graph_objs.{_UPDATED[updated[1]]}")
        if part is None or not part.forms:
            return None
        forms.append(part.forms[0])
    if updated is not None or _OF_PARTS.fullmatch(path):
        fits = _begins_with_part
    elif _OF_DATABASES.fullmatch(path):
        fits = _begins_with_database
    else:
        return None
    named = [each for one in forms for each in one if each.kind != "var_keyword"]
    names = [each.name for each in named]
    others = (each for each in given.keywords if each not in names and fits(each, names))
    taken = (Parameter(each, "keyword_only", required=False) for each in others)
    return mismatch([*named, *taken], given, unbound=True) if named else None


def is_of_part(path: str, keyword: str, taken: Sequence[Parameter]) -> bool:
    """Return whether what makes a part of plotly's takes a keyword of another one inside."""
    return path.startswith("plotly.") and _begins_with_part(keyword, [each.name for each in taken])


def _begins_with_part(keyword: str, names: Sequence[str]) -> bool:
    return keyword in _TAKEN_OUT or any(
        re.match(rf"{re.escape(each)}\d*(?:_|$)", keyword) is not None for each in names
    )


def _begins_with_database(keyword: str, names: Sequence[str]) -> bool:
    is_of_one = keyword.partition("_")[0] in _DIALECTS and not keyword.endswith("_")
    return is_of_one and best_likeness(keyword, names) < _LEAST_OF_SLIP
