"""Turn items and their members into drafts: documents without their texts.

Links in the texts need the URLs of all other documents. Declarations with the same path and kind
become one draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from docstow.core.model import Relation
from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.attributes import (
    Cfg,
    attribute_texts,
    combine,
    either,
    from_attributes,
    is_layout_public,
    item_facts,
)
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.links import (
    STD,
    External,
    document_kind,
    member_fragment,
    page_url,
    public_path,
    reexport_url,
)
from docstow.languages.rust.rustdoc.paths import ForeignGlob, Place, PublicView
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

_PROC_MACROS = {"bang": "macro", "attr": "attribute_macro", "derive": "derive_macro"}
_OWNERS = ("struct", "enum", "union", "trait", "variant", "primitive")
_MEMBER_KINDS = frozenset({"method", "assoc_const", "assoc_type", "field", "variant"})
_KINDS = {"function": "method", "assoc_const": "assoc_const", "assoc_type": "assoc_type"}


@dataclass(frozen=True, slots=True)
class Part:
    """One declaration of a document.

    Attributes:
        header: the impl block that it stands in; empty elsewhere.
        signature: the declaration.
        sources: ids of the items whose docs make its text, in order.
    """

    header: str
    signature: str
    sources: tuple[Id, ...]


@dataclass(slots=True)
class Draft:
    """A document without its text.

    Attributes:
        path, kind, title, parent, url: as in the document.
        parts: at least one; several where impl blocks declare the same name.
        attributes: as in the document.
        mentioned: ids that the signatures name.
        cfg: the condition under which it exists; None if it always does.
        impl_docs: (header, impl id) of blocks that have docs of their own.
    """

    path: str
    kind: str
    title: str
    parent: str
    url: str
    parts: list[Part]
    attributes: dict[str, Any]
    mentioned: set[Id]
    cfg: Cfg | None = None
    impl_docs: list[tuple[str, Id]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The target of links to an id; ``document`` is the path of the nearest document."""

    document: str
    url: str


