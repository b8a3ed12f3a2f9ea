"""Which paths a user can write: the walk from the root through modules and re-exports.

This room knows how names of modules (``module_names``) become paths, and which of several paths is
the one to show. It does not know what an item looks like or how it is documented.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import partial

from docstow.languages.rust.rustdoc import format__readers_rustdoc_format as fmt
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.format import Id
from docstow.languages.rust.rustdoc.paths import Entry, ModuleNames

MOST_VISITS = 12
"""Paths under which one module is entered; modules that re-export each other have no end of them.
Beyond this the module itself is still an alias, so that longer paths resolve by their prefix."""


@dataclass(frozen=True, slots=True)
class Place:
    """One public path of an item.

    Attributes:
        path: what a user writes.
        target: the item's id; for an item of another crate the id of the ``use`` that names it.
        foreign: whether the item belongs to another crate.
        through: ids of the modules and ``use`` items on the way, whose conditions apply.
        use: the ``use`` item at this place; None where the item itself stands here.
        renamed: whether a ``use`` on the way gives a new name, to the item or a module.
        has_page: whether rustdoc's HTML has a page of the item at this place.
    """

    path: str
    target: Id
    foreign: bool = False
    through: tuple[Id, ...] = ()
    use: Id | None = None
    renamed: bool = False
    has_page: bool = True


@dataclass(frozen=True, slots=True)
class ForeignGlob:
    """``pub use other::*`` in the module ``path``, stated by the item ``use``."""

    path: str
    use: Id


@dataclass(slots=True)
class PublicView:
    """Everything that can be named.

    Attributes:
        places: for each local item its places, best first (see :func:`order`).
        foreign: for each item of another crate, by the id of its definition or else its source.
        globs: globs of other crates.
    """

    places: dict[Id, list[Place]] = field(default_factory=dict)
    foreign: dict[Id, list[Place]] = field(default_factory=dict)
    globs: list[ForeignGlob] = field(default_factory=list)


def walk(file: RustdocFile) -> PublicView:
    """Find all public paths of a crate."""
    names = ModuleNames(file)
    view = _enumerate(file, names)
    for target, places in (view.places | view.foreign).items():
        summary = file.paths.get(target)
        definition = "::".join(summary.path) if summary is not None else ""
        places.sort(key=partial(order, definition=definition))
    return view


def order(place: Place, definition: str) -> tuple[bool, bool, int, bool, bool, str]:
    """Sort key: what users would write first.

    Not through a prelude; under its own name; short; where it is defined, or at least has a page;
    alphabetical.
    """
    segments = place.path.split("::")
    unusual = any(each.endswith("prelude") or each.startswith("__") for each in segments[1:-1])
    elsewhere = place.path != definition
    return unusual, place.renamed, len(segments), elsewhere, not place.has_page, place.path


def _enumerate(file: RustdocFile, names: ModuleNames) -> PublicView:
    """Breadth first, so that a module's shortest paths are entered before longer ones."""
    root = file.crate.root
    view = PublicView()
    places = defaultdict(list, {root: [Place(file.lib, root)]})
    foreign: defaultdict[Id, list[Place]] = defaultdict(list)
    visits: defaultdict[Id, int] = defaultdict(int)
    queue = deque([(places[root][0], frozenset({root}))])
    while queue:
        here, above = queue.popleft()
        inside = (*here.through, here.target)
        view.globs += [ForeignGlob(here.path, use) for use in names.foreign_globs[here.target]]
        for entry in dict.fromkeys(names.tables[here.target].values()):
            place = Place(
                path=f"{here.path}::{entry.name}",
                target=entry.target,
                foreign=entry.foreign,
                through=inside + entry.through,
                use=entry.use,
                renamed=here.renamed or entry.renamed,
                has_page=here.has_page and entry.has_page,
            )
            if entry.foreign:
                foreign[_foreign_key(file, entry)].append(place)
                continue
            places[entry.target].append(place)
            if names.is_module(entry) and entry.target not in above:
                visits[entry.target] += 1
                if visits[entry.target] <= MOST_VISITS:
                    queue.append((place, above | {entry.target}))
    view.places, view.foreign = dict(places), dict(foreign)
    return view


def _foreign_key(file: RustdocFile, entry: Entry) -> Id:
    item = file.index[entry.target]
    if file.kind(item) != "use":
        return entry.target
    use = file.inner(item, fmt.Use)
    return use.id if use.id is not None else f"use:{use.source}"
