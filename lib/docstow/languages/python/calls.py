"""How a Python function or class is called, where that is certain.

This room knows what decorators and bases do to a call. It does not know how an answer looks. In
doubt it says None: a call that is right must never be called wrong.
"""

from __future__ import annotations

import enum
import re

from docstow.languages.python.calls__packages_python_fields import (
    PLAIN,
    field_of,
    ordered,
    synthesized,
)
from docstow.languages.python.calls__packages_python_forwarded import target
from docstow.languages.python.names__packages_python_decorators import keeps
from docstow.languages.python.names__packages_python_lineage import Lineage
from docstow.languages.python.names__packages_python_views import View, nearest
from docstow.languages.shared.surface__readers_call_parameters import Parameter

#: Decorators that leave a call as it is written.
_PLAIN = frozenset(
    {
        *("staticmethod", "classmethod", "abstractmethod", "override", "final", "no_type_check"),
        *("lru_cache", "cache", "contextmanager", "asynccontextmanager", "deprecated"),
        *("overload", "type_check_only"),
    }
)
_PLAIN_MODULES = frozenset(
    {"", "abc", "typing", "typing_extensions", "t", "functools", "contextlib", "warnings"}
)
#: Calls in a row that pass their keywords on.
_DEEPEST = 8


def parameters(
    view: View, within: View | None = None, depth: int = 0
) -> tuple[Parameter, ...] | None:
    """What a call of it may pass; None where that is not certain.

    Args:
        view: a function or class.
        within: the class that a method is asked of, where it is known.
        depth: how many calls have passed their keywords on to it.
    """
    # Where it is bound in one branch only, another file or base may answer in the others.
    if view.several or view.definition.conditional:
        return None
    if view.definition.kind == "class":
        return _constructor(view, depth)
    if view.definition.kind != "function" or view.definition.parameters is None:
        return None
    given = _received(view, view.definition.parameters)
    if given and given[-1].kind == "var_keyword" and view.definition.overloads:
        return _told(view, given)
    return _forwarded(view, given, within, depth) if given else given


def overloads(view: View) -> tuple[tuple[Parameter, ...], ...]:
    """What each overload of it may pass; empty where there are none or that is not certain."""
    if view.several or view.definition.conditional:
        return ()
    if view.definition.kind == "class":
        lineage = view.names.lineage(view)
        maker = None if lineage.blurred else _maker(lineage)
        return overloads(maker) if maker is not None else ()
    found = [_received(view, each) for each in view.definition.overloads]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else ()


def _received(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...] | None:
    """Parameters of a function without its receiver, unless a decorator may change them."""
    parts = [each.name.rpartition(".") for each in view.definition.decorators]
    plain = (last in _PLAIN and module in _PLAIN_MODULES for module, _, last in parts)
    above = zip(plain, view.definition.decorators, strict=True)
    if not all(is_plain or keeps(view, each) for is_plain, each in above):
        return None
    given = _unpacked(view, given)
    names = {last for _, _, last in parts}
    if view.owner is None or "staticmethod" in names:
        return given
    if given and given[0].kind in {"positional", "positional_only"}:
        return given[1:]
    return given if given and given[0].kind == "var_positional" else None


