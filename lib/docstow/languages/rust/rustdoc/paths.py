"""Find all public paths of a crate: Rust's name resolution as far as a rustdoc file shows it.

First the names of each module are resolved, whatever leads to it: namespaces, renames, chains of
``use``, and globs with their cycles and shadowing. Then paths are enumerated from the root.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from docstow.core.errors import UnreadableInput
from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Id, Item

_TYPES, _VALUES, _MACROS = "types", "values", "macros"
_NAMESPACES = {
    **dict.fromkeys(("function", "constant", "static"), (_VALUES,)),
    **dict.fromkeys(
        ("macro", "proc_macro", "proc_attribute", "proc_derive", "attribute"), (_MACROS,)
    ),
    "variant": (_TYPES, _VALUES),
    "primitive": ("primitives",),
}
#: Paths under which one module is entered; modules that re-export each other have no end of
#: them. Beyond this the module itself is still an alias, so that longer paths resolve by their
#: prefix.
MOST_VISITS = 12
#: Modules within each other, and re-exports of each other, that are followed. What a path costs
#: grows with its length; rustc's own limit of recursion is as deep.
DEEPEST = 128


@dataclass(frozen=True, slots=True)
class Place:
    """One public path of an item.

    Attributes:
        path: what a user writes; the bare name among the names of a module.
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


Table = dict[tuple[str, str], Place]
#: What links may have around a path: backticks, ``struct@``, ``!``, ``()``.
_DECORATION = re.compile(r"\A`?(?:\w+@)?(?:::)?|[!(){}\[\]]*`?\Z")


