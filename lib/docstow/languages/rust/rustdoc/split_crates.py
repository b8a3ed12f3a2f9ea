"""Merge split crates: items of sibling crates under the paths that users write.

``clap`` is ``pub use clap_builder::*`` and little else; so are ``futures``, ``rand`` and others.
Their JSON has only the ``use``; the items are in the JSON of the sibling, and are moved to the path
that the ``use`` gives them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from docstow.core.model import AVAILABLE, PACKED, SINGLE, STANDARD, Document, Relation
from docstow.languages.rust.rustdoc import CrateDocs

_MEMBERS = frozenset({"method", "assoc_const", "assoc_type"})
#: A limit against cycles; no known split crate has so many parts.
MOST_SIBLINGS = 16


class Part:
    """The documents of one sibling, by path."""

    def __init__(self, docs: CrateDocs) -> None:
        self.docs = docs
        self.by_path: defaultdict[str, list[Document]] = defaultdict(list)
        self.children: defaultdict[str, list[str]] = defaultdict(list)
        for document in docs.documents:
            self.by_path[document.path].append(document)
            self.children[document.parent].append(document.path)
        self.aliases = {r.subject: r.object for r in docs.relations if r.predicate == "alias"}
        for alias in self.aliases:
            self.children[alias.rpartition("::")[0]].append(alias)
        self.globs: defaultdict[str, list[str]] = defaultdict(list)
        for relation in docs.relations:
            if relation.predicate == "re-exports" and relation.object.endswith("::*"):
                self.globs[relation.subject].append(relation.object.removesuffix("::*"))

    def canonical(self, path: str) -> str | None:
        """Return the path under which the sibling itself documents what ``path`` means."""
        for candidate in (path, self.aliases.get(path), self.docs.definitions.get(path)):
            if candidate is not None and candidate in self.by_path:
                return candidate
        return None

    def is_module(self, path: str) -> bool:
        """Tell whether a module has this path; a primitive type can have it too."""
        return any(document.kind == "module" for document in self.by_path[path])

    def primitive_members(self, path: str) -> Iterator[str]:
        """Yield paths of the members of a primitive type, without those of a module of its name."""
        if any(document.kind == "primitive" for document in self.by_path[path]):
            for child in dict.fromkeys(self.children[path]):
                if any(document.kind in _MEMBERS for document in self.by_path[child]):
                    yield child

    def owned(self, path: str) -> Iterator[Document]:
        """Yield the documents of an item: itself and its members, theirs included."""
        for document in self.by_path[path]:
            if document.kind != "module":
                yield document
        for child in dict.fromkeys(self.children[path]):
            if child in self.by_path and not self.is_module(path):
                yield from self.owned(child)


@dataclass(frozen=True, slots=True)
class Sibling:
    """A crate that another one re-exports: library, package and exact version."""

    lib: str
    package: str
    version: str


def find_siblings(docs: CrateDocs, at_hand: Collection[str] = ()) -> list[Sibling]:
    """Return the crates whose items belong under this crate's paths.

    Those are the ones that it re-exports by glob, and those of its own family: their names
    begin alike, as ``futures`` and ``futures_util`` do. A single item of a stranger
    (``pub use http::StatusCode``) stays a pointer.

    Args:
        docs: the crate.
        at_hand: libraries whose files were given with this one's, as those of a workspace, or
            ``core`` and ``alloc`` with ``std``: all that is re-exported from them belongs here.
    """
    family = str(docs.facts["lib"]).split("_")[0]
    wanted: dict[str, Sibling] = {}
    for relation in docs.relations:
        lib = relation.object.split("::")[0]
        external = docs.facts["externals"].get(lib)
        if relation.predicate != "re-exports":
            continue
        if lib in at_hand:
            wanted[lib] = Sibling(lib, "", "")
        if lib in at_hand or external is None or lib in STANDARD:
            continue
        of_family = lib.split("_")[0] == family
        if external.get("version") and (of_family or relation.object.endswith("::*")):
            wanted[lib] = Sibling(lib, external["package"], external["version"])
    return [wanted[lib] for lib in sorted(wanted)]


def read_siblings(
    docs: CrateDocs,
    read: Callable[[Sibling], CrateDocs | None],
    at_hand: Collection[str] = (),
) -> dict[str, CrateDocs]:
    """Read the siblings of a crate, and theirs; return them by library name.

    Siblings for which ``read`` returns None are left out.
    """
    found: dict[str, CrateDocs] = {}
    seen = {str(docs.facts["lib"])}
    queue = find_siblings(docs, at_hand)
    while queue and len(seen) <= MOST_SIBLINGS:
        sibling = queue.pop(0)
        if sibling.lib in seen:
            continue
        seen.add(sibling.lib)
        if (part := read(sibling)) is not None:
            found[sibling.lib] = part
            queue += find_siblings(part, at_hand)
    return found


def merge_siblings(docs: CrateDocs, parts: Mapping[str, CrateDocs]) -> CrateDocs:
    """Return the crate with its siblings' items under its own paths; itself if it has none.

    An item gets one canonical path, the shortest that users write, and its other places are
    aliases, as in a crate that was never split. What the crate defines itself wins over a glob.
    A primitive type's page is in each crate of the standard library, but most of its methods are
    in one: they are merged.
    """
    if not parts:
        return docs
    return _Merge(docs, parts).result()


@dataclass(frozen=True, slots=True)
class _Place:
    """A path that an item of a sibling gets, and the ``use`` of it, unless that is a glob."""

    path: str
    use: Document | None


class _Merge:
    """The merge of one crate with its siblings."""

    def __init__(self, docs: CrateDocs, parts: Mapping[str, CrateDocs]) -> None:
        self.docs = docs
        primitives = {d.path for d in docs.documents if d.kind == "primitive"}
        #: Paths that no glob replaces; methods of a primitive have a namespace of their own.
        self.own = {
            document.path
            for document in docs.documents
            if document.kind != "re-export" and document.parent not in primitives
        }
        self.parts = {lib: Part(part) for lib, part in parts.items()}
        #: Pages of primitive types in the siblings to those here.
        self.primitives = {
            f"{lib}::{path.partition('::')[2]}": path
            for lib in parts
            for path in sorted(primitives)
        }
        #: (library, canonical path there) to its places here.
        self.places: defaultdict[tuple[str, str], list[_Place]] = defaultdict(list)
        self.kept: list[Document] = []

    def result(self) -> CrateDocs:
        self._place_all()
        here = {key: _best(places) for key, places in self.places.items()}
        documents = {(d.path, d.kind): d for d in self._moved(here)}
        documents |= {(d.path, d.kind): d for d in self.kept}
        ordered = [documents[key] for key in sorted(documents)]
        facts = {
            **self.docs.facts,
            "counts": dict(sorted(Counter(document.kind for document in ordered).items())),
            "siblings": {part.docs.name: part.docs.version for part in self.parts.values()},
        }
        moved = {path: place.path for (_, path), place in here.items()} | self.primitives
        return replace(
            self.docs,
            facts=facts,
            documents=ordered,
            relations=self._relations(here, moved, ordered),
            definitions=self._definitions(moved, ordered),
        )

    def _place_all(self) -> None:
        for document in self.docs.documents:
            target = str(document.attributes.get("target", ""))
            if self._is_expanded(document):
                continue
            if document.kind != "re-export" or not self._place(
                target, _Place(document.path, document)
            ):
                self.kept.append(document)
        for relation in self.docs.relations:
            if relation.predicate == "re-exports" and relation.object.endswith("::*"):
                self._place_children(relation.object.removesuffix("::*"), relation.subject)
        for theirs, ours in self.primitives.items():
            part = self.parts[theirs.split("::")[0]]
            for child in part.primitive_members(theirs):
                self._place(child, _Place(f"{ours}::{child.rpartition('::')[2]}", None))

    def _is_expanded(self, document: Document) -> bool:
        """Tell whether a document is a glob of a sibling, in whose place its items stand."""
        target = str(document.attributes.get("target", ""))
        return target.endswith("::*") and target.split("::")[0] in self.parts

    def _place(self, target: str, place: _Place) -> bool:
        """Add a place for what ``target`` means; False if no sibling documents it."""
        lib = target.split("::")[0]
        part = self.parts.get(lib)
        path = part.canonical(target) if part is not None else None
        if part is None or path is None:
            return False
        if place in self.places.get((lib, path), ()):
            return True
        pointers = [d for d in part.by_path[path] if d.kind == "re-export"]
        if len(pointers) == len(part.by_path[path]):
            further = str(pointers[0].attributes.get("target", ""))
            return self._place(further, replace(place, use=place.use or pointers[0]))
        self.places[lib, path].append(place)
        if part.is_module(path):
            self._place_children(path, place.path)
        return True

    def _place_children(self, module: str, at: str) -> None:
        """Add places for everything in a sibling's module below a path of this crate."""
        part = self.parts.get(module.split("::")[0])
        path = part.canonical(module) if part is not None else None
        if part is None or path is None or at.count("::") > MOST_SIBLINGS:
            return
        for child in dict.fromkeys(part.children[path]):
            if child.endswith("::*"):
                self.kept += [
                    replace(document, path=at + child[len(path) :], parent=at)
                    for document in part.by_path[child]
                    if not self._is_expanded(document)
                ]
                continue
            place = _Place(f"{at}::{child.rpartition('::')[2]}", None)
            if place.path not in self.own and not self._place(child, place):
                # A pointer to a crate that is no sibling: it stays one.
                self.kept += [
                    replace(document, path=place.path, parent=at)
                    for document in part.by_path[child]
                ]
        for further in part.globs[path]:
            self._place_children(further, at)

    def _moved(self, here: Mapping[tuple[str, str], _Place]) -> Iterator[Document]:
        for (lib, path), best in here.items():
            part = self.parts[lib]
            others = {place.path for place in self.places[lib, path]} - {best.path}
            heads = [d for d in part.by_path[path] if d.kind == "module"]
            for document in [*heads, *part.owned(path)]:
                moved = best.path + document.path[len(path) :]
                is_head = document.path == path
                aliases = others if is_head else set()
                yield replace(
                    document,
                    path=moved,
                    parent=moved.rpartition("::")[0],
                    text=_with_use(best.use, document.text) if is_head else document.text,
                    attributes=_attributes(document, moved, best, part.docs, aliases),
                )

    def _relations(
        self,
        here: Mapping[tuple[str, str], _Place],
        moved: Mapping[str, str],
        documents: list[Document],
    ) -> list[Relation]:
        """Return the relations at their new paths; private paths of definitions included."""
        present = {document.path for document in documents}
        keys = {(document.path, document.kind) for document in documents}

        def mapped(path: str) -> str:
            part = self.parts.get(path.split("::")[0])
            path = (part.canonical(path) if part is not None else None) or path
            head, tail = path, ""
            while head and head not in moved:
                head, _, last = head.rpartition("::")
                tail = f"::{last}{tail}"
            return moved[head] + tail if head else path

        def moved_relation(relation: Relation) -> Relation:
            traits = relation.predicate in SINGLE | PACKED
            parts = relation.object.split(" ") if traits else [relation.object]
            # A trait that is not implemented has ``!`` before its path.
            there = [("!" * part.startswith("!"), part.removeprefix("!")) for part in parts]
            target = " ".join(mark + mapped(path) for mark, path in there)
            return relation._replace(subject=mapped(relation.subject), object=target)

        relations = {
            Relation(place.path, "alias", here[lib, path].path, document.kind)
            for (lib, path), places in self.places.items()
            for place in places
            for document in self.parts[lib].by_path[path]
            if place.path != here[lib, path].path and (place.path, document.kind) not in keys
        }
        kinds: defaultdict[str, list[str]] = defaultdict(list)
        for path, kind in keys:
            kinds[path].append(kind)
        for relation in self.docs.relations:
            here_now = kinds[relation.object]
            if relation.predicate == "alias" and relation.detail not in here_now and here_now:
                # A pointer whose place the sibling's item has taken.
                relations.update(relation._replace(detail=kind) for kind in here_now)
            elif relation.predicate != "re-exports" or mapped(relation.object) == relation.object:
                relations.add(moved_relation(relation))
        for part in self.parts.values():
            for relation in part.docs.relations:
                if relation.predicate in {"alias", "re-exports", AVAILABLE}:
                    continue
                new = moved_relation(relation)
                # Types of other crates, and all types at once, implement our traits too.
                ours = new.predicate in SINGLE and new.object.removeprefix("!") in present
                if ours or new.subject in present:
                    relations.add(new)
        return sorted(relations)

    def _definitions(self, moved: Mapping[str, str], documents: list[Document]) -> dict[str, str]:
        """Return definition paths of this crate and of its siblings, and the siblings' own paths.

        Items move from a crate to its sibling between releases (``std::io::cursor`` to ``core``),
        and files made with an older one name them here: those are definition paths as well.
        """
        there = dict(moved)
        for docs in (self.docs, *(part.docs for part in self.parts.values())):
            for defined, path in docs.definitions.items():
                there[defined] = moved.get(path, path)
        root = str(self.docs.facts["lib"])
        for defined, path in list(there.items()):
            there.setdefault(f"{root}::{defined.partition('::')[2]}", path)
        present = {document.path for document in documents}
        return {
            defined: path
            for defined, path in there.items()
            if path in present and defined not in present
        }


def _best(places: list[_Place]) -> _Place:
    """Return the shortest path that users write, no prelude if it can be helped."""
    return min(places, key=lambda p: ("prelude" in p.path.split("::"), p.path.count("::"), p.path))


def _with_use(use: Document | None, text: str) -> str:
    """Return the docs of the ``use``, then those of its target, as rustdoc shows them."""
    return "\n\n".join(part for part in (use.text if use else "", text) if part)


def _attributes(
    document: Document, path: str, place: _Place, part: CrateDocs, aliases: set[str]
) -> dict[str, Any]:
    attributes = dict(document.attributes)
    # The features of the sibling are not the ones that a user of this crate turns on.
    for name in ("features", "cfg", "available", "available_here", "aliases"):
        attributes.pop(name, None)
        if place.use is not None and name != "aliases" and name in place.use.attributes:
            attributes[name] = place.use.attributes[name]
    if aliases:
        attributes["aliases"] = sorted(aliases)
    attributes["depth"] = path.count("::") + 1
    attributes["documented_in"] = f"{part.name} {part.version}"
    return attributes
