"""What belongs to a type or trait: fields, variants, associated items.

This room knows which parts of an owner are public and what a trait implementation adds. It does
not know where owners come from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from docstow.core.model import Relation
from docstow.core.relations import (
    AUTO_TRAITS,
    BLANKET,
    BLANKET_TRAITS,
    DEREFS_TO,
    DERIVED,
    PACKED,
    WRITTEN,
)
from docstow.languages.rust.rustdoc import format as fmt
from docstow.languages.rust.rustdoc import format as types
from docstow.languages.rust.rustdoc.attributes import Cfg
from docstow.languages.rust.rustdoc.drafts import Anchor, Draft, Drafts, Part
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.format import Id, Item
from docstow.languages.rust.rustdoc.links import anchor
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

# Who implements what


_INTERNAL = frozenset(
    f"core::marker::{name}" for name in ("Freeze", "StructuralPartialEq", "UnsafeUnpin")
)


"""The compiler's own traits, which nobody implements or names."""


_DEREF = frozenset({"core::ops::Deref", "core::ops::deref::Deref"})


class Implementations:
    """Reads the implementations of one file.

    Args:
        file: the file.
        path_of: the public path of an id, or its definition path in another crate, or ``""``.
    """

    def __init__(self, file: RustdocFile, path_of: Callable[[Id | None], str]) -> None:
        self.file = file
        self.path_of = path_of
        self.printer = SignaturePrinter(file)
        self.precise = _FullPaths(file, path_of)

    def relations(self) -> Iterator[Relation]:
        """All implementations of traits, and what dereferences to what.

        Two that read alike (``From<io::Error>`` and ``From<fmt::Error>``) are told apart by full
        paths.
        """
        single: defaultdict[Relation, list[fmt.Impl]] = defaultdict(list)
        packed: defaultdict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
        blankets: dict[str, str] = {}
        for item in self.file.index.values():
            if self.file.kind(item) != "impl":
                continue
            impl = self.file.inner(item, fmt.Impl)
            trait = self._trait(impl)
            if not trait or trait in _INTERNAL:
                continue
            subject = self._subject(impl)
            marked = f"!{trait}" if impl.is_negative else trait
            predicate = _predicate(impl, item)
            header = self.printer.impl(impl)
            if predicate in PACKED:
                packed[subject, predicate].append((marked, header, self._short(impl)))
                continue
            if predicate == BLANKET:
                blankets[self._short(impl)] = header
            single[Relation(subject, predicate, marked, header)].append(impl)
            if trait in _DEREF and predicate == WRITTEN:
                yield from self._dereferenced(subject, impl)
        for relation, alike in single.items():
            yield from self._apart(relation, alike)
        for (subject, predicate), each in packed.items():
            # Bounds of a copy stand in its where clause, wherever the source has them.
            pairs = {(trait, blankets.get(short, header)) for trait, header, short in each}
            traits, headers = zip(*sorted(pairs), strict=True)
            yield Relation(subject, predicate, " ".join(traits), "\n".join(headers))

    def _short(self, impl: fmt.Impl) -> str:
        """The header of a blanket implementation without bounds; empty for an automatic one."""
        if impl.blanket_impl is None and not _is_blanket(impl):
            return ""
        names = ", ".join(each.name for each in impl.generics.params)
        trait = self.printer.path(impl.trait) if impl.trait is not None else ""
        return f"<{names}> {trait} for {self.printer.type(impl.blanket_impl or impl.target)}"

    def _apart(self, relation: Relation, alike: list[fmt.Impl]) -> Iterator[Relation]:
        if len(alike) == 1:
            yield relation
            return
        for impl in alike:
            header = self.precise.impl(impl)
            yield Relation(relation.subject, relation.predicate, relation.object, header)

    def _trait(self, impl: fmt.Impl) -> str:
        if impl.trait is None:
            return ""
        return self.path_of(impl.trait.id) or impl.trait.path or impl.trait.name

    def _subject(self, impl: fmt.Impl) -> str:
        """The type that an implementation is for: by its path if it has one, else as written."""
        return self._type(behind_references(impl.target)) or self.printer.type(impl.target)

    def _type(self, value: types.Ty) -> str:
        if isinstance(value, types.Type) and value.resolved_path is not None:
            return self.path_of(value.resolved_path.id)
        return ""

    def _dereferenced(self, subject: str, impl: fmt.Impl) -> Iterator[Relation]:
        for each in impl.items:
            item = self.file.index.get(each)
            if item is None or item.name != "Target" or self.file.kind(item) != "assoc_type":
                continue
            target = self.file.inner(item, fmt.AssocType).type
            if target is not None:
                written = self.printer.type(target)
                yield Relation(subject, DEREFS_TO, self._type(target) or written, written)


def _predicate(impl: fmt.Impl, item: Item) -> str:
    if impl.blanket_impl is not None:
        return BLANKET_TRAITS
    if impl.is_synthetic:
        return AUTO_TRAITS
    if _is_blanket(impl):
        return BLANKET
    attributes = bytes(item.attrs)
    derived = b"automatically_derived" in attributes or b"AutomaticallyDerived" in attributes
    return DERIVED if derived else WRITTEN


