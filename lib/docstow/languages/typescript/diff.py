"""Changed declarations of TypeScript: whether code that was right before still is.

Where that cannot be decided from the two declarations alone, the change counts as breaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from docstow.languages.typescript.source.normal_form import (
    NormalForm,
    Overload,
    Parameter,
    TypeParameter,
    normalize,
)

#: Types that take anything, and results that are not used.
_ANYTHING = frozenset({"any", "unknown"})
_UNUSED = _ANYTHING | {"void"}


def same(old: str, new: str) -> bool:
    """Whether two declarations differ in nothing but how they are written."""
    return old == new or normalize(old).text == normalize(new).text


def takes_as_much(old: str, new: str) -> bool:
    """Whether what was right by the older declaration is right by the newer one.

    That is so for further overloads, further parameters that may be left out, parameters that
    take more types or need not be given any more, results of fewer types, further type parameters
    with defaults, objects with further properties that may be left out, and classes that extend
    more.
    """
    was, now = normalize(old), normalize(new)
    if was.overloads and now.overloads:
        calls = (each for overload in was.overloads for each in _truncations(overload))
        return all(_is_accepted(each, now.overloads) for each in calls)
    if was.properties and now.properties:
        added = all(optional for _, optional in now.properties - was.properties)
        kept = was.properties <= now.properties and was.type_parameters == now.type_parameters
        return kept and added
    if was.overloads or now.overloads or was.union or now.union:
        return False
    return bool(now.bases or now.type_parameters) and _extends_more(was, now)


def _extends_more(was: NormalForm, now: NormalForm) -> bool:
    """Whether a class or interface has the same bases or more."""
    keywords = ("class ", "interface ", "abstract class ")
    if not (was.text.startswith(keywords) and now.text.startswith(keywords)):
        return False
    kept = all(any(_is_same_base(each, base) for base in now.bases) for each in was.bases)
    return kept and _are_kept(was.type_parameters, now.type_parameters)


def _is_same_base(base: str, now: str) -> bool:
    """Whether a base is the same, but for further type arguments."""
    return base == now or (base.endswith(" >") and now.startswith(f"{base.removesuffix(' >')} ,"))


def _truncations(overload: Overload) -> Iterator[Overload]:
    """Iterate over an overload with each number of arguments that it can be given."""
    given = overload.parameters
    least = next((at for at, each in enumerate(given) if each.optional or each.rest), len(given))
    for count in range(least, len(given) + 1):
        taken = tuple(replace(each, optional=False) for each in given[:count])
        yield replace(overload, parameters=taken)


def _is_accepted(call: Overload, overloads: Sequence[Overload]) -> bool:
    return any(
        _returns(call.result, each.result)
        and (not call.type_parameters or _are_kept(call.type_parameters, each.type_parameters))
        and _takes(call.parameters, each.parameters)
        for each in overloads
    )


def _takes(given: Sequence[Parameter], parameters: Sequence[Parameter]) -> bool:
    last = parameters[-1] if parameters else None
    for at, each in enumerate(given):
        parameter = parameters[at] if at < len(parameters) else last
        if parameter is None or (at >= len(parameters) and not parameter.rest):
            return False
        if each.rest != parameter.rest or not (
            each.type <= parameter.type or parameter.type & _ANYTHING
        ):
            return False
    return all(each.optional or each.rest for each in parameters[len(given) :])


def _returns(was: frozenset[str], now: frozenset[str]) -> bool:
    return now <= was or bool(was & _UNUSED)


def _are_kept(was: Sequence[TypeParameter], now: Sequence[TypeParameter]) -> bool:
    kept = [each.text for each in now[: len(was)]] == [each.text for each in was]
    still = all(a.optional <= b.optional for a, b in zip(was, now, strict=False))
    return kept and still and all(each.optional for each in now[len(was) :])