class ModuleNames:
    """The names of all modules and enums that public paths or globs can lead to.

    Args:
        file: the file.

    Raises:
        UnreadableInput: modules or re-exports are more than :data:`DEEPEST` deep.

    Attributes:
        direct: items that can be reached without any ``use``; rustdoc keeps their page there.
        tables: (name, namespace) to entry, by the id of the module.
        foreign_globs: ids of the ``use`` items that bring other crates' names, by module.
    """

    def __init__(self, file: RustdocFile) -> None:
        self.file = file
        self.direct = self._directly_public()
        self.tables: dict[Id, Table] = {}
        self.foreign_globs: dict[Id, dict[Id, None]] = {}
        self._globs: dict[Id, list[tuple[Id, Id]]] = {}
        self._collect(file.crate.root)
        self._spread_globs()

    def _directly_public(self) -> set[Id]:
        found = {self.file.crate.root}
        pending = [(self.file.crate.root, 1)]
        while pending:
            module, depth = pending.pop()
            _check_depth(depth, "modules")
            for item_id, item in self._items(module):
                if item_id not in found:
                    found.add(item_id)
                    if item.kind == "module":
                        pending.append((item_id, depth + 1))
        return found

    def _items(self, module: Id) -> Iterator[tuple[Id, Item]]:
        inner = self.file.inner(self.file.index[module], schema.Module)
        for item_id in inner.items:
            item = self.file.index.get(item_id)  # of any crate: format 15 inlined re-exports
            if item is not None and bytes(item.visibility) in {b'"public"', b'"default"'}:
                yield item_id, item

    def _collect(self, start: Id) -> None:
        """Fill the tables of explicit names of all modules that can matter, and collect globs."""
        pending = [start]
        while pending:
            module = pending.pop()
            if module in self.tables:
                continue
            table: Table = {}
            self.tables[module], self._globs[module] = table, []
            self.foreign_globs[module] = {}
            if self.file.index[module].kind == "enum":
                self._add_variants(module, table)
                continue
            for item_id, item in self._items(module):
                entry = self._entry(module, item_id, item)
                if entry is not None:
                    for namespace in self._namespaces(entry):
                        table.setdefault((entry.path, namespace), entry)
            pending += [each.target for each in table.values() if self.is_module(each)]
            pending += [target for target, _ in self._globs[module]]

    def _add_variants(self, enum: Id, table: Table) -> None:
        for item_id in self.file.inner(self.file.index[enum], schema.EnumInner).variants:
            item = self.file.index.get(item_id)
            if item is not None and item.name:
                entry = Place(item.name, item_id, has_page=False)
                table[item.name, _TYPES] = table[item.name, _VALUES] = entry

    def _entry(self, module: Id, item_id: Id, item: Item) -> Place | None:
        """Return what an item of a module adds to its names; globs are collected instead."""
        kind = item.kind
        if kind == "use":
            use = self.file.inner(item, schema.Use)
            if use.is_glob:
                self._add_glob(module, item_id, use)
                return None
            return self._use_entry(item_id, use) if use.name != "_" else None
        if kind == "extern_crate":
            return self._extern_crate(item_id, item)
        if kind == "impl" or not item.name:
            return None
        return Place(item.name, item_id)

    def _add_glob(self, module: Id, item_id: Id, use: schema.Use) -> None:
        target, _, through = self._follow(item_id, use)
        item = self.file.local(target)
        if target is not None and item is not None and item.kind in {"module", "enum"}:
            self._globs[module].append((target, item_id))
        elif item is None:
            self.foreign_globs[module][through[-1]] = None

    def _use_entry(self, item_id: Id, use: schema.Use) -> Place:
        target, last, through = self._follow(item_id, use)
        attributes = " ".join(str(each) for each in self.file.attrs(self.file.index[item_id]))
        foreign = target is None or self.file.local(target) is None
        if foreign:
            summary = self.file.paths.get(target) if target is not None else None
            name = summary.path[-1] if summary is not None else use.source.rpartition("::")[2]
            crate_root = summary is not None and len(summary.path) == 1
            inlined = not crate_root or "(inline" in attributes
        else:
            name = (self.file.index[target].name if target is not None else None) or ""
            inlined = "(inline" in attributes or target not in self.direct
        return Place(
            path=use.name,
            target=last if target is None or foreign else target,
            foreign=foreign,
            through=through,
            use=item_id,
            renamed=use.name != name,
            has_page=inlined and "no_inline" not in attributes,
        )

    def _follow(self, item_id: Id, use: schema.Use) -> tuple[Id | None, Id, tuple[Id, ...]]:
        """Follow a chain of ``use``; return the final id, the last ``use`` and all of them."""
        chain = [item_id]
        while True:
            item = self.file.local(use.id)
            if item is None or item.kind != "use" or use.id in chain:
                return use.id, chain[-1], tuple(chain)
            following = self.file.inner(item, schema.Use)
            if following.is_glob or use.id is None:
                return use.id, chain[-1], tuple(chain)
            chain.append(use.id)
            _check_depth(len(chain), "re-exports")
            use = following

    def _extern_crate(self, item_id: Id, item: Item) -> Place | None:
        inner = self.file.inner(item, schema.ExternCrate)
        crates = {each.name for each in self.file.crate.external_crates.values()}
        name = inner.name if inner.rename in crates or inner.rename is None else inner.rename
        return Place(
            item.name or name,
            item_id,
            foreign=True,
            through=(item_id,),
            use=item_id,
            renamed=inner.rename is not None,
            has_page=False,
        )

    def _namespaces(self, entry: Place) -> tuple[str, ...]:
        if not entry.foreign:
            item = self.file.index[entry.target]
            kind = item.kind
            if kind == "struct" and _has_constructor(self.file.inner(item, schema.StructInner)):
                return _TYPES, _VALUES
            return _NAMESPACES.get(kind, (_TYPES,))
        item = self.file.index[entry.target]
        if item.kind != "use":
            return (_TYPES,)
        target = self.file.inner(item, schema.Use).id
        summary = self.file.paths.get(target) if target is not None else None
        return _NAMESPACES.get(summary.kind, (_TYPES,)) if summary is not None else (_TYPES,)

    def is_module(self, entry: Place) -> bool:
        """Tell whether the entry is a module of this crate."""
        if entry.foreign:
            return False
        return self.file.index[entry.target].kind == "module"

    def _spread_globs(self) -> None:
        """Copy names through globs until nothing changes; explicit names are never replaced."""
        changed = True
        while changed:
            changed = False
            for module, globs in self._globs.items():
                table = self.tables[module]
                for target, use in globs:
                    way = (use,) if self._is_enum(target) else (use, target)
                    for key, entry in list(self.tables[target].items()):
                        if key not in table:
                            table[key] = self._through(entry, target, way)
                            changed = True
                    missing = self.foreign_globs[target].keys() - self.foreign_globs[module].keys()
                    self.foreign_globs[module].update(dict.fromkeys(missing))
                    changed = changed or bool(missing)

    def _through(self, entry: Place, module: Id, way: tuple[Id, ...]) -> Place:
        """Return the entry as a glob shows it; rustdoc inlines only what a private module hides."""
        hidden = module not in self.direct
        through = way + entry.through
        _check_depth(len(through) // 2, "re-exports")
        return Place(
            entry.path,
            entry.target,
            entry.foreign,
            through,
            entry.use if entry.use is not None else way[0],
            entry.renamed,
            hidden and (entry.foreign or entry.target not in self.direct),
        )

    def _is_enum(self, target: Id) -> bool:
        return self.file.index[target].kind == "enum"


def _check_depth(depth: int, what: str) -> None:
    if depth > DEEPEST:
        raise UnreadableInput(
            f"the rustdoc JSON has {what} that lead one to another more than {DEEPEST} times: "
            "no such crate is read"
        )


def _has_constructor(struct: schema.StructInner) -> bool:
    """Tell whether a struct is a value as well: unit and tuple structs are."""
    return isinstance(struct.kind, str) or struct.kind.plain is None


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
    """Return the sort key that puts first what users would write.

    Not through a prelude; under its own name; short; where it is defined, or at least has a page;
    alphabetical.
    """
    segments = place.path.split("::")
    unusual = any(each.endswith("prelude") or each.startswith("__") for each in segments[1:-1])
    elsewhere = place.path != definition
    return unusual, place.renamed, len(segments), elsewhere, not place.has_page, place.path


def _enumerate(file: RustdocFile, names: ModuleNames) -> PublicView:
    """Walk the modules breadth first, so that the shortest paths of a module are entered first."""
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
                f"{here.path}::{entry.path}",
                entry.target,
                entry.foreign,
                inside + entry.through,
                entry.use,
                here.renamed or entry.renamed,
                here.has_page and entry.has_page,
            )
            if entry.foreign:
                foreign[_foreign_key(file, entry)].append(place)
                continue
            places[entry.target].append(place)
            if names.is_module(entry) and entry.target not in above:
                visits[entry.target] += 1
                if visits[entry.target] <= MOST_VISITS and len(above) < DEEPEST:
                    queue.append((place, above | {entry.target}))
    view.places, view.foreign = dict(places), dict(foreign)
    return view