class Drafts:
    """All drafts of a crate by path and kind, and the link target of each id."""

    def __init__(self, file: RustdocFile) -> None:
        self.file = file
        self.by_key: dict[tuple[str, str], Draft] = {}
        self.anchors: dict[Id, Anchor] = {}
        self._conditions: dict[Id, tuple[Cfg, ...]] = {}
        self._by_attributes: dict[bytes, tuple[Cfg, ...]] = {}
        #: By identity of their parts, which are those of the two above.
        self._combined: dict[tuple[int, ...], tuple[Cfg | None, dict[str, Any]]] = {}

    def add(self, draft: Draft, item_id: Id) -> Draft:
        """Add a draft, or its parts to the draft that has its path and kind; return that one."""
        self.anchors.setdefault(item_id, Anchor(draft.path, draft.url))
        present = self.by_key.setdefault((draft.path, draft.kind), draft)
        if present is not draft:
            present.parts += draft.parts
            present.mentioned |= draft.mentioned
            if present.cfg != draft.cfg:
                present.cfg = either(present.cfg, draft.cfg)
                for name in ("cfg", "available", "features"):
                    present.attributes.pop(name, None)
                present.attributes |= _conditional(present.cfg)
        return present

    def path_of(self, item_id: Id) -> str:
        """Return the path of the document that an id is or belongs to; empty if none so far."""
        anchor = self.anchors.get(item_id)
        return anchor.document if anchor is not None else ""

    def owner_cfg(self, path: str, kind: str = "method") -> Cfg | None:
        """Return the condition of the item of this path that owns members of a kind."""
        owners = _OWNERS if kind in _MEMBER_KINDS else ("module",)
        found = (self.by_key[path, each] for each in owners if (path, each) in self.by_key)
        owner = next(found, None)
        return owner.cfg if owner is not None else None

    def conditions(self, ids: Iterable[Id]) -> list[Cfg]:
        """Return the conditions that these items state, outermost first."""
        found: list[Cfg] = []
        for each in ids:
            if each not in self._conditions:
                self._conditions[each] = self._stated(self.file.index[each])
            found += self._conditions[each]
        return found

    def attributes(self, item: Item, conditions: list[Cfg]) -> tuple[Cfg | None, dict[str, Any]]:
        """Return under which condition an item exists, and the facts of it with what that says.

        Args:
            item: the item.
            conditions: those of what it stands in.
        """
        cfg, said = self._combine([*conditions, *self._stated(item)])
        return cfg, item_facts(self.file, item) | said

    def _combine(self, conditions: list[Cfg]) -> tuple[Cfg | None, dict[str, Any]]:
        """Return conditions as one, with the attributes of what exists under it only."""
        key = tuple(map(id, conditions))
        found = self._combined.get(key)
        if found is None:
            cfg = combine(conditions)
            found = self._combined[key] = cfg, _conditional(cfg)
        return found

    def _stated(self, item: Item) -> tuple[Cfg, ...]:
        raw = bytes(item.attrs)
        if b"cfg" not in raw and b"CfgTrace" not in raw:
            return ()
        if raw not in self._by_attributes:  # whole modules have the same ones
            self._by_attributes[raw] = from_attributes(attribute_texts(self.file.attrs(item)))
        return self._by_attributes[raw]


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
        self.members = _Members(file, self.drafts, self.printer)
        #: Further path, path and kind of a document.
        self.aliases: dict[tuple[str, str, str], None] = {}

    def add(self, view: PublicView) -> None:
        """Add everything in the view; variants last, for most are members already."""
        variants = []
        for target, places in view.places.items():
            if self.file.index[target].kind == "variant":
                variants.append((target, places))
            else:
                self._local(target, places)
        for target, places in variants:
            self._variant(target, places)
        for places in view.foreign.values():
            self._foreign(places)
        for glob in view.globs:
            self._foreign_glob(glob)

    def relations(self, view: PublicView) -> list[Relation]:
        """Return aliases, and globs of other crates."""
        found = [Relation(alias, "alias", path, kind) for alias, path, kind in self.aliases]
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
        cfg, attributes = self.drafts.attributes(item, conditions)
        sources = (place.use, target) if place.use is not None else (target,)
        draft = self.drafts.add(
            Draft(
                path=place.path,
                kind=kind,
                title=place.path.rpartition("::")[2],
                parent=place.path.rpartition("::")[0],
                url=page_url(self.root, home.path, kind),
                parts=[Part("", self._signature(item), sources)],
                attributes=self._attributes(item, kind, attributes),
                mentioned=self.printer.mentioned,
                cfg=cfg,
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
        self.aliases.update(dict.fromkeys((path, draft.path, draft.kind) for path in paths))

    def _kind(self, item: Item) -> str:
        kind = item.kind
        if kind == "proc_macro":
            return _PROC_MACROS[self.file.inner(item, schema.ProcMacro).kind]
        return kind

    def _signature(self, item: Item) -> str:
        self.printer.mentioned = set()
        if item is self.file.index[self.file.crate.root]:
            return f"crate {item.name}"
        return self.printer.item(item)

    def _attributes(self, item: Item, kind: str, found: dict[str, Any]) -> dict[str, Any]:
        """Return the facts of an item, with those that come from the declaration itself."""
        if "repr" in found and not is_layout_public(self.file, item, found["repr"]):
            del found["repr"]
        if kind == "function":
            found |= _function_qualifiers(self.file.inner(item, schema.Function))
        if kind == "trait":
            trait = self.file.inner(item, schema.Trait)
            if trait.is_unsafe:
                found["unsafe"] = True
            if False in {trait.is_dyn_compatible, trait.is_object_safe}:
                found["dyn_compatible"] = False
        return found

    def _foreign(self, places: list[Place]) -> None:
        """Add an item that is only re-exported: the file has neither its docs nor its header."""
        place = places[0]
        item = self.file.index[place.target]
        name = place.path.rpartition("::")[2]
        target, kind, _ = self._target(item)
        parent = place.path.rpartition("::")[0]
        if place.has_page and kind and kind != "variant":
            url = page_url(self.root, place.path, kind)
        else:
            url = reexport_url(self.root, parent, name)
        cfg, attributes = self.drafts.attributes(item, self.drafts.conditions(place.through))
        described = self._described(item)
        renamed = "" if target.rpartition("::")[2] == name else f" as {name}"
        word = "extern crate" if item.kind == "extern_crate" else "use"
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
            cfg=cfg,
        )
        draft = self.drafts.add(fresh, place.target)
        if draft is not fresh:
            draft.attributes.setdefault("further_targets", []).append(described)
        self._alias(draft, places[1:])

    def _foreign_glob(self, glob: ForeignGlob) -> None:
        """Add all that another crate's module brings in: the file does not have its names."""
        item = self.file.index[glob.use]
        described = self._described(item)
        target = f"{described['target']}::*"
        cfg, attributes = self.drafts.attributes(item, [])
        draft = Draft(
            path=f"{glob.path}::{target}",
            kind="re-export",
            title="*",
            parent=glob.path,
            url=page_url(self.root, glob.path, "module"),
            parts=[Part("", f"pub use {target};", (glob.use,))],
            attributes=attributes | described | {"target": target},
            mentioned=set(),
            cfg=cfg,
        )
        self.drafts.add(draft, glob.use)

    def _described(self, item: Item) -> dict[str, Any]:
        """Return path, kind, crate and page of what another crate's item is, where known."""
        target, kind, crate = self._target(item)
        described = {"target": target, "target_kind": kind}
        if crate is not None:
            described |= {"target_crate": crate.package or crate.lib}
            described |= {"target_version": crate.version, "target_url": self._url(item)}
        return {key: value for key, value in described.items() if value}

    def _sources(self, place: Place) -> list[Id]:
        return list(dict.fromkeys(each for each in (place.use, place.target) if each is not None))

    def _target(self, item: Item) -> tuple[str, str, External | None]:
        if item.kind == "use":
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
        kind = document_kind(summary.kind)
        written = use.source.removeprefix("::")
        first = written.partition("::")[0]
        if crate is not None and first == crate.lib:
            return written, kind, crate
        if crate is not None and {first, crate.lib} <= STD:
            shown = next((each for each in self.externals.values() if each.lib == first), crate)
            return written, kind, shown
        return public_path(summary), kind, crate

    def _url(self, item: Item) -> str:
        """Return the URL where another crate documents what the ``use`` names."""
        target, kind, crate = self._target(item)
        if crate is None or not crate.url or not kind:
            return ""
        if item.kind == "use" and target.split("::")[0] != crate.lib:
            return ""
        return page_url(crate.url, target, kind)


class _Members:
    """Adds the members of types and traits to the drafts.

    Args:
        file: the file.
        drafts: where members go.
        printer: prints their signatures.
    """

    def __init__(self, file: RustdocFile, drafts: Drafts, printer: SignaturePrinter) -> None:
        self.file = file
        self.drafts = drafts
        self.printer = printer
        #: Those of implementations that stand with their owners, as printed.
        self.headers: dict[Id, str] = {}

    def add(self, owner: Draft, item: Item, conditions: list[Cfg]) -> None:
        """Add all members of a struct, union, enum, trait or primitive."""
        kind = item.kind
        if kind == "struct":
            struct = self.file.inner(item, schema.StructInner)
            self._fields(owner, _field_ids(struct.kind), conditions)
            self._impls(owner, struct.impls, conditions)
        elif kind == "union":
            union = self.file.inner(item, schema.UnionInner)
            self._fields(owner, union.fields, conditions)
            self._impls(owner, union.impls, conditions)
        elif kind == "enum":
            enum = self.file.inner(item, schema.EnumInner)
            self._variants(owner, enum.variants, conditions)
            self._impls(owner, enum.impls, conditions)
        elif kind == "trait":
            trait = self.file.inner(item, schema.Trait)
            self._trait_items(owner, trait.items, conditions)
        elif kind == "primitive":
            primitive = self.file.inner(item, schema.Primitive)
            self._impls(owner, primitive.impls, conditions)

    def _present(self, ids: Iterable[Id | None]) -> Iterator[tuple[Id, Item]]:
        for item_id in ids:
            if item_id is not None and (item := self.file.index.get(item_id)) is not None:
                yield item_id, item

    def _fields(self, owner: Draft, ids: Iterable[Id | None], conditions: list[Cfg]) -> None:
        for item_id, item in self._present(ids):
            self._add(owner, item_id, item, "field", conditions, self.printer.field)

    def _variants(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id, item in self._present(ids):
            variant = self.file.inner(item, schema.Variant)
            draft = self._add(
                owner,
                item_id,
                item,
                "variant",
                conditions,
                lambda i, variant=variant: self.printer.variant(i, variant),  # type: ignore[misc]
            )
            if isinstance(variant.kind, schema.VariantKind):
                inside = [*conditions, *self.drafts.conditions([item_id])]
                self._variant_fields(draft, variant.kind, inside)

    def _variant_fields(
        self, variant: Draft, kind: schema.VariantKind, conditions: list[Cfg]
    ) -> None:
        """Add named fields; numbered ones only where they have docs, as on rustdoc's pages."""
        named = kind.plain.fields if kind.plain is not None else ()
        for item_id, item in self._present((*named, *(kind.positions or ()))):
            if kind.plain is None and not item.docs:
                continue
            draft = self._add(
                variant,
                item_id,
                item,
                "field",
                conditions,
                lambda i: self.printer.field(i, public=False),
                fragment=f".field.{item.name}",
            )
            self.drafts.anchors[item_id] = Anchor(draft.path, draft.url)

    def _trait_items(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id, item in self._present(ids):
            kind = _KINDS.get(item.kind)
            if kind is None:
                continue
            required = self._required(item, kind)
            draft = self._add(
                owner, item_id, item, kind, conditions, self.printer.member, required=required
            )
            if required:
                draft.attributes["required"] = True

    def _required(self, item: Item, kind: str) -> bool:
        if kind == "method":
            return not self.file.inner(item, schema.Function).has_body
        if kind == "assoc_const":
            return self.file.inner(item, schema.AssocConst).value is None
        return self.file.inner(item, schema.AssocType).type is None

    def _impls(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        """Add members of inherent blocks, and those of trait implementations that have own docs.

        An owner also lists implementations that only mention it (``impl From<Owner> for Other``).
        """
        impls, anchors = self.file.impls, self.drafts.anchors
        for impl_id, item in self._present(ids):
            impl = impls.get(impl_id)
            if impl is None or impl.blanket_impl is not None:
                continue
            if impl.is_synthetic and not impl.is_negative:
                continue
            if impl.trait is not None and not self._is_for(impl, owner):
                continue
            header = self.headers[impl_id] = self.printer.impl(impl)
            if item.docs:
                owner.impl_docs.append((header, impl_id))
            for member_id, member in self._present(impl.items):
                kind = _KINDS.get(member.kind)
                if kind is None:
                    continue
                if impl.trait is None or member.docs:
                    inside = [*conditions, *self.drafts.conditions([impl_id])]
                    self._impl_item(owner, impl, header, member_id, member, kind, inside)
                elif member_id not in anchors:
                    url = owner.url + member_fragment(kind, member.name or "")
                    anchors[member_id] = Anchor(owner.path, url)

    def _is_for(self, impl: schema.Impl, owner: Draft) -> bool:
        target = behind_references(impl.target)
        if not isinstance(target, schema.Type) or target.resolved_path is None:
            return owner.kind == "primitive" and owner.title == _primitive(impl.target)
        path = target.resolved_path
        return path.id is not None and self.drafts.path_of(path.id) == owner.path

    def _impl_item(
        self,
        owner: Draft,
        impl: schema.Impl,
        header: str,
        member_id: Id,
        member: Item,
        kind: str,
        conditions: list[Cfg],
    ) -> None:
        public = impl.trait is None
        draft = self._add(
            owner,
            member_id,
            member,
            kind,
            conditions,
            lambda i: self.printer.member(i, public=public),
            header=header,
        )
        if impl.trait is not None and len(draft.parts) == 1:
            draft.attributes["trait"] = impl.trait.id

    def _add(
        self,
        owner: Draft,
        item_id: Id,
        item: Item,
        kind: str,
        conditions: list[Cfg],
        render: Callable[[Item], str],
        *,
        header: str = "",
        required: bool = False,
        fragment: str = "",
    ) -> Draft:
        name = item.name or ""
        self.printer.mentioned = set()
        signature = render(item)
        cfg, attributes = self.drafts.attributes(item, conditions)
        if item.kind == "function":
            attributes |= _function_qualifiers(self.file.inner(item, schema.Function))
        draft = Draft(
            path=f"{owner.path}::{name}",
            kind=kind,
            title=name,
            parent=owner.path,
            url=owner.url + (fragment or member_fragment(kind, name, required=required)),
            parts=[Part(header, signature, (item_id,))],
            attributes=attributes,
            mentioned=self.printer.mentioned,
            cfg=cfg,
        )
        return self.drafts.add(draft, item_id)


def _conditional(cfg: Cfg | None) -> dict[str, Any]:
    """Return the attributes of what exists under a condition only."""
    if cfg is None:
        return {}
    features = list(dict.fromkeys(cfg.features()))
    found = {"cfg": str(cfg), "available": cfg.availability()}
    return found | ({"features": features} if features else {})


def _function_qualifiers(function: schema.Function) -> dict[str, Any]:
    """Return the qualifiers of a function that searches filter by."""
    header = function.header
    if not (header.is_async or header.is_const or header.is_unsafe):
        return {}
    found = {"async": header.is_async, "const": header.is_const, "unsafe": header.is_unsafe}
    return {word: True for word, holds in found.items() if holds}


def behind_references(value: schema.Ty) -> schema.Ty:
    """Return the type behind all ``&`` and ``&mut``."""
    while isinstance(value, schema.Type) and value.borrowed_ref is not None:
        value = value.borrowed_ref.type
    return value


def _field_ids(kind: schema.StructKind | str) -> Sequence[Id | None]:
    if isinstance(kind, str):
        return []
    if kind.positions is not None:
        return kind.positions
    return kind.plain.fields if kind.plain is not None else []


def _primitive(value: schema.Ty) -> str:
    """Return the name of the primitive page on which a type's implementations stand."""
    if isinstance(value, str):
        return ""
    if value.primitive is not None:
        return value.primitive
    shapes = {
        "slice": value.element,
        "array": value.array,
        "pointer": value.raw_pointer,
        "reference": value.borrowed_ref,
        "fn": value.function_pointer,
        "unit": value.parts == [] or None,
        "tuple": value.parts,
    }
    return next((name for name, part in shapes.items() if part is not None), "")