def _told(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """With the words of all overloads in place of any name, where each overload says its words."""
    every = [each for one in view.definition.overloads for each in one]
    if any(each.kind == "var_keyword" for each in every):
        return given
    words = {each.name for each in every if each.kind in {"positional", "keyword_only"}}
    words |= view.definition.forwards.taken if view.definition.forwards else set()
    known = {each.name for each in given}
    more = [Parameter(each, "keyword_only", required=False) for each in sorted(words - known)]
    return (*given[:-1], *more)


def _forwarded(
    view: View, given: tuple[Parameter, ...], within: View | None, depth: int
) -> tuple[Parameter, ...]:
    """With the words of what gets all further keywords, in place of any name."""
    passed = view.definition.forwards
    if passed is None or given[-1].kind != "var_keyword" or depth > _DEEPEST:
        return given
    found = target(view, within)
    taken = parameters(*found, depth + 1) if found is not None else None
    if taken is None or any(each.kind == "var_keyword" for each in taken):
        return given
    words = [each.name for each in taken if each.kind in {"positional", "keyword_only"}]
    known = {each.name for each in given}
    more = sorted({*passed.taken} - {*words})
    made = [Parameter(each, "keyword_only", required=False) for each in (*words, *more)]
    return (*given[:-1], *(each for each in made if each.name not in known))


def _constructor(view: View, depth: int = 0) -> tuple[Parameter, ...] | None:
    lineage = view.names.lineage(view)
    if _is_typed_dict(lineage):
        return keys(lineage)
    if lineage.blurred or any(issubclass(each, enum.Enum) for each in lineage.known):
        return None
    for owner in lineage.classes:
        body = owner.definition.body
        if body is not None and not _MAKING.isdisjoint(body.names):
            maker = _maker(lineage)
            return parameters(maker, view, depth) if maker is not None else None
        names = [each.name for each in owner.definition.decorators]
        for each in names:
            if each.rpartition(".")[2] in _MAKERS:
                return synthesized(view, owner, lineage, each)
        if body is None or body.keywords:
            return None
        if body.bases[:1] in {("NamedTuple",), ("typing.NamedTuple",)} and len(body.bases) == 1:
            return ordered([field_of(each, "") for each in body.fields])
    return () if all(each in PLAIN for each in lineage.known) else None


#: ``**options: Unpack[Options]``
_UNPACKED = re.compile(r"\*\*\w+: (?:\w+\.)*Unpack\[['\"]?([\w.]+)['\"]?\]")


def _unpacked(view: View, given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """With the keys of a typed dictionary in place of what may have any name."""
    lines = view.definition.signature.split("\n")
    names = set(_UNPACKED.findall(lines[-1]))
    if len(names) != 1 or given[-1:] == () or given[-1].kind != "var_keyword":
        return given
    found = nearest(view.names.in_scope(view, names.pop()), view)
    if not isinstance(found, View) or found.definition.kind != "class" or found.several:
        return given
    lineage = found.names.lineage(found)
    words = keys(lineage) if _is_typed_dict(lineage) else None
    # One without keys is there to warn of words that are taken nevertheless.
    return (*given[:-1], *words[1:]) if words and words[1:] else given


def _is_typed_dict(lineage: Lineage) -> bool:
    """Whether a class is a dictionary of which the annotations say the keys."""
    bodies = [each.definition.body for each in lineage.classes]
    plain = all(body is not None and not body.made for body in bodies)
    last = bodies[-1] if bodies else None
    bases = last.bases if last is not None else ()
    return plain and [each.rpartition(".")[2] for each in bases] == ["TypedDict"]


def keys(lineage: Lineage) -> tuple[Parameter, ...] | None:
    """The keys of a typed dictionary, as words of a call; None where they are not all seen."""
    found: dict[str, Parameter] = {}
    for owner in lineage.classes:
        body = owner.definition.body
        if body is None or lineage.unknown:
            return None
        for each in body.fields:
            found.setdefault(each.name, Parameter(each.name, "keyword_only", required=False))
    # A mapping may come first, and what it has is not known.
    return (Parameter("values", "positional_only", required=False), *found.values())


_MAKING = frozenset({"__init__", "__new__"})
#: Last names of decorators that make a constructor.
_MAKERS = frozenset({"dataclass", "define", "frozen", "mutable", "s", "attrs", "attributes"})


def _maker(lineage: Lineage) -> View | None:
    """The ``__init__`` or ``__new__`` that answers, if it alone does."""
    makers = [
        (owner, name, owner.definition.body.names[name])
        for owner in lineage.classes
        for name in sorted(_MAKING)
        if owner.definition.body and name in owner.definition.body.names
    ]
    bodies = (each.definition.body for each in lineage.classes)
    enumerating = any(each is not None and "Enum" in each.metaclass for each in bodies)
    # Enumerations are called for a member, or to make another: their metaclass takes the call.
    if enumerating or len({name for _, name, _ in makers}) != 1:
        return None
    owner, name, ways = makers[0]
    if len(ways) > 1 or ways[0].kind != "function" or ways[0].conditional:
        return None
    return View(
        owner.names, owner.module, owner.layer, f"{owner.path}.{name}", ways[0], owner=owner
    )
