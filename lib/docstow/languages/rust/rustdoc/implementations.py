"""Trait implementations of a crate as relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from docstow.core.model import (
    AUTO_TRAITS,
    BLANKET,
    BLANKET_TRAITS,
    DEREFS_TO,
    DERIVED,
    PACKED,
    WRITTEN,
    Relation,
)
from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.schema import Id, Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

#: The compiler's own traits, which users neither implement nor name.
_INTERNAL = frozenset(
    f"core::marker::{name}" for name in ("Freeze", "StructuralPartialEq", "UnsafeUnpin")
)
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
        self.full_paths = _FullPathPrinter(file, path_of)

    def relations(self) -> Iterator[Relation]:
        """Yield all implementations of traits, and what dereferences to what.

        Headers that read alike (``From<io::Error>`` and ``From<fmt::Error>``) get full paths.
        """
        single: defaultdict[Relation, list[schema.Impl]] = defaultdict(list)
        packed: defaultdict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
        blankets: dict[str, str] = {}
        for item in self.file.index.values():
            if self.file.kind(item) != "impl":
                continue
            impl = self.file.inner(item, schema.Impl)
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
            yield from self._distinct(relation, alike)
        for (subject, predicate), each in packed.items():
            # Bounds of a copy stand in its where clause, wherever the source has them.
            pairs = {(trait, blankets.get(short, header)) for trait, header, short in each}
            traits, headers = zip(*sorted(pairs), strict=True)
            yield Relation(subject, predicate, " ".join(traits), "\n".join(headers))

    def _short(self, impl: schema.Impl) -> str:
        """Print the header of a blanket implementation without bounds; empty for others."""
        if impl.blanket_impl is None and not _is_blanket(impl):
            return ""
        names = ", ".join(each.name for each in impl.generics.params)
        trait = self.printer.path(impl.trait) if impl.trait is not None else ""
        return f"<{names}> {trait} for {self.printer.type(impl.blanket_impl or impl.target)}"

    def _distinct(self, relation: Relation, alike: list[schema.Impl]) -> Iterator[Relation]:
        if len(alike) == 1:
            yield relation
            return
        for impl in alike:
            header = self.full_paths.impl(impl)
            yield Relation(relation.subject, relation.predicate, relation.object, header)

    def _trait(self, impl: schema.Impl) -> str:
        if impl.trait is None:
            return ""
        return self.path_of(impl.trait.id) or impl.trait.path or impl.trait.name

    def _subject(self, impl: schema.Impl) -> str:
        """Return the type that is implemented for: its path if it has one, else as written."""
        return self._type(behind_references(impl.target)) or self.printer.type(impl.target)

    def _type(self, value: schema.Ty) -> str:
        if isinstance(value, schema.Type) and value.resolved_path is not None:
            return self.path_of(value.resolved_path.id)
        return ""

    def _dereferenced(self, subject: str, impl: schema.Impl) -> Iterator[Relation]:
        for each in impl.items:
            item = self.file.index.get(each)
            if item is None or item.name != "Target" or self.file.kind(item) != "assoc_type":
                continue
            target = self.file.inner(item, schema.AssocType).type
            if target is not None:
                written = self.printer.type(target)
                yield Relation(subject, DEREFS_TO, self._type(target) or written, written)


def _predicate(impl: schema.Impl, item: Item) -> str:
    if impl.blanket_impl is not None:
        return BLANKET_TRAITS
    if impl.is_synthetic:
        return AUTO_TRAITS
    if _is_blanket(impl):
        return BLANKET
    attributes = bytes(item.attrs)
    derived = b"automatically_derived" in attributes or b"AutomaticallyDerived" in attributes
    return DERIVED if derived else WRITTEN


def _is_blanket(impl: schema.Impl) -> bool:
    """Tell whether the implementation is for a bare type parameter."""
    return isinstance(impl.target, schema.Type) and impl.target.generic is not None


def behind_references(value: schema.Ty) -> schema.Ty:
    """Return the type behind all ``&`` and ``&mut``."""
    while isinstance(value, schema.Type) and value.borrowed_ref is not None:
        value = value.borrowed_ref.type
    return value


class _FullPathPrinter(SignaturePrinter):
    """Prints the paths in generic arguments in full."""

    __slots__ = ("path_of",)

    def __init__(self, file: RustdocFile, path_of: Callable[[Id | None], str]) -> None:
        super().__init__(file)
        self.path_of = path_of

    def path(self, path: schema.Path, depth: int = 0) -> str:
        """Print a path with the arguments of its last segment."""
        if depth == 0:
            return super().path(path)
        return (self.path_of(path.id) or path.path or path.name) + self.args(path.args, depth)