def _foreign_key(file: RustdocFile, entry: Place) -> Id:
    item = file.index[entry.target]
    if item.kind != "use":
        return entry.target
    use = file.inner(item, schema.Use)
    return use.id if use.id is not None else f"use:{use.source}"


def written_paths(file: RustdocFile) -> dict[Id, str]:
    """Return paths that the crate itself writes for items of other crates, by their ids.

    A definition path may be private; what a ``use`` or a link in the docs names is not, if it
    starts at the crate that defines the item. The shortest counts; names that begin with an
    underscore are for macros.
    """
    found: dict[Id, str] = {}
    for target, written in _mentions(file):
        summary = file.paths.get(target)
        if summary is None or summary.crate_id == 0:
            continue
        path = _DECORATION.sub("", written)
        segments = path.split("::")
        ends = segments[0], segments[-1]
        if len(segments) < 2 or ends != (summary.path[0], summary.path[-1]):
            continue
        if any(each.startswith("_") for each in segments):
            continue
        known = found.setdefault(target, path)
        found[target] = min(known, path, key=lambda each: (each.count("::"), each))
    defined = {target: "::".join(file.paths[target].path) for target in found}
    # A path that is no shorter than the definition's tells nothing new.
    return {t: path for t, path in found.items() if path.count("::") < defined[t].count("::")}


def _mentions(file: RustdocFile) -> Iterator[tuple[Id, str]]:
    """Yield ids with how links and ``use`` items write them."""
    for item in file.index.values():
        if item.kind == "use":
            use = file.inner(item, schema.Use)
            if use.id is not None and not use.is_glob:
                yield use.id, use.source
        if bytes(item.links) != b"{}":
            for written, target in file.links(item).items():
                yield target, written
