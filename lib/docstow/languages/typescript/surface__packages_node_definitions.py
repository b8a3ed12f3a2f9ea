"""Which public names of a Node package are its own, and where they are defined.

This room knows what belongs to a package, and what it only passes on. It does not look names up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from docstow.languages.shared.surface import Symbol
from docstow.languages.typescript import symbols as node_symbols
from docstow.languages.typescript.names__packages_node_things import Space
from docstow.languages.typescript.source.model import Declaration
from docstow.languages.typescript.surface__packages_node_paths import NodePaths


@dataclass(frozen=True, slots=True)
class Definition:
    """A public name, and where its definition is.

    Attributes:
        name: the last of its path.
        file: absolute.
        line: from 1.
        own: whether it is written within what has it, and not inherited or referred to.
        tell: makes the symbol.
    """

    name: str
    file: str
    line: int
    own: bool
    tell: Callable[[], Symbol]


def definitions(path: str, paths: NodePaths) -> Iterator[Definition]:
    """The public names of a module, class or object that belong to this package.

    Each is told in full only when it is asked to.
    """
    paths.gather()
    thing = paths.thing(path)
    if thing is None or paths.folder is None:
        return
    inside = {(each.unit.path, *_lines(decl)) for each, decl in thing.declared}
    homes = {paths.folder.root, *(space.unit.folder.root for space in paths.spaces("."))}
    homes |= {space.unit.folder.root for space, _ in thing.declared}
    for name in dict.fromkeys(paths.member_names(thing)):
        inner = paths.members.member(thing, name)
        place = node_symbols.place(inner) if inner is not None else None
        # What a module exports is shown wherever it comes from, and what a class inherits
        # from its own package or one like it.
        if (
            inner is None
            or place is None
            or not (
                thing.spaces or place[0].unit.folder.root in homes or _is_alike(place[0], homes)
            )
        ):
            continue
        space, line = place
        own = any(p == space.unit.path and a <= line <= b for p, a, b in inside)
        tell = partial(node_symbols.symbol, f"{path}.{name}", inner, paths.members)
        yield Definition(name, str(space.unit.path), line, own, tell)


def _is_alike(space: Space, homes: set[Path]) -> bool:
    """Whether a definition is in DefinitelyTyped, as one of some packages is."""
    name = space.unit.folder.name
    typed = any(home.parent.name == "@types" for home in homes)
    return typed and name.startswith("@types/") and name != "@types/node"


def _lines(declaration: Declaration) -> tuple[int, int]:
    return declaration.span.line, declaration.span.end_line
