"""Paths at which items are defined, and which users cannot write, as relations.

This room knows how many such paths share one relation, for a large crate has tens of thousands.
It does not know how they are found, or who asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from docstow.core.model import Relation
from docstow.core.relations__readers_predicates import DEFINES


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


def unpacked(module: str, parent: str, names: str) -> dict[str, str]:
    """The definition paths in one such relation, with the paths of their documents."""
    found: dict[str, str] = {}
    for each in names.split(" "):
        shown, _, name = each.partition("=")
        path = f"{module}::{name or shown}"
        found[path.removeprefix("::")] = f"{parent}::{shown}".removeprefix("::")
    return found
