"""What a changed declaration of TypeScript means for code that was right before.

This room knows when a declaration takes at least what it took. Where that cannot be told from the
two declarations alone, the change counts as breaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from docstow.languages.typescript.source.calls import Call, Declared, Generic, Given, declared

#: Types that take anything, or that nobody reads.
_ANYTHING = frozenset({"any", "unknown"})
_UNREAD = _ANYTHING | {"void"}


def same(old: str, new: str) -> bool:
    """Whether two declarations differ in nothing but how they are written."""
    return old == new or declared(old).words == declared(new).words


def takes_as_much(old: str, new: str) -> bool:
    """Whether what was right by the older declaration is right by the newer one.

    That is so for further overloads, further parameters that may be left out, parameters that
    take more types or need not be given any more, results of fewer types, further type parameters
    with defaults, objects with further properties that may be left out, and classes that extend
    more.
    """
    was, now = declared(old), declared(new)
    if was.calls and now.calls:
        return all(_is_taken(each, now.calls) for call in was.calls for each in _as_given(call))
    if was.properties and now.properties:
        more = all(optional for _, optional in now.properties - was.properties)
        return was.properties <= now.properties and more and was.generics == now.generics
    if was.calls or now.calls or was.union or now.union:
        return False
    return bool(now.above or now.generics) and _extends_more(was, now)


def _extends_more(was: Declared, now: Declared) -> bool:
    """Of the heads of classes and interfaces, which say nothing but this."""
    heads = ("class ", "interface ", "abstract class ")
    if not (was.words.startswith(heads) and now.words.startswith(heads)):
        return False
    kept = all(any(_is_kept(each, base) for base in now.above) for each in was.above)
    return kept and _are_taken(was.generics, now.generics)


def _is_kept(base: str, now: str) -> bool:
    """Whether a base is the same, but for further type arguments."""
    return base == now or (base.endswith(" >") and now.startswith(f"{base.removesuffix(' >')} ,"))


def _as_given(call: Call) -> Iterator[Call]:
    """A call with each number of arguments that it can have."""
    given = call.parameters
    least = next((at for at, each in enumerate(given) if each.optional or each.rest), len(given))
    for count in range(least, len(given) + 1):
        taken = tuple(replace(each, optional=False) for each in given[:count])
        yield replace(call, parameters=taken)


def _is_taken(call: Call, overloads: Sequence[Call]) -> bool:
    return any(
        _gives(call.result, each.result)
        and (not call.generics or _are_taken(call.generics, each.generics))
        and _takes(call.parameters, each.parameters)
        for each in overloads
    )


def _takes(given: Sequence[Given], parameters: Sequence[Given]) -> bool:
    last = parameters[-1] if parameters else None
    for at, each in enumerate(given):
        there = parameters[at] if at < len(parameters) else last
        if there is None or (at >= len(parameters) and not there.rest):
            return False
        if each.rest != there.rest or not (each.type <= there.type or there.type & _ANYTHING):
            return False
    return all(each.optional or each.rest for each in parameters[len(given) :])


def _gives(was: frozenset[str], now: frozenset[str]) -> bool:
    return now <= was or bool(was & _UNREAD)


def _are_taken(was: Sequence[Generic], now: Sequence[Generic]) -> bool:
    kept = [each.words for each in now[: len(was)]] == [each.words for each in was]
    still = all(a.optional <= b.optional for a, b in zip(was, now, strict=False))
    return kept and still and all(each.optional for each in now[len(was) :])
