"""Add fields, variants and associated items of types and traits to the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.cfg import Cfg
from docstow.languages.rust.rustdoc.drafts import Anchor, Draft, Drafts, Part
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.implementations import behind_references
from docstow.languages.rust.rustdoc.pages import anchor
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

_KINDS = {"function": "method", "assoc_const": "assoc_const", "assoc_type": "assoc_type"}


class Members:
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

    def add(self, owner: Draft, item: Item, conditions: list[Cfg]) -> None:
        """Add all members of a struct, union, enum, trait or primitive."""
        kind = self.file.kind(item)
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

    def _fields(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id in ids:
            item = self.file.index.get(item_id)
            if item is not None:
                self._add(owner, item_id, item, "field", conditions, self.printer.field)

    def _variants(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id in ids:
            item = self.file.index.get(item_id)
            if item is None:
                continue
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
        numbered = [each for each in kind.positions or () if each is not None]
        for item_id in (*named, *numbered):
            item = self.file.index.get(item_id)
            if item is None or not (kind.plain is not None or item.docs):
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
        for item_id in ids:
            item = self.file.index.get(item_id)
            kind = _KINDS.get(self.file.kind(item)) if item is not None else None
            if item is None or kind is None:
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
        for impl_id in ids:
            item = self.file.index.get(impl_id)
            if item is None or self.file.kind(item) != "impl":
                continue
            impl = self.file.inner(item, schema.Impl)
            if impl.blanket_impl is not None or (impl.is_synthetic and not impl.is_negative):
                continue
            if impl.trait is not None and not self._is_for(impl, owner):
                continue
            header = self.printer.impl(impl)
            if item.docs:
                owner.impl_docs.append((header, impl_id))
            inside = [*conditions, *self.drafts.conditions([impl_id])]
            for member_id in impl.items:
                member = self.file.index.get(member_id)
                if member is not None:
                    self._impl_item(owner, impl, header, member_id, member, inside)

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
        conditions: list[Cfg],
    ) -> None:
        kind = _KINDS.get(self.file.kind(member))
        if kind is None:
            return
        if impl.trait is not None and not member.docs:
            url = owner.url + anchor(kind, member.name or "")
            self.drafts.anchors.setdefault(member_id, Anchor(owner.path, url))
            return
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
        attributes: dict[str, Any] = self.drafts.attributes(item, conditions)
        if self.file.kind(item) == "function":
            attributes |= function_qualifiers(self.file.inner(item, schema.Function))
        draft = Draft(
            path=f"{owner.path}::{name}",
            kind=kind,
            title=name,
            parent=owner.path,
            url=owner.url + (fragment or anchor(kind, name, required=required)),
            parts=[Part(header, signature, (item_id,))],
            attributes=attributes,
            mentioned=self.printer.mentioned,
        )
        return self.drafts.add(draft, item_id)


def function_qualifiers(function: schema.Function) -> dict[str, Any]:
    """Return the qualifiers of a function that searches filter by."""
    header = function.header
    found = {"async": header.is_async, "const": header.is_const, "unsafe": header.is_unsafe}
    return {word: True for word, holds in found.items() if holds}


def _field_ids(kind: schema.StructKind | str) -> list[Id]:
    if isinstance(kind, str):
        return []
    if kind.positions is not None:
        return [each for each in kind.positions if each is not None]
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
