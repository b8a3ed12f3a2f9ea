"""Keywords of SQLAlchemy's engines, which no signature tells.

An engine takes those of its dialect, its pool and itself, and refuses others. Which these are the
docstring of ``create_engine`` tells, and the words of SQLAlchemy where the dialect is its own.

The parameters: https://docs.sqlalchemy.org/en/21/core/engines.html#sqlalchemy.create_engine
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Mismatch, PassedArguments, mismatch
from docstow.languages.shared.surface import Parameter, Symbol

_MAKER = "sqlalchemy.engine.create.create_engine"
_MAKERS = frozenset({_MAKER, "sqlalchemy.ext.asyncio.engine.create_async_engine"})
#: The beginning of an address of a database that SQLAlchemy has the dialect of.
_OWN = re.compile(r"(?:mariadb|mssql|mysql|oracle|postgresql|sqlite)(?:\+\w+)?:")
_DOCUMENTED = re.compile(r":param (\w+)\b")


def mismatch_of_engine(
    surface: PythonSurface, symbol: Symbol, call: ast.Call, given: PassedArguments
) -> Mismatch | None:
    """Return what is wrong with a keyword that nothing in SQLAlchemy takes.

    None where none is wrong, or the function makes no engine of a database that is known.

    Args:
        surface: of its package.
        symbol: the function.
        call: the call of it.
        given: what it passes.
    """
    maker = surface.symbol(_MAKER)
    if (symbol.target or symbol.path) not in _MAKERS or maker is None or not call.args:
        return None
    address = call.args[0]
    if isinstance(address, ast.JoinedStr) and address.values:
        address = address.values[0]
    text = address.value if isinstance(address, ast.Constant) else None
    if not isinstance(text, str) or not _OWN.match(text):
        return None
    names = dict.fromkeys(_DOCUMENTED.findall(maker.docstring))
    others = (each for each in given.keywords if each not in names and surface.has_keyword(each))
    taken = [Parameter(each, "keyword_only", required=False) for each in (*names, *others)]
    wrong = mismatch(taken, given, unbound=True) if names else None
    # There are too many to tell.
    return replace(wrong, reason=f"has no parameter {wrong.keyword}") if wrong else None
