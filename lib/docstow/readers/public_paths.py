"""Which paths a user can write: the walk from the root through modules and re-exports.

This room knows Rust's name resolution as far as a rustdoc file shows it: namespaces, renames,
chains, globs with cycles and shadowing, modules that are private and shine through a glob. It
does not know what an item looks like or how it is documented.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from docstow.readers import rustdoc_format as fmt
from docstow.readers.rustdoc_file import RustdocFile
from docstow.readers.rustdoc_format import Id, Item

MOST_VISITS = 12
"""Paths under which one module is entered; modules that re-export each other have no end of them.
Beyond this the module itself is still an alias, so that longer paths resolve by their prefix."""

_TYPES, _VALUES, _MACROS = "types", "values", "macros"
_NAMESPACES = {
    **dict.fromkeys(("function", "constant", "static"), (_VALUES,)),
    **dict.fromkeys(
        ("macro", "proc_macro", "proc_attribute", "proc_derive", "attribute"), (_MACROS,)
    ),
    "variant": (_TYPES, _VALUES),
    "primitive": ("primitives",),
}


@dataclass(frozen=True, slots=True)
class Place:
    """One public path of an item.

    Attributes:
        path: what a user writes.
        target: the item's id; for an item of another crate the id of the ``use`` that names it.
        foreign: whether the item belongs to another crate.
        through: ids of the modules and ``use`` items on the way, whose conditions apply.
        use: the ``use`` item at this place; None where the item itself stands here.
        has_page: whether rustdoc's HTML has a page of the item at this place.
    """

    path: str
    target: Id
    foreign: bool = False
    through: tuple[Id, ...] = ()
    use: Id | None = None
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


@dataclass(frozen=True, slots=True)
class _Entry:
    """One name in a module; the members are those of a :class:`Place`."""

    name: str
    target: Id
    foreign: bool = False
    through: tuple[Id, ...] = ()
    use: Id | None = None
    has_page: bool = True


_Table = dict[tuple[str, str], _Entry]


def walk(file: RustdocFile) -> PublicView:
    """Find all public paths of a crate."""
    return _Walk(file).view()


def order(place: Place, definition: str) -> tuple[bool, bool, int, bool, str]:
    """Sort key: what users would write first.

    Not through a prelude; under its own name; short; where it is defined; alphabetical.
    """
    segments = place.path.split("::")
    unusual = any(each.endswith("prelude") or each.startswith("__") for each in segments[1:-1])
    renamed = segments[-1] != definition.rpartition("::")[2]
    return unusual, renamed, len(segments), place.path != definition, place.path


class _Walk:
    def __init__(self, file: RustdocFile) -> None:
        self.file = file
        self.direct = self._directly_public()
        self.tables: dict[Id, _Table] = {}
        self.globs: dict[Id, list[tuple[Id, Id]]] = {}
        self.foreign_globs: dict[Id, dict[Id, None]] = {}

    def view(self) -> PublicView:
        root = self.file.crate.root
        self._collect(root)
        self._spread_globs()
        view = PublicView()
        self._enumerate(root, view)
        for target, places in (view.places | view.foreign).items():
            summary = self.file.paths.get(target)
            places.sort(key=partial(order, definition="::".join(summary.path if summary else ())))
        return view

    def _directly_public(self) -> set[Id]:
        """Items that can be reached without any ``use``: rustdoc keeps their page in one place."""
        found = {self.file.crate.root}
        pending = [self.file.crate.root]
        while pending:
            for item_id, item in self._items(pending.pop()):
                if item_id not in found:
                    found.add(item_id)
                    if self.file.kind(item) == "module":
                        pending.append(item_id)
        return found

    def _items(self, module: Id) -> Iterator[tuple[Id, Item]]:
        inner = self.file.inner(self.file.index[module], fmt.Module)
        for item_id in inner.items:
            item = self.file.local(item_id)
            if item is not None and bytes(item.visibility) in {b'"public"', b'"default"'}:
                yield item_id, item

    def _collect(self, start: Id) -> None:
        """Fill the tables of explicit names of all modules that can matter, and note globs."""
        pending = [start]
        while pending:
            module = pending.pop()
            if module in self.tables:
                continue
            table: _Table = {}
            self.tables[module], self.globs[module] = table, []
            self.foreign_globs[module] = {}
            if self.file.kind(self.file.index[module]) == "enum":
                self._add_variants(module, table)
                continue
            for item_id, item in self._items(module):
                entry = self._entry(module, item_id, item)
                if entry is not None:
                    for namespace in self._namespaces(entry):
                        table.setdefault((entry.name, namespace), entry)
            pending += [each.target for each in table.values() if self._is_module(each)]
            pending += [target for target, _ in self.globs[module]]

    def _add_variants(self, enum: Id, table: _Table) -> None:
        for item_id in self.file.inner(self.file.index[enum], fmt.EnumInner).variants:
            item = self.file.index.get(item_id)
            if item is not None and item.name:
                entry = _Entry(item.name, item_id, has_page=False)
                table[item.name, _TYPES] = table[item.name, _VALUES] = entry

    def _entry(self, module: Id, item_id: Id, item: Item) -> _Entry | None:
        """What an item of a module adds to its names; globs are put aside."""
        kind = self.file.kind(item)
        if kind == "use":
            use = self.file.inner(item, fmt.Use)
            if use.is_glob:
                self._add_glob(module, item_id, use)
                return None
            return self._use_entry(item_id, use) if use.name != "_" else None
        if kind == "extern_crate":
            return self._extern_crate(item_id, item)
        if kind == "impl" or not item.name:
            return None
        return _Entry(item.name, item_id)

    def _add_glob(self, module: Id, item_id: Id, use: fmt.Use) -> None:
        target, _, through = self._follow(item_id, use)
        item = self.file.local(target)
        if target is not None and item is not None and self.file.kind(item) in {"module", "enum"}:
            self.globs[module].append((target, item_id))
        elif item is None:
            self.foreign_globs[module][through[-1]] = None

    def _use_entry(self, item_id: Id, use: fmt.Use) -> _Entry:
        target, last, through = self._follow(item_id, use)
        words = " ".join(str(each) for each in self.file.attrs(self.file.index[item_id]))
        barred = "no_inline" in words
        if target is None or self.file.local(target) is None:
            known = self.file.paths.get(target) if target is not None else None
            crate_root = known is not None and len(known.path) == 1
            has_page = not barred and (not crate_root or "inline" in words)
            return _Entry(
                use.name, last, foreign=True, through=through, use=item_id, has_page=has_page
            )
        inlined = "(inline" in words or "Inline" in words or target not in self.direct
        has_page = inlined and not barred
        return _Entry(use.name, target, through=through, use=item_id, has_page=has_page)

    def _follow(self, item_id: Id, use: fmt.Use) -> tuple[Id | None, Id, tuple[Id, ...]]:
        """Follow a chain of ``use``: the final id, the last ``use``, and all of them."""
        chain = [item_id]
        while True:
            item = self.file.local(use.id)
            if item is None or self.file.kind(item) != "use" or use.id in chain:
                return use.id, chain[-1], tuple(chain)
            following = self.file.inner(item, fmt.Use)
            if following.is_glob or use.id is None:
                return use.id, chain[-1], tuple(chain)
            chain.append(use.id)
            use = following

    def _extern_crate(self, item_id: Id, item: Item) -> _Entry | None:
        inner = self.file.inner(item, fmt.ExternCrate)
        known = {each.name for each in self.file.crate.external_crates.values()}
        name = inner.name if inner.rename in known or inner.rename is None else inner.rename
        return _Entry(
            item.name or name,
            item_id,
            foreign=True,
            through=(item_id,),
            use=item_id,
            has_page=False,
        )

    def _namespaces(self, entry: _Entry) -> tuple[str, ...]:
        if not entry.foreign:
            item = self.file.index[entry.target]
            kind = self.file.kind(item)
            if kind == "struct" and self.file.inner(item, fmt.StructInner).kind == "unit":
                return _TYPES, _VALUES
            return _NAMESPACES.get(kind, (_TYPES,))
        item = self.file.index[entry.target]
        if self.file.kind(item) != "use":
            return (_TYPES,)
        target = self.file.inner(item, fmt.Use).id
        summary = self.file.paths.get(target) if target is not None else None
        return _NAMESPACES.get(summary.kind, (_TYPES,)) if summary is not None else (_TYPES,)

    def _is_module(self, entry: _Entry) -> bool:
        if entry.foreign:
            return False
        return self.file.kind(self.file.index[entry.target]) == "module"

    def _spread_globs(self) -> None:
        """Let names flow through globs until nothing changes; explicit names are never replaced."""
        changed = True
        while changed:
            changed = False
            for module, globs in self.globs.items():
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

    def _through(self, entry: _Entry, module: Id, way: tuple[Id, ...]) -> _Entry:
        """The entry as the glob shows it; rustdoc inlines only what a private module hides."""
        hidden = module not in self.direct
        return replace(
            entry,
            through=way + entry.through,
            use=entry.use if entry.use is not None else way[0],
            has_page=hidden and (entry.foreign or entry.target not in self.direct),
        )

    def _is_enum(self, target: Id) -> bool:
        return self.file.kind(self.file.index[target]) == "enum"

    def _enumerate(self, root: Id, view: PublicView) -> None:
        """Breadth first, so that a module's shortest paths are entered before longer ones."""
        places = defaultdict(list, {root: [Place(self.file.lib, root)]})
        foreign: defaultdict[Id, list[Place]] = defaultdict(list)
        visits: defaultdict[Id, int] = defaultdict(int)
        queue = deque([(places[root][0], frozenset({root}))])
        while queue:
            here, above = queue.popleft()
            inside = (*here.through, here.target)
            view.globs += [ForeignGlob(here.path, use) for use in self.foreign_globs[here.target]]
            for entry in dict.fromkeys(self.tables[here.target].values()):
                place = Place(
                    path=f"{here.path}::{entry.name}",
                    target=entry.target,
                    foreign=entry.foreign,
                    through=inside + entry.through,
                    use=entry.use,
                    has_page=here.has_page and entry.has_page,
                )
                if entry.foreign:
                    foreign[self._foreign_key(entry)].append(place)
                    continue
                places[entry.target].append(place)
                if self._is_module(entry) and entry.target not in above:
                    visits[entry.target] += 1
                    if visits[entry.target] <= MOST_VISITS:
                        queue.append((place, above | {entry.target}))
        view.places, view.foreign = dict(places), dict(foreign)

    def _foreign_key(self, entry: _Entry) -> Id:
        item = self.file.index[entry.target]
        if self.file.kind(item) != "use":
            return entry.target
        use = self.file.inner(item, fmt.Use)
        return use.id if use.id is not None else f"use:{use.source}"
