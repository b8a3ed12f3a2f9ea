"""Add module-level items to the drafts: canonical path, header, page and aliases."""

from __future__ import annotations

from typing import Any

from docstow.core.model import Relation
from docstow.languages.rust.rustdoc import pages, schema
from docstow.languages.rust.rustdoc.drafts import Draft, Drafts, Part
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.members import Members, function_qualifiers
from docstow.languages.rust.rustdoc.pages import External
from docstow.languages.rust.rustdoc.paths import Place, PublicView
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

_PROC_MACROS = {"bang": "macro", "attr": "attribute_macro", "derive": "derive_macro"}


class Items:
    """Turns the public view of a file into drafts.

    Args:
        file: the file.
        root: the URL below which this crate's pages lie.
        externals: other crates by their number in the file.
    """

    def __init__(self, file: RustdocFile, root: str, externals: dict[int, External]) -> None:
        self.file = file
        self.root = root
        self.externals = externals
        self.printer = SignaturePrinter(file)
        self.drafts = Drafts(file)
        self.members = Members(file, self.drafts, self.printer)
        self.aliases: dict[tuple[str, str], None] = {}

    def add(self, view: PublicView) -> None:
        """Add everything in the view; variants last, for most are members already."""
        variants = []
        for target, places in view.places.items():
            if self.file.kind(self.file.index[target]) == "variant":
                variants.append((target, places))
            else:
                self._local(target, places)
        for target, places in variants:
            self._variant(target, places)
        for places in view.foreign.values():
            self._foreign(places)

    def relations(self, view: PublicView) -> list[Relation]:
        """Return aliases, and globs of other crates."""
        found = [Relation(alias, "alias", path) for alias, path in self.aliases]
        for glob in view.globs:
            use = self.file.inner(self.file.index[glob.use], schema.Use)
            target, _, crate = self._named(use)
            version = crate.version if crate is not None else ""
            found.append(Relation(glob.path, "re-exports", f"{target}::*", version))
        return found

    def _local(self, target: Id, places: list[Place]) -> None:
        item = self.file.index[target]
        place = places[0]
        kind = self._kind(item)
        home = next((each for each in places if each.has_page), place)
        conditions = self.drafts.conditions(place.through)
        sources = (place.use, target) if place.use is not None else (target,)
        draft = self.drafts.add(
            Draft(
                path=place.path,
                kind=kind,
                title=place.path.rpartition("::")[2],
                parent=place.path.rpartition("::")[0],
                url=pages.page(self.root, home.path, kind),
                parts=[Part("", self._signature(item), sources)],
                attributes=self.drafts.attributes(item, conditions) | self._qualifiers(item, kind),
                mentioned=self.printer.mentioned,
            ),
            target,
        )
        self._alias(draft, places[1:])
        self.members.add(draft, item, [*conditions, *self.drafts.conditions([target])])

    def _variant(self, target: Id, places: list[Place]) -> None:
        """Add a variant at module level: an alias, unless its enum cannot be named."""
        anchor = self.drafts.anchors.get(target)
        if anchor is None:
            self._local(target, places)
            return
        self._alias(self.drafts.by_key[anchor.document, "variant"], places)

    def _alias(self, draft: Draft, places: list[Place]) -> None:
        paths = dict.fromkeys(each.path for each in places if each.path != draft.path)
        if paths:
            present = draft.attributes.get("aliases", ())
            draft.attributes["aliases"] = list(dict.fromkeys([*present, *paths]))
        self.aliases.update(dict.fromkeys((path, draft.path) for path in paths))

    def _kind(self, item: Item) -> str:
        kind = self.file.kind(item)
        if kind == "proc_macro":
            return _PROC_MACROS[self.file.inner(item, schema.ProcMacro).kind]
        return kind

    def _signature(self, item: Item) -> str:
        self.printer.mentioned = set()
        if item is self.file.index[self.file.crate.root]:
            return f"crate {item.name}"
        return self.printer.item(item)

    def _qualifiers(self, item: Item, kind: str) -> dict[str, Any]:
        """Return attributes that come from the declaration itself."""
        if kind == "function":
            return function_qualifiers(self.file.inner(item, schema.Function))
        if kind == "trait" and self.file.inner(item, schema.Trait).is_unsafe:
            return {"unsafe": True}
        return {}

    def _foreign(self, places: list[Place]) -> None:
        """Add an item that is only re-exported: the file has neither its docs nor its header."""
        place = places[0]
        item = self.file.index[place.target]
        name = place.path.rpartition("::")[2]
        target, kind, crate = self._target(item)
        parent = place.path.rpartition("::")[0]
        if place.has_page and kind and kind != "variant":
            url = pages.page(self.root, place.path, kind)
        else:
            url = pages.reexport(self.root, parent, name)
        attributes = self.drafts.attributes(item, self.drafts.conditions(place.through))
        described = {"target": target, "target_kind": kind}
        if crate is not None:
            described |= {"target_crate": crate.package or crate.lib}
            described |= {"target_version": crate.version, "target_url": self._url(item)}
        described = {key: value for key, value in described.items() if value}
        renamed = "" if target.rpartition("::")[2] == name else f" as {name}"
        word = "extern crate" if self.file.kind(item) == "extern_crate" else "use"
        signature = f"pub {word} {target}{renamed};"
        fresh = Draft(
            path=place.path,
            kind="re-export",
            title=name,
            parent=parent,
            url=url,
            parts=[Part("", signature, tuple(self._sources(place)))],
            attributes=attributes | described,
            mentioned=set(),
        )
        draft = self.drafts.add(fresh, place.target)
        if draft is not fresh:
            draft.attributes.setdefault("further_targets", []).append(described)
        self._alias(draft, places[1:])

    def _sources(self, place: Place) -> list[Id]:
        return list(dict.fromkeys(each for each in (place.use, place.target) if each is not None))

    def _target(self, item: Item) -> tuple[str, str, External | None]:
        if self.file.kind(item) == "use":
            return self._named(self.file.inner(item, schema.Use))
        crate = self.file.inner(item, schema.ExternCrate)
        by_name = {each.lib: each for each in self.externals.values()}
        name = crate.rename if crate.rename in by_name else crate.name
        return name, "module", by_name.get(name)

    def _named(self, use: schema.Use) -> tuple[str, str, External | None]:
        """Return path, kind and crate of what a ``use`` of another crate means.

        Users can write the path of the ``use``, but often not the definition path. It counts only
        if it starts at the crate that documents the item.
        """
        summary = self.file.paths.get(use.id) if use.id is not None else None
        if summary is None:
            return use.source.removeprefix("::"), "" if use.id is not None else "primitive", None
        crate = self.externals.get(summary.crate_id)
        kind = pages.document_kind(summary.kind)
        written = use.source.removeprefix("::")
        first = written.partition("::")[0]
        if crate is not None and first == crate.lib:
            return written, kind, crate
        if crate is not None and {first, crate.lib} <= pages.STD:
            shown = next((each for each in self.externals.values() if each.lib == first), crate)
            return written, kind, shown
        return "::".join(summary.path), kind, crate

    def _url(self, item: Item) -> str:
        """Return the URL where another crate documents what the ``use`` names."""
        target, kind, crate = self._target(item)
        if crate is None or not crate.url or not kind:
            return ""
        if self.file.kind(item) == "use" and not target.startswith(f"{crate.lib}::"):
            return ""
        return pages.page(crate.url, target, kind)
