"""Predicates of relations between Rust items, and their packed forms.

A large crate has tens of thousands of definition paths and implementations, so that many share one
relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from docstow.core.model import Relation

#: Written by hand; derived; and for a bare type parameter (``impl<T: Display> Loud for T``).
WRITTEN, DERIVED, BLANKET = "implements", "derives", "implements-blanket"
#: One relation for each type: its auto traits, and its blanket implementations.
AUTO_TRAITS, BLANKET_TRAITS = "auto-traits", "blanket-traits"
#: From a type to the target of its ``Deref``.
DEREFS_TO = "derefs-to"
#: From a private module to the path at which its items are documented.
DEFINES = "defines"

SINGLE = frozenset({WRITTEN, DERIVED, BLANKET})
PACKED = frozenset({AUTO_TRAITS, BLANKET_TRAITS})


def unpack_implementations(traits: str, headers: str) -> list[tuple[str, str]]:
    """Return trait and header of each part of a :data:`PACKED` relation; ``!`` marks negative."""
    return list(zip(traits.split(" "), headers.split("\n"), strict=True))


def pack_definitions(definitions: Mapping[str, str], aliases: Iterable[str]) -> list[Relation]:
    """Return one relation for the items of a module that are documented at one path.

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
    """Return document paths by definition path, from a relation of :func:`pack_definitions`."""
    found: dict[str, str] = {}
    for each in names.split(" "):
        shown, _, name = each.partition("=")
        path = f"{module}::{name or shown}"
        found[path.removeprefix("::")] = f"{parent}::{shown}".removeprefix("::")
    return found
