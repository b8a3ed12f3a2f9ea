"""Paths at which items are defined, and which users cannot write, as relations.

This room knows how many such paths share one relation, for a large crate has tens of thousands.
It does not know how they are found, or who asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from docstow.core.model import Relation

# The words for who implements what, and where it is defined, between reader and whoever asks.


#: Written by hand; derived; and for a bare type parameter (``impl<T: Display> Loud for T``).
WRITTEN, DERIVED, BLANKET = "implements", "derives", "implements-blanket"


#: One relation a type: what it gets automatically, and through blanket implementations.
AUTO_TRAITS, BLANKET_TRAITS = "auto-traits", "blanket-traits"


#: From a type to the type whose methods it has by ``Deref``.
DEREFS_TO = "derefs-to"


#: From a module that users cannot write to the place where what it defines is documented.
DEFINES = "defines"


SINGLE = frozenset({WRITTEN, DERIVED, BLANKET})


PACKED = frozenset({AUTO_TRAITS, BLANKET_TRAITS})


def unpack_implementations(traits: str, headers: str) -> list[tuple[str, str]]:
    """The pairs of trait and header in a relation of :data:`PACKED`; ``!`` marks a negative one."""
    return list(zip(traits.split(" "), headers.split("\n"), strict=True))


def packed(definitions: Mapping[str, str], aliases: Iterable[str]) -> list[Relation]:
    """One relation for the items of one module that are documented in one place.

    Its detail has their names, separated by spaces; ``new=old`` where a re-export renames.

    Args:
        definitions: definition paths to the paths of documents.
        aliases: paths that need no relation, as they have one already.
    """
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted(definitions.keys() - set(aliases)):
        module, _, name = path.rpartition("::")
        parent, _, shown = definitions[path].rpartition("::")
        if name == shown and definitions.get(module) == parent:
            continue  # found as a member of its module
        names[module, parent].append(name if name == shown else f"{shown}={name}")
    return [
        Relation(module, DEFINES, parent, " ".join(each))
        for (module, parent), each in sorted(names.items())
    ]


def unpack_definitions(module: str, parent: str, names: str) -> dict[str, str]:
    """The definition paths in one such relation, with the paths of their documents."""
    found: dict[str, str] = {}
    for each in names.split(" "):
        shown, _, name = each.partition("=")
        path = f"{module}::{name or shown}"
        found[path.removeprefix("::")] = f"{parent}::{shown}".removeprefix("::")
    return found
