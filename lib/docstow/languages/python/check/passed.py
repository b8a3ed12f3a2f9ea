"""The arguments of a call in code, with their types."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from docstow.languages.python.check.annotations import ValueType
from docstow.languages.python.check.fitting import CallUse, Surroundings
from docstow.languages.shared.lookup import PassedArguments


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments of a call.

    Attributes:
        shape: their number and names.
        positional: the types of those without a name, up to the first that is unpacked.
        named: the types of the others.
    """

    shape: PassedArguments
    positional: Sequence[ValueType | None] = ()
    named: Mapping[str, ValueType | None] = field(default_factory=dict)


NOTHING_PASSED = Passed(PassedArguments(0))


def call_shape(node: ast.Call, around: Surroundings | None = None) -> PassedArguments:
    """Return the number and names of the arguments of a call, and what tells what fits it.

    Args:
        node: the call.
        around: what is around it, where what is done with the result counts, too.
    """
    return PassedArguments(
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=tuple(each.arg for each in node.keywords if each.arg is not None),
        open_positional=any(isinstance(each, ast.Starred) for each in node.args),
        open_keywords=any(each.arg is None for each in node.keywords),
        use=CallUse(node, around),
    )


def place_of(node: ast.Call, keyword: str) -> ast.AST:
    """Return where a call is wrong: a keyword on another line is found there."""
    given = (each for each in node.keywords if each.arg == keyword and each.lineno != node.lineno)
    return next(given, node)
