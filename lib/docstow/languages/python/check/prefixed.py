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
    path = symbol.target or symbol.path
    named = [each for each in symbol.forms[0] if each.kind != "var_keyword"] if symbol.forms else []
    updated = _OF_UPDATES.fullmatch(path)
    if updated is not None:
        part = surface.symbol(f"plotly.graph_objs.{_UPDATED[updated[1]]}")
        forms = part.forms if part is not None else ()
        named += [each for each in forms[0] if each.kind != "var_keyword"] if forms else []
        if not forms:
            return None
    is_of_parts = updated is not None or _OF_PARTS.fullmatch(path) is not None
    if not named or not (is_of_parts or _OF_DATABASES.fullmatch(path)):
        return None
    fits = _begins_with_part if is_of_parts else _begins_with_database
    taken = [
        Parameter(each, "keyword_only", required=False)
        for each in given.keywords
        if fits(each, [one.name for one in named])
    ]
    known = {each.name for each in named}
    return mismatch([*named, *(e for e in taken if e.name not in known)], given, unbound=True)


def _begins_with_part(keyword: str, names: Sequence[str]) -> bool:
    return keyword in _TAKEN_OUT or any(
        re.match(rf"{re.escape(each)}\d*(?:_|$)", keyword) is not None for each in names
    )


def _begins_with_database(keyword: str, names: Sequence[str]) -> bool:
    is_of_two = re.fullmatch(r"[^_]+_.+", keyword) is not None
    return is_of_two and best_likeness(keyword, names) < _LEAST_OF_SLIP
