"""Who implements what: every implementation in a file as a compact relation.

This room knows the sorts of implementations (written, derived, blanket, automatic) and the types
they are for. It does not know what an implementation's members look like (``members``).

Automatic and blanket implementations are a third of a file and the same for nearly every type.
They take one relation a type, whose object names all the traits; see ``predicates``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from docstow.core.model import Relation
from docstow.core.relations__readers_predicates import (
    AUTO_TRAITS,
    BLANKET,
    BLANKET_TRAITS,
    DEREFS_TO,
    DERIVED,
    PACKED,
    WRITTEN,
)
from docstow.languages.rust.rustdoc import format as types
from docstow.languages.rust.rustdoc import format__readers_rustdoc_format as fmt
from docstow.languages.rust.rustdoc.file import RustdocFile
from docstow.languages.rust.rustdoc.format import Id
from docstow.languages.rust.rustdoc.format__readers_rustdoc_format import Item
from docstow.languages.rust.rustdoc.signatures import SignaturePrinter

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
