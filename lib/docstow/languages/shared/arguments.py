"""The arguments of a call against the parameters of what is called.

The rules are those of Python's calls, of which those of TypeScript are a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.shared.suggestions import nearest

if TYPE_CHECKING:
    from docstow.languages.shared.surface import Parameter


@dataclass(frozen=True, slots=True)
class PassedArguments:
    """What a call passes.

    Attributes:
        positional: how many arguments without a name.
        keywords: the names of the others.
        open_positional: ``*rest`` is among them.
        open_keywords: ``**rest`` is.
    """

    positional: int
    keywords: tuple[str, ...] = ()
    open_positional: bool = False
    open_keywords: bool = False


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call cannot work, and names that would."""

    reason: str
    suggestions: tuple[str, ...] = ()
    keyword: str = ""


def mismatch(
    parameters: Sequence[Parameter], given: PassedArguments, *, unbound: bool = False
) -> Mismatch | None:
    """Return the first thing that is wrong with a call; None where nothing certainly is.

    Args:
        parameters: of what is called, without the receiver.
        given: what the call passes.
        unbound: the receiver may be among the positional arguments, so only names are looked at.
    """
    kinds = {each.kind for each in parameters}
    keyword = _no_parameter(parameters, given)
    if keyword:
        by_name = _by_name(parameters)
        near = nearest(keyword, by_name, shaped=False)
        takes = ", ".join(by_name) or "none"
        return Mismatch(f"has no parameter {keyword}; it takes {takes}", near, keyword)
    if unbound:
        return None
    positional = [each for each in parameters if each.kind in {"positional_only", "positional"}]
    if "var_positional" not in kinds and given.positional > len(positional):
        most = f"at most {len(positional)} positional argument{'s' * (len(positional) != 1)}"
        return Mismatch(f"takes {most}, not {given.positional}")
    if given.open_positional or given.open_keywords:
        return None
    filled = {each.name for each in positional[: given.positional]} | set(given.keywords)
    missing = [
        each.name
        for each in parameters
        if each.required and each.name not in filled and not each.kind.startswith("var_")
    ]
    return Mismatch(f"needs {', '.join(missing)}") if missing else None


def mismatch_of_all(
    overloads: Sequence[Sequence[Parameter]], given: PassedArguments, *, unbound: bool = False
) -> Mismatch | None:
    """Return why no overload takes a call; None where one may, or where there are none.

    Args:
        overloads: parameters of each, without the receiver.
        given: what the call passes.
        unbound: as for :func:`mismatch`.
    """
    if not overloads:
        return None
    # A name that none of them has says most; what all of them have is what may be meant.
    every = {each.name: each for one in overloads for each in one}
    named = mismatch(tuple(every.values()), given, unbound=True)
    if named is not None:
        return named
    first: Mismatch | None = None
    for each in overloads:
        wrong = mismatch(each, given, unbound=unbound)
        if wrong is None:
            return None
        first = first or wrong
    return first


def _by_name(parameters: Sequence[Parameter]) -> list[str]:
    return [each.name for each in parameters if each.kind in {"positional", "keyword_only"}]


def _no_parameter(parameters: Sequence[Parameter], given: PassedArguments) -> str:
    """Return the first name that is passed and that no parameter has; empty where there is none."""
    if any(each.kind == "var_keyword" for each in parameters):
        return ""
    names = set(_by_name(parameters))
    return next((each for each in given.keywords if each not in names), "")