def _is_blanket(impl: fmt.Impl) -> bool:
    """Whether the implementation is written for a bare type parameter."""
    return isinstance(impl.target, types.Type) and impl.target.generic is not None


def behind_references(value: types.Ty) -> types.Ty:
    """The type that is left when all ``&`` and ``&mut`` are taken away."""
    while isinstance(value, types.Type) and value.borrowed_ref is not None:
        value = value.borrowed_ref.type
    return value


class _FullPaths(SignaturePrinter):
    """Writes the paths among generic arguments in full."""

    __slots__ = ("path_of",)

    def __init__(self, file: RustdocFile, path_of: Callable[[Id | None], str]) -> None:
        super().__init__(file)
        self.path_of = path_of

    def path(self, path: types.Path, depth: int = 0) -> str:
        """A path with the arguments of its last segment."""
        if depth == 0:
            return super().path(path)
        return (self.path_of(path.id) or path.path or path.name) + self.args(path.args, depth)


_KINDS = {"function": "method", "assoc_const": "assoc_const", "assoc_type": "assoc_type"}


class Members:
    """Adds the members of owners to the drafts.

    Args:
        file: the file.
        drafts: where members go.
        printer: renders their signatures.
    """

    def __init__(self, file: RustdocFile, drafts: Drafts, printer: SignaturePrinter) -> None:
        self.file = file
        self.drafts = drafts
        self.printer = printer

    def of(self, owner: Draft, item: Item, conditions: list[Cfg]) -> None:
        """Add all members of a struct, union, enum, trait or primitive."""
        kind = self.file.kind(item)
        if kind == "struct":
            struct = self.file.inner(item, fmt.StructInner)
            self._fields(owner, _field_ids(struct.kind), conditions)
            self._impls(owner, struct.impls, conditions)
        elif kind == "union":
            union = self.file.inner(item, fmt.UnionInner)
            self._fields(owner, union.fields, conditions)
            self._impls(owner, union.impls, conditions)
        elif kind == "enum":
            enum = self.file.inner(item, fmt.EnumInner)
            self._variants(owner, enum.variants, conditions)
            self._impls(owner, enum.impls, conditions)
        elif kind == "trait":
            trait = self.file.inner(item, fmt.Trait)
            self._trait_items(owner, trait.items, conditions)
        elif kind == "primitive":
            primitive = self.file.inner(item, fmt.Primitive)
            self._impls(owner, primitive.impls, conditions)

    def _fields(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id in ids:
            item = self.file.index.get(item_id)
            if item is not None:
                self._add(
                    owner, item_id, item, "field", conditions, lambda i: self.printer.field(i)
                )

    def _variants(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        for item_id in ids:
            item = self.file.index.get(item_id)
            if item is None:
                continue
            variant = self.file.inner(item, fmt.Variant)
            draft = self._add(
                owner,
                item_id,
                item,
                "variant",
                conditions,
                lambda i, variant=variant: self.printer.variant(i, variant),  # type: ignore[misc]
            )
            if isinstance(variant.kind, fmt.VariantKind):
                inside = [*conditions, *self.drafts.conditions([item_id])]
                self._variant_fields(draft, variant.kind, inside)

    def _variant_fields(self, variant: Draft, kind: fmt.VariantKind, conditions: list[Cfg]) -> None:
        """Named fields; numbered ones only where they have docs, as on rustdoc's pages."""
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
            return not self.file.inner(item, fmt.Function).has_body
        if kind == "assoc_const":
            return self.file.inner(item, fmt.AssocConst).value is None
        return self.file.inner(item, fmt.AssocType).type is None

    def _impls(self, owner: Draft, ids: Iterable[Id], conditions: list[Cfg]) -> None:
        """Inherent blocks give members; trait implementations give those with docs of their own.

        An owner also lists implementations that only mention it (``impl From<Owner> for Other``).
        """
        for impl_id in ids:
            item = self.file.index.get(impl_id)
            if item is None or self.file.kind(item) != "impl":
                continue
            impl = self.file.inner(item, fmt.Impl)
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

    def _is_for(self, impl: fmt.Impl, owner: Draft) -> bool:
        target = behind_references(impl.target)
        if not isinstance(target, types.Type) or target.resolved_path is None:
            return owner.kind == "primitive" and owner.title == _primitive(impl.target)
        path = target.resolved_path
        return path.id is not None and self.drafts.path_of(path.id) == owner.path

    def _impl_item(
        self,
        owner: Draft,
        impl: fmt.Impl,
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
            attributes |= function_words(self.file.inner(item, fmt.Function))
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


def function_words(function: fmt.Function) -> dict[str, Any]:
    """The qualifiers of a function that agents filter by."""
    header = function.header
    words = {"async": header.is_async, "const": header.is_const, "unsafe": header.is_unsafe}
    return {word: True for word, said in words.items() if said}


def _field_ids(kind: fmt.StructKind | str) -> list[Id]:
    if isinstance(kind, str):
        return []
    if kind.positions is not None:
        return [each for each in kind.positions if each is not None]
    return kind.plain.fields if kind.plain is not None else []


def _primitive(value: types.Ty) -> str:
    """The name of the primitive page on which a type's implementations stand."""
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
